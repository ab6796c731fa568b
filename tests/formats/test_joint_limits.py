"""MoveIt's joint_limits.yaml beside a URDF: its limits take precedence; remarks report what does not fit."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.errors import FormatError, OptionError
from linkwork.formats import urdf
from linkwork.formats.options import Options

JOINT = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 0 1"/>{4}</joint>'
LIMIT = '<limit lower="-2" upper="2" effort="10" velocity="1"/>'
ROBOT = '<robot name="bot"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>{}</robot>'.format(
    JOINT.format("turn", "revolute", "a", "b", LIMIT)
    + JOINT.format("wheel", "continuous", "b", "c", "")
    + JOINT.format("weld", "fixed", "c", "d", "")
)
LIMITS = """# as MoveIt's setup assistant writes it
default_velocity_scaling_factor: 0.1
joint_limits:
  turn:
    has_velocity_limits: true
    max_velocity: 0.5
    has_acceleration_limits: true
    max_acceleration: !degrees 90.0
    has_position_limits: true
    min_position: !radians -1.0
    max_position: 1.5
    has_jerk_limits: false
  wheel:
    has_velocity_limits: false
    max_velocity: 9.0
    has_effort_limits: true
    max_effort: 3
"""


def load(folder: Path, text: str, **options: object) -> lw.Linkage:
    (folder / "bot.urdf").write_text(ROBOT, encoding="utf-8")
    (folder / "joint_limits.yaml").write_text(text, encoding="utf-8")
    return lw.load(folder / "bot.urdf", joint_limits=folder / "joint_limits.yaml", **options)


def remarks(folder: Path) -> list[str]:
    content = urdf.read(folder / "bot.urdf", Options(joint_limits=folder / "joint_limits.yaml"))
    return [remark.text for remark in content.remarks if remark.kind == "joint_limits"]


def test_limits_that_hold_go_before_those_of_the_robot(tmp_path: Path) -> None:
    bot = load(tmp_path, LIMITS)
    assert_allclose((bot.lower, bot.upper), ([-1.0, -math.inf], [1.5, math.inf]))
    assert_allclose((bot.velocity, bot.acceleration, bot.effort), ([0.5, math.inf], [math.pi / 2, math.inf], [10, 3]))
    said = "limits of position of 1 joints, velocity of 1 joints, acceleration of 1 joints, effort of 1 joints"
    assert remarks(tmp_path) == [f"joint_limits.yaml is read with it: {said}."]


def test_a_wheel_gets_limits(tmp_path: Path) -> None:
    bot = load(tmp_path, "joint_limits: {wheel: {has_position_limits: true, min_position: -1, max_position: 2}}")
    assert (bot.lower[1], bot.upper[1], bot.joint("wheel").articulation.kind) == (-1.0, 2.0, "revolute")


def test_parameters_of_ros_2_are_read(tmp_path: Path) -> None:
    inside = "joint_limits: {turn: {has_velocity_limits: true, max_velocity: 0.25}}"
    bot = load(tmp_path, f"/**: {{ros__parameters: {{robot_description_planning: {{{inside}}}}}}}")
    assert bot.velocity[0] == 0.25


def test_what_does_not_fit_is_said_and_refused_if_asked(tmp_path: Path) -> None:
    text = "joint_limits:\n  elbow: {}\n  weld: {}\n  turn: {has_jerk_limits: true}\n"
    load(tmp_path, text)
    said = remarks(tmp_path)
    assert said[0].startswith("joint_limits.yaml:2: there is no joint 'elbow' in 'bot'")
    assert "joint_limits.yaml:3: joint 'weld' is fixed" in said[1]
    assert "the jerk limits of joint 'turn' are left out" in said[2]
    assert "no active limits" in said[3]
    with pytest.raises(FormatError, match=r"joint_limits.yaml:2: there is no joint 'elbow'"):
        load(tmp_path, text, strict=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limits: {}", "has no mapping 'joint_limits'"),
        ("joint_limits: 3", "has no mapping 'joint_limits'"),
        ("joint_limits:\n  turn: 3", "yaml:2: the limits of joint 'turn' must be a mapping, got 3"),
        ("joint_limits:\n  turn:\n    has_velocity_limits: 1", "yaml:3: has_velocity_limits .* must be true or false"),
        ("joint_limits: {turn: {has_velocity_limits: true}}", "needs a number for max_velocity, got None"),
        ("joint_limits: {turn: {has_velocity_limits: true, max_velocity: -1}}", "must be above zero"),
        ("joint_limits: {turn: {has_position_limits: true, min_position: 1, max_position: 0}}", "limit"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        load(tmp_path, text)


def test_it_is_the_name_of_a_file() -> None:
    with pytest.raises(OptionError, match="joint_limits is the name of a file, got 3"):
        Options(joint_limits=3)  # type: ignore[arg-type]
