"""Animals: a quadruped and a snake. z is up, they face x, their left is y."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..linkage.builder import Builder
from ..linkage.geometry import Sphere, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .parts import (
    DARK,
    GREEN,
    RED,
    YELLOW,
    both_sides,
    checked_count,
    euler_ball,
    moved,
    posed,
    standing,
    universal_joint,
)

COAT, CREAM, BROWN = (0.74, 0.55, 0.35), (0.93, 0.87, 0.78), (0.50, 0.35, 0.22)
SOLE = 0.03  # distance from the end of a leg to the ground [m]
SEGMENT, GIRTH = 0.10, 0.042  # length and radius of a snake's segment [m]
WAVES, SWAY = 1.4, math.radians(50.0)  # waves along a slithering snake, and amplitude of a segment's heading


class Leg(NamedTuple):
    """A pair of legs of a quadruped.

    Args:
        kind: ``"front"`` or ``"hind"``.
        joints: Names of the three joints from the trunk down.
        at: Position where the left leg meets the trunk, x and y [m].
        lengths: Lengths of the three links [m].
        radii: Radii of the three links [m].
        swing: Range of the first joint forwards [degrees].
        bend: 1 if the second joint bends backwards and the third forwards (a knee), -1 for the other way (an elbow).
        stand: Values of the three joints in ``"stand"`` [degrees].
    """

    kind: str
    joints: tuple[str, str, str]
    at: tuple[float, float]
    lengths: tuple[float, float, float]
    radii: tuple[float, float, float]
    swing: tuple[float, float]
    bend: int
    stand: tuple[float, float, float]

    @property
    def end(self) -> tuple[float, float]:
        """Position of the end of the leg in ``"stand"``, forwards of and above the first joint [m]."""
        first, second, third = np.radians(self.stand).tolist()
        tilts = (-first, self.bend * second - first, self.bend * (second - third) - first)  # backward from vertical
        x = -sum(length * math.sin(tilt) for length, tilt in zip(self.lengths, tilts, strict=True))
        z = -sum(length * math.cos(tilt) for length, tilt in zip(self.lengths, tilts, strict=True))
        return x, z

    @property
    def height(self) -> float:
        """Height of the first joint above the ground in ``"stand"`` [m]."""
        return SOLE - self.end[1]

    def reaching(self, x: float, z: float, tilt: float) -> tuple[float, float, float]:
        """Return the angles that put the end of the leg at x, z from the first joint, with the last link tilted back.

        The law of cosines gives the second angle from the distance to the upper end of the last link.
        """
        upper, lower, last = self.lengths
        x, z = x + last * math.sin(tilt), z + last * math.cos(tilt)
        cosine = (x * x + z * z - upper**2 - lower**2) / (2.0 * upper * lower)
        second = math.acos(min(max(cosine, -1.0), 1.0))
        inner = math.atan2(lower * math.sin(second), upper + lower * math.cos(second))
        first = math.atan2(-x, -z) - self.bend * inner
        return -first, second, self.bend * (first + self.bend * second - tilt)


LEGS = (
    Leg("front", ("shoulder", "elbow", "wrist"), (0.2, 0.085), (0.17, 0.19, 0.08), (0.038, 0.028, 0.023), (-75.0, 60.0),
        -1, (-20.0, 40.0, 20.0)),
    Leg("hind", ("hip", "knee", "hock"), (-0.22, 0.075), (0.20, 0.20, 0.13), (0.05, 0.03, 0.022), (-60.0, 95.0), 1,
        (25.0, 65.0, 40.0)),
)  # fmt: skip


def quadruped(*, root: str = "fixed") -> Linkage:
    """Return a four-legged animal of the size of a dog: 16 joints, paws at z = 0 in the pose ``"stand"``.

    Every leg has a universal joint at the trunk (spread outwards, swing forwards) and two revolute joints. Positive
    values bend them: ``left_front_shoulder``, ``_elbow``, ``_wrist`` and ``left_hind_hip``, ``_knee``, ``_hock``.
    Frames ``left_front_foot`` and so on lie under the paws; ``nose`` and ``tail_tip`` are the other two ends.

    Args:
        root: How the trunk is connected to the world: ``"fixed"``, ``"planar"`` or ``"floating"``.

    Example:
        >>> dog = quadruped()
        >>> abs(dog.forward(dog.stored_pose("stand"), frame="left_hind_foot")[2, 3].item()) < 1e-12
        True
    """
    height = LEGS[1].height + 0.02
    body = (
        bone((-0.2, 0, 0.015), (0.2, 0, 0.005), 0.092, COAT),
        bone((0.15, 0, -0.03), (0.18, 0, 0.02), 0.108, COAT),
        bone((-0.23, 0, 0.0), (-0.2, 0, 0.02), 0.092, COAT),
    )
    b = Builder("quadruped", base="trunk", root=standing(root, "trunk", (0, 0, height)), shape=body)
    _head_and_tail(b)
    for leg in LEGS:
        for side, sign in (("left", 1), ("right", -1)):
            _leg(b, leg, side, sign, leg.height - height)
    return posed(b.build(), _quadruped_poses())


def _head_and_tail(b: Builder) -> None:
    neck = bone((-0.02, 0, -0.02), (0.1, 0, 0.12), 0.058, COAT)
    b.joint("neck", "neck", euler_ball("XYZ", (-20, 20), (-40, 70), (-45, 45)), at=(0.22, 0, 0.06), shape=neck)
    ear = bone((0, 0, 0), (-0.045, 0, -0.045), 0.02, BROWN)
    head = (
        Visual(Sphere(0.078), (0.01, 0, 0.02), COAT),
        bone((0.06, 0, -0.005), (0.13, 0, -0.018), 0.036, CREAM),
        Visual(Sphere(0.017), (0.166, 0, -0.005), DARK),
        *(moved(ear, (-0.01, side * 0.068, 0.055)) for side in (1, -1)),
    )
    b.joint("head", "head", universal_joint("y", "z", (-45, 50), (-45, 45)), at=(0.1, 0, 0.13), shape=head)
    b.frame("nose", at=(0.183, 0, -0.005))
    wag = universal_joint("y", "z", (-60, 60), (-60, 60))
    b.joint("tail", "tail", wag, parent="trunk", at=(-0.3, 0, 0.055), shape=bone((0, 0, 0), (-0.14, 0, 0), 0.019, COAT))
    b.joint("tail_end", "tail_end", wag, at=(-0.14, 0, 0), shape=bone((0, 0, 0), (-0.12, 0, 0), 0.015, CREAM))
    b.frame("tail_tip", at=(-0.135, 0, 0))


def _leg(b: Builder, leg: Leg, side: str, sign: int, up: float) -> None:
    """Add one leg; `up` is the height of its first joint above the trunk's origin."""
    names = [f"{side}_{leg.kind}_{joint}" for joint in leg.joints]
    links = [f"{side}_{leg.kind}_{part}" for part in ("upper", "lower", "pastern")]
    first, second, third = leg.lengths
    bones = [bone((0, 0, 0), (0, 0, -length), r, COAT) for length, r in zip(leg.lengths, leg.radii, strict=True)]
    paw = bone((0, 0, -third - 0.004), (0.035, 0, -third - 0.004), SOLE - 0.004, CREAM)
    spread = universal_joint("x" if sign > 0 else "-x", "-y", (-20, 35), leg.swing)
    back, forth = ("y", "-y") if leg.bend > 0 else ("-y", "y")
    b.joint(names[0], links[0], spread, parent="trunk", at=(leg.at[0], sign * leg.at[1], up), shape=bones[0])
    b.revolute(names[1], links[1], axis=back, limits=("0deg", "135deg"), at=(0, 0, -first), shape=bones[1])
    b.revolute(names[2], links[2], axis=forth, limits=("-35deg", "110deg"), at=(0, 0, -second), shape=(bones[2], paw))
    b.frame(f"{side}_{leg.kind}_foot", at=(0, 0, -third - SOLE))


def _quadruped_poses() -> dict[str, dict[str, Any]]:
    legs: dict[str, Any] = {}
    for leg in LEGS:
        for joint, degrees in zip(leg.joints, leg.stand, strict=True):
            value = math.radians(degrees)
            legs[f"left_{leg.kind}_{joint}"] = (0.0, value) if joint == leg.joints[0] else value
    stand = both_sides(legs) | {"neck.ry": "10deg", "tail": ("35deg", 0.0), "tail_end": ("25deg", 0.0)}
    paw = {"left_front_shoulder": (0.0, "35deg"), "left_front_elbow": "65deg", "left_front_wrist": "45deg"}
    return {
        "stand": stand,
        "shake": stand | paw | {"head": ("-10deg", "15deg"), "tail": ("50deg", "25deg")},
        "sniff": stand | {"neck.ry": "65deg", "head": ("30deg", 0.0), "tail": ("-10deg", 0.0)},
    }


def snake(joints: int = 12, *, root: str = "fixed") -> Linkage:
    """Return a snake of revolute joints ``j1, j2, ...`` that turn sideways (odd) and upwards (even).

    Args:
        joints: Number of joints, at least 1. Segment ``segment0`` is the tail; frame ``"head"`` is at the nose.
        root: How the tail is connected to the world: ``"fixed"``, ``"planar"`` or ``"floating"``.

    Example:
        >>> snake(9)
        <Linkage 'snake': 10 links, 9 joints, nq=9, nv=9>
    """
    n = checked_count(joints, "the number of joints of a snake", 1, 10_000)
    bodies = [bone((0, 0, 0), (SEGMENT, 0, 0), GIRTH, color) for color in (GREEN, YELLOW, GREEN)]
    tail = bone((0, 0, 0), (SEGMENT, 0, 0), 0.6 * GIRTH, GREEN)
    eyes = [Visual(Sphere(0.2 * GIRTH), (0.7 * SEGMENT, s * 0.8 * GIRTH, 0.7 * GIRTH), DARK) for s in (1, -1)]
    tongue = bone((0.9 * SEGMENT, 0, 0), (1.35 * SEGMENT, 0, 0.1 * GIRTH), 0.1 * GIRTH, RED)
    head = (bone((0, 0, 0), (0.6 * SEGMENT, 0, 0), 1.25 * GIRTH, GREEN), tongue, *eyes)
    b = Builder("snake", base="segment0", root=standing(root, "segment0", (0, 0, GIRTH)), shape=tail)
    for k in range(1, n + 1):
        shape = head if k == n else bodies[k % 3]
        axis = "z" if k % 2 else "-y"
        b.revolute(f"j{k}", f"segment{k}", axis=axis, limits=("-60deg", "60deg"), at=(SEGMENT, 0, 0), shape=shape)
    b.frame("head", at=(SEGMENT, 0, 0))
    bare = b.build()
    yaws = range(1, n + 1, 2)
    coil = bare.pose({f"j{k}": min(1.0, 5.2 / len(yaws)) for k in yaws})
    return bare.replace(poses={"slither": slither(bare, 0.1), "straight": bare.neutral(), "coil": coil})


def slither(linkage: Linkage, phase: float) -> FloatArray:
    """Return a snake's pose at a phase of its wave, 0 to 1, which runs from head to tail.

    Segment m heads ``SWAY · sin(2π (phase + wave · m))`` off its course; every sideways joint turns by the difference
    of two headings, so the whole snake keeps its course. Its head is slightly raised.
    """
    count = sum(name.startswith("j") for name in linkage.joints)
    yaws = np.arange(1, count + 1, 2)
    wave = min(WAVES / len(yaws), 1.0 / 6.0)  # phase between neighbours; a short snake has less than its full wave
    heading = SWAY * np.sin(2.0 * math.pi * (phase + wave * np.arange(len(yaws))))
    values = {f"j{k}": value for k, value in zip(yaws, np.diff(heading, prepend=0.0).tolist(), strict=True)}
    if count >= 6:
        last = count - count % 2
        lift = math.radians(16.0 + 4.0 * math.sin(2.0 * math.pi * phase))
        values[f"j{last - 2}"], values[f"j{last}"] = lift, -lift
    return linkage.pose(values)
