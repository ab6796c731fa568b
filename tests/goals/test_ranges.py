"""Reach within ranges: checked with plain NumPy and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.errors import GoalError

PANDA = lw.models.panda()
TARGET = PANDA.forward(PANDA.stored_pose("ready"), frame="tip")


def off(frame: np.ndarray, target: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the errors of a frame: metres along and radians about the columns of `axes`."""
    turn = Rotation.from_matrix(frame[:3, :3] @ target[:3, :3].T).as_rotvec()
    return np.concatenate([axes.T @ (frame[:3, 3] - target[:3, 3]), axes.T @ turn])


@pytest.mark.parametrize("axes", ["goal", "world"])
@pytest.mark.parametrize("method", ["robust", "damped", "pseudoinverse", "prioritized"])
def test_answers_are_within_the_ranges(axes: str, method: str) -> None:
    low = np.array([-0.02, -0.0, -0.01, -0.3, -0.0, -0.0])
    high = np.array([0.02, 0.0, 0.05, 0.3, 0.0, 0.6])
    pairs = list(zip(low, high, strict=True))
    reached = 0
    for seed in range(6):
        target = PANDA.forward(PANDA.random_pose(seed), frame="tip")
        goal = lw.Reach("tip", pose=target, position_range=pairs[:3], rotation_range=pairs[3:], range_axes=axes)
        solution = lw.solve(PANDA, goal, start="ready", method=method)
        if not solution.success:
            continue
        reached += 1
        basis = np.eye(3) if axes == "world" else target[:3, :3]
        gone = off(PANDA.forward(solution.q, frame="tip"), target, basis)
        beyond = np.maximum(np.maximum(low - gone, gone - high), 0.0)
        assert np.linalg.norm(beyond[:3]) <= 1e-4 + 1e-9
        assert np.linalg.norm(beyond[3:]) <= 1e-3 + 1e-9
        assert np.allclose(solution.residuals, [np.linalg.norm(beyond[:3]), np.linalg.norm(beyond[3:])], atol=1e-9)
    assert reached >= (6 if method == "robust" else 3)


EDGES = {
    "a place": ({"position_range": (0.5, 0.0, (-0.2, np.inf))}, [0, 2]),
    "a turn": ({"rotation_range": ((-1.0, 1.5), 2.0, 0.0)}, [3, 4]),
    "both": ({"position_range": (0.0, 0.3, 0.0), "rotation_range": (0.0, 0.0, np.pi)}, [1, 5]),
}


@pytest.mark.parametrize("axes", ["goal", "world"])
@pytest.mark.parametrize("case", EDGES)
def test_the_room_to_an_edge_shrinks_as_its_rows_say(case: str, axes: str) -> None:
    """SciPy measures the distance to the edge; its derivative equals the row, at any rotation from the target."""
    given, rows = EDGES[case]
    goal, step, rng = lw.Reach("tip", pose=TARGET, range_axes=axes, **given), 1e-6, np.random.default_rng(3)
    basis = np.eye(3) if axes == "world" else TARGET[:3, :3]
    low, high = goal.ranges.low[rows], goal.ranges.high[rows]

    def gone(q: np.ndarray) -> np.ndarray:
        return off(PANDA.forward(q, frame="tip"), TARGET, basis)[rows]

    within = 0
    for q in PANDA.clamp(PANDA.stored_pose("ready") + rng.uniform(-0.4, 0.4, (8, 7))):
        room = np.concatenate([gone(q) - low, high - gone(q)])
        known = np.isfinite(room) & (room >= 0.0)
        within += known.sum()
        edges = goal.edges(PANDA, q)
        np.testing.assert_allclose(edges.room, np.where(known, room, np.inf), atol=1e-12)
        rates = np.stack([(gone(q + way) - gone(q - way)) / (2.0 * step) for way in np.eye(7) * step], axis=-1)
        np.testing.assert_allclose(edges.rows[known], np.concatenate([-rates, rates])[known], rtol=0, atol=1e-7)
    assert within > 8
    assert lw.Reach("tip", pose=TARGET).edges(PANDA, PANDA.stored_pose("ready")) is None


def test_a_goal_of_a_later_level_pulls_a_frame_to_the_edge_of_its_range_and_no_further() -> None:
    arm = lw.models.planar([1, 1, 1])
    hand = lw.Reach("tip", position=(1.5, 0.5), position_range=(0.3, 0.0))
    start = lw.solve(arm, lw.Reach("tip", position=(1.5, 0.5)), start=[0.9, -1.0, -0.6], tolerance=1e-9).q
    for aim, edge in ((9.0, 1.8), (-9.0, 1.2)):
        pull = lw.Reach("tip", position=(aim, 0.5), axes="x", priority=1, tolerance=np.inf)
        solution = lw.solve(arm, [hand, pull], start=start, method="prioritized", max_iterations=500)
        assert solution.success
        np.testing.assert_allclose(arm.forward(solution.q, frame="tip")[:2, 3], (edge, 0.5), atol=2e-4)


def test_nothing_moves_where_the_start_is_within() -> None:
    start = PANDA.stored_pose("ready") + 0.01
    goal = lw.Reach("tip", pose=TARGET, position_range=0.1, rotation_range="20deg")
    for method in ("robust", "damped"):
        solution = lw.solve(PANDA, goal, start=start, method=method)
        assert solution.success
        assert (solution.q == start).all()


def test_an_arm_of_five_joints_comes_within_what_it_cannot_meet() -> None:
    arm = PANDA.freeze("panda_joint3", at=0.0).freeze("panda_joint5", at=0.0)
    rates = []
    targets = PANDA.forward(PANDA.random_pose(5, 60), frame="tip")
    for room in (0.0, 0.3, 0.8, 1.6):
        goals = [lw.Reach("tip", pose=target, rotation_range=(room, room, 0.0)) for target in targets]
        rates.append(np.mean([bool(lw.solve(arm, goal, restarts=20).success) for goal in goals]))
    assert rates[0] < 0.05
    assert sorted(rates) == rates
    assert rates[-1] > rates[0] + 0.25


def test_ranges_of_a_planar_position() -> None:
    arm = lw.models.planar([2, 1])
    goal = lw.Reach("tip", position=(3.4, 0.0), position_range=(0.5, 0.0))
    solution = lw.solve(arm, goal, start=[0.4, 0.3])
    assert solution.success
    x, y = arm.forward(solution.q, frame="tip")[:2, 3]
    assert 2.9 - 1e-4 <= x <= 3.0
    assert abs(y) < 1e-4
    assert "out of reach" in lw.solve(arm, lw.Reach("tip", position=(3.4, 0), position_range=(0.1, 0))).reason


def test_prepared_goals_take_other_targets() -> None:
    goal = lw.Reach("tip", pose=TARGET, rotation_range=(0, 0, math.pi / 6))
    ik = lw.prepare(PANDA, [goal])
    target = TARGET.copy()
    target[:3, 3] += 0.05
    solution = ik(goal.moved(target), start="ready")
    assert solution.success
    gone = off(PANDA.forward(solution.q, frame="tip"), target, target[:3, :3])
    assert np.abs(gone[:5]).max() < 1e-3
    assert abs(gone[5]) <= math.pi / 6 + 1e-3


@pytest.mark.parametrize("method", ["ccd", "ranked-ccd", "fabrik", "alternative", "analytic"])
def test_methods_that_cannot_say_so(method: str) -> None:
    goal = lw.Reach("tip", position=(1, 1), position_range=(0.1, 0))
    with pytest.raises(GoalError, match="ranges"):
        lw.solve(lw.models.planar([2, 1]), goal, start=[0.1, 0.2], method=method)


def test_all_solutions_are_those_of_a_goal_without_ranges() -> None:
    with pytest.raises(GoalError, match="continuum"):
        lw.solve_all(PANDA, lw.Reach("tip", pose=TARGET, rotation_range=0.1))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"position_range": (0.1, 0.1)}, "3 of them"),
        ({"position_range": -0.1}, "zero or more"),
        ({"position_range": [(0.1, 0.2), 0, 0]}, "contains zero"),
        ({"rotation_range": [(-0.1, 0.0, 0.1), 0, 0]}, "contains zero"),
        ({"rotation_range": "much"}, "angle"),
        ({"rotation_range": 0.1, "range_axes": "tool"}, "'goal' or 'world'"),
        ({"range_axes": "world"}, "neither"),
        ({"rotation_range": 0.1, "free": "z"}, "leave out free="),
    ],
)
def test_ranges_that_make_no_sense_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(GoalError, match=words):
        lw.Reach("tip", pose=TARGET, **options)


def test_a_range_needs_what_it_is_of() -> None:
    with pytest.raises(GoalError, match="no orientation"):
        lw.Reach("tip", position=(1, 2, 3), rotation_range=0.1)
    with pytest.raises(GoalError, match="no position"):
        lw.Reach("tip", orientation=np.eye(3), position_range=0.1)
