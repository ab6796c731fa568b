"""Base class of goals: error rows and their Jacobian, with weight, tolerance and priority; argument checks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, LinkageError, TransformError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, as_array, as_axis, as_transform, as_vector, cross, inverse, is_number, read_only

SAME = 1e-9  # distance below which places count as the same, as a share of the linkage's length


def metres_per_radian(linkage: Linkage) -> float:
    """Return the length that weighs as much as a radian: about that of a limb."""
    return linkage.length / 4.0 or 1.0


class Block(NamedTuple):
    """A run of error rows that are judged together: their norm must be within a tolerance."""

    rows: slice
    unit: str


class Edges(NamedTuple):
    """Edges of a range: to first order, a change x of the pose stays inside if ``rows x <= room``.

    Attributes:
        room: Distance to every edge; negative beyond it, infinite if there is none, shape (..., k).
        rows: Rates at which velocities reduce that distance, shape (..., k, nv).
    """

    room: FloatArray
    rows: FloatArray


@dataclass(frozen=True, eq=False)
class Goal:
    """Base of all goals.

    A goal returns, for poses of any batch shape, its error rows (the remaining distance in metres or radians) and the
    Jacobian rows that say how joint velocities reduce the error. The Jacobian is the rate at which the error shrinks.
    For the error's size this is exact everywhere, ``J^T e = -d(|e|²/2)/dv``; for each row it is exact unless rows are
    rotation vectors, and near the goal then too.

    Args:
        weight: Weight of its error relative to other goals, in methods that weigh goals.
        tolerance: Largest error of a reached goal: one number for metres and radians, or a pair of them. None uses the
            solve's tolerance; infinity makes it a wish, which is pursued but does not affect success.
        priority: Priority level, 0 first: a goal is pursued only as far as it does not disturb the levels before it.
    """

    first_level: ClassVar[int] = 0
    units: ClassVar[tuple[tuple[str, int], ...]] = ()  # number of error rows of each unit, in order
    about: ClassVar[tuple[str, ...]] = ()  # fields that hold the name of a frame or a point
    fixed: ClassVar[tuple[str, ...]] = ()  # other fields that belong to the signature

    weight: float = field(default=1.0, kw_only=True)
    tolerance: Any = field(default=None, kw_only=True)
    priority: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        weight, priority = self.weight, self.priority
        if (type(weight) is not float and not is_number(weight)) or not 0.0 < weight < math.inf:
            raise GoalError(f"weight of a goal must be positive and finite, got {weight!r}.")
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", _tolerances(self.tolerance))
        if type(priority) is not int or priority < self.first_level:
            raise GoalError(f"priority of a goal is a whole number, 0 for the first level, got {priority!r}.")
        if "frame" in self.__dict__:
            as_frame(self.__dict__["frame"], f"frame of the goal {type(self).__name__}")

    def _set(self, **values: Any) -> None:
        self.__dict__.update(values)

    def _with(self, **values: Any) -> Self:
        """Return a copy with other values, which are not checked; ten times faster than copy.copy."""
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__ | values)
        return result

    @property
    def common(self) -> tuple[Any, ...]:
        """The fields common to all goals, as part of their signature."""
        return self.weight, self.tolerance, self.priority

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The runs of error rows, in order."""
        if not self.units:
            raise NotImplementedError(f"{type(self).__name__} must define `units` or `blocks`.")
        return blocks_of(*self.units)

    @property
    def places(self) -> tuple[str | FloatArray, ...]:
        """The frames, by name, and the points of the world that the goal refers to."""
        return tuple(getattr(self, name) for name in self.about)

    @property
    def signature(self) -> tuple[Any, ...]:
        """The data that define a problem, without the target. Goals of equal signature can replace each other."""
        frames = (place if isinstance(place, str) else None for place in self.places)  # a point is a target
        fixed = (getattr(self, name) for name in self.fixed)
        values = (value.tobytes() if isinstance(value, np.ndarray) else value for value in fixed)
        return type(self).__name__, *frames, *values, *self.common

    def resolve(self, linkage: Linkage, start: FloatArray) -> Goal:  # noqa: ARG002
        """Return the goal resolved for a linkage and the start poses of a solve; most goals return themselves."""
        return self

    def error(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the error, shape (..., rows)."""
        raise NotImplementedError

    def jacobian(self, linkage: Linkage, q: FloatArray) -> FloatArray:
        """Return the rates at which velocities reduce the error, shape (..., rows, nv)."""
        raise NotImplementedError

    def edges(self, linkage: Linkage, q: FloatArray) -> Edges | None:  # noqa: ARG002
        """Return the edges of the range within which the error is zero; None if the goal has no range.

        Within its range a goal has no error and no Jacobian, so a step for other goals could leave the range unnoticed.
        Methods with priority levels use the edges as inequalities.
        """
        return None

    def changeable(self, linkage: Linkage) -> NDArray[np.bool_]:
        """Return which error rows some joint can change, shape (rows,): all, if a joint moves a frame of the goal."""
        moves = not self.places or bool(moving_rows(linkage, *self.places).any())
        return np.full(self.blocks[-1].rows.stop, moves)

    def tolerance_of(self, unit: str) -> float | None:
        """Return the goal's own tolerance for blocks of a unit, or None."""
        return None if self.tolerance is None else self.tolerance[unit == "rad"]


def _tolerances(value: Any) -> tuple[float, float]:
    """Return tolerances in metres and radians from a number or a pair."""
    with reading:
        numbers = as_array(value, "tolerance of a goal")
    if numbers.shape not in ((), (2,)) or not (numbers > 0.0).all():
        raise GoalError(f"tolerance of a goal is a positive number or a pair (m, rad), got {value!r}.")
    metres, radians = np.broadcast_to(numbers, 2).tolist()
    return metres, radians


class Reading:
    """Convert errors about numbers, axes or a linkage's masses to errors of the goal that uses them.

    It is a class because a generator as a context takes ten times as long, and control loops create goals.
    """

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TransformError | LinkageError):
            raise GoalError(str(error)) from error


reading = Reading()


def as_frame(name: Any, what: str) -> None:
    """Raise GoalError unless a value is the name of a frame."""
    if not isinstance(name, str):
        raise GoalError(f"{what} is the name of a frame, got {name!r}.")


def as_direction(value: Any, what: str) -> FloatArray:
    """Return a read-only unit vector."""
    with reading:
        return read_only(as_axis(value, what))


def as_pose(value: Any, what: str) -> FloatArray:
    """Return the 4x4 transform of a whole pose of a frame; raise GoalError for a position alone."""
    with reading:
        matrix = as_array(value.as_matrix() if hasattr(value, "as_matrix") else value, what)
        if matrix.shape != (4, 4):
            raise GoalError(f"{what} is a 4x4 matrix, got shape {matrix.shape}; position= and orientation= take parts.")
        return read_only(as_transform(matrix, what))


def as_place(value: Any, what: str) -> str | FloatArray:
    """Return the name of a frame, or a point of the world."""
    return value if isinstance(value, str) else as_point(value, what)


def as_point(value: Any, what: str) -> FloatArray:
    """Return a point of the world; (x, y) is a point in the plane of planar linkages."""
    with reading:
        point = as_array(value, what)
        return read_only(as_vector(np.append(point, 0.0) if point.shape == (2,) else point, what))


def blocks_of(*counts: tuple[str, int]) -> tuple[Block, ...]:
    """Return blocks of error rows, one for each unit that has rows, in order."""
    result, start = [], 0
    for unit, count in counts:
        if count:
            result.append(Block(slice(start, start + count), unit))
            start += count
    return tuple(result)


def common_value(linkage: Linkage, values: FloatArray, what: str, advice: str) -> FloatArray:
    """Return the common value of all starts (n, ...) of a solve; raise GoalError if they differ."""
    if not len(values):
        raise GoalError(f"{what} is unknown, since there are no starts; {advice}.")
    if np.abs(values - values[:1]).max(initial=0.0) > SAME * max(linkage.length, 1.0):
        raise GoalError(f"{what} is not the same at all of the {len(values)} starts; {advice}.")
    return read_only(values[0])


def placed(linkage: Linkage, place: str | FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the positions of frames or points (..., 3), and their Jacobians (..., 3, nv)."""
    if isinstance(place, str):
        return linkage.forward(q, frame=place)[..., :3, 3], linkage.jacobian(q, place)[..., :3, :]
    shape = np.shape(q)[:-1]
    return np.broadcast_to(place, (*shape, 3)), np.zeros((*shape, 3, linkage.nv))


def position_of(linkage: Linkage, place: str | FloatArray, q: FloatArray) -> FloatArray:
    """Return the positions of frames or points, shape (..., 3)."""
    if isinstance(place, str):
        return linkage.forward(q, frame=place)[..., :3, 3]
    return np.broadcast_to(place, (*np.shape(q)[:-1], 3))


def moving_rows(linkage: Linkage, *places: str | FloatArray) -> NDArray[np.bool_]:
    """Return which of the six rows some joint can change for any of several frames; points do not move."""
    found = np.zeros(6, np.bool_)
    for place in places:
        if isinstance(place, str):
            found |= linkage.evaluator.moving_rows(place)
    return found


def moving_along(directions: FloatArray, moving: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which directions (rows, 3) have a component along a world axis that can move."""
    return np.asarray((np.abs(directions) > 1e-12)[:, moving[:3]].any(axis=1))


def unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return directions (..., 3) and lengths (...,) of vectors; a zero vector gets the direction x."""
    length = np.linalg.norm(vectors, axis=-1)
    none = length < 1e-300
    directions = vectors / np.where(none, 1.0, length)[..., None]
    return np.where(none[..., None], np.eye(3)[0], directions), length


def turn_between(directions: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the shortest rotation vectors (..., 3) that rotate unit directions (..., 3) onto wanted ones (..., 3)."""
    normal, cosine = cross(directions, wanted), (directions * wanted).sum(axis=-1, keepdims=True)
    sine = np.linalg.norm(normal, axis=-1, keepdims=True)
    aside = cross(directions, np.eye(3)[np.abs(directions).argmin(axis=-1)])  # any normal is right for half a turn
    aside *= np.pi / np.linalg.norm(aside, axis=-1, keepdims=True)
    turn = normal * (np.arctan2(sine, cosine) / np.where(sine > 0.0, sine, 1.0))
    return np.where((sine < 1e-12) & (cosine < 0.0), aside, turn)


def pose_error(frames: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the offsets (..., 6) from frames (..., 4, 4) to targets in the world: metres, then rotation vectors."""
    from ..kernels.pose_error import pose_errors

    local = inverse(wanted) @ frames
    out = np.empty((*local.shape[:-2], 6))
    pose_errors(np.ascontiguousarray(local.reshape(-1, 4, 4)), np.eye(4), out.reshape(-1, 6))
    turned: FloatArray = out.reshape(*out.shape[:-1], 2, 3) @ np.swapaxes(wanted[..., :3, :3], -1, -2)
    return turned.reshape(out.shape)


def without(motion: FloatArray, axis: FloatArray) -> FloatArray:
    """Return angular velocities (..., 3, nv) without their component along unit axes (..., 3)."""
    result: FloatArray = motion - axis[..., None] * (axis[..., None, :] @ motion)
    return result
