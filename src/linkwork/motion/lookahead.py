"""Choosing among the branches of a whole path of goals, by dynamic programming.

The pose nearest to the last one may lead into a dead end: a limit further on, or a branch that ends. Looking ahead
chooses another branch in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..explain.all_solutions import solve_all
from ..goals import Goal, Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import between, distinct, wrapped
from ..solvers import Method, Problem, Settings
from ..transforms import FloatArray

SEEDS = 9  # frames at which all solutions are found; they are followed from there to the neighbouring ones
SAMPLES = 24  # of a continuum of solutions
MOST = 512  # poses compared at a frame
LONGEST_STEP = 0.5  # change of a value from frame to frame that counts as a jump [rad, m]
JUMP, MISS = 1e6, 1e12  # costs, beside the squares of all changes


def choose(
    linkage: Linkage, series: Sequence[Any], start: FloatArray, method: Method, settings: Settings
) -> FloatArray:
    """Return poses (n, nq) along a path of goals, with the fewest misses, then jumps, then the least motion."""
    goals = [_reach(goals) for goals in series]
    branches = [_followed(linkage, goals, k, start, method, settings) for k in _seeds(len(goals))]
    costs, nodes = np.zeros(1), [start[None]]
    parents: list[NDArray[np.int64]] = []
    for k, goal in enumerate(goals):
        found = np.concatenate([rows[k] for rows in branches if k in rows])
        poses, missed = _candidates(linkage, goal, found, start, settings)
        way = between(linkage, nodes[-1][:, None], poses[None])
        jumps = np.abs(way).max(axis=-1, initial=0.0) > LONGEST_STEP if k else 0.0  # from the start any way is allowed
        total = costs[:, None] + (way * way).sum(axis=-1) + JUMP * jumps
        costs = total.min(axis=0) + MISS * missed
        parents.append(total.argmin(axis=0))
        nodes.append(poses)
    chosen = [int(costs.argmin())]
    for back in reversed(parents[1:]):
        chosen.append(int(back[chosen[-1]]))
    return np.stack([poses[k] for poses, k in zip(nodes[1:], reversed(chosen), strict=True)])


def _reach(goals: Any) -> Reach:
    several = [goals] if isinstance(goals, Goal) else list(goals)
    if len(several) != 1 or not isinstance(several[0], Reach):
        raise GoalError("lookahead compares all solutions of one Reach a frame; leave it out for other goals.")
    return several[0]


def _seeds(count: int) -> list[int]:
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, SEEDS)).tolist()})


def _followed(
    linkage: Linkage, goals: Sequence[Reach], seed: int, start: FloatArray, method: Method, settings: Settings
) -> dict[int, FloatArray]:
    """Return poses by frame: all solutions at one frame, followed to the neighbouring seed frames."""
    found = solve_all(linkage, goals[seed], most=SAMPLES, limits=settings.limits)
    poses = np.stack([_near(linkage, found.angles, pose, start) for pose in found.q]) if len(found) else found.q
    if not len(poses):  # out of reach: the nearest pose
        poses = method.solve(Problem(linkage, goals[seed], start), start, settings).q[None]
    isolated = found.dimension == 0
    loose = replace(settings, limits="ignore") if isolated else settings  # whole turns may bring them back within
    reached, around = {seed: poses}, _seeds(len(goals))
    place = around.index(seed)
    for way, end in ((1, around[min(place + 1, len(around) - 1)]), (-1, around[max(place - 1, 0)])):
        q, problem = poses, Problem(linkage, goals[seed], start)
        for k in range(seed + way, end + way, way):
            problem = problem.aimed(goals[k])
            q = method.solve(problem, q, loose).q
            reached[k] = q
    return reached


def _near(linkage: Linkage, angles: NDArray[np.int64], pose: FloatArray, start: FloatArray) -> FloatArray:
    result = pose.copy()
    result[angles] = start[angles] + wrapped(pose[angles] - start[angles])
    return np.where((result >= linkage.lower) & (result <= linkage.upper), result, pose)


def _candidates(
    linkage: Linkage, goal: Reach, poses: FloatArray, start: FloatArray, settings: Settings
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return poses within limits, with whole turns added, and which of them miss the goal."""
    poses = poses[distinct(linkage, poses)]
    if settings.keeps_limits:
        poses = np.clip(np.concatenate([_turned(linkage, pose) for pose in poses]), linkage.lower, linkage.upper)
    if len(poses) > MOST:
        away = between(linkage, start, poses)
        poses = poses[np.argsort((away * away).sum(axis=-1), kind="stable")[:MOST]]
    problem = Problem(linkage, goal, start)
    missed = np.asarray((problem.residuals(problem.error(poses)) > settings.tolerances(problem)).any(axis=-1))
    return poses, missed


def _turned(linkage: Linkage, pose: FloatArray) -> FloatArray:
    """Return a pose and those that differ by whole turns of limited revolute joints, within limits."""
    q, _, wraps = linkage.table.plain
    turning = linkage.table.periodic[q] & ~wraps
    choices, count = [], 1
    for k in q[turning].tolist():
        turns = 2.0 * np.pi * np.arange(-2, 3) + pose[k]
        inside = turns[(turns >= linkage.lower[k]) & (turns <= linkage.upper[k])].tolist()
        kept = inside if inside and count * len(inside) <= MOST else [pose[k]]  # too many combinations: keep this one
        choices.append(kept)
        count *= len(kept)
    result = np.tile(pose, (count, 1))
    result[:, q[turning]] = np.array(list(product(*choices))).reshape(len(result), -1)
    return result
