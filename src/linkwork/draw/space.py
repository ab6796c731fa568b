"""A linkage in space: shaded solids over a ground grid, seen by a camera.

Imports `panels`, `surfaces` and matplotlib's 3-D axes. All faces are one collection, sorted by depth together, so that
what is nearer hides what is further.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from mpl_toolkits.mplot3d import proj3d

from ..transforms import FloatArray
from .hiding import Eye, visible
from .panels import FONT, GREY, GRID, NORMAL, SHADOW, SMALL, Look, Panel, Region, nice_step
from .sketch import BONE, INK, JOINT, Extent, Points, Sketch, Solids
from .surfaces import outline, shaded

DEFAULT_VIEW = (22.0, -56.0)
VIEWS = {"front": (0.0, 0.0), "side": (0.0, -90.0), "top": (90.0, -90.0)}
EDGE_ON = {"front": "x", "side": "y", "top": "z"}  # the axis that points at the viewer
FOCAL_LENGTH = 1.0  # mild perspective: the camera is five diagonals of the box away
MOST_SHADOWS = 300
MOST_HIDING = 300


class Faces(PolyCollection):
    """Faces in space as one artist: those that look away or are hidden are left out, the rest is lit, furthest first.

    matplotlib's 3-D axes call `do_3d_projection` before they draw, so the picture stays right when they are turned.

    Args:
        solids: The faces.
        slack: How near two surfaces are one and the same [m].
        **style: Anything a `PolyCollection` takes.

    Attributes:
        corners: The faces in the world, shape (n, 4, 3), counter-clockwise from outside.
    """

    def __init__(self, solids: Solids, slack: float, **style: Any) -> None:
        self._solids, self._slack = solids, slack
        self.corners = solids.faces
        super().__init__([], **style)

    def place(self, frames: FloatArray) -> None:
        """Move the faces to where frames (frames, 4, 4) are."""
        self._frames = frames
        self.corners, self._facing = self._solids.at(frames)

    def do_3d_projection(self) -> float:
        """Project, choose, light and sort the faces for the camera as it is now."""
        axes: Any = self.axes
        towards, light = camera(axes.elev, axes.azim)
        projection = axes.get_proj()
        eye = Eye.of(projection, towards)
        pages = _projected(self.corners, projection)
        index = np.flatnonzero((eye.from_points(self.corners.mean(axis=1)) * self._facing).sum(axis=1) > 0.0)
        corners, parts = self.corners[index], self._solids.parts
        if len(index) and len(parts) <= MOST_HIDING:
            groups = self._solids.groups[index]
            corners, pieces = visible(corners, groups, pages[index], parts, self._frames, eye, self._slack, 0.0075)
            index = index[pieces]
        near = eye.nearness(corners)
        order = np.argsort(near.min(axis=1, initial=0.0) + near.max(axis=1, initial=0.0), kind="stable")
        self.set_verts(_projected(corners[order], projection))
        index = index[order]
        lit = shaded(self._solids.colors[index], self._facing[index], light)
        self.set_facecolor(lit)
        self.set_edgecolor(lit)
        return 0.0


def _projected(points: FloatArray, projection: FloatArray) -> FloatArray:
    """Return points (..., 3) as matplotlib's 3-D axes place them on their page, shape (..., 2)."""
    x, y, _ = proj3d.proj_transform(*points.reshape(-1, 3).T, projection)
    return np.stack([x, y], axis=-1).reshape(*points.shape[:-1], 2)


def camera(elevation: float, azimuth: float) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors towards a camera [deg] and towards the light, which hangs above and to the left of it."""
    elevation, azimuth = math.radians(elevation), math.radians(azimuth)
    flat = math.cos(elevation)
    towards = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    light = 0.55 * towards + np.array([0.0, 0.0, 0.75]) - 0.45 * right
    return towards, light / np.linalg.norm(light)


class SpacePanel(Panel):
    """A linkage on 3-D axes.

    Args:
        ax: Axes with the ``"3d"`` projection.
        sketch: What there is to draw.
        look: What to show besides.
        extent: The room that the picture has to hold.
        view: Elevation and azimuth of the camera [deg], or a name in `VIEWS`.
    """

    dimensions = 3

    def __init__(
        self,
        ax: Any,
        sketch: Sketch,
        look: Look,
        extent: Extent,
        *,
        view: tuple[float, float] | str = DEFAULT_VIEW,
    ) -> None:
        self.view = view
        super().__init__(ax, sketch, look, extent)

    def _make_bodies(self) -> None:
        sketch = self.sketch
        self.ax.computed_zorder = False
        self._box()
        self._grid = self._lines(1.0, GRID, 0.7)
        self.moving.remove(self._grid)  # the ground stays
        self._shadows = self._polygons(2.0, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.5)
        self._casting = sketch.casting() if len(sketch.parts) <= MOST_SHADOWS else []
        self._bone_shadows = self._lines(2.0, SHADOW, 2.0)
        self._rails = self._lines(9.0, GREY, 2.0)
        self.faces = Faces(sketch.solids(self.scale), 1e-5 * self.scale, linewidths=0.4, zorder=10.0)
        self._moves(self.ax.add_collection(self.faces, autolim=False))
        self._bones = self._lines(11.0, BONE, self.width) if sketch.many else None
        self._dots_of = []
        if sketch.many:
            for points, marker in ((sketch.hinges, "o"), (sketch.sliders, "s")):
                bare = points.owners[sketch.bare[points.owners]]
                dots = self._dots(12.0, marker, self.dot, face=JOINT)
                self._dots_of.append((dots, Points(bare, np.zeros((len(bare), 3)))))

    def _show_bodies(self, frames: FloatArray) -> None:
        self.faces.place(frames)
        bones = self.sketch.bones.at(frames)
        if self._bones is not None:
            self._set_lines(self._bones, bones)
        for dots, points in self._dots_of:
            self._set_dots(dots, points.at(frames))
        self._set_lines(self._rails, self.sketch.rails.at(frames))
        self._cast(frames, bones)

    def _cast(self, frames: FloatArray, bones: FloatArray) -> None:
        """Drop a shadow straight down to the ground: it tells where things stand."""
        shadows = []
        for points in self._casting:
            corners = points.at(frames)
            corners = corners[outline(corners[:, :2])]
            corners[:, 2] = self.ground
            shadows.append(corners)
        self._set_polygons(self._shadows, shadows)
        dropped = bones.copy()
        dropped[..., 2] = self.ground
        self._set_lines(self._bone_shadows, dropped if len(dropped) <= MOST_SHADOWS else [])

    def _box(self) -> None:
        """Choose the box of the axes and its ground, from what has to be inside."""
        margin = 0.06 * self.scale
        low, high = self.low - margin, self.high + margin
        stands = -0.02 * self.scale <= self.low[2] <= 0.5 * self.scale
        self.ground = 0.0 if stands else float(low[2])
        low[2] = min(self.ground, float(self.low[2]))
        least = np.array([0.4, 0.4, 0.15]) * (high - low).max()
        lacking = np.maximum(0.0, least - (high - low))
        low[:2] -= lacking[:2] / 2.0
        high += lacking * np.array([0.5, 0.5, 1.0])
        self.box = low, high

    def fit(self, region: Region | None) -> None:
        """Set limits, equal aspect, camera, ground and ticks; then scale and shift so that the box fills the region."""
        ax = self.ax
        (x0, y0, z0), (x1, y1, z1) = self.box
        ax.set_xlim3d(x0, x1)
        ax.set_ylim3d(y0, y1)
        ax.set_zlim3d(z0, z1)
        elevation, azimuth = VIEWS[self.view] if isinstance(self.view, str) else self.view
        ax.view_init(elev=elevation, azim=azimuth)
        self._decorate()
        ax.set_box_aspect(self.box[1] - self.box[0])
        if isinstance(self.view, str):
            ax.set_proj_type("ortho")
        else:
            ax.set_proj_type("persp", focal_length=FOCAL_LENGTH)
        if region is None:
            return
        page = ax.get_figure().get_size_inches()
        left, bottom, width, height = region
        middle, side = np.array([left + width / 2.0, bottom + height / 2.0]), 1.0
        self._put(middle, side, page)
        low, high = self._extent()
        side *= float(min(np.array([width, height]) / (high - low)))
        self._put(middle, side, page)
        low, high = self._extent()
        self._put(2.0 * middle - (low + high) / 2.0, side, page)

    def _put(self, middle: FloatArray, side: float, page: FloatArray) -> None:
        left, bottom = (middle - side / 2.0) / page
        self.ax.set_position((left, bottom, side / page[0], side / page[1]))

    def _extent(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest place on the page, in inches, that shows something: content, ground or axis."""
        corners = np.array(np.meshgrid(*np.array(self.box).T)).reshape(3, -1).T
        low = corners[:, 2] == self.box[0][2]
        places = self._to_points(np.concatenate([corners[low], self.points, corners[~low]])) / 72.0
        ground, rest, top = np.split(places, [4, len(places) - 4])
        upright = top[int(ground[:, 0].argmax())]  # the vertical axis stands on the corner furthest to the right
        shown = np.concatenate([ground, rest, upright[None]] if self.look.ticks else [ground, rest])
        return shown.min(axis=0), shown.max(axis=0)

    def shape(self) -> float:
        """Return the width of the picture in units of its height."""
        low, high = self._extent()
        width, height = high - low
        return float(width / height)

    def measure(self) -> str:
        """Return the distance of grid lines."""
        return f"Grid: {self.step:g} m."

    def _to_points(self, points: FloatArray) -> FloatArray:
        self.ax.apply_aspect()
        flat = self.ax.transData.transform(_projected(points, self.ax.get_proj()))
        return np.asarray(flat) * 72.0 / self.ax.get_figure().dpi

    def _decorate(self) -> None:
        ax, (low, high) = self.ax, self.box
        ax.set_facecolor("none")
        ax.grid(visible=False)
        span = high - low
        self.step = nice_step(float(span[:2].max()) / 8.0)
        steps = (self.step, self.step, nice_step(float(span[2]) / 5.0))
        x, y, z = (_multiples(low[k], high[k], steps[k]) for k in range(3))
        lines = [[(at, low[1], self.ground), (at, high[1], self.ground)] for at in x]
        lines += [[(low[0], at, self.ground), (high[0], at, self.ground)] for at in y]
        self._set_lines(self._grid, lines)
        ticks = {"x": (ax.xaxis, x), "y": (ax.yaxis, y), "z": (ax.zaxis, z)}
        hidden = EDGE_ON.get(self.view) if isinstance(self.view, str) else None
        for k, (name, (axis, values)) in enumerate(ticks.items()):
            axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
            axis.line.set_color(GREY)
            axis.line.set_linewidth(0.8)
            values = _multiples(low[k], high[k], steps[k] / 2.0) if len(values) < 2 else values
            shown = values[:: math.ceil(len(values) / 6)]
            axis.set_ticks(shown if self.look.ticks and name != hidden else [])
            if name == hidden or not self.look.ticks:
                axis.line.set_visible(False)
            else:
                axis.set_label_text(f"{name} [m]", fontfamily=FONT, fontsize=NORMAL, color=INK)
                axis.labelpad = 0.0
        ax.tick_params(colors=GREY, labelsize=SMALL, labelfontfamily=FONT, labelcolor=INK, pad=0.0)


def _multiples(low: float, high: float, step: float) -> FloatArray:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return np.arange(first, last + 1) * step
