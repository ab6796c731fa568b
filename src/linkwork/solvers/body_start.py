"""Where a body begins: a base that travels is taken first to goals that are further away than the body is long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..goals import Goal, Reach
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .chain import LONG, Chain
from .chain_solver import prepared_for
from .options import Settings
from .problem import Problem


def carried_goal(problem: Problem) -> int | None:
    """Return which goal a base that travels is aimed at: the first place whose frame it carries, or None."""
    linkage = problem.linkage
    slides = linkage.table.pose_index[linkage.table.slides]
    stroke = linkage.upper[slides] - linkage.lower[slides]
    if problem.group is not None or not (stroke > LONG * linkage.length).any():
        return None
    for k, goal in enumerate(problem.goals):
        if isinstance(goal, Reach) and goal.coordinates == 3 and Chain(linkage, goal.frame).carriers:
            return k
    return None


def aimed_starts(
    linkage: Linkage, goals: Sequence[Goal], which: int, starts: FloatArray, settings: Settings
) -> FloatArray:
    """Return starts (m, nq) from which one of the goals, a `Reach`, is not much further away than the linkage is long.

    The chain that leads to its frame is solved for the place alone; all other joints stay.
    """
    goal: Any = goals[which]
    there, result, near = goal.target[:3, 3].tolist(), starts, linkage.length
    for k in range(len(starts)):
        start = starts[k]
        if math.dist(linkage.forward(start, frame=goal.frame)[:3, 3].tolist(), there) <= near:
            continue
        place = Reach(goal.frame, position=there)
        aimed = prepared_for(linkage, place, settings, 1, 0).solve(place.target, start=start).q
        result = starts.copy() if result is starts else result
        result[k] = aimed
    return result
