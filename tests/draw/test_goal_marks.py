"""Drawn ranges of goals: the region in which the error of the goal is zero."""

from __future__ import annotations

import math

import numpy as np
from numpy.testing import assert_allclose

import linkwork as lw
from linkages import random_rotation
from linkwork.draw.goal_marks import SPOKE, room_lines

TURN = random_rotation(np.random.default_rng(3))
PLACE = np.array([0.4, -0.2, 0.6])


def goal(**ranges: object) -> lw.Reach:
    return lw.Reach("tip", position=PLACE, orientation=TURN, **ranges)


def test_corners_of_the_box_are_as_far_off_as_is_allowed() -> None:
    for axes in ("goal", "world"):
        wanted = goal(position_range=[0.01, (-0.02, 0.05), 0], range_axes=axes)
        lines = room_lines(wanted, 1.0)
        assert len(lines) == 4  # a rectangle
        for corner in np.concatenate(lines):
            way = np.append(PLACE - corner, np.zeros(3))
            assert_allclose(wanted.ranges.error(way, wanted.target), 0.0, atol=1e-12)
            assert np.abs(wanted.ranges.error(1.01 * way, wanted.target)).max() > 1e-5


def test_a_sector_spans_the_turns_that_are_allowed() -> None:
    (outline,) = room_lines(goal(rotation_range=[0, 0, (-0.2, 0.5)]), 2.0)
    first, last = outline[1] - PLACE, outline[-2] - PLACE
    assert_allclose(outline[[0, -1]], [PLACE, PLACE], atol=1e-12)
    assert_allclose(np.linalg.norm(first), 2.0 * SPOKE)
    assert_allclose([first @ TURN[:, 2], last @ TURN[:, 2]], 0.0, atol=1e-12)
    angles = [math.atan2(way @ TURN[:, 1], way @ TURN[:, 0]) for way in (first, last)]
    assert_allclose(angles, [-0.2, 0.5])


def test_ranges_without_end_are_drawn_as_far_as_the_picture_goes() -> None:
    (edge, circle) = room_lines(goal(position_range=[math.inf, 0, 0], rotation_range=[math.inf, 0, 0]), 3.0)
    assert_allclose(np.linalg.norm(edge - PLACE, axis=1), 3.0)
    assert_allclose(circle[1], circle[-2], atol=1e-12)


def test_nothing_is_drawn_for_a_plain_goal() -> None:
    assert room_lines(None, 1.0) == room_lines(goal(), 1.0) == []
    assert room_lines(lw.Reach("tip", orientation=TURN, rotation_range=[0.1, 0, 0]), 1.0) == []


def test_a_strip_shows_them() -> None:
    arm = lw.models.planar([15, 10, 5])
    wanted = lw.Reach("tip", position=(-20, 5), position_range=[2, 1])
    plain, ranged = (
        lw.draw.strip([arm.neutral()], linkage=arm, goal=one) for one in (lw.Reach("tip", position=(-20, 5)), wanted)
    )
    assert len(ranged.axes[0].collections) == len(plain.axes[0].collections) + 1
