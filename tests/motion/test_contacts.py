"""Contacts: found where they are known, at any frame rate, noise and size."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import OptionError
from linkwork.motion.checks import runs
from linkwork.motion.contacts import Thresholds, find_contacts


def stepping(fps: float, *, steps: int = 4, stance: float = 0.6, swing: float = 0.4) -> tuple[np.ndarray, ...]:
    """Return times, positions of a foot that alternately stands and swings, and when it stands."""
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


@pytest.mark.parametrize(
    "wrong", [{"height": 0.1, "leave_height": 0.05}, {"speed": -1.0}, {"shortest": np.nan}, {"gap": -0.1}]
)
def test_thresholds_that_cannot_be_are_refused(wrong):
    with pytest.raises(OptionError):
        Thresholds(**wrong)


def test_gaps_are_closed_only_where_the_rules_say_so():
    times, places, standing = stepping(60.0)
    places[10, 2] += 0.3  # lifted for one frame in the middle of a stance
    assert len(runs(find_contacts(places, times, leg=0.9))) == len(runs(standing))
    assert len(runs(find_contacts(places, times, leg=0.9, rules=Thresholds(gap=0.0)))) == len(runs(standing)) + 1
