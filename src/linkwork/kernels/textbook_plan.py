"""The arrays and the workspace of the textbook's loop: a linkage, goals of frames and a method's options.

    wholes    HEAD, then the parts of `Wholes`
    reals     OPTIONS, then the parts of `Reals`

`plan_arrays` lays them out by name; in kernels `plan_of` returns the parts.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import inner
from .joint_step import ROW_CODES, ROW_NUMBERS
from .lanes import beyond, divided
from .layout import Layout
from .swing_twist import CONE
from .textbook import textbook_room

HEAD = Layout(
    "method",
    "nq",
    "nv",
    "free",  # number of velocities that may change
    "errors",  # number of error rows
    "changing",  # number of those that joints can change
    "blocks",  # number of blocks of error rows that are judged together
    "starts",  # number of such blocks among the rows that can change
    "goals",
    "motions",  # number of rows of all chains
    "rates",  # number of velocities of all chains
    "balls",
    "cones",
    "periodic",  # number of values that may be shifted by whole turns
    "places",  # number of integers that a method stores about the linkage: FABRIK's bones, a planar arm
    "figures",  # number of its floats
    "iterations",
    "halvings",
    "patience",
    "overshoots",  # whether steps have a given length
    "limited",  # whether poses are kept within limits
    "choice",  # of a method: how joints are ranked, whether a wish is as printed
    "matrices",  # size of the workspace of the steps of `textbook`
    "work",  # size of a method's other workspace
)
OPTIONS = Layout(
    "amount",  # of a method: singular, damping, gamma, alpha
    "length",  # of the linkage
    "radius",  # length that weighs a radian [m]
    "rank",
    "max_step",
    "stray",
)
ROW = Layout("goal", "six", "place")  # of an error row: its goal, index of six, and index among those that change
VALUE = Layout("lower", "upper", "desired")  # of a value of the pose
RECORD = Layout("note")  # of a step in a trace; pose, residuals and velocity follow
REPORT = Layout("status", "iterations")  # of an answer; residuals follow

Wholes = namedtuple(
    "Wholes",
    (
        "codes",  # of the chains, one after another
        "rates",
        "first",  # first row of each chain
        "owned",  # first rate of each chain
        "row",  # ROW
        "block",  # the first row of each block
        "starts",  # first row of each block among the rows that change
        "coordinates",  # of each goal: number of position coordinates that count
        "oriented",  # whether the orientation counts
        "columns",  # the velocities that may change
        "moving",  # of each velocity: whether it may change
        "value",  # its index in the pose, -1 for a ball's
        "kind",  # whether it is a rotation or a translation
        "periodic",  # indices of values that may be shifted by whole turns
        "balls",  # index of each quaternion and of its velocities
        "cones",  # index of each quaternion with a cone
        "places",  # integers that a method stores about the linkage
    ),
)
Reals = namedtuple(
    "Reals",
    (
        "numbers",  # of the chains
        "weights",  # of the error rows
        "tolerances",  # of the blocks
        "counts",  # weight of each goal
        "values",  # VALUE
        "measures",  # unit of each velocity
        "gains",  # of each velocity, for a wish
        "wraps",  # 1 for each velocity whose value wraps around, else 0
        "cones",  # CONE
        "figures",
    ),
)
Plan = namedtuple("Plan", "head options wholes reals")
Desk = namedtuple(
    "Desk",
    (
        "axes",  # of the chains: axis and point of every velocity
        "world",  # of each goal: its frame
        "way",  # the six errors from there to the target
        "six",  # the Jacobian of its frame
        "error",
        "residuals",
        "before",  # the error before a step
        "jacobian",  # weighted, of the rows and velocities that change
        "wanted",  # the weighted error of these rows
        "short",  # the change of these velocities
        "wish",  # the wish for them
        "change",
        "begin",  # the pose before a step
        "best",
        "low",  # allowed change of each velocity, or limits of each value
        "high",
        "gain",
        "last",  # iteration in which each velocity was last changed
        "progress",  # PROGRESS
        "matrices",  # workspace of the steps of `textbook`
        "work",
    ),
)
PROGRESS = Layout("best", "first", "mark", "waiting", "count", "status", "growths", "grew")


@inner
def whole_sizes(head):
    """Return the size of each part, in integers."""
    goals, nv = head[HEAD.goals], head[HEAD.nv]
    return Wholes(
        ROW_CODES.size * head[HEAD.motions],
        head[HEAD.rates],
        goals + 1,
        goals + 1,
        ROW.size * head[HEAD.errors],
        head[HEAD.blocks] + 1,
        head[HEAD.starts],
        goals,
        goals,
        head[HEAD.free],
        nv,
        nv,
        nv,
        head[HEAD.periodic],
        2 * head[HEAD.balls],
        head[HEAD.cones],
        head[HEAD.places],
    )


@inner
def real_sizes(head):
    """Return the size of each part, in floats."""
    return Reals(
        ROW_NUMBERS.size * head[HEAD.motions],
        head[HEAD.errors],
        head[HEAD.blocks],
        head[HEAD.goals],
        VALUE.size * head[HEAD.nq],
        head[HEAD.nv],
        head[HEAD.nv],
        head[HEAD.nv],
        CONE.size * head[HEAD.cones],
        head[HEAD.figures],
    )


@inner
def desk_sizes(head):
    """Return the size of each part of the workspace."""
    nq, nv, goals, rows = head[HEAD.nq], head[HEAD.nv], head[HEAD.goals], head[HEAD.errors]
    m, n = head[HEAD.changing], head[HEAD.free]
    return Desk(
        6 * head[HEAD.rates],
        16 * goals,
        6 * goals,
        6 * nv * goals,
        rows,
        head[HEAD.blocks],
        rows,
        m * n,
        m,
        n,
        n,
        nv,
        nq,
        nq,
        nq,
        nq,
        nv,
        nv,
        PROGRESS.size,
        head[HEAD.matrices],
        head[HEAD.work],
    )


@inner
def plan_of(wholes, reals):
    """Return the parts of a plan."""
    parts = divided(beyond(wholes, HEAD.size), whole_sizes(wholes))
    return Plan(wholes, reals, parts, divided(beyond(reals, OPTIONS.size), real_sizes(wholes)))


def plan_arrays(
    head: Mapping[str, Any], options: Mapping[str, Any], wholes: Wholes, reals: Reals
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a plan as two arrays, from the fields of HEAD and OPTIONS by name, and all parts."""
    matrices = textbook_room(head["changing"], head["free"])
    first, numbers = HEAD.pack(dtype=np.int64, matrices=matrices, **head), OPTIONS.pack(**options)
    for parts, sizes in ((wholes, whole_sizes.py_func(first)), (reals, real_sizes.py_func(first))):
        for name, part, size in zip(type(parts)._fields, parts, sizes, strict=True):
            if np.size(part) != size:
                raise ValueError(f"{name} of a plan has {size} numbers, got {np.size(part)}.")
    return _joined(first, wholes, np.int64), _joined(numbers, reals, np.float64)


def _joined(first: ArrayLike, parts: Any, dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.asarray(part, dtype).reshape(-1) for part in (first, *parts)])


def desk_size(wholes: NDArray[np.int64]) -> int:
    """Return the size of the workspace of a walk, in numbers."""
    return int(sum(desk_sizes.py_func(wholes)))


def real_places(wholes: NDArray[np.int64]) -> dict[str, int]:
    """Return the offset of each part of a plan's floats, by name."""
    sizes = real_sizes.py_func(wholes)
    ends = np.cumsum([OPTIONS.size, *sizes]).tolist()
    return dict(zip(Reals._fields, ends, strict=False))


def record_places(wholes: NDArray[np.int64]) -> dict[str, int]:
    """Return the offsets of the parts of a record, by name, and its size."""
    counts = [int(wholes[place]) for place in (HEAD.nq, HEAD.blocks, HEAD.nv)]
    ends = np.cumsum([RECORD.size, *counts]).tolist()
    return {"note": RECORD.note} | dict(zip(("q", "residuals", "velocity", "size"), ends, strict=True))
