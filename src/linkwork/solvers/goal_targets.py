"""Write targets of many problems, given as arrays, into numbers for the whole-body kernels, without goal objects.

There is one class for each kind of target: places, points, poses. Goals of other kinds have no target and are the same
in all problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, listed
from ..goals import Align, Balance, Bend, Distance, Goal, Hold, LookAt, OnLine, OnPlane, Reach, Relate, Rest
from ..kernels.layout import Record
from ..kernels.rigid import FARTHEST
from ..linkage.linkage import Linkage
from ..linkage.poses import start_pose
from ..transforms import LONGEST, SHORTEST, FloatArray, inverse
from .chain_targets import as_targets, read_targets, rigid
from .goal_arrays import PackedGoal, pack_goal, write_poses

Flags = NDArray[np.bool_]
POINTS: dict[type[Goal], str] = {  # the field of a goal that is a point, or a direction, in the world
    LookAt: "at",
    Align: "direction",
    Bend: "towards",
    OnPlane: "point",
    OnLine: "point",
    Distance: "to",
}
WITH_TARGETS = ("Reach", "Hold", "Relate", "Rest", *(kind.__name__ for kind in POINTS))


class Targets(Protocol):
    """The targets of one goal in many problems."""

    def valid(self, rows: slice) -> Flags:
        """Return which of some problems have a valid target."""

    def write(self, packed: PackedGoal, record: Record, items: FloatArray, rows: slice, starts: FloatArray) -> None:
        """Write targets of problems (m,) into records (m, sets) of a goal; all of them are valid."""

    def goal(self, row: int, start: FloatArray) -> Goal:
        """Return the goal of one problem."""


class Places:
    """Poses, positions or rotations of a frame, in the world (`Reach`, `Hold`) or in another frame (`Relate`)."""

    def __init__(self, given: Reach | Relate, values: FloatArray) -> None:
        self.given, self.values = given, values
        self.asked = given if isinstance(given, Reach) else _asked(given)
        read_targets(self.asked, values[:0])  # refuses a wrong shape before any work
        self.positions = self.asked.coordinates > 0
        self.turned = len(self.asked.rows) > self.asked.coordinates

    def valid(self, rows: slice) -> Flags:
        return rigid(read_targets(self.asked, self.values[rows]))

    def places(self, rows: slice, starts: FloatArray) -> FloatArray:  # noqa: ARG002  # as `HeldPlaces` needs them
        """Return targets (m, 4, 4)."""
        return read_targets(self.asked, self.values[rows])

    def write(self, packed: PackedGoal, record: Record, items: FloatArray, rows: slice, starts: FloatArray) -> None:  # noqa: ARG002
        places = self.places(rows, starts)[:, None, :3]
        own = record.target.reshape(*record.target.shape[:-1], 3, 4)
        if self.positions:
            own[..., 3] = places[..., 3]
        if self.turned:
            own[..., :3] = places[..., :3]

    def goal(self, row: int, start: FloatArray) -> Goal:
        matrix = np.eye(4)
        place = self.places(slice(row, row + 1), start[None])[0]
        if self.positions:
            matrix[:3, 3] = place[:3, 3]
        if self.turned:
            matrix[:3, :3] = place[:3, :3]
        return self.given.moved(matrix) if isinstance(self.given, Reach) else self.given._with(target=matrix)


class HeldPlaces(Places):
    """Targets of `Hold` and `Relate` taken from the start of each problem."""

    def __init__(self, linkage: Linkage, given: Reach | Relate) -> None:
        super().__init__(given, np.empty((0, 4, 4)))
        self.linkage = linkage

    def valid(self, rows: slice) -> Flags:
        return np.ones(rows.stop - rows.start, np.bool_)

    def places(self, rows: slice, starts: FloatArray) -> FloatArray:  # noqa: ARG002  # starts are those of the rows
        there = self.linkage.forward(starts, frame=self.given.frame)
        if isinstance(self.given, Relate):
            there = inverse(self.linkage.forward(starts, frame=self.given.to)) @ there
        return there


class Points:
    """Points in the world, or directions (`Align`) of any nonzero length."""

    def __init__(self, given: Goal, values: FloatArray) -> None:
        self.given, self.values, self.field = given, values, POINTS[type(given)]
        self.directions = isinstance(given, Align)
        what = "directions" if self.directions else "points"
        if isinstance(getattr(given, self.field), str):
            raise GoalError(f"{given!r} has the frame {getattr(given, self.field)!r} as target, so it takes no {what}.")
        if values.shape[1:] not in ((3,), (3 if self.directions else 2,)):  # (x, y) is in the plane z = 0
            raise GoalError(f"targets of {type(given).__name__} are {what} (n, 3); got shape {values.shape}.")

    def points(self, rows: slice) -> FloatArray:
        """Return points (m, 3), with z = 0 for points (x, y)."""
        points = np.asarray(self.values[rows], np.float64)
        points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
        if self.directions:
            points = points / np.linalg.norm(points, axis=1, keepdims=True)
        return points

    def valid(self, rows: slice) -> Flags:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            points = self.points(rows)
            return np.asarray(np.isfinite(points).all(axis=1) & (np.abs(self.values[rows]) < FARTHEST).all(axis=1))

    def write(self, packed: PackedGoal, record: Record, items: FloatArray, rows: slice, starts: FloatArray) -> None:  # noqa: ARG002
        record.point = self.points(rows)[:, None]

    def goal(self, row: int, start: FloatArray) -> Goal:  # noqa: ARG002
        return self.given._with(**{self.field: self.points(slice(row, row + 1))[0]})


class Poses:
    """Preferred poses of joints (`Rest`)."""

    def __init__(self, linkage: Linkage, given: Rest, values: FloatArray) -> None:
        self.linkage, self.given, self.values = linkage, given, values
        if values.shape[1:] != (linkage.nq,):
            raise GoalError(f"targets of Rest are poses (n, {linkage.nq}); got shape {values.shape}.")

    def valid(self, rows: slice) -> Flags:
        values = np.asarray(self.values[rows], np.float64)
        good = np.isfinite(values).all(axis=1)
        for k, _ in self.linkage.table.quaternions:
            size = np.abs(values[:, k : k + 4]).max(axis=1)
            good &= (size >= SHORTEST) & (size <= LONGEST)
        return np.asarray(good)

    def write(self, packed: PackedGoal, record: Record, items: FloatArray, rows: slice, starts: FloatArray) -> None:  # noqa: ARG002
        poses = start_pose(self.linkage, self.values[rows])
        for one in range(items.shape[1]):
            write_poses(packed, poses, items[:, one])

    def goal(self, row: int, start: FloatArray) -> Goal:
        return replace(self.given, pose=self.values[row]).resolve(self.linkage, start)


class FromStarts:
    """A goal that takes more than a frame's place from each start: a `Balance` over the current supports."""

    def __init__(self, linkage: Linkage, given: Goal) -> None:
        self.linkage, self.given = linkage, given

    def valid(self, rows: slice) -> Flags:
        return np.ones(rows.stop - rows.start, np.bool_)

    def write(self, packed: PackedGoal, record: Record, items: FloatArray, rows: slice, starts: FloatArray) -> None:  # noqa: ARG002
        for k in range(len(starts)):
            own = pack_goal(self.linkage, self.given.resolve(self.linkage, starts[k]))
            for name, value in own.values.items():
                setattr(record[k], name, value)
            items[k] = own.item_numbers

    def goal(self, row: int, start: FloatArray) -> Goal:  # noqa: ARG002
        return self.given.resolve(self.linkage, start)


def waits_for_start(goal: Goal) -> bool:
    """Return whether a goal takes its target from the start of a solve."""
    if isinstance(goal, Balance):
        return goal.over is None or (bool(goal.margin) and goal.shares is None)
    return (isinstance(goal, Hold) and goal.pose is None) or (isinstance(goal, Relate) and goal.target is None)


def held_targets(linkage: Linkage, goal: Goal) -> Targets:
    """Return the targets of a goal that takes them from the start, for problems with a start each."""
    if isinstance(goal, Hold | Relate):
        resolved: Any = goal.resolve(linkage, linkage.neutral())
        return HeldPlaces(linkage, resolved)
    return FromStarts(linkage, goal)


def given_targets(linkage: Linkage, goal: Goal, values: NDArray[Any]) -> Targets:
    """Return the targets of a goal from an array with one row per problem.

    Raises:
        GoalError: If the goal has no target, or the array has another shape.
    """
    if isinstance(goal, Reach | Hold | Relate):
        resolved: Any = goal.resolve(linkage, linkage.neutral())
        return Places(resolved, values)
    if type(goal) in POINTS:
        return Points(goal, values)
    if isinstance(goal, Rest):
        return Poses(linkage, goal, values)
    raise GoalError(f"{type(goal).__name__} takes no array of targets; {listed(WITH_TARGETS)} do.")


def goal_by_shape(frame: str, values: ArrayLike) -> Reach:
    """Return the goal for an array of targets, by its shape: poses, rotations or positions of a frame."""
    shape = np.shape(values)[1:]
    if shape == (4, 4):
        return Reach(frame, pose=np.eye(4))
    if shape == (3, 3):
        return Reach(frame, orientation=np.eye(3))
    if shape in ((3,), (2,)):
        return Reach(frame, position=np.zeros(shape))
    raise GoalError(
        f"targets of {frame!r} are poses (n, 4, 4), rotations (n, 3, 3) or positions (n, 3) or (n, 2); "
        f"got shape {np.shape(values)}."
    )


def named_goal(goals: Sequence[Goal], key: Any) -> int:
    """Return the index of the goal that an array is for; the key is that goal itself, or its frame."""
    found = [k for k, goal in enumerate(goals) if goal is key]
    if isinstance(key, str):
        found = [k for k, goal in enumerate(goals) if getattr(goal, "frame", None) == key]
    if len(found) == 1:
        return found[0]
    frames = list(dict.fromkeys(goal.frame for goal in goals if hasattr(goal, "frame")))
    if found:
        raise GoalError(f"{len(found)} goals are for frame {key!r}; give the goal itself instead of its frame.")
    raise GoalError(f"none of the goals is {key!r}, or for a frame of that name; there are goals for {listed(frames)}.")


def _asked(goal: Relate) -> Reach:
    """Return a `Reach` for the same parts of a frame's pose."""
    rows = set(goal.rows.tolist())
    position, orientation = (np.zeros(3) if 0 in rows else None), (np.eye(3) if 3 in rows else None)
    return Reach(goal.frame, position=position, orientation=orientation)


def target_arrays(goals: Sequence[Goal], targets: Mapping[Any, ArrayLike]) -> tuple[dict[int, NDArray[Any]], int]:
    """Return arrays by the index of their goal, and their number of rows.

    Raises:
        GoalError: If an array is for no goal, does not hold numbers, or has fewer or more rows than another.
    """
    arrays: dict[int, NDArray[Any]] = {}
    for key, values in targets.items():
        which = named_goal(goals, key)
        if which in arrays:
            raise GoalError(f"{goals[which]!r} has targets twice; leave one of them out.")
        arrays[which] = as_targets(values, str(key))
    counts = {len(values) for values in arrays.values()}
    if len(counts) != 1:
        shapes = ", ".join(f"{goals[k]!r}: {values.shape}" for k, values in arrays.items())
        raise GoalError(f"arrays of targets must be of one length, with one target per problem; got {shapes}.")
    return arrays, counts.pop()
