"""Explain collisions: which pairs prevent a solve, how deep they overlap, and how far a goal would have to move.

Suggested moves of a goal have been solved for, not estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..goals import Avoid, Goal, Reach
from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..solvers import Solution
from ..solvers.closed_form.recognition import in_words
from ..solvers.groups import random_poses
from ..transforms import FloatArray
from .all_solutions import solve_all
from .conflicts import Experiments, called, joined, ranked

STRETCHES = (1.0, 1.02, 1.1, 1.3)  # multiples of the displacement to the nearest free position, tried in turn
BESIDE = 2e-4  # added to that displacement [m]
ALONG = 0.94  # cosine above which a displacement is called up or down
MOST_POSES = 64  # number of solutions to check
POSES, EVERY = 64, 64  # random poses, and pairs of each, to test whether a contact is permanent


class Nearness(NamedTuple):
    """A pair of bodies that are nearer to each other than a margin."""

    first: str
    second: str
    distance: float
    margin: float

    @property
    def words(self) -> str:
        """``'forearm' enters 'shelf' by 18 mm``; for a pair that does not overlap, the distance and the margin."""
        if self.distance < 0.0:
            return f"{self.first!r} enters {self.second!r} by {in_words(-self.distance)}"
        return (
            f"{self.first!r} comes within {in_words(self.distance)} of {self.second!r}, "
            f"less than the margin of {in_words(self.margin)}"
        )


class Move(NamedTuple):
    """A displacement of a goal with which it is reached."""

    goal: Reach
    way: FloatArray
    q: FloatArray

    def words(self, among: Sequence[Goal]) -> str:
        """``raising the goal of 'tip' by 21 mm is enough``."""
        alone = sum(isinstance(goal, Reach) for goal in among) == 1
        goal = "the goal" if alone else f"the goal of {self.goal.frame!r}"
        length = float(np.linalg.norm(self.way))
        if abs(self.way[2]) >= ALONG * length and np.abs(self.way[:2]).max() < BESIDE:
            return f"{'raising' if self.way[2] > 0.0 else 'lowering'} {goal} by {in_words(length)} is enough"
        parts = ", ".join(f"{1e3 * x:.3g}" for x in self.way.round(5) + 0.0)
        return f"moving {goal} by {in_words(length)}, ({parts}) mm, is enough"


class Blocked(NamedTuple):
    """The collision that prevents a solve from reaching its goals, in words and numbers."""

    sentence: str
    advice: str
    evidence: dict[str, Any]


def avoids(solution: Solution) -> list[Avoid]:
    """Return the `Avoid` goals of a solution that count for its success."""
    return [goal for goal in solution.goals if isinstance(goal, Avoid) and goal.tolerance is None]


def nearest(linkage: Linkage, goals: Sequence[Avoid], q: FloatArray) -> Nearness | None:
    """Return the pair that violates its margin most at a pose; None if none does."""
    found = []
    for goal in goals:
        scene = goal.scene(linkage)
        record = NEAR.view(goal.near(linkage, q, goal.wanted, most=1))[0]
        distance = float(record.distance)
        if distance < goal.margin:
            found.append(Nearness(*scene.names(record), distance, goal.margin))
    return min(found, key=lambda pair: pair.distance - pair.margin, default=None)


def lasting_contact(solution: Solution) -> Blocked | None:
    """Return a pair that is too near in every one of many poses, as when an obstacle encloses the base."""
    linkage = solution.linkage
    others = random_poses(linkage, 0, POSES, solution.group, solution.start)
    for goal in avoids(solution):
        here = _depths(goal, linkage, solution.q[None])[0]
        depths = [here, *_depths(goal, linkage, others)] if here else []
        lasting = {names: max(own[names] for own in depths) for names in here if all(names in own for own in depths)}
        if lasting:
            names, least = min(lasting.items(), key=lambda item: item[1])
            how = f"enters {names[1]!r} by {in_words(-least)} at least"
            if least >= 0.0:
                how = f"is at most {in_words(least)} from {names[1]!r}, less than the margin of {in_words(goal.margin)}"
            text = f"collision: {names[0]!r} {how}, in each of {POSES} random poses."
            evidence = {"pair": names, "distance": least, "margin": goal.margin, "poses": POSES}
            advice = "Make the margin smaller, or leave the pair out: arm.replace(disabled_pairs=...)."
            if names[1] in (goal.world or ()):
                advice = f"Move {names[1]!r}, or let them touch: Obstacle(..., touches=({names[0]!r},))."
            return Blocked(text, advice, evidence | {"goals": [solution.goals.index(goal)]})
    return None


def _depths(goal: Avoid, linkage: Linkage, q: FloatArray) -> list[dict[tuple[str, str], float]]:
    """Return, for each of some poses (n, nq), the distances of pairs nearer than the margin, by their names."""
    scene, near = goal.scene(linkage), NEAR.view(goal.near(linkage, q, goal.margin, most=EVERY))
    return [
        {scene.names(own[k]): float(own.distance[k]) for k in np.flatnonzero(np.isfinite(own.distance)).tolist()}
        for own in map(near.__getitem__, range(len(q)))
    ]


def in_the_way(trials: Experiments) -> Blocked | None:
    """Return the collision that prevents goals from being reached; None if it is not a collision."""
    solution, linkage = trials.solution, trials.linkage
    own = avoids(solution)
    others = [goal for goal in trials.goals if not isinstance(goal, Avoid)]
    if not own or not others or not (plain := trials.solved([ranked(goal, 0) for goal in others])).success:
        return None
    soft = trials.solved([*(ranked(goal, 0) for goal in others), *(ranked(goal, 1) for goal in own)])
    missed = soft.residuals > soft.settings.tolerances(soft.problem)
    blocks = [goal for goal in soft.goals for _ in goal.blocks]
    served = not any(bad and not isinstance(goal, Avoid) for bad, goal in zip(missed.tolist(), blocks, strict=True))
    pose = soft.q if served else plain.q
    pair = nearest(linkage, own, pose)
    if pair is None:
        return None
    evidence: dict[str, Any] = {"pair": (pair.first, pair.second), "distance": pair.distance, "margin": pair.margin}
    text = f"Where {_reached(others)} reached, {pair.words}"
    every = _every_solution(solution, own, others)
    if every:
        text = every
    moves = [move for goal in others if (move := _moved(trials, goal, own, others)) is not None]
    if moves:
        best = min(moves, key=lambda move: float(np.linalg.norm(move.way)))
        text += f"; {best.words(others)}"
        evidence |= {"move": best.way, "moved": solution.goals.index(best.goal), "pose": best.q}
    return Blocked(f"{text}.", "" if moves else _advice(others), evidence | {"in_the_way": pose})


def _reached(others: Sequence[Goal]) -> str:
    names = joined([called(goal, others) for goal in others])
    return f"{names} {'is' if len(others) == 1 else 'are'}"


def _advice(others: Sequence[Goal]) -> str:
    what = "that goal" if len(others) == 1 else "one of these goals"
    return f"Move {what}, take away what is in the way, or make the margin smaller."


def _moved(trials: Experiments, goal: Goal, own: Sequence[Avoid], others: Sequence[Goal]) -> Move | None:
    """Return the smallest translation found of a goal with which all goals are reached."""
    if not isinstance(goal, Reach) or goal.position is None or goal.ranges is not None or goal.priority < 0:
        return None
    kept: list[Goal] = [ranked(other, 0) for other in others if other is not goal]
    kept += [ranked(one, 0) for one in own]
    place = Reach(goal.frame, position=goal.target[:3, 3], axes=_axes(goal), priority=1)
    turned = [] if goal.orientation is None else [Reach(goal.frame, orientation=goal.orientation, free=goal.free)]
    near = trials.solved([*kept, *turned, place])
    there = trials.linkage.forward(near.q, frame=goal.frame)[:3, 3]
    way = np.zeros(3)
    along = goal.rows[: goal.coordinates]
    way[along] = (there - goal.target[:3, 3])[along]
    length = float(np.linalg.norm(way))
    for stretch in STRETCHES if length > 0.0 else ():
        if trials.late:
            break
        further = way * (stretch + (BESIDE / length if stretch > 1.0 else 0.0))
        target = goal.target.copy()
        target[:3, 3] += further
        found = trials.solved([*kept, ranked(goal.moved(target), 0)])
        if found.success:
            return Move(goal, further, found.q)
    return None


def _axes(goal: Reach) -> str:
    return "".join("xyz"[k] for k in goal.rows[: goal.coordinates])


def _every_solution(solution: Solution, own: Sequence[Avoid], others: Sequence[Goal]) -> str:
    """Return a text on the collisions of all solutions of one goal, if a closed form gives them."""
    goal = others[0]
    if len(others) > 1 or not isinstance(goal, Reach) or goal.ranges is not None or solution.group is not None:
        return ""
    limits = solution.settings.limits
    found = solve_all(solution.linkage, goal, limits=limits) if solution.linkage.nq <= MOST_POSES else None
    if found is None or not found.complete or found.dimension != 0 or not 1 < len(found) <= MOST_POSES:
        return ""
    pairs = [nearest(solution.linkage, own, q) for q in found.q]
    if any(pair is None for pair in pairs):
        return ""
    count = Counter((pair.first, pair.second) for pair in pairs if pair is not None)
    ways = [
        f"{first!r} with {second!r}{f' ({n} times)' if n > 1 else ''}" for (first, second), n in count.most_common()
    ]
    return f"All {len(found)} solutions collide: {joined(ways)}"
