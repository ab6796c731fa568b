"""The arrays that FABRIK's kernel takes, and the memory that it works in."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from . import inner
from .lanes import beyond
from .rotations import BEST_ROTATION_SIZE, matrix

# Numba knows this kind of named tuple only
Skeleton = namedtuple(
    "Skeleton",
    (
        "above",  # of each bone: the bone above or -1
        "first",  # its first turn
        "end",  # the end of its turns
        "depth",  # for each other bone: how many bones further up it is, or -1
        "offset",  # the point it turns about, in the bone above
        "value",  # of each turn: its place in the pose
        "rate",  # its place in the velocity
        "before",  # the constant rotation before it
        "axis",  # zero for a ball
        "low",
        "high",
        "holder",  # of each effector: its bone, -1 if nothing moves it
        "tool",  # bone_from_effector: its rotation
        "grip",  # its point
    ),
)
Goals = namedtuple(
    "Goals",
    (
        "coordinates",  # of each effector: how many coordinates of its position are asked for
        "oriented",  # whether its orientation is
        "aim",  # the target's rotation
        "spot",  # the target's point
        "weight",
        "reach",  # the length of the chain
        "load",  # of each bone: the weight of all goals that it carries
        "size",  # the mean length of the bones
        "radius",  # metres that a radian counts
    ),
)
COUNTS = ("count", "turns", "effectors")
Bones = namedtuple("Bones", (*COUNTS, *Skeleton._fields))  # type: ignore[misc]  # a skeleton inside the kernel
Body = namedtuple("Body", "angle turn frame point tip")  # angle and matrix of turns; of bones; points of effectors
Work = namedtuple("Work", "M moved base Q S T room")  # matrices, and what `best_rotation` works in


@inner
def body_sizes(count, turns, effectors):
    """Return how many numbers each part of a body takes."""
    return Body(turns, 9 * turns, 9 * count, 3 * count, 3 * effectors)


@inner
def body_in(memory, sizes):
    """Return the parts of a body, one after another."""
    angle = memory
    turn = beyond(angle, sizes.angle)
    frame = beyond(turn, sizes.turn)
    point = beyond(frame, sizes.frame)
    return Body(angle, turn, frame, point, beyond(point, sizes.point))


BODIES, MATRICES = 4, 6


def memory_size(skeleton: Any) -> int:
    """Return how many numbers the work of `reach` takes: bodies, matrices, and those of `best_rotation`."""
    sizes = body_sizes.py_func(skeleton.above.size, skeleton.value.size, skeleton.holder.size)
    return int(BODIES * sum(sizes) + MATRICES * 9 + BEST_ROTATION_SIZE)


@inner
def slice_memory(s, memory):
    """Return the bodies and the work that lie in memory."""
    sizes = body_sizes(s.count, s.turns, s.effectors)
    size = sizes.angle + sizes.turn + sizes.frame + sizes.point + sizes.tip
    M = beyond(memory, BODIES * size)
    bodies = (
        body_in(memory, sizes),
        body_in(beyond(memory, size), sizes),
        body_in(beyond(memory, 2 * size), sizes),
        body_in(beyond(memory, 3 * size), sizes),
    )
    work = Work(M, matrix(M, 1), matrix(M, 2), matrix(M, 3), matrix(M, 4), matrix(M, 5), matrix(M, MATRICES))
    return bodies, work
