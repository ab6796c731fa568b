"""Copies of poses by whole turns: all within limits, each once, nearest first, compared with brute force."""

from __future__ import annotations

import itertools
from math import inf, pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwork.errors import OptionError
from linkwork.linkage.whole_turns import turned_copies

LOWER, UPPER = np.array([-7.0, -inf, -0.5, -20.0]), np.array([7.0, inf, 12.0, 20.0])
TURNING = np.array([True, True, True, False])


def by_trial(pose: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the copies of a pose within limits; the second joint has no limits, so only its nearest value counts."""
    turns = [2 * pi * np.array(shift) for shift in itertools.product(range(-9, 10), [0], range(-9, 10), [0])]
    copies = pose + turns
    copies[:, 1] += 2 * pi * np.round((start[1] - copies[:, 1]) / (2 * pi))
    return copies[((copies >= LOWER) & (copies <= UPPER)).all(axis=1)]


@pytest.mark.parametrize("most", [None, 1, 3])
def test_copies_are_those_that_trying_finds_nearest_first(most: int | None) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        poses, start = rng.uniform(-9, 9, (3, 4)), rng.uniform(-9, 9, 4)
        copies, which = turned_copies(poses, LOWER, UPPER, TURNING, start, most)
        tried = [by_trial(pose, start) for pose in poses]
        known, owners = np.concatenate(tried), np.repeat(np.arange(3), [len(part) for part in tried])
        order = np.argsort(np.linalg.norm(known - start, axis=1))[:most]
        assert_allclose(copies, known[order], atol=1e-12)
        assert which.tolist() == owners[order].tolist()


def test_a_copy_on_a_limit_is_within_it() -> None:
    bounds = np.array([-2 * pi]), np.array([2 * pi])
    copies, _ = turned_copies(np.array([[1e-12]]), *bounds, np.array([True]), np.array([0.0]))
    assert copies.ravel().tolist() == [1e-12, -2 * pi + 1e-12, 2 * pi]


@pytest.mark.parametrize(("low", "high", "copy"), [(5.0, inf, 1 + 2 * pi), (-inf, -3.0, 1 - 2 * pi)])
def test_a_joint_with_one_limit_has_its_nearest_copy(low: float, high: float, copy: float) -> None:
    copies, _ = turned_copies(np.array([[1.0]]), np.array([low]), np.array([high]), np.array([True]), np.zeros(1))
    assert_allclose(copies, [[copy]])


def test_copies_beyond_counting_are_refused_unless_a_number_is_said() -> None:
    wide = np.full(6, 1000.0), np.ones(6, bool), np.zeros(6)
    with pytest.raises(OptionError, match="most="):
        turned_copies(np.zeros((1, 6)), -wide[0], *wide)
    copies, _ = turned_copies(np.zeros((1, 6)), -wide[0], *wide, most=5)
    assert_allclose(np.linalg.norm(copies, axis=1), [0, *[2 * pi] * 4])
