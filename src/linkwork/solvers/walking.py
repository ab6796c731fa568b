"""The compiled loop: the problems it supports, their packing, and its results.

Other problems are solved by the loop in NumPy; `walk_for` chooses.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import GoalError
from ..goals import Reach
from ..kernels.progress import ACTIVE, DIVERGED, REACHED, STALLED
from ..kernels.textbook_plan import HEAD, RECORD, REPORT, desk_size
from ..kernels.textbook_walk import BAD_START, BAD_TARGET, SINGULAR, walk
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .plans import Plan, hashable
from .problem import Problem, State
from .solution import Record, Solution, Status, from_rows
from .walk_packing import packed

if TYPE_CHECKING:
    from .groups import Group
    from .method import Method
    from .options import Settings

NAMES: dict[int, Status] = {REACHED: "reached", STALLED: "stalled", DIVERGED: "diverged", ACTIVE: "iterations"}
EMPTY, NEW = np.empty, object.__new__  # filling in a solution by hand takes a tenth of the time of its constructor
FLOAT64 = np.dtype(np.float64)
FIRST = 4  # steps before the first check of the time
NO_TRACE = np.empty((0, 0))


class Walk:
    """A method, goals of certain kinds and settings, packed for the compiled loop.

    Args:
        method: The method.
        problem: A problem with such goals; their targets are ignored.
        settings: The `settled` settings.
        plan: The plan of the method.
    """

    def __init__(self, method: Method, problem: Problem, settings: Settings, plan: Plan) -> None:
        self.method, self.problem, self.settings, self.plan = method, problem, settings, plan
        self.linkage, self.group = problem.linkage, problem.group
        self.options = {field.name: getattr(method, field.name) for field in fields(method)}
        self.goals = [goal for goal in problem.goals if isinstance(goal, Reach)]
        self.wholes, self.reals = packed(method, problem, settings, plan)
        self._rooms: list[FloatArray] = []
        self._size = desk_size(self.wholes)
        self._plain, self._shape = not self.linkage.table.quaternions, (self.linkage.nq,)
        self._report = REPORT.size + len(problem.blocks)
        self.record = RECORD.size + self.linkage.nq + len(problem.blocks) + self.linkage.nv

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.method, self.linkage, self.problem.goals, self.group, self.settings)

    def run(self, targets: FloatArray, steps: int, start: FloatArray, count: int, trace: FloatArray) -> Any:
        """Return poses (n, nq) and reports (n, ...) for targets (n, goals, 4, 4); None if NumPy has to report an error.

        See `kernels.textbook_walk.walk`.
        """
        try:
            memory = self._rooms.pop()  # for the exclusive use of this call until it is returned
        except IndexError:
            memory = EMPTY(self._size)
        q, report = EMPTY((count, start.shape[1])), EMPTY((count, self._report))
        ended = walk(self.wholes, self.reals, targets, steps, start, memory, q, report, trace)
        self._rooms.append(memory)
        if ended == BAD_TARGET:
            raise GoalError(f"the target of {self.goals[0].frame!r} is not a finite rigid transform.")
        return None if ended in (SINGULAR, BAD_START) else (q, report)

    def is_pose(self, start: Any) -> bool:
        """Return whether the kernel can use a start unchecked; poses with quaternions must be checked first."""
        return bool(self._plain and start.dtype is FLOAT64 and start.shape == self._shape and start.flags.carray)

    def one(self, target: FloatArray, start: FloatArray) -> Solution | None:
        """Return the solution for the target (4, 4) of a single goal from a pose (nq,); None as in `run`."""
        begin = start.reshape(1, -1).copy()
        found = self.run(target.reshape(1, 1, 4, 4), 0, begin, 1, NO_TRACE)
        if found is None:
            return None
        solution: Walked = NEW(Walked)
        known = solution.__dict__
        known["walk"], known["target"], known["begun"] = self, target, begin
        known["found"], known["report"] = found
        known["success"] = found[1].item(REPORT.status) == REACHED
        known["q"] = found[0][0]
        return solution

    def many(self, problem: Problem, start: FloatArray) -> Solution | None:
        """Return the solution of a problem with such goals from poses (..., nq); None as in `run`.

        The kernel cannot be interrupted: with a time budget, the same steps are repeated, twice as many each time.
        """
        began, most = time.perf_counter(), int(self.settings.max_iterations or 0)
        budget = self.settings.time_budget
        deadline, allowed = (began, most) if budget is None else (began + budget, min(FIRST, most))
        while True:
            found = self.far(allowed)._solution(problem, start)
            if found is None or allowed == most or np.all(np.asarray(found.iterations) < allowed):
                return found
            now = time.perf_counter()
            if now + 2.0 * (now - began) > deadline:  # the next round would end too late
                on_its_way = np.asarray(found.iterations) == allowed
                words: Any = np.where(on_its_way & (np.asarray(found.status) == "iterations"), "time", found.status)
                return replace(found, status=words if start.ndim > 1 else words.item())
            began, allowed = now, min(2 * allowed, most)

    def far(self, iterations: int) -> Walk:
        """Return the same walk with another largest number of steps."""
        if iterations == self.settings.max_iterations:
            return self
        other: Walk = NEW(Walk)
        other.__dict__.update(self.__dict__, wholes=self.wholes.copy(), _rooms=[])
        HEAD.view(other.wholes[: HEAD.size]).iterations = iterations
        return other

    def _solution(self, problem: Problem, start: FloatArray) -> Solution | None:
        begin = np.ascontiguousarray(start.reshape(-1, self.linkage.nq))
        steps = int(self.settings.max_iterations or 0) if self.settings.trace else 0
        trace = EMPTY((steps, self.record))
        found = self.run(targets_of([problem.goals]), 0, begin, len(begin), trace)
        if found is None:
            return None
        q, report = found
        record = REPORT.view(report[:, : REPORT.size])
        counts = record.iterations.astype(np.int64)
        status = [NAMES[int(code)] for code in record.status.tolist()]
        rows = (q, record.status == REACHED, report[:, REPORT.size :], counts, status)
        kept = self.records(problem, trace[: int(counts[0])]) if steps and len(begin) else ()
        return from_rows(
            self.linkage, problem.goals, self.method.name, start, rows, self.settings, kept, self.group, self.options
        )

    def records(self, problem: Problem, trace: FloatArray) -> tuple[Record, ...]:
        """Return the trace of a solution."""
        if not len(trace):
            return ()
        blocks, note = len(problem.blocks), RECORD.view(trace[:, : RECORD.size]).note.tolist()
        q, residuals, step = np.split(trace[:, RECORD.size :], np.cumsum([self.linkage.nq, blocks]), axis=1)
        state = State(problem, q, problem.error(q))
        values = np.asarray(np.linalg.svd(state.jacobian, compute_uv=False))
        rows = zip(q, residuals, values, step, map(self.plan.notes, note), strict=True)
        return tuple(Record(*row) for row in rows)

    def frames(self, targets: FloatArray, start: FloatArray, steps: int) -> tuple[FloatArray, FloatArray] | None:
        """Return poses (n, nq) and residuals (n, blocks) of frames, beginning with the start; None as in `run`."""
        found = self.run(targets, steps, start.reshape(1, -1), len(targets), NO_TRACE)
        return None if found is None else (found[0], found[1][:, REPORT.size :])


class Walked(Solution):
    """A solution of the compiled loop for one goal. Rarely used values are computed on access."""

    walk: Walk
    target: FloatArray
    begun: FloatArray
    found: FloatArray
    report: FloatArray
    trace = ()

    @cached_property
    def linkage(self) -> Linkage:
        return self.walk.linkage

    @cached_property
    def goals(self) -> tuple[Reach, ...]:
        return (self.walk.goals[0].moved(np.array(self.target)),)

    @cached_property
    def method(self) -> str:
        return self.walk.method.name

    @cached_property
    def start(self) -> FloatArray:
        return self.begun.reshape(-1)

    @cached_property
    def residuals(self) -> FloatArray:
        return self.report.reshape(-1)[REPORT.size :]

    @cached_property
    def iterations(self) -> int:
        return int(self.report[0, REPORT.iterations])

    @cached_property
    def status(self) -> Status:
        return NAMES[int(self.report[0, REPORT.status])]

    @cached_property
    def settings(self) -> Settings:
        return self.walk.settings

    @cached_property
    def group(self) -> Group | None:
        return self.walk.group

    @cached_property
    def options(self) -> Any:
        return self.walk.options


def targets_of(series: Sequence[Sequence[Any]]) -> FloatArray:
    """Return the targets (n, goals, 4, 4) of the goals of every frame."""
    return np.array([[goal.target for goal in goals] for goals in series], np.float64)


def walk_for(method: Method, problem: Problem, settings: Settings) -> Walk | None:
    """Return the compiled loop for a problem and `settled` settings, cached on the linkage; None if it is unsupported.

    It supports positions and orientations of frames, one or several, in two and three dimensions, joints of any kind,
    and all options of methods except functions. The method has accepted a problem for which a loop is returned.

    Raises:
        GoalError: If the method does not support these goals.
    """
    if not all(type(goal) is Reach and goal.free is None and goal.ranges is None for goal in problem.goals):
        return None
    if settings.limits == "project" or problem.linkage.constrained:
        return None
    own = tuple(getattr(method, field.name) for field in fields(method))
    try:
        own_key = hashable(own)
    except TypeError:
        return None  # an option that is not hashable
    group = None if problem.group is None else problem.group.key
    key = (type(method), own_key, settings, group, *(goal.signature for goal in problem.goals))
    kept: Walk | bool = problem.linkage.cache.get("walks", key, lambda: _made(method, problem, settings) or False)
    return kept if isinstance(kept, Walk) else None


def _again(method: Method, linkage: Linkage, goals: Any, group: Group | None, settings: Settings) -> Walk | None:
    """Return the walk again after unpickling."""
    return walk_for(method, Problem(linkage, goals, group=group), settings)


def _made(method: Method, problem: Problem, settings: Settings) -> Walk | None:
    if "plan" not in vars(type(method)):  # a subclass defined by the caller
        return None
    method.accept(problem)
    if len(problem.levels) != 1 or not len(problem.rows) or not np.isfinite(settings.tolerances(problem)).all():
        return None
    plan = method.plan(problem, settings)
    return None if plan is None else Walk(method, problem, settings, plan)
