"""Find goals that conflict: which to leave out, which limits prevent them, and by how much.

`apart` and `levels` use geometry and the result of a solve. `Experiments` solves again with goals left out, with other
priorities, or with a limit removed, in bounded time.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .. import solvers
from ..goals import Avoid, Goal, Reach
from ..linkage.linkage import Linkage
from ..linkage.program import chain_motions
from ..solvers import Problem, Solution
from ..solvers.options import Limits

SECONDS = 10.0  # time for all experiments about one solve [s]
TRIES = 24  # further starts of each experiment
MOST_LIMITS = 6  # number of limits tried one by one
AT_LIMIT = 1e-9
PUSHING = 1e-3  # share of the strongest push against a limit below which a push is ignored


def called(goal: Goal, among: Sequence[Goal] = ()) -> str:
    """Return a goal's kind and frame, ``Hold 'left_foot'``, and its index if a list has several of these."""
    loop = getattr(goal, "loop", None)
    if loop is not None:
        return f"the loop of {loop.first!r} and {loop.second!r}"
    frame, kind = getattr(goal, "frame", None), getattr(goal, "called", type(goal).__name__)
    name = str(kind) if frame is None else f"{kind} {frame!r}"
    alike = sum(called(other) == name for other in among)
    return f"{name} (goal {among.index(goal)})" if alike > 1 else name


def amount(value: float, unit: str) -> str:
    """Return a distance in metres, an angle in degrees."""
    return f"{value:.3g} m" if unit == "m" else f"{math.degrees(value):.3g} deg"


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return ``"a, b and c"``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def missed_blocks(solution: Solution) -> list[tuple[Goal, str, float]]:
    """Return the goal, the unit and the residual of every block of a solution."""
    owners = [(goal, block.unit) for goal in solution.goals for block in goal.blocks]
    return [(*owner, missed) for owner, missed in zip(owners, solution.residuals.tolist(), strict=True)]


def is_judged(goal: Goal) -> bool:
    """Return whether a goal counts for success; a wish, with infinite tolerance, does not."""
    return any(goal.tolerance_of(block.unit) != math.inf for block in goal.blocks)


# From geometry


class Apart(NamedTuple):
    """Two goals whose targets are further apart than the chains between their frames extend."""

    first: Goal
    second: Goal
    wanted: float
    most: float
    unit: str
    among: Sequence[Goal]

    @property
    def sentence(self) -> str:
        """The two goals, and by how much they contradict each other."""
        pair = " and ".join(called(goal, self.among) for goal in (self.first, self.second))
        if self.unit == "rad":
            return f"conflict: {pair} want one frame turned in two ways, {amount(self.wanted, 'rad')} apart."
        if self.most == 0.0:
            return f"conflict: {pair} want one frame in two places, {amount(self.wanted, 'm')} apart."
        return (
            f"conflict: {pair} are to be {self.wanted:.4g} m apart, the chains between them extend {self.most:.4g} m: "
            f"{self.wanted - self.most:.3g} m too far."
        )


def apart(solution: Solution) -> Apart | None:
    """Return the first pair of goals whose targets alone contradict each other."""
    exact = [goal for goal in solution.goals if isinstance(goal, Reach) and goal.ranges is None]
    placed = [goal for goal in exact if is_judged(goal)]
    for first, second in combinations(placed, 2):
        found = _far(solution, first, second) or _turned(solution, first, second)
        if found is not None:
            return found
    return None


def _room(solution: Solution, goals: Sequence[Goal], unit: str) -> float:
    own = solution.settings.tolerance if unit == "m" else solution.settings.rotation_tolerance
    return sum(own if (given := goal.tolerance_of(unit)) is None else given for goal in goals)


def _far(solution: Solution, first: Reach, second: Reach) -> Apart | None:
    common = np.intersect1d(first.rows[: first.coordinates], second.rows[: second.coordinates])
    distance = float(np.linalg.norm(first.target[common, 3] - second.target[common, 3]))
    if distance <= _room(solution, (first, second), "m"):
        return None
    most = span(solution.linkage, first.frame, second.frame)
    if distance <= most + _room(solution, (first, second), "m"):
        return None
    return Apart(first, second, distance, most, "m", solution.goals)


def _turned(solution: Solution, first: Reach, second: Reach) -> Apart | None:
    one, two = first.orientation, second.orientation
    if first.frame != second.frame or one is None or two is None:
        return None
    if first.free is None and second.free is None:
        sine = float(np.linalg.norm(one - two)) / (2.0 * math.sqrt(2.0))
        angle = 2.0 * math.asin(min(sine, 1.0))
    elif first.free is not None and second.free is not None and np.array_equal(first.free, second.free):
        angle = math.acos(float(np.clip((one @ first.free) @ (two @ first.free), -1.0, 1.0)))
    else:
        return None
    if angle <= _room(solution, (first, second), "rad"):
        return None
    return Apart(first, second, angle, 0.0, "rad", solution.goals)


def span(linkage: Linkage, first: str, second: str) -> float:
    """Return the largest distance two frames can have: the segments of the chains between them laid straight.

    Limits of revolute joints are ignored; it is infinite if a joint between them slides without limits.
    """
    if first == second:
        return 0.0
    chains = [chain_motions(linkage, frame) for frame in (first, second)]
    shared = 0
    for one, two in zip(*(chain.motions for chain in chains), strict=False):
        if not one.same_as(two):
            break
        shared += 1
    total = float(np.linalg.norm(chains[0].offsets[shared] - chains[1].offsets[shared]))
    for chain in chains:
        total += float(np.linalg.norm(chain.offsets[shared + 1 :], axis=1).sum())
        total += sum(motion.stroke(linkage) for motion in chain.motions[shared:])
    return total


# From priority levels


class Level(NamedTuple):
    """A priority level: whether all its goals are reached, and if not, the one with the largest error."""

    rank: int
    worst: str = ""
    missed: float = 0.0
    unit: str = "m"

    @property
    def reached(self) -> bool:
        """Whether none of its goals is missed."""
        return not self.worst

    @property
    def words(self) -> str:
        """``level 1 is missed: Reach 'tip' by 0.31 m``; the level of loops is before the first."""
        if self.reached:
            return "the loops are closed" if self.rank < 0 else f"level {self.rank} is reached"
        who = "the loops stay open" if self.rank < 0 else f"level {self.rank} is missed"
        return f"{who}: {self.worst} by {amount(self.missed, self.unit)}"


def levels(solution: Solution) -> list[Level]:
    """Return the levels of a solution, the first level first; wishes do not count."""
    found: dict[int, list[tuple[float, Goal, float, str]]] = {}
    for goal, unit, missed in missed_blocks(solution):
        room = _room(solution, (goal,), unit)
        if room < math.inf:
            found.setdefault(goal.priority, []).append((missed / room, goal, missed, unit))
    result = []
    for rank in sorted(found):
        ratio, goal, missed, unit = max(found[rank], key=lambda row: row[0])
        result.append(Level(rank) if ratio <= 1.0 else Level(rank, called(goal, solution.goals), missed, unit))
    return result


# From experiments


@dataclass(frozen=True, eq=False)
class Conflict:
    """Goals that cannot be met together, and which of them to leave out.

    Attributes:
        goals: A smallest conflicting set: without any one of these goals, the others of the set are reached.
        removable: The goals of this set without which all other goals of the problem are reached.
        gives_way: For each of these, its error when all others have a higher priority: ``{"m": 0.31}``.
        finished: Whether all experiments were made in time.
        among: All goals of the problem.
    """

    goals: tuple[Goal, ...]
    removable: tuple[Goal, ...]
    gives_way: tuple[dict[str, float], ...]
    finished: bool
    among: tuple[Goal, ...]

    @property
    def sentence(self) -> str:
        """Which goals conflict, and the error each would have to accept."""
        names = [called(goal, self.among) for goal in self.goals]
        return f"Conflict: {joined(names)} cannot be met together. {self.help}".strip()

    @property
    def help(self) -> str:
        """The effect of leaving one of them out, and the error each would have to accept."""
        if not self.removable:
            more = "Leaving out one goal is not enough: others conflict too."
            return more if self.finished else "There was no time to try all."
        names = [called(goal, self.among) for goal in self.removable]
        text = f"Without {joined(names, 'or')} all other goals are reached"
        ways = [
            f"{name} misses by {joined([amount(value, unit) for unit, value in missed.items()])}"
            for name, missed in zip(names, self.gives_way, strict=True)
            if missed
        ]
        text += f"; with a lower priority, {joined(ways, 'or')}." if ways else "."
        return text if self.finished else f"{text} There was no time to try all."


class Experiments:
    """Repeated solves of a slightly changed problem, from the end of the original solve and a few other poses.

    Args:
        solution: A solve that missed its goals.
        seconds: Largest time of all experiments.
    """

    def __init__(self, solution: Solution, seconds: float = SECONDS) -> None:
        self.solution, self.linkage = solution, solution.linkage
        limits: Limits = "project" if solution.settings.keeps_limits else "ignore"
        self.settings = replace(solution.settings, trace=False, max_iterations=None, limits=limits)
        self.goals = [goal for goal in solution.goals if is_judged(goal)]
        for some in (self.goals[:1], self.goals) if self.goals else ():  # compile outside the time limit
            solvers.Robust(restarts=1).solve(self._problem(some), solution.q, self.settings)
        self.deadline = time.perf_counter() + seconds

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return time.perf_counter() > self.deadline

    def solved(self, goals: Sequence[Goal], linkage: Linkage | None = None, **changes: Any) -> Solution:
        """Return a solve of some goals within the remaining time, with changed settings."""
        left = max(self.deadline - time.perf_counter(), 1e-3)
        settings = replace(self.settings, time_budget=left, **changes)
        return solvers.Robust(restarts=TRIES).solve(self._problem(goals, linkage), self.solution.q, settings)

    def _problem(self, goals: Sequence[Goal], linkage: Linkage | None = None) -> Problem:
        return Problem(linkage or self.linkage, list(goals), self.solution.start, self.solution.group)

    def together(self, linkage: Linkage | None = None, **changes: Any) -> Solution:
        """Return a solve of all goals that count for success, on one level."""
        return self.solved([ranked(goal, 0) for goal in self.goals], linkage, **changes)

    def reachable(self, goals: Sequence[Goal]) -> bool:
        """Return whether goals can be met together, ignoring their priority levels."""
        return not goals or bool(self.solved([ranked(goal, 0) for goal in goals]).success)

    def conflict(self, core: Sequence[Goal] = ()) -> Conflict:
        """Return a smallest set of goals that cannot be met together, and which of them could be left out.

        Each goal is left out in turn, and stays out if the others still cannot be met.

        Args:
            core: The conflicting set, if it is known.
        """
        known = list(core) or self._core()
        removable, ways = [], []
        for goal in known if len(self.goals) > 1 else []:
            others = [other for other in self.goals if other is not goal]
            if not self.late and goal.priority >= 0 and self.reachable(others):
                removable.append(goal)
                ways.append({} if self.late else self._gives_way(goal, others))
        return Conflict(tuple(known), tuple(removable), tuple(ways), not self.late, self.solution.goals)

    def _core(self) -> list[Goal]:
        loops, core = [goal for goal in self.goals if goal.priority < 0], list(self.goals)
        if loops and not self.reachable(loops) and not self.late:
            return loops
        for goal in self.goals:
            if self.late or goal.priority < 0:  # loops belong to the linkage: they cannot be left out
                continue
            rest = [other for other in core if other is not goal]
            if rest and not self.reachable(rest) and not self.late:  # a solve that ran out of time proves nothing
                core = rest
        return core

    def _gives_way(self, goal: Goal, others: Sequence[Goal]) -> dict[str, float]:
        """Return the error of a goal by unit, if all others have a higher priority."""
        last = ranked(goal, 1)
        found = self.solved([*(ranked(other, 0) for other in others), last])
        if isinstance(goal, Avoid):  # its rows are many pairs; only the nearest counts
            missed = {"m": goal.margin - float(goal.clearance(self.linkage, found.q))}
            return {unit: value for unit, value in missed.items() if value > 0.0}
        own = next(g for g in found.goals if g.priority == 1 and g.signature == last.signature)
        missed = {unit: value for other, unit, value in missed_blocks(found) if other is own}
        return {unit: value for unit, value in missed.items() if value > _room(self.solution, (goal,), unit)}

    def limits_alone(self) -> dict[str, float]:
        """Return the limits that prevent the goals by themselves, and how far the joint would exceed each.

        Only limits that joints push against at the end of the solve are tried, the most strongly pushed first.
        """
        found: dict[str, float] = {}
        for name in pushed_limits(self.solution)[:MOST_LIMITS]:
            if self.late:
                break
            freed = self.linkage.replace(joints={name: {"lower": -math.inf, "upper": math.inf}})
            again = self.together(freed)
            k = self.linkage.coordinates.index(name)
            if again.success:
                found[name] = float(max(self.linkage.lower[k] - again.q[k], again.q[k] - self.linkage.upper[k]))
        return found


def ranked(goal: Goal, rank: int) -> Goal:
    """Return a goal with another priority; goals that close loops keep theirs."""
    if goal.priority < 0 or goal.priority == rank:
        return goal
    result = copy.copy(goal)
    result.__dict__["priority"] = rank
    return result


def pushed_limits(solution: Solution) -> list[str]:
    """Return the joints at a limit that the goals push against it, the strongest push first."""
    linkage, problem = solution.linkage, solution.problem
    pull = problem.jacobian(solution.q).T @ problem.weighted_error(problem.error(solution.q))
    q, v, _ = linkage.table.plain
    values, low, high = solution.q[q], linkage.lower[q], linkage.upper[q]
    down = np.where(values <= low + AT_LIMIT, -pull[v], 0.0)
    up = np.where(values >= high - AT_LIMIT, pull[v], 0.0)
    push = np.where(low < high, np.maximum(np.maximum(down, up), 0.0), 0.0)
    order = np.argsort(-push, kind="stable")
    strong = [int(k) for k in order if push[k] > PUSHING * float(np.abs(pull).max())]
    return [linkage.coordinates[q[k]] for k in strong if linkage.coordinates[q[k]] in linkage.joints]
