"""Interpolation of keys: through every key, with the documented smoothness, equal to SciPy's where SciPy has it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicHermiteSpline, CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork.errors import FrameNotFoundError, KeyFrameError, LinkworkError, PoseError, PoseShapeError
from linkwork.linkage.poses import wrapped
from linkwork.motion.clips import KINDS, sample

EVEN = np.arange(6) / 2.0
UNEVEN = np.array([-1.0, -0.9, 0.3, 0.8, 3.0, 3.4])  # lengths of neighbouring intervals differ up to twelvefold
SMOOTHNESS = dict(zip(KINDS, (0, 1, 2, 1, 0, 0, 1, 1, 1, -1), strict=True))  # continuous derivatives
UNSTEADY = ("ease", "ease-in", "ease-out", "bezier", "step")  # these do not reproduce a uniform motion between keys

kinds = pytest.mark.parametrize("kind", KINDS)
halfway = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in UNSTEADY[1:]]
)  # halfway in half the time
rhythms = pytest.mark.parametrize("times", [EVEN, UNEVEN], ids=["even", "uneven"])
joints = pytest.mark.parametrize("joint", ["revolute-limited", "continuous-x", "prismatic-x", "ball", "floating"])
wraps = pytest.mark.parametrize("wrap", [True, False])


def key_poses(linkage: lw.Linkage, times: np.ndarray, seed: int = 0) -> np.ndarray:
    return linkage.random_pose(seed, len(times))


def plain(linkage: lw.Linkage) -> np.ndarray:
    return linkage.table.plain[0]


# Through the keys, and how smoothly


@kinds
@rhythms
@joints
@wraps
def test_motion_passes_through_its_keys(kind: str, times: np.ndarray, joint: str, wrap: bool) -> None:
    linkage = one_joint(JOINTS[joint])
    keys = key_poses(linkage, times)
    poses = sample(linkage, times, keys, times, kind=kind, wrap=wrap)
    assert_allclose(linkage.difference(keys, poses), 0.0, rtol=0, atol=1e-12)
    assert_allclose(linkage.forward(poses).array, linkage.forward(keys).array, rtol=0, atol=1e-12)
    if not wrap:
        assert_allclose(poses[:, plain(linkage)], keys[:, plain(linkage)], rtol=0, atol=1e-12)


def one_sided(linkage: lw.Linkage, poses: np.ndarray, h: float, order: int) -> np.ndarray:
    """Return the value, velocity or acceleration at the first of four poses, each h after the one before."""
    e = linkage.difference(poses[0], poses)
    return [e[1], (-3 * e[0] + 4 * e[1] - e[2]) / (2 * h), (2 * e[0] - 5 * e[1] + 4 * e[2] - e[3]) / h**2][order]


@kinds
@rhythms
@joints
@pytest.mark.parametrize("seed", range(2))
def test_motion_is_as_smooth_at_the_keys_as_its_kind_promises(
    kind: str, times: np.ndarray, joint: str, seed: int
) -> None:
    linkage = one_joint(JOINTS[joint])
    keys = key_poses(linkage, times, seed)
    for order, h, tolerance in ((0, 1e-9, 1e-6), (1, 1e-5, 1e-4), (2, 1e-4, 1e-2))[: SMOOTHNESS[kind] + 1]:
        for time in times[1:-1]:
            before = sample(linkage, times, keys, time - h * np.arange(4), kind=kind)
            after = sample(linkage, times, keys, time + h * np.arange(4), kind=kind)
            left, right = one_sided(linkage, before, -h, order), one_sided(linkage, after, h, order)
            scale = max(1.0, float(np.abs(left).max()))
            assert_allclose(left, right, rtol=0, atol=tolerance * scale)


@rhythms
@joints
def test_ease_rests_at_every_key(times: np.ndarray, joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    keys, h = key_poses(linkage, times), 1e-6
    for time in times[:-1]:
        poses = sample(linkage, times, keys, time + h * np.arange(4), kind="ease")
        assert_allclose(one_sided(linkage, poses, h, 1), 0.0, atol=1e-4)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "step"])
@joints
def test_motion_is_continuous_within_a_stretch(kind: str, joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    keys = key_poses(linkage, UNEVEN, 3)
    samples = np.linspace(UNEVEN[0], UNEVEN[-1], 20_001)
    poses = sample(linkage, UNEVEN, keys, samples, kind=kind)
    steps = np.abs(linkage.difference(poses[:-1], poses[1:])).max(axis=-1)
    assert steps.max() < 0.1


@kinds
def test_neighbouring_poses_never_jump_to_the_other_sign_of_a_quaternion(kind: str) -> None:
    linkage = one_joint(JOINTS["floating"])
    keys = key_poses(linkage, EVEN, 5)
    keys[::2, 3:7] *= -1.0
    clip = lw.interpolate(linkage, list(zip(EVEN, keys, strict=True)), fps=240, kind=kind)
    quaternions = clip.poses[:, 3:7]
    assert (np.sum(quaternions[1:] * quaternions[:-1], axis=-1) > 0.0).all()


@kinds
@joints
def test_keys_that_are_all_the_same_give_a_still_clip(kind: str, joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    q = linkage.random_pose(1)
    clip = lw.interpolate(linkage, [(t, q) for t in UNEVEN], fps=10, kind=kind)
    assert_allclose(linkage.difference(q, clip.poses), 0.0, atol=1e-12)


@kinds
@joints
def test_shifting_the_clock_shifts_the_motion(kind: str, joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    keys, samples = key_poses(linkage, UNEVEN), np.linspace(UNEVEN[0], UNEVEN[-1], 50)
    here = sample(linkage, UNEVEN, keys, samples, kind=kind)
    later = sample(linkage, UNEVEN + 64.0, keys, samples + 64.0, kind=kind)
    assert_allclose(linkage.difference(here, later), 0.0, atol=1e-9)


# Compared with SciPy


@rhythms
def test_linear_motion_is_that_of_numpy_and_slerp(times: np.ndarray) -> None:
    linkage = one_joint(JOINTS["floating"])
    keys, samples = key_poses(linkage, times), np.linspace(times[0], times[-1], 101)
    poses = sample(linkage, times, keys, samples, kind="linear", wrap=False)
    for k in plain(linkage):
        assert_allclose(poses[:, k], np.interp(samples, times, keys[:, k]), rtol=0, atol=1e-12)
    slerp = Slerp(times, Rotation.from_quat(keys[:, 3:7], scalar_first=True))
    assert_allclose(rotations(poses), slerp(samples).as_matrix(), rtol=0, atol=1e-12)


@rhythms
def test_cubic_motion_is_that_of_the_splines_of_scipy(times: np.ndarray) -> None:
    linkage = one_joint(JOINTS["floating"])
    keys, samples = key_poses(linkage, times), np.linspace(times[0], times[-1], 101)
    poses = sample(linkage, times, keys, samples, kind="cubic", wrap=False)
    natural = CubicSpline(times, keys[:, plain(linkage)], bc_type="natural")
    assert_allclose(poses[:, plain(linkage)], natural(samples), rtol=0, atol=1e-12)
    spline = RotationSpline(times, Rotation.from_quat(keys[:, 3:7], scalar_first=True))
    assert_allclose(rotations(poses), spline(samples).as_matrix(), rtol=0, atol=1e-12)


@rhythms
def test_catmull_rom_is_the_hermite_spline_through_finite_difference_slopes(times: np.ndarray) -> None:
    linkage = one_joint(JOINTS["floating"])
    keys, samples = key_poses(linkage, times), np.linspace(times[0], times[-1], 101)
    poses = sample(linkage, times, keys, samples, kind="catmull-rom", wrap=False)
    values = keys[:, plain(linkage)]
    hermite = CubicHermiteSpline(times, values, np.gradient(values, times, axis=0))
    assert_allclose(poses[:, plain(linkage)], hermite(samples), rtol=0, atol=1e-12)


@rhythms
def test_catmull_rom_about_one_axis_is_that_of_the_angle(times: np.ndarray) -> None:
    linkage = lw.Builder("b").ball("s", "l").continuous("w", "m").build()
    angles = np.array([0.0, 0.5, 1.4, 0.9, 2.0, 2.1])
    quaternions = Rotation.from_rotvec(angles[:, None] * [0.6, 0.0, 0.8]).as_quat(scalar_first=True)
    samples = np.linspace(times[0], times[-1], 301)
    poses = sample(linkage, times, np.c_[quaternions, angles], samples, kind="catmull-rom")
    expected = Rotation.from_rotvec(poses[:, 4:] * [0.6, 0.0, 0.8])
    assert_allclose(rotations(poses, 0), expected.as_matrix(), rtol=0, atol=1e-11)


def rotations(poses: np.ndarray, first: int = 3) -> np.ndarray:
    return Rotation.from_quat(poses[:, first : first + 4], scalar_first=True).as_matrix()


@kinds
def test_the_splines_reproduce_a_steady_motion(kind: str) -> None:
    linkage = one_joint(JOINTS["floating"])
    start, velocity = linkage.random_pose(2), np.linspace(-0.4, 0.3, linkage.nv)
    keys = linkage.integrate(start, velocity * UNEVEN[:, None])
    samples = np.linspace(UNEVEN[0], UNEVEN[-1], 50)
    steady = linkage.integrate(start, velocity * samples[:, None])
    poses = sample(linkage, UNEVEN, keys, samples, kind=kind)
    if kind in UNSTEADY:
        assert np.abs(linkage.difference(steady, poses)).max() > 1e-3
    else:
        assert_allclose(linkage.difference(steady, poses), 0.0, atol=1e-7)


# Whole turns


@halfway
def test_unlimited_angles_go_the_short_way_unless_told_otherwise(kind: str) -> None:
    wheel = lw.Builder("w").continuous("wheel", "rim").build()
    keys = [(0.0, [3.0]), (1.0, [-3.0])]
    short = lw.interpolate(wheel, keys, fps=8, kind=kind).poses[:, 0]
    long = lw.interpolate(wheel, keys, fps=8, kind=kind, wrap=False).poses[:, 0]
    assert_allclose([short[0], short[4], short[-1]], [3.0, np.pi, 2 * np.pi - 3.0], rtol=1e-12)
    assert_allclose([long[0], long[4], long[-1]], [3.0, 0.0, -3.0], rtol=0, atol=1e-12)


@halfway
def test_limited_angles_never_go_the_other_way_round(kind: str) -> None:
    hinge = lw.Builder("h").revolute("j", "l", limits=(-3.1, 3.1)).build()
    poses = lw.interpolate(hinge, [(0.0, [3.0]), (1.0, [-3.0])], fps=8, kind=kind).poses
    assert_allclose(poses[4], [0.0], rtol=0, atol=1e-12)
    assert (np.abs(poses) <= 3.1).all()


@halfway
def test_a_wheel_that_drives_a_slider_keeps_its_turns(kind: str) -> None:
    b = lw.Builder("rack").continuous("pinion", "gear")
    rack = b.prismatic("slide", "bar", parent="base", mimic=lw.Mimic("pinion", 0.01)).build()
    clip = lw.interpolate(rack, [(0.0, [0.0]), (1.0, [20.0])], fps=2, kind=kind)
    assert_allclose(clip.poses[:, 0], [0.0, 10.0, 20.0], rtol=0, atol=1e-9)


@kinds
def test_turns_add_up_over_many_keys(kind: str) -> None:
    wheel = lw.Builder("w").continuous("wheel", "rim").build()
    keys = [(t, [wrapped(np.array(1.5 * t))]) for t in range(20)]
    clip = lw.interpolate(wheel, keys, fps=1, kind=kind)
    assert_allclose(clip.poses[:, 0], 1.5 * np.arange(20), rtol=0, atol=1e-11)


# Few keys, empty linkages


@halfway
@joints
def test_one_key_is_one_frame_and_two_are_enough(kind: str, joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    a, b = linkage.random_pose(1), linkage.random_pose(2)
    one = lw.interpolate(linkage, [(2.5, a)], kind=kind)
    assert len(one) == 1
    assert one.times.tolist() == [2.5]
    assert_allclose(linkage.difference(a, one.poses[0]), 0.0, atol=1e-15)
    two = lw.interpolate(linkage, [(0, a), (1, b)], fps=4, kind=kind)
    assert_allclose(linkage.difference(linkage.interpolate(a, b, 0.5), two.poses[2]), 0.0, atol=1e-12)


@pytest.mark.parametrize("joint", JOINTS)
def test_every_joint_can_be_keyed(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    keys = key_poses(linkage, EVEN)
    for kind in KINDS:
        clip = lw.interpolate(linkage, list(zip(EVEN, keys, strict=True)), fps=2, kind=kind)
        assert_allclose(linkage.difference(keys, clip.poses), 0.0, atol=1e-12)


@kinds
def test_a_linkage_of_nothing_but_a_ball_and_one_that_cannot_move_have_clips(kind: str) -> None:
    ball = lw.Builder("b").ball("s", "l").build()
    still = lw.Linkage([lw.Link("stone")])
    assert lw.interpolate(ball, [(t, ball.random_pose(t)) for t in range(3)], fps=2, kind=kind).poses.shape == (5, 4)
    assert lw.interpolate(still, [(t, []) for t in range(3)], fps=2, kind=kind).poses.shape == (5, 0)


@kinds
def test_keys_may_be_stored_poses(kind: str) -> None:
    b = lw.Builder("arm").revolute("j", "l").pose("up", j=1.0).pose("down", j=-1.0)
    clip = lw.interpolate(b.build(), [(0, "up"), (1, "down"), (2, [1])], fps=1, kind=kind)
    assert_allclose(clip.poses[:, 0], [1, -1, 1], rtol=0, atol=1e-12)


# Frames


@given(st.floats(0.0, 100.0), st.floats(0.5, 240.0), st.floats(-1e4, 1e4))
@settings(deadline=None)
def test_frames_are_even_and_end_on_the_last_key_or_less_than_one_frame_before(
    duration: float, fps: float, start: float
) -> None:
    arm = lw.models.planar([1])
    keys = [(start, [0.0]), (start + duration, [1.0])]
    if start + duration == start:
        keys = keys[:1]
    clip = lw.interpolate(arm, keys, fps=fps, kind="linear")
    assert clip.times[0] == start
    assert_allclose(clip.times, start + np.arange(len(clip)) / fps, rtol=1e-12, atol=1e-9)
    assert 0.0 <= start + duration - clip.times[-1] < 1.0 / fps + 1e-9


@pytest.mark.parametrize(
    ("seconds", "fps"), [(1, 24), (10, 24), (3600, 24), (0.1, 30), (7, 29.97), (1 / 3, 60), (100, 1000)]
)
def test_whole_numbers_of_frames_are_counted_whole(seconds: float, fps: float) -> None:
    clip = lw.interpolate(lw.models.planar([1]), [(0, [0.0]), (seconds, [1.0])], fps=fps, kind="linear")
    assert len(clip) == int(seconds * fps + 1e-6) + 1
    assert clip.times[-1] <= seconds


# Wrong keys

ARM = lw.models.planar([2, 1])


@pytest.mark.parametrize(
    ("keys", "match"),
    [
        ([], "no keys"),
        ([(1, [0, 0]), (0, [1, 1])], "must rise"),
        ([(0, [0, 0]), (1, [0, 0]), (1, [1, 1])], "two keys at 1 s"),
        ([(np.nan, [0, 0])], "finite"),
        ([(0, [0, 0]), (np.inf, [1, 1])], "finite"),
        ([(0,)], "pairs"),
        ([(0, [0, 0], 1)], "pairs"),
        ([("soon", [0, 0])], "pairs"),
        ([(None, [0, 0])], "pairs"),
        ([5], "pairs"),
        ({0: [0, 0]}, "pairs"),
        ([(0, [[0, 0], [1, 1]]), (1, [[0, 0], [1, 1]])], "pose"),
        ([(0, [0, 0]), (1, [[0, 0], [1, 1]])], "pose"),
    ],
    ids=str,
)
@kinds
def test_keys_that_cannot_be_interpolated_are_refused(keys: object, match: str, kind: str) -> None:
    with pytest.raises(KeyFrameError, match=match):
        lw.interpolate(ARM, keys, kind=kind)


@pytest.mark.parametrize("pose", [[0], [0, 0, 0], [0, np.nan], "nowhere", 0, [0, "x"], Ellipsis], ids=repr)
def test_a_key_pose_must_fit_the_linkage(pose: object) -> None:
    with pytest.raises(LinkworkError):
        lw.interpolate(ARM, [(0, [0, 0]), (1, pose)])


@pytest.mark.parametrize("fps", [0, -24, np.nan, np.inf, "24", None, [24]], ids=repr)
def test_fps_is_a_positive_number(fps: object) -> None:
    with pytest.raises(KeyFrameError, match="fps"):
        lw.interpolate(ARM, [(0, [0, 0]), (1, [1, 1])], fps=fps)


@pytest.mark.parametrize("kind", ["quintic", "", "Linear", None, 3, ["linear"]], ids=repr)
@pytest.mark.parametrize("count", [1, 3])
def test_an_unknown_kind_is_refused_with_what_there_is(kind: object, count: int) -> None:
    with pytest.raises(KeyFrameError, match="linear, ease, cubic, catmull-rom"):
        lw.interpolate(ARM, [(t, [0, 0]) for t in range(count)], kind=kind)


# Clips


@pytest.mark.parametrize(
    ("times", "poses"),
    [
        ([], np.zeros((0, 2))),
        ([0, 1, 1], np.zeros((3, 2))),
        ([1, 0], np.zeros((2, 2))),
        ([0, np.nan], np.zeros((2, 2))),
        ([0, np.inf], np.zeros((2, 2))),
        ([[0, 1]], np.zeros((2, 2))),
        (0.0, np.zeros((1, 2))),
        (["a", "b"], np.zeros((2, 2))),
        ([0, 1j], np.zeros((2, 2))),
    ],
    ids=str,
)
def test_times_of_a_clip_rise(times: object, poses: object) -> None:
    with pytest.raises(LinkworkError, match="time"):
        lw.Clip(ARM, times, poses)


@pytest.mark.parametrize(
    "poses", [np.zeros((3, 2)), np.zeros(2), np.zeros((2, 1, 2)), np.zeros((2, 3)), np.zeros((1, 2))]
)
def test_a_clip_has_one_pose_for_each_time(poses: np.ndarray) -> None:
    with pytest.raises(PoseShapeError):
        lw.Clip(ARM, [0, 1], poses)


def test_poses_of_a_clip_are_poses() -> None:
    with pytest.raises(PoseError, match=r"'j2' of pose \(1,\) is nan"):
        lw.Clip(ARM, [0, 1], [[0, 0], [0, np.nan]])


def test_a_clip_keeps_its_own_frozen_arrays() -> None:
    times, poses = np.array([0.0, 1.0]), np.zeros((2, 2))
    clip = lw.Clip(ARM, times, poses)
    times[0], poses[0] = -7.0, 9.0
    assert clip.times[0] == 0.0
    assert not clip.poses.any()
    for array in (clip.times, clip.poses):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(AttributeError):
        clip.times = times


def test_a_clip_that_has_travelled_is_still_frozen() -> None:
    clip = lw.interpolate(ARM, [(0, [0, 0]), (1, [1, 2])], fps=3)
    for other in (pickle.loads(pickle.dumps(clip)), copy.deepcopy(clip)):
        assert_array_equal(other.poses, clip.poses)
        assert not other.poses.flags.writeable
        assert not other.times.flags.writeable


def test_a_clip_knows_where_its_frames_are() -> None:
    clip = lw.interpolate(ARM, [(0, [0, 0]), (1, [1, 2])], fps=3)
    assert len(clip) == 4
    assert repr(clip) == "<Clip of 'planar': 4 frames, 1 s>"
    assert clip.forward(frame="tip").shape == (4, 4, 4)
    assert_array_equal(clip.forward()["tip"], ARM.forward(clip.poses)["tip"])
    with pytest.raises(FrameNotFoundError):
        clip.forward(frame="nose")
