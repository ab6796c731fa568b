"""A four-bar given by its dimensions: pivots, lengths, type, motion, and its linkage."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...linkage.linkage import Linkage
from ...transforms import FloatArray
from ..closed import four_bar_linkage
from .closed_form import Placed, place

TURN = 2.0 * math.pi
KINDS = ("double-crank", "crank-rocker", "double-rocker", "rocker-crank", "triple-rocker", "change-point")
SLACK = 1e-9  # largest excess of a change point in Grashof's rule, relative to the sum of lengths


@dataclass(frozen=True, eq=False)
class FourBar:
    """Dimensions of a four-bar in the xy plane.

    Attributes:
        numbers: Pivot of the crank (x, y), pivot of the rocker (x, y), lengths of crank, coupler and rocker, and the
            coupler point (x, y), relative to the crank pin with x along the coupler [m]; shape (9,).
        side: Assembly mode: 1 if the rocker's pin is to the left of the line from crank pin to rocker pivot, else -1.
        tilt: The angle of frame ``"point"`` of its linkage from the coupler [rad].

    Example:
        >>> FourBar(np.array([0, 0, 0.4, 0, 0.15, 0.35, 0.3, 0.2, 0.1])).kind
        'crank-rocker'
    """

    numbers: FloatArray
    side: int = 1
    tilt: float = 0.0

    @property
    def ground(self) -> float:
        """The distance of the two pivots [m]."""
        return float(np.hypot(*(self.numbers[2:4] - self.numbers[:2])))

    @property
    def heading(self) -> float:
        """Angle of the ground line, from the crank's pivot to the rocker's, about z from x [rad]."""
        x, y = self.numbers[2:4] - self.numbers[:2]
        return math.atan2(y, x)

    @property
    def lengths(self) -> tuple[float, float, float, float]:
        """The lengths of ground, crank, coupler and rocker [m]."""
        crank, coupler, rocker = map(float, self.numbers[4:7])
        return self.ground, crank, coupler, rocker

    @property
    def kind(self) -> str:
        """Type by Grashof's rule: "crank-rocker", "double-crank", "triple-rocker" and so on."""
        return KINDS[int(kinds_of(np.array(self.lengths)))]

    @property
    def turns(self) -> bool:
        """Whether the crank turns all the way round."""
        return self.kind in ("crank-rocker", "double-crank")

    def path(self, angles: FloatArray) -> FloatArray:
        """Return the positions of the coupler point at crank angles from the ground line, shape (n, 2) [m].

        Example:
            >>> FourBar(np.array([0, 0, 4.0, 0, 2, 4, 2, 2, 0])).path(np.array([np.pi / 2])).round(6).tolist()
            [[2.0, 2.0]]
        """
        point = placed(self, angles).point[0]
        return np.stack([point.real, point.imag], axis=-1)

    def transmission(self, angles: FloatArray) -> FloatArray:
        """Return the transmission angle, between coupler and rocker, 0 to a right angle [rad], shape (n,)."""
        parts = placed(self, angles)
        rod = parts.end - complex(*self.numbers[2:4])
        turn = np.abs(np.angle(rod[0] / parts.along[0]))
        return np.asarray(np.minimum(turn, math.pi - turn))

    def span(self, angles: FloatArray) -> FloatArray:
        """Return crank angles over a motion: a full turn if the crank can turn, else from smallest to largest."""
        if self.turns:
            return np.linspace(0.0, TURN, 181)
        around = self.middle + np.angle(np.exp(1j * (angles - self.middle)))
        return np.linspace(float(around.min()), float(around.max()), 91)

    @property
    def middle(self) -> float:
        """The middle of the crank's range from the ground line [rad]: 0 or half a turn if it cannot turn fully.

        If the range contains neither 0 nor half a turn, it has two parts; then this is a quarter turn, in the upper
        part.
        """
        ground, crank, coupler, rocker = self.lengths
        folded, stretched = abs(ground - crank), ground + crank
        near, far = folded >= abs(coupler - rocker), stretched <= coupler + rocker
        return 0.0 if near and not far else math.pi if far and not near else math.pi / 2.0

    def linkage(self, angle: float, *, name: str = "four_bar") -> Linkage:
        """Return the linkage, with the pose ``"start"`` at a given crank angle from the ground line [rad].

        Joints ``crank``, ``coupler`` and ``rocker`` as in `linkwork.models.four_bar`; frame ``"point"``.
        """
        x, y = self.numbers[:2]
        at = (float(x), float(y), self.heading)
        return four_bar_linkage(
            self.lengths, self.numbers[7:9], tilt=self.tilt, at=at, start=angle, side=self.side, name=name
        )


def kinds_of(lengths: FloatArray) -> FloatArray:
    """Return indices in `KINDS` of four-bars with lengths of ground, crank, coupler and rocker, shape (4, ...).

    By Grashof's rule, a bar turns all the way round if the shortest and the longest are together shorter than the other
    two; which bar that is depends on which is the shortest.
    """
    excess = 2.0 * (lengths.max(axis=0) + lengths.min(axis=0)) - lengths.sum(axis=0)
    turning = np.where(excess > 0.0, KINDS.index("triple-rocker"), lengths.argmin(axis=0))
    change = np.abs(excess) <= SLACK * lengths.sum(axis=0)
    return np.asarray(np.where(change, KINDS.index("change-point"), turning))


def placed(four_bar: FourBar, angles: FloatArray) -> Placed:
    """Return the positions of the parts of a four-bar at crank angles from the ground line [rad], as one row."""
    turned = np.atleast_1d(angles)[None] + four_bar.heading
    return place(four_bar.numbers[None], np.array([float(four_bar.side)]), turned)
