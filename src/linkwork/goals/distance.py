"""`Distance`: keep a frame at a distance from another frame or from a point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array
from .base import Edges, Goal, as_place, moving_rows, placed, position_of, reading, unit


@dataclass(frozen=True, eq=False)
class Distance(Goal):
    """Keep a frame at a distance from another frame or from a point, or within a range of distances.

    Args:
        frame: Name of the frame.
        to: Name of the other frame, or a point of the world [m].
        value: The distance [m], or a pair of the smallest and the largest; the largest may be infinite.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Distance("tip", (0, 0), (1, 2.5)).error(arm, np.zeros(2)).tolist()
        [-0.5]
    """

    units = (("m", 1),)
    about = ("frame", "to")

    frame: str
    to: Any
    value: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(to=as_place(self.to, f"what {self.frame!r} keeps a distance from"))
        if isinstance(self.to, str) and self.to == self.frame:
            raise GoalError(f"frame {self.frame!r} has no distance from itself.")
        with reading:
            numbers = as_array(self.value, f"distance of {self.frame!r}")
        ends = np.broadcast_to(numbers, 2).tolist() if numbers.shape in ((), (2,)) else [math.nan, math.nan]
        if not 0.0 <= ends[0] <= ends[1] or ends[0] == math.inf:
            raise GoalError(
                f"distance of {self.frame!r} is a number, zero or more, or a pair (least, largest), got {self.value!r}."
            )
        self._set(value=tuple(ends))

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the amount by which it is too near (positive) or too far (negative) [m]."""
        way = linkage.forward(q, frame=self.frame)[..., :3, 3] - position_of(linkage, self.to, q)
        length = np.linalg.norm(way, axis=-1, keepdims=True)
        return np.asarray(np.clip(length, *self.value) - length)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rates of the distance; zero within the range."""
        (here, moving), (there, motion) = placed(linkage, self.frame, q), placed(linkage, self.to, q)
        direction, length = unit(here - there)
        rate = direction[..., None, :] @ (moving - motion)
        inside = (length > self.value[0]) & (length < self.value[1])
        return np.where(inside[..., None, None], 0.0, rate)

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges | None:
        """Return the margins to the smallest and to the largest distance; None if both are equal."""
        least, largest = self.value
        if least == largest:
            return None
        (here, moving), (there, motion) = placed(linkage, self.frame, q), placed(linkage, self.to, q)
        direction, length = unit(here - there)
        rate = (direction[..., None, :] @ (moving - motion))[..., 0, :]
        return Edges(np.stack([length - least, largest - length], axis=-1), np.stack([-rate, rate], axis=-2))

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return whether one of the two ends can move."""
        return np.array([moving_rows(linkage, *self.places)[:3].any()])
