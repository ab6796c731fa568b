"""The one iteration loop, what a method is, and what a solve gives back.

Imports `problem` and what stands before it. Many problems (poses of shape (..., nq)) are stepped together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import Goal
from ..kernels.progress import ACTIVE, DIVERGED, REACHED, STALLED, judge, measure
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, keeps_limits, limited as limited_poses
from ..transforms import FloatArray
from .constraints import closed, leaving_cones, opening
from .loops import Closure
from .problem import Problem, State

LIMITS = ("clamp", "project", "ignore")
NULL = 1e-9  # of the largest singular value: below, a direction changes no goal
SETTLED = 1e-12  # of the length: an error of an upper level that no step below can be blamed for


@dataclass(frozen=True)
class Method:
    """A way of solving: `step` is all that a method adds to the loop. Its fields are its options.

    Class attributes say how the loop should treat it: `iterations` it may take by default; `max_step`, the largest
    change of one value in a step [rad, m] by default; `patience`, how many iterations without progress (a thousandth)
    mean that it is stuck; `strict`, whether its step serves levels of priority one after another; `along`, if not,
    whether it can be held to steps that keep loops closed.
    """

    name: ClassVar[str]
    iterations: ClassVar[int] = 100
    max_step: ClassVar[float | None] = None
    patience: ClassVar[int] = 12
    strict: ClassVar[bool] = False
    along: ClassVar[bool] = False

    @property
    def careful(self) -> bool:
        """Whether the loop should halve a step that makes the error grow."""
        return True

    def check(self, problem: Problem) -> None:
        """Say plainly, by raising GoalError, if this method cannot serve these goals on this linkage."""

    def accept(self, problem: Problem) -> None:
        """Raise GoalError if this method cannot serve these goals: their levels, or what `check` looks at."""
        if problem.linkage.loops and not self.strict and not self.along:
            raise GoalError(
                f"method {self.name!r} cannot close loops, and linkage {problem.linkage.name!r} has "
                f"{len(problem.linkage.loops)}; use 'damped' or 'robust'."
            )
        if len(problem.levels) - bool(problem.linkage.loops) > 1 and not self.strict:
            raise GoalError(
                f"method {self.name!r} weighs goals against each other and knows no levels of priority; use 'damped', "
                "'pseudoinverse' or 'robust', or give all goals one priority (that of a Rest is 1 by default)."
            )
        self.check(problem)

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Return a solution from a start: the loop, unless a method does more around it."""
        return run(self, problem, start, settings)

    def fresh(self, problem: Problem, settings: Settings) -> Solution:
        """Return a solution where no start is given: from the neutral pose, unless a method knows better ones."""
        return self.solve(problem, problem.linkage.neutral(), settings)

    def step(self, state: State) -> FloatArray:
        """Return the change of the pose, a velocity over unit time, shape (..., nv)."""
        raise NotImplementedError

    def propose(self, state: State, settings: Settings) -> FloatArray:
        """Return the step, held to the largest change allowed; methods that move joint by joint override this."""
        change = self.step(state)
        if settings.max_step is not None:
            largest = np.abs(change).max(axis=-1, keepdims=True)
            change = change * np.minimum(1.0, settings.max_step / np.maximum(largest, 1e-300))
        return change


@dataclass(frozen=True)
class Settings:
    """What every method takes.

    Args:
        tolerance: Largest position error that counts as reached [m].
        rotation_tolerance: Largest rotation error that counts as reached [rad].
        max_iterations: Steps at most; the method's own default if None.
        time_budget: Seconds at most, or None.
        max_step: Largest change of one value in a step [rad, m]; the method's own default if None, inf for no limit.
        limits: ``"clamp"`` values to their limits after every step; ``"project"``: also take joints that push against a
            limit out of the step, so that the others do their part; ``"ignore"``.
        halvings: How often a step that makes the error grow is halved before it is taken all the same.
        stray: Largest distance by which a step may leave the straight way to the goals [m]; one that does is halved
            too. None lets it stray.
        trace: Keep every iteration.
    """

    tolerance: float = 1e-4
    rotation_tolerance: float = 1e-3
    max_iterations: int | None = None
    time_budget: float | None = None
    max_step: float | None = None
    limits: str = "clamp"
    halvings: int = 6
    stray: float | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        for name in ("tolerance", "rotation_tolerance"):
            positive(name, getattr(self, name))
        for name in ("time_budget", "max_step", "stray"):
            if getattr(self, name) is not None:
                positive(name, getattr(self, name))
        for name in ("max_iterations", "halvings"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name)))
        if not isinstance(self.trace, bool):
            raise OptionError(f"trace is True or False, got {self.trace!r}.")
        if self.limits not in LIMITS:
            raise OptionError(f"limits is one of {', '.join(map(repr, LIMITS))}, got {self.limits!r}.")

    def tolerances(self, problem: Problem) -> FloatArray:
        """Return the tolerance of every block."""
        own = np.array([self.rotation_tolerance if b.unit == "rad" else self.tolerance for b in problem.blocks])
        return np.where(np.isnan(problem.tolerances), own, problem.tolerances)


def whole(name: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number of any type, or say what is wrong with an option."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value < 2**63:
        raise OptionError(
            f"{name} must be a whole number, {'at least one' if least else 'zero or more'}, got {value!r}."
        )
    return int(value)


def positive(name: str, value: Any) -> None:
    """Raise if an option is no positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value > 0.0:
        raise OptionError(f"{name} must be positive, got {value!r}.")


@dataclass(frozen=True, eq=False)
class Record:
    """One iteration of a trace: the pose it began with, its error, the step taken and the method's notes."""

    q: FloatArray
    residuals: FloatArray
    singular_values: FloatArray
    step: FloatArray
    notes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solve gives back. Fields have the batch shape of the starts; one start gives plain values.

    Attributes:
        q: The best pose found, shape (..., nq).
        success: Whether every error, recomputed from `q`, is within tolerance and every limit holds.
        residuals: The norm of each goal's position [m] and rotation [rad] error, shape (..., blocks).
        iterations: Steps taken.
        status: Why it ended: ``reached``, ``stalled``, ``diverged``, ``iterations``, ``time``; the compiled search has
            also ``closest`` (no start came nearer) and ``beyond`` (out of reach).
        trace: One record an iteration, if asked for.
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    method: str
    start: FloatArray
    q: FloatArray
    success: Any
    residuals: FloatArray
    iterations: Any
    status: Any
    trace: tuple[Record, ...]
    settings: Settings

    @property
    def residual(self) -> Any:
        """The largest of the residuals."""
        return self.residuals.max(axis=-1)

    @cached_property
    def reason(self) -> Any:
        """One sentence, with numbers, on how it ended; a list of them for many problems."""
        from ..explain import diagnosis

        return diagnosis.reason(self)

    def explain(self) -> str:
        """Return a paragraph a person can act on: what happened, why, and what to try."""
        from ..explain import diagnosis

        return diagnosis.explain(self)

    @cached_property
    def freedom(self) -> int:
        """Dimension of the set of solutions around the answer: joints' velocities less what the goals use up."""
        from ..explain import diagnosis

        return diagnosis.freedom(self)

    def null_space(self) -> FloatArray:
        """Return an orthonormal basis (nv, k) of the velocities that leave all goals as they are, to first order.

        Loops are among the goals, wishes (goals of infinite tolerance) are not.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> lw.solve(arm, lw.Reach("tip", position=(0.4, 0.1, 0.5))).null_space().shape
            (7, 4)
        """
        if np.ndim(self.success):
            raise OptionError("a null space is that of one solution; solve one problem alone.")
        judged = [goal for goal in self.goals if goal.tolerance is None or np.isfinite(goal.tolerance).any()]
        if not judged:
            return np.eye(self.linkage.nv)
        jacobian = Problem(self.linkage, judged, self.start).jacobian(self.q)
        _, sigma, Vt = np.linalg.svd(jacobian)
        rank = int((sigma > NULL * sigma.max(initial=1e-300)).sum())
        basis: FloatArray = Vt[rank:].T.copy()
        return basis

    def __repr__(self) -> str:
        if np.ndim(self.success):
            return f"<Solution by {self.method}: {int(np.sum(self.success))} of {np.size(self.success)} reached>"
        return (
            f"<Solution by {self.method}: {'reached' if self.success else self.status}, {self.iterations} iterations>"
        )


def run(method: Method, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
    """Iterate a method until the goals are reached or there is no hope.

    Euler steps with the Jacobian taken anew each time. A step that makes the weighted error grow is halved a few times;
    what still does not help is taken whole, since a way round may lead uphill. The best pose met is what comes back.
    """
    method.accept(problem)
    settings = settled(settings, method)
    deadline = None if settings.time_budget is None else time.perf_counter() + settings.time_budget
    trace: list[Record] = []
    walk, ending = _walked(method, problem, start, settings, deadline, trace=trace if settings.trace else None)
    return walk.solution(method, start, trace, ending)


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
    """Return how far the poses came, and what ended it; `finest` is the largest tolerance for any error.

    Levels of priority are taken in turn. Those above the last are brought to rest alone; from there the walk goes on
    with all; then the ones above are brought to rest again. Where they would be worse off than alone, they stay so.
    """
    least, upper = SETTLED * max(problem.linkage.length, 1.0), None
    if len(problem.levels) > 1 and method.strict:
        upper, _ = _walked(method, problem.above(), start, settings, deadline, finest=least)
        start = upper.best_q.reshape(start.shape)
    closure = (
        None
        if method.strict or not problem.linkage.loops
        else Closure(problem.linkage, limits=settings.limits != "ignore")
    )
    walk = _Walk(problem, start, settings, method.patience, finest=finest, closure=closure)
    memory: dict[str, Any] = {}
    iteration, ending = 0, "iterations"
    while walk.going() and iteration < (settings.max_iterations or 0):
        if deadline is not None and time.perf_counter() > deadline:
            ending = "time"
            break
        state = State(problem, walk.q, walk.error, iteration, memory=memory)
        change = limited(method, state, settings)
        if trace is not None:
            trace.append(_record(walk, state, change))
        walk.move(change, settings.halvings if method.careful else 0)
        iteration += 1
    if upper is not None:
        again, _ = _walked(method, upper.problem, walk.best_q, settings, deadline, finest=least)
        worse = _worse(upper.problem, again.best_q, upper.best_q, least)
        walk.best_q = np.where(worse[:, None], upper.best_q, again.best_q)
        walk.count += upper.count
    return walk, ending


def _worse(problem: Problem, q: FloatArray, other: FloatArray, least: float) -> NDArray[np.bool_]:
    """Return which poses serve the levels worse than others: the first that differs by more than `least` tells."""
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
    """Return the pose after a number of plain steps, as the chapter takes one a frame: no halving, no judging.

    A step that is not finite is not taken. `settings` are `settled`; `memory` is the method's own from call to call.
    """
    for iteration in range(steps):
        state = State(problem, q, problem.error(q), iteration, memory=memory)
        change = limited(method, state, settings)
        if np.isfinite(change).all():
            q = within(problem.linkage, advance(problem.linkage, q, change), settings)
    return q


def settled(settings: Settings, method: Method) -> Settings:
    """Return settings with the method's own defaults filled in."""
    return replace(
        settings,
        max_iterations=method.iterations if settings.max_iterations is None else settings.max_iterations,
        max_step=method.max_step if settings.max_step is None else settings.max_step,
    )


def limited(method: Method, state: State, settings: Settings) -> FloatArray:
    """Return the method's step; with ``limits="project"``, without the joints that push against a limit.

    Those are taken out of the Jacobian and the step is made anew, so that the other joints do their part.
    """
    linkage = state.linkage
    along = bool(linkage.loops) and not method.strict
    if along:
        state.barred = opening(state)
    change = method.propose(state, settings)
    if settings.limits != "project":
        return change
    q, v, _ = linkage.plain_values
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
        bars = opening(state, excluded, held) if along else held
        again = State(state.problem, state.q, state.error, state.iteration, state.notes, state.memory, excluded, bars)
        change = again.along_limits(np.where(excluded, 0.0, method.propose(again, settings)))
    return change


def within(linkage: Linkage, q: FloatArray, settings: Settings) -> FloatArray:
    """Return poses brought within limits, unless those are ignored."""
    if settings.limits == "ignore":
        return q
    return limited_poses(linkage, q)


def _record(walk: _Walk, state: State, change: FloatArray) -> Record:
    values = np.asarray(np.linalg.svd(state.jacobian, compute_uv=False), dtype=np.float64)
    shape = walk.shape
    notes = {name: np.reshape(value, (*shape, *np.shape(value)[1:])) for name, value in state.notes.items()}
    return Record(
        walk.q.reshape(*shape, -1).copy(),
        walk.residuals.reshape(*shape, -1).copy(),
        values.reshape(*shape, -1),
        change.reshape(*shape, -1).copy(),
        notes,
    )


class _Walk:
    """Where all problems of a batch stand, one row each: pose, error, the best pose met, and how they ended."""

    def __init__(
        self,
        problem: Problem,
        start: FloatArray,
        settings: Settings,
        patience: int,
        *,
        finest: float = np.inf,
        closure: Closure | None = None,
    ) -> None:
        self.problem, self.settings, self.patience, self.closure = problem, settings, patience, closure
        self.shape = start.shape[:-1]
        self.tolerances = np.minimum(settings.tolerances(problem), finest)
        self.scale = problem.scale * problem.emphasis
        self.wishes = bool(np.isinf(self.tolerances).any())  # they are followed until nothing comes of it
        self._blocks = np.array([(b.rows.start, b.rows.stop) for b in problem.blocks])
        self.q = closed(closure, within(problem.linkage, start.reshape(-1, problem.linkage.nq), settings), far=True)
        self.error, self.cost, self.residuals, self.reached = self._measured(self.q)
        self.reached &= not self.wishes
        count = len(self.q)
        self.best_q, self.best_cost, self.first_cost = self.q.copy(), self.cost.copy(), self.cost
        self.mark, self.waiting = self.cost.copy(), np.zeros(count, np.int64)
        self.count, self.status = np.zeros(count, np.int64), np.where(self.reached, REACHED, ACTIVE)

    def _measured(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
        error = self.problem.error(q)
        cost, residuals = np.empty(len(q)), np.empty((len(q), len(self._blocks)))
        reached = np.empty(len(q), np.bool_)
        measure(error, self.scale, self._blocks, self.tolerances, cost, residuals, reached)
        return error, cost, residuals, reached

    def going(self) -> bool:
        """Return whether any problem is still under way."""
        return ACTIVE in self.status

    def move(self, change: FloatArray, halvings: int) -> None:
        """Take a step, halved for the problems whose error would grow, and note how things stand."""
        useful = (self.status == ACTIVE) & np.isfinite(change).all(axis=-1)
        if not useful.all():
            self.status[(self.status == ACTIVE) & ~useful] = DIVERGED
            change = np.where(useful[:, None], change, 0.0)
        begin, cost, error = self.q, self.cost, self.error
        self._try(begin, change)
        factor = np.ones(len(begin))
        for halving in range(halvings):
            worse = (self.cost > cost) | self._strays(error)
            if not worse.any():
                break
            last = halving == halvings - 1  # nothing helps: take the whole step, a way round may lead uphill
            factor = np.where(worse, 1.0 if last else factor / 2.0, factor)
            self._try(begin, change * factor[:, None])
        progress = (self.best_q, self.best_cost, self.first_cost, self.mark, self.waiting, self.count, self.status)
        judge(self.q, self.cost, self.reached, *progress, self.patience)

    def _strays(self, before: FloatArray) -> NDArray[np.bool_]:
        """Return which problems have left the straight way to their goals by more than they may."""
        if self.settings.stray is None:
            return np.zeros(len(before), np.bool_)
        way, gone = before * self.problem.scale, (before - self.error) * self.problem.scale
        along = (gone * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), 1e-300)
        return np.asarray(np.linalg.norm(gone - along[:, None] * way, axis=-1) > self.settings.stray)

    def _try(self, begin: FloatArray, change: FloatArray) -> None:
        linkage = self.problem.linkage
        self.q = closed(self.closure, within(linkage, advance(linkage, begin, change), self.settings))
        self.error, self.cost, self.residuals, self.reached = self._measured(self.q)
        self.reached &= not self.wishes

    def solution(self, method: Method, start: FloatArray, trace: list[Record], ending: str) -> Solution:
        """Return the best pose met, judged anew from the pose itself."""
        linkage = self.problem.linkage
        _, _, residuals, reached = self._measured(self.best_q)
        if self.settings.limits != "ignore":
            reached &= keeps_limits(linkage, self.best_q)
        names = {REACHED: "reached", STALLED: "stalled", DIVERGED: "diverged", ACTIVE: ending}
        status = ["reached" if good else names[code] for good, code in zip(reached, self.status.tolist(), strict=True)]
        single = not self.shape
        return Solution(
            linkage,
            self.problem.goals,
            method.name,
            start,
            self.best_q.reshape(*self.shape, linkage.nq),
            bool(reached[0]) if single else reached.reshape(self.shape),
            residuals.reshape(*self.shape, -1),
            int(self.count[0]) if single else self.count.reshape(self.shape),
            status[0] if single else np.array(status).reshape(self.shape),
            tuple(trace),
            self.settings,
        )
