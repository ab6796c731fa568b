"""Written URDF files: linkwork reads the same linkage again, and other readers get the same motion."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose

import linkwork as lw
from linkages import JOINTS, one_joint, random_transform, random_tree
from linkwork.errors import FormatError, Remark
from linkwork.formats import urdf
from linkwork.formats.content import Content
from linkwork.linkage.geometry import Box, Capsule, Inertia, Mesh, Polyline, Sphere, Visual
from linkwork.linkage.joints import (
    Ball,
    Continuous,
    Fixed,
    Floating,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Screw,
)
from linkwork.linkage.linkage import Frame, Link, Linkage
from linkwork.linkage.motion_limits import MOTION_LIMITS
from linkwork.linkage.tree import Loop
from linkwork.motion.clips import Clip
from robots import LINK, MESH, kinds, read, same_as_pinocchio


def rewritten(linkage: Linkage, folder: Path) -> tuple[Linkage, tuple[Remark, ...]]:
    remarks = urdf.write(Content(linkage), folder / "out.urdf")
    return urdf.read(folder / "out.urdf").linkage, remarks


def same_motion(first: Linkage, second: Linkage, seed: int = 0, tolerance: float = 1e-12) -> None:
    """Check that two linkages with the same coordinates have the frames of the first at the same transforms."""
    assert sorted(first.coordinates) == sorted(second.coordinates)
    order = [first.coordinates.index(name) for name in second.coordinates]
    for q in first.random_pose(seed, 3):
        frames, others = first.forward(q), second.forward(q[order])
        for name in first.frames:
            assert_allclose(others[name], frames[name], rtol=0, atol=tolerance)


def test_real_robots_are_the_same_when_written_and_read_again(robot, tmp_path):
    linkage = urdf.read(robot).linkage
    again, _ = rewritten(linkage, tmp_path)
    same_motion(linkage, again)
    assert (again.name, again.links, again.coordinates) == (linkage.name, linkage.links, linkage.coordinates)
    assert_allclose(again.lower, linkage.lower, rtol=0, atol=0)
    assert_allclose(again.upper, linkage.upper, rtol=0, atol=0)
    for what in MOTION_LIMITS:
        assert getattr(again, what).tolist() == getattr(linkage, what).tolist()
    for old, new in zip(linkage.nodes, again.nodes, strict=True):
        assert new.inertia == old.inertia
        assert [(v.shape, v.color, v.role) for v in new.visuals] == [(v.shape, v.color, v.role) for v in old.visuals]
        for a, b in zip(old.visuals, new.visuals, strict=True):
            assert_allclose(b.placement, a.placement, rtol=0, atol=1e-15)
    third, _ = rewritten(again, tmp_path)
    assert third == again  # after one round trip, nothing changes


def test_pinocchio_reads_what_is_written(robot, tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed", exc_type=ImportError)
    linkage = urdf.read(robot).linkage
    urdf.write(Content(linkage), tmp_path / "out.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "out.urdf"))
    same_as_pinocchio(pin, model, linkage)


def test_a_frame_has_a_name_of_its_own(tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed", exc_type=ImportError)
    lw.save(lw.models.two_link(), tmp_path / "arm.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    assert model.frames[model.getFrameId("tip")].name == "tip"  # a joint of that name would be refused as ambiguous


@pytest.mark.parametrize("joint", JOINTS)
def test_every_joint_is_written_so_that_it_moves_alike(joint, tmp_path):
    linkage = one_joint(JOINTS[joint])
    again, remarks = rewritten(linkage, tmp_path)
    same_motion(linkage, again)
    assert "dropped" not in kinds(remarks)
    order = [again.coordinates.index(name) for name in linkage.coordinates]
    assert_allclose(again.lower[order], linkage.lower, rtol=0, atol=0)
    assert_allclose(again.upper[order], linkage.upper, rtol=0, atol=0)


@pytest.mark.parametrize("seed", range(10))
def test_random_trees_are_written_so_that_they_move_alike(seed, tmp_path):
    linkage = random_tree(np.random.default_rng(seed), 20)
    again, _ = rewritten(linkage, tmp_path)
    same_motion(linkage, again, seed)
    third, _ = rewritten(again, tmp_path)
    assert third.links == again.links
    same_motion(again, third, seed)


SAME = {
    "fixed": Fixed(),
    "revolute": Revolute((0.6, 0.0, 0.8), -0.1, 1.3),
    "revolute-one-sided": Revolute("x", lower=-2.0),
    "continuous": Continuous((2, 1, 2)),
    "prismatic": Prismatic("-y", 0.0, 0.1),
    "prismatic-unlimited": Prismatic("z"),
    "planar": Planar((1, 2, 3)),
    "ball": Ball(),
    "floating": Floating(),
}


@pytest.mark.parametrize("kind", SAME)
def test_what_urdf_can_hold_comes_back_equal(kind, tmp_path):
    rng = np.random.default_rng(1)
    shapes = (
        Visual(Box((1, 2, 3)), (0.1, 0.2, 0.3), (0.1, 0.5, 1.0)),
        Visual(Mesh("a & <b>.stl", (0.001, 0.001, 0.001)), role="collision"),
        Visual(Capsule(0.1, 0.3)),
    )
    moments = rng.normal(size=(3, 3))
    links = [Link("base", shapes, inertia=Inertia(1.2, (1, 2, 3), moments + moments.T)), Link("a"), Link("b")]
    placement = np.eye(4)
    placement[:3, 3] = rng.normal(size=3)
    joints = [Joint("j", "base", "a", SAME[kind], placement), Joint("k", "base", "b", Revolute("y", -1, 1))]
    if SAME[kind].nq == 1:
        joints[1] = Joint("k", "base", "b", Revolute("y", -1, 1), mimic=Mimic("j", -0.3, 0.1))
    linkage = Linkage(links, joints, name='quotes " & <tags>\n')
    again, _ = rewritten(linkage, tmp_path)
    assert again == linkage


@pytest.mark.parametrize("seed", range(20))
def test_rotations_are_written_to_the_last_digit_but_one(seed, tmp_path):
    rng = np.random.default_rng(seed)
    placement = random_transform(rng)
    if seed % 4 == 0:  # near gimbal lock, and at it
        pitch = math.copysign(math.pi / 2 - (seed % 3) * 1e-9, seed % 8 - 1)
        c, s = math.cos(pitch), math.sin(pitch)
        placement[:3, :3] = placement[:3, :3] @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ placement[:3, :3].T
        yaw, roll = rng.normal(size=2)
        placement[:3, :3] = urdf_turn(roll, pitch, yaw)
    linkage = Linkage([Link("a"), Link("b")], [Joint("j", "a", "b", Fixed(), placement)])
    again, _ = rewritten(linkage, tmp_path)
    assert_allclose(again.joint("j").placement, placement, rtol=0, atol=1e-15)


def urdf_turn(roll: float, pitch: float, yaw: float) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()


def test_what_urdf_cannot_hold_is_said(tmp_path):
    node = np.eye(4)
    node[0, 3] = 1.0
    ring = Polyline(((0, 0, 0), (1, 0, 0)))
    shapes = (Visual(ring), Visual(Sphere(1.0), (0, 0, 1), (1, 0, 0), "collision"))
    linkage = Linkage(
        [Link("a", shapes, node), Link("b"), Link("c")],
        [Joint("s", "a", "b", Screw("z", -1, 1, 0.5)), Joint("e", "b", "c", Ball("ZYX"))],
        frames=[Frame("tip", "c", (0, 0, 1))],
        root=Joint("base", None, "a", Planar()),
        poses={"home": [0.0] * 7},
        loops=[Loop("closed", "a", "tip")],
    )
    clip = Clip(linkage, [0.0, 1.0], np.zeros((2, 7)))
    remarks = urdf.write(Content(linkage, {"wave": clip}), tmp_path / "out.urdf")
    dropped = " ".join(remark.text for remark in remarks if remark.kind == "dropped")
    for what in ("1 named pose ", "1 closed loop ", "1 clip ", "'polyline'", "node transforms", "collision shapes"):
        assert what in dropped
    split = [remark.where for remark in remarks if remark.kind == "split"]
    assert split == ["base", "s", "e", "tip"]
    again = urdf.read(tmp_path / "out.urdf").linkage
    same_motion(linkage, again)
    assert_allclose(again.link("a").visuals[0].placement[:3, 3], [1, 0, 1])


def test_a_name_that_xml_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    linkage = Linkage([Link("a\x01")])
    (tmp_path / "out.urdf").write_text("before", encoding="utf-8")
    with pytest.raises(FormatError, match="rename it"):
        urdf.write(Content(linkage), tmp_path / "out.urdf")
    assert (tmp_path / "out.urdf").read_text(encoding="utf-8") == "before"


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff"), min_size=1))
def test_names_may_be_anything(tmp_path_factory, name):
    linkage = Linkage([Link(name), Link(name + "2")], [Joint(name, name, name + "2")], name=name)
    again, _ = rewritten(linkage, tmp_path_factory.getbasetemp())
    assert again == linkage


def test_a_mesh_that_is_left_behind_is_said(tmp_path):
    (tmp_path / "a.stl").write_text("solid", encoding="utf-8")
    content = read(tmp_path, LINK.format(before="", inside=MESH.format("a.stl")))
    assert urdf.write(content, tmp_path / "beside.urdf") == ()
    (tmp_path / "elsewhere").mkdir()
    assert kinds(urdf.write(content, tmp_path / "elsewhere" / "out.urdf")) == ["missing-mesh"]


READ_BY_OTHERS = ["screw-z", "universal-limited", "ball-ZYX", "planar-limited", "planar-z", "floating"]


@pytest.mark.parametrize("joint", READ_BY_OTHERS)
def test_pinocchio_reads_the_parts_of_a_joint(joint, tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    linkage = one_joint(JOINTS[joint])
    again, _ = rewritten(linkage, tmp_path)
    same_as_pinocchio(pin, pin.buildModelFromUrdf(str(tmp_path / "out.urdf")), again)


@pytest.mark.parametrize("joint", ["ball", "revolute-oblique", "prismatic-limited", "continuous-x"])
def test_mujoco_reads_the_same_joint(joint, tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    linkage = one_joint(JOINTS[joint])
    heavy = {name: {"inertia": Inertia(1.0, (0, 0, 0), np.eye(3))} for name in linkage.links}
    linkage = linkage.replace(links=heavy, frames=[], root=np.eye(4))
    urdf.write(Content(linkage), tmp_path / "out.urdf")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out.urdf"))
    data = mujoco.MjData(model)
    q = linkage.random_pose(2)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    frames = linkage.forward(q)
    for name in ("child", "grandchild"):
        assert_allclose(data.body(name).xpos, frames[name][:3, 3], rtol=0, atol=1e-9)
        assert_allclose(data.body(name).xmat.reshape(3, 3), frames[name][:3, :3], rtol=0, atol=1e-9)


# Limits of motion


@pytest.mark.parametrize("articulation", [Revolute("z", -1, 1), Continuous("x"), Prismatic("y", 0, 2), Screw(lead=0.1)])
def test_limits_of_motion_come_back(tmp_path, articulation):
    given = {"velocity": 2.5, "effort": 87.0, "acceleration": 7.0}
    linkage = Linkage([Link("a"), Link("b")], [Joint("j", "a", "b", articulation, **given)])
    again, _ = rewritten(linkage, tmp_path)
    assert {what: getattr(again, what).item() for what in MOTION_LIMITS} == given


def test_a_limit_of_motion_that_is_not_there_is_not_there_again(tmp_path):
    linkage = Linkage([Link("a"), Link("b")], [Joint("j", "a", "b", Revolute("z", -1, 1), velocity=2.5)])
    again, remarks = rewritten(linkage, tmp_path)
    assert (again.velocity.item(), again.effort.item()) == (2.5, math.inf)
    assert "assumed" in kinds(remarks)


def test_limits_of_motion_of_joints_in_parts_are_those_of_the_parts(tmp_path):
    ball = Joint("j", "a", "b", Ball("ZYX"), velocity=[1, 2, 3])
    again, _ = rewritten(Linkage([Link("a"), Link("b")], [ball]), tmp_path)
    assert again.velocity.tolist() == [1, 2, 3]


def test_limits_of_motion_that_urdf_has_not_are_said_to_be_lost(tmp_path):
    planar = Joint("j", "a", "b", Planar(), velocity=[1, 2, 3])
    again, remarks = rewritten(Linkage([Link("a"), Link("b")], [planar]), tmp_path)
    assert "dropped" in kinds(remarks)
    assert np.isinf(again.velocity).all()


# Capsules, which URDF does not have


def capsules(role: str = "collision") -> Linkage:
    """An arm whose moving link is an oblique capsule with a mass."""
    place = random_transform(np.random.default_rng(3))
    shapes = (Visual(Sphere(0.02), role=role), Visual(Capsule(0.1, 0.3), place, role=role))
    links = [Link("base"), Link("arm", shapes, inertia=Inertia(1.0, (0, 0, 0), np.eye(3)))]
    return Linkage(links, [Joint("j", "base", "arm", Revolute("z", -1, 1))])


def test_a_capsule_is_written_in_parts_that_every_reader_knows(tmp_path):
    again, remarks = rewritten(capsules(), tmp_path)
    text = (tmp_path / "out.urdf").read_text(encoding="utf-8")
    assert "<capsule" not in text
    assert (text.count("<cylinder"), text.count("<sphere")) == (1, 3)
    assert any("cylinder and two spheres" in remark.text for remark in remarks)
    visual, same = again.link("arm").visuals[1], capsules().link("arm").visuals[1]
    assert (visual.shape, visual.role) == (same.shape, same.role)
    assert_allclose(visual.placement, same.placement, rtol=0, atol=1e-15)


def test_mujoco_reads_the_parts_of_a_capsule_where_it_stands(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    rewritten(capsules(), tmp_path)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out.urdf"))
    data = mujoco.MjData(model)
    data.qpos[:] = 0.4
    mujoco.mj_forward(model, data)
    world = lw.transforms.transform(rotation=urdf_turn(0, 0, 0.4)) @ capsules().link("arm").visuals[1].placement
    ends = [world @ (0, 0, side * 0.15, 1) for side in (1, -1)]
    assert_allclose(data.geom_xpos[1:], [world[:3, 3], *(end[:3] for end in ends)], rtol=0, atol=1e-12)
    assert model.geom_size[1:, 0].tolist() == [0.1, 0.1, 0.1]


def test_pinocchio_reads_the_parts_of_a_capsule(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    rewritten(capsules(), tmp_path)
    path = str(tmp_path / "out.urdf")
    shapes = pinocchio.buildGeomFromUrdf(pinocchio.buildModelFromUrdf(path), path, pinocchio.GeometryType.COLLISION)
    assert len(shapes.geometryObjects) == 4


@pytest.mark.parametrize("change", ["name", "place", "size", "order"])
def test_shapes_that_are_no_capsule_stay_what_they_are(change, tmp_path):
    rewritten(capsules(), tmp_path)
    path = tmp_path / "out.urdf"
    text = path.read_text(encoding="utf-8")
    end = text.index('.bottom"')
    if change == "name":
        text = text.replace(".bottom", ".side")
    elif change == "place":
        text = text[:end] + re.sub('xyz="[^"]*"', 'xyz="0 0 9"', text[end:], count=1)
    elif change == "size":
        text = text[:end] + text[end:].replace('radius="0.1"', 'radius="0.11"', 1)
    else:
        text = text.replace(".top", ".first").replace(".bottom", ".top").replace(".first", ".bottom")
    path.write_text(text, encoding="utf-8")
    assert [visual.shape.kind for visual in urdf.read(path).linkage.link("arm").visuals] == [
        "sphere",
        "cylinder",
        "sphere",
        "sphere",
    ]
