"""The pose nearest to a given one that meets goals, so that pins change a body as little as possible."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between
from ..solvers import Problem
from ..solvers.options import positive
from ..transforms import FloatArray

# Share of the displacement from the base that each step reduces. Full steps oscillate if goals are curved; the last
# steps serve only the goals.
SHARES = (1.0,) * 4 + (0.5,) * 24 + (0.25,) * 12 + (0.0,) * 8
LONGEST_STEP, STILL = 0.5, 1e-12
DAMPING, LEAST = 1e-3, 1e-12
ROOT = 10.0  # stiffness of the root, as a multiple of the number of links it carries


def stiffness(linkage: Linkage, given: Mapping[str, float] | None = None) -> FloatArray:
    """Return the stiffness of each velocity, its resistance to leaving the given pose, shape (nv,).

    The stiffness of a joint is the number of links it carries, so that an arm moves a hand rather than the spine. The
    root is the stiffest.

    Args:
        linkage: The linkage.
        given: Further factors by joint name.
    """
    carried = np.ones(len(linkage.links))
    for k in range(len(carried) - 1, 0, -1):  # depth-first order: children come after their parents
        carried[linkage.parents[k]] += carried[k]
    joints = np.array([linkage.arc_index(name) for name in linkage.table.velocity_joints], np.int64)
    result = carried[joints]
    result[: linkage.root.articulation.nv] *= ROOT
    for name, value in (given or {}).items():
        positive(f"stiffness of joint {name!r}", value, finite=True)
        result[joints == linkage.arc_index(name)] *= value
    return result


def lead(problem: Problem, base: FloatArray, start: FloatArray, firm: FloatArray, *, precision: float) -> FloatArray:
    """Return the pose that meets the goals of a problem and is nearest to a base pose, within limits.

    Newton's method for ``min |G (q - base)|² where e(q) = 0``. With d the displacement from the base so far, a step is
    ``x = -s d + W J^T (J W J^T + l I)^-1 (e + s J d)``, ``W = G^-2``, ``s <= 1``. The damping l vanishes with the
    error. Values stop at their limits, and the other joints compensate.

    Args:
        problem: The goals to meet.
        base: The pose to stay near to.
        start: The pose to begin from.
        firm: Stiffness of each velocity, the diagonal of G.
        precision: Largest error that remains once the pose is at rest [m, or rad times a length].
    """
    linkage = problem.linkage
    q = np.clip(start, linkage.lower, linkage.upper)
    best, least = q, np.inf
    for share in SHARES:
        wanted = problem.weighted_error(problem.error(q))
        size = float(np.linalg.norm(wanted))
        if size <= max(least, precision):
            best, least = q, size
        step = _step(problem, q, share * between(linkage, base, q), wanted, firm)
        longest = float(np.abs(step).max(initial=0.0))
        if longest < STILL or (size <= precision and longest < precision):
            break
        if longest > LONGEST_STEP:
            step = step * (LONGEST_STEP / longest)
        q = np.clip(advance(linkage, q, step), linkage.lower, linkage.upper)
    return best


def _step(problem: Problem, q: FloatArray, gone: FloatArray, wanted: FloatArray, firm: FloatArray) -> FloatArray:
    linkage, J = problem.linkage, problem.jacobian(q)
    damping = DAMPING * float(wanted @ wanted) + LEAST
    i, v, _ = linkage.table.plain
    free, step = np.ones(linkage.nv), np.zeros(linkage.nv)
    for _ in range(linkage.nv):
        yielding = free / firm**2
        JW = J * yielding
        left = wanted - J @ (step * (1.0 - free)) + J @ (gone * free)
        push = np.linalg.solve(JW @ J.T + damping * np.eye(len(wanted)), left)
        step = np.where(free > 0.0, JW.T @ push - gone, step)
        low, high = linkage.lower[i] - q[i], linkage.upper[i] - q[i]
        beyond = (free[v] > 0.0) & ((step[v] < low) | (step[v] > high))
        if not beyond.any():
            break
        step[v[beyond]] = np.clip(step[v], low, high)[beyond]
        free[v[beyond]] = 0.0
    return step
