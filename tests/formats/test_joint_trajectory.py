"""Joint trajectories of ROS: fields of the message definition, exact numbers, and files of other programs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

import linkwork as lw
from command_line import run
from linkwork.errors import FormatError

# Fields of trajectory_msgs/msg/JointTrajectory and of its parts, from their definitions (ROS 2 Humble to Jazzy).
FIELDS = {
    "message": ["header", "joint_names", "points"],
    "header": ["stamp", "frame_id"],
    "point": ["positions", "velocities", "accelerations", "effort", "time_from_start"],
    "time": ["sec", "nanosec"],
}
READERS = {".trajectory.yaml": yaml.safe_load, ".trajectory.json": json.loads}
both = pytest.mark.parametrize("suffix", READERS)


@pytest.fixture(scope="module")
def clip() -> lw.Clip:
    arm = lw.models.ur5()
    keys = [(3.0 + k, arm.random_pose(k)) for k in range(4)]
    return lw.interpolate(arm, keys, fps=30)


@both
def test_files_have_the_fields_of_the_message_and_no_others(suffix, clip, tmp_path):
    path = tmp_path / f"reach{suffix}"
    remarks = clip.save(path)
    assert [remark.where for remark in remarks] == ["linkage"]
    message = READERS[suffix](path.read_text(encoding="utf-8"))
    assert list(message) == FIELDS["message"]
    assert list(message["header"]) == FIELDS["header"]
    assert message["joint_names"] == list(clip.linkage.joints)
    assert len(message["points"]) == len(clip)
    velocities, accelerations = clip.velocities, clip.accelerations
    for k, point in enumerate(message["points"]):
        assert list(point) == FIELDS["point"]
        assert point["positions"] == clip.poses[k].tolist()
        assert_allclose(point["velocities"], velocities[k], rtol=1e-15)
        assert_allclose(point["accelerations"], accelerations[k], rtol=1e-15)
        time = point["time_from_start"]
        assert list(time) == FIELDS["time"]
        assert all(isinstance(part, int) for part in time.values())
        assert 0 <= time["nanosec"] < 10**9
        assert abs(time["sec"] + time["nanosec"] * 1e-9 - k / 30) < 1e-9


@both
def test_a_motion_is_read_back_for_its_linkage(suffix, clip, tmp_path):
    path = tmp_path / f"reach{suffix}"
    clip.save(path)
    found = lw.load_clip(path, linkage=clip.linkage)
    assert np.array_equal(found.poses, clip.poses)
    assert_allclose(found.times, clip.times - clip.times[0], atol=1e-9)
    with pytest.raises(FormatError, match="give the linkage with linkage="):
        lw.load_clip(path)


def test_a_few_frames_have_the_derivatives_that_they_can_have(tmp_path):
    arm = lw.models.planar([1, 1])
    for count in (1, 2, 3):
        lw.Clip(arm, np.arange(count), np.zeros((count, 2))).save(tmp_path / "a.trajectory.json")
        points = json.loads((tmp_path / "a.trajectory.json").read_text(encoding="utf-8"))["points"]
        sizes = {(len(point["velocities"]), len(point["accelerations"])) for point in points}
        assert sizes == {(2 if count > 1 else 0, 2 if count > 2 else 0)}


def test_rotations_without_angles_are_left_out_and_said(tmp_path):
    body = lw.Builder("body", root="floating").ball("hip", "thigh").revolute("knee", "shin").build()
    clip = lw.Clip(body, [0, 1], body.random_pose(0, 2))
    remarks = clip.save(tmp_path / "a.trajectory.yaml")
    assert "'root', 'hip' left out" in remarks[0].text
    message = yaml.safe_load((tmp_path / "a.trajectory.yaml").read_text(encoding="utf-8"))
    assert message["joint_names"] == ["root.x", "root.y", "root.z", "knee"]
    ball = lw.Builder("ball").ball("hip", "thigh").build()
    with pytest.raises(FormatError, match="joints with one value, but the linkage has none"):
        lw.Clip(ball, [0, 1], ball.random_pose(0, 2)).save(tmp_path / "b.trajectory.yaml")


def test_files_of_others_may_name_some_joints_in_any_order_and_hold_more(tmp_path):
    """In the style of MoveIt, ros2_control and ROS 1: wrapped, without velocities, of one group, with other times."""
    arm = lw.models.planar([1, 1, 1])
    goal = """
trajectory:
  header: {seq: 3, stamp: {secs: 1, nsecs: 0}, frame_id: world}
  joint_names: [j3, gripper, j1]
  points:
  - {positions: [0.1, 0.04, 1], velocities: [], time_from_start: {secs: 0, nsecs: 500000000}}
  - {positions: [0.2, 0.04, 2], time_from_start: 1.25, effort: [1, 2, 3]}
goal_time_tolerance: {sec: 1, nanosec: 0}
"""
    (tmp_path / "goal.trajectory.yaml").write_text(goal, encoding="utf-8")
    content = lw.formats.read(tmp_path / "goal.trajectory.yaml", linkage=arm)
    clip = content.clips["clip"]
    assert clip.times.tolist() == [0.5, 1.25]
    assert clip.poses.tolist() == [[1, 0, 0.1], [2, 0, 0.2]]
    assert [(remark.kind, remark.where) for remark in content.remarks] == [("ignored", "gripper"), ("missing", "j2")]


GOOD = {"joint_names": ["j1", "j2"], "points": [{"positions": [0, 0], "time_from_start": {"sec": 0, "nanosec": 0}}]}
BAD = {
    "a list": ([], "is not a JointTrajectory: it has no joint_names and points"),
    "a scene": ({"linkwork": 2}, "has no joint_names and points"),
    "no names": (GOOD | {"joint_names": []}, "names no joints"),
    "a name twice": (GOOD | {"joint_names": ["j1", "j1"]}, "names joint 'j1' twice"),
    "no points": (GOOD | {"points": []}, "has no points"),
    "names that are numbers": (GOOD | {"joint_names": [1, 2]}, "Expected `str`"),
    "no positions": (GOOD | {"points": [{"time_from_start": 0.0}]}, "missing required field `positions`"),
    "a position too few": (
        GOOD | {"points": [{"positions": [0], "time_from_start": 0.0}]},
        "point 0 has 1 positions for 2",
    ),
    "words": (GOOD | {"points": [{"positions": ["a", 1], "time_from_start": 0.0}]}, "Expected `float`"),
    "no time": (GOOD | {"points": [{"positions": [0, 0]}]}, "missing required field `time_from_start`"),
    "times that fall": (GOOD | {"points": GOOD["points"] * 2}, "increasing times"),
    "strangers": (GOOD | {"joint_names": ["a", "b"]}, "has none of the joints of linkage 'planar', which has j1, j2"),
}


@pytest.mark.parametrize(("message", "error"), BAD.values(), ids=BAD)
def test_what_is_no_trajectory_is_refused_in_words(message, error, tmp_path):
    path = tmp_path / "bad.trajectory.json"
    path.write_text(json.dumps(message), encoding="utf-8")
    with pytest.raises(FormatError, match=error):
        lw.load_clip(path, linkage=lw.models.planar([1, 1]))


def test_the_command_line_converts_and_tracks_into_trajectories(tmp_path):
    out = tmp_path / "ferris.trajectory.yaml"
    result = run("convert", "ferris_wheel:4", out)
    assert (result.exit_code, "motion clip, 97 frames" in result.stdout) == (0, True)
    back = run("convert", out, tmp_path / "ferris.npz", "--linkage", "ferris_wheel:4")
    assert back.exit_code == 0
    assert_allclose(lw.load_clip(tmp_path / "ferris.npz").poses, lw.models.motion("ferris_wheel:4").poses)
    path = tmp_path / "line.trajectory.json"
    result = run("track", "planar:2,1", "--position", "1,2", "-o", path, "--frames", "5")
    assert result.exit_code == 0
    assert len(json.loads(path.read_text(encoding="utf-8"))["points"]) == 5
