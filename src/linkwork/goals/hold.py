"""`Hold`: keep a frame where it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Goal, as_pose, common_value
from .reach import Reach


@dataclass(frozen=True, eq=False)
class Hold(Goal):
    """Keep a frame where it is, position and orientation: a planted foot.

    In a solve it becomes a `Reach` of that pose, so every method that supports `Reach` supports it.

    Args:
        frame: Name of the frame.
        pose: Pose to keep, a 4x4 matrix or a SciPy ``RigidTransform``; by default its pose at the start of the solve.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> solution = lw.solve(figure, [lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))])
        >>> solution.success
        True
    """

    units = (("m", 3), ("rad", 3))

    frame: str
    pose: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pose is not None:
            self._set(pose=as_pose(self.pose, f"place to hold {self.frame!r} at"))

    @property
    def signature(self) -> tuple[Any, ...]:
        """The signature of the `Reach` that it becomes."""
        return self._template.signature

    def resolve(self, linkage: Linkage, start: FloatArray) -> Reach:
        """Return the `Reach` that keeps the frame at its pose, or at its pose at the start."""
        if self.pose is not None:
            return self._template
        world = linkage.forward(start, frame=self.frame).reshape(-1, 4, 4)
        return self._template.moved(common_value(linkage, world, f"the pose of frame {self.frame!r}", "give pose="))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the offset back to the pose in the world: metres, then the rotation vector."""
        if self.pose is None:
            raise GoalError(
                f"a Hold of {self.frame!r} takes its pose from the start of a solve; give pose=..., or call "
                "resolve(linkage, q)."
            )
        return self._template.error(linkage, q)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's Jacobian."""
        return linkage.jacobian(q, self.frame)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change."""
        return linkage.evaluator.moving_rows(self.frame)

    @cached_property
    def _template(self) -> Reach:
        """The Reach that replaces it. Without a pose, its target is set from the start of each solve."""
        weight, tolerance, priority = self.common
        target = np.eye(4) if self.pose is None else self.pose
        reach = Reach(self.frame, pose=target, weight=weight, tolerance=tolerance, priority=priority)
        reach._set(called="Hold")
        return reach
