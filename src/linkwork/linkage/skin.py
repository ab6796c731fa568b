"""A skin: triangles moved by several links, as in characters. It is stored in the file, not in the linkage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..transforms import FloatArray

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
        weights: Weights of these bones, the largest first, with a sum of 1, shape (n, 4).
        triangles: Three corners each, counter-clockwise from outside, shape (m, 3).
        links: The link of each bone.
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
