"""Tracks with `avoid`, checked between frames too: passing through a thin wall is reported."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import linkwork as lw

ARM = lw.models.planar([1.0, 0.8])
WALL = lw.World([lw.Obstacle(lw.Box((0.002, 0.2, 0.4)), (0.0, 1.6, 0.0), "wall")])
AVOID = lw.Avoid(WALL, self=False, margin=0.0005)


def turned(angles: np.ndarray) -> list[lw.Reach]:
    """Goals on a circle around the first joint, for a slightly bent arm."""
    tips = ARM.forward(np.stack([angles, np.full_like(angles, 0.5)], axis=1), frame="tip")[:, :2, 3]
    return [lw.Reach("tip", position=tip) for tip in tips]


def test_a_wall_between_two_frames_is_found_and_said(caplog: pytest.LogCaptureFixture) -> None:
    coarse = turned(np.linspace(0.9, 1.9, 6))  # the wall is between two of them
    with caplog.at_level(logging.WARNING, "linkwork"):
        clip = lw.track(ARM, coarse, start=[0.9, 0.5], avoid=AVOID)
    alone = lw.clearance(ARM, clip.poses, WALL, self=False).distance
    assert (alone >= 0.0).all()  # no frame touches it
    assert clip.residuals[:, -1].max() > AVOID.margin
    (said,) = caplog.messages
    assert "on the way to the next: at worst" in said
    assert "'wall'" in said


def test_a_way_that_is_clear_is_left_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "linkwork"):
        clip = lw.track(ARM, turned(np.linspace(0.2, 0.9, 8)), start=[0.2, 0.5], avoid=AVOID)
    assert clip.residuals.max() < 1e-3
    assert not caplog.messages
