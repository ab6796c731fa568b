"""The arrays that FABRIK's kernel takes, and the memory that it works in."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner
from .lanes import beyond, divided
from .layout import Layout
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


# The same in two arrays, for the loop that has all methods

BONES = Layout("count", "turns", "effectors", "trials")
LENGTHS = Layout("bone", "radius")
BoneWholes = namedtuple("BoneWholes", "above first end depth value rate holder")
BoneReals = namedtuple("BoneReals", "offset before axis low high tool grip weight reach load trials")


@inner
def bone_wholes(bones):
    """Return how many whole numbers each part takes."""
    count, turns = bones[BONES.count], bones[BONES.turns]
    return BoneWholes(count, count, count, count * count, turns, turns, bones[BONES.effectors])


@inner
def bone_reals(bones):
    """Return how many numbers each part takes."""
    count, turns, e = bones[BONES.count], bones[BONES.turns], bones[BONES.effectors]
    return BoneReals(3 * count, 9 * turns, 3 * turns, turns, turns, 9 * e, 3 * e, e, e, count, 2 * bones[BONES.trials])


@inner
def skeleton_of(bones, figures):
    """Return the skeleton, and its other numbers, that lie in two arrays."""
    w, r = (
        divided(beyond(bones, BONES.size), bone_wholes(bones)),
        divided(beyond(figures, LENGTHS.size), bone_reals(bones)),
    )
    counts = bones[BONES.count], bones[BONES.turns], bones[BONES.effectors]
    places, turns = (w.above, w.first, w.end, w.depth, r.offset), (w.value, w.rate, r.before, r.axis, r.low, r.high)
    return Skeleton(*counts, *places, *turns, w.holder, r.tool, r.grip), r


@inner
def goals_of(figures, reals, coordinates, oriented, aim, spot):
    """Return the goals of a skeleton that lies in two arrays, their targets as turns and points."""
    sizes = figures[LENGTHS.bone], figures[LENGTHS.radius]
    return Goals(coordinates, oriented, aim, spot, reals.weight, reals.reach, reals.load, *sizes)


def flat_skeleton(s: Any, goals: Any, trials: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a `Skeleton`, what stays of its `Goals`, and trials (n, 2) as two arrays."""
    wholes = BONES.pack(dtype=np.int64, count=s.count, turns=s.turns, effectors=s.effectors, trials=len(trials))
    reals = LENGTHS.pack(bone=goals.size, radius=goals.radius)
    more = BoneWholes(s.above, s.first, s.end, s.depth, s.value, s.rate, s.holder)
    rest = BoneReals(
        s.offset, s.before, s.axis, s.low, s.high, s.tool, s.grip, goals.weight, goals.reach, goals.load, trials
    )
    return (
        np.concatenate([wholes, *(np.asarray(part, np.int64).reshape(-1) for part in more)]),
        np.concatenate([reals, *(np.asarray(part, np.float64).reshape(-1) for part in rest)]),
    )
