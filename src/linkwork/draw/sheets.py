"""Whole pictures: one panel with numbered axes, or a strip of small panels with shared limits.

Sizes and positions are chosen here, in inches; panels draw the contents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..transforms import FloatArray
from .arguments import Size, View
from .gauges import gauges
from .panels import GREY, LARGE, NORMAL, SMALL, FlatPanel, Panel, PanelOptions, Picture, new_figure, triads, write
from .sketch import DEFAULT_VIEW, INK, Extent, Sketch
from .space import SpacePanel

AREA = 4.6  # side of the square that has the area of a picture [inch]
LEAST, MOST = 2.2, 8.0  # smallest width and height, and largest width [inch]
ROOM_FLAT = (0.62, 0.46, 0.15, 0.12)  # margins left, bottom, right, top for numbers and names of axes [inch]
ROOM_SPACE = (0.3, 0.38, 0.46, 0.28)
ROOM_LEVEL = (0.2, 0.5, 0.5, 0.28)  # the same for a front or side view
ROOM_TOP = (0.8, 0.5, 0.15, 0.12)
ROOM_BARE = (0.06, 0.06, 0.06, 0.06)
TITLE, NOTE, CAPTION, GAP = 0.34, 0.2, 0.24, 0.1


@dataclass
class Stage:
    """What all panels of one picture share.

    Args:
        sketch: The linkage to draw.
        extent: The region that every panel must contain.
        view: Camera; None draws a flat linkage in two dimensions.
    """

    sketch: Sketch
    extent: Extent
    view: View

    @property
    def flat(self) -> bool:
        """Whether to draw in two dimensions."""
        return self.sketch.flat and self.view is None

    def panel(self, ax: Any, options: PanelOptions) -> Panel:
        """Return a panel on axes that fit `flat`."""
        if self.flat:
            return FlatPanel(ax, self.sketch, options, self.extent)
        view = DEFAULT_VIEW if self.view is None else self.view
        return SpacePanel(ax, self.sketch, options, self.extent, view=view)

    def add_axes(self, figure: Picture) -> Any:
        """Return new axes of the right kind; `Panel.fit` positions them."""
        return figure.add_axes((0.0, 0.0, 1.0, 1.0), projection=None if self.flat else "3d")

    def room(self) -> tuple[float, float, float, float]:
        """Return the margins for numbers and names of axes: left, bottom, right, top [inch]."""
        if self.flat:
            low, high = float(self.extent.low[1]), float(self.extent.high[1])
            digits = max(0.0, -math.log10(max(high - low, 1e-9)) + 0.4)  # small linkages need more digits
            return ROOM_FLAT[0] + 0.075 * min(math.ceil(digits), 4), *ROOM_FLAT[1:]
        return ROOM_TOP if self.view == "top" else ROOM_LEVEL if isinstance(self.view, str) else ROOM_SPACE

    def notes(self) -> list[str]:
        """Return notes on what the picture leaves out."""
        meshes = list(dict.fromkeys(path.rsplit("/", 1)[-1] for path in self.sketch.meshes))
        if not meshes:
            return []
        shown = ", ".join(meshes[:3]) + (f" and {len(meshes) - 3} more" if len(meshes) > 3 else "")
        return [f"Meshes are not drawn: {shown}."]


def with_marks(sketch: Sketch, options: PanelOptions, q: FloatArray) -> Extent:
    """Return the extent of a linkage in a pose, with its ranges and triads."""
    frames, size, marks = sketch.frames(q), sketch.extent(q[None]).size, []
    if options.limits:
        marks += [gauge.area for gauge in gauges(sketch.linkage, q, frames, size)]
    if options.frames:
        marks.append(triads(sketch.linkage, options.frames, frames, size)[:, : 2 if sketch.flat else 3])
    return sketch.extent(q[None], *marks)


def single(
    stage: Stage,
    options: PanelOptions,
    q: FloatArray,
    *,
    size: Size = None,
    title: str | None = None,
    area: float = AREA,
) -> tuple[Picture, Panel]:
    """Return a figure of one panel at a pose, and the panel."""
    figure = new_figure((AREA, AREA))
    panel = stage.panel(stage.add_axes(figure), options)
    left, bottom, right, top = stage.room() if options.ticks else ROOM_BARE
    notes = stage.notes()
    bottom, top = bottom + NOTE * bool(notes), top + TITLE * bool(title)
    panel.fit(None)
    if size is None:
        shape = panel.shape()
        width = float(np.clip(area * math.sqrt(shape), LEAST, MOST))
        size = (width + left + right, float(np.clip(width / shape, LEAST, 1.6 * area)) + bottom + top)
    figure.set_size_inches(*size)
    panel.fit((left, bottom, max(size[0] - left - right, 0.2), max(size[1] - bottom - top, 0.2)))
    panel.show(q)
    if title:
        write(figure, size[0] / 2.0, size[1] - 0.07, title, LARGE, INK, va="top", ha="center")
    if options.labels and (left_out := panel.write(q)):
        notes.append(f"{left_out} names left out for lack of room.")
    if notes:
        write(figure, 0.08, 0.06, " ".join(notes), SMALL, GREY)
    return figure, panel


def strip(
    stage: Stage,
    options: PanelOptions,
    poses: FloatArray,
    numbers: Sequence[int],
    *,
    size: Size = None,
    title: str | None = None,
) -> Picture:
    """Return panels side by side, one for each frame number, with the number below; more than six go in rows."""
    count = len(numbers)
    columns = math.ceil(count / math.ceil(count / 6))
    rows = math.ceil(count / columns)
    figure = new_figure((AREA, AREA))
    panels = [stage.panel(stage.add_axes(figure), replace(options, ticks=False)) for _ in numbers]
    panels[0].fit(None)
    notes = [*stage.notes(), panels[0].measure()]
    above = TITLE if title else 0.08
    if size is None:
        shape = panels[0].shape()
        width = float(np.clip(2.1 * math.sqrt(shape), 1.2, 11.0 / columns))
        size = (columns * (width + GAP) + GAP, rows * (width / shape + CAPTION) + above + NOTE + 0.04)
    figure.set_size_inches(*size)
    width = (size[0] - GAP) / columns - GAP
    height = (size[1] - above - NOTE - 0.04) / rows - CAPTION
    for k, (panel, number) in enumerate(zip(panels, numbers, strict=True)):
        row, column = divmod(k, columns)
        left = GAP + column * (width + GAP)
        bottom = NOTE + 0.04 + (rows - 1 - row) * (height + CAPTION) + CAPTION
        panel.fit((left, bottom, max(width, 0.2), max(height, 0.2)))
        panel.show(poses[number], frame=number)
        if options.labels:
            panel.write(poses[number])
        write(figure, left + width / 2.0, bottom - 0.05, f"frame {number}", NORMAL, INK, ha="center", va="top")
    if title:
        write(figure, size[0] / 2.0, size[1] - 0.07, title, LARGE, INK, va="top", ha="center")
    write(figure, GAP, 0.06, " ".join(notes), SMALL, GREY)
    return figure
