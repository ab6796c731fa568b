"""The whole body: its centre of mass over a point, or over what it stands on.

Imports `base`, `joints` and `mass`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..linkage.mass import Masses, masses
from ..transforms import FloatArray, as_axis, as_number, plane_basis, read_only
from .base import Block, Goal, as_place, key_of, moving_along, moving_rows, one_block, placed, position_of, reading
from .reach import SAME

INSIDE, ROUNDING = 1e-12, 1e-15


@dataclass(frozen=True, eq=False)
class Balance(Goal):
    """Keep the centre of mass over a point, or over the polygon around several points.

    Masses are those of the model; where it names none, shapes are weighed by their volume. Within the polygon the goal
    asks for nothing; from outside it leads to the nearest edge.

    Args:
        over: A point of the world [m] or the name of a frame; or a list of them, whose convex hull, seen from above, is
            the support. By default the place that the centre of mass is over at the start of the solve.
        up: The direction away from the ground.
        margin: How far within the edge of the support the centre of mass is to stay [m]. At the start of a solve the
            support is drawn in towards its middle, keeping its form, until every edge has moved by at least that much.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> feet = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "toe")]
        >>> lw.Balance(over=feet).error(figure, figure.stored_pose("stand")).tolist()
        [0.0, 0.0]
    """

    over: Any = None
    up: Any = field(default="z", kw_only=True)
    margin: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        with reading():
            up = read_only(as_axis(self.up, "up of a Balance goal"))
            margin = as_number(self.margin, "margin of a Balance goal")
        if margin < 0.0:
            raise GoalError(f"margin of a Balance goal must not be negative, got {margin:g}.")
        over = self.over
        if over is not None:
            listed = isinstance(over, list | tuple) and any(isinstance(item, str) or np.ndim(item) for item in over)
            several = list(over) if listed or np.ndim(over) == 2 else [over]
            over = tuple(as_place(place, "what a Balance goal keeps the centre of mass over") for place in several)
            if not over:
                raise GoalError("a Balance goal over no points at all has nothing to stand on.")
        pairs = list(combinations(range(len(over or (0,))), 2)) or [(0, 0)]
        across = read_only(plane_basis(up)[:, :2].T.copy())
        self._set(up=up, over=over, across=across, pairs=read_only(np.array(pairs)), margin=margin)

    shares: ClassVar[FloatArray | None] = None  # of the places in the corners of the support, where there is a margin
    across: FloatArray = field(init=False, repr=False)
    pairs: NDArray[np.int64] = field(init=False, repr=False)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres along the ground."""
        return one_block(2, "m")

    @property
    def make(self) -> tuple[Any, ...]:
        """The frames stood on, and the direction up."""
        places = tuple(map(key_of, self.over or (np.zeros(3),)))
        return "Balance", places, self.up.tobytes(), self.margin, *self.common

    def bound(self, linkage: Linkage, start: FloatArray) -> Balance:
        """Return the goal over the place that the start has, if it names none; the linkage must weigh something."""
        weights = self._masses(linkage)
        if self.margin:
            return self._drawn_in(linkage, start)
        if self.over is not None:
            return self
        centers = weights.center(start).reshape(-1, 3)
        if np.abs((centers - centers[:1]) @ self.across.T).max(initial=0.0) > SAME * max(linkage.length, 1.0):
            raise GoalError(
                f"the centre of mass is over another place at each of the {len(centers)} starts; give over=... one."
            )
        result = object.__new__(Balance)
        result.__dict__.update(self.__dict__, over=(read_only(centers[0]),))
        return result

    def _drawn_in(self, linkage: Linkage, start: FloatArray) -> Inset:
        """Return the goal over the support that the margin leaves at the start."""
        corners = self._corners(linkage, start).reshape(-1, len(self._places()), 2)
        room = min((inner_radius(polygon, self.pairs) for polygon in corners), default=0.0)
        if room <= self.margin:
            raise GoalError(
                f"a Balance goal with a margin of {self.margin:g} m has no support left: the nearest edge is "
                f"{room:.3g} m from its middle; take a smaller margin, or stand on more."
            )
        count = len(self._places())
        size = 1.0 - self.margin / room
        result = object.__new__(Inset)
        result.__dict__.update(self.__dict__, shares=size * np.eye(count) + (1.0 - size) / count)
        return result

    def _corners(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the places that the support is around, along the ground, shape (..., n, 2)."""
        result: FloatArray = np.stack([position_of(linkage, place, q) for place in self._places()], axis=-2)
        return result @ self.across.T

    def _support(self, corners: FloatArray) -> FloatArray:
        """Return the corners of the support, shape (..., n, 2), from those of the places."""
        if self.margin and self.shares is None:
            raise GoalError(
                "a Balance goal with a margin has its support from the start of a solve; use bound(linkage, q)."
            )
        return corners if self.shares is None else self.shares @ corners

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way along the ground to the nearest point of the support."""
        center = self._masses(linkage).center(q) @ self.across.T
        nearest = Nearest(center, self._support(self._corners(linkage, q)), self.pairs)
        return np.where(nearest.inside[..., None], 0.0, nearest.point - center)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the velocity of the centre of mass against the support: at an edge, only that across it."""
        weights = self._masses(linkage)
        places = [placed(linkage, place, q) for place in self._places()]
        center = weights.center(q) @ self.across.T
        corners = np.stack([position for position, _ in places], axis=-2) @ self.across.T
        nearest = Nearest(center, self._support(corners), self.pairs)
        moving = self.across @ weights.jacobian(q)
        motions = self.across @ np.stack([motion for _, motion in places], axis=-3)
        shares = nearest.shares if self.shares is None else nearest.shares @ self.shares
        moving = moving - np.einsum("...k,...kij->...ij", shares, motions)
        moving = np.where(nearest.on_edge[..., None, None], nearest.across @ moving, moving)
        return np.where(nearest.inside[..., None, None], 0.0, moving)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return the directions along the ground that something heavy, or the support, moves along."""
        moving = moving_rows(linkage, *self._masses(linkage).links, *self._places())
        return moving_along(self.across, moving)

    def _places(self) -> tuple[str | FloatArray, ...]:
        if self.over is None:
            raise GoalError(
                "a Balance goal has its place from the start of a solve; give over=..., or bound(linkage, q)."
            )
        places: tuple[str | FloatArray, ...] = self.over
        return places

    def _masses(self, linkage: Linkage) -> Masses:
        with reading():
            return masses(linkage)


class Inset(Balance):
    """What a Balance with a margin becomes in a solve: its support is that much smaller."""

    called = "Balance"

    def bound(self, linkage: Linkage, start: FloatArray) -> Inset:  # noqa: ARG002
        """Return the goal itself: it has its support from a start already."""
        return self


def inner_radius(corners: FloatArray, pairs: NDArray[np.int64]) -> float:
    """Return the distance from the middle of corners (n, 2) to the nearest edge of their hull; 0 if they have no area.

    Args:
        corners: Corners in any order.
        pairs: All pairs of corners, shape (m, 2).
    """
    first, edge = corners[pairs[:, 0]], corners[pairs[:, 1]] - corners[pairs[:, 0]]
    length = np.linalg.norm(edge, axis=1)
    normal = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / np.maximum(length, 1e-300)[:, None]
    sides = np.einsum("mnk,mk->mn", corners[None] - first[:, None], normal)
    tolerance = INSIDE * max(float(length.max()), 1e-300)
    outer = (length > tolerance) & ((sides >= -tolerance).all(axis=1) | (sides <= tolerance).all(axis=1))
    away = np.abs(((corners.mean(axis=0) - first) * normal).sum(axis=1))
    return float(away[outer].min(initial=np.inf)) if outer.any() else 0.0


class Nearest:
    """The points of convex polygons nearest to points of the plane, any leading axes.

    Every edge joins two corners, and what joins two corners lies within: the nearest of all such segments has the
    nearest point of the polygon, and a point is inside if some corner lies beyond its nearest segment.

    Args:
        center: Points, shape (..., 2).
        corners: Corners in any order, shape (..., n, 2).
        pairs: All pairs of corners, shape (m, 2).
    """

    def __init__(self, center: FloatArray, corners: FloatArray, pairs: NDArray[np.int64]) -> None:
        first, second = corners[..., pairs[:, 0], :], corners[..., pairs[:, 1], :]
        edge, way = second - first, center[..., None, :] - first
        length = (edge * edge).sum(axis=-1)
        share = np.clip((way * edge).sum(axis=-1) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
        away = way - share[..., None] * edge
        best = (away * away).sum(axis=-1).argmin(axis=-1)[..., None]
        share, away, edge = (
            np.take_along_axis(share, best, axis=-1)[..., 0],
            np.take_along_axis(away, best[..., None], axis=-2)[..., 0, :],
            np.take_along_axis(edge, best[..., None], axis=-2)[..., 0, :],
        )
        self.point = center - away
        beyond = ((corners - self.point[..., None, :]) * away[..., None, :]).sum(axis=-1).max(axis=-1)
        size = np.abs(corners - center[..., None, :]).max(axis=(-1, -2), initial=0.0)
        self.inside = beyond > size * (INSIDE * np.linalg.norm(away, axis=-1) + ROUNDING * size)
        chosen = pairs[best[..., 0]]
        one_hot = np.eye(corners.shape[-2])[chosen]
        self.shares = (1.0 - share)[..., None] * one_hot[..., 0, :] + share[..., None] * one_hot[..., 1, :]
        self.on_edge = (share > 0.0) & (share < 1.0)
        normal = np.stack([-edge[..., 1], edge[..., 0]], axis=-1)
        normal = normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-300)
        self.across = normal[..., :, None] * normal[..., None, :]
