"""Stand-ins for humanoid robots: the same joints in the same order, with the same axes, positions and limits.

Link frames are at the makers' positions, which are often far from the anatomical joint. Tables list the left side; the
right side is its mirror image. Positions are relative to the middle between the hips, z up [m].
"""

from __future__ import annotations

from dataclasses import dataclass

import linkwork as lw

Row = tuple[str, tuple[float, float, float], tuple[float, float, float], float, float]  # name, axis, position, limits


@dataclass(frozen=True)
class Standin:
    """A robot: rows of its left arm and leg, and their roles in a body.

    Args:
        arm: Joints from the shoulder outwards; empty for a robot without arms.
        leg: Joints from the hip outwards.
        tip: Position of the end of the arm.
        elbow: The joint that folds the arm, and its position.
        knee: The joint that folds the leg, and its position.
        shoulder: Position of the shoulder.
        hip: Position of the hip.
        sole: Lowest point of the foot below the hips [m].
    """

    arm: tuple[Row, ...]
    leg: tuple[Row, ...]
    tip: tuple[float, float, float]
    elbow: tuple[str, tuple[float, float, float]]
    knee: tuple[str, tuple[float, float, float]]
    shoulder: tuple[float, float, float]
    hip: tuple[float, float, float]
    sole: float


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
STANDINS = {
    # pitch, roll and yaw at shoulder and hip; the yaw link is just above the elbow, the arm is bent at rest
    "unitree_g1": Standin(
        (
            ("left_shoulder_pitch", (0.0, 0.96, 0.28), (-0.012, 0.1, 0.408), -3.09, 2.67),
            ("left_shoulder_roll", X, (-0.012, 0.141, 0.405), -1.59, 2.25),
            ("left_shoulder_yaw", Z, (-0.012, 0.147, 0.302), -2.62, 2.62),
            ("left_elbow", Y, (0.003, 0.147, 0.221), -1.05, 2.09),
            ("left_wrist_roll", X, (0.103, 0.149, 0.211), -1.97, 1.97),
            ("left_wrist_pitch", Y, (0.141, 0.149, 0.211), -1.61, 1.61),
            ("left_wrist_yaw", Z, (0.187, 0.149, 0.211), -1.61, 1.61),
        ),
        (
            ("left_hip_pitch", Y, (-0.012, 0.064, 0.013), -2.53, 2.88),
            ("left_hip_roll", (0.98, 0.0, 0.17), (-0.012, 0.116, -0.017), -0.52, 2.97),
            ("left_hip_yaw", (-0.17, 0.0, 0.98), (0.034, 0.116, -0.135), -2.76, 2.76),
            ("left_knee", Y, (-0.012, 0.119, -0.324), -0.09, 2.88),
            ("left_ankle_pitch", Y, (-0.012, 0.119, -0.624), -0.87, 0.52),
            ("left_ankle_roll", X, (-0.012, 0.119, -0.641), -0.26, 0.26),
        ),
        (0.24, 0.149, 0.211),
        ("left_elbow", (0.003, 0.147, 0.221)),
        ("left_knee", (-0.012, 0.119, -0.324)),
        (-0.012, 0.144, 0.405),
        (0.0, 0.116, 0.0),
        -0.677,
    ),
    # no wrist: the forearm ends in a fist; the thigh is 11 cm beside the axes of yaw and roll
    "unitree_h1": Standin(
        (
            ("left_shoulder_pitch", (0.0, 0.91, 0.42), (-0.034, 0.155, 0.604), -2.87, 2.87),
            ("left_shoulder_roll", X, (-0.039, 0.214, 0.613), -0.34, 3.11),
            ("left_shoulder_yaw", Z, (-0.039, 0.214, 0.479), -1.30, 4.45),
            ("left_elbow", Y, (-0.021, 0.214, 0.281), -1.25, 2.61),
        ),
        (
            ("left_hip_yaw", Z, (-0.039, 0.088, 0.0), -0.43, 0.43),
            ("left_hip_roll", X, (0.0, 0.088, 0.0), -0.43, 0.43),
            ("left_hip_pitch", Y, (0.0, 0.203, 0.0), -1.57, 1.57),
            ("left_knee", Y, (0.0, 0.203, -0.4), -0.26, 2.05),
            ("left_ankle", Y, (0.0, 0.203, -0.8), -0.87, 0.52),
        ),
        (0.277, 0.214, 0.261),
        ("left_elbow", (-0.021, 0.214, 0.281)),
        ("left_knee", (0.0, 0.203, -0.4)),
        (-0.039, 0.214, 0.613),
        (0.0, 0.203, 0.0),
        -0.87,
    ),
    # arms out at rest; the joint named elbow pitch twists the upper arm, and the elbow is a yaw
    "booster_t1": Standin(
        (
            ("Left_Shoulder_Pitch", Y, (-0.005, 0.106, 0.344), -3.31, 1.22),
            ("Left_Shoulder_Roll", X, (-0.005, 0.153, 0.344), -1.74, 1.57),
            ("Left_Elbow_Pitch", Y, (-0.005, 0.214, 0.344), -2.27, 2.27),
            ("Left_Elbow_Yaw", Z, (-0.005, 0.361, 0.344), -2.44, 0.0),
        ),
        (
            ("Left_Hip_Pitch", Y, (0.0, 0.106, 0.01), -1.80, 1.57),
            ("Left_Hip_Roll", X, (0.0, 0.106, -0.01), -0.20, 1.57),
            ("Left_Hip_Yaw", Z, (0.0, 0.106, -0.092), -1.00, 1.00),
            ("Left_Knee_Pitch", Y, (-0.014, 0.106, -0.226), 0.00, 2.34),
            ("Left_Ankle_Pitch", Y, (-0.014, 0.106, -0.506), -0.87, 0.35),
            ("Left_Ankle_Roll", X, (-0.014, 0.106, -0.518), -0.44, 0.44),
        ),
        (-0.004, 0.589, 0.344),
        ("Left_Elbow_Yaw", (-0.005, 0.361, 0.344)),
        ("Left_Knee_Pitch", (-0.014, 0.106, -0.226)),
        (-0.005, 0.153, 0.344),
        (0.0, 0.106, 0.0),
        -0.548,
    ),
    # names are numbers; the first axis of the arm is 14 cm inside the shoulder
    "pal_talos": Standin(
        (
            ("arm_left_1", Z, (0.02, 0.158, 0.575), -1.57, 0.79),
            ("arm_left_2", X, (0.025, 0.294, 0.622), 0.01, 2.87),
            ("arm_left_3", Z, (0.025, 0.294, 0.622), -2.43, 2.43),
            ("arm_left_4", Y, (0.045, 0.296, 0.344), -2.23, 0.0),
            ("arm_left_5", Z, (0.026, 0.299, 0.079), -2.51, 2.51),
            ("arm_left_6", X, (0.026, 0.299, 0.079), -1.37, 1.37),
            ("arm_left_7", Y, (0.026, 0.299, 0.079), -0.68, 0.68),
        ),
        (
            ("leg_left_1", Z, (0.0, 0.085, 0.0), -0.35, 1.57),
            ("leg_left_2", X, (0.0, 0.085, 0.0), -0.52, 0.52),
            ("leg_left_3", Y, (0.0, 0.085, 0.0), -2.10, 0.70),
            ("leg_left_4", Y, (0.0, 0.085, -0.38), 0.00, 2.62),
            ("leg_left_5", Y, (0.0, 0.085, -0.705), -1.27, 0.68),
            ("leg_left_6", X, (0.0, 0.085, -0.705), -0.52, 0.52),
        ),
        (0.026, 0.299, 0.0),
        ("arm_left_4", (0.045, 0.296, 0.344)),
        ("leg_left_4", (0.0, 0.085, -0.38)),
        (0.025, 0.294, 0.622),
        (0.0, 0.085, 0.0),
        -0.812,
    ),
    # arms out, three axes at the wrist, elbow and upper arm bend about x
    "atlas": Standin(
        (
            ("l_arm_shz", Z, (0.078, 0.226, 0.756), -1.57, 0.79),
            ("l_arm_shx", X, (0.078, 0.336, 0.511), -1.57, 1.57),
            ("l_arm_ely", Y, (0.078, 0.523, 0.495), 0.00, 3.14),
            ("l_arm_elx", X, (0.078, 0.642, 0.504), 0.00, 2.36),
            ("l_arm_uwy", Y, (0.078, 0.941, 0.495), -3.01, 3.01),
            ("l_arm_mwx", X, (0.078, 0.941, 0.495), -1.76, 1.76),
            ("l_arm_lwy", Y, (0.078, 0.941, 0.495), -2.97, 2.97),
        ),
        (
            ("l_leg_hpz", Z, (-0.05, 0.089, 0.066), -0.17, 0.79),
            ("l_leg_hpx", X, (-0.05, 0.089, 0.066), -0.52, 0.52),
            ("l_leg_hpy", Y, (0.0, 0.111, 0.0), -1.61, 0.66),
            ("l_leg_kny", Y, (-0.05, 0.111, -0.374), 0.00, 2.36),
            ("l_leg_aky", Y, (-0.05, 0.111, -0.796), -1.00, 0.70),
            ("l_leg_akx", X, (-0.05, 0.111, -0.796), -0.80, 0.80),
        ),
        (0.078, 1.05, 0.495),
        ("l_arm_elx", (0.078, 0.642, 0.504)),
        ("l_leg_kny", (-0.05, 0.111, -0.374)),
        (0.078, 0.336, 0.511),
        (0.0, 0.111, 0.0),
        -0.873,
    ),
    # arms stretched forward at rest; the first axis of the leg is oblique
    "nao": Standin(
        (
            ("LShoulderPitch", Y, (0.0, 0.098, 0.185), -2.09, 2.09),
            ("LShoulderRoll", Z, (0.0, 0.098, 0.185), -0.31, 1.33),
            ("LElbowYaw", X, (0.105, 0.113, 0.185), -2.09, 2.09),
            ("LElbowRoll", Z, (0.105, 0.113, 0.185), -1.54, -0.03),
            ("LWristYaw", X, (0.161, 0.113, 0.185), -1.82, 1.82),
        ),
        (
            ("LHipYawPitch", (0.0, 0.707, -0.707), (0.0, 0.05, 0.0), -1.15, 0.74),
            ("LHipRoll", X, (0.0, 0.05, 0.0), -0.38, 0.79),
            ("LHipPitch", Y, (0.0, 0.05, 0.0), -1.54, 0.48),
            ("LKneePitch", Y, (0.0, 0.05, -0.1), -0.09, 2.11),
            ("LAnklePitch", Y, (0.0, 0.05, -0.203), -1.19, 0.92),
            ("LAnkleRoll", X, (0.0, 0.05, -0.203), -0.40, 0.77),
        ),
        (0.219, 0.113, 0.173),
        ("LElbowRoll", (0.105, 0.113, 0.185)),
        ("LKneePitch", (0.0, 0.05, -0.1)),
        (0.0, 0.098, 0.185),
        (0.0, 0.05, 0.0),
        -0.248,
    ),
    # two axes at the shoulder, no name contains arm, no limits
    "robotis_op3": Standin(
        (
            ("l_sho_pitch", Y, (-0.001, 0.06, 0.14), -3.14, 3.14),
            ("l_sho_roll", X, (0.018, 0.088, 0.13), -3.14, 3.14),
            ("l_el", X, (0.018, 0.179, 0.129), -3.14, 3.14),
        ),
        (
            ("l_hip_yaw", Z, (0.0, 0.035, 0.028), -3.14, 3.14),
            ("l_hip_roll", X, (-0.024, 0.035, 0.0), -3.14, 3.14),
            ("l_hip_pitch", Y, (0.0, 0.054, 0.0), -3.14, 3.14),
            ("l_knee", Y, (0.0, 0.054, -0.11), -3.14, 3.14),
            ("l_ank_pitch", Y, (0.0, 0.054, -0.22), -3.14, 3.14),
            ("l_ank_roll", X, (-0.024, 0.035, -0.22), -3.14, 3.14),
        ),
        (0.018, 0.3, 0.129),
        ("l_el", (0.018, 0.179, 0.129)),
        ("l_knee", (0.0, 0.054, -0.11)),
        (0.018, 0.088, 0.13),
        (0.0, 0.045, 0.0),
        -0.25,
    ),
}


def humanoid(name: str) -> lw.Linkage:
    """Return a stand-in: links named after their joints, boxes for feet and trunk, a floating root."""
    robot = STANDINS[name]
    leg, wide = -robot.sole, robot.shoulder[1]
    top = robot.shoulder[2]
    trunk = lw.Visual(lw.Box((0.2 * top, 0.8 * wide, 0.6 * top)), (0.0, 0.0, 0.5 * top))
    b = lw.Builder(name, base="pelvis", root=lw.Floating())
    b.revolute("waist_yaw", "torso", axis="z", limits=(-2.0, 2.0), shape=trunk)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for parent, rows in (("torso", robot.arm), ("pelvis", robot.leg)):
            place = (0.0, 0.0, 0.0)
            for joint, axis, at, lower, upper in rows:
                other = _named(joint, side)
                way = tuple(there - here for there, here in zip(at, place, strict=True))
                turned = (sign * axis[0], axis[1], sign * axis[2])  # mirror image of a rotation axis
                link = f"{other}_link"
                foot = None
                if joint == robot.leg[-1][0]:
                    low = robot.sole - at[2]
                    foot = lw.Visual(lw.Box((0.24 * leg, 0.08 * leg, 0.02 * leg)), (0.05 * leg, 0.0, low + 0.01 * leg))
                b.revolute(
                    other, link, parent=parent, at=(way[0], sign * way[1], way[2]), axis=turned, limits=(lower, upper),
                    shape=foot or (),
                )  # fmt: skip
                parent, place = link, at
            if rows is robot.arm:
                way = tuple(there - here for there, here in zip(robot.tip, place, strict=True))
                b.frame(f"{side}_tip", at=(way[0], sign * way[1], way[2]))
    return b.build()


def _named(joint: str, side: str) -> str:
    """Return the name of a left joint, or of its mirror image."""
    if side == "left":
        return joint
    for left, right in (("left", "right"), ("Left", "Right"), ("l_", "r_")):
        if left in joint:
            return joint.replace(left, right, 1)
    return "R" + joint.removeprefix("L")
