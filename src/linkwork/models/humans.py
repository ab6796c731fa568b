"""A human body. z is up, it faces x, its left is y; at rest (every value zero) it stands straight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..linkage.builder import Builder
from ..linkage.geometry import Inertia, Sphere, Visual, bone
from ..linkage.linkage import Linkage
from .parts import SKIN, Color, both_sides, box, checked_size, euler_ball, moved, posed, standing, universal_joint

SIDES = (("left", 1), ("right", -1))
SHIRT, TROUSERS, SHOES, HAIR = (0.36, 0.53, 0.70), (0.30, 0.33, 0.42), (0.24, 0.22, 0.22), (0.36, 0.26, 0.20)

# Heights above the ground of a human of 1.75 m, standing [m].
HIP, WAIST, SPINE, CHEST, SHOULDER, NECK, HEAD = 0.925, 1.025, 1.135, 1.245, 1.42, 1.48, 1.56
THIGH, SHIN, ANKLE = 0.43, 0.425, 0.07
UPPER_ARM, FOREARM, PALM, FINGERS = 0.30, 0.255, 0.09, 0.085

# Mass of each link in percent of the total, its centre of mass and the sizes of its box [m], from the segments of men
# by de Leva (1996). Segments with several links here are divided so that their centre of mass is unchanged.
MASS = 75.0  # of a human of 1.75 m [kg]
SEGMENTS = {
    "pelvis": (11.17, (0, 0, 0.057), (0.20, 0.32, 0.16)),
    "abdomen": (8.165, (0, 0, 0.11), (0.19, 0.28, 0.11)),
    "ribs": (8.165, (0, 0, 0.11), (0.20, 0.30, 0.11)),
    "chest": (15.96, (0, 0, 0.162), (0.20, 0.34, 0.18)),
    "neck": (1.2, (0, 0, 0.04), (0.11, 0.11, 0.08)),
    "head": (5.74, (0.01, 0, 0.091), (0.18, 0.15, 0.20)),
}
LIMB_SEGMENTS = {
    "upper_arm": (2.71, (0, 0, -0.173), (0.09, 0.09, 0.30)),
    "forearm": (1.1, (0, 0, -0.085), (0.08, 0.08, 0.15)),
    "wrist": (0.52, (0, 0, -0.0305), (0.06, 0.06, 0.10)),
    "palm": (0.42, (0, 0, -0.045), (0.08, 0.03, 0.09)),
    "fingers": (0.19, (0, 0, -0.029), (0.075, 0.022, 0.085)),
    "thigh": (14.16, (0, 0, -0.176), (0.15, 0.15, 0.43)),
    "shin": (4.33, (0, 0, -0.1895), (0.10, 0.10, 0.425)),
    "tarsus": (1.2, (0.05, 0, -0.042), (0.19, 0.085, 0.06)),
    "toes": (0.17, (0.023, 0, 0), (0.07, 0.082, 0.036)),
}


def human(*, height: float = 1.75, root: str = "fixed") -> Linkage:
    """Return a human body of 25 joints with limits of an adult's range of motion.

    Elbows, knees, fingers and toes are revolute: positive values bend them. Clavicles, wrists and ankles are universal
    joints. Spine, neck, shoulders and hips are ball joints stored as Euler angles, so that they can be limited: trunk
    and shoulders as x, y, z (a shoulder: raise sideways, swing, twist), hips as y, x, z (swing, spread, twist). Hips
    and spine cannot reach gimbal lock; a shoulder reaches it only if the arm points straight ahead (``ry = -90deg``).
    At rest the arms hang down, palms inward. Its mass is 75 kg, scaled by the cube of its height, and distributed over
    the segments as in a real body.

    Args:
        height: From the ground to the crown [m].
        root: How the pelvis is connected to the world: ``"fixed"``, ``"planar"`` or ``"floating"``. At rest the soles
            are at z = 0 in all three cases.

    Example:
        >>> body = human()
        >>> body.forward("stand", frame="crown")[2, 3].round(6).item()
        1.75
    """
    s = checked_size(height, "height of a human") / 1.75
    arc = standing(root, "pelvis", (0, 0, s * HIP))
    b = Builder("human", base="pelvis", root=arc, shape=_across(s, 0.05, 0.07, 0.10, TROUSERS))
    _trunk(b, s)
    for side, sign in SIDES:
        _arm(b, s, side, sign)
    for side, sign in SIDES:
        _leg(b, s, side, sign)
    return _human_poses(_weighed(b.build(), s), s)


def _weighed(body: Linkage, s: float) -> Linkage:
    """Return the body with the masses of its links, each with the inertia of a box."""
    pairs = {f"{side}_{name}": segment for side, _ in SIDES for name, segment in LIMB_SEGMENTS.items()}
    heavy = {}
    for name, (share, center, size) in (SEGMENTS | pairs).items():
        mass = MASS * s**3 * share / 100.0
        x, y, z = np.square(s * np.array(size))
        spread = mass / 12.0 * np.diag([y + z, x + z, x + y])
        heavy[name] = {"inertia": Inertia(mass, s * np.array(center), spread)}
    return body.replace(links=heavy)


def _across(s: float, height: float, half: float, radius: float, color: Color) -> tuple[Visual, ...]:
    """Return a part of the trunk: capsules across it, centred at a height above the joint."""
    rib = bone((0, -s * half, s * height), (0, s * half, s * height), s * radius, color)
    return tuple(moved(rib, (0, 0, s * up)) for up in (-0.035, 0.0, 0.035))


def _trunk(b: Builder, s: float) -> None:
    spine = (
        ("waist", "abdomen", WAIST - HIP, euler_ball("XYZ", (-15, 15), (-15, 35), (-10, 10)), (0.05, 0.055, 0.088)),
        ("spine", "ribs", SPINE - WAIST, euler_ball("XYZ", (-12, 12), (-10, 25), (-15, 15)), (0.06, 0.065, 0.094)),
        ("chest", "chest", CHEST - SPINE, euler_ball("XYZ", (-10, 10), (-10, 20), (-20, 20)), (0.105, 0.095, 0.096)),
    )
    for joint, link, up, motion, look in spine:
        b.joint(joint, link, motion, at=(0, 0, s * up), shape=_across(s, *look, SHIRT))
    neck = bone((0, 0, -0.03 * s), (0.005 * s, 0, s * (HEAD - NECK)), 0.05 * s, SKIN)
    b.joint(
        "neck", "neck", euler_ball("XYZ", (-25, 25), (-30, 30), (-40, 40)), at=(0, 0, s * (NECK - CHEST)), shape=neck
    )
    face = (
        bone((0.012 * s, 0, 0.055 * s), (0.005 * s, 0, 0.106 * s), 0.08 * s, SKIN),
        Visual(Sphere(0.083 * s), (-0.012 * s, 0, 0.107 * s), HAIR),
        Visual(Sphere(0.015 * s), (0.095 * s, 0, 0.065 * s), SKIN),
    )
    b.joint(
        "head", "head", euler_ball("XYZ", (-20, 20), (-25, 35), (-40, 40)), at=(0, 0, s * (HEAD - NECK)), shape=face
    )
    b.frame("crown", at=(0, 0, s * (1.75 - HEAD)))
    b.frame("eyes", at=(0.085 * s, 0, 0.085 * s))


def _arm(b: Builder, s: float, side: str, sign: int) -> None:
    # Joint axes: a positive angle about `out` raises the arm of this side.
    out, inward, forward = ("x", "-x", "-z") if sign > 0 else ("-x", "x", "z")
    b.joint(
        f"{side}_clavicle", f"{side}_clavicle", universal_joint(out, forward, (-5, 30), (-20, 25)),
        parent="chest", at=(0, sign * 0.03 * s, s * (SHOULDER - CHEST)),
        shape=bone((0, 0, 0), (0, sign * 0.15 * s, 0), 0.055 * s, SHIRT),
    )  # fmt: skip
    b.joint(
        f"{side}_shoulder", f"{side}_upper_arm",
        euler_ball("XYZ", _mirrored((-20.0, 170.0), sign), (-130, 50), _mirrored((-70.0, 90.0), sign)),
        at=(0, sign * 0.16 * s, 0), shape=bone((0, 0, 0), (0, 0, -s * UPPER_ARM), 0.045 * s, SHIRT),
    )  # fmt: skip
    b.revolute(
        f"{side}_elbow", f"{side}_forearm", axis="-y", limits=("0deg", "150deg"), at=(0, 0, -s * UPPER_ARM),
        shape=bone((0, 0, 0), (0, 0, -s * FOREARM * 0.6), 0.04 * s, SKIN),
    )  # fmt: skip
    b.revolute(
        f"{side}_forearm_roll", f"{side}_wrist", axis="z" if sign > 0 else "-z", limits=("-80deg", "80deg"),
        at=(0, 0, -s * FOREARM * 0.6), shape=bone((0, 0, 0), (0, 0, -s * FOREARM * 0.4), 0.034 * s, SKIN),
    )  # fmt: skip
    palm = box((0.08 * s, 0.03 * s, s * PALM), (0, 0, -s * PALM * 0.55), SKIN)
    thumb = bone((0.035 * s, 0, -0.025 * s), (0.06 * s, -sign * 0.012 * s, -0.075 * s), 0.011 * s, SKIN)
    b.joint(
        f"{side}_wrist", f"{side}_palm", universal_joint(inward, "-y", (-65, 75), (-35, 20)),
        at=(0, 0, -s * FOREARM * 0.4), shape=(palm, thumb),
    )  # fmt: skip
    b.frame(f"{side}_hand", at=(0, -sign * 0.015 * s, -s * PALM * 0.6))
    b.revolute(
        f"{side}_fingers", f"{side}_fingers", axis=inward, limits=("-10deg", "95deg"), at=(0, 0, -s * PALM),
        shape=box((0.075 * s, 0.022 * s, s * FINGERS), (0, 0, -s * FINGERS / 2), SKIN),
    )  # fmt: skip
    b.frame(f"{side}_fingertips", at=(0, 0, -s * FINGERS))


def _leg(b: Builder, s: float, side: str, sign: int) -> None:
    b.joint(
        f"{side}_hip", f"{side}_thigh",
        euler_ball("YXZ", (-120, 30), _mirrored((-25.0, 45.0), sign), _mirrored((-40.0, 45.0), sign)),
        parent="pelvis", at=(0, sign * 0.09 * s, 0), shape=bone((0, 0, 0), (0, 0, -s * THIGH), 0.073 * s, TROUSERS),
    )  # fmt: skip
    b.revolute(
        f"{side}_knee", f"{side}_shin", axis="y", limits=("0deg", "145deg"), at=(0, 0, -s * THIGH),
        shape=bone((0, 0, 0), (0, 0, -s * SHIN), 0.052 * s, TROUSERS),
    )  # fmt: skip
    foot = (
        box((0.19 * s, 0.085 * s, 0.05 * s), (0.045 * s, 0, -s * ANKLE + 0.025 * s), SHOES),
        bone((0, 0, -0.01 * s), (0.06 * s, 0, -0.03 * s), 0.036 * s, SHOES),
    )
    b.joint(
        f"{side}_ankle", f"{side}_tarsus",
        universal_joint("y", "-x" if sign > 0 else "x", (-25, 50), (-20, 35)), at=(0, 0, -s * SHIN), shape=foot,
    )  # fmt: skip
    b.frame(f"{side}_foot", at=(0.04 * s, 0, -s * ANKLE))
    b.frame(f"{side}_heel", at=(-0.05 * s, 0, -s * ANKLE))
    b.revolute(
        f"{side}_toes", f"{side}_toes", axis="-y", limits=("-30deg", "65deg"), at=(0.14 * s, 0, -s * ANKLE + 0.018 * s),
        shape=box((0.07 * s, 0.082 * s, 0.036 * s), (0.035 * s, 0, 0), SHOES),
    )  # fmt: skip
    b.frame(f"{side}_ball", link=f"{side}_tarsus", at=(0.14 * s, 0, -s * ANKLE))
    b.frame(f"{side}_toe", at=(0.07 * s, 0, -0.018 * s))


def _mirrored(limits: tuple[float, float], sign: int) -> tuple[float, float]:
    """Return the limits of an angle about x or z for a side, from those for the left side."""
    return limits if sign > 0 else (-limits[1], -limits[0])


def _human_poses(body: Linkage, s: float) -> Linkage:
    arms = {"left_shoulder.rx": "8deg", "left_elbow": "10deg", "left_fingers": "20deg"}
    sit = arms | {"left_hip.ry": "-90deg", "left_knee": "90deg", "left_shoulder.ry": "-35deg", "left_elbow": "55deg"}
    poses: dict[str, Mapping[str, Any]] = {
        "stand": both_sides(arms),
        "t-pose": both_sides({"left_shoulder.rx": "90deg"}),
        "wave": both_sides(arms)
        | {"right_clavicle.first": "12deg", "right_shoulder.rx": "-100deg", "right_shoulder.ry": "-15deg",
           "right_shoulder.rz": "-85deg", "right_elbow": "85deg", "right_fingers": 0.0, "head.rx": "6deg",
           "right_forearm_roll": "-10deg"},
        "sit": both_sides(sit) | ({"root.z": -s * THIGH} if "root.z" in body.coordinates else {}),
        "reach": both_sides(arms)
        | {"waist.ry": "12deg", "chest.rz": "20deg", "head.ry": "-15deg", "right_clavicle": ("10deg", "15deg"),
           "right_shoulder": ("-115deg", "-70deg", 0.0), "right_elbow": "12deg", "right_fingers": 0.0},
    }  # fmt: skip
    return posed(body, poses)
