"""Long motions are resampled, layered and put on the spot in blocks, also with frames in files: same results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.models.exercises import EXERCISES
from linkwork.motion import blending, frame_files, root_motion, sample_blocks
from linkwork.motion.splines import KINDS, sample, unwound

HUMAN = lw.models.human(root="floating")


@pytest.fixture
def in_blocks(monkeypatch, tmp_path):
    """Use blocks of 23 frames, and store frames in files."""

    def now():
        for module in (sample_blocks, blending, root_motion):
            monkeypatch.setattr(module, "BLOCK", 23)
        monkeypatch.setattr(frame_files, "SPILL", 100)
        return frame_files.frames_in(tmp_path)

    return now


def exercised() -> lw.Clip:
    parts = [EXERCISES[name](HUMAN) for name in ("walk", "squat", "wave")]
    return parts[0].concatenate(*parts[1:], fade=0.2, align=True)


def turning(root: str) -> lw.Clip:
    """Return a body that turns around several times and flips the signs of its quaternions now and then."""
    body = lw.models.human(root=root)
    rng, count = np.random.default_rng(3), 150
    poses = np.repeat(body.neutral()[None], count, axis=0)
    poses[:, 0] = np.linspace(0.0, 3.0, count)
    angle = np.linspace(0.0, 25.0, count)
    if root == "planar":
        poses[:, 2] = (angle + np.pi) % (2.0 * np.pi) - np.pi
    else:
        poses[:, 3:7] = np.column_stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)])
        poses[:, 3:7] *= rng.choice([-1.0, 1.0], (count, 1))
    return lw.Clip(body, np.cumsum(rng.uniform(0.02, 0.05, count)), poses)


def spinning() -> lw.Clip:
    """Return an arm without limits whose angles make full turns."""
    arm, rng = lw.models.planar([1, 1, 1]), np.random.default_rng(1)
    return lw.Clip(arm, np.arange(200) / 24.0, np.cumsum(rng.uniform(-1.0, 3.5, (200, 3)), axis=0) % (2.0 * np.pi))


MOTIONS = {"body": exercised, "planar": lambda: turning("planar"), "floating": lambda: turning("floating")}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "cubic"])
@pytest.mark.parametrize("motion", [*MOTIONS, "spinning"])
def test_a_motion_is_resampled_in_blocks_as_at_once(motion, kind, in_blocks):
    clip = (MOTIONS | {"spinning": spinning})[motion]()
    times = np.linspace(clip.times[0], clip.times[-1], 331)
    expected = clip.at(times, kind=kind)
    with in_blocks():
        found = clip.resample(times=times, kind=kind)
    assert frame_files.is_in_file(found.poses)
    np.testing.assert_allclose(found.poses, expected, rtol=0.0, atol=1e-12)


def test_poses_go_the_short_way_in_stretches_as_at_once(monkeypatch):
    monkeypatch.setattr(sample_blocks, "BLOCK", 7)
    clip = spinning()
    turns, expected = sample_blocks.Turns(clip.linkage, clip.poses), unwound(clip.linkage, clip.poses)
    for first, stop in ((0, 1), (0, 9), (3, 40), (90, 95), (95, 200)):
        np.testing.assert_array_equal(turns.unwound(first, stop), expected[first:stop])
    kept = np.array([0, 3, 4, 5, 90, 91, 199])
    some = sample_blocks.Turns(clip.linkage, clip.poses, kept)
    np.testing.assert_array_equal(some.unwound(2, 7), unwound(clip.linkage, clip.poses[kept])[2:7])


def test_limits_are_kept_in_blocks(in_blocks):
    arm = lw.models.panda()
    poses = np.tile([arm.lower, arm.lower, arm.upper, arm.upper], (30, 1))
    clip = lw.Clip(arm, np.arange(120.0), poses)
    times = np.linspace(0.0, 119.0, 800)
    free = sample(arm, clip.times, clip.poses, times, kind="catmull-rom")
    assert (free > arm.upper).any()
    with in_blocks():
        found = clip.resample(times=times)
    assert ((found.poses >= arm.lower) & (found.poses <= arm.upper)).all()
    np.testing.assert_allclose(found.poses, np.clip(free, arm.lower, arm.upper), atol=1e-12)


@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("motion", ["floating", "planar", "spinning"])
def test_a_motion_is_laid_over_another_in_blocks_as_at_once(motion, additive, in_blocks):
    base = (MOTIONS | {"spinning": spinning})[motion]()
    over = replace(base.reverse(), times=base.times - base.times[0])
    options = {"joints": base.joints, "fade": 0.3, "weight": 0.7, "additive": additive}
    expected = lw.layer(base, over, **options)
    with in_blocks():
        found = lw.layer(base, over, **options)
    assert frame_files.is_in_file(found.poses)
    np.testing.assert_allclose(found.poses, expected.poses, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_motion_is_put_on_the_spot_in_blocks_as_at_once(motion, in_blocks):
    clip = MOTIONS[motion]()
    expected = clip.in_place()
    with in_blocks():
        found = clip.in_place()
    assert frame_files.is_in_file(found.poses)
    np.testing.assert_allclose(found.poses, expected.poses, rtol=0.0, atol=1e-12)


def test_a_root_with_euler_angles_is_put_on_the_spot_in_blocks_as_at_once(in_blocks, tmp_path):
    clip = turning("floating")
    clip.resample(fps=30).save(tmp_path / "a.bvh")
    clip = lw.load_clip(tmp_path / "a.bvh")
    assert clip.linkage.root.articulation.euler
    expected = clip.in_place()
    with in_blocks():
        found = clip.in_place()
    np.testing.assert_allclose(found.poses, expected.poses, rtol=0.0, atol=1e-12)
