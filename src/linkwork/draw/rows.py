"""The chapter's figures on a sheet: rows of frames, one row for each motion.

All panels share their limits, so that rows can be compared by eye.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..models.parts import BLUE as MODEL_BLUE, ORANGE as MODEL_ORANGE
from ..models.textbook.linkages import LIGHT, MIDDLE
from ..transforms import FloatArray
from .arguments import goal_point
from .marks import AMBER, Marks
from .panels import GREY, Panel as Drawing, PanelOptions, Picture, new_figure, write
from .sheets import AREA, GAP, NOTE, Stage
from .sketch import INK, Extent, Sketch

if TYPE_CHECKING:
    from ..models.textbook import Figure, Panel

PAGE = 11.0  # largest width [inch]
HEADLINE, MEDIUM, NUMBERS = 16.0, 13.0, 11.0  # text sizes [point]
CAPTION, TITLE, FRAME, BETWEEN = 0.5, 0.36, 0.24, 0.14
WIDEST, TALLEST = 2.3, 2.6


@dataclass(frozen=True, eq=False)
class Row:
    """One row, prepared for drawing: the motion's panel, sketch, trail and goal."""

    panel: Panel
    sketch: Sketch
    trail: FloatArray
    goal: FloatArray | None

    @classmethod
    def of(cls, panel: Panel) -> Row:
        """Return the row of a panel of the chapter."""
        linkage = panel.clip.linkage
        trail = linkage.forward(panel.clip.poses, frame=panel.effector)[:, :3, 3]
        return cls(panel, blue(Sketch(linkage)), trail, goal_point(panel.goal))


def blue(sketch: Sketch) -> Sketch:
    """Return a sketch in which the links of a planar arm are blue; orange is reserved for paths."""
    if not sketch.flat:
        return sketch
    swap = {MODEL_ORANGE: LIGHT, MODEL_BLUE: MIDDLE}
    sketch.parts = [replace(part, color=swap.get(part.color, part.color)) for part in sketch.parts]
    return sketch


def sheet(figure: Figure) -> Picture:
    """Return all rows of a figure of the chapter, one below the other, the caption on top."""
    rows = [Row.of(panel) for panel in figure.panels]
    extent = shared_extent(rows)
    page = new_figure((AREA, AREA))
    drawings = [_drawings(page, row, extent) for row in rows]
    first = drawings[0][0]
    first.fit(None)
    columns = max(len(row.panel.shown) for row in rows)
    width = min(WIDEST, TALLEST * first.shape(), (PAGE - GAP) / columns - GAP)
    height = width / first.shape()
    notes = FRAME * max((note.count("\n") + 1 for row in rows for note in row.panel.notes), default=0)
    tall = TITLE + height + FRAME + notes
    size = (columns * (width + GAP) + GAP, CAPTION + len(rows) * tall + (len(rows) - 1) * BETWEEN + NOTE + 0.08)
    page.set_size_inches(*size)
    for k, (row, panels) in enumerate(zip(rows, drawings, strict=True)):
        bottom = size[1] - CAPTION - k * (tall + BETWEEN) - TITLE - height
        write(page, GAP, bottom + height + 0.09, row.panel.title, MEDIUM, INK, weight="bold")
        for column, (panel, number) in enumerate(zip(panels, row.panel.shown, strict=True)):
            left = GAP + column * (width + GAP)
            panel.fit((left, bottom, width, height))
            panel.show(row.panel.clip.poses[number], frame=number)
            middle = left + width / 2.0
            write(page, middle, bottom - 0.06, f"frame {number}", NUMBERS, INK, ha="center", va="top")
            if row.panel.notes:
                note = row.panel.notes[column]
                write(page, middle, bottom - 0.06 - FRAME, note, NUMBERS, AMBER, ha="center", va="top", linespacing=1.4)
        if row.panel.marks:
            room = 72.0 * np.array([GAP, bottom, GAP + width, bottom + height])
            Marks(page, panels[0], NUMBERS).draw(row.panel.marks, [row.panel.clip.poses[0]], room)
    write(page, GAP, size[1] - 0.12, figure.title, HEADLINE, INK, va="top")
    write(page, GAP, 0.08, first.measure(), NUMBERS, GREY)
    return page


def shared_extent(rows: list[Row]) -> Extent:
    """Return the region that every panel of every row must contain, so that all have one scale."""
    extents = [row.sketch.extent(row.panel.clip.poses, row.trail, row.goal) for row in rows]
    low, high = np.min([extent.low for extent in extents], axis=0), np.max([extent.high for extent in extents], axis=0)
    return Extent(low, high, np.concatenate([extent.points for extent in extents]))


def _drawings(page: Picture, row: Row, extent: Extent) -> list[Drawing]:
    stage = Stage(row.sketch, extent, row.panel.view)
    options = PanelOptions(trail=row.trail, goal=row.goal, ticks=False)
    return [stage.panel(stage.add_axes(page), options) for _ in row.panel.shown]
