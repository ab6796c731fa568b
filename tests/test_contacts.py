"""Planted feet: found where they are known to be, and corrections that start and stop without a jerk."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.contacts import Thresholds, find_contacts
from linkwork.errors import OptionError
from linkwork.findings import runs
from linkwork.rates import jerk
from linkwork.retargeting.corrections import faded, smoothed, turns_smoothed


def stepping(fps: float, *, steps: int = 4, stance: float = 0.6, swing: float = 0.4) -> tuple[np.ndarray, ...]:
    """Return times, places of a foot that stands and swings in turn, and when it stands."""
    times = np.arange(round(steps * (stance + swing) * fps)) / fps
    cycle, phase = np.divmod(times + 1e-9, stance + swing)
    s = np.clip((phase - stance) / swing, 0.0, 1.0)
    ease = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
    places = np.stack([0.8 * (cycle + ease), np.zeros_like(s), 0.06 + 0.15 * np.sin(np.pi * ease) ** 2], axis=1)
    return times, places, phase < stance


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_known_contacts_are_found_to_a_few_hundredths_of_a_second(fps):
    times, places, standing = stepping(fps)
    found = find_contacts(places, times, leg=0.9)
    assert len(runs(found)) == len(runs(standing)) == 4
    late = max(2, round(0.06 * fps))
    for (a, b), (c, d) in zip(runs(found), runs(standing), strict=True):
        assert abs(a - c) <= late
        assert abs(b - d) <= late


def test_noise_does_not_make_contacts_chatter():
    times, places, standing = stepping(120.0)
    noisy = places + np.random.default_rng(0).normal(0.0, 5e-4, places.shape)
    assert len(runs(find_contacts(noisy, times, leg=0.9))) == len(runs(standing))


def test_contacts_scale_with_the_leg():
    times, places, _ = stepping(60.0)
    assert np.array_equal(find_contacts(places, times, leg=0.9), find_contacts(3.0 * places, times, leg=2.7))


def test_a_point_that_never_rests_is_never_planted():
    times = np.linspace(0.0, 2.0, 121)
    gliding = np.stack([1.5 * times, 0 * times, 0 * times], axis=1)
    assert not find_contacts(gliding, times).any()


def test_one_frame_counts_as_standing():
    assert find_contacts(np.zeros((1, 3)), np.zeros(1)).tolist() == [True]


@pytest.mark.parametrize("wrong", [{"height": 0.1, "leave_height": 0.05}, {"speed": -1.0}, {"shortest": np.nan}])
def test_thresholds_that_cannot_be_are_refused(wrong):
    with pytest.raises(OptionError):
        Thresholds(**wrong)


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
