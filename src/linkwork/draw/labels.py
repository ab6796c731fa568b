"""Place labels without overlap: each goes to the nearest free position around its point.

Sizes are in points (1/72 inch), so that a figure may be saved at any resolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath

from ..transforms import FloatArray
from .sketch import INK, BoolArray

FONT = "DejaVu Sans"
DISTANCES = (0.0, 6.0, 13.0, 21.0, 30.0, 42.0, 56.0)
DIRECTIONS = np.pi / 8.0 * np.array([2, 6, 0, 8, -2, -6, 4, -4, 1, 3, 5, 7, -1, -3, -5, -7])  # the preferred ones first
ROOM, WIDE_ROOM = 1.5, 3.5  # free space around a name, and around a label
CROSSING, AVOIDED = 3.0, 5.0  # cost of each point of a line under a name, and under a label
BLOCKED = 1e4  # cost of a position occupied by another text


def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Return the width of a text [points]."""
    properties = FontProperties(family=FONT, size=size, weight=weight)
    return float(TextPath((0.0, 0.0), text, prop=properties).get_extents().width)


def write_names(
    ax: Any, names: list[str], points: FloatArray, segments: FloatArray, *, clearance: float, size: float
) -> int:
    """Write names on axes and return the number of those without a free position.

    Args:
        ax: Axes in their final place.
        names: The names.
        points: The points (n, 2) on the page that they belong to.
        segments: Lines (n, 2, 2) on the page that texts should avoid.
        clearance: Distance from a point to its text.
        size: Font size.
    """
    figure = ax.get_figure()
    page = np.array([figure.get_figwidth(), figure.get_figheight()]) * 72.0
    taken, boxes = _sampled(segments), np.zeros((0, 4))
    for name, point in zip(names, points, strict=True):
        text_size = np.array([text_width(name, size), 1.15 * size])
        place = _best_place(point, text_size, clearance, page, boxes, taken, points)
        if place is None:
            continue
        box, far = place
        boxes = np.concatenate([boxes, box[None]])
        leader = {"arrowstyle": "-", "color": INK, "linewidth": 0.5, "alpha": 0.6, "shrinkB": clearance}
        ax.annotate(
            name,
            xy=tuple(point),
            xycoords="figure points",
            xytext=tuple((box[:2] + box[2:]) / 2.0 - point),
            textcoords="offset points",
            ha="center",
            va="center",
            fontfamily=FONT,
            fontsize=size,
            color=INK,
            zorder=50,
            annotation_clip=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.85)],
            arrowprops=leader if far else None,
        )
    return len(names) - len(boxes)


@dataclass(frozen=True, eq=False)
class Label:
    """A text to place near a position.

    Attributes:
        text: The text; mathtext between dollar signs.
        anchors: Positions on the page (n, 2) beside which it may stand, the best first.
        color: Colour of the letters.
        size: Font size.
        clearance: Distance from the place to the text.
        inside: Write it on the first position, not beside it.
        leader: Draw a line from the position to the text.
    """

    text: str
    anchors: FloatArray
    color: Any = INK
    size: float = 13.0
    clearance: float = 3.0
    inside: bool = False
    leader: bool = False


@cache
def text_size(text: str, size: float, weight: str = "normal", family: str = FONT) -> tuple[float, float]:
    """Return the width and the height of a text of one or more lines [points]."""
    properties = FontProperties(family=family, size=size, weight=weight)
    width, height = 0.0, 0.0
    for line in text.split("\n"):
        box = TextPath((0.0, 0.0), line if line.strip() else "x", prop=properties).get_extents()
        width, height = max(width, float(box.width)), height + max(1.25 * size, float(box.height) + 0.35 * size)
    return width, height


def write_labels(page: Any, labels: Sequence[Label], segments: FloatArray, room: FloatArray) -> FloatArray:
    """Write labels on a page, each at the best free place beside its anchors, and return their boxes (n, 4).

    Args:
        page: The figure.
        labels: The labels, in order of priority.
        segments: Lines (n, 2, 2) on the page that texts should avoid.
        room: The box (x0, y0, x1, y1) that texts stay in.
    """
    taken, boxes = _thinned(_sampled(segments)), np.zeros((0, 4))
    points = np.concatenate([np.zeros((0, 2)), *(label.anchors[:1] for label in labels if not label.inside)])
    for label in sorted(labels, key=lambda label: not label.inside):
        extent = np.array(text_size(label.text, label.size))
        if label.inside:
            box = np.concatenate([label.anchors[0] - extent / 2.0, label.anchors[0] + extent / 2.0])
        else:
            box = _nicest(label, extent, boxes, taken, points, room)
        boxes = np.concatenate([boxes, box[None]])
        if label.leader:
            lead = np.stack([np.clip(label.anchors[0], box[:2], box[2:]), label.anchors[0]])
            style = {"color": label.color, "linewidth": 0.8, "alpha": 0.7, "zorder": 45}
            page.add_artist(Line2D(*(lead.T / 72.0), transform=page.dpi_scale_trans, **style))
            taken = np.concatenate([taken, _sampled(lead[None])])
        x, y = (box[:2] + box[2:]) / 144.0
        halo = [withStroke(linewidth=3.0, foreground="white", alpha=0.9)]
        page.text(
            x, y, label.text, transform=page.dpi_scale_trans, ha="center", va="center", fontfamily=FONT,
            fontsize=label.size, color=label.color, zorder=50, path_effects=[] if label.inside else halo,
        )  # fmt: skip
    return boxes


def steady_offsets(labels: Sequence[Label], anchors: FloatArray, segments: Sequence[FloatArray]) -> FloatArray:
    """Return offsets of texts from moving positions, from position to the middle of the text (n, 2) [points].

    A text that jumps from side to side cannot be read, so each text has one offset, the best over all frames.

    Args:
        labels: The labels, in order of priority.
        anchors: Their positions in the frames of a film, shape (frames, n, 2).
        segments: Lines (m, 2, 2) of each frame that texts should avoid.
    """
    taken = [_thinned(_sampled(lines)) for lines in segments]
    boxes = [np.zeros((0, 4)) for _ in segments]
    offsets = np.zeros((len(labels), 2))
    for k, label in enumerate(labels):
        extent, total = np.array(text_size(label.text, label.size)), np.zeros(len(DISTANCES) * len(DIRECTIONS))
        for places, lines, stand in zip(anchors, taken, boxes, strict=True):
            low, high, cost = _places(places[k], extent, label.clearance, stand, lines, places, WIDE_ROOM, AVOIDED)
            total = total + cost
        best = int(np.argmin(total))
        offsets[k] = (low[best] + high[best]) / 2.0 - places[k]
        around = np.concatenate([offsets[k] - extent / 2.0, offsets[k] + extent / 2.0])
        boxes = [
            np.concatenate([stand, [around + np.tile(places[k], 2)]])
            for stand, places in zip(boxes, anchors, strict=True)
        ]
    return offsets


def _nicest(
    label: Label, extent: FloatArray, boxes: FloatArray, taken: FloatArray, points: FloatArray, room: FloatArray
) -> FloatArray:
    """Return the box of the best position beside any anchor of a label: a free one, else the cheapest."""
    best, least = np.zeros(4), np.inf
    for rank, anchor in enumerate(label.anchors):
        low, high, cost = _places(anchor, extent, label.clearance, boxes, taken, points, WIDE_ROOM, AVOIDED)
        inside: BoolArray = np.all((low > room[:2]) & (high < room[2:]), axis=1)
        cost = cost + 3.0 * rank + np.where(inside, 0.0, 1e3)
        k = int(cost.argmin())
        if cost[k] < least:
            best, least = np.concatenate([low[k], high[k]]), float(cost[k])
    return best


def _thinned(points: FloatArray, spacing: float = 3.0) -> FloatArray:
    """Return points without those close to others."""
    return np.asarray(spacing * np.unique((points / spacing).round(), axis=0))


def _sampled(segments: FloatArray, spacing: float = 4.0) -> FloatArray:
    """Return points along lines, close enough together to detect a text across a line."""
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
    low, high, cost = _places(point, size, clearance, boxes, taken, points)
    free: BoolArray = np.all((low > 0.0) & (high < page), axis=1) & (cost < BLOCKED)
    if not free.any():
        return None
    best = int(np.where(free, cost, np.inf).argmin())
    return np.concatenate([low[best], high[best]]), bool(DISTANCES[best // len(DIRECTIONS)] > DISTANCES[1])


def _places(
    point: FloatArray,
    size: FloatArray,
    clearance: float,
    boxes: FloatArray,
    taken: FloatArray,
    points: FloatArray,
    room: float = ROOM,
    crossing: float = CROSSING,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return candidate boxes of a text around a point, as low and high corners (n, 2), and their costs (n,)."""
    distance, angle = (grid.ravel() for grid in np.meshgrid(DISTANCES, DIRECTIONS, indexing="ij"))
    heading = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    centres = point + heading * ((clearance + distance)[:, None] + size / 2.0)
    low, high = centres - size / 2.0 - room, centres + size / 2.0 + room
    overlap: BoolArray = np.all((low[:, None] < boxes[:, 2:]) & (high[:, None] > boxes[:, :2]), axis=2)
    window = np.abs(taken - point).max(axis=1, initial=0.0) < size.max() + clearance + DISTANCES[-1]
    crossed = _inside(low, high, taken[window]) + 4.0 * _inside(low, high, points)
    cost = distance + crossing * crossed + 0.3 * np.tile(np.arange(len(DIRECTIONS)), len(DISTANCES))
    return low, high, cost + BLOCKED * overlap.any(axis=1)


def _inside(low: FloatArray, high: FloatArray, points: FloatArray) -> FloatArray:
    """Return the number of points inside each box."""
    (x, y), (left, bottom), (right, top) = points.T, low.T[..., None], high.T[..., None]
    inside = (x > left) & (x < right) & (y > bottom) & (y < top)
    return np.asarray(np.count_nonzero(inside, axis=1), dtype=np.float64)
