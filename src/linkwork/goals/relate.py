"""`Relate`: hold a frame at a pose relative to another frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, cross_matrix, inverse
from .base import Block, Goal, as_frame, blocks_of, common_value, moving_rows, pose_error
from .reach import Reach


@dataclass(frozen=True, eq=False)
class Relate(Goal):
    """Hold a frame at a pose relative to another frame: two hands on one box, a hat on a head.

    Args:
        frame: Name of the frame to move.
        to: Name of the frame it is relative to.
        pose: Target position and orientation in the other frame at once: a 4x4 matrix. Without pose, position and
            orientation, the frames keep the relative pose that they have at the start of the solve.
        position: Target of its origin, in the other frame [m].
        orientation: Target orientation in the other frame, in any form that `Reach` takes.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.Relate("left_hand", "right_hand", position=(0, 0.3, 0)), start="sit").success
        True
    """

    about = ("frame", "to")
    fixed = ("rows",)

    frame: str
    to: str
    pose: Any = field(default=None, kw_only=True)
    position: Any = field(default=None, kw_only=True)
    orientation: Any = field(default=None, kw_only=True)
    target: FloatArray | None = field(init=False, repr=False)
    rows: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.to, f"what {self.frame!r} should relate to")
        waits = self.pose is None and self.position is None and self.orientation is None
        pose = np.eye(4) if waits else self.pose
        asked = Reach(self.frame, pose=pose, position=self.position, orientation=self.orientation)
        if asked.coordinates == 2:
            raise GoalError(f"position of {self.frame!r} in {self.to!r} must be 3 numbers, got {self.position!r}.")
        if self.frame == self.to:
            raise GoalError(f"frame {self.frame!r} cannot relate to itself.")
        self._set(target=None if waits else asked.target, rows=asked.rows)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of position, then radians of orientation."""
        count = int((self.rows < 3).sum())
        return blocks_of(("m", count), ("rad", len(self.rows) - count))

    def resolve(self, linkage: Linkage, start: FloatArray) -> Relate:
        """Return the goal with the relative pose at the start, if none is given."""
        if self.target is not None:
            return self
        there = inverse(linkage.forward(start, frame=self.to)) @ linkage.forward(start, frame=self.frame)
        what, advice = f"the pose of {self.frame!r} in {self.to!r}", "give a pose, a position or an orientation"
        return self._with(target=common_value(linkage, there.reshape(-1, 4, 4), what, advice))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the offset to the target pose in the world: metres, then the rotation vector."""
        wanted = linkage.forward(q, frame=self.to) @ self._target()
        return pose_error(linkage.forward(q, frame=self.frame), wanted)[..., self.rows]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's velocity minus that of its target pose in the other frame."""
        target = self._target()
        moving = linkage.jacobian(q, self.to)
        arm = linkage.forward(q, frame=self.to)[..., :3, :3] @ target[:3, 3]
        moving[..., :3, :] -= cross_matrix(arm) @ moving[..., 3:, :]
        return (linkage.jacobian(q, self.frame) - moving)[..., self.rows, :]

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which rows one of the frames can change."""
        return moving_rows(linkage, *self.places)[self.rows]

    def _target(self) -> FloatArray:
        if self.target is None:
            raise GoalError(
                f"a relation of {self.frame!r} to {self.to!r} takes its pose from the start of a solve; give a pose, a "
                "position or an orientation, or resolve(linkage, q)."
            )
        return self.target
