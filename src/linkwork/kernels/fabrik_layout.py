"""The arrays that FABRIK's kernel takes, and the memory that it works in."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from . import inner
from .lanes import divided
from .rotations import BEST_ROTATION_SIZE

# Numba knows this kind of named tuple only
Skeleton = namedtuple(
    "Skeleton",
    (
        "count",  # of bones
        "turns",  # how many there are
        "effectors",  # how many there are
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
Body = namedtuple("Body", "angle turn frame point tip")  # angle and matrix of turns; of bones; points of effectors
Work = namedtuple("Work", "M moved base Q S T room")  # matrices, and what `best_rotation` works in


@inner
def body_sizes(s):
    """Return how many numbers each part of a body takes."""
    return Body(s.turns, 9 * s.turns, 9 * s.count, 3 * s.count, 3 * s.effectors)


BODIES = 4
WORK = Work(9, 9, 9, 9, 9, 9, BEST_ROTATION_SIZE)  # how many numbers each part takes


def memory_size(skeleton: Any) -> int:
    """Return how many numbers the work of `reach` takes."""
    return int(BODIES * sum(body_sizes.py_func(skeleton)) + sum(WORK))


@inner
def slice_memory(s, memory):
    """Return the bodies and the work that lie in memory."""
    sizes = body_sizes(s)
    size = sizes.angle + sizes.turn + sizes.frame + sizes.point + sizes.tip
    first, second, third, fourth, rest = divided(memory, (size, size, size, size, 0))
    bodies = divided(first, sizes), divided(second, sizes), divided(third, sizes), divided(fourth, sizes)
    return bodies, divided(rest, WORK)
