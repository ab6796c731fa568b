"""Directions in which no joint can move a goal's frame at a pose, and the joint to bend first.

Near a singular pose every step is perpendicular to the direction of the goal. The solve is stuck because of its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..goals import Goal, Reach
from ..linkage.poses import clamped
from ..solvers import Problem
from ..transforms import FloatArray
from .conflicts import called, joined

SINGULAR = 1e-3  # share of the largest singular value below which a direction is lost
NEARLY = 0.03
BLAMED = 0.9  # share of the way to the goals that must be lost for the pose to be the cause
MENTIONED = 0.3  # share of the largest part of a direction below which a part is not mentioned
BEND, SLIDE = 0.3, 0.1  # change of a joint to leave a singular pose: radians, and shares of the linkage's length


@dataclass(frozen=True, eq=False)
class LostDirection:
    """A direction in which no joint can move the goals' frames at a pose.

    Attributes:
        singular_values: Singular values of the goals' Jacobian, largest first.
        direction: The lost part of the way to the goals, a unit vector over the rows that can change.
        share: The share of the way to the goals that is lost, 0 to 1.
        words: What no joint does: ``"moves 'tip' along x"``.
    """

    singular_values: FloatArray
    direction: FloatArray
    share: float
    words: str

    @property
    def sentence(self) -> str:
        """The lost direction in words, with the singular values."""
        values = ", ".join(f"{value:.3g}" for value in self.singular_values.tolist())
        return f"no joint {self.words}, the direction of the goal (singular values {values})"


def lost_direction(problem: Problem, q: FloatArray, *, ratio: float = SINGULAR) -> LostDirection | None:
    """Return the lost direction of the way to the goals at a pose (nq,); None if nothing essential is lost.

    Args:
        problem: The linkage and its goals.
        q: The pose.
        ratio: Share of the largest singular value below which a direction counts as lost.
    """
    jacobian = _of_free_joints(problem, q)
    rows, velocities = jacobian.shape
    if not 0 < rows <= velocities:  # more rows than joints are over-constrained at every pose
        return None
    left, values, _ = np.linalg.svd(jacobian, full_matrices=False)
    if not values[0] > 0.0 or values[-1] >= ratio * values[0]:
        return None
    wanted = problem.weighted_error(problem.error(q))
    lost = left[:, values < ratio * values[0]]
    along = lost.T @ wanted
    share = float(np.linalg.norm(along)) / max(float(np.linalg.norm(wanted)), 1e-300)
    if share < BLAMED:
        return None
    direction = lost @ (along / np.linalg.norm(along))
    return LostDirection(values, direction, share, _in_words(problem, direction))


def is_singular_for(problem: Problem, q: FloatArray) -> bool:
    """Return whether the goals' frames have lost any direction at a pose (nq,), whatever the targets."""
    jacobian = _of_free_joints(problem, q)
    values = np.linalg.svd(jacobian, compute_uv=False)
    return 0 < jacobian.shape[0] <= jacobian.shape[1] and bool(values[-1] < SINGULAR * values[0])


def _of_free_joints(problem: Problem, q: FloatArray) -> FloatArray:
    """Return the goals' Jacobian at a pose (nq,), one column for each velocity that may change."""
    jacobian = problem.jacobian(q)
    return jacobian if problem.group is None else jacobian[:, problem.group.free]


class BentStart(NamedTuple):
    """A start with one joint moved out of a singular pose: joint, value, pose and smallest singular value."""

    joint: str
    value: float
    q: FloatArray
    smallest: float


def bent_starts(problem: Problem, q: FloatArray, *, keep_limits: bool) -> list[BentStart]:
    """Return starts near a singular pose, each with one joint bent, least singular first."""
    linkage, found = problem.linkage, []
    for row in linkage.table:
        if row.v is None or not (problem.group is None or problem.group.free[row.v]):
            continue
        step = BEND if row.unit == "rad" else SLIDE * linkage.length
        for amount in (step, -step):
            pose = q.copy()
            pose[row.q] += amount
            pose = clamped(linkage, pose) if keep_limits else pose
            values = np.linalg.svd(_of_free_joints(problem, pose), compute_uv=False)
            found.append(BentStart(row.name, float(pose[row.q]), pose, round(float(values[-1]), 12)))
    return sorted(found, key=lambda one: -one.smallest)


def _in_words(problem: Problem, direction: FloatArray) -> str:
    """Return a direction of the stacked rows as text: ``"moves 'tip' along x or turns it about (0, 0.6, 0.8)"``."""
    whole = np.zeros(len(problem.scale))
    whole[problem.rows] = direction
    parts = [whole[block.rows] for block in problem.blocks]
    sizes = [float(np.linalg.norm(part)) for part in parts]
    owners = [(goal, block.unit) for goal in problem.goals for block in goal.blocks]
    told = [
        _of_block(*owner, part)
        for owner, part, size in zip(owners, parts, sizes, strict=True)
        if size > MENTIONED * max(sizes)
    ]
    return joined(told, "or")


def _of_block(goal: Goal, unit: str, part: FloatArray) -> str:
    if not isinstance(goal, Reach):
        return f"serves {called(goal)}"
    rows = goal.rows[: goal.coordinates] if unit == "m" else goal.rows[goal.coordinates :] - 3
    vector = np.zeros(3)
    vector[rows] = part
    how = f"moves {goal.frame!r} along" if unit == "m" else f"turns {goal.frame!r} about"
    return f"{how} {axis_in_words(vector)}"


def axis_in_words(vector: Sequence[float] | FloatArray) -> str:
    """Return a direction, regardless of its sign: ``"x"``, or ``"(0.6, 0.8, 0)"``."""
    unit = np.asarray(vector) / np.linalg.norm(vector)
    largest = int(np.argmax(np.abs(unit)))
    if abs(unit[largest]) > 0.9995:
        return "xyz"[largest]
    unit = np.round(unit * np.sign(unit[largest]), 2) + 0.0
    return f"({', '.join(f'{x:g}' for x in unit.tolist())})"
