"""Whole curves of solutions, ignoring limits: trace them from a pose, intersect them with values, tell them apart.

If a goal leaves one dimension, its solutions without joint limits are curves without ends; limits cut pieces out of
them afterwards (`curves`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import GoalError
from ...kernels import chain_memory as memory
from ...kernels.closed_form.curve import CLOSED, LONGEST_STEP, curve_rows, put_on_curve, room_size, trace_curve
from ...linkage.poses import wrapped
from ...transforms import FloatArray
from ..chain_solver import Prepared

TURN = 2.0 * math.pi
MOST_KNOTS = 4096
SAME = 1e-6  # values that differ by less are one point of a curve
# Smallest singular value that counts, as a share of the largest; and upper bound of the next one, as a share of it.
RANK, NONE = 1e-6, 1e-3
NEXT = 1.2 * LONGEST_STEP  # beyond this distance, another knot is nearer
CLOSER = 8  # rounds of the search for the point of a curve nearest to a pose
NEWTON = 6
FINER = 8  # parts into which a piece of a curve is cut near a limit
HULL = 2e-3  # largest distance of a cubic through two knots from the curve, in `scales`


@dataclass(frozen=True, eq=False)
class Pieces:
    """Knots of a curve and the cubics between them.

    Attributes:
        values: The chain's values at the knots, shape (m, n), without jumps.
        rates: Their rates along the curve, shape (m, n).
        along: Length of the curve up to each knot, shape (m,).
    """

    values: FloatArray
    rates: FloatArray
    along: FloatArray

    @property
    def length(self) -> float:
        """Length of the whole [rad, and metres over the chain's length]."""
        return float(self.along[-1] - self.along[0])

    def at(self, along: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values and rates of the cubics at lengths; they are near the curve, not on it."""
        k = np.clip(np.searchsorted(self.along, along, side="right") - 1, 0, len(self.along) - 2)
        h = (self.along[k + 1] - self.along[k])[..., None]
        u = (along[..., None] - self.along[k][..., None]) / h
        a, b, c, d = self.values[k], self.values[k + 1], self.rates[k] * h, self.rates[k + 1] * h
        rise = b - a
        values = a + u * (c + u * (3.0 * rise - 2.0 * c - d + u * (c + d - 2.0 * rise)))
        rates = (c + u * (2.0 * (3.0 * rise - 2.0 * c - d) + 3.0 * u * (c + d - 2.0 * rise))) / h
        return values, rates

    def controls(self, joint: int) -> FloatArray:
        """Return the four control values of each cubic of one value, shape (m - 1, 4), which enclose the cubic."""
        third = np.diff(self.along) / 3.0
        x, rate = self.values[:, joint], self.rates[:, joint]
        return np.stack([x[:-1], x[:-1] + third * rate[:-1], x[1:] - third * rate[1:], x[1:]], axis=-1)

    def part(self, start: FloatArray, end: FloatArray, begin: float, stop: float) -> Pieces:
        """Return the part between two points of the curve, given by their values and their lengths along it."""
        inside = (self.along > begin + 1e-12) & (self.along < stop - 1e-12)
        ends = self.at(np.array([begin, stop]))[1]
        return Pieces(
            np.concatenate([start[None], self.values[inside], end[None]]),
            np.concatenate([ends[:1], self.rates[inside], ends[1:]]),
            np.concatenate([[begin], self.along[inside], [stop]]) - begin,
        )


@dataclass(frozen=True, eq=False)
class Whole:
    """A whole curve of solutions, ignoring limits.

    Attributes:
        pieces: Its knots.
        closed: Whether it returns to its beginning, ignoring whole turns.
        ends: If it is not closed, codes on why it ends, at its beginning and its end; see `kernels.closed_form.curve`.
    """

    pieces: Pieces
    closed: bool
    ends: tuple[int, int]

    @cached_property
    def winding(self) -> FloatArray:
        """Change of the values in one round, shape (n,): whole turns."""
        return np.asarray(self.pieces.values[-1] - self.pieces.values[0])

    def twice(self) -> Pieces:
        """Return two rounds of a closed curve."""
        p = self.pieces
        return Pieces(
            np.concatenate([p.values, p.values[1:] + self.winding]),
            np.concatenate([p.rates, p.rates[1:]]),
            np.concatenate([p.along, p.along[1:] + p.along[-1]]),
        )


class Tracer:
    """Follows the solutions of one goal along curves, with kernels.

    Args:
        prepared: The chain, packed.
        target: The target, 4x4.
        sample: Values of the chain, shape (k, n), from which the independent errors are determined.

    Attributes:
        mix: Independent combinations of errors, shape (n - 1, 6); empty if solutions do not form curves.
        scales: Unit of each value: 1 for angles, the chain's length for prismatic joints.
    """

    def __init__(self, prepared: Prepared, target: FloatArray, sample: FloatArray) -> None:
        self.prepared, chain = prepared, prepared.chain
        self.count = chain.values
        self.goal = np.ascontiguousarray(chain.goals(target))
        self.scales = np.where(chain.sliding, chain.length, 1.0)
        limits = memory.LIMITS.view(prepared.kept_limits)
        self.lower, self.upper, self.turning = limits.lower, limits.upper, chain.turning
        stops = np.stack([self.lower, self.upper], axis=-1)
        stops[self.turning] = -np.inf, np.inf
        self.stops = np.ascontiguousarray(stops).reshape(-1)
        self.room = np.zeros(room_size(prepared.rows, self.count))
        self.mix = self._independent(sample)

    def _independent(self, sample: FloatArray) -> FloatArray:
        """Return combinations (n - 1, 6) of errors that the joints can change; empty if their number is not n - 1."""
        columns = self._rows(sample).swapaxes(0, 1).reshape(6, -1)
        left, sizes, _ = np.linalg.svd(columns, full_matrices=True)
        sizes, rank = np.pad(sizes, (0, 7 - len(sizes))), self.count - 1
        if rank > 6 or sizes[rank - 1] < RANK * sizes[0] or sizes[rank] > NONE * sizes[rank - 1]:
            return np.zeros(0)
        return np.ascontiguousarray(left[:, :rank].T).reshape(-1)

    def _rows(self, values: FloatArray) -> FloatArray:
        """Return the weighted Jacobian (m, 6, n) at values (m, n), in `scales`."""
        columns = np.zeros((len(values), 6 * self.count))
        prepared = self.prepared
        curve_rows(prepared.codes, prepared.numbers, self.goal, np.ascontiguousarray(values), self.room, columns)
        scaled = columns.reshape(len(values), self.count, 6) * self.scales[:, None]
        return np.asarray(scaled.swapaxes(1, 2))

    def trace(self, values: FloatArray) -> Whole | None:
        """Return the whole curve through values (n,); None if the curve has no direction there."""
        ways = []
        for back in (False, True):
            knots, count = np.zeros((MOST_KNOTS, 2 * self.count + 1)), np.zeros(1, np.int64)
            knots[0, : self.count] = values
            prepared = self.prepared
            ended = trace_curve(
                prepared.codes,
                prepared.numbers,
                self.goal,
                self.mix,
                self.scales,
                self.stops,
                back,
                self.room,
                knots,
                count,
            )
            if not count[0]:
                return None
            found = knots[: int(count[0])].copy()
            if ended == CLOSED:
                return Whole(self._pieces(found), True, (CLOSED, CLOSED))
            ways.append((found, ended))
        (ahead, end), (behind, beginning) = ways
        behind = behind[:0:-1] * np.repeat([1.0, -1.0, -1.0], [self.count, self.count, 1])
        return Whole(self._pieces(np.concatenate([behind, ahead])), False, (beginning, end))

    def _pieces(self, knots: FloatArray) -> Pieces:
        n = self.count
        return Pieces(knots[:, :n].copy(), knots[:, n : 2 * n].copy(), knots[:, 2 * n] - knots[0, 2 * n])

    def put_on(self, values: FloatArray, planes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return values (m, n) moved onto the curve within planes (m, n), and their errors (m, 2) [m, rad].

        Errors are NaN where Newton's method fails.
        """
        result, errors = np.array(values, np.float64, order="C"), np.empty((len(values), 2))
        prepared = self.prepared
        put_on_curve(
            prepared.codes,
            prepared.numbers,
            self.goal,
            self.mix,
            self.scales,
            np.ascontiguousarray(planes * self.scales),
            self.room,
            result,
            errors,
        )
        return result, np.sqrt(errors)

    def nearest_on_curve(self, values: FloatArray) -> FloatArray:
        """Return values near the curve moved onto it, without those for which that fails."""
        if not len(values):
            return values
        found, errors = self.put_on(values, self.across(values))
        return np.asarray(found[~np.isnan(errors).any(axis=1)])

    def across(self, values: FloatArray) -> FloatArray:
        """Return planes (m, n) across the curve at values (m, n) near it."""
        planes = np.linalg.svd(self._rows(values), full_matrices=True)[2][:, -1]
        return np.asarray(planes / self.scales)

    def exact(self, pieces: Pieces, along: FloatArray) -> FloatArray:
        """Return the values (m, n) of the curve at lengths (m,), exact up to rounding."""
        values, rates = pieces.at(along)
        planes = rates / self.scales**2
        planes /= np.linalg.norm(planes * self.scales, axis=-1, keepdims=True)
        result, errors = self.put_on(values, planes)
        if np.isnan(errors).any():
            raise GoalError(f"a curve of solutions of {self.prepared.goal!r} cannot be followed at a singular pose.")
        return result

    def apart(self, one: FloatArray, two: FloatArray) -> FloatArray:
        """Return the largest difference of values from others, in `scales`, ignoring whole turns of revolute joints."""
        away = one - two
        away = np.where(self.turning, wrapped(away), away)
        return np.asarray(np.abs(away / self.scales).max(axis=-1))

    def on(self, pieces: Pieces, values: FloatArray) -> NDArray[np.bool_]:
        """Return which of values (m, n), all solutions, lie on a curve."""
        away = pieces.values - values[:, None]
        away = np.where(self.turning, wrapped(away), away) / self.scales
        found = np.zeros(len(values), np.bool_)
        nearest = np.argsort((away * away).sum(axis=-1), axis=1)[:, :2]
        for near in nearest.T:
            tangent = pieces.rates[near] / self.scales
            ahead = -np.einsum("mn,mn->m", away[np.arange(len(values)), near], tangent)
            start = pieces.values[near] + ahead[:, None] * pieces.rates[near]
            put, errors = self.put_on(start, tangent / self.scales)
            place = pieces.along[near] + ahead
            outside = (place < pieces.along[0] - SAME) | (place > pieces.along[-1] + SAME) | (np.abs(ahead) > NEXT)
            found |= ~outside & ~np.isnan(errors).any(axis=1) & (self.apart(put, values) < SAME)
        gaps = np.pad(np.linalg.norm(away, axis=-1), ((0, 0), (1, 1)), constant_values=np.inf)
        here = gaps[:, 1:-1]
        close = ~found[:, None] & (here < LONGEST_STEP) & (here <= gaps[:, :-2]) & (here <= gaps[:, 2:])
        for k, near in np.argwhere(close):
            found[k] |= self._comes_to(pieces, values[k], int(near))
        return found

    def _comes_to(self, pieces: Pieces, values: FloatArray, near: int) -> bool:
        """Return whether a curve passes through values near one of its knots; it may bend too sharply for tangents."""
        begin, end = pieces.along[max(near - 2, 0)], pieces.along[min(near + 2, len(pieces.along) - 1)]
        for _ in range(CLOSER):
            places = np.linspace(begin, end, 2 * FINER + 1)
            away = self.apart(self.exact(pieces, places), values)
            k = int(np.argmin(away))
            if away[k] < SAME:
                return True
            begin, end = places[max(k - 1, 0)], places[min(k + 1, 2 * FINER)]
        return False

    def crossings(self, pieces: Pieces, joint: int, value: float, *, copies: bool) -> tuple[FloatArray, FloatArray]:
        """Return where a joint has a given value on a curve: lengths (k,) and values (k, n), exact.

        With `copies`, values that differ by whole turns are the same.
        """
        controls = pieces.controls(joint)
        reach = HULL * self.scales[joint]
        low, high = controls.min(axis=1), controls.max(axis=1)
        first = math.ceil((low.min() - reach - value) / TURN) if copies else 0
        last = math.floor((high.max() + reach - value) / TURN) if copies else 0
        lengths: list[float] = []
        levels: list[float] = []
        for level in value + TURN * np.arange(first, last + 1):
            near = (low - reach <= level) & (level <= high + reach)
            if not near.any():
                continue
            steep = (np.diff(controls[near], axis=1) > 0.0).sum(axis=1) % 3 == 0  # up or down throughout
            plain = np.abs(controls[near][:, [0, 3]] - level).min(axis=1) > reach
            points = pieces if (steep & plain).all() else self._refined(pieces, near)
            places = _places(points, joint, level)
            lengths += places.tolist()
            levels += [level] * len(places)
        if not lengths:
            return np.zeros(0), np.zeros((0, self.count))
        guess = pieces.at(np.array(lengths))[0]
        guess[:, joint] = levels
        planes = np.zeros_like(guess)
        planes[:, joint] = 1.0 / self.scales[joint]
        exact, errors = self.put_on(guess, planes)
        good = ~np.isnan(errors).any(axis=1) & (np.abs(exact - guess).max(axis=1) < 0.1)
        exact[:, joint] = guess[:, joint]
        places = np.array(lengths)[good]
        order = np.argsort(places)
        places, exact = places[order], exact[good][order]
        new = np.ones(len(places), np.bool_)  # a crossing at a knot is found on both sides of it
        new[1:] = (np.diff(places) > 1e-9) | (np.abs(np.diff(exact, axis=0)).max(axis=1) > 1e-9)
        return places[new], exact[new]

    def _refined(self, pieces: Pieces, where: NDArray[np.bool_]) -> Pieces:
        """Return a curve with more knots on some of its pieces, so that cubics decide whether they touch a limit."""
        share = np.arange(1, FINER) / FINER
        extra = (pieces.along[:-1][where, None] + np.diff(pieces.along)[where, None] * share).reshape(-1)
        rates = pieces.at(extra)[1]
        along = np.concatenate([pieces.along, extra])
        order = np.argsort(along, kind="stable")
        values = np.concatenate([pieces.values, self.exact(pieces, extra)])
        return Pieces(values[order], np.concatenate([pieces.rates, rates])[order], along[order])


def _places(pieces: Pieces, joint: int, level: float) -> FloatArray:
    """Return the lengths at which the cubics of a value reach a level."""
    controls = pieces.controls(joint) - level
    found = np.flatnonzero((controls.min(axis=1) <= 0.0) & (controls.max(axis=1) >= 0.0))
    gaps = np.diff(pieces.along)
    places = [pieces.along[k] + gaps[k] * _roots(controls[k]) for k in found]
    return np.concatenate(places) if places else np.zeros(0)


def _roots(controls: FloatArray) -> FloatArray:
    """Return the zeros, from 0 to 1, of a cubic with four control values."""
    a, b, c, d = controls.tolist()
    if (a <= b <= c <= d or a >= b >= c >= d) and a != d:  # a single zero: Newton's method finds it from the chord
        u = a / (a - d)
        for _ in range(NEWTON):
            v = 1.0 - u
            slope = 3.0 * (v * v * (b - a) + 2.0 * u * v * (c - b) + u * u * (d - c))
            if slope == 0.0:
                break
            u -= (v * v * (v * a + 3.0 * u * b) + u * u * (3.0 * v * c + u * d)) / slope
            u = min(max(u, 0.0), 1.0)
        return np.array([u])
    roots = np.roots([d - 3.0 * c + 3.0 * b - a, 3.0 * (c - 2.0 * b + a), 3.0 * (b - a), a])
    real = roots.real[np.abs(roots.imag) < 1e-9]
    return np.asarray(real[(real >= -1e-9) & (real <= 1.0 + 1e-9)].clip(0.0, 1.0))
