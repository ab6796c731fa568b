"""Corrections start and stop smoothly; smoothing removes jitter and keeps the motion."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.motion.derivatives import jerk
from linkwork.motion.smoothing import faded, smoothed, turns_smoothed


def test_corrections_hold_inside_and_vanish_outside_smoothly():
    frames, blend = 60, 10
    mask = np.zeros(frames, bool)
    mask[20:35] = True
    values = np.linspace(0.0, 1.0, frames)[:, None] ** 2 + 0.5
    result = faded(values, mask, blend)
    assert np.array_equal(result[mask], values[mask])
    assert not result[: 20 - blend].any()
    assert not result[35 + blend :].any()
    speed = np.diff(result[:, 0])
    assert np.abs(np.diff(speed)).max() < 0.1  # no step in speed: it passes the edges as it was


def test_short_gaps_are_bridged_from_end_to_end():
    mask = np.ones(40, bool)
    mask[15:25] = False
    values = np.where(np.arange(40) < 20, 1.0, 3.0)[:, None]
    result = faded(values, mask, 12)[:, 0]
    assert (np.diff(result[14:26]) >= 0.0).all()
    assert result[14] == 1.0
    assert result[25] == 3.0
    assert 1.5 < result[19] < 2.5


def test_jerk_of_a_cubic_is_six():
    times = np.linspace(0.0, 1.0, 50)
    cubic = np.stack([times**3, 0 * times, 0 * times], axis=1)
    assert jerk(cubic, times) == pytest.approx(6.0)
    assert jerk(cubic[:3], times[:3]) == 0.0


def test_smoothing_keeps_what_is_even_and_stills_what_shakes():
    times = np.arange(200) / 120.0
    even = np.stack([times, 2.0 * times, 0 * times], axis=1)
    inside = slice(20, -20)
    assert np.allclose(smoothed(even, times, 0.01)[inside], even[inside])
    shaken = even + 0.001 * (-1.0) ** np.arange(200)[:, None]
    assert jerk(smoothed(shaken, times, 0.02)[inside], times) < 0.01 * jerk(shaken, times)
    assert smoothed(shaken, times, 0.0) is shaken


def test_smoothed_rotations_are_rotations():
    from scipy.spatial.transform import Rotation

    times = np.arange(100) / 100.0
    turning = Rotation.from_rotvec(np.stack([0 * times, 0 * times, 3.0 * times], axis=1)).as_matrix()
    result = turns_smoothed(turning, times, 0.02)
    assert np.allclose(result @ np.swapaxes(result, -1, -2), np.eye(3))
    assert np.allclose(result[10:-10], turning[10:-10], atol=1e-9)
