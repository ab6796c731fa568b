"""Mechanisms with closed loops: a four-bar, a pantograph and Jansen's leg.

They lie in the xy plane, y up. Their stored poses are closed, by intersecting circles, and `linkwork.drive` moves them
from there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.geometry import Cylinder, Polyline, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, transform
from .parts import BLUE, DARK, GREEN, ORANGE, PLUM, RED, SILVER, SKY, STEEL, TEAL, YELLOW, Color, checked_size, turn

Point = Sequence[float] | FloatArray
TURN = 2.0 * math.pi
READY, FLOWER = (20.0, 95.0), 0.18  # the pantograph's pose [deg], and the size of the drawn flower over that of the arm

# Theo Jansen's holy numbers, in centimetres: bars a to k, the height l of the crank over the pivot, the crank m.
HOLY_NUMBERS = {
    "a": 38.0, "b": 41.5, "c": 39.3, "d": 40.1, "e": 55.8, "f": 39.4, "g": 36.7,
    "h": 65.7, "i": 49.0, "j": 50.0, "k": 61.9, "l": 7.8, "m": 15.0,
}  # fmt: skip


def meeting(first: FloatArray, second: FloatArray, reach: float, other: float, side: float) -> FloatArray:
    """Return the intersection of two circles to the left (side 1) or right (-1) of the line between their centres.

    Example:
        >>> meeting(np.zeros(2), np.array([2.0, 0.0]), 1.0, 3.0**0.5, 1.0).round(4).tolist()
        [0.5, 0.866]
    """
    way = second - first
    distance = float(np.hypot(*way))
    along = (distance**2 + reach**2 - other**2) / (2.0 * distance)
    height = math.sqrt(max(reach**2 - along**2, 0.0))
    point: FloatArray = first + (along * way + side * height * np.array([-way[1], way[0]])) / distance
    return point


def direction(way: FloatArray) -> float:
    """Return the angle of a vector of the plane from x [rad]."""
    return math.atan2(way[1], way[0])


def unit(angle: float) -> FloatArray:
    """Return the unit vector of the plane at an angle from x [rad]."""
    return np.array([math.cos(angle), math.sin(angle)])


def bar(end: Point, color: Color, radius: float) -> list[Visual]:
    """Return a bar from the origin of its link to a point of the plane, with an eye at each end."""
    point = (float(end[0]), float(end[1]), 0.0)
    return [bone((0, 0, 0), point, radius, color), *pins([(0.0, 0.0), point[:2]], radius)]


def pins(points: Sequence[Point], radius: float) -> list[Visual]:
    """Return pins through points of the plane."""
    return [Visual(Cylinder(1.5 * radius, 3.0 * radius), (x, y, 0.0), DARK) for x, y in points]


def triangle(length: float, corner: FloatArray, color: Color, radius: float) -> list[Visual]:
    """Return bars from the origin along x and to a corner, and one between their ends."""
    across = bone((length, 0, 0), (*corner, 0), radius, color)
    return [*bar((length, 0), color, radius), *bar(corner, color, radius), across]


def curve(points: FloatArray) -> Visual:
    """Return a closed path in the plane, to be drawn on the ground link."""
    flat = np.column_stack([points, np.zeros(len(points))])
    return Visual(Polyline(tuple(map(tuple, flat.tolist())), closed=True), color=SILVER)


def four_bar(ground: Any = 0.4, crank: Any = 0.15, coupler: Any = 0.35, rocker: Any = 0.3) -> Linkage:
    """Return a four-bar linkage: crank and rocker on the ground, joined by a coupler that closes the loop.

    Joints ``crank``, ``coupler`` and ``rocker``; angles of crank and rocker are from the line of the ground, that of
    the coupler from the crank. Frame ``"point"`` is a point of the coupler beside its middle. By Grashof's rule, a bar
    can turn all the way round if the shortest and the longest bar together are no longer than the other two.

    Args:
        ground: Distance of the two pivots [m].
        crank: Length of the bar at the first pivot [m].
        coupler: Length of the bar between crank and rocker [m].
        rocker: Length of the bar at the second pivot [m].

    Example:
        >>> import linkwork as lw
        >>> bars = four_bar()
        >>> lw.solve(bars, lw.Couple({"rocker": 1.0}, value=2.0), start="start").success
        True
    """
    given = {"ground": ground, "crank": crank, "coupler": coupler, "rocker": rocker}
    g, a, b, c = lengths = [checked_size(length, f"the {name} of a four-bar") for name, length in given.items()]
    if max(lengths) >= sum(lengths) - max(lengths):
        raise LinkageError(f"a four-bar with bars of {', '.join(f'{x:g}' for x in lengths)} m cannot be put together.")
    near, far = max(abs(b - c), abs(g - a)), min(b + c, g + a)
    middle = (near + far) / 2.0  # the middle of the possible distances from crank pin to rocker pivot
    start = math.acos(max(-1.0, min(1.0, (g * g + a * a - middle * middle) / (2.0 * g * a))))
    return four_bar_linkage((g, a, b, c), (0.5 * b, 0.35 * b), start=start)


def four_bar_linkage(
    lengths: tuple[float, float, float, float],
    point: Point,
    *,
    start: float,
    side: int = 1,
    tilt: float = 0.0,
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    name: str = "four_bar",
) -> Linkage:
    """Return a four-bar from lengths that close: ground, crank, coupler and rocker [m].

    Args:
        lengths: The lengths.
        point: Position of frame ``"point"`` on the coupler, relative to the crank pin with x along the coupler [m].
        start: Angle of the crank from the line of the ground in the poses ``"start"`` and ``"crossed"`` [rad].
        side: In ``"start"``, 1 puts the rocker's pin to the left of the line from crank pin to rocker pivot, -1 to the
            right.
        tilt: Angle of that frame from the coupler [rad].
        at: Position of the crank's pivot, x and y [m], and angle of the ground line from x [rad].
        name: Its name.
    """
    g, a, b, c = lengths
    radius = 0.02 * min(lengths) + 0.01 * max(lengths)
    corner = np.asarray(point, dtype=float)
    placement = transform((at[0], at[1], 0.0), turn("z", at[2]))
    plane, origin = placement[:2, :2], placement[:2, 3]
    far_pivot = origin + plane @ (g, 0.0)
    base = [*pins([origin, far_pivot], radius), bone((*origin, 0), (*far_pivot, 0), 0.5 * radius, SILVER)]
    if abs(g - a) >= abs(b - c) and g + a <= b + c:  # the crank can turn fully
        base.append(curve(_coupler_curve(lengths, corner, side) @ plane.T + origin))
    plate = [
        *bar((b, 0), BLUE, radius),
        bone((0, 0, 0), (*corner, 0), 0.6 * radius, SKY),
        bone((b, 0, 0), (*corner, 0), 0.6 * radius, SKY),
    ]
    build = Builder(name, base="ground", shape=base)
    build.continuous("crank", "crank", at=placement, shape=bar((a, 0), ORANGE, radius))
    build.continuous("coupler", "coupler", at=(a, 0, 0), shape=plate)
    build.frame("coupler_end", at=(b, 0, 0)).frame("point", at=(*corner, 0), rotation=turn("z", tilt) if tilt else None)
    pivot = transform((*far_pivot, 0.0), placement[:3, :3])
    build.continuous("rocker", "rocker", parent="ground", at=pivot, shape=bar((c, 0), GREEN, radius))
    build.frame("rocker_end", at=(c, 0, 0))
    build.loop("four_bar", "coupler_end", "rocker_end")
    pin, foot = a * unit(start), np.array([g, 0.0])
    for pose, way in (("start", side), ("crossed", -side)):
        joint = meeting(pin, foot, b, c, way)
        build.pose(pose, crank=start, coupler=direction(joint - pin) - start, rocker=direction(joint - foot))
    return build.build()


def _coupler_curve(lengths: Sequence[float], point: FloatArray, side: float) -> FloatArray:
    """Return the path (n, 2) of a point of the coupler over one turn of the crank."""
    g, a, b, c = lengths
    pivot, path = np.array([g, 0.0]), []
    for angle in np.linspace(0.0, TURN, 96, endpoint=False):
        pin = a * unit(angle)
        along = (meeting(pin, pivot, b, c, side) - pin) / b
        path.append(pin + point[0] * along + point[1] * np.array([-along[1], along[0]]))
    return np.array(path)


def flower(phase: float, size: float) -> FloatArray:
    """Return the point of a flower of five petals about the origin at a phase from 0 to 1."""
    angle = TURN * phase
    return size * (1.0 + 0.35 * math.cos(5.0 * angle)) * unit(angle)


def pantograph(ratio: Any = 2.5) -> Linkage:
    """Return a pantograph, whose ``"pen"`` copies the path of its ``"tracer"``, scaled by `ratio`.

    Four bars make a parallelogram: ``shoulder`` turns the first about the pivot at the origin and ``elbow`` the second
    on it; ``arm`` and ``link`` follow, parallel to the second and the first. Pivot, tracer and pen are on one line.

    Args:
        ratio: Scale of the copy, 1.2 to 10.

    Example:
        >>> board = pantograph(3)
        >>> frames = board.forward(board.stored_pose("ready"))
        >>> (frames["pen"][:2, 3] / frames["tracer"][:2, 3]).round(6).tolist()
        [3.0, 3.0]
    """
    k = checked_size(ratio, "the ratio of a pantograph")
    if not 1.2 <= k <= 10.0:
        raise LinkageError(f"the ratio of a pantograph is from 1.2 to 10, got {ratio!r}.")
    a = 0.2  # unequal sides of the parallelogram, (k - 1) a and shorter, keep it from folding into its mirror image
    b = 0.85 * min(k - 1.0, 1.4) * a
    radius, bounds = 0.007, np.radians((5.0, 175.0)).tolist()
    shoulder, elbow = np.radians(READY)
    center = a * unit(shoulder) + b * unit(shoulder + elbow)
    drawn = np.array([center + flower(phase, FLOWER * b) for phase in np.linspace(0.0, 1.0, 120, endpoint=False)])
    board = [*pins([(0, 0)], 1.6 * radius), curve(drawn), curve(k * drawn)]
    build = Builder("pantograph", base="board", shape=board)
    first = [*bar((k * a, 0), BLUE, radius), *pins([(a, 0)], radius)]
    second = [*bar((k * b, 0), TEAL, radius), *pins([(b, 0)], radius)]
    build.revolute("shoulder", "first", limits=(-math.pi, math.pi), shape=first)
    build.revolute("elbow", "second", at=(k * a, 0, 0), limits=bounds, shape=second)
    build.frame("pen", at=(k * b, 0, 0))
    build.revolute("link", "fourth", at=(b, 0, 0), limits=bounds, shape=bar(((k - 1.0) * a, 0), PLUM, radius))
    build.frame("link_end", at=((k - 1.0) * a, 0, 0))
    build.revolute("arm", "third", parent="first", at=(a, 0, 0), limits=bounds, shape=bar((b, 0), RED, radius))
    build.frame("tracer", at=(b, 0, 0))
    build.loop("parallelogram", "tracer", "link_end")
    for name, degrees in {"ready": READY, "open": (45.0, 35.0), "folded": (-5.0, 150.0)}.items():
        turn, elbow = map(math.radians, degrees)
        build.pose(name, shoulder=turn, elbow=elbow, arm=elbow, link=math.pi - elbow)
    return build.build()


def jansen_points(angle: float, n: dict[str, float]) -> dict[str, FloatArray]:
    """Return the pins of Jansen's leg in the plane, crank axis at the origin, from the crank's angle and its lengths.

    Each is where two circles meet: ``top`` and ``low`` on crank and pivot, ``back`` on the upper triangle, ``knee`` and
    ``foot`` below.
    """
    crank, pivot = n["m"] * unit(angle), np.array([-n["a"], -n["l"]])
    top = meeting(crank, pivot, n["j"], n["b"], -1.0)
    low = meeting(crank, pivot, n["k"], n["c"], 1.0)
    back = meeting(pivot, top, n["d"], n["e"], 1.0)
    knee = meeting(back, low, n["f"], n["g"], -1.0)
    foot = meeting(knee, low, n["h"], n["i"], -1.0)
    return {"pin": crank, "pivot": pivot, "top": top, "low": low, "back": back, "knee": knee, "foot": foot}


def jansen_leg() -> Linkage:
    """Return a leg of Theo Jansen's walking beasts: one crank, eleven bars, and a foot that steps.

    Joint ``crank`` turns all the way round; ``upper_rod``, ``lower_rod``, ``top``, ``swing``, ``coupler`` and ``knee``
    follow from three closed loops. The lengths are his "holy numbers", in centimetres. Frame ``"foot"``.

    Example:
        >>> leg = jansen_leg()
        >>> leg, len(leg.loops)
        (<Linkage 'jansen_leg': 8 links, 7 joints, nq=7, nv=7>, 3)
    """
    n = {name: value / 100.0 for name, value in HOLY_NUMBERS.items()}
    home = jansen_points(0.0, n)
    path = np.array([jansen_points(angle, n)["foot"] for angle in np.linspace(0.0, TURN, 96, endpoint=False)])
    radius, pivot = 0.008, home["pivot"]
    back, foot = seen_from(home["back"], pivot, home["top"]), seen_from(home["foot"], home["low"], home["knee"])
    base = [*pins([(0, 0), pivot], 1.5 * radius), bone((0, 0, 0), (*pivot, 0), 0.6 * radius, SILVER), curve(path)]
    build = Builder("jansen_leg", base="frame", shape=base)
    build.continuous("crank", "crank", shape=bar((n["m"], 0), ORANGE, radius))
    bars = (  # joint and link, parent link and position on it, distance of the other pin, shape
        ("upper_rod", "crank", (n["m"], 0), n["j"], bar((n["j"], 0), STEEL, radius)),
        ("lower_rod", "crank", (n["m"], 0), n["k"], bar((n["k"], 0), STEEL, radius)),
        ("top", "frame", pivot, n["b"], triangle(n["b"], back, BLUE, radius)),
        ("coupler", "top", back, n["f"], bar((n["f"], 0), GREEN, radius)),
        ("swing", "frame", pivot, n["c"], bar((n["c"], 0), GREEN, radius)),
    )
    for name, parent, at, length, look in bars:
        build.continuous(name, name, parent=parent, at=(*at, 0), shape=look).frame(f"{name}_end", at=(length, 0, 0))
    sole = Visual(Cylinder(2.5 * radius, 3.0 * radius), (*foot, 0.0), YELLOW)
    build.continuous("knee", "shin", at=(n["c"], 0, 0), shape=[*triangle(n["g"], foot, RED, radius), sole])
    build.frame("shin_end", at=(n["g"], 0, 0)).frame("foot", at=(*foot, 0))
    build.loop("upper", "upper_rod_end", "top_end").loop("lower", "lower_rod_end", "swing_end")
    build.loop("knee", "coupler_end", "shin_end")
    for name, angle in (("start", 0.0), ("lifted", math.radians(100.0))):
        build.pose(name, _jansen_values(angle, n))
    return build.build()


def seen_from(point: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return a pin in the frame of a bar, with its first pin at the origin and its second along x."""
    (cos, sin), (x, y) = unit(direction(second - first)), point - first
    return np.array([cos * x + sin * y, -sin * x + cos * y])


def _jansen_values(angle: float, n: dict[str, float]) -> dict[str, float]:
    p = jansen_points(angle, n)
    top, swing = direction(p["top"] - p["pivot"]), direction(p["low"] - p["pivot"])
    return {
        "crank": angle,
        "upper_rod": direction(p["top"] - p["pin"]) - angle,
        "lower_rod": direction(p["low"] - p["pin"]) - angle,
        "top": top,
        "coupler": direction(p["knee"] - p["back"]) - top,
        "swing": swing,
        "knee": direction(p["knee"] - p["low"]) - swing,
    }
