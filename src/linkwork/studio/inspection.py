"""Details of a solve: the Jacobian of every iteration, its singular values, damping factors and null space.

`swing` moves a linkage along the null space of its goals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..goals import Goal
from ..linkage.linkage import Linkage
from ..linkage.poses import advance
from ..solvers import Problem, Solution, solve
from ..transforms import FloatArray

FREE = 1e-6  # singular values below this, over the largest, belong to the null space
STRIDE = 0.03  # [rad, m]: length of a swing's steps between corrections


@dataclass(frozen=True, eq=False)
class Moment:
    """One iteration.

    Attributes:
        q: The pose at its start.
        residual: The largest error there [m or rad].
        jacobian: The weighted Jacobian of the goals, shape (rows, nv).
        joints: The joint of each column.
        singular_values: Singular values of the Jacobian, largest first.
        filters: Fraction of each singular direction that the method keeps, from 0 to 1; None for methods without.
        free: The null space: directions that change no goal, shape (k, nv).
        step: Its step, shape (nv,), or None at the end.
        notes: Values noted by the method, such as its damping.
    """

    q: FloatArray
    residual: float
    jacobian: FloatArray
    joints: list[str]
    singular_values: FloatArray
    filters: FloatArray | None
    free: FloatArray
    step: FloatArray | None
    notes: dict[str, float]


def moments(solution: Solution) -> list[Moment]:
    """Return the iterations of a solve with a trace, and finally its result.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> goal = lw.Reach("tip", position=(1, 2))
        >>> seen = moments(lw.solve(arm, goal, start=[0.1, 0.2], method="damped", trace=True))
        >>> seen[0].jacobian.shape, seen[-1].residual < 1e-4
        ((2, 2), True)
    """
    problem = solution.problem
    joints = list(solution.linkage.table.velocity_joints)
    seen = [(record.q, float(record.residuals.max()), record.step, record.notes) for record in solution.trace]
    result = []
    for q, residual, step, noted in (*seen, (solution.q, float(solution.residual), None, {})):
        notes = {name: float(np.max(value)) for name, value in noted.items() if np.size(value)}
        jacobian = problem.jacobian(q)
        values, free = _split(jacobian)
        filters = _filters(solution.method, values, notes)
        result.append(Moment(q, residual, jacobian, joints, values, filters, free, step, notes))
    return result


def _split(jacobian: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the singular values, and the directions of the null space."""
    if not jacobian.shape[0]:
        return np.zeros(0), np.eye(jacobian.shape[1])
    _, values, right = np.linalg.svd(jacobian, full_matrices=True)
    return values, right[int((values > FREE * values.max(initial=0.0)).sum()) :]


def _filters(method: str, values: FloatArray, notes: dict[str, float]) -> FloatArray | None:
    """Return ``s² / (s² + damping²)``, or 1 without damping, for methods that invert the Jacobian; else None."""
    if "damping" in notes:
        squared = values**2
        return np.asarray(squared / (squared + notes["damping"] ** 2 + 1e-300))
    if method not in ("inverse", "pseudoinverse", "control", "alternative"):
        return None
    return np.asarray((values > FREE * values.max(initial=0.0)).astype(np.float64))


def free_directions(linkage: Linkage, goals: Sequence[Goal], q: FloatArray) -> FloatArray:
    """Return the directions (k, nv) in which the linkage can move without changing its goals' errors."""
    return _split(Problem(linkage, goals).jacobian(q))[1]


def swing(linkage: Linkage, goals: Sequence[Goal], q: FloatArray, amount: float, *, direction: int = 0) -> FloatArray:
    """Return a pose further along the null space of the goals: the elbow swings, the hand stays.

    The path consists of short steps, each along the null space of its own pose and corrected by a solve; it ends where
    limits or goals allow no further step.

    Args:
        linkage: The linkage.
        goals: The goals that stay reached.
        q: Start pose.
        amount: Distance to go, along or against the direction [rad, m].
        direction: Number of the free direction, from zero.
    """
    best, ahead = q, None
    strides = max(1, int(np.ceil(abs(amount) / STRIDE)))
    for _ in range(strides):
        free = free_directions(linkage, goals, best)
        if not len(free):
            break
        if ahead is None:
            ahead = free[direction % len(free)]
            ahead = ahead * np.sign(ahead[np.abs(ahead).argmax()] * amount)  # a reproducible sign
        ahead = free.T @ (free @ ahead)  # continue in the same direction, as far as it is free
        length = float(np.linalg.norm(ahead))
        if length < 1e-6:
            break
        ahead = ahead / length
        there = linkage.clamp(advance(linkage, best, ahead * (abs(amount) / strides)))
        found = solve(linkage, goals, start=there, method="damped", limits="project", max_iterations=20)
        if not found.success:
            break
        best = found.q
    return best
