"""The arrays of a whole body: `codes` and `numbers`, each made of tables, and the workspace of a solve.

A *column* is a velocity coordinate that goals depend on; a *motion* is an elementary motion of a joint. Followers share
the column of their leader.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import inner
from .lanes import beyond, divided
from .layout import Layout, pack_tables
from .swing_twist import CONE

# The header of `codes`: counts, then the offset of each table in `codes` or in `numbers`
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
QUATERNION = Layout("value", "column")  # of a ball, with or without a cone: its first index in pose and columns
BLOCK = Layout("first", "end", "weight", "level", "goal")  # of errors judged together; index of its weight in the aims
MASS = Layout("share", ("centre", 3))  # of a frame: its share of the body's mass, and its centre of mass
WRENCHES = Layout(("products", 36), ("wrench", 6))  # summed over a frame: a 6x6 matrix, the wrench of the errors
CURVES = Layout(("force", 3), ("turning", 9))  # summed over a frame: force of its errors, and how their pull rotates
MOMENT = Layout("share", ("moment", 3))  # of a frame: its share of the mass, and that times its position

KEPT = 16  # number of final poses of starts that are refined if goals are missed
FIRST_CONE = 3  # in a ball's row, in place of the axis: index of its cone, counted from here


def pack_body(
    counts: Mapping[str, int], code_tables: Mapping[str, ArrayLike], number_tables: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `codes` and `numbers`: the tables one after another, with their offsets in the header."""
    ordered = {name: code_tables[name] for name in CODE_TABLES}, {name: number_tables[name] for name in NUMBER_TABLES}
    return pack_tables(HEADER, counts, *ordered)


# Workspace of a solve; `scratch_sizes` describes its parts. Numba supports only this kind of named tuple.
Scratch = namedtuple(
    "Scratch",
    "world twists sums moments curves work errors rows weighted matrix gradient current trial began change reach "
    "travel low high held bounds factors missed renewed softened kept ellipsoid near",
)


@inner
def scratch_sizes(codes):
    """Return the size of each part of the workspace, in numbers."""
    frames, n = codes[HEADER.frames], codes[HEADER.columns]
    explicit, values = codes[HEADER.explicit], codes[HEADER.values]
    return Scratch(
        world=16 * frames,  # 4x4 matrices
        twists=6 * codes[HEADER.motions],
        sums=WRENCHES.size * frames,
        moments=2 * MOMENT.size * frames,  # of each frame itself, and of its subtree
        curves=CURVES.size * frames,
        work=12,  # three rows of a 4x4 matrix; or the axes of a cone, and a rotation vector
        errors=codes[HEADER.errors],
        rows=explicit * n,
        weighted=explicit,  # weighted errors of these rows
        matrix=n * n,  # the lower half of the normal matrix
        gradient=n,
        current=values,  # the pose of the start being tried
        trial=values,  # the pose after a step
        began=values,  # the pose at the start of a cycle
        change=n,  # the step
        reach=n,  # largest allowed change of each column since `began`, and the change so far
        travel=n,
        low=n,  # bounds of the step
        high=n,
        held=n,  # whether a column is held at a bound
        bounds=n,  # and its bound
        factors=n * n,
        missed=codes[HEADER.goals],  # whether a goal is missed
        renewed=n,  # whether a column gets a new start
        softened=codes[HEADER.aims],  # numbers of goals in which lower levels have larger weights
        kept=KEPT * (values + 1),  # final poses of the best starts: squared error and pose
        ellipsoid=72 + 6 * n,  # a 6x6 matrix, its eigenvectors, and six numbers for each column
        near=codes[HEADER.near],  # the frames of a scene, the near pairs, and workspace for finding them
    )


def scratch_size(codes: NDArray[np.int64]) -> int:
    """Return the size of the workspace of a solve, in numbers."""
    return int(sum(scratch_sizes.py_func(codes)))


@inner
def slice_scratch(codes, memory):
    """Return the parts of the workspace."""
    return divided(memory, scratch_sizes(codes))


@inner
def table(codes, which, memory):
    """Return one of the tables, of codes or of numbers."""
    return beyond(memory, codes[which])


@inner
def quaternion_at(codes, which, k):
    """Return the first indices of a ball, with or without a cone, in the pose and in the columns."""
    record = beyond(table(codes, which, codes), QUATERNION.size * k)
    return record[QUATERNION.value], record[QUATERNION.column]


@inner
def cone_at(codes, numbers, k):
    """Return the numbers of a cone, laid out by CONE."""
    return beyond(table(codes, HEADER.cone_numbers, numbers), CONE.size * k)
