"""A textbook method for one frame, packed once, as made by ``prepare(arm, "tip", method="damped")``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError, OptionError, TransformError
from ..goals import Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..transforms import as_array
from .chain_targets import read_targets
from .groups import Group
from .iterate import settled
from .method import Method
from .options import Settings
from .problem import Problem
from .solution import Solution
from .walking import walk_for

SQUARE = (4, 4)


class PreparedMethod:
    """Prepared inverse kinematics of one frame by a chosen method: call it with a target and a start.

    Attributes:
        goal: A goal of the prepared kind; its target is ignored.
        method: The method.
        settings: Tolerances, limits and the other options of every method.
        group: The joints that may move, or None for all of them.
    """

    def __init__(self, linkage: Linkage, goal: Reach, method: Method, settings: Settings, group: Group | None) -> None:
        self.linkage, self.goal, self.method, self.settings, self.group = linkage, goal, method, settings, group
        self.problem = Problem(linkage, goal, group=group)
        alone = type(method).solve is Method.solve and not settings.trace
        self._walk = walk_for(method, self.problem, settled(settings, method)) if alone else None
        if self._walk is None:
            method.accept(self.problem)

    def __repr__(self) -> str:
        return f"<PreparedMethod {self.method.name!r} for {self.goal.frame!r} of {self.linkage.name!r}>"

    def __call__(self, target: ArrayLike, *, start: PoseLike | None = None) -> Solution:
        """Return the solution that brings the frame to a target, or the closest pose found.

        Args:
            target: A 4x4 matrix; a position or a 3x3 rotation if the goal has only that.
            start: Start pose; the neutral pose by default.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([15, 10, 5])
            >>> ik = lw.prepare(arm, "tip", method="damped", position="xy", orientation=False)
            >>> ik([-20, 5], start=[0.39, 0.79, 0.79]).iterations
            6
        """
        aim: Any = target
        if aim.__class__ is not np.ndarray or aim.shape != SQUARE or aim.dtype != np.float64 or not aim.flags.carray:
            aim = self._target(target)
        walk = self._walk
        if walk is not None:
            pose: Any = start
            if pose.__class__ is not np.ndarray or not walk.is_pose(pose):
                pose = start_pose(self.linkage, start)
                if pose.ndim != 1:
                    raise OptionError(f"one target takes one start of shape ({self.linkage.nq},), got {pose.shape}.")
            found = walk.one(aim.copy(), pose)
            if found is not None:
                return found
        pose = start_pose(self.linkage, start)
        aimed = Reach(self.goal.frame, **self._parts(aim))
        return self.method.solve(Problem(self.linkage, aimed, pose, self.group), pose, self.settings)

    def _target(self, target: ArrayLike) -> Any:
        """Return a target as a contiguous 4x4 array; raise GoalError if it is not valid."""
        try:
            given = as_array(target, f"the target of {self.goal.frame!r}")
        except TransformError as error:
            raise GoalError(str(error)) from error
        return np.ascontiguousarray(read_targets(self.goal, given[None])[0])

    def _parts(self, target: Any) -> dict[str, Any]:
        """Return the arguments of `Reach` for a target."""
        asked = self.goal.coordinates
        position = {"position": target[:asked, 3]} if asked else {}
        turn = {"orientation": target[:3, :3]} if self.goal.orientation is not None else {}
        return position | turn | {"free": self.goal.free}
