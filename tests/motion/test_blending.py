"""Clips that are cut, retimed, joined and moved: laws that hold for any motion, tested on human motions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

import linkwork as lw
from captures import recorded
from linkages import JOINTS, one_joint
from linkwork.errors import KeyFrameError, LinkageError, LinkworkError

ARM = lw.models.planar([2, 1])
CLIP = lw.interpolate(ARM, [(0, [0, 0]), (1, [1, 2]), (2, [0, 1])], fps=24)


def flying(frames: int = 40, seed: int = 0) -> lw.Clip:
    """Return a floating body with a ball joint, both with quaternions, moving through random keys."""
    linkage = lw.Builder("bird", root="floating").ball("neck", "head", at=(0.3, 0, 0)).build()
    keys = linkage.random_pose(seed, 5)
    return lw.interpolate(linkage, list(enumerate(keys)), fps=frames / 4, kind="cubic")


def same_motion(clip: lw.Clip, other: lw.Clip, atol: float = 1e-12) -> None:
    assert_allclose(clip.forward().array, other.forward().array, rtol=0, atol=atol)


def steady(clip: lw.Clip) -> bool:
    starts = [k for k, _ in clip.linkage.table.quaternions]
    return all((clip.poses[1:, k : k + 4] * clip.poses[:-1, k : k + 4]).sum(axis=1).min() > 0.0 for k in starts)


# Properties of clips


def test_a_clip_of_a_file_has_a_name_a_source_and_its_rate() -> None:
    clip = recorded()
    assert clip.name == "walk"
    assert clip.source.endswith("walk.bvh")
    assert clip.fps == pytest.approx(24.0, rel=1e-4)
    assert clip.joints == clip.linkage.joints


def test_the_name_of_a_clip_is_kept_in_files_that_name_motions(tmp_path: Path) -> None:
    pytest.importorskip("pygltflib")
    flying().named("glide").save(tmp_path / "bird.glb")
    assert lw.load_clip(tmp_path / "bird.glb", name="glide").name == "glide"


@pytest.mark.parametrize("name", [3, None, b"x"], ids=repr)
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(KeyFrameError, match="is a string"):
        lw.Clip(ARM, [0], [[0, 0]], name=name)


# Cutting and retiming


def test_a_slice_keeps_the_frames_between_two_times_both_included() -> None:
    part = CLIP[0.5:1.5]
    assert_array_equal(part.times, CLIP.times[12:37])
    assert_array_equal(part.poses, CLIP.poses[12:37])
    assert len(CLIP[:1.0]) == len(CLIP[1.0:]) == 25
    assert_array_equal(CLIP.slice(None, None).poses, CLIP.poses)


def test_a_slice_of_a_solved_clip_keeps_its_residuals() -> None:
    clip = lw.track(ARM, lw.Reach("tip", position=(1, 2)), start=[0.1, 0.2], fps=10)
    assert_array_equal(clip[0.5:1.0].residuals, clip.residuals[5:11])


@pytest.mark.parametrize(
    "span", [slice(5, 6), slice(1.0, 0.5), slice(0, 1, 0.1), 3, "x", slice("a", None), slice(True)]
)
def test_a_slice_without_frames_or_sense_is_refused(span: object) -> None:
    with pytest.raises(KeyFrameError):
        CLIP[span]


@pytest.mark.parametrize("kind", ["linear", "catmull-rom", "cubic", "squad"])
def test_resampled_at_its_own_times_a_clip_is_itself(kind: str) -> None:
    for clip in (flying(), recorded()):
        same_motion(clip.resample(times=clip.times, kind=kind), clip, 1e-10)


def test_resampling_to_a_quarter_of_the_rate_takes_every_fourth_frame() -> None:
    clip = lw.interpolate(ARM, [(0, [0, 0]), (2, [1, 2])], fps=120)
    assert_allclose(clip.resample(fps=30).poses, clip.poses[::4], atol=1e-9)


def test_resampling_keeps_limits_that_were_kept() -> None:
    arm = lw.models.panda()
    keys = [arm.lower, arm.upper, arm.upper, arm.lower]
    clip = lw.interpolate(arm, list(enumerate(keys)), fps=2, kind="linear")
    fine = clip.resample(fps=50, kind="cubic")
    assert ((fine.poses >= arm.lower) & (fine.poses <= arm.upper)).all()


def test_there_is_no_pose_outside_a_clip() -> None:
    assert_allclose(CLIP.at([[0.0, 2.0]])[0], CLIP.poses[[0, -1]])
    for time in (-0.1, 2.1, np.nan):
        with pytest.raises(KeyFrameError, match="lasts from 0 to 2 s"):
            CLIP.at(time)


def test_backwards_twice_is_forwards() -> None:
    assert_allclose(CLIP.reverse().reverse().times, CLIP.times, atol=1e-12)
    assert_array_equal(CLIP.reverse().poses, CLIP.poses[::-1])


def test_twice_the_speed_is_twice_the_velocity() -> None:
    fast = CLIP.retime(speed=2.0, start=5.0)
    assert (fast.times[0], fast.duration) == (5.0, 1.0)
    assert_allclose(fast.velocities, 2.0 * CLIP.velocities, atol=1e-9)
    assert CLIP.retime(duration=7.0).duration == pytest.approx(7.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: CLIP.resample(),
        lambda: CLIP.resample(fps=24, times=[0]),
        lambda: CLIP.resample(fps=0),
        lambda: CLIP.resample(times=[1, 0]),
        lambda: CLIP.resample(times=[]),
        lambda: CLIP.resample(fps=24, kind="quintic"),
        lambda: CLIP.retime(speed=0),
        lambda: CLIP.retime(speed=1, duration=1),
        lambda: lw.Clip(ARM, [0], [[0, 0]]).retime(duration=1),
        lambda: lw.Clip(ARM, [0], [[0, 0]]).velocities,
        lambda: CLIP.concatenate(CLIP, fade=-1),
        lambda: CLIP.concatenate(CLIP, fade=3),
        lambda: CLIP.concatenate("clip"),
        lambda: CLIP.blend(CLIP, 1.5),
        lambda: CLIP.blend(CLIP, [0.1, 0.2]),
        lambda: CLIP.blend(CLIP[0:1], 0.5),
        lambda: CLIP.loop(fade=0),
        lambda: CLIP.loop(fade=1.5),
        lambda: CLIP.loop(fade=0.1, cycles=0),
        lambda: CLIP.loop(fade=0.1, cycles=10**9),
        lambda: CLIP.resample(fps=1e12),
        lambda: lw.interpolate(ARM, None),
        lambda: CLIP.offset(position=(1, 0)),
        lambda: flying().offset(position=(1, np.nan)),
        lambda: CLIP.concatenate(CLIP, align=True),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call) -> None:
    with pytest.raises(LinkworkError):
        call()


# Joining and blending


def test_one_clip_after_another() -> None:
    both = CLIP.concatenate(CLIP, CLIP)
    assert len(both) == 3 * len(CLIP)
    assert_allclose(np.diff(both.times), 1 / 24, atol=1e-12)
    assert_array_equal(both.poses[len(CLIP) : 2 * len(CLIP)], CLIP.poses)


def test_a_cross_fade_begins_and_ends_in_its_clips_and_makes_no_jump() -> None:
    one, two = flying(seed=1), flying(seed=2)
    both = one.concatenate(two, fade=1.0)
    assert both.duration == pytest.approx(one.duration + two.duration - 1.0)
    same_motion(both[:3.0], one[:3.0])
    same_motion(both[4.0:], two[1.0:].resample(times=two[1.0:].times), 1e-9)
    assert np.abs(both.linkage.difference(both.poses[:-1], both.poses[1:])).max() < 1.0
    assert steady(both)


def test_aligned_the_second_walk_begins_where_the_first_has_come_to() -> None:
    walk = recorded()
    root = walk.linkage.links[0]
    step = np.linalg.norm(np.diff(walk.forward(frame=root)[:, :2, 3], axis=0), axis=1).max()
    apart = walk.concatenate(walk, fade=0.25).forward(frame=root)[:, :2, 3]
    joined = walk.concatenate(walk, fade=0.25, align=True).forward(frame=root)[:, :2, 3]
    assert np.linalg.norm(np.diff(joined, axis=0), axis=1).max() < 1.5 * step
    assert np.linalg.norm(joined[-1] - joined[0]) > 1.7 * np.linalg.norm(apart[-1] - apart[0])


def test_blending_goes_from_one_clip_to_the_other() -> None:
    one, two = flying(seed=1), flying(seed=2)
    same_motion(one.blend(two, 0.0), one)
    same_motion(one.blend(two, 1.0), two)
    curve = one.blend(two, lambda t: t / 4.0)
    same_motion(one.blend(two, (one.times / 4.0).tolist()), curve)
    assert_allclose(curve.forward().array[[0, -1]], [one.forward().array[0], two.forward().array[-1]], atol=1e-12)
    middle = one.linkage.interpolate(one.poses[0], two.poses[0], 0.5)
    assert_allclose(one.linkage.forward(middle).array, one.blend(two, 0.5).forward().array[0], atol=1e-12)
    assert steady(curve)


def test_motions_that_come_to_be_half_a_turn_apart_are_blended_without_a_jump() -> None:
    linkage = lw.Builder("top").ball("joint", "body").build()
    times = np.linspace(0.0, 1.0, 101)
    turns = [Rotation.from_rotvec(np.outer(times * angle, (0.6, 0.0, 0.8))) for angle in (-2.5, 2.5)]  # 5 rad apart
    one, two = (lw.Clip(linkage, times, turn.as_quat(scalar_first=True)) for turn in turns)
    half = one.blend(two, 0.5)
    assert_allclose(half.forward(frame="body"), np.broadcast_to(np.eye(4), (101, 4, 4)), atol=1e-12)


def test_a_clip_of_another_length_is_stretched_to_blend() -> None:
    slow = CLIP.retime(duration=3.0)
    same_motion(CLIP.blend(slow, 0.7, stretch=True), CLIP, 1e-9)


def test_clips_of_other_linkages_do_not_mix() -> None:
    other = lw.models.planar([3, 1])
    clip = lw.Clip(other, CLIP.times, CLIP.poses)
    with pytest.raises(LinkageError, match="joint 'j2' has another place or axis"):
        CLIP.blend(clip, 0.5)
    with pytest.raises(LinkageError, match=r"only the second has .*Retarget"):
        CLIP.concatenate(lw.models.motion("panda"))
    twin = lw.models.planar([2, 1])  # an equal linkage, built again
    same_motion(CLIP.blend(lw.Clip(twin, CLIP.times, CLIP.poses), 0.5), CLIP)


@pytest.mark.parametrize("joint", JOINTS)
def test_motions_of_every_joint_can_be_resampled_and_blended(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    poses = linkage.random_pose(1, 6) if linkage.nq else np.zeros((6, 0))
    clip = lw.Clip(linkage, np.arange(6) / 10.0, poses)
    same_motion(clip.blend(clip, 0.5), clip, 1e-9)
    same_motion(clip.resample(fps=20.0, kind="squad").resample(fps=10.0), clip, 1e-9)
    same_motion(clip.concatenate(clip, fade=0.2)[:0.3], clip[:0.3], 1e-9)


# Loops


def test_a_loop_ends_in_the_pose_and_with_the_velocity_it_begins_with() -> None:
    for clip in (flying(200), CLIP.resample(fps=200)):
        loop = clip.loop(fade=0.5, travel=False)
        assert_allclose(clip.linkage.difference(loop.poses[0], loop.poses[-1]), 0.0, atol=1e-12)
        assert loop.duration == pytest.approx(clip.duration - 0.5)
        twice = clip.loop(fade=0.5, travel=False, cycles=2)
        seam = len(loop) - 1
        level = np.abs(twice.accelerations).max(axis=1)
        assert level[seam - 1 : seam + 2].max() < 1.5 * level.max(
            where=np.abs(np.arange(len(level)) - seam) > 3, initial=0
        )


def test_a_walk_that_is_looped_walks_on() -> None:
    walk = recorded()
    loop, many = walk.loop(fade=0.3), walk.loop(fade=0.3, cycles=3)
    assert len(many) == 3 * (len(loop) - 1) + 1
    root = walk.linkage.links[0]
    path, paths = loop.forward(frame=root), many.forward(frame=root)
    once = np.linalg.norm(path[-1, :2, 3] - path[0, :2, 3])
    assert np.linalg.norm(paths[-1, :2, 3] - paths[0, :2, 3]) > 2.5 * once > 1.0
    inner = walk.linkage.nq - 6  # everything but the root
    steps = np.abs(np.diff(many.poses[:, -inner:], axis=0)).max(axis=1)
    assert steps.max() <= 1.5 * np.abs(np.diff(walk.poses[:, -inner:], axis=0)).max()
    assert_allclose(many.poses[len(loop) - 1, -inner:], loop.poses[0, -inner:], atol=1e-9)


# Moving


def test_an_offset_moves_every_frame_by_the_same_transform() -> None:
    world = np.eye(4)
    world[:3, :3] = Rotation.from_euler("z", 1.2).as_matrix()
    world[:3, 3] = (1.0, -2.0, 0.5)
    for clip in (flying(), recorded(), recorded("run")):
        moved = clip.offset(position=(1, -2, 0.5), turn=1.2)
        assert_allclose(moved.forward().array, world @ clip.forward().array, atol=1e-9)
        assert steady(moved)


def test_a_root_that_slides_in_a_plane_is_moved_within_it() -> None:
    cart = lw.Linkage([lw.Link("cart")], root="planar", name="cart")
    clip = lw.interpolate(cart, [(0, [0, 0, 0]), (1, [1, 2, 3]), (2, [0, 1, 7])], fps=24)
    moved = clip.offset(position=(1, 2), turn="90deg")
    assert_allclose(moved.poses[:, 0], 1.0 - clip.poses[:, 1], atol=1e-12)
    assert_allclose(np.diff(moved.poses[:, 2]), np.diff(clip.poses[:, 2]), atol=1e-12)
    with pytest.raises(LinkageError, match="cannot leave it"):
        clip.offset(position=(0, 0, 1))


def test_what_stands_fast_has_no_path_to_move() -> None:
    with pytest.raises(LinkageError, match="load it with root='floating'"):
        CLIP.offset(turn="90deg")


# Rates


def test_rates_of_a_polynomial_are_its_derivatives() -> None:
    times = np.cumsum(np.random.default_rng(0).uniform(0.02, 0.05, 60))
    clip = lw.Clip(ARM, times, np.stack([times**4 - times, 2.0 * times**2], axis=1))
    assert_allclose(clip.velocities, np.stack([4 * times**3 - 1, 4 * times], axis=1), atol=1e-8)
    assert_allclose(clip.accelerations, np.stack([12 * times**2, 4 + 0 * times], axis=1), atol=1e-6)
    assert_allclose(clip.jerk, np.stack([24 * times, 0 * times], axis=1), atol=1e-4)


def test_rates_of_two_turns_at_once_are_those_of_the_closed_form() -> None:
    """R(t) = Rz(a t) Rx(b t) has the velocity (b, a sin bt, a cos bt) along its own axes."""
    linkage = lw.Builder("top").ball("joint", "body").build()
    a, b, times = 1.3, 2.1, np.arange(400) / 200.0
    turns = Rotation.from_rotvec(np.outer(a * times, (0, 0, 1))) * Rotation.from_rotvec(np.outer(b * times, (1, 0, 0)))
    values = turns.as_quat(scalar_first=True) * np.where(np.arange(400) % 2, 1.0, -1.0)[:, None]  # either sign
    clip = lw.Clip(linkage, times, values)
    sine, cosine, none = np.sin(b * times), np.cos(b * times), 0.0 * times
    assert_allclose(clip.velocities, np.stack([b + none, a * sine, a * cosine], axis=1), atol=1e-7)
    assert_allclose(clip.accelerations, a * b * np.stack([none, cosine, -sine], axis=1), atol=1e-5)
    assert_allclose(clip.jerk, -a * b * b * np.stack([none, sine, cosine], axis=1), atol=1e-3)


def test_rates_of_a_wheel_do_not_notice_that_its_angle_wraps() -> None:
    wheel = lw.Builder("w").continuous("wheel", "rim").build()
    times = np.arange(100) / 24.0
    clip = lw.Clip(wheel, times, (5.0 * times[:, None] + np.pi) % (2.0 * np.pi) - np.pi)
    assert_allclose(clip.velocities, 5.0, atol=1e-9)
    assert_allclose(clip.accelerations, 0.0, atol=1e-7)
