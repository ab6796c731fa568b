"""The analytic method: closed forms for arms and limbs, with both elbow solutions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError, OptionError
from ..goals import Goal, Reach
from ..kernels.planar_arm import STEPS
from ..kernels.textbook_steps import ANALYTIC, EXACT, SAME_ROOT
from ..linkage.linkage import Linkage
from ..linkage.poses import as_poses, difference, distinct
from ..transforms import FloatArray, as_angle, as_vector, reraised_as
from .analytic_arms import Limb, PlanarArm, Wish, arm_of
from .closed_forms import ELBOWS, three_link_angles as three_link_angles, two_link_angles as two_link_angles
from .groups import Group, limits_kept, within_limits
from .iterate import run
from .method import Method
from .options import AnalyticOptions, Limits, Settings, one_of
from .plans import Plan
from .problem import Problem, State
from .solution import Solution

# Swivels or directions to try if the first choice violates a limit: on either side, the nearest first.
SHIFTS = [sign * 2.0 * math.pi * k / STEPS for k in range(STEPS // 2 + 1) for sign in ((1.0, -1.0) if k else (1.0,))]


@dataclass(frozen=True)
class Analytic(Method):
    """Closed forms: planar arms of two and three revolute joints, and two-bone limbs in space.

    A limb is a shoulder (three revolute joints through one point, or a ball) and a revolute elbow. Joints before the
    shoulder and beyond the elbow keep their values. If the goal has an orientation, the limb needs a wrist: three
    revolute joints through one point, or a ball. If the goal is out of reach, the result is the pose that points
    straight at it. Remaining freedom is chosen nearest to the start, or as limits require.

    Args:
        elbow: ``"down"`` (a value at or above that of the straight arm), ``"up"``, or ``"nearest"`` to the start.
        pole: The direction, as seen from the shoulder of a limb, in which the elbow should lie.
        swivel: Instead of `pole`, the angle of the elbow about the line from shoulder to wrist [rad], zero where it is
            lowest.
        direction: Direction of the last of three planar links, as an angle about the first joint's axis from x [rad];
            by default towards the goal, or with the smallest possible deviation.
    """

    elbow: str = "nearest"
    pole: Any = None
    swivel: Any = None
    direction: Any = None
    name: ClassVar[str] = "analytic"
    patience: ClassVar[int] = 2

    def __post_init__(self) -> None:
        one_of("elbow", self.elbow, (*ELBOWS, "nearest"))
        if self.pole is not None and self.swivel is not None:
            raise OptionError("pole and swivel both determine where the elbow is; give only one of them.")
        self._wish()

    @property
    def careful(self) -> bool:
        return False

    def _wish(self) -> Wish:
        with reraised_as(OptionError):
            pole = None if self.pole is None else as_vector(self.pole, "pole")
            angles = [None if a is None else as_angle(a) for a in (self.swivel, self.direction)]
        if (pole is not None and not pole.any()) or any(a is not None and not math.isfinite(a) for a in angles):
            raise OptionError("pole must not be zero, and swivel and direction must be finite.")
        return Wish(self.elbow, pole, *angles)

    def check(self, problem: Problem) -> None:
        if len(problem.goals) != 1:
            raise GoalError(f"method 'analytic' supports one goal, got {len(problem.goals)}; use 'damped' or 'robust'.")
        start = problem.start.reshape(-1, problem.linkage.nq)
        begin = start[0] if len(start) and problem.group is not None else problem.linkage.neutral()
        self.arm(problem.linkage, problem.goals[0], begin, problem.group)

    def arm(self, linkage: Linkage, goal: Goal, start: FloatArray, group: Group | None = None) -> PlanarArm | Limb:
        """Return the arm to solve; raise GoalError if there is none."""
        if not isinstance(goal, Reach):
            raise GoalError(f"method 'analytic' supports Reach goals only, got {type(goal).__name__}; use 'damped'.")
        if goal.partial:
            raise GoalError(
                f"method 'analytic' does not support a goal of {goal.frame!r} with {goal.partial}; use 'damped'."
            )
        if linkage.constrained:
            raise GoalError(f"method 'analytic' cannot close the loops of linkage {linkage.name!r}; use 'damped'.")
        arm = arm_of(linkage, goal, start, None if group is None else group.free)
        limb = isinstance(arm, Limb)
        if not limb and (self.pole is not None or self.swivel is not None):
            raise OptionError("pole and swivel are for a limb in space; this arm is planar.")
        if self.direction is not None and (limb or not arm.free):
            raise OptionError("direction is for a planar arm of three revolute joints without an orientation to reach.")
        return arm

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Return a solution; a start that reaches the goal still moves to the requested elbow, pole or swivel."""
        solution = run(self, problem, start, settings)
        asked = self.elbow != "nearest" or any(w is not None for w in (self.pole, self.swivel, self.direction))
        if not asked or np.all(solution.iterations):
            return solution
        starts, limited = start.reshape(-1, problem.linkage.nq), settings.keeps_limits
        moved = np.array([self.best(problem, pose, limited=limited) for pose in starts])
        there = np.asarray(solution.iterations) == 0
        again = run(self, problem, np.where(there[..., None], moved.reshape(start.shape), start), settings)
        count = again.iterations + there
        return replace(again, start=start, iterations=count if start.ndim > 1 else int(count))

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        linkage = problem.linkage
        if problem.group is not None or linkage.cones:
            return None
        arm = self.arm(linkage, problem.goals[0], linkage.neutral())
        if isinstance(arm, Limb):
            return None
        places, figures = arm.numbers(self._wish())
        return Plan(ANALYTIC, places=places, figures=figures, work=2 * linkage.nq)

    def propose(self, state: State, settings: Settings) -> FloatArray:
        linkage = state.linkage
        starts, limited = state.q.reshape(-1, linkage.nq), settings.keeps_limits
        ends = np.array([self.best(state.problem, start, limited=limited) for start in starts])
        change = difference(linkage, starts, ends.reshape(starts.shape), wrap=False)
        if settings.max_step is not None:
            largest = np.abs(change).max(axis=-1, keepdims=True, initial=0.0)
            change *= np.minimum(1.0, settings.max_step / np.maximum(largest, 1e-300))
        return change.reshape(*state.q.shape[:-1], linkage.nv)

    def best(self, problem: Problem, start: FloatArray, *, limited: bool = True) -> FloatArray:
        """Return the solution nearest to a start or, if there is none, the pose that comes closest to the goal."""
        linkage, goal, group = problem.linkage, problem.goals[0], problem.group
        exact = self.solutions(linkage, goal, start, limited=limited, group=group)
        if exact:
            return min(exact, key=lambda pose: float(np.linalg.norm(difference(linkage, start, pose))))
        lower, upper = _bounds(linkage, limited)
        arm = self.arm(linkage, goal, start, group)
        close = list(arm.poses(start, self._wish(), lower, upper))
        close = [within_limits(linkage, pose, group) if limited else pose for pose in close]
        return min(close, key=lambda pose: _miss(linkage, goal, pose))

    def solutions(
        self, linkage: Linkage, goal: Goal, start: FloatArray, *, limited: bool = True, group: Group | None = None
    ) -> list[FloatArray]:
        """Return all distinct poses that reach a goal within limits.

        If a free choice violates a limit, other choices are tried, the nearest first, until one keeps all limits.
        """
        lower, upper = _bounds(linkage, limited)
        arm, wish = self.arm(linkage, goal, start, group), self._wish()
        free = arm.free and wish.pole is None and wish.swivel is None and wish.direction is None
        for shift in SHIFTS if free else SHIFTS[:1]:
            found = list(arm.poses(start, wish, lower, upper, shift))
            good = [pose for pose in found if not limited or limits_kept(linkage, pose, group)]
            good = [pose for pose in good if _miss(linkage, goal, pose) <= EXACT]
            if good or all(_miss(linkage, goal, pose) > EXACT for pose in found):
                places = distinct(linkage, np.reshape(good, (-1, linkage.nq)), SAME_ROOT)
                return [good[k] for k in places]  # empty if the goal is out of reach for any choice
        return []


def analytic_solutions(
    linkage: Linkage,
    goal: Goal,
    *,
    start: ArrayLike | None = None,
    limits: Limits = "clamp",
    **options: Unpack[AnalyticOptions],
) -> list[FloatArray]:
    """Return all poses, distinct and within limits, that bring an arm with a closed form to a goal.

    The list is empty if the goal is out of reach. A planar arm has two poses, elbow up and down, which coincide at the
    edge of reach. If there are infinitely many, because a direction or swivel is free, those for the choice of
    `Analytic` are returned. A shoulder of three revolute joints has two sets of angles for each.

    Args:
        linkage: The linkage.
        goal: A `Reach`.
        start: Pose nearest to which remaining freedom is chosen; the neutral pose by default.
        limits: ``"ignore"`` keeps poses beyond a limit; see `Settings`.
        **options: Options of `Analytic`.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([1, 1])
        >>> [pose.round(4).tolist() for pose in analytic_solutions(arm, lw.Reach("tip", position=(1, 1)))]
        [[0.0, 1.5708], [1.5708, -1.5708]]
    """
    pose = linkage.neutral() if start is None else as_poses(linkage, start)
    return Analytic(**options).solutions(linkage, goal, pose, limited=Settings(limits=limits).keeps_limits)


def _bounds(linkage: Linkage, limited: bool) -> tuple[FloatArray, FloatArray]:
    return (linkage.lower, linkage.upper) if limited else (np.full(linkage.nq, -np.inf), np.full(linkage.nq, np.inf))


def _miss(linkage: Linkage, goal: Goal, pose: FloatArray) -> float:
    """Return the error of a pose: metres as a share of the linkage's length, plus radians."""
    error = goal.error(linkage, pose)
    sizes = [np.linalg.norm(error[b.rows]) / (linkage.length or 1.0 if b.unit == "m" else 1.0) for b in goal.blocks]
    return float(max(sizes))
