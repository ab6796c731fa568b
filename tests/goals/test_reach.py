"""Reach: errors and Jacobians compared with finite differences and closed forms, with and without a free axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import transform as scipy_transform
from scipy.spatial.transform import Rotation

import linkwork as lw
from chains import AXES, placed
from linkages import JOINTS, one_joint, random_rotation
from linkwork.errors import GoalError
from linkwork.goals import turn_between
from linkwork.linkage.poses import advance

ARMS = {"panda": lw.models.panda, "stanford": lw.models.stanford, "planar": lambda: lw.models.planar([3, 2, 1])}
FREE = {"none": None, **{axis: axis for axis in AXES}, "oblique": (1.0, -2.0, 2.0)}
arms = pytest.mark.parametrize("name", ARMS)
free_axes = pytest.mark.parametrize("free", FREE)


def goal_for(target: np.ndarray, rows: str, free: object) -> lw.Reach:
    position = {"p": target[:3, 3], "xy": target[:2, 3], "": None}[rows.removesuffix("r")]
    turned = rows.endswith("r")
    return lw.Reach(
        "tip", position=position, orientation=target[:3, :3] if turned else None, free=FREE[free] if turned else None
    )


@arms
@free_axes
@pytest.mark.parametrize("rows", ["p", "r", "pr", "xy", "xyr"])
def test_the_jacobian_is_how_the_error_shrinks(name: str, free: str, rows: str) -> None:
    arm, rng = ARMS[name](), np.random.default_rng(0)
    step = 1e-6
    for _ in range(4):
        q = arm.random_pose(rng)
        near = arm.clamp(q + rng.uniform(-1e-7, 1e-7, arm.nq))  # near zero error, so that derivatives are twists
        goal = goal_for(arm.forward(near, frame="tip"), rows, free)
        expected = np.empty((len(goal.rows), arm.nv))
        for k in range(arm.nv):
            way = np.eye(arm.nv)[k] * step
            expected[:, k] = (goal.error(arm, advance(arm, q, -way)) - goal.error(arm, advance(arm, q, way))) / (
                2 * step
            )
        assert_allclose(goal.jacobian(arm, q), expected, rtol=0, atol=2e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("joint", JOINTS)
def test_a_free_axis_serves_every_kind_of_joint(joint: str) -> None:
    chain, rng, step = one_joint(JOINTS[joint]), np.random.default_rng(1), 1e-6
    q = chain.random_pose(rng)
    goal = goal_for(chain.forward(q, frame="tip"), "pr", "oblique")
    expected = np.stack([
        (goal.error(chain, advance(chain, q, -way)) - goal.error(chain, advance(chain, q, way))) / (2 * step)
        for way in np.eye(chain.nv) * step
    ], axis=1)  # fmt: skip
    assert_allclose(goal.jacobian(chain, q), expected, rtol=0, atol=1e-6)


@arms
@free_axes
def test_many_poses_give_what_each_gives(name: str, free: str) -> None:
    arm, rng = ARMS[name](), np.random.default_rng(2)
    goal = goal_for(arm.forward(arm.random_pose(rng), frame="tip"), "pr", free)
    q = arm.random_pose(rng, (2, 3))
    error, jacobian = goal.error(arm, q), goal.jacobian(arm, q)
    assert error.shape == (2, 3, 6)
    assert jacobian.shape == (2, 3, 6, arm.nv)
    for k in np.ndindex(2, 3):
        assert_allclose(error[k], goal.error(arm, q[k]), atol=1e-14)
        assert_allclose(jacobian[k], goal.jacobian(arm, q[k]), atol=1e-14)


# The rotation from one direction to another


@given(st.integers(0, 2**32 - 1))
def test_the_turn_between_directions_is_the_shortest_that_does_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(20, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    wanted, close = directions[0], directions[1:]
    turns = turn_between(close, wanted)
    assert_allclose(Rotation.from_rotvec(turns).apply(close), np.tile(wanted, (19, 1)), atol=1e-12)
    angles = np.arctan2(np.linalg.norm(np.cross(close, wanted), axis=1), close @ wanted)
    assert_allclose(np.linalg.norm(turns, axis=1), angles, atol=1e-12)
    assert_allclose((turns * close).sum(axis=1), 0.0, atol=1e-12)  # it does not spin


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [(0.6, 0.0, 0.8)]]))
def test_the_ends_of_the_turn(axis: np.ndarray) -> None:
    assert_array_equal(turn_between(axis, axis), np.zeros(3))
    half = turn_between(-axis, axis)
    assert np.linalg.norm(half) == pytest.approx(np.pi)
    assert_allclose(Rotation.from_rotvec(half).apply(-axis), axis, atol=1e-12)
    for tilt in (1e-15, 1e-13, 1e-9, 1e-5):
        aside = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
        close = axis + tilt * aside / np.linalg.norm(aside)
        close /= np.linalg.norm(close)
        assert np.linalg.norm(turn_between(close, axis)) == pytest.approx(tilt, rel=1e-2, abs=3e-16)
        assert np.linalg.norm(turn_between(-close, axis)) == pytest.approx(np.pi, abs=2e-5)


@free_axes
def test_spinning_about_the_free_axis_changes_nothing(free: str) -> None:
    if FREE[free] is None:
        return
    arm, rng = lw.models.panda(), np.random.default_rng(4)
    axis = np.array({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}.get(free.lstrip("-"), FREE[free]), float)
    axis /= np.linalg.norm(axis)
    q, target = arm.random_pose(rng), arm.forward(arm.random_pose(rng), frame="tip")
    expected = goal_for(target, "r", free).error(arm, q)
    for angle in (0.3, 2.0, -3.0):
        spun = target[:3, :3] @ Rotation.from_rotvec(angle * axis).as_matrix()
        got = lw.Reach("tip", orientation=spun, free=FREE[free]).error(arm, q)
        assert_allclose(got, expected, atol=1e-12)


def test_a_free_axis_never_asks_for_more_than_the_whole_orientation() -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(5)
    for _ in range(50):
        target = arm.forward(arm.random_pose(rng), frame="tip")
        q = arm.random_pose(rng)
        whole, axis = (np.linalg.norm(goal_for(target, "r", free).error(arm, q)) for free in ("none", "z"))
        assert axis <= whole + 1e-12


def test_a_hinge_about_the_free_axis_itself_does_nothing_for_it() -> None:
    arm = lw.models.panda()
    q = arm.random_pose(0)
    assert_allclose(goal_for(arm.forward(q, frame="tip"), "r", "z").jacobian(arm, q)[:, -1], 0.0, atol=1e-15)


@pytest.mark.parametrize("method", ["damped", "pseudoinverse", "selectively-damped", "transpose", "robust"])
def test_methods_reach_goals_with_a_free_axis(method: str) -> None:
    arm, rng = lw.models.panda(), np.random.default_rng(6)
    start = arm.stored_pose("ready")
    there = arm.clamp(start + rng.uniform(-0.2, 0.2, 7))
    target = arm.forward(there, frame="tip") @ placed(Rotation.from_euler("z", 2.0).as_matrix())
    goal = goal_for(target, "pr", "z")
    solution = lw.solve(arm, goal, start=start, method=method, max_iterations=3000) if method != "robust" else (
        lw.solve(arm, goal, start=start)
    )  # fmt: skip
    assert solution.success
    world = arm.forward(solution.q, frame="tip")
    assert np.linalg.norm(world[:3, 3] - target[:3, 3]) <= 1e-4
    assert world[:3, 2] @ target[:3, 2] >= np.cos(1.001e-3)
    assert abs(world[:3, 0] @ target[:3, 0]) < 0.99  # it has not followed the spin
    assert solution.freedom == 2


def test_pointing_alone_is_the_law_of_cosines() -> None:
    wrist = lw.Builder("wrist").revolute("pan", "a", axis="z").revolute("tilt", "tip", axis="y").build()
    for pan, tilt in np.random.default_rng(0).uniform(-1.5, 1.5, (20, 2)):
        goal = lw.Reach("tip", orientation=wrist.forward([pan, tilt], frame="tip")[:3, :3], free="x")
        solution = lw.solve(wrist, goal, start=[0.0, 0.0], tolerance=1e-9, rotation_tolerance=1e-9)
        assert solution.success
        ways = [(pan, tilt), (pan + np.pi, np.pi - tilt), (pan - np.pi, np.pi - tilt), (pan + np.pi, -np.pi - tilt)]
        assert min(np.abs((np.array(way) - solution.q + np.pi) % (2 * np.pi) - np.pi).max() for way in ways) < 1e-6


# Wrong input, and stored values


@pytest.mark.parametrize("free", ["w", "", (0, 0, 0), (1, 2), (np.nan, 0, 1), 3, True, [[1, 0, 0]], object(), "zz"])
def test_a_free_axis_that_is_none_is_refused(free: object) -> None:
    with pytest.raises(GoalError, match="free axis"):
        lw.Reach("tip", orientation=np.eye(3), free=free)


def test_a_free_axis_needs_an_orientation() -> None:
    with pytest.raises(GoalError, match="no orientation"):
        lw.Reach("tip", position=(1, 2, 3), free="z")


def test_a_goal_keeps_its_axis_as_a_unit_vector_that_cannot_be_written() -> None:
    goal = lw.Reach("tip", orientation=np.eye(3), free=(0, 3, 4))
    assert_allclose(goal.free, (0, 0.6, 0.8))
    with pytest.raises(ValueError, match="read-only"):
        goal.free[0] = 1.0
    moved = goal.moved(placed(random_rotation(np.random.default_rng(0))))
    assert_array_equal(moved.free, goal.free)
    assert moved.signature == goal.signature != lw.Reach("tip", orientation=np.eye(3)).signature


# Poses: position and orientation at once


def test_a_pose_is_position_and_orientation_at_once() -> None:
    pose = placed(random_rotation(np.random.default_rng(3)), (0.1, -0.2, 0.3))
    parts = lw.Reach("tip", position=pose[:3, 3], orientation=pose[:3, :3], axes="xz", free="z")
    forms = [pose, pose.tolist()]
    if hasattr(scipy_transform, "RigidTransform"):  # SciPy 1.16
        forms.append(scipy_transform.RigidTransform.from_matrix(pose))
    for form in forms:
        for whole in (lw.Reach("tip", pose=form), lw.Reach("tip", orientation=form)):
            assert_allclose(whole.target, pose, atol=1e-15)
            assert whole.rows.tolist() == [0, 1, 2, 3, 4, 5]
        some = lw.Reach("tip", pose=form, axes="xz", free="z")
        assert_allclose(some.target, parts.target, atol=1e-15)
        assert some.signature == parts.signature


POSE = placed(np.eye(3)[[1, 2, 0]], (1.0, 2.0, 3.0))


@pytest.mark.parametrize(("options", "words"), [
    ({"position": (0, 0, 0), "orientation": POSE}, "two positions.*pose="),
    ({"position": (0, 0, 0), "orientation": POSE.tolist()}, "two positions"),
    ({"pose": POSE, "position": (0, 0, 0)}, "leave those out"),
    ({"pose": POSE, "orientation": np.eye(3)}, "leave those out"),
    ({"pose": POSE, "orientation": POSE}, "leave those out"),
    ({"pose": (1, 2, 3)}, r"4x4 matrix, got shape \(3,\)"),
    ({"pose": np.eye(3)}, r"4x4 matrix, got shape \(3, 3\)"),
    ({"pose": 2 * POSE}, "rotation"),
    ({"pose": np.ones((4, 4))}, "rotation"),
    ({"pose": POSE.T}, "last row"),
    ({"pose": placed(np.eye(3), (np.inf, 0, 0))}, "finite"),
    ({"pose": placed(np.eye(3), (1e200, 0, 0))}, "finite numbers below"),
    ({"pose": "tip"}, "goal pose of 'tip'"),
    ({"orientation": [[1, 2], [3]]}, "goal orientation of 'tip'"),
    ({}, "give a pose, a position or an orientation"),
])  # fmt: skip
def test_what_a_goal_is_given_twice_or_wrongly_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(GoalError, match=words):
        lw.Reach("tip", **options)


OPEN = {
    "all of a pose": ({"pose": np.eye(4)}, "", "Reach('tip', position=[0.0, 0.0, 0.0], orientation=...)"),
    "a position": ({"position": (1, 2, 3)}, "", "Reach('tip', position=[1.0, 2.0, 3.0])"),
    "x and y": ({"position": (1, 2, 3), "axes": "xy"}, "", "Reach('tip', position=[1.0, 2.0])"),
    "x and z": ({"position": (1, 2, 3), "axes": "xz"}, "axes of its position left out", None),
    "one axis": ({"position": (1, 2, 3), "axes": "x"}, "axes of its position left out", None),
    "a free axis": ({"pose": np.eye(4), "free": "z"}, "an axis free to spin about", None),
    "an orientation": ({"orientation": np.eye(3)}, "", "Reach('tip', orientation=...)"),
}


@pytest.mark.parametrize("case", OPEN)
def test_a_goal_says_what_it_asks_for_and_what_it_leaves_open(case: str) -> None:
    given, left_open, shown = OPEN[case]
    goal = lw.Reach("tip", **given)
    assert goal.partial == left_open
    assert goal.masked == left_open.startswith("axes")
    assert shown is None or repr(goal) == shown


PARTS = {
    "pose": ({"pose": POSE}, POSE[:3, 3], POSE[:3, :3]),
    "a position": ({"position": (1, 2, 3)}, (1, 2, 3), None),
    "a position in the plane": ({"position": (1, 2)}, (1, 2), None),
    "x and y": ({"position": (1, 2, 3), "axes": "xy"}, (1, 2), None),
    "x and z": ({"position": (1, 2, 3), "axes": "xz"}, (1, 2, 3), None),  # all three are given, two are used
    "y": ({"position": (1, 2), "axes": "y"}, (1, 2, 0), None),
    "z of a pose": ({"pose": POSE, "axes": "z"}, POSE[:3, 3], POSE[:3, :3]),
    "an orientation": ({"orientation": POSE[:3, :3]}, None, POSE[:3, :3]),
}


@pytest.mark.parametrize("case", PARTS)
def test_a_goal_knows_its_position_and_its_orientation(case: str) -> None:
    given, position, orientation = PARTS[case]
    goal = lw.Reach("tip", **given)
    for known, expected in ((goal.position, position), (goal.orientation, orientation)):
        assert (known is None) == (expected is None)
        if expected is not None:
            assert_array_equal(known, expected)
            assert known.shape == np.shape(expected)


COMMON = {"weight": (1.0, 2.5), "tolerance": (None, (1e-3, 1e-2)), "priority": (0, 3)}  # default and another value


@pytest.mark.parametrize("name", COMMON)
def test_a_goal_has_what_all_goals_have(name: str) -> None:
    usual, other = COMMON[name]
    plain = lw.Reach("tip", pose=POSE)
    assert getattr(plain, name) == usual
    assert lw.Reach("tip", pose=POSE, **{name: usual}).signature == plain.signature
    changed = lw.Reach("tip", pose=POSE, **{name: other})
    assert getattr(changed, name) == other
    assert changed.signature != plain.signature


@pytest.mark.parametrize(("options", "words"), [
    ({"weight": 0.0}, "weight of a goal must be positive and finite"),
    ({"tolerance": (1e-3, -1e-3)}, "tolerance"),
    ({"priority": -1}, "priority of a goal is a whole number"),
    ({"frame": 3}, "frame of the goal Reach is the name of a frame"),
])  # fmt: skip
def test_what_all_goals_have_is_checked(options: dict[str, object], words: str) -> None:
    with pytest.raises(GoalError, match=words):
        lw.Reach(**({"frame": "tip", "pose": POSE} | options))


@pytest.mark.parametrize("axes", ["", "xx", "xw", 3, ("x", "y")], ids=repr)
def test_axes_are_some_of_x_y_and_z(axes: object) -> None:
    with pytest.raises(GoalError, match="axes of the goal of frame 'tip' are some of 'xyz', got"):
        lw.Reach("tip", position=(1, 2, 3), axes=axes)
