"""Marks over a linkage: angles, vectors, lengths, named points; labels do not overlap lines.

Arrow heads, dots and letters have sizes in points (1/72 inch); the panel projects positions from the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatchmethod
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from ..models.textbook.diagrams import Angle, Arrow, Axes, Length, Mark, RightAngle, Ring, Spot
from ..transforms import FloatArray
from .labels import Label, write_labels
from .panels import BLUE, GREY, RED, TEAL, Panel, Picture
from .sketch import INK

LETTERS = 14.0
VECTOR, LINE, THIN = 2.4, 1.8, 1.2
HEAD, HALF_HEAD = 11.0, 4.4  # length and half width of an arrow head
CROSS, DOT, RIM = 6.5, 4.0, 6.0
PURPLE, AMBER, SLATE, RING = "#AA3377", "#B8510B", "#5F6B76", "#EAF2F8"
COLORS = {
    "ink": to_hex(INK), "goal": RED, "angle": AMBER, "axis": SLATE, "first": BLUE, "second": TEAL, "third": PURPLE,
}  # fmt: skip
DASHES = (4.0, 2.5)


class Marks:
    """Draws marks on the page of a panel whose position is final.

    Args:
        page: The figure.
        panel: The panel, shown at its pose.
        letters: Font size of the labels.

    Attributes:
        labels: The labels to write.
        lines: Lines (n, 2, 2) on the page that labels avoid [points].
    """

    def __init__(self, page: Picture, panel: Panel, letters: float = LETTERS) -> None:
        self.page, self.panel, self.letters = page, panel, letters
        self.labels: list[Label] = []
        self.lines: list[FloatArray] = []

    def draw(self, marks: Sequence[Mark], poses: Sequence[FloatArray], room: FloatArray) -> FloatArray:
        """Draw marks over a linkage and return the boxes of their labels (n, 4) [points].

        Args:
            marks: The marks.
            poses: The poses that are shown, including faint ones: labels avoid their links.
            room: The box (x0, y0, x1, y1) on the page that labels stay in [points].
        """
        for mark in marks:
            self.add(mark)
        busy = [self.panel.busy(self.panel.sketch.frames(q)) for q in poses]
        return write_labels(self.page, self.labels, np.concatenate([*busy, *self.lines]), room)

    # One method for each kind of mark

    @singledispatchmethod
    def add(self, mark: Mark) -> None:
        """Draw one mark, and note its label."""
        raise NotImplementedError(f"no way to draw {type(mark).__name__}")

    @add.register
    def _(self, mark: Angle) -> None:
        arc, color = self._page(mark.points()), COLORS[mark.role]
        self._line(arc, color, LINE, dashed=mark.role == "axis")
        if mark.arrow:
            self._head(arc, color)
        middle = self._page(mark.center)
        out = arc + 0.18 * (arc - middle)
        n = len(arc)
        self._label(mark.label, out[[n // 2, n // 3, 2 * n // 3, n // 5, 4 * n // 5]], color, 1.0)

    @add.register
    def _(self, mark: Arrow) -> None:
        ends, color = self._page(mark.points()), COLORS[mark.role]
        along = ends[1] - ends[0]
        length = float(np.hypot(*along))
        if length < 1e-6:
            return
        ends = ends + mark.aside * np.array([-along[1], along[0]]) / length
        thin = mark.dashed
        self._line(ends, color, LINE if thin else VECTOR, dashed=thin, short=HEAD)
        self._head(ends, color)
        shares = (0.5, 0.62, 0.38, 0.8, 1.0) if thin else (0.8, 1.0, 0.6, 0.4)
        self._label(mark.label, np.array([ends[0] + share * (ends[1] - ends[0]) for share in shares]), color, 5.0)

    @add.register
    def _(self, mark: Length) -> None:
        ends, color = self._page(mark.points()), COLORS[mark.role]
        if mark.line:
            self._line(ends, color, THIN, dashed=True)
        anchors = np.array([ends[0] + share * (ends[1] - ends[0]) for share in (0.5, 0.42, 0.58, 0.35, 0.65)])
        self._label(mark.label, anchors, color, 4.0 if mark.line else 5.0)

    @add.register
    def _(self, mark: Spot) -> None:
        (place,) = self._page(mark.points())
        color = COLORS[mark.role] if mark.look != "goal" else RED
        if mark.look == "goal":
            for way in (np.array([1.0, 1.0]), np.array([1.0, -1.0])):
                self._line(np.stack([place - CROSS * way, place + CROSS * way]), RED, 3.0)
        elif mark.look == "dot":
            self._dot(place, DOT, color, color)
        elif mark.look == "axis":
            self._dot(place, RIM, "white", color)
            self._dot(place, 2.0, color, color)
        clearance = {"goal": CROSS, "dot": DOT, "axis": RIM}.get(mark.look, 5.0) + 2.0
        self._label(mark.label, place[None], color, clearance, look=mark.look)

    @add.register
    def _(self, mark: Axes) -> None:
        origin, *ends = self._page(mark.points())
        for end, role in zip(ends, ("first", "second", "third"), strict=False):
            way = np.stack([origin, end])
            self._line(way, COLORS[role], LINE, short=0.7 * HEAD)
            self._head(way, COLORS[role], 0.7)
        self._label(mark.label, np.array([origin]), COLORS["axis"], 5.0)

    @add.register
    def _(self, mark: RightAngle) -> None:
        self._line(self._page(mark.points()), COLORS["axis"], THIN)

    @add.register
    def _(self, mark: Ring) -> None:
        turns = np.linspace(0.0, 2.0 * np.pi, 181)
        circle = np.stack([np.cos(turns), np.sin(turns), np.zeros_like(turns)], axis=1)
        outer, inner = (self._page(mark.center + radius * circle) / 72.0 for radius in (mark.most, mark.least))
        path = Path.make_compound_path(Path(outer, closed=True), Path(inner[::-1], closed=True))
        style: dict[str, Any] = {"transform": self.page.dpi_scale_trans, "zorder": 0.2}
        self.page.add_artist(PathPatch(path, facecolor=RING, edgecolor="none", **style))
        for edge in (outer, inner):
            self._line(72.0 * edge, GREY, THIN, dashed=True, zorder=0.4)

    # Drawing primitives

    def _page(self, points: FloatArray) -> FloatArray:
        """Return world points (n, 3) or (3,) on the page [points]."""
        return np.asarray(self.panel.to_points(np.atleast_2d(points)))

    def _line(
        self,
        points: FloatArray,
        color: str,
        width: float,
        *,
        dashed: bool = False,
        short: float = 0.0,
        zorder: float = 6.0,
    ) -> None:
        self.lines.append(np.stack([points[:-1], points[1:]], axis=1))
        drawn = points.copy()
        if short:
            last = drawn[-1] - drawn[-2]
            length = float(np.hypot(*last))
            drawn[-1] -= last * min(1.0, 0.8 * short / max(length, 1e-9))
        line = Line2D(
            *(drawn.T / 72.0), color=color, linewidth=width, transform=self.page.dpi_scale_trans, zorder=zorder,
            solid_capstyle="round", dash_capstyle="butt",
        )  # fmt: skip
        if dashed:
            line.set_dashes(DASHES)
        elif zorder > 5.0:
            line.set_path_effects([withStroke(linewidth=width + 2.0, foreground="white", alpha=0.8)])
        self.page.add_artist(line)

    def _head(self, points: FloatArray, color: str, scale: float = 1.0) -> None:
        """Draw an arrow head at the end of a line."""
        tip = points[-1]
        away = np.hypot(*(points - tip).T)
        length = min(HEAD * scale, 0.6 * float(away.max()))
        before = points[int(np.flatnonzero(away >= 0.8 * length)[-1])]
        along = (tip - before) / float(np.hypot(*(tip - before)))
        across, half = np.array([-along[1], along[0]]), HALF_HEAD / HEAD * length
        corners = np.stack([tip, tip - length * along + half * across, tip - length * along - half * across])
        head = Polygon(corners / 72.0, closed=True, facecolor=color, edgecolor=color, linewidth=0.4, zorder=6.5)
        head.set_transform(self.page.dpi_scale_trans)
        self.page.add_artist(head)

    def _dot(self, place: FloatArray, radius: float, face: str, edge: str) -> None:
        dot = Circle(tuple(place / 72.0), radius / 72.0, facecolor=face, edgecolor=edge, linewidth=1.4, zorder=8.0)
        dot.set_transform(self.page.dpi_scale_trans)
        self.page.add_artist(dot)
        corners = place + radius * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
        self.lines.append(np.stack([corners[:-1], corners[1:]], axis=1))

    def _label(self, text: str, anchors: FloatArray, color: str, clearance: float, *, look: str = "") -> None:
        if text:
            size = self.letters if look != "leader" else self.letters - 1.5
            inside, leader = look == "inside", look == "leader"
            self.labels.append(Label(text, anchors, color, size, clearance, inside, leader))
