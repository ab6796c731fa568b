"""The support polygon of a body: its nearest point, and the distance of its centre from its edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray

INSIDE, ROUNDING = 1e-12, 1e-15


def inner_radius(corners: FloatArray, pairs: NDArray[np.int64]) -> float:
    """Return the distance from the middle of corners (n, 2) to the nearest edge of their hull; 0 if they have no area.

    Args:
        corners: Corners in any order.
        pairs: All pairs of corners, shape (m, 2).
    """
    first, edge = corners[pairs[:, 0]], corners[pairs[:, 1]] - corners[pairs[:, 0]]
    length = np.linalg.norm(edge, axis=1)
    normal = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / np.maximum(length, 1e-300)[:, None]
    sides = np.einsum("mnk,mk->mn", corners[None] - first[:, None], normal)
    tolerance = INSIDE * max(float(length.max()), 1e-300)
    outer = (length > tolerance) & ((sides >= -tolerance).all(axis=1) | (sides <= tolerance).all(axis=1))
    away = np.abs(((corners.mean(axis=0) - first) * normal).sum(axis=1))
    return float(away[outer].min(initial=np.inf)) if outer.any() else 0.0


class PolygonEdges(NamedTuple):
    """The lines that bound convex polygons, one for each pair of corners, with any leading axes.

    Attributes:
        room: Distance of points inside from each line, shape (..., m); infinite for pairs that are not an edge.
        normals: Directions out of the polygon, shape (..., m, 2).
        shares: Weights of the corners in the point of each line nearest to the given point, shape (..., m, n).
    """

    room: FloatArray
    normals: FloatArray
    shares: FloatArray


def edges_of(center: FloatArray, corners: FloatArray, pairs: NDArray[np.int64]) -> PolygonEdges:
    """Return the edges of polygons around corners (..., n, 2), with their distances from points (..., 2) inside.

    Collinear corners have no edges, because they have no inside.
    """
    first, edge = corners[..., pairs[:, 0], :], corners[..., pairs[:, 1], :] - corners[..., pairs[:, 0], :]
    length = np.linalg.norm(edge, axis=-1)
    along = edge / np.maximum(length, 1e-300)[..., None]
    normals = np.stack([along[..., 1], -along[..., 0]], axis=-1)
    sides = np.einsum("...nmk,...mk->...mn", corners[..., :, None, :] - first[..., None, :, :], normals)
    tolerance = INSIDE * np.maximum(length.max(axis=-1, initial=0.0), 1e-300)[..., None]
    left, right = sides.min(axis=-1) < -tolerance, sides.max(axis=-1) > tolerance
    normals = np.where(right[..., None], -normals, normals)
    way = center[..., None, :] - first
    room = np.where((left ^ right) & (length > tolerance), -(way * normals).sum(axis=-1), np.inf)
    share = ((way * along).sum(axis=-1) / np.maximum(length, 1e-300))[..., None]
    one_hot = np.eye(corners.shape[-2])[pairs]
    return PolygonEdges(room, normals, (1.0 - share) * one_hot[:, 0] + share * one_hot[:, 1])


class Nearest:
    """The points of convex polygons nearest to points of the plane, with any leading axes.

    Every edge joins two corners, and every segment between corners is in the polygon. So the nearest point of the
    polygon is on the nearest segment, and a point is inside if some corner lies beyond its nearest segment.

    Args:
        center: Points, shape (..., 2).
        corners: Corners in any order, shape (..., n, 2).
        pairs: All pairs of corners, shape (m, 2).
    """

    def __init__(self, center: FloatArray, corners: FloatArray, pairs: NDArray[np.int64]) -> None:
        first, second = corners[..., pairs[:, 0], :], corners[..., pairs[:, 1], :]
        edge, way = second - first, center[..., None, :] - first
        length = (edge * edge).sum(axis=-1)
        share = np.clip((way * edge).sum(axis=-1) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
        away = way - share[..., None] * edge
        best = (away * away).sum(axis=-1).argmin(axis=-1)[..., None]
        share, away, edge = (
            np.take_along_axis(share, best, axis=-1)[..., 0],
            np.take_along_axis(away, best[..., None], axis=-2)[..., 0, :],
            np.take_along_axis(edge, best[..., None], axis=-2)[..., 0, :],
        )
        self.point = center - away
        beyond = ((corners - self.point[..., None, :]) * away[..., None, :]).sum(axis=-1).max(axis=-1)
        size = np.abs(corners - center[..., None, :]).max(axis=(-1, -2), initial=0.0)
        self.inside = beyond > size * (INSIDE * np.linalg.norm(away, axis=-1) + ROUNDING * size)
        chosen = pairs[best[..., 0]]
        one_hot = np.eye(corners.shape[-2])[chosen]
        self.shares = (1.0 - share)[..., None] * one_hot[..., 0, :] + share[..., None] * one_hot[..., 1, :]
        self.on_edge = (share > 0.0) & (share < 1.0)
        normal = np.stack([-edge[..., 1], edge[..., 0]], axis=-1)
        normal = normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-300)
        self.across = normal[..., :, None] * normal[..., None, :]
