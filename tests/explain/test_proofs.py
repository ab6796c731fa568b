"""Closed forms prove that goals have no solution, and give the reason, also if limits are the reason."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from chains import placed, serial
from linkwork.explain.proofs import proof_of
from linkwork.linkage.joints import Revolute

UR5 = lw.models.ur5()
FAR = placed(Rotation.from_euler("xyz", [0.3, -1.5, 0.2]).as_matrix(), (0.8, 0.1, 0.3))


@pytest.mark.parametrize("method", ["robust", "damped"])
def test_a_goal_without_a_solution_says_what_stops_it(method: str) -> None:
    solution = lw.solve(UR5, lw.Reach("tip", pose=FAR), method=method)
    diagnosis = lw.diagnose(solution)
    assert diagnosis.cause == "out-of-reach"
    assert diagnosis.evidence["family"] == "three parallel axes"
    assert "No pose reaches the goal: the axis of wrist_1_joint is " in diagnosis.sentence
    if method == "robust":
        assert "No pose reaches the goal" in solution.reason


def test_the_distance_that_is_missing_is_the_distance() -> None:
    evidence = proof_of(lw.solve(UR5, lw.Reach("tip", pose=FAR))).evidence
    missing = float(evidence.split(" is ")[1].split(" mm")[0]) / 1000.0
    nearer, further = FAR.copy(), FAR.copy()
    centre = UR5.forward(UR5.neutral(), frame="shoulder_link")[:3, 3]
    way = (FAR[:3, 3] - centre) / np.linalg.norm(FAR[:3, 3] - centre)
    nearer[:3, 3] -= 2.0 * missing * way
    further[:3, 3] += 0.2 * way
    assert len(lw.solve_all(UR5, lw.Reach("tip", pose=nearer)))
    assert not len(lw.solve_all(UR5, lw.Reach("tip", pose=further)))


def limited(limit: float) -> lw.Linkage:
    """Return an arm with a wrist, with a limit on all joints."""
    steps = [placed(None, p) for p in ((0, 0, 0), (0, 0, 0.4), (0.5, 0, 0), (0.1, 0, 0), (0.4, 0, 0), (0, 0, 0))]
    return serial([Revolute(axis, -limit, limit) for axis in "zyyxyx"], steps, placed(None, (0.1, 0, 0)))


def test_limits_that_stop_a_goal_are_named_and_wider_ones_let_it_pass() -> None:
    q = np.array([0.3, -0.6, 0.9, 0.4, 0.7, -0.2])
    goal = lw.Reach("tip", pose=limited(3.0).forward(q, frame="tip"))
    assert lw.solve(limited(0.95), goal).success
    solution = lw.solve(limited(0.85), goal)
    diagnosis = lw.diagnose(solution)
    assert (solution.success, diagnosis.cause) == (False, "limits")
    assert "beyond limits; the nearest breaks that of j2 by 2.86°" in diagnosis.evidence["proof"]
    assert diagnosis.evidence["violations"]["j2"] == pytest.approx(0.05, abs=1e-6)
    assert lw.solve(limited(0.85), goal, limits="ignore").success
    assert not len(lw.solve_all(limited(0.85), goal))
    assert lw.solve_all(limited(0.85), goal).complete


def test_a_goal_with_a_solution_has_no_such_proof() -> None:
    missed = lw.solve(UR5, lw.Reach("tip", pose=UR5.forward("reach", frame="tip")), method="damped", max_iterations=1)
    assert not missed.success
    assert proof_of(missed) is None
