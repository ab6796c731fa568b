"""Where frames are to each other and to simple places: relations, distances, planes and lines.

Imports `base` and one kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array, as_axis, cross_matrix, inverse, plane_basis, read_only
from .base import (
    Block,
    Goal,
    as_frame,
    as_place,
    as_point,
    key_of,
    moving_along,
    moving_rows,
    one_block,
    placed,
    position_of,
    reading,
    unit,
)
from .reach import SAME, Reach


@dataclass(frozen=True, eq=False)
class Relate(Goal):
    """Bring a frame to a place in another frame, wherever that is: two hands on one box, a hat on a head.

    Args:
        frame: Name of the frame that should get there.
        to: Name of the frame that it is placed in.
        position: Where its origin should be, in the axes of the other [m].
        orientation: How it should be turned against the other, in any form that `Reach` takes; a 4x4 matrix given alone
            holds both. With neither, both frames stay to each other as they are at the start of the solve.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.Relate("left_hand", "right_hand", position=(0, 0.3, 0)), start="sit").success
        True
    """

    frame: str
    to: str
    position: Any = field(default=None, kw_only=True)
    orientation: Any = field(default=None, kw_only=True)
    target: FloatArray | None = field(init=False, repr=False)
    rows: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.to, f"what {self.frame!r} should relate to")
        waits = self.position is None and self.orientation is None
        asked = Reach(self.frame, position=self.position, orientation=np.eye(4) if waits else self.orientation)
        if asked.coordinates == 2:
            raise GoalError(f"position of {self.frame!r} in {self.to!r} must be 3 numbers, got {self.position!r}.")
        if self.frame == self.to:
            raise GoalError(f"frame {self.frame!r} cannot relate to itself.")
        self._set(target=None if waits else asked.target, rows=asked.rows)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Metres of position, then radians of orientation."""
        count = int((self.rows < 3).sum())
        parts = (Block(slice(0, count), "m"), Block(slice(count, len(self.rows)), "rad"))
        return tuple(block for block in parts if block.rows.stop > block.rows.start)

    @property
    def make(self) -> tuple[Any, ...]:
        """Both frames and the rows."""
        return "Relate", self.frame, self.to, self.rows.tobytes(), *self.common

    def bound(self, linkage: Linkage, start: FloatArray) -> Relate:
        """Return the goal with the place that the start has, if it names none."""
        if self.target is not None:
            return self
        there = inverse(linkage.forward(start, frame=self.to)) @ linkage.forward(start, frame=self.frame)
        there = there.reshape(-1, 4, 4)
        if np.abs(there - there[:1]).max(initial=0.0) > SAME * max(linkage.length, 1.0):
            raise GoalError(
                f"frames {self.frame!r} and {self.to!r} stand otherwise to each other at each of the {len(there)} "
                "starts; give a position or an orientation."
            )
        result = object.__new__(Relate)
        result.__dict__.update(self.__dict__, target=read_only(there[0]))
        return result

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way to the place in the world: metres, then the rotation vector."""
        from ..kernels.pose_error import pose_errors

        wanted = linkage.forward(q, frame=self.to) @ self._target()
        local = inverse(wanted) @ linkage.forward(q, frame=self.frame)
        out = np.empty((*local.shape[:-2], 6))
        pose_errors(np.ascontiguousarray(local.reshape(-1, 4, 4)), np.eye(4), out.reshape(-1, 6))
        turned: FloatArray = out.reshape(*out.shape[:-1], 2, 3) @ np.swapaxes(wanted[..., :3, :3], -1, -2)
        return turned.reshape(out.shape)[..., self.rows]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's velocity less that of its place in the other."""
        target = self._target()
        moving = linkage.jacobian(q, self.to)
        arm = linkage.forward(q, frame=self.to)[..., :3, :3] @ target[:3, 3]
        moving[..., :3, :] -= cross_matrix(arm) @ moving[..., 3:, :]
        return (linkage.jacobian(q, self.frame) - moving)[..., self.rows, :]

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return the rows that one of the frames can change at all."""
        return moving_rows(linkage, self.frame, self.to)[self.rows]

    def _target(self) -> FloatArray:
        if self.target is None:
            raise GoalError(
                f"a relation of {self.frame!r} to {self.to!r} has its place from the start of a solve; give a position "
                "or an orientation, or bound(linkage, q)."
            )
        return self.target


@dataclass(frozen=True, eq=False)
class Distance(Goal):
    """Keep a frame at a distance from another frame or from a point, or within a range of distances.

    Args:
        frame: Name of the frame.
        to: Name of the other frame, or a point of the world [m].
        value: The distance [m], or a pair of the least and the largest; the largest may be infinite.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Distance("tip", (0, 0), (1, 2.5)).error(arm, np.zeros(2)).tolist()
        [-0.5]
    """

    frame: str
    to: Any
    value: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, "what a Distance goal moves")
        self._set(to=as_place(self.to, f"what {self.frame!r} keeps a distance from"))
        if isinstance(self.to, str) and self.to == self.frame:
            raise GoalError(f"frame {self.frame!r} has no distance from itself.")
        with reading():
            numbers = as_array(self.value, f"distance of {self.frame!r}")
        ends = np.broadcast_to(numbers, 2).tolist() if numbers.shape in ((), (2,)) else [math.nan, math.nan]
        if not 0.0 <= ends[0] <= ends[1] or ends[0] == math.inf or (numbers.shape == () and ends[0] == math.inf):
            raise GoalError(
                f"distance of {self.frame!r} is a number, zero or more, or a pair (least, largest), got {self.value!r}."
            )
        self._set(value=tuple(ends))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One length."""
        return one_block(1, "m")

    @property
    def make(self) -> tuple[Any, ...]:
        """The frame, and the other if it is one."""
        return "Distance", self.frame, key_of(self.to), *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return by how much it is too near (positive) or too far."""
        way = linkage.forward(q, frame=self.frame)[..., :3, 3] - position_of(linkage, self.to, q)
        length = np.linalg.norm(way, axis=-1, keepdims=True)
        return np.asarray(np.clip(length, *self.value) - length)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return how fast the distance grows; nothing within the range, where the goal asks for nothing."""
        (here, moving), (there, motion) = placed(linkage, self.frame, q), placed(linkage, self.to, q)
        direction, length = unit(here - there)
        rate = direction[..., None, :] @ (moving - motion)
        low, high = self.value
        inside = (length > low) & (length < high)
        return np.where(inside[..., None, None], 0.0, rate)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return whether one of both moves at all."""
        return np.array([moving_rows(linkage, self.frame, self.to)[:3].any()])


@dataclass(frozen=True, eq=False)
class _Across(Goal):
    """What planes and lines have in common: directions across, along which the frame must not be away."""

    frame: str
    point: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    directions: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, f"what an {type(self).__name__} goal moves")
        self._set(point=as_point(self.point, f"point that {self.frame!r} should stay in line with"))

    def _axis(self, value: Any, what: str) -> FloatArray:
        with reading():
            return read_only(as_axis(value, f"{what} for {self.frame!r}"))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One length across a plane, two across a line, judged together."""
        return one_block(len(self.directions), "m")

    @property
    def make(self) -> tuple[Any, ...]:
        """The frame and the directions across."""
        return type(self).__name__, self.frame, self.directions.tobytes(), *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the way back across, in metres."""
        here = linkage.forward(q, frame=self.frame)[..., :3, 3]
        return np.asarray((self.point - here) @ self.directions.T)

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the frame's velocity across."""
        result: FloatArray = self.directions @ linkage.jacobian(q, self.frame)[..., :3, :]
        return result

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return the directions that some joint moves the frame along."""
        return moving_along(self.directions, moving_rows(linkage, self.frame))


@dataclass(frozen=True, eq=False)
class OnPlane(_Across):
    """Keep a frame's origin on a plane of the world: a pen on paper, a foot on the floor.

    Args:
        frame: Name of the frame.
        point: A point of the plane [m]; the origin by default.
        normal: Its normal, ``"z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.OnPlane("tip", point=(2, 0), normal="x").error(arm, np.zeros(2)).tolist()
        [-1.0]
    """

    normal: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = self._axis(self.normal, "normal of the plane")
        self._set(normal=normal, directions=normal[None])


@dataclass(frozen=True, eq=False)
class OnLine(_Across):
    """Keep a frame's origin on a line of the world: a hand on a rail, a piston in its cylinder.

    Args:
        frame: Name of the frame.
        point: A point of the line [m]; the origin by default.
        direction: Its direction, ``"z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.OnLine("left_hand", point=(0.4, 0.3, 0), direction="z")).success
        True
    """

    direction: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        direction = self._axis(self.direction, "direction of the line")
        self._set(direction=direction, directions=read_only(plane_basis(direction)[:, :2].T.copy()))
