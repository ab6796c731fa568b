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
from .lanes import beyond
from .layout import Layout
from .swing_twist import CONE_SIZE

# The header of `codes`: counts, then where each table begins, in `codes` and in `numbers`
COUNTS = (
    "frames", "motions", "columns", "balls", "cones", "goals", "blocks", "errors", "explicit", "values", "levels",
)  # fmt: skip
CODE_TABLES = (
    "starts", "parents", "rows", "rates", "owned", "before", "last", "coupled", "coupled_from", "places", "ball_codes",
    "cone_codes", "goal_codes", "items", "block_codes", "support",
)  # fmt: skip
NUMBER_TABLES = (
    "row_numbers", "lower", "upper", "start_lower", "start_upper", "metric", "masses", "tolerances", "cone_numbers",
)  # fmt: skip
HEADER = Layout(*COUNTS, *CODE_TABLES, *NUMBER_TABLES)
(
    AT_FRAMES, AT_MOTIONS, AT_COLUMNS, AT_BALLS, AT_CONES, AT_GOALS, AT_BLOCKS, AT_ERRORS, AT_EXPLICIT, AT_VALUES,
    AT_LEVELS,
    AT_STARTS, AT_PARENTS, AT_ROWS, AT_RATES, AT_OWNED, AT_BEFORE, AT_LAST, AT_COUPLED, AT_COUPLED_FROM, AT_PLACES,
    AT_BALL_CODES, AT_CONE_CODES, AT_GOAL_CODES, AT_ITEMS, AT_BLOCK_CODES, AT_SUPPORT,
    AT_ROW_NUMBERS, AT_LOWER, AT_UPPER, AT_START_LOWER, AT_START_UPPER, AT_METRIC, AT_MASSES, AT_TOLERANCES,
    AT_CONE_NUMBERS,
) = HEADER.places  # fmt: skip

# Records of the tables
QUATERNION = Layout("value", "column")  # of a ball, with or without a cone: where it begins in pose and columns
AT_QUATERNION_VALUE, AT_QUATERNION_COLUMN = QUATERNION.places
QUATERNION_SIZE = QUATERNION.size
BLOCK = Layout("first", "end", "weight", "level", "goal")  # of errors judged together; which number is its weight
AT_BLOCK_FIRST, AT_BLOCK_END, AT_BLOCK_WEIGHT, AT_BLOCK_LEVEL, AT_BLOCK_GOAL = BLOCK.places
BLOCK_SIZE = BLOCK.size
MASS = Layout("share", ("centre", 3))  # of a frame: of the whole body's mass, and where its own is
AT_SHARE, AT_CENTRE = MASS.places
MASS_SIZE = MASS.size
WRENCHES = Layout(("products", 36), ("wrench", 6))  # summed over a frame: a matrix 6 x 6, the wrench of the errors
AT_PRODUCTS, AT_WRENCH = WRENCHES.places
WRENCHES_SIZE = WRENCHES.size
MOMENT = Layout("share", ("moment", 3))  # of a frame: its share of the mass, and that times where it is
AT_MOMENT_SHARE, AT_MOMENT = MOMENT.places
MOMENT_SIZE = MOMENT.size

FIRST_CONE = 3  # in a ball's row, where others have their axis: which cone it has, counted from here


def pack_body(
    counts: Mapping[str, int], code_tables: Mapping[str, ArrayLike], number_tables: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return `codes` and `numbers`: the tables one after another, and in the header where they begin."""
    header: dict[str, Any] = dict(counts)
    codes, numbers, at = [], [], HEADER.size
    for name in CODE_TABLES:
        codes.append(np.asarray(code_tables[name], np.int64).ravel())
        header[name] = at
        at += codes[-1].size
    at = 0
    for name in NUMBER_TABLES:
        numbers.append(np.asarray(number_tables[name], np.float64).ravel())
        header[name] = at
        at += numbers[-1].size
    return np.concatenate([HEADER.pack(dtype=np.int64, **header), *codes]), np.concatenate(numbers)


# Memory that a solve works in; `scratch_sizes` says what its parts are. Numba knows this kind of named tuple only.
Scratch = namedtuple(
    "Scratch",
    "world twists sums moments work errors rows weighted matrix gradient current trial change low high held bounds "
    "factors missed renewed",
)


@inner
def scratch_sizes(codes):
    """Return how many numbers each part of the scratch memory takes."""
    frames, n, explicit, values = codes[AT_FRAMES], codes[AT_COLUMNS], codes[AT_EXPLICIT], codes[AT_VALUES]
    return Scratch(
        world=16 * frames,  # matrices 4 x 4
        twists=6 * codes[AT_MOTIONS],
        sums=WRENCHES_SIZE * frames,
        moments=2 * MOMENT_SIZE * frames,  # of each frame itself, and of all that hangs on it
        work=12,  # three rows of a matrix 4 x 4; or the axes of a cone, and a turn
        errors=codes[AT_ERRORS],
        rows=explicit * n,
        weighted=explicit,  # the errors of these rows, weighted
        matrix=n * n,  # the normal matrix, its lower half
        gradient=n,
        current=values,  # the pose of the start being tried
        trial=values,  # the pose after a step
        change=n,  # the step
        low=n,  # its bounds
        high=n,
        held=n,  # which columns stay at a bound
        bounds=n,  # and at which
        factors=n * n,
        missed=codes[AT_GOALS],  # which goals are missed
        renewed=n,  # which columns get another start
    )


def scratch_size(codes: NDArray[np.int64]) -> int:
    """Return how many numbers a solve needs to work in."""
    return int(sum(scratch_sizes.py_func(codes)))


@inner
def slice_scratch(codes, memory):
    """Return the parts of the scratch memory, one after another."""
    sizes = scratch_sizes(codes)
    world = memory
    twists = beyond(world, sizes.world)
    sums = beyond(twists, sizes.twists)
    moments = beyond(sums, sizes.sums)
    work = beyond(moments, sizes.moments)
    errors = beyond(work, sizes.work)
    rows = beyond(errors, sizes.errors)
    weighted = beyond(rows, sizes.rows)
    matrix = beyond(weighted, sizes.weighted)
    gradient = beyond(matrix, sizes.matrix)
    current = beyond(gradient, sizes.gradient)
    trial = beyond(current, sizes.current)
    change = beyond(trial, sizes.trial)
    low = beyond(change, sizes.change)
    high = beyond(low, sizes.low)
    held = beyond(high, sizes.high)
    bounds = beyond(held, sizes.held)
    factors = beyond(bounds, sizes.bounds)
    missed = beyond(factors, sizes.factors)
    renewed = beyond(missed, sizes.missed)
    return Scratch(
        world, twists, sums, moments, work, errors, rows, weighted, matrix, gradient, current, trial, change, low, high,
        held, bounds, factors, missed, renewed,
    )  # fmt: skip


@inner
def table(codes, which, memory):
    """Return one of the tables, of codes or of numbers."""
    return beyond(memory, codes[which])


@inner
def quaternion_at(codes, which, k):
    """Return where a ball, of those with or without a cone, begins in the pose and among the columns."""
    record = beyond(table(codes, which, codes), QUATERNION_SIZE * k)
    return record[AT_QUATERNION_VALUE], record[AT_QUATERNION_COLUMN]


@inner
def cone_at(codes, numbers, k):
    """Return the numbers of a cone."""
    return beyond(table(codes, AT_CONE_NUMBERS, numbers), CONE_SIZE * k)
