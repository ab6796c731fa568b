"""Goals for a position only or with a free axis: all solutions, compared with searches from many starts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
import six_joint_arms
from cuda_cases import why_not
from linkwork.errors import DeviceError, GoalError
from linkwork.linkage.poses import wrapped
from linkwork.solvers.closed_form import ClosedForm, NoForm
from linkwork.transforms import FloatArray, axis_rotation

P = np.pi / 2
TORCH = np.array([[0.8, 0.0, 0.6, 0.08], [0.0, 1.0, 0.0, 0.0], [-0.6, 0.0, 0.8, 0.15], [0.0, 0.0, 0.0, 1.0]])
HOBBY = [(0, 0.1, 0, P), (0, 0, 0.12, 0), (0, 0, 0.14, 0), (0, 0, 0.02, P), (0, 0.1, 0.03, 0)]
FIVE = {  # rows of arms with five joints, and the axis that is free
    "hobby arm": ([(0, 0.1, 0, P), (0, 0, 0.12, 0), (0, 0, 0.14, 0), (0, 0, 0.02, P), (0, 0.1, 0.03, 0)], "x"),
    "hobby arm, sideways": (
        [(0, 0.1, 0, P), (0, 0, 0.12, 0), (0, 0, 0.14, 0), (0, 0, 0.02, P), (0, 0.1, 0.03, 0)],
        "y",
    ),
    "of no family": (
        [(0, 0.3, 0.1, 0.7), (0, 0.1, 0.4, P), (0, -0.1, 0.3, 1.2), (0, 0.2, 0.2, -P), (0, 0.1, 0.1, 0.7)],
        (0.6, 0.0, 0.8),
    ),
}
THREE = {
    "shoulder and elbow": [(0, 0.3, 0.05, P), (0, 0, 0.4, 0), (0, 0.02, 0.35, 0)],
    "two slides and a turn": [(0, 0.2, 0, P, "P", (-1, 1)), (0, 0.1, 0, P, "P", (-1, 1)), (0, 0.1, 0.3, 0)],
    "of no family": [(0, 0.3, 0.05, P), (0, 0.1, 0.4, 0.4), (0, 0.02, 0.35, 0)],
}
FOUR = {
    "yaw and three pitches": [(0, 0.1, 0, P), (0, 0, 0.3, 0), (0, 0, 0.25, 0), (0, 0, 0.1, 0)],
    "rolls between": [(0, 0.1, 0.02, P), (0, 0, 0.3, -P), (0, 0.05, 0.25, P), (0, 0, 0.1, 0)],
}


def missing(found: FloatArray, searched: FloatArray) -> int:
    """Return the number of poses of a search that were not found, modulo whole turns."""
    return sum(np.abs(wrapped(found - q)).max(axis=1).min(initial=np.inf) > 1e-3 for q in searched)


@pytest.mark.parametrize("name", FIVE)
def test_five_joints_and_a_free_axis_have_all_their_solutions(name: str) -> None:
    rows, axis = FIVE[name]
    arm = lw.from_dh(rows)
    form = arm.closed_form("tip", free=axis)
    assert isinstance(form, ClosedForm)
    assert "free axis" in str(form)
    targets = arm.forward(arm.random_pose(1, 6), frame="tip")
    for target in targets:
        goal = lw.Reach("tip", pose=target, free=axis)
        ways = lw.solve_all(arm, goal)
        assert ways.complete
        assert ways.dimension == 0
        reached = arm.forward(ways.q, frame="tip")
        assert_allclose(reached[:, :3, 3], np.tile(target[:3, 3], (len(ways), 1)), atol=1e-9)
        assert_allclose(reached[:, :3, :3] @ goal.free, np.tile(target[:3, :3] @ goal.free, (len(ways), 1)), atol=1e-9)
        assert missing(ways.q, lw.solve_all(arm, goal, starts=1000).q) == 0
        assert missing(ways.q[:1], ways.q[1:]) == len(ways) - 1  # no duplicates
    many = lw.solve_all_batch(arm, "tip", targets, free=axis)
    assert many.complete.all()
    assert many.counts.tolist() == [
        len(lw.solve_all(arm, lw.Reach("tip", pose=target, free=axis))) for target in targets
    ]


@pytest.mark.parametrize("name", THREE)
def test_three_joints_have_all_solutions_of_a_position(name: str) -> None:
    arm = lw.from_dh(THREE[name])
    places = arm.forward(arm.random_pose(1, 6), frame="tip")[:, :3, 3]
    ik = lw.prepare(arm, "tip", orientation=False)
    for place in places:
        ways = lw.solve_all(arm, lw.Reach("tip", position=place))
        assert ways.complete
        assert len(ways) == len(ik.all(place))
        assert_allclose(arm.forward(ways.q, frame="tip")[:, :3, 3], np.tile(place, (len(ways), 1)), atol=1e-9)
        assert missing(ways.q, lw.solve_all(arm, lw.Reach("tip", position=place), starts=1000).q) == 0
        assert missing(ways.q[:1], ways.q[1:]) == len(ways) - 1
    many = lw.solve_all_batch(arm, "tip", places, orientation=False)
    assert many.counts.tolist() == [len(ik.all(place)) for place in places]
    for q, there, place in zip(many.q, many.mask, places, strict=True):
        assert_allclose(arm.forward(q[there], frame="tip")[:, :3, 3], np.tile(place, (int(there.sum()), 1)), atol=1e-9)
        assert np.isnan(q[~there]).all()


def test_the_nearest_comes_first_and_turns_that_nobody_sees_do_not_count() -> None:
    arm = lw.from_dh(FIVE["hobby arm"][0])
    ik = lw.prepare(arm, "tip", free="x")
    for pose in arm.random_pose(2, 10):
        found = ik.all(arm.forward(pose, frame="tip"), start=pose)
        assert_allclose(found.q[0], pose, atol=1e-7)
        away = np.linalg.norm(found.q - pose, axis=1)
        assert (np.diff(away) >= 0.0).all()


def test_that_there_is_none_is_proven_and_told() -> None:
    arm = lw.from_dh(THREE["shoulder and elbow"])
    ways = lw.solve_all(arm, lw.Reach("tip", position=(2.0, 0.0, 0.3)))
    assert ways.complete
    assert not len(ways)
    assert "'tip'" in str(ways.evidence)
    assert "beyond the reach" in str(ways.evidence)
    limited = lw.from_dh([(*row, "R", (-0.5, 0.5)) for row in THREE["shoulder and elbow"]])
    behind = limited.forward([0.0, 0.2, 0.3], frame="tip")[:3, 3] * [-1.0, 1.0, 1.0]
    ways = lw.solve_all(limited, lw.Reach("tip", position=behind))
    assert ways.complete
    assert not len(ways)
    assert "limit" in str(ways.evidence)
    five = lw.from_dh(FIVE["of no family"][0])
    target = five.forward(five.random_pose(3), frame="tip")
    target[:3, 3] *= 20.0
    ways = lw.solve_all(five, lw.Reach("tip", pose=target, free="z"))
    assert ways.complete
    assert not len(ways)
    assert "complex" in str(ways.evidence)
    explained = lw.solve(five, lw.Reach("tip", pose=target, free="z")).explain()
    assert "reach" in explained


def on_curves(ways: lw.Branches, values: FloatArray) -> int:
    """Return the number of solutions, values of the chain, that are on one of the curves."""
    found = np.zeros(len(values), np.bool_)
    for curve in ways.curves:
        found |= curve.holds(values)
    return int(found.sum())


@pytest.mark.parametrize("tool", ["flange", "torch"])
@pytest.mark.parametrize("name", ["UR5", "Jaco 2"])
def test_six_joints_and_a_free_axis_have_curves_that_hold_every_pose(name: str, tool: str) -> None:
    arm = six_joint_arms.linkage(name).add_frame("torch", "tip", TORCH)
    frame = "tip" if tool == "flange" else "torch"
    target = arm.forward(arm.random_pose(4), frame=frame)
    ways = lw.solve_all(arm, lw.Reach(frame, pose=target, free="z"))
    assert ways.dimension == 1
    assert ways.complete == (tool == "flange")
    for angle in np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False):
        spun = target.copy()
        c, s = np.cos(angle), np.sin(angle)
        spun[:3, :3] = target[:3, :3] @ [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        poses = lw.solve_all(arm, lw.Reach(frame, pose=spun)).q
        assert on_curves(ways, poses) == len(poses)
    for curve in ways.curves:
        reached = arm.forward(curve(np.linspace(0.0, 1.0, 9)), frame=frame)
        assert_allclose(reached[:, :3, 3], np.tile(target[:3, 3], (9, 1)), atol=1e-9)
        assert_allclose(reached[:, :3, 2], np.tile(target[:3, 2], (9, 1)), atol=1e-9)


@pytest.mark.parametrize("name", FOUR)
def test_four_joints_have_curves_of_a_position(name: str) -> None:
    arm = lw.from_dh(FOUR[name])
    place = arm.forward(arm.random_pose(3), frame="tip")[:3, 3]
    goal = lw.Reach("tip", position=place)
    ways = lw.solve_all(arm, goal)
    assert ways.dimension == 1
    assert "angles of 'j" in ways.proof
    assert not ways.complete
    exact = lw.prepare(arm, "tip", orientation=False, tolerance=1e-10)
    poses = np.array([exact(place, start=q).q for q in arm.random_pose(5, 40)])
    assert on_curves(ways, poses) == len(poses)


def test_a_spin_that_the_last_joint_makes_is_proven_impossible_too() -> None:
    arm = lw.models.ur5()
    target = arm.forward([0.4, -1.2, 1.5, -0.9, 1.0, 0.3], frame="tip")
    target[:3, 3] = 0.05, 0.0, 0.4
    ways = lw.solve_all(arm, lw.Reach("tip", pose=target, free="z"))
    assert ways.complete
    assert not len(ways)
    assert "too near to the axis" in str(ways.evidence)


def test_what_has_no_form_says_why() -> None:
    ur5 = lw.models.ur5()
    none = ur5.closed_form("tip", orientation=False)
    assert isinstance(none, NoForm)
    assert "leave no isolated solutions" in str(none)
    assert "curves" in str(ur5.closed_form("tip", free="z"))
    wrist = lw.from_dh([(0, 0.3, 0.05, P), (0, 0, 0.4, 0), (0, 0.2, 0, 0)])
    assert "does not move the point" in str(wrist.closed_form("tip", orientation=False))
    with pytest.raises(GoalError, match="curves"):
        lw.prepare(ur5, "tip", free="z").all(np.eye(4))


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_card_leaves_it_to_the_processor() -> None:
    from linkwork.solvers.closed_form.card import CardForm  # imports numba-cuda

    form = lw.from_dh(THREE["shoulder and elbow"]).closed_form("tip", orientation=False)
    assert isinstance(form, ClosedForm)
    with pytest.raises(DeviceError, match="CPU only"):
        CardForm(form, np.float64)


def test_two_links_in_a_plane_are_the_law_of_cosines() -> None:
    arm = lw.models.two_link(1.5, 1.0)
    x, y = 0.9, 1.4
    elbow = np.arccos((x * x + y * y - 1.5**2 - 1.0) / (2.0 * 1.5))
    for place in ((x, y), (x, y, 0.0)):
        ways = lw.solve_all(arm, lw.Reach("tip", position=place))
        assert ways.complete
        assert_allclose(np.sort(ways.q[:, 1]), [-elbow, elbow], atol=1e-12)
    assert "300 mm off the plane" in str(lw.solve_all(arm, lw.Reach("tip", position=(x, y, 0.3))).evidence)
    none = lw.solve_all(arm, lw.Reach("tip", position=(0.1, 0.1)))
    assert none.complete
    assert "359 mm inside the hole" in str(none.evidence)  # 0.5 m less the root of 0.02 m²


def test_three_links_in_a_plane_have_two_poses_and_one_curve() -> None:
    arm = lw.models.planar([15, 10, 5])
    q = np.array([0.3, 0.5, -0.4])
    target = arm.forward(q, frame="tip")
    ways = lw.solve_all(arm, lw.Reach("tip", pose=target))
    assert (len(ways), ways.complete, ways.family) == (2, True, "joints in a plane")
    assert_allclose(ways.nearest(q), q, atol=1e-9)
    wrist = target[:2, 3] - 5.0 * target[:2, 0]  # the other pose: the elbow on the other side of the line to the wrist
    assert_allclose(wrapped(ways.q[:, 0]).sum() / 2.0, np.arctan2(*wrist[::-1]), atol=1e-9)
    lifted, tilted = target.copy(), target.copy()
    lifted[2, 3] = 0.1
    tilted[:3, :3] = target[:3, :3] @ axis_rotation(np.array([1.0, 0.0, 0.0]), 0.1)
    assert "100 mm off the plane" in str(lw.solve_all(arm, lw.Reach("tip", pose=lifted)).evidence)
    assert "leans 5.73°" in str(lw.solve_all(arm, lw.Reach("tip", pose=tilted)).evidence)
    curves = lw.solve_all(arm, lw.Reach("tip", position=(-20, 5)))
    assert (curves.dimension, len(curves.curves)) == (1, 1)
    assert "64 angles of 'j3'" in curves.proof
    assert_allclose(arm.forward(curves.q, frame="tip")[:, :2, 3], np.tile([-20.0, 5.0], (len(curves), 1)), atol=1e-8)


def test_a_joint_about_the_free_axis_leaves_a_curve() -> None:
    b = lw.Builder("roller").revolute("pan", "a", limits=(-2, 2)).revolute("lift", "b", axis="y", limits=(-2, 2))
    b = b.revolute("roll", "c", axis="x", limits=(-2, 2)).revolute(
        "elbow", "d", axis="y", at=(0.4, 0, 0), limits=(-2, 2)
    )
    b = b.revolute("spin", "e", axis="z", at=(0.3, 0, 0), limits=(-2.5, 2.5)).frame("tip", at=(0.0, 0.0, 0.1))
    arm = b.build()
    q = np.array([0.3, -0.7, 0.5, 0.9, 0.2])
    target = arm.forward(q, frame="tip")
    found = lw.solve_all(arm, lw.Reach("tip", pose=target, free="z"), start=q)
    assert found.dimension == 1
    assert not found.complete
    assert any(curve.length == pytest.approx(5.0, abs=1e-6) for curve in found.curves)  # range of the last joint
    reached = arm.forward(found.q, frame="tip")
    assert_allclose(reached[:, :3, 3], np.tile(target[:3, 3], (len(found), 1)), atol=1e-9)
    assert_allclose(reached[:, :3, 2], np.tile(target[:3, 2], (len(found), 1)), atol=1e-9)
