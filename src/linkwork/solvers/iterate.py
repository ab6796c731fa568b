"""The main loop: it steps a method, for many problems (poses of shape (..., nq)) together, until all have ended."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.progress import ACTIVE, DIVERGED, REACHED, STALLED, judge, measure
from ..kernels.textbook_walk import RESTLESS
from ..linkage.poses import advance, turned_back
from ..transforms import FloatArray
from .constraints import closed, leaving_cones, loop_normals
from .groups import limits_kept, within_limits
from .loops import Closure
from .problem import Problem, State
from .solution import Record, Solution, from_rows
from .walking import walk_for

if TYPE_CHECKING:
    from .method import Method
    from .options import Settings

TOGETHER = 10.0  # the combined error of a level may be this many times as large as each of its errors
SETTLED = 1e-12  # share of the length: errors of upper levels below this are not caused by steps of lower levels


def run(method: Method, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
    """Iterate a method until the goals are reached or it makes no more progress.

    These are Euler steps with a new Jacobian each time. A step that would increase the weighted error is halved a few
    times. If that does not help, the full step is taken, since a way around may lead uphill. The best pose is returned.
    """
    settings = settled(settings, method)
    compiled = walk_for(method, problem, settings) if not settings.trace or start.ndim == 1 else None
    found = None if compiled is None else compiled.many(problem, start)
    if found is not None:
        return found
    method.accept(problem)
    deadline = None if settings.time_budget is None else time.perf_counter() + settings.time_budget
    trace: list[Record] = []
    walk, ending = _walked(method, problem, start, settings, deadline, trace=trace if settings.trace else None)
    return walk.solution(start, trace, ending)


def _walked(
    method: Method,
    problem: Problem,
    start: FloatArray,
    settings: Settings,
    deadline: float | None,
    *,
    trace: list[Record] | None = None,
    finest: float = np.inf,
) -> tuple[_Walk, str]:
    """Return the state at the end, and why it ended; `finest` is an upper bound of all tolerances.

    Priority levels are solved in turn. The levels above the last converge alone first; from there all levels are
    iterated together; then the upper levels converge again. Where they end worse than alone, their own result is kept.
    """
    least, upper = SETTLED * max(problem.linkage.length, 1.0), None
    if len(problem.levels) > 1 and method.strict:
        upper, _ = _walked(method, problem.above(), start, settings, deadline, finest=least)
        start = upper.best_q.reshape(start.shape)
        if settings.limits == "clamp":  # clamping a step of all levels may spoil it for the first
            settings = replace(settings, limits="project")
    walk = _Walk(method, problem, start, settings, finest)
    memory: dict[str, Any] = {}
    iteration, ending = 0, "iterations"
    while walk.going() and iteration < (settings.max_iterations or 0):
        if deadline is not None and time.perf_counter() > deadline:
            ending = "time"
            break
        state = State(problem, walk.q, walk.error, iteration, memory=memory)
        change = limited_step(method, state, settings)
        if trace is not None:
            trace.append(walk.record(state, change))
        walk.move(change)
        iteration += 1
    if upper is not None:
        again, _ = _walked(method, upper.problem, walk.best_q, settings, deadline, finest=least)
        worse = _worse(upper.problem, again.best_q, upper.best_q, TOGETHER * least)
        walk.best_q = np.where(worse[:, None], upper.best_q, again.best_q)
        walk.count += upper.count
    return walk, ending


def _worse(problem: Problem, q: FloatArray, other: FloatArray, least: float) -> NDArray[np.bool_]:
    """Return which poses are worse than others, by the first level that differs by more than `least`."""
    one, two = (problem.error(poses) * problem.scale for poses in (q, other))
    worse, told = np.zeros(len(q), np.bool_), np.zeros(len(q), np.bool_)
    for rank in np.unique(problem.priorities):
        rows = problem.priorities == rank
        more = np.linalg.norm(one[:, rows], axis=-1) - np.linalg.norm(two[:, rows], axis=-1)
        worse |= ~told & (more > least)
        told |= np.abs(more) > least
    return worse


def follow(
    method: Method, problem: Problem, q: FloatArray, settings: Settings, steps: int, memory: dict[str, Any]
) -> FloatArray:
    """Return the pose after a number of plain steps, without halving or checks; the chapter takes one per frame.

    A step that is not finite is skipped. `settings` are `settled`; `memory` is kept for the method between calls.
    """
    for iteration in range(steps):
        state = State(problem, q, problem.error(q), iteration, memory=memory)
        change = limited_step(method, state, settings)
        if np.isfinite(change).all():
            q = moved(problem, q, change, settings)
    return q


def settled(settings: Settings, method: Method) -> Settings:
    """Return settings with the method's own defaults filled in."""
    return replace(
        settings,
        max_iterations=method.iterations if settings.max_iterations is None else settings.max_iterations,
        max_step=method.max_step if settings.max_step is None else settings.max_step,
    )


def limited_step(method: Method, state: State, settings: Settings) -> FloatArray:
    """Return the method's step; with ``limits="project"``, joints that push against a limit do not move."""
    change = _projected_step(method, state, settings)
    return change if state.scale is None else change * state.scale


def _projected_step(method: Method, state: State, settings: Settings) -> FloatArray:
    """Return the step in the state's scaled velocities.

    Joints that push against a limit are removed from the Jacobian and the step is computed again, so that the other
    joints compensate.
    """
    linkage = state.linkage
    projected = linkage.constrained and not method.strict
    if projected:
        state.barred = loop_normals(state)
    change = method.propose(state, settings)
    if settings.limits != "project":
        return change
    q, v, _ = linkage.table.plain
    at_low, at_high = state.q[..., q] <= linkage.lower[q], state.q[..., q] >= linkage.upper[q]
    excluded, barred = np.zeros(change.shape, np.bool_), leaving_cones(linkage, state.q)
    held = np.zeros_like(barred)
    for _ in range(linkage.nv):
        pushing = (at_low & (change[..., v] < 0.0)) | (at_high & (change[..., v] > 0.0))
        leaving = ((barred - held) * change[..., None, :]).sum(axis=-1, keepdims=True) > 0.0
        if not pushing.any() and not leaving.any():
            break
        excluded[..., v] |= pushing
        held = np.where(leaving, barred, held)
        bars = loop_normals(state, excluded, held) if projected else held
        again = State(state.problem, state.q, state.error, state.iteration, state.notes, state.memory, excluded, bars)
        change = again.along_limits(np.where(excluded, 0.0, method.propose(again, settings)))
    return change


def kept_within(problem: Problem, q: FloatArray, settings: Settings) -> FloatArray:
    """Return poses clamped to limits, unless limits are ignored."""
    return within_limits(problem.linkage, q, problem.group) if settings.keeps_limits else q


def moved(problem: Problem, q: FloatArray, change: FloatArray, settings: Settings) -> FloatArray:
    """Return the poses after a change, within limits; held joints keep their exact values."""
    result = kept_within(problem, advance(problem.linkage, q, change), settings)
    return result if problem.group is None else problem.group.held(result, q)


class _Walk:
    """State of all problems of a batch, one row each: pose, error, best pose so far, and status."""

    def __init__(self, method: Method, problem: Problem, start: FloatArray, settings: Settings, finest: float) -> None:
        self.method, self.problem, self.settings, self.shape = method, problem, settings, start.shape[:-1]
        projected = problem.linkage.constrained and not method.strict
        self.closure = (
            Closure(problem.linkage, problem.closings, keep_limits=settings.keeps_limits) if projected else None
        )
        self.free = np.ones(problem.linkage.nv, np.bool_) if problem.group is None else problem.group.free
        self.tolerances = np.minimum(settings.tolerances(problem), finest)
        self.scale = problem.scale * problem.emphasis
        self.wishes = bool(np.isinf(self.tolerances).any())  # they are followed until there is no more progress
        self._blocks = np.array([*(b.rows.start for b in problem.blocks), problem.blocks[-1].rows.stop])
        poses = start.reshape(-1, problem.linkage.nq)
        self.q = closed(self.closure, kept_within(problem, poses, settings), self.free, far=True)
        self.error, self.cost, self.residuals, self.reached = self._measured(self.q)
        self.reached &= not self.wishes
        count = len(self.q)
        self.best_q, self.best_cost, self.first_cost = self.q.copy(), self.cost.copy(), self.cost
        self.mark, self.waiting = self.cost.copy(), np.zeros(count, np.int64)
        self.count, self.status = np.zeros(count, np.int64), np.where(self.reached, REACHED, ACTIVE)
        self._growths, self._grew = np.zeros(count, np.int64), np.zeros(count, np.bool_)

    def _measured(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
        error = np.ascontiguousarray(self.problem.error(q))
        cost, residuals = np.empty(len(q)), np.empty((len(q), len(self.problem.blocks)))
        reached = np.empty(len(q), np.bool_)
        measure(error, self.scale, self._blocks, self.tolerances, cost, residuals, reached)
        return error, cost, residuals, reached

    def going(self) -> bool:
        """Return whether any problem is still active."""
        return ACTIVE in self.status

    def record(self, state: State, change: FloatArray) -> Record:
        """Return the trace record of an iteration, with arrays in the shape of the start."""
        values = np.asarray(np.linalg.svd(state.jacobian, compute_uv=False), dtype=np.float64)
        q, residuals, values, change = (
            rows.reshape(*self.shape, -1).copy() for rows in (self.q, self.residuals, values, change)
        )
        notes = {name: np.reshape(value, (*self.shape, *np.shape(value)[1:])) for name, value in state.notes.items()}
        return Record(q, residuals, values, change, notes)

    def move(self, change: FloatArray) -> None:
        """Take a step, halved for problems whose error would grow, and update the state."""
        useful = (self.status == ACTIVE) & np.isfinite(change).all(axis=-1)
        if not useful.all():
            self.status[(self.status == ACTIVE) & ~useful] = DIVERGED
            change = np.where(useful[:, None], change, 0.0)
        begin, cost, error = self.q, self.cost, self.error
        halvings = self.settings.halvings if self.method.careful else 0
        self._try(begin, change)
        factor = np.ones(len(begin))
        for halving in range(halvings):
            grows = self.cost > cost
            worse = grows | self._strays(error)
            if not worse.any():
                break
            last = halving == halvings - 1  # nothing helps: take the full step, a way around may lead uphill
            factor = np.where(grows & last, 1.0, np.where(worse, factor / 2.0, factor))
            self._try(begin, change * factor[:, None])
        progress = (self.best_q, self.best_cost, self.first_cost, self.mark, self.waiting, self.count, self.status)
        judge(self.q, self.cost, self.reached, *progress, self.method.patience)
        if self.method.may_overshoot:
            self._judge_length(begin, cost, change)

    def _judge_length(self, begin: FloatArray, before: FloatArray, change: FloatArray) -> None:
        """Decide why steps of fixed length make no progress: too long, so errors grow; or short, and they continue.

        Short enough steps down a slope never increase the error, and none is as long as half a turn. A step cut short
        by limits only seems to have stopped.
        """
        grew = self.cost > before * (1.0 + RESTLESS)
        self._growths += grew
        self._grew = (self._grew | grew) & (self.waiting > 0)
        stalled = self.status == STALLED
        too_long = self._grew | (np.abs(change).max(axis=-1, initial=0.0) > np.pi)
        self.status[stalled & too_long] = DIVERGED
        on_its_way = stalled & ~too_long & (np.abs(self.q - begin).max(axis=-1, initial=0.0) > RESTLESS)
        self.status[on_its_way], self.waiting[on_its_way] = ACTIVE, 0

    def _strays(self, before: FloatArray) -> NDArray[np.bool_]:
        """Return which problems have left the straight line to their goals by more than `stray` allows."""
        if self.settings.stray is None:
            return np.zeros(len(before), np.bool_)
        way, gone = before * self.problem.scale, (before - self.error) * self.problem.scale
        along = (gone * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), 1e-300)
        return np.asarray(np.linalg.norm(gone - along[:, None] * way, axis=-1) > self.settings.stray)

    def _try(self, begin: FloatArray, change: FloatArray) -> None:
        self.q = closed(self.closure, moved(self.problem, begin, change, self.settings), self.free)
        self.error, self.cost, self.residuals, self.reached = self._measured(self.q)
        self.reached &= not self.wishes

    def solution(self, start: FloatArray, trace: list[Record], ending: str) -> Solution:
        """Return the best pose, with whole turns removed and success recomputed from the pose itself."""
        linkage = self.problem.linkage
        begun = start.reshape(-1, linkage.nq)
        self.best_q = turned_back(linkage, self.best_q, begun, keep_limits=self.settings.keeps_limits)
        _, _, residuals, reached = self._measured(self.best_q)
        if self.settings.keeps_limits:
            reached &= limits_kept(linkage, self.best_q, self.problem.group)
        self.status[(self.status == ACTIVE) & (10 * self._growths > self.count)] = DIVERGED
        # REACHED may no longer hold: the pose was replaced where upper levels would have been worse
        names = {REACHED: "stalled", STALLED: "stalled", DIVERGED: "diverged", ACTIVE: ending}
        status = ["reached" if good else names[code] for good, code in zip(reached, self.status.tolist(), strict=True)]
        rows = (self.best_q, reached, residuals, self.count, status)
        problem, method = self.problem, self.method
        own = {field.name: getattr(method, field.name) for field in fields(method)}
        return from_rows(linkage, problem.goals, method.name, start, rows, self.settings, trace, problem.group, own)
