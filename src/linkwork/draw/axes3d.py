"""Numbered edges of a box in space: lines, ticks, numbers and names, at distances measured on the page.

matplotlib places the numbers of its own 3-D axes at distances that depend on the shape of the box, so they run into
names if a box is long or tall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from ..transforms import FloatArray
from .labels import FONT
from .panels import GREY, NORMAL, SMALL
from .sketch import INK

TICK, GAP = 3.0, 3.0  # [points]
TEXT = {"fontfamily": FONT, "color": INK, "zorder": 1.5, "ha": "center", "va": "center"}

Projection = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Edge:
    """An edge to number: along axis `axis`, from `start`, with its numbers on the side of `outward`."""

    axis: int
    start: FloatArray
    outward: FloatArray


def edges(
    low: FloatArray, high: FloatArray, towards: FloatArray, right: FloatArray, to_points: Projection
) -> list[Edge]:
    """Return the edges that carry numbers: the two near ones on the ground, and the upright one furthest to the right.

    Args:
        low: Lowest corner of the box, on the ground.
        high: Highest corner.
        towards: Unit vector to the camera; an edge that points there is left out.
        right: Unit vector to the right on the page.
        to_points: Projection of world points (n, 3) onto the page, in points (1/72 inch).
    """
    near = np.where(towards > 1e-9, high, low)
    corners = np.array([(x, y, low[2]) for x in (low[0], high[0]) for y in (low[1], high[1])])
    standing = corners[int(to_points(corners)[:, 0].round(3).argmax())]
    side = np.where(towards > 1e-9, 1.0, -1.0)
    found = [
        Edge(0, np.array([low[0], near[1], low[2]]), np.array([0.0, side[1], 0.0])),
        Edge(1, np.array([near[0], low[1], low[2]]), np.array([side[0], 0.0, 0.0])),
        Edge(2, standing, right),
    ]
    below = np.array([0.0, 0.0, -1.0])  # side of the numbers, if the edge's own side is seen end-on
    return [
        edge if np.linalg.norm(np.cross(edge.outward, towards)) > 0.2 else replace(edge, outward=below)
        for edge in found
        if abs(towards[edge.axis]) < 0.99
    ]


def number(ax: Any, edge: Edge, high: FloatArray, values: FloatArray, to_points: Projection) -> FloatArray:
    """Draw an edge with ticks and numbers at values, and its name beside the middle, or on top.

    Args:
        ax: 3-D axes in their final place.
        edge: The edge.
        high: Highest corner of the box.
        values: Positions of the numbers [m].
        to_points: Projection of world points (n, 3) onto the page, in points (1/72 inch).

    Returns:
        Lines (n, 2, 3) in the world along the edge, its numbers and its name, where nothing else should be written.
    """
    direction = np.eye(3)[edge.axis]
    end = edge.start + direction * (high[edge.axis] - edge.start[edge.axis])
    middle = (edge.start + end) / 2.0
    reach = 0.01 * float(np.linalg.norm(high - edge.start))
    step = to_points(np.array([middle, middle + reach * edge.outward]))
    heading = step[1] - step[0]
    metres = reach / float(np.linalg.norm(heading))  # metres per point on the page
    heading = np.abs(heading / np.linalg.norm(heading))
    places = edge.start + direction * (values - edge.start[edge.axis])[:, None]
    lines = [[edge.start, end], *([p, p + edge.outward * metres * TICK] for p in places)]
    ax.add_collection(Line3DCollection(lines, colors=GREY, linewidths=0.8, zorder=1.5, clip_on=False), autolim=False)
    furthest, busy = 0.0, [np.stack([edge.start, end])]
    for place, text in zip(places, written(values), strict=True):
        half = np.array([0.32 * SMALL * len(text), 0.45 * SMALL])
        offset = TICK + GAP + float(half @ heading)
        furthest = max(furthest, TICK + GAP + 2.0 * float(half @ heading))
        where = place + edge.outward * metres * offset
        ax.text(*where, text, fontsize=SMALL, **TEXT)
        busy.append(np.stack([place, where]))
    name = f"{'xyz'[edge.axis]} [m]"
    half = np.array([0.3 * NORMAL * len(name), 0.6 * NORMAL])
    place = middle + edge.outward * metres * (furthest + GAP + float(half @ heading))
    if edge.axis == 2:  # a vertical edge has its name on top
        height = np.diff(to_points(np.array([edge.start, end])), axis=0)
        place = end + direction * (half[1] + GAP) * float((end - edge.start)[2] / np.linalg.norm(height))
    ax.text(*place, name, fontsize=NORMAL, **TEXT)
    return np.stack([*busy, np.stack([place, place])])


def written(values: FloatArray) -> list[str]:
    """Return numbers as texts with as many decimals as the finest of them needs.

    Example:
        >>> written(np.array([-0.5, 0.0, 0.5]))
        ['−0.5', '0.0', '0.5']
    """
    decimals = next((d for d in range(12) if np.allclose(values, values.round(d), rtol=1e-9, atol=1e-12)), 12)
    return [f"{value + 0.0:.{decimals}f}".replace("-", "\u2212") for value in values.round(decimals)]
