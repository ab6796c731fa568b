"""Synthesis by swing and time ratio: crank-rockers with a slow and a quick stroke, after Alt."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...errors import GoalError
from ...transforms import FloatArray, as_angle
from .closed_form import ComplexArray
from .designs import Design, different
from .four_bars import KINDS, FourBar, kinds_of
from .time_ratio import EVEN, LONGEST, checked_length, imbalance, least

Places = Callable[[FloatArray], ComplexArray]  # positions of the crank's pivot on its circle or line, from 0 to 1
SHARES, HALVINGS = 1600, 60  # search for a crank of a given length: number of samples, and of bisections
FURTHEST = 10.0  # largest distance of the crank's pivot along its line, over the rocker's length
SEEN = 1e-6  # [rad]: tolerance of the imbalance; from the other arc of a circle, the ends appear at another angle


def crank_rocker(
    swing: float | str, ratio: float = 1.0, *, ground: float = 1.0, crank: float | None = None
) -> tuple[Design, ...]:
    """Return crank-rockers for a swing angle and a time ratio, the best transmission angle first.

    From the crank's pivot, the two end positions of the rocker's pin appear at the angle of imbalance, so the pivot
    lies on a circle. Its position on the circle is free. It is chosen for the best transmission angle, with no bar more
    than five times as long as another, or by the crank's length. Errors are those of the swing and of the crank's angle
    in the slow stroke [rad].

    Args:
        swing: Angle by which the rocker swings [rad], or a text such as ``"80deg"``.
        ratio: Time ratio, slow stroke over quick one, 1 to 3. Which of the two is slow depends on the crank's
            direction.
        ground: Distance of the pivots [m]; all lengths scale with it.
        crank: Length of the crank [m]; by default chosen for the best transmission angle.

    Raises:
        GoalError: If no such mechanism exists.

    Example:
        >>> best = crank_rocker("80deg", 10 / 9, ground=120.0)[0]
        >>> [round(length, 1) for length in best.four_bar.lengths], round(math.degrees(best.transmission), 1)
        ([120.0, 46.7, 116.2, 73.9], 37.7)
    """
    angle, base, off = as_angle(swing), checked_length(ground, "a ground"), imbalance(ratio)
    if not 0.0 < angle < math.pi:
        raise GoalError(f"the swing of a rocker must be above zero and below half a turn, got {swing!r}.")
    found: list[FloatArray] = []
    for places in _pivots(angle, off):
        if crank is None:
            shares = np.array([_best(places, angle, off)])
        else:
            shares = _with_crank(places, angle, checked_length(crank, "a crank") / base)
        pivots = places(shares)
        found += list(_lengths(pivots, angle).T[_worth(pivots, angle, off, longest=math.inf) > 0.0])
    designs = [_design(base * lengths, angle, off) for lengths in found]
    designs.sort(key=lambda design: -design.transmission)
    if not designs:
        more = "" if crank is None else f" and a crank of {crank:g} m"
        degrees = math.degrees(angle)
        raise GoalError(f"no crank-rocker swings by {degrees:g} degrees with a time ratio of {ratio:g}{more}.")
    return different(designs, len(designs) if crank is not None else 1)


def _best(places: Places, swing: float, off: float) -> float:
    """Return the parameter, from 0 to 1, of the pivot with the best transmission angle."""
    return least(lambda share: -_worth(places(share), swing, off), 0.0, 1.0)


def _pivots(swing: float, off: float) -> list[Places]:
    """Return the curves of the crank's pivot for a rocker of length 1 about the origin that points up on average.

    From the pivot, the two ends of the rocker's swing appear at the angle of imbalance. So it lies on one of two
    circles through them, or for no imbalance on the line through them.
    """
    half, high = math.sin(swing / 2.0), math.cos(swing / 2.0)
    if off < EVEN:
        return [lambda share: half + (FURTHEST - half) * share + 1j * high]
    radius = half / math.sin(off)
    return [_circle(1j * (high + side * radius * math.cos(off)), radius) for side in (1.0, -1.0)]


def _circle(centre: complex, radius: float) -> Places:
    return lambda share: centre + radius * np.exp(2j * math.pi * share)


def _ends(swing: float) -> tuple[complex, complex]:
    """Return the positions of the rocker's pin at both ends of its swing."""
    half, high = math.sin(swing / 2.0), math.cos(swing / 2.0)
    return complex(-half, high), complex(half, high)


def _lengths(pivots: ComplexArray, swing: float) -> FloatArray:
    """Return ground, crank, coupler and rocker over the ground, shape (4, n), for positions of the crank's pivot."""
    one, two = (np.abs(end - pivots) for end in _ends(swing))
    ground = np.abs(pivots)
    return np.asarray(np.stack([ground, np.abs(one - two) / 2.0, (one + two) / 2.0, np.ones_like(ground)]) / ground)


def _worth(pivots: ComplexArray, swing: float, off: float, longest: float = LONGEST) -> FloatArray:
    """Return the smallest transmission angles for positions of the crank's pivot [rad]; -inf if not a crank-rocker.

    A crank-rocker keeps its assembly mode, so both ends of the swing must be on one side of the ground line.
    """
    ground, crank, coupler, rocker = lengths = _lengths(pivots, swing)
    one, two = (end - pivots for end in _ends(swing))
    sides = [np.sign(np.imag(np.conj(-pivots) * way)) for way in (one, two)]
    seen = np.abs(np.angle(two / one))
    good: NDArray[np.bool_] = kinds_of(lengths) == KINDS.index("crank-rocker")
    good &= (sides[0] == sides[1]) & (np.abs(seen - off) < SEEN)
    good &= lengths.max(axis=0) <= longest * lengths.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = [
            (coupler**2 + rocker**2 - far**2) / (2.0 * coupler * rocker) for far in (ground - crank, ground + crank)
        ]
        angle = np.arccos(np.clip(np.max(np.abs(cosines), axis=0), 0.0, 1.0))
    return np.asarray(np.where(good, angle, -np.inf))


def _with_crank(places: Places, swing: float, crank: float) -> FloatArray:
    """Return the parameters, from 0 to 1, of pivots with a given length of the crank over the ground."""

    def off(share: FloatArray) -> FloatArray:
        return np.asarray(_lengths(places(share), swing)[1] - crank)

    shares = np.linspace(0.0, 1.0, SHARES)
    cross = np.flatnonzero(np.diff(np.sign(off(shares))) != 0.0)
    low, high = shares[cross], shares[cross + 1]
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        same = np.sign(off(middle)) == np.sign(off(low))
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray((low + high) / 2.0)


def _design(lengths: FloatArray, swing: float, off: float) -> Design:
    """Return a crank-rocker as a design; its angles are those of the dead centres, stretched and folded."""
    ground, crank, coupler, rocker = lengths.tolist()
    reaches = np.array([coupler + crank, coupler - crank])
    at_crank = np.arccos((ground**2 + reaches**2 - rocker**2) / (2.0 * ground * reaches))
    at_rocker = np.arccos((ground**2 + rocker**2 - reaches**2) / (2.0 * ground * rocker))
    angles = at_crank + np.array([0.0, math.pi])
    errors = np.abs([abs(at_rocker[0] - at_rocker[1]) - swing, abs(at_crank[1] - at_crank[0]) - off])
    numbers = np.array([0.0, 0.0, ground, 0.0, crank, coupler, rocker, 0.5 * coupler, 0.0])
    return Design(FourBar(numbers), angles, errors, unit="rad")
