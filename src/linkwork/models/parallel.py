"""Parallel robots: platforms on several legs. A Delta, a Stewart platform and a five-bar.

The platform has its own chain in the tree, and loops join the legs to it. `solve_batch` solves each leg separately.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import LinkageError
from ..linkage.builder import Builder
from ..linkage.geometry import Cylinder, Sphere, Visual, bone
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, axis_rotation, translation
from .closed import bar, direction, meeting, pins
from .parts import BLUE, DARK, GREEN, ORANGE, SILVER, SKY, STEEL, TEAL, checked_size, universal_joint

UP = np.array([0.0, 0.0, 1.0])
SPREAD = 15.0  # half the angle between the two legs of a pair of a Stewart platform [deg]
LEAN = math.radians(60.0)  # largest angle of rods and legs to the side


def delta(base: Any = 0.2, platform: Any = 0.06, arm: Any = 0.22, rod: Any = 0.5) -> Linkage:
    """Return a Delta robot: three arms carry a platform by rods; the platform translates but does not rotate.

    Joints ``x``, ``y`` and ``z`` are the platform's; ``arm1`` to ``arm3`` are driven, from horizontal (0) downwards.
    The rod of an arm, a parallelogram in the real robot, follows by ``elbow`` and ``swing``. Use frame ``"platform"``
    for goals.

    Args:
        base: Distance of the arms' joints from the middle [m].
        platform: Distance of the rods' ends from the middle of the platform.
        arm: Length of the arms.
        rod: Length of the rods.

    Example:
        >>> import linkwork as lw
        >>> robot = lw.models.delta()
        >>> places = np.array([[0.0, 0.0, -0.45], [0.1, 0.05, -0.5]])
        >>> lw.solve_batch(robot, "platform", places, orientation=False)
        <Batch of 'platform': 2 of 2 reached>
    """
    given = {"base": base, "platform": platform, "arm": arm, "rod": rod}
    b, p, a, r = (checked_size(size, f"the {name} of a Delta") for name, size in given.items())
    if r <= abs(b + a - p):
        raise LinkageError(f"a Delta with rods of {r:g} m, too short to reach its platform, has no rest pose.")
    radius, reach = 0.03 * a, a + r
    build = Builder("delta", base="base", shape=[Visual(Cylinder(b, 0.12 * a), (0, 0, 0.06 * a), STEEL)])
    build.prismatic("x", "slide_x", axis="x", limits=(-reach, reach))
    build.prismatic("y", "slide_y", axis="y", limits=(-reach, reach))
    plate = Visual(Cylinder(p + radius, 0.06 * a), (0, 0, 0), ORANGE)
    build.prismatic("z", "platform", axis="z", limits=(-reach, 0.0), shape=[plate])
    for k in (1, 2, 3):
        turn = axis_rotation(UP, 2.0 * math.pi * (k - 1) / 3.0)
        build.frame(f"joint{k}", link="platform", at=turn @ (p, 0, 0), rotation=turn)
        build.revolute(
            f"arm{k}", f"arm{k}", parent="base", axis="y", at=turn @ (b, 0, 0), rotation=turn,
            limits=("-80deg", "100deg"), shape=bone((0, 0, 0), (a, 0, 0), 2.0 * radius, BLUE),
        )  # fmt: skip
        ball = Visual(Sphere(2.4 * radius), (0, 0, 0), DARK)
        build.revolute(f"elbow{k}", f"elbow{k}", axis="y", at=(a, 0, 0), limits=("-10deg", "175deg"), shape=[ball])
        rods = [bone((0, s * 0.2 * p, 0), (r, s * 0.2 * p, 0), radius, SILVER) for s in (-1, 1)]
        build.revolute(f"swing{k}", f"rod{k}", axis="z", limits=(-LEAN, LEAN), shape=rods)
        build.frame(f"rod_end{k}", at=(r, 0, 0)).loop(f"leg{k}", f"rod_end{k}", f"joint{k}")
    depth = -math.sqrt(r * r - (b + a - p) ** 2)  # height of the platform with level arms
    for name, place in {"ready": (0.0, 0.0, depth), "aside": (0.3 * a, 0.2 * a, depth - 0.2 * a)}.items():
        build.pose(name, **_delta_values(place, b - p, a, r))
    return build.build()


def _delta_values(place: tuple[float, float, float], off: float, arm: float, rod: float) -> dict[str, float]:
    """Return all joint values of a Delta for a position of the platform, with elbows outwards."""
    values = dict(zip("xyz", place, strict=True))
    for k in (1, 2, 3):
        x, y, z = axis_rotation(UP, -2.0 * math.pi * (k - 1) / 3.0) @ place - (off, 0.0, 0.0)
        cosine = (x * x + y * y + z * z + arm * arm - rod * rod) / (2.0 * arm * math.hypot(x, z))
        turn = math.atan2(-z, x) - math.acos(cosine)
        dx, dz = x - arm * math.cos(turn), z + arm * math.sin(turn)
        values |= {f"arm{k}": turn, f"elbow{k}": math.atan2(-dz, dx) - turn, f"swing{k}": math.asin(y / rod)}
    return values


def stewart(base: Any = 0.5, platform: Any = 0.3, height: Any = 0.6) -> Linkage:
    """Return a Stewart platform: a platform on six legs that extend and retract.

    The platform floats; ``leg1`` to ``leg6`` are driven, each on a universal joint ``tilt``. Frame ``"platform"``.

    Args:
        base: Radius of the circle that the legs stand on [m].
        platform: Radius of the circle of joints on the platform.
        height: Height of the platform at rest.

    Example:
        >>> import linkwork as lw
        >>> robot = lw.models.stewart()
        >>> lw.mobility(robot).degrees
        6
    """
    given = {"base": base, "platform": platform, "height": height}
    b, p, h = (checked_size(size, f"the {name} of a Stewart platform") for name, size in given.items())
    radius = 0.03 * b
    disc = Visual(Cylinder(b + radius, 0.5 * radius), (0, 0, -0.25 * radius), STEEL)
    top = Visual(Cylinder(p + radius, 0.5 * radius), (0, 0, 0), ORANGE)
    feet, heads = _hexagon(b, 0.0), _hexagon(p, math.pi / 3.0)
    lengths = np.linalg.norm(heads + h * UP - feet, axis=1)
    build = Builder("stewart", base="base", shape=[disc])
    build.floating("platform", "platform", parent="base", shape=[top])
    for k, (foot, head, length) in enumerate(zip(feet, heads, lengths, strict=True), start=1):
        build.frame(f"joint{k}", link="platform", at=head)
        build.joint(
            f"tilt{k}", f"foot{k}", universal_joint("x", "y", (-60, 60), (-60, 60)), parent="base", at=foot,
            shape=bone((0, 0, 0), (0, 0, 0.55 * float(length)), 1.6 * radius, BLUE),
        )  # fmt: skip
        build.prismatic(
            f"leg{k}", f"leg{k}", axis="z", limits=(0.6 * length, 1.6 * length),
            shape=bone((0, 0, -0.5 * float(length)), (0, 0, 0), radius, SILVER),
        )  # fmt: skip
        build.frame(f"leg_end{k}").loop(f"ball{k}", f"leg_end{k}", f"joint{k}")
    tilted = np.eye(4)
    tilted[:3, :3], tilted[:3, 3] = axis_rotation(np.array([1.0, 0.0, 0.0]), 0.2), (0.1 * h, 0.0, 1.1 * h)
    for name, place in {"ready": translation((0.0, 0.0, h)), "tilted": tilted}.items():
        build.pose(name, **_stewart_values(place, feet, heads))
    return build.build()


def _stewart_values(place: FloatArray, feet: FloatArray, heads: FloatArray) -> dict[str, Any]:
    """Return all joint values of a Stewart platform for a pose (4, 4) of the platform."""
    values: dict[str, Any] = {"platform": place}
    for k, way in enumerate(heads @ place[:3, :3].T + place[:3, 3] - feet, start=1):
        length = float(np.linalg.norm(way))
        values |= {f"tilt{k}": (math.atan2(-way[1], way[2]), math.asin(way[0] / length)), f"leg{k}": length}
    return values


def _hexagon(radius: float, turn: float) -> FloatArray:
    """Return the positions (6, 3) of joints in three pairs on a circle."""
    middles = turn + np.radians([0.0, 0.0, 120.0, 120.0, 240.0, 240.0])
    angles = middles + np.radians([-SPREAD, SPREAD] * 3)
    if turn:  # the two legs of a pair at the base go to different pairs at the platform
        angles = np.roll(angles, 1)
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def five_bar(ground: Any = 0.3, crank: Any = 0.25, link: Any = 0.35) -> Linkage:
    """Return a five-bar: two driven cranks on the ground, and two bars that meet at the ``"tip"``.

    Joints ``left`` and ``right`` are driven; ``left_elbow`` and ``right_elbow`` follow.

    Args:
        ground: Distance of the two pivots [m].
        crank: Length of the cranks.
        link: Length of the bars.

    Example:
        >>> import linkwork as lw
        >>> robot = lw.models.five_bar()
        >>> lw.solve_batch(robot, "tip", [[0.15, 0.4, 0.0], [0.0, 0.35, 0.0]], orientation=False, start="ready")
        <Batch of 'tip': 2 of 2 reached>
    """
    given = {"ground": ground, "crank": crank, "link": link}
    g, a, b = (checked_size(size, f"the {name} of a five-bar") for name, size in given.items())
    top = 0.9 * math.sqrt(max((a + b) ** 2 - g * g / 4.0, 0.0))
    if a + b <= g / 2.0 or math.hypot(g / 2.0, top) <= abs(a - b):
        raise LinkageError(f"a five-bar of {g:g}, {a:g} and {b:g} m cannot be put together.")
    radius = 0.02 * (a + b) / 2.0
    base = [*pins([(0, 0), (g, 0)], 1.3 * radius), bone((0, 0, 0), (g, 0, 0), 0.5 * radius, SILVER)]
    build = Builder("five_bar", base="ground", shape=base)
    for name, x, colors in (("left", 0.0, (BLUE, SKY)), ("right", g, (TEAL, GREEN))):
        build.continuous(name, f"{name}_crank", parent="ground", at=(x, 0, 0), shape=bar((a, 0), colors[0], radius))
        build.continuous(f"{name}_elbow", f"{name}_bar", at=(a, 0, 0), shape=bar((b, 0), colors[1], radius))
        build.frame("tip" if name == "left" else "right_end", at=(b, 0, 0))
    build.loop("pin", "right_end", "tip")
    for name, tip in {"ready": (g / 2.0, top), "aside": (0.3 * g, 0.85 * top)}.items():
        build.pose(name, **_five_bar_values(np.array(tip), g, a, b))
    return build.build()


def _five_bar_values(tip: FloatArray, ground: float, crank: float, link: float) -> dict[str, float]:
    """Return all joint values of a five-bar for a position of the tip, with elbows outwards."""
    values: dict[str, float] = {}
    for name, x, side in (("left", 0.0, 1.0), ("right", ground, -1.0)):
        pivot = np.array([x, 0.0])
        elbow = meeting(pivot, tip, crank, link, side)
        values[name] = direction(elbow - pivot)
        values[f"{name}_elbow"] = direction(tip - elbow) - values[name]
    return values
