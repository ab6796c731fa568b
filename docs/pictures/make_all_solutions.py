"""Make the pictures of the page on all solutions: python docs/pictures/make_all_solutions.py.

Subproblems and families are drawn as lines in space, seen from the side and a little from above, as SVG; poses of arms
come from `lw.draw`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from made import recorded
from make import shrink
from matplotlib.figure import Figure

import linkwork as lw

HERE = Path(__file__).parent
INK, QUIET, PAPER, BONE = "#263238", "#78909c", "#ffffff", "#cfd8dc"
AXIS, GIVEN, FOUND = "#3949ab", "#37474f", "#e65100"
Array = np.ndarray


class Sheet:
    """A picture of lines in space: right-handed, z up, without perspective.

    Args:
        size: Width and height [px].
        scale: Pixels a unit of length.
        middle: The point in the middle of the picture.
        azimuth: Where it is seen from [deg], from x towards y.
        elevation: ... and from how far above [deg].
    """

    def __init__(
        self, size: tuple[int, int], scale: float, middle: Any = (0, 0, 0), azimuth: float = -60, elevation: float = 20
    ) -> None:
        a, e = math.radians(azimuth), math.radians(elevation)
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        up = np.array([-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e)])
        self.view, self.middle, self.size, self.scale = np.stack([right, -up]), np.array(middle, float), size, scale
        self.parts: list[str] = []

    def at(self, point: Any) -> Array:
        """Return where a point is in the picture [px]."""
        offset = self.view @ (np.asarray(point, float) - self.middle)
        return offset * self.scale + np.array(self.size) / 2.0

    def path(self, points: Any, colour: str, width: float = 1.5, *, dashed: bool = False, fill: str = "none") -> None:
        """Draw a line through points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.at, points))
        dashes = ' stroke-dasharray="4 4"' if dashed else ""
        self.parts.append(
            f'<polyline points="{places}" fill="{fill}" stroke="{colour}" stroke-width="{width:g}"'
            f' stroke-linecap="round" stroke-linejoin="round"{dashes}/>'
        )

    def dot(self, point: Any, colour: str, radius: float = 4.5) -> None:
        """Draw a point."""
        x, y = self.at(point)
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" stroke="{PAPER}" stroke-width="1.2"/>'
        )

    def text(self, point: Any, text: str, colour: str = INK, *, by: tuple[float, float] = (8, -8)) -> None:
        """Write beside a point, moved by pixels."""
        x, y = self.at(point) + by
        anchor = "end" if by[0] < 0 else "start"
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="14" font-family="sans-serif"'
            f' text-anchor="{anchor}">{text}</text>'
        )

    def arrow(self, start: Any, end: Any, colour: str, width: float = 1.8) -> None:
        """Draw a line with a head at its end."""
        self.path([start, end], colour, width)
        tip, way = self.at(end), self.at(end) - self.at(start)
        way = way / (float(np.hypot(*way)) or 1.0)
        side = np.array([-way[1], way[0]])
        corners = [tip, tip - 9 * way + 4 * side, tip - 9 * way - 4 * side]
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self.parts.append(f'<polygon points="{places}" fill="{colour}"/>')

    def axis(self, point: Any, direction: Any, before: float, after: float, name: str = "", colour: str = AXIS) -> None:
        """Draw the axis of a joint, from before a point to after it."""
        point, direction = np.asarray(point, float), np.asarray(direction, float)
        self.arrow(point - before * direction, point + after * direction, colour)
        if name:
            self.beyond(point, point + after * direction, name, colour)

    def beyond(self, start: Any, end: Any, text: str, colour: str) -> None:
        """Write beyond the end of an arrow."""
        way = self.at(end) - self.at(start)
        x, y = self.at(end) + 11 * way / (float(np.hypot(*way)) or 1.0)
        self.parts.append(
            f'<text x="{x:.1f}" y="{y + 5:.1f}" fill="{colour}" font-size="14" font-family="sans-serif"'
            f' text-anchor="middle">{text}</text>'
        )

    def save(self, name: str) -> None:
        """Write the picture on its paper."""
        width, height = self.size
        begin = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        )
        paper = f'<rect width="{width}" height="{height}" rx="6" fill="{PAPER}"/>'
        (HERE / name).write_text("\n".join([begin, paper, *self.parts, "</svg>\n"]), encoding="utf-8")
        print(f"{name}: {(HERE / name).stat().st_size / 1000:.1f} kB")


def circle(centre: Any, normal: Any, through: Any, start: float = 0.0, end: float = 360.0) -> Array:
    """Return points of the circle of a point about an axis, from one angle to another [deg]."""
    centre, normal, through = (np.asarray(one, float) for one in (centre, normal, through))
    normal = normal / np.linalg.norm(normal)
    foot = centre + normal * ((through - centre) @ normal)
    u = through - foot
    angles = np.radians(np.linspace(start, end, max(2, int(abs(end - start) / 4))))[:, None]
    return foot + np.cos(angles) * u + np.sin(angles) * np.cross(normal, u)


# The subproblems: circles that meet points, circles, spheres and planes

Z = np.array([0.0, 0.0, 1.0])
SMALL = (300, 230)


def onto_a_point() -> Sheet:
    """Subproblem 1: one turn brings a point to another."""
    sheet = Sheet(SMALL, 85, (0, 0, 0.05))
    p = circle((0, 0, 0), Z, (1, 0, 0))[0]
    whole, arc = circle((0, 0, 0), Z, p), circle((0, 0, 0), Z, p, -70, 35)
    sheet.path(whole, QUIET, 1.2)
    sheet.axis((0, 0, 0), Z, 0.6, 1.0, "h")
    sheet.path(arc, FOUND, 3)
    sheet.arrow(arc[-3], arc[-1], FOUND, 3)
    sheet.dot(arc[0], GIVEN)
    sheet.text(arc[0], "p", by=(-8, 18))
    sheet.dot(arc[-1], GIVEN)
    sheet.text(arc[-1], "q", by=(10, 4))
    sheet.text(arc[len(arc) // 2], "θ", FOUND, by=(6, 22))
    return sheet


def two_circles() -> Sheet:
    """Subproblem 2: two turns about axes that meet; their circles lie on one sphere."""
    sheet = Sheet(SMALL, 78, (0.1, 0, 0.12), azimuth=-70, elevation=14)
    h1, h2 = Z, np.array([math.cos(0.35), 0.0, math.sin(0.35)])
    sheet.path(circle((0, 0, 0), (math.cos(math.radians(-70)), math.sin(math.radians(-70)), 0.25), Z), BONE, 1.5)
    height, along = 0.35, 0.55
    ring1 = circle((0, 0, 0), h1, (math.sqrt(1 - height**2), 0, height))
    side = np.array([-math.sin(0.35), 0.0, math.cos(0.35)])
    ring2 = circle((0, 0, 0), h2, along * h2 + math.sqrt(1 - along**2) * side)
    sheet.path(ring1, QUIET, 1.4)
    sheet.path(ring2, QUIET, 1.4)
    sheet.axis((0, 0, 0), h1, 0.2, 1.3, "h₁")
    sheet.axis((0, 0, 0), h2, 0.2, 1.38, "h₂")
    # both: z = height and x cos + z sin = along
    x = (along - height * math.sin(0.35)) / math.cos(0.35)
    y = math.sqrt(1.0 - height**2 - x**2)
    q, p = circle((0, 0, 0), h1, (x, y, height), 0, 75)[-1], circle((0, 0, 0), h2, (x, -y, height), 0, 95)[-1]
    for sign in (1, -1):
        sheet.dot((x, sign * y, height), FOUND, 5.5)
    sheet.dot(q, GIVEN)
    sheet.text(q, "q", by=(-8, -6))
    sheet.dot(p, GIVEN)
    sheet.text(p, "p", by=(4, 20))
    return sheet


def at_a_distance() -> Sheet:
    """Subproblem 3: one turn brings a point to a distance from another: a circle and a sphere."""
    sheet = Sheet(SMALL, 70, (0.4, 0, 0.15), azimuth=-80, elevation=26)
    ring = circle((0, 0, 0), Z, (1, 0, 0))
    q, radius = np.array([1.3, 0.0, 0.3]), 0.95
    sheet.axis((0, 0, 0), Z, 0.6, 1.0, "h")
    sheet.path(ring, QUIET, 1.4)
    seen = np.array([math.cos(math.radians(-80)), math.sin(math.radians(-80)), math.tan(math.radians(26))])
    outline = circle(q, seen, q + radius * Z)
    flat = outline - np.outer((outline - q) @ seen / (seen @ seen), seen)
    flat = q + (flat - q) / np.linalg.norm(flat - q, axis=1)[:, None] * radius
    sheet.path(flat, QUIET, 1.2, fill="#fff3e0aa")
    sheet.path(ring, QUIET, 1.4)
    x = (1.0 + q @ q - radius**2) / (2 * q[0])
    for sign in (1, -1):
        point = np.array([x, sign * math.sqrt(1 - x * x), 0.0])
        sheet.path([q, point], FOUND, 1.2, dashed=True)
        sheet.dot(point, FOUND, 5.5)
    sheet.dot(q, GIVEN)
    sheet.text(q, "q", by=(9, 0))
    sheet.text((q + np.array([x, -math.sqrt(1 - x * x), 0.0])) / 2, "d", FOUND, by=(6, 16))
    p = circle((0, 0, 0), Z, (1, 0, 0), 0, 215)[-1]
    sheet.dot(p, GIVEN)
    sheet.text(p, "p", by=(-9, 4))
    return sheet


def onto_a_plane() -> Sheet:
    """Subproblem 4: one turn brings a point onto a plane."""
    sheet = Sheet(SMALL, 80, (0.1, 0, 0.1))
    ring = circle((0, 0, 0), Z, (1, 0, 0))
    sheet.axis((0, 0, 0), Z, 0.6, 1.05, "h")
    k = np.array([math.cos(0.3), math.sin(0.3), 0.0])
    across, d = np.array([-k[1], k[0], 0.0]), 0.45
    corners = [
        d * k + s * across + z * Z for s, z in ((-1.3, -0.55), (1.3, -0.55), (1.3, 0.75), (-1.3, 0.75), (-1.3, -0.55))
    ]
    sheet.path(ring, QUIET, 1.4)
    sheet.path(corners, "#ffb74d", 1, fill="#fff3e0aa")
    for sign in (1, -1):
        sheet.dot(d * k + sign * math.sqrt(1 - d * d) * across, FOUND, 5.5)
    foot = d * k + 0.35 * Z
    sheet.arrow(foot, foot + 0.5 * k, GIVEN)
    sheet.text(foot + 0.5 * k, "k", by=(6, 2))
    p = circle((0, 0, 0), Z, (1, 0, 0), 0, 160)[-1]
    sheet.dot(p, GIVEN)
    sheet.text(p, "p", by=(-8, -8))
    return sheet


# The families: an arm as its axes, those that make the family in colour


def lines(arm: lw.Linkage, frame: str, q: Array) -> tuple[Array, Array, Array]:
    """Return directions and points of the axes of revolute joints at a pose, and the frame's place."""
    J, tip = arm.jacobian(q, frame), arm.forward(q, frame=frame)[:3, 3]
    directions = J[3:].T
    return directions, tip + np.cross(directions, J[:3].T), tip


def corners(directions: Array, points: Array, tip: Array) -> list[Array]:
    """Return a way along the arm: from axis to axis, where they are nearest to each other."""
    way = [np.array([points[0][0], points[0][1], 0.0])]
    for (h, c), (k, d) in pairwise(zip(directions, points, strict=True)):
        cosine, between = h @ k, d - c
        if 1.0 - cosine**2 < 1e-9:  # parallel: straight across, at the height where the way is
            first = c + h * ((way[-1] - c) @ h)
            second = first + between - h * (between @ h)
        else:
            first = c + h * ((between @ h - cosine * (between @ k)) / (1.0 - cosine**2))
            second = d + k * ((cosine * (between @ h) - between @ k) / (1.0 - cosine**2))
        way += [first, second]
    return [*way, tip]


def family(
    arm: lw.Linkage, frame: str, q: Sequence[float], special: Sequence[int], *, view: tuple[float, float], held: int = 0
) -> Sheet:
    """Draw the axes of an arm; those of special joints (1 is the first) in colour, one that is held dashed."""
    directions, points, tip = lines(arm, frame, np.array(q, float))
    way = corners(directions, points, tip)
    places = np.array(way)
    reach = float(np.ptp(places, axis=0).max())
    sheet = Sheet((360, 300), 190 / reach, (places.min(axis=0) + places.max(axis=0)) / 2, *view)
    sheet.path(way, BONE, 11)
    half = 0.2 * reach

    def on(place: Array, joint: int) -> bool:
        return bool(np.linalg.norm(np.cross(place - points[joint - 1], directions[joint - 1])) < 1e-6)

    for k, (direction, spot) in enumerate(zip(directions, points, strict=True), start=1):
        near = min(places, key=lambda place: (not on(place, k), -sum(on(place, other) for other in special)))
        near = spot + direction * ((near - spot) @ direction)
        colour = FOUND if k in special else QUIET
        if k == held:
            sheet.path([near - half * direction, near + half * direction], AXIS, 2.2, dashed=True)
            sheet.text(near + half * direction, f"{k}, held", AXIS, by=(7, -2))
        else:
            sheet.axis(near, direction, half, half, str(k), colour)
    for place in way[1:-1]:
        sheet.dot(place, INK, 3)
    sheet.dot(tip, GIVEN, 5)
    return sheet


def table(rows: Sequence[tuple[float, float, float]], name: str) -> lw.Linkage:
    """Return an arm of rows d, a [m] and alpha [deg]."""
    return lw.from_dh([(0.0, d, a, math.radians(alpha)) for d, a, alpha in rows], name=name)


def families() -> dict[str, Sheet]:
    """Return a picture for each family."""
    puma = table(
        [(0.5, 0, 90), (0, 0.4318, 0), (0.15, 0.0203, -90), (0.4318, 0, 90), (0, 0, -90), (0.12, 0, 0)], "Puma 560"
    )
    jaco = table(
        [(0.2755, 0, 90), (0, 0.41, 180), (-0.0098, 0, 90), (-0.25, 0, 60), (-0.0855, 0, 60), (-0.2, 0, 0)], "Jaco 2"
    )
    ur5, panda = lw.models.ur5(), lw.models.panda()
    return {
        "family-wrist.svg": family(puma, "tip", [0.2, 2.73, -1.66, 0.04, -1.62, 2.44], (4, 5, 6), view=(-35, 22)),
        "family-parallel.svg": family(ur5, "tip", [0.5, -1.1, 1.3, -0.6, -1.2, 0.3], (2, 3, 4), view=(-30, 24)),
        "family-general.svg": family(jaco, "tip", [0.69, 1.82, -2.06, 0.48, 1.22, -1.77], (), view=(-35, 22)),
        "family-seven.svg": family(
            panda, "tip", [0.5, -0.3, 0.3, -1.9, 0.4, 1.9, 0.6], (1, 2, 3), view=(-30, 22), held=7
        ),
    }


def eight_poses() -> Figure:
    """Draw the eight poses of a UR5 for one goal."""
    arm = lw.models.ur5()
    goal = lw.Reach("tip", pose=arm.forward(arm.pose([0.4, -1.2, 1.5, -0.9, 1.0, 0.3]), frame="tip"))
    ways = lw.solve_all(arm, goal)
    order = sorted(range(len(ways)), key=lambda k: (ways.q[k][0] % (2 * math.pi), ways.q[k][2] > 0, ways.q[k][4] > 0))
    figure = Figure(figsize=(9.6, 5.4))
    for place, k in enumerate(order):
        axes = figure.add_subplot(2, 4, place + 1, projection="3d")
        lw.draw.pose(arm, ways.q[k], ax=axes, frames=["tip"], view=(18, -55))
        axes.set_axis_off()
        axes.set(xlim=(-0.2, 0.75), ylim=(-0.3, 0.65), zlim=(-0.3, 0.65))
        axes.set_box_aspect((1, 1, 1), zoom=1.5)
    figure.subplots_adjust(0, 0, 1, 1, 0, 0)
    return figure


def main() -> None:
    """Make them all and say how large they are."""
    drawn = {
        "subproblem-1.svg": onto_a_point(),
        "subproblem-2.svg": two_circles(),
        "subproblem-3.svg": at_a_distance(),
        "subproblem-4.svg": onto_a_plane(),
        **families(),
    }
    for name, sheet in drawn.items():
        sheet.save(name)
    eight_poses().savefig(HERE / "eight-poses.png", dpi=100)
    shrink(HERE / "eight-poses.png")
    print(f"eight-poses.png: {(HERE / 'eight-poses.png').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
