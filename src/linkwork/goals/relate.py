"""`Relate`: a frame at a place in another frame, wherever that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, cross_matrix, inverse, read_only
from .base import SAME, Block, Goal, as_frame, moving_rows
from .reach import Reach


@dataclass(frozen=True, eq=False)
class Relate(Goal):
    """Bring a frame to a place in another frame, wherever that is: two hands on one box, a hat on a head.

    Args:
        frame: Name of the frame that should get there.
        to: Name of the frame that it is placed in.
        pose: Where it should be in the other, position and orientation at once: a 4x4 matrix. With none of pose,
            position and orientation, both frames stay to each other as they are at the start of the solve.
        position: Where its origin should be, in the axes of the other [m].
        orientation: How it should be turned against the other, in any form that `Reach` takes.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.Relate("left_hand", "right_hand", position=(0, 0.3, 0)), start="sit").success
        True
    """

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
        parts = (Block(slice(0, count), "m"), Block(slice(count, len(self.rows)), "rad"))
        return tuple(block for block in parts if block.rows.stop > block.rows.start)

    @property
    def signature(self) -> tuple[Any, ...]:
        """Both frames and the rows."""
        return "Relate", self.frame, self.to, self.rows.tobytes(), *self.common

    def resolve(self, linkage: Linkage, start: FloatArray) -> Relate:
        """Return the goal with the place that the start has, if it names none."""
        if self.target is not None:
            return self
        there = inverse(linkage.forward(start, frame=self.to)) @ linkage.forward(start, frame=self.frame)
        there = there.reshape(-1, 4, 4)
        if np.abs(there - there[:1]).max(initial=0.0) > SAME * max(linkage.length, 1.0):
            raise GoalError(
                f"frames {self.frame!r} and {self.to!r} stand otherwise to each other at each of the {len(there)} "
                "starts; give a pose, a position or an orientation."
            )
        result = object.__new__(Relate)
        result.__dict__.update(self.__dict__, target=read_only(there[0]))
        return result

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way to the place in the world: metres, then the rotation vector."""
        from ..kernels.pose_error import pose_errors

        wanted = linkage.forward(q, frame=self.to) @ self._target()
        local = inverse(wanted) @ linkage.forward(q, frame=self.frame)
        out = np.empty((*local.shape[:-2], 6))
        pose_errors(np.ascontiguousarray(local.reshape(-1, 4, 4)), np.eye(4), out.reshape(-1, 6))
        turned: FloatArray = out.reshape(*out.shape[:-1], 2, 3) @ np.swapaxes(wanted[..., :3, :3], -1, -2)
        return turned.reshape(out.shape)[..., self.rows]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's velocity less that of its place in the other."""
        target = self._target()
        moving = linkage.jacobian(q, self.to)
        arm = linkage.forward(q, frame=self.to)[..., :3, :3] @ target[:3, 3]
        moving[..., :3, :] -= cross_matrix(arm) @ moving[..., 3:, :]
        return (linkage.jacobian(q, self.frame) - moving)[..., self.rows, :]

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return the rows that one of the frames can change at all."""
        return moving_rows(linkage, self.frame, self.to)[self.rows]

    def _target(self) -> FloatArray:
        if self.target is None:
            raise GoalError(
                f"a relation of {self.frame!r} to {self.to!r} has its place from the start of a solve; give a pose, a "
                "position or an orientation, or resolve(linkage, q)."
            )
        return self.target
