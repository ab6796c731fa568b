"""Path generation: four-bars whose coupler point follows a path."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...errors import GoalError
from ...solvers.options import whole
from ...transforms import FloatArray, as_array, reraised_as
from .atlas import Match, atlas, closed_matches, open_matches, timed_matches
from .closed_form import ComplexArray, place
from .designs import Design, defects_of, different
from .fitting import Fits, costs, finish, fit
from .four_bars import FourBar, placed

CLOSED = 1.5  # largest distance between the ends of a closed path, over its longest step
STEPS = 400
SPARE = 2  # designs that are finished, over the number requested


def path(
    points: ArrayLike,
    *,
    timing: ArrayLike | None = None,
    closed: bool | None = None,
    designs: int = 5,
    starts: int = 60,
) -> tuple[Design, ...]:
    """Return four-bars whose coupler point passes through or near given points, the best first.

    Curves of an atlas that are similar to the path are placed on it, and the nine dimensions of each are fitted by
    least squares. A four-bar can meet nine points (five if crank angles are given); more are approximated. Designs
    without defects come first, then those with the smaller error.

    Args:
        points: The points in the order in which they are passed [m], shape (n, 2), n at least 3.
        timing: Crank rotation from the first point to each point [rad], shape (n,); free by default.
        closed: Whether the path is closed; by default it is, if its ends are as close as neighbouring points.
        designs: Largest number of designs to return.
        starts: Number of curves of the atlas to try.

    Raises:
        GoalError: If the points are too few, not finite, or all the same.
        OptionError: If `designs` or `starts` is not a whole number.

    Example:
        >>> import linkwork as lw
        >>> points = [[20, 20], [20, 25], [20, 30], [20, 35], [20, 40], [20, 45]]
        >>> best = lw.synthesis.path(points)[0]
        >>> best.error < 1e-3
        True
    """
    designs, starts = whole("designs", designs), whole("starts", starts)
    wanted = checked_points(points)
    middle = wanted.mean()
    size = float(np.sqrt(np.mean(np.abs(wanted - middle) ** 2)))
    if size <= 1e-12 * max(abs(middle), 1e-300):
        raise GoalError("the points of a path must differ, got all of them in one place.")
    unit = (wanted - middle) / size
    if timing is not None:
        angles = checked_timing(timing, len(unit))
        matches = [*timed_matches(unit, angles), *timed_matches(unit, -angles)]
    else:
        if closed is None:
            closed = bool(abs(unit[-1] - unit[0]) <= CLOSED * np.abs(np.diff(unit)).max()) and len(unit) > 4
        matches = closed_matches(unit) if closed else open_matches(unit)
    timed = timing is not None
    fits = fit(_starts(matches, unit, starts), unit, timed=timed, steps=STEPS)
    fits = fits.take(np.flatnonzero(np.isfinite(fits.cost)))
    found = _designs(fits, wanted, middle, size)
    best = different(_ranked(found), SPARE * designs)  # more than requested, since some become equal
    fits = finish(fits.take(np.array([found.index(design) for design in best], int)), unit, timed=timed, steps=STEPS)
    return different(_ranked([*_designs(fits, wanted, middle, size), *best]), designs)


def numbers(values: ArrayLike, what: str) -> FloatArray:
    """Return an array of numbers; raise GoalError if it is none."""
    with reraised_as(GoalError):
        return as_array(values, what)


def checked_points(points: ArrayLike, *, least: int = 3, what: str = "points of a path") -> ComplexArray:
    """Return points of the plane as complex numbers; raise GoalError if they are invalid."""
    array = numbers(points, what)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < least:
        raise GoalError(f"expected at least {least} points of the plane, shape (n, 2), got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise GoalError(f"{what} are finite numbers, got nan or infinity.")
    return np.asarray(array[:, 0] + 1j * array[:, 1])


def checked_timing(timing: ArrayLike, count: int) -> FloatArray:
    """Return angles of the crank from the first one; raise GoalError if they are invalid."""
    angles = numbers(timing, "the timing")
    if angles.shape != (count,) or not np.isfinite(angles).all():
        raise GoalError(f"the timing has one finite angle for each of {count} points, got shape {angles.shape}.")
    return np.asarray(angles - angles[0])


def _starts(matches: list[Match], points: ComplexArray, count: int) -> Fits:
    """Return the entries of the atlas that are most similar to a path, moved and scaled onto it."""
    likeness = np.stack([match.likeness for match in matches])
    which = likeness.argmax(axis=0)
    best = np.argsort(-likeness.max(axis=0))[: max(4 * count, 1)]
    book = atlas()
    rows, side = book.rows[best].copy(), book.side[best]
    angles = np.stack([matches[which[k]].angles[k] for k in best])
    shape = place(rows, side, angles).point
    centre = shape.mean(axis=1, keepdims=True)
    spread = np.sum(np.abs(shape - centre) ** 2, axis=1, keepdims=True)
    factor = np.sum(np.conj(shape - centre) * (points - points.mean()), axis=1, keepdims=True) / spread
    shift = points.mean() - factor * centre
    for first in (0, 2):
        moved = (factor * (rows[:, first : first + 1] + 1j * rows[:, first + 1 : first + 2]) + shift)[:, 0]
        rows[:, first], rows[:, first + 1] = moved.real, moved.imag
    rows[:, 4:] *= np.abs(factor)
    angles = angles + np.angle(factor)
    cost = costs(rows, side, angles, points)
    kept = np.argsort(cost)[:count]
    return Fits(rows[kept], side[kept], angles[kept], cost[kept])


def _designs(fits: Fits, wanted: ComplexArray, middle: complex, size: float) -> list[Design]:
    rows = zip(fits.rows, fits.side, fits.angles, strict=True)
    return [_design(row, side, angles, wanted, middle, size) for row, side, angles in rows]


def _ranked(designs: list[Design]) -> list[Design]:
    """Return designs sorted: those without defects first, then by error."""
    return sorted(designs, key=lambda design: (len(design.defects) > 0, design.error))


def _design(
    row: FloatArray, side: float, angles: FloatArray, wanted: ComplexArray, middle: complex, size: float
) -> Design:
    numbers = row * size
    numbers[[0, 2]] += middle.real
    numbers[[1, 3]] += middle.imag
    bars = FourBar(numbers, int(side))
    turned = np.asarray(angles - bars.heading)
    errors = np.abs(placed(bars, turned).point[0] - wanted)
    return Design(bars, turned, errors, defects_of(bars, turned))
