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

STEP = 0.05  # step of the first samples along a curve [rad]
FINEST = 1e-3  # shorter colliding or free stretches may be missed [rad]
ROUNDS, HALVINGS = 16, 60
HAIR = 1e-9  # added to the margin at the ends of free parts, so that rounding does not make their last pose collide [m]


@dataclass(frozen=True, eq=False)
class Clear:
    """Obstacles and margin for one set of solutions.

    Args:
        linkage: The linkage.
        avoid: What to avoid.
    """

    linkage: Linkage
    avoid: Avoid

    def room(self, poses: FloatArray) -> FloatArray:
        """Return the clearance of poses (n, nq) minus the margin [m]; negative where they collide."""
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
        """Largest distance that any point can move while the joints together travel one radian [m]."""
        scene = self.avoid.scene(self.linkage)
        count, at = int(scene.codes[HEADER.bodies]), int(scene.codes[HEADER.bounds])
        bounds = BOUND.rows(scene.numbers[at : at + BOUND.size * count])
        reach = self.linkage.length + float((np.linalg.norm(bounds.centre, axis=1) + bounds.radius).max(initial=0.0))
        return math.sqrt(max(self.linkage.nv, 1)) * reach

    def parts(self, curves: Iterable[Curve]) -> tuple[list[Curve], float]:
        """Return the free parts of curves, longest first, and the free share of their total length."""
        found, whole = [], 0.0
        for curve in curves:
            whole += curve.length
            found += self._parts(curve)
        free = sum(part.length for part in found)
        return sorted(found, key=lambda part: -part.length), free / whole if whole else 0.0

    def _parts(self, curve: Curve) -> list[Curve]:
        s, room = self._sampled(curve)
        free = room >= 0.0
        if free.all():
            return [curve]
        turns = np.flatnonzero(free[1:] != free[:-1])
        inside, outside = self._edges(curve, s, free, turns)
        names = ["{!r} at {!r}".format(*self.nearest(curve(place))) for place in outside]
        ends = list(zip(inside.tolist(), names, strict=True))
        if free[0] and curve.closed:  # the first part begins before the seam of the closed curve
            ends = [*ends[1:], (ends[0][0] + 1.0, ends[0][1])]
        elif free[0]:
            ends.insert(0, (0.0, curve.ends[0]))
        if free[-1] and not curve.closed:
            ends.append((1.0, curve.ends[1]))
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return [curve.part(begin, end, (one, two)) for (begin, one), (end, two) in pairs if end > begin]

    def _sampled(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        """Return samples of a curve and their clearance minus the margin, dense enough to be certain in between."""
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
        """Return the last free points before each collision, to within HAIR, and colliding points just beyond them."""
        first = free[turns]
        inside, outside = np.where(first, s[turns], s[turns + 1]), np.where(first, s[turns + 1], s[turns])
        for _ in range(HALVINGS):
            middle = 0.5 * (inside + outside)
            good = self.room(curve(middle)) >= HAIR
            inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
        return inside, outside
