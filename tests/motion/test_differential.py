"""The textbook's differential step: its equation, speeds and limits, every goal and method, and its status."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from goal_variants import make
from linkwork.goals import GOALS

ARM, START = lw.models.planar([15, 10, 5]), np.array([0.39, 0.79, 0.79])
GOAL = lw.Reach("tip", position=(-20, 5))
HUMAN = lw.models.human(root="floating")
FRAMES = ("left_upper_arm", "left_forearm", "left_hand", "right_foot")


def error(q: np.ndarray) -> np.ndarray:
    return np.array([-20.0, 5.0]) - ARM.forward(q, frame="tip")[:2, 3]


def test_it_is_the_chapters_equation() -> None:
    J = ARM.jacobian(START, "tip")[:2]
    for dt in (0.01, 0.5):
        cycle = lw.step(ARM, GOAL, START, dt, method="pseudoinverse", gain=0.1)
        np.testing.assert_allclose(cycle.q, START + np.linalg.pinv(J) @ (0.1 * error(START)), atol=1e-12)
        np.testing.assert_allclose(cycle.velocity, (cycle.q - START) / dt, atol=1e-12)
    damped = lw.step(ARM, GOAL, START, 0.01, damping=5.0)
    expected = START + J.T @ np.linalg.solve(J @ J.T + 25.0 * np.eye(2), error(START))
    np.testing.assert_allclose(damped.q, expected, atol=1e-12)
    assert damped.status == "following"
    assert damped.share == pytest.approx(1.0 - np.linalg.norm(error(damped.q)) / np.linalg.norm(error(START)))


def test_a_step_that_is_too_fast_keeps_its_direction() -> None:
    whole = lw.step(ARM, GOAL, START, 0.01)
    slow = lw.step(ARM, GOAL, START, 0.01, velocity=[1.0, 0.5, 2.0])
    ratio = (slow.q - START) / (whole.q - START)
    np.testing.assert_allclose(ratio, ratio[0])
    assert np.max(np.abs(slow.velocity) / [1.0, 0.5, 2.0]) == pytest.approx(1.0)
    assert (slow.status, slow.limit) == ("limited", "velocity")
    assert slow.joint == ["j1", "j2", "j3"][int(np.argmax(np.abs(slow.velocity) / [1.0, 0.5, 2.0]))]


def test_speeds_of_the_linkage_are_kept_and_limits_hold() -> None:
    arm = lw.Builder("arm").revolute("a", "one", velocity=1.0, limits=(-0.5, 0.5)).revolute("b", "two", at=(1, 0, 0))
    arm = arm.frame("tip", at=(1, 0, 0)).build()
    goal, q = lw.Reach("tip", position=(-1.9, 0.1)), np.array([0.0, 0.3])
    for _ in range(200):
        cycle = lw.step(arm, goal, q, 0.02, damping=1.0)  # with less damping it oscillates around the fold
        assert abs(cycle.q[0] - q[0]) <= 0.02 + 1e-12
        assert abs(cycle.q[0]) <= 0.5
        q = cycle.q
    assert (cycle.status, cycle.joint, cycle.limit) == ("limited", "a", "position")
    assert "at its limit" in cycle.reason


@pytest.mark.parametrize("kind", GOALS)
def test_every_goal_is_served(kind: str) -> None:
    q = HUMAN.stored_pose("stand")
    there = HUMAN.integrate(q, 0.02 * np.random.default_rng(1).normal(size=HUMAN.nv))
    goal = make(kind, HUMAN, FRAMES, there)
    cycle = lw.step(HUMAN, goal, q, 0.01)
    assert cycle.status in ("reached", "following")
    assert np.linalg.norm(cycle.residuals) <= np.linalg.norm(goal.resolve(HUMAN, q).error(HUMAN, q)) + 1e-9


def test_out_of_reach_it_says_that_it_is_held() -> None:
    q = START
    for _ in range(300):
        cycle = lw.step(ARM, lw.Reach("tip", position=(-40, 5)), q, 0.01, damping=20.0)  # less never comes to rest
        q = cycle.q
    assert cycle.status in ("held", "following")
    assert np.linalg.norm(ARM.forward(q, frame="tip")[:2, 3]) == pytest.approx(30.0, abs=0.05)


def test_what_a_cycle_cannot_take_is_refused() -> None:
    for options, words in (
        ({"dt": 0.0}, "dt"),
        ({"dt": 0.1, "gain": -1.0}, "gain"),
        ({"dt": 0.1, "velocity": -1.0}, "velocity"),
    ):
        with pytest.raises(lw.errors.OptionError, match=words):
            lw.step(ARM, GOAL, START, **options)
    with pytest.raises(lw.errors.OptionError, match="one pose"):
        lw.step(ARM, GOAL, [START, START], 0.1)
