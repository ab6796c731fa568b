"""The compiled whole-body solver for a list of goals, packed once; used by `robust` and `prepare`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, OptionError
from ..goals import Avoid, Dexterity, Goal
from ..goals.base import metres_per_radian
from ..kernels.body_search import EMPHASIS, MISSED, REACHED, REPORT, SETTINGS, search_bodies
from ..linkage.poses import PoseLike, start_pose, turned_back
from ..transforms import FloatArray
from .body_answers import BodyBatch
from .body_batch import ArrayProblems, BatchPlan, ListedProblems, answers_of, batch_starts, ended, solve_problems
from .body_program import BodyProgram
from .body_start import aimed_starts, carried_goal
from .body_step import BodyFollower, BodyStep
from .goal_arrays import goal_records, packable, write_goal
from .groups import within_limits
from .options import Settings
from .problem import Problem, resolve_goals
from .progress import Progress
from .solution import Solution, Status, from_rows
from .step import Step, check_cycle

WISH = 0.1  # factor on a wish of a lower level in the first descent
FINEST, FINISH = 1e-10, 120.0  # error that counts as zero when a level converges, and largest number of steps for that
TRIES = 300
SAME = 1e-9  # errors that differ by less are the same
LIGHT, HEAVY = 1e-3, 1e3  # if the largest weight of a level is outside this range, its weights are scaled
FRAMES = 16  # frames of a motion per compiled call, which cannot be interrupted


class Pace(NamedTuple):
    """Parameters of a search: damping and when it ends.

    Attributes:
        gain: Damping for each squared error.
        floor: Smallest damping, as a multiple of the square of a quarter of the linkage's length.
        steps: Largest number of steps from one start.
        patience: Number of steps without progress after which a start is abandoned.
        stalled: A squared error below this share of the last one counts as progress.
        settled: A wish is pursued until a step reduces the squared error by less than this share.
    """

    gain: float = 0.02
    floor: float = 1e-12
    steps: float = 60.0
    patience: float = 5.0
    stalled: float = 0.6
    settled: float = 1e-3


CLIMBING = Pace(steps=200.0, settled=1e-5)


class SearchResult(NamedTuple):
    """Result of a search: poses (m, nq), status, residuals (m, blocks), numbers of starts and steps."""

    q: FloatArray
    status: NDArray[np.int64]
    residuals: FloatArray
    starts: FloatArray
    steps: FloatArray


class BodySolver:
    """Prepared inverse kinematics of a list of goals: call it with goals of the same kinds.

    Attributes:
        problem: The goals it was created for.
        program: The packed arrays for the kernels.
        settings: Tolerances and limits.
        restarts: Largest number of other starts for one problem.
        seed: Seed of the random starts.
        steering: Parameters of the kernels.
        avoid: What to keep clear of; None if no goal is an `Avoid`.
    """

    def __init__(
        self, problem: Problem, settings: Settings, *, restarts: int, seed: int, pace: Pace | None = None
    ) -> None:
        self.linkage, self.problem, self.settings = problem.linkage, problem, settings
        self.restarts, self.seed = min(restarts, TRIES), seed
        self.program = BodyProgram(problem, settings)
        self.carried = carried_goal(problem)
        self.avoid = next((goal for goal in problem.goals if isinstance(goal, Avoid)), None)
        levels = self.program.levels
        strict = [EMPHASIS[levels[goal.priority]] for goal in problem.goals]
        wishes = [goal.tolerance is not None and np.isinf(goal.tolerance).any() for goal in problem.goals]
        alike = [max(factor, WISH) if wish else 1.0 for factor, wish in zip(strict, wishes, strict=True)]
        self.emphasis = [strict] if len(levels) == 1 else [strict, alike]
        self._stride = len(self.emphasis) * self.program.size
        self._kinds = [_kind(goal) for goal in problem.goals]
        self._arm = metres_per_radian(self.linkage)
        self._width = REPORT.size + len(problem.blocks)
        own = (pace or Pace())._asdict()
        own["floor"] *= self._arm**2
        self.steering = SETTINGS.pack(
            **own,
            finest=FINEST * max(self._arm, 1.0),
            finish=FINISH,
            two_weights=alike != strict,
            has_wishes=any(wishes),
        )

        self.turning = self._free_turns()
        if self.carried is not None:  # index of its position among the numbers
            records = list(goal_records(self.program.goals, np.arange(float(self.program.size))))
            self._carried_to = records[self.carried][0].target.reshape(3, 4)[:, 3].astype(np.int64)

    def _free_turns(self) -> NDArray[np.int64]:
        """Return the indices of angles that can make a whole turn within limits and that no goal refers to."""
        columns, program, linkage = self.program.columns, self.program, self.linkage
        named = {v for goal in program.goals for v in goal.velocities}
        free = [q for v, q in zip(columns.tolist(), program.places.tolist(), strict=True) if v not in named and q >= 0]
        places = np.array([q for q in free if linkage.table.periodic[q]], np.int64)
        if not self.settings.keeps_limits:
            return places
        return places[linkage.upper[places] - linkage.lower[places] >= 2.0 * math.pi]

    @cached_property
    def follower(self) -> BodyFollower:
        """The object that computes control cycles."""
        return BodyFollower(self)

    def __repr__(self) -> str:
        return f"<BodySolver of {self.linkage.name!r}: {len(self._kinds)} goals, {len(self.program.columns)} columns>"

    def goal_numbers(self, goals: Sequence[Goal]) -> FloatArray:
        """Return the packed numbers of resolved goals of the prepared kinds; weights and targets may differ."""
        if [_kind(goal) for goal in goals] != self._kinds:
            raise GoalError(
                f"this solver is for {len(self._kinds)} goals of other kinds, frames or tolerances; prepare another "
                "one."
            )
        numbers, at, weights = np.empty(self._stride), 0, self._weights(goals)
        for emphasis in self.emphasis:
            for goal, factor, weight in zip(goals, emphasis, weights, strict=True):
                at = write_goal(self.linkage, goal, factor * weight, self._arm, numbers, at)
        return numbers

    def _weights(self, goals: Sequence[Goal]) -> list[float]:
        """Return the weights of goals relative to others of their level, or to 1 if all are very large or small."""
        weights = [goal.weight for goal in goals]
        if min(weights) > LIGHT and max(weights) < HEAVY:
            return weights
        most: dict[int, float] = {}
        for goal in goals:
            most[goal.priority] = max(most.get(goal.priority, 0.0), goal.weight)
        return [goal.weight / (1.0 if LIGHT < most[goal.priority] < HEAVY else most[goal.priority]) for goal in goals]

    def search(
        self,
        numbers: FloatArray,
        starts: FloatArray,
        *,
        chained: bool = False,
        begin: int = 0,
        tries: int | None = None,
    ) -> SearchResult:
        """Return the search results for the packed numbers of m problems and their starts (m, nq).

        Args:
            numbers: The result of `goal_numbers` for each, shape (m, size).
            starts: The pose for each problem; with `chained`, only the first is used.
            chained: Start every problem from the solution of the one before.
            begin: Number of the first problem; random starts depend on it.
            tries: Number of starts after the first.
        """
        program, status = self.program, np.zeros(len(numbers), np.int64)
        tries = self.restarts if tries is None else tries
        ignored, group = self.settings.limits == "ignore", self.problem.group
        out = np.array(starts) if ignored else within_limits(self.linkage, starts, group)
        report = np.zeros((len(numbers), self._width))
        given = program.codes, program.numbers, self.steering, numbers.reshape(-1), program.size
        memory, results = np.empty(program.scratch_size), (out.reshape(-1), report.reshape(-1), status)
        search_bodies(*given, begin, chained, self.seed, tries, memory, *results)
        self._turn_back(out, starts, chained)
        return SearchResult(out, status, report[:, REPORT.size :], report[:, REPORT.starts], report[:, REPORT.steps])

    def _turn_back(self, q: FloatArray, starts: FloatArray, chained: bool) -> None:
        """Shift every angle of the results by whole turns to be nearest to its start, within limits."""
        places, keep = self.turning, self.settings.keeps_limits
        if not len(places):
            return
        before = np.concatenate([starts[:1], q[:-1]]) if chained else starts
        if np.abs(q[:, places] - before[:, places]).max(initial=0.0) <= math.pi:
            return
        for k in range(len(q)):
            start = q[k - 1] if chained and k else starts[k]
            q[k, places] = turned_back(self.linkage, q[k], start, keep_limits=keep)[places]

    def __call__(self, goals: Goal | Sequence[Goal], *, start: PoseLike | None = None, stay: bool = False) -> Solution:
        """Return the solution that meets goals, or the closest pose found.

        Args:
            goals: Goals of the kinds that it was made for.
            start: Start pose: an array (nq,), the name of a stored pose, or values by joint; the neutral pose by
                default.
            stay: Never jump: follow a continuous motion from the start, on its branch, with no joint turned by more
                than 0.49 rad. If that does not reach the goals, the solve fails, with status ``following`` if further
                calls from the result come nearer, else ``held``. Needs a start.

        Example:
            >>> import linkwork as lw
            >>> body = lw.models.human()
            >>> ik = lw.prepare(body, [lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))])
            >>> ik([lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.1, 1.1))], start="stand").success
            True
        """
        if stay:
            return self.stay(goals, start)
        return self.solve(goals, self._start(start))

    def stay(self, goals: Goal | Sequence[Goal], start: PoseLike | None) -> Solution:
        """Return the solution that a continuous motion from a start reaches; see `stay` in a call."""
        if start is None:
            raise OptionError("stay=True keeps to the branch of a start; give start=, the pose to go on from.")
        pose = self._start(start)
        known = resolve_goals(self.linkage, goals, pose)
        row = self.follower.stay(known, pose)
        return Solution(self.linkage, known, "robust", pose, *row, (), self.settings, self.problem.group)

    def step(
        self,
        goals: Goal | Sequence[Goal],
        q: PoseLike,
        dt: float,
        *,
        velocity: ArrayLike | None = None,
        scale: float = 1.0,
    ) -> BodyStep:
        """Return the next pose of a control loop: one cycle towards the goals, without a jump.

        No joint moves by more than its velocity limit times `dt`; one without such a limit turns by at most 0.25 rad,
        or slides by a sixteenth of the body's length. Limits and priority levels are kept, and if goals are out of
        reach the body comes as near as it can. A joint beyond its limits is brought back at once. A goal without a
        target, such as `Hold("foot")`, takes its target from `q` in every cycle; to keep the initial target, resolve it
        once: ``Hold("foot").resolve(body, q)``.

        Args:
            goals: Goals of the kinds that it was made for.
            q: The current pose, or the step before.
            dt: Duration of a cycle [s].
            velocity: Speed limits [rad/s, m/s], one for all joints or one for each velocity; those of the linkage by
                default.
            scale: Factor on the speed limits: 0.5 moves at half the allowed speed.

        Returns:
            A `Step`: the pose `q`, a `status` and numbers. It can be used in place of its pose, as below.

        Example:
            >>> import linkwork as lw
            >>> body = lw.models.human()
            >>> q = body.stored_pose("stand")
            >>> goals = [lw.Hold("left_foot").resolve(body, q), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))]
            >>> ik = lw.prepare(body, goals)
            >>> for _ in range(100):
            ...     q = ik.step(goals, q, dt=0.01, velocity=2.0)
            >>> q.status
            'reached'
        """
        check_cycle(dt)
        pose = self._start(q.q if isinstance(q, Step) else q)
        known = resolve_goals(self.linkage, goals, pose)
        return self.follower.step(known, pose, float(dt), velocity, scale)

    def solve(self, goals: Goal | Sequence[Goal], start: FloatArray, *, time_budget: float | None = None) -> Solution:
        """Return the solution from a checked start, or from many starts (..., nq) for the same goals."""
        known = resolve_goals(self.linkage, goals, start)
        numbers, starts = self.goal_numbers(known)[None], start.reshape(-1, self.linkage.nq)
        if len(starts) != 1:
            numbers = np.repeat(numbers, len(starts), axis=0)
        starts = self.aimed(numbers, starts)
        found, late = self._search_within(time_budget, numbers, starts)
        if start.ndim == 1 or not late:
            found = self.firm(lambda _: known, starts, found, self.restarts)
        settings = self.settings if time_budget is None else replace(self.settings, time_budget=time_budget)
        missed: Status = "time" if late else "closest"
        if start.ndim == 1:  # fast path of control loops
            good = bool(found.status[0] == REACHED)
            row = found.q[0], good, found.residuals[0], int(found.steps[0]), "reached" if good else missed
            return Solution(self.linkage, known, "robust", start, *row, (), settings, self.problem.group)
        reached = found.status == REACHED
        status = ["reached" if good else missed for good in reached.tolist()]
        rows = found.q, reached, found.residuals, found.steps.astype(np.int64), status
        return from_rows(self.linkage, known, "robust", start, rows, settings, group=self.problem.group)

    def aimed(self, numbers: FloatArray, starts: FloatArray) -> FloatArray:
        """Return starts (m, nq) with a mobile base moved near the goals."""
        if self.carried is None:
            return starts
        goal: Any = self.problem.goals[self.carried]
        return aimed_starts(self.linkage, goal.frame, numbers[:, self._carried_to], starts, self.settings)

    def firm(
        self, goals_of: Callable[[int], tuple[Goal, ...]], starts: FloatArray, found: SearchResult, tries: int
    ) -> SearchResult:
        """Return the search results, corrected where the last priority level made an upper level worse.

        The goals of a row are looked up only when needed.
        """
        if len(self.emphasis) > 1:
            tolerances = self.settings.tolerances(self.problem)
            for k in np.flatnonzero(found.status == MISSED).tolist():
                q, residuals = self._no_worse(goals_of(k), starts[k], found.q[k], found.residuals[k], tries)
                found.q[k], found.residuals[k] = q, residuals
                found.status[k] = REACHED if (residuals <= tolerances).all() else MISSED
        return found

    def _no_worse(
        self, goals: tuple[Goal, ...], start: FloatArray, q: FloatArray, residuals: FloatArray, restarts: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return a pose and its residuals whose upper levels are at least as good as without the last level.

        The last level may have led to another local minimum, where upper levels are worse.
        """
        last = max(goal.priority for goal in goals)
        above = tuple(goal for goal in goals if goal.priority < last)
        group = self.problem.group
        solver = body_solver_for(Problem(self.linkage, above, start, group), self.settings, restarts, self.seed)
        alone = solver.solve(above, start)
        problem = Problem(self.linkage, goals, start, group)
        other = problem.residuals(problem.error(alone.q))
        ranks = np.array([problem.priorities[block.rows.start] for block in problem.blocks])
        upper = [ranks == rank for rank in np.unique(ranks)[:-1]]
        if not _better(upper, other, residuals):
            return q, residuals
        again = self.search(self.goal_numbers(goals)[None], alone.q[None], tries=0)
        if _better(upper, other, again.residuals[0]):
            return alone.q, other
        return again.q[0], again.residuals[0]

    def follow(
        self, frames: Iterable[Goal | Sequence[Goal]], *, start: PoseLike | None = None, restarts: bool = True
    ) -> BodyBatch:
        """Return the poses that meet goals frame by frame, each solved from the pose before, to make a clip.

        Args:
            frames: Goals of every frame, all of the prepared kinds. A goal without a target, such as `Hold`, takes it
                from the start.
            start: Pose before the first frame; the neutral pose by default.
            restarts: Whether to try other starts for a frame that misses its goals, which makes it jump.
        """
        pose, problems = self._start(start), ListedProblems(self, frames)
        first, count = pose, len(problems)
        numbers = problems.numbers(slice(0, count), np.broadcast_to(first, (count, len(first))))
        tries = self.restarts if restarts else 0
        at_once = FRAMES if len(self.emphasis) == 1 else 1  # with levels, each frame starts from a corrected pose
        parts: list[SearchResult] = []
        for k in range(0, count, at_once):
            part = numbers[k : k + at_once]
            starts = np.broadcast_to(pose, (len(part), len(pose)))
            found = self.search(part, starts, chained=True, begin=k, tries=tries)
            parts.append(self.firm(partial(problems.goals_after, k, first), starts, found, tries))
            pose = parts[-1].q[-1]
        found = SearchResult(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return answers_of(self, problems.shared, found.q, found.residuals, found.starts, ended(found.status))

    def batch(
        self,
        goals: Iterable[Goal | Sequence[Goal]],
        *,
        targets: Mapping[Any, ArrayLike] | None = None,
        start: PoseLike | None = None,
        threads: int | None = None,
        time_budget: float | None = None,
        progress: Progress = False,
        first: int = 0,
    ) -> BodyBatch:
        """Return the poses of many independent problems, solved on all cores; results do not depend on the threads.

        Args:
            goals: With `targets`, the goals that all problems share. Without, a list of goals for every problem. All
                are of the prepared kinds.
            targets: Arrays of targets, a row for each problem, by the goal or the frame that they are for: poses (n, 4,
                4), rotations (n, 3, 3) or positions (n, 3) of `Reach`, `Hold` and `Relate`, points (n, 3) of `LookAt`,
                `Bend`, `OnPlane`, `OnLine` and `Distance`, directions (n, 3) of `Align`, poses (n, nq) of `Rest`. Other
                goals are the same for all problems. A target that is not finite or not rigid fails; the others are not
                affected.
            start: One pose for all, or one for each; the neutral pose by default.
            threads: Number of threads; by default the number of cores.
            time_budget: Time [s] after which remaining problems are skipped, with status ``time``.
            progress: True for a bar, False for none, a function of (done, total).
            first: Number of the first problem, if these are part of a larger set: random starts depend on it.

        Example:
            >>> import numpy as np
            >>> import linkwork as lw
            >>> body = lw.models.human()
            >>> gaze = lw.LookAt("eyes", at=(1, 0, 1.5))
            >>> goals = [lw.Hold("left_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2)), gaze]
            >>> hands = np.linspace((0.4, -0.3, 1.0), (0.4, -0.1, 1.3), 100)
            >>> lw.prepare(body, goals).batch(goals, targets={"right_hand": hands, gaze: hands}, start="stand")
            <BodyBatch of left_foot, right_hand, eyes: 100 of 100 reached>
        """
        plan = BatchPlan(threads, first, time_budget, progress)
        if targets is None:
            listed = ListedProblems(self, goals)
            return solve_problems(self, listed, batch_starts(self, start, len(listed)), plan)
        poses = np.asarray(start_pose(self.linkage, start))
        shared: Any = tuple(goals)
        problems = ArrayProblems(self, shared, targets, poses)
        return solve_problems(self, problems, batch_starts(self, start, len(problems)), plan)

    def _start(self, start: PoseLike | None) -> FloatArray:
        pose = start_pose(self.linkage, start)
        if pose.ndim != 1:
            raise OptionError(f"one problem takes one start of shape ({self.linkage.nq},), got shape {pose.shape}.")
        return pose

    def _search_within(
        self, time_budget: float | None, numbers: FloatArray, starts: FloatArray
    ) -> tuple[SearchResult, bool]:
        """Return the search results, and whether time was up before the search ended.

        The compiled search cannot be interrupted, so with a budget it is repeated with twice as many starts. The starts
        are the same and in the same order, so a result found in time equals that of a search without a budget.
        """
        if time_budget is None:
            return self.search(numbers, starts), False
        began = time.perf_counter()
        deadline, tries = began + time_budget, min(1, self.restarts)
        found = self.search(numbers, starts, tries=tries)
        spent = (time.perf_counter() - began) / max(len(numbers), 1)
        while tries < self.restarts and (found.starts > tries).any():  # the others have ended by themselves
            open_ones, tries = np.flatnonzero(found.starts > tries).tolist(), min(2 * tries + 1, self.restarts)
            for k in open_ones:
                began = time.perf_counter()
                if began + 2.0 * spent > deadline:
                    return found, True
                one = slice(k, k + 1)
                for old, new in zip(found, self.search(numbers[one], starts[one], begin=k, tries=tries), strict=True):
                    old[one] = new
                spent = time.perf_counter() - began
        return found, time.perf_counter() > deadline


def _better(levels: Sequence[NDArray[np.bool_]], one: FloatArray, two: FloatArray) -> bool:
    """Return whether residuals `one` are better than `two`, at the first level that differs."""
    for rows in levels:
        less = float(np.linalg.norm(two[rows]) - np.linalg.norm(one[rows]))
        if abs(less) > SAME:
            return less > 0.0
    return False


def _kind(goal: Goal) -> tuple[Any, ...]:
    """Return the signature of a goal without its weight."""
    signature = goal.signature
    return signature[:-3] + signature[-2:]


def can_compile(problem: Problem) -> bool:
    """Return whether the compiled solver supports all goals of a problem, and its number of levels."""
    known = all(map(packable, problem.goals))
    return known and len(np.unique(problem.priorities)) <= len(EMPHASIS)


def _pace(problem: Problem) -> Pace:
    """Return the parameters of a search; dexterity needs more steps, since its best value is not known."""
    return CLIMBING if any(isinstance(goal, Dexterity) for goal in problem.goals) else Pace()


def body_solver_for(problem: Problem, settings: Settings, restarts: int, seed: int) -> BodySolver:
    """Return the solver for a problem's kinds of goals; it is cached on the linkage."""
    settings = settings if settings.time_budget is None else replace(settings, time_budget=None)
    kinds = tuple(_kind(goal) for goal in problem.goals)
    moving = None if problem.group is None else problem.group.key
    key = (kinds, settings.tolerance, settings.rotation_tolerance, settings.limits == "ignore", restarts, seed, moving)
    return problem.linkage.cache.get(
        "body solvers", key, lambda: BodySolver(problem, settings, restarts=restarts, seed=seed, pace=_pace(problem))
    )
