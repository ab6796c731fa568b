"""A linkage in space: shaded solids over a ground grid, seen by a camera.

Imports `panels`, `surfaces` and matplotlib's 3-D axes. All faces are one collection, sorted by depth together, so that
what is nearer hides what is further.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import proj3d

from ..transforms import FloatArray
from .panels import FONT, GREY, GRID, NORMAL, SHADOW, SMALL, Look, Panel, Region
from .sketch import BONE, INK, JOINT, Points, Sketch
from .surfaces import outline, shaded

DEFAULT_VIEW = (22.0, -56.0)
VIEWS = {"front": (0.0, 0.0), "side": (0.0, -90.0), "top": (90.0, -90.0)}
EDGE_ON = {"front": "x", "side": "y", "top": "z"}  # the axis that points at the viewer
DISTANCE = 3.5  # of the camera, in diagonals of the scene
MOST_SHADOWS = 300


class SpacePanel(Panel):
    """A linkage on 3-D axes.

    Args:
        ax: Axes with the ``"3d"`` projection.
        sketch: What there is to draw.
        look: What to show besides.
        bounds: Lowest and highest coordinates (3,) that the picture has to hold.
        view: Elevation and azimuth of the camera [deg], or a name in `VIEWS`.
        turning: Whether someone may turn the axes later; if not, faces that look away are left out.
    """

    dimensions = 3

    def __init__(
        self,
        ax: Any,
        sketch: Sketch,
        look: Look,
        bounds: tuple[FloatArray, FloatArray],
        *,
        view: tuple[float, float] | str = DEFAULT_VIEW,
        turning: bool = False,
    ) -> None:
        self.view, self._turning = view, turning
        self.elevation, self.azimuth = VIEWS[view] if isinstance(view, str) else view
        elevation, azimuth = math.radians(self.elevation), math.radians(self.azimuth)
        flat = math.cos(elevation)
        self._towards = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
        right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        light = 0.55 * self._towards + np.array([0.0, 0.0, 0.75]) - 0.45 * right
        self._light = light / np.linalg.norm(light)
        super().__init__(ax, sketch, look, bounds)

    def _make_bodies(self) -> None:
        sketch = self.sketch
        self.ax.computed_zorder = False
        self._box()
        self._solids = sketch.solids(self.scale)
        self._grid = self._lines(1.0, GRID, 0.7)
        self.moving.remove(self._grid)  # the ground stays
        self._shadows = self._polygons(2.0, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.5)
        self._casting = sketch.casting() if len(sketch.parts) <= MOST_SHADOWS else []
        self._bone_shadows = self._lines(2.0, SHADOW, 2.0)
        self._rails = self._lines(9.0, GREY, 2.0)
        self._faces = self._polygons(10.0, linewidths=0.4)
        self._bones = self._lines(11.0, BONE, self.width) if sketch.many else None
        self._dots_of = []
        if sketch.many:
            for points, marker in ((sketch.hinges, "o"), (sketch.sliders, "s")):
                bare = points.owners[sketch.bare[points.owners]]
                dots = self._dots(12.0, marker, self.dot, face=JOINT)
                self._dots_of.append((dots, Points(bare, np.zeros((len(bare), 3)))))

    def _show_bodies(self, frames: FloatArray) -> None:
        faces, facing = self._solids.at(frames)
        colors = self._solids.colors
        if not self._turning:
            seen = facing @ self._towards > -0.25  # perspective shows a little of what looks away
            faces, facing, colors = faces[seen], facing[seen], colors[seen]
        self._set_polygons(self._faces, faces)
        if len(faces):
            lit = shaded(colors, facing, self._light)
            self._faces.set_facecolor(lit)
            self._faces.set_edgecolor(lit)
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
        least = np.array([0.35, 0.35, 0.12]) * (high - low).max()
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
        ax.view_init(elev=self.elevation, azim=self.azimuth)
        self._decorate()
        self._zoom(1.0)
        if region is None:
            return
        page = ax.get_figure().get_size_inches()
        left, bottom, width, height = region
        side = 2.0 * max(width, height)
        middle = np.array([left + width / 2.0, bottom + height / 2.0])
        self._put(middle, side, page)
        zoom = 1.0
        for _ in range(4):  # perspective makes the picture grow a little faster than the zoom
            low, high = self._extent()
            zoom *= float(min(np.array([width, height]) / (high - low)))
            self._zoom(zoom)
        low, high = self._extent()
        self._put(middle + middle - (low + high) / 2.0, side, page)

    def _zoom(self, zoom: float) -> None:
        self.ax.set_box_aspect(self.box[1] - self.box[0], zoom=zoom)
        if isinstance(self.view, str):
            self.ax.set_proj_type("ortho")
        else:
            self.ax.set_proj_type("persp", focal_length=0.19 * DISTANCE * zoom)

    def _put(self, middle: FloatArray, side: float, page: FloatArray) -> None:
        left, bottom = (middle - side / 2.0) / page
        self.ax.set_position((left, bottom, side / page[0], side / page[1]))

    def _extent(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest place on the page, in inches, where a corner of the box appears."""
        corners = np.array(np.meshgrid(*np.array(self.box).T)).reshape(3, -1).T
        places = self._to_points(corners) / 72.0
        return places.min(axis=0), places.max(axis=0)

    def shape(self) -> float:
        """Return the width of the picture in units of its height."""
        low, high = self._extent()
        width, height = high - low
        return float(width / height)

    def _to_points(self, points: FloatArray) -> FloatArray:
        self.ax.apply_aspect()
        x, y, _ = proj3d.proj_transform(*points.T, self.ax.get_proj())
        flat = self.ax.transData.transform(np.stack([x, y], axis=1))
        return np.asarray(flat) * 72.0 / self.ax.get_figure().dpi

    def _decorate(self) -> None:
        ax, (low, high) = self.ax, self.box
        ax.set_facecolor("none")
        ax.grid(visible=False)
        step = nice_step(float((high - low).max()) / 7.0)
        self.step = step
        x, y, z = (_multiples(low[k], high[k], step) for k in range(3))
        lines = [[(at, low[1], self.ground), (at, high[1], self.ground)] for at in x]
        lines += [[(low[0], at, self.ground), (high[0], at, self.ground)] for at in y]
        self._set_lines(self._grid, lines)
        ticks = {"x": (ax.xaxis, x), "y": (ax.yaxis, y), "z": (ax.zaxis, z)}
        hidden = EDGE_ON.get(self.view) if isinstance(self.view, str) else None
        for name, (axis, values) in ticks.items():
            axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
            axis.line.set_color(GREY)
            axis.line.set_linewidth(0.8)
            shown = values[:: 1 if len(values) <= 6 else 2]
            axis.set_ticks(shown if self.look.ticks and name != hidden else [])
            if name == hidden or not self.look.ticks:
                axis.line.set_visible(False)
            else:
                axis.set_label_text(f"{name} [m]", fontfamily=FONT, fontsize=NORMAL, color=INK)
                axis.labelpad = 0.0
        ax.tick_params(colors=GREY, labelsize=SMALL, labelfontfamily=FONT, labelcolor=INK, pad=0.0)


def nice_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least so large.

    Example:
        >>> [nice_step(x) for x in (0.13, 3.0, 7.0)]
        [0.2, 5.0, 10.0]
    """
    power = 10.0 ** math.floor(math.log10(least))
    return float(next((k * power for k in (1.0, 2.0, 5.0) if k * power >= least * (1.0 - 1e-9)), 10.0 * power))


def _multiples(low: float, high: float, step: float) -> FloatArray:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return np.arange(first, last + 1) * step
