"""Elimination beside a search: what few starts have missed is found, or known to have no pose; and what is nearest.

A search finds most poses of an arm of no family in less time than elimination takes; a goal without one it would try
from thousands of starts. From a start it leads to a pose that is near it, but not always to the nearest.
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
    """Return whether a chain's goals may be given to elimination, which is known at once."""
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
    """See to the targets (m, 4, 4) that few starts have missed: reached, closest (there is none), or unsolved again.

    With starts given, the solution nearest to each is taken.
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
        away[:] = 0.0  # the first will do
    away = np.where(mask[some], (away * away).sum(axis=-1), np.inf)
    poses, lines = every[some, np.argmin(away, axis=1)], report[rows]
    good = prepared.check(targets[rows], poses, lines)
    values[rows], report[rows], status[rows] = poses, lines, np.where(good, REACHED, UNSOLVED)


class NearestSolution:
    """Writes the solution nearest to a start, of all that elimination gives.

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
    """Return what writes the solution nearest to a start; None where elimination does not serve a chain."""
    if not may_eliminate(prepared) or not isinstance(prepared.form, GeneralForm):
        return None
    return NearestSolution(prepared, prepared.form)
