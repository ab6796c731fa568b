"""`Couple`: a linear relation between joint values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_number
from .base import Block, blocks_of, reading
from .joint_goal import JointGoal, velocities_of


@dataclass(frozen=True, eq=False)
class Couple(JointGoal):
    """Couple joints: the sum of their values, each times its coefficient, should have a given value.

    Args:
        joints: Coefficients by joint or coordinate name; or two names, of which the first should be `ratio` times the
            second, plus the value.
        ratio: Ratio of the first joint to the second, for two names.
        value: Wanted value of the sum [rad or m].

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> goals = [lw.Reach("tip", position=(5, 20)), lw.Couple(("j3", "j2"), ratio=0.5)]
        >>> q = lw.solve(arm, goals, method="damped", start=[0.4, 0.8, 0.8]).q
        >>> bool(abs(q[2] - 0.5 * q[1]) < 1e-3)
        True
    """

    joints: Any
    ratio: float = field(default=1.0, kw_only=True)
    value: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        with reading:
            ratio = as_number(self.ratio, "ratio of coupled joints")
            self._set(value=as_number(self.value, "value of coupled joints"))
            if isinstance(self.joints, Mapping):
                terms = {name: as_number(c, f"coefficient of {name!r}") for name, c in self.joints.items()}
            else:
                pair = list(self.joints) if isinstance(self.joints, list | tuple) else []
                if len(pair) != 2 or len(set(map(str, pair))) != 2:
                    raise GoalError(f"a Couple goal takes two joints, or coefficients by name, got {self.joints!r}.")
                terms = {pair[0]: 1.0, pair[1]: -ratio}
        if not any(terms.values()):
            raise GoalError(f"a Couple goal needs a coefficient other than zero, got {self.joints!r}.")
        self._set(joints=terms, ratio=ratio)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One number, in the unit of the joint named first."""
        return blocks_of((self._known("unit"), 1))

    @property
    def signature(self) -> tuple[Any, ...]:
        """The joints and their coefficients."""
        return "Couple", tuple(self.joints.items()), *self.common

    def _found(self, linkage: Linkage) -> dict[str, Any]:
        columns = np.array([velocities_of(linkage, name, plain=True)[0] for name in self.joints])
        matrix = np.zeros((1, linkage.nv))
        np.add.at(matrix[0], columns, list(self.joints.values()))
        places, unit = linkage.table.pose_index[columns], linkage.table.velocity_units[columns[0]]
        return {"places": places, "columns": columns, "matrix": matrix, "unit": unit}

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the wanted value minus the sum."""
        goal = self.resolve(linkage, q)
        values = np.asarray(q, np.float64)[..., goal._known("places")]
        return np.asarray(self.value - values @ np.array(list(self.joints.values())))[..., None]
