"""Least squares of many four-bars at once: damped Gauss-Newton steps with exact derivatives.

If crank angles are free, the angle of each point is eliminated: the remaining error is the distance from the curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...transforms import FloatArray
from .closed_form import NUMBERS, ComplexArray, IndexArray, derivatives, place

ROOM = 1e-6  # smallest squared sine of the angle at the crank pin; nearer to a dead centre, a loop counts as open
SHORTEST, LONGEST = 0.01, 100.0  # allowed lengths of bars, relative to the size of the path
DAMPING, EASED, STIFFER = 1e-3, 0.3, 4.0
LOST = 1e12  # from this damping on, steps are too small to change anything
BEST_KEPT, SORTED_AT = 12, 40  # number of fits that continue, after this number of steps
LOOK, STALLED = 20, 0.999999  # a fit stops if its cost falls by less than this factor within LOOK steps
# A fit is done below the squared error DONE, for a path of size one. ENOUGH such fits end the search, or one of them
# after PATIENCE steps.
DONE, ENOUGH, PATIENCE = 1e-28, 5, 120


@dataclass
class Fits:
    """Four-bars during a fit: rows (n, 9), sides (n,), angles (n, points), squared errors (n,)."""

    rows: FloatArray
    side: FloatArray
    angles: FloatArray
    cost: FloatArray

    def take(self, which: IndexArray) -> Fits:
        """Return some of them."""
        return Fits(self.rows[which], self.side[which], self.angles[which], self.cost[which])


def costs(rows: FloatArray, side: FloatArray, angles: FloatArray, points: ComplexArray) -> FloatArray:
    """Return the mean squared distance from points, infinite if a loop does not close or a bar has no length."""
    placed = place(rows, side, angles)
    cost = np.mean(np.abs(placed.point - points) ** 2, axis=1)
    sound = (placed.room > ROOM).all(axis=1)
    sound &= ((rows[:, 4:7] > SHORTEST) & (rows[:, 4:7] < LONGEST)).all(axis=1)
    return np.where(sound, cost, np.inf)


def fit(fits: Fits, points: ComplexArray, *, timed: bool, steps: int) -> Fits:
    """Return four-bars fitted to points by a number of steps, the best first.

    Args:
        fits: The four-bars to start from.
        points: The points, of size about one around the origin, shape (points,).
        timed: Whether the crank's angles are given; they can then only be shifted together.
        steps: Number of steps.
    """
    damping = np.full(len(fits.rows), DAMPING)
    before = np.inf
    for count in range(steps):
        damping = _advance(fits, points, damping, timed)
        done = int((fits.cost < DONE).sum())
        if done >= ENOUGH or (done and count >= PATIENCE) or ((damping > LOST) | (fits.cost < DONE)).all():
            break
        if count % LOOK == LOOK - 1:
            if count > SORTED_AT and fits.cost.min() > STALLED * before:
                break
            before = fits.cost.min()
        if count == SORTED_AT and len(fits.rows) > BEST_KEPT:
            best = np.argsort(fits.cost)[:BEST_KEPT]
            fits, damping = fits.take(best), damping[best]
    return fits.take(np.argsort(fits.cost))


def finish(fits: Fits, points: ComplexArray, *, timed: bool, steps: int) -> Fits:
    """Return four-bars of `fit` in the same order, each improved until it meets the points or stops improving."""
    damping = np.full(len(fits.rows), DAMPING)
    before = fits.cost
    for count in range(1, steps + 1):
        damping = _advance(fits, points, damping, timed)
        if ((damping > LOST) | (fits.cost < DONE)).all():
            break
        if count % LOOK == 0:
            if ((fits.cost < DONE) | (fits.cost > STALLED * before)).all():
                break
            before = fits.cost
    return fits


def _advance(fits: Fits, points: ComplexArray, damping: FloatArray, timed: bool) -> FloatArray:
    """Take a step with each four-bar, if that improves it; return the damping of the next steps."""
    change, turned = _step(fits, points, damping, timed)
    rows, angles = fits.rows + change, fits.angles + turned
    cost = costs(rows, fits.side, angles, points)
    better = cost < fits.cost
    fits.rows = np.where(better[:, None], rows, fits.rows)
    fits.angles = np.where(better[:, None], angles, fits.angles)
    fits.cost = np.where(better, cost, fits.cost)
    return np.where(better, damping * EASED, damping * STIFFER)


def _step(fits: Fits, points: ComplexArray, damping: FloatArray, timed: bool) -> tuple[FloatArray, FloatArray]:
    """Return the changes of rows and angles by a damped Gauss-Newton step."""
    placed = place(fits.rows, fits.side, fits.angles)
    moved, turned = derivatives(fits.rows, placed)
    error = placed.point - points
    if timed:  # the start angle is the only unknown angle
        moved = np.concatenate([moved, turned[..., None]], axis=-1)
    flat = np.concatenate([moved.real, moved.imag], axis=1)
    wrong = np.concatenate([error.real, error.imag], axis=1)
    normal = np.swapaxes(flat, 1, 2) @ flat
    slope = (np.swapaxes(flat, 1, 2) @ wrong[..., None])[..., 0]
    stiff = damping[:, None] * np.einsum("nkk->nk", normal) + 1e-14
    if not timed:
        own = np.abs(turned) ** 2 * (1.0 + damping[:, None]) + 1e-12
        shared = np.real(np.conj(turned)[..., None] * moved)
        along = np.real(np.conj(turned) * error)
        weighed = np.swapaxes(shared / own[..., None], 1, 2)
        normal = normal - weighed @ shared
        slope = slope - (weighed @ along[..., None])[..., 0]
    size = normal.shape[-1]
    normal[:, np.arange(size), np.arange(size)] += stiff
    change = -np.linalg.solve(normal, slope[..., None])[..., 0]
    if timed:
        return change[:, :NUMBERS], np.repeat(change[:, NUMBERS:], len(points), axis=1)
    return change, -(along + (shared @ change[..., None])[..., 0]) / own
