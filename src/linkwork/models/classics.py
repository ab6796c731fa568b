"""Classic mechanisms with closed loops: Klann's leg, Peaucellier's inversor, scissors and Bennett's ring.

Planar mechanisms lie in the xy plane, y up. Their stored poses are closed, by intersecting circles or by closed forms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.geometry import Cylinder, Polyline, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_angle, transform
from .closed import TURN, bar, curve, direction, meeting, pins, seen_from, triangle, unit
from .parts import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    RED,
    SILVER,
    SKY,
    STEEL,
    TEAL,
    YELLOW,
    Color,
    checked_count,
    checked_size,
    turn,
)

# Joseph Klann's leg for a stride of one, from the numbers of his patent: fixed pivots relative to the crank's, lengths
# of the crank and of both rockers, and sides of the two plates.
KLANN_PIVOTS = {"lower": (-0.590, -0.176), "upper": (-0.233, 0.616)}
KLANN_LENGTHS = {
    "crank": 0.268, "lower": 0.3206, "upper": 0.5177,
    "pin to elbow": 0.590, "elbow to knee": 0.5221, "pin to knee": 1.1051,
    "knee to hip": 0.8966, "knee to foot": 0.8966, "hip to foot": 1.732,
}  # fmt: skip


def klann_points(angle: float, stride: float) -> dict[str, FloatArray]:
    """Return the pins of Klann's leg in the plane, crank axis at the origin, from the crank's angle.

    Each is where two circles meet: ``elbow`` on the lower rocker, ``knee`` below, ``hip`` on the upper rocker, and the
    ``foot``.
    """
    n = {name: stride * length for name, length in KLANN_LENGTHS.items()}
    lower, upper = (stride * np.array(KLANN_PIVOTS[name]) for name in ("lower", "upper"))
    pin = n["crank"] * unit(angle)
    elbow = meeting(pin, lower, n["pin to elbow"], n["lower"], -1.0)
    knee = meeting(pin, elbow, n["pin to knee"], n["elbow to knee"], -1.0)
    hip = meeting(knee, upper, n["knee to hip"], n["upper"], 1.0)
    foot = meeting(knee, hip, n["knee to foot"], n["hip to foot"], -1.0)
    return {"pin": pin, "lower": lower, "upper": upper, "elbow": elbow, "knee": knee, "hip": hip, "foot": foot}


def klann(stride: Any = 0.5) -> Linkage:
    """Return Joseph Klann's leg: a crank, two rockers, and a foot that moves straight for half of each turn.

    Joint ``crank`` turns all the way round; ``coupler``, ``leg``, ``lower`` and ``upper`` follow from two closed loops.
    Frame ``"foot"``. It has the dimensions of the patent's first example.

    Args:
        stride: Length of a step along the ground [m]; all lengths scale with it.

    Example:
        >>> import linkwork as lw
        >>> leg = klann(1.0)
        >>> foot = lw.drive(leg, "crank", [0.0, np.pi], start="start").forward(frame="foot")[:, 0, 3]
        >>> round(float(foot[0] - foot[1]), 3)
        1.0
    """
    s = checked_size(stride, "the stride of Klann's leg")
    n = {name: s * length for name, length in KLANN_LENGTHS.items()}
    home, radius = klann_points(0.0, s), 0.016 * s
    path = np.array([klann_points(angle, s)["foot"] for angle in np.linspace(0.0, TURN, 96, endpoint=False)])
    elbow = seen_from(home["elbow"], home["pin"], home["knee"])
    foot = seen_from(home["foot"], home["knee"], home["hip"])
    fixed = [np.zeros(2), home["lower"], home["upper"]]
    frame = [bone((*fixed[k], 0), (*fixed[k - 1], 0), 0.6 * radius, SILVER) for k in range(3)]
    build = Builder("klann", base="frame", shape=[*pins(fixed, 1.5 * radius), *frame, curve(path)])
    build.continuous("crank", "crank", shape=bar((n["crank"], 0), ORANGE, radius))
    plate = triangle(n["pin to knee"], elbow, BLUE, radius)
    build.continuous("coupler", "coupler", at=(n["crank"], 0, 0), shape=plate).frame("elbow", at=(*elbow, 0))
    sole = Visual(Cylinder(2.5 * radius, 3.0 * radius), (*foot, 0.0), YELLOW)
    shin = [*triangle(n["knee to hip"], foot, RED, radius), sole]
    build.continuous("leg", "leg", at=(n["pin to knee"], 0, 0), shape=shin)
    build.frame("hip", at=(n["knee to hip"], 0, 0)).frame("foot", at=(*foot, 0))
    for name, color in (("lower", GREEN), ("upper", TEAL)):
        look = bar((n[name], 0), color, radius)
        build.continuous(name, name, parent="frame", at=(*home[name], 0), shape=look)
        build.frame(f"{name}_end", at=(n[name], 0, 0))
    build.loop("elbow", "elbow", "lower_end").loop("hip", "hip", "upper_end")
    for name, angle in (("start", 0.0), ("lifted", 1.5 * math.pi)):
        build.pose(name, _klann_values(angle, s))
    return build.build()


def _klann_values(angle: float, stride: float) -> dict[str, float]:
    p = klann_points(angle, stride)
    coupler = direction(p["knee"] - p["pin"])
    return {
        "crank": angle,
        "coupler": coupler - angle,
        "leg": direction(p["hip"] - p["knee"]) - coupler,
        "lower": direction(p["elbow"] - p["lower"]),
        "upper": direction(p["hip"] - p["upper"]),
    }


def peaucellier(arm: Any = 0.6, side: Any = 0.3, crank: Any = 0.2) -> Linkage:
    """Return Peaucellier's inversor: eight bars whose ``"pen"`` draws an exactly straight line.

    Two arms from the pivot at the origin hold two corners of a rhombus. The crank moves its third corner on a circle
    through the pivot; the fourth is the pen: its distance from the pivot times that of the third is ``arm² - side²``,
    and the inverse of such a circle is a line. Joints ``crank``, ``near1``, ``near2``, ``arm1``, ``arm2``, ``far1`` and
    ``far2``.

    Args:
        arm: Length of the two long bars [m].
        side: Length of the rhombus' sides.
        crank: Length of the crank, and distance of its pivot from the arms'.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(peaucellier(), "crank", np.linspace(-1.3, 1.3, 27), start="start")
        >>> bool(np.ptp(clip.forward(frame="pen")[:, 0, 3]) < 1e-12)
        True
    """
    given = {"arm": arm, "side": side, "crank": crank}
    a, s, r = (checked_size(length, f"the {name} of an inversor") for name, length in given.items())
    if not abs(a - s) < 2.0 * r < a + s:
        raise LinkageError(
            f"an inversor with arms of {a:g}, sides of {s:g} and a crank of {r:g} m cannot be put together: twice the "
            f"crank must be between {abs(a - s):g} and {a + s:g} m."
        )
    radius = 0.02 * min(s, r) + 0.008 * a
    line, furthest = (a * a - s * s) / (2.0 * r), 2.0 * math.acos(max(abs(a - s) / (2.0 * r), 0.3))
    height = line * math.tan(furthest / 2.0)
    drawn = Visual(Polyline(((line, -height, 0.0), (line, height, 0.0))), color=SILVER)
    base = [*pins([(0, 0), (r, 0)], 1.4 * radius), bone((0, 0, 0), (r, 0, 0), 0.6 * radius, SILVER), drawn]
    build = Builder("peaucellier", base="ground", shape=base)
    build.continuous("crank", "crank", at=(r, 0, 0), shape=bar((r, 0), ORANGE, radius))
    for k, colors in ((1, (BLUE, SKY)), (2, (TEAL, GREEN))):
        build.continuous(f"near{k}", f"near{k}", parent="crank", at=(r, 0, 0), shape=bar((s, 0), colors[1], radius))
        build.frame(f"near{k}_end", at=(s, 0, 0))
        build.continuous(f"arm{k}", f"arm{k}", parent="ground", shape=bar((a, 0), colors[0], radius))
        build.frame(f"corner{k}", at=(a, 0, 0))
        build.continuous(f"far{k}", f"far{k}", at=(a, 0, 0), shape=bar((s, 0), colors[1], radius))
        build.frame("pen" if k == 1 else "pen2", at=(s, 0, 0)).loop(f"corner{k}", f"near{k}_end", f"corner{k}")
    build.loop("pen", "pen", "pen2")
    for name, angle in (("start", 0.0), ("up", 0.6 * furthest)):
        build.pose(name, inversor_values(angle, a, s, r))
    return build.build()


def inversor_values(angle: float, arm: float, side: float, crank: float) -> dict[str, float]:
    """Return the values of all joints of an inversor whose crank has an angle; its first corner is on the left."""
    pin = np.array([crank, 0.0]) + crank * unit(angle)
    pen = (arm * arm - side * side) * pin / (pin @ pin)
    values = {"crank": angle}
    for k, way in ((1, 1.0), (2, -1.0)):
        corner = meeting(np.zeros(2), pin, arm, side, way)
        values[f"near{k}"] = direction(corner - pin) - angle
        values[f"arm{k}"] = direction(corner)
        values[f"far{k}"] = direction(pen - corner) - direction(corner)
    return values


def scissor(stages: int = 3, length: Any = 0.4) -> Linkage:
    """Return a scissor lift: pairs of crossed bars, stacked, that rise as the foot slides in.

    Joint ``slide`` moves the foot of the second bar; ``a1`` and ``b1`` turn the lowest bars, ``a2`` and ``b2`` those on
    them, and so on. Every crossing is a closed loop. Frame ``"top"`` rises straight above the fixed pivot, by
    ``stages · sqrt(bar² - slide²)``.

    Args:
        stages: Number of pairs, 1 to 100.
        length: Length of the bars [m].

    Example:
        >>> tower = scissor(5)
        >>> tower, len(tower.loops)
        (<Linkage 'scissor': 12 links, 11 joints, nq=11, nv=11>, 5)
    """
    count = checked_count(stages, "the number of stages of scissors", 1, 100)
    size = checked_size(length, "the length of the bars of scissors")
    radius = 0.02 * size
    base = [*pins([(0, 0)], 1.5 * radius), bone((0, 0, 0), (size, 0, 0), 0.5 * radius, SILVER)]
    build = Builder("scissor", base="ground", shape=base)
    shoe = Visual(Cylinder(1.5 * radius, 4.0 * radius), (0, 0, 0), STEEL)
    build.prismatic("slide", "shoe", axis="x", limits=(0.05 * size, 0.98 * size), shape=[shoe])
    for k in range(1, count + 1):
        below = ("ground", "shoe") if k == 1 else (f"b{k - 1}", f"a{k - 1}")
        for name, parent, color in zip("ab", below, (BLUE, ORANGE), strict=True):
            look = [*bar((size, 0), color, radius), *pins([(size / 2.0, 0)], radius)]
            build.continuous(f"{name}{k}", f"{name}{k}", parent=parent, at=(0.0 if k == 1 else size, 0, 0), shape=look)
            build.frame(f"{name}{k}_middle", at=(size / 2.0, 0, 0))
        build.loop(f"cross{k}", f"a{k}_middle", f"b{k}_middle")
    build.frame("top", link=f"b{count}", at=(size, 0, 0))
    for name, share in (("start", 0.75), ("low", 0.95), ("high", 0.3)):
        build.pose(name, scissor_values(count, math.acos(share), size))
    return build.build()


def scissor_values(stages: int, angle: float, length: float) -> dict[str, float]:
    """Return the values of all joints of scissors whose bars are an angle from the ground."""
    values = {"slide": length * math.cos(angle), "a1": angle, "b1": math.pi - angle}
    for k in range(2, stages + 1):
        values |= {f"a{k}": 2.0 * angle - math.pi, f"b{k}": math.pi - 2.0 * angle}
    return values


def bennett(first: Any = 0.5, second: Any = 0.3, twist: Any = "45deg") -> Linkage:
    """Return Bennett's linkage: four hinges in space that turn all the way round, though Gruebler's count forbids it.

    Opposite links are equal, and lengths are proportional to the sines of the twists: ``second sin(twist) = first
    sin(other twist)``. With crank c and coupler d, ``tan(c/2) tan(d/2)`` is constant. Joints ``crank``, ``coupler`` and
    ``follower``; the fourth hinge is a loop of kind ``"axis"``. Frame ``"end"``.

    Args:
        first: Length of the first and the third link: the distance of their hinges [m].
        second: Length of the second and of the ground.
        twist: Angle between the hinges of the first link [rad], or a text such as ``"45deg"``.

    Example:
        >>> import linkwork as lw
        >>> ring = bennett()
        >>> lw.mobility(ring).degrees
        1
    """
    given = {"first": first, "second": second}
    a, b = (checked_size(length, f"the {name} length of Bennett's ring") for name, length in given.items())
    one = as_angle(twist)
    sine = b / a * math.sin(one)
    if not 0.0 < one < math.pi / 2.0 or abs(sine) >= 1.0 or math.isclose(a, b, rel_tol=1e-6):
        raise LinkageError(
            f"Bennett's ring has two different lengths, and a twist between 0 and 90 degrees with a sine below first / "
            f"second; got {a:g} m, {b:g} m and {math.degrees(one):g} degrees."
        )
    two, radius = math.asin(sine), 0.025 * min(a, b) + 0.01 * max(a, b)
    build = Builder("bennett", base="ground", shape=_twisted(-b, -two, SILVER, radius))
    placement, parent = np.eye(4), "ground"
    links = (("crank", a, one, ORANGE), ("coupler", b, two, BLUE), ("follower", a, one, GREEN))
    for name, length, angle, color in links:
        build.continuous(name, name, parent=parent, at=placement, shape=_twisted(length, angle, color, radius))
        placement, parent = transform((length, 0.0, 0.0), turn("x", angle)), name
    build.frame("end", link="follower", at=placement)
    home = turn("x", -two)
    build.frame("hinge", link="ground", at=transform((-b, 0.0, 0.0), home))
    build.loop("hinge", "end", "hinge", kind="axis")
    for name, crank in (("start", 1.0), ("wide", 2.2)):
        half = math.sin((two + one) / 2.0) / math.sin((two - one) / 2.0) / math.tan(crank / 2.0)
        build.pose(name, crank=crank, coupler=2.0 * math.atan(half), follower=-crank)
    return build.build()


def _twisted(length: float, angle: float, color: Color, radius: float) -> list[Visual]:
    """Return a bar along x between two hinges, the second rotated about the bar by an angle."""
    hinge = Cylinder(1.8 * radius, 7.0 * radius)
    ends = [Visual(hinge, transform((x, 0.0, 0.0), turn("x", way)), DARK) for x, way in ((0.0, 0.0), (length, angle))]
    return [bone((0, 0, 0), (length, 0, 0), radius, color), *ends]
