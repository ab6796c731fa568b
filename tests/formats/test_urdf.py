"""URDF files: real robots compared with Pinocchio, a small file for every rule, a broken one for every error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

from linkwork.errors import FormatError
from linkwork.formats import urdf, xml
from linkwork.formats.options import Options
from linkwork.linkage.geometry import Box, Capsule, Cylinder, Mesh, Sphere, Visual
from linkwork.linkage.joints import Ball, Continuous, Fixed, Floating, Joint, Mimic, Planar, Prismatic, Revolute
from linkwork.linkage.poses import zero_pose
from linkwork.transforms import IDENTITY
from robots import LINK, MESH, arm, kinds, pinocchio_model, read, same_as_pinocchio


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio", reason="Pinocchio is not installed", exc_type=ImportError)


def test_real_robots_stand_where_pinocchio_puts_them(pin, robot):
    linkage, model = urdf.read(robot).linkage, pinocchio_model(pin, robot)
    assert set(linkage.links) == {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    same_as_pinocchio(pin, model, linkage)


def test_masses_agree_with_pinocchio(pin, robot):
    """Total mass, its centre and the inertia about that, with all joints at zero."""
    linkage, model = urdf.read(robot).linkage, pinocchio_model(pin, robot)
    data = model.createData()
    q = pin.neutral(model)
    pin.ccrba(model, data, q, np.zeros(model.nv))
    fixed = {
        f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint == 0
    }  # Pinocchio drops these
    parts = [(node.name, node.inertia) for node in linkage.nodes if node.inertia and node.name not in fixed]
    mass = sum(inertia.mass for _, inertia in parts)
    assert_allclose(mass, data.Ig.mass, atol=1e-12)
    if mass == 0.0:
        return
    frames = linkage.forward(zero_pose(linkage))
    centers = [frames[name][:3, :3] @ inertia.center + frames[name][:3, 3] for name, inertia in parts]
    center = sum(inertia.mass * c for (_, inertia), c in zip(parts, centers, strict=True)) / mass
    assert_allclose(center, pin.centerOfMass(model, data, q), atol=1e-9)
    total = np.zeros((3, 3))
    for (name, inertia), c in zip(parts, centers, strict=True):
        rotation, arm = frames[name][:3, :3], c - center
        total += rotation @ inertia.matrix @ rotation.T + inertia.mass * ((arm @ arm) * np.eye(3) - np.outer(arm, arm))
    assert_allclose(total, data.Ig.inertia, atol=1e-9)


# Small files


@pytest.mark.parametrize(
    ("text", "articulation", "remarks"),
    [
        (arm('type="fixed"', '<axis xyz="0 0 0"/>'), Fixed(), []),
        (arm('type="revolute"', '<axis xyz="0 0 1"/><limit lower="-1" upper="2"/>'), Revolute("z", -1, 2), []),
        (arm('type="revolute"', '<axis xyz="0 0 1"/><limit upper="2"/>'), Revolute("z", 0, 2), []),
        (arm('type="revolute"', '<axis xyz="0 0 1"/>'), Revolute("z"), ["missing-limits"]),
        (
            arm('type="revolute"', '<axis xyz="0 1 0"/><limit/>'),
            Revolute("y"),
            ["missing-limits"],
        ),
        (arm('type="revolute"', '<limit lower="-1" upper="1"/>'), Revolute("x", -1, 1), ["missing-axis"]),
        (arm('type="revolute"', '<axis/><limit lower="-1" upper="1"/>'), Revolute("x", -1, 1), []),
        (
            arm('type="prismatic"', '<axis xyz="0 0 1"/><limit lower="0" upper="0"/>'),
            Prismatic("z", 0, 0),
            ["zero-range"],
        ),
        (arm('type="prismatic"', '<axis xyz="0 0 1"/><limit lower="-inf" upper="1e308"/>'), Prismatic("z"), []),
        (arm('type="continuous"', '<axis xyz="0 -2 0"/>'), Continuous("-y"), ["non-unit-axis"]),
        (arm('type="continuous"', '<axis xyz="2 1 2"/>'), Continuous((2, 1, 2)), ["non-unit-axis"]),
        (arm('type="continuous"', '<axis xyz="1e-200 0 0"/>'), Continuous("x"), ["non-unit-axis"]),
        (arm('type="continuous"', '<axis xyz="0 0 1"/><limit lower="0" upper="1"/>'), Continuous("z"), ["dropped"]),
        (arm('type="planar"', '<axis xyz="0 0 1"/>'), Planar("z"), []),
        (arm('type="planar"'), Planar("x"), ["missing-axis"]),
        (arm('type="floating"'), Floating(), []),
        (arm('type="spherical"'), Ball(), []),
        (arm('type="ball"'), Ball(), []),
    ],
)
def test_joints_are_read_as_the_specification_says(tmp_path, text, articulation, remarks):
    content = read(tmp_path, text)
    assert content.linkage.joint("j") == Joint("j", "base", "hand", articulation)
    assert kinds(content.remarks) == remarks


def test_a_remark_says_where(tmp_path):
    (remark,) = read(tmp_path, arm('type="continuous"', '<axis xyz="0 0 3"/>')).remarks
    assert (remark.kind, remark.where, remark.line) == ("non-unit-axis", "j", 8)
    assert "length 3" in remark.text


def test_an_origin_turns_about_fixed_axes(tmp_path):
    from scipy.spatial.transform import Rotation

    content = read(tmp_path, arm(inside='<origin xyz="1 -2 .5e1" rpy="0.3 -0.7 2.1"/>'))
    placement = content.linkage.joint("j").placement
    assert placement[:3, 3].tolist() == [1.0, -2.0, 5.0]
    assert_allclose(placement[:3, :3], Rotation.from_euler("xyz", [0.3, -0.7, 2.1]).as_matrix(), atol=1e-15)


@pytest.mark.parametrize("inside", ["", "<origin/>", '<origin xyz="0 0 0"/>', '<origin rpy="0 0 0"/>'])
def test_an_origin_that_is_not_given_is_none(tmp_path, inside):
    assert np.array_equal(read(tmp_path, arm(inside=inside)).linkage.joint("j").placement, IDENTITY)


FOLLOWER = """<link name="finger"/>
<joint name="f" type="{kind}"><parent link="hand"/><child link="finger"/><axis xyz="0 0 1"/>{limit}{mimic}</joint>"""
LEADER = '<axis xyz="0 0 1"/><limit lower="0" upper="1"/>'


@pytest.mark.parametrize(
    ("mimic", "expected"),
    [
        ('<mimic joint="j"/>', Mimic("j", 1.0, 0.0)),
        ('<mimic joint="j" multiplier="-2"/>', Mimic("j", -2.0, 0.0)),
        ('<mimic joint="j" offset="0.5"/>', Mimic("j", 1.0, 0.5)),
    ],
)
def test_followers_have_defaults(tmp_path, mimic, expected):
    more = FOLLOWER.format(kind="continuous", limit="", mimic=mimic)
    linkage = read(tmp_path, arm('type="revolute"', LEADER, more)).linkage
    assert linkage.joint("f").mimic == expected
    assert linkage.coordinates == ("j",)


def test_a_follower_may_stand_before_its_leader(tmp_path):
    ends = '<parent link="base"/><child link="x"/>'
    first = f'<link name="x"/><joint name="0" type="continuous">{ends}<mimic joint="j"/></joint>'
    text = arm('type="continuous"').replace("<joint", first + "<joint", 1)
    assert read(tmp_path, text).linkage.nq == 1


@pytest.mark.parametrize(
    ("limit", "held"),
    [
        ('<limit lower="2" upper="3"/>', (0.0, 1.0)),  # no value of the leader satisfies them
        ('<limit lower="-1" upper="0"/>', (0.0, 0.0)),
        ('<limit lower="0" upper="0.5"/>', (0.0, 0.5)),
    ],
)
def test_limits_of_a_follower_do_not_hold_its_leader_unless_asked_to(tmp_path, limit, held):
    more = FOLLOWER.format(kind="revolute", limit=limit, mimic='<mimic joint="j"/>')
    text = arm('type="revolute"', LEADER, more)
    content = read(tmp_path, text)
    (remark,) = content.remarks
    assert (remark.kind, remark.where, remark.line) == ("mimic-limits", "f", 11)
    assert "'f' follows 'j' and goes from 0 to 1, beyond its own limits" in remark.text
    assert (content.linkage.lower[0], content.linkage.upper[0]) == (0.0, 1.0)
    assert content.linkage.forward([1.0], frame="finger")[0, 0] == pytest.approx(np.cos(2.0))
    narrow = urdf.read(tmp_path / "robot.urdf", Options(limits="followers"))
    assert (narrow.linkage.lower[0], narrow.linkage.upper[0]) == held
    assert kinds(narrow.remarks) == ["mimic-limits"]


def test_a_follower_within_its_limits_is_not_remarked(tmp_path):
    mimic = '<mimic joint="j" multiplier="-1"/>'
    more = FOLLOWER.format(kind="revolute", limit='<limit lower="-1" upper="0"/>', mimic=mimic)
    assert not read(tmp_path, arm('type="revolute"', LEADER, more)).remarks


# Limits of motion


def test_velocity_acceleration_and_effort_are_read(tmp_path):
    inside = '<axis xyz="1 0 0"/><limit lower="0" upper="1" effort="87" velocity="2.5" acceleration="7"/>'
    content = read(tmp_path, arm('type="revolute"', inside))
    assert not content.remarks
    linkage = content.linkage
    assert (linkage.velocity.item(), linkage.acceleration.item(), linkage.effort.item()) == (2.5, 7.0, 87.0)
    (row,) = linkage.table
    assert (row.velocity, row.acceleration, row.effort) == (2.5, 7.0, 87.0)


@pytest.mark.parametrize(("value", "kind"), [("0", "zero-limit"), ("-1", "zero-limit"), ("inf", None), ("1e300", None)])
def test_a_limit_of_motion_that_is_none(tmp_path, value, kind):
    inside = f'<axis xyz="1 0 0"/>\n<limit velocity="{value}"/>'
    content = read(tmp_path, arm('type="continuous"', inside))
    assert np.isinf(content.linkage.velocity).all()
    assert kinds(content.remarks) == ([kind] if kind else [])
    assert all((remark.where, remark.line) == ("j", 9) for remark in content.remarks)


def test_joints_with_several_values_have_no_limits_of_motion_in_urdf(tmp_path):
    content = read(tmp_path, arm('type="planar"', '<axis xyz="0 0 1"/><limit velocity="1"/>'))
    assert kinds(content.remarks) == ["dropped"]
    assert "velocity limit of a planar joint" in content.remarks[0].text


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ('<box size="1 2 3"/>', Box((1, 2, 3))),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<cylinder length="2" radius="1"/>', Cylinder(1, 2)),
        ('<capsule length="2" radius="1"/>', Capsule(1, 2)),
        ('<mesh filename="a.stl"/>', Mesh("a.stl")),
        ('<mesh filename="a.stl" scale="1 1 -0.001"/>', Mesh("a.stl", (1, 1, -0.001))),
    ],
)
@pytest.mark.parametrize("role", ["visual", "collision"])
def test_shapes_are_kept(tmp_path, shape, expected, role):
    (tmp_path / "a.stl").write_text("solid", encoding="utf-8")
    inside = f'<{role}><origin xyz="0 0 1"/><geometry>{shape}</geometry><material name="steel"/></{role}>'
    content = read(tmp_path, LINK.format(before="", inside=inside))
    color = (0.1, 0.2, 0.3) if role == "visual" else None
    assert content.linkage.nodes[0].visuals == (Visual(expected, (0, 0, 1), color, role),)
    assert content.remarks == ()


@pytest.mark.parametrize(
    ("material", "color", "remarks"),
    [
        ("", None, []),
        ('<material name="steel"/>', (0.1, 0.2, 0.3), []),
        ('<material name="blue"/>', (0.0, 0.0, 1.0), []),
        ('<material name="nothing"/>', None, ["missing-material"]),
        ('<material name=""><color rgba="1 0 0 1"/></material>', (1.0, 0.0, 0.0), []),
        ('<material name="steel"><color rgba="1 0 0 1"/></material>', (1.0, 0.0, 0.0), []),
        ('<material name="x"><color rgba="1 0 0 0.5"/></material>', (1.0, 0.0, 0.0), ["dropped"]),
        ('<material name="x"><color rgba="255 0 0 1"/></material>', (1.0, 0.0, 0.0), ["color"]),
        ('<material name="x"><texture filename="wood.png"/></material>', None, ["dropped"]),
    ],
)
def test_colours_come_from_materials_wherever_they_are_defined(tmp_path, material, color, remarks):
    inside = '<visual><geometry><sphere radius="1"/></geometry>{}</visual>'
    later = inside.format('<material name="blue"><color rgba="0 0 1 1"/></material>')
    content = read(tmp_path, LINK.format(before="", inside=inside.format(material) + later))
    assert content.linkage.nodes[0].visuals[0].color == color
    assert kinds(content.remarks) == remarks


@pytest.mark.parametrize(
    "shape",
    ['<box size="1 0 1"/>', '<sphere radius="-1"/>', "<mesh/>", '<mesh filename=""/>'],
)
def test_shapes_without_size_are_left_out_and_said(tmp_path, shape):
    inside = f"<visual><geometry>{shape}</geometry></visual>"
    content = read(tmp_path, LINK.format(before="", inside=inside))
    assert content.linkage.nodes[0].visuals == ()
    assert kinds(content.remarks) == ["bad-shape"]


def test_a_missing_mesh_is_said_once_with_every_path_tried(tmp_path):
    inside = MESH.format("package://arm/a.stl") * 2
    content = read(tmp_path, LINK.format(before="", inside=inside))
    (remark,) = content.remarks
    assert remark.kind == "missing-mesh"
    assert str(tmp_path / "arm" / "a.stl") in remark.text
    assert [visual.shape.file for visual in content.linkage.nodes[0].visuals] == [None, None]


def test_a_mesh_in_a_package_is_found(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a.stl").write_text("solid", encoding="utf-8")
    inside = MESH.format("package://arm/a.stl")
    content = read(tmp_path, LINK.format(before="", inside=inside), packages={"arm": tmp_path / "far"})
    mesh = content.linkage.nodes[0].visuals[0].shape
    assert mesh.path == "package://arm/a.stl"
    assert Path(mesh.file).samefile(tmp_path / "far" / "a.stl")


def test_a_mesh_outside_the_model_s_folder_is_not_followed(tmp_path):
    (tmp_path / "secret.stl").write_text("solid", encoding="utf-8")
    (tmp_path / "model").mkdir()
    inside = MESH.format("../secret.stl")
    content = read(tmp_path / "model", LINK.format(before="", inside=inside))
    assert content.linkage.nodes[0].visuals[0].shape.file is None
    assert kinds(content.remarks) == ["missing-mesh"]


def test_inertia_is_turned_into_the_axes_of_the_link(tmp_path):
    inside = """<inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="2"/>
    <inertia ixx="1" iyy="2" izz="3" ixy="0.1" ixz="0.2" iyz="0.3"/></inertial>"""
    inertia = read(tmp_path, LINK.format(before="", inside=inside)).linkage.nodes[0].inertia
    assert (inertia.mass, inertia.center.tolist()) == (2.0, [1.0, 2.0, 3.0])
    expected = [[2.0, -0.1, -0.3], [-0.1, 1.0, 0.2], [-0.3, 0.2, 3.0]]  # x is now y, y is -x
    assert_allclose(inertia.matrix, expected, atol=1e-15)


@pytest.mark.parametrize(
    "inside",
    [
        "<inertial/>",
        '<inertial><mass value="-1"/></inertial>',
        '<inertial><origin rpy="1 1 1"/><mass value="1"/><inertia ixx="1e308" iyy="1e308" ixy="1e308"/></inertial>',
    ],
)
def test_a_mass_that_is_none_is_left_out_and_said(tmp_path, inside):
    content = read(tmp_path, LINK.format(before="", inside=inside))
    assert content.linkage.nodes[0].inertia is None
    assert kinds(content.remarks) == ["bad-inertia"]


def test_what_a_linkage_cannot_hold_is_said_once_for_each_kind(tmp_path):
    more = """<transmission name="t"><joint name="j"/></transmission><transmission name="u"/>
    <gazebo><plugin filename="$(find x)" name="${y}"/></gazebo>"""
    inside = '<axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="2"/><dynamics damping="1"/>'
    inside += '<safety_controller k_velocity="1"/><calibration rising="0"/>'
    remarks = read(tmp_path, arm('type="revolute"', inside, more)).remarks
    assert [remark.kind for remark in remarks] == ["dropped"] * 5
    texts = " ".join(remark.text for remark in remarks)
    for what in (
        "<transmission> in <robot> (2 times)",
        "<gazebo>",
        "<dynamics>",
        "<calibration>",
    ):
        assert what in texts


def test_very_many_kinds_are_not_all_named(tmp_path):
    remarks = read(tmp_path, arm(more="".join(f"<x{k}/>" for k in range(200)))).remarks
    assert len(remarks) == 51
    assert "more of other kinds (150 times)" in remarks[-1].text


@pytest.mark.parametrize(
    "text",
    [
        arm().replace("\n", "\r\n"),
        "\n\n  " + arm(),
        "\ufeff" + arm(),
        arm().replace("<robot", "<!-- before --><robot") + "<!-- after -->",
        arm(more="<!-- xacro: ${x} -->"),
        arm().replace('<?xml version="1.0"?>\n', ""),
        arm().replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '),
        arm().replace('"', "'"),
    ],
)
def test_ways_to_write_the_same_file(tmp_path, text):
    assert read(tmp_path, text).linkage == read(tmp_path, arm()).linkage


def test_blanks_before_the_declaration_are_said_and_lines_still_count(tmp_path):
    assert kinds(read(tmp_path, "\n\n" + arm()).remarks) == ["blank-lines"]
    with pytest.raises(FormatError) as caught:
        read(tmp_path, "\n\n" + arm(inside='<origin xyz="1"/>'))
    assert caught.value.line == 10


@pytest.mark.parametrize(
    "declaration",
    [
        '<?xml version="0.0" ?>', '<?xml version="2.0"?>', '<?xml version="1"?>', '<?xml version=""?>', "<?xml?>",
        '<?xml version="1.0 "?>', '<?xml version="1.0" encoding=""?>', '<?xml standalone="no" version="1.0"?>',
    ],
)  # fmt: skip
def test_an_invalid_declaration_is_said(tmp_path, declaration):
    """Old versions of Expat accept some of these, new ones none; common URDF readers accept all."""
    text = arm().replace('<?xml version="1.0"?>', declaration)
    content = read(tmp_path, text)
    assert content.linkage == read(tmp_path, arm()).linkage
    assert kinds(content.remarks) == ["declaration"]
    assert declaration in content.remarks[0].text


def test_an_invalid_declaration_keeps_its_encoding_and_its_lines(tmp_path):
    text = '<?xml\nencoding="{}"\nversion="1.0"\n?>\n<robot name="Bär"><link name="é"/></robot>'
    for encoding in ("iso-8859-1", "utf-8", "windows-1252"):
        (tmp_path / "a.urdf").write_bytes(text.format(encoding).encode(encoding))
        linkage = urdf.read(tmp_path / "a.urdf", Options()).linkage
        assert (linkage.name, [*linkage.links]) == ("Bär", ["é"])
    with pytest.raises(FormatError) as caught:
        read(tmp_path, '<?xml\n\n?>\n<robot name="a"><link name="b"></robot>')
    assert caught.value.line == 4


def test_prefixes_need_no_declaration(tmp_path):
    content = read(tmp_path, arm(more='<drake:collision_filter_group name="g"/>'))
    assert kinds(content.remarks) == ["dropped"]


def test_encodings_that_a_file_declares(tmp_path):
    text = '<?xml version="1.0" encoding="{}"?><robot name="Bär"><link name="é"/></robot>'
    for encoding in ("iso-8859-1", "utf-8", "utf-16", "windows-1252"):
        linkage = read(tmp_path, text.format(encoding).encode(encoding)).linkage
        assert (linkage.name, linkage.links) == ("Bär", ("é",))


def test_a_robot_without_a_name_is_called_after_its_file(tmp_path):
    content = read(tmp_path / "lamp.urdf", '<robot><link name="a"/></robot>')
    assert content.linkage.name == "lamp"
    assert kinds(content.remarks) == ["missing-name"]


# Broken files

JOINT = '<joint name="k" type="fixed"><parent link="{}"/><child link="{}"/></joint>'


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "is empty", None),
        (" \n", "is empty", None),
        ("robot", "not XML", 1),
        ("<robot name='r'>\n<link", "not XML", 2),
        ("<robot name='r'>\n</link>", "mismatched tag", 2),
        (b"<robot name='r'>\n<link name='\xff'/></robot>", "not XML", 2),
        (b'<?xml version="1.0" encoding="klingon"?><robot/>', "klingon", 1),
        (b'<?xml version="1.0" encoding="rot13"?><robot/>', "rot13", 1),
        (b'<?xml version="1.0" encoding="shift_jis"?><robot/>', "multi-byte", 1),
        ("\0", "not XML", 1),
        ("<mujoco/>", "MJCF", 1),
        ("<sdf/>", "SDF", 1),
        ("<html/>", "<robot>", 1),
        ("<robot name='r'/>", "has no links", 1),
        ("<robot name='r'>\n<link/></robot>", "needs a name", 2),
        ("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>", "'a' appears twice", 3),
        (arm(more=JOINT.format("base", "base").replace('"k"', '"j"')), "'j' appears twice", 10),
        (arm(more=JOINT.format("base", "hand")), "is the child of two joints, 'j' and 'k'", 10),
        (arm(more=JOINT.format("hand", "base")), "cycle", None),
        (arm(more=JOINT.format("base", "hund")), "did you mean 'hand'", 10),
        (arm(more='<link name="alone"/>'), "2 roots", None),
        (arm(more='<joint name="k" type="fixed"><child link="hand"/></joint>'), "needs <parent", 10),
        (arm(more='<joint name="k" type="fixed"><parent link="hand"/><child/></joint>'), "needs <child", 10),
        (arm(""), "no type; known types are revolute", 5),
        (arm('type="hinge"'), "'hinge'", 5),
        (arm('type="Revolute"'), "'Revolute'", 5),
        (arm('type="revolute"', '<axis xyz="0 0 0"/>'), "is zero", 8),
        (arm('type="planar"', '<axis xyz="0 -0 0"/>'), "is zero", 8),
        (arm('type="revolute"', '<axis xyz="0 0"/>'), "3 finite numbers", 8),
        (arm('type="revolute"', '<axis xyz="0 0 nan"/>'), "3 finite numbers", 8),
        (arm('type="revolute"', '<limit lower="nan" upper="1"/>'), "finite number", 8),
        (arm(inside='<origin xyz="1 2 x"/>'), "3 finite numbers", 8),
        (arm(inside='<origin xyz="1 2 1_0"/>'), "3 finite numbers", 8),
        (arm(inside='<origin rpy="1 2 1e999"/>'), "3 finite numbers", 8),
        (arm('type="continuous"', '<mimic joint="j" multiplier="x"/>'), "finite number", 8),
        (LINK.format(before="\n", inside='<visual><geometry><box size="1"/></geometry></visual>'), "3 finite", 2),
        (LINK.format(before="\n", inside='<inertial><mass value="nan"/></inertial>'), "finite number", 2),
        (LINK.format(before="\n", inside='<inertial><mass/></inertial>'), "needs the attribute value", 2),
        ('<!DOCTYPE r [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>', "DOCTYPE", 1),
        ('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><robot name="r">&a;</robot>', "DOCTYPE", 1),
        ('\n<!DOCTYPE r SYSTEM "http://x/y.dtd"><robot name="r"/>', "DOCTYPE", 2),
        ('<robot name="&a;"/>', "undefined entity", 1),
        ("<robot>" * 70, "nested deeper", 1),
        ('<robot name="r">\n' + "<gazebo>" * 70, "nested deeper", 2),
        ('<robot name="' + "x" * 2**20 + '"/>', "without a tag", 1),
        ("<robot>" + "<a/>" * (xml.MAX_ELEMENTS + 1), "more than 50,000 elements", 1),
        (b"<robot/>" + b" " * xml.MAX_BYTES, "larger than 16 MiB", None),
    ],
)  # fmt: skip
def test_broken_files_are_refused_with_their_line(tmp_path, text, message, line):
    with pytest.raises(FormatError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert str(tmp_path / "robot.urdf") in str(caught.value)
    assert caught.value.line == line


MORE_LINK = '{}\n<joint name="k" type="fixed"><parent link="hand"/><child link="m"/></joint>'
SCALED = '<link name="m"><visual><geometry>\n<mesh filename="a" scale="{}"/></geometry></visual></link>'
FORGIVEN = [
    (arm('type="continuous"', more='\n<xacro:grey/><xacro:grey x="${y}"/>'), "leftover", "<xacro:grey> (2 times)", 11),
    (arm('type="continuous"', more=MORE_LINK.format(SCALED.format("2 3 4 1"))), "bad-scale", "has 4 numbers", 11),
    (arm('type="continuous"', more=MORE_LINK.format(SCALED.format("2"))), "bad-scale", "has 1 numbers", 11),
    (arm('type="revolute"', '<limit lower="1" upper="-1"/>'), "bad-limits", "allow no value", 8),
    (arm('type="revolute"', '<limit lower="inf" upper="inf"/>'), "bad-limits", "allow no value", 8),
    (arm('type="continuous"', "<mimic/>"), "bad-mimic", "mimics no joint", 8),
    (arm('type="continuous"', '<mimic joint="x"/>'), "bad-mimic", "mimics 'x', which does not exist", 5),
    (arm('type="continuous"', '<mimic joint="j"/>'), "bad-mimic", "mimics 'j', and thereby itself", 5),
    (arm('type="floating"', '<mimic joint="j"/>'), "bad-mimic", "7 values", 8),
    (arm(more=FOLLOWER.format(kind="continuous", limit="", mimic='<mimic joint="j"/>')), "bad-mimic", "0 values", 11),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "message", "line"), FORGIVEN)
def test_what_is_wrong_costs_only_its_part_and_strict_refuses(tmp_path, text, kind, message, line):
    content = read(tmp_path, text)
    (remark,) = [remark for remark in content.remarks if remark.kind == kind]
    assert message in remark.text
    assert remark.line == line
    assert content.linkage.nv > 0
    assert np.isinf(content.linkage.lower).all()
    with pytest.raises(FormatError) as caught:
        urdf.read(tmp_path / "robot.urdf", Options(strict=True))
    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(("scale", "expected"), [("2 3 4 1", (2, 3, 4)), ("2", (2, 2, 2))])
def test_a_scale_of_one_or_four_numbers(tmp_path, scale, expected):
    text = LINK.format(before="", inside=f'<visual><geometry><mesh filename="a" scale="{scale}"/></geometry></visual>')
    (visual,) = read(tmp_path, text).linkage.nodes[0].visuals
    assert visual.shape.scale == expected


def test_a_mark_of_xacro_in_the_name_of_a_mesh_costs_the_mesh(tmp_path):
    content = read(tmp_path, LINK.format(before="", inside=MESH.format("$(find p)/a.stl")))
    assert kinds(content.remarks) == ["missing-mesh"]


def test_a_circle_of_followers_is_opened_once(tmp_path):
    ring = "".join(
        FOLLOWER.format(kind="continuous", limit="", mimic=f'<mimic joint="{leader}"/>')
        .replace('"f"', f'"{name}"')
        .replace('"finger"', f'"{name}_link"')
        for name, leader in (("p", "q"), ("q", "r"), ("r", "q"))
    )
    linkage = read(tmp_path, arm(more=ring)).linkage
    assert linkage.coordinates == ("r",)


def chain(n: int) -> str:
    links = "".join(f'<link name="l{k}"/>' for k in range(n + 1))
    joints = (
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        for k in range(n)
    )
    return f'<robot name="chain">{links}{"".join(joints)}</robot>'


def test_a_long_chain_is_read_and_a_very_long_one_refused(tmp_path):
    assert read(tmp_path, chain(5_000)).linkage.nq == 5_000
    with pytest.raises(FormatError, match="elements"):
        read(tmp_path, chain(100_000))


def test_a_file_that_is_not_there():
    with pytest.raises(FormatError, match="cannot be read"):
        urdf.read("nowhere/robot.urdf")


SEED = arm(
    'type="revolute"',
    '<origin xyz="1 2 3" rpy="1 0 1"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1"/>',
    FOLLOWER.format(kind="prismatic", limit="", mimic='<mimic joint="j" multiplier="2"/>')
    + '<link name="m"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    + MESH.format("package://p/a.stl")
    + '<visual><geometry><box size="1 1 1"/></geometry><material name="c"><color rgba="0 0 0 1"/></material></visual>'
    + '</link><joint name="k" type="fixed"><parent link="hand"/><child link="m"/></joint>',
).encode()
PIECES = b'< > " / nan 1e999 - link <joint </robot> \0 \xff 0 ${ &#0; <!DOCTYPE'.split(b" ")
DAMAGES = st.tuples(st.integers(0, len(SEED)), st.integers(0, 40), st.sampled_from(PIECES) | st.binary(max_size=4))


@settings(max_examples=300, deadline=None)
@given(st.lists(DAMAGES, min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused(tmp_path_factory, damages):
    data = SEED
    for at, length, piece in damages:
        data = data[:at] + piece + data[at + length :]
    folder = tmp_path_factory.getbasetemp()
    try:
        content = read(folder / "damaged.urdf", data)
    except FormatError:
        return
    assert content.linkage.links


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    with pytest.raises(FormatError):
        read(tmp_path_factory.getbasetemp() / "bytes.urdf", data)


def test_what_stands_after_the_end_is_left_out(tmp_path):
    text = arm() + "</robot>\n"
    content = read(tmp_path, text)
    assert [(remark.kind, remark.line) for remark in content.remarks] == [("rest", text.count("\n"))]
    with pytest.raises(FormatError, match=r"content after </robot>"):
        read(tmp_path, text, strict=True)
