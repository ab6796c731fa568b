"""Cyclic coordinate descent: one joint at a time is set to bring the effector nearest to the goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import Reach
from ..goals.base import metres_per_radian
from ..kernels.ccd import BY_LIMITS, BY_RECENCY, BY_USEFULNESS, EDGE, RECENT, SLIDE, TURN, Goals, sweep_inward
from ..kernels.textbook_steps import CCD, RANKED_CCD
from ..transforms import FloatArray
from .method import Method
from .options import Settings
from .plans import Plan
from .problem import Problem, State


class Sweep:
    """Data for the kernel at a pose: effectors, goals and the remaining range of every joint, one row per problem."""

    def __init__(self, state: State, settings: Settings) -> None:
        linkage = state.linkage
        goals = [goal for goal in state.problem.goals if isinstance(goal, Reach)]
        q = state.q.reshape(-1, linkage.nq)
        world = np.stack([linkage.forward(q, frame=goal.frame) for goal in goals], axis=1)
        jacobian = np.stack([linkage.jacobian(q, goal.frame) for goal in goals], axis=1)
        wanted = Goals(
            count=len(goals),
            target=np.stack([goal.target for goal in goals]),
            coordinates=np.array([goal.coordinates for goal in goals]),
            oriented=np.array([int(goal.orientation is not None) for goal in goals]),
            weight=np.array([float(goal.weight) for goal in goals]),
            radius=metres_per_radian(linkage),
        )
        kinds, index = column_kinds(state.problem)
        low, high = np.full((len(q), linkage.nv), -np.inf), np.full((len(q), linkage.nv), np.inf)
        own = index >= 0
        if settings.limits != "ignore":
            low[:, own] = linkage.lower[index[own]] - q[:, index[own]]
            high[:, own] = linkage.upper[index[own]] - q[:, index[own]]
        if group := state.problem.group:
            low[:, ~group.free], high[:, ~group.free] = 0.0, 0.0
        codes = np.array([SLIDE if kind == "slide" else TURN for kind in kinds])
        self.low, self.high, self.shape = low, high, (*state.q.shape[:-1], linkage.nv)
        self.arguments = (wanted, world, jacobian, codes, low, high)

    def changes(self, *, together: bool) -> tuple[FloatArray, FloatArray]:
        """Return the best change of every joint, from the outermost inward, and its gain.

        Each joint is considered alone or, with `together`, after the joints further out have moved.
        """
        change, gain = np.empty(self.low.shape), np.empty(self.low.shape)
        sweep_inward(*self.arguments, together, change, gain)
        return change.reshape(self.shape), gain.reshape(self.shape)


def column_kinds(problem: Problem) -> tuple[list[str], NDArray[np.int64]]:
    """Return for every velocity its kind, ``"turn"``, ``"slide"`` or another, and the pose index of its value or -1."""
    table = problem.linkage.table
    kinds = ["turn"] * problem.linkage.nv
    for row in table:
        if row.v is not None:
            kind = {"prismatic": "slide", "revolute": "turn"}.get(row.kind, row.kind)
            kinds[row.v] = "mimicked" if row.mimicked else kind
    return kinds, table.pose_index


def as_velocity(state: State, changes: FloatArray) -> FloatArray:
    """Return the changes of all joints as a velocity.

    The three rotations of a ball, made in sequence about world axes, become one rotation vector along its own axes.
    """
    if not state.linkage.table.quaternions:
        return changes
    from scipy.spatial.transform import Rotation

    result = changes.copy()
    for _, v in state.linkage.table.quaternions:
        own = changes[..., v : v + 3]  # about the ball's axes before the step: z first, then y, then x
        result[..., v : v + 3] = Rotation.from_euler("XYZ", own.reshape(-1, 3)).as_rotvec().reshape(own.shape)
    return result


class _Descent(Method):
    """Checks shared by both orders."""

    patience: ClassVar[int] = 60
    iterations: ClassVar[int] = 1000

    @property
    def careful(self) -> bool:
        return False

    def check(self, problem: Problem) -> None:
        for goal in problem.goals:
            if not isinstance(goal, Reach) or goal.partial:
                what = f"one with {goal.partial}" if isinstance(goal, Reach) else type(goal).__name__
                raise GoalError(f"method {self.name!r} supports Reach goals only, not {what}; use 'damped'.")
        kinds, _ = column_kinds(problem)
        free = [True] * len(kinds) if problem.group is None else problem.group.free.tolist()
        for name, kind, moves in zip(problem.linkage.table.velocity_joints, kinds, free, strict=True):
            if moves and kind not in ("turn", "slide"):
                raise GoalError(
                    f"method {self.name!r} turns and slides joints one by one; {name!r} is a {kind} joint, which does "
                    "neither alone: use 'damped'."
                )


@dataclass(frozen=True)
class CyclicDescent(_Descent):
    """Cyclic coordinate descent: every joint once, from the outermost inward, each moved to its best value."""

    name: ClassVar[str] = "ccd"

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        return Plan(CCD)

    def propose(self, state: State, settings: Settings) -> FloatArray:
        return as_velocity(state, Sweep(state, settings).changes(together=True)[0])


@dataclass(frozen=True, eq=False)
class Candidates:
    """Data for a ranking, one entry for each velocity, shape (..., nv).

    Attributes:
        gain: How much closer to the goal the joint's best change would bring the effector.
        change: That change.
        age: Number of steps since the joint was last changed.
        room: Distance to the nearer limit after the change, as a share of the range; one where there is no limit.
    """

    gain: FloatArray
    change: FloatArray
    age: FloatArray
    room: FloatArray


RANKINGS: dict[str, Callable[[Candidates], Any]] = {
    "usefulness": lambda joints: joints.gain,
    "recency": lambda joints: joints.age * (joints.gain > joints.gain.max(axis=-1, keepdims=True) * RECENT),
    "limits": lambda joints: joints.gain * (EDGE + joints.room),
}

CODES = {"usefulness": BY_USEFULNESS, "recency": BY_RECENCY, "limits": BY_LIMITS}  # codes for the compiled loop


@dataclass(frozen=True)
class RankedDescent(_Descent):
    """The chapter's variation: rank the joints, change the first one, and rank them again.

    Args:
        ranking: ``"usefulness"`` (the joint that gets nearest to the goal), ``"recency"`` (the useful joint that was
            changed longest ago), ``"limits"`` (a useful joint well within its limits), or a function of `Candidates`
            that returns scores, shape (..., nv).
    """

    ranking: str | Callable[[Candidates], Any] = "usefulness"
    name: ClassVar[str] = "ranked-ccd"
    iterations: ClassVar[int] = 3000

    def __post_init__(self) -> None:
        if not callable(self.ranking) and self.ranking not in RANKINGS:
            raise OptionError(f"ranking is one of {', '.join(RANKINGS)} or a function, got {self.ranking!r}.")

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        if callable(self.ranking):
            return None
        return Plan(RANKED_CCD, choice=CODES[self.ranking], notes=lambda joint: {"joint": np.array(int(joint))})

    def propose(self, state: State, settings: Settings) -> FloatArray:
        sweep = Sweep(state, settings)
        change, gain = sweep.changes(together=False)
        last = state.memory.setdefault("last", np.full(change.shape, -1))
        low, high = sweep.low.reshape(change.shape), sweep.high.reshape(change.shape)
        bounded = np.isfinite(high - low) & (high > low)
        left = np.minimum(high - change, change - low)
        room = np.where(bounded, left, 1.0) / np.where(bounded, high - low, 1.0)
        rank = self.ranking if callable(self.ranking) else RANKINGS[self.ranking]
        chosen = np.argmax(rank(Candidates(gain, change, state.iteration - last, room)), axis=-1)[..., None]
        first = np.arange(state.linkage.nv) == chosen
        state.memory["last"] = np.where(first, state.iteration, last)
        state.notes["joint"] = chosen[..., 0]
        return as_velocity(state, np.where(first, change, 0.0))
