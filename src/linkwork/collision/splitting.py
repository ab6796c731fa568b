"""Split a surface by planes until the convex hull of each piece sticks out little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..transforms import FloatArray
from .fitted_parts import Part
from .samples import Samples

SHARES = (0.3, 0.5, 0.7)  # positions of tried planes along a piece, over its length
FACES = 8  # number of large flat faces whose planes are tried
EDGE = 0.05  # least distance of a plane from the ends of a piece, over its length
ALIKE = 0.99  # smallest cosine between the normals of faces in one plane
SLACK = 1.2  # factor on the error that does not count as worse, since errors are measured at few points
TINY = 1e-300
Around = Callable[[FloatArray], Part]


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of a surface and the convex part around it.

    Args:
        triangles: The surface, shape (n, 3, 3).
        part: The convex part that contains it.
        error: Largest distance that the part sticks out of the whole surface [m].
        worst: The point with this distance, shape (3,).
    """

    triangles: FloatArray
    part: Part
    error: float
    worst: FloatArray


def piece_of(triangles: FloatArray, samples: Samples, around: Around) -> Piece:
    """Return a piece of a surface with the part around it."""
    part = around(np.unique(triangles.reshape(-1, 3), axis=0))
    points = part.boundary()
    away = samples.outside(points)
    return Piece(triangles, part, float(away.max()), points[int(away.argmax())])


def split(piece: Piece, samples: Samples, around: Around) -> tuple[Piece, Piece] | None:
    """Return a piece split by the plane that gives the smallest error; None if every plane makes it worse.

    The hulls of a ring stick out no less after the first split, but less after the next.
    """
    best: tuple[Piece, Piece] | None = None
    least = (SLACK * piece.error, np.inf)
    for axis, at in _planes(piece):
        sides = [clipped(piece.triangles, sign * axis, sign * at) for sign in (1.0, -1.0)]
        if not all(len(side) for side in sides):
            continue
        first, second = (piece_of(side, samples, around) for side in sides)
        worse, better = max(first.error, second.error), min(first.error, second.error)
        if (worse, better) < least:
            best, least = (first, second), (worse, better)
    return best


def _planes(piece: Piece) -> Iterator[tuple[FloatArray, float]]:
    """Yield planes to try, as unit normals and offsets.

    Some are perpendicular to the principal axes of the corners, at a few positions and where the part sticks out most.
    Others contain the largest flat faces, at which machined parts have their edges.
    """
    corners = piece.triangles.reshape(-1, 3)
    _, _, axes = np.linalg.svd(corners - corners.mean(axis=0), full_matrices=False)
    for axis in axes:
        heights = corners @ axis
        low, high = float(heights.min()), float(heights.max())
        for at in (*(low + share * (high - low) for share in SHARES), float(piece.worst @ axis)):
            if low + EDGE * (high - low) < at < high - EDGE * (high - low):
                yield axis, at
    across = np.cross(piece.triangles[:, 1] - piece.triangles[:, 0], piece.triangles[:, 2] - piece.triangles[:, 0])
    areas = np.linalg.norm(across, axis=1)
    normals = across / np.maximum(areas, TINY)[:, None]
    offsets, left = (normals * piece.triangles[:, 0]).sum(axis=1), areas.copy()
    size = float(np.ptp(corners, axis=0).max())
    for _ in range(FACES):
        largest = int(left.argmax())
        axis, at = normals[largest], float(offsets[largest])
        left[(normals @ axis > ALIKE) & (np.abs(offsets - at) < EDGE * size)] = 0.0
        heights = corners @ axis
        if left[largest] == 0.0 and heights.min() + EDGE * size / 5.0 < at < heights.max() - EDGE * size / 5.0:
            yield axis, at


def clipped(triangles: FloatArray, normal: FloatArray, offset: float) -> FloatArray:
    """Return the part of triangles (n, 3, 3) where `normal . x <= offset`, as triangles.

    Example:
        >>> half = clipped(np.array([[[0.0, 0, 0], [2, 0, 0], [0, 2, 0]]]), np.array([1.0, 0, 0]), 1.0)
        >>> half[..., 0].max(), len(half)
        (np.float64(1.0), 2)
    """
    height = triangles @ normal - offset
    under = height <= 0.0
    count = under.sum(axis=1)
    found = [triangles[count == 3]]
    for inside in (1, 2):
        some = np.flatnonzero(count == inside)
        alone = (under[some] if inside == 1 else ~under[some]).argmax(axis=1)  # the corner that is alone on its side
        a, b, c = (triangles[some, (alone + k) % 3] for k in range(3))
        h = [height[some, (alone + k) % 3][:, None] for k in range(3)]
        ab, ac = a + (b - a) * (h[0] / (h[0] - h[1])), a + (c - a) * (h[0] / (h[0] - h[2]))
        found += [np.stack([a, ab, ac], axis=1)] if inside == 1 else [np.stack([ab, b, c], 1), np.stack([ab, c, ac], 1)]
    return np.concatenate(found)
