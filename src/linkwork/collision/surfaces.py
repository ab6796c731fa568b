"""Shapes as triangles, for fitting and splitting. Mesh files are read only here, once each."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..linkage.geometry import Mesh, Shape
from ..transforms import FloatArray

KEPT = 64  # number of surfaces of files kept in memory
# Whether facets replace arcs around the axis, and along the height.
ROUNDED = {"cylinder": (1, 0), "sphere": (1, 1), "capsule": (1, 1)}


def triangles_of(shape: Shape, *, outside: bool = False) -> FloatArray | None:
    """Return the surface of a shape in its own coordinates, shape (n, 3, 3); None if it has none.

    Lines have none, nor have meshes whose file is missing or cannot be read.

    Args:
        shape: The shape.
        outside: Whether the flat sides of a round surface lie around it, so that they enclose the shape; by default
            their corners are on it.

    Example:
        >>> from linkwork.linkage.geometry import Box
        >>> triangles_of(Box((1.0, 2.0, 3.0))).shape
        (12, 3, 3)
    """
    if isinstance(shape, Mesh):
        return _mesh(shape)
    from ..formats.mesh_export import AROUND, UPWARDS, facets_of

    found = facets_of(shape)
    if found is None or found.normals is None:
        return None
    triangles = found.corners[found.indices]
    if outside and shape.kind in ROUNDED:
        around, upwards = ROUNDED[shape.kind]
        spread = math.cos(math.pi / AROUND) ** around * math.cos(math.pi / (2 * UPWARDS)) ** upwards
        triangles = triangles / np.array([spread, spread, spread if upwards else 1.0])
    return triangles


def _mesh(mesh: Mesh) -> FloatArray | None:
    if mesh.file is None:
        return None
    try:
        state = Path(mesh.file).stat()
    except OSError:
        return None
    return _read(mesh.file, mesh.scale, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=KEPT)
def _read(
    file: str,
    scale: tuple[float, float, float],
    state: tuple[int, int],  # noqa: ARG001 - part of the cache key, so that a changed file is read again
) -> FloatArray | None:
    from ..formats.mesh_export import facets_of

    found = facets_of(Mesh(file, scale, file))
    return None if found is None else found.corners[found.indices]
