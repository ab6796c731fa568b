"""SRDF beside a URDF: groups, poses and disabled pairs, remarks about what does not fit the robot, and edits."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.errors import FormatError, JointNotFoundError, LinkageError, LinkNotFoundError, OptionError
from linkwork.formats import urdf
from linkwork.formats.options import Options
from robots import kinds, shipped

LIMIT = '<axis xyz="0 0 1"/><limit lower="{}" upper="{}" effort="1" velocity="1"/>'
JOINT = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>{3}{4}</joint><link name="{2}"/>'
ROBOT = '<robot name="bot"><link name="base"/>{}</robot>'.format(
    "".join(
        [
            JOINT.format("a1", "base", "upper", LIMIT.format(-1, 3), ""),
            JOINT.format("a2", "upper", "lower", LIMIT.format(0.5, 2), ""),
            '<joint name="weld" type="fixed"><parent link="lower"/><child link="palm"/></joint><link name="palm"/>',
            JOINT.format("f1", "palm", "finger", LIMIT.format(0, 1), ""),
            JOINT.format("f2", "palm", "thumb", LIMIT.format(0, 1), '<mimic joint="f1"/>'),
            JOINT.format("b1", "base", "head", LIMIT.format(-1, 1), ""),
        ]
    )
)
SRDF = """<?xml version="1.0"?>
<robot name="bot">
  <group name="arm"><chain base_link="base" tip_link="palm"/></group>
  <group name="hand"><joint name="f1"/><joint name="f2"/></group>
  <group name="all"><group name="arm"/><group name="hand"/><link name="head"/></group>
  <group name="across"><chain base_link="head" tip_link="lower"/></group>
  <group_state name="up" group="arm"><joint name="a1" value="0.25"/><joint name="a2" value="1"/></group_state>
  <group_state name="open" group="hand"><joint name="f1" value="1"/><joint name="f2" value="0.9"/></group_state>
  <group_state name="home" group="arm"><joint name="a1" value="1"/></group_state>
  <group_state name="home" group="hand"><joint name="f1" value="0.5"/></group_state>
  <virtual_joint name="floor" type="planar" parent_frame="odom" child_link="base"/>
  <passive_joint name="f2"/>
  <end_effector name="hand" parent_link="palm" group="hand"/>
  <disable_collisions link1="upper" link2="base" reason="Adjacent"/>
  <disable_collisions link1="finger" link2="thumb" reason="User"/>
</robot>
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "bot.urdf"
    path.write_text(ROBOT, encoding="utf-8")
    return path


def written(folder: Path, text: str, name: str = "other.srdf") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_groups_poses_and_pairs(robot, tmp_path):
    arm = lw.load(robot, srdf=written(tmp_path, SRDF))
    assert dict(arm.groups) == {
        "arm": ("a1", "a2"),
        "hand": ("f1",),  # followers have no values
        "all": ("a1", "a2", "f1", "b1"),
        "across": ("a1", "a2", "b1"),
    }
    assert arm.coordinates == ("a1", "a2", "f1", "b1")
    assert {name: pose.tolist() for name, pose in arm.poses.items()} == {
        "up": [0.25, 1, 0, 0],
        "open": [0, 0.5, 1, 0],  # joints that a state omits are at zero or the nearest limit
        "arm/home": [1, 0.5, 0, 0],
        "hand/home": [0, 0.5, 0.5, 0],
    }
    assert dict(arm.disabled_pairs) == {("base", "upper"): "Adjacent", ("finger", "thumb"): "User"}


def test_what_is_read_and_what_is_not_is_said(robot, tmp_path):
    remarks = urdf.read(robot, Options(srdf=written(tmp_path, SRDF))).remarks
    texts = {remark.kind: remark.text for remark in remarks}
    assert texts["srdf"] == "other.srdf is read with it: 4 groups, 4 poses and 2 pairs of links."
    assert texts["srdf-root"].startswith("other.srdf:11: its virtual joint is planar, with child 'base'; root='planar'")
    assert "joints f2 are passive" in texts["passive"]
    assert "<end_effector> is left out" in texts["dropped"]
    assert all(remark.line is None for remark in remarks)  # lines would be those of the other file


def test_a_group_is_solved_with_by_its_name(robot, tmp_path):
    arm = lw.load(robot, srdf=written(tmp_path, SRDF))
    start = arm.pose(a1=1.0, a2=1.0, f1=0.3, b1=0.2)
    goal = lw.Reach("palm", orientation={"euler": ("xyz", [0, 0, 1.5])})
    solution = lw.solve(arm, goal, start=start, joints="arm")
    assert solution.success
    assert solution.q[2:].tolist() == start[2:].tolist()


def test_the_file_of_the_same_name_beside_is_read_if_it_is_for_the_robot(robot, tmp_path):
    beside = written(tmp_path, SRDF, "bot.srdf")
    content = urdf.read(robot)
    assert list(content.linkage.groups) == ["arm", "hand", "all", "across"]
    beside.write_text(SRDF.replace('name="bot"', 'name="cat"'), encoding="utf-8")
    content = urdf.read(robot)
    assert not content.linkage.groups
    assert [remark.text for remark in content.remarks] == [
        "bot.srdf beside it is for another robot and is not read; srdf=... (--srdf) reads it."
    ]
    assert lw.load(robot, srdf=beside).groups
    beside.write_text("<robot name='bot'>", encoding="utf-8")
    content = urdf.read(robot)
    assert not content.linkage.groups
    assert "the SRDF file is left out" in content.remarks[0].text
    for options in (Options(srdf=beside), Options(strict=True)):
        with pytest.raises(FormatError, match=r"bot\.srdf"):
            urdf.read(robot, options)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        (
            '<group name="g"><joint name="x"/><joint name="y"/></group>',
            "no joints 'x', 'y'; entries with them",
        ),
        ('<group name="g"><link name="x"/></group>', "the robot has no link 'x'; entries with it are left out"),
        ('<group name="g"><chain base_link="base" tip_link="x"/></group>', "no link 'x'"),
        ('<group name="g"><group name="x"/></group>', "no group 'x'"),
        ('<group name="g"><group name="g"/></group>', "group 'g' contains itself"),
        ('<group_state name="s" group="g"><joint name="x" value="1"/></group_state>', "no joint 'x'"),
        ('<disable_collisions link1="x" link2="base"/>', "no link 'x'"),
    ],
)
def test_what_does_not_fit_the_robot_is_left_out_and_strict_refuses(robot, tmp_path, inside, said):
    path = written(tmp_path, f'<robot name="bot">\n{inside}</robot>')
    content = urdf.read(robot, Options(srdf=path))
    (remark,) = [remark for remark in content.remarks if remark.kind == "bad-srdf"]
    assert remark.text.startswith("other.srdf:2: ")
    assert said in remark.text
    with pytest.raises(FormatError) as caught:
        urdf.read(robot, Options(srdf=path, strict=True))
    assert caught.value.line == 2


def test_joints_of_virtual_joints_are_no_surprise(robot, tmp_path):
    group = (
        '<group name="base"><joint name="floor"/></group><virtual_joint name="floor" type="fixed" child_link="base"/>'
    )
    content = urdf.read(robot, Options(srdf=written(tmp_path, f'<robot name="bot">{group}</robot>')))
    assert kinds(content.remarks) == ["srdf"]
    assert content.linkage.groups["base"] == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<sdf/>",
        '<robot name="bot"><group/></robot>',
        '<robot name="bot"><group_state name="s"><joint name="a1" value="x"/></group_state></robot>',
        '<robot name="bot"><group_state name="s"><joint name="a1" value="nan"/></group_state></robot>',
        '<robot name="bot"><group_state name="s"><joint name="a1" value="1 2"/></group_state></robot>',
        '<!DOCTYPE r [<!ENTITY a "b">]><robot name="bot"/>',
        '<robot name="bot">'
        + "".join(f'<group name="g{k}"><group name="g{k + 1}"/></group>' for k in range(100))
        + '<group name="g100"/></robot>',
    ],
)
def test_broken_files_are_refused(robot, tmp_path, text):
    with pytest.raises(FormatError, match=r"other\.srdf"):
        lw.load(robot, srdf=written(tmp_path, text))


def test_groups_in_groups_do_not_multiply(robot, tmp_path):
    row = '<group name="g{}"><group name="g{}"/><group name="g{}"/></group>'
    rows = "".join(row.format(k, k + 1, k + 1) for k in range(40))
    path = written(tmp_path, f'<robot name="bot">{rows}<group name="g40"><joint name="a1"/></group></robot>')
    assert lw.load(robot, srdf=path).groups["g0"] == ("a1",)


def test_srdf_is_the_name_of_a_file(robot):
    with pytest.raises(OptionError, match="srdf is the name of a file"):
        lw.load(robot, srdf=3)
    with pytest.raises(FormatError, match="cannot be read"):
        lw.load(robot, srdf="gone.srdf")


def test_poses_of_a_real_robot_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    path = shipped("panda")
    file = path.parent.parent / "srdf" / "panda.srdf"
    arm, model = lw.load(path, srdf=file), pin.buildModelFromUrdf(str(path))
    pin.loadReferenceConfigurations(model, str(file), False)
    theirs = {entry.key(): entry.data() for entry in model.referenceConfigurations}
    assert list(arm.poses) == list(theirs) == ["default"]
    for row in arm.table:
        joint = model.joints[model.getJointId(row.joint)]
        assert arm.poses["default"][row.q] == pytest.approx(theirs["default"][joint.idx_q], abs=1e-12)
    assert arm.groups["arm"] == tuple(f"panda_joint{k}" for k in range(1, 8))
    assert len(arm.disabled_pairs) == 35


# In the linkage


def test_files_and_edits_keep_them(robot, tmp_path):
    arm = lw.load(robot, srdf=written(tmp_path, SRDF))
    lw.save(arm, tmp_path / "bot.yaml")
    assert lw.load(tmp_path / "bot.yaml") == arm == pickle.loads(pickle.dumps(arm))
    (tmp_path / "bad.yaml").write_text("{linkwork: 2, links: [a], disabled_pairs: [[a]]}", encoding="utf-8")
    with pytest.raises(FormatError, match="disabled pair is two links"):
        lw.load(tmp_path / "bad.yaml")
    assert kinds(lw.save(arm, tmp_path / "again.urdf")) >= ["dropped"]
    frozen = arm.freeze("a1", at=0)
    assert frozen.groups["arm"] == ("a2",)
    assert frozen.disabled_pairs == arm.disabled_pairs
    part = arm.subtree("palm")
    assert part.groups["all"] == ("f1",)
    assert list(part.disabled_pairs) == [("finger", "thumb")]
    named = arm.replace(joints={"a1": {"name": "shoulder"}}, links={"upper": {"name": "humerus"}})
    assert named.groups["arm"] == ("shoulder", "a2")
    assert ("base", "humerus") in named.disabled_pairs
    assert arm.replace(root="floating").groups == arm.groups
    two = arm.attach(arm, "palm", prefix="left_")
    assert two.groups["left_arm"] == ("left_a1", "left_a2")
    assert ("left_base", "left_upper") in two.disabled_pairs
    assert arm.replace(groups={}, disabled_pairs=()).groups == {}


def test_a_joint_in_parts_is_in_its_group_with_all_of_them():
    body = lw.Builder("leg", base="hip").ball("hip", "thigh").revolute("knee", "shin").build()
    body = body.replace(groups={"leg": ["knee", "hip"]})
    assert body.groups["leg"] == ("hip", "knee")
    assert body.split().groups["leg"] == ("hip.rx", "hip.ry", "hip.rz", "knee")


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"groups": {"g": ["x"]}}, JointNotFoundError),
        ({"groups": {"g": "knee"}}, LinkageError),
        ({"groups": {"": ["knee"]}}, LinkageError),
        ({"groups": ["knee"]}, LinkageError),
        ({"disabled_pairs": [("hip", "x")]}, LinkNotFoundError),
        ({"disabled_pairs": [("hip", "hip")]}, LinkageError),
        ({"disabled_pairs": ["hip"]}, LinkageError),
        ({"disabled_pairs": {3: "x"}}, LinkageError),
    ],
)
def test_groups_and_pairs_that_cannot_be(parts, error):
    body = lw.Builder("leg", base="hip").revolute("knee", "shin", limits=(0, math.pi)).build()
    with pytest.raises(error):
        body.replace(**parts)
