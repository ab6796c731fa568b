"""A humanoid robot with revolute joints, similar to common small humanoids.

It is not in the catalogue of models. The gallery and the examples use it as a target for retargeting, in place of robot
files.
"""

from __future__ import annotations

from ..linkage.builder import Builder
from ..linkage.geometry import Visual, bone
from ..linkage.linkage import Linkage
from .parts import box

SHELL, DARK, ACCENT = (0.80, 0.82, 0.85), (0.22, 0.24, 0.28), (0.16, 0.47, 0.78)
THIGH, SHIN, ANKLE, HIP, WAIST = 0.30, 0.30, 0.05, 0.10, 0.05  # lengths [m]
SHOULDER, UPPER_ARM, FOREARM = 0.27, 0.20, 0.17


def humanoid(*, root: str = "fixed") -> Linkage:
    """Return a humanoid robot of 29 revolute joints, 1.25 m tall, in the usual order of small humanoids.

    Hips and shoulders are three joints in a row, ankles two, wrists and the waist three; names contain the axes.

    Args:
        root: How the pelvis is connected to the world: ``"fixed"`` or ``"floating"``.

    Example:
        >>> humanoid().nq
        29
    """
    b = Builder("humanoid", base="pelvis", root=root, shape=box((0.13, 0.16, 0.09), (0, 0, 0.0), DARK))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _robot_leg(b, side, sign)
    b.revolute("waist_yaw_joint", "waist_yaw_link", parent="pelvis", axis="z", limits=(-2.6, 2.6), at=(0, 0, WAIST))
    b.revolute("waist_roll_joint", "waist_roll_link", axis="x", limits=(-0.52, 0.52))
    trunk = (
        box((0.17, 0.22, 0.24), (0.0, 0, 0.19), SHELL),
        box((0.02, 0.12, 0.08), (0.085, 0, 0.23), ACCENT),
        bone((0, 0, 0.0), (0, 0, 0.08), 0.06, DARK),
        bone((0, 0, 0.31), (0, 0, 0.36), 0.035, DARK),
        Visual(bone((0, 0, 0), (0, 0, 0.06), 0.075).shape, (0.01, 0, 0.43), SHELL),
        box((0.05, 0.11, 0.05), (0.065, 0, 0.44), DARK),
    )
    b.revolute("waist_pitch_joint", "torso_link", axis="y", limits=(-0.52, 0.52), shape=trunk)
    b.frame("head", link="torso_link", at=(0, 0, 0.46))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _robot_arm(b, side, sign)
    return b.build()


def _robot_leg(b: Builder, side: str, sign: float) -> None:
    out = sorted((-0.52 * sign, 2.9 * sign))
    b.revolute(
        f"{side}_hip_pitch_joint", f"{side}_hip_pitch_link", parent="pelvis", axis="y", limits=(-2.5, 2.8),
        at=(0, 0.07 * sign, -0.04), shape=bone((0, 0, 0), (0, 0.05 * sign, 0), 0.05, DARK),
    )  # fmt: skip
    b.revolute(f"{side}_hip_roll_joint", f"{side}_hip_roll_link", axis="x", limits=out, at=(0, 0.05 * sign, -HIP / 2.0))
    b.revolute(
        f"{side}_hip_yaw_joint", f"{side}_hip_yaw_link", axis="z", limits=(-2.7, 2.7), at=(0, 0, -HIP / 2.0),
        shape=bone((0, 0, 0.04), (0, 0, -0.2), 0.055, SHELL),
    )  # fmt: skip
    b.revolute(
        f"{side}_knee_joint", f"{side}_knee_link", axis="y", limits=(-0.08, 2.8), at=(0, 0, -THIGH + HIP / 2.0),
        shape=(bone((0, 0.035, 0), (0, -0.035, 0), 0.05, DARK), bone((0, 0, -0.06), (0, 0, 0.04 - SHIN), 0.042, SHELL)),
    )  # fmt: skip
    b.revolute(
        f"{side}_ankle_pitch_joint", f"{side}_ankle_pitch_link", axis="y", limits=(-0.87, 0.52), at=(0, 0, -SHIN)
    )
    b.revolute(
        f"{side}_ankle_roll_joint", f"{side}_ankle_roll_link", axis="x", limits=(-0.26, 0.26),
        shape=(box((0.19, 0.07, 0.03), (0.035, 0, 0.015 - ANKLE), DARK), bone((0, 0, 0), (0.03, 0, -0.02), 0.03, DARK)),
    )  # fmt: skip


def _robot_arm(b: Builder, side: str, sign: float) -> None:
    out = sorted((-1.58 * sign, 2.25 * sign))
    b.revolute(
        f"{side}_shoulder_pitch_joint", f"{side}_shoulder_pitch_link", parent="torso_link", axis="y",
        limits=(-3.0, 2.6), at=(0, 0.12 * sign, SHOULDER), shape=bone((0, 0, 0), (0, 0.04 * sign, 0), 0.045, DARK),
    )  # fmt: skip
    b.revolute(
        f"{side}_shoulder_roll_joint", f"{side}_shoulder_roll_link", axis="x", limits=out, at=(0, 0.05 * sign, 0)
    )
    b.revolute(
        f"{side}_shoulder_yaw_joint", f"{side}_shoulder_yaw_link", axis="z", limits=(-2.6, 2.6), at=(0, 0, -0.05),
        shape=bone((0, 0, 0.03), (0, 0, -UPPER_ARM + 0.07), 0.04, SHELL),
    )  # fmt: skip
    b.revolute(
        f"{side}_elbow_joint", f"{side}_elbow_link", axis="y", limits=(-1.9, 0.1), at=(0, 0, -UPPER_ARM + 0.05),
        shape=(bone((0, 0.025, 0), (0, -0.025, 0), 0.038, DARK), bone((0, 0, -0.03), (0, 0, -0.1), 0.033, SHELL)),
    )  # fmt: skip
    b.revolute(f"{side}_wrist_roll_joint", f"{side}_wrist_roll_link", axis="z", limits=(-1.9, 1.9), at=(0, 0, -0.1))
    b.revolute(
        f"{side}_wrist_pitch_joint", f"{side}_wrist_pitch_link", axis="y", limits=(-1.6, 1.6), at=(0, 0, -FOREARM + 0.1)
    )
    b.revolute(
        f"{side}_wrist_yaw_joint", f"{side}_wrist_yaw_link", axis="x", limits=(-1.6, 1.6),
        shape=(bone((0, 0, 0), (0, 0, -0.08), 0.026, DARK), bone((0.015, 0, -0.03), (0.04, 0, -0.07), 0.012, DARK)),
    )  # fmt: skip
    b.frame(f"{side}_hand", at=(0, 0, -0.1))
