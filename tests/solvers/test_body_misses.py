"""Conflicting goals of bodies: the pose is optimal level by level, compared with SciPy's SLSQP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork.linkage.poses import advance
from linkwork.solvers.problem import Problem

HUMAN = lw.models.human(root="floating")
STAND = HUMAN.stored_pose("stand")
FEET = [lw.Hold(f"{side}_foot").resolve(HUMAN, STAND) for side in ("left", "right")]
SUPPORT = [(x, y, 0.0) for x in (-0.06, 0.14) for y in (-0.15, 0.15)]
MISSES = {
    "one hand, straight ahead": {"right_hand": (1.4, -0.3, 1.2)},
    "both hands, apart": {"right_hand": (0.5, -1.6, 1.3), "left_hand": (0.9, 0.9, 0.4)},
    "behind and below": {"right_hand": (-0.9, -0.2, 0.1)},
}


def goals(case: str, priority: int) -> list[lw.Goal]:
    """Return goals: feet stay, balance, hands out of reach."""
    hands = [lw.Reach(hand, position=place, priority=priority) for hand, place in MISSES[case].items()]
    return [*FEET, lw.Balance(over=SUPPORT), *hands]


def improved(problem: Problem, q: np.ndarray, *, strict: bool) -> float:
    """Return the least error of the last level that SLSQP finds from a pose, with upper levels kept; or of one level.

    Steps stay small enough to treat the root's rotation vector as an angular velocity.
    """
    lower, upper = np.full(HUMAN.nv, -1.0), np.full(HUMAN.nv, 1.0)
    places, v, _ = HUMAN.table.plain
    lower[v], upper[v] = (np.clip(limit[places] - q[places], -1.0, 1.0) for limit in (HUMAN.lower, HUMAN.upper))
    last = problem.priorities == problem.priorities.max() if strict else np.ones(len(problem.scale), np.bool_)

    def rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pose = advance(HUMAN, q, x)
        return problem.error(pose) * problem.scale, problem.all_rows_jacobian(pose) * problem.scale[:, None]

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        error, jacobian = rows(x)
        return 0.5 * float(error[last] @ error[last]), -jacobian[last].T @ error[last]

    held = {"type": "eq", "fun": lambda x: rows(x)[0][~last], "jac": lambda x: -rows(x)[1][~last]}
    limits: dict[str, Any] = {"bounds": np.stack([lower, upper], axis=1), "constraints": [held] if strict else []}
    found = minimize(cost, np.zeros(HUMAN.nv), jac=True, method="SLSQP", options={"maxiter": 60}, **limits)
    error, _ = rows(found.x)
    if strict and np.abs(error[~last]).max() > 1e-6:
        return np.inf
    return float(np.linalg.norm(error[last]))


@pytest.mark.parametrize("case", MISSES)
@pytest.mark.parametrize("strict", [False, True], ids=["one level", "levels"])
def test_what_is_missed_is_missed_by_as_little_as_can_be(case: str, strict: bool) -> None:
    wanted = goals(case, int(strict))
    solution = lw.solve(HUMAN, wanted, start=STAND)
    problem = Problem(HUMAN, wanted, STAND)
    assert not solution.success
    error = problem.error(solution.q) * problem.scale
    last = problem.priorities == problem.priorities.max()
    if strict:
        assert np.abs(error[~last]).max() < 1e-8
    assert np.linalg.norm(error[last]) <= improved(problem, solution.q, strict=strict) + 1e-4


def test_a_pose_that_misses_is_at_rest() -> None:
    solution = lw.solve(HUMAN, goals("both hands, apart", 1), start=STAND)
    again = lw.prepare(HUMAN, solution.goals)(solution.goals, start=solution.q, stay=True)
    assert again.status == "held"
    np.testing.assert_allclose(again.residuals, solution.residuals, atol=1e-6)


@pytest.mark.parametrize("method", ["robust", "damped", "prioritized"])
def test_balance_on_a_level_above_asks_for_nothing_within_the_support(method: str) -> None:
    soles = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "ball")]
    for place in ((0.72, -0.09, 1.09), (0.85, -0.3, 0.2), (0.99, -0.29, 0.58)):
        wanted = [
            lw.Hold("left_foot"),
            lw.Hold("right_foot"),
            lw.Balance(over=soles),
            lw.Reach("right_hand", position=place, priority=1),
        ]
        solution = lw.solve(HUMAN, wanted, start=STAND, method=method)
        assert solution.success, solution.reason
