"""Names beside things, without overlap: each goes to the nearest free place around its point.

Sizes are in points (1/72 inch), so that a figure may be saved at any resolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath

from ..transforms import FloatArray
from .sketch import BoolArray

DISTANCES = (0.0, 6.0, 13.0, 21.0, 30.0, 42.0, 56.0)
DIRECTIONS = np.pi / 8.0 * np.array([2, 6, 0, 8, -2, -6, 4, -4, 1, 3, 5, 7, -1, -3, -5, -7])  # the nicest first
ROOM = 1.5  # free space around a text


@dataclass(frozen=True)
class Name:
    """A text and the point on the page it belongs to, in points."""

    text: str
    point: FloatArray


def write_names(
    ax: Any, names: list[Name], segments: FloatArray, *, clearance: float, font: str, size: float, color: Any
) -> int:
    """Write names on axes and return how many found no room.

    Args:
        ax: Axes in their final place.
        names: What to write and where.
        segments: Lines (n, 2, 2) on the page that texts should keep off.
        clearance: Distance from a point to its text.
        font: Font family.
        size: Font size.
        color: Colour of the texts.
    """
    figure = ax.get_figure()
    page = np.array([figure.get_figwidth(), figure.get_figheight()]) * 72.0
    taken = _sampled(segments)
    points = np.array([name.point for name in names]).reshape(-1, 2)
    boxes = np.zeros((0, 4))
    properties = FontProperties(family=font, size=size)
    left_out = 0
    for name in names:
        extent = TextPath((0.0, 0.0), name.text, prop=properties).get_extents()
        place = _best_place(name.point, np.array([extent.width, 1.15 * size]), clearance, page, boxes, taken, points)
        if place is None:
            left_out += 1
            continue
        box, far = place
        boxes = np.concatenate([boxes, box[None]])
        centre = (box[:2] + box[2:]) / 2.0
        ax.annotate(
            name.text,
            xy=tuple(name.point),
            xycoords="figure points",
            xytext=tuple(centre - name.point),
            textcoords="offset points",
            ha="center",
            va="center",
            fontfamily=font,
            fontsize=size,
            color=color,
            zorder=50,
            annotation_clip=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.85)],
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "alpha": 0.6, "shrinkB": clearance}
            if far
            else None,
        )
    return left_out


def _sampled(segments: FloatArray, spacing: float = 4.0) -> FloatArray:
    """Return points along lines, close enough to notice a text that lies across one."""
    if not len(segments):
        return np.zeros((0, 2))
    length = np.linalg.norm(np.diff(segments, axis=1), axis=-1).ravel()
    count = np.clip(np.ceil(length / spacing), 1, 100).astype(np.int64)
    which = np.repeat(np.arange(len(segments)), count + 1)
    first = np.cumsum(count + 1) - (count + 1)
    t = ((np.arange(len(which)) - first[which]) / count[which])[:, None]
    return np.asarray(segments[which, 0] * (1.0 - t) + segments[which, 1] * t)


def _best_place(
    point: FloatArray,
    size: FloatArray,
    clearance: float,
    page: FloatArray,
    boxes: FloatArray,
    taken: FloatArray,
    points: FloatArray,
) -> tuple[FloatArray, bool] | None:
    """Return the box (x0, y0, x1, y1) of the best free place for a text and whether it needs a leader line."""
    distance, angle = (grid.ravel() for grid in np.meshgrid(DISTANCES, DIRECTIONS, indexing="ij"))
    heading = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    centres = point + heading * ((clearance + distance)[:, None] + size / 2.0)
    low, high = centres - size / 2.0 - ROOM, centres + size / 2.0 + ROOM
    free = (low > 0.0).all(axis=1) & (high < page).all(axis=1)
    right_of, left_of = low[:, None] < boxes[None, :, 2:], high[:, None] > boxes[None, :, :2]
    overlap: BoolArray = np.asarray(np.concatenate([right_of, left_of], axis=2).all(axis=2))
    free &= ~overlap.any(axis=1)
    if not free.any():
        return None
    window = np.abs(taken - point).max(axis=1, initial=0.0) < size.max() + clearance + DISTANCES[-1]
    taken = taken[window]
    crossed = _inside(low, high, taken) + 4.0 * _inside(low, high, points)
    cost = distance + 3.0 * crossed + 0.3 * np.tile(np.arange(len(DIRECTIONS)), len(DISTANCES))
    best = int(np.where(free, cost, np.inf).argmin())
    return np.concatenate([low[best], high[best]]), bool(distance[best] > DISTANCES[1])


def _inside(low: FloatArray, high: FloatArray, points: FloatArray) -> FloatArray:
    """Return how many points lie inside each box."""
    inside = (points[None] > low[:, None]).all(axis=2) & (points[None] < high[:, None]).all(axis=2)
    return np.asarray(inside.sum(axis=1), dtype=np.float64)
