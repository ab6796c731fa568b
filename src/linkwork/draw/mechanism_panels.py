"""Draw a mechanism on a page with matplotlib, to scale, and redraw it in other poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from ..transforms import FloatArray
from .dimensions import Note, Notes
from .labels import FONT, Label, steady_offsets, write_labels
from .panels import Picture, new_figure
from .parts import IntArray
from .schemes import WORLD, Node, Piece, Scheme
from .sketch import INK

COLORS = ("#C8553D", "#2E6F9E", "#4C8C4A", "#8A5A9E", "#B8862B", "#3A8F8F", "#A3476B", "#5B6770")  # for links, in turn
TRAILS = ("#E4572E", "#1F77B4", "#2A9D5C", "#9B5DE5")
GREY, THIN, MARK = "#7A858F", "#5F6B76", "#6B3FA0"
ORDER = {"ground": 4.7, "guides": 1.5, "outlines": 4.8, "links": 5.0, "blocks": 4.0, "pins": 8.0, "points": 8.0}
WIDE = {"ground": 1.1, "guides": 1.1, "outlines": 1.1, "links": 3.4, "blocks": 1.5, "pins": 1.4, "points": 1.0}
TINT = 0.80  # share of white in a block's colour; transparency of a plate
GHOST = 0.80
LOOKED_AT = 16  # number of frames of a film for which names are placed
MARGIN, LINE, WORDS = 0.32, 0.22, 10.0  # inch, inch, points
BETWEEN = 1.6 * MARGIN  # gap between pictures of a strip, whose margins contain labels
FLAT = 2.5  # width over height from which the pictures of a strip are stacked
TICK, PAD = 0.55, 0.7  # half length of a tick, and margin around everything, in units of the symbols
SIZES = {"pin": 13.0, "pivot": 13.0, "point": 11.0, "link": 10.5, "length": 13.0, "angle": 13.0}


@dataclass(frozen=True, eq=False)
class Trail:
    """The path of a frame: its points (n, 2), and which of them have a tick."""

    points: FloatArray
    ticks: IntArray

    def strokes(self, u: float) -> list[FloatArray]:
        """Return the ticks, perpendicular to the path; vertical where the path stands still."""
        found = []
        for k in self.ticks.tolist():
            way = self.points[min(k + 1, len(self.points) - 1)] - self.points[max(k - 1, 0)]
            size = float(np.linalg.norm(way))
            side = TICK * u * (np.array([-way[1], way[0]]) / size if size > 0.0 else np.array([0.0, 1.0]))
            found.append(np.stack([self.points[k] - side, self.points[k] + side]))
        return found


class MechanismPanel:
    """A mechanism on a page, or on a part of one.

    Args:
        scheme: The mechanism.
        poses: The poses that the panel must contain, shape (n, nq).
        trails: Paths to draw.
        ghosts: Poses to draw faintly behind it, shape (n, nq).
        marks: Positions to mark (n, 2), or positions with an angle (n, 3), which a stroke shows.

    Attributes:
        moving: The artists that `show` changes.
        low, high: The corners of the window [m].
    """

    def __init__(
        self,
        scheme: Scheme,
        poses: FloatArray,
        trails: Sequence[Trail] = (),
        ghosts: FloatArray | None = None,
        marks: FloatArray | None = None,
    ) -> None:
        self.scheme, self.trails = scheme, trails
        self.marks = np.zeros((0, 2)) if marks is None else marks
        self.ghosts = np.zeros((0, scheme.linkage.nq)) if ghosts is None else ghosts
        self.low, self.high = scheme.extent(np.concatenate([poses, self.ghosts]))
        for trail in trails:
            self.low = np.minimum(self.low, trail.points.min(axis=0))
            self.high = np.maximum(self.high, trail.points.max(axis=0))
        for mark in self.diamonds():
            self.low = np.minimum(self.low, np.concatenate(mark).min(axis=0))
            self.high = np.maximum(self.high, np.concatenate(mark).max(axis=0))
        self.low, self.high = self.low - PAD * scheme.unit, self.high + PAD * scheme.unit
        self.moving: list[Artist] = []
        self._drawn: list[tuple[Piece, Artist]] = []
        self._pens: list[tuple[Trail, Line2D]] = []
        self._texts: list[tuple[Node, FloatArray, Text]] = []
        bodies = [body for body in dict.fromkeys(scheme.bodies) if body != WORLD]
        self._colors = {body: COLORS[k % len(COLORS)] for k, body in enumerate(bodies)}

    def fit(self, page: Picture, region: tuple[float, float, float, float]) -> None:
        """Fit the mechanism, to scale, into the middle of a region (left, bottom, width, height) of a page [inch]."""
        left, bottom, width, height = region
        wide, tall = np.maximum(self.high - self.low, 1e-12)
        self.scale = float(min(width / wide, height / tall))
        middle, half = (self.low + self.high) / 2.0, np.array([width, height]) / (2.0 * self.scale)
        self.corner, self.window = np.array([left, bottom]), (middle - half, middle + half)
        share = (left / page.get_figwidth(), bottom / page.get_figheight())
        self.ax: Any = page.add_axes(
            (*share, width / page.get_figwidth(), height / page.get_figheight()), frameon=False, xticks=[], yticks=[]
        )
        self.ax.set(xlim=(middle - half)[0] + np.array([0.0, 2.0 * half[0]]))
        self.ax.set(ylim=(middle - half)[1] + np.array([0.0, 2.0 * half[1]]))
        self.page = page

    def make_room(self, notes: Notes) -> None:
        """Widen the window for the texts beside the mechanism."""
        around = [note.anchors for note in notes.notes] + notes.lines
        if around:
            places = np.concatenate(around)
            pad = 2.0 * self.scheme.unit
            self.low = np.minimum(self.low, places.min(axis=0) - pad)
            self.high = np.maximum(self.high, places.max(axis=0) + pad)

    def room(self) -> FloatArray:
        """Return the box (x0, y0, x1, y1) of the page for labels [points]."""
        size = (self.window[1] - self.window[0]) * self.scale
        return 72.0 * np.concatenate([self.corner - 0.8 * MARGIN, self.corner + size + 0.8 * MARGIN])

    def on_page(self, points: FloatArray) -> FloatArray:
        """Return the positions on the page of points of the plane [points]."""
        place: FloatArray = 72.0 * ((points - self.window[0]) * self.scale + self.corner)
        return place

    def draw(self, q: FloatArray, *, pens: bool = False) -> None:
        """Draw everything at a pose; with pens, trails grow during a film."""
        for k, trail in enumerate(self.trails):
            color = TRAILS[k % len(TRAILS)]
            for stroke in trail.strokes(self.scheme.unit):
                self._line(stroke, color=color, linewidth=0.9, zorder=5.7, alpha=0.45 if pens else 1.0)
            self._line(trail.points, color=color, linewidth=1.5, zorder=5.6, alpha=0.3 if pens else 1.0)
            if pens:
                self._pens.append((trail, self._line(trail.points[:1], color=color, linewidth=1.9, zorder=5.8)))
        for outline, stroke in self.diamonds():
            self.ax.add_patch(
                Polygon(outline, closed=True, facecolor="white", edgecolor=MARK, linewidth=1.6, zorder=7.5)
            )
            if len(stroke):
                self._line(stroke, color=MARK, linewidth=1.6, zorder=7.4)
        for ghost in self.ghosts:
            for piece in self.scheme.pieces:
                if piece.body != WORLD:
                    self._artist(piece, ghost, faint=True)
        self._drawn = [(piece, self._artist(piece, q)) for piece in self.scheme.pieces]
        self.moving = [artist for piece, artist in self._drawn if piece.body != WORLD]
        still = [artist for piece, artist in self._drawn if piece.body == WORLD and piece.layer != "guides"]
        self.moving += [*still, *(line for _, line in self._pens)]  # pivots are drawn above plates

    def diamonds(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return the marks as diamonds (4, 2), each with the stroke (2, 2) that shows its angle, or none (0, 2)."""
        u, found = self.scheme.unit, []
        for mark in self.marks:
            diamond = mark[:2] + 0.8 * u * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
            stroke = np.zeros((0, 2))
            if len(mark) == 3:
                stroke = mark[:2] + np.outer([0.0, 4.0 * u], [np.cos(mark[2]), np.sin(mark[2])])
            found.append((diamond, stroke))
        return found

    def show(self, q: FloatArray, *, frame: int = 0, camera: FloatArray | None = None) -> None:  # noqa: ARG002
        """Move everything to a pose; trails are drawn up to a frame."""
        for piece, artist in self._drawn:
            if piece.body == WORLD:
                continue
            points = self.scheme.displaced(piece.points, piece.body, q)
            if isinstance(artist, Circle):
                artist.center = (float(points[0, 0]), float(points[0, 1]))
            elif isinstance(artist, Polygon):
                artist.set_xy(points)
            elif isinstance(artist, Line2D):
                artist.set_data(*points.T)
        for trail, line in self._pens:
            line.set_data(*trail.points[: frame + 1].T)
        for node, offset, text in self._texts:
            text.set_position(tuple((self.on_page(self.scheme.at(node, q)) + offset) / 72.0))

    def segments(self, q: FloatArray) -> FloatArray:
        """Return all lines on the page at a pose (n, 2, 2), which labels avoid."""
        found = [np.zeros((0, 2, 2))]
        for piece in self.scheme.pieces:
            points = self.scheme.displaced(piece.points, piece.body, q)
            if piece.radius:
                points = points + piece.radius * np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
            if piece.closed:
                points = np.concatenate([points, points[:1]])
            found.append(_pairs(self.on_page(points)))
        found += [_pairs(self.on_page(trail.points)) for trail in self.trails]
        found += [_pairs(self.on_page(line)) for both in self.diamonds() for line in both]
        return np.concatenate(found)

    def write(self, q: FloatArray, notes: Notes, room: FloatArray) -> FloatArray:
        """Draw thin lines and write labels beside them, and return the labels' boxes (n, 4) [points]."""
        for line in notes.lines:
            long = len(line) == 2 and np.linalg.norm(line[1] - line[0]) > 1.2 * self.scheme.unit
            self._line(line, color=THIN, linewidth=0.9, zorder=4.8, linestyle=(0, (7, 2, 1.5, 2)) if long else "-")
        extra = [_pairs(self.on_page(line)) for line in notes.lines]
        segments = np.concatenate([self.segments(q), *extra])
        return write_labels(self.page, [self._label(note) for note in notes.notes], segments, room)

    def carry(self, names: Sequence[tuple[Node, str, str]], poses: FloatArray) -> FloatArray:
        """Write names that move with their pins in a film, and return their offsets."""
        if not names:
            return np.zeros((0, 2))
        some = poses[np.unique(np.linspace(0, len(poses) - 1, LOOKED_AT).round().astype(int))]
        places = np.array([[self.scheme.at(node, q) for node, *_ in names] for q in some])
        labels = [self._label(Note(text, places[0, k, None], kind)) for k, (_, text, kind) in enumerate(names)]
        offsets = steady_offsets(labels, self.on_page(places), [self.segments(q) for q in some])
        style: dict[str, Any] = {"transform": self.page.dpi_scale_trans, "ha": "center", "va": "center", "zorder": 50}
        for (node, *_), label, offset in zip(names, labels, offsets, strict=True):
            halo = [withStroke(linewidth=3.0, foreground="white", alpha=0.9)]
            text = self.page.text(
                0.0,
                0.0,
                label.text,
                fontfamily=FONT,
                fontsize=label.size,
                color=label.color,
                path_effects=halo,
                **style,
            )
            self._texts.append((node, offset, text))
        self.moving += [text for *_, text in self._texts]
        return offsets

    def _label(self, note: Note) -> Label:
        pin = note.kind in ("pin", "pivot", "point")
        clearance = 72.0 * self.scale * self.scheme.unit * 0.7 + 1.5 if pin else 3.0
        color = GREY if note.kind == "link" else INK
        return Label(note.text, self.on_page(note.anchors), color=color, size=SIZES[note.kind], clearance=clearance)

    def _line(self, points: FloatArray, **style: Any) -> Line2D:
        line = Line2D(*points.T, **{"solid_capstyle": "round", "solid_joinstyle": "round"} | style)
        self.ax.add_line(line)
        return line

    def _artist(self, piece: Piece, q: FloatArray, *, faint: bool = False) -> Artist:
        """Add a piece in a pose to the axes, and return its artist."""
        points = self.scheme.displaced(piece.points, piece.body, q)
        color = self._colors.get(piece.body, INK) if piece.layer in ("links", "blocks", "outlines") else INK
        edge, order = _mixed(color, GHOST if faint else 0.0), ORDER[piece.layer] - (4.0 if faint else 0.0)
        if piece.radius:
            face = edge if piece.layer == "points" else "white"
            patch: Any = Circle(tuple(points[0]), piece.radius, facecolor=face)
        elif piece.closed:
            fill: Any = "white" if piece.layer == "ground" else _mixed(color, 0.95 if faint else TINT)
            if piece.layer == "links" and not faint:
                fill = (*to_rgb(color), 1.0 - TINT)  # a plate is transparent
            patch = Polygon(points, closed=True, facecolor=fill, joinstyle="round")
        else:
            return self._line(points, color=edge, linewidth=WIDE[piece.layer], zorder=order)
        wide = 2.0 if piece.layer == "links" else WIDE[piece.layer]
        below = 0.5 if piece.layer == "links" else 0.0  # plates are below bars
        patch.set(edgecolor=edge, linewidth=wide, zorder=order - below)
        self.ax.add_patch(patch)
        made: Artist = patch
        return made


def _pairs(points: FloatArray) -> FloatArray:
    return np.stack([points[:-1], points[1:]], axis=1)


def _mixed(color: Any, share: float) -> tuple[float, float, float]:
    """Return a colour mixed with a share of white."""
    red, green, blue = (c + share * (1.0 - c) for c in to_rgb(color))
    return red, green, blue


def mechanism_page(
    panel: MechanismPanel,
    area: float,
    values: Sequence[str],
    title: str | None,
    size: tuple[float, float] | None = None,
) -> Picture:
    """Return a page with a mechanism, lines of values below it and a title above; the panel is positioned.

    Args:
        panel: The mechanism.
        area: Side of a square of about the size of the mechanism [inch].
        values: Values of the letters.
        title: A line above.
        size: Width and height of the page [inch]; by default they follow from the mechanism.
    """
    wide, tall = np.maximum(panel.high - panel.low, 1e-3 * np.ptp([panel.low, panel.high]))
    width = area * min(1.5, max(0.55, float(np.sqrt(wide / tall))))
    height = min(width * float(tall / wide), 1.6 * area)
    width = max(min(width, height * float(wide / tall)), 2.2) if size is None else max(size[0] - 2.0 * MARGIN, 0.5)
    lines = _lines(values, width + MARGIN)
    below, above = LINE * len(lines) + (0.12 if lines else 0.0), 0.36 if title else 0.0
    if size is not None:
        height = max(size[1] - 2.0 * MARGIN - below - above, 0.5)
    page = new_figure((width + 2.0 * MARGIN, height + 2.0 * MARGIN + below + above) if size is None else size)
    style: dict[str, Any] = {"transform": page.dpi_scale_trans, "fontfamily": FONT, "color": INK, "ha": "center"}
    for k, line in enumerate(lines):
        at = MARGIN / 2.0 + LINE * (len(lines) - k - 0.5)
        page.text(MARGIN + width / 2.0, at, line, fontsize=WORDS, va="center", **style)
    if title:
        top = height + 2.0 * MARGIN + below + above - 0.12
        page.text(MARGIN + width / 2.0, top, title, fontsize=12.0, va="top", **style)
    panel.fit(page, (MARGIN, MARGIN + below, width, height))
    return page


def strip_page(
    panels: Sequence[MechanismPanel], area: float, title: str | None, size: tuple[float, float] | None
) -> Picture:
    """Return a page with moments of one motion, all to one scale: side by side, or flat ones below each other."""
    first = panels[0]
    wide, tall = np.maximum(first.high - first.low, 1e-3 * np.ptp([first.low, first.high]))
    above = 0.36 if title else 0.0
    columns = 1 if wide > FLAT * tall else len(panels)
    rows = len(panels) // columns
    if size is None:
        height = area * (min(1.0, float(tall / wide)) / 1.5 if rows == 1 else float(tall / wide))
        size = (
            columns * (height * float(wide / tall) + BETWEEN) + 2.0 * MARGIN - BETWEEN,
            rows * (height + BETWEEN) + 2.0 * MARGIN - BETWEEN + above,
        )
    page = new_figure(size)
    width = max((size[0] - 2.0 * MARGIN + BETWEEN) / columns - BETWEEN, 0.3)
    height = max((size[1] - 2.0 * MARGIN + BETWEEN - above) / rows - BETWEEN, 0.3)
    for k, panel in enumerate(panels):
        row, column = divmod(k, columns)
        left, bottom = MARGIN + column * (width + BETWEEN), MARGIN + (rows - 1 - row) * (height + BETWEEN)
        panel.fit(page, (left, bottom, width, height))
    if title:
        style: dict[str, Any] = {"transform": page.dpi_scale_trans, "fontfamily": FONT, "color": INK, "ha": "center"}
        page.text(size[0] / 2.0, size[1] - 0.12, title, fontsize=12.0, va="top", **style)
    return page


def _lines(values: Sequence[str], width: float) -> list[str]:
    """Return values wrapped into lines of a width [inch]."""
    most = max(1, int(width / 1.05))
    if not values:
        return []
    rows = -(-len(values) // most)
    each = -(-len(values) // rows)
    return ["    ".join(values[k : k + each]) for k in range(0, len(values), each)]
