"""The closest pose to a target that the compiled search missed; `kernels.closest` defines the minimised error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.closest import closest_many, closest_room
from ..kernels.rooms import zero_room
from ..kernels.search_many import BEYOND, CLOSEST
from ..transforms import FloatArray

if TYPE_CHECKING:
    from .chain_solver import Prepared

NO_STARTS = np.zeros(0)
# Pairs by stage: number of poses of a target that continue, and steps of each. Far outside the reach, a few starts are
# enough. Inside it, position and orientation conflict, and there are many local minima.
OUTSIDE, INSIDE = np.array([(24, 4), (8, 6), (4, 8), (2, 60)]), np.array([(128, 4), (32, 60)])
# From all branches of a closed form, a few steps reach the same quality as 128 starts.
BRANCHES, BESIDE_START = np.array([(8, 1), (2, 6), (1, 60)]), np.array([(1, 0), (0, 0), (0, 0)])
# Only the last stage is in double precision; most steps are taken in the stages before it.
QUICK_OUTSIDE = np.array([(8, 4), (4, 6), (1, 60), (1, 8)])
QUICK_INSIDE = np.array([(16, 3), (4, 12), (1, 60), (1, 8)])
FINISH = np.array([(1, 60)])  # for poses that almost reach their targets
# A step of all lanes costs the cube of the number of values: about one second at 800 values.
LANES, WORK, FEWEST = 16, 1.5e9, 3


def bring_closer(
    prepared: Prepared,
    aims: FloatArray,
    status: NDArray[np.int64],
    values: FloatArray,
    report: FloatArray,
    *,
    given: FloatArray = NO_STARTS,
    alone: bool = False,
    quick: bool = False,
) -> None:
    """Bring the values (m, n) of missed targets as close to these as possible, and write their reports.

    A metre counts as much as a chord ``2 sin(angle / 2)`` of one, divided by a quarter of the chain's length. With
    given starts, the nearest of equally close poses is taken. A target that is reached after all gets another status.

    Args:
        prepared: The solver.
        aims: Targets (m, 4, 4) as `Prepared.spun` gives them.
        status: Status of the search for each: only targets with status closest or beyond are improved.
        values: Its results, values of the chain, shape (m, n); overwritten.
        report: Its reports on them, shape (m, 4); overwritten.
        given: Starts, values of the chain, shape (m, n), or none.
        alone: Whether it is a single target, which always gets the full effort.
        quick: Whether a small part of the effort is enough: most targets then still get their closest pose.
    """
    outside, inside = (QUICK_OUTSIDE, QUICK_INSIDE) if quick else (OUTSIDE, INSIDE)
    missed = (status == BEYOND) | (status == CLOSEST)
    if not missed.any():
        return
    if alone:
        _descend(prepared, aims, status, values, report, given, inside)
        return
    parts = [(outside, np.flatnonzero(status == BEYOND)), (inside, np.flatnonzero(status == CLOSEST))]
    if quick and prepared.branches is not None:
        parts = [(BRANCHES, np.flatnonzero(missed))]
    elif quick and not given.size:
        from .chain_quick import bring_near, serves  # imported on demand, because of its kernel

        if serves(prepared):
            parts = [(FINISH, bring_near(prepared, aims, status, values, report))]
    for stages, rows in parts:
        if len(rows):
            ends, poses, lines = status[rows], values[rows], report[rows]
            _descend(prepared, aims[rows], ends, poses, lines, given[rows] if given.size else given, stages)
            status[rows], values[rows], report[rows] = ends, poses, lines


def affordable(stages: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return stages for a number of values: fewer poses and steps for long chains, none for very long ones.

    Example:
        >>> affordable(INSIDE, 7).tolist(), affordable(INSIDE, 500).tolist(), len(affordable(INSIDE, 2000))
        ([[128, 4], [32, 60]], [[16, 3], [16, 9]], 0)
    """
    most = int(WORK / values**3)
    if (-(-stages[:, 0] // LANES) * stages[:, 1]).sum() <= most:
        return stages
    return np.array([(LANES, most // 4), (LANES, most - most // 4)]) if most >= FEWEST else stages[:0]


def _descend(
    prepared: Prepared,
    aims: FloatArray,
    status: NDArray[np.int64],
    values: FloatArray,
    report: FloatArray,
    given: FloatArray,
    stages: NDArray[np.int64],
) -> None:
    """Bring values closer in stages; overwrite them, their reports and their status."""
    stages = affordable(stages, prepared.chain.values)
    if not len(stages):
        return
    kernel: Any = closest_many
    begin: Any = prepared.starts(np.float64)
    if stages is BRANCHES and prepared.branches is not None:
        from ..kernels.closed_form.closer import closer_many  # only closed forms need it

        kernel, begin = closer_many, prepared.branches(aims)
        if given.size:
            begin, stages = np.concatenate([given[:, None], begin], axis=1), BRANCHES + BESIDE_START
        begin = begin.reshape(-1)
    lanes, books, notes = closest_room(prepared.rows, prepared.chain.values, int(stages[0, 0]))
    kernel(
        prepared.codes,
        prepared.numbers,
        prepared.packed(np.float32),
        begin,
        aims.reshape(-1),
        given.reshape(-1),
        stages.reshape(-1),
        zero_room(lanes),
        zero_room((lanes[0], 2 * lanes[1]), np.float32),
        np.empty(books),
        np.empty(notes, np.int64),
        values.reshape(-1),
        report.reshape(-1),
        status,
    )
