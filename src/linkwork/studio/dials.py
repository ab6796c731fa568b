"""Dials: what a person turns to pose a linkage, one for each value, three angles for a rotation kept as a quaternion.

Nothing here knows of a page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..linkage.elements import moving_xyz
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

FEW = 14  # dials that are shown at once; more are put into folders


@dataclass(frozen=True)
class Dial:
    """One value to turn.

    Args:
        label: Its name: a coordinate's, or a joint's and an axis.
        joint: The joint it turns.
        group: The limb that it belongs to.
        unit: ``"rad"`` or ``"m"``.
        low: Least value; one turn, or the linkage's length, below zero where there is no limit.
        high: Largest value.
        index: Where it is in the pose, or where the quaternion begins.
        angle: Which of the three angles of a quaternion it is, or None.
    """

    label: str
    joint: str
    group: str
    unit: str
    low: float
    high: float
    index: int
    angle: int | None = None

    def read(self, q: FloatArray) -> float:
        """Return its value in a pose, within its range."""
        value = float(q[self.index]) if self.angle is None else float(self._angles(q)[self.angle])
        if self.unit == "rad" and not self.low <= value <= self.high:
            value = math.remainder(value, 2.0 * math.pi)
        return min(max(value, self.low), self.high)

    def write(self, q: FloatArray, value: float) -> FloatArray:
        """Return a pose with another value."""
        result = np.array(q)
        if self.angle is None:
            result[self.index] = value
            return result
        from scipy.spatial.transform import Rotation

        angles = self._angles(q)
        angles[self.angle] = value
        turned = Rotation.from_euler("XYZ", angles)
        result[self.index : self.index + 4] = turned.as_quat(scalar_first=True)
        return result

    def _angles(self, q: FloatArray) -> FloatArray:
        return np.array(moving_xyz(q[self.index : self.index + 4]))

    def scaled(self, degrees: bool) -> float:
        """Return how many units of the page one radian or metre has."""
        return math.degrees(1.0) if degrees and self.unit == "rad" else 1.0


def dials(linkage: Linkage) -> list[Dial]:
    """Return the dials of a linkage in the order of its pose.

    Example:
        >>> import linkwork as lw
        >>> [dial.label for dial in dials(lw.models.planar([2, 1]))]
        ['j1', 'j2']
    """
    result: list[Dial] = []
    groups = limbs(linkage)
    length = max(linkage.length, 1e-3)
    quaternions = {q for q, _ in linkage.table.quaternions}
    for row in linkage.table:
        joint, group = row.joint, groups[row.joint]
        if row.q in quaternions:
            for angle, letter in enumerate("xyz"):
                result.append(Dial(f"{joint} r{letter}", joint, group, "rad", -math.pi, math.pi, row.q, angle))
        if row.v is None:
            continue
        wide = length if row.unit == "m" else math.pi
        low, high = row.lower, row.upper
        if not math.isfinite(low):
            low = -wide if not math.isfinite(high) else high - 2.0 * wide
        if not math.isfinite(high):
            high = max(wide, low + 2.0 * wide) if low != -wide else wide
        result.append(Dial(row.name, joint, group, row.unit, low, high, row.q))
    return result


def limbs(linkage: Linkage) -> dict[str, str]:
    """Return the limb of every joint: a run of joints without a branch, called after its first moving one."""
    names: list[str] = []
    for index, arc in enumerate(linkage.arcs):
        parent = linkage.parents[index]
        only = parent >= 0 and len(linkage.children[parent]) == 1
        names.append(names[parent] if only and names[parent] else arc.name if arc.articulation.elements else "")
    return {arc.name: name or linkage.root.name for arc, name in zip(linkage.arcs, names, strict=True)}
