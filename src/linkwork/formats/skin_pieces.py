"""Pieces of a skin: vertices and triangles of a mesh with their bones, and the union of pieces as one skin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..linkage.skin import IntArray, Skin
from ..transforms import FloatArray

BONES = 4  # largest number of bones of a vertex
MAX_CORNERS = 2_000_000  # vertices of all meshes of a file


@dataclass(frozen=True, eq=False)
class Piece:
    """A mesh, or a part of one: its vertices and triangles, and the bones and weights of each vertex."""

    corners: FloatArray
    normals: FloatArray
    colors: FloatArray
    triangles: IntArray
    bones: IntArray
    weights: FloatArray


def joined(pieces: Sequence[Piece], links: Sequence[str], binds: Sequence[FloatArray]) -> Skin | None:
    """Return pieces as one skin bound to links; None if there are no pieces."""
    if not pieces:
        return None
    starts = np.cumsum([0, *(len(piece.corners) for piece in pieces)])
    return Skin(
        np.concatenate([piece.corners for piece in pieces]),
        np.concatenate([piece.normals for piece in pieces]),
        np.concatenate([piece.colors for piece in pieces]),
        np.concatenate([piece.bones for piece in pieces]),
        np.concatenate([piece.weights for piece in pieces]),
        np.concatenate([piece.triangles + start for piece, start in zip(pieces, starts, strict=False)]),
        tuple(links),
        np.array(binds),
    )


def strongest(owners: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the four bones of each vertex with the largest weights, normalised to a sum of 1; zero without bones.

    Args:
        owners: Bones of each vertex, -1 for a missing one, shape (n, k).
        weights: Their weights, shape (n, k).
    """
    weights = np.where(owners >= 0, np.maximum(weights, 0.0), 0.0)
    spare = ((0, 0), (0, max(BONES - weights.shape[1], 0)))
    owners, weights = np.pad(owners, spare), np.pad(weights, spare)
    order = np.argsort(-weights, axis=1, kind="stable")[:, :BONES]
    owners, weights = np.take_along_axis(owners, order, axis=1), np.take_along_axis(weights, order, axis=1)
    total = weights.sum(axis=1, keepdims=True)
    return np.maximum(owners, 0), weights / np.where(total > 0.0, total, 1.0)


def mean_normals(corners: FloatArray, triangles: IntArray) -> FloatArray:
    """Return unit normals at vertices: the mean over adjacent triangles, weighted by area."""
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    sums = [np.bincount(triangles.ravel(), np.repeat(across[:, k], 3), len(corners)) for k in range(3)]
    normals = np.stack(sums, axis=1)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.where(length > 0.0, length, 1.0))
