"""Motions of mechanisms stay closed when they are resampled, blended and keyed."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import linkwork as lw
from linkwork.goals import closings

FOUR_BAR = lw.models.four_bar()
TURN = lw.drive(FOUR_BAR, "crank", np.linspace(0.0, 2.0 * np.pi, 25), start="start")


def gap(clip: lw.Clip) -> float:
    return max(float(np.abs(goal.error(clip.linkage, clip.poses)).max()) for goal in closings(clip.linkage))


@pytest.mark.parametrize("kind", ["linear", "cubic", "catmull-rom"])
def test_a_resampled_turn_is_closed(kind):
    finer = TURN.resample(fps=200, kind=kind)
    assert len(finer) > 150
    assert gap(finer) < 1e-9
    assert np.abs(finer.poses[:, 0] - np.interp(finer.times, TURN.times, TURN.poses[:, 0])).max() < 0.02


def test_blends_loops_and_joined_clips_are_closed():
    slow = lw.drive(FOUR_BAR, "crank", np.linspace(0.3, 0.3 + 2.0 * np.pi, 25), start="start")
    for clip in (TURN.blend(slow, 0.5), TURN.concatenate(slow, fade=0.2), TURN.loop(fade=0.2)):
        assert gap(clip) < 1e-9


def test_keys_are_joined_by_closed_poses():
    ways = [lw.close(FOUR_BAR, FOUR_BAR.pose(crank=x, base="start"), keep="crank") for x in (0.2, 0.8, 1.5)]
    clip = lw.interpolate(FOUR_BAR, list(zip((0.0, 1.0, 2.0), ways, strict=True)), fps=24)
    assert gap(clip) < 1e-9


def test_open_poses_stay_as_they_are():
    keys = [(0.0, [0.0, 0.0, 0.0]), (1.0, [1.0, 0.5, 0.2])]
    clip = lw.interpolate(FOUR_BAR, keys, fps=10, kind="linear")
    np.testing.assert_allclose(clip.poses[5], [0.5, 0.25, 0.1])


def test_what_stays_open_is_said(caplog):
    other = np.add(FOUR_BAR.stored_pose("crossed"), [np.pi, 0, 0])
    far = [TURN.poses[0], lw.close(FOUR_BAR, other, keep="crank")]
    with caplog.at_level(logging.WARNING, "linkwork"):
        clip = lw.interpolate(FOUR_BAR, [(0.0, far[0]), (1.0, far[1])], fps=24)
    assert (gap(clip) < 1e-9) != bool(caplog.records)
