"""Control cycles of a body with many goals, for `BodySolver.step` and `stay=True`, by `kernels.body_step`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..goals import Goal
from ..goals.base import metres_per_radian
from ..kernels.body_search import SETTINGS
from ..kernels.body_step import AT_LIMIT, AT_SPEED, CYCLE, NO_BOUND, RATE, SLOWED, step_body
from ..linkage.linkage import Linkage
from ..linkage.poses import between
from ..transforms import FloatArray
from .groups import within_limits
from .solution import Status
from .step import CYCLES, FAR, FINE, LEAP, LEVER, MOST, SLOW, STRIDE, LimitKind, Step, StepStatus, joint_speeds

if TYPE_CHECKING:
    from .body_solver import BodySolver

FINISH = 12.0  # steps for each level
WISHED = 0.1  # for wishes: largest rotation per cycle, as a share of their error
LIMIT: dict[int, LimitKind] = {NO_BOUND: "", AT_LIMIT: "position", AT_SPEED: "velocity"}


@dataclass(frozen=True, eq=False, repr=False)
class BodyStep(Step):
    """Result of a cycle of a body; the nearest other solution is searched on access."""

    solver: BodySolver
    goals: tuple[Goal, ...]

    @cached_property
    def jump(self) -> float:
        found = self.solver.solve(self.goals, self.q)
        if not found.success:
            return math.inf
        return float(np.abs(between(self.linkage, self.q, found.q, wrap=False)).max(initial=0.0))


class Stay(NamedTuple):
    """Result of cycles without a time limit: the pose, whether goals are reached, residuals, steps, status."""

    q: FloatArray
    success: bool
    residuals: FloatArray
    iterations: int
    status: Status

    @property
    def stuck(self) -> bool:
        """Whether no continuous motion leads closer to the goals."""
        return self.status == "held"


class Travel(NamedTuple):
    """Largest motion of every column in a cycle of `dt` seconds, as `RATE`, and the columns limited only by `MOST`."""

    dt: float
    rates: FloatArray
    open: NDArray[np.bool_]


class BodyFollower:
    """A packed body in a control loop: the speed limits of its columns, and calls of the kernel."""

    def __init__(self, solver: BodySolver) -> None:
        linkage, program = solver.linkage, solver.program
        self.solver = solver
        self.joints = [linkage.table.velocity_joints[v] for v in program.columns.tolist()]
        self.unit = np.where(linkage.table.slides[program.columns], metres_per_radian(linkage), 1.0)
        self.balls = program.places < 0
        self._units = tuple(block.unit for block in solver.problem.blocks)
        self.settings = solver.steering.copy()
        own = SETTINGS.view(self.settings)
        own.finest, own.finish = FINE * solver.settings.tolerance, FINISH
        self._own = joint_speeds(linkage, None, 1.0)[program.columns]
        self.calm = self._calm_travel()
        self._travel = self._travelled(1.0, self._own)
        stride = np.where(self.balls, STRIDE / math.sqrt(3.0), STRIDE * self.unit)
        self.staying = self._rates(stride, np.full(len(self._units), np.inf))

    def _calm_travel(self) -> FloatArray:
        """Return the largest motion of a column per cycle for each unit of error of a block.

        It is what a joint needs whose singular value is the smallest that is not slowed down; no joint needs more.
        Wishes, such as a rest pose, are never met exactly: without a smaller bound, they would keep the body moving
        fast.
        """
        solver = self.solver
        wished = np.isinf(solver.settings.tolerances(solver.problem)).tolist()
        pairs = zip(self._units, wished, strict=True)
        return np.array([calm_travel(solver.linkage, unit, wish) for unit, wish in pairs])

    def _rates(self, reach: FloatArray, calm: FloatArray) -> FloatArray:
        return np.concatenate([RATE.pack(shape=reach.shape, reach=reach, radian=self.unit).ravel(), calm])

    def _travelled(self, dt: float, speeds: FloatArray) -> Travel:
        """Return the largest motion of columns in a cycle at given speeds."""
        most = MOST * self.unit
        reach = np.minimum(speeds * dt, most)
        reach[self.balls] *= 1.0 - 2.0 * reach[self.balls]  # rotations about several axes add up to slightly more
        return Travel(dt, self._rates(reach, self.calm), speeds * dt > most)

    def _within(self, pose: FloatArray) -> bool:
        """Return whether a pose needs no clamping: limits are ignored, or it is within them and there are no cones."""
        if not self.solver.settings.keeps_limits:
            return True
        linkage = self.solver.linkage
        return not linkage.cones and bool((pose >= linkage.lower).all() and (pose <= linkage.upper).all())

    def _call(self, known: tuple[Goal, ...], pose: FloatArray, rates: FloatArray, cycles: int, leap: float) -> Any:
        """Return the pose after some cycles, whether it reaches its goals, and the kernel's report."""
        solver, program = self.solver, self.solver.program
        out = pose.copy() if self._within(pose) else np.array(within_limits(solver.linkage, pose, solver.problem.group))
        report = np.empty(CYCLE.size + len(solver.problem.blocks))
        numbers, memory = solver.goal_numbers(known), np.empty(program.scratch_size)
        given = program.codes, program.numbers, self.settings, numbers, rates
        reached = step_body(*given, cycles, leap, memory, out, report)
        return out, bool(reached), report

    def step(
        self, known: tuple[Goal, ...], pose: FloatArray, dt: float, velocity: ArrayLike | None, scale: float
    ) -> BodyStep:
        """Return one cycle from a pose."""
        solver, travel = self.solver, self._travel
        if velocity is not None or scale != 1.0:
            travel = self._travelled(dt, joint_speeds(solver.linkage, velocity, scale)[solver.program.columns])
        elif travel.dt != dt:
            self._travel = travel = self._travelled(dt, self._own)
        q, reached, report = self._call(known, pose, travel.rates, 1, 1.0)
        column, bound = int(report[CYCLE.column]), int(report[CYCLE.bound])
        status: StepStatus = "reached" if reached else "limited" if bound else "held"
        if bound == SLOWED or (bound == AT_SPEED and travel.open[column]):  # only the cycle's length limits the motion
            column, bound, status = -1, NO_BOUND, "following"
        return BodyStep(
            linkage=solver.linkage,
            solver=solver,
            goals=known,
            q=q,
            status=status,
            residuals=report[CYCLE.size :],
            joint=self.joints[column] if column >= 0 else "",
            limit=LIMIT[bound],
            units=self._units,
            share=_share(report[CYCLE.before], report[CYCLE.after]),
            start=pose,
            dt=dt,
        )

    def stay(self, known: tuple[Goal, ...], pose: FloatArray, leap: float = LEAP) -> Stay:
        """Return the result of cycles without a time limit, in which no joint moves by more than a leap [rad]."""
        q, reached, report = self._call(known, pose, self.staying, CYCLES, leap / STRIDE)
        far = int(report[CYCLE.bound]) == AT_SPEED
        status: Status = "reached" if reached else "following" if far else "held"
        return Stay(q, reached, report[CYCLE.size :], int(report[CYCLE.steps]), status)

    def keep_up(self, known: tuple[Goal, ...], pose: FloatArray, asked: FloatArray, last: Stay | None) -> Stay:
        """Return the next solution on a path, for the errors of its goals at the pose; `last` is the solution before.

        If the path moves far in one frame, joints may also move far if that reaches the goals. If the last solution was
        held, however, the path has run ahead, and its distance does not count.
        """
        found, arm = self.stay(known, pose), metres_per_radian(self.solver.linkage)
        if found.status != "following" or (last is not None and not last.success):
            return found
        turn = max(off if unit == "rad" else off / arm for off, unit in zip(asked.tolist(), self._units, strict=True))
        further = self.stay(known, pose, LEAP + LEVER * max(turn - FAR, 0.0))
        return further if further.success else found


def calm_travel(linkage: Linkage, unit: str, wished: bool) -> float:
    """Return the largest motion of a column in a cycle [rad] per unit of error of a block."""
    arm = metres_per_radian(linkage)
    size = arm if unit == "rad" else 1.0
    return WISHED * size / arm if wished else size / (2.0 * SLOW * 4.0 * arm)


def _share(before: float, after: float) -> float:
    """Return the share of the way to the goals that a cycle covered, from the squared errors before and after."""
    return max(1.0 - math.sqrt(after / before), 0.0) if before > 0.0 else 1.0
