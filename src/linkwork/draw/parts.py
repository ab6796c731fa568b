"""Points and shapes fixed to frames of a linkage, from which drawings are made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..linkage.geometry import Shape
from ..transforms import FloatArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Points fixed to frames of a linkage: `owners` index them, `local` are coordinates (..., 3) there."""

    owners: IntArray
    local: FloatArray

    def at(self, frames: FloatArray) -> FloatArray:
        """Return world coordinates for transforms of shape (..., frames, 4, 4)."""
        own = frames[..., self.owners, :, :]
        return np.asarray(np.einsum("...ij,...j->...i", own[..., :3, :3], self.local) + own[..., :3, 3])


@dataclass(frozen=True)
class Part:
    """A shape to draw: which link carries it, link_from_shape, the shape and its colour."""

    link: int
    matrix: FloatArray
    shape: Shape
    color: tuple[float, float, float]

    def placed(self, points: FloatArray) -> FloatArray:
        """Return points (..., 3) of the shape in the coordinates of its link."""
        return np.asarray(points @ self.matrix[:3, :3].T + self.matrix[:3, 3])

    def points(self, points: FloatArray) -> Points:
        """Return points (n, 3) of the shape as points fixed to its link."""
        return Points(np.full(len(points), self.link), self.placed(points))


def origins(owners: ArrayLike) -> Points:
    """Return the origins of frames, given by their indices."""
    index = np.array(owners, dtype=np.int64)
    return Points(index, np.zeros((len(index), 3)))


def joined_points(groups: list[Points]) -> Points:
    """Return many groups of points as one."""
    owners = np.concatenate([np.zeros(0, dtype=np.int64), *(group.owners.ravel() for group in groups)])
    return Points(owners, np.concatenate([np.zeros((0, 3)), *(group.local.reshape(-1, 3) for group in groups)]))
