"""The default method: damped steps within limits, from other starts if the first one fails.

One `Reach`, alone or with an `Avoid`, is solved by the compiled search of a chain, other goals by the compiled
whole-body solver. A solve with a trace, goals on four levels or more, and goals of other classes take the same steps in
NumPy. The compiled solver supports couplings along curves through their tangents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import GoalError, OptionError
from ..goals import Dexterity
from ..kernels.chain_memory import REPORT
from ..kernels.search_many import REACHED
from ..transforms import FloatArray
from .body_solver import BodySolver, body_solver_for, can_compile
from .chain_closest import bring_closer
from .chain_solution import NAMES
from .chain_solver import RESTARTS, Prepared, prepared_for
from .free_pairs import free_chain_for, reach_and_avoid
from .groups import random_poses
from .iterate import run
from .jacobian import Damped
from .options import Settings, whole
from .problem import Problem
from .solution import Solution, from_rows
from .tangents import solved_by_tangents

TOGETHER = 64  # random starts of the NumPy version, solved together


@dataclass(frozen=True)
class Robust(Damped):
    """Adaptive damped least squares without joints at their limits, from the start and then from other poses.

    With a start, the nearest solution found around it is returned; without one, the first found. If none is found, the
    pose with the smallest error is returned.

    Args:
        restarts: Largest number of other starts; hopeless goals are abandoned sooner.
        seed: Seed of the random starts: the same seed gives the same result.
        stay: Never jump: follow a continuous motion from the start, with no joint turned by more than 0.49 rad. If that
            does not reach the goals, the solve fails.
    """

    restarts: int = RESTARTS
    seed: int = 0
    stay: bool = False
    name: ClassVar[str] = "robust"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("restarts", "seed"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        if not isinstance(self.stay, bool):
            raise OptionError(f"stay is True or False, got {self.stay!r}.")

    def solve_without_start(self, problem: Problem, settings: Settings) -> Solution:
        """Solve without a start; the chain's table has better starts than the neutral pose."""
        if self.stay:
            raise OptionError("stay=True keeps to the branch of a start; give start=, the pose to go on from.")
        prepared = self.prepared(problem, settings)
        if prepared is None:
            return super().solve_without_start(problem, settings)
        return self._search(prepared, problem, None, settings)

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Solve from the start; if that fails, from other poses."""
        prepared = self.prepared(problem, settings)
        if self.stay:
            return self._stay(prepared, problem, start, settings)
        if prepared is not None and (start.ndim == 1 or problem.group is None):
            return self._search(prepared, problem, start, settings)
        if any(isinstance(goal, Dexterity) for goal in problem.goals) and len(problem.levels) > 1:
            return self._dexterous(problem, start, settings)
        return self._from(problem, start, settings)

    def _dexterous(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Solve the levels above the last first; from there, only dexterity has to increase."""
        above = self.solve(problem.above(), start, replace(settings, trace=False))
        begin = np.where(np.asarray(above.success)[..., None], above.q, start)
        return replace(self._from(problem, begin, settings), start=start)

    def _from(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        body = self.body(problem, settings)
        if body is not None:
            return body.solve(problem.goals, start, time_budget=settings.time_budget)
        found = solved_by_tangents(problem, start, settings, self.body) if settings.time_budget is None else None
        return self._in_numpy(problem, start, settings) if found is None else found

    def _search(self, prepared: Prepared, problem: Problem, start: FloatArray | None, settings: Settings) -> Solution:
        goal: Any = reach_and_avoid(problem.goals)[0]
        if start is not None and start.ndim > 1:
            return self._many(prepared, problem, start)
        if settings.time_budget is not None:
            return prepared.solve_within(settings.time_budget, goal.target, start=start)
        return prepared.solve(goal.target, start=start)

    def _stay(self, prepared: Prepared | None, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Solve from a start without a jump, by control cycles of the chain or of the body."""
        if start.ndim == 1 and prepared is not None:
            goal: Any = reach_and_avoid(problem.goals)[0]
            return prepared.stay(np.array(goal.target), start)
        body = self.body(problem, settings)
        if start.ndim == 1 and body is not None:
            return body.stay(problem.goals, start)
        raise GoalError(
            "stay=True needs one start, no trace, and goals of linkwork's own kinds that some joint moves, on at most "
            "three priority levels and without couplings along curves; leave it out."
        )

    def prepared(self, problem: Problem, settings: Settings) -> Prepared | None:
        """Return the compiled search for a problem, or None if it does not support it."""
        goal, avoid = reach_and_avoid(problem.goals)
        if goal is None or not self._plain(settings) or not self.restarts:
            return None
        if goal.ranges is not None or (problem.group is not None and problem.group.scale is not None):
            return None
        if goal.tolerance is not None:
            if not np.isfinite(goal.tolerance).all():
                return None
            settings = replace(settings, tolerance=goal.tolerance[0], rotation_tolerance=goal.tolerance[1])
        prepared = prepared_for(problem.linkage, goal, settings, self.restarts, self.seed, problem.group)
        return free_chain_for(prepared, avoid) if prepared.chain.values else None

    def body(self, problem: Problem, settings: Settings) -> BodySolver | None:
        """Return the compiled whole-body solver for a problem, or None if it does not support it."""
        if not self._plain(settings) or not can_compile(problem):
            return None
        body = body_solver_for(problem, settings, self.restarts, self.seed)
        return body if body.program.moving else None

    def _plain(self, settings: Settings) -> bool:
        """Return whether no option needs the steps in NumPy."""
        own = (settings.max_iterations, settings.max_step, settings.stray)
        return not settings.trace and self.damping == "adaptive" and all(value is None for value in own)

    def _many(self, prepared: Prepared, problem: Problem, start: FloatArray) -> Solution:
        """Solve the same goal from many starts."""
        goal: Any = reach_and_avoid(problem.goals)[0]
        starts = start.reshape(-1, problem.linkage.nq)
        status = np.zeros(len(starts), np.int64)
        targets = np.tile(goal.target, (len(starts), 1, 1))
        given = prepared.chain.values_of(starts)
        if prepared.avoid is not None:
            values, report, status = prepared.search_free(targets, starts, given, 0)
        else:
            values, report = prepared.search(targets, status, given=given)
            bring_closer(prepared, prepared.spun(targets), status, values, report, given=given)
        names, steps = [NAMES[code] for code in status.tolist()], REPORT.view(report).steps.astype(np.int64)
        q = prepared.pose(values, starts)
        rows = (q, status == REACHED, prepared.residuals_at(q, report), steps, names)
        return from_rows(problem.linkage, problem.goals, self.name, start, rows, prepared.settings)

    def _in_numpy(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        if settings.limits == "clamp":
            settings = replace(settings, limits="project")
        first = run(self, problem, start, settings)
        if not self.restarts or np.all(first.success):
            return first
        q, success = first.q.reshape(-1, problem.linkage.nq).copy(), np.array(first.success).reshape(-1)
        residuals = first.residuals.reshape(len(q), -1).copy()
        iterations = np.array(first.iterations).reshape(-1)
        status = np.array(first.status, dtype=object).reshape(-1)
        starts = start.reshape(len(q), -1)
        linkage, group, count = problem.linkage, problem.group, min(self.restarts, TOGETHER)
        again: Any = None
        for i in np.flatnonzero(~success):
            if again is None or group is not None:  # held joints may differ between starts
                tries = random_poses(linkage, self.seed, count, group, starts[i])
                again = run(self, problem, tries, replace(settings, trace=False))
            k = self._pick(problem, again, starts[i])
            iterations[i] += int(np.sum(again.iterations))
            if again.success[k] or self._cost(problem, again.q[k]) < self._cost(problem, q[i]):
                q[i], success[i], residuals[i] = again.q[k], again.success[k], again.residuals[k]
                status[i] = again.status[k]
        rows = (q, success, residuals, iterations, status)
        return from_rows(linkage, problem.goals, self.name, start, rows, first.settings, first.trace, group)

    def _cost(self, problem: Problem, q: FloatArray) -> Any:
        return np.linalg.norm(problem.error(q) * problem.scale * problem.emphasis, axis=-1)

    def _pick(self, problem: Problem, tried: Solution, start: FloatArray) -> int:
        """Return the index of the solution nearest to the start, or of the best failure."""
        if tried.success.any():
            away = np.linalg.norm(problem.linkage.difference(start, tried.q), axis=-1)
            return int(np.argmin(np.where(tried.success, away, np.inf)))
        return int(np.argmin(self._cost(problem, tried.q)))
