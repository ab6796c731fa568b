"""Strict priority levels with limits as bounds: what holds exactly, and cases in which clamping gets stuck."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear

import linkwork as lw
from linkwork.errors import MissingExtraError
from linkwork.explain.races import race
from linkwork.goals import Goal
from linkwork.solvers import Problem, Settings
from linkwork.solvers.prioritized import Prioritized, bounded_least_squares
from linkwork.solvers.problem import State

LIMITED = lw.models.planar([1, 1, 1, 1]).replace(joints={f"j{k}": {"lower": -1, "upper": 1} for k in range(1, 5)})
NEAR = [0.1] * 4


def two_levels(seed: int) -> list[Goal]:
    """Return positions of a random pose for the tip and, at a lower level, for the third link."""
    frames = LIMITED.forward(LIMITED.random_pose(seed))
    tip, link = (frames[name][:2, 3] for name in ("tip", "link3"))
    return [lw.Reach("tip", position=tip), lw.Reach("link3", position=link, priority=1)]


def step(goals: list[Goal], q: np.ndarray) -> np.ndarray:
    problem = Problem(LIMITED, goals)
    return Prioritized().propose(State(problem, q, problem.error(q)), Settings())


@pytest.mark.parametrize("seed", range(20))
def test_the_bounded_problem_agrees_with_scipy(seed) -> None:
    rng = np.random.default_rng(seed)
    A, b, damping = rng.normal(size=(3, 5)), rng.normal(size=3), 0.01
    low, high = -rng.uniform(0, 0.3, 5), rng.uniform(0, 0.3, 5)
    low[0], high[1] = -np.inf, np.inf
    found = bounded_least_squares(A, b, damping, np.eye(5), low, high)
    stacked = np.concatenate([A, np.sqrt(damping) * np.eye(5)])
    expected = lsq_linear(stacked, np.concatenate([b, np.zeros(5)]), (low - 1e-15, high + 1e-15), tol=1e-14).x
    assert_allclose(found, expected, atol=1e-6)
    assert (found >= low - 1e-12).all()
    assert (found <= high + 1e-12).all()


@pytest.mark.parametrize("seed", range(10))
def test_a_lower_level_leaves_the_step_of_the_upper_one_as_it_is(seed) -> None:
    goals, q = two_levels(seed), np.clip(LIMITED.random_pose(seed + 100), -1, 1)
    q[seed % 4] = 1.0  # at a limit
    upper = Problem(LIMITED, goals[:1]).jacobian(q)
    alone, both = step(goals[:1], q), step(goals, q)
    assert_allclose(upper @ both, upper @ alone, atol=1e-10)
    lower = Problem(LIMITED, goals[1:])
    left = [np.linalg.norm(lower.jacobian(q) @ x - lower.weighted_error(lower.error(q))) for x in (alone, both)]
    assert left[1] <= left[0] + 1e-9


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("lower", ["reach", "rest", "out of reach"])
def test_a_lower_goal_changes_the_upper_residual_by_less_than_1e_8(seed, lower) -> None:
    goals = two_levels(seed)
    below = {
        "reach": goals[1],
        "rest": lw.Rest([1.0, -1.0, 1.0, -1.0]),
        "out of reach": lw.Reach("link2", position=(3.0, 3.0), priority=1),
    }[lower]
    options = {"start": NEAR, "method": "prioritized", "tolerance": 1e-10}
    alone, both = (lw.solve(LIMITED, some, **options) for some in ([goals[0]], [goals[0], below]))
    assert abs(both.residuals[0] - alone.residuals[0]) < 1e-8


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("limits", ["clamp", "project"])
def test_bounds_hold_to_the_last_bit(seed, limits) -> None:
    solution = lw.solve(LIMITED, two_levels(seed), start=NEAR, method="prioritized", limits=limits, trace=True)
    for q in (solution.q, *(record.q for record in solution.trace)):
        assert (q >= LIMITED.lower).all()
        assert (q <= LIMITED.upper).all()


@pytest.mark.parametrize("seed", [19, 46])
def test_it_goes_on_where_clamping_and_projection_get_stuck_at_limits(seed) -> None:
    goals = two_levels(seed)
    others = [
        lw.solve(LIMITED, goals, start=NEAR, method=method, limits=limits)
        for method, limits in (("damped", "clamp"), ("damped", "project"), ("pseudoinverse", "project"))
    ]
    assert not any(other.success for other in others)
    assert lw.solve(LIMITED, goals, start=NEAR, method="prioritized").success


def test_without_limits_it_is_not_bound() -> None:
    goal = lw.Reach("tip", position=(-1.0, 0.5))
    free = lw.solve(LIMITED, goal, start=NEAR, method="prioritized", limits="ignore", max_iterations=300)
    assert free.success
    assert (np.abs(free.q) > 1.0).any()


def test_no_value_changes_by_more_than_the_largest_step() -> None:
    solution = lw.solve(LIMITED, two_levels(3), start=NEAR, method="prioritized", max_step=0.05, trace=True)
    assert max(np.abs(record.step).max() for record in solution.trace) <= 0.05


def test_a_whole_figure_with_three_levels() -> None:
    figure = lw.models.human(root="floating")
    goals = [
        lw.Hold("left_foot"),
        lw.Hold("right_foot"),
        lw.Reach("right_hand", position=(0.45, -0.25, 1.25), priority=1),
        lw.Rest("stand", priority=2),
    ]
    solution = lw.solve(figure, goals, start="stand", method="prioritized")
    assert solution.success
    assert solution.residuals[:4].max() < 1e-8
    assert (solution.q >= figure.lower).all()
    assert (solution.q <= figure.upper).all()


def test_many_starts_are_solved_as_each_alone() -> None:
    goals = two_levels(5)
    starts = np.clip(LIMITED.random_pose(1, 3), -0.5, 0.5)
    many = lw.solve(LIMITED, goals, start=starts, method="prioritized")
    for k, start in enumerate(starts):
        assert_allclose(many.q[k], lw.solve(LIMITED, goals, start=start, method="prioritized").q, atol=1e-9)


def test_without_the_extra_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[qp\]'"):
        lw.solve(LIMITED, two_levels(0), method="prioritized")
    (lap,) = race(LIMITED, two_levels(0), methods=["prioritized"])
    assert "linkwork[qp]" in lap.refusal
