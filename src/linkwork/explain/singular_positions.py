"""Singular positions of mechanisms with closed loops: dead centres and change points.

The closed poses of a mechanism with one degree of freedom form a curve. It is followed along its tangent, and searched
for positions where a joint no longer drives the mechanism. With more degrees of freedom, the other driving joints are
held at several values, and each combination gives a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, LoopError
from ..linkage.coordinates import coordinate_table
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, clamped, wrapped
from ..solvers.closing import assemble, close
from ..solvers.closure_side import ACROSS, MEETING, Side
from ..solvers.loops import APART, Closure, coordinate, link_places
from ..solvers.options import whole
from ..transforms import FloatArray

LONGEST, SHORTEST = 0.3, 1e-10  # largest and smallest step along the curve: radians, or shares of the mechanism's size
BEND = 0.3  # largest change of the unit tangent in a step
STEADY, ROUGH = 0.2, 1e-9  # allowed deviation: share of a step, and for closed poses in any case
LEFT = 0.5  # every singular value must keep at least this share in a step
NEAR = 0.5  # share of a step: the curve is closed if it passes its first pose within this distance
WITHIN = 1e-6  # tolerance of limits
NUDGE = 0.1  # size of a test motion that shows which directions never change a gap
FALSE_POSITION = 60
STILL = 1e-12  # a joint whose share of a unit step is smaller counts as standing still


@dataclass(frozen=True, eq=False)
class SingularPosition:
    """A position in which one joint does not determine the others.

    Attributes:
        joint: The driving joint.
        value: Its value there [rad, m]; angles are between -pi and pi.
        q: The pose.
        kind: ``"dead-centre"``: the joint cannot go further and reverses; ``"change-point"``: branches meet, and the
            mechanism may continue on another one; ``"dwell"``: the joint starts or stops standing still while the
            mechanism moves on, as the follower of a cam or a Geneva crank does.
    """

    joint: str
    value: float
    q: FloatArray
    kind: str

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.joint} = {self.value:.6g}>"


class SingularPositions(tuple[SingularPosition, ...]):
    """Singular positions, sorted by value.

    Attributes:
        complete: Whether the curve was followed completely: all the way round, or to limits.
        reason: Why it is not complete; empty otherwise.
    """

    complete: bool
    reason: str

    def __new__(cls, found: Iterable[SingularPosition], reason: str = "") -> SingularPositions:
        """Return positions, with the reason why there may be more."""
        self = super().__new__(cls, found)
        self.complete, self.reason = not reason, reason
        return self

    def __repr__(self) -> str:
        return tuple.__repr__(self) + ("" if self.complete else f" (not complete: {self.reason})")


def singular_positions(
    linkage: Linkage,
    joint: str | Sequence[str],
    *,
    start: PoseLike | None = None,
    samples: int = 12,
    most: int = 5000,
    progress: Callable[[float], None] | None = None,
) -> SingularPositions:
    """Return the positions in which a joint cannot drive a mechanism: the loops' Jacobian by the others loses rank.

    The curve of closed poses through the start is followed all the way round, or to limits. A crank that turns all the
    way round has no singular position. Each other assembly mode of the mechanism has a curve of its own.

    A mechanism with several degrees of freedom needs as many driving joints. All but the first are held at values
    between their limits, or all the way round, and the positions of all these curves are returned.

    Args:
        linkage: A linkage with loops or couplings.
        joint: Name of the driving joint or coordinate; a list of names for several degrees of freedom.
        start: Pose near which the curve begins; without one, the mechanism is assembled in any pose.
        samples: Number of values at which each of the other driving joints is held.
        most: Largest number of steps along a curve; `SingularPositions.complete` shows whether they were enough.
        progress: Called with the fraction done.

    Raises:
        GoalError: If the number of driving joints differs from the degrees of freedom.
        LoopError: If the loops cannot be closed at the start.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> [len(lw.singular_positions(bars, joint, start="start")) for joint in ("crank", "rocker")]
        [0, 2]
    """
    check_linkage(linkage)
    names = [joint] if isinstance(joint, str) else list(joint)
    places = [coordinate(linkage, name) for name in names]
    whole("most", most, least=1)
    if not linkage.constrained and len(names) == linkage.nv:
        return SingularPositions(())  # every joint with a value of its own drives itself
    values = [_values(linkage, place, whole("samples", samples, least=1)) for place, _ in places[1:]]
    first = assemble(linkage, most=1)[0] if start is None else close(linkage, start)
    found: list[SingularPosition] = []
    reasons: list[str] = []
    ways = [*product(*values)]
    for k, held in enumerate(ways):
        try:
            begin = _held_at(linkage, first, names[1:], places[1:], held)
        except LoopError:
            continue  # the mechanism cannot reach these values
        curve = _Curve(linkage, names[0], places[0], [rate for _, rate in places[1:]])
        reason = curve.follow(begin, most, _share(progress, k, len(ways)))
        found, reasons = [*found, *curve.found], [*reasons, *([reason] if reason else [])]
    if progress is not None:
        progress(1.0)
    return SingularPositions(_distinct(linkage, found), reasons[0] if reasons else "")


def _share(progress: Callable[[float], None] | None, k: int, count: int) -> Callable[[float], None] | None:
    return None if progress is None else lambda share: progress((k + share) / count)


def _values(linkage: Linkage, place: int, samples: int) -> FloatArray:
    """Return values at which a coordinate is held: between its limits, or over a full turn."""
    low, high = linkage.lower[place], linkage.upper[place]
    if np.isfinite([low, high]).all():
        return np.linspace(low, high, samples + 2)[1:-1]
    return np.linspace(-np.pi, np.pi, samples, endpoint=False)


def _held_at(
    linkage: Linkage, q: FloatArray, names: Sequence[str], places: Sequence[tuple[int, int]], held: Sequence[float]
) -> FloatArray:
    """Return a closed pose with coordinates at given values, near another pose if there is one nearby."""
    if not names:
        return q
    pose = q.copy()
    for (place, _), value in zip(places, held, strict=True):
        pose[place] = value
    try:
        return close(linkage, pose, keep=names)
    except LoopError:
        return assemble(linkage, start=pose, keep=names, most=1)[0]


@dataclass(frozen=True)
class _Point:
    """A pose of the curve, its unit tangent and its side relative to poses where curves meet."""

    q: FloatArray
    tangent: FloatArray
    side: Side


class _Curve:
    """The closed poses of a mechanism with one degree of freedom, and the singular positions found on them."""

    def __init__(self, linkage: Linkage, joint: str, place: tuple[int, int], held: Sequence[int]) -> None:
        self.linkage, self.joint, (self.place, self.rate) = linkage, joint, place
        self.closure = Closure(linkage, keep_limits=False)
        self.free: NDArray[np.bool_] = np.ones(linkage.nv, np.bool_)
        self.free[list(held)] = False
        self.rank = int(self.free.sum()) - 1
        self.idle = np.zeros((0, linkage.nv))
        uncoupled = coordinate_table(linkage.arcs, linkage.drives)
        self.turns = [row.v for row in uncoupled if row.wraps and row.v is not None]
        self.found: list[SingularPosition] = []

    def follow(self, first: FloatArray, most: int, progress: Callable[[float], None] | None) -> str:
        """Follow the curve in both directions from a pose; return why its ends were not found, or an empty text."""
        self._find_idle(first)
        for sense in (1.0, -1.0):
            origin = self._point(first)
            origin = now = _Point(origin.q, sense * origin.tangent, origin.side)
            step = LONGEST / 2.0
            for count in range(most):
                if progress is not None:
                    progress(count / most)
                after = self._ahead(now, step)
                if after is None:
                    step /= 2.0
                    if step < SHORTEST:
                        return f"it cannot be followed beyond {self.joint} = {now.q[self.place]:.6g}"
                    continue
                self._look_between(now, after, step)
                if np.abs(clamped(self.linkage, after.q) - after.q).max() > WITHIN:
                    break
                if count > 1 and self._is_round(origin, now, after):
                    return ""
                now, step = after, min(1.5 * step, LONGEST)
            else:
                return f"{most} steps are too few to follow the curve completely"
        return ""

    def _find_idle(self, q: FloatArray) -> None:
        """Store velocities that never change a gap, such as the spin of a rod between ball joints."""
        ways = self._null(self.closure.jacobian(q))
        if len(ways) > 1:
            other = self.closure.newton(self.closure.moved(q, NUDGE * ways.sum(axis=0)), self.free)
            if other is not None:
                self.idle = self._null(np.concatenate([self.closure.jacobian(q), self.closure.jacobian(other)]))
        if len(ways) - len(self.idle) != 1:
            raise GoalError(
                f"linkage {self.linkage.name!r} has {len(ways)} degrees of freedom here, and singular positions "
                "need one driving joint for each; name as many, or freeze joints that should not move."
            )

    def _null(self, rows: FloatArray) -> FloatArray:
        """Return an orthonormal basis (n, nv) of the null space of rows, for free joints."""
        _, sigma, Vt = np.linalg.svd(rows[:, self.free])
        seen = int((sigma > self.closure.rank * sigma.max(initial=1e-300)).sum())
        result = np.zeros((len(Vt) - seen, self.linkage.nv))
        result[:, self.free] = Vt[seen:]
        return result

    def _rows(self, q: FloatArray) -> FloatArray:
        """Return the closure's Jacobian, with additional rows that hold idle velocities."""
        return np.concatenate([self.closure.jacobian(q), self.idle])

    def _point(self, q: FloatArray, before: FloatArray | None = None) -> _Point:
        """Return a pose with its tangent, oriented like another tangent if given."""
        side = Side(self._rows(q)[:, self.free], whole=True)
        tangent = np.zeros(self.linkage.nv)
        tangent[self.free] = side.Vt[self.rank]
        if before is not None and tangent @ before < 0.0:
            tangent = -tangent
        return _Point(q, tangent, side)

    def _closed(self, now: _Point, change: FloatArray) -> FloatArray | None:
        """Return the closed pose near a point plus a change; None if it is not near."""
        guess = self.closure.moved(now.q, change)
        found = self.closure.newton(guess, self.free)
        size = float(np.linalg.norm(change))
        if found is None or float(np.abs(self.closure.way(guess, found)).max()) > STEADY * size + ROUGH:
            return None
        return found

    def _ahead(self, now: _Point, step: float) -> _Point | None:
        """Return the next point, or None if the step is too long; where curves meet, continue straight on."""
        if now.side.shares[self.rank - 1] < MEETING:
            for longer in ACROSS:
                q = self._closed(now, longer * step * now.tangent)
                if q is None:
                    break
                after = self._point(q, now.tangent)
                if now.side.crossed(after.side, self.rank):
                    self._note_meeting(now, after, longer * step)
                    return after
        q = self._closed(now, step * now.tangent)
        if q is None:
            return None
        after = self._point(q, now.tangent)
        straight = np.linalg.norm(after.tangent - now.tangent) <= BEND
        return after if straight and now.side.left_at(after.side, self.rank) >= LEFT else None

    def _note_meeting(self, now: _Point, after: _Point, step: float) -> None:
        """Record the change point between two points: the zero of the smallest singular value, which changes sign."""
        before, beyond = now.side.sigma[self.rank - 1], after.side.sigma[self.rank - 1]
        q = self._closed(now, before / max(before + beyond, 1e-300) * step * now.tangent)
        self._note(now.q if q is None else q, "change-point")

    def _look_between(self, now: _Point, after: _Point, step: float) -> None:
        """Record the dead centre between two points, if the joint reverses there."""
        low, high = now.tangent[self.rate], after.tangent[self.rate]
        if (abs(low) < STILL) != (abs(high) < STILL) and self._note_dwell(now, step, moving=abs(low) >= STILL):
            return
        if low * high >= 0.0 or now.side.shares[self.rank - 1] < MEETING:
            return
        a, b, q = 0.0, 1.0, after.q
        for _ in range(FALSE_POSITION):  # Illinois variant: the value of a retained end is halved
            s = (a * high - b * low) / (high - low)
            found = self._closed(now, s * step * now.tangent)
            if found is None:
                break
            q, rate = found, float(self._point(found, now.tangent).tangent[self.rate])
            if abs(rate) < ROUGH or b - a < SHORTEST:
                break
            if rate * high < 0.0:
                a, low, high = s, rate, high / (2.0 if rate * low > 0.0 else 1.0)
            else:
                b, high, low = s, rate, low / (2.0 if rate * high > 0.0 else 1.0)
        self._note(q, "dead-centre")

    def _note_dwell(self, now: _Point, step: float, *, moving: bool) -> bool:
        """Record where, between a point and the end of a step from it, the joint starts or stops standing still.

        Returns:
            Whether it does; at a dead centre it stands still at a single point only.
        """
        low, high, q = 0.0, 1.0, now.q
        for _ in range(FALSE_POSITION):
            middle = (low + high) / 2.0
            found = self._closed(now, middle * step * now.tangent)
            if found is None or (high - low) * step < ROUGH:
                break
            q = found
            if (abs(self._point(found, now.tangent).tangent[self.rate]) >= STILL) == moving:
                low = middle
            else:
                high = middle
        still = 1.0 - high if moving else low
        if still > WITHIN:
            self._note(q, "dwell")
        return still > WITHIN

    def _note(self, q: FloatArray, kind: str) -> None:
        if np.abs(clamped(self.linkage, q) - q).max() <= WITHIN:
            value = float(q[self.place])
            angle = self.linkage.table[self.place].wraps
            self.found.append(
                SingularPosition(self.joint, float(wrapped(np.array(value))) if angle else value, q, kind)
            )

    def _is_round(self, origin: _Point, now: _Point, after: _Point) -> bool:
        """Return whether the step between two points passed the first point of the curve."""
        step, back = self._between(now.q, after.q), self._between(now.q, origin.q)
        along = float(step @ back) / max(float(step @ step), 1e-300)
        off = float(np.linalg.norm(back - along * step))
        onwards = float(now.tangent @ origin.tangent) > 0.0
        return onwards and 0.0 <= along <= 1.0 and off < NEAR * float(np.linalg.norm(step))

    def _between(self, q: FloatArray, to: FloatArray) -> FloatArray:
        """Return the displacement between poses: of joints or, if some spin idly, of links and pins."""
        if not len(self.idle):
            way = self.closure.way(q, to)  # whole turns of a crank and of its wheel do not count
            way[self.turns] = wrapped(way[self.turns])
            return way
        return (link_places(self.linkage, to) - link_places(self.linkage, q)).ravel() / self.closure.size


def _distinct(linkage: Linkage, found: list[SingularPosition]) -> list[SingularPosition]:
    """Return distinct positions, sorted by value; positions with equal places of links and pins are the same."""
    kept: list[SingularPosition] = []

    def apart(one: SingularPosition, other: SingularPosition) -> bool:
        if linkage.couplings and np.abs(np.sin((one.q - other.q) / 2.0)).max() > APART:
            return True  # a cam that rotates about its own axis moves no pin
        away = np.abs(link_places(linkage, one.q) - link_places(linkage, other.q))
        return bool(away.max() > APART * linkage.loop_size)

    for one in sorted(found, key=lambda one: one.value):
        if all(apart(one, other) for other in kept):
            kept.append(one)
    return kept
