"""Control cycles: limits of a step, its status, and results of continuous motion."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import linkwork as lw
from chains import KINDS, errors, random_chain
from contract import smooth_path
from linkwork.errors import GoalError, OptionError, PoseShapeError, PoseValueError
from sixty_robots import installed

PANDA, UR5 = lw.models.panda(), lw.models.ur5()
READY = PANDA.stored_pose("ready")
HERE = PANDA.forward(READY, frame="tip")
IK = lw.prepare(PANDA, "tip")
DT = 0.01


def moved(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    target = HERE.copy()
    target[:3, 3] += (x, y, z)
    return target


def cycles(ik: lw.Prepared, target: np.ndarray, q: np.ndarray, count: int, **options: object) -> list[lw.Step]:
    found: list[lw.Step] = []
    for _ in range(count):
        found.append(ik.step(target, found[-1] if found else q, DT, **options))
    return found


# Limits


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_says_of_itself_what_is_true(kind: str) -> None:
    ik, rng = lw.prepare(PANDA, "tip", **KINDS[kind]), np.random.default_rng(1)
    for _ in range(20):
        start = PANDA.random_pose(rng)
        near = PANDA.forward(PANDA.clamp(start + rng.uniform(-0.1, 0.1, 7)), frame="tip")
        step = ik.step(near, start, DT)
        found = errors(PANDA, "tip", step.q[None], near[None], kind)[0]
        asked = [k for k, part in enumerate(("position", "orientation")) if KINDS[kind].get(part, True)]
        assert_allclose(step.residuals, found[asked], rtol=1e-6, atol=1e-8)
        assert step.success == (step.status == "reached") == bool((found <= (1e-4, 1e-3)).all())
        assert_array_equal(step.start, start)
        assert ((step.q >= PANDA.lower) & (step.q <= PANDA.upper)).all()


@pytest.mark.parametrize("velocity", [0.5, np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.0])])
def test_no_joint_is_faster_than_it_may_be(velocity: float | np.ndarray) -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        start, target = PANDA.random_pose(rng), PANDA.forward(PANDA.random_pose(rng), frame="tip")
        step = IK.step(target, start, DT, velocity=velocity)
        assert (np.abs(step.q - start) <= np.asarray(velocity) * DT + 1e-15).all()
        assert_allclose(step.velocity, (step.q - start) / DT)


def test_speeds_of_the_linkage_are_kept_and_scaled() -> None:
    arm = PANDA.replace(joints={name: {"velocity": 0.2} for name in PANDA.coordinates})
    ik = lw.prepare(arm, "tip")
    step, slow = ik.step(moved(z=0.3), READY, DT), ik.step(moved(z=0.3), READY, DT, scale=0.5)
    assert np.abs(step.q - READY).max() == pytest.approx(0.2 * DT)
    assert np.abs(slow.q - READY).max() == pytest.approx(0.1 * DT)
    assert (step.status, step.limit) == ("limited", "velocity")
    assert step.joint in arm.joints


def test_without_speeds_a_cycle_is_bounded_all_the_same() -> None:
    far = PANDA.forward(PANDA.random_pose(5), frame="tip")
    assert np.abs(IK.step(far, READY, DT, velocity=np.inf).q - READY).max() <= 0.25 + 1e-12


def test_a_start_beyond_its_limits_is_led_back_at_its_speed() -> None:
    start = READY.copy()
    start[3] = PANDA.upper[3] + 0.1
    step = IK.step(HERE, start, DT, velocity=1.0)
    assert step.q[3] == pytest.approx(start[3] - 0.01)


@pytest.mark.parametrize("seed", range(12))
def test_chains_of_all_kinds_keep_limits_and_speeds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm = random_chain(rng)
    ik = lw.prepare(arm, "tip")
    q = arm.random_pose(rng)
    for target in arm.forward(arm.random_pose(rng, 5), frame="tip"):
        step = ik.step(target, q, 0.1, velocity=0.3)
        plain, rates, _ = arm.table.plain
        assert (np.abs(arm.difference(q, step.q)[rates]) <= 0.03 + 1e-12).all()
        assert ((step.q >= arm.lower) & (step.q <= arm.upper))[plain].all()
        q = step.q


# Status


def test_a_near_goal_is_reached_in_a_cycle_far_below_tolerance() -> None:
    step = IK.step(moved(z=0.002), READY, DT)
    assert step.status == "reached"
    assert step.residuals.max() < 1e-6
    assert step.share == pytest.approx(1.0, abs=1e-3)
    assert "reached" in step.reason


def test_a_goal_further_off_is_limited_by_a_speed_then_reached() -> None:
    steps = cycles(IK, moved(z=0.1), READY, 60, velocity=1.0)
    assert steps[0].status == "limited"
    assert steps[0].limit == "velocity"
    assert steps[0].joint in steps[0].reason
    assert steps[-1].status == "reached"
    left = [step.residuals[0] for step in steps]
    assert all(after <= before + 1e-9 for before, after in pairwise(left))


def test_a_joint_at_its_limit_is_named() -> None:
    arm = lw.models.planar([1.0, 1.0])
    arm = arm.replace(joints={"j1": lw.Revolute("z", -0.5, 0.5)})
    ik = lw.prepare(arm, "tip", position="xy", orientation=False)
    goal = arm.forward([0.5, 0.3], frame="tip")[:2, 3]
    turned = np.array([[math.cos(0.4), -math.sin(0.4)], [math.sin(0.4), math.cos(0.4)]]) @ goal
    last = cycles(ik, turned, np.array([0.0, 0.3]), 200, velocity=3.0)[-1]
    assert (last.status, last.joint, last.limit) == ("limited", "j1", "position")
    assert last.q[0] == 0.5


def test_out_of_reach_it_is_held_at_the_closest_pose_and_a_jump_would_not_help() -> None:
    arm = lw.models.planar([1.0, 0.8])
    ik = lw.prepare(arm, "tip", position="xy", orientation=False)
    last = cycles(ik, np.array([2.0, 2.0]), np.array([0.1, 1.0]), 300, velocity=3.0)[-1]
    assert last.status == "held"
    assert_allclose(last.q, [math.pi / 4, 0.0], atol=2e-2)  # stretched out towards it
    assert last.residuals[0] == pytest.approx(math.hypot(2.0, 2.0) - 1.8, abs=1e-4)
    assert math.isinf(last.jump)


def test_what_a_jump_would_cost() -> None:
    goal = UR5.forward([0.3, -1.2, 1.4, -0.4, 1.1, 0.2], frame="tip")
    others = lw.solve_all(UR5, lw.Reach("tip", pose=goal)).q
    step = lw.prepare(UR5, "tip").step(goal, others[0] + 0.5, DT, velocity=0.01)
    turned = others + 2.0 * np.pi * np.round((step.q - others) / (2.0 * np.pi))
    away = turned[np.argmin(np.linalg.norm(turned - step.q, axis=1))] - step.q
    assert step.jump == pytest.approx(np.abs(away).max(), abs=2e-2)


# Continuous motion


def test_a_path_out_of_the_workspace_and_back_is_followed_without_a_jump() -> None:
    q, steps, reached = READY, [], []
    for x in 1.2 * np.sin(np.linspace(0.0, np.pi, 400)):
        step = IK.step(moved(x=x), q, DT, velocity=5.0)
        steps.append(np.abs(step.q - q).max())
        reached.append(step.success)
        q = step.q
    assert max(steps) <= 0.05 + 1e-12
    assert reached[5]
    assert not all(reached)
    assert cycles(IK, moved(), q, 100, velocity=5.0)[-1].success


def test_it_slows_down_before_a_singular_pose() -> None:
    """Joints without speed limits stay slow where a Newton step would spin them."""
    start = np.array([0.0, -1.2, 1.4, -0.4, 2e-3, 0.2])  # the axes of the wrist's first and last joint are parallel
    jacobian, arm = UR5.jacobian(start, "tip"), lw.prepare(UR5, "tip").chain.length / 4.0
    lost = np.linalg.svd(jacobian * np.repeat([1.0, arm], 3)[:, None])[0][:, -1] / np.repeat([1.0, arm], 3)
    target = UR5.forward(start, frame="tip")
    target[:3, :3] = Rotation.from_rotvec(1e-3 * lost[3:]).as_matrix() @ target[:3, :3]
    target[:3, 3] += 1e-3 * lost[:3]
    newton = np.linalg.solve(jacobian, 1e-3 * lost)
    step = lw.prepare(UR5, "tip").step(target, start, DT, velocity=np.inf)
    assert np.abs(newton).max() > 0.3
    assert np.abs(step.q - start).max() < 0.1


def weighted_error(q: np.ndarray, goal: lw.Reach, weights: np.ndarray) -> np.ndarray:
    return weights * goal.error(PANDA, q)


def test_the_damped_change_is_that_of_a_bounded_least_squares_solver() -> None:
    """Within a small box the cycle ends where SciPy's bounded least squares ends."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        start = PANDA.random_pose(rng) * 0.8 + 0.2 * READY
        target = PANDA.forward(PANDA.clamp(start + rng.uniform(-0.3, 0.3, 7)), frame="tip")
        goal, arm = lw.Reach("tip", pose=target), IK.chain.length / 4.0
        weights = np.array([1.0, 1.0, 1.0, arm, arm, arm])
        low, high = np.maximum(start - 0.03, PANDA.lower), np.minimum(start + 0.03, PANDA.upper)
        best = least_squares(weighted_error, start, bounds=(low, high), xtol=1e-12, args=(goal, weights))
        step = IK.step(target, start, 0.1, velocity=0.3)
        ours = np.linalg.norm(weights * goal.error(PANDA, step.q))
        assert ours <= math.sqrt(2.0 * best.cost) * 1.02 + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_smooth_paths_are_followed_on_their_branch(seed: int) -> None:
    rng, time = np.random.default_rng(seed), np.linspace(0.0, 1.0, 300)[:, None]
    parts = rng.uniform(0.5, 1.5, (2, 6)), rng.uniform(0.0, 6.0, (2, 6))
    path = 1.2 * sum(np.sin(2.0 * np.pi * parts[0][k] * time + parts[1][k]) for k in range(2)) / 2.0
    path[:, 4] += 1.6  # away from the wrist's singular poses, so that the solution is unique
    path[:, 2] += 1.8
    ik, q = lw.prepare(UR5, "tip"), path[0]
    for target, true in zip(UR5.forward(path, frame="tip"), path, strict=True):
        q = ik.step(target, q, DT, velocity=np.inf)
        assert q.success
        assert_allclose(q.q, true, atol=0.05)  # it lags near singular poses of the shoulder


def test_a_step_stands_for_its_pose() -> None:
    step = IK.step(moved(z=0.01), READY, DT)
    assert_array_equal(np.asarray(step), step.q)
    assert_array_equal(PANDA.forward(step, frame="tip"), PANDA.forward(step.q, frame="tip"))
    assert len(step) == 7
    assert step[2] == step.q[2]
    assert list(step) == list(step.q)


def test_threads_share_nothing() -> None:
    targets = [moved(z=0.001 * k) for k in range(64)]
    alone = [IK.step(target, READY, DT).q for target in targets]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda target: IK.step(target, READY, DT).q, targets))
    assert_array_equal(alone, together)


def test_what_is_refused() -> None:
    for dt in (0.0, -1.0, math.nan):
        with pytest.raises(OptionError, match="dt"):
            IK.step(HERE, READY, dt)
    with pytest.raises(OptionError, match="velocity"):
        IK.step(HERE, READY, DT, velocity=[1.0, 2.0])
    with pytest.raises(OptionError, match="velocity"):
        IK.step(HERE, READY, DT, velocity=-1.0)
    with pytest.raises(OptionError, match="scale"):
        IK.step(HERE, READY, DT, scale=0.0)
    with pytest.raises(PoseShapeError):
        IK.step(HERE, READY[:5], DT)
    with pytest.raises(PoseValueError):
        IK.step(HERE, np.full(7, np.nan), DT)
    with pytest.raises(GoalError, match="rigid"):
        IK.step(2.0 * HERE, READY, DT)


# Without time


def test_stay_gives_the_answer_on_the_branch_of_the_start() -> None:
    goal = UR5.forward([0.3, -1.2, 1.4, -0.4, 1.1, 0.2], frame="tip")
    ik = lw.prepare(UR5, "tip")
    for branch in lw.solve_all(UR5, lw.Reach("tip", pose=goal)).q:
        start = np.clip(branch + 0.05, UR5.lower, UR5.upper)
        found = ik(goal, start=start, stay=True)
        assert found.success
        assert_allclose(found.q, branch, atol=5e-3)
        same = lw.solve(UR5, lw.Reach("tip", pose=goal), start=start, stay=True)
        assert_array_equal(found.q, same.q)


def test_stay_turns_no_joint_far_at_once_and_says_that_it_is_on_its_way() -> None:
    goal, q, answers = moved(x=-0.2, y=0.3, z=-0.1), READY, 0
    while True:
        found = IK(goal, start=q, stay=True)
        assert np.abs(found.q - q).max() <= 0.49 + 1e-12
        q, answers = found.q, answers + 1
        if found.success:
            break
        assert found.status == "following"
        assert "on its way" in found.reason
        assert "again" in found.explain()
    assert 1 < answers < 5
    assert found.status == "reached"
    assert found.starts == 0


def test_stay_is_held_where_nothing_leads_on_and_says_so() -> None:
    found = IK(moved(x=2.0), start=READY, stay=True)
    while found.status == "following":
        found = IK(moved(x=2.0), start=found.q, stay=True)
    assert not found.success
    assert found.status == "held"
    assert_allclose(found.residuals, errors(PANDA, "tip", found.q[None], moved(x=2.0)[None], "pose")[0], rtol=1e-6)
    assert "out of reach" in found.reason


@pytest.mark.parametrize(("name", "frame", "seed"), [("panda", "panda_leftfinger", 7), ("xarm7", "link_eef", 7)])
def test_bare_poses_in_a_loop_never_jump_where_the_path_is_lost(name: str, frame: str, seed: int) -> None:
    arm = lw.load(installed(name))  # both stay at a limit until the path is far away
    path = smooth_path(arm, 100, seed)
    ik, q = lw.prepare(arm, frame), path[0]
    for target in arm.forward(path, frame=frame):
        found = ik(target, start=q, stay=True)
        assert np.abs(found.q - q).max() <= 0.49 + 1e-12
        q = found.q


def test_stay_is_held_by_a_limit_where_another_branch_reaches() -> None:
    arm = lw.models.planar([1.0, 1.0]).replace(joints={"j1": lw.Revolute("z", -0.2, 2.0)})
    ik = lw.prepare(arm, "tip", position="xy", orientation=False)
    goal = arm.forward([0.6, 1.5], frame="tip")[:2, 3]  # with the other elbow branch, j1 would be at 2.1
    found = ik(goal, start=np.array([1.9, -1.2]), stay=True)
    assert (found.success, found.status, found.q[0]) == (False, "held", 2.0)
    assert "no continuous way" in found.reason
    assert found.jump == pytest.approx(1.5 - found.q[1], abs=1e-3)
    assert ik(goal, start=np.array([1.9, -1.2])).success


def test_stay_needs_a_start_and_one_goal() -> None:
    with pytest.raises(OptionError, match="start"):
        IK(HERE, stay=True)
    with pytest.raises(OptionError, match="start"):
        lw.solve(PANDA, lw.Reach("tip", pose=HERE), stay=True)
    with pytest.raises(OptionError, match="stay"):
        lw.solve(PANDA, lw.Reach("tip", pose=HERE), start=READY, stay=1)  # type: ignore[arg-type]
