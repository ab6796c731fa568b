"""Draw one linkage on 2-D or 3-D axes with matplotlib, and redraw it at other poses.

Objects of one kind are one collection, so that a linkage of ten thousand links is still a handful of artists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.ticker import MultipleLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

from ..goals import Reach
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .gauges import Gauge, gauges
from .goal_marks import room_lines
from .labels import FONT, write_names
from .parts import IntArray, Points, joined_points, origins
from .sketch import BONE, INK, Extent, Sketch, nice_step, seen_from

SMALL, NORMAL, LARGE = 8.0, 9.0, 11.0
GREY, GRID, SHADOW = "#8A949E", "#E1E5E9", "#E9EBEE"
RED, GREEN, BLUE, ORANGE, TEAL = "#CC3311", "#228833", "#0077BB", "#EE7733", "#009988"
FAINT = "#F8CFB3"  # light orange, for the future part of a trail
MOST_NAMES = 60
STILL: FloatArray = np.zeros(3)

Region = tuple[float, float, float, float]
GROUND_MARK = Path(  # textbook symbol of a fixed pivot: a pin on hatched ground
    [(0, 0), (-1, -1.5), (1, -1.5), (0, 0), (-1.6, -1.5), (1.6, -1.5)]
    + [p for x in (-1.2, -0.4, 0.4, 1.2) for p in ((x, -1.5), (x - 0.5, -2.2))],
    [1, 2, 2, 2, 1, 2] + [1, 2] * 4,
)


def calm() -> np.errstate:
    """Return a context in which spurious overflows are ignored.

    matplotlib's 3-D axes multiply small matrices, for which some builds of BLAS occasionally report an overflow in
    lanes whose result they discard. Everything drawn is checked to be finite beforehand.
    """
    return np.errstate(over="ignore", invalid="ignore")


class Picture(Figure):
    """A figure without pyplot, which notebooks display."""

    def draw(self, renderer: Any) -> None:
        """Draw everything."""
        with calm():
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        from io import BytesIO

        data = BytesIO()
        self.savefig(data, format="png", dpi=144)
        return data.getvalue()


def write(page: Figure, x: float, y: float, text: str, size: float, color: Any, **style: Any) -> None:
    """Write a text at a position in inches."""
    width, height = page.get_size_inches()
    page.text(x / width, y / height, text, fontfamily=FONT, fontsize=size, color=color, **style)


def style_axes(ax: Any, *, sides: Collection[str] = ("left", "bottom"), grid: bool = True) -> None:
    """Style axes: grey lines at some sides, small numbers, a faint grid below everything."""
    for side, spine in ax.spines.items():
        spine.set(visible=side in sides, color=GREY, linewidth=0.8)
    if grid:
        ax.grid(visible=True, color=GRID, linewidth=0.7)
        ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=GREY, labelsize=SMALL, labelfontfamily=FONT, labelcolor=INK)


def name_axes(ax: Any, x: str, y: str) -> None:
    """Label the x and y axes."""
    ax.set_xlabel(x, fontfamily=FONT, fontsize=NORMAL, color=INK)
    ax.set_ylabel(y, fontfamily=FONT, fontsize=NORMAL, color=INK)


def on_page(figure: Figure, region: Region) -> Region:
    """Return a region in inches as shares of the page, as matplotlib expects it."""
    width, height = figure.get_size_inches()
    return region[0] / width, region[1] / height, region[2] / width, region[3] / height


def new_figure(size: tuple[float, float]) -> Picture:
    """Return an empty white figure of a size in inches, on an Agg canvas."""
    figure = Picture(figsize=size, dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


@dataclass(frozen=True)
class PanelOptions:
    """What to show besides the linkage itself.

    Args:
        frames: Names of the frames to draw as triads.
        limits: Show the range of every joint.
        labels: Write the names of joints and frames.
        trail: World positions (n, 3) of a path to draw, or None.
        goal: World position (3,) of a target to mark, or None.
        wanted: The goal whose ranges to draw, or None.
        near: Lines (n, 2, 3) between the nearest points of things, in red.
        ticks: Number the axes.
        fine: Draw solids as polygons, for print; False draws pixels, which is faster, for films.
        follows: Whether the camera follows the linkage, so that the ground moves below it.
        ground: Draw the grid, and in space the ground and shadows; a diagram has none.
    """

    frames: tuple[str, ...] = ()
    limits: bool = False
    labels: bool = False
    trail: FloatArray | None = None
    goal: FloatArray | None = None
    wanted: Reach | None = None
    near: FloatArray | None = None
    ticks: bool = True
    fine: bool = True
    follows: bool = False
    ground: bool = True


class Panel:
    """A linkage on axes. Use `FlatPanel` or `SpacePanel`.

    Args:
        ax: The axes to draw on.
        sketch: The linkage to draw.
        options: What to show besides the linkage.
        extent: The region that the picture must contain.

    Attributes:
        moving: The artists that change with the pose.
    """

    dimensions = 2

    def __init__(self, ax: Any, sketch: Sketch, options: PanelOptions, extent: Extent) -> None:
        self.ax, self.sketch, self.options = ax, sketch, options
        self.low, self.high, self.points = extent.low, extent.high, extent.points
        self.step = 1.0  # distance of grid lines, chosen by `fit` [m]
        self.scale = max(float(np.linalg.norm((self.high - self.low)[: self.dimensions])), 1e-9)
        self.moving: list[Any] = []
        many = len(sketch.bones.owners) + len(sketch.parts)
        self.width = float(np.clip(4.0 * math.sqrt(30.0 / max(many, 1)), 0.8, 4.0))
        joints = len(sketch.round_joints.owners) + len(sketch.prismatic_joints.owners)
        self.dot = float(np.clip(6.0 * math.sqrt(40.0 / max(joints, 1)), 1.2, 6.0))
        self._make()

    # Artists for both dimensions

    def _lines(self, zorder: float, color: Any, width: float) -> Any:
        kind = LineCollection if self.dimensions == 2 else Line3DCollection
        return self._collection(kind, colors=color, linewidths=width, zorder=zorder, capstyle="round")

    def _polygons(self, zorder: float, **style: Any) -> Any:
        return self._collection(PolyCollection if self.dimensions == 2 else Poly3DCollection, zorder=zorder, **style)

    def _collection(self, kind: Any, **style: Any) -> Any:
        clipped = self.dimensions == 2  # 3-D axes fill only a square of the picture
        return self._moves(self.ax.add_collection(kind([], clip_on=clipped, **style), autolim=False))

    def _dots(self, zorder: float, marker: Any, size: float, *, face: Any = "white", **style: Any) -> Any:
        edge = {"markeredgecolor": INK, "markeredgewidth": 1.1 * min(1.0, size / 4.0)} | style
        empty: list[list[float]] = [[]] * self.dimensions
        (dots,) = self.ax.plot(
            *empty, linestyle="none", marker=marker, markersize=size, markerfacecolor=face, zorder=zorder, **edge
        )
        return self._moves(dots)

    def _moves(self, artist: Any) -> Any:
        self.moving.append(artist)
        return artist

    def _set_lines(self, lines: Any, segments: Any) -> None:
        lines.set_visible(len(segments) > 0)
        lines.set_segments([np.asarray(s)[..., : self.dimensions] for s in segments])

    def _set_polygons(self, polygons: Any, corners: Any) -> None:
        polygons.set_visible(len(corners) > 0)
        flat = isinstance(corners, np.ndarray)
        polygons.set_verts(corners[..., : self.dimensions] if flat else [c[:, : self.dimensions] for c in corners])

    def _set_dots(self, dots: Any, points: FloatArray) -> None:
        columns = points.reshape(-1, 3).T[: self.dimensions]
        (dots.set_data if self.dimensions == 2 else dots.set_data_3d)(*columns)

    # Drawn in both dimensions

    def _make(self) -> None:
        options = self.options
        self._gauges: list[Gauge] = []
        self._attached: list[tuple[Callable[..., None], Any, Points]] = []  # update function, artist and its points
        self._make_bodies()
        self._ranges: Any = self._polygons(20.0, closed=True) if options.limits else None
        self._rims: Any = self._lines(20.5, INK, 0.8) if options.limits else None
        self._needles: Any = self._lines(21.0, INK, 1.8) if options.limits else None
        self._triads = self._lines(30.0, [RED, GREEN, BLUE][: self.dimensions], 2.0) if options.frames else None
        self._future = self._lines(3.0, FAINT, 1.2) if options.trail is not None else None
        self._past = self._lines(15.0, ORANGE, 1.8) if options.trail is not None else None
        if options.goal is not None:
            cross = self._dots(25.0, "x", 8.0, markeredgecolor=RED, markeredgewidth=2.2)
            self._set_dots(cross, options.goal)
        if options.near is not None:
            self._set_lines(self._lines(26.0, RED, 2.0), options.near)
            self._set_dots(self._dots(27.0, "o", 4.0, face=RED, markeredgecolor="white"), options.near)
        if room := room_lines(options.wanted, self.scale):
            self._set_lines(self._lines(24.0, RED, 1.0), room)

    def show(self, q: FloatArray, *, frame: int = 0, camera: FloatArray = STILL) -> None:
        """Move everything to a pose (nq,).

        Args:
            q: The pose.
            frame: Index up to which the trail is past.
            camera: Displacement of the camera, shape (3,).
        """
        frames = seen_from(self.sketch.frames(q), camera)
        if self.options.follows:
            self._show_ground(camera)
        for place, artist, points in self._attached:
            place(artist, points.at(frames))
        self._show_bodies(frames)
        if self._ranges is not None:
            self._show_limits(q, frames)
        if self._triads is not None:
            self._set_lines(self._triads, self._triad_lines(frames))
        if self.options.trail is not None:
            trail = self.options.trail - camera
            self._set_lines(self._future, self._in_view(trail[frame:]))
            self._set_lines(self._past, self._in_view(trail[: frame + 1]))

    def _in_view(self, trail: FloatArray) -> list[FloatArray]:
        """Return a path as lines to draw; with a following camera, only the pieces near it."""
        if len(trail) < 2:
            return []
        if not self.options.follows:
            return [trail]
        margin = 0.5 * (self.high - self.low)
        inside = np.flatnonzero(((trail >= self.low - margin) & (trail <= self.high + margin)).all(axis=1))
        pieces = np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1)
        return [trail[piece] for piece in pieces if len(piece) > 1]

    def _show_limits(self, q: FloatArray, frames: FloatArray) -> None:
        self._gauges = found = gauges(self.sketch.linkage, q, frames, self.scale)
        colors = [RED if gauge.beyond else GREY if gauge.free else TEAL for gauge in found]
        self._set_polygons(self._ranges, [gauge.area for gauge in found])
        if found:
            tints = [0.06 if gauge.free else 0.22 for gauge in found]
            self._ranges.set_facecolor([(*to_rgb(color), tint) for color, tint in zip(colors, tints, strict=True)])
            self._ranges.set_edgecolor("none")
        self._set_lines(self._rims, [rim for gauge in found for rim in gauge.rims])
        self._rims.set_color([color for gauge, color in zip(found, colors, strict=True) for _ in gauge.rims] or INK)
        self._set_lines(self._needles, [gauge.needle for gauge in found])
        self._needles.set_color(colors or INK)

    def _triad_lines(self, frames: FloatArray) -> FloatArray:
        lines = triads(self.sketch.linkage, self.options.frames, frames, self.scale)
        return lines[:, : self.dimensions].reshape(-1, 2, 3)

    def write(self, q: FloatArray) -> int:
        """Write the names of joints and frames, once the axes are in place; return how many did not fit."""
        linkage, frames = self.sketch.linkage, self.sketch.frames(q)
        named = [(joint.name, frames[i, :3, 3]) for i, joint in enumerate(linkage.arcs) if joint.articulation.nq]
        named += [(name, frames[linkage.frame_index(name), :3, 3]) for name in self.options.frames]
        if not named:
            return 0
        places = self.to_points(np.array([point for _, point in named]))
        sharing: dict[tuple[float, ...], list[str]] = {}
        for (text, _), place in zip(named, places.round(0).tolist(), strict=True):
            sharing.setdefault(tuple(place), []).append(text)
        names, points = [_joined(texts) for texts in sharing.values()], np.array(list(sharing))
        chosen = np.linspace(0, len(names) - 1, min(len(names), MOST_NAMES)).round().astype(np.int64)
        size = SMALL if len(chosen) <= 40 else 6.0
        texts, lines, clearance = [names[k] for k in chosen], self.busy(frames), self.dot / 2.0 + 1.5
        left_out = write_names(self.ax, texts, points[chosen], lines, clearance=clearance, size=size)
        return left_out + len(names) - len(chosen)

    def busy(self, frames: FloatArray) -> FloatArray:
        """Return the lines (n, 2, 2) on the page, in points, that names should avoid."""
        linkage = self.sketch.linkage
        pairs = [(parent, i) for i, parent in enumerate(linkage.parents) if parent >= 0]
        first = len(linkage.nodes)
        pairs += [(linkage.link_index(extra.link), first + k) for k, extra in enumerate(linkage.extra_frames)]
        lines = [frames[np.array(pairs, dtype=np.int64).reshape(-1, 2), :3, 3]]
        if self._triads is not None:
            lines.append(self._triad_lines(frames))
        for gauge in self._gauges:
            lines += [gauge.needle[None], *(np.stack([rim[:-1], rim[1:]], axis=1) for rim in gauge.rims)]
        return self.to_points(np.concatenate(lines).reshape(-1, 3)).reshape(-1, 2, 2)

    def shape(self) -> float:
        """Return the width of the picture in units of its height."""
        low, high = self.window()
        width, height = high - low
        return float(width / height)

    def measure(self) -> str:
        """Return a note with the grid size, for axes without numbers."""
        return f"Grid: {self.step:g} m."

    def to_points(self, points: FloatArray) -> FloatArray:
        """Return world points (n, 3) as positions on the page (n, 2), in points of 1/72 inch."""
        self.ax.apply_aspect()
        return self._page_points(self._projected(points))

    def _page_points(self, places: FloatArray) -> FloatArray:
        return np.asarray(self.ax.transData.transform(places) * (72.0 / self.ax.get_figure().dpi))

    # Different in two and three dimensions

    def fit(self, region: Region | None) -> None:
        """Set limits, aspect and position. A region is in inches; None keeps the position of the caller's axes."""
        raise NotImplementedError

    def window(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest position that shows something."""
        raise NotImplementedError

    def _projected(self, points: FloatArray) -> FloatArray:
        """Return world points (n, 3) in the coordinates of the axes' page (n, 2)."""
        raise NotImplementedError

    def _make_bodies(self) -> None:
        raise NotImplementedError

    def _show_bodies(self, frames: FloatArray) -> None:
        raise NotImplementedError

    def _show_ground(self, camera: FloatArray) -> None:
        """Move the ground below a following camera; only 3-D panels have one."""
        raise NotImplementedError


def triads(linkage: Linkage, names: tuple[str, ...], frames: FloatArray, scale: float) -> FloatArray:
    """Return the axes of named frames as lines (n, 3, 2, 3), of a length that suits a scene of a size [m]."""
    frames = frames[[linkage.frame_index(name) for name in names]]
    length = 0.085 * scale * max(0.1, min(1.0, math.sqrt(12.0 / max(len(frames), 1))))
    origins = np.repeat(frames[:, None, :3, 3], 3, axis=1)
    return np.stack([origins, origins + length * np.swapaxes(frames[:, :3, :3], 1, 2)], axis=2)


class FlatPanel(Panel):
    """A flat linkage seen from above: outlines, dots at revolute joints, squares at prismatic ones."""

    def _make_bodies(self) -> None:
        sketch = self.sketch
        standing = sketch.outlines_of([part for part, _ in sketch.obstacles])  # drawn below all links
        solids, wires = [*standing, *sketch.outlines_of(sketch.parts)], sketch.wires()
        self._outlines, self._cuts = _joined_with_cuts([points for _, points in solids])
        colors = np.array([part.color for part, _ in solids]).reshape(-1, 3)
        self._wire_points, self._wire_cuts = _joined_with_cuts([points for _, points in wires])
        self._wires = self._lines(5.0, [part.color for part, _ in wires] or INK, 1.4)
        rails = self._lines(6.0, GREY, max(0.8, 0.4 * self.width))
        edge = 0.9 * min(1.0, self.width / 2.0)
        self._bodies = self._polygons(7.0, facecolors=colors, edgecolors=0.55 * colors, linewidths=edge)
        veils = sketch.outlines_of([part for part, _ in sketch.veils])
        self._veil_points, self._veil_cuts = _joined_with_cuts([points for _, points in veils])
        tints = [(*part.color, 0.35) for part, _ in veils]
        self._veils = self._polygons(12.0, facecolors=tints, edgecolors="none") if veils else None
        bones = self._lines(8.0, BONE, self.width)
        self._attached += [(self._set_lines, rails, sketch.rails), (self._set_lines, bones, sketch.bones)]
        if sketch.bare[0] and not sketch.linkage.root.articulation.nq:
            ground = self._dots(9.0, GROUND_MARK, 2.6 * self.dot, markeredgewidth=0.9)
            self._attached.append((self._set_dots, ground, origins([0])))
        tips = self._dots(10.0, "o", 0.6 * self.dot, face=INK, markeredgewidth=0.0)
        self._attached.append((self._set_dots, tips, sketch.tips))
        for points, marker in ((sketch.prismatic_joints, "s"), (sketch.round_joints, "o")):
            self._attached.append((self._set_dots, self._dots(11.0, marker, self.dot), points))

    def _show_bodies(self, frames: FloatArray) -> None:
        self._set_polygons(self._bodies, np.split(self._outlines.at(frames), self._cuts)[:-1])
        if self._veils is not None:
            self._set_polygons(self._veils, np.split(self._veil_points.at(frames), self._veil_cuts)[:-1])
        self._set_lines(self._wires, np.split(self._wire_points.at(frames), self._wire_cuts)[:-1])

    def busy(self, frames: FloatArray) -> FloatArray:
        """Return the lines on the page that names should avoid, including outlines."""
        corners = np.split(self.to_points(self._outlines.at(frames)), self._cuts)[:-1]
        edges = [np.stack([points, np.roll(points, -1, axis=0)], axis=1) for points in corners]
        if len(corners) <= MOST_NAMES:  # with few names, also avoid the inside
            edges += [
                np.stack([points, np.broadcast_to(points.mean(axis=0), points.shape)], axis=1) for points in corners
            ]
        return np.concatenate([super().busy(frames), *edges])

    def fit(self, region: Region | None) -> None:
        """Set equal aspect, limits that fill the region, ticks and labels."""
        ax = self.ax
        low, high = self.window()
        if region is not None:
            size, middle = np.array(region[2:]), (low + high) / 2.0
            span = float(((high - low) / size).max()) * size
            low, high = middle - span / 2.0, middle + span / 2.0
            ax.set_position(on_page(ax.get_figure(), region))
        ax.set_aspect("equal", adjustable="box" if region is not None else "datalim")
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])
        self._decorate()

    def window(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest x and y that the picture must contain, margins included."""
        margin = (0.07 if self.options.ground else 0.02) * self.scale
        low, high = self.low[:2] - margin, self.high[:2] + margin
        lacking = np.maximum(0.0, 0.25 * (high - low).max() - (high - low)) / 2.0
        return low - lacking, high + lacking

    def _decorate(self) -> None:
        ax = self.ax
        if not self.options.ground:
            ax.set_axis_off()
            return
        ax.set_facecolor("white")
        style_axes(ax, sides=("left", "bottom") if self.options.ticks else ax.spines.keys())
        short, long = sorted((self.window()[1] - self.window()[0]).tolist())
        self.step = nice_step(long / 7.0)
        if short < 2.0 * self.step:
            self.step = nice_step(max(short / 4.0, long / 14.0))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MultipleLocator(self.step))
        if self.options.ticks:
            ax.tick_params(length=3.0)
            name_axes(ax, "x [m]", "y [m]")
        else:
            ax.tick_params(labelbottom=False, labelleft=False, length=0.0)

    def _projected(self, points: FloatArray) -> FloatArray:
        return points[:, :2]


def _joined_with_cuts(groups: list[Points]) -> tuple[Points, IntArray]:
    """Return many groups of points as one, and the indices that split it into groups again."""
    return joined_points(groups), np.cumsum([len(group.owners) for group in groups], dtype=np.int64)


def _joined(texts: list[str]) -> str:
    """Return the names at one position as a single text."""
    shown = texts if len(texts) <= 3 else [*texts[:2], f"{len(texts) - 2} more"]
    return ", ".join(shown)
