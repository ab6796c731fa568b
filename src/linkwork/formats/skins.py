"""What a file shows of a linkage beyond its shapes: triangles that hang on bones, read when something draws them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray

GLTF = (".gltf", ".glb", ".vrm")
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Skin:
    """Triangles whose corners are moved by up to four links each (linear blend skinning).

    A corner stands in the world at ``sum(weight * world_from_link @ link_from_bound @ corner)``.

    Args:
        corners: Corners where they were bound, shape (n, 3).
        normals: Their unit normals, shape (n, 3).
        colors: Their colours from 0 to 1, shape (n, 3).
        bones: The bones that move each, shape (n, 4).
        weights: How much each does, the largest first; they sum to 1, shape (n, 4).
        triangles: Three corners each, counter-clockwise from outside, shape (m, 3).
        links: The link that each bone is.
        binds: link_from_bound of each bone, shape (bones, 4, 4).
    """

    corners: FloatArray
    normals: FloatArray
    colors: FloatArray
    bones: IntArray
    weights: FloatArray
    triangles: IntArray
    links: tuple[str, ...]
    binds: FloatArray


def skin_of(linkage: Linkage) -> Skin | None:
    """Return what the file that a linkage came from shows of it; None where it shows nothing.

    Raises:
        FormatError: If the file is gone or cannot be read.
    """
    origin = linkage.origin
    if origin is None or PurePath(origin.file).suffix.lower() not in GLTF:
        return None
    from .gltf_skin import read_skin

    return linkage.cache.get("skin", str(origin.file), lambda: _Kept(read_skin(linkage, origin))).skin


@dataclass(frozen=True, eq=False)
class _Kept:
    """A skin in a cache, which keeps no None."""

    skin: Skin | None
