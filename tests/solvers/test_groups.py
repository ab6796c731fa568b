"""`joints=` and `weights=`: a group of joints to solve with, and the cost of moving each joint."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import GoalError, JointNotFoundError, OptionError
from linkwork.linkage.program import chain_motions, folded
from linkwork.solvers import METHODS

PANDA = lw.models.panda()
LAST = [f"panda_joint{k}" for k in range(2, 8)]
ELSEWHERE = PANDA.pose(PANDA.stored_pose("ready") + 0.1)


def reachable(linkage: lw.Linkage, frame: str, start: np.ndarray, joints: list[str], seed: int = 0) -> np.ndarray:
    """Return a frame's transform in a random pose that differs from a start in some joints only."""
    pose = start.copy()
    places = [linkage.coordinate_index[name] for name in joints]
    pose[places] = linkage.random_pose(seed)[places]
    return linkage.forward(pose, frame=frame)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_moves_the_group_alone(method: str) -> None:
    arm = lw.models.planar([4, 3, 2, 1])
    start = np.array([0.3, 0.4, -0.2, 0.5])
    group = ["j2", "j3"]
    target = arm.forward(np.array([0.3, 1.1, 0.6, 0.5]), frame="tip")[:2, 3]
    solution = lw.solve(arm, lw.Reach("tip", position=target), start=start, method=method, joints=group)
    assert solution.success, solution.reason
    assert (solution.q[[0, 3]] == start[[0, 3]]).all()
    assert np.linalg.norm(arm.forward(solution.q, frame="tip")[:2, 3] - target) < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_a_search_with_a_group_finds_what_the_frozen_arm_finds(seed: int) -> None:
    target = reachable(PANDA, "tip", ELSEWHERE, LAST, seed)
    solution = lw.solve(PANDA, lw.Reach("tip", pose=target), start=ELSEWHERE, joints=LAST)
    frozen = PANDA.freeze("panda_joint1", at=ELSEWHERE[0])
    assert solution.success
    assert solution.q[0] == ELSEWHERE[0]
    assert np.abs(PANDA.forward(solution.q, frame="tip") - target).max() < 2e-3
    assert np.abs(frozen.forward(solution.q[1:], frame="tip") - target).max() < 2e-3
    assert lw.solve(PANDA, lw.Reach("tip", pose=target), joints=LAST).q[0] == PANDA.neutral()[0]


def test_a_prepared_solver_takes_the_rest_from_every_start() -> None:
    ik = lw.prepare(PANDA, "tip", joints=LAST)
    for k, turn in enumerate((-1.0, 0.2, 0.2, 1.4)):
        start = PANDA.pose({"panda_joint1": turn}, base="ready")
        target = reachable(PANDA, "tip", start, LAST, k)
        solution = ik(target, start=start)
        assert solution.success
        assert solution.q[0] == turn
        assert np.abs(PANDA.forward(solution.q, frame="tip") - target).max() < 2e-3
        assert (solution.start == start).all()


@pytest.mark.parametrize("held", ["panda_joint1", "panda_joint3", "panda_joint7"])
def test_a_joint_that_stays_may_be_anywhere_on_the_chain(held: str) -> None:
    group = [name for name in PANDA.coordinates if name != held]
    ik, place = lw.prepare(PANDA, "tip", joints=group), PANDA.coordinate_index[held]
    for seed, start in enumerate(PANDA.random_pose(7, 6)):
        target = reachable(PANDA, "tip", start, group, seed)
        solution = ik(target, start=start)
        assert solution.success
        assert solution.q[place] == start[place]
        assert (solution.start == start).all()
        error = solution.goals[0].error(PANDA, solution.q)
        assert np.allclose(solution.residuals, [np.linalg.norm(error[:3]), np.linalg.norm(error[3:])], atol=1e-9)
        assert np.abs(PANDA.forward(solution.q, frame="tip") - target).max() < 2e-3


def test_bodies_keep_the_rest_where_it_is() -> None:
    body = lw.models.human(root="floating")
    start = body.stored_pose("stand")
    arm = [name for name in body.joints if name.startswith("left_") and ("arm" in name or "shoulder" in name)]
    arm = arm or ["left_shoulder", "left_elbow"]
    moving = np.isin([row.joint for row in body.table], arm)
    there = np.where(moving, body.random_pose(3), start)
    goals = [lw.Reach("left_hand", position=body.forward(there, frame="left_hand")[:3, 3]), lw.Rest(start)]
    for solution in (
        lw.solve(body, goals, start=start, joints=arm),
        lw.solve(body, goals, start=start, joints=arm, method="damped"),
        lw.prepare(body, goals, joints=arm)(goals, start=start),
    ):
        assert solution.success, solution.reason
        assert (solution.q[~moving] == start[~moving]).all()
        assert (solution.q[moving] != start[moving]).any()


def test_what_stays_may_be_beyond_its_limits() -> None:
    start = PANDA.stored_pose("ready")
    start[0] = PANDA.upper[0] + 0.2
    target = reachable(PANDA, "tip", start, LAST)
    for method in ("robust", "damped"):
        solution = lw.solve(PANDA, lw.Reach("tip", pose=target), start=start, joints=LAST, method=method)
        assert solution.q[0] == start[0]
        assert solution.success or method == "damped"


def test_batches_hold_the_rest() -> None:
    targets = np.stack([reachable(PANDA, "tip", ELSEWHERE, LAST, seed) for seed in range(20)])
    batch = lw.solve_batch(PANDA, "tip", targets, start=ELSEWHERE, joints=LAST)
    assert batch.success.all()
    assert (batch.q[:, 0] == ELSEWHERE[0]).all()
    starts = np.tile(ELSEWHERE, (20, 1))
    starts[::2, 0] = -0.7
    targets = np.stack([reachable(PANDA, "tip", start, LAST, seed) for seed, start in enumerate(starts)])
    batch = lw.solve_batch(PANDA, "tip", targets, start=starts, joints=LAST)
    assert batch.success.all()
    assert (batch.q[:, 0] == starts[:, 0]).all()
    assert np.abs(PANDA.forward(batch.q, frame="tip") - targets).max() < 2e-3


def test_all_solutions_of_a_group() -> None:
    arm = lw.models.planar([4, 3, 2])
    start = np.array([0.3, 0.4, -0.2])
    target = arm.forward(np.array([0.3, 1.1, 0.6]), frame="tip")[:2, 3]
    found = lw.solve_all(arm, lw.Reach("tip", position=target), joints=["j2", "j3"], start=start)
    assert len(found) == 2
    assert found.dimension == 0
    assert (found.q[:, 0] == 0.3).all()
    assert lw.solve_all(arm, lw.Reach("tip", position=target)).dimension == 1


def test_tracks_move_the_group_alone() -> None:
    arm, start = lw.models.planar([4, 3, 2]), np.array([0.3, 0.4, 0.6])
    end = arm.forward(np.array([0.3, 0.9, 1.1]), frame="tip")[:2, 3]
    clip = lw.track(arm, lw.Reach("tip", position=end), start=start, joints=["j2", "j3"])
    assert clip.residuals.max() < 1e-3
    assert (clip.poses[:, 0] == 0.3).all()


def test_looking_ahead_moves_the_group_alone() -> None:
    arm, start = lw.models.planar([4, 3, 2]), np.array([0.3, 0.4, 0.6])
    end = arm.forward(np.array([0.3, 0.9, 1.1]), frame="tip")[:2, 3]
    clip = lw.track(arm, lw.Reach("tip", position=end), start=start, joints=["j2", "j3"], lookahead=True)
    assert clip.residuals.max() < 1e-3
    assert (clip.poses[:, 0] == 0.3).all()


def test_control_loops_move_the_group_alone() -> None:
    ik, q = lw.prepare(PANDA, "tip", joints=LAST), PANDA.pose({"panda_joint1": 0.4}, base="ready")
    target = PANDA.forward(PANDA.pose({"panda_joint2": -0.5, "panda_joint6": 1.8}, base=q), frame="tip")
    for _ in range(60):
        q = ik.step(target, q, dt=0.02)
    assert q.status == "reached"
    assert q.q[0] == 0.4
    stays = ik(target, start=PANDA.pose({"panda_joint1": 0.4}, base="ready"), stay=True)
    assert stays.success
    assert stays.q[0] == 0.4
    assert ik.nearest(target, stays.q).q[0] == 0.4


def test_a_group_goes_by_its_name() -> None:
    arm = PANDA.replace(groups={"wrist": LAST[3:], "elbow": LAST[1:3]})
    target = reachable(arm, "tip", ELSEWHERE, LAST[1:])
    for joints in (["wrist", "elbow"], ["wrist", *LAST[1:3]], LAST[1:]):
        solution = lw.solve(arm, lw.Reach("tip", position=target[:3, 3]), start=ELSEWHERE, joints=joints)
        assert solution.success
        assert (solution.q[:2] == ELSEWHERE[:2]).all()
    still = lw.solve(arm, lw.Reach("tip", position=target[:3, 3]), start=ELSEWHERE, joints="wrist")
    assert (still.q[:4] == ELSEWHERE[:4]).all()
    with pytest.raises(JointNotFoundError, match="did you mean 'wrist'"):
        lw.solve(arm, lw.Reach("tip", position=target[:3, 3]), joints="wirst")


def test_names_that_do_not_exist_are_told() -> None:
    goal = lw.Reach("tip", position=(0.4, 0, 0.5))
    with pytest.raises(JointNotFoundError, match="did you mean 'panda_joint1'"):
        lw.solve(PANDA, goal, joints=["panda_joint01"])
    with pytest.raises(OptionError, match="at least one"):
        lw.solve(PANDA, goal, joints=[])
    with pytest.raises(OptionError, match="fixed"):
        lw.solve(PANDA, goal, joints=[next(a.name for a in PANDA.arcs if not a.articulation.nv)])


def test_explanations_speak_of_the_group() -> None:
    arm = lw.models.planar([4, 3, 2])
    told = lw.solve(arm, lw.Reach("tip", position=(-8, 0)), start=[0.1, 0.2, 0.3], joints=["j2", "j3"]).explain()
    assert "Only j2 and j3 may move; with all joints, the goal is reached" in told


def test_folded_motions_are_the_chain_at_the_pose() -> None:
    body = lw.models.human(root="floating")
    pose = body.random_pose(1)
    free = np.zeros(body.nv, np.bool_)
    run = folded(chain_motions(body, "left_hand"), free, pose)
    assert not run.motions
    assert np.allclose(run.after, body.forward(pose, frame="left_hand"))


# Weights


def closed_form(linkage: lw.Linkage, goal: lw.Reach, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``W^-1 J^T (J W^-1 J^T)^-1 V`` by plain NumPy."""
    J, V = linkage.jacobian(q, goal.frame)[:3], goal.error(linkage, q)
    light = np.diag(1.0 / weights)
    return light @ J.T @ np.linalg.solve(J @ light @ J.T, V)


def first_step(method: str, weights: np.ndarray, **options: object) -> tuple[np.ndarray, np.ndarray]:
    q, goal = PANDA.stored_pose("ready"), lw.Reach("tip", position=(0.5, 0.05, 0.6))
    solution = lw.solve(PANDA, goal, start=q, method=method, weights=weights, trace=True, **options)
    return solution.trace[0].step, closed_form(PANDA, goal, q, weights)


WEIGHTS = np.array([1.0, 5.0, 2.0, 1.0, 30.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("pseudoinverse", {}),
        ("pseudoinverse", {"form": "rows"}),
        ("damped", {"damping": 0.0}),
        ("control", {"gains": 0.0, "max_step": 10.0}),
        ("prioritized", {"damping": 1e-4, "max_step": 10.0}),
    ],
)
def test_steps_are_the_weighted_pseudoinverse(method: str, options: dict[str, object]) -> None:
    step, expected = first_step(method, WEIGHTS, **options)
    assert np.allclose(step, expected, atol=1e-6)


@pytest.mark.parametrize(
    "method", ["pseudoinverse", "damped", "control", "selectively-damped", "prioritized", "robust"]
)
def test_a_heavy_joint_moves_less(method: str) -> None:
    q, goal = PANDA.stored_pose("ready"), lw.Reach("tip", position=(0.45, 0.25, 0.6))
    moved = {}
    for weight in (1.0, 100.0):
        solution = lw.solve(PANDA, goal, start=q, method=method, weights={"panda_joint1": weight})
        assert solution.success, solution.reason
        moved[weight] = abs(solution.q[0] - q[0])
    assert moved[100.0] < 0.5 * moved[1.0]


@pytest.mark.parametrize("method", ["inverse", "ccd", "ranked-ccd", "fabrik", "analytic"])
def test_methods_without_a_choice_say_so(method: str) -> None:
    arm = lw.models.planar([2, 1])
    with pytest.raises(GoalError, match="weights="):
        lw.solve(arm, lw.Reach("tip", position=(1, 2)), start=[0.1, 0.3], method=method, weights={"j1": 2.0})


def test_prepared_goals_weigh_joints_and_frames_say_that_they_do_not() -> None:
    q, goal = PANDA.stored_pose("ready"), lw.Reach("tip", position=(0.45, 0.25, 0.6))
    heavy = lw.prepare(PANDA, [goal], weights={"panda_joint1": 100.0})(goal, start=q)
    assert heavy.success
    assert abs(heavy.q[0] - q[0]) < 0.1
    with pytest.raises(OptionError, match="prepare goals"):
        lw.prepare(PANDA, "tip", weights={"panda_joint1": 100.0})


@pytest.mark.parametrize(
    "weights", [np.ones(3), {"panda_joint1": 0.0}, {"panda_joint1": -1.0}, np.full(7, np.nan), {"panda_joint1": "x"}]
)
def test_weights_that_make_no_sense_are_refused(weights: object) -> None:
    with pytest.raises(OptionError, match="weight"):
        lw.solve(PANDA, lw.Reach("tip", position=(0.4, 0, 0.5)), weights=weights)


def test_weights_go_with_loops() -> None:
    bars = lw.models.four_bar()
    goal = lw.Rest(bars.stored_pose("start"))
    solution = lw.solve(bars, goal, start="start", method="damped", weights={"crank": 9.0})
    assert np.abs(lw.Close(bars.loops[0]).error(bars, solution.q)).max() < 1e-6
