"""Goals: what a solve should bring about.

Imports `linkage` and what stands before it, and one kernel. A goal gives, for poses of any batch shape, its error rows
(how far there is still to go) and the rows of the Jacobian that say how the joints change it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import GoalError, LinkworkError
from .linkage import Linkage
from .transforms import FloatArray, as_array, as_axis, as_rotation, read_only


class Block(NamedTuple):
    """A run of error rows that are judged together: their norm must come within a tolerance."""

    rows: slice
    unit: str


@dataclass(frozen=True, eq=False)
class Goal:
    """Base of all goals.

    Args:
        weight: How much its error counts beside the others' in methods that trade one off against another.
    """

    weight: float = 1.0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The runs of error rows, in order."""
        raise NotImplementedError

    @property
    def make(self) -> tuple[Any, ...]:
        """What a problem is built from beside the target: goals of one make can take each other's place in it."""
        raise NotImplementedError

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return what is still to go, shape (..., rows)."""
        raise NotImplementedError

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return how velocities bring it about, shape (..., rows, nv)."""
        raise NotImplementedError

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change at all, shape (rows,)."""
        raise NotImplementedError

    def _check_weight(self) -> None:
        weight = self.weight
        if not isinstance(weight, int | float | np.number) or not math.isfinite(weight) or weight <= 0.0:
            raise GoalError(f"weight of a goal must be positive and finite, got {weight!r}.")


class Reach(Goal):
    """Bring a frame to a position, an orientation, or both.

    Args:
        frame: Name of the frame that should get there.
        position: Where its origin should be [m]; (x, y) leaves z alone and serves a planar linkage.
        orientation: How it should be turned: a SciPy ``Rotation``, a 3x3 matrix, ``{"wxyz": ...}`` and so on. A 4x4
            matrix given alone holds both.
        weight: How much it counts beside other goals.
        free: An axis of the frame, ``"z"`` or three numbers, that it may spin about: of the orientation, only where
            this axis points matters (a drill, a spray gun, a pointing finger).

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Reach("tip", position=(1, 2)).error(arm, np.zeros(2)).tolist()
        [-2.0, 2.0]
    """

    def __init__(
        self, frame: str, *, position: Any = None, orientation: Any = None, weight: float = 1.0, free: Any = None
    ) -> None:
        object.__setattr__(self, "weight", weight)
        self._check_weight()
        if not isinstance(frame, str):
            raise GoalError(f"a Reach goal needs the name of a frame, got {frame!r}.")
        if position is None and orientation is None:
            raise GoalError(f"the goal of frame {frame!r} asks for nothing; give a position, an orientation or both.")
        target, rows = np.eye(4), []
        if position is None and np.shape(orientation) == (4, 4):
            position = np.asarray(orientation)[:3, 3]
        try:
            if position is not None:
                point = as_array(position, f"goal position of {frame!r}")
                if point.shape not in ((2,), (3,)) or not np.isfinite(point).all():
                    raise GoalError(f"goal position of {frame!r} must be 2 or 3 finite numbers, got {position!r}.")
                target[: len(point), 3] = point
                rows += list(range(len(point)))
            if orientation is not None:
                target[:3, :3] = as_rotation(orientation, f"goal orientation of {frame!r}")
                rows += [3, 4, 5]
            axis = None if free is None else read_only(as_axis(free, f"free axis of {frame!r}"))
        except LinkworkError as error:
            raise GoalError(str(error)) from error
        if axis is not None and orientation is None:
            raise GoalError(
                f"the goal of frame {frame!r} has a free axis but no orientation that says where it points."
            )
        target.setflags(write=False)
        asked = sum(row < 3 for row in rows)
        self.__dict__.update(frame=frame, target=target, rows=np.array(rows), coordinates=asked, free=axis)

    def moved(self, target: FloatArray) -> Reach:
        """Return the same goal with another target (4, 4), which is taken as it is."""
        result = object.__new__(Reach)  # a tenth of the time of copy.copy, for paths of thousands of goals
        result.__dict__.update(self.__dict__, target=target)
        return result

    frame: str
    target: FloatArray
    rows: NDArray[np.int64]
    coordinates: int
    free: FloatArray | None

    @property
    def position(self) -> FloatArray | None:
        """Where the frame should be, if that is asked for."""
        return self.target[: self.coordinates, 3] if self.coordinates else None

    @property
    def orientation(self) -> FloatArray | None:
        """How the frame should be turned, if that is asked for: a 3x3 matrix."""
        return self.target[:3, :3] if len(self.rows) > self.coordinates else None

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of position, then radians of orientation."""
        count, rows = self.coordinates, len(self.rows)
        position = (Block(slice(0, count), "m"),) if count else ()
        return (*position, Block(slice(count, rows), "rad")) if rows > count else position

    @property
    def make(self) -> tuple[Any, ...]:
        """Frame, rows, weight and free axis."""
        return self.frame, self.rows.tobytes(), self.weight, None if self.free is None else self.free.tobytes()

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way to the goal in the world: metres, then the rotation vector."""
        from .kernels.error import pose_errors

        world = linkage.forward(q, frame=self.frame)
        out = np.empty((*world.shape[:-2], 6))
        pose_errors(world.reshape(-1, 4, 4), self.target, out.reshape(-1, 6))
        if self.free is not None:
            out[..., 3:] = turn_between(world[..., :3, :3] @ self.free, self.target[:3, :3] @ self.free)
        return out if len(self.rows) == 6 else out[..., self.rows]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rows of the frame's Jacobian that the goal asks for."""
        jacobian = linkage.jacobian(q, self.frame)
        if self.free is not None:  # spinning about the axis changes nothing
            axis = (linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.free)[..., None]
            jacobian[..., 3:, :] -= axis * (np.swapaxes(axis, -1, -2) @ jacobian[..., 3:, :])
        return jacobian if len(self.rows) == 6 else jacobian[..., self.rows, :]

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change at all."""
        return linkage.evaluator.moving_rows(self.frame)[self.rows]

    def __repr__(self) -> str:
        position = "" if self.position is None else f", position={self.position.tolist()}"
        return f"Reach({self.frame!r}{position}{'' if self.orientation is None else ', orientation=...'})"


def turn_between(directions: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the shortest rotation vectors (..., 3) that turn unit directions (..., 3) onto a wanted one (3,)."""
    normal, cosine = np.cross(directions, wanted), np.asarray(directions @ wanted)[..., None]
    sine = np.linalg.norm(normal, axis=-1, keepdims=True)
    aside = np.cross(directions, np.eye(3)[np.abs(directions).argmin(axis=-1)])  # half a turn has any normal
    aside *= np.pi / np.linalg.norm(aside, axis=-1, keepdims=True)
    turn = normal * (np.arctan2(sine, cosine) / np.where(sine > 0.0, sine, 1.0))
    return np.where((sine < 1e-12) & (cosine < 0.0), aside, turn)
