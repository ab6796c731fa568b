"""The chapter's figures on a sheet: rows of frames, one row for each motion.

All panels share their limits, so that rows can be compared by eye.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import Annulus, Circle

from ..transforms import FloatArray
from .arguments import goal_point
from .labels import text_width
from .panels import (
    BLUE,
    GREY,
    LARGE,
    NORMAL,
    SMALL,
    TEAL,
    Panel as Drawing,
    PanelOptions,
    Picture,
    new_figure,
    write,
)  # fmt: skip
from .sheets import AREA, GAP, NOTE, Stage
from .sketch import INK, Extent, Sketch

if TYPE_CHECKING:
    from ..models.textbook import Figure, Panel

PAGE = 11.0  # width at most [inch]
CAPTION, TITLE, FRAME, BETWEEN = 0.36, 0.27, 0.24, 0.1
WIDEST, TALLEST = 2.3, 2.6
RING = "#EAF2F8"
PURPLE = "#AA3377"
CHANGES = (BLUE, TEAL, PURPLE)  # of the first joint's vector, the second's and so on
CORNERS = np.array([(x, y, 0.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)])  # of the square about a ring
ARROW = 0.5  # length of the longest vector of change, in units of the arm's reach


@dataclass(frozen=True, eq=False)
class Row:
    """One row made ready: the motion's sketch, its trail, its goal and what is drawn over it."""

    panel: Panel
    sketch: Sketch
    trail: FloatArray
    goal: FloatArray | None

    @classmethod
    def of(cls, panel: Panel) -> Row:
        """Return a row for a panel of the chapter's."""
        linkage = panel.clip.linkage
        trail = linkage.forward(panel.clip.poses, frame=panel.effector)[:, :3, 3]
        return cls(panel, Sketch(linkage), trail, goal_point(panel.goal))


@dataclass(frozen=True)
class Overlay:
    """Something one figure shows besides its frames: the room it needs, how it is drawn, and a key to it."""

    room: Callable[[Row], FloatArray]
    draw: Callable[[Drawing, Row, int], None]
    key: tuple[tuple[str, str], ...]


def sheet(figure: Figure) -> Picture:
    """Return all rows of a figure of the chapter, one below the other, the caption on top."""
    rows = [Row.of(panel) for panel in figure.panels]
    overlay = OVERLAYS.get(figure.number)
    extent = _shared(rows, overlay)
    page = new_figure((AREA, AREA))
    drawings = [_drawings(page, row, extent) for row in rows]
    first = drawings[0][0]
    first.fit(None)
    columns = max(len(row.panel.shown) for row in rows)
    width = min(WIDEST, TALLEST * first.shape(), (PAGE - GAP) / columns - GAP)
    height = width / first.shape()
    tall = TITLE + height + FRAME
    size = (columns * (width + GAP) + GAP, CAPTION + len(rows) * tall + (len(rows) - 1) * BETWEEN + NOTE + 0.08)
    page.set_size_inches(*size)
    for k, (row, panels) in enumerate(zip(rows, drawings, strict=True)):
        bottom = size[1] - CAPTION - k * (tall + BETWEEN) - TITLE - height
        write(page, GAP, bottom + height + 0.07, row.panel.title, NORMAL, INK, weight="bold")
        for column, (panel, number) in enumerate(zip(panels, row.panel.shown, strict=True)):
            left = GAP + column * (width + GAP)
            panel.fit((left, bottom, width, height))
            panel.show(row.panel.clip.poses[number], frame=number)
            if overlay is not None:
                overlay.draw(panel, row, number)
            write(page, left + width / 2.0, bottom - 0.05, f"frame {number}", SMALL, INK, ha="center", va="top")
    write(page, GAP, size[1] - 0.1, figure.title, LARGE, INK, va="top")
    write(page, GAP, 0.07, first.measure(), SMALL, GREY)
    _key(page, size[0] - GAP, overlay)
    return page


def _shared(rows: list[Row], overlay: Overlay | None) -> Extent:
    """Return the room that every panel of every row has to hold."""
    extents = []
    for row in rows:
        more = None if overlay is None else overlay.room(row)
        extents.append(row.sketch.extent(row.panel.clip.poses, row.trail, row.goal, more))
    low, high = np.min([extent.low for extent in extents], axis=0), np.max([extent.high for extent in extents], axis=0)
    return Extent(low, high, np.concatenate([extent.points for extent in extents]))


def _drawings(page: Picture, row: Row, extent: Extent) -> list[Drawing]:
    stage = Stage(row.sketch, extent, None)
    options = PanelOptions(trail=row.trail, goal=row.goal, ticks=False)
    return [stage.panel(stage.add_axes(page), options) for _ in row.panel.shown]


def _key(page: Picture, right: float, overlay: Overlay | None) -> None:
    """Write what the overlay's colours mean, along the bottom from the right."""
    for text, color in reversed(overlay.key if overlay is not None else ()):
        write(page, right, 0.07, text, SMALL, color, ha="right", weight="bold")
        right -= text_width(text, SMALL, "bold") / 72.0 + 0.18


# Figure 5.14: what a two-link arm can reach


def _ring(row: Row) -> tuple[FloatArray, float, float]:
    """Return the shoulder's place (2,) and the radii |L1 - L2| and L1 + L2 of what the arm reaches."""
    from ..explain.diagnosis import reach

    center, least, most, _ = reach(row.sketch.linkage, row.panel.effector)
    return center[:2], least, most


def _ring_room(row: Row) -> FloatArray:
    center, _, most = _ring(row)
    return np.append(center, 0.0) + most * CORNERS


def _draw_ring(panel: Drawing, row: Row, number: int) -> None:  # noqa: ARG001 - the same in every frame
    add_ring(panel.ax, *_ring(row))


def add_ring(ax: Any, center: FloatArray, least: float, most: float, fill: str = RING, edge: str = GREY) -> None:
    """Draw the exact ring of positions an arm reaches: lightly filled, with both circles."""
    x, y = (float(value) for value in center)
    line = {"fill": False, "edgecolor": edge, "linewidth": 0.9, "linestyle": "--", "zorder": 4.0}
    if least > 1e-9 * most:
        ax.add_patch(Annulus((x, y), most, most - least, facecolor=fill, edgecolor="none", zorder=0.5))
        ax.add_patch(Circle((x, y), least, **line))
    else:
        ax.add_patch(Circle((x, y), most, facecolor=fill, edgecolor="none", zorder=0.5))
    ax.add_patch(Circle((x, y), most, **line))


# Figures 5.18 and 5.19: what each joint does to the tip, and what is wanted


def _changes(row: Row, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the tip (3,), the way to the goal V (3,) and the vectors of change g_i as rows (joints, 3)."""
    tip = row.trail[number]
    columns = row.sketch.linkage.jacobian(row.panel.clip.poses[number], row.panel.effector)[:3].T
    wanted = np.zeros(3) if row.goal is None else row.goal - tip
    return tip, wanted, columns


def _shrinking(row: Row) -> float:
    """Return the factor by which vectors of change are drawn shorter; the same in all frames."""
    longest = max(float(np.linalg.norm(_changes(row, number)[2], axis=1).max()) for number in row.panel.shown)
    return ARROW * _ring(row)[2] / longest


def _changes_room(row: Row) -> FloatArray:
    factor = _shrinking(row)
    return np.concatenate([tip + factor * columns for tip, _, columns in (_changes(row, k) for k in row.panel.shown)])


def _draw_changes(panel: Drawing, row: Row, number: int) -> None:
    """Draw the longest vector first and thinnest, so that those along it stay in sight."""
    tip, wanted, columns = _changes(row, number)
    style = {"angles": "xy", "scale_units": "xy", "units": "inches", "clip_on": False}
    factor = _shrinking(row)
    for k in np.argsort(-np.linalg.norm(columns, axis=1)).tolist():
        width = 0.013 + 0.012 * k
        heads = {"headwidth": 3.2 + 1.6 / (k + 1), "headlength": 4.5, "headaxislength": 4.2, "minlength": 0.0}
        color = CHANGES[k % len(CHANGES)]
        panel.ax.quiver(
            *tip[:2], *columns[k, :2], scale=1.0 / factor, color=color, width=width, zorder=16, **style, **heads
        )
    if math.hypot(*wanted[:2]) > 1e-3:
        panel.ax.quiver(*tip[:2], *wanted[:2], scale=1.0, color=INK, width=0.018, zorder=18, **style)


CHANGES_KEY = (
    ("How each joint moves the tip:", GREY),
    *zip(("g1", "g2", "g3"), CHANGES, strict=True),
    ("and the way to the goal:", GREY),
    ("V", to_hex(INK)),
)
OVERLAYS = {
    "5.14": Overlay(_ring_room, _draw_ring, (("Ring: what the arm reaches, |L1 − L2| to L1 + L2", GREY),)),
    "5.18": Overlay(_changes_room, _draw_changes, CHANGES_KEY),
    "5.19": Overlay(_changes_room, _draw_changes, CHANGES_KEY),
}
