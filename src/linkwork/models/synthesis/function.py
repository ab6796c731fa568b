"""Function generation: four-bars whose rocker turns as a function of their crank, after Freudenstein."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import GoalError
from ...solvers.options import whole
from ...transforms import FloatArray
from .closed_form import derivatives, place
from .designs import Design, defects_of, different
from .four_bars import TURN, FourBar
from .path import numbers
from .time_ratio import checked_length

DIALS, REFINED = 12, 12  # zero angles tried on each dial; largest number of refined starts
STEPS, DAMPING, EASED, STIFFER, LOST = 100, 1e-3, 0.3, 4.0, 1e12
SETTLED, TINY = 1e-28, 1e-14  # squared error [rad²] of a perfect fit; added to the damping, so that steps stay finite
VAST = 1e-6  # smallest constant: crank and rocker are at most 1 / VAST times as long as the ground


def spaced(start: float, stop: float, count: int) -> FloatArray:
    """Return Chebyshev's precision points between two values, which are closer together at both ends.

    Args:
        start: The first value.
        stop: The last.
        count: Number of points.

    Example:
        >>> spaced(1.0, 2.0, 3).round(4).tolist()
        [1.067, 1.5, 1.933]
    """
    angles = (2.0 * np.arange(count) + 1.0) * math.pi / (2.0 * count)
    return np.asarray(0.5 * (start + stop) - 0.5 * (stop - start) * np.cos(angles))


def function(
    inputs: ArrayLike, outputs: ArrayLike, *, dials: bool = False, ground: float = 1.0, designs: int = 3
) -> tuple[Design, ...]:
    """Return four-bars whose rocker angle is a given function of the crank angle, the best first.

    Freudenstein's equation, ``K1 cos(output) - K2 cos(input) + K3 = cos(input - output)``, is linear in three ratios of
    lengths, so three pairs are fitted exactly. More pairs are fitted by least squares, first of the equation, then of
    the output angles. Errors are those of the output angle [rad].

    Args:
        inputs: Angles of the crank from the line of the ground [rad], shape (n,), n at least 3.
        outputs: Angles of the rocker from the same line [rad], shape (n,).
        dials: Whether the zero of both angles is free, which makes the error smaller. Angles of a design are those of
            its crank from the ground line.
        ground: Distance of the pivots [m]; all lengths scale with it.
        designs: Largest number of designs to return.

    Raises:
        GoalError: If there are too few pairs, the ground is not a finite length above zero, or no four-bar fits.
        OptionError: If `designs` is not a whole number.

    Example:
        >>> import linkwork as lw
        >>> best = lw.synthesis.function(np.radians([45, 90, 135]), np.radians([60, 80, 100]))[0]
        >>> best.worst < 1e-9
        True
    """
    base, designs = checked_length(ground, "a ground"), whole("designs", designs)
    given, wanted = numbers(inputs, "inputs"), numbers(outputs, "outputs")
    if given.ndim != 1 or given.shape != wanted.shape or len(given) < 3:
        raise GoalError(
            "expected at least 3 angles of the crank and as many of the rocker, "
            f"got shapes {given.shape} and {wanted.shape}."
        )
    if not (np.isfinite(given).all() and np.isfinite(wanted).all()):
        raise GoalError("angles of a function must be finite.")
    marks = np.linspace(0.0, TURN, DIALS, endpoint=False) if dials else np.zeros(1)
    starts = [start for one in marks for two in marks if (start := _freudenstein(given + one, wanted + two))]
    starts.sort(key=lambda start: start.missed)
    found = [_refined(start, side, dials) for start in starts[:REFINED] for side in (1.0, -1.0)]
    made = [_design(start, side, base) for start, side in zip(found, len(starts) * [1.0, -1.0], strict=False)]
    made = [design for design in made if np.isfinite(design.errors).all()]
    if not made:
        raise GoalError("no four-bar has these angles; give other ones, or dials=True to turn their marks.")
    made.sort(key=lambda design: (len(design.defects), design.error))
    return different(made, designs)


@dataclass(frozen=True)
class _Start:
    """Lengths of crank, coupler and rocker for a ground of 1, angles of crank and rocker, and the largest error."""

    lengths: FloatArray
    crank: FloatArray
    rocker: FloatArray
    missed: float


def _freudenstein(crank: FloatArray, rocker: FloatArray) -> _Start | None:
    """Return the lengths that fit Freudenstein's equation best; None if no four-bar has them.

    A negative length means a bar that points the opposite way, so its angle gets half a turn.
    """
    table = np.stack([np.cos(rocker), -np.cos(crank), np.ones(len(crank))], axis=1)
    constants, *_ = np.linalg.lstsq(table, np.cos(crank - rocker), rcond=None)
    if np.abs(constants[:2]).min() < VAST:
        return None
    a, c = 1.0 / constants[0], 1.0 / constants[1]
    squared = 1.0 + a * a + c * c - 2.0 * a * c * constants[2]
    if squared <= 0.0:
        return None
    missed = float(np.abs(table @ constants - np.cos(crank - rocker)).max())
    lengths = np.array([abs(a), math.sqrt(squared), abs(c)])
    return _Start(lengths, crank + math.pi * (a < 0.0), rocker + math.pi * (c < 0.0), missed)


def _missed(start: _Start, side: float) -> tuple[FloatArray, FloatArray]:
    """Return errors of the rocker's angles, NaN where the loop does not close, and their derivatives.

    Columns: by the lengths of crank, coupler and rocker, by the crank's zero angle, by the rocker's.
    """
    a, b, c = start.lengths
    row = np.array([[0.0, 0.0, 1.0, 0.0, a, b, c, b, 0.0]])  # the coupler point is at the rocker's pin
    parts = place(row, np.array([side]), start.crank[None])
    moved, turned = derivatives(row, parts)
    rod = parts.end[0] - 1.0
    error = np.where(parts.room[0] > 0.0, np.angle(rod * np.exp(-1j * start.rocker)), np.nan)
    change = np.stack([moved[0, :, 4], moved[0, :, 5] + moved[0, :, 7], moved[0, :, 6], turned[0]], axis=1)
    swing = np.imag(np.conj(rod)[:, None] * change) / c**2
    return error, np.column_stack([swing, -np.ones(len(error))])


def _refined(start: _Start, side: float, dials: bool) -> _Start:
    """Return a start improved by damped Gauss-Newton steps until the errors of the rocker's angles are least."""
    error, change = _missed(start, side)
    damping = DAMPING
    for _ in range(STEPS):
        cost = float(np.sum(error**2))
        if not cost > SETTLED or damping > LOST:  # NaN, for an open loop, also ends the loop here
            break
        slope = change if dials else change[:, :3]
        normal = slope.T @ slope
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + TINY), -slope.T @ error)
        dial = step[3:] if dials else np.zeros(2)
        tried = _Start(start.lengths + step[:3], start.crank + dial[0], start.rocker + dial[1], start.missed)
        then = _missed(tried, side) if (tried.lengths > 0.0).all() else (np.full(len(error), np.nan), change)
        if np.sum(then[0] ** 2) < cost:  # False for an open loop, whose errors are NaN
            start, (error, change), damping = tried, then, damping * EASED
        else:
            damping *= STIFFER
    return start


def _design(start: _Start, side: float, ground: float) -> Design:
    a, b, c = start.lengths
    error, _ = _missed(start, side)
    four_bar = FourBar(ground * np.array([0.0, 0.0, 1.0, 0.0, a, b, c, 0.5 * b, 0.0]), int(side))
    pin = a * np.exp(1j * start.crank)
    sides = np.imag((1.0 + c * np.exp(1j * start.rocker) - pin) * np.conj(1.0 - pin))
    return Design(four_bar, start.crank, np.abs(error), defects_of(four_bar, start.crank, sides), "rad")
