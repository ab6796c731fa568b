"""Solids as pixels inside a matplotlib picture: many times as fast as polygons, and good for meshes and skins.

Two artists share the result: the shadow on the ground, and the bodies above it. Both are anti-aliased pictures that
matplotlib draws below and above its other artists.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from ..transforms import FloatArray
from .triangles import Triangles

Pixels = NDArray[np.uint8]
FINE, COARSE = 3, 2  # supersampling along each side: of small pictures, and of large ones
SAME = 2e-3  # over the depth of a picture: of surfaces closer than this, the one drawn on top is shown
VEILED = 0.45  # opacity of transparent solids
LARGE = 250_000  # number of pixels above which a picture is large


def drawn(
    places: FloatArray,
    projection: FloatArray,
    colors: FloatArray,
    triangles: Triangles,
    size: tuple[int, int],
    before: tuple[FloatArray, Triangles] | None = None,
) -> tuple[Pixels, int, int]:
    """Return triangles as pixels with transparency, cropped to their extent, and the upper left corner.

    Args:
        places: Corners in the world, shape (n, 3).
        projection: Homogeneous projection onto the picture, x to the right, y down [pixel], shape (4, 4).
        colors: Colours of corners from outside and from inside, from 0 to 255, shape (2, n, 3).
        triangles: Indices of the corners of each triangle.
        size: Width and height of the picture; parts outside are not drawn.
        before: Corners in the world and triangles of another body, which hides nearer parts of these.
    """
    from ..kernels.raster import averaged, fill, projected

    pages, bounds = np.empty_like(places), np.empty(4)
    projected(places, projection, pages, bounds)
    low, high = np.floor(bounds[:2].clip(0, size)).astype(int), np.ceil(bounds[2:].clip(0, size)).astype(int)
    width, height = np.maximum(high - low, 1).tolist()
    grain = COARSE if size[0] * size[1] > LARGE else FINE
    depth = np.full((height * grain, width * grain), np.inf, np.float32)
    owners = np.full(depth.shape, -1, np.int32)
    if before is not None:
        hiding = np.empty_like(before[0])
        projected(before[0], projection, hiding, np.empty(4))
        hiding[:, :2] = (hiding[:, :2] - low) * grain
        hiding[:, 2] += SAME * float(np.ptp(pages[:, 2]))
        fill(hiding, before[1].indices, before[1].shells, depth, np.empty_like(owners))
    pages[:, :2] = (pages[:, :2] - low) * grain
    fill(pages, triangles.indices, triangles.shells, depth, owners)
    pixels = np.empty((height, width, 4), np.uint8)
    averaged(pages, triangles.indices, colors, owners, grain, pixels, np.empty(3))
    return pixels, int(low[0]), int(low[1])


class Solid(Artist):
    """Triangles in space on 3-D axes, drawn as pixels for the current camera.

    Args:
        triangles: The triangles.
        zorder: Its drawing order.
        before: Another solid, which hides it where it is nearer; elsewhere it is drawn, transparent, over that one.

    Attributes:
        corners: The corners in the world, shape (n, 3).
    """

    def __init__(self, triangles: Triangles, zorder: float, before: Solid | None = None) -> None:
        super().__init__()
        self._before = before
        self.set_zorder(zorder)
        self._triangles = triangles
        self.corners, self._facing = triangles.corners, triangles.normals

    def place(self, frames: FloatArray) -> None:
        """Move the triangles to frames (frames, 4, 4)."""
        self.corners, self._facing = self._triangles.placed(frames)

    def draw(self, renderer: Any) -> None:
        """Draw the picture on a renderer."""
        if not self.get_visible() or not len(self._triangles.indices):
            return
        scale = renderer.get_image_magnification()
        width, height = renderer.get_canvas_width_height()
        size = (math.ceil(width * scale), math.ceil(height * scale))
        before = None if self._before is None else (self._before.corners, self._before._triangles)
        projection = self._projection(scale, height)
        pixels, left, top = drawn(self.corners, projection, self._colors(), self._triangles, size, before)
        if before is not None:
            pixels[..., 3] = np.round(VEILED * pixels[..., 3])
        gc = renderer.new_gc()
        renderer.draw_image(gc, left / scale, height - (top + len(pixels)) / scale, pixels[::-1])
        gc.restore()

    def _projection(self, scale: float, height: float) -> FloatArray:
        """Return the projection of the axes onto a page with y down, at a number of pixels per pixel of the figure."""
        axes: Any = self.axes
        page, flat = np.eye(4), axes.transData.get_affine().get_matrix()
        page[:2, :2], page[:2, 3] = flat[:2, :2], flat[:2, 2]
        down = np.diag([scale, -scale, 1.0, 1.0])
        down[1, 3] = height * scale
        return np.asarray(down @ page @ axes.get_proj())

    def _colors(self) -> FloatArray:
        """Return the lit colours of vertices, seen from outside and from inside, 0 to 255."""
        from ..kernels.raster import lit

        axes: Any = self.axes
        _, light = camera(axes.elev, axes.azim)
        shown = np.empty((2, *self._facing.shape))
        lit(self._triangles.colors, self._facing, light, shown)
        return shown


class Shadow(Solid):
    """The shadow of a solid: its triangles projected straight down onto the ground.

    Args:
        solid: The solid that casts it.
        ground: Height of the ground [m].
        color: Its colour.
        zorder: Its drawing order.
    """

    def __init__(self, solid: Solid, ground: float, color: str, zorder: float) -> None:
        super().__init__(solid._triangles, zorder)
        self._solid, self._ground, self._color = solid, ground, np.array(to_rgb(color))

    def draw(self, renderer: Any) -> None:
        """Draw the vertical projection of the solid."""
        self.corners = np.c_[self._solid.corners[:, :2], np.full(len(self._solid.corners), self._ground)]
        super().draw(renderer)

    def _colors(self) -> FloatArray:
        return np.tile(255.0 * self._color, (2, len(self.corners), 1))


def camera(elevation: float, azimuth: float) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors towards a camera [deg] and towards the light, which is above and to the left of it."""
    elevation, azimuth = math.radians(elevation), math.radians(azimuth)
    flat = math.cos(elevation)
    towards = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    light = 0.55 * towards + np.array([0.0, 0.0, 0.75]) - 0.45 * right
    return towards, light / np.linalg.norm(light)
