"""Dexterity: measures compared with plain NumPy, and redundant arms that use their null space for it."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import GoalError, JointNotFoundError
from linkwork.explain import manipulability

PANDA = lw.models.panda()
POSES = PANDA.random_pose(3, 5)


def test_manipulability_is_that_of_yoshikawa_as_a_share_of_the_best() -> None:
    goal = lw.Dexterity("tip", rows="position")
    J = PANDA.jacobian(POSES, "tip")[:, :3]
    expected = np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))
    assert np.allclose(goal.value(PANDA, POSES) * goal._counted(PANDA).best, expected)
    assert np.allclose(expected, manipulability(PANDA, POSES, "tip").measure)
    assert 0.8 < goal.value(PANDA, PANDA.random_pose(9, 2000)).max() < 1.2


def test_condition_is_the_smallest_singular_value_over_the_largest() -> None:
    goal = lw.Dexterity("tip", measure="condition")
    J = PANDA.jacobian(POSES, "tip") * np.repeat([1.0, PANDA.length / 4.0], 3)[:, None]
    assert np.allclose(goal.value(PANDA, POSES), 1.0 / np.linalg.cond(J))


@pytest.mark.parametrize("measure", ["manipulability", "condition"])
def test_a_redundant_arm_becomes_more_dexterous_while_its_hand_stays(measure: str) -> None:
    wish, gained = lw.Dexterity("tip", measure=measure), []
    for seed in range(10, 22):
        goal = lw.Reach("tip", pose=PANDA.forward(PANDA.random_pose(seed), frame="tip"))
        plain = lw.solve(PANDA, goal, start="ready")
        both = lw.solve(PANDA, [goal, wish], start="ready")
        assert both.success
        assert np.linalg.norm(goal.error(PANDA, both.q)[:3]) <= 1e-4
        assert np.linalg.norm(goal.error(PANDA, both.q)[3:]) <= 1e-3
        gained.append(float(wish.value(PANDA, both.q) - wish.value(PANDA, plain.q)))
    assert min(gained) > -1e-3  # the tolerance of the hand may cost this much
    assert np.mean(gained) > 0.01
    assert sum(gain > 1e-3 for gain in gained) >= 6


@pytest.mark.parametrize("method", ["damped", "prioritized", "pseudoinverse"])
def test_methods_with_levels_serve_it(method: str) -> None:
    wish = lw.Dexterity("tip", rows="position")
    goal = lw.Reach("tip", position=(0.3, 0.3, 0.4))
    plain = lw.solve(PANDA, goal, start="ready", method=method)
    both = lw.solve(PANDA, [goal, wish], start="ready", method=method)
    assert plain.success
    assert both.success
    assert wish.value(PANDA, both.q) > wish.value(PANDA, plain.q)


def test_enough_is_enough() -> None:
    goal = lw.Dexterity("tip", enough=0.6, priority=0, tolerance=1e-3)
    start = PANDA.pose(panda_joint4=-0.1, base="ready")
    assert goal.value(PANDA, start) < 0.4
    solution = lw.solve(PANDA, goal, start=start)
    assert solution.success
    assert goal.value(PANDA, solution.q) > 0.598
    assert (lw.solve(PANDA, goal, start=solution.q).q == solution.q).all()


def test_a_hand_of_a_body_counts_the_joints_that_are_named() -> None:
    body = lw.models.human(root="floating")
    hand = lw.Dexterity("right_hand", rows="position", joints=["right_shoulder", "right_elbow"])
    assert len(hand._counted(body).columns) < len(lw.Dexterity("right_hand", rows="position")._counted(body).columns)
    goals = [lw.Hold("left_foot"), lw.Hold("right_foot"), lw.Reach("right_hand", position=(0.4, -0.2, 1.2))]
    plain, both = (lw.solve(body, [*goals, *more], start="stand") for more in ((), (hand,)))
    assert both.success
    assert hand.value(body, both.q) > hand.value(body, plain.q)


def test_a_planar_arm_has_its_elbow_square() -> None:
    arm = lw.models.planar([1, 1])
    solution = lw.solve(arm, lw.Dexterity("tip", rows="position"), start=[0.3, 0.2])
    assert abs(abs(solution.q[1]) - np.pi / 2) < 0.05  # |sin q2| is the measure


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": "all"}, "'position', 'orientation', 'both'"),
        ({"measure": "volume"}, "'manipulability', 'condition'"),
        ({"enough": 0.0}, "above zero"),
        ({"joints": []}, "at least one"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(GoalError, match=words):
        lw.Dexterity("tip", **options)


def test_joints_and_rows_must_be_there() -> None:
    with pytest.raises(JointNotFoundError, match="panda_joint9"):
        lw.solve(PANDA, lw.Dexterity("tip", joints=["panda_joint9"]))
    arm = lw.models.planar([1, 1])
    with pytest.raises(GoalError, match="none of the joints that count"):
        lw.solve(arm, lw.Dexterity("link0"))
