"""Lesson 4: Euler angles and quaternions."""

from __future__ import annotations

import math

from .lesson import Exercise, Lesson


def _scalar_part() -> float:
    from scipy.spatial.transform import Rotation

    return float(Rotation.from_rotvec((0, 0, math.radians(120))).as_quat(scalar_first=True)[0])


def _yaw_at_lock() -> float:
    """Return the yaw that, with roll 0 and pitch 90°, is the same rotation as yaw 50° and roll 20°."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_euler("ZYX", (50, 90, 20), degrees=True).as_matrix()
    return math.degrees(math.atan2(-turned[0, 1], turned[1, 1]))  # column y of Rz(yaw) Ry(90°) is (-sin, cos, 0)


def _angle() -> float:
    from scipy.spatial.transform import Rotation

    return math.degrees(Rotation.from_euler("ZYX", (90, 90, 0), degrees=True).magnitude())


LESSON = Lesson(
    4,
    "rotations",
    "Euler angles and quaternions",
    "5.1.2",
    ("gimbal",),
    (
        Exercise(
            "A quaternion turns by 120° about the vertical. What is its first number, w?",
            _scalar_part,
            tolerance=0.005,
            hint="w is the cosine of half the angle.",
            why="cos 60° = 0.5. A turn by 180° has w = 0.",
        ),
        Exercise(
            "Order Z-Y-X, pitch 90°: the gimbal is locked. Yaw is 50° and roll is 20°. You set roll to 0°. Which yaw "
            "gives the same orientation?",
            _yaw_at_lock,
            unit="deg",
            tolerance=0.5,
            hint="At this pitch yaw and roll turn about the same line, in opposite directions.",
            why="Only the difference yaw − roll counts: 50° − 20°.",
        ),
        Exercise(
            "A plane yaws by 90° and then pitches by 90° about its own axis. A single rotation about some axis gives "
            "the same orientation. What is its angle?",
            _angle,
            unit="deg",
            tolerance=0.5,
            hint="Multiply the two quaternions. Their w is cos 45° each, and their axes are at right angles.",
            why="w of the product is cos² 45° = 0.5, so the half angle is 60°. Two turns of 90° make one of 120°.",
        ),
    ),
)
