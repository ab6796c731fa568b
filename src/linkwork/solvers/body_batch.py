"""Solve many independent problems of one body, in blocks distributed to threads.

Results do not depend on the number of threads. Memory beyond targets and results is that of a few blocks.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, OptionError
from ..goals import Goal
from ..kernels.body_search import REACHED as SERVED
from ..kernels.search_many import CLOSEST, INVALID, REACHED, UNSOLVED
from ..kernels.threads import cores, dealt
from ..linkage.poses import PoseLike, start_pose
from ..transforms import FloatArray
from .body_answers import BodyBatch
from .goal_arrays import goal_records
from .goal_targets import Targets, given_targets, held_targets, target_arrays, waits_for_start
from .options import positive, whole
from .problem import resolve_goals, with_closings
from .progress import Progress, reporting

if TYPE_CHECKING:
    from .body_solver import BodySolver, SearchResult

SHARES = 8  # blocks per thread, so that one block of hard problems does not delay the rest
SMALLEST, BLOCK = 4, 256  # problems in a block


class Problems(Protocol):
    """Many problems of one kind.

    Attributes:
        shared: The goals that all problems share, except for targets.
    """

    shared: tuple[Goal, ...]

    def __len__(self) -> int: ...

    def valid(self, rows: slice) -> NDArray[np.bool_]:
        """Return which goals (m, goals) have valid targets."""

    def numbers(self, rows: slice, starts: FloatArray) -> FloatArray:
        """Return the packed numbers (m, size) of problems with starts (m, nq); all problems are valid."""

    def goals(self, row: int, start: FloatArray) -> tuple[Goal, ...]:
        """Return the goals of one problem."""


class ListedProblems:
    """Problems that are lists of goals."""

    def __init__(self, solver: BodySolver, problems: Iterable[Goal | Sequence[Goal]]) -> None:
        self.solver, self.problems = solver, list(problems)
        if not self.problems:
            raise GoalError("there are no problems at all; give at least one list of goals.")
        self.shared = resolve_goals(solver.linkage, self.problems[0], solver.linkage.neutral())

    def __len__(self) -> int:
        return len(self.problems)

    def valid(self, rows: slice) -> NDArray[np.bool_]:
        return np.ones((rows.stop - rows.start, len(self.solver.problem.goals)), np.bool_)

    def numbers(self, rows: slice, starts: FloatArray) -> FloatArray:
        each = (self.goals(k, start) for k, start in zip(range(rows.start, rows.stop), starts, strict=True))
        return np.array([self.solver.goal_numbers(goals) for goals in each])

    def goals(self, row: int, start: FloatArray) -> tuple[Goal, ...]:
        return resolve_goals(self.solver.linkage, self.problems[row], start)

    def goals_after(self, first: int, start: FloatArray, k: int) -> tuple[Goal, ...]:
        """Return the goals of the problem at an offset from another."""
        return self.goals(first + k, start)


class ArrayProblems:
    """Goals shared by all problems, and arrays of their targets."""

    def __init__(
        self, solver: BodySolver, goals: Sequence[Goal], targets: Mapping[Any, ArrayLike], starts: FloatArray
    ) -> None:
        self.solver, linkage = solver, solver.linkage
        given = with_closings(linkage, goals)
        arrays, self.count = target_arrays(given, targets)
        self.targets: dict[int, Targets] = {k: given_targets(linkage, given[k], v) for k, v in arrays.items()}
        if starts.ndim > 1:
            waiting = [k for k, goal in enumerate(given) if k not in arrays and waits_for_start(goal)]
            self.targets |= {k: held_targets(linkage, given[k]) for k in waiting}
        begin = starts if starts.ndim == 1 else starts[0] if len(starts) else linkage.neutral()
        self.shared = resolve_goals(linkage, given, begin)
        self._first = solver.goal_numbers(self.shared)

    def __len__(self) -> int:
        return self.count

    def valid(self, rows: slice) -> NDArray[np.bool_]:
        result = np.ones((rows.stop - rows.start, len(self.shared)), np.bool_)
        for k, targets in self.targets.items():
            result[:, k] = targets.valid(rows)
        return result

    def numbers(self, rows: slice, starts: FloatArray) -> FloatArray:
        result = np.repeat(self._first[None], len(starts), axis=0)
        packed = self.solver.program.goals
        sets = result.reshape(len(starts), len(self.solver.emphasis), self.solver.program.size)
        for k, (record, items) in enumerate(goal_records(packed, sets)):
            if k in self.targets:
                self.targets[k].write(packed[k], record, items, rows, starts)
        return result

    def goals(self, row: int, start: FloatArray) -> tuple[Goal, ...]:
        own = {k: targets.goal(row, start) for k, targets in self.targets.items()}
        return tuple(own.get(k, goal) for k, goal in enumerate(self.shared))


@dataclass(frozen=True)
class BatchPlan:
    """How a batch is processed.

    Attributes:
        threads: Number of threads.
        first: Number of the first problem; random starts depend on it.
        time_budget: Time after which no further block is started [s], or None.
        progress: Called with the number of problems done.
    """

    threads: int | None = None
    first: int = 0
    time_budget: float | None = None
    progress: Progress = False

    def __post_init__(self) -> None:
        if self.time_budget is not None:
            positive("time_budget", self.time_budget)
        threads = cores() if self.threads is None else whole("threads", self.threads, least=1)
        self.__dict__.update(threads=threads, first=whole("first", self.first))


def batch_starts(solver: BodySolver, start: PoseLike | None, count: int) -> FloatArray:
    """Return the start pose (nq,) of all problems, or one for each (n, nq)."""
    poses = np.asarray(start_pose(solver.linkage, start))
    if poses.shape not in ((solver.linkage.nq,), (count, solver.linkage.nq)):
        raise OptionError(f"start must be one pose or {count} poses, got shape {poses.shape}.")
    return poses


def solve_problems(solver: BodySolver, problems: Problems, poses: FloatArray, plan: BatchPlan) -> BodyBatch:
    """Return results for problems with one start pose (nq,), or one for each (n, nq)."""
    count, nq, threads = len(problems), solver.linkage.nq, plan.threads or 1
    starts = np.broadcast_to(poses, (count, nq))
    q, codes = np.array(starts), np.full(count, UNSOLVED, np.int8)
    residuals, restarts = np.full((count, len(solver.problem.blocks)), np.nan), np.zeros(count, np.int32)
    valid = np.ones((count, len(problems.shared)), np.bool_)
    block = min(max(count // (SHARES * threads), SMALLEST), BLOCK)
    deadline = np.inf if plan.time_budget is None else time.perf_counter() + plan.time_budget

    def work(at: int) -> int:
        rows = slice(at, min(at + block, count))
        if time.perf_counter() <= deadline:
            valid[rows] = problems.valid(rows)
            good = np.asarray(valid[rows].all(axis=1))
            codes[rows][~good] = INVALID
            for run in _runs(good, at):
                found = _searched(solver, problems, run, starts[run], plan.first)
                q[run], residuals[run], restarts[run] = found.q, found.residuals, found.starts
                codes[run] = ended(found.status)
        return rows.stop - rows.start

    blocks = range(0, count, block)
    several = threads > 1 and len(blocks) > 1
    sizes = dealt(work, blocks, threads) if several else (work(at) for at in blocks)
    with closing(sizes), reporting(plan.progress, count) as report:
        done = 0
        for size in sizes:
            done += size
            report(done)
    return answers_of(solver, problems.shared, q, residuals, restarts, codes, valid)


def answers_of(
    solver: BodySolver,
    goals: tuple[Goal, ...],
    q: FloatArray,
    residuals: FloatArray,
    restarts: NDArray[Any],
    codes: NDArray[np.int8],
    valid: NDArray[np.bool_] | None = None,
) -> BodyBatch:
    """Return rows as a batch of results; all goals are valid by default."""
    valid = np.ones((len(q), len(goals)), np.bool_) if valid is None else valid
    rows = q, codes == REACHED, residuals, restarts.astype(np.int32), codes, valid
    return BodyBatch(solver.linkage, goals, *rows, solver.settings.tolerances(solver.problem))


def ended(status: NDArray[np.int64]) -> NDArray[np.int8]:
    """Return the status codes of searches of bodies."""
    return np.where(status == SERVED, REACHED, CLOSEST).astype(np.int8)


def _runs(good: NDArray[np.bool_], first: int) -> list[slice]:
    """Return the contiguous runs of valid rows; searches skip the rows between them."""
    if good.all():
        return [slice(first, first + len(good))]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]])))
    return [slice(first + a, first + b) for a, b in pairwise(edges.tolist())][::2]


def _searched(solver: BodySolver, problems: Problems, rows: slice, starts: FloatArray, first: int) -> SearchResult:
    """Return the results of some problems, in order."""
    numbers = problems.numbers(rows, starts)
    begins = solver.aimed(numbers, starts)
    found = solver.search(numbers, begins, begin=first + rows.start)
    return solver.firm(lambda k: problems.goals(rows.start + k, starts[k]), begins, found, solver.restarts)
