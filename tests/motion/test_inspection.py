"""The continuity report: every kind of fault, added to a clean motion, is found in its frames and repaired."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from captures import recorded
from linkages import JOINTS, one_joint
from linkwork.errors import FrameNotFoundError, GoalError, LinkworkError
from linkwork.motion.checks import runs
from linkwork.motion.repairs import chain_end


def only(report: lw.Report, *kinds: str) -> None:
    assert {finding.kind for finding in report.findings} == set(kinds), str(report)


def with_values(clip: lw.Clip, poses: np.ndarray) -> lw.Clip:
    return lw.Clip(clip.linkage, clip.times, poses)


def column(clip: lw.Clip, name: str) -> int:
    return clip.linkage.coordinate_index[name]


def circle(frames: int = 60) -> list[lw.Reach]:
    turns = np.linspace(0.0, 2.0 * np.pi, frames)
    return [lw.Reach("tip", position=(14 + 4 * np.cos(a), 8 + 4 * np.sin(a))) for a in turns]


TWO = lw.models.planar([15, 10])
ROUND = lw.track(TWO, circle(), start=[0.1, 0.9], tolerance=1e-8)


def standing(drift: float = 0.0, sink: float = 0.0) -> lw.Clip:
    """Return a floating body that stands for two seconds and moves its arms; optionally it slides along x, or sinks."""
    human = lw.models.human(root="floating")
    keys = [(0, human.pose(base="stand")), (1, human.pose(base="wave")), (2, human.pose(base="stand"))]
    clip = lw.interpolate(human, keys, fps=30, kind="ease")
    poses, x, z = clip.poses.copy(), human.coordinate_index["root.x"], human.coordinate_index["root.z"]
    legs = [k for k, name in enumerate(human.coordinates) if "knee" in name or "hip" in name or "ankle" in name]
    poses[:, legs] = poses[0, legs]
    poses[:, x] = drift * clip.times
    poses[:, z] = poses[0, z] - sink * np.sin(np.pi * clip.times / 2.0) ** 2
    return lw.Clip(human, clip.times, poses)


# Clean motions


@pytest.mark.parametrize("name", ["walk", "worm", "head"])
def test_nothing_is_wrong_with_a_clean_recording(name: str) -> None:
    report = recorded(name).report()
    assert report.ok, str(report)
    assert "nothing wrong" in str(report)


@pytest.mark.parametrize("model", ["human", "panda", "snake:9", "ur5", "quadruped", "planets", "engine"])
def test_nothing_is_wrong_with_the_motions_of_models(model: str) -> None:
    report = lw.models.motion(model).report()
    assert report.ok, str(report)


def test_a_standing_figure_and_a_tracked_circle_are_clean() -> None:
    assert standing().report(ground=None).ok
    assert ROUND.report(goals=circle()).ok
    assert sum(ROUND.report().counts.values()) == 0


# Faults


def test_a_spike_is_found_and_bridged() -> None:
    clip = recorded()
    poses, k = clip.poses.copy(), column(clip, "LeftArm.rx")
    poses[50, k] += 0.6
    report = with_values(clip, poses).report()
    only(report, "spike")
    (found,) = report.findings
    assert (found.first, found.last, found.where) == (50, 50, "LeftArm")
    assert found.amount == pytest.approx(0.6 * clip.fps, rel=0.2)
    repair = lw.repair(with_values(clip, poses))
    assert repair.after.ok
    assert np.abs(repair.clip.poses[50] - clip.poses[50]).max() < 0.05
    untouched = np.arange(len(clip)) != 50
    assert_allclose(repair.clip.poses[untouched], clip.poses[untouched], atol=1e-12)


def test_other_numbers_of_the_same_rotation_are_found_and_unwound() -> None:
    clip = recorded()
    poses, k = clip.poses.copy(), column(clip, "LeftArm.rz")
    first, middle, last = poses[40:70, k : k + 3].T
    poses[40:70, k : k + 3] = np.stack([first + np.pi, np.pi - middle, last - np.pi], axis=1)
    broken = with_values(clip, poses)
    assert_allclose(broken.forward().array, clip.forward().array, atol=1e-9)
    report = broken.report()
    only(report, "flip")
    assert {(f.first, f.last) for f in report.findings} == {(39, 40), (69, 70)}
    assert all(f.where == "LeftArm" and "same rotation" in f.text for f in report.findings)
    repair = lw.repair(broken)
    assert repair.after.ok
    assert "unwound" in repair.done[0]
    assert_allclose(repair.clip.poses, clip.poses, atol=1e-9)


def test_a_quaternion_that_changes_its_sign_is_found_and_unwound() -> None:
    linkage = lw.Builder("b").ball("neck", "head").build()
    clip = lw.interpolate(linkage, list(enumerate(linkage.random_pose(0, 4))), fps=30)
    poses = clip.poses.copy()
    poses[20:] *= -1.0
    report = with_values(clip, poses).report()
    only(report, "flip")
    assert report.findings[0].first == 19
    assert_allclose(lw.repair(with_values(clip, poses)).clip.poses, clip.poses)


def test_a_jump_to_another_branch_is_found_and_solved_anew() -> None:
    poses, goals = ROUND.poses.copy(), circle()
    for k in range(20, 40):
        poses[k] = max(lw.solve_all(TWO, goals[k]).q, key=lambda q: np.abs(q - ROUND.poses[k]).sum())
    broken = with_values(ROUND, poses)
    report = broken.report(goals=goals)
    only(report, "flip")
    assert {(f.first, f.last) for f in report.findings} == {(19, 20), (39, 40)}
    assert {f.where for f in report.findings} == {"j1", "j2"}
    repair = lw.repair(broken, goals=goals)
    assert repair.after.ok
    assert any("keeps its branch" in words for words in repair.done)
    assert np.abs(np.diff(repair.clip.poses, axis=0)).max() < 0.2
    assert_allclose(repair.clip.forward(frame="tip"), ROUND.forward(frame="tip"), atol=1e-3)


def test_values_beyond_limits_are_found_and_brought_back() -> None:
    arm = lw.models.panda()
    top = arm.upper[3]
    keys = [(0, arm.stored_pose("ready")), (1, arm.pose(base="ready", panda_joint4=top + 0.1)), (2, "ready")]
    clip = lw.interpolate(arm, keys, fps=48)
    report = clip.report()
    only(report, "limit")
    (found,) = report.findings
    assert found.where == "panda_joint4"
    assert found.amount == pytest.approx(0.1)
    assert (clip.poses[found.first : found.last + 1, 3] > top).all()
    repair = lw.repair(clip)
    assert repair.after.ok, str(repair)
    assert (repair.clip.poses <= arm.upper).all()
    assert np.abs(np.diff(repair.clip.poses, 2, axis=0)).max() < 2.0 * np.abs(np.diff(clip.poses, 2, axis=0)).max()


def test_a_value_cut_off_at_its_limit_is_found_and_one_that_rests_there_is_not() -> None:
    arm = lw.models.panda()
    keys = [(0, "ready"), (1, arm.pose(base="ready", panda_joint4=arm.upper[3] + 0.3)), (2, "ready")]
    cut = lw.interpolate(arm, keys, fps=48)
    cut = with_values(cut, arm.clamp(cut.poses))
    only(cut.report(), "limit")
    assert "stuck" in cut.report().findings[0].text
    rest = [
        (0, "ready"),
        (1, arm.pose(base="ready", panda_joint4=arm.upper[3])),
        (3, arm.pose(base="ready", panda_joint4=arm.upper[3])),
    ]
    assert lw.interpolate(arm, rest, fps=240, kind="ease").report().ok


def test_a_sliding_foot_is_found_and_pinned() -> None:
    clip = standing(drift=0.06)
    report = clip.report(ground=-2.0)
    only(report, "slide")
    assert {f.where for f in report.findings} >= {"left_foot", "right_foot"}
    assert report.of("slide")[0].amount == pytest.approx(0.06, rel=0.05)
    repair = lw.repair(clip, ground=-2.0, feet=["left_foot", "right_foot"])
    assert repair.after.ok, str(repair)
    for foot in ("left_foot", "right_foot"):
        places = repair.clip.forward(frame=foot)[:, :2, 3]
        assert np.ptp(places, axis=0).max() < 1e-4
    assert "pinned" in repair.done[0]


def test_what_is_below_the_ground_is_found_and_lifted() -> None:
    level = standing().report().ground
    clip = standing(sink=0.08)
    report = clip.report(ground=level)
    only(report, "ground")
    assert max(f.amount for f in report.findings) == pytest.approx(0.08, abs=0.02)
    feet = ["left_toes", "right_toes", "left_foot", "right_foot"]
    repair = lw.repair(clip, ground=level, feet=feet)
    assert not repair.after.of("ground"), str(repair)
    assert repair.after.ok, str(repair)


def test_goals_that_are_missed_are_found_and_solved_for() -> None:
    poses, goals = ROUND.poses.copy(), circle()
    poses[25:35] += 0.02 * np.hanning(12)[1:-1, None]
    report = with_values(ROUND, poses).report(goals=goals)
    only(report, "path")
    (found,) = report.findings
    assert (found.first, found.last, found.where, found.unit) == (25, 34, "tip", "m")
    assert found.amount == pytest.approx(0.02 * 28, rel=0.5)
    repair = lw.repair(with_values(ROUND, poses), goals=goals)
    assert repair.after.ok
    assert_allclose(repair.clip.forward(frame="tip"), ROUND.forward(frame="tip"), atol=1e-5)


def test_residuals_of_a_solved_clip_are_judged_where_no_goals_are_given() -> None:
    far = lw.track(TWO, [lw.Reach("tip", position=(27 + k, 0)) for k in range(12)], start=[0.0, 0.1])
    only(far.report(), "path")
    assert far.report().findings[0].amount == pytest.approx(13.0, abs=0.1)


def test_a_first_frame_that_is_no_part_of_the_motion_is_left_out() -> None:
    clip = recorded("run")
    first = clip.report().of("spike")[0]
    assert (first.first, first.last, first.where) == (0, 1, "whole body")
    repair = lw.repair(clip)
    assert len(repair.clip) == len(clip) - 1
    assert repair.after.ok
    assert repair.clip.times[0] == clip.times[0]


@pytest.mark.parametrize("name", ["march", "dance", "run"])
def test_recordings_with_faults_are_put_right_and_stay_what_they_are(name: str) -> None:
    clip = recorded(name)
    assert not clip.report().ok
    repair = lw.repair(clip)
    assert repair.after.ok, str(repair)
    kept = clip.poses[len(clip) - len(repair.clip) :]
    here, there = repair.clip.forward().array, clip.linkage.forward(kept).array
    far = np.linalg.norm(here[..., :3, 3] - there[..., :3, 3], axis=-1).max(axis=1)
    assert np.median(far) < 0.01  # m: most frames are as they were


def test_what_cannot_be_put_right_is_said_to_remain() -> None:
    goals = [lw.Reach("tip", position=(27 + k, 0)) for k in range(12)]
    clip = lw.track(TWO, goals, start=[0.0, 0.1])
    repair = lw.repair(clip, goals=goals)
    only(repair.after, "path")
    assert "what remains: path" in str(repair)


def test_a_clean_clip_is_left_as_it_is() -> None:
    repair = lw.repair(ROUND)
    assert repair.clip is ROUND
    assert not repair.done
    assert "nothing to do" in str(repair)


# Forms and parts


def test_a_report_is_plain_data() -> None:
    clip = recorded("march")
    data = json.loads(json.dumps(clip.report().as_dict(), allow_nan=False))
    assert data["counts"]["flip"] == len([f for f in data["findings"] if f["kind"] == "flip"]) > 0
    assert set(data["findings"][0]) == {"kind", "first", "last", "where", "amount", "unit", "text"}
    assert data["frames"] == len(clip)


def test_stretches_of_frames() -> None:
    assert runs(np.array([False, True, True, False, True]), 2) == [(1, 2)]
    assert runs(np.zeros(0, np.bool_)) == []


def test_the_end_of_a_limb_is_as_far_as_it_does_not_branch() -> None:
    human = lw.models.human()
    assert chain_end(human, "left_knee") == chain_end(human, "left_hip")
    assert chain_end(TWO, "j1") == "tip"


@pytest.mark.parametrize("joint", JOINTS)
def test_motions_of_every_joint_can_be_looked_at_and_put_right(joint: str) -> None:
    linkage = one_joint(JOINTS[joint])
    poses = linkage.random_pose(0, 6) if linkage.nq else np.zeros((6, 0))
    for frames in (1, 2, 6):
        repair = lw.repair(lw.Clip(linkage, np.arange(frames) / 10.0, poses[:frames]))
        assert len(repair.after.findings) <= len(repair.before.findings)
        assert np.isfinite(repair.clip.poses).all()


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_short_clips_have_reports_too(frames: int) -> None:
    assert with_values(ROUND, ROUND.poses)[: ROUND.times[frames - 1]].report(goals=circle()[:frames]).ok


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lw.inspect("clip"), LinkworkError),
        (lambda: ROUND.report(goals=circle(5)), GoalError),
        (lambda: ROUND.report(feet="hoof"), FrameNotFoundError),
        (lambda: ROUND.report(ground="floor"), LinkworkError),
        (lambda: ROUND.report(slide=-1.0), LinkworkError),
        (lambda: ROUND.report(tolerance=0.0), LinkworkError),
        (lambda: lw.draw.report(ROUND), LinkworkError),
    ],
)
def test_wrong_questions_are_refused(call, error) -> None:
    with pytest.raises(error):
        call()


def test_the_picture_has_a_row_for_every_joint_that_something_is_wrong_with(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    report = recorded("march").report()
    page = lw.draw.report(report, path=tmp_path / "report.png")
    names = [label.get_text() for label in page.axes[0].get_yticklabels()]
    assert set(names) == {finding.where for finding in report.findings}
    assert len(page.axes) == 3  # findings, steps, feet
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")
    assert len(lw.draw.report(ROUND.report(goals=circle())).axes) == 3  # findings, steps, errors
    assert lw.draw.report(ROUND.report()).axes[0].texts[0].get_text() == "nothing wrong"


def test_what_only_holds_a_body_is_not_below_the_ground():
    """The armature of a glTF file is an empty node, the parent of the body and of fixed meshes."""
    names = ("scene", "armature", "mesh")
    joints = [lw.Joint(name, "scene", name, lw.Fixed()) for name in names[1:]]
    holder = lw.Linkage([lw.Link(name) for name in names], joints, root="floating")
    body = holder.attach(lw.models.human(), "armature", at=lw.transforms.translation([0.0, 0.0, 3.0]))
    clip = lw.Clip(body, np.arange(10) / 24.0, np.repeat(body.neutral()[None], 10, axis=0))
    floor = min(clip.forward(frame=foot)[0, 2, 3] for foot in ("left_foot", "right_foot"))
    assert clip.forward(frame="scene")[0, 2, 3] < floor - 1.0
    only(lw.inspect(clip))
    shape = lw.Visual(lw.Sphere(0.1))
    seen = body.replace(links={"armature": {"visuals": (shape,)}})  # visible shapes count
    sunk = [finding.where for finding in lw.inspect(with_linkage(clip, seen)).findings if finding.kind == "ground"]
    assert sunk == ["armature"]


def with_linkage(clip: lw.Clip, linkage: lw.Linkage) -> lw.Clip:
    return lw.Clip(linkage, clip.times, clip.poses)
