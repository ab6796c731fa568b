"""Derivatives of solutions by targets, compared with finite differences of the solver; limits and singular poses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from gradient_arms import ARMS, moved, twist_between
from linkwork.errors import GoalError, MissingExtraError, OptionError

STEP = 1e-5


def steady(arm: lw.Linkage, ik: lw.Differentiable, q: Any) -> Any:
    """Return which poses are away from fast changes of solutions, so that finite differences are accurate."""
    derivative = ik.derivative(q)
    return ~derivative.singular & (np.abs(derivative.matrix).max(axis=(-1, -2)) < 30.0 / min(1.0, arm.length))


@pytest.mark.parametrize("name", ARMS)
def test_poses_move_with_their_targets_as_finite_differences_say(name: str) -> None:
    arm = ARMS[name]()
    ik = lw.differentiable(arm, "tip")
    rng = np.random.default_rng(1)
    q, success = ik(arm.forward(arm.random_pose(rng, 24), frame="tip"))
    q = q[success & steady(arm, ik, q)]
    assert len(q) > 12
    way = STEP * rng.normal(size=(len(q), arm.nv))  # reachable targets, also for few joints
    before, after = (arm.forward(arm.integrate(q, sign * way), frame="tip") for sign in (-1.0, 1.0))
    ends = [ik(targets, start=q) for targets in (before, after)]
    assert ends[0][1].all()
    assert ends[1][1].all()
    found = (ends[1][0] - ends[0][0]) / (2.0 * STEP)
    twists = twist_between(before, after) / (2.0 * STEP)
    told = (ik.derivative(q).matrix @ twists[..., None])[..., 0]
    assert found == pytest.approx(told, abs=2e-5 * np.abs(told).max())


@pytest.mark.parametrize("name", ["panda", "ur5", "stanford"])
def test_every_twist_has_its_column(name: str) -> None:
    arm = ARMS[name]()
    ik = lw.differentiable(arm, "tip")
    q = arm.random_pose(2, 8)
    q = q[steady(arm, ik, q)]
    targets = arm.forward(q, frame="tip")[:, None]
    ends = [ik(moved(targets, sign * STEP * np.eye(6)), start=np.repeat(q[:, None], 6, axis=1)) for sign in (-1.0, 1.0)]
    found = (ends[1][0] - ends[0][0]) / (2.0 * STEP)
    told = np.swapaxes(ik.derivative(q).matrix, -1, -2)
    assert found == pytest.approx(told, abs=1e-5 * np.abs(told).max())


@pytest.mark.parametrize(
    ("options", "rows", "take"),
    [
        ({"orientation": False}, slice(0, 3), lambda T: T[..., :3, 3]),
        ({"orientation": False}, slice(0, 3), lambda T: T),
        ({"position": "xy", "orientation": False}, slice(0, 2), lambda T: T[..., :2, 3]),
        ({"position": False}, slice(3, 6), lambda T: T[..., :3, :3]),
        ({"free": "z"}, slice(0, 6), lambda T: T),
        ({"joints": ["joint2", "joint4", "joint6"], "orientation": False}, slice(0, 3), lambda T: T[..., :3, 3]),
    ],
    ids=["positions", "poses for positions", "x and y", "rotations", "free axis", "some joints"],
)
def test_what_is_not_asked_for_moves_nothing(options: Any, rows: slice, take: Any) -> None:
    arm = lw.models.panda()
    if "joints" in options:
        options = {**options, "joints": [arm.joints[k] for k in (1, 3, 5)], "restarts": 4}
    ik = lw.differentiable(arm, "tip", **options)
    q = arm.random_pose(3, 10)
    q = q[steady(arm, ik, q)]
    derivative = ik.derivative(q).matrix
    asked = np.isin(np.arange(6), np.arange(6)[rows])
    assert not derivative[..., ~asked].any()
    way = STEP * np.random.default_rng(0).normal(size=q.shape)
    if "joints" in options:
        way[:, [0, 2, 4, 6]] = 0.0
    before, after = (arm.forward(q + sign * way, frame="tip") for sign in (-1.0, 1.0))
    found = (ik(take(after), start=q)[0] - ik(take(before), start=q)[0]) / (2.0 * STEP)
    told = (derivative @ twist_between(before, after)[..., None])[..., 0] / (2.0 * STEP)
    assert found == pytest.approx(told, abs=1e-4 * np.abs(told).max())


def test_a_spin_about_a_free_axis_changes_nothing() -> None:
    arm = lw.models.panda()
    ik = lw.differentiable(arm, "tip", free="z")
    q = arm.random_pose(4, 5)
    axis = arm.forward(q, frame="tip")[..., :3, 2]
    assert np.abs(ik.derivative(q).matrix[..., 3:] @ axis[..., None]).max() < 1e-12


def test_of_many_motions_it_is_the_shortest() -> None:
    arm = lw.models.panda()
    q = arm.random_pose(5, 50)
    ik = lw.differentiable(arm, "tip")
    q = q[steady(arm, ik, q)]
    assert ik.derivative(q).matrix == pytest.approx(np.linalg.pinv(arm.jacobian(q, "tip")), abs=1e-9)


def test_answers_are_exact_and_follow_the_smallest_motion() -> None:
    arm = lw.models.panda()
    q = arm.random_pose(6, 20)
    loose: Any = {"tolerance": 1e-4, "rotation_tolerance": 1e-3}
    for options, left in (({}, 1e-13), (loose, 1e-9)):
        ik = lw.differentiable(arm, "tip", **options)
        target = moved(arm.forward(q, frame="tip"), np.full(6, 3e-7))
        near, success = ik(target, start=q)
        assert success.all()
        assert np.abs(ik.forward(near) - target).max() < left
        assert np.abs(near - q).max(axis=-1).min() > 1e-8


# Limits and singular poses


def test_joints_at_a_limit_stay_there_as_the_solver_holds_them() -> None:
    arm = lw.models.panda()
    ik = lw.differentiable(arm, "tip")
    q = arm.random_pose(7, 40)
    q[:, 1] = arm.upper[1]
    held, plain = ik.derivative(q), lw.differentiable(arm, "tip", limits="ignore").derivative(q)
    assert not held.matrix[:, 1].any()
    q = q[good := steady(arm, ik, q)]
    twists = np.sign(plain.matrix[good, 1])  # these lead out of the limits
    after, success = ik(moved(arm.forward(q, frame="tip"), STEP * twists), start=q)
    assert success.sum() > 20
    told = (held.matrix[good] @ twists[..., None])[..., 0]
    assert ((after - q) / STEP)[success] == pytest.approx(told[success], abs=2e-3 * np.abs(told).max())


@pytest.mark.parametrize("name", ["panda", "ur5", "slides"])
def test_near_a_limit_nothing_is_held_yet(name: str) -> None:
    arm = ARMS[name]()
    ik = lw.differentiable(arm, "tip")
    rng = np.random.default_rng(8)
    q = arm.random_pose(rng, 20)
    bound = np.isfinite(arm.upper)
    near = np.where(rng.random(q.shape) < 0.5, arm.lower + 1e-3, arm.upper - 1e-3)
    q = np.where(bound & (rng.random(q.shape) < 0.4), near, q)
    q = q[steady(arm, ik, q)]
    way = 1e-6 * rng.normal(size=q.shape)
    before, after = (arm.forward(q + sign * way, frame="tip") for sign in (-1.0, 1.0))
    found = (ik(after, start=q)[0] - ik(before, start=q)[0]) / 2e-6
    told = (ik.derivative(q).matrix @ twist_between(before, after)[..., None])[..., 0] / 2e-6
    assert len(q) > 5
    assert found == pytest.approx(told, abs=1e-4 * np.abs(told).max())


def test_singular_poses_are_damped_and_said() -> None:
    arm = lw.models.planar([2.0, 1.0])
    for damping in (1e-2, 1e-3):
        ik = lw.differentiable(arm, "tip", orientation=False, damping=damping)
        bends = np.array([0.0, 1e-9, 1e-4, 0.5])
        derivative = ik.derivative(np.stack([np.zeros(4), bends], axis=-1))
        assert derivative.singular.tolist() == [True, True, True, False]
        assert np.isfinite(derivative.matrix).all()
        assert np.linalg.norm(derivative.matrix, ord=2, axis=(-1, -2)).max() <= 1.0 / (damping * np.sqrt(10.0)) + 1e-9
        assert np.abs(derivative.matrix[0, :, 0]).max() < 1e-9  # it cannot move outwards


def test_damping_begins_smoothly() -> None:
    arm = lw.models.planar([2.0, 1.0])
    ik = lw.differentiable(arm, "tip", orientation=False, damping=1e-2)
    bends = np.linspace(0.0, 0.2, 2001)
    matrix = ik.derivative(np.stack([np.zeros(2001), bends], axis=-1)).matrix
    assert np.abs(np.diff(matrix, axis=0)).max() < 0.02 * np.abs(matrix).max()


def test_planes_are_not_singular_for_what_never_moves() -> None:
    for name in ("planar", "scara", "five"):
        arm = ARMS[name]()
        assert lw.differentiable(arm, "tip").derivative(arm.random_pose(9, 50)).singular.mean() < 0.1, name


# Arguments


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (2, 0)])
def test_any_leading_axes(shape: tuple[int, ...]) -> None:
    arm = lw.models.ur5()
    ik = lw.differentiable(arm, "tip")
    q = arm.random_pose(10, shape)
    for start in (None, q, arm.neutral()):
        found, success = ik(arm.forward(q, frame="tip"), start=start)
        assert (found.shape, success.shape) == (q.shape, shape)
        assert success.all()
    derivative = ik.derivative(q)
    assert (derivative.matrix.shape, derivative.singular.shape) == ((*shape, 6, 6), shape)


def test_rotations_of_single_precision_are_good_enough() -> None:
    arm = lw.models.panda()
    targets = arm.forward(arm.random_pose(11, 50), frame="tip").astype(np.float32)
    targets[..., :3, :3] *= np.float32(1.0 + 1e-5)
    assert lw.differentiable(arm, "tip")(targets)[1].all()
    targets[..., :3, :3] *= np.float32(1.1)
    assert not lw.differentiable(arm, "tip")(targets)[1].any()


def test_targets_out_of_reach_are_no_success() -> None:
    arm = lw.models.planar([2.0, 1.0])
    q, success = lw.differentiable(arm, "tip", orientation=False)(
        [[9.0, 0.0, 0.0], [1.0, 1.0, 0.0], [np.nan, 0.0, 0.0]]
    )
    assert success.tolist() == [False, True, False]
    assert np.isfinite(q).all()


def test_it_can_be_sent_to_other_processes() -> None:
    arm = lw.models.ur5()
    ik = pickle.loads(pickle.dumps(lw.differentiable(arm, "tip")))
    targets = arm.forward(arm.random_pose(12, 3), frame="tip")
    assert ik(targets)[1].all()
    assert repr(ik) == "<Differentiable 'tip' of 'ur5'>"


def test_what_is_wrong_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = lw.models.ur5()
    wrong: Any = "tensorflow"
    with pytest.raises(OptionError, match="library is one of 'numpy', 'torch', 'jax', got 'tensorflow'"):
        lw.differentiable(arm, "tip", library=wrong)
    for damping in (0.0, 1.0, float("nan")):
        with pytest.raises(OptionError, match="damping"):
            lw.differentiable(arm, "tip", damping=damping)
    with pytest.raises(OptionError, match="no option 'tolerence'"):
        lw.differentiable(arm, "tip", tolerence=1e-3)  # type: ignore[call-arg]
    with pytest.raises(GoalError, match="loop"):
        lw.differentiable(lw.models.delta(), "platform")
    with pytest.raises(GoalError, match="4x4 matrices; got shape"):
        lw.differentiable(arm, "tip")(np.zeros((5, 3, 4)))
    with pytest.raises(OptionError, match="start has shape"):
        lw.differentiable(arm, "tip")(np.eye(4)[None], start=np.zeros((2, 6)))
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for library in ("torch", "jax"):
        with pytest.raises(MissingExtraError, match=rf"pip install 'linkwork\[{library}\]'"):
            lw.differentiable(arm, "tip", library=library)  # type: ignore[arg-type]
