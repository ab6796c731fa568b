"""Mechanisms in which joints follow others: gears, planets, a cam, a Geneva drive; and the Scotch yoke.

They lie in the xy plane, y up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.curves import Geneva
from ..linkage.geometry import Cylinder, Polyline, Visual
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .closed import bar, pins
from .parts import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    SILVER,
    SKY,
    STEEL,
    WHEEL_OF_COLORS,
    YELLOW,
    Color,
    box,
    checked_count,
    checked_size,
    ring,
)

MODULE = 0.005  # module of all gears here: pitch diameter over number of teeth [m]
TURN = 2.0 * math.pi


def outline(points: FloatArray, color: Color) -> Visual:
    """Return a closed line through points of the plane."""
    flat = np.column_stack([points, np.zeros(len(points))])
    return Visual(Polyline(tuple(map(tuple, flat.tolist())), closed=True), color=color)


def gear_shape(teeth: int, color: Color, *, phase: float = 0.0, internal: bool = False) -> list[Visual]:
    """Return a spur gear as a disc, or a ring, with the line of its teeth: one of them at the phase [rad]."""
    radius = MODULE * teeth / 2.0
    corners = np.array([-0.35, -0.15, 0.15, 0.35])  # angles of a tooth in pitches: foot, head, head, foot
    heights = np.array([-1.0, 0.9, 0.9, -1.0]) * (-1.0 if internal else 1.0) * MODULE
    angles = phase + (np.arange(teeth)[:, None] + corners) * TURN / teeth
    radii = np.broadcast_to(radius + heights, angles.shape)
    line = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1).reshape(-1, 2)
    spoke = bar((0.8 * radius * math.cos(phase), 0.8 * radius * math.sin(phase)), DARK, 0.03 * radius)
    if internal:
        return [outline(line, color)]
    return [outline(line, color), Visual(Cylinder(0.85 * radius, MODULE), color=color), *spoke]


def gear_train(teeth: Iterable[int] = (20, 40, 30)) -> Linkage:
    """Return spur gears in a row, each turned by the one before.

    Joints ``gear1, gear2, ...``, of which the first has a value and the others follow. Frames ``tooth1, ...`` stand on
    their pitch circles. The ratio of the last gear to the first is that of their teeth, independent of the gears
    between them.

    Args:
        teeth: Number of teeth of each gear, at least 6; at least two gears.

    Example:
        >>> train = gear_train((20, 40, 30))
        >>> [round(train.drive(f"gear{k}").multiplier, 4) for k in (1, 2, 3)]
        [1.0, -0.5, 0.6667]
    """
    counts = [checked_count(n, "the number of teeth of a gear", 6, 500) for n in teeth]
    if len(counts) < 2:
        raise LinkageError(f"a gear train has two gears or more, got {len(counts)}.")
    places = MODULE / 2.0 * np.cumsum([0, *(a + b for a, b in pairwise(counts))])
    base = box((float(places[-1]) + 0.02, 0.01, MODULE), (float(places[-1]) / 2.0, 0.0, -2.0 * MODULE), SILVER)
    b, phase = Builder("gear_train", base="frame", shape=base), 0.0
    for k, (n, x) in enumerate(zip(counts, places, strict=True), start=1):
        if k > 1:  # its gap is at the tooth of the previous gear
            phase = math.pi - (counts[k - 2] / n) * phase - math.pi / n
        shape = gear_shape(n, WHEEL_OF_COLORS[(k - 1) % len(WHEEL_OF_COLORS)], phase=phase)
        b.continuous(f"gear{k}", f"wheel{k}", parent="frame", at=(float(x), 0, 0), shape=shape)
        b.frame(f"tooth{k}", at=(MODULE * n / 2.0, 0, 0))
        if k > 1:
            b.gear(f"gear{k}", f"gear{k - 1}", teeth=(n, counts[k - 2]))
    return b.pose("start", gear1=0.0).pose("turned", gear1=math.pi / 3.0).build()


def planetary(sun: Any = 24, planet: Any = 18, planets: Any = 3) -> Linkage:
    """Return a planetary gear: the sun drives planets, which roll inside a fixed ring and turn the carrier.

    Joint ``sun`` has a value; ``carrier`` and ``planet1, planet2, ...`` follow. For one turn of the sun the carrier
    makes ``sun / (sun + ring)`` turns, by Willis' equation.

    Args:
        sun: Teeth of the sun.
        planet: Teeth of each planet; the ring has ``sun + 2 * planet``.
        planets: Number of planets.

    Example:
        >>> round(1.0 / planetary(24, 18).drive("carrier").multiplier, 6)
        3.5
    """
    s, p = (checked_count(n, "the number of teeth of a gear", 6, 500) for n in (sun, planet))
    count, outer = checked_count(planets, "the number of planets", 1, 12), s + 2 * p
    if 2 * (s + p) % count or (count > 1 and (p + 2) >= (s + p) * math.sin(math.pi / count)):
        raise LinkageError(f"{count} planets of {p} teeth cannot be spaced evenly about a sun of {s} teeth.")
    arm = MODULE * (s + p) / 2.0
    # A tooth of the ring is at zero if a gap of the planet is; the sun has a tooth there.
    half = math.pi / p if p % 2 else 0.0
    shape = gear_shape(outer, STEEL, phase=half * p / outer, internal=True)
    b = Builder("planetary", base="frame", shape=shape)
    b.continuous("sun", "sun", shape=gear_shape(s, YELLOW)).frame("sun_tooth", at=(MODULE * s / 2.0, 0, 0))
    places = [TURN * k / count for k in range(count)]
    spider = [v for a in places for v in bar((arm * math.cos(a), arm * math.sin(a)), SKY, 0.4 * MODULE)]
    b.continuous("carrier", "carrier", parent="frame", shape=spider)
    b.gear("carrier", "sun", ratio=s / (s + outer))
    for k, angle in enumerate(places, start=1):
        phase = math.pi - math.pi / p + angle * (1.0 + s / p)  # with a gap at the sun's tooth
        at = (arm * math.cos(angle), arm * math.sin(angle), 0.0)
        b.continuous(f"planet{k}", f"planet{k}", parent="carrier", at=at, shape=gear_shape(p, GREEN, phase=phase))
        b.gear(f"planet{k}", "sun", teeth=(p, s), carrier="carrier")
    b.frame("rim", link="planet1", at=(MODULE * p / 2.0, 0, 0))
    return b.pose("start", sun=0.0).pose("turned", sun=1.0).build()


def cam_follower(lift: Any = 0.02, follower: str = "translating") -> Linkage:
    """Return a disc cam and its follower with a roller, which rises by a cycloid, dwells, returns and dwells.

    Joint ``cam`` turns; ``follower`` is coupled to it: it slides along y, or turns about an axle beside the cam.
    Frame ``"roller"`` is the centre of the roller. `cam_outline` gives the shape of the disc.

    Args:
        lift: Stroke of the roller [m].
        follower: ``"translating"``, or ``"oscillating"`` for a lever.

    Example:
        >>> valve = cam_follower(0.02)
        >>> valve.forward(valve.pose(cam="150deg"), frame="roller")[1, 3].round(4).item()
        0.08
    """
    from ..explain.cam_outlines import cam_outline

    height = checked_size(lift, "the lift of a cam")
    if follower not in ("translating", "oscillating"):
        raise LinkageError(f"a follower is 'translating' or 'oscillating', got {follower!r}.")
    roller, rest, lever = 0.5 * height, 3.0 * height, 6.0 * height
    swings = follower == "oscillating"
    end = 2.0 * math.asin(min(1.0, height / (2.0 * lever))) if swings else height
    parts = [("cycloidal", "120deg", end), ("dwell", "60deg"), ("3-4-5", "120deg", 0.0), ("dwell", "60deg")]
    disc = pins([(0.0, 0.0)], 0.2 * height)

    def built(shape: list[Visual]) -> Builder:
        b = Builder("cam_follower", base="frame", shape=pins([(0.0, 0.0)], 0.3 * height))
        b.continuous("cam", "disc", shape=[*disc, *shape])
        rim, disc_of_roller = ring(roller), Cylinder(roller, 0.5 * height)
        center = (lever if swings else 0.0, 0.0, 0.0)
        wheel = [Visual(disc_of_roller, center, ORANGE), Visual(rim, center, DARK)]
        if swings:
            look = [*bar((lever, 0.0), BLUE, 0.15 * height), *wheel]
            b.revolute("follower", "lever", parent="frame", at=(-lever, rest, 0), axis="z", shape=look)
            b.frame("roller", at=(lever, 0, 0))
        else:
            look = [*bar((0.0, 2.0 * height), BLUE, 0.15 * height), *wheel]
            b.prismatic("follower", "stem", parent="frame", at=(0, rest, 0), axis="y", shape=look).frame("roller")
        return b.cam("follower", "cam", parts).pose("start", cam=0.0).pose("up", cam="150deg")

    found = cam_outline(built([]).build(), "cam", "roller", roller=roller, count=180)
    return built([outline(found.points[:, :2], STEEL)]).build()


def geneva(slots: Any = 4, pins_on_crank: Any = 1) -> Linkage:
    """Return a Geneva drive: a crank whose pin turns a wheel by one slot in every turn, and a disc that locks it.

    Joint ``crank`` turns; ``wheel`` follows by a coupling. At zero the pin is deepest in a slot.

    Args:
        slots: Number of slots in the wheel, 3 to 24.
        pins_on_crank: Number of pins on the crank.

    Example:
        >>> drive = geneva(6)
        >>> np.degrees(drive.pose(crank=4 * np.pi)[1]).round(6).item()
        -120.0
    """
    n = checked_count(slots, "the number of slots of a Geneva wheel", 3, 24)
    law = Geneva(n, checked_count(pins_on_crank, "the number of pins of a Geneva crank", 1, 24))
    apart = 0.1
    crank, width, lock = apart * law.ratio, 0.04 * apart, 0.8 * apart * law.ratio
    base = [*pins([(0.0, 0.0), (apart, 0.0)], 0.03 * apart)]
    b = Builder("geneva", base="frame", shape=base)
    turns = [TURN * k / law.pins for k in range(law.pins)]
    arms = [visual for a in turns for visual in bar((crank * math.cos(a), crank * math.sin(a)), ORANGE, width / 2.0)]
    disc = outline(_geneva_disc(law, apart, lock), ORANGE)
    b.continuous("crank", "crank", shape=[*arms, disc]).frame("pin", at=(crank, 0, 0))
    shape = outline(_geneva_wheel(n, apart, crank, width, lock), BLUE)
    b.continuous("wheel", "wheel", parent="frame", at=(apart, 0, 0), shape=shape)
    b.frame("slot", at=(crank - apart, 0, 0))
    b.geneva("wheel", "crank", slots=n, pins=law.pins)
    return b.pose("start", crank=-math.pi / law.pins).pose("engaged", crank=0.3).build()


def _geneva_disc(law: Geneva, apart: float, lock: float) -> FloatArray:
    """Return the outline of the locking disc of a Geneva drive, with a recess for the wheel's rim at every pin."""
    rim = apart * math.cos(math.pi / law.slots)
    opening = math.acos((apart**2 + lock**2 - rim**2) / (2.0 * apart * lock))
    side = math.asin(lock * math.sin(opening) / rim)
    points = []
    for k in range(law.pins):
        at = TURN * k / law.pins
        hollow = at + math.pi + np.linspace(side, -side, 12)
        arc = at + np.linspace(opening, TURN / law.pins - opening, 40)
        center = apart * np.array([math.cos(at), math.sin(at)])
        points += list(center + rim * np.stack([np.cos(hollow), np.sin(hollow)], axis=1))
        points += list(lock * np.stack([np.cos(arc), np.sin(arc)], axis=1))
    return np.array(points)


def _geneva_wheel(slots: int, apart: float, crank: float, width: float, lock: float) -> FloatArray:
    """Return the outline of a Geneva wheel: slots, one of them towards -x, and hollows that fit the locking disc."""
    rim, bottom = apart * math.cos(math.pi / slots), apart - crank - width
    opening = math.acos((apart**2 + lock**2 - rim**2) / (2.0 * apart * lock))
    points = []
    for k in range(slots):
        slot, middle = math.pi + TURN * k / slots, math.pi + TURN * (k + 0.5) / slots
        along, across = np.array([math.cos(slot), math.sin(slot)]), np.array([-math.sin(slot), math.cos(slot)])
        corners = (rim, -1.0), (bottom, -1.0), (bottom, 1.0), (rim, 1.0)
        points += [r * along + side * 0.6 * width * across for r, side in corners]
        center = apart * np.array([math.cos(middle), math.sin(middle)])
        arc = middle + math.pi + np.linspace(opening, -opening, 12)
        points += list(center + lock * np.stack([np.cos(arc), np.sin(arc)], axis=1))
    return np.array(points)


def scotch_yoke(crank: Any = 0.1) -> Linkage:
    """Return a Scotch yoke: a pin in a slot moves a rod to and fro by ``crank * cos(angle)``, exactly a sine.

    Joint ``crank`` turns; ``yoke`` slides along x and ``block`` in the yoke's slot, by one closed loop. Frame ``"rod"``
    is the end of the rod.

    Args:
        crank: Radius of the crank [m].

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(scotch_yoke(0.1), "crank", [0.0, np.pi / 3, np.pi], start="start")
        >>> clip.forward(frame="rod")[:, 0, 3].round(6).tolist()
        [0.275, 0.225, 0.075]
    """
    r = checked_size(crank, "the crank of a Scotch yoke")
    radius = 0.05 * r
    b = Builder("scotch_yoke", base="frame", shape=pins([(0.0, 0.0)], 1.5 * radius))
    b.continuous("crank", "crank", shape=bar((r, 0), ORANGE, radius)).frame("pin", at=(r, 0, 0))
    w, h = 3.0 * radius, 1.3 * r
    slot = outline(np.array([(-w, -h), (w, -h), (w, h), (-w, h)]), BLUE)
    rod = box((1.75 * r - w, 2.0 * radius, 2.0 * radius), ((1.75 * r + w) / 2.0, 0, 0), BLUE)
    b.prismatic("yoke", "yoke", axis="x", parent="frame", shape=[slot, rod]).frame("rod", at=(1.75 * r, 0, 0))
    b.prismatic("block", "block", axis="y", shape=box((1.6 * w, 2.0 * w, 2.0 * radius), color=GREEN)).frame("center")
    b.loop("pin", "pin", "center")
    for name, angle in (("start", 0.0), ("up", math.pi / 3.0)):
        b.pose(name, crank=angle, yoke=r * math.cos(angle), block=r * math.sin(angle))
    return b.build()
