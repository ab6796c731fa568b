"""Swing and twist limits of ball joints: their definition, methods that keep them, and files that store them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.cli.output import joint_description
from linkwork.errors import GoalError, LimitError
from linkwork.linkage import swing_twist as cones
from linkwork.linkage.poses import advance, keeps_limits
from linkwork.linkage.tree_text import limit_text

SWING, TWIST, AXIS = 0.7, (-0.3, 0.5), (1.0, 2.0, -1.0)
METHODS = sorted(set(lw.METHODS) - {"inverse"})
methods = pytest.mark.parametrize("method", METHODS)


def leg(**limits: object) -> lw.Linkage:
    """Return a hip with a cone, a knee and an ankle."""
    b = lw.Builder("leg").ball(
        "hip", "thigh", at=(0, 0.1, 1), **({"swing": SWING, "twist": TWIST, "axis": AXIS} | limits)
    )
    b.revolute("knee", "shin", axis="y", at=(0, 0, -0.45), limits=(0, 2.4))
    b.ball("ankle", "foot", at=(0, 0, -0.43))
    return b.frame("sole", at=(0.05, 0, -0.08)).build()


def quaternions(count: int, seed: int = 0) -> np.ndarray:
    return Rotation.random(count, rng=np.random.default_rng(seed)).as_quat(scalar_first=True)


# Definition


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_a_rotation_is_its_swing_after_its_twist(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    (quaternion,) = quaternions(1, seed)
    swing, twist = cones.swing_twist(quaternion, axis)
    rotation = Rotation.from_quat(quaternion, scalar_first=True)
    left = rotation * Rotation.from_rotvec(-twist * axis)  # without its twist, what is left is the swing
    assert_allclose(left.magnitude(), swing, atol=1e-9)
    assert abs(left.as_rotvec() @ axis) < 1e-9
    assert_allclose(math.cos(swing), axis @ rotation.apply(axis), atol=1e-12)
    assert_allclose(cones.swing_twist(-quaternion, axis), (swing, twist), atol=1e-12)


def test_half_a_turn_of_swing_has_no_twist() -> None:
    swing, twist = cones.swing_twist(np.array([0.0, 1.0, 0.0, 0.0]), np.eye(3)[2])
    assert (float(swing), float(twist)) == (math.pi, 0.0)


def test_outward_is_how_swing_and_twist_grow() -> None:
    linkage, step = leg(), 1e-6
    axis = linkage.cones[0].axis
    everywhere = cones.Cone(0, 0, axis, 0.0, -9.0, -9.0)  # always at its limits
    for quaternion in quaternions(20):
        q = np.concatenate([quaternion, linkage.neutral()[4:]])
        ways = np.eye(linkage.nv)[:3] * step
        ends = [cones.swing_twist(advance(linkage, q, sign * ways)[:, :4], axis) for sign in (1, -1)]
        for slope, out in zip(
            (np.array(ends[0]) - np.array(ends[1])) / (2 * step), cones.outward(everywhere, q), strict=True
        ):
            assert_allclose(out, slope / np.linalg.norm(slope), atol=1e-6)
        swing, twist = cones.outward(everywhere, q)
        assert abs(swing @ twist) < 1e-12


def test_the_list_says_where_and_how_far() -> None:
    (cone,) = leg().cones
    assert (cone.q, cone.v, cone.swing, cone.low, cone.high) == (0, 0, SWING, *TWIST)
    assert_allclose(cone.axis, np.array(AXIS) / math.sqrt(6))
    (only,) = leg(twist=None).cones
    assert (only.low, only.high) == (-math.inf, math.inf)
    (only,) = leg(swing=None).cones
    assert only.swing == math.inf
    assert leg(swing=None, twist=None).cones == ()
    assert lw.models.human().cones == ()


@pytest.mark.parametrize(
    "limits",
    [
        {"swing": -0.1}, {"swing": 3.2}, {"swing": math.nan}, {"swing": "far"}, {"twist": (1, -1)}, {"twist": (0, 4)},
        {"twist": (-4, 0)}, {"twist": 0.5}, {"twist": (0, 1, 2)}, {"axis": (0, 0, 0), "swing": 1.0},
        {"euler": "xyz", "swing": 1.0}, {"euler": "xyz", "twist": (0, 1)},
    ],
)  # fmt: skip
def test_limits_without_meaning_are_refused(limits: dict[str, object]) -> None:
    with pytest.raises(lw.LinkworkError):
        lw.Ball(**limits)  # type: ignore[arg-type]


def test_angles_may_be_texts() -> None:
    ball = lw.Ball(swing="60deg", twist=("-30deg", "45deg"), axis="-x")
    assert ball.swing == pytest.approx(math.pi / 3)
    assert ball.twist == pytest.approx((-math.pi / 6, math.pi / 4))
    assert ball.axis == (-1.0, 0.0, 0.0)


def test_half_a_turn_either_way_is_every_rotation() -> None:
    """The largest limits: pi of swing, and twist from -pi to pi."""
    everything = lw.Ball(swing="180deg", twist=("-180deg", "180deg"), axis=AXIS)
    assert (everything.swing, everything.twist) == (math.pi, (-math.pi, math.pi))
    linkage = lw.Builder("b").ball("j", "a", swing=math.pi, twist=(-math.pi, math.pi), axis=AXIS).build()
    across = np.array([[2.0, -1.0, 0.0], [0.0, 1.0, 2.0]])
    halves = Rotation.from_rotvec(math.pi * across / np.linalg.norm(across, axis=1, keepdims=True))
    along = Rotation.from_rotvec(np.outer([math.pi, -math.pi], AXIS) / math.sqrt(6))
    ends = [turn.as_quat(scalar_first=True) for turn in (halves, along)]
    q = np.concatenate([quaternions(500), *ends, -quaternions(20)])
    assert keeps_limits(linkage, q).all()
    assert_array_equal(linkage.clamp(q), q)


# Poses


@pytest.mark.parametrize(
    "limits", [{}, {"twist": None}, {"swing": None}, {"swing": 0.0, "twist": (0.2, 0.2)}, {"twist": (-3, 3.1)}]
)
def test_poses_are_drawn_and_clamped_within(limits: dict[str, object]) -> None:
    linkage = leg(**limits)
    drawn = linkage.random_pose(0, 500)
    assert keeps_limits(linkage, drawn).all()
    assert_array_equal(linkage.clamp(drawn)[:, 4:], drawn[:, 4:])
    assert keeps_limits(linkage, linkage.neutral())
    q = np.concatenate([quaternions(500), drawn[:, 4:]], axis=1)
    kept = linkage.clamp(q)
    assert keeps_limits(linkage, kept).all()
    assert_allclose(np.linalg.norm(kept[:, :4], axis=1), 1.0, atol=1e-12)
    inside = keeps_limits(linkage, q)
    assert_array_equal(kept[inside], q[inside])


def test_random_axes_fill_the_cone_evenly() -> None:
    (cone,) = leg().cones
    swing, twist = cones.swing_twist(leg().random_pose(0, 4000)[:, :4], cone.axis)
    half = math.acos((1.0 + math.cos(SWING)) / 2.0)  # the cone of half the area
    assert 0.45 < (swing < half).mean() < 0.55
    assert 0.45 < (twist < np.mean(TWIST)).mean() < 0.55


def test_a_twist_is_clamped_by_the_shorter_way_round() -> None:
    ball = lw.Builder("b").ball("j", "a", twist=(-0.2, 3.0)).build()
    q = Rotation.from_rotvec([0, 0, -3.1]).as_quat(scalar_first=True)
    _, twist = cones.swing_twist(ball.clamp(q), np.eye(3)[2])
    assert twist == pytest.approx(3.0)


def test_clamping_keeps_the_direction_of_the_swing() -> None:
    ball = lw.Builder("b").ball("j", "a", swing=0.4).build()
    kept = Rotation.from_quat(
        ball.clamp(Rotation.from_rotvec([0.9, 1.2, 0.0]).as_quat(scalar_first=True)), scalar_first=True
    )
    assert_allclose(kept.as_rotvec(), 0.4 * np.array([0.6, 0.8, 0.0]), atol=1e-12)


# Solving


@methods
def test_every_method_keeps_within_cones(method: str) -> None:
    linkage, rng = leg(), np.random.default_rng(0)
    reached = 0
    for k in range(8):
        target = linkage.forward(linkage.random_pose(rng), frame="sole")[:3, 3]
        if k >= 6:  # outside of the cone
            target = np.array([0.3, 0.1, 1.6])
        solution = lw.solve(linkage, lw.Reach("sole", position=target), start=linkage.random_pose(rng), method=method)
        assert keeps_limits(linkage, solution.q)
        reached += bool(solution.success)
    assert 1 <= reached <= 6


@pytest.mark.parametrize("limits", ["clamp", "project"])
def test_projecting_slides_along_the_cone(limits: str) -> None:
    b = lw.Builder("arm").ball("shoulder", "upper", swing=0.6)
    arm = b.frame("hand", at=(0, 0, 1)).build()
    goal = lw.Reach("hand", position=(-0.9, 0.3, 0.3))  # beyond the cone, on another side
    start = arm.clamp(Rotation.from_rotvec([0.0, 0.6, 0.0]).as_quat(scalar_first=True))
    solution = lw.solve(arm, goal, start=start, method="damped", limits=limits)
    assert not solution.success
    side = np.array([-0.9, 0.3]) / math.hypot(0.9, 0.3)
    best = np.append(math.sin(0.6) * side, math.cos(0.6))  # the point of the cone's rim nearest the goal
    if limits == "project":
        assert_allclose(arm.forward(solution.q, frame="hand")[:3, 3], best, atol=1e-3)
    assert keeps_limits(arm, solution.q)


def test_robust_finds_what_random_poses_within_the_cone_reach() -> None:
    linkage, rng = leg(), np.random.default_rng(5)
    for _ in range(15):
        target = linkage.forward(linkage.random_pose(rng), frame="sole")
        solution = lw.solve(linkage, lw.Reach("sole", orientation=target))
        assert solution.success, solution.reason
        assert keeps_limits(linkage, solution.q)


def test_a_pose_beyond_its_cone_is_no_success() -> None:
    linkage = leg()
    q = linkage.neutral()
    q[:4] = Rotation.from_rotvec([0.0, 1.5, 0.0]).as_quat(scalar_first=True)
    goal = lw.Reach("sole", orientation=linkage.forward(q, frame="sole"))
    assert lw.solve(linkage, goal, start=q, method="damped", limits="ignore").success
    assert not lw.solve(linkage, goal, start=q).success


def test_the_compiled_search_refuses_cones_on_its_way_only() -> None:
    linkage = leg()
    for door in (
        lambda: lw.prepare(linkage, "sole"),
        lambda: lw.solve_batch(linkage, "sole", np.eye(4)[None]),
        lambda: lw.solve_all(linkage, lw.Reach("sole", position=(0, 0, 0))),
    ):
        with pytest.raises(GoalError, match="swing or twist of hip"):
            door()
    b = lw.Builder("two").ball("a", "one", swing=0.3).revolute("b", "two", parent="base").frame("tip", at=(1, 0, 0))
    other = b.build()
    start = np.array([0.0, 1.0, 0.0, 0.0, 0.0])  # the ball beside the chain begins beyond its cone
    solution = lw.solve(other, lw.Reach("tip", position=(0, 1)), start=start)
    assert solution.success
    assert keeps_limits(other, solution.q)


# Files


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".glb"])
def test_files_keep_them(suffix: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    linkage, path = leg(), tmp_path / f"leg{suffix}"
    lw.save(linkage, path)
    assert lw.load(path).cones[0].swing == SWING
    assert lw.load(path) == linkage


def test_files_that_cannot_say_so(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for suffix in (".urdf", ".bvh"):
        remarks = lw.save(leg(), tmp_path / f"leg{suffix}")
        assert any("swing and twist" in remark.text for remark in remarks), suffix


def test_edits_keep_them_or_refuse() -> None:
    linkage = leg()
    assert linkage.replace(joints={"hip": {"swing": 0.2}}).cones[0].swing == 0.2
    assert linkage.freeze("knee", at=0.3).cones[0].swing == SWING
    assert linkage.freeze("hip", at=Rotation.identity()).cones == ()
    with pytest.raises(LimitError, match="joint 'hip'"):
        linkage.split()
    assert linkage.replace(joints={"hip": {"swing": None, "twist": None}}).split().nq == 7


def test_they_are_shown() -> None:
    linkage = leg()
    assert limit_text(linkage.joint("hip")) == "swing 40.107 deg, twist -17.189 .. 28.648 deg"
    assert joint_description(linkage.joint("hip"))["swing"] == SWING


def test_the_doctor_sees_poses_beyond_them() -> None:
    linkage = leg()
    q = linkage.neutral()
    q[:4] = Rotation.from_rotvec([0.0, 1.5, 0.0]).as_quat(scalar_first=True)
    remarks = lw.doctor.examine(lw.formats.Content(linkage.replace(poses={"kick": q})))
    assert any(remark.kind == "pose-beyond-limits" and "'hip.w'" in remark.text for remark in remarks)
