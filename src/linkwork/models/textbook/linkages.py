"""The linkages in the chapter's figures: its worked example, its joints, its hierarchies of a few links."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ...linkage.builder import Builder
from ...linkage.geometry import Cylinder, Sphere, Visual, bone
from ...linkage.joints import Fixed, Joint
from ...linkage.linkage import ROOT, Linkage
from ...transforms import FloatArray, transform
from ..arms import planar
from ..humans import human
from ..parts import Color, box, tube, turn

LENGTHS = (15.0, 10.0, 5.0)
START = (math.pi / 8, math.pi / 4, math.pi / 4)
NEAR, FAR = (-20.0, 5.0), (-35.0, 5.0)

DEEP: Color = (0.16, 0.36, 0.58)
MIDDLE: Color = (0.33, 0.56, 0.78)
LIGHT: Color = (0.62, 0.78, 0.91)
STONE: Color = (0.78, 0.80, 0.83)
# The moving joints of figure 5.2.
ARM = ("right_clavicle", "right_shoulder", "right_elbow", "right_forearm_roll", "right_wrist")
SHADES = (DEEP, MIDDLE, LIGHT)


def arm() -> Linkage:
    """Return the worked example's arm: planar, links of 15, 10 and 5."""
    return planar(LENGTHS)


def human_arm() -> Linkage:
    """Return a human figure of which only the right arm moves, as in figure 5.2."""
    whole = body = human()
    rest = whole.pose("stand")
    for joint in [joint for joint in whole.joints if joint not in ARM]:
        held = [float(rest[row.q]) for row in whole.table if row.joint == joint]
        body = body.freeze(joint, at=held if len(held) > 1 else held[0])
    return body


# One joint each


def two_joints() -> Linkage:
    """Return a revolute and a prismatic joint side by side, on one ground."""
    turning, sliding = revolute_pair(), prismatic_pair()
    b = Builder("two joints", shape=box((1.5, 1.7, 0.02), (0.2, 0.0, 0.0), STONE))
    b.fixed("left", "fork", at=(0, 0.5, 0.34), shape=turning.nodes[0].visuals)
    b.joint("theta", "turning link", turning.arcs[1].articulation, shape=turning.nodes[1].visuals)
    b.fixed("right", "rail", parent="base", at=(0, -0.5, 0.14), shape=sliding.nodes[0].visuals)
    b.joint("d", "sliding link", sliding.arcs[1].articulation, shape=sliding.nodes[1].visuals)
    b.pose("ready", theta=0.5, d=0.2)
    return b.build()


def revolute_pair() -> Linkage:
    """Return a link that turns about a pin on another."""
    fork = [box((0.16, 0.07, 0.34), (0.0, side * 0.095, -0.11), STONE) for side in (-1, 1)]
    foot = box((0.5, 0.5, 0.07), (0.0, 0.0, -0.3), STONE)
    pin = tube((0.0, -0.15, 0.0), (0.0, 0.15, 0.0), 0.035, DEEP)
    b = Builder("revolute", shape=[foot, *fork, pin])
    b.revolute("turn", "link", axis="-y", shape=bone((0, 0, 0), (0.62, 0, 0), 0.055, MIDDLE))
    return b.build()


def prismatic_pair() -> Linkage:
    """Return a link that slides along a rail of another."""
    walls = [box((0.6, 0.04, 0.16), (0.0, side * 0.1, 0.0), STONE) for side in (-1, 1)]
    floor = box((0.6, 0.24, 0.05), (0.0, 0.0, -0.105), STONE)
    b = Builder("prismatic", shape=[floor, *walls])
    b.prismatic("slide", "link", axis="x", shape=box((0.62, 0.14, 0.12), (0.02, 0, 0.0), MIDDLE))
    return b.build()


def planar_pair() -> Linkage:
    """Return a block that slides and turns on a plate."""
    b = Builder("planar joint", shape=box((1.0, 0.8, 0.06), (0.0, 0.0, -0.03), STONE))
    b.planar("slide", "link", shape=box((0.26, 0.18, 0.12), (0.0, 0.0, 0.065), MIDDLE))
    return b.build()


def ball_pair() -> Linkage:
    """Return a link on a ball and socket: three turns about one point."""
    socket = [
        Visual(Cylinder(0.13, 0.1), (0.0, 0.0, -0.1), STONE),
        Visual(Cylinder(0.07, 0.2), (0, 0, -0.25), STONE),
        Visual(Cylinder(0.2, 0.04), (0, 0, -0.37), STONE),
    ]
    b = Builder("ball and socket", shape=socket)
    ball = Visual(Sphere(0.115), (0, 0, 0), DEEP)
    b.ball("ball", "link", euler="ZYX", shape=[ball, bone((0, 0, 0), (0.55, 0, 0), 0.045, MIDDLE)])
    return b.build()


def gimbal() -> Linkage:
    """Return the same joint as three revolute ones: rings about one centre, joined by links of no length."""
    rings = [(0.42, "z", "x"), (0.36, "x", "y"), (0.30, "y", "z")]
    foot = [Visual(Cylinder(0.03, 0.16), (0, 0, -0.51), STONE), Visual(Cylinder(0.2, 0.04), (0, 0, -0.61), STONE)]
    b = Builder("gimbal", shape=foot)
    names = ("first", "second", "link")
    for k, ((radius, *_), axis, name) in enumerate(zip(rings, "zyx", names, strict=True)):
        normal = "y" if axis in "zx" else "x"
        shape = hoop(radius, normal, SHADES[k])
        if name == "link":
            shape = [bone((-0.30, 0, 0), (0.62, 0, 0), 0.04, LIGHT)]
        b.revolute(f"theta{k + 1}", name, axis=axis, shape=shape)
    return b.build()


def hoop(radius: float, normal: str, color: Color, pieces: int = 40) -> list[Visual]:
    """Return a ring of short bars about the origin, at right angles to an axis."""
    angles = 2.0 * math.pi * np.arange(pieces + 1) / pieces
    flat = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(pieces + 1)], axis=1)
    corners = flat[:, {"z": [0, 1, 2], "y": [0, 2, 1], "x": [2, 0, 1]}[normal]]
    return [tube(a, b, 0.022, color) for a, b in pairwise(corners)]


# Hierarchies


def three_links() -> Linkage:
    """Return the hierarchical model of figures 5.7 to 5.10: Link_0, Link_1 on it, and Link_1,1 on that.

    The root arc holds T_0, the placements of the joints hold T_1 and T_1,1.
    """
    b = _base("three links")
    _appendage(b, "1", transform((2.05, 1.15, 0.0)), (1.5, 1.2))
    return b.build()


def two_appendages() -> Linkage:
    """Return the same with a second appendage, as in figures 5.11 and 5.12."""
    b = _base("two appendages")
    _appendage(b, "1", transform((2.05, 1.15, 0.0)), (1.5, 1.2))
    _appendage(b, "2", transform((0.15, 1.15, 0.0), turn("z", math.pi)), (1.3, 1.0))
    return b.build()


def _base(name: str) -> Builder:
    """Return a builder with Link_0 at its place in the world."""
    placed = Joint(ROOT, None, "link0", Fixed(), transform((1.2, 0.6, 0.0)))
    body = box((2.2, 1.3, 0.02), (1.1, 0.65, 0.0), STONE)
    return Builder(name, base="link0", root=placed, shape=body)


def _appendage(b: Builder, name: str, at: FloatArray, lengths: tuple[float, float]) -> None:
    """Add Link_n and Link_n,1 to the root link."""
    first, second = lengths
    b.revolute(name, f"link{name}", parent="link0", at=at, shape=bone((0, 0, 0.01), (first, 0, 0.01), 0.16, MIDDLE))
    b.revolute(f"{name},1", f"link{name},1", at=(first, 0, 0), shape=bone((0, 0, 0.02), (second, 0, 0.02), 0.13, LIGHT))
    b.frame(f"end{name}", at=(second, 0, 0))


def person() -> Linkage:
    """Return a figure in the plane, with its root at the hips, for the tree of figure 5.5."""
    b = Builder("person", base="hips", shape=bone((-0.13, 0, 0), (0.13, 0, 0), 0.13, DEEP))
    b.revolute("waist", "torso", at=(0, 0.12, 0), shape=_upright(0.0, 0.5, 0.17, MIDDLE))
    b.revolute("neck", "head", at=(0, 0.72, 0), shape=Visual(Sphere(0.15), (0, 0.12, 0), LIGHT))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        shoulder = transform((sign * 0.24, 0.5, 0), turn("z", sign * 0.9))
        b.revolute(
            f"{side} shoulder", f"{side} upper arm", parent="torso", at=shoulder, shape=_upright(0, -0.36, 0.075, LIGHT)
        )
        b.revolute(f"{side} elbow", f"{side} lower arm", at=(0, -0.42, 0), shape=_upright(0, -0.34, 0.065, MIDDLE))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip = transform((sign * 0.15, -0.08, 0), turn("z", sign * 0.22))
        b.revolute(f"{side} hip", f"{side} upper leg", parent="hips", at=hip, shape=_upright(0, -0.44, 0.095, LIGHT))
        b.revolute(f"{side} knee", f"{side} lower leg", at=(0, -0.52, 0), shape=_upright(0, -0.44, 0.08, MIDDLE))
    return b.build()


def _upright(start: float, end: float, radius: float, color: Color) -> Visual:
    return bone((0, start, 0), (0, end, 0), radius, color)


# One joint of an arm in space, to show its effect on the end effector


def lever() -> Linkage:
    """Return an arm in space on one revolute joint, bent so that the end effector is off the joint's plane."""
    b = Builder("lever", shape=[Visual(Cylinder(0.16, 0.1), (0, 0, -0.05), STONE)])
    look = [tube((0, 0, 0), (0, 0, 0.12), 0.06, DEEP), bone((0, 0, 0.12), (0.6, 0, 0.2), 0.045, MIDDLE)]
    b.revolute("joint", "link", axis="z", shape=[*look, bone((0.6, 0, 0.2), (0.9, 0, 0.6), 0.035, LIGHT)])
    b.frame("tip", at=(0.9, 0, 0.6))
    return b.build()


def pusher() -> Linkage:
    """Return the same arm on one prismatic joint."""
    b = Builder("pusher", shape=[box((0.5, 0.2, 0.1), (0, 0, -0.05), STONE)])
    look = [box((0.2, 0.16, 0.12), (0, 0, 0.06), DEEP), bone((0, 0, 0.12), (0.6, 0, 0.2), 0.045, MIDDLE)]
    b.prismatic("joint", "link", axis="x", shape=[*look, bone((0.6, 0, 0.2), (0.9, 0, 0.6), 0.035, LIGHT)])
    b.frame("tip", at=(0.9, 0, 0.6))
    return b.build()
