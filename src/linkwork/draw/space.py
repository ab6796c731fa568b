"""A linkage in space: shaded solids over a ground grid, seen by a camera.

All faces are one collection, sorted by depth together, so that nearer faces hide further ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

from ..transforms import FloatArray
from .axes3d import edges, number
from .panels import GREY, GRID, SHADOW, Panel, PanelOptions, Region
from .parts import Points, origins
from .raster import Shadow, Solid, camera
from .sketch import BONE, DEFAULT_VIEW, JOINT, VIEWS, Extent, Sketch, Solids, nice_step
from .surfaces import outline, shaded
from .triangles import of_parts, of_sketch
from .visibility import Covers, Eye, visible

FOCAL_LENGTH = 1.0  # mild perspective: the camera is five diagonals of the box away
MOST_SHADOWS = 300
MOST_HIDING = 300
FADING, PIECES = 1.3, 12  # extent of the ground around a following camera, relative to the box; pieces per half line


class Faces(PolyCollection):
    """Faces in space as one artist: faces that look away or are hidden are left out, the others shaded, furthest first.

    matplotlib's 3-D axes call `do_3d_projection` before they draw, so the picture stays right when they are rotated.

    Args:
        solids: The faces.
        slack: Distance below which two surfaces coincide [m].
        **style: Options of `PolyCollection`.

    Attributes:
        corners: The faces in the world, shape (n, 4, 3), counter-clockwise from outside.
        pages: Their visible parts when last drawn, as polygons (m, corners, 2) on the page of the axes.
    """

    def __init__(self, solids: Solids, slack: float, **style: Any) -> None:
        self._solids, self._slack = solids, slack
        self.corners, self.pages = solids.faces, np.zeros((0, 4, 2))
        super().__init__([], **style)

    def place(self, frames: FloatArray) -> None:
        """Move the faces to frames (frames, 4, 4)."""
        self._frames = frames
        self.corners, self._facing = self._solids.at(frames)

    def do_3d_projection(self) -> float:
        """Project, select, shade and sort the faces for the current camera."""
        axes: Any = self.axes
        towards, light = camera(axes.elev, axes.azim)
        projection = axes.get_proj()
        eye = Eye.of(projection, towards)
        pages = _projected(self.corners, projection)
        index = np.flatnonzero((eye.from_points(self.corners.mean(axis=1)) * self._facing).sum(axis=1) > 0.0)
        corners, parts = self.corners[index], self._solids.parts
        if len(index) and len(parts) <= MOST_HIDING:
            covers = Covers(parts, self._frames, eye, self._slack, self._solids.sag)
            corners, pieces = visible(corners, self._solids.groups[index], pages[index], covers, eye)
            index = index[pieces]
        near = eye.nearness(corners)
        order = np.argsort(near.min(axis=1, initial=0.0) + near.max(axis=1, initial=0.0), kind="stable")
        self.pages = _projected(corners[order], projection)
        uncut = (self.pages[:, ::2] == self.pages[:, 1::2]).all(axis=(1, 2)).tolist()  # every corner is doubled
        self.set_verts([page[::2] if once else page for page, once in zip(self.pages, uncut, strict=True)])
        index = index[order]
        lit: Any = shaded(self._solids.colors[index], self._facing[index], light)
        self.set_facecolor(lit)
        self.set_edgecolor(lit)
        return 0.0


def _projected(points: FloatArray, projection: FloatArray) -> FloatArray:
    """Return points (..., 3) as matplotlib's 3-D axes place them on their page, shape (..., 2)."""
    page = np.einsum("ij,...j->...i", projection[:, :3], points) + projection[:, 3]
    return np.asarray(page[..., :2] / page[..., 3:], dtype=np.float64)


class SpacePanel(Panel):
    """A linkage on 3-D axes.

    Args:
        ax: Axes with the ``"3d"`` projection.
        sketch: The linkage to draw.
        options: What to show besides the linkage.
        extent: The region that the picture must contain.
        view: Elevation and azimuth of the camera [deg], or a name in `VIEWS`.
    """

    dimensions = 3

    def __init__(
        self,
        ax: Any,
        sketch: Sketch,
        options: PanelOptions,
        extent: Extent,
        *,
        view: tuple[float, float] | str = DEFAULT_VIEW,
    ) -> None:
        self.view = view
        super().__init__(ax, sketch, options, extent)

    def _make_bodies(self) -> None:
        sketch = self.sketch
        self.ax.computed_zorder = False
        self._written = np.zeros((0, 2, 3))  # positions of lines, numbers and names of the axes
        self._box()
        self._grid = self._lines(1.0, GRID, 0.7)
        if not self.options.follows:
            self.moving.remove(self._grid)  # the ground is drawn once
        self._casting: list[Points] = []
        self._attached.append((self._set_lines, self._lines(9.0, GREY, 2.0), sketch.rails))
        self.faces: Faces | Solid
        self._over: list[Solid] = []  # obstacles and collision shapes
        only_bodies = not (sketch.mesh_parts or sketch.obstacles or sketch.veils) and sketch.skin is None
        if self.options.fine and only_bodies:
            self._make_polygons()
        else:
            self._make_pixels()
        if sketch.many:
            self._attached.append((self._set_lines, self._lines(11.0, BONE, self.width), sketch.bones))
            for points, marker in ((sketch.round_joints, "o"), (sketch.prismatic_joints, "s")):
                dots = self._dots(12.0, marker, self.dot, face=JOINT)
                self._attached.append((self._set_dots, dots, origins(points.owners[sketch.bare[points.owners]])))

    def _make_polygons(self) -> None:
        """Draw solids as polygons, which are sharp in print, over a shadow of polygons."""
        sketch = self.sketch
        self._shadows = self._polygons(2.0, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.5)
        self._casting = sketch.casting() if len(sketch.parts) <= MOST_SHADOWS else []
        self._bone_shadows = self._lines(2.0, SHADOW, 2.0)
        self.faces = Faces(sketch.solids(self.scale), 1e-5 * self.scale, linewidths=0.4, zorder=10.0)
        self._moves(self.ax.add_collection(self.faces, autolim=False))

    def _make_pixels(self) -> None:
        """Draw solids as pixels, which is fast and works for meshes of any size."""
        sketch = self.sketch
        self.faces = Solid(of_sketch(sketch, self.scale, joints=not sketch.many), 10.0)
        artists = [Shadow(self.faces, self.ground, SHADOW, 2.0), self.faces]
        if sketch.obstacles:  # obstacles are opaque below the linkage, and transparent over it where they are nearer
            solid = of_parts(sketch.obstacles)
            self._over += [Solid(solid, 9.5), Solid(solid, 14.0, self.faces)]
            artists.append(Shadow(self._over[0], self.ground, SHADOW, 2.0))
        if sketch.veils:
            self._over.append(Solid(of_parts(sketch.veils, outside=True), 13.0, self.faces))
        for artist in (*artists, *self._over):
            self._moves(self.ax.add_artist(artist))
            artist.set_clip_on(False)

    def _show_bodies(self, frames: FloatArray) -> None:
        """Place the faces, and their shadows straight below them on the ground."""
        self.faces.place(frames)
        for solid in self._over:
            solid.place(frames)
        if isinstance(self.faces, Solid) or not self.options.ground:
            return
        shadows = []
        for points in self._casting:
            corners = points.at(frames)
            corners = corners[outline(corners[:, :2])]
            corners[:, 2] = self.ground
            shadows.append(corners)
        self._set_polygons(self._shadows, shadows)
        dropped = self.sketch.bones.at(frames)
        dropped[..., 2] = self.ground
        self._set_lines(self._bone_shadows, dropped if len(dropped) <= MOST_SHADOWS else [])

    def _show_ground(self, camera: FloatArray) -> None:
        """Draw the grid around the camera: its lines are fixed in the world, and fade with distance from the middle."""
        middle = (self.box[0] + self.box[1])[:2] / 2.0
        reach = FADING * float(np.linalg.norm((self.box[1] - self.box[0])[:2])) / 2.0
        ends, across = [], np.arange(-PIECES, PIECES + 1) * (reach / PIECES)
        for axis in (0, 1):
            centre = float(middle[axis] + camera[axis])
            at = _multiples(centre - reach, centre + reach, self.step) - camera[axis]
            line = np.empty((len(at), len(across), 3))
            line[..., axis], line[..., 1 - axis], line[..., 2] = at[:, None], middle[1 - axis] + across, self.ground
            ends.append(np.stack([line[:, :-1], line[:, 1:]], axis=2).reshape(-1, 2, 3))
        pieces = np.concatenate(ends)
        away = np.linalg.norm(pieces.mean(axis=1)[:, :2] - middle, axis=1) / reach
        near = away < 1.0
        shade = np.clip(2.0 * (1.0 - away[near]), 0.0, 1.0)[:, None]
        self._set_lines(self._grid, pieces[near])
        self._grid.set_color(1.0 - shade * (1.0 - np.array(to_rgb(GRID))))

    def _box(self) -> None:
        """Choose the box of the axes and its ground, so that they contain everything."""
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
        """Set limits, equal aspect, camera, ground and ticks; then scale and shift the box to fill the region."""
        ax = self.ax
        for set_limits, low, high in zip((ax.set_xlim3d, ax.set_ylim3d, ax.set_zlim3d), *self.box, strict=True):
            set_limits(low, high, view_margin=0.0)
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
        middle = np.array([left + width / 2.0, bottom + height / 2.0])
        self._put(middle, 1.0, page)
        low, high = self.window()
        side = float(min(np.array([width, height]) / (high - low)))
        self._put(middle, side, page)
        low, high = self.window()
        self._put(2.0 * middle - (low + high) / 2.0, side, page)
        self._number()

    def _put(self, middle: FloatArray, side: float, page: FloatArray) -> None:
        left, bottom = (middle - side / 2.0) / page
        self.ax.set_position((left, bottom, side / page[0], side / page[1]))

    def window(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest position on the page, in inches, that shows content, ground or axis."""
        corners = np.array(np.meshgrid(*np.array(self.box).T)).reshape(3, -1).T
        low = corners[:, 2] == self.box[0][2]
        places = self.to_points(np.concatenate([corners[low], self.points, corners[~low]])) / 72.0
        ground, rest, top = np.split(places, [4, len(places) - 4])
        upright = top[int(ground[:, 0].argmax())]  # the vertical axis is at the corner furthest to the right
        shown = np.concatenate([ground, rest, upright[None]] if self.options.ticks else [ground, rest])
        shown = shown if self.options.ground else rest
        return shown.min(axis=0), shown.max(axis=0)

    def busy(self, frames: FloatArray) -> FloatArray:
        """Return the lines on the page that names should avoid, including the visible faces."""
        if isinstance(self.faces, Solid):
            corners = self.faces.corners[:: max(1, len(self.faces.corners) // 2000)]
            seen = np.repeat(self.to_points(corners)[:, None], 2, axis=1)
        else:
            self.faces.do_3d_projection()
            seen = self._page_points(self.faces.pages[:, [0, -1]].reshape(-1, 2)).reshape(-1, 2, 2)
        written = self.to_points(self._written.reshape(-1, 3)).reshape(-1, 2, 2)
        return np.concatenate([super().busy(frames), seen, written])

    def _projected(self, points: FloatArray) -> FloatArray:
        return _projected(points, self.ax.get_proj())

    def _decorate(self) -> None:
        ax, (low, high) = self.ax, self.box
        ax.set_facecolor("none")
        ax.grid(visible=False)
        span = high - low
        self.step = nice_step(float(span[:2].max()) / 8.0)
        steps = (self.step, self.step, nice_step(float(span[2]) / 5.0))
        self._ticks = [_ticks(low[k], high[k], steps[k]) for k in range(3)]
        ground = self.ground
        grid = [[(at, low[1], ground), (at, high[1], ground)] for at in _multiples(low[0], high[0], self.step)]
        grid += [[(low[0], at, ground), (high[0], at, ground)] for at in _multiples(low[1], high[1], self.step)]
        if not self.options.follows and self.options.ground:
            self._set_lines(self._grid, grid)
        for name, axis, values in zip("xyz", (ax.xaxis, ax.yaxis, ax.zaxis), self._ticks, strict=True):
            axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
            axis.set_ticks(values)
            axis.set_label_text(f"{name} [m]")

    def _number(self) -> None:
        """Number the edges of the box, instead of matplotlib's own axes."""
        self.ax.set_axis_off()
        if not self.options.ticks:
            return
        azimuth = math.radians(self.ax.azim)
        right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
        low, high = np.append(self.box[0][:2], self.ground), self.box[1]
        found = edges(low, high, camera(self.ax.elev, self.ax.azim)[0], right, self.to_points)
        lines = [number(self.ax, edge, high, self._ticks[edge.axis], self.to_points) for edge in found]
        self._written = np.concatenate([self._written[:0], *lines])


def _multiples(low: float, high: float, step: float) -> FloatArray:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return np.asarray(np.arange(first, last + 1) * step, dtype=np.float64)


def _ticks(low: float, high: float, step: float) -> FloatArray:
    """Return three to six round values, not too near the ends, where edges meet."""
    margin = 0.04 * (high - low)
    values = _multiples(low + margin, high - margin, step)
    if len(values) < 2:
        values = _multiples(low + margin, high - margin, nice_step(step / 3.0))
    every = math.ceil(len(values) / 6)
    return values[np.round(values / step).astype(np.int64) % every == 0] if every > 1 else values
