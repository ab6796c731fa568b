"""Options for reading files: one group, on every command that reads a linkage or a motion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import command_of, run
from linkwork.cli.app import MODULES
from linkwork.models.humanoids import humanoid

WITHOUT = {"demo", "figure", "learn", "synthesis", "warmup", "verify", "describe"}  # these read no linkage or motion
COMMANDS = {
    **{name: command_of(name) for name in MODULES if name not in WITHOUT | {"batch"}},
    **{f"batch {name}": one for name, one in command_of("batch").commands.items() if name not in WITHOUT},
}
OPTIONS = ("--strict", "--follower-limits", "--argument", "--srdf", "--joint-limits", "--up", "--units", "--positions")
GRIPPER = """<robot name="bot"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-2" upper="2"/></joint>
  <joint name="k" type="revolute"><parent link="b"/><child link="c"/><limit lower="-1" upper="1"/><mimic joint="j"/>
  </joint></robot>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.urdf"
    path.write_text(GRIPPER, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_reads_files_says_how(name: str) -> None:
    known = {word for parameter in COMMANDS[name].params for word in parameter.opts}
    assert known.issuperset(OPTIONS)


def first_joint(*words: object) -> dict[str, list[float]]:
    result = run("info", *words, "--json")
    assert result.exit_code == 0, result.stderr
    joint: dict[str, list[float]] = json.loads(result.stdout)["joints"][0]
    return joint


def test_limits_of_a_robot_are_read_as_asked(robot: Path) -> None:
    (robot.parent / "limits.yaml").write_text(
        "joint_limits: {j: {has_velocity_limits: true, max_velocity: 0.5}}", encoding="utf-8"
    )
    assert first_joint(robot)["lower"] == [-2.0]
    assert first_joint(robot, "--follower-limits")["lower"] == [-1.0]
    assert first_joint(robot, "--joint-limits", robot.parent / "limits.yaml")["velocity"] == [0.5]


def test_a_motion_and_its_robot_have_their_own_options(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    lw.models.motion("human:floating").save(tmp_path / "walk.bvh")
    lw.save(lw.models.human(), tmp_path / "human.yaml")
    words = ("retarget", tmp_path / "walk.bvh", "--to", tmp_path / "human.yaml", "-o", tmp_path / "out.bvh")
    for more, guessed in (((), True), (("--up", "y", "--units", "cm", "--folder", tmp_path), False)):
        caplog.clear()
        assert run(*words, "--range", "0:1", *more).exit_code in (0, 1)
        assert ("taken to point up" in caplog.text) == ("centimetres" in caplog.text) == guessed
        assert "does not use" not in caplog.text


def test_options_without_a_file_or_a_use_are_said(robot: Path, caplog: pytest.LogCaptureFixture) -> None:
    refused = run("info", "panda", "--strict")
    assert (refused.exit_code, "ready-made model" in refused.stderr) == (2, True)
    run("info", robot, "--up", "y")
    assert "URDF does not use up" in caplog.text


def test_solve_stays_on_the_branch_of_its_start() -> None:
    words = ("solve", "panda", "--position", "0.4,0.1,0.5", "--start", "ready", "--json")
    near, found = (json.loads(run(*words, *more).stdout) for more in (("--stay",), ()))
    assert near["success"]
    assert found["success"]
    assert run("solve", "panda", "--position", "0.4,0.1,0.5", "--stay").exit_code == 2


def test_the_command_writes_what_a_learner_loads(tmp_path: Path) -> None:
    """`linkwork retarget --layout`: a motion on a robot, at the given rate, with the positions of its bodies."""
    robot, file = humanoid(root="floating"), tmp_path / "robot.yaml"
    lw.save(robot, file)
    words = ("retarget", "human:floating", "--to", file, "--range", "0:20", "--layout", "mjlab")
    done = run(*words, "--fps", "50", "-o", tmp_path / "walk.npz")
    assert done.exit_code == 0, done.stderr
    with np.load(tmp_path / "walk.npz") as file:
        made = dict(file)
    assert made["fps"].tolist() == [50.0]
    assert made["joint_names"].tolist() == [name for name in robot.joints if name in made["joint_names"]]
    poses = np.concatenate([made["body_pos_w"][:, 0], made["body_quat_w"][:, 0], made["joint_pos"]], axis=1)
    placed = robot.forward(poses)
    for k, body in enumerate(made["body_names"].tolist()):
        np.testing.assert_allclose(made["body_pos_w"][:, k], placed[body][:, :3, 3], atol=1e-5)
    assert run(*words[:-1], "gym", "-o", tmp_path / "walk.npz").exit_code == 2
