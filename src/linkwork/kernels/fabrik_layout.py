"""The arrays of FABRIK's kernel, and the layout of its workspace."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner
from .lanes import beyond, divided
from .layout import Layout
from .rotations import BEST_ROTATION_SIZE

# Numba supports only this kind of named tuple
Skeleton = namedtuple(
    "Skeleton",
    (
        "count",  # number of bones
        "turns",  # number of turns, that is elementary rotations
        "effectors",  # number of effectors
        "above",  # of each bone: its parent bone, or -1
        "first",  # its first turn
        "end",  # one past its last turn
        "depth",  # for each other bone: how many levels further up it is, or -1
        "offset",  # the point it rotates about, in the parent bone
        "value",  # of each turn: index in the pose
        "rate",  # index in the velocity
        "before",  # the constant rotation before it
        "axis",  # zero for a ball
        "low",
        "high",
        "holder",  # of each effector: its bone, or -1 if nothing moves it
        "tool",  # rotation of bone_from_effector
        "grip",  # position of the effector in the bone
    ),
)
Goals = namedtuple(
    "Goals",
    (
        "coordinates",  # of each effector: number of position coordinates that count
        "oriented",  # whether the orientation counts
        "aim",  # target rotation
        "spot",  # target position
        "weight",
        "reach",  # length of the chain
        "load",  # of each bone: total weight of the goals below it
        "size",  # mean length of the bones
        "radius",  # length that weighs a radian [m]
    ),
)
Body = namedtuple("Body", "angle turn frame point tip")  # turns: angles, matrices; bones: frames, points; effectors
Work = namedtuple("Work", "M moved base Q S T room")  # matrices, and workspace of `best_rotation`


@inner
def body_sizes(s):
    """Return the size of each part of a body, in numbers."""
    return Body(s.turns, 9 * s.turns, 9 * s.count, 3 * s.count, 3 * s.effectors)


BODIES = 4
WORK = Work(9, 9, 9, 9, 9, 9, BEST_ROTATION_SIZE)  # size of each part, in numbers


def memory_size(skeleton: Any) -> int:
    """Return the size of the workspace of `reach`, in numbers."""
    return int(BODIES * sum(body_sizes.py_func(skeleton)) + sum(WORK))


@inner
def slice_memory(s, memory):
    """Return the bodies and the workspace as parts of memory."""
    sizes = body_sizes(s)
    size = sizes.angle + sizes.turn + sizes.frame + sizes.point + sizes.tip
    first, second, third, fourth, rest = divided(memory, (size, size, size, size, 0))
    bodies = divided(first, sizes), divided(second, sizes), divided(third, sizes), divided(fourth, sizes)
    return bodies, divided(rest, WORK)


# The same in two arrays, for the loop of all textbook methods

BONES = Layout("count", "turns", "effectors", "trials")
LENGTHS = Layout("bone", "radius")
BoneWholes = namedtuple("BoneWholes", "above first end depth value rate holder")
BoneReals = namedtuple("BoneReals", "offset before axis low high tool grip weight reach load trials")


@inner
def bone_wholes(bones):
    """Return the size of each part, in integers."""
    count, turns = bones[BONES.count], bones[BONES.turns]
    return BoneWholes(count, count, count, count * count, turns, turns, bones[BONES.effectors])


@inner
def bone_reals(bones):
    """Return the size of each part, in numbers."""
    count, turns, e = bones[BONES.count], bones[BONES.turns], bones[BONES.effectors]
    return BoneReals(3 * count, 9 * turns, 3 * turns, turns, turns, 9 * e, 3 * e, e, e, count, 2 * bones[BONES.trials])


@inner
def skeleton_of(bones, figures):
    """Return the skeleton stored in two arrays, and its other numbers."""
    w, r = (
        divided(beyond(bones, BONES.size), bone_wholes(bones)),
        divided(beyond(figures, LENGTHS.size), bone_reals(bones)),
    )
    counts = bones[BONES.count], bones[BONES.turns], bones[BONES.effectors]
    places, turns = (w.above, w.first, w.end, w.depth, r.offset), (w.value, w.rate, r.before, r.axis, r.low, r.high)
    return Skeleton(*counts, *places, *turns, w.holder, r.tool, r.grip), r


@inner
def goals_of(figures, reals, coordinates, oriented, aim, spot):
    """Return the goals of a skeleton stored in two arrays, with targets as rotations and points."""
    sizes = figures[LENGTHS.bone], figures[LENGTHS.radius]
    return Goals(coordinates, oriented, aim, spot, reals.weight, reals.reach, reals.load, *sizes)


def flat_skeleton(s: Any, goals: Any, trials: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a `Skeleton`, the constant part of its `Goals`, and trials (n, 2) as two arrays."""
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
