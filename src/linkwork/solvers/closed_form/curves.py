"""Curves of solutions within limits: the parts of whole curves that joint limits allow, and poses along them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import OptionError
from ...kernels.closed_form.curve import FULL, LEFT, STUCK
from ...transforms import FloatArray
from .tracing import TURN, Pieces, Tracer, Whole

ROUNDS, PARTS = 12, 8  # rounds, and parts per round, of the search for the extreme values of a joint
LEAST = 1e-9  # a shorter piece of a curve is a point: the curve only touches a limit there
ROUND = "a whole round"  # end of a curve along which a joint with limits makes a whole turn
ENDINGS = {LEFT: "a value at the end of its range", FULL: "the end of its trace", STUCK: "a singular pose"}


@dataclass(frozen=True, eq=False)
class Curve:
    """A continuous curve of poses that reach a goal: call it with s from 0 to 1.

    Its length is in radians; prismatic joints count as shares of the chain's length.

    Attributes:
        closed: Whether its end is its beginning, apart from whole turns of unlimited joints.
        ends: Texts on what stops it at s = 0 and at s = 1: ``"'joint4' at its upper limit"``, or ``"closed"``.
        names: Names of the coordinates that move.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([1.0, 1.0, 1.0])
        >>> curve = lw.solve_all(arm, lw.Reach("tip", position=(1.0, 0.5))).curve(0)
        >>> curve.closed, curve([0.0, 0.25, 0.5]).shape
        (True, (3, 3))
    """

    _tracer: Tracer
    _pieces: Pieces
    closed: bool
    ends: tuple[str, str]
    names: tuple[str, ...]

    @property
    def length(self) -> float:
        """Length of the curve: the arc length in joint space."""
        return self._pieces.length

    def values(self, s: ArrayLike) -> FloatArray:
        """Return the chain's values at s, shape (..., n)."""
        share = np.asarray(s, np.float64)
        if not np.all((share >= 0.0) & (share <= 1.0)):
            raise OptionError(f"a curve of solutions runs from s = 0 to s = 1, got {s!r}.")
        flat = share.reshape(-1) * self.length
        tracer = self._tracer
        found = tracer.exact(self._pieces, flat)
        found = np.clip(found, tracer.lower, tracer.upper)  # rounding may exceed a limit
        found[flat <= 0.0], found[flat >= self.length] = self._pieces.values[0], self._pieces.values[-1]
        return found.reshape(*share.shape, tracer.count)

    def __call__(self, s: ArrayLike) -> FloatArray:
        """Return the pose at s, from 0 to 1; poses (..., nq) for an array. Every pose reaches the goal exactly."""
        prepared = self._tracer.prepared
        return prepared.put(self.values(s), prepared.rest)

    def part(self, begin: float, end: float, ends: tuple[str, str]) -> Curve:
        """Return the part from one s to another, with texts on its ends; a closed curve continues beyond s = 1."""
        pieces, length = self._pieces, self.length
        first, last = self.values(begin), self.values(end % 1.0 if end > 1.0 else end)
        if end > 1.0:
            round_trip = pieces.values[-1] - pieces.values[0]
            last = last + round_trip
            again = (pieces.values[1:] + round_trip, pieces.rates[1:], pieces.along[1:] + length)
            pieces = Pieces(*map(np.concatenate, zip((pieces.values, pieces.rates, pieces.along), again, strict=True)))
        part = pieces.part(first, last, begin * length, end * length)
        return Curve(self._tracer, part, False, ends, self.names)

    def sample(self, count: int) -> FloatArray:
        """Return poses (count, nq) spread evenly along the curve; a closed curve does not repeat the first pose."""
        return self(np.arange(count) / count if self.closed else np.linspace(0.0, 1.0, count))

    def holds(self, values: FloatArray) -> NDArray[np.bool_]:
        """Return which of the chain's values (m, n), all solutions, are on the curve, ignoring whole turns."""
        return self._tracer.on(self._pieces, values)

    def extent(self, joint: int) -> tuple[float, float]:
        """Return the smallest and the largest value of one joint on the curve, to 1e-10 or better."""
        low, high = (sign * self._least(joint, sign) for sign in (1.0, -1.0))
        return low, high

    def _least(self, joint: int, sign: float) -> float:
        x, along = sign * self._pieces.values[:, joint], self._pieces.along
        k = int(np.argmin(x))
        best, begin, end = float(x[k]), along[max(k - 1, 0)], along[min(k + 1, len(x) - 1)]
        for _ in range(ROUNDS):
            places = np.linspace(begin, end, PARTS + 1)
            found = sign * self._tracer.exact(self._pieces, places)[:, joint]
            k = int(np.argmin(found))
            best, begin, end = min(best, float(found[k])), places[max(k - 1, 0)], places[min(k + 1, PARTS)]
        return best

    def __repr__(self) -> str:
        ends = "closed" if self.closed else f"from {self.ends[0]} to {self.ends[1]}"
        return f"<Curve of {self.length:.3g} rad, {ends}>"


@dataclass(frozen=True, eq=False)
class _Cut:
    """Where a whole curve meets a limit."""

    along: float
    values: FloatArray
    joint: int
    name: str


def within_limits(tracer: Tracer, whole: Whole, names: tuple[str, ...]) -> list[Curve]:
    """Return the pieces of a whole curve on which all limits are kept.

    A joint with a range of a whole turn or more does not end a curve by its angle, only by how far it has turned.
    """
    narrow = _narrow(tracer)
    pieces = whole.pieces
    cuts = sorted(_cuts(tracer, pieces, narrow, names), key=lambda cut: cut.along)
    if not cuts:
        if not _inside(tracer, pieces.values[len(pieces.values) // 2][None], narrow)[0]:
            return []
        return _unrolled(tracer, pieces, whole, _outer(whole), names)
    ends = [*cuts]
    if whole.closed:
        first = cuts[0]
        ends.append(_Cut(first.along + pieces.length, first.values + whole.winding, first.joint, first.name))
        pieces = whole.twice()
    else:
        ends.insert(0, _Cut(0.0, pieces.values[0], -1, ENDINGS[whole.ends[0]]))
        ends.append(_Cut(pieces.length, pieces.values[-1], -1, ENDINGS[whole.ends[1]]))
    found = []
    for begin, end in _kept(tracer, pieces, ends, narrow):
        part = pieces.part(begin.values, end.values, begin.along, end.along)
        found += _unrolled(tracer, part, None, (begin.name, end.name), names)
    return found


def _outer(whole: Whole) -> tuple[str, str]:
    return ("closed", "closed") if whole.closed else (ENDINGS[whole.ends[0]], ENDINGS[whole.ends[1]])


def _narrow(tracer: Tracer) -> NDArray[np.bool_]:
    """Return which values have limits that exclude a part of a turn, or of their range."""
    limited = np.isfinite(tracer.lower) | np.isfinite(tracer.upper)
    return np.asarray(limited & ~(tracer.turning & (tracer.upper - tracer.lower >= TURN)))


def _cuts(tracer: Tracer, pieces: Pieces, narrow: NDArray[np.bool_], names: tuple[str, ...]) -> Iterator[_Cut]:
    for joint in np.flatnonzero(narrow):
        for limit, side in ((tracer.lower[joint], "lower"), (tracer.upper[joint], "upper")):
            if math.isfinite(limit):
                lengths, values = tracer.crossings(pieces, int(joint), limit, copies=bool(tracer.turning[joint]))
                for along, one in zip(lengths, values, strict=True):
                    yield _Cut(float(along), one, int(joint), f"{names[joint]!r} at its {side} limit")


def _inside(tracer: Tracer, values: FloatArray, narrow: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which values (m, n) keep the limits of narrow joints, ignoring whole turns."""
    limited = tracer.turning & np.isfinite(tracer.lower) & np.isfinite(tracer.upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(limited, 0.5 * (tracer.lower + tracer.upper), 0.0)
    moved = values + TURN * np.where(limited, np.rint((middle - values) / TURN), 0.0)
    return np.asarray(((moved >= tracer.lower) & (moved <= tracer.upper))[:, narrow].all(axis=1))


def _kept(tracer: Tracer, pieces: Pieces, ends: list[_Cut], narrow: NDArray[np.bool_]) -> Iterator[tuple[_Cut, _Cut]]:
    """Yield the beginnings and ends of pieces within limits; a curve that only touches a limit continues."""
    places = np.array([cut.along for cut in ends])
    long = np.diff(places) > LEAST
    inside = _inside(tracer, tracer.exact(pieces, 0.5 * (places[1:] + places[:-1])), narrow)
    begin: _Cut | None = None
    for k in np.flatnonzero(long):
        if inside[k]:
            begin = ends[k] if begin is None else begin
        elif begin is not None:
            yield begin, ends[k]
            begin = None
    if begin is not None:
        yield begin, ends[-1]


def _unrolled(
    tracer: Tracer, pieces: Pieces, whole: Whole | None, ends: tuple[str, str], names: tuple[str, ...]
) -> list[Curve]:
    """Return a piece with its angles within limits, cut where a joint with more than a turn reaches a limit."""
    closed = whole is not None and whole.closed
    limited = np.isfinite(tracer.lower) | np.isfinite(tracer.upper)
    if closed and whole is not None and np.abs(whole.winding[limited]).max(initial=0.0) > 1.0:
        closed, ends = False, (ROUND, ROUND)  # it returns a turn further, where the limits are different
    found: list[Curve] = []
    left, name, closing = pieces, ends[0], closed
    while True:
        turns = _best_turns(tracer, left)
        moved = Pieces(left.values + TURN * turns, left.rates, left.along)
        cuts = sorted(_leaving(tracer, moved, names), key=lambda cut: cut.along)
        if not cuts:
            found.append(Curve(tracer, _tidy(tracer, moved), closing, (name, ends[1]), names))
            return found
        cut, closing = cuts[0], False
        first = moved.part(moved.values[0], cut.values, float(moved.along[0]), cut.along)
        found.append(Curve(tracer, _tidy(tracer, first), False, (name, cut.name), names))
        name = cut.name
        left = moved.part(cut.values, moved.values[-1], cut.along, float(moved.along[-1]))
        left = Pieces(left.values, left.rates, left.along)


def _tidy(tracer: Tracer, pieces: Pieces) -> Pieces:
    """Return a piece whose ends keep their limits exactly."""
    values = pieces.values.copy()
    values[[0, -1]] = np.clip(values[[0, -1]], tracer.lower, tracer.upper)
    return Pieces(values, pieces.rates, pieces.along)


def _best_turns(tracer: Tracer, pieces: Pieces) -> FloatArray:
    """Return whole turns (n,) to add, so that a piece stays within limits from its beginning as long as possible.

    If all of it fits, the middle of the piece is moved nearest to the middle of the range; else the joint begins where
    it can go furthest.
    """
    limited = tracer.turning & np.isfinite(tracer.lower) & np.isfinite(tracer.upper)
    result = np.zeros(tracer.count)
    for joint in np.flatnonzero(limited):
        x = pieces.values[:, joint]
        low, high = tracer.lower[joint], tracer.upper[joint]
        result[joint] = np.rint((0.5 * (low + high) - 0.5 * (x.min() + x.max())) / TURN)
        if x.min() + TURN * result[joint] < low - 1e-9 or x.max() + TURN * result[joint] > high + 1e-9:
            first, last = math.ceil((low - x[0]) / TURN - 1e-9), math.floor((high - x[0]) / TURN + 1e-9)
            if last >= first:
                stays = [_stays(x + TURN * turn, low, high) for turn in range(first, last + 1)]
                result[joint] = first + int(np.argmax(stays))
    return result


def _stays(x: FloatArray, low: float, high: float) -> int:
    """Return the number of knots at which a value stays within its limits before it leaves them."""
    outside = (x < low - 1e-9) | (x > high + 1e-9)
    return int(np.argmax(outside)) if outside.any() else len(x)


def _leaving(tracer: Tracer, pieces: Pieces, names: tuple[str, ...]) -> Iterator[_Cut]:
    """Yield where joints with a range of more than a turn leave their limits."""
    wide = tracer.turning & np.isfinite(tracer.upper - tracer.lower) & ~_narrow(tracer)
    for joint in np.flatnonzero(wide):
        for limit, side in ((tracer.lower[joint], "lower"), (tracer.upper[joint], "upper")):
            lengths, values = tracer.crossings(pieces, int(joint), limit, copies=False)
            outwards = pieces.at(lengths)[1][:, joint] * (1.0 if side == "upper" else -1.0) > 0.0
            for along, one in zip(lengths[outwards], values[outwards], strict=True):
                if along < pieces.along[-1] - LEAST:
                    yield _Cut(float(along), one, int(joint), f"{names[joint]!r} at its {side} limit")
