"""`Align`: point an axis of a frame along a direction of the world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Goal, as_direction, turn_between, without


@dataclass(frozen=True, eq=False)
class Align(Goal):
    """Align an axis of a frame with a direction of the world: a cup upright, a sole level, a drill straight down.

    Args:
        frame: Name of the frame.
        axis: Axis of the frame, ``"z"``, ``"-x"`` or three numbers.
        direction: Direction in the world, in the same forms.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Align("tip", axis="x", direction="y").error(arm, np.zeros(2)).round(4).tolist()
        [0.0, 0.0, 1.5708]
    """

    units = (("rad", 3),)
    about = ("frame",)
    fixed = ("axis",)

    frame: str
    axis: Any = field(kw_only=True)
    direction: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            axis=as_direction(self.axis, f"axis of {self.frame!r}"),
            direction=as_direction(self.direction, f"direction for {self.frame!r}"),
        )

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the shortest rotation onto the direction, as a rotation vector in the world."""
        axis = linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.axis
        return turn_between(axis, np.broadcast_to(self.direction, axis.shape))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angular velocity of the axis: that of the frame without its spin about the axis."""
        axis = linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.axis
        return without(linkage.jacobian(q, self.frame)[..., 3:, :], axis)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change, tested at a few poses."""
        poses = np.concatenate([linkage.neutral()[None], linkage.random_pose(0, 7)])
        return np.asarray(np.abs(self.jacobian(linkage, poses)).max(axis=(0, 2), initial=0.0) > 1e-12)
