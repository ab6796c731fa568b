"""Diagnosis of collisions: the pair, its depth, the required motion of the goal; each is checked by a solve."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.explain.collisions import Nearness

UR5 = lw.models.ur5()
HERE = UR5.forward("reach", frame="tip")


def below(height: float) -> lw.Avoid:
    """Return a shelf whose upper side is above the goal by a height."""
    place = HERE[:3, 3] + (0.0, 0.0, height - 0.01)
    return lw.Avoid(lw.World([lw.Obstacle(lw.Box((0.4, 0.8, 0.02)), place, name="shelf")]), self=False)


def test_all_solutions_collide_and_raising_the_goal_is_enough() -> None:
    avoid = below(0.02)
    solution = lw.solve(UR5, [lw.Reach("tip", pose=HERE), avoid])
    found = lw.diagnose(solution)
    assert not solution
    assert found.cause == "collision"
    assert "All 4 solutions collide: " in found.sentence
    assert "'wrist_3_link' with 'shelf'" in found.sentence
    assert "raising the goal by 30 mm is enough." in found.sentence  # 20 mm, and the margin
    raised = HERE.copy()
    raised[:3, 3] += found.evidence["move"]
    again = lw.solve(UR5, [lw.Reach("tip", pose=raised), avoid])
    assert again.success
    assert lw.clearance(UR5, again.q, avoid.world, self=False).distance >= 0.01
    assert found.evidence["pair"] == ("wrist_3_link", "shelf")
    at = lw.clearance(UR5, found.evidence["in_the_way"], avoid.world, self=False)
    assert at.distance == pytest.approx(found.evidence["distance"], abs=1e-12)


def test_a_goal_inside_a_ball_says_how_far_it_would_have_to_move() -> None:
    arm = lw.models.planar([0.3, 0.25, 0.2])
    ball = lw.World([lw.Obstacle(lw.Sphere(0.1), (0.4, 0.1, 0.0), name="ball")])
    solution = lw.solve(arm, [lw.Reach("tip", position=(0.38, 0.1)), lw.Avoid(ball, self=False)])
    text = solution.explain()
    assert "enters 'ball' by" in text
    assert "moving the goal by" in text
    way = lw.diagnose(solution).evidence["move"]
    moved = np.array([0.38, 0.1]) + way[:2]
    assert np.linalg.norm(moved - (0.4, 0.1)) >= 0.11 - 1e-3  # radius and margin: out of the ball
    assert lw.solve(arm, [lw.Reach("tip", position=moved), lw.Avoid(ball, self=False)]).success


def test_an_obstacle_around_the_base_is_told_whatever_the_goal() -> None:
    block = lw.World([lw.Obstacle(lw.Box((0.5, 0.5, 0.5)), (0, 0, 0.2), name="block")])
    solution = lw.solve(UR5, [lw.Reach("tip", position=HERE[:3, 3]), lw.Avoid(block, self=False)])
    found = lw.diagnose(solution)
    assert found.cause == "collision"
    assert "Without Avoid all other goals are reached" in found.sentence
    assert "enters 'block' by " in found.sentence
    assert "in each of 64 random poses" in found.sentence
    assert "touches=(" in found.advice


def test_what_gives_way_misses_by_what_the_nearest_pair_lacks() -> None:
    found = lw.diagnose(lw.solve(UR5, [lw.Reach("tip", pose=HERE), lw.Avoid(margin=1.0)]))
    (missed,) = found.evidence["gives_way"].values()
    assert 0.9 < missed["m"] <= 1.1  # all pairs together lack more than three metres


def test_goals_that_are_out_of_reach_anyway_are_told_so() -> None:
    solution = lw.solve(UR5, [lw.Reach("tip", position=(9.0, 0.0, 0.0)), below(0.02)])
    assert lw.diagnose(solution).cause == "out-of-reach"


def test_depths_are_said_in_words() -> None:
    assert Nearness("forearm", "shelf", -0.018, 0.01).words == "'forearm' enters 'shelf' by 18 mm"
    near = Nearness("forearm", "shelf", 0.004, 0.01).words
    assert near == "'forearm' comes within 4 mm of 'shelf', less than the margin of 10 mm"
