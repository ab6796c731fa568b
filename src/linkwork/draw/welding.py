"""Make a surface from loose triangles: merge coinciding corners, smooth normals and simplify."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..formats.mesh_export import Facets, IntArray, facets_of
from ..linkage.geometry import Mesh, Meshed
from ..transforms import FloatArray

CREASE = np.cos(np.radians(40.0))  # smallest cosine between normals of smoothly shaded faces
FINEST = 2048  # number of cells along a surface; corners in one cell are merged
CROWD = 24  # largest number of faces considered around a corner
COARSER = 1.2  # smallest factor on the cell from one attempt to the next
DETAIL = 150_000  # approximate number of triangles of all meshes of a linkage; more would be smaller than a pixel
LEAST_DETAIL, MOST_DETAIL = 1_500, 20_000  # limits for one mesh
KEPT = 256  # number of surfaces kept in memory


def detail_of(meshes: int) -> int:
    """Return the largest number of triangles of each mesh, by the number of meshes."""
    return int(np.clip(DETAIL // max(meshes, 1), LEAST_DETAIL, MOST_DETAIL))


def mesh_surface(mesh: Meshed, most: int) -> Facets | None:
    """Return the surface of a mesh with about a given number of triangles; None if its file cannot be read."""
    if not isinstance(mesh, Mesh):
        return _made(mesh, most)
    if mesh.file is None:
        return None
    try:
        state = Path(mesh.file).stat()
    except OSError:
        return None
    return _read(mesh.file, mesh.scale, most, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=KEPT)
def _made(mesh: Meshed, most: int) -> Facets | None:
    found = facets_of(mesh)
    return None if found is None else welded(found.corners[found.indices], most=most)


@lru_cache(maxsize=KEPT)
def _read(
    file: str,
    scale: tuple[float, float, float],
    most: int,
    state: tuple[int, int],  # noqa: ARG001 - part of the cache key, so that a changed file is read again
) -> Facets | None:
    found = facets_of(Mesh(file, scale, file))
    return None if found is None else welded(found.corners[found.indices], most=most)


def welded(triangles: FloatArray, *, most: int | None = None) -> Facets:
    """Return triangles as a surface with normals that are smooth on round parts and sharp at edges.

    Args:
        triangles: Corners, shape (n, 3, 3), counter-clockwise from outside.
        most: Approximate number of triangles to keep: corners in one cell of a grid are merged, with a grid coarse
            enough. None keeps all.

    Example:
        >>> from linkwork.formats.mesh_export import facets_of
        >>> from linkwork.linkage.geometry import Box
        >>> box = facets_of(Box((1.0, 1.0, 1.0)))
        >>> round_off = welded(box.corners[box.indices])
        >>> len(round_off.corners)  # all edges are sharp: every face has its own
        24
    """
    size = float(np.ptp(triangles.reshape(-1, 3), axis=0).max(initial=0.0)) or 1.0
    cell = size / FINEST
    corners, indices = _merged(triangles, 1e-6 * size)
    while most is not None and len(indices) > most:
        corners, indices = _merged(corners[indices], cell)
        cell *= max(COARSER, math.sqrt(len(indices) / most))  # the number falls with the square of the cell
    return _shaded(corners, indices)


def _merged(triangles: FloatArray, cell: float) -> tuple[FloatArray, IntArray]:
    """Return the means of the corners in each cell, and the triangles that do not collapse."""
    points = triangles.reshape(-1, 3)
    keys = np.round((points - points.min(axis=0, initial=np.inf)) / cell).astype(np.int64)
    flat = (keys[:, 0] << 42) + (keys[:, 1] << 21) + keys[:, 2]
    _, same, counts = np.unique(flat, return_inverse=True, return_counts=True)
    same = same.ravel()
    means = np.stack([np.bincount(same, points[:, k], len(counts)) / counts for k in range(3)], axis=1)
    indices = same.reshape(-1, 3)
    a, b, c = indices.T
    return means, indices[(a != b) & (b != c) & (c != a)]


def _shaded(corners: FloatArray, indices: IntArray) -> Facets:
    """Return a surface with normals at corners of faces, averaged over adjacent faces unless an edge is between."""
    a, b, c = (corners[indices[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    indices, across, area = indices[area > 0.0], across[area > 0.0], area[area > 0.0]
    own = across / area[:, None]
    ours, theirs = _neighbours(indices.ravel())
    alike = np.einsum("nj,nj->n", own[ours // 3], own[theirs // 3]) > CREASE
    ours, theirs = ours[alike], theirs[alike]
    means = np.stack([np.bincount(ours, across[theirs // 3, k], indices.size) for k in range(3)], axis=1)
    normals = means / np.linalg.norm(means, axis=1, keepdims=True)
    keys = np.concatenate([indices.reshape(-1, 1), normals.round(6)], axis=1)
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Facets(corners[indices.ravel()[first]], normals[first], place.reshape(-1, 3))


def _neighbours(points: IntArray) -> tuple[IntArray, IntArray]:
    """Return all pairs of indices with the same point, including itself; at most CROWD partners for each index."""
    order = np.argsort(points, kind="stable")
    _, starts, counts = np.unique(points[order], return_index=True, return_counts=True)
    seen = np.minimum(counts, CROWD)
    sizes = np.repeat(seen, counts)  # number of partners of every index, in sorted order
    ranks = np.arange(len(points)) - np.repeat(starts, counts)
    first = np.repeat(np.arange(len(points)), sizes)
    step = np.arange(len(first)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group, size = np.repeat(np.repeat(starts, counts), sizes), np.repeat(np.repeat(counts, counts), sizes)
    second = group + (np.repeat(ranks, sizes) + step) % size  # partners start with itself and go round
    return order[first], order[second]


def is_closed(surface: Facets) -> bool:
    """Return whether a surface is closed: every edge belongs to two triangles with the same orientation.

    Example:
        >>> from linkwork.linkage.geometry import Capsule
        >>> is_closed(facets_of(Capsule(0.1, 0.4)))
        True
    """
    size = float(np.ptp(surface.corners, axis=0).max(initial=0.0)) or 1.0
    _, indices = _merged(surface.corners[surface.indices], 1e-6 * size)
    ahead = np.concatenate([indices[:, [0, 1]], indices[:, [1, 2]], indices[:, [2, 0]]])
    there, back = (pairs[:, 0] * (indices.max(initial=0) + 1) + pairs[:, 1] for pairs in (ahead, ahead[:, ::-1]))
    return bool(np.array_equal(np.sort(there), np.sort(back)))
