"""Robot arms: planar chains, two industrial arms, and two classics with a prismatic joint.

Lengths and limits, including velocity limits, are those of the manufacturers' data sheets.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.dh import from_dh
from ..linkage.geometry import Sphere, Visual, bone
from ..linkage.joints import Joint, Revolute
from ..linkage.linkage import Frame, Link, Linkage
from ..linkage.motion_limits import MOTION_LIMITS
from ..transforms import transform
from .parts import (
    BLUE,
    DARK,
    ORANGE,
    QUARTER,
    SILVER,
    SKY,
    STEEL,
    WHITE,
    box,
    checked_count,
    checked_size,
    moved,
    posed,
    tube,
    turn,
)

SHADES = (BLUE, ORANGE)


def planar(lengths: ArrayLike | int = 3) -> Linkage:
    """Return a planar chain of revolute joints: joints ``j1, j2, ...``, links ``link0, link1, ...``, frame ``"tip"``.

    Args:
        lengths: Length of each link [m], or the number of links of one metre each.

    Example:
        >>> planar([15, 10, 5]).forward([0, 0, 0], frame="tip")[:3, 3].tolist()
        [30.0, 0.0, 0.0]
    """
    sizes = _lengths(lengths)
    n, thick = len(sizes), 0.06 * sum(sizes) / len(sizes)
    looks = {(size, k): bone((0, 0, 0), (size, 0, 0), thick, SHADES[k]) for size in set(sizes) for k in (0, 1)}
    pin = tube((0, 0, -1.3 * thick), (0, 0, 1.3 * thick), 0.7 * thick, DARK)
    foot = tube((0, 0, -1.8 * thick), (0, 0, -0.9 * thick), 2.2 * thick, DARK)
    links = [Link("link0", (foot,))]
    links += [Link(f"link{k}", (looks[size, (k + 1) % 2], pin)) for k, size in enumerate(sizes, start=1)]
    revolute, places = Revolute(), {at: transform((at, 0, 0)) for at in {0.0, *sizes}}
    joints = [
        Joint(f"j{k}", f"link{k - 1}", f"link{k}", revolute, places[at])
        for k, at in enumerate([0.0, *sizes[:-1]], start=1)
    ]
    bend = np.full(n, QUARTER / max(n - 1, 1))
    bend[0] = QUARTER / 4.0
    poses = {"ready": bend, "straight": np.zeros(n), "curl": np.full(n, 4.2 / n)}
    tip = Frame("tip", f"link{n}", transform((sizes[-1], 0, 0)))
    return Linkage(links, joints, name="planar", frames=[tip], poses=poses)


def _lengths(lengths: Any) -> list[float]:
    if isinstance(lengths, str) or (np.ndim(lengths) == 0 and not isinstance(lengths, int | np.integer)):
        raise LinkageError(f"planar takes a number of links or a list of lengths, got {lengths!r}.")
    single = np.ndim(lengths) == 0
    count = checked_count(lengths if single else len(lengths), "the number of links of a planar chain", 1)
    sizes = [1.0] * count if single else lengths
    return [checked_size(size, f"length {k} of a planar chain") for k, size in enumerate(sizes, start=1)]


def two_link(upper: float = 1.0, lower: float = 1.0) -> Linkage:
    """Return the two-link arm of the textbooks in the xy plane: joints ``shoulder`` and ``elbow``, frame ``"tip"``.

    Args:
        upper: Length of the link from shoulder to elbow [m].
        lower: Length of the link from elbow to tip [m].

    Example:
        >>> two_link(1.0, 0.5).forward([0, 0], frame="tip")[0, 3].item()
        1.5
    """
    upper, lower = checked_size(upper, "upper length"), checked_size(lower, "lower length")
    thick = 0.03 * (upper + lower)
    pin = tube((0, 0, -1.3 * thick), (0, 0, 1.3 * thick), 0.7 * thick, DARK)
    foot = tube((0, 0, -1.8 * thick), (0, 0, -0.9 * thick), 2.2 * thick, DARK)
    b = Builder("two_link", shape=foot)
    b.revolute("shoulder", "upper", shape=(bone((0, 0, 0), (upper, 0, 0), thick, BLUE), pin))
    b.revolute("elbow", "lower", at=(upper, 0, 0), shape=(bone((0, 0, 0), (lower, 0, 0), 0.8 * thick, ORANGE), pin))
    b.frame("tip", at=(lower, 0, 0))
    b.pose("ready", shoulder="20deg", elbow="70deg")
    b.pose("straight", shoulder=0.0, elbow=0.0)
    b.pose("elbow-up", shoulder="90deg", elbow="-70deg")
    return b.build()


def panda() -> Linkage:
    """Return the Franka Emika Panda: seven revolute joints and a closed hand, ``"tip"`` between its fingertips.

    Names and frames are those of its public description: joints ``panda_joint1`` to ``panda_joint7``, links
    ``panda_link0`` to ``panda_link8`` and ``panda_hand``.

    Example:
        >>> arm = panda()
        >>> arm.forward(arm.stored_pose("ready"), frame="tip")[[0, 2], 3].round(3).tolist()
        [0.307, 0.487]
    """
    b = Builder("panda", base="panda_link0", shape=_PANDA_LOOKS[0])
    for k, (at, twist, low, high, *motion) in enumerate(_PANDA, start=1):
        placement, bounds = transform(at, turn("x", twist)), dict(zip(MOTION_LIMITS, motion, strict=True))
        b.revolute(
            f"panda_joint{k}", f"panda_link{k}", at=placement, limits=(low, high), shape=_PANDA_LOOKS[k], **bounds
        )
    b.fixed("panda_joint8", "panda_link8", at=(0, 0, 0.107), shape=tube((0, 0, -0.015), (0, 0, 0), 0.04, STEEL))
    fingers = [box((0.02, 0.016, 0.05), (0, side * 0.012, 0.083), DARK) for side in (-1, 1)]
    palm = box((0.045, 0.2, 0.06), (0, 0, 0.03), WHITE)
    b.fixed("panda_hand_joint", "panda_hand", rotation=turn("z", -math.pi / 4), shape=[palm, *fingers])
    b.frame("tip", at=(0, 0, 0.1034))
    degrees = {
        "ready": (0, -45, 0, -135, 0, 90, 45),
        "reach": (35, 30, 0, -75, 0, 105, 80),
        "look": (-50, -20, -20, -120, -25, 150, 20),
        "pick": (-20, 22, 0, -118, 0, 140, 25),
        "upright": (0, 0, 0, -4, 0, 4, 45),
    }
    for name, values in degrees.items():
        b.pose(name, np.radians(values))
    return b.build()


# For each joint: position in the previous link, rotation about its x; limits of position, velocity, acceleration and
# effort.
_PANDA = (
    ((0.0, 0.0, 0.333), 0.0, -2.8973, 2.8973, 2.175, 15.0, 87.0),
    ((0.0, 0.0, 0.0), -QUARTER, -1.7628, 1.7628, 2.175, 7.5, 87.0),
    ((0.0, -0.316, 0.0), QUARTER, -2.8973, 2.8973, 2.175, 10.0, 87.0),
    ((0.0825, 0.0, 0.0), QUARTER, -3.0718, -0.0698, 2.175, 12.5, 87.0),
    ((-0.0825, 0.384, 0.0), -QUARTER, -2.8973, 2.8973, 2.61, 15.0, 12.0),
    ((0.0, 0.0, 0.0), QUARTER, -0.0175, 3.7525, 2.61, 20.0, 12.0),
    ((0.088, 0.0, 0.0), QUARTER, -2.8973, 2.8973, 2.61, 20.0, 12.0),
)
_HUB = tube((0, 0, -0.062), (0, 0, 0.062), 0.06, SILVER)  # the same shape is used at three joints
_PANDA_LOOKS: tuple[tuple[Visual, ...], ...] = (
    (tube((0, 0, 0), (0, 0, 0.14), 0.072, WHITE), box((0.14, 0.17, 0.05), (-0.06, 0, 0.025), WHITE)),
    (tube((0, 0, -0.19), (0, 0, -0.05), 0.06, WHITE),),
    (_HUB, bone((0, 0, 0), (0, -0.18, 0), 0.055, WHITE)),
    (tube((0, 0, -0.13), (0, 0, -0.02), 0.058, SILVER), bone((0, 0, -0.02), (0.0825, 0, 0), 0.05, WHITE)),
    (_HUB, bone((0, 0, 0), (-0.0825, 0.09, 0), 0.05, WHITE)),
    (tube((0, 0, -0.29), (0, 0, -0.22), 0.052, SILVER), bone((0, 0, -0.22), (0, 0, -0.03), 0.046, WHITE)),
    (_HUB, bone((0, 0, 0), (0.088, 0, 0), 0.045, WHITE)),
    (tube((0, 0, -0.05), (0, 0, 0.09), 0.046, WHITE),),
)


def ur5() -> Linkage:
    """Return the Universal Robots UR5, with the names and frames of its public description.

    Frames ``"base"`` (the controller's, half a turn from ``base_link``) and ``"tool0"`` are the two ends of the
    manufacturer's Denavit-Hartenberg table; ``"tip"`` is ``tool0``.

    Example:
        >>> ur5().forward(np.zeros(6), frame="tip")[:3, 3].round(5).tolist()
        [0.81725, 0.19145, -0.00549]
    """
    around = (-2.0 * math.pi, 2.0 * math.pi)
    large = (tube((0, -0.065, 0), (0, 0.06, 0), 0.062, SILVER), tube((0, 0.06, 0), (0, 0.07, 0), 0.06, SKY))
    small = (tube((0, -0.045, 0), (0, 0.05, 0), 0.047, SILVER), tube((0, -0.055, 0), (0, -0.045, 0), 0.045, SKY))
    pitch = turn("y", QUARTER)
    strong, weak = ({"velocity": math.pi, "effort": torque} for torque in (150.0, 28.0))
    b = Builder("ur5", base="base_link", shape=tube((0, 0, 0), (0, 0, 0.03), 0.075, DARK))
    b.revolute(
        "shoulder_pan_joint", "shoulder_link", at=(0, 0, 0.089159), limits=around, **strong,
        shape=(tube((0, 0, -0.057), (0, 0, 0.01), 0.06, SILVER), tube((0, -0.06, 0), (0, 0.07, 0), 0.06, SILVER),
               tube((0, -0.07, 0), (0, -0.06, 0), 0.058, SKY)),
    )  # fmt: skip
    b.revolute(
        "shoulder_lift_joint", "upper_arm_link", at=(0, 0.13585, 0), rotation=pitch, axis="y", limits=around, **strong,
        shape=(*large, tube((0, 0, 0.05), (0, 0, 0.38), 0.048, WHITE), *(moved(part, (0, 0, 0.425)) for part in large)),
    )  # fmt: skip
    b.revolute(
        "elbow_joint", "forearm_link", at=(0, -0.1197, 0.425), axis="y", limits=(-math.pi, math.pi), **strong,
        shape=(tube((0, -0.05, 0), (0, 0.055, 0), 0.055, SILVER), tube((0, 0, 0.04), (0, 0, 0.36), 0.04, WHITE),
               *(moved(part, (0, 0, 0.39225)) for part in small)),
    )  # fmt: skip
    b.revolute(
        "wrist_1_joint", "wrist_1_link", at=(0, 0, 0.39225), rotation=pitch, axis="y", limits=around, **weak,
        shape=(tube((0, 0.05, 0), (0, 0.14, 0), 0.043, WHITE),
               tube((0, 0.093, -0.05), (0, 0.093, 0.045), 0.045, SILVER)),
    )  # fmt: skip
    b.revolute(
        "wrist_2_joint", "wrist_2_link", at=(0, 0.093, 0), limits=around, **weak,
        shape=(tube((0, 0, 0.045), (0, 0, 0.09), 0.043, WHITE), *(moved(part, (0, 0, 0.09465)) for part in small)),
    )  # fmt: skip
    b.revolute(
        "wrist_3_joint", "wrist_3_link", at=(0, 0, 0.09465), axis="y", limits=around, **weak,
        shape=(tube((0, 0.05, 0), (0, 0.0823, 0), 0.038, DARK),),
    )  # fmt: skip
    b.frame("base", link="base_link", rotation=turn("z", -math.pi))
    b.frame("ee_link", at=(0, 0.0823, 0), rotation=turn("z", QUARTER))
    for name in ("tool0", "tip"):
        b.frame(name, at=(0, 0.0823, 0), rotation=turn("x", -QUARTER))
    degrees = {
        "ready": (0, -90, 90, -90, -90, 0),
        "zero": (0, 0, 0, 0, 0, 0),
        "reach": (50, -50, 60, -100, -90, 60),
        "pick": (-30, -60, 110, -140, -90, -30),
        "upright": (0, -90, 0, -90, 0, 0),
    }
    for name, values in degrees.items():
        b.pose(name, np.radians(values))
    return b.build()


def stanford() -> Linkage:
    """Return the Stanford arm of 1969: two revolute joints, a prismatic boom and a wrist of three revolute joints.

    It is built from its Denavit-Hartenberg table, whose last frame is ``"flange"``; ``"tip"`` is at the end of the
    hand.

    Example:
        >>> stanford().joints
        ('waist', 'shoulder', 'boom', 'wrist_roll', 'wrist_bend', 'hand_roll')
    """
    wide, bend = (np.radians((-170.0, 170.0)).tolist(), (-QUARTER, QUARTER))
    rows = [
        (0, 0.412, 0, -QUARTER, "R", wide),
        (0, 0.154, 0, QUARTER, "R", wide),
        (-QUARTER, 0, 0.0203, 0, "P", (0.3048, 1.27)),
        (0, 0, 0, -QUARTER, "R", wide),
        (0, 0, 0, QUARTER, "R", bend),
        (0, 0, 0, 0, "R", wide),
    ]
    names = ("waist", "shoulder", "boom", "wrist_roll", "wrist_bend", "hand_roll")
    arm = from_dh(rows, name="stanford", joints=names)
    fingers = [box((0.012, 0.04, 0.09), (side * 0.035, 0, 0.218), DARK) for side in (-1, 1)]
    looks: dict[str, Any] = {
        "link0": (tube((0, 0, 0), (0, 0, 0.04), 0.16, DARK), tube((0, 0, 0.04), (0, 0, 0.31), 0.075, STEEL)),
        "link1": (tube((0, 0, -0.1), (0, 0, 0.05), 0.085, SILVER), tube((0, 0, 0), (0, 0.09, 0), 0.06, SILVER)),
        "link2": (box((0.13, 0.18, 0.1), (0, 0, 0), BLUE), tube((0, 0, -0.07), (0, 0, 0.07), 0.05, STEEL)),
        "link3": (box((0.05, 0.05, 1.25), (0, 0, -0.6), SILVER), tube((0, 0, -0.02), (0, 0, 0.03), 0.04, STEEL)),
        "link4": (Visual(Sphere(0.042), color=STEEL),),
        "link5": (tube((0, 0, -0.05), (0, 0, 0.05), 0.03, SILVER),),
        "link6": (tube((0, 0, 0.0), (0, 0, 0.15), 0.03, ORANGE), box((0.1, 0.05, 0.03), (0, 0, 0.16), DARK), *fingers),
    }
    arm = arm.replace(
        links={name: {"visuals": visuals} for name, visuals in looks.items()},
        frames=[Frame("flange", "link6"), Frame("tip", "link6", transform((0, 0, 0.263)))],
    )
    return posed(
        arm,
        {
            "ready": {"shoulder": "90deg", "boom": 0.5, "wrist_bend": "45deg"},
            "reach": {"waist": "50deg", "shoulder": "75deg", "boom": 0.95, "wrist_bend": "10deg"},
            "up": {"waist": "-40deg", "shoulder": "40deg", "boom": 0.85, "wrist_bend": "-50deg", "hand_roll": "90deg"},
        },
    )


def scara() -> Linkage:
    """Return a SCARA assembly robot: two vertical revolute axes, and a quill that slides down and rotates (R R P R).

    Its reach is 0.6 m, its stroke 0.2 m; ``"tip"`` points down.

    Example:
        >>> scara().forward([0, 0, 0, 0], frame="tip")[:3, 3].round(3).tolist()
        [0.6, 0.0, 0.23]
    """
    column = (box((0.2, 0.2, 0.02), (-0.02, 0, 0.01), DARK), tube((0, 0, 0.02), (0, 0, 0.28), 0.08, SILVER))
    b = Builder("scara", shape=column)
    b.revolute(
        "shoulder", "inner", at=(0, 0, 0.34), limits=("-132deg", "132deg"),
        shape=(bone((0, 0, 0), (0.325, 0, 0), 0.05, WHITE), tube((0, 0, -0.06), (0, 0, 0.06), 0.075, BLUE)),
    )  # fmt: skip
    b.revolute(
        "elbow", "outer", at=(0.325, 0, 0.1), limits=("-150deg", "150deg"),
        shape=(bone((0, 0, 0), (0.275, 0, 0), 0.045, WHITE), tube((0, 0, -0.06), (0, 0, 0.06), 0.065, BLUE),
               box((0.12, 0.1, 0.12), (0.22, 0, 0.07), WHITE)),
    )  # fmt: skip
    b.prismatic(
        "quill", "quill", at=(0.275, 0, -0.1), rotation=turn("x", math.pi), limits=(0.0, 0.2),
        shape=tube((0, 0, -0.33), (0, 0, 0.09), 0.012, STEEL),
    )  # fmt: skip
    jaws = [box((0.012, 0.025, 0.03), (side * 0.018, 0, 0.095), DARK) for side in (-1, 1)]
    body = tube((0, 0, 0.05), (0, 0, 0.085), 0.03, ORANGE)
    b.revolute("roll", "gripper", limits=("-360deg", "360deg"), shape=[body, *jaws])
    b.frame("tip", at=(0, 0, 0.11))
    b.pose("ready", shoulder="-40deg", elbow="80deg", quill=0.05, roll=0.0)
    b.pose("pick", shoulder="30deg", elbow="60deg", quill=0.18, roll="90deg")
    b.pose("place", shoulder="-75deg", elbow="50deg", quill=0.18, roll="-90deg")
    b.pose("stretched", shoulder=0.0, elbow=0.0, quill=0.0, roll=0.0)
    return b.build()
