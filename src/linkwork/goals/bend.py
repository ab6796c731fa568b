"""Directions: an axis at a point, an axis along a direction, and where a knee or an elbow points.

Imports `base`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_axis, cross_matrix, read_only
from .base import (
    Block,
    Goal,
    as_frame,
    as_place,
    key_of,
    moving_rows,
    one_block,
    placed,
    position_of,
    reading,
    turn_between,
    unit,
)

NEAREST = 1e-6  # of the linkage's length: nearer than that, a point has no direction
STRAIGHT = 1e-6  # of a limb's length: bent less than that, it bends nowhere


@dataclass(frozen=True, eq=False)
class Align(Goal):
    """Turn an axis of a frame along a direction of the world: a cup upright, a sole level, a drill straight down.

    Args:
        frame: Name of the frame.
        axis: Axis of the frame, ``"z"``, ``"-x"`` or three numbers.
        direction: Where it should point in the world, in the same forms.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.Align("tip", axis="x", direction="y").error(arm, np.zeros(2)).round(4).tolist()
        [0.0, 0.0, 1.5708]
    """

    frame: str
    axis: Any = field(kw_only=True)
    direction: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, "what an Align goal turns")
        with reading():
            axis = read_only(as_axis(self.axis, f"axis of {self.frame!r}"))
            self._set(axis=axis, direction=read_only(as_axis(self.direction, f"direction for {self.frame!r}")))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rotation vector, judged by its angle."""
        return one_block(3, "rad")

    @property
    def make(self) -> tuple[Any, ...]:
        """Frame and axis."""
        return "Align", self.frame, self.axis.tobytes(), *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the shortest turn that does it, as a rotation vector in the world."""
        axis = linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.axis
        return turn_between(axis, np.broadcast_to(self.direction, axis.shape))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angular velocity of the axis: that of the frame without its spin about the axis."""
        axis = linkage.forward(q, frame=self.frame)[..., :3, :3] @ self.axis
        return without(linkage.jacobian(q, self.frame)[..., 3:, :], axis)

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change at all, looked for at a few poses."""
        poses = np.concatenate([linkage.neutral()[None], linkage.random_pose(0, 7)])
        return np.asarray(np.abs(self.jacobian(linkage, poses)).max(axis=(0, 2), initial=0.0) > 1e-12)


@dataclass(frozen=True, eq=False)
class LookAt(Goal):
    """Turn an axis of a frame at a point: eyes at a ball, a camera at its object.

    A point at the frame's own origin is looked at from any side.

    Args:
        frame: Name of the frame.
        at: The point of the world [m], or the name of a frame.
        axis: Axis of the frame that should point there, ``"x"``, ``"-z"`` or three numbers.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> lw.solve(figure, lw.LookAt("eyes", at=(2, 1, 1))).success
        True
    """

    frame: str
    at: Any
    axis: Any = field(default="x", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        as_frame(self.frame, "what a LookAt goal turns")
        with reading():
            axis = read_only(as_axis(self.axis, f"axis of {self.frame!r}"))
        self._set(axis=axis, at=as_place(self.at, f"what {self.frame!r} should look at"))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The rotation vector, judged by its angle."""
        return one_block(3, "rad")

    @property
    def make(self) -> tuple[Any, ...]:
        """Frame, axis, and the frame looked at."""
        return "LookAt", self.frame, key_of(self.at), self.axis.tobytes(), *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the shortest turn that does it, as a rotation vector in the world."""
        world = linkage.forward(q, frame=self.frame)
        wanted, near = self._sight(linkage, position_of(linkage, self.at, q) - world[..., :3, 3])
        axis = world[..., :3, :3] @ self.axis
        return turn_between(axis, np.where(near[..., None], axis, wanted))

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angular velocity of the axis, less that of the line of sight."""
        world, moving = linkage.forward(q, frame=self.frame), linkage.jacobian(q, self.frame)
        point, motion = placed(linkage, self.at, q)
        way = point - world[..., :3, 3]
        wanted, near = self._sight(linkage, way)
        distance = np.where(near, np.inf, np.linalg.norm(way, axis=-1))[..., None, None]
        turning = cross_matrix(wanted) @ (motion - moving[..., :3, :]) / distance
        return without(moving[..., 3:, :], world[..., :3, :3] @ self.axis) - turning

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return all rows if the frame or the point moves at all: by moving, it looks from elsewhere."""
        return np.full(3, moving_rows(linkage, self.frame, self.at).any())

    def _sight(self, linkage: Linkage, way: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return the direction of a way, and whether it is too short to have one."""
        direction, length = unit(way)
        return direction, np.asarray(length < NEAREST * (linkage.length or 1.0))


def without(motion: FloatArray, axis: FloatArray) -> FloatArray:
    """Return angular velocities (..., 3, nv) without their part about unit axes (..., 3)."""
    result: FloatArray = motion - axis[..., None] * (axis[..., None, :] @ motion)
    return result


@dataclass(frozen=True, eq=False)
class Bend(Goal):
    """Point the middle of a limb, its knee or elbow, towards a pole, as far as its two ends let it.

    The error is the angle, about the line from root to end, by which the middle has to swing into the half plane of the
    pole. A straight limb bends nowhere and has no error; so does a pole on the line itself.

    Args:
        root: Name of the frame at the limb's root: the thigh, the upper arm.
        middle: The frame at the knee or elbow: the shin, the forearm.
        end: The frame at its end: the foot, the hand.
        towards: The pole: a point of the world [m], or the name of a frame.

    Example:
        >>> import linkwork as lw
        >>> figure = lw.models.human()
        >>> pole = lw.Bend("left_thigh", "left_shin", "left_foot", towards=(2, 0.5, 0.5))
        >>> lw.solve(figure, [pole, lw.Reach("left_foot", position=(0.1, 0.1, 0.2))]).success
        True
    """

    root: str
    middle: str
    end: str
    towards: Any = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.root, self.middle, self.end):
            as_frame(name, "root, middle or end of a Bend goal")
        self._set(towards=as_place(self.towards, f"pole of {self.middle!r}"))

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One angle."""
        return one_block(1, "rad")

    @property
    def make(self) -> tuple[Any, ...]:
        """The three frames, and that of the pole."""
        return "Bend", self.root, self.middle, self.end, key_of(self.towards), *self.common

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the angle from the middle to the pole about the line from root to end."""
        places = (self.root, self.middle, self.end, self.towards)
        root, middle, end, pole = (position_of(linkage, place, q) for place in places)
        line, middle, pole = unit(end - root)[0], middle - root, pole - root
        across, aside = _aside(line, middle), _aside(line, pole)
        angle = np.arctan2((line * np.cross(across, aside)).sum(axis=-1), (across * aside).sum(axis=-1))
        return np.where(self._undefined(end - root, middle, pole), 0.0, angle)[..., None]

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return how fast the middle swings about the line, less how fast the pole does."""
        places = (self.root, self.middle, self.end, self.towards)
        (root, base), (middle, m), (end, e), (pole, p) = (placed(linkage, place, q) for place in places)
        line, length = unit(end - root)
        swings = []
        for point, motion in ((middle - root, m - base), (pole - root, p - base)):
            outward, radius = unit(_aside(line, point))
            along = (point * line).sum(axis=-1) / np.maximum(length, 1e-300)
            way = np.cross(line, outward) / np.maximum(radius, 1e-300)[..., None]  # the line itself tilts with the end
            swings.append(way[..., None, :] @ (motion - along[..., None, None] * (e - base)))
        none = self._undefined(end - root, middle - root, pole - root)
        return np.where(none[..., None, None], 0.0, swings[0] - swings[1])

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return whether any of the frames moves at all."""
        return np.array([moving_rows(linkage, self.root, self.middle, self.end, self.towards).any()])

    def _undefined(self, limb: FloatArray, middle: FloatArray, pole: FloatArray) -> NDArray[np.bool_]:
        """Return where the limb is straight or without length, or the pole is on its line."""
        line, length = unit(limb)
        result = length < STRAIGHT * np.linalg.norm(middle, axis=-1)
        for point in (middle, pole):
            result |= np.linalg.norm(_aside(line, point), axis=-1) <= STRAIGHT * np.linalg.norm(point, axis=-1)
        return np.asarray(result)


def _aside(line: FloatArray, points: FloatArray) -> FloatArray:
    """Return the part of vectors (..., 3) that is at right angles to unit vectors."""
    result: FloatArray = points - line * (line * points).sum(axis=-1, keepdims=True)
    return result
