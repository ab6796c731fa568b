"""Velocity, acceleration and effort limits of joints.

A joint has one number for each of its velocities; a linkage has three arrays of shape (nv,).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import LimitError, listed
from ..transforms import as_angle, as_length, reraised_as
from .elements import Element

MOTION_LIMITS = ("velocity", "acceleration", "effort")
NO_MOTION_LIMITS: dict[str, Any] = dict.fromkeys(MOTION_LIMITS)


def as_motion_limit(given: Any, units: Sequence[str], what: str) -> tuple[float, ...] | None:
    """Return one number for each velocity, infinite for no limit; None if no velocity has a limit.

    Args:
        given: One value for all velocities, which must then have the same unit, or one value (or None) for each.
        units: Unit, ``"rad"`` or ``"m"``, of the value that each velocity changes. An angle may be given as
            ``"90deg"``.
        what: Name of the value in errors.

    Example:
        >>> as_motion_limit("180deg", ["rad"], "velocity"), as_motion_limit([1.0, None], ["m", "m"], "velocity")
        ((3.141592653589793,), (1.0, inf))
    """
    values = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    if len(values) == 1 and len(set(units)) == 1:
        values = values * len(units)
    if values and not units:
        raise LimitError(f"{what} has no meaning: the joint does not move.")
    if len(values) != len(units):
        raise LimitError(f"{what} must be {len(units)} values, one for each velocity, got {given!r}.")
    limits = tuple(_limit(value, unit, what) for value, unit in zip(values, units, strict=True))
    return limits if any(limit < math.inf for limit in limits) else None


def _limit(value: Any, unit: str, what: str) -> float:
    with reraised_as(LimitError, f"{what}: "):
        limit = math.inf if value is None else (as_angle if unit == "rad" else as_length)(value)
    if not limit > 0.0:
        raise LimitError(f"{what} must be above zero, got {value!r}; None stands for no limit.")
    return limit


def part_limits(
    limits: Mapping[str, tuple[float, ...] | None], elements: Sequence[Element], what: str
) -> list[dict[str, Any]]:
    """Return the motion limits of each one-DOF part of a joint, by name, from those of the whole joint.

    Args:
        limits: One number for each velocity, or None, by name.
        elements: The motions of the joint; a quaternion has three parts.
        what: Name of the joint in errors.

    Raises:
        LimitError: If a quaternion has limits: they hold for its angular velocity, not for single rotations.
    """
    given = {name: limit for name, limit in limits.items() if limit is not None}
    if given and any(e.kind == "ball" for e in elements):
        raise LimitError(
            f"{listed(list(given))} of {what}, a quaternion, hold for no single turn; replace them by None first."
        )
    if not given:
        return [{} for e in elements for _ in range(3 if e.kind == "ball" else 1)]
    return [{name: limit[e.rate] for name, limit in given.items()} for e in elements]
