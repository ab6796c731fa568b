"""Couplings along curves for the compiled solver: it solves with their tangents, updated after every result.

After every solve, followers are put back on their curves. As in Newton's method, a few rounds are enough; if they are
not, the steps in NumPy are used.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..goals import Follow, Goal
from ..linkage.couplings import followed
from ..linkage.linkage import Linkage
from ..linkage.poses import clamped
from ..transforms import FloatArray
from .body_solver import BodySolver
from .groups import limits_kept
from .options import Settings
from .problem import Problem
from .solution import Solution, from_rows

ROUNDS = 12
STUCK = 1e-10  # a pose that changes by less has converged [rad, m]


def solved_by_tangents(
    problem: Problem, start: FloatArray, settings: Settings, body_of: Callable[[Problem, Settings], BodySolver | None]
) -> Solution | None:
    """Return a solution that keeps couplings along curves, or None if tangents find none.

    Args:
        problem: Goals, among them `Follow` of curves.
        start: One pose (nq,).
        settings: Settings of the solve.
        body_of: Function that returns the compiled solver of a problem.
    """
    linkage = problem.linkage
    if start.ndim > 1 or problem.group is not None or not any(_is_curved(goal) for goal in problem.goals):
        return None
    q, steps = clamped(linkage, followed(linkage, start)), 0
    tolerances = settings.tolerances(problem)
    if not np.isfinite(tolerances).all():
        return None  # wishes run until there is no more progress, which would begin again in every round
    for _ in range(ROUNDS):
        straight = Problem(linkage, [_straight(goal, linkage, q) for goal in problem.goals], q)
        body = body_of(straight, settings)
        if body is None:
            return None
        found = body.solve(straight.goals, q)
        after = clamped(linkage, followed(linkage, found.q))
        moved, q, steps = float(np.abs(after - q).max()), after, steps + int(found.iterations)
        residuals = problem.residuals(problem.error(q))
        if (residuals <= tolerances).all() and limits_kept(linkage, q, None).all():
            rows = q[None], np.array([True]), residuals[None], np.array([steps]), ["reached"]
            return from_rows(linkage, problem.goals, "robust", start, rows, settings)
        if moved < STUCK:
            break
    return None


def _is_curved(goal: Goal) -> bool:
    return isinstance(goal, Follow) and not goal.linear


def _straight(goal: Goal, linkage: Linkage, q: FloatArray) -> Goal:
    """Return a goal, with a curve replaced by its tangent at a pose."""
    return goal.tangent(linkage, q) if isinstance(goal, Follow) and not goal.linear else goal
