"""The solutions nearest to starts for many targets, for batches with `nearest=True`.

A batch searches from its starts, which gives a pose near each start but not always the nearest one. Closed forms give
all solutions: all poses of six joints, all curves of seven.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..kernels.search_many import REACHED
from ..transforms import FloatArray
from .chain_solver import Prepared
from .closed_form.general_form import GeneralForm

TURN = 2.0 * np.pi


def check_nearest(prepared: Prepared, given: bool) -> None:
    """Raise OptionError unless a batch can give the solutions nearest to its starts."""
    if not given:
        raise OptionError("nearest=True asks for the solutions nearest to starts; give start=, too.")
    if prepared.avoid is not None:
        raise OptionError("nearest=True does not look at obstacles; leave out avoid=, or nearest=.")
    if not prepared.knows_nearest:
        raise OptionError(f"nearest=True needs a closed form. {prepared.form} Without, answers are near their starts.")


def put_nearest(
    prepared: Prepared,
    targets: FloatArray,
    starts: FloatArray,
    status: NDArray[np.int64],
    values: FloatArray,
    report: FloatArray,
) -> None:
    """Write the solutions nearest to start poses (m, nq) over those of targets (m, 4, 4) that were reached."""
    rows = np.flatnonzero(status == REACHED)
    form: Any = prepared.form
    if isinstance(form, GeneralForm):
        _of_all(prepared, form, rows, targets, prepared.chain.values_of(starts), values, report)
    elif prepared.looks_nearer:
        answer = prepared.answer
        for row in rows.tolist():
            one = prepared.solve(targets[row], start=starts[row])
            if one.success:
                values[row], report[row] = one.out[answer.values], one.out[answer.report]


def _of_all(
    prepared: Prepared,
    form: GeneralForm,
    rows: NDArray[np.int64],
    targets: FloatArray,
    starts: FloatArray,
    values: FloatArray,
    report: FloatArray,
) -> None:
    """Replace solutions by the nearest of all solutions where that is nearer."""
    if not len(rows):
        return
    limits, homes = prepared.settings.limits, starts[rows]
    every, mask = form.all_many(targets[rows], limits=limits)
    low, high = (-np.inf, np.inf) if limits == "ignore" else (form.lower, form.upper)
    period = TURN / form.scale
    turns = np.rint((homes[:, None] - every) / period)
    with np.errstate(invalid="ignore"):
        turns = np.clip(turns, np.ceil((low - every) / period - 1e-12), np.floor((high - every) / period + 1e-12))
    every = np.clip(every + period * turns, low, high)
    away = np.where(mask, ((every - homes[:, None]) ** 2).sum(axis=-1), np.inf)
    best = np.argmin(away, axis=1)
    away, here = away[np.arange(len(rows)), best], ((values[rows] - homes) ** 2).sum(axis=1)
    poses, lines = every[np.arange(len(rows)), best], report[rows]
    better = away < here
    poses[~better] = values[rows][~better]
    good = prepared.check(targets[rows], poses, lines) & better
    values[rows[good]], report[rows[good]] = poses[good], lines[good]
