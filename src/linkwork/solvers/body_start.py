"""Start poses of a body: a mobile base is first moved towards goals that are further away than the body is long."""

from __future__ import annotations

import math

import numpy as np

from ..goals import Reach
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .chain import LONG, Chain
from .chain_solver import prepared_for
from .chain_targets import read_targets
from .options import Settings
from .problem import Problem


def carried_goal(problem: Problem) -> int | None:
    """Return the index of the first position goal whose frame a mobile base moves, or None."""
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
    linkage: Linkage, frame: str, places: FloatArray, starts: FloatArray, settings: Settings
) -> FloatArray:
    """Return starts (m, nq) with a frame not much further from its targets (m, 3) than the length of the linkage.

    The chain of the frame is solved for the position alone; all other joints are held.
    """
    far = _far(linkage, frame, places, starts)
    if not far:
        return starts
    place, result = Reach(frame, position=places[far[0]]), starts.copy()
    prepared = prepared_for(linkage, place, settings, 1, 0)
    if len(starts) == 1:
        result[0] = prepared.solve(place.target, start=starts[0]).q
        return result
    given = prepared.chain.values_of(result[far])
    values, _ = prepared.search(read_targets(place, places[far]), np.zeros(len(far), np.int64), given=given)
    result[far] = prepared.pose(values, result[far])
    return result


def _far(linkage: Linkage, frame: str, places: FloatArray, starts: FloatArray) -> list[int]:
    """Return the rows whose frame is further from its target than the length of the linkage."""
    near = linkage.length
    if len(starts) == 1:  # fast path of control loops
        here = linkage.forward(starts[0], frame=frame)[:3, 3].tolist()
        return [] if math.dist(here, places[0].tolist()) <= near else [0]
    ways = linkage.forward(starts, frame=frame)[:, :3, 3] - places
    return np.flatnonzero((ways * ways).sum(axis=1) > near * near).tolist()
