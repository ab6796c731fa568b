"""`Reach`: bring a frame to a position, an orientation or both."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..kernels.rigid import FARTHEST
from ..linkage.linkage import Linkage
from ..transforms import AXES, IDENTITY, FloatArray, as_array, as_axis, as_rotation, read_only
from .base import Block, Edges, Goal, as_pose, blocks_of, reading, turn_between, without
from .ranges import Ranges, asked_along, read_ranges


class Reach(Goal):
    """Bring a frame to a position, an orientation, or both.

    Args:
        frame: Name of the frame to move.
        pose: Position and orientation at once: a 4x4 matrix or a SciPy ``RigidTransform``.
        position: Target of its origin [m]; (x, y) leaves z free, for a planar linkage.
        orientation: Target orientation: a SciPy ``Rotation``, a 3x3 matrix, ``{"wxyz": ...}`` and so on. A 4x4
            matrix is read as the whole pose.
        weight: Weight against other goals.
        free: An axis of the frame, ``"z"`` or three numbers, about which it may rotate freely: only the direction of
            this axis matters (a drill, a spray gun, a pointing finger).
        axes: Axes of the world along which the position matters, such as ``"xz"``; the others are free. By default all
            that the position has.
        tolerance: Largest error of a reached goal, or a pair of them (m, rad); by default the solve's own.
        priority: Priority level, 0 first.
        position_range: Allowed offset of the position along each axis [m]: one number, or for each axis a number (to
            either side) or a pair (least, largest); infinity leaves an axis free.
        rotation_range: The same for the rotation vector from the goal's orientation to the frame's [rad]: (0, 0, 0.5)
            allows a rotation of half a radian about z.
        range_axes: Axes of both ranges: those of the ``"goal"``, which follow its orientation, or of the ``"world"``.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Reach("tip", position=(1, 2)).error(arm, np.zeros(2)).tolist()
        [-2.0, 2.0]
    """

    def __init__(
        self,
        frame: str,
        *,
        pose: Any = None,
        position: Any = None,
        orientation: Any = None,
        weight: float = 1.0,
        free: Any = None,
        axes: str | None = None,
        tolerance: Any = None,
        priority: int = 0,
        position_range: Any = None,
        rotation_range: Any = None,
        range_axes: str = "goal",
    ) -> None:
        self._set(frame=frame, weight=weight, tolerance=tolerance, priority=priority)
        self.__post_init__()
        if pose is None and _is_pose(orientation, f"goal orientation of {frame!r}"):
            if position is not None:
                raise GoalError(
                    f"the goal of frame {frame!r} has two positions: position=, and that of the 4x4 matrix in "
                    "orientation=; give the matrix alone, pose=T, or its rotation, orientation=T[:3, :3]."
                )
            pose, orientation = orientation, None
        if pose is not None:
            if position is not None or orientation is not None:
                raise GoalError(f"the goal of frame {frame!r} has pose=, which includes the others; leave those out.")
            matrix = as_pose(pose, f"goal pose of {frame!r}")
            position, orientation = matrix[:3, 3], matrix[:3, :3]
        if position is None and orientation is None:
            raise GoalError(f"the goal of frame {frame!r} asks for nothing; give a pose, a position or an orientation.")
        target, rows = IDENTITY.copy(), []
        with reading:
            if position is not None:
                point = as_array(position, f"goal position of {frame!r}")
                if point.shape not in ((2,), (3,)) or not all(abs(x) < FARTHEST for x in point.tolist()):
                    what = f"2 or 3 finite numbers below {FARTHEST:g}"
                    raise GoalError(f"goal position of {frame!r} must be {what}, got {position!r}.")
                target[: len(point), 3] = point
                rows += list(range(len(point))) if axes is None else _asked(axes, len(point), frame)
            if orientation is not None:
                target[:3, :3] = as_rotation(orientation, f"goal orientation of {frame!r}")
                rows += [3, 4, 5]
            axis = None if free is None else read_only(as_axis(free, f"free axis of {frame!r}"))
        if axis is not None and orientation is None:
            raise GoalError(f"the goal of frame {frame!r} has free= but no orientation; give orientation=.")
        if axes is not None and position is None:
            raise GoalError(f"the goal of frame {frame!r} has axes={axes!r} but no position; give position=.")
        asked = len(rows) - (0 if orientation is None else 3)
        self._set(target=read_only(target), rows=np.array(rows), coordinates=asked, free=axis, ranges=None)
        if position_range is not None or rotation_range is not None or range_axes != "goal":
            self._set(ranges=read_ranges(frame, position_range, rotation_range, range_axes, rows))
            if axis is not None or axes is not None:
                raise GoalError(
                    f"the goal of frame {frame!r} has ranges, so leave out free= and axes=: an infinite "
                    "position_range leaves an axis free, and rotation_range allows rotation about an axis."
                )

    def moved(self, target: FloatArray) -> Reach:
        """Return the same goal with another target (4, 4), which is not checked."""
        return self._with(target=target, signature=self.signature)  # computed once for all goals of a path

    frame: str
    target: FloatArray
    rows: NDArray[np.int64]
    coordinates: int
    free: FloatArray | None
    ranges: Ranges | None
    called = "Reach"  # name of the goal that the user wrote

    @property
    def position(self) -> FloatArray | None:
        """Target position, if the goal has one; all three numbers if some axes are masked out."""
        if self.masked:
            return self.target[:3, 3]
        return self.target[: self.coordinates, 3] if self.coordinates else None

    @property
    def masked(self) -> bool:
        """Whether it constrains axes other than x, y and z, or x and y: ``axes="xz"`` and so on."""
        count = self.coordinates
        return count == 1 or (count == 2 and int(self.rows[1]) != 1)

    @property
    def partial(self) -> str:
        """A text on which part of the pose it leaves free, if not all methods support that; empty otherwise."""
        if self.masked:
            return "axes of its position left out"
        if self.ranges is not None:
            return "ranges"
        return "" if self.free is None else "an axis free to spin about"

    @property
    def orientation(self) -> FloatArray | None:
        """Target orientation, a 3x3 matrix, if the goal has one."""
        return self.target[:3, :3] if len(self.rows) > self.coordinates else None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of position, then radians of orientation."""
        return blocks_of(("m", self.coordinates), ("rad", len(self.rows) - self.coordinates))

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        """Frame, rows, free axis, and the fields of all goals."""
        free = None if self.free is None else self.free.tobytes()
        if self.ranges is not None:
            return self.frame, self.rows.tobytes(), self.ranges.key, *self.common
        return self.frame, self.rows.tobytes(), free, *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the offset to the goal: metres, then the rotation vector, along the world's or its ranges' axes."""
        world = linkage.forward(q, frame=self.frame)
        out = self._way(world)
        if self.free is not None:
            out[..., 3:] = turn_between(world[..., :3, :3] @ self.free, self.target[:3, :3] @ self.free)
        elif self.ranges is not None:
            out = self.ranges.error(out, self.target)
        return out if len(self.rows) == 6 else out[..., self.rows]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rows of the frame's Jacobian that the goal constrains."""
        jacobian = linkage.jacobian(q, self.frame)
        if self.ranges is not None:
            way = self._way(linkage.forward(q, frame=self.frame))
            jacobian = self.ranges.jacobian(way, self.target, jacobian)
        if self.free is not None:  # rotation about the free axis changes nothing
            axis = linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.free
            jacobian[..., 3:, :] = without(jacobian[..., 3:, :], axis)
        return jacobian if len(self.rows) == 6 else jacobian[..., self.rows, :]

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges | None:
        """Return the ends of its ranges; None if it has none."""
        if self.ranges is None:
            return None
        way = self._way(linkage.forward(q, frame=self.frame))
        return self.ranges.edges(way, self.target, linkage.jacobian(q, self.frame))

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change."""
        moving = linkage.evaluator.moving_rows(self.frame)
        if self.ranges is not None:
            moving = asked_along(self.ranges.basis(self.target), moving)
        return moving[self.rows]

    def _way(self, frames: FloatArray) -> FloatArray:
        """Return the offsets (..., 6) in the world from frames (..., 4, 4) to the target."""
        from ..kernels.pose_error import pose_errors

        out = np.empty((*frames.shape[:-2], 6))
        pose_errors(frames.reshape(-1, 4, 4), self.target, out.reshape(-1, 6))
        return out

    def __repr__(self) -> str:
        position = "" if self.position is None else f", position={self.position.tolist()}"
        return f"{self.called}({self.frame!r}{position}{'' if self.orientation is None else ', orientation=...'})"


def _is_pose(orientation: Any, what: str) -> bool:
    """Return whether an orientation includes a position: a 4x4 matrix or a SciPy ``RigidTransform``."""
    if orientation is None or isinstance(orientation, Mapping):
        return False
    if orientation.__class__ is np.ndarray:
        return bool(orientation.shape == (4, 4))
    matrix = orientation.as_matrix() if hasattr(orientation, "as_matrix") else orientation
    with reading:
        return as_array(matrix, what).shape == (4, 4)


def _asked(axes: Any, count: int, frame: str) -> list[int]:
    """Return the rows of axes such as ``"xz"``."""
    known = list(AXES)[:count]
    if not isinstance(axes, str) or not axes or len(set(axes)) != len(axes) or not set(axes) <= set(known):
        raise GoalError(f"axes of the goal of frame {frame!r} are some of {''.join(known)!r}, got {axes!r}.")
    return sorted(known.index(letter) for letter in axes)
