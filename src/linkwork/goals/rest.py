"""`Rest`: stay near a pose, as far as the other goals allow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..linkage.poses import between
from ..transforms import FloatArray, as_array, as_number, read_only
from .base import Block, blocks_of, reading
from .joint_goal import JointGoal, velocities_of


@dataclass(frozen=True, eq=False)
class Rest(JointGoal):
    """Stay near a pose: prefer one close to it among the poses that meet the other goals.

    It is a wish: it has a lower priority than the others and does not affect success, unless `priority` and `tolerance`
    are given.

    Args:
        pose: Preferred pose: an array, values by joint name, or the name of a stored pose. The neutral pose by default.
        gains: Weight of each joint: one number, one for each velocity (equal for the three of a ball), or numbers by
            joint or coordinate name; joints without a gain are ignored.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Rest([0.3, 0.5], gains={"j2": 2.0}).error(arm, np.zeros(2)).tolist()
        [1.0]
    """

    pose: Any = None
    gains: Any = field(default=1.0, kw_only=True)
    tolerance: Any = field(default=math.inf, kw_only=True)
    priority: int = field(default=1, kw_only=True)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Radians, then metres, each multiplied by its gain."""
        turning, count = self._known("turning"), len(self._known("columns"))
        return blocks_of(("rad", turning), ("m", count - turning))

    @property
    def signature(self) -> tuple[Any, ...]:
        """The joints and their gains."""
        return "Rest", self._known("columns").tobytes(), self._known("factors").tobytes(), *self.common

    def _found(self, linkage: Linkage) -> dict[str, Any]:
        gains = self._gains(linkage)
        columns = np.flatnonzero(gains)
        if not len(columns):
            raise GoalError(
                "all gains of a Rest goal are zero, so it asks for nothing; give at least one joint a gain."
            )
        slides = linkage.table.slides[columns]
        columns = np.concatenate([columns[~slides], columns[slides]])
        values = linkage.pose(self.pose)
        if values.ndim != 1:
            raise GoalError(f"a Rest goal takes one pose, got {len(values)} of them.")
        found = {"target": read_only(values), "columns": columns, "factors": gains[columns]}
        return {**found, "turning": int((~slides).sum()), "matrix": np.diag(gains)[columns]}

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the difference to the pose, with each joint multiplied by its gain."""
        goal = self.resolve(linkage, q)
        way = between(linkage, np.asarray(q, np.float64), goal._known("target"))
        return np.asarray(way[..., goal._known("columns")] * goal._known("factors"))

    def _gains(self, linkage: Linkage) -> FloatArray:
        """Return one gain for every velocity."""
        result = np.zeros(linkage.nv)
        with reading:
            if isinstance(self.gains, Mapping):
                for name, value in self.gains.items():
                    result[velocities_of(linkage, name, plain=False)] = as_number(value, f"gain of {name!r}")
            else:
                gains = as_array(self.gains, "gains")
                if gains.shape not in ((), (linkage.nv,)):
                    raise GoalError(
                        f"gains are one number, {linkage.nv} of them or a mapping, got shape {gains.shape}."
                    )
                result[:] = gains
        if not np.isfinite(result).all() or (result < 0.0).any():
            raise GoalError(f"gains must be finite, zero or more, got {self.gains!r}.")
        return result
