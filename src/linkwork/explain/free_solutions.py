"""Keep only the solutions that are free of collisions; curves are cut into their free parts.

Between two free poses of a curve, no pose collides if the clearances exceed the distance that any point of the linkage
can move between them. Otherwise poses in between are checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..goals import Avoid
from ..kernels.collision.piece_layout import BOUND, HEADER, NEAR
from ..linkage.linkage import Linkage
from ..solvers.closed_form.curves import Curve
from ..solvers.free_hopes import touching_in_words
from ..transforms import FloatArray

STEP = 0.05  # of the first look along a curve [rad]
FINEST = 1e-3  # what collides, or is free, on a shorter way may be missed [rad]
ROUNDS, HALVINGS = 16, 60
HAIR = 1e-9  # beyond the margin [m]: so much further off a free part ends, lest rounding makes its last pose collide


@dataclass(frozen=True, eq=False)
class Clear:
    """What a linkage must stay clear of, for one set of solutions.

    Args:
        linkage: The linkage.
        avoid: What to avoid.
    """

    linkage: Linkage
    avoid: Avoid

    def room(self, poses: FloatArray) -> FloatArray:
        """Return by how much the clearance of poses (n, nq) exceeds the margin [m]; negative where they collide."""
        return self.avoid.clearance(self.linkage, poses) - self.avoid.margin

    def nearest(self, pose: FloatArray) -> tuple[str, str]:
        """Return the names of the nearest pair."""
        scene = self.avoid.scene(self.linkage)
        return scene.names(NEAR.view(self.avoid.near(self.linkage, pose, np.inf, most=1))[0])

    def free(self, poses: FloatArray) -> NDArray[np.bool_]:
        """Return which poses (n, nq) are free."""
        return np.asarray(self.room(poses) >= 0.0)

    def evidence(self, poses: FloatArray) -> str:
        """Return a text: all poses collide, and the pair that touches in the pose with the largest clearance."""
        room = self.room(poses)
        best = int(np.argmax(room))
        pair, margin = self.nearest(poses[best]), self.avoid.margin
        return (
            f"{len(poses)} poses reach the goal and all of them collide; at the one nearest to being free, "
            f"{touching_in_words(pair, float(room[best]) + margin, margin)}"
        )

    @property
    def pace(self) -> float:
        """How far a point may move, at most, while the joints travel one radian together [m]."""
        scene = self.avoid.scene(self.linkage)
        count, at = int(scene.codes[HEADER.bodies]), int(scene.codes[HEADER.bounds])
        bounds = BOUND.rows(scene.numbers[at : at + BOUND.size * count])
        reach = self.linkage.length + float((np.linalg.norm(bounds.centre, axis=1) + bounds.radius).max(initial=0.0))
        return math.sqrt(max(self.linkage.nv, 1)) * reach

    def parts(self, curves: Iterable[Curve]) -> tuple[list[Curve], float]:
        """Return the free parts of curves, the longest first, and the share of all their length that is free."""
        found, whole = [], 0.0
        for curve in curves:
            whole += curve.length
            found += self._parts(curve)
        free = sum(part.length for part in found)
        return sorted(found, key=lambda part: -part.length), free / whole if whole else 0.0

    def _parts(self, curve: Curve) -> list[Curve]:
        s, room = self._looked_at(curve)
        free = room >= 0.0
        if free.all():
            return [curve]
        turns = np.flatnonzero(free[1:] != free[:-1])
        inside, outside = self._edges(curve, s, free, turns)
        names = ["{!r} at {!r}".format(*self.nearest(curve(place))) for place in outside]
        ends = list(zip(inside.tolist(), names, strict=True))
        if free[0] and curve.closed:  # the first part begins before the seam
            ends = [*ends[1:], (ends[0][0] + 1.0, ends[0][1])]
        elif free[0]:
            ends.insert(0, (0.0, curve.ends[0]))
        if free[-1] and not curve.closed:
            ends.append((1.0, curve.ends[1]))
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return [curve.part(begin, end, (one, two)) for (begin, one), (end, two) in pairs if end > begin]

    def _looked_at(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        """Return places on a curve and the room there, close enough together that nothing between them is in doubt."""
        s = np.linspace(0.0, 1.0, max(math.ceil(curve.length / STEP), 8) + 1)
        room, pace = self.room(curve(s)), self.pace
        for _ in range(ROUNDS):
            way, alike = np.diff(s) * curve.length, (room[1:] >= 0.0) == (room[:-1] >= 0.0)
            doubt = np.flatnonzero(alike & (np.abs(room[1:] + room[:-1]) < pace * way) & (way > FINEST))
            if not len(doubt):
                break
            between = 0.5 * (s[doubt] + s[doubt + 1])
            s, room = np.insert(s, doubt + 1, between), np.insert(room, doubt + 1, self.room(curve(between)))
        return s, room

    def _edges(
        self, curve: Curve, s: FloatArray, free: NDArray[np.bool_], turns: NDArray[np.int64]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the last free places before something is touched, to a HAIR, and places right behind them."""
        first = free[turns]
        inside, outside = np.where(first, s[turns], s[turns + 1]), np.where(first, s[turns + 1], s[turns])
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            good = self.room(curve(middle)) >= HAIR
            inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
        return inside, outside
