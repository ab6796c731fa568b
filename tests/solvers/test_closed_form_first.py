"""Closed forms in solve, prepare and batches: exact, nearest to a start, correct at the edge of reach and beyond."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
import six_joint_arms
from chains import errors, placed, serial, within
from closed_form_arms import SEVEN, dh
from linkwork.errors import GoalError
from linkwork.linkage.joints import Revolute
from linkwork.linkage.poses import turned_back

UR5, PANDA = lw.models.ur5(), lw.models.panda()
WRIST_STEPS = [placed(None, p) for p in ((0, 0, 0), (0, 0, 0.4), (0.5, 0, 0), (0.1, 0, 0), (0.4, 0, 0), (0, 0, 0))]


def wristed(limit: float) -> lw.Linkage:
    """Return an arm with a wrist, with a limit on all joints."""
    return serial([Revolute(axis, -limit, limit) for axis in "zyyxyx"], WRIST_STEPS, placed(None, (0.1, 0, 0)))


ARMS = {"three parallel": UR5, "wrist": wristed(2.8), "seven": PANDA}


@pytest.mark.parametrize("name", ARMS)
def test_answers_are_exact_without_a_single_start(name: str) -> None:
    arm = ARMS[name]
    targets = arm.forward(arm.random_pose(0, 500), frame="tip")
    batch, ik = lw.solve_batch(arm, "tip", targets), lw.prepare(arm, "tip")
    assert batch.success.all()
    assert (batch.restarts == 0).mean() > 0.99
    assert errors(arm, "tip", batch.q, targets, "pose")[batch.restarts == 0].max() < 1e-9
    assert within(arm, batch.q).all()
    for target in targets[:40]:
        alone = ik(target)
        assert alone.success
        assert errors(arm, "tip", alone.q[None], target[None], "pose").max() < 1e-9


@pytest.mark.parametrize("name", ["three parallel", "wrist"])
def test_with_a_start_the_answer_is_the_nearest_of_all_turns(name: str) -> None:
    arm, rng = ARMS[name], np.random.default_rng(1)
    poses, starts = arm.random_pose(rng, 30), arm.random_pose(rng, 30)
    targets, ik = arm.forward(poses, frame="tip"), lw.prepare(arm, "tip")
    batch = lw.solve_batch(arm, "tip", targets, start=starts)
    for target, start, together in zip(targets, starts, batch.q, strict=True):
        every = lw.solve_all(arm, lw.Reach("tip", pose=target), start=start, windings=True)
        best = np.linalg.norm(every.q - start, axis=1).min()
        for q in (ik(target, start=start).q, together, ik.nearest(target, start).q, ik.all(target, start=start).q[0]):
            assert np.linalg.norm(q - start) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(("name", "spread"), [("Jaco 2", 0.1), ("Jaco 2", 9.0), ("Fanuc CRX-10iA/L", 1.0)])
def test_elimination_gives_the_nearest_to_a_start(name: str, spread: float) -> None:
    arm, rng = six_joint_arms.linkage(name), np.random.default_rng(4)
    ik, poses = lw.prepare(arm, "tip"), rng.uniform(-np.pi, np.pi, (40, 6))
    exact = lw.prepare(arm, "tip", tolerance=1e-10, rotation_tolerance=1e-10)
    starts = np.clip(poses + spread * rng.normal(size=poses.shape), -np.pi, np.pi)
    for target, start in zip(arm.forward(poses, frame="tip"), starts, strict=True):
        found = ik(target, start=start)
        assert found.success
        assert errors(arm, "tip", found.q[None], target[None], "pose").max() < 1e-8
        every = exact.candidates(target, 200)
        assert (
            np.linalg.norm(found.q - start)
            < 1e-6 + np.linalg.norm(turned_back(arm, every, start) - start, axis=1).min()
        )


def test_a_solution_by_elimination_can_be_pickled() -> None:
    arm = six_joint_arms.linkage("Jaco 2")
    found = lw.prepare(arm, "tip")(arm.forward(np.full(6, 0.3), frame="tip"), start=np.full(6, 0.2))
    assert_array_equal(pickle.loads(pickle.dumps(found)).q, found.q)


@pytest.mark.parametrize(("spread", "least"), [(0.02, 1.0), (0.2, 0.98), (1.0, 0.95)])
@pytest.mark.parametrize("name", ["panda", "gen3"])
def test_seven_joints_come_as_near_to_a_start_as_any_pose_that_starts_find(name, spread, least) -> None:
    arm, rng = {"panda": PANDA, "gen3": dh(SEVEN)}[name], np.random.default_rng(7)
    ik, count = lw.prepare(arm, "tip", tolerance=1e-9, rotation_tolerance=1e-9), 50
    poses = arm.random_pose(rng, count)
    starts = np.clip(poses + spread * rng.normal(size=poses.shape), arm.lower, arm.upper)
    near = []
    for target, start in zip(arm.forward(poses, frame="tip"), starts, strict=True):
        found = ik(target, start=start)
        assert found.success
        assert errors(arm, "tip", found.q[None], target[None], "pose").max() < 1e-8
        assert within(arm, found.q[None]).all()
        others = turned_back(arm, ik.candidates(target, 1000), start)
        near.append(np.linalg.norm(found.q - start) <= 1.001 * np.linalg.norm(others - start, axis=1).min())
    assert np.mean(near) >= least


@pytest.mark.parametrize("name", ARMS)
def test_a_pose_on_a_limit_is_reached(name: str) -> None:
    arm = ARMS[name]
    poses = arm.random_pose(2, 2 * arm.nq)
    for k in range(arm.nq):
        poses[2 * k, k], poses[2 * k + 1, k] = arm.lower[k], arm.upper[k]
    batch = lw.solve_batch(arm, "tip", arm.forward(poses, frame="tip"))
    assert batch.success.all()
    assert within(arm, batch.q).all()


@pytest.mark.parametrize(("beyond", "reached"), [(0.5e-4, True), (5e-4, False)])
def test_a_goal_out_of_reach_by_less_than_the_tolerance_is_reached(beyond: float, reached: bool) -> None:
    arm = wristed(2.8)
    stretched = arm.forward(np.array([0.4, -0.3, 0.0, 0.2, 0.0, 0.1]), frame="tip")
    shoulder = np.array([0.0, 0.0, 0.4])  # straight from here to the wrist's centre
    centre = stretched[:3, 3] - 0.1 * stretched[:3, 0]
    stretched[:3, 3] += beyond * (centre - shoulder) / np.linalg.norm(centre - shoulder)
    assert lw.prepare(arm, "tip")(stretched).success is reached
    assert lw.solve_batch(arm, "tip", np.tile(stretched, (3, 1, 1))).success.tolist() == [reached] * 3
    assert lw.solve_batch(arm, "tip", np.tile(stretched, (3, 1, 1)), closest=False).success.tolist() == [reached] * 3


def impossible(arm: lw.Linkage, count: int) -> np.ndarray:
    """Return targets within reach with unreachable orientations."""
    targets = arm.forward(arm.random_pose(3, 20 * count), frame="tip")
    targets[:, :3, :3] = Rotation.random(len(targets), random_state=4).as_matrix()
    return targets[[not len(lw.solve_all(arm, lw.Reach("tip", pose=target))) for target in targets]][:count]


def test_the_pose_closest_to_an_impossible_goal_is_found_as_128_starts_find_it() -> None:
    arm = wristed(1.6)
    targets = impossible(arm, 60)
    quick, thorough = (lw.solve_batch(arm, "tip", targets, closest=way) for way in ("quick", "thorough"))
    assert len(targets) == 60
    assert not quick.success.any()
    assert set(quick.status) <= {"closest", "beyond"}
    assert within(arm, quick.q).all()
    away = [np.hypot(batch.residuals[:, 0], 0.25 * 1.1 * batch.residuals[:, 1]) for batch in (quick, thorough)]
    assert (away[0] < 1.02 * away[1] + 1e-6).mean() > 0.9
    assert_allclose(quick.residuals, errors(arm, "tip", quick.q, targets, "pose"), atol=1e-9)
    left = lw.solve_batch(arm, "tip", targets, closest=False)
    assert_allclose(left.residuals, errors(arm, "tip", left.q, targets, "pose"), atol=1e-9)


def test_answers_do_not_depend_on_threads_or_neighbours() -> None:
    targets = UR5.forward(UR5.random_pose(5, 3000), frame="tip")
    one, two = (lw.solve_batch(UR5, "tip", targets, threads=threads) for threads in (1, 2))
    assert_array_equal(one.q, two.q)
    assert_array_equal(one.q[:5], lw.solve_batch(UR5, "tip", targets[:5]).q)


def test_all_poses_of_a_prepared_chain() -> None:
    ik = lw.prepare(UR5, "tip")
    found = ik.all(UR5.forward([0.3, -1.0, 1.2, -0.8, 0.9, 0.4], frame="tip"))
    assert (len(found), found.q.shape, found.evidence) == (8, (8, 6), None)
    assert found.residuals.max() < 1e-9
    assert not found.doubles.any()
    none = ik.all(placed(None, (3.0, 0.0, 0.0)))
    assert (len(none), none.q.shape) == (0, (0, 6))
    assert "beyond the reach" in str(none.evidence)
    with pytest.raises(GoalError, match="a position alone leave no isolated solutions"):
        lw.prepare(UR5, "tip", orientation=False).all([0.3, 0.2, 0.4])
    with pytest.raises(GoalError, match="7 joints"):
        lw.prepare(PANDA, "tip").all(np.eye(4))


def test_a_group_of_joints_in_a_body_has_its_closed_form_too() -> None:
    arm = lw.models.ur5().attach(lw.models.planar([0.1]), "tip", prefix="finger_")
    q = arm.random_pose(6)
    target = arm.forward(q, frame="finger_tip")
    joints = [name for name in arm.coordinates if not name.startswith("finger_")]
    found = lw.prepare(arm, "finger_tip", joints=joints).all(target, start=q)
    assert np.abs(found.q - q).max(axis=1).min() < 1e-9
    assert_allclose(arm.forward(found.q, frame="finger_tip"), np.tile(target, (len(found), 1, 1)), atol=1e-9)


FOLDED = [  # poses of a Panda with its elbow at the limit: the held joint has only a thousandth of its range
    [0.962975, -1.674766, 1.227399, -3.070952, 1.397447, 0.862873, -0.382104],
    [2.22145, -1.337547, -1.015674, -3.071509, -1.522807, -0.016055, 1.947117],
    [0.77484, -1.750793, 1.335983, -3.068432, 1.560006, 0.436834, 2.132388],
    [-1.290786, 1.598786, -1.145733, -3.07094, 1.408311, 1.015318, 0.669862],
    [-1.848561, -1.723251, 0.622835, -3.022761, -1.834049, 1.957116, -2.879208],
]


def test_the_short_windows_at_a_folded_elbow_are_found() -> None:
    arm = lw.models.panda()
    targets = np.concatenate([arm.forward(FOLDED, frame="tip"), arm.forward(arm.random_pose(1, 11), frame="tip")])
    found = lw.solve_batch(arm, "tip", targets, progress=False)
    assert found.success.all()
    assert_allclose(arm.forward(found.q, frame="tip"), targets, atol=1e-6)
