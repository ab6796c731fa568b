"""Motions without self-collisions: a hand that passes through a thigh, and the remarks about it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import linkwork as lw
from coal_judge import coal_distance, coal_links
from command_line import run
from linkwork.retargeting import retarget_with_report
from linkwork.retargeting.apart import shaken
from linkwork.retargeting.measures import measure
from linkwork.retargeting.report import SHAKEN

FRAMES = 41


@pytest.fixture(scope="module")
def through() -> lw.Clip:
    """A sitting body whose left hand moves straight through its thigh, from outside to inside."""
    body = lw.models.human(root="floating")
    start = body.stored_pose("sit")
    hip, knee = (body.forward(start, frame=link)[:3, 3] for link in ("left_thigh", "left_shin"))
    middle = 0.35 * hip + 0.65 * knee
    feet = [lw.Hold(foot).resolve(body, start) for foot in ("left_foot", "right_foot", "pelvis")]
    poses, q = [], start
    for aside in np.linspace(0.16, -0.16, FRAMES):
        q = lw.solve(body, [*feet, lw.Reach("left_hand", position=middle + np.array([0.0, aside, 0.0]))], start=q).q
        poses.append(q)
    return lw.Clip(body, np.linspace(0.0, 1.0, FRAMES), np.array(poses))


def test_a_hand_that_goes_through_a_thigh_is_led_around_it_without_a_jump(through):
    avoid = lw.Avoid(margin=0.005)
    assert avoid.clearance(through.linkage, through.poses).min() < -0.02
    made = retarget_with_report(through, lw.models.human(height=1.7, root="floating"), avoid=avoid)
    assert avoid.clearance(made.clip.linkage, made.clip.poses).min() > avoid.margin - 1e-4
    assert np.abs(np.diff(made.clip.poses[:, 7:], axis=0)).max() < 0.1
    assert "jump" not in " ".join(made.remarks)


@pytest.fixture(scope="module", params=["clap", "punch"])
def blow(request) -> lw.Clip:
    """A body whose hands clap through each other, or whose fist passes through its trunk, at 30 frames per second."""
    body = lw.models.human(root="floating")
    start = body.stored_pose("stand")
    chest = body.forward(start, frame="chest")[:3, 3]
    still = [lw.Hold(link).resolve(body, start) for link in ("left_foot", "right_foot", "pelvis", "chest")]
    poses, q = [], start
    for share in np.sin(np.linspace(0.0, 2.0 * np.pi, 31)):
        if request.param == "clap":
            palms = {side: (0.35, sign * (0.15 - 0.3 * abs(share)), 0.1) for side, sign in (("left", 1), ("right", -1))}
        else:
            palms = {"right": (0.05, -0.05 + 0.3 * share, -0.05), "left": (0.25, 0.35, -0.3)}
        hands = [lw.Reach(f"{side}_palm", position=chest + np.array(at)) for side, at in palms.items()]
        q = lw.solve(body, [*still, *hands], start=q).q
        poses.append(q)
    return lw.Clip(body, np.arange(31) / 30.0, np.array(poses))


def depth_of_hands(clip: lw.Clip) -> float:
    """Return the largest depth of a hand or forearm in the rest of the body [m], by coal, also between frames."""
    shapes = coal_links(clip.linkage)
    arms = {side: [f"{side}_{part}" for part in ("forearm", "wrist", "palm", "fingers")] for side in ("left", "right")}
    pairs = [
        (hand, link)
        for side, hands in arms.items()
        for hand in hands
        for link in shapes
        if shapes[link] and link not in (*hands, f"{side}_upper_arm", f"{side}_clavicle")
    ]
    times = np.linspace(clip.times[0], clip.times[-1], 3 * (len(clip) - 1) + 1)
    world = clip.linkage.forward(clip.at(times))
    return max(
        -coal_distance(shapes[a], shapes[b], world[a][k], world[b][k]) for k in range(len(times)) for a, b in pairs
    )


def test_hands_that_clap_and_punch_stay_out_of_the_body_by_coal(blow, tmp_path):
    pytest.importorskip("coal")
    target = lw.models.human(height=1.6, root="floating")
    depths = []
    for avoid in (None, lw.Avoid(margin=0.005)):
        made = retarget_with_report(blow, target, avoid=avoid)
        made.clip.save(tmp_path / "made.npz")
        depths.append(depth_of_hands(lw.load_clip(tmp_path / "made.npz")))
    assert depths[0] > 0.02
    assert depths[1] <= 0.0
    assert made.report.slide < 0.002


@pytest.mark.parametrize("height", [1.4, 1.7])
def test_what_still_overlaps_between_frames_is_little_and_said(blow, height):
    pytest.importorskip("coal")
    made = retarget_with_report(blow, lw.models.human(height=height, root="floating"), avoid=lw.Avoid(margin=0.005))
    deep = depth_of_hands(made.clip)
    assert deep < 0.01
    assert deep <= 0.0 or any("overlap between" in remark for remark in made.remarks)


def test_a_motion_that_keeps_clear_as_smoothly_as_its_source_has_no_remark():
    wave = lw.models.motion("human:floating")
    made = retarget_with_report(wave, lw.models.human(height=1.2, root="floating"), avoid=lw.Avoid(margin=0.0))
    assert made.remarks == ()


def test_jumps_are_told_from_quick_steps():
    arm = lw.models.planar([1.0])
    times, even = np.linspace(0.0, 1.0, 21), np.linspace(0.0, 6.0, 21)
    assert shaken(lw.Clip(arm, times, even[:, None]), 1.0) == ()
    leap = shaken(lw.Clip(arm, times, (even + 0.5 * (times > 0.52))[:, None]), 1.0)
    assert "1 jump of a joint, at most by 0.8 rad or m, from frame 10 to 11" in leap[0]
    assert shaken(lw.Clip(arm, times[:1], even[:1, None]), 1.0) == ()
    assert "3.1 times the source's jerk" in shaken(lw.Clip(arm, times, even[:, None]), 3.14)[0]


def test_the_command_line_avoids(tmp_path):
    words = ("retarget", "human:floating", "--to", "human:1.2", "--range", "0:10", "--json", "-o", tmp_path / "x.npz")
    for more in (("--avoid",), ("--margin", "5mm")):
        done = run(*words, *more)
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["remarks"] == []
    told = run(*words, "--avoid", "--margin", "20cm")
    assert re.search(r"\d+ of 11 frames do not keep the margin", json.loads(told.stdout)["remarks"][0])
    assert "--no-self leaves nothing" in run(*words, "--avoid", "--no-self").stderr


def test_a_motion_with_more_jerk_than_its_source_is_called_poor():
    """Noise of a millimetre and more between frames, as from a solver that fails."""
    wave = lw.models.motion("human:floating")
    made = retarget_with_report(wave, lw.models.human(height=1.2, root="floating"))
    assert made.report.jerk < SHAKEN
    assert not any("jerk" in words for words in made.report.wrong())
    rng, shaky = np.random.default_rng(0), made.clip.poses.copy()
    shaky[:, :3] += rng.normal(0.0, 2e-3, (len(shaky), 3))
    report = measure(made.plan, lw.Clip(made.clip.linkage, made.clip.times, shaky))
    assert report.jerk > SHAKEN
    assert f"it has {report.jerk:.2g} times the source's jerk" in report.wrong()
    assert "poor: it has" in str(report)
