"""Choose among the branches of a whole path of goals, by dynamic programming.

The pose nearest to the last one may lead into a dead end: a limit further on, or a branch that ends. Looking ahead
chooses another branch in time. The result of plain tracking is one of the choices, so the result is never worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..goals import Goal, Reach
from ..goals.base import metres_per_radian
from ..linkage.linkage import Linkage
from ..linkage.poses import between, distinct, wrapped
from ..solvers import Prepared, Problem, Settings
from ..solvers.chain_solver import prepared_for
from ..solvers.groups import random_poses
from ..transforms import FloatArray

SEEDS = 9  # frames at which solutions are searched for; from there they are followed to both ends of the path
STARTS = 192  # starts of the search at such a frame
SAMPLES = 14  # solutions kept at such a frame
MOST = 512  # poses compared per frame
LONGEST_STEP = 0.5  # change of a value from frame to frame that counts as a jump [rad, m]
TURNS_BETWEEN = np.array(  # rows give w, x, y and z of conj(p) q from the products of two quaternions' components
    [
        [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]],
        [[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]],
        [[0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]],
    ],
    np.float64,
)
MISS, JUMP, SHORT = 1e12, 1e6, 1e3  # costs of a missed goal, a jump, a metre of error; a change costs its square


def choose(
    problem: Problem, series: Sequence[Any], start: FloatArray, tracked: FloatArray, settings: Settings
) -> FloatArray:
    """Return poses (n, nq) along a path of goals, with the fewest misses, then jumps, then the least motion.

    Args:
        problem: The linkage, and the joints that may move.
        series: One `Reach` for each frame.
        start: Pose before the first frame; any change from it is allowed.
        tracked: Poses (n, nq) found by plain tracking, which are among the choices.
        settings: Tolerances and limits.
    """
    goals, group = [single_reach(goals) for goals in series], problem.group
    layers = [rows[None] for rows in tracked]
    anywhere = random_poses(problem.linkage, 0, 1, group, start)[0]
    isolated = Problem(problem.linkage, goals[0], start, group).freedom(anywhere) == 0
    solvers = [_solver(problem, goal, settings, isolated, start) for goal in goals]
    found = {k: _solutions(solvers[k], goals[k], start, isolated) for k in _seeds(len(goals))}
    for frames in (range(len(goals)), range(len(goals) - 1, -1, -1)):
        for k, poses in _followed(solvers, goals, found, frames, isolated):
            layers[k] = np.concatenate([layers[k], poses])
    return _cheapest(problem, goals, start, layers, settings, isolated)


def _cheapest(
    problem: Problem,
    goals: Sequence[Reach],
    start: FloatArray,
    layers: Sequence[FloatArray],
    settings: Settings,
    isolated: bool,
) -> FloatArray:
    """Return the sequence of poses, one per frame, with the smallest total cost."""
    linkage = problem.linkage
    costs, nodes = np.zeros(1), [start[None]]
    parents: list[NDArray[np.int64]] = []
    for k, (goal, found) in enumerate(zip(goals, layers, strict=True)):
        poses = _candidates(problem, found, start, settings, isolated)
        squares, longest = _ways(problem, nodes[-1], poses)
        total = costs[:, None] + squares + JUMP * (longest > LONGEST_STEP if k else 0.0)
        costs = total.min(axis=0) + _shortfall(linkage, goal, poses, settings)
        costs -= costs.min()  # keeps small differences exact if many goals are missed
        parents.append(total.argmin(axis=0))
        nodes.append(poses)
    chosen = [int(costs.argmin())]
    for back in reversed(parents[1:]):
        chosen.append(int(back[chosen[-1]]))
    return np.stack([poses[k] for poses, k in zip(nodes[1:], reversed(chosen), strict=True)])


def _ways(problem: Problem, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sums of squared changes, weighted by joint, and largest changes: (m, nq) to (n, nq), shape (m, n).

    The changes are those of `poses.between`, computed value by value, because all together would not fit into the
    processor's cache.
    """
    linkage, group = problem.linkage, problem.group
    weights = np.ones(linkage.nv) if group is None or group.scale is None else group.scale**-2.0
    squares, largest = np.zeros((len(a), len(b))), np.zeros((len(a), len(b)))
    steps = [
        (v, wrapped(b[:, k] - a[:, k, None]) if wraps else b[:, k] - a[:, k, None])
        for k, v, wraps in zip(*linkage.table.plain, strict=True)
        if np.ptp(a[:, k]) or np.ptp(b[:, k]) or a[0, k] != b[0, k]  # a constant value costs nothing
    ]
    for k, v in linkage.table.quaternions:
        p, q = a[:, k : k + 4], b[:, k : k + 4]
        w, *axis = (p @ product @ q.T for product in TURNS_BETWEEN)
        sine = np.sqrt(sum(x * x for x in axis))
        angle = 2.0 * np.arctan2(sine, np.abs(w)) * np.sign(w)
        steps += [(v + i, x * (angle / np.maximum(sine, 1e-300))) for i, x in enumerate(axis)]
    for v, step in steps:
        squares += weights[v] * (step * step)
        np.maximum(largest, np.abs(step), out=largest)
    return squares, largest


def single_reach(goals: Any) -> Reach:
    """Return the single `Reach` of a frame; raise GoalError for other goals."""
    several = [goals] if isinstance(goals, Goal) else list(goals)
    if len(several) != 1 or not isinstance(several[0], Reach):
        raise GoalError("lookahead compares all solutions of one Reach a frame; leave it out for other goals.")
    return several[0]


def _seeds(count: int) -> list[int]:
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, SEEDS)).tolist()})


def _solver(problem: Problem, goal: Reach, settings: Settings, isolated: bool, start: FloatArray) -> Prepared:
    """Return the search for a goal. Isolated solutions may violate limits, since whole turns may bring them back."""
    metres, radians = (settings.tolerance, settings.rotation_tolerance) if goal.tolerance is None else goal.tolerance
    own = Settings(
        metres if np.isfinite(metres) else settings.tolerance,
        radians if np.isfinite(radians) else settings.rotation_tolerance,
        limits="ignore" if isolated or not settings.keeps_limits else "clamp",
    )
    prepared = prepared_for(problem.linkage, goal, own, 1, 0, problem.group, start)
    prepared.chain.check()
    return prepared


def _solutions(solver: Prepared, goal: Reach, start: FloatArray, isolated: bool) -> FloatArray:
    """Return distinct poses that reach a goal: all of a closed form, or those found from many starts."""
    if isolated and solver.branches is not None:
        return solver.all(goal.target, start=start).q
    poses = solver.candidates(goal.target, STARTS, base=start)
    poses = poses[distinct(solver.linkage, poses)]
    if isolated:
        return poses
    away = between(solver.linkage, start, poses)  # for a continuum, keep the nearest ones
    return poses[np.argsort((away * away).sum(axis=-1), kind="stable")[:SAMPLES]]


def _followed(
    solvers: Sequence[Prepared],
    goals: Sequence[Reach],
    found: dict[int, FloatArray],
    frames: range,
    isolated: bool,
) -> list[tuple[int, FloatArray]]:
    """Return the solutions found so far at each frame, followed from frame to frame."""
    linkage = solvers[0].linkage
    poses, ways = np.zeros((0, linkage.nq)), []
    for k in frames:
        if len(poses):
            poses = _next(solvers[k], goals[k], poses)
        if k in found:
            poses = np.concatenate([poses, found[k]])
            poses = poses[distinct(linkage, poses)] if isolated else poses
        ways.append((k, poses))
    return ways


def _next(solver: Prepared, goal: Reach, poses: FloatArray) -> FloatArray:
    """Return the solutions at the next frame that descents from the poses lead to."""
    targets, status = np.tile(goal.target, (len(poses), 1, 1)), np.zeros(len(poses), np.int64)
    values, _ = solver.search(targets, status, given=solver.chain.values_of(poses), restarts=0)
    return solver.pose(values, poses)


def _candidates(
    problem: Problem, poses: FloatArray, start: FloatArray, settings: Settings, isolated: bool
) -> FloatArray:
    """Return poses within limits, the first unchanged; isolated solutions with copies by whole turns."""
    linkage, tracked, others = problem.linkage, poses[:1], poses[1:]
    if settings.keeps_limits and isolated:
        others = _turned(linkage, others[distinct(linkage, others)])
    if len(others) >= MOST:
        away = between(linkage, start, others)
        others = others[np.argsort((away * away).sum(axis=-1), kind="stable")[: MOST - 1]]
    if settings.keeps_limits:
        others = np.clip(others, linkage.lower, linkage.upper)
    if problem.group is not None:
        others = problem.group.held(others, start)
    return np.concatenate([tracked, others])


def _shortfall(linkage: Linkage, goal: Reach, poses: FloatArray, settings: Settings) -> FloatArray:
    """Return the cost of poses that miss a goal; zero for the others."""
    problem = Problem(linkage, goal, poses[0])
    errors = problem.residuals(problem.error(poses))
    missed = (errors > settings.tolerances(problem)).any(axis=-1)
    metres = errors @ [metres_per_radian(linkage) if block.unit == "rad" else 1.0 for block in problem.blocks]
    return np.where(missed, MISS + SHORT * metres, 0.0)


def _turned(linkage: Linkage, poses: FloatArray) -> FloatArray:
    """Return poses and their copies by whole turns of limited revolute joints, within limits."""
    q, _, wraps = linkage.table.plain
    for k in q[linkage.table.periodic[q] & ~wraps].tolist():
        turns = poses[:, k] + 2.0 * np.pi * np.arange(-2, 3)[:, None]
        inside = (turns >= linkage.lower[k]) & (turns <= linkage.upper[k])
        if inside.sum() > MOST:  # too many combinations: leave this joint unchanged
            continue
        inside[2] |= ~inside.any(axis=0)  # no turn is within limits: keep it, to be clamped later
        copy, row = np.nonzero(inside)
        poses = poses[row]
        poses[:, k] = turns[copy, row]
    return poses
