"""Every method on the same linkage and goal, side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ..errors import GoalError, MissingExtraError
from ..goals import Goal
from ..linkage import swing_twist as cones
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose, turned_back
from ..linkage.showing import Shown
from ..solvers import METHODS, Solution, solve
from ..solvers.options import LoopOptions
from ..transforms import FloatArray

RUNS = 3  # number of timed runs


@dataclass(frozen=True, eq=False)
class RaceResult(Shown):
    """Result of one method in a race.

    Attributes:
        method: Name of the method.
        solution: Its solution, with its trace, or None if it does not support this goal.
        refusal: Why it does not support the goal.
        seconds: Time without a trace: the fastest of three runs after a warm-up run.
        largest_step: Largest change of one joint value in a step [rad, m].
        violations: Number of values beyond their limits at some step; zero if limits are kept.
    """

    method: str
    solution: Solution | None
    refusal: str = ""
    seconds: float = 0.0
    largest_step: float = 0.0
    violations: int = 0

    @property
    def success(self) -> bool:
        """Whether it reached the goal."""
        return self.solution is not None and bool(self.solution)

    @property
    def reason(self) -> str:
        """One sentence on how it ended, or why it does not support this goal."""
        return self.refusal if self.solution is None else self.solution.reason

    @property
    def errors(self) -> FloatArray:
        """The largest residual at every iteration."""
        if self.solution is None:
            return np.zeros(0)
        ends = [record.residuals.max() for record in self.solution.trace]
        return np.array([*ends, self.solution.residual])

    @property
    def poses(self) -> FloatArray:
        """The pose at every iteration, shape (iterations + 1, nq)."""
        if self.solution is None:
            raise GoalError(self.refusal)
        return _poses(self.solution)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain values, for JSON."""
        if self.solution is None:
            return {"method": self.method, "served": False, "reason": self.reason}
        return {
            "method": self.method,
            "served": True,
            "success": self.success,
            "error": float(self.solution.residual),
            "iterations": self.solution.iterations,
            "seconds": self.seconds,
            "largest_step": self.largest_step,
            "violations": self.violations,
            "reason": self.reason,
        }


class Race(Shown, list[RaceResult]):
    """Results of several methods on the same problem: a list that is shown as a table in a notebook."""

    def __init__(self, laps: Iterable[RaceResult]) -> None:
        super().__init__(laps)


def race(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    *,
    start: PoseLike | None = None,
    methods: Sequence[str] | None = None,
    **options: Unpack[LoopOptions],
) -> Race:
    """Solve the same problem with every method and return the results.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        start: Start pose of all methods.
        methods: Names of methods; all by default.
        **options: Options of every method, as in `solve`.
    """
    check_linkage(linkage)
    pose = start_pose(linkage, start)
    return Race(_run(linkage, goals, pose, name, options) for name in (METHODS if methods is None else methods))


def _run(linkage: Linkage, goals: Any, start: FloatArray, method: str, options: LoopOptions) -> RaceResult:
    try:
        traced: LoopOptions = {**options, "trace": True}
        solution = solve(linkage, goals, start=start, method=method, **traced)
    except (GoalError, MissingExtraError) as error:
        return RaceResult(method, None, str(error))
    seconds = min(_timed(linkage, goals, start, method, options) for _ in range(1 + RUNS))  # the first run compiles
    poses = _poses(solution)
    steps = np.abs(linkage.difference(poses[:-1], poses[1:])).max(initial=0.0) if len(poses) > 1 else 0.0
    beyond = ((poses < linkage.lower) | (poses > linkage.upper)).any(axis=0).sum()
    beyond += sum(bool(cones.beyond([cone], poses).any()) for cone in linkage.cones)
    return RaceResult(method, solution, "", seconds, float(steps), int(beyond))


def _poses(solution: Solution) -> FloatArray:
    """Return the poses of a trace, then the result, shifted by whole turns to be nearest to the last of these poses."""
    walked = [record.q for record in solution.trace]
    last = turned_back(solution.linkage, solution.q, walked[-1], keep_limits=False) if walked else solution.q
    return np.array([*walked, last])


def _timed(linkage: Linkage, goals: Any, start: FloatArray, method: str, options: LoopOptions) -> float:
    """Return the duration of a solve [s]."""
    begin = time.perf_counter()
    solve(linkage, goals, start=start, method=method, **options)
    return time.perf_counter() - begin
