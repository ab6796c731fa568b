"""`Balance`: keep the centre of mass over a point or over the support of the body."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..linkage.mass import Masses, masses
from ..transforms import FloatArray, as_number, plane_basis, read_only
from .base import (
    Edges,
    Goal,
    as_direction,
    as_place,
    common_value,
    moving_along,
    moving_rows,
    placed,
    position_of,
    reading,
)
from .support import Nearest, edges_of, inner_radius


@dataclass(frozen=True, eq=False)
class Balance(Goal):
    """Keep the centre of mass over a point, or over the polygon around several points.

    Masses are those of the model; if it has none, they are computed from the volume of the shapes. Inside the polygon
    the error is zero; outside it leads to the nearest edge.

    Args:
        over: A point of the world [m] or the name of a frame; or a list of them, whose convex hull, seen from above, is
            the support. By default the point below the centre of mass at the start of the solve.
        up: The direction away from the ground.
        margin: Distance of the centre of mass from the edge of the support [m]. At the start of a solve the support is
            scaled down about its centre until every edge has moved inwards by at least this much.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> feet = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "toe")]
        >>> lw.Balance(over=feet).error(figure, figure.stored_pose("stand")).tolist()
        [0.0, 0.0]
    """

    units = (("m", 2),)
    fixed = ("up", "margin")

    over: Any = None
    up: Any = field(default="z", kw_only=True)
    margin: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        up = as_direction(self.up, "up of a Balance goal")
        with reading:
            margin = as_number(self.margin, "margin of a Balance goal")
        if margin < 0.0:
            raise GoalError(f"margin of a Balance goal must not be negative, got {margin:g}.")
        over = self.over
        if over is not None:
            listed = isinstance(over, list | tuple) and any(isinstance(item, str) or np.ndim(item) for item in over)
            several = list(over) if listed or np.ndim(over) == 2 else [over]
            over = tuple(as_place(place, "what a Balance goal keeps the centre of mass over") for place in several)
            if not over:
                raise GoalError("a Balance goal needs at least one point or frame in over=.")
        pairs = list(combinations(range(len(over or (0,))), 2)) or [(0, 0)]
        across = read_only(plane_basis(up)[:, :2].T.copy())
        self._set(up=up, over=over, across=across, pairs=read_only(np.array(pairs)), margin=margin)

    shares: ClassVar[FloatArray | None] = None  # weights of the places in the support's corners; only with a margin
    across: FloatArray = field(init=False, repr=False)
    pairs: NDArray[np.int64] = field(init=False, repr=False)

    @property
    def places(self) -> tuple[str | FloatArray, ...]:
        """The frames and points that span the support."""
        if self.over is None:
            raise GoalError(
                "a Balance goal takes its point from the start of a solve; give over=..., or call resolve(linkage, q)."
            )
        over: tuple[str | FloatArray, ...] = self.over
        return over

    def resolve(self, linkage: Linkage, start: FloatArray) -> Balance:
        """Return the goal with its point taken from the start if none is given; the linkage must have a mass."""
        weights = self._masses(linkage)
        if self.margin:
            return self._drawn_in(linkage, start) if self.shares is None else self
        if self.over is not None:
            return self
        centers = weights.center(start).reshape(-1, 3)
        common_value(linkage, centers @ self.across.T, "the place below the centre of mass", "give over=")
        return self._with(over=(read_only(centers[0]),))

    def _drawn_in(self, linkage: Linkage, start: FloatArray) -> Balance:
        """Return the goal with the support scaled down by its margin at the start."""
        corners = self._corners(linkage, start).reshape(-1, len(self.places), 2)
        room = min((inner_radius(polygon, self.pairs) for polygon in corners), default=0.0)
        if room <= self.margin:
            raise GoalError(
                f"a Balance goal with a margin of {self.margin:g} m has no support left: the nearest edge is "
                f"{room:.3g} m from its middle; give a smaller margin, or more points in over=."
            )
        count = len(self.places)
        size = 1.0 - self.margin / room
        return self._with(shares=size * np.eye(count) + (1.0 - size) / count)

    def _corners(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the projections of the places onto the ground, shape (..., n, 2)."""
        result: FloatArray = np.stack([position_of(linkage, place, q) for place in self.places], axis=-2)
        return result @ self.across.T

    def _support(self, corners: FloatArray) -> FloatArray:
        """Return the corners of the support, shape (..., n, 2), from the projected places."""
        if self.margin and self.shares is None:
            raise GoalError(
                "a Balance goal with a margin takes its support from the start of a solve; call resolve(linkage, q)."
            )
        return corners if self.shares is None else self.shares @ corners

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the horizontal offset to the nearest point of the support [m]."""
        center = self._masses(linkage).center(q) @ self.across.T
        nearest = Nearest(center, self._support(self._corners(linkage, q)), self.pairs)
        return np.where(nearest.inside[..., None], 0.0, nearest.point - center)

    def _moving(self, linkage: Linkage, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return centre of mass, support, and the Jacobians of centre and places, all along the ground."""
        weights = self._masses(linkage)
        places = [placed(linkage, place, q) for place in self.places]
        corners = np.stack([position for position, _ in places], axis=-2) @ self.across.T
        motions = self.across @ np.stack([motion for _, motion in places], axis=-3)
        center, moving = weights.center(q) @ self.across.T, self.across @ weights.jacobian(q)
        return center, self._support(corners), moving, motions

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges:
        """Return the edges of the support, and the speed at which the centre of mass approaches each."""
        center, support, moving, motions = self._moving(linkage, q)
        room, normals, shares = edges_of(center, support, self.pairs)
        shares = shares if self.shares is None else shares @ self.shares
        against = moving[..., None, :, :] - np.einsum("...mk,...kij->...mij", shares, motions)
        return Edges(room, (normals[..., None, :] @ against)[..., 0, :])

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the velocity of the centre of mass relative to the support; at an edge, only its normal component."""
        center, support, moving, motions = self._moving(linkage, q)
        nearest = Nearest(center, support, self.pairs)
        shares = nearest.shares if self.shares is None else nearest.shares @ self.shares
        moving = moving - np.einsum("...k,...kij->...ij", shares, motions)
        moving = np.where(nearest.on_edge[..., None, None], nearest.across @ moving, moving)
        return np.where(nearest.inside[..., None, None], 0.0, moving)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which horizontal directions a mass or the support can move in."""
        moving = moving_rows(linkage, *self._masses(linkage).links, *self.places)
        return moving_along(self.across, moving)

    def _masses(self, linkage: Linkage) -> Masses:
        with reading:
            return masses(linkage)
