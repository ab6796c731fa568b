"""Five motions on five bodies: the motions are correct, and the gallery shows them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.draw import gallery, performances
from linkwork.models import exercises


@pytest.fixture(scope="module")
def human():
    return lw.models.human(root="floating")


def test_the_feet_of_a_squat_stay_and_the_hips_go_down(human):
    clip = exercises.squat(human)
    frames = clip.forward()
    for name in ("left_heel", "right_ball"):
        places = frames[name][:, :3, 3]
        assert np.ptp(places, axis=0).max() < 1e-9
    assert np.ptp(frames["pelvis"][:, 2, 3]) > 0.35


def test_in_the_air_a_jump_falls_freely(human):
    clip = exercises.jump(human)
    soles = np.stack([clip.forward(frame=name)[:, 2, 3] for name in exercises.SOLES]).min(axis=0)
    flies = soles > 0.01
    assert 8 <= flies.sum() <= 12
    balls = clip.forward(frame="left_ball")[flies, 2, 3]
    assert np.diff(balls, 2)[1:-1] * 24**2 == pytest.approx(-9.81 * np.ones(flies.sum() - 4), abs=1e-6)


def test_who_walks_gets_ahead_on_feet_that_hardly_slide(human):
    clip = exercises.walk_across(human)
    assert np.ptp(clip.forward(frame="pelvis")[:, 0, 3]) > 2.0
    ball = clip.forward(frame="left_ball")[:, :3, 3]
    carrying = (ball[:-1, 2] < 0.004) & (ball[1:, 2] < 0.004)
    assert np.median(np.abs(np.diff(ball[:, 0]))[carrying]) < 0.02


def test_a_card_shows_the_bodies_side_by_side(human, monkeypatch):
    monkeypatch.setattr(performances, "EXERCISES", {"wave": lambda body: exercises.wave(body)[0.9:1.5]})
    monkeypatch.setattr(performances, "SIZE", (0.6, 0.8))
    monkeypatch.setattr(performances, "WIDE", (0.8, 0.8))
    told = []
    wave, trot = gallery.body_cards(fps=3, progress=lambda *done: told.append(done))
    assert wave.facts == "human | child | character | robot"
    with Image.open(io.BytesIO(wave.picture)) as film:
        assert film.width == 4 * 60
        assert film.n_frames == 2
    assert trot.facts == "dog"
    assert told[-1][1] == "trot"
    assert wave.section == trot.section == gallery.BODIES_SECTION
