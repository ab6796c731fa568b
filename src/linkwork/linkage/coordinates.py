"""The table of coordinates: a description of every value of a pose and of every velocity.

Units, wrap-around, and indices in the pose and in the velocity are computed here, once for each linkage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transforms import read_only
from .couplings import CouplingRow, geared as coupled
from .elements import Element
from .joints import Joint
from .motion_limits import MOTION_LIMITS
from .showing import Shown
from .tree import Drive


class Coordinate(NamedTuple):
    """One value of a pose.

    Attributes:
        name: Its full name: ``"elbow"``, ``"hip.rx"``.
        joint: The joint it belongs to.
        kind: Kind of motion: ``"revolute"``, ``"prismatic"``, ``"screw"``, or ``"ball"`` for a part of a quaternion.
        unit: ``"rad"``, ``"m"``, or ``""`` in a quaternion.
        q: Its index in the pose.
        v: Its index in the velocity; None in a quaternion, which has three velocities for its four values.
        lower: Lower limit, minus infinity if there is none. Limits of followers do not narrow it.
        upper: Upper limit.
        velocity: The largest velocity, infinite if none is given. The x, y and z of a quaternion have those of its
            three velocities.
        acceleration: The largest acceleration, likewise.
        effort: The largest torque or force, likewise.
        mimicked: Whether another joint follows it.
        periodic: Whether a whole turn leaves every link where it is. This holds for an angle, unless it follows by a
            coupling, or a follower would move: a slide or a screw, a ratio that is not an integer, or a coupling that
            is not periodic.
    """

    name: str
    joint: str
    kind: str
    unit: str
    q: int
    v: int | None
    lower: float
    upper: float
    velocity: float
    acceleration: float
    effort: float
    mimicked: bool
    periodic: bool

    @property
    def wraps(self) -> bool:
        """Whether it wraps around: periodic and without limits."""
        return self.periodic and self.lower == -np.inf and self.upper == np.inf


class Plain(NamedTuple):
    """The values outside quaternions: indices in the pose, indices in the velocity, and which of them wrap around."""

    q: NDArray[np.int64]
    v: NDArray[np.int64]
    wraps: NDArray[np.bool_]


class CoordinateTable(Shown, tuple[Coordinate, ...]):
    """The coordinates of a linkage, in the order of the pose, and views of them as arrays.

    Example:
        >>> import linkwork as lw
        >>> table = lw.models.planar([2, 1]).table
        >>> table.units, table[1].name, table[1].wraps
        (('rad', 'rad'), 'j2', True)
    """

    @cached_property
    def units(self) -> tuple[str, ...]:
        """The unit of every value of a pose."""
        return tuple(row.unit for row in self)

    @cached_property
    def periodic(self) -> NDArray[np.bool_]:
        """Which values of a pose are periodic angles, shape (nq,)."""
        return read_only(np.array([row.periodic for row in self], np.bool_))

    @cached_property
    def plain(self) -> Plain:
        """The values outside quaternions, each with its own velocity."""
        rows = [(row.q, row.v, row.wraps) for row in self if row.v is not None]
        q, v, wraps = zip(*rows, strict=True) if rows else ((), (), ())
        at, rates = (read_only(np.array(column, np.int64)) for column in (q, v))
        return Plain(at, rates, read_only(np.array(wraps, np.bool_)))

    @cached_property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """Index of every quaternion in the pose, and of its three velocities."""
        starts = [row.q for row in self if row.v is None][::4]
        return tuple((q, q - n) for n, q in enumerate(starts))  # each quaternion before it has one velocity less

    @cached_property
    def _by_velocity(self) -> tuple[Coordinate, ...]:
        """The coordinate of each velocity; for a quaternion, its last three."""
        starts = {q for q, _ in self.quaternions}
        return tuple(row for row in self if row.q not in starts)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """The coordinate that each velocity changes; for a quaternion, its x, y and z."""
        return tuple(row.name for row in self._by_velocity)

    @cached_property
    def velocity_joints(self) -> tuple[str, ...]:
        """The joint that each velocity belongs to."""
        return tuple(row.joint for row in self._by_velocity)

    @cached_property
    def velocity_units(self) -> tuple[str, ...]:
        """The unit of the value that each velocity changes, ``"rad"`` or ``"m"``."""
        return tuple(row.unit or "rad" for row in self._by_velocity)

    @cached_property
    def slides(self) -> NDArray[np.bool_]:
        """Which velocities are linear, shape (nv,)."""
        return read_only(np.array([unit == "m" for unit in self.velocity_units], np.bool_))

    @cached_property
    def pose_index(self) -> NDArray[np.int64]:
        """The index in the pose of each velocity's value, shape (nv,); -1 for those of a quaternion."""
        return read_only(np.array([-1 if row.v is None else row.q for row in self._by_velocity], np.int64))


def coordinate_table(
    arcs: Sequence[Joint], drives: Sequence[Drive], rows: Sequence[CouplingRow] = ()
) -> CoordinateTable:
    """Return the table of the coordinates of joints; `rows` are the couplings between them."""
    pairs = list(zip(arcs, drives, strict=True))
    mimicked, geared = set(), coupled(rows)
    for joint, drive in pairs:
        if joint.mimic is not None:
            mimicked.add(drive.q)
            if joint.articulation.elements[0].kind != "revolute" or drive.multiplier % 1.0 != 0.0:
                geared.add(drive.q)
    own = ((joint, drive) for joint, drive in pairs if joint.mimic is None)
    return CoordinateTable([row for joint, drive in own for row in _rows(joint, drive, mimicked, geared)])


def _rows(joint: Joint, drive: Drive, mimicked: set[int], geared: set[int]) -> Iterator[Coordinate]:
    """Yield the coordinates of one joint; `mimicked` and `geared` are pose indices."""
    plain = {e.value: e for e in joint.articulation.elements if e.kind != "ball"}
    rates = dict(_rates(joint.articulation.elements))
    lower, upper = (bound.tolist() for bound in joint.articulation.limits)
    for k, (name, unit) in enumerate(zip(joint.coordinates, joint.articulation.units, strict=True)):
        q, element = drive.q + k, plain.get(k)
        kind, v = ("ball", None) if element is None else (element.kind, drive.v + element.rate)
        given = [getattr(joint, what) if k in rates else None for what in MOTION_LIMITS]
        velocity, acceleration, effort = (math.inf if limit is None else limit[rates[k]] for limit in given)
        limits = lower[k], upper[k], velocity, acceleration, effort
        periodic = kind == "revolute" and q not in geared
        yield Coordinate(name, joint.name, kind, unit, q, v, *limits, q in mimicked, periodic)


def _rates(elements: Sequence[Element]) -> Iterator[tuple[int, int]]:
    """Yield index pairs (value, velocity) of a joint; x, y, z of a quaternion are paired with its three velocities."""
    for e in elements:
        if e.kind == "ball":
            yield from ((e.value + k + 1, e.rate + k) for k in range(3))
        else:
            yield e.value, e.rate
