"""Control cycles of a body with many goals: what `BodySolver.step` and `stay=True` call, on `kernels.body_step`."""

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
from ..kernels.body_step import AT_LIMIT, AT_SPEED, CYCLE, NO_BOUND, step_body
from ..linkage.poses import between
from ..transforms import FloatArray
from .groups import within_limits
from .step import LimitKind, Step, StepStatus, joint_speeds

if TYPE_CHECKING:
    from .body_solver import BodySolver

MOST = 0.25  # what a joint without a speed may turn in a cycle [rad]
STRIDE = 0.15  # of a cycle without time [rad]
CYCLES = 200
FINE, FINISH = 1e-3, 12.0  # share of the tolerance at which a cycle has nothing left to do; and steps for each level
LIMIT: dict[int, LimitKind] = {NO_BOUND: "", AT_LIMIT: "position", AT_SPEED: "velocity"}


@dataclass(frozen=True, eq=False, repr=False)
class BodyStep(Step):
    """A cycle of a body; the nearest other solution is looked for when it is asked for."""

    solver: BodySolver
    goals: tuple[Goal, ...]

    @cached_property
    def jump(self) -> float:
        found = self.solver.solve(self.goals, self.q)
        if not found.success:
            return math.inf
        return float(np.abs(between(self.linkage, self.q, found.q, wrap=False)).max(initial=0.0))


class Travel(NamedTuple):
    """How far every column comes in a cycle of `dt` seconds, and for which of them no speed but `MOST` says so."""

    dt: float
    reach: FloatArray
    open: NDArray[np.bool_]


class BodyFollower:
    """A packed body in a control loop: the speeds of its columns, and calls of the kernel."""

    def __init__(self, solver: BodySolver) -> None:
        linkage, program = solver.linkage, solver.program
        self.solver = solver
        self._joints = [linkage.table.velocity_joints[v] for v in program.columns.tolist()]
        self._unit = np.where(linkage.table.slides[program.columns], metres_per_radian(linkage), 1.0)
        self._balls = program.places < 0
        self._units = tuple(block.unit for block in solver.problem.blocks)
        self._settings = solver.steering.copy()
        own = SETTINGS.view(self._settings)
        own.finest, own.finish = FINE * solver.settings.tolerance, FINISH
        self._own = joint_speeds(linkage, None, 1.0)[program.columns]
        self._travel = self._travelled(1.0, self._own)

    def _travelled(self, dt: float, speeds: FloatArray) -> Travel:
        """Return how far columns of some speeds come in a cycle."""
        most = MOST * self._unit
        reach = np.minimum(speeds * dt, most)
        reach[self._balls] *= 1.0 - 2.0 * reach[self._balls]  # turns about several axes add up to a little more
        return Travel(dt, reach, speeds * dt > most)

    def _within(self, pose: FloatArray) -> bool:
        """Return whether a pose need not be brought within limits: they are ignored, or it plainly keeps them."""
        if not self.solver.settings.keeps_limits:
            return True
        linkage = self.solver.linkage
        return not linkage.cones and bool((pose >= linkage.lower).all() and (pose <= linkage.upper).all())

    def _call(self, known: tuple[Goal, ...], pose: FloatArray, reach: FloatArray, cycles: int) -> Any:
        """Return the pose that cycles lead to, whether it serves its goals, and the kernel's report."""
        solver, program = self.solver, self.solver.program
        out = pose.copy() if self._within(pose) else np.array(within_limits(solver.linkage, pose, solver.problem.group))
        report = np.empty(CYCLE.size + len(solver.problem.blocks))
        numbers, memory = solver.goal_numbers(known), np.empty(program.scratch_size)
        reached = step_body(program.codes, program.numbers, self._settings, numbers, reach, cycles, memory, out, report)
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
        q, reached, report = self._call(known, pose, travel.reach, 1)
        column, bound = int(report[CYCLE.column]), int(report[CYCLE.bound])
        status: StepStatus = "reached" if reached else "limited" if bound else "held"
        if bound == AT_SPEED and travel.open[column]:  # nothing but the length of a cycle
            column, bound, status = -1, NO_BOUND, "following"
        return BodyStep(
            linkage=solver.linkage,
            solver=solver,
            goals=known,
            q=q,
            status=status,
            residuals=report[CYCLE.size :],
            joint=self._joints[column] if column >= 0 else "",
            limit=LIMIT[bound],
            units=self._units,
            share=_share(report[CYCLE.before], report[CYCLE.after]),
            start=pose,
            dt=dt,
        )

    def stay(self, known: tuple[Goal, ...], pose: FloatArray) -> tuple[FloatArray, bool, FloatArray, int]:
        """Return where cycles without time lead: the pose, whether it is reached, how far blocks are off, and steps."""
        q, reached, report = self._call(known, pose, STRIDE * self._unit, CYCLES)
        return q, reached, report[CYCLE.size :], int(CYCLE.view(report[: CYCLE.size]).steps)


def _share(before: float, after: float) -> float:
    """Return which share of the way to the goals, of all weighed together, a cycle has made: from squared errors."""
    return max(1.0 - math.sqrt(after / before), 0.0) if before > 0.0 else 1.0
