"""Elementary motions of joints: rotations, translations and screws.

Equal joints share their elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..transforms import AXES, FloatArray, axis_rotation, quaternion_matrix, read_only

NO_AXIS = (0.0, 0.0, 0.0)
MOVING_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ")
EULER_ORDERS = (*MOVING_ORDERS, *map(str.lower, MOVING_ORDERS))  # lower case: about fixed axes, as in SciPy


@dataclass(frozen=True, eq=False)
class Element:
    """One elementary motion of a joint.

    Args:
        kind: ``"revolute"``, ``"prismatic"``, ``"screw"`` or ``"ball"``.
        axis: Unit axis, shape (3,); zeros for a ball.
        value: Index of the joint's value that drives it (a ball takes four from there on).
        rate: Index of the joint's velocity that drives it (a ball takes three).
        advance: For a screw, travel along the axis per radian [m/rad].
    """

    kind: str
    axis: FloatArray
    value: int
    rate: int
    advance: float = 0.0

    def matrix(self, values: FloatArray) -> FloatArray:
        """Return the 4x4 motion for joint values of shape (..., nq)."""
        result = np.broadcast_to(np.eye(4), (*values.shape[:-1], 4, 4)).copy()
        if self.kind == "ball":
            result[..., :3, :3] = quaternion_matrix(values[..., self.value : self.value + 4])
            return result
        amount = values[..., self.value]
        if self.kind != "prismatic":
            result[..., :3, :3] = axis_rotation(self.axis, amount)
        if self.kind != "revolute":
            travel = amount * (1.0 if self.kind == "prismatic" else self.advance)
            result[..., :3, 3] = travel[..., None] * self.axis
        return result


def _new_element(kind: str, axis: Any, index: int = 0, advance: float = 0.0) -> Element:
    return Element(kind, read_only(np.array(axis, np.float64)), index, index, advance)


shared_element: Callable[..., Element] = lru_cache(maxsize=4096)(_new_element)  # equal joints share their elements


def check_order(euler: object) -> None:
    """Raise LinkageError if a value is not an order of Euler angles."""
    if euler not in EULER_ORDERS:
        known = f"{', '.join(MOVING_ORDERS)} about moving axes, or the same in lower case about fixed ones"
        raise LinkageError(f"Euler order {euler!r} is not one of {known}.")


def euler_turns(euler: str, first: int) -> tuple[Element, ...]:
    """Return the rotations of Euler angles, from the parent outwards; `first` is the index of their first value."""
    turns = [shared_element("revolute", AXES[letter], k) for k, letter in enumerate(euler.lower(), start=first)]
    return tuple(turns if euler.isupper() else reversed(turns))  # about fixed axes, the last rotation is the outermost


def turn_names(euler: str) -> tuple[str, ...]:
    """Return the coordinates of Euler angles: ``rz, rx, ry``, or ``rz, rx, rz2`` where an axis comes twice."""
    names = [f"r{letter}" for letter in euler.lower()]
    return (*names[:2], names[2] + ("2" if names[2] == names[0] else ""))


def moving_xyz(quaternions: FloatArray) -> FloatArray:
    """Return the angles about moving x, y, z axes of quaternions (..., 4).

    Near gimbal lock, only the sum of the first and the third angle is well defined. The third is therefore computed
    after undoing the first, so that all three together give the right rotation.
    """
    m = quaternion_matrix(quaternions)
    first = np.arctan2(0.0 - m[..., 1, 2], m[..., 2, 2] + 0.0)  # a negative zero would give half a turn at the lock
    second = np.arctan2(m[..., 0, 2], np.hypot(m[..., 1, 2], m[..., 2, 2]))
    c, s = np.cos(first), np.sin(first)
    third = np.arctan2(c * m[..., 1, 0] + s * m[..., 2, 0], c * m[..., 1, 1] + s * m[..., 2, 1])
    return np.stack([first, second, third], axis=-1)
