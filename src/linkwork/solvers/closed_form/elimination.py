"""Elimination to complement the search: it solves goals that a few starts missed, and finds the nearest solutions.

For an arm of no family, a search is mostly faster than elimination; but for a goal without a solution it would try
thousands of starts, where elimination gives a proof. From a start, a search finds a pose near it, not always the
nearest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...kernels import chain_memory as memory
from ...kernels.closed_form.form_layout import ANSWER
from ...kernels.search_many import CLOSEST, REACHED, UNSOLVED
from ...transforms import FloatArray
from .axes import axes_of
from .general_form import GeneralForm

if TYPE_CHECKING:
    from ..chain_solver import Prepared

FEW = 9  # starts before elimination
JOINTS = 6


def may_eliminate(prepared: Prepared) -> bool:
    """Return whether elimination may apply to a chain's goals; this check is fast."""
    found = axes_of(prepared.chain) if prepared.whole_pose and prepared.restarts > FEW else ""
    return not isinstance(found, str) and len(found[0]) == JOINTS and not found[0].slides.any()


def settle_missed(
    prepared: Prepared,
    targets: FloatArray,
    given: FloatArray,
    values: FloatArray,
    report: FloatArray,
    status: NDArray[np.int64],
) -> None:
    """Decide the targets (m, 4, 4) that a few starts missed: reached, closest (there is no solution), or unsolved.

    With given starts, the solution nearest to each is taken.
    """
    missed = np.flatnonzero(status == CLOSEST)
    if not len(missed):
        return
    if not isinstance(prepared.form, GeneralForm):
        status[missed] = UNSOLVED
        return
    every, mask, proven = prepared.form.all_many_proven(targets[missed], limits=prepared.settings.limits)
    status[missed] = np.where(proven, CLOSEST, UNSOLVED)
    some = mask.any(axis=1)
    rows = missed[some]
    if not len(rows):
        return
    starts = given[rows] if given.size else np.zeros((len(rows), JOINTS))
    away = np.abs(every[some] - starts[:, None])
    if not given.size:
        away[:] = 0.0  # take the first
    away = np.where(mask[some], (away * away).sum(axis=-1), np.inf)
    poses, lines = every[some, np.argmin(away, axis=1)], report[rows]
    good = prepared.check(targets[rows], poses, lines)
    values[rows], report[rows], status[rows] = poses, lines, np.where(good, REACHED, UNSOLVED)


class NearestSolution:
    """Function that writes the solution nearest to a start, of all that elimination finds.

    Args:
        prepared: The chain.
        form: Its closed form.
    """

    def __init__(self, prepared: Prepared, form: GeneralForm) -> None:
        self.form, self.answer, self.settings = form, prepared.answer, prepared.settings
        self.tolerance = prepared.settings.tolerance, prepared.settings.rotation_tolerance

    def __call__(self, target: FloatArray, out: FloatArray) -> bool:
        """Write the solution of a target (4, 4) nearest to the start in `out`, as `search_one` does.

        Return whether there is one.
        """
        answer = self.answer
        found = self.form.all(target, start=out[answer.start], limits=self.settings.limits, tolerance=self.tolerance)
        if not len(found):
            return False
        first, at = found.room.reshape(-1), answer.report.start  # the nearest comes first
        out[answer.values], out[answer.report], out[answer.target] = found.values[0], 0.0, target.reshape(-1)
        out[at + memory.REPORT.position_error] = first[ANSWER.position] ** 2
        out[at + memory.REPORT.rotation_error] = first[ANSWER.rotation] ** 2
        return True


def nearest_by_elimination(prepared: Prepared) -> NearestSolution | None:
    """Return a function that writes the solution nearest to a start; None if elimination does not apply."""
    if not may_eliminate(prepared) or not isinstance(prepared.form, GeneralForm):
        return None
    return NearestSolution(prepared, prepared.form)
