"""Cyclic coordinate descent: one joint at a time, each put where it brings the effector nearest the goal.

Imports `base`. A joint's whole effect on the effector follows from its column of the Jacobian: turned by an angle t
about its unit axis a, the effector moves by ``sin t (a x r) + (1 - cos t) a x (a x r)``, and ``a x r`` is the column's
linear half. So one Jacobian serves a sweep: going inward, a joint never moves the axes of those still to come.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..transforms import FloatArray
from .base import Method, Settings
from .problem import Problem, State, velocity_names

ROUND = 1e-9
TURN = 2.0 * math.pi


class Effector:
    """A goal's frame during a sweep: where it is now, its Jacobian there, and how much rotation counts."""

    def __init__(self, goal: Reach, state: State) -> None:
        linkage = state.linkage
        self.world = linkage.forward(state.q, frame=goal.frame)
        self.jacobian = linkage.jacobian(state.q, goal.frame)
        self.position, self.orientation, self.weight = goal.position, goal.orientation, goal.weight
        self.radius = linkage.length / 4.0 or 1.0

    def error(self) -> FloatArray:
        """Return the way to the goal's position; an axis that is not asked for has none to go."""
        result = np.zeros_like(self.world[..., :3, 3])
        if self.position is not None:
            count = len(self.position)
            result[..., :count] = self.position - self.world[..., :count, 3]
        return result

    def turn_terms(self, column: int) -> tuple[FloatArray, FloatArray]:
        """Return A and B of the merit ``A cos t + B sin t`` of turning one joint by t."""
        linear, axis = self.jacobian[..., :3, column], self.jacobian[..., 3:, column]
        cosine, sine = np.zeros(linear.shape[:-1]), np.zeros(linear.shape[:-1])
        if self.position is not None:
            kept = np.zeros(3)
            kept[: len(self.position)] = 1.0
            error = self.error()
            outward = -np.cross(axis, linear)  # from the axis to the effector
            cosine = ((error + outward) * outward * kept).sum(axis=-1)
            sine = ((error + outward) * linear * kept).sum(axis=-1)
        if self.orientation is not None:
            N = self.world[..., :3, :3] @ self.orientation.T
            along = (axis * (N @ axis[..., None])[..., 0]).sum(axis=-1)
            twist = np.stack(
                [N[..., 1, 2] - N[..., 2, 1], N[..., 2, 0] - N[..., 0, 2], N[..., 0, 1] - N[..., 1, 0]], axis=-1
            )
            cosine = cosine + self.radius**2 * (np.trace(N, axis1=-2, axis2=-1) - along)
            sine = sine + self.radius**2 * (axis * twist).sum(axis=-1)
        return self.weight * cosine, self.weight * sine

    def slide_terms(self, column: int) -> tuple[FloatArray, FloatArray]:
        """Return how far along, and how strongly, one slider would bring the effector to the goal."""
        linear = self.jacobian[..., :3, column]
        return self.weight * (linear * self.error()).sum(axis=-1), self.weight * (linear * linear).sum(axis=-1)

    def turn(self, column: int, angle: FloatArray) -> None:
        """Turn the effector about one joint's axis."""
        linear, axis = self.jacobian[..., :3, column], self.jacobian[..., 3:, column]
        moved = np.sin(angle)[..., None] * linear + (1.0 - np.cos(angle))[..., None] * np.cross(axis, linear)
        self.world = self.world.copy()
        self.world[..., :3, 3] += moved
        self.world[..., :3, :3] = turn_matrix(axis, angle) @ self.world[..., :3, :3]
        self._carry(moved)

    def slide(self, column: int, amount: FloatArray) -> None:
        """Move the effector along one joint's axis."""
        moved = amount[..., None] * self.jacobian[..., :3, column]
        self.world = self.world.copy()
        self.world[..., :3, 3] += moved
        self._carry(moved)

    def _carry(self, moved: FloatArray) -> None:
        """Bring the linear halves of all columns to the effector's new place."""
        self.jacobian = self.jacobian.copy()
        self.jacobian[..., :3, :] += np.cross(self.jacobian[..., 3:, :], moved[..., None], axis=-2)


def turn_matrix(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Return rotation matrices for axes (..., 3) that differ from problem to problem."""
    x, y, z = np.moveaxis(axis, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    cross = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    result: FloatArray = (
        np.eye(3) + np.sin(angle)[..., None, None] * cross + (1.0 - np.cos(angle))[..., None, None] * (cross @ cross)
    )
    return result


def column_kinds(problem: Problem) -> tuple[list[str], NDArray[np.int64]]:
    """Return for every velocity ``"turn"`` or ``"slide"`` (or what it is), and the pose index of its value or -1."""
    linkage = problem.linkage
    kinds = ["turn"] * linkage.nv
    index = np.full(linkage.nv, -1)
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        for element in arc.articulation.elements:
            v = drive.v + element.rate
            if arc.mimic is not None:
                kinds[v] = "mimic"
            elif element.kind == "screw":
                kinds[v] = "screw"
            elif element.kind == "ball":
                continue
            else:
                kinds[v] = kinds[v] if kinds[v] == "mimic" else "slide" if element.kind == "prismatic" else "turn"
                index[v] = drive.q + element.value
    return kinds, index


@dataclass(frozen=True, eq=False)
class Sweep:
    """The effectors, and what each joint could do for them: shared by the two orders of going through the joints."""

    effectors: list[Effector]
    kinds: list[str]
    low: FloatArray
    high: FloatArray

    @classmethod
    def begin(cls, state: State, settings: Settings) -> Sweep:
        """Return a sweep at the state's pose, with the range left to every joint."""
        kinds, index = column_kinds(state.problem)
        linkage = state.linkage
        low, high = np.full((2, *state.q.shape[:-1], linkage.nv), np.inf)
        low = -low
        own = index >= 0
        if settings.limits != "ignore":
            low[..., own] = linkage.lower[index[own]] - state.q[..., index[own]]
            high[..., own] = linkage.upper[index[own]] - state.q[..., index[own]]
        return cls([Effector(goal, state) for goal in state.problem.goals if isinstance(goal, Reach)], kinds, low, high)

    def acting(self, column: int) -> list[Effector]:
        """Return the effectors that a joint moves."""
        return [e for e in self.effectors if np.abs(e.jacobian[..., column]).max(initial=0.0) > ROUND]

    def best(self, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the best change of one joint within its range, and how much it improves things."""
        low, high = self.low[..., column], self.high[..., column]
        acting = self.acting(column)
        if not acting:
            return np.zeros(low.shape), np.zeros(low.shape)
        if self.kinds[column] == "slide":
            terms = [e.slide_terms(column) for e in acting]
            want, stiff = sum(t[0] for t in terms), sum(t[1] for t in terms)
            change = np.clip(want / np.where(stiff > 0.0, stiff, 1.0), low, high)
            return change, np.asarray(want * change - stiff * change**2 / 2.0)
        terms = [e.turn_terms(column) for e in acting]
        cosine, sine = sum(t[0] for t in terms), sum(t[1] for t in terms)
        change = best_turn(np.asarray(cosine), np.asarray(sine), low, high)
        return change, np.asarray(cosine * (np.cos(change) - 1.0) + sine * np.sin(change))

    def take(self, column: int, change: FloatArray) -> None:
        """Let one joint's change move the effectors."""
        for effector in self.acting(column):
            if self.kinds[column] == "turn":
                effector.turn(column, change)
            else:
                effector.slide(column, change)


def best_turn(cosine: FloatArray, sine: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the angle within [low, high] at which ``cosine cos t + sine sin t`` is largest."""
    free = np.where(np.hypot(cosine, sine) > ROUND**2, np.arctan2(sine, cosine), 0.0)
    finite_low, finite_high = (np.where(np.isfinite(bound), bound, 0.0) for bound in (low, high))
    at_low = cosine * np.cos(finite_low) + sine * np.sin(finite_low)
    at_high = cosine * np.cos(finite_high) + sine * np.sin(finite_high)
    result = np.where(at_low > at_high, low, high)
    for turn in (-TURN, TURN, 0.0):  # the direct way last, so that it wins
        angle = free + turn
        result = np.where((low <= angle) & (angle <= high), angle, result)
    return result


def as_velocity(state: State, changes: FloatArray) -> FloatArray:
    """Return the changes of all joints as a velocity.

    The three turns of a ball, made one after another in the world, become one rotation vector along its own axes.
    """
    result = changes.copy()
    linkage = state.linkage
    for _, v in linkage.quaternion_values:
        arc = next(i for i, d in enumerate(linkage.drives) if d.v <= v < d.v + linkage.arcs[i].articulation.nv)
        axes = linkage.forward(state.q, frame=linkage.links[arc])[..., :3, :3]
        turned = np.broadcast_to(np.eye(3), axes.shape)
        for k in (2, 1, 0):
            turned = turn_matrix(axes[..., k], changes[..., v + k]) @ turned
        local = np.swapaxes(axes, -1, -2) @ turned @ axes
        vector = Rotation.from_matrix(local.reshape(-1, 3, 3)).as_rotvec()
        result[..., v : v + 3] = vector.reshape(*changes.shape[:-1], 3)
    return result


class _Descent(Method):
    """What both orders refuse."""

    patience: ClassVar[int] = 60
    iterations: ClassVar[int] = 1000

    @property
    def careful(self) -> bool:
        return False

    def check(self, problem: Problem) -> None:
        if not all(isinstance(goal, Reach) for goal in problem.goals):
            raise GoalError(f"method {self.name!r} serves Reach goals only.")
        kinds, _ = column_kinds(problem)
        for name, kind in zip(velocity_names(problem.linkage), kinds, strict=True):
            if kind not in ("turn", "slide"):
                raise GoalError(
                    f"method {self.name!r} turns and slides joints one by one; {name!r} is a {kind} joint, which does "
                    "neither alone: use 'damped'."
                )


@dataclass(frozen=True)
class CyclicDescent(_Descent):
    """Cyclic coordinate descent: every joint once, from the outermost inward, each put at its best."""

    name: ClassVar[str] = "ccd"

    def propose(self, state: State, settings: Settings) -> FloatArray:
        sweep = Sweep.begin(state, settings)
        changes = np.zeros((*state.q.shape[:-1], state.linkage.nv))
        for column in reversed(range(state.linkage.nv)):
            changes[..., column], _ = sweep.best(column)
            sweep.take(column, changes[..., column])
        return as_velocity(state, changes)


@dataclass(frozen=True, eq=False)
class Candidates:
    """What a ranking may go by, one entry for each velocity, shape (..., nv).

    Attributes:
        gain: How much nearer the goal the joint's best change would bring the effector.
        change: That change.
        age: How many steps ago the joint was last changed.
        room: Distance to the nearer limit after the change, as a share of the range; one where there is no limit.
    """

    gain: FloatArray
    change: FloatArray
    age: FloatArray
    room: FloatArray


RANKINGS: dict[str, Callable[[Candidates], FloatArray]] = {
    "usefulness": lambda joints: joints.gain,
    "recency": lambda joints: joints.age * (joints.gain > joints.gain.max(axis=-1, keepdims=True) * 1e-3),
    "limits": lambda joints: joints.gain * (0.05 + joints.room),
}


@dataclass(frozen=True)
class RankedDescent(_Descent):
    """The chapter's variation: rank the joints, change the first, and rank them anew.

    Args:
        ranking: ``"usefulness"`` (the joint that gets nearest), ``"recency"`` (of the useful ones the one changed
            longest ago), ``"limits"`` (useful, and well within its limits), or a function of `Candidates` that returns
            scores.
    """

    ranking: str | Callable[[Candidates], FloatArray] = "usefulness"
    name: ClassVar[str] = "ranked-ccd"
    iterations: ClassVar[int] = 3000

    def __post_init__(self) -> None:
        if not callable(self.ranking) and self.ranking not in RANKINGS:
            raise OptionError(f"ranking is one of {', '.join(RANKINGS)} or a function, got {self.ranking!r}.")

    def propose(self, state: State, settings: Settings) -> FloatArray:
        sweep = Sweep.begin(state, settings)
        pairs = [sweep.best(column) for column in range(state.linkage.nv)]
        change = np.stack([pair[0] for pair in pairs], axis=-1)
        gain = np.stack([pair[1] for pair in pairs], axis=-1)
        last = state.memory.setdefault("last", np.full(change.shape, -1))
        spread = sweep.high - sweep.low
        bounded = np.isfinite(spread) & (spread > 0.0)
        left = np.minimum(sweep.high - change, change - sweep.low)
        room = np.where(bounded, left, 1.0) / np.where(bounded, spread, 1.0)
        rank = self.ranking if callable(self.ranking) else RANKINGS[self.ranking]
        chosen = np.argmax(rank(Candidates(gain, change, state.iteration - last, room)), axis=-1)[..., None]
        state.memory["last"] = np.where(np.arange(state.linkage.nv) == chosen, state.iteration, last)
        state.notes["joint"] = chosen[..., 0]
        return as_velocity(state, np.where(np.arange(state.linkage.nv) == chosen, change, 0.0))
