"""Long motions: blocks give the same result as a single pass, and memory never has all links of all frames."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np

import linkwork as lw
from linkwork.retargeting import finger_motion, frame_blocks, measures, rest_poses, transfer
from linkwork.retargeting.recognition import recognise

HUMAN = lw.models.human(root="floating")


def long_motion(frames):
    wave = lw.models.motion("human:floating")
    poses = np.resize(wave.poses, (frames, HUMAN.nq))
    return replace(wave, times=np.arange(frames) / 30.0, poses=poses)


def test_blocks_give_what_all_frames_at_once_give(monkeypatch):
    motion = long_motion(45)
    turned = replace(motion, poses=np.roll(motion.poses, 7, axis=0))
    skeleton = recognise(HUMAN)
    bones = [skeleton.body(role) for role in skeleton.roles]
    whole = transfer.anatomical_motion(motion, skeleton), measures._flips(bones, motion, turned)
    monkeypatch.setattr(frame_blocks.frame_blocks, "__kwdefaults__", {"overlap": 0, "block": 11})
    pieces = transfer.anatomical_motion(motion, skeleton), measures._flips(bones, motion, turned)
    assert whole[1] == pieces[1]
    for role, turns in whole[0].items():
        np.testing.assert_array_equal(turns, pieces[0][role])


def test_memory_of_a_report_does_not_hold_all_links_of_all_frames():
    """Both bodies' transforms take 128 bytes for each link and frame."""
    motion, skeleton = long_motion(20_000), recognise(HUMAN)
    bones = [skeleton.body(role) for role in skeleton.roles]
    tracemalloc.start()
    try:
        measures._flips(bones, motion, motion)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.4 * 2 * 128 * len(HUMAN.frames) * len(motion)


def test_fingers_point_the_same_block_by_block(monkeypatch):
    motion, skeleton = long_motion(45), recognise(HUMAN)
    hands = {side: hand for side in ("left", "right") if (hand := finger_motion._hand(skeleton, side)) is not None}
    assert hands
    whole = finger_motion._directions(motion, hands)
    monkeypatch.setattr(frame_blocks.frame_blocks, "__kwdefaults__", {"overlap": 0, "block": 11})
    for key, ways in finger_motion._directions(motion, hands).items():
        np.testing.assert_array_equal(ways, whole[key])


def test_a_long_motion_is_known_by_stretches_of_it(monkeypatch):
    motion = long_motion(400)
    assert rest_poses.excerpt(motion) is motion
    whole = lw.retarget(motion, lw.models.human(height=1.2, root="floating"))
    monkeypatch.setattr(rest_poses, "LONG", 160)
    some = rest_poses.excerpt(motion)
    assert len(some) == 160
    assert (np.diff(some.times) > 0.0).all()
    assert (some.times[0], some.times[-1]) == (motion.times[0], motion.times[-1])
    steps = np.round(np.diff(some.times) * 30.0)
    assert (steps == 1.0).sum() == 160 - rest_poses.STRETCHES  # consecutive frames within each
    again = lw.retarget(motion, lw.models.human(height=1.2, root="floating"))
    assert np.abs(again.poses - whole.poses).max() < 0.05
