"""Motion generation: four-bars that carry a body through given positions, after Burmester.

A dyad is a bar and the pin it carries. Three positions leave two angles of it free, four leave one: the pins lie on
Burmester's curve of circle points, their pivots on that of centre points. Two dyads make a four-bar.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import GoalError
from ...solvers.options import whole
from ...transforms import FloatArray
from .closed_form import ComplexArray, IndexArray
from .designs import Design, defects_of, different
from .four_bars import KINDS, TURN, FourBar, kinds_of, placed
from .path import checked_points, numbers

GRID, AROUND = 36, 720  # number of tried angles: of each of two rotations for three positions, of one for four
SHORTEST, FURTHEST = 0.05, 8.0  # shortest bar, and largest distance from the middle, relative to the motion's size
MOST, LOOKED_AT = 160, 600  # largest number of dyads that are paired; of pairs that are made into designs
RATIO = 12.0  # largest ratio of the longest bar to the shortest


@dataclass(frozen=True, eq=False)
class Dyads:
    """Bars from a fixed pivot to a pin of the moving body.

    Attributes:
        pivots: Centre points: the fixed pivots, shape (n, 2) [m].
        pins: Circle points: the pins in the first position, shape (n, 2) [m].
        turns: Rotation of each bar from the first position to each position, shape (n, positions) [rad].

    Example:
        >>> import linkwork as lw
        >>> curve = lw.synthesis.dyads([[0, 0, 0], [1, 0.2, 0.3], [2, 1, 0.8], [2.4, 2, 1.5]])
        >>> curve.pivots.shape[1], curve.turns.shape[1]
        (2, 4)
    """

    pivots: FloatArray
    pins: FloatArray
    turns: FloatArray

    def __len__(self) -> int:
        return len(self.pivots)

    @property
    def lengths(self) -> FloatArray:
        """The lengths of the bars, shape (n,) [m]."""
        return np.asarray(np.hypot(*(self.pins - self.pivots).T))


def dyads(positions: ArrayLike, *, pivots: ArrayLike | None = None) -> Dyads:
    """Return bars that can guide a body through three or four positions.

    Args:
        positions: Positions of the body in order: x and y of a point of it [m] and its angle [rad], shape (3 or 4, 3).
        pivots: Fixed pivots to find the pins for, shape (n, 2) [m]; for three positions only.

    Raises:
        GoalError: If there are not three or four finite positions, or pivots are given for four.
    """
    point, angle = checked_positions(positions)
    if pivots is not None:
        if len(point) != 3:
            raise GoalError("pivots can be chosen for three positions, got four: those lie on Burmester's curve.")
        return _guided_from(checked_points(pivots, least=1, what="pivots"), point, angle)
    turns = _free_turns() if len(point) == 3 else _compatible_turns(point, angle)
    bar, arm = _solve(turns, point, angle)
    sound = np.isfinite(bar) & np.isfinite(arm)
    pin = point[0] - arm[sound]
    return Dyads(_plane(pin - bar[sound]), _plane(pin), turns[sound])


def motion(
    positions: ArrayLike, *, pivots: ArrayLike | None = None, kind: str | None = None, designs: int = 5
) -> tuple[Design, ...]:
    """Return four-bars whose coupler passes exactly through three or four positions, the best first.

    Frame ``"point"`` of their linkages is the body: it passes through the given positions and angles. Designs without
    defects come first, then those with the largest minimum transmission angle.

    Args:
        positions: Positions of the body in order: x and y of a point of it [m] and its angle [rad], shape (3 or 4, 3).
        pivots: Both fixed pivots, the crank's first, shape (2, 2) [m]; for three positions only.
        kind: Wanted type by Grashof's rule, such as "crank-rocker"; any by default.
        designs: Largest number of designs to return.

    Raises:
        GoalError: If there are not three or four finite positions, or the kind is unknown.
        OptionError: If `designs` is not a whole number.

    Example:
        >>> import linkwork as lw
        >>> best = lw.synthesis.motion([[0, 0, 0], [1, 0.5, 0.4], [2, 0.6, 1.0]])[0]
        >>> best.worst < 1e-9, best.defects
        (True, ())
    """
    designs = whole("designs", designs)
    point, angle = checked_positions(positions)
    if kind is not None and kind not in KINDS:
        raise GoalError(f"no four-bar is a {kind!r}; there are: {', '.join(KINDS)}.")
    if pivots is not None and np.shape(pivots) != (2, 2):
        raise GoalError(f"expected two pivots, shape (2, 2), got shape {np.shape(pivots)}.")
    found = dyads(positions, pivots=pivots)
    if pivots is None:
        found = _handy(found, point)
        first, second = (pair.ravel() for pair in np.meshgrid(np.arange(len(found)), np.arange(len(found))))
        first, second = first[first != second], second[first != second]
    else:
        first, second = np.array([0]), np.array([1])
    order = _promising(found, first, second, angle, kind)[:LOOKED_AT]
    made = [_design(found, int(first[k]), int(second[k]), point, angle) for k in order]
    made.sort(key=lambda design: (len(design.defects), -design.transmission))
    return different(made, designs)


def checked_positions(positions: ArrayLike) -> tuple[ComplexArray, FloatArray]:
    """Return points as complex numbers, and angles; raise GoalError if they are invalid."""
    array = numbers(positions, "positions of a body")
    if array.ndim != 2 or array.shape[1] != 3 or len(array) not in (3, 4):
        raise GoalError(
            f"expected three or four positions of x, y and angle, shape (3, 3) or (4, 3), got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise GoalError("positions of a body are finite numbers, got nan or infinity.")
    return checked_points(array[:, :2]), np.asarray(array[:, 2])


def _free_turns() -> FloatArray:
    """Return all tried rotations of a bar between three positions."""
    steps = np.linspace(0.0, TURN, GRID, endpoint=False) + math.pi / GRID
    second, third = np.meshgrid(steps, steps)
    return np.stack([np.zeros(GRID * GRID), second.ravel(), third.ravel()], axis=1)


def _compatible_turns(point: ComplexArray, angle: FloatArray) -> FloatArray:
    """Return the rotations of a bar that are compatible with four positions.

    The three equations of a bar have a solution if their determinant is zero. It is a sum of four vectors: one is
    constant, one rotates by the given angle of the second position, and the other two close the polygon, in two ways.
    """
    body, shift = np.exp(1j * (angle - angle[0])) - 1.0, point - point[0]
    arrow = np.array([body[j] * shift[k] - body[k] * shift[j] for j, k in ((2, 3), (3, 1), (1, 2))])
    second = np.linspace(0.0, TURN, AROUND, endpoint=False) + math.pi / AROUND
    rest = arrow[0] * np.exp(1j * second) - arrow.sum()
    far, a, b = np.abs(rest), abs(arrow[1]), abs(arrow[2])
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (far**2 + a**2 - b**2) / (2.0 * far * a)
    closes = np.abs(cosine) <= 1.0
    second, rest, cosine = second[closes], rest[closes], cosine[closes]
    turns = []
    for side in (1.0, -1.0):
        one = -rest / np.abs(rest) * np.exp(1j * side * np.arccos(cosine)) * a
        third, fourth = np.angle(one / arrow[1]), np.angle((-rest - one) / arrow[2])
        turns.append(np.stack([np.zeros(len(second)), second, third, fourth], axis=1))
    return np.concatenate(turns)


def _solve(turns: FloatArray, point: ComplexArray, angle: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    """Return the bars, and the arms from their pins to the point, in the first position, from two of the rotations."""
    swing, body = np.exp(1j * turns) - 1.0, np.exp(1j * (angle - angle[0])) - 1.0
    shift = point - point[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = swing[:, 1] * body[2] - swing[:, 2] * body[1]
        bar = (shift[1] * body[2] - shift[2] * body[1]) / scale
        arm = (swing[:, 1] * shift[2] - swing[:, 2] * shift[1]) / scale
    return bar, arm


def _guided_from(pivots: ComplexArray, point: ComplexArray, angle: FloatArray) -> Dyads:
    """Return bars from given pivots: in the frame of the body, a pivot moves on a circle about the pin."""
    seen = np.exp(-1j * angle) * (pivots[:, None] - point)
    one, two = seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0]
    across = 2.0 * np.imag(np.conj(one) * two)
    if (np.abs(across) < 1e-12 * np.abs(one) * np.abs(two)).any():
        raise GoalError(
            "one of the pivots has no pin: its three positions relative to the body are in line; choose another pivot."
        )
    centre = seen[:, 0] + 1j * (two * np.abs(one) ** 2 - one * np.abs(two) ** 2) / across * -1.0
    pins = point + centre[:, None] * np.exp(1j * angle)
    turns = np.angle((pins - pivots[:, None]) / (pins[:, :1] - pivots[:, None]))
    return Dyads(_plane(pivots), _plane(pins[:, 0]), turns)


def _handy(found: Dyads, point: ComplexArray) -> Dyads:
    """Return the dyads of useful size, thinned to about `MOST`."""
    size = float(np.abs(point - point.mean()).max())
    length, middle = found.lengths, _plane(np.array([point.mean()]))
    away = np.maximum(np.hypot(*(found.pivots - middle).T), np.hypot(*(found.pins - middle).T))
    index = np.flatnonzero((away < FURTHEST * size) & (length > SHORTEST * size))
    index = index[:: max(1, math.ceil(len(index) / MOST))]
    return Dyads(found.pivots[index], found.pins[index], found.turns[index])


def _promising(found: Dyads, first: IndexArray, second: IndexArray, angle: FloatArray, kind: str | None) -> IndexArray:
    """Return pairs of a kind that keep their assembly mode and have bars of similar lengths, best transmission first.

    If there are none, the next best pair is returned, so that the caller can report its defects.
    """
    pivot, pin = _complex(found.pivots), _complex(found.pins)
    coupler = pin[second] - pin[first]
    ground = pivot[second] - pivot[first]
    lengths = np.abs(np.stack([ground, (pin - pivot)[first], coupler, (pin - pivot)[second]]))
    along = coupler[:, None] * np.exp(1j * (angle - angle[0]))
    rod = (pin - pivot)[second][:, None] * np.exp(1j * found.turns[second])
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = np.imag(np.conj(along) * rod) / (np.abs(along) * np.abs(rod))
        handy = lengths.max(axis=0) < RATIO * lengths.min(axis=0)
    least = np.where(np.ptp(np.sign(sine), axis=1) == 0.0, np.abs(sine).min(axis=1), -1.0)
    order = np.argsort(-np.where(handy, least, -2.0), kind="stable")
    if kind is not None:
        order = order[kinds_of(lengths)[order] == KINDS.index(kind)]
    kept = order[(handy & (least > 0.0))[order]]
    return np.asarray(kept if len(kept) else order[:1])


def _design(found: Dyads, first: int, second: int, point: ComplexArray, angle: FloatArray) -> Design:
    pivot, pin = _complex(found.pivots), _complex(found.pins)
    coupler = pin[second] - pin[first]
    along = coupler / abs(coupler)
    corner = (point[0] - pin[first]) * np.conj(along)
    bars = [abs(pin[first] - pivot[first]), abs(coupler), abs(pin[second] - pivot[second])]
    numbers = np.array([*found.pivots[first], *found.pivots[second], *bars, corner.real, corner.imag])
    crank = (pin - pivot)[first] * np.exp(1j * found.turns[first])
    sides = np.sign(np.imag(along * np.exp(1j * (angle - angle[0])) * np.conj(pivot[second] - pivot[first] - crank)))
    four_bar = FourBar(numbers, 1 if sides[0] >= 0.0 else -1, float(angle[0] - np.angle(along)))
    angles = np.asarray(np.unwrap(np.angle(crank)) - four_bar.heading)
    parts = placed(four_bar, angles)
    turned = np.abs(np.angle(parts.along[0] * np.exp(1j * (four_bar.tilt - angle))))
    size = float(np.abs(point - point.mean()).max())
    errors = np.hypot(np.abs(parts.point[0] - point), size * turned)
    return Design(four_bar, angles, errors, defects_of(four_bar, angles, sides))


def _complex(points: FloatArray) -> ComplexArray:
    return np.asarray(points[:, 0] + 1j * points[:, 1])


def _plane(points: ComplexArray) -> FloatArray:
    return np.stack([points.real, points.imag], axis=-1)
