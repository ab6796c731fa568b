"""Arms of seven joints with one held, at either end: the others are then solved in closed form, completely.

The held joint is a parameter: over it, every curve of solutions is a graph between folds. All folds are roots of two
trigonometric polynomials, so none can be missed. `kernels.closed_form.seven` describes the geometry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...kernels import chain_memory as memory, joint_step as steps
from ...kernels.closed_form import seven as kernels
from ...kernels.closed_form.seven_answers import EASE, TRY, WIDTH
from ...kernels.closed_form.seven_batch import batch_room, seven_many
from ...kernels.rooms import zero_room
from ...kernels.search_many import REACHED
from ...linkage.poses import wrapped
from ...transforms import FloatArray, inverse, plane_basis
from ..chain import Chain
from .axes import Axes, axes_of
from .one_held import OneHeld
from .recognition import CALIBRATED, EXACT, SLANTED, Off, in_words, made_meet, sine

TURN = 2.0 * math.pi
JOINTS = kernels.JOINTS
SAMPLES, DEGREE = 32, 4  # angles at which polynomials are sampled, and the degree of the folds of a, b and c
LEADING = 1e-12  # coefficients below this share of the largest are zero
ROUND = 0.05  # largest distance of a root from the unit circle; an extra angle does no harm
SHARES, ANGLES = 32, 64  # number of angles to try: on an arc, and over the whole range
END = 5e-4  # distance of the first and last from the ends of an arc, as a share of it: at a fold, windows are short
FEWER = 256  # number of poses from which the order of ANGLES is learnt
LEARNT, SEED = 1024, 11  # number of random poses from which the order of SHARES is learnt, and their seed
EASY = 0.85  # share of the best try's number of goals above which a try is easy; a start's share is moved to such tries
LEAST_SLICES = 8
APART = 1e-4  # folds nearer to each other cannot be told apart [rad]
SQUARE = 1e-14  # cosine below which axes are exactly at right angles
RIGHT = 1e-9  # cosine below which axes count as at right angles


@dataclass(frozen=True, eq=False)
class Seven(OneHeld):
    """The closed form of an arm of seven joints with its first or its last one held.

    Args:
        chain: The chain.
        axes: Its lines, in the order of the solution: of the arm seen from its end, if `backwards`.
        backwards: Whether the arm is seen from its end, and the last joint is held.
        own: The arm's own lines, in the same order.
        off: Deviation of the two.
        centre: Point where the last three lines meet.
        meeting: Point where the second and the third line meet.
        tip: The frame at the end with all values zero, 4x4.
    """

    chain: Chain
    axes: Axes
    backwards: bool
    own: Axes
    off: Off
    centre: FloatArray
    meeting: FloatArray
    tip: FloatArray

    @property
    def held(self) -> int:  # type: ignore[override]
        """Index of the chain's value that is held."""
        return JOINTS - 1 if self.backwards else 0

    @property
    def exact(self) -> bool:
        """Whether the arm belongs to the family up to rounding; if not, Newton's method refines its solutions."""
        return self.off.share(self.axes.size) <= EXACT

    def proves_for(self, _target: FloatArray) -> bool:
        """Return whether all folds are known: if the arm is exact, and its last three axes are at right angles."""
        h = self.axes.direction
        return self.exact and abs(h[4] @ h[5]) < RIGHT and abs(h[5] @ h[6]) < RIGHT

    @property
    def kind(self) -> str:
        """Kind of the form."""
        return "spherical shoulder" if self.backwards else "spherical wrist"

    @cached_property
    def order(self) -> list[int]:
        """Index in the chain of each value, in the order of the family."""
        return list(range(JOINTS))[:: -1 if self.backwards else 1]

    @cached_property
    def numbers(self) -> FloatArray:
        """Data for the kernels."""
        h, points = self.axes.direction, self.axes.point
        limits = memory.LIMITS.view(self.chain.limits)
        reach = _orbit(h[3], self.centre - points[3]) + np.array([points[3] - self.meeting, *np.zeros((2, 3))])
        last = _orbit(h[5], h[6])
        distance = reach[0] @ reach[0] + reach[1] @ reach[1], 2.0 * (reach[0] @ reach[1]), 2.0 * (reach[0] @ reach[2])
        tip = self.tip if self.backwards else inverse(self.tip)
        least, most = _swung(*distance, limits.lower[self.order][3], limits.upper[self.order][3])
        return kernels.ARM.pack(
            backwards=float(self.backwards),
            tip=steps.transform(tip),
            origin=self.tip[:3, 3],
            lines=np.concatenate([h, points], axis=1).reshape(-1),
            own_lines=np.concatenate([self.own.direction, self.own.point], axis=1).reshape(-1),
            limits=_limits(limits.lower[self.order], limits.upper[self.order]).reshape(-1),
            centre=self.centre,
            meeting=self.meeting,
            slant=h[1] @ h[2],
            spread=1.0 / (1.0 - (h[1] @ h[2]) ** 2),
            reach=reach.reshape(-1),
            distance=_swing(*distance),
            nearest=least,
            farthest=most,
            last=last.reshape(-1),
            between=_swing(*(last @ h[4])),
            per_extent=1.0 / (distance[0] + math.hypot(*distance[1:])),
            slanted=float(max(abs(h[4] @ h[5]), abs(h[5] @ h[6])) > SQUARE),
            beside=plane_basis(h[6])[:, 0],
        )

    @cached_property
    def tries(self) -> FloatArray:
        """Angles of the held joint to try for a goal, in the order that solves most goals soonest: TRY, shape (64, 3).

        They are shares of the arcs within reach of c. The order is learnt from goals of random poses within limits.
        """
        return self._shares.reshape(-1, TRY.size)[_soonest(self._served.reshape(-1, LEARNT))]

    @cached_property
    def angles(self) -> FloatArray:
        """Angles of the held joint over its whole range, in the order that solves most goals soonest, shape (64,)."""
        limits = kernels.LIMIT.view(kernels.ARM.view(self.numbers).limits.reshape(JOINTS, -1))
        half = min(0.5 * (limits.upper[0] - limits.lower[0]), math.pi)
        angles = limits.middle[0] + half * (2.0 * (np.arange(ANGLES) + 0.5) / ANGLES - 1.0)
        poses = np.array([self._poses(target, angles) for target in self._learnt[:FEWER]])
        with np.errstate(invalid="ignore"):
            inside = ((poses >= limits.lower) & (poses <= limits.upper)).all(axis=-1).any(axis=-1)
        return np.asarray(angles[_soonest(inside.T)])

    @cached_property
    def tries_of_many(self) -> tuple[FloatArray, FloatArray]:
        """Data for kernels of many goals: EASE, then TRY for each angle; without starts, and with them.

        With starts, the start's own share of an arc comes first, or the nearest share that solves many goals.
        """
        serves = self._served.any(axis=1).sum(axis=1)
        easy = self._shares[serves >= EASY * serves.max(), 0, 0]  # the range is from the first such share to the last
        ease = EASE.pack(least=easy.min(), most=easy.max())
        own = TRY.pack(shape=(2,), share=0.0, from_start=1.0, side=[1.0, -1.0])
        return np.append(ease, self.tries), np.concatenate([ease, own.reshape(-1), self.tries.reshape(-1)])

    @cached_property
    def _shares(self) -> FloatArray:
        """Shares of both arcs: TRY, shape (32, 2, 3)."""
        shares = np.linspace(END, 1.0 - END, SHARES)[:, None]
        return TRY.pack(shape=(SHARES, 2), share=shares, from_start=0.0, side=[1.0, -1.0])

    @cached_property
    def _served(self) -> NDArray[np.bool_]:
        """Which of some random goals each of the shares solves, shape (32, 2, 1024)."""
        none = EASE.pack(least=0.0, most=1.0)
        tries = [np.append(none, one) for one in self._shares.reshape(-1, TRY.size)]
        served = [self._nearest(self._learnt, None, one)[1] == REACHED for one in tries]
        return np.array(served).reshape(SHARES, 2, LEARNT)

    @cached_property
    def _learnt(self) -> FloatArray:
        """Goals from which orders are learnt: of random poses within limits, shape (1024, 4, 4)."""
        values = self.chain.spread(np.random.default_rng(SEED).random((LEARNT, JOINTS)))
        rest = np.tile(self.chain.rest, (LEARNT, 1))
        return self.chain.linkage.forward(self.chain.put(values, rest), frame=self.chain.frame)

    def nearest_many(
        self, targets: FloatArray, starts: FloatArray | None = None
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the chain's values (m, 7) for targets (m, 4, 4), and REACHED, UNSOLVED, CLOSEST or INVALID for each.

        With starts (m, 7), the poses are near them. UNSOLVED goals have no pose at the angles that were tried, but
        almost; CLOSEST ones are far from having one. Neither is a proof: `self_motion` gives one.
        """
        return self._nearest(targets, starts, self.tries_of_many[starts is not None])

    def _nearest(
        self, targets: FloatArray, starts: FloatArray | None, tries: FloatArray
    ) -> tuple[FloatArray, NDArray[np.int64]]:
        count = len(targets)
        padded = np.ascontiguousarray(np.resize(targets, (max(count, WIDTH), 4, 4)))
        given = np.zeros(0) if starts is None else np.resize(starts, (len(padded), JOINTS)).reshape(-1)
        shape, book = batch_room()
        values, report = np.zeros((len(padded), JOINTS)), np.zeros((len(padded), memory.REPORT.size))
        status = np.zeros(len(padded), np.int64)
        seven_many(
            self.numbers,
            tries,
            self.settings,
            zero_room(shape),
            np.zeros(book, np.int64),
            padded.reshape(-1),
            given,
            values.reshape(-1),
            report.reshape(-1),
            status,
        )
        return values[:count], status[:count]

    @cached_property
    def settings(self) -> FloatArray:
        """Settings of the search, with the tolerances of closed forms: 1e-9 of the arm's size, 1e-9 rad.

        For an arm that is off its family, they are at least ten times its deviation.
        """
        near = max(1e-9, 10.0 * self.off.share(self.axes.size))
        settings = np.zeros(memory.SETTINGS.size)
        record = memory.SETTINGS.view(settings)
        record.near, record.aligned = (near * self.axes.size) ** 2, near**2
        return settings

    def at(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the chain's values (k, 7) of all poses with the held joint at any of the angles, ignoring limits."""
        found = self._poses(target, angles).reshape(-1, JOINTS)
        return np.asarray(found[~np.isnan(found[:, 0])][:, self.order])

    def _poses(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return poses by angle, NaN where there is none, shape (k, 8, 7); values are in the order of the family."""
        padded = np.resize(angles, -(-len(angles) // 8) * 8)
        out, room = np.empty((len(padded), 8, JOINTS)), np.empty((kernels.GOAL.size, 8))
        kernels.seven_slices(self.numbers, np.ascontiguousarray(target).reshape(-1), padded, room, out.reshape(-1))
        return out[: len(angles)]

    def slices(self, target: FloatArray) -> FloatArray:
        """Return angles of the held joint at which every curve is met: one between any two folds, and some more."""
        even, folds = np.arange(LEAST_SLICES) * TURN / LEAST_SLICES + 0.1, self.folds(target)
        if not len(folds):
            return even
        gaps = np.diff(np.append(folds, folds[0] + TURN))
        return np.concatenate([(folds + 0.5 * gaps)[gaps > APART], even])

    def folds(self, target: FloatArray) -> FloatArray:
        """Return all angles of the held joint at which a curve of solutions may turn back, in order, and some more.

        With the distance of the centre as ``x = cos`` of the angle of c, and ``s = sin`` of it, cones about a and b
        touch where ``u - v s = 0``; u and v are trigonometric polynomials of the held angle, so ``u² - v² s²`` is one
        of degree four, with eight roots; ``s² = 1 - x²``, zero where both c coincide, has degree two and four roots.
        """
        angles = np.arange(SAMPLES) * TURN / SAMPLES
        u, v, square = self.discriminants(target, angles)
        found = np.concatenate([_roots(u * u - v * v * square, DEGREE), _roots(square, 2)])
        return np.sort(wrapped(found))

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Smallest and largest distance of the centre from the meeting point that joint c can reach [m]."""
        swing = kernels.SWING.view(kernels.ARM.view(self.numbers).distance)
        middle, room = float(swing.middle), 1.0 / float(swing.per_swing)
        return math.sqrt(max(middle - room, 0.0)), math.sqrt(middle + room)

    def distances(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the required distance of the centre from the meeting point, for angles of the held joint [m]."""
        return np.asarray(np.linalg.norm(self._places(target, angles), axis=1))

    def _places(self, target: FloatArray, angles: FloatArray) -> FloatArray:
        """Return the required position of the centre relative to the meeting point, before the held joint."""
        goal = self.tip @ inverse(target) if self.backwards else target @ inverse(self.tip)
        axis, point = self.axes.direction[0], self.axes.point[0]
        away = _orbit(axis, goal[:3, :3] @ self.centre + goal[:3, 3] - point)
        turns = np.stack([np.ones_like(angles), np.cos(angles), -np.sin(angles)], axis=-1)
        return np.asarray(turns @ away + (point - self.meeting))

    def discriminants(self, target: FloatArray, angles: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return u, v and the squared sine of c for angles of the held joint; see `folds`."""
        arm, h = kernels.ARM.view(self.numbers), self.axes.direction
        p = self._places(target, angles)
        swing = kernels.SWING.view(arm.distance)
        x = ((p * p).sum(axis=1) - swing.middle) * swing.per_swing
        constant, across, aside = arm.reach.reshape(3, 3) @ h[2]
        c, s = swing.phase_cosine, swing.phase_sine
        first, second, slant = constant + (c * across + s * aside) * x, c * aside - s * across, float(arm.slant)
        along, square = p @ h[1], 1.0 - x * x
        u = (p * p).sum(axis=1) * (1.0 - slant**2) - along**2 - first**2 - second**2 * square
        return u + 2.0 * slant * along * first, 2.0 * second * (first - slant * along), square


def seven_of(chain: Chain) -> Seven | str:
    """Return the closed form of a chain of seven revolute joints, or a text on why it has none."""
    found = axes_of(chain)
    if isinstance(found, str):
        return found
    axes, scale = found
    if len(axes) != JOINTS or axes.slides.any() or np.any(scale != 1.0):
        return "it is not a chain of seven revolute joints"
    forms = [form for backwards in (True, False) if (form := _seen(chain, axes, backwards)) is not None]
    if not forms:
        return "no three axes at one end meet in a point while two at the other end meet too"
    best = min(forms, key=lambda form: form.off.share(axes.size))
    share = best.off.share(axes.size)
    return best if share <= CALIBRATED else f"its axes miss each other by {in_words(best.off.length)}"


def _seen(chain: Chain, axes: Axes, backwards: bool) -> Seven | None:
    seen = axes.reversed() if backwards else axes
    if min(sine(seen, 1, 2), sine(seen, 4, 5), sine(seen, 5, 6)) < SLANTED:
        return None
    made, centre, off = made_meet(seen, (4, 5, 6))
    made, meeting, more = made_meet(made, (1, 2))
    arms = [np.linalg.norm(np.cross(made.direction[3], place - made.point[3])) for place in (centre, meeting)]
    if min(arms) < CALIBRATED * axes.size:  # c does not change the distance
        return None
    return Seven(chain, made, backwards, seen, off + more, centre, meeting, axes.tip)


def _orbit(axis: FloatArray, v: FloatArray) -> FloatArray:
    """Return a vector rotated about an axis: its constant, cosine and sine coefficients, shape (3, 3)."""
    along = (v @ axis) * axis
    return np.array([along, v - along, np.cross(axis, v)])


def _swing(middle: float, cosine: float, sine: float) -> FloatArray:
    size = math.hypot(cosine, sine)
    return kernels.SWING.pack(middle=middle, per_swing=1.0 / size, phase_cosine=cosine / size, phase_sine=sine / size)


def _soonest(served: NDArray[np.bool_]) -> list[int]:
    """Return the order of tries (n, goals) that solves most goals soonest.

    The next try is the one that solves most of the goals not solved by those before.
    """
    order: list[int] = []
    while len(order) < len(served):
        left = served[:, ~served[order].any(axis=0)].sum(axis=1)
        if not left.any():  # the remaining tries, spread out: every eighth, and again
            return [*order, *(k for first in range(8) for k in range(first, len(served), 8) if k not in order)]
        order.append(int(np.argmax(left)))
    return order


def _swung(middle: float, cosine: float, sine: float, lower: float, upper: float) -> tuple[float, float]:
    """Return the minimum and maximum of ``middle + cosine cos a + sine sin a`` for an angle a within limits."""
    phase, size = math.atan2(sine, cosine), math.hypot(cosine, sine)
    if upper - lower >= TURN:
        return middle - size, middle + size
    ends = [middle + size * math.cos(angle - phase) for angle in (lower, upper)]
    least = middle - size if (phase + math.pi - lower) % TURN <= upper - lower else min(ends)
    most = middle + size if (phase - lower) % TURN <= upper - lower else max(ends)
    return least, most


def _limits(lower: FloatArray, upper: FloatArray) -> FloatArray:
    finite = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite, 0.5 * (lower + upper), np.clip(0.0, lower + np.pi, upper - np.pi))
        half = np.where(finite, 0.5 * (upper - lower), np.inf)
    return kernels.LIMIT.pack(
        shape=(JOINTS,),
        lower=lower,
        upper=upper,
        middle=middle,
        middle_cosine=np.cos(middle),
        middle_sine=np.sin(middle),
        half_cosine=np.where(half < np.pi, np.cos(np.minimum(half, np.pi)), -2.0),
    )


def _roots(samples: FloatArray, degree: int) -> FloatArray:
    """Return the angles at which a trigonometric polynomial, given at equally spaced angles, is zero or nearly zero."""
    spectrum = np.fft.fft(samples) / len(samples)
    coefficients = np.concatenate([spectrum[degree::-1], spectrum[: -degree - 1 : -1]])  # of z^degree to z^-degree
    largest = np.abs(coefficients).max()
    if largest == 0.0:
        return np.zeros(0)
    coefficients[np.abs(coefficients) < LEADING * largest] = 0.0
    roots = np.roots(coefficients)
    near = np.abs(np.abs(roots) - 1.0) < ROUND
    return np.asarray(np.angle(roots[near]))


def seven_form(chain: Chain) -> Seven | str:
    """Return the closed form of a chain of seven joints, one held, or why there is none; cached on the linkage."""
    if chain.free is not None:
        return "one of its axes is free"
    if chain.group is not None:
        return seven_of(chain)
    found: Seven | str = chain.linkage.cache.get("seven", chain.frame, lambda: seven_of(chain))
    return found
