"""Feet of blended and joined motions stay in place while they stand; contacts can be edited."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import captures
import linkwork as lw
from linkwork.motion import footing
from linkwork.motion.checks import runs
from linkwork.motion.contacts import Contact, mask_of


def slide(clip: lw.Clip, masks: dict[str, np.ndarray]) -> float:
    """Return the largest horizontal distance of standing parts from their positions [m]."""
    farthest = 0.0
    for name, mask in masks.items():
        places = clip.forward(frame=name)[:, :2, 3]
        for first, last in runs(mask):
            inside = places[first : last + 1]
            farthest = max(farthest, float(np.linalg.norm(inside - np.median(inside, axis=0), axis=1).max()))
    return farthest


@pytest.fixture(scope="module")
def walk() -> lw.Clip:
    return captures.recorded("walk")


def steps(clip: lw.Clip) -> dict[str, np.ndarray]:
    """Return when each part stands, from detected contacts."""
    found = clip.contacts()
    return {name: mask_of(found, name, clip.times) for name in {contact.frame for contact in found}}


def test_contacts_are_a_list_that_can_be_edited(walk, tmp_path):
    found = walk.contacts()
    assert {contact.frame for contact in found} >= {"LeftFoot", "RightFoot"}
    assert [contact.start for contact in found] == sorted(contact.start for contact in found)
    again = [Contact(**row) for row in json.loads(json.dumps([asdict(contact) for contact in found]))]
    assert again == found
    late = replace(found[0], start=found[0].start + 0.1)
    mask = mask_of([late], late.frame, walk.times)
    assert walk.times[mask].min() >= late.start - 1e-9
    for path in (tmp_path / "steps.yaml", tmp_path / "steps.json"):
        lw.retargeting.write_contacts(path, found)
        assert lw.retargeting.read_contacts(path) == pytest.approx(found)
    with pytest.raises(lw.LinkworkError, match="later than its start"):
        Contact("foot", 2.0, 1.0)
    (tmp_path / "bad.yaml").write_text("- {frame: foot, start: soon, end: 1}\n", encoding="utf-8")
    with pytest.raises(lw.LinkworkError, match="contact 0"):
        lw.retargeting.read_contacts(tmp_path / "bad.yaml")


def test_a_planted_foot_stays_where_it_stands(walk):
    rough = lw.Clip(walk.linkage, walk.times, walk.poses + 0.01 * np.sin(9.0 * walk.times)[:, None])
    masks = steps(walk)
    assert slide(rough, masks) > 0.005
    still = rough.plant(walk.contacts())
    assert slide(still, masks) < 1e-3
    hips = [clip.forward(frame=walk.linkage.links[0])[:, :3, 3] for clip in (rough, still)]
    assert np.linalg.norm(hips[1] - hips[0], axis=1).max() < 0.02
    assert walk.plant([]) is walk


@pytest.mark.parametrize("weight", [0.3, 0.5, 0.8])
def test_feet_do_not_slide_in_a_blend(walk, weight):
    slow = walk.retime(speed=0.8)
    wanted = footing.in_step(walk, slow)
    assert wanted is not None
    masks = footing.masks_beside(walk, slow, wanted, np.full(len(walk), weight))
    assert slide(walk.blend(slow, weight), masks) < 2e-3
    other = walk.mirror()
    plain, kept = (walk.blend(other, weight, stretch=True, feet=feet) for feet in (False, True))
    wanted = footing.in_step(walk, other)
    times = other.times if wanted is None else wanted
    masks = footing.masks_beside(walk, other, times, np.full(len(walk), weight))
    assert slide(kept, masks) < 2e-3 < slide(plain, masks)


def test_a_slower_walk_is_blended_in_step(walk):
    slow = walk.retime(speed=0.8)
    kept, plain = (walk.blend(slow, 0.5, feet=feet) for feet in (True, False))
    away = [np.abs(walk.linkage.difference(half.poses, walk.poses))[:, 6:].mean() for half in (kept, plain)]
    assert away[0] < 0.2 * away[1]  # in step, both motions agree


def test_feet_do_not_slide_where_clips_are_joined(walk):
    cut, rest = walk[: 0.6 * walk.duration], walk[0.35 * walk.duration :].retime(start=0.0)
    fade = 0.3
    plain, kept = (cut.concatenate(rest, fade=fade, align=True, feet=feet) for feet in (False, True))
    begin = cut.times[-1] - fade
    masks = footing.masks_after(cut, rest.retime(start=begin), kept.times, begin + fade / 2.0)
    near = {name: footing._between(mask, kept.times, begin - 0.1, begin + fade + 0.1) for name, mask in masks.items()}
    assert slide(kept, near) < 2e-3 < slide(plain, near)
    assert np.array_equal(kept.times, plain.times)
    far = kept.times < begin - 1.0
    assert np.array_equal(kept.poses[far], plain.poses[far])


def test_the_seam_of_a_loop_is_no_rougher_than_the_motion(walk):
    for name in ("walk", "dance"):
        clip = captures.recorded(name)
        cycle = clip.loop(fade=0.3, cycles=2)
        jerks = [
            np.linalg.norm(np.diff(one.forward().array[:, :, :3, 3], 3, axis=0), axis=-1).max(axis=1) * one.fps**3
            for one in (clip, cycle)
        ]
        middle = len(jerks[1]) // 2
        assert jerks[1][middle - 4 : middle + round(0.35 * clip.fps)].max() <= 1.05 * jerks[0].max()


def test_a_motion_in_place_keeps_height_and_heading(walk):
    still = walk.in_place()
    root = walk.linkage.links[0]
    before, after = (clip.forward(frame=root) for clip in (walk, still))
    assert np.ptp(after[:, :2, 3], axis=0).max() < 1e-9 < 0.5 < np.ptp(before[:, :2, 3], axis=0).max()
    assert np.allclose(after[:, 2, 3], before[:, 2, 3], atol=1e-12)
    assert np.allclose(after[:, :3, :3], before[:, :3, :3], atol=1e-9)
    swaying = walk.in_place(sway=True).forward(frame=root)[:, :2, 3]
    assert 0.0 < np.ptp(swaying, axis=0).max() < 0.25


def test_retargeting_takes_contacts_and_stays_in_place(walk):
    human = lw.models.human(root="floating")
    none = lw.retargeting.retarget_with_report(walk, human, contacts=[])
    assert none.report.contacts == 0
    found = walk.contacts(rules=lw.retargeting.Thresholds())
    given = lw.retargeting.retarget_with_report(walk, human, contacts=found)
    assert given.report.contacts > 0
    assert given.report.slide < 2e-3
    on_the_spot = lw.retarget(walk, human, in_place=True)
    assert np.ptp(on_the_spot.forward(frame="pelvis")[:, :2, 3], axis=0).max() < 1e-6
