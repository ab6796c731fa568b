"""Where a mechanism with closed loops loses its drive: dead centres and change points.

The closed poses of a mechanism with one degree of freedom form a curve. It is followed once around by its tangent, and
searched for the places where a joint no longer drives the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import GoalError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, clamped, distinct, wrapped
from ..solvers.closing import close
from ..solvers.loops import Closure, coordinate
from ..transforms import FloatArray

STEP = 0.03  # along the curve: the largest change of a value: radians, or shares of the mechanism's size
MOST = 8000  # steps along it
SINGULAR = 1e-6  # of the largest singular value: below, the branches of a mechanism meet
WITHIN = 1e-6  # beyond a limit by no more than this is at it
HALVINGS, GOLDEN = 48, (5.0**0.5 - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class SingularPosition:
    """A position in which the other joints do not follow from one joint.

    Attributes:
        joint: The joint that drives.
        value: Its value there [rad, m]; angles within half a turn of zero.
        q: The pose.
        kind: ``"dead-centre"``: the joint cannot go further and turns back; ``"change-point"``: branches meet, and the
            mechanism may go on in another way.
    """

    joint: str
    value: float
    q: FloatArray
    kind: str

    def __repr__(self) -> str:
        return f"<{self.kind} at {self.joint} = {self.value:.6g}>"


def singular_positions(linkage: Linkage, joint: str, *, start: PoseLike | None = None) -> tuple[SingularPosition, ...]:
    """Return the positions in which a joint cannot drive a mechanism: the others' part of the closure loses rank.

    The curve of closed poses through the start is followed all the way round; of what is found there, the positions
    within limits come back. A crank that turns round without any has none; a mechanism that can be put together in
    another way has another curve.

    Args:
        linkage: A linkage with loops and one degree of freedom.
        joint: Name of the driving joint, or of a coordinate.
        start: Pose near which the curve begins; neutral by default.

    Raises:
        GoalError: If the mechanism has none, or more than one, degree of freedom.
        LoopError: If it cannot be closed at the start.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> [len(lw.singular_positions(bars, joint, start="start")) for joint in ("crank", "rocker")]
        [0, 2]
    """
    check_linkage(linkage)
    place, rate = coordinate(linkage, joint)
    first = close(linkage, linkage.neutral() if start is None else start)
    curve = _Curve(Closure(linkage, keep_limits=False), rate)
    found: list[SingularPosition] = []
    for way in (1.0, -1.0):
        q, tangent = first, way * curve.tangent(first)
        trail = [(q, tangent, curve.sharpness(q))]
        for count in range(MOST):
            after = curve.ahead(q, STEP * tangent)
            if after is None:
                break
            trail.append((after, curve.tangent(after, tangent), curve.sharpness(after)))
            found += [_position(linkage, joint, place, *one) for one in _between(curve, trail[-3:])]
            q, tangent = trail[-1][:2]
            if count > 1 and np.abs(curve.closure.way(first, q)).max() < 0.75 * STEP and tangent @ trail[0][1] > 0.0:
                return _distinct(linkage, found)
    return _distinct(linkage, found)


class _Curve:
    """The closed poses of a mechanism with one degree of freedom."""

    def __init__(self, closure: Closure, rate: int) -> None:
        self.closure, self.linkage, self.rate = closure, closure.linkage, rate
        self.free = np.ones(self.linkage.nv, np.bool_)
        self.rank = self.linkage.nv - 1

    def tangent(self, q: FloatArray, before: FloatArray | None = None) -> FloatArray:
        """Return the velocity along the curve, its largest entry one; in the sense of another one if given."""
        _, sigma, Vt = np.linalg.svd(self.closure.jacobian(q))
        rank = int((sigma > self.closure.rank * sigma.max(initial=1e-300)).sum())
        if before is None and rank != self.rank:
            raise GoalError(
                f"linkage {self.linkage.name!r} has {self.linkage.nv - rank} degrees of freedom here, and singular "
                "positions are those of a mechanism with one; freeze the joints that should not move."
            )
        way: FloatArray = before if before is not None and rank < self.rank else Vt[self.rank]  # or straight on
        way = way / np.abs(way).max()
        return -way if before is not None and way @ before < 0.0 else way

    def sharpness(self, q: FloatArray) -> float:
        """Return the ratio of singular values that is zero where branches meet."""
        sigma = np.linalg.svd(self.closure.jacobian(q), compute_uv=False)
        return float(sigma[self.rank - 1] / sigma[0]) if len(sigma) >= self.rank else 0.0

    def ahead(self, q: FloatArray, change: FloatArray) -> FloatArray | None:
        """Return the closed pose nearest to a small change of one, or None if there is none near."""
        return self.closure.newton(self.closure.moved(q, change), self.free)


def _between(curve: _Curve, trail: list[tuple[FloatArray, FloatArray, float]]) -> list[tuple[FloatArray, str]]:
    """Return what lies along the last step, and about the pose before it."""
    found: list[tuple[FloatArray, str]] = []
    (q, tangent, _), (_, after, _) = trail[-2:]
    if tangent[curve.rate] * after[curve.rate] < 0.0:
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            pose = _or(curve.ahead(q, middle * STEP * tangent), q)
            onward = curve.tangent(pose, tangent)[curve.rate] * tangent[curve.rate] > 0.0
            low, high = (middle, high) if onward else (low, middle)
        found.append((pose, "dead-centre"))
    if len(trail) == 3 and trail[1][2] <= min(trail[0][2], trail[2][2]):
        (pose, way, _) = trail[1]
        s = _least(lambda s: curve.sharpness(_or(curve.ahead(pose, s * STEP * way), pose)), -1.0, 1.0)
        near = curve.ahead(pose, s * STEP * way)
        if near is not None and curve.sharpness(near) < SINGULAR:
            found.append((near, "change-point"))
    return found


def _or(pose: FloatArray | None, other: FloatArray) -> FloatArray:
    return other if pose is None else pose


def _least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one minimum has it, by golden section."""
    for _ in range(HALVINGS):
        width = GOLDEN * (high - low)
        if function(high - width) < function(low + width):
            high = low + width
        else:
            low = high - width
    return (low + high) / 2.0


def _position(linkage: Linkage, joint: str, place: int, q: FloatArray, kind: str) -> SingularPosition:
    value = float(q[place])
    wraps = linkage.table[place].wraps
    return SingularPosition(joint, float(wrapped(np.array(value))) if wraps else value, q, kind)


def _distinct(linkage: Linkage, found: list[SingularPosition]) -> tuple[SingularPosition, ...]:
    """Return positions within limits by rising value, each once."""
    inside = [one for one in found if np.abs(clamped(linkage, one.q) - one.q).max() < WITHIN]
    places = distinct(linkage, np.array([one.q for one in inside]).reshape(-1, linkage.nq))
    return tuple(sorted((inside[k] for k in places), key=lambda one: one.value))
