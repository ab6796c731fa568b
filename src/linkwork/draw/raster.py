"""Solids as pixels inside a matplotlib picture: many times as fast as polygons, and good for meshes and skins.

Two artists share what was drawn: the shadow on the ground, and the bodies above it. Both are pictures with smooth edges
that matplotlib lays under and over what else it draws.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from ..transforms import FloatArray
from .surfaces import shaded
from .triangles import Triangles

Pixels = NDArray[np.uint8]
FINE, COARSE = 3, 2  # pixels of the fine page along one of the picture: for small pictures, and for large ones
LARGE = 250_000  # pixels: what a picture of many dots an inch has more than


def drawn(
    pages: FloatArray, colors: FloatArray, triangles: Triangles, size: tuple[int, int], grain: int
) -> tuple[Pixels, int, int]:
    """Return triangles as pixels with transparency, cut to what they cover, and where its left upper corner lies.

    Args:
        pages: Corners on the picture, x to the right, y down [pixel], and depth, shape (n, 3).
        colors: Colours of corners, from 0 to 1, shape (n, 3).
        triangles: Which corners make triangles.
        size: Width and height of the picture; what lies outside is not drawn.
        grain: Fine pixels along the side of a pixel.
    """
    from ..kernels.raster import averaged, fill

    low = np.clip(np.floor(pages[:, :2].min(axis=0)), 0, size).astype(np.int64)
    high = np.clip(np.ceil(pages[:, :2].max(axis=0)), 0, size).astype(np.int64)
    width, height = np.maximum(high - low, 1).tolist()
    fine = pages.copy()
    fine[:, :2] = (pages[:, :2] - low) * grain
    depth = np.full((height * grain, width * grain), np.inf, np.float32)
    owners = np.full(depth.shape, -1, np.int32)
    indices = triangles.indices
    fill(fine, indices, triangles.shells, depth, owners)
    pixels = np.empty((height, width, 4), np.uint8)
    averaged(fine, indices, np.ascontiguousarray(np.clip(255.0 * colors, 0.0, 255.0)), owners, grain, pixels)
    return pixels, int(low[0]), int(low[1])


class Solid(Artist):
    """Triangles in space on 3-D axes, drawn as pixels, lit and hidden as the camera sees them now.

    Args:
        triangles: What to draw.
        zorder: What it lies over.

    Attributes:
        corners: Where the corners are in the world, shape (n, 3).
    """

    def __init__(self, triangles: Triangles, zorder: float) -> None:
        super().__init__()
        self.set_zorder(zorder)
        self._triangles = triangles
        self.corners, self._facing = triangles.corners, triangles.normals

    def place(self, frames: FloatArray) -> None:
        """Move the triangles to where frames (frames, 4, 4) are."""
        self.corners, self._facing = self._triangles.placed(frames)

    def draw(self, renderer: Any) -> None:
        """Draw the picture on a renderer."""
        if not self.get_visible() or not len(self._triangles.indices):
            return
        scale = renderer.get_image_magnification()
        width, height = renderer.get_canvas_width_height()
        pages = self._pages(self.corners) * (scale, scale, 1.0)
        pages[:, 1] = height * scale - pages[:, 1]
        size = (math.ceil(width * scale), math.ceil(height * scale))
        grain = COARSE if size[0] * size[1] > LARGE else FINE
        pixels, left, top = drawn(pages, self._colors(), self._triangles, size, grain)
        gc = renderer.new_gc()
        renderer.draw_image(gc, left / scale, height - (top + len(pixels)) / scale, pixels[::-1])
        gc.restore()

    def _pages(self, points: FloatArray) -> FloatArray:
        """Return points on the page of the figure [pixel], and their depth, shape (n, 3)."""
        projection = self.axes.get_proj()  # type: ignore[union-attr]
        seen = points @ projection[:, :3].T + projection[:, 3]
        flat = self.axes.transData.transform(seen[:, :2] / seen[:, 3:])  # type: ignore[union-attr]
        return np.concatenate([flat, seen[:, 2:3] / seen[:, 3:]], axis=1)

    def _colors(self) -> FloatArray:
        """Return the colours of corners in the light; a surface seen from behind is lit as from in front."""
        axes: Any = self.axes
        towards, light = camera(axes.elev, axes.azim)
        facing = self._facing * np.where(self._facing @ towards < 0.0, -1.0, 1.0)[:, None]
        return shaded(self._triangles.colors, facing, light)


class Shadow(Solid):
    """The shadow of a solid: its triangles dropped onto the ground.

    Args:
        solid: What casts it.
        ground: How high the ground is [m].
        color: Its colour.
        zorder: What it lies over.
    """

    def __init__(self, solid: Solid, ground: float, color: str, zorder: float) -> None:
        super().__init__(solid._triangles, zorder)
        self._solid, self._ground, self._color = solid, ground, np.array(to_rgb(color))

    def draw(self, renderer: Any) -> None:
        """Draw what lies straight below the solid."""
        self.corners = np.c_[self._solid.corners[:, :2], np.full(len(self._solid.corners), self._ground)]
        super().draw(renderer)

    def _colors(self) -> FloatArray:
        return np.broadcast_to(self._color, self.corners.shape)


def camera(elevation: float, azimuth: float) -> tuple[FloatArray, FloatArray]:
    """Return unit vectors towards a camera [deg] and towards the light, which hangs above and to the left of it."""
    elevation, azimuth = math.radians(elevation), math.radians(azimuth)
    flat = math.cos(elevation)
    towards = np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    light = 0.55 * towards + np.array([0.0, 0.0, 0.75]) - 0.45 * right
    return towards, light / np.linalg.norm(light)
