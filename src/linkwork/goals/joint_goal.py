"""Common base of `Rest` and `Couple`: goals on joint values, resolved when a solve gives them the linkage."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, JointNotFoundError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .base import Goal


def velocities_of(linkage: Linkage, name: Any, *, plain: bool) -> list[int]:
    """Return the velocity indices of a joint or coordinate; `plain` raises for a joint with several values."""
    if isinstance(name, str) and name in linkage.coordinate_index:
        v = linkage.table[linkage.coordinate_index[name]].v
        if v is None:
            raise GoalError(f"{name!r} is a part of a quaternion; name the whole joint.")
        return [v]
    found = [v for v, joint in enumerate(linkage.table.velocity_joints) if joint == name]
    if plain and len(found) > 1:
        names = ", ".join(row.name for row in linkage.table if row.joint == name)
        raise GoalError(f"joint {name!r} has {len(found)} values; name one of {names}.")
    if found:
        return found
    for arc in linkage.arcs:
        if arc.name == name and arc.mimic is not None:
            raise GoalError(f"joint {name!r} follows {arc.mimic.joint!r}; name that one.")
    raise JointNotFoundError(name, f"linkage {linkage.name!r}", [*linkage.joints, *linkage.coordinates])


class JointGoal(Goal):
    """Base of goals that are resolved for one linkage; for another linkage, they resolve themselves again."""

    def resolve(self, linkage: Linkage, start: FloatArray) -> Self:  # noqa: ARG002
        """Return the goal with the indices of its joints in the linkage."""
        return self if self.__dict__.get("linkage") is linkage else self._with(linkage=linkage, **self._found(linkage))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the factors of the joints, which are the same at every pose."""
        matrix = self.resolve(linkage, q)._known("matrix")
        return np.broadcast_to(matrix, (*np.shape(q)[:-1], *matrix.shape)).copy()

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which rows depend on some joint."""
        return np.asarray(self.resolve(linkage, linkage.neutral())._known("matrix").any(axis=1))

    def _found(self, linkage: Linkage) -> dict[str, Any]:
        """Return the data of the goal for a linkage, including its constant Jacobian ``matrix`` (rows, nv)."""
        raise NotImplementedError

    def _known(self, name: str) -> Any:
        """Return the data found by `resolve`."""
        if name not in self.__dict__:
            raise GoalError(f"the rows of {type(self).__name__} depend on the linkage; call resolve(linkage, q) first.")
        return self.__dict__[name]
