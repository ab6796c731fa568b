"""`Hold`: a frame kept where it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, read_only
from .base import SAME, Block, Goal, as_frame, as_pose
from .reach import Reach


@dataclass(frozen=True, eq=False)
class Hold(Goal):
    """Keep a frame where it is, position and orientation: a planted foot.

    In a solve it becomes a `Reach` of the place it holds, so that every method that serves `Reach` serves it.

    Args:
        frame: Name of the frame.
        pose: Where to keep it, a 4x4 matrix or a SciPy ``RigidTransform``; where it is at the start of the solve by
            default.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> solution = lw.solve(figure, [lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))])
        >>> solution.success
        True
    """

    frame: str
    pose: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, "what a Hold goal keeps in place")
        if self.pose is not None:
            self._set(pose=read_only(as_pose(self.pose, f"place to hold {self.frame!r} at").copy()))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of position, then radians of orientation."""
        return Block(slice(0, 3), "m"), Block(slice(3, 6), "rad")

    @property
    def signature(self) -> tuple[Any, ...]:
        """That of the Reach it becomes."""
        return self._template.signature

    def resolve(self, linkage: Linkage, start: FloatArray) -> Reach:
        """Return the Reach that holds the frame at its place, or where the start has it."""
        if self.pose is not None:
            return self._template
        world = linkage.forward(start, frame=self.frame).reshape(-1, 4, 4)
        if not len(world):
            raise GoalError(f"frame {self.frame!r} has no place to be held at: there is no start; give pose=... one.")
        if np.abs(world - world[:1]).max(initial=0.0) > SAME * max(linkage.length, 1.0):
            raise GoalError(
                f"frame {self.frame!r} is in another place at each of the {len(world)} starts; give pose=... one."
            )
        return self._template.moved(world[0])

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way back in the world: metres, then the rotation vector."""
        return self._held().error(linkage, q)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's Jacobian."""
        return linkage.jacobian(q, self.frame)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change at all."""
        return linkage.evaluator.moving_rows(self.frame)

    def _held(self) -> Reach:
        if self.pose is None:
            raise GoalError(
                f"a Hold of {self.frame!r} has its place from the start of a solve; give pose=..., or "
                "resolve(linkage, q)."
            )
        return self._template

    @cached_property
    def _template(self) -> Reach:
        """The Reach that it becomes; one without a pose is moved to where a start has the frame."""
        weight, tolerance, priority = self.common
        target = np.eye(4) if self.pose is None else self.pose
        reach = Reach(self.frame, pose=target, weight=weight, tolerance=tolerance, priority=priority)
        reach._set(called="Hold")
        return reach
