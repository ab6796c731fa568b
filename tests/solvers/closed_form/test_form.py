"""Closed forms of arms of all families: every solution, checked with the linkage's forward kinematics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwork as lw
import six_joint_arms
from closed_form_arms import ARMS, P, apart, arm_of, dh
from linkwork.errors import GoalError
from linkwork.kernels.closed_form.form_layout import CODES
from linkwork.solvers.closed_form import ClosedForm, closed_form

arms = pytest.mark.parametrize("name", ARMS)


@arms
def test_all_solutions_reach_and_the_pose_itself_is_among_them(name: str) -> None:
    arm, form = arm_of(name)
    for q in arm.random_pose(1, 40):
        target = arm.forward(q, frame="tip")
        found = form.all(target)
        assert apart(form, found.values, form.chain.values_of(q)).min() < 1e-7
        poses = form.chain.put(found.values, np.tile(arm.neutral(), (len(found), 1)))
        assert_allclose(arm.forward(poses, frame="tip"), np.tile(target, (len(found), 1, 1)), atol=1e-11)
        assert found.residuals.max() < 1e-11
        assert ((poses >= arm.lower) & (poses <= arm.upper)).all()
        for k, values in enumerate(found.values):  # no duplicates
            assert (apart(form, found.values[k + 1 :], values) > 1e-5).all()


@arms
def test_solutions_come_nearest_to_a_start_first(name: str) -> None:
    arm, form = arm_of(name)
    for q in arm.random_pose(2, 10):
        target, start = arm.forward(q, frame="tip"), form.chain.values_of(q)
        found = form.all(target, start=start)
        assert_allclose(found.values[0], start, atol=1e-7)
        away = np.linalg.norm(found.values - start, axis=1)
        assert (np.diff(away) >= 0.0).all()


@arms
def test_many_targets_have_the_solutions_that_each_has_alone(name: str) -> None:
    arm, form = arm_of(name)
    for count in (3, 21):
        targets = arm.forward(arm.random_pose(3, count), frame="tip")
        targets[1, 0, 3] += 9.0
        values, mask = form.all_many(targets)
        assert values.shape == (count, 8, 6)
        assert not mask[1].any() or form.axes.slides.any()  # prismatic joints have no limits
        assert np.isnan(values[~mask]).all()
        for target, several, there in zip(targets, values, mask, strict=True):
            alone = form.all(target).values
            assert_allclose(several[there], alone, atol=1e-12)


def test_copies_by_whole_turns() -> None:
    arm, form = arm_of("ur5")
    q = np.array([0.5, -1.2, 1.1, 0.3, 0.8, -0.4])
    found = form.all(arm.forward(q, frame="tip"), start=q, windings=True)
    assert len(found) > 8
    assert_allclose(found.values[0], q, atol=1e-9)
    assert ((found.values >= arm.lower) & (found.values <= arm.upper)).all()
    assert len(np.unique(found.values.round(6), axis=0)) == len(found)


def test_a_position_is_no_target() -> None:
    arm = lw.models.ur5()
    for ways in (closed_form(arm, "tip").all, lw.prepare(arm, "tip").all):
        with pytest.raises(GoalError, match="4x4 matrix, got a position"):
            ways([0.4, 0.2, 0.3])


@pytest.mark.parametrize("make", [lw.models.ur5, lambda: six_joint_arms.linkage("Jaco 2")])
def test_what_is_no_rigid_transform_is_refused_alike_by_all_calls(make: Callable[[], lw.Linkage]) -> None:
    arm = make()
    ik, target = lw.prepare(arm, "tip"), arm.forward(arm.random_pose(5), frame="tip")
    rows = (3, [0.0, 0.0, 0.1, 1.0]), (3, [0.0, 0.0, 0.0, 2.0]), (3, [np.nan] * 4), (0, [2.0, 0.0, 0.0, 0.0])
    for row, wrong in rows:
        strange = target.copy()
        strange[row] = wrong
        for call in (ik, ik.all, arm.closed_form("tip").all):
            with pytest.raises(GoalError):
                call(strange)


def test_targets_that_are_none() -> None:
    _, form = arm_of("ur5")
    for wrong in (np.eye(3), np.full((4, 4), np.nan), np.diag([2.0, 1.0, 1.0, 1.0])):
        with pytest.raises(lw.LinkworkError):
            form.all(wrong)
    assert len(form.all(np.eye(4, dtype=np.float32).T)) == len(form.all(np.eye(4)))


@pytest.mark.parametrize("name", ["ur5", "panda, last joint held"])
def test_poses_on_a_limit_are_solutions(name: str) -> None:
    arm, form = arm_of(name)
    for k, joint in enumerate(form.chain.plain[1]):
        for limit in (arm.lower[joint], arm.upper[joint]):
            q = arm.random_pose(k)
            q[joint] = limit
            found = form.all(arm.forward(q, frame="tip"), start=form.chain.values_of(q))
            assert found.continua.any() or apart(form, found.values[0], form.chain.values_of(q)) < 1e-6


@pytest.mark.parametrize("name", ["Unitree Z1", "UR5"])
def test_where_the_last_axis_is_parallel_too_a_pose_stands_for_the_continuum(name: str) -> None:
    arm = six_joint_arms.linkage(name)
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    for q in arm.random_pose(4, 40):
        q[4] = 0.0
        target = arm.forward(q, frame="tip")
        found = form.all(target)
        assert found.continua.any()
        assert not found.complete
        assert not form.all_many_proven(target[None])[2][0]
        assert_allclose(arm.forward(found.values, frame="tip"), np.tile(target, (len(found), 1, 1)), atol=1e-9)


def test_a_continuum_beside_a_double_root_is_not_proven() -> None:
    arm = dh([(0, 0.4, 0, -P), (0, 0.15, 0, P), (0, 0, 0, 0, "P"), (0, 0, 0, -P), (0, 0, 0, P), (0, 0.26, 0, 0)])
    target = arm.forward([0.0, 0.0, 0.3, -P, 0.0, P], frame="tip")  # joints 1, 4 and 6 turn about parallel axes
    assert not closed_form(arm, "tip").all(target).complete
    assert not lw.solve_all(arm, lw.Reach("tip", pose=target)).complete


@pytest.mark.parametrize("name", ["Unitree Z1", "UR5", "Puma 560", "KUKA KR6 R900"])
def test_in_a_continuum_the_start_is_kept(name: str) -> None:
    arm = six_joint_arms.linkage(name)
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    for q in arm.random_pose(5, 20):
        q[4] = 0.0
        assert_allclose(form.all(arm.forward(q, frame="tip"), start=q).values[0], q, atol=1e-7)
        found = lw.prepare(arm, "tip")(arm.forward(q, frame="tip"), start=q)
        assert_allclose(found.q, q, atol=1e-3)


def test_over_the_first_axis_the_start_is_kept() -> None:
    arm = six_joint_arms.linkage("ABB IRB 120")  # its wrist can be on the first axis
    form = closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    reach = np.hypot(0.07, 0.302)
    for q in arm.random_pose(6, 10):
        q[2] = 0.4
        upper = np.array([0.27, 0.0])
        bend = np.arctan2(0.302, 0.07) + q[2]  # angle of the wrist at the end of the upper arm
        ahead = upper + reach * np.array([np.cos(bend), np.sin(bend)])
        q[1] = np.pi / 2 - np.arctan2(ahead[1], ahead[0])
        target = arm.forward(q, frame="tip")
        assert_allclose(target[:2, 3], 0.0, atol=1e-12)
        found = form.all(target, start=q)
        assert found.continua.any()
        assert_allclose(found.values[0], q, atol=1e-6)
        assert not found.complete


def test_axes_that_are_parallel_are_checked_in_their_plane_as_in_space() -> None:
    arm = lw.models.ur5()
    form = lw.closed_form(arm, "tip")
    assert isinstance(form, ClosedForm)
    assert form.codes[CODES.level]
    for target in arm.forward(arm.random_pose(3, 40), frame="tip"):
        in_plane = form.all(target)
        form.codes[CODES.level] = 0
        in_space = form.all(target)
        form.codes[CODES.level] = 1
        assert_array_equal(in_plane.values, in_space.values)
        assert_allclose(in_plane.residuals, in_space.residuals, atol=1e-14)
    rows = [(0, 0.09, 0, P), (0, 0, -0.4, 1e-11), (0, 0, -0.4, 0), (0, 0.1, 0, P), (0, 0.1, 0, -P), (0, 0.1, 0, 0)]
    tilted = lw.closed_form(lw.from_dh(rows), "tip")  # more than rounding, less than the tolerance
    assert isinstance(tilted, ClosedForm)
    assert tilted.exact
    assert not tilted.codes[CODES.level]
