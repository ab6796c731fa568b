"""The arrays of a whole body: `codes` and `numbers`, each made of tables, and the memory that a solve works in.

A velocity that goals depend on is a *column*; an elementary motion of a joint is a *motion*, which may share its column
with followers.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import inner
from .lanes import beyond, divided
from .layout import Layout
from .swing_twist import CONE

# The header of `codes`: counts, then where each table begins, in `codes` and in `numbers`
COUNTS = (
    "frames", "motions", "columns", "balls", "cones", "goals", "blocks", "errors", "explicit", "values",
    "levels", "aims", "near",
)  # fmt: skip
CODE_TABLES = (
    "starts", "parents", "row_codes", "rates", "owned", "before", "last", "coupled", "coupled_from", "pose_index",
    "ball_codes", "cone_codes", "goal_codes", "goal_items", "block_codes", "support",
    "stays", "scene_codes",
)  # fmt: skip
NUMBER_TABLES = (
    "row_numbers", "lower", "upper", "start_lower", "start_upper", "metric", "masses", "tolerances", "cone_numbers",
    "scene_numbers",
)  # fmt: skip
HEADER = Layout(*COUNTS, *CODE_TABLES, *NUMBER_TABLES)

# Records of the tables
QUATERNION = Layout("value", "column")  # of a ball, with or without a cone: where it begins in pose and columns
BLOCK = Layout("first", "end", "weight", "level", "goal")  # of errors judged together; which number is its weight
MASS = Layout("share", ("centre", 3))  # of a frame: of the whole body's mass, and where its own is
WRENCHES = Layout(("products", 36), ("wrench", 6))  # summed over a frame: a matrix 6 x 6, the wrench of the errors
CURVES = Layout(("force", 3), ("turning", 9))  # summed over a frame: how the pull of its errors turns
MOMENT = Layout("share", ("moment", 3))  # of a frame: its share of the mass, and that times where it is

KEPT = 16  # ends of starts that are brought to rest where goals are missed
FIRST_CONE = 3  # in a ball's row, where others have their axis: which cone it has, counted from here


def pack_body(
    counts: Mapping[str, int], code_tables: Mapping[str, ArrayLike], number_tables: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `codes` and `numbers`: the tables one after another, and in the header where they begin."""
    header: dict[str, Any] = dict(counts)
    parts = []
    tables = ((CODE_TABLES, code_tables, np.int64, HEADER.size), (NUMBER_TABLES, number_tables, np.float64, 0))
    for names, given, dtype, at in tables:
        arrays = [np.asarray(given[name], dtype).ravel() for name in names]
        header |= zip(names, at + np.cumsum([0, *(array.size for array in arrays[:-1])]), strict=True)
        parts.append(arrays)
    return np.concatenate([HEADER.pack(dtype=np.int64, **header), *parts[0]]), np.concatenate(parts[1])


# Memory that a solve works in; `scratch_sizes` says what its parts are. Numba knows this kind of named tuple only.
Scratch = namedtuple(
    "Scratch",
    "world twists sums moments curves work errors rows weighted matrix gradient current trial began change reach "
    "travel low high held bounds factors missed renewed softened kept ellipsoid near",
)


@inner
def scratch_sizes(codes):
    """Return how many numbers each part of the scratch memory takes."""
    frames, n = codes[HEADER.frames], codes[HEADER.columns]
    explicit, values = codes[HEADER.explicit], codes[HEADER.values]
    return Scratch(
        world=16 * frames,  # matrices 4 x 4
        twists=6 * codes[HEADER.motions],
        sums=WRENCHES.size * frames,
        moments=2 * MOMENT.size * frames,  # of each frame itself, and of all that hangs on it
        curves=CURVES.size * frames,
        work=12,  # three rows of a matrix 4 x 4; or the axes of a cone, and a turn
        errors=codes[HEADER.errors],
        rows=explicit * n,
        weighted=explicit,  # the errors of these rows, weighted
        matrix=n * n,  # the normal matrix, its lower half
        gradient=n,
        current=values,  # the pose of the start being tried
        trial=values,  # the pose after a step
        began=values,  # the pose that a cycle began with
        change=n,  # the step
        reach=n,  # how far each column may go from where it began, and how far it has
        travel=n,
        low=n,  # bounds of the step
        high=n,
        held=n,  # which columns stay at a bound
        bounds=n,  # and at which
        factors=n * n,
        missed=codes[HEADER.goals],  # which goals are missed
        renewed=n,  # which columns get another start
        softened=codes[HEADER.aims],  # numbers of goals whose lower levels count for more
        kept=KEPT * (values + 1),  # ends of the best starts: squared error and pose
        ellipsoid=72 + 6 * n,  # a matrix 6 x 6, its eigenvectors, and six numbers for each column
        near=codes[HEADER.near],  # the frames of a scene, the pairs that are near, and what finding them takes
    )


def scratch_size(codes: NDArray[np.int64]) -> int:
    """Return how many numbers a solve needs to work in."""
    return int(sum(scratch_sizes.py_func(codes)))


@inner
def slice_scratch(codes, memory):
    """Return the parts of the scratch memory, one after another."""
    return divided(memory, scratch_sizes(codes))


@inner
def table(codes, which, memory):
    """Return one of the tables, of codes or of numbers."""
    return beyond(memory, codes[which])


@inner
def quaternion_at(codes, which, k):
    """Return where a ball, of those with or without a cone, begins in the pose and among the columns."""
    record = beyond(table(codes, which, codes), QUATERNION.size * k)
    return record[QUATERNION.value], record[QUATERNION.column]


@inner
def cone_at(codes, numbers, k):
    """Return the numbers of a cone."""
    return beyond(table(codes, HEADER.cone_numbers, numbers), CONE.size * k)
