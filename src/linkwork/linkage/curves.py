"""Curves by which one joint follows another, with two derivatives: cams, Geneva drives, polynomials.

To add a curve, write one class and add one row to `CURVES`; scene files store it by its fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError, TransformError
from ..transforms import FloatArray, as_angle, as_array, as_number, reraised_as

TURN = 2.0 * math.pi
WHOLE = 1e-9  # largest deviation of the sum of a cam's parts from one turn, as a share of a turn
SLOPE, BEND = 1e-6, 1e-4  # steps of the central differences for the first and second derivative of a function
FEWEST_SLOTS = 3


class CouplingCurve:
    """The value of a follower as a function of its driver's value, with two derivatives.

    Every method takes arrays of any shape and returns arrays of that shape.
    """

    kind: ClassVar[str]

    @property
    def advance(self) -> float | None:
        """Increase of the value over each whole turn; None if the turns differ."""
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(vars(self)[name] for name in type(self).__match_args__)  # type: ignore[attr-defined]

    def value(self, x: ArrayLike) -> FloatArray:
        """Return the values of the curve."""
        return self._derived(0, x)

    def slope(self, x: ArrayLike) -> FloatArray:
        """Return the first derivative."""
        return self._derived(1, x)

    def bend(self, x: ArrayLike) -> FloatArray:
        """Return the second derivative."""
        return self._derived(2, x)

    def _derived(self, times: int, x: ArrayLike) -> FloatArray:
        """Return the derivative of order `times`, 0 to 2. A curve defines either this or the three methods above."""
        raise NotImplementedError


@dataclass(frozen=True)
class Polynomial(CouplingCurve):
    """A polynomial ``c0 + c1 x + c2 x² + ...``, as in MuJoCo's joint couplings.

    Args:
        coefficients: The numbers c0, c1, c2, ...

    Example:
        >>> Polynomial((1, 0, 2)).value(3.0).item()
        19.0
    """

    coefficients: tuple[float, ...]
    kind: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Sequence) or not len(self.coefficients):
            raise LinkageError(f"a polynomial needs at least one coefficient, got {self.coefficients!r}.")
        with reraised_as(LinkageError):
            numbers = tuple(as_number(c, "coefficient of a polynomial") for c in self.coefficients)
        vars(self)["coefficients"] = numbers

    def _derived(self, times: int, x: ArrayLike) -> FloatArray:
        factors, at = self.coefficients, np.asarray(x, np.float64)
        for _ in range(times):
            factors = tuple(k * c for k, c in enumerate(factors))[1:]
        result = np.zeros(at.shape)
        for factor in reversed(factors):  # Horner
            result = result * at + factor
        return np.asarray(result)


@dataclass(frozen=True)
class CamTable(CouplingCurve):
    """A cam given at some angles, with a cubic spline between them whose first two derivatives are continuous.

    Args:
        points: Pairs of the driver's and the follower's value [rad or m], driver's values ascending; angles may be
            texts.
        period: Period of the table [rad]: a turn by default. If the last point is one period after the first and its
            value differs, the curve continues from there; otherwise the first point closes the table. With None the
            table is not periodic and continues in a straight line beyond its ends.

    Example:
        >>> lift = CamTable([("0deg", 0), ("90deg", 0.01), ("180deg", 0.02), ("270deg", 0.01)])
        >>> lift.value([0.0, np.pi / 4, 9 * np.pi / 4]).round(6).tolist()
        [0.0, 0.003125, 0.003125]
    """

    points: tuple[tuple[float, float], ...]
    period: float | None = TURN
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        try:
            rows = [(as_angle(x) if isinstance(x, str) else x, y) for x, y in self.points]
            table = as_array(rows, "points of a cam")
        except (TypeError, ValueError, TransformError) as error:
            raise LinkageError(f"points of a cam are pairs of numbers, driver and follower: {error}") from error
        if len(table) < 3 or not np.isfinite(table).all() or not (np.diff(table[:, 0]) > 0.0).all():
            raise LinkageError("a cam needs three or more finite points, with the driver's values in ascending order.")
        if self.period is not None:
            with reraised_as(LinkageError):
                period = as_number(self.period, "period of a cam")
            if not table[-1, 0] - table[0, 0] <= period * (1.0 + WHOLE):
                span = table[-1, 0] - table[0, 0]
                raise LinkageError(f"the points of a cam span {span:.6g}, more than its period {period:.6g}.")
            vars(self)["period"] = period
        vars(self)["points"] = tuple((x, y) for x, y in table.tolist())

    @classmethod
    def sampled(cls, function: Callable[[float], float], *, count: int = 361) -> CamTable:
        """Return a function sampled over one turn as a table: a cam that a file can store.

        Args:
            function: Takes the driver's angle [rad] and returns the follower's value [rad or m].
            count: Number of points over the turn, both ends included.
        """
        angles = np.linspace(0.0, TURN, count)
        return cls(tuple((float(x), float(function(float(x)))) for x in angles))

    @cached_property
    def _rise(self) -> float:
        """Increase of the value over one period."""
        (first, low), (last, high) = self.points[0], self.points[-1]
        return high - low if self.period is not None and self._closes(first, last) else 0.0

    def _closes(self, first: float, last: float) -> bool:
        return self.period is not None and last - first >= self.period * (1.0 - WHOLE)

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import CubicSpline

        x, y = np.array(self.points).T
        if self.period is None:
            return CubicSpline(x, y)
        if not self._closes(x[0], x[-1]):
            x, y = np.append(x, x[0] + self.period), np.append(y, y[0])
        y = y - self._rise * (x - x[0]) / self.period
        y[-1] = y[0]
        return CubicSpline(x, y, bc_type="periodic", extrapolate="periodic")

    @property
    def advance(self) -> float | None:
        if self.period is None or abs(TURN / self.period - round(TURN / self.period)) > WHOLE:
            return None
        return self._rise * round(TURN / self.period)

    def _derived(self, times: int, x: ArrayLike) -> FloatArray:
        at, first, last = np.asarray(x, np.float64), self.points[0][0], self.points[-1][0]
        if self.period is not None:
            steady = (self._rise / self.period * (at - first), self._rise / self.period, 0.0)[times]
            return np.asarray(self._spline(at, times) + steady)
        inside = np.clip(at, first, last)
        if times == 2:
            return np.where(inside == at, self._spline(inside, 2), 0.0)
        beyond = self._spline(inside, 1) * (at - inside) if times == 0 else 0.0
        return np.asarray(self._spline(inside, times) + beyond)


class Law(NamedTuple):
    """A rise from 0 to 1 while u goes from 0 to 1, with its first two derivatives."""

    value: Callable[[FloatArray], Any]
    slope: Callable[[FloatArray], Any]
    bend: Callable[[FloatArray], Any]


LAWS = {
    "dwell": Law(np.zeros_like, np.zeros_like, np.zeros_like),
    "uniform": Law(lambda u: u, np.ones_like, np.zeros_like),
    "parabolic": Law(
        lambda u: np.where(u < 0.5, 2.0 * u**2, 1.0 - 2.0 * (1.0 - u) ** 2),
        lambda u: np.where(u < 0.5, 4.0 * u, 4.0 * (1.0 - u)),
        lambda u: np.where(u < 0.5, 4.0, -4.0),
    ),
    "harmonic": Law(
        lambda u: (1.0 - np.cos(np.pi * u)) / 2.0,
        lambda u: np.pi / 2.0 * np.sin(np.pi * u),
        lambda u: np.pi**2 / 2.0 * np.cos(np.pi * u),
    ),
    "cycloidal": Law(
        lambda u: u - np.sin(TURN * u) / TURN,
        lambda u: 1.0 - np.cos(TURN * u),
        lambda u: TURN * np.sin(TURN * u),
    ),
    "3-4-5": Law(
        lambda u: u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
        lambda u: 30.0 * u**2 * (1.0 - u) ** 2,
        lambda u: 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
    ),
    "4-5-6-7": Law(
        lambda u: u**4 * (35.0 - 84.0 * u + 70.0 * u**2 - 20.0 * u**3),
        lambda u: 140.0 * u**3 * (1.0 - u) ** 3,
        lambda u: 420.0 * u**2 * (1.0 - u) ** 2 * (1.0 - 2.0 * u),
    ),
}


@dataclass(frozen=True)
class CamProgram(CouplingCurve):
    """A cam designed from rises, returns and dwells that make up one turn.

    Args:
        parts: For each part a law, its angle [rad, or a text such as ``"120deg"``] and the follower's value at its end
            [m or rad]; a dwell has an angle only. Laws are ``"dwell"``, ``"uniform"``, ``"parabolic"``, ``"harmonic"``,
            ``"cycloidal"``, ``"3-4-5"`` and ``"4-5-6-7"``; the last three join a dwell with continuous acceleration.
        start: The follower's value at the start.

    Example:
        >>> cam = CamProgram([("cycloidal", "120deg", 0.02), ("dwell", "60deg"), ("3-4-5", "180deg", 0.0)])
        >>> cam.value([0.0, np.pi / 3, np.pi]).round(6).tolist()
        [0.0, 0.01, 0.02]
    """

    parts: tuple[tuple[str | float, ...], ...]
    start: float = 0.0
    kind: ClassVar[str] = "program"

    def __post_init__(self) -> None:
        with reraised_as(LinkageError):
            at = as_number(self.start, "start of a cam")
            parts = []
            for part in self.parts:
                if isinstance(part, str) or len(part) not in (2, 3) or part[0] not in LAWS:
                    laws = ", ".join(map(repr, LAWS))
                    raise LinkageError(f"a part of a cam is a law ({laws}), an angle and an end, got {part!r}.")
                if (part[0] == "dwell") != (len(part) == 2):
                    raise LinkageError(f"a dwell of a cam has an angle, other parts an angle and an end, got {part!r}.")
                angle = as_angle(part[1])
                if not angle > 0.0:
                    raise LinkageError(f"the angle of a part of a cam is positive, got {part!r}.")
                end = () if len(part) == 2 else (as_number(part[2], "end of a part of a cam"),)
                parts.append((str(part[0]), angle, *end))
        whole = sum(float(part[1]) for part in parts)
        if abs(whole - TURN) > WHOLE * TURN:
            raise LinkageError(
                f"the angles of the parts of a cam must add up to one turn, 360 deg, got {math.degrees(whole):.6g} deg."
            )
        vars(self).update(parts=tuple(parts), start=at)

    @cached_property
    def _rows(self) -> list[tuple[Law, float, float, float, float]]:
        """For each part: its law, its first and last angle, and the follower's values there."""
        rows, angle, at = [], 0.0, self.start
        for law, width, *end in self.parts:
            there, after = angle + float(width), float(end[0]) if end else at
            rows.append((LAWS[str(law)], angle, there, at, after))
            angle, at = there, after
        return rows

    @property
    def advance(self) -> float | None:
        return self._rows[-1][4] - self.start

    def _derived(self, times: int, x: ArrayLike) -> FloatArray:
        at = np.asarray(x, np.float64)
        turns = np.floor(at / TURN)
        angle = at - TURN * turns
        result = np.zeros(at.shape)
        for law, begin, end, low, high in self._rows:
            u = np.clip((angle - begin) / (end - begin), 0.0, 1.0)
            here = (angle >= begin) & ((angle < end) | (end == self._rows[-1][2]))
            amount = (high - low) * law[times](u) / (end - begin) ** times
            result = np.where(here, amount + (low if times == 0 else 0.0), result)
        return result + turns * (self.advance or 0.0) if times == 0 else result


@dataclass(frozen=True)
class Geneva(CouplingCurve):
    """A Geneva drive: the wheel turns while a pin of the crank is in a slot, and is locked by a disc otherwise.

    The crank's angle is zero where the pin is deepest in a slot. The pin enters and leaves along the slot, so the speed
    of the wheel is continuous; its acceleration is not.

    Args:
        slots: Number of slots in the wheel, 3 or more.
        pins: Number of pins on the crank, evenly spaced.
        internal: Whether the crank turns inside the wheel, which then turns in the same direction; opposite by default.

    Example:
        >>> wheel = Geneva(4)
        >>> np.degrees(wheel.value(np.radians([-180, -45, 45, 180]))).round(6).tolist()
        [45.0, 45.0, -45.0, -45.0]
    """

    slots: int
    pins: int = 1
    internal: bool = False
    kind: ClassVar[str] = "geneva"

    def __post_init__(self) -> None:
        for name, least in (("slots", FEWEST_SLOTS), ("pins", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise LinkageError(f"{name} of a Geneva drive is a whole number from {least} on, got {value!r}.")
        if not isinstance(self.internal, bool):
            raise LinkageError(f"internal of a Geneva drive is True or False, got {self.internal!r}.")
        if 2.0 * self.engaged * self.pins > TURN * (1.0 + WHOLE):
            most = int(TURN * (1.0 + WHOLE) / (2.0 * self.engaged))
            raise LinkageError(f"a Geneva wheel of {self.slots} slots takes {most} pins at most, got {self.pins}.")

    @property
    def ratio(self) -> float:
        """The crank's radius over the distance of the axles: ``sin(pi / slots)``."""
        return math.sin(math.pi / self.slots)

    @property
    def engaged(self) -> float:
        """The crank's angle where a pin leaves its slot [rad]: ``pi/2 - pi/slots``, internal ``pi/2 + pi/slots``."""
        return math.acos(-self._share)

    @property
    def _share(self) -> float:
        return self.ratio if self.internal else -self.ratio

    @property
    def advance(self) -> float | None:
        return math.copysign(TURN * self.pins / self.slots, self._share)

    def value(self, x: ArrayLike) -> FloatArray:
        steps, angle = self._in_slot(x)
        at = np.clip(angle, -self.engaged, self.engaged)
        turned = np.arctan2(self._share * np.sin(at), 1.0 + self._share * np.cos(at))
        return np.asarray(turned + steps * (self.advance or 0.0) / self.pins)

    def slope(self, x: ArrayLike) -> FloatArray:
        _, angle = self._in_slot(x)
        share, c = self._share, np.cos(angle)
        moving = share * (c + share) / (1.0 + 2.0 * share * c + share**2)
        return np.where(np.abs(angle) < self.engaged, moving, 0.0)

    def bend(self, x: ArrayLike) -> FloatArray:
        _, angle = self._in_slot(x)
        share = self._share
        moving = -share * (1.0 - share**2) * np.sin(angle) / (1.0 + 2.0 * share * np.cos(angle) + share**2) ** 2
        return np.where(np.abs(angle) < self.engaged, moving, 0.0)

    def _in_slot(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the number of the nearest slot passage, counted over all turns, and the angle relative to it."""
        at = np.asarray(x, np.float64)
        steps = np.round(at / (TURN / self.pins))
        return steps, at - steps * (TURN / self.pins)


@dataclass(frozen=True)
class CamFunction(CouplingCurve):
    """A cam given as a Python function of the driver's value; to save it, convert it with `CamTable.sampled`.

    Args:
        function: Takes a number, returns a number.
        derivatives: The first and the second derivative, likewise; by default central differences, accurate to about
            nine and seven digits.
        turn: Increase of the value over each whole turn, zero by default; None if the turns differ.

    Example:
        >>> bool(abs(CamFunction(math.sin).slope(0.5) - math.cos(0.5)) < 1e-8)
        True
    """

    function: Callable[[float], float]
    derivatives: tuple[Callable[[float], float], Callable[[float], float]] | None = None
    turn: float | None = 0.0
    kind: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        if not callable(self.function) or not (self.derivatives is None or all(map(callable, self.derivatives))):
            raise LinkageError(f"a cam is given by a function of one number, got {self.function!r}.")

    @property
    def advance(self) -> float | None:
        return self.turn

    def value(self, x: ArrayLike) -> FloatArray:
        return self._called(self.function, x)

    def slope(self, x: ArrayLike) -> FloatArray:
        if self.derivatives is not None:
            return self._called(self.derivatives[0], x)
        at = np.asarray(x, np.float64)
        return np.asarray((self.value(at + SLOPE) - self.value(at - SLOPE)) / (2.0 * SLOPE))

    def bend(self, x: ArrayLike) -> FloatArray:
        if self.derivatives is not None:
            return self._called(self.derivatives[1], x)
        at = np.asarray(x, np.float64)
        return np.asarray((self.value(at + BEND) - 2.0 * self.value(at) + self.value(at - BEND)) / BEND**2)

    def _called(self, function: Callable[[float], float], x: ArrayLike) -> FloatArray:
        at = np.asarray(x, np.float64)
        return np.array([float(function(one)) for one in at.ravel().tolist()], np.float64).reshape(at.shape)


CURVES: dict[str, type[CouplingCurve]] = {
    cls.kind: cls for cls in (Polynomial, CamTable, CamProgram, Geneva, CamFunction)
}


def as_curve(given: Any) -> CouplingCurve:
    """Return a cam from a curve, from points, from parts of a program, or from a function.

    Numbers alone are the follower's values at angles spaced evenly over a turn.
    """
    if isinstance(given, CouplingCurve):
        return given
    if callable(given):
        return CamFunction(given)
    rows = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else []
    parts = bool(rows) and isinstance(rows[0], Sequence) and len(rows[0]) > 0 and isinstance(rows[0][0], str)
    if parts and (rows[0][0] in LAWS or len(rows[0]) == 3):  # a triple cannot be a point, so its law is misspelt
        return CamProgram(tuple(map(tuple, rows)))
    if rows and np.ndim(rows[0]) == 0:
        return CamTable(tuple(zip((TURN / len(rows) * np.arange(len(rows))).tolist(), rows, strict=True)))
    if not rows:
        raise LinkageError(f"a cam is given by points, parts, a function or a curve such as CamTable, got {given!r}.")
    return CamTable(tuple(map(tuple, rows)))
