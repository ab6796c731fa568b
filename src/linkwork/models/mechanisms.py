"""Mechanisms of motion: planets, a Ferris wheel, a pogo stick and an engine."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from ..linkage.builder import Builder
from ..linkage.geometry import Cylinder, Polyline, Sphere, Visual, bone
from ..linkage.joints import Mimic
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, transform
from .parts import (
    BLUE,
    BRASS,
    DARK,
    ORANGE,
    QUARTER,
    RED,
    SILVER,
    SKY,
    STEEL,
    WHEEL_OF_COLORS,
    WHITE,
    YELLOW,
    Color,
    box,
    checked_count,
    posed,
    ring,
    tube,
    turn,
)


class Planet(NamedTuple):
    """A planet: distance from the sun and radius, scaled for viewing [m], tilt of its axis [degrees] and colour."""

    distance: float
    radius: float
    tilt: float
    color: Color


PLANETS = {
    "mercury": Planet(0.32, 0.04, 0.0, STEEL),
    "venus": Planet(0.54, 0.065, 177.4, (0.90, 0.78, 0.50)),
    "earth": Planet(0.85, 0.075, 23.4, BLUE),
    "mars": Planet(1.22, 0.052, 25.2, RED),
}
MOON_DISTANCE = 0.15
TURF = (0.55, 0.70, 0.45)


def planets() -> Linkage:
    """Return an orrery with sun, Mercury, Venus, Earth, Moon and Mars: the moon orbits the earth, the planets the sun.

    Each planet is on an arm that turns about the sun by ``earth_orbit`` (and so on), and spins about its tilted axis by
    ``earth_spin``. ``moon_orbit`` turns the moon's arm about the earth, measured from the line to the sun: zero is a
    full moon. Distances and sizes are scaled for viewing; only their order is correct.

    Example:
        >>> planets().forward([0.0] * 9, frame="moon")[0, 3].round(3).item()
        1.0
    """
    base = (
        Visual(Sphere(0.17), color=YELLOW),
        tube((0, 0, -0.5), (0, 0, -0.12), 0.02, BRASS),
        tube((0, 0, -0.55), (0, 0, -0.5), 0.3, DARK),
        *(Visual(ring(planet.distance), color=SILVER) for planet in PLANETS.values()),
    )
    b = Builder("planets", base="sun", shape=base)
    for k, (name, planet) in enumerate(PLANETS.items()):
        level = -0.42 + 0.06 * (len(PLANETS) - k)
        corner = (planet.distance, 0, level)
        rod = bone((0, 0, level), corner, 0.008, BRASS), bone(corner, (planet.distance, 0, 0), 0.008, BRASS)
        b.continuous(f"{name}_orbit", f"{name}_arm", parent="sun", shape=rod)
        tilt = turn("y", math.radians(planet.tilt))
        axis = Polyline(((0, 0, -1.5 * planet.radius), (0, 0, 1.5 * planet.radius)))
        globe = (Visual(Sphere(planet.radius), color=planet.color), Visual(axis, color=DARK))
        b.continuous(f"{name}_spin", name, at=(planet.distance, 0, 0), rotation=tilt, shape=globe)
    look = bone((0, 0, 0), (MOON_DISTANCE, 0, 0), 0.006, BRASS), Visual(ring(MOON_DISTANCE), color=SILVER)
    b.continuous("moon_orbit", "moon_arm", parent="earth_arm", at=(PLANETS["earth"].distance, 0, 0), shape=look)
    b.fixed("moon_mount", "moon", at=(MOON_DISTANCE, 0, 0), shape=Visual(Sphere(0.028), color=WHITE))
    orbits = dict(zip((f"{name}_orbit" for name in PLANETS), (2.1, -0.9, 0.6, 4.0), strict=True))
    return posed(b.build(), {"spread": orbits | {"moon_orbit": 1.2}, "conjunction": {}})


def ferris_wheel(cabins: int = 8) -> Linkage:
    """Return a Ferris wheel: one joint ``wheel``, and cabins that turn back by the same angle and so stay upright.

    Args:
        cabins: Number of cabins, 2 to 60: links and frames ``cabin1, cabin2, ...``, each on a mimic joint.

    Example:
        >>> ride = ferris_wheel(8)
        >>> ride.forward([1.0], frame="cabin3")[:3, :3].round(9).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    n = checked_count(cabins, "the number of cabins of a Ferris wheel", 2, 60)
    radius, hub, half = 5.0, 6.6, 0.75
    legs = [
        bone((x, side * (half + 0.9), 0.1), (0, side * (half + 0.35), hub), 0.13, STEEL)
        for x in (-2.4, 2.4)
        for side in (-1, 1)
    ]
    ground = (box((7.0, 4.4, 0.12), (0, 0, 0.06), SILVER), box((1.6, 1.4, 0.25), (0, 0, 0.2), DARK))
    b = Builder("ferris_wheel", base="stand", shape=[*legs, *ground])
    angles = [2.0 * math.pi * k / n for k in range(n)]
    rims = [ring(radius, normal="y", corners=96), ring(0.82 * radius, normal="y", corners=96)]
    spokes = [Polyline(((0, 0, 0), (radius * math.sin(a), 0, radius * math.cos(a)))) for a in angles]
    frame = [
        Visual(shape, (0, side * half, 0), RED if shape in rims else SILVER)
        for side in (-1, 1)
        for shape in (*rims, *spokes)
    ]
    axle = tube((0, -half - 0.4, 0), (0, half + 0.4, 0), 0.28, DARK)
    b.continuous("wheel", "wheel", axis="y", at=(0, 0, hub), shape=[*frame, axle])
    size = min(1.15, 1.1 * radius * math.sin(math.pi / n))
    roof = box((1.12 * size, 1.0, 0.08 * size), (0, 0, -0.25 * size), WHITE)
    rod = tube((0, -half, 0), (0, half, 0), 0.05, DARK)
    room = box((size, 0.9, 0.5 * size), (0, 0, -0.85 * size))
    posts = [bone((x * size, 0, -0.6 * size), (x * size, 0, -0.25 * size), 0.03, DARK) for x in (-0.46, 0.46)]
    back = Mimic("wheel", -1.0)
    for k, angle in enumerate(angles):
        at = (radius * math.sin(angle), 0.0, radius * math.cos(angle))
        look = [replace(room, color=WHEEL_OF_COLORS[k % len(WHEEL_OF_COLORS)]), roof, rod, *posts]
        b.continuous(f"pivot{k + 1}", f"cabin{k + 1}", axis="y", parent="wheel", at=at, shape=look, mimic=back)
    b.pose("start", wheel=0.0).pose("turned", wheel=math.pi / n)
    return b.build()


def pogo_stick() -> Linkage:
    """Return a pogo stick: ``travel`` along the ground, ``hop`` above it, ``lean`` and the ``spring``.

    The spring is zero when extended and negative when compressed; its rings follow in proportion.
    Frames: ``"foot"`` on the ground, ``"left_pedal"``, ``"right_pedal"``, ``"left_grip"`` and ``"right_grip"``.

    Example:
        >>> stick = pogo_stick()
        >>> stick.forward(stick.pose(hop=0, lean=0, spring=-0.1, travel=0), frame="left_grip")[2, 3].round(6).item()
        1.0
    """
    b = Builder("pogo_stick", base="ground", shape=box((0.8, 0.6, 0.02), (0, 0, -0.01), TURF))
    b.prismatic("travel", "slide", axis="x", limits=(-5.0, 5.0))
    b.prismatic("hop", "spot", axis="z", limits=(0.0, 1.0))
    shaft = (tube((0, 0, 0.03), (0, 0, 0.62), 0.02, SILVER), tube((0, 0, 0), (0, 0, 0.05), 0.045, DARK))
    b.revolute("lean", "shaft", axis="y", limits=("-25deg", "25deg"), shape=shaft)
    b.frame("foot")
    stop, rings = 0.06, 8
    coil = Visual(Cylinder(0.042, 0.012), color=STEEL)
    body = (
        tube((0, 0, 0), (0, 0, 0.66), 0.036, RED),
        tube((0, -0.14, 0.02), (0, 0.14, 0.02), 0.02, DARK),
        *(box((0.11, 0.09, 0.02), (0.02, side * 0.12, 0.04), YELLOW) for side in (-1, 1)),
    )
    b.prismatic("spring", "body", limits=(-0.2, 0.0), at=(0, 0, 0.34), shape=body)
    for side, sign in (("left", 1), ("right", -1)):
        b.frame(f"{side}_pedal", at=(0.02, sign * 0.12, 0.05))
    bar = (
        tube((0, -0.2, 0), (0, 0.2, 0), 0.015, DARK),
        *(bone((0, side * 0.12, 0), (0, side * 0.21, 0), 0.021, ORANGE) for side in (-1, 1)),
        bone((0, 0, -0.1), (0, 0, 0), 0.02, RED),
    )
    b.fixed("headset", "handle", at=(0, 0, 0.76), shape=bar)
    for side, sign in (("left", 1), ("right", -1)):
        b.frame(f"{side}_grip", at=(0, sign * 0.17, 0))
    for k in range(1, rings + 1):
        share = k / (rings + 1)
        up = stop + (0.34 - stop) * share
        b.prismatic(f"coil{k}", f"coil{k}", parent="shaft", at=(0, 0, up), shape=coil, mimic=Mimic("spring", share))
    return posed(b.build(), {"stand": {}, "squeezed": {"spring": -0.16}, "flight": {"hop": 0.35, "lean": "4deg"}})


CRANK, ROD, BORE, PITCH = 0.045, 0.15, 0.042, 0.11  # crank radius, rod length, bore radius, cylinder spacing [m]


def engine(cylinders: int = 1) -> Linkage:
    """Return a piston engine: crankshaft on the block, rods on the crankshaft, pistons on the block.

    With one cylinder the joints are ``crank``, ``rod`` and ``piston``; with more, ``rod1``, ``piston1`` and so on. Each
    cylinder is a closed loop: its frames ``rod_end`` and ``pin`` (or ``rod_end1``, ``pin1``, ...) coincide.
    `linkwork.drive` turns the crank, and `engine_pose` is the closed form. Crank angle zero is top dead centre of the
    first piston.

    Args:
        cylinders: Number of cylinders in line along y, 1 to 12.

    Example:
        >>> motor = engine()
        >>> frames = motor.forward(engine_pose(motor, 1.0))
        >>> abs(frames["rod_end"][2, 3] - frames["pin"][2, 3]).item() < 1e-12
        True
    """
    n = checked_count(cylinders, "the number of cylinders of an engine", 1, 12)
    suffixes = [""] if n == 1 else [str(k + 1) for k in range(n)]
    places = [PITCH * ((n - 1) / 2.0 - k) for k in range(n)]
    throws = _throws(n)
    top = CRANK + ROD
    wall = (0.012, 0.8 * BORE, 0.155)
    walls = [box(wall, (side * (BORE + 0.008), y, top), SILVER) for side in (-1, 1) for y in places]
    heads = [box((2 * BORE + 0.05, 1.7 * BORE, 0.022), (0, y, top + 0.09), STEEL) for y in places]
    plugs = [tube((0, y, top + 0.085), (0, y, top + 0.125), 0.008, WHITE) for y in places]
    b = Builder("engine", base="block", shape=[*walls, *heads, *plugs])
    b.continuous("crank", "crank", axis="y", shape=_crankshaft(places, throws))
    look = (
        bone((0, 0, 0.02), (0, 0, ROD), 0.009, ORANGE),
        Visual(Cylinder(0.024, 0.03), transform(rotation=turn("x", QUARTER)), ORANGE),
        Visual(Cylinder(0.016, 0.03), transform((0, 0, ROD), turn("x", QUARTER)), ORANGE),
    )
    crown = (
        tube((0, 0, 0.012), (0, 0, 0.05), BORE, SKY),
        *(tube((0, 0, z), (0, 0, z + 0.003), 1.015 * BORE, DARK) for z in (0.032, 0.041)),
        *(box((0.06, 0.016, 0.04), (0, side * 0.026, 0), SKY) for side in (-1, 1)),
        tube((0, -0.036, 0), (0, 0.036, 0), 0.009, DARK),
    )
    for suffix, y, throw in zip(suffixes, places, throws, strict=True):
        pin = (CRANK * math.sin(throw), y, CRANK * math.cos(throw))
        b.continuous(f"rod{suffix}", f"rod{suffix}", axis="y", parent="crank", at=pin, shape=look)
        b.frame(f"rod_end{suffix}", at=(0, 0, ROD))
        piston = f"piston{suffix}"
        b.prismatic(piston, piston, parent="block", limits=(-2.0 * CRANK, 0.0), at=(0, y, top), shape=crown)
        b.frame(f"pin{suffix}")
        b.loop(f"cylinder{suffix}", f"rod_end{suffix}", f"pin{suffix}")
    motor = b.build()
    angles = {"quarter": math.pi / 2.0, "top": 0.0, "bottom": math.pi}
    return motor.replace(poses={name: engine_pose(motor, angle) for name, angle in angles.items()})


def _throws(cylinders: int) -> list[float]:
    """Return the angles of the crank pins: a flat-plane crank for four cylinders, otherwise even spacing."""
    if cylinders == 4:
        return [0.0, math.pi, math.pi, 0.0]
    return [2.0 * math.pi * k / cylinders for k in range(cylinders)]


def _crankshaft(places: list[float], throws: list[float]) -> list[Visual]:
    end = abs(places[0]) + PITCH / 2.0
    parts = [tube((0, end, 0), (0, end + 0.02, 0), 0.06, DARK), tube((0, -end - 0.03, 0), (0, -end, 0), 0.018, STEEL)]
    web = box((0.05, 0.012, 0.11), (0, 0, 0.012), STEEL).shape
    weight = Cylinder(0.04, 0.012)
    journals = [end, *((a + b) / 2.0 for a, b in pairwise(places)), -end]
    for y, throw, (left, right) in zip(places, throws, pairwise(journals), strict=True):
        turned = transform((0, y, 0), turn("y", throw))
        for side, edge in ((1, left), (-1, right)):
            parts += [
                Visual(web, turned @ transform((0, side * 0.026, 0.012)), STEEL),
                Visual(weight, turned @ transform((0, side * 0.026, -0.03), turn("x", QUARTER)), STEEL),
                tube((0, y + side * 0.03, 0), (0, edge, 0), 0.018, STEEL),
            ]
        parts.append(Visual(Cylinder(0.014, 0.06), turned @ transform((0, 0, CRANK), turn("x", QUARTER)), DARK))
    return parts


def engine_pose(motor: Linkage, angle: float) -> FloatArray:
    """Return the pose of an `engine` with its loops closed, for an angle of the crank.

    With r the crank's radius, l the rod's length and t the angle of a crank pin from the top,
    the rod leans by ``-asin(r sin(t) / l)`` and the piston pin is at ``r cos(t) + sqrt(l² - r² sin(t)²)``.

    Args:
        motor: An engine.
        angle: Crank angle [rad]; zero is top dead centre of the first piston.

    Example:
        >>> engine_pose(engine(), math.pi)[2].round(3).item()
        -0.09
    """
    values = {"crank": angle}
    for name in motor.joints:
        if name.startswith("rod"):
            x, _, z = motor.joint(name).placement[:3, 3]
            t, r = angle + math.atan2(x, z), math.hypot(x, z)
            values[name] = -math.asin(r * math.sin(t) / ROD) - angle
            height = r * math.cos(t) + math.sqrt(ROD**2 - (r * math.sin(t)) ** 2)
            values[name.replace("rod", "piston")] = height - (CRANK + ROD)
    return motor.clamp(motor.pose(values))  # rounding may exceed a limit at a dead centre
