"""Samples of a surface in small cells, and which points are inside it, for fitting and for measuring fits.

A surface is cut into pieces no longer than a cell. Cells that cannot be reached from outside are inside: this works for
meshes with cracks smaller than a cell, with nested parts and with inconsistently oriented triangles. An open shell has
no inside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray

CELLS = 2_500  # approximate number of cells of a surface
FINER = 2.0  # largest factor on the fineness, for a small requested error
FINEST = 128  # largest number of cells along the longest side
NEAREST = 12  # number of nearest pieces whose distances from a point are computed
RIDGE = 0.4  # tolerance in cells: a cell on a ridge may be less deep than its neighbours by this
TINY = 1e-300
MOST_PIECES = 1_500_000
THIN = 3.0  # samples of the surface per length of a cell
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """A surface, cut into small pieces.

    Args:
        pieces: Triangles no longer than a cell, those of one cell together, shape (n, 3, 3) [m].
        firsts: The first piece of each cell, shape (cells,).
        cell: Length of a cell's edge [m].
        low: Lowest corner of the grid, shape (3,).
        inside: Which cells of the grid are inside, shape (x, y, z).
        beyond: Which cells are outside; the remaining ones contain a part of the surface.
    """

    pieces: FloatArray
    firsts: IntArray
    cell: float
    low: FloatArray
    inside: BoolArray
    beyond: BoolArray

    @cached_property
    def balls(self) -> tuple[FloatArray, FloatArray]:
        """Centres (cells, 3) and radii (cells,) of balls around the pieces of each cell."""
        low = np.minimum.reduceat(self.pieces.min(axis=1), self.firsts)
        high = np.maximum.reduceat(self.pieces.max(axis=1), self.firsts)
        centres = (low + high) / 2.0
        away = np.linalg.norm(self.pieces - centres[self.owners, None], axis=2).max(axis=1)
        return centres, np.maximum.reduceat(away, self.firsts)

    @cached_property
    def owners(self) -> IntArray:
        """The cell of each piece."""
        counts = np.diff(np.append(self.firsts, len(self.pieces)))
        return np.repeat(np.arange(len(self.firsts)), counts)

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Points of the surface (n, 3), about a third of a cell apart, and the area that each represents."""
        middles = self.pieces.mean(axis=1)
        a, b, c = self.pieces.swapaxes(0, 1)
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        points = np.concatenate([middles, *self._spread()])
        weights = np.concatenate([area / 2.0, np.zeros(len(points) - len(middles))])
        keys = np.floor((points - self.low) * (THIN / self.cell)).astype(np.int64)
        shape = np.array(self.inside.shape) * int(THIN) + 1
        flat = np.ravel_multi_index(tuple(keys.T), tuple(shape.tolist()), mode="clip")
        _, first, same = np.unique(flat, return_index=True, return_inverse=True)
        areas: FloatArray = np.bincount(same.ravel(), weights, len(first)).astype(np.float64)
        return points[first], areas

    def _spread(self) -> list[FloatArray]:
        a, b, c = self.pieces.swapaxes(0, 1)
        return [a, b, c, (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0]

    @cached_property
    def tree(self) -> Any:
        """The points in a tree, to find the nearest."""
        from scipy.spatial import cKDTree

        return cKDTree(self.points[0])

    @cached_property
    def depths(self) -> tuple[FloatArray, FloatArray]:
        """Middles of the cells inside (n, 3), and how far each is from the surface [m]."""
        middles = self.low + (np.argwhere(self.inside) + 0.5) * self.cell
        return middles, self.tree.query(middles)[0] if len(middles) else np.zeros(0)

    @cached_property
    def ridges(self) -> BoolArray:
        """Which of the cells inside are about as deep as their neighbours: the medial axis."""
        from scipy.ndimage import maximum_filter

        table = np.zeros(self.inside.shape)
        table[self.inside] = self.depths[1]
        return np.asarray(self.depths[1] >= maximum_filter(table, 3)[self.inside] - RIDGE * self.cell)

    def depth_of(self, points: FloatArray) -> FloatArray:
        """Return the distances of points (n, 3) in inner cells from the surface [m], 0 for all others."""
        away = self.tree.query(points)[0]
        away[~self._within(points)] = 0.0
        return np.asarray(away)

    def _within(self, points: FloatArray) -> BoolArray:
        keys = np.floor((points - self.low) / self.cell).astype(np.int64)
        on = ((keys >= 0) & (keys < self.inside.shape)).all(axis=1)
        keys = np.clip(keys, 0, np.array(self.inside.shape) - 1)
        return np.asarray(on & self.inside[tuple(keys.T)])

    def outside(self, points: FloatArray) -> FloatArray:
        """Return the distances of points (n, 3) outside the surface [m], 0 for those inside.

        A point in a cell with a part of the surface counts as outside, whichever side it is on.
        """
        away = np.zeros(len(points))
        wanted = np.flatnonzero(~self._within(points))
        if len(wanted):
            _, near = self._middles.query(points[wanted], k=min(NEAREST, len(self.pieces)))
            own = self.pieces[near.reshape(len(wanted), -1)]
            away[wanted] = to_triangles(points[wanted, None], own).min(axis=1)
        return away

    @cached_property
    def _middles(self) -> Any:
        """A search tree of the centres of the pieces."""
        from scipy.spatial import cKDTree

        return cKDTree(self.pieces.mean(axis=1))


def to_triangles(points: FloatArray, triangles: FloatArray) -> FloatArray:
    """Return the distances of points (..., 3) from triangles (..., 3, 3).

    If the foot of the perpendicular is inside the triangle, this is the distance from the plane, otherwise from the
    nearest edge.

    Example:
        >>> flat = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
        >>> to_triangles(np.array([[0.2, 0.2, 0.5], [2.0, 0, 0]]), flat).tolist()
        [0.5, 1.0]
    """
    corners, ahead = triangles, np.roll(triangles, -1, axis=-2)
    edges, from_corners = ahead - corners, points[..., None, :] - corners
    normal = np.cross(edges[..., 0, :], edges[..., 1, :])
    size = np.maximum((edges**2).sum(axis=-1), TINY)
    share = np.clip((from_corners * edges).sum(axis=-1) / size, 0.0, 1.0)
    squares = ((from_corners - share[..., None] * edges) ** 2).sum(axis=-1).min(axis=-1)
    within = (np.cross(edges, from_corners) * normal[..., None, :]).sum(axis=-1).min(axis=-1) >= 0.0
    height = np.abs((from_corners[..., 0, :] * normal).sum(axis=-1)) / np.sqrt(
        np.maximum((normal**2).sum(axis=-1), TINY)
    )
    return np.asarray(np.where(within & (height**2 < squares), height, np.sqrt(squares)))


def sampled(triangles: FloatArray, *, error: float | None = None) -> Samples:
    """Return a surface (n, 3, 3) cut into pieces and sorted into cells, if possible smaller than an error."""
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    longest = float((high - low).max())
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = float(np.linalg.norm(across, axis=1).sum()) / 2.0
    cell = max(math.sqrt(area / CELLS), longest / FINEST)
    if error is not None:
        cell = min(cell, max(error / 2.0, cell / FINER))
    pieces = cut(triangles, cell)
    start = low - 1.5 * cell
    shape = np.ceil((high - start) / cell).astype(np.int64) + 2
    held = np.zeros(shape, np.bool_)
    a, b, c = pieces.swapaxes(0, 1)
    for points in (a, b, c, (a + b) / 2.0, (b + c) / 2.0, (c + a) / 2.0, pieces.mean(axis=1)):
        held[tuple(np.floor((points - start) / cell).astype(np.int64).T)] = True
    beyond = _reached(held)
    keys = np.ravel_multi_index(tuple(np.floor((pieces.mean(axis=1) - start) / cell).astype(np.int64).T), tuple(shape))
    order = np.argsort(keys, kind="stable")
    _, firsts = np.unique(keys[order], return_index=True)
    return Samples(pieces[order], firsts, cell, start, ~held & ~beyond, beyond)


def _reached(held: BoolArray) -> BoolArray:
    """Return the free cells that are connected to the grid's corner across faces of cells."""
    from scipy.ndimage import label

    numbers, _ = label(~held)
    reached: BoolArray = numbers == numbers[0, 0, 0]
    return reached


def cut(triangles: FloatArray, longest: float) -> FloatArray:
    """Return triangles bisected across their longest edge until none is longer; very many are not cut."""
    done: list[FloatArray] = []
    while len(triangles):
        edges = np.linalg.norm(np.roll(triangles, -1, axis=1) - triangles, axis=2)
        worst = edges.argmax(axis=1)
        long = edges.max(axis=1) > longest
        if len(triangles) + sum(len(pieces) for pieces in done) > MOST_PIECES:
            long[:] = False
        done.append(triangles[~long])
        triangles, worst = triangles[long], worst[long]
        rows = np.arange(len(triangles))
        a, b, c = (triangles[rows, (worst + k) % 3] for k in range(3))
        middle = (a + b) / 2.0
        triangles = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)
