"""`LookAt`: point an axis of a frame at a point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray, cross_matrix
from .base import Goal, as_direction, as_place, placed, position_of, turn_between, unit, without

NEAREST = 1e-6  # share of the linkage's length: the direction to a nearer point is undefined


@dataclass(frozen=True, eq=False)
class LookAt(Goal):
    """Point an axis of a frame at a point: eyes at a ball, a camera at its object.

    If the point is at the frame's own origin, the error is zero.

    Args:
        frame: Name of the frame.
        at: The point of the world [m], or the name of a frame.
        axis: Axis of the frame that should point there, ``"x"``, ``"-z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.LookAt("eyes", at=(2, 1, 1))).success
        True
    """

    units = (("rad", 3),)
    about = ("frame", "at")
    fixed = ("axis",)

    frame: str
    at: Any
    axis: Any = field(default="x", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        axis = as_direction(self.axis, f"axis of {self.frame!r}")
        self._set(axis=axis, at=as_place(self.at, f"what {self.frame!r} should look at"))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the shortest rotation that points the axis there, as a rotation vector in the world."""
        world = linkage.forward(q, frame=self.frame)
        wanted, near = self._sight(linkage, position_of(linkage, self.at, q) - world[..., :3, 3])
        axis = world[..., :3, :3] @ self.axis
        return turn_between(axis, np.where(near[..., None], axis, wanted))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angular velocity of the axis, minus that of the line of sight."""
        world, moving = linkage.forward(q, frame=self.frame), linkage.jacobian(q, self.frame)
        point, motion = placed(linkage, self.at, q)
        way = point - world[..., :3, 3]
        wanted, near = self._sight(linkage, way)
        distance = np.where(near, np.inf, np.linalg.norm(way, axis=-1))[..., None, None]
        turning = cross_matrix(wanted) @ (motion - moving[..., :3, :]) / distance
        return without(moving[..., 3:, :], world[..., :3, :3] @ self.axis) - turning

    def _sight(self, linkage: Linkage, way: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the direction of a vector, and whether the vector is too short to have one."""
        direction, length = unit(way)
        return direction, np.asarray(length < NEAREST * (linkage.length or 1.0))
