"""Ranges of a `Reach`: allowed deviations from the goal along and about each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..transforms import FloatArray, as_angle, as_length, cross_matrix, read_only
from .base import Edges, reading

SERIES = 1e-4  # [rad]: for smaller angles, the inverse left Jacobian of rotations is computed from its series


class Ranges(NamedTuple):
    """Allowed deviations from a goal: metres along three axes, then radians about them.

    Attributes:
        low: Smallest deviations, shape (6,), zero or less.
        high: Largest deviations, shape (6,), zero or more.
        world: Whether the axes are those of the world; else they are the goal's own.
    """

    low: FloatArray
    high: FloatArray
    world: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """Key that is equal for goals that can replace each other."""
        return self.low.tobytes(), self.high.tobytes(), self.world

    def basis(self, target: FloatArray) -> FloatArray:
        """Return the axes, as columns in the world, for a goal with target (4, 4)."""
        return np.eye(3) if self.world else target[:3, :3]

    def error(self, way: FloatArray, target: FloatArray) -> FloatArray:
        """Return the distance to the ranges, along and about their axes, shape (..., 6).

        Args:
            way: Offset to the target in the world (..., 6): metres, then the rotation vector.
            target: The target, 4x4.
        """
        off = self._off(way, target)
        return np.clip(off, self.low, self.high) - off

    def jacobian(self, way: FloatArray, target: FloatArray, jacobian: FloatArray) -> FloatArray:
        """Return the rates at which velocities reduce the error, shape (..., 6, nv); zero within a range."""
        off = self._off(way, target)
        asked = (off <= self.low) | (off >= self.high)
        return np.where(asked[..., None], self._rates(way, target, jacobian), 0.0)

    def edges(self, way: FloatArray, target: FloatArray, jacobian: FloatArray) -> Edges | None:
        """Return the distance to the ends of the ranges, and the rates of approach; None without ranges."""
        wide = np.flatnonzero(self.low < self.high)
        if not len(wide):
            return None
        off, rates = self._off(way, target)[..., wide], self._rates(way, target, jacobian)[..., wide, :]
        room = np.concatenate([off - self.low[wide], self.high[wide] - off], axis=-1)
        return Edges(np.where(room >= 0.0, room, np.inf), np.concatenate([-rates, rates], axis=-2))

    def _rates(self, way: FloatArray, target: FloatArray, jacobian: FloatArray) -> FloatArray:
        """Return the rates of the deviations: the rows of a frame's Jacobian (..., 6, nv) along these axes.

        If the frame rotates by omega, a rotation vector w changes by ``(I - [w]/2 + c [w]²) omega``, with ``c = (1 -
        |w|/2 cot |w|/2) / |w|²``.
        """
        axes = self.basis(target).T
        w = cross_matrix(-way[..., 3:])
        angle = np.linalg.norm(way[..., 3:], axis=-1)[..., None, None]
        half = 0.5 * np.maximum(angle, SERIES)
        factor = np.where(angle > SERIES, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
        turned = np.eye(3) - 0.5 * w + factor * (w @ w)
        return np.concatenate([axes @ jacobian[..., :3, :], axes @ (turned @ jacobian[..., 3:, :])], axis=-2)

    def _off(self, way: FloatArray, target: FloatArray) -> FloatArray:
        """Return the deviations of frames from the target, along and about the axes."""
        axes = self.basis(target)
        off: FloatArray = -(way.reshape(*way.shape[:-1], 2, 3) @ axes)
        return off.reshape(way.shape)


def read_ranges(frame: str, position: Any, rotation: Any, axes: Any, rows: Sequence[int]) -> Ranges:
    """Return the ranges of a goal from the user's arguments.

    Args:
        frame: The frame, for messages.
        position: One number, or for each axis a number or a pair; lengths [m].
        rotation: The same; angles [rad].
        axes: ``"goal"`` or ``"world"``.
        rows: The rows that the goal constrains.
    """
    if axes not in ("goal", "world"):
        raise GoalError(f"range_axes of the goal of frame {frame!r} is 'goal' or 'world', got {axes!r}.")
    if position is None and rotation is None:
        raise GoalError(f"the goal of frame {frame!r} has range_axes but neither position_range nor rotation_range.")
    low, high = np.zeros(6), np.zeros(6)
    for given, what, first, read in ((position, "position", 0, as_length), (rotation, "rotation", 3, as_angle)):
        if given is None:
            continue
        count = sum(first <= row < first + 3 for row in rows)
        if not count:
            asked = "orientation" if first else "position"
            raise GoalError(f"the goal of frame {frame!r} has a {what}_range but no {asked}; give {asked}=.")
        for k, one in enumerate(_each(given, count, f"{what}_range of frame {frame!r}")):
            low[first + k], high[first + k] = _pair(one, f"{what}_range of frame {frame!r}", read)
    return Ranges(read_only(low), read_only(high), axes == "world")


def _each(given: Any, count: int, what: str) -> list[Any]:
    """Return the given value for each axis."""
    if not _is_list(given):
        return [given] * count
    if len(given) != count:
        raise GoalError(f"{what} is one number, or {count} of them, each a number or a pair; got {given!r}.")
    return list(given)


def _pair(given: Any, what: str, read: Any) -> tuple[float, float]:
    """Return the smallest and the largest deviation."""
    with reading:
        ends = [read(one) for one in (given if _is_list(given) else [given])]
    low, high = ends if len(ends) == 2 else (-ends[0], ends[0]) if len(ends) == 1 else (math.nan, math.nan)
    if not low <= 0.0 <= high:
        raise GoalError(
            f"{what} must be a number, zero or more, or a pair (least, largest) that contains zero; got {given!r}."
        )
    return float(low), float(high)


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)


def asked_along(axes: FloatArray, moving: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of six rows along axes (3, 3), columns, joints can change, if they can change world rows (6,)."""
    parts = np.abs(axes.T) > 1e-12
    return np.concatenate([parts[:, moving[:3]].any(axis=1), parts[:, moving[3:]].any(axis=1)])
