"""`OnPlane`: keep a frame's origin on a plane of the world; and the base class shared with `OnLine`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Block, Goal, as_direction, as_point, blocks_of, moving_along, moving_rows


@dataclass(frozen=True, eq=False)
class Across(Goal):
    """Common part of planes and lines: the directions along which the frame's offset must be zero."""

    about = ("frame",)
    fixed = ("directions",)

    frame: str
    point: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    directions: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(point=as_point(self.point, f"point that {self.frame!r} should stay in line with"))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One length normal to a plane, or two normal to a line, judged together."""
        return blocks_of(("m", len(self.directions)))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the offset back to the plane or line [m]."""
        here = linkage.forward(q, frame=self.frame)[..., :3, 3]
        return np.asarray((self.point - here) @ self.directions.T)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's velocity normal to the plane or line."""
        result: FloatArray = self.directions @ linkage.jacobian(q, self.frame)[..., :3, :]
        return result

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which of the directions some joint moves the frame along."""
        return moving_along(self.directions, moving_rows(linkage, self.frame))


@dataclass(frozen=True, eq=False)
class OnPlane(Across):
    """Keep a frame's origin on a plane of the world: a pen on paper, a foot on the floor.

    Args:
        frame: Name of the frame.
        point: A point of the plane [m]; the origin by default.
        normal: Its normal, ``"z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.OnPlane("tip", point=(2, 0), normal="x").error(arm, arm.neutral()).tolist()
        [-1.0]
    """

    normal: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = as_direction(self.normal, f"normal of the plane for {self.frame!r}")
        self._set(normal=normal, directions=normal[None])
