"""Joints themselves: towards a pose, and coupled to each other.

Imports `base` and `poses`. Both learn from the linkage which joints they are about, when a solve binds them to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, JointNotFoundError
from ..linkage.linkage import Linkage
from ..linkage.poses import between
from ..transforms import FloatArray, as_array, as_number, read_only
from .base import Block, Goal, one_block, reading


def velocity_units(linkage: Linkage) -> list[str]:
    """Return the unit, ``"rad"`` or ``"m"``, that each velocity's value is in."""
    units = ["rad"] * linkage.nv
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.mimic is None:
            for element in arc.articulation.elements:
                if element.kind == "prismatic":
                    units[drive.v + element.rate] = "m"
    return units


def velocities_of(linkage: Linkage, name: Any, *, plain: bool) -> list[int]:
    """Return the velocities of a joint or a pose coordinate; with `plain`, of one number that stands for itself."""
    q, v, _ = linkage.table.plain
    places = dict(zip(q.tolist(), v.tolist(), strict=True))
    if isinstance(name, str) and name in linkage.coordinate_index:
        k = linkage.coordinate_index[name]
        if k not in places:
            raise GoalError(f"{name!r} is a part of a quaternion; name the whole joint.")
        return [places[k]]
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        count = arc.articulation.nv
        if arc.name == name and count:
            if arc.mimic is not None:
                raise GoalError(f"joint {name!r} follows {arc.mimic.joint!r}; name that one.")
            if plain and count > 1:
                raise GoalError(f"joint {name!r} has {count} values; name one of {', '.join(arc.coordinates)}.")
            return list(range(drive.v, drive.v + count))
    raise JointNotFoundError(name, f"linkage {linkage.name!r}", [*linkage.joints, *linkage.coordinates])


class _Bound(Goal):
    """A goal that is told the linkage it is for; asked about another, it binds itself to that one."""

    def _linkage(self) -> Linkage | None:
        found: Linkage | None = self.__dict__.get("linkage")
        return found

    def _bound_to(self, linkage: Linkage, **values: Any) -> Any:
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__, linkage=linkage, **values)
        return result

    def _known(self, name: str) -> Any:
        """Return what binding has found out."""
        if name not in self.__dict__:
            raise GoalError(f"the rows of {type(self).__name__} depend on the linkage; bound(linkage, q) has them.")
        return self.__dict__[name]


@dataclass(frozen=True, eq=False)
class Rest(_Bound):
    """Lean towards a pose: of the many poses that serve the other goals, one near this.

    It is a wish: a level below the others and never judged, unless `priority` and `tolerance` say otherwise.

    Args:
        pose: Pose to lean towards: an array, values by joint name, or the name of a stored pose. The neutral pose by
            default.
        gains: How much each joint cares: one number, one for each velocity (the three of a ball alike), or numbers by
            joint or coordinate name; joints without a gain are left alone.

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
        parts = (Block(slice(0, turning), "rad"), Block(slice(turning, count), "m"))
        return tuple(block for block in parts if block.rows.stop > block.rows.start)

    @property
    def make(self) -> tuple[Any, ...]:
        """The joints and their gains."""
        return "Rest", self._known("columns").tobytes(), self._known("factors").tobytes(), *self.common

    def bound(self, linkage: Linkage, start: FloatArray) -> Rest:  # noqa: ARG002
        """Return the goal with the linkage's joints."""
        if self._linkage() is linkage:
            return self
        gains = self._gains(linkage)
        columns = np.flatnonzero(gains)
        if not len(columns):
            raise GoalError("a Rest goal without any gain asks for nothing.")
        slides = np.array(velocity_units(linkage))[columns] == "m"
        columns = np.concatenate([columns[~slides], columns[slides]])
        values = linkage.pose(base=self.pose) if isinstance(self.pose, str) else linkage.pose(self.pose)
        if values.ndim != 1:
            raise GoalError(f"a Rest goal leans towards one pose, got {len(values)} of them.")
        found = {"target": read_only(values), "columns": columns, "factors": gains[columns]}
        result: Rest = self._bound_to(linkage, **found, turning=int((~slides).sum()))
        return result

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way to the pose, each joint's multiplied by its gain."""
        goal = self.bound(linkage, q)
        way = between(linkage, np.asarray(q, np.float64), goal._known("target"))
        return np.asarray(way[..., goal._known("columns")] * goal._known("factors"))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the gains, each in its joint's column."""
        goal = self.bound(linkage, q)
        columns = goal._known("columns")
        result = np.zeros((*np.shape(q)[:-1], len(columns), linkage.nv))
        result[..., np.arange(len(columns)), columns] = goal._known("factors")
        return result

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return all rows: every one is a joint's own."""
        return np.ones(len(self.bound(linkage, linkage.neutral())._known("columns")), np.bool_)

    def _gains(self, linkage: Linkage) -> FloatArray:
        """Return a gain for every velocity."""
        result = np.zeros(linkage.nv)
        with reading():
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


@dataclass(frozen=True, eq=False)
class Couple(_Bound):
    """Couple joints: a sum of their values, each times its coefficient, should have a value.

    Args:
        joints: Coefficients by joint or coordinate name; or two names, of which the first should be `ratio` times the
            second, plus the value.
        ratio: That ratio.
        value: What the sum should be [rad or m].

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
        with reading():
            ratio = as_number(self.ratio, "ratio of coupled joints")
            self._set(value=as_number(self.value, "value of coupled joints"))
            if isinstance(self.joints, Mapping):
                terms = {name: as_number(c, f"coefficient of {name!r}") for name, c in self.joints.items()}
            else:
                terms = self._pair(ratio)
        if not any(terms.values()):
            raise GoalError(f"a Couple goal needs a coefficient other than zero, got {self.joints!r}.")
        self._set(joints=terms, ratio=ratio)

    def _pair(self, ratio: float) -> dict[str, float]:
        pair = [] if isinstance(self.joints, str) or not isinstance(self.joints, list | tuple) else list(self.joints)
        if len(pair) != 2 or len(set(map(str, pair))) != 2:
            raise GoalError(f"a Couple goal takes two joints, or coefficients by name, got {self.joints!r}.")
        return {pair[0]: 1.0, pair[1]: -ratio}

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One number, in the unit of the joint named first."""
        return one_block(1, self._known("unit"))

    @property
    def make(self) -> tuple[Any, ...]:
        """The joints and their coefficients."""
        return "Couple", tuple(self.joints.items()), *self.common

    def bound(self, linkage: Linkage, start: FloatArray) -> Couple:  # noqa: ARG002
        """Return the goal with the places of its joints."""
        if self._linkage() is linkage:
            return self
        velocities = [velocities_of(linkage, name, plain=True)[0] for name in self.joints]
        q, v, _ = linkage.table.plain
        places = dict(zip(v.tolist(), q.tolist(), strict=True))
        numbers = {"places": np.array([places[k] for k in velocities]), "columns": np.array(velocities)}
        row = np.zeros(linkage.nv)
        np.add.at(row, numbers["columns"], list(self.joints.values()))
        unit = velocity_units(linkage)[velocities[0]]
        result: Couple = self._bound_to(linkage, **numbers, row=read_only(row), unit=unit)
        return result

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return what the sum still lacks."""
        goal = self.bound(linkage, q)
        values = np.asarray(q, np.float64)[..., goal._known("places")]
        return np.asarray(self.value - values @ np.array(list(self.joints.values())))[..., None]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the coefficients, each in its joint's column."""
        row = self.bound(linkage, q)._known("row")
        return np.broadcast_to(row, (*np.shape(q)[:-1], 1, linkage.nv)).copy()

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return that the joints can."""
        return np.array([self.bound(linkage, linkage.neutral())._known("row").any()])
