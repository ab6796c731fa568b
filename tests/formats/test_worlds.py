"""Worlds in files: linkwork's scenes, MoveIt's planning scenes, MJCF, and other fixed geometry."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkages import random_transform
from linkwork.errors import FormatError, LinkageError, OptionError
from linkwork.formats.options import DEFAULTS
from linkwork.formats.worlds import read_world
from scenes import ODD_NAMES

CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]
SHAPES = {
    "box": lw.Box((1, 2, 1 / 3)),
    "ball": lw.Sphere(0.2),
    "can": lw.Cylinder(0.1, 0.5),
    "pill": lw.Capsule(0.1, 0.5),
    "floor": lw.HalfSpace(),
    "hull": lw.Hull(CORNERS),
    "triangles": lw.TriangleMesh(CORNERS, FACES),
    "field": lw.HeightField([[0.0, 1.0, 0.5], [0.25, 0.75, 0.125]], (1, 2), 0.3),
    "cloud": lw.PointCloud(CORNERS, 0.1),
    "mesh": lw.Mesh("cup.stl", (0.001, 0.001, 0.001)),
}


def world() -> lw.World:
    rng = np.random.default_rng(7)
    made = [lw.Obstacle(shape, random_transform(rng), name, color=(0.25, 0.5, 1)) for name, shape in SHAPES.items()]
    cup = lw.Obstacle(lw.Cylinder(0.04, 0.1), random_transform(rng), "cup", link="hand", touches=("finger", "thumb"))
    return lw.World([*made, cup])


# linkwork's scenes


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_scene_holds_every_obstacle_to_the_last_bit(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"world{suffix}"
    assert world().save(path) == ()
    again = read_world(path, DEFAULTS)[0]
    assert again == world()
    assert [obstacle.pose.tobytes() for obstacle in again] == [obstacle.pose.tobytes() for obstacle in world()]


def test_names_are_kept_whatever_they_look_like(tmp_path: Path) -> None:
    odd = lw.World(lw.Obstacle(lw.Sphere(1), name=name) for name in ODD_NAMES)
    odd.save(tmp_path / "odd.yaml")
    assert lw.load_world(tmp_path / "odd.yaml").names == ODD_NAMES


def test_a_scene_may_hold_a_linkage_and_the_world_around_it(tmp_path: Path) -> None:
    arm, around = lw.models.planar([2, 1]), world().without("mesh")
    around.save(tmp_path / "cell.yaml", linkage=arm)
    assert lw.load(tmp_path / "cell.yaml") == arm
    assert lw.load_world(tmp_path / "cell.yaml") == around
    around.save(tmp_path / "world.yaml")
    with pytest.raises(FormatError, match="world of 10 obstacles but no linkage"):
        lw.load(tmp_path / "world.yaml")
    lw.save(arm, tmp_path / "arm.yaml")
    assert len(lw.load_world(tmp_path / "arm.yaml")) == 0


def test_obstacles_share_the_shapes_of_a_scene(tmp_path: Path) -> None:
    text = "linkwork: 2\nshapes: {post: {kind: cylinder, radius: 0.1, length: 1}}\nobstacles:\n"
    (tmp_path / "s.yaml").write_text(
        f"{text}  - {{shape: post}}\n  - {{shape: post, at: [1, 0, 0], name: far}}\n", encoding="utf-8"
    )
    found = lw.load_world(tmp_path / "s.yaml")
    assert found.names == ("cylinder1", "far")
    assert found["far"].shape == lw.Cylinder(0.1, 1.0)


def test_a_mesh_that_is_not_there_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    world().save(tmp_path / "world.yaml")
    with caplog.at_level(logging.WARNING, "linkwork"):
        lw.load_world(tmp_path / "world.yaml")
    assert "cup.stl" in caplog.text


# MoveIt's


@pytest.mark.parametrize("name", ["w.yaml", "w.json", "w.scene"])
def test_a_planning_scene_holds_what_moveit_has(name: str, tmp_path: Path) -> None:
    text = name.endswith(".scene")
    written = world().save(tmp_path / name, kind="moveit")
    again, _ = read_world(tmp_path / name, DEFAULTS)
    kept = ["box", "ball", "can", "floor", "triangles"] + ([] if text else ["mesh", "cup"])
    for known in kept:
        assert again[known].shape == world()[known].shape
        np.testing.assert_allclose(again[known].pose, world()[known].pose, atol=1e-12)
    assert [again[f"pill/{k}"].shape.kind for k in (1, 2, 3)] == ["cylinder", "sphere", "sphere"]
    assert [again[f"cloud/{k}"].shape for k in (1, 2, 3, 4)] == [lw.Sphere(0.1)] * 4
    assert all(isinstance(again[k].shape, lw.TriangleMesh) and again[k].shape.closed for k in ("hull",))
    if not text:
        assert (again["cup"].link, again["cup"].touches) == ("hand", ("finger", "thumb"))
    assert {remark.where for remark in written if remark.kind == "dropped"} == ({"mesh", "cup"} if text else set())


MESSAGE = """
name: (noname)+
is_diff: false
robot_state:
  attached_collision_objects:
    - link_name: hand
      touch_links: [hand, finger]
      object: {header: {frame_id: hand}, id: cup, pose: {position: {x: 0, y: 0, z: 0.1}},
               primitives: [{type: 3, dimensions: [0.2, 0.03]}],
               primitive_poses: [{orientation: {x: 0, y: 0, z: 0, w: 1}}]}
    - {link_name: hand, object: {header: {frame_id: elbow}, id: lost, primitives: [{type: 2, dimensions: [1]}]}}
allowed_collision_matrix:
  entry_names: [shelf, base, finger]
  entry_values: [[false, true, false], [true, false, false], {enabled: [false, false, false]}]
fixed_frame_transforms:
  - {header: {frame_id: camera}, child_frame_id: base,
     transform: {translation: [1, 2, 3], rotation: [0, 0, 0.70710678118, 0.70710678118]}}
world:
  collision_objects:
    - header: {frame_id: /camera}
      id: shelf
      primitives: [{type: box, dimensions: [1, 2, 3]}, {type: sphere, dimensions: [0.5]}]
      primitive_poses: [{position: [1, 0, 0], orientation: [0, 0, 0, 1]}, {position: [0, 0, 0]}]
      subframe_names: [corner]
    - {header: {frame_id: base}, id: top, operation: 1, primitives: [{type: 1, dimensions: [1, 1, 1]}]}
    - {header: {frame_id: base}, id: hat, primitives: [{type: cone, dimensions: [0.4, 0.2]}]}
    - {header: {frame_id: base}, id: wall, planes: [{coef: [2, 0, 0, -4]}]}
    - {header: {frame_id: base}, id: sheet, meshes: [{vertices: [{x: 0, y: 0, z: 0}, [1, 0, 0], [0, 1, 0]],
       triangles: [{vertex_indices: [0, 1, 2]}]}]}
  octomap: {octomap: {data: [1, 2]}}
"""


def test_a_message_as_ros_prints_it(tmp_path: Path) -> None:
    (tmp_path / "scene.yaml").write_text(MESSAGE, encoding="utf-8")
    found, remarks = read_world(tmp_path / "scene.yaml", DEFAULTS)
    assert found.names == ("shelf/1", "shelf/2", "hat", "wall", "sheet", "cup")
    np.testing.assert_allclose(found["shelf/1"].pose[:3, 3], (1, 3, 3), atol=1e-9)  # the camera is turned by 90 degrees
    assert found["shelf/1"].touches == ("base",)
    assert found["cup"] == lw.Obstacle(lw.Cylinder(0.03, 0.2), (0, 0, 0.1), "cup", "hand", ["finger"])
    hat = np.asarray(found["hat"].shape.points)
    assert np.abs(hat[:, 2]).max() == 0.2
    assert np.hypot(*hat[:, :2].T).max() == pytest.approx(0.2, rel=0.01)
    wall = found["wall"].pose
    np.testing.assert_allclose(wall[:3, 2], (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(wall[:3, 3], (2, 0, 0), atol=1e-15)
    said = " ".join(remark.text for remark in remarks)
    for part in (
        "'lost' is left out",
        "subframes",
        "'remove'",
        "cone",
        "half-space",
        "octomap",
        "disabled_pairs",
        "'base'",
    ):
        assert part in said
    lines = [remark.line for remark in remarks if "subframes" in remark.text]
    assert lines == [20]


OLD_SCENE = (
    "(noname)+\n* a box\n1\nbox\n1 2 3\n1 0 0\n0 0 0 1\n0 0 0 0\n* ball\n1\nsphere\n0.5\n0 0 0\n0 0 0 1\n1 0 0 1\n.\n"
)
NEW_SCENE = """(noname)+
* tool
1 0 0
0 0 0.70710678118 0.70710678118
2
cone
0.1 0.4
0 0 0
0 0 0 1
0 0 0 0
mesh
3 1
0 0 0
1 0 0
0 1 0
0 1 2
1 0 0
0 0 0 1
0 0 0 0
1
tip
0 0 1
0 0 0 1
.
"""


def test_both_ways_of_scene_texts_are_read(tmp_path: Path) -> None:
    (tmp_path / "old.scene").write_text(OLD_SCENE, encoding="utf-8")
    old = lw.load_world(tmp_path / "old.scene")
    assert old.names == ("a box", "ball")
    assert old["ball"].color == (1.0, 0.0, 0.0)
    assert old["a box"].color is None
    (tmp_path / "new.scene").write_text(NEW_SCENE, encoding="utf-8")
    new, remarks = read_world(tmp_path / "new.scene", DEFAULTS)
    np.testing.assert_allclose(new["tool/2"].pose[:3, 3], (1, 1, 0), atol=1e-9)
    assert [remark.kind for remark in remarks] == ["approximate", "dropped"]


# MuJoCo's

MODEL = """<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="5 6 7 1 2 3"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <geom name="shown" type="box" size="1 1 1" contype="0" conaffinity="0"/>
  <body name="table" pos="1 0 0"><geom size=".1"/>
    <body pos="0 1 0"><geom name="leg" type="ellipsoid" size=".1 .2 .3"/></body></body>
  <body name="base"><geom name="base" size=".1"/><body name="arm"><joint/><geom name="arm" size=".1"/></body></body>
  <geom name="ground" type="hfield" hfield="h"/>
</worldbody></mujoco>"""


def test_what_cannot_move_in_a_model_is_an_obstacle(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(MODEL, encoding="utf-8")
    found, remarks = read_world(tmp_path / "m.xml", DEFAULTS)
    assert found.names == ("floor", "ground", "table", "leg")
    assert found["leg"].pose[:3, 3].tolist() == [1.0, 1.0, 0.0]
    assert {remark.kind for remark in remarks} == {"dropped", "approximate"}
    model = mujoco.MjModel.from_xml_string(MODEL)
    field = found["ground"].shape
    assert isinstance(field, lw.HeightField)
    np.testing.assert_allclose(field.heights, model.hfield_data.reshape(2, 3) * 0.5, atol=1e-7)
    assert (field.size, field.depth) == ((2.0, 4.0), 0.1)
    inside = np.asarray(found["leg"].shape.points) / [0.1, 0.2, 0.3]
    assert (np.linalg.norm(inside, axis=1) > 1.0).all()


def test_a_world_written_as_mjcf_is_the_same_in_mujoco(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    around = world().without("mesh")
    written = around.save(tmp_path / "w.xml")
    assert {remark.where for remark in written if remark.kind == "dropped"} == {"cup"}
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "w.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    again, _ = read_world(tmp_path / "w.xml", DEFAULTS)
    for known in ("box", "ball", "can", "pill", "floor", "hull", "triangles"):
        assert again[known].shape == around[known].shape
        np.testing.assert_allclose(again[known].pose, around[known].pose, atol=1e-12)
    ground, field = around["field"].pose, around["field"].shape
    for x, y in ((-0.49, -0.99), (0.0, 0.9), (0.49, -0.9)):  # a vertical ray meets the ground at its height
        down = -ground[:3, 2].copy()
        top = ground @ np.array([x, y, 3.0, 1.0])
        reach = mujoco.mj_rayHfield(model, data, model.geom("field").id, top[:3].copy(), down)
        at = np.clip([(y + 1.0) / 2.0, (x + 0.5) * 2.0], 0.0, [0.999, 1.999])
        row, column = int(at[0]), int(at[1])
        corner = field.heights[row : row + 2, column : column + 2]
        assert corner.min() - 0.01 <= 3.0 - reach <= corner.max() + 0.01


# Others


def test_a_linkage_that_stands_still_is_a_world(tmp_path: Path) -> None:
    links = "<link name='frame'><collision><geometry><box size='1 1 1'/></geometry></collision><visual><geometry>"
    links += "<sphere radius='9'/></geometry></visual></link><link name='door'><collision><geometry><box size='1 2 3'/>"
    links += "</geometry></collision><collision><geometry><sphere radius='1'/></geometry></collision></link>"
    joint = "<joint name='j' type='prismatic'><parent link='frame'/><child link='door'/><origin xyz='0 0 1'/>"
    joint += "<axis xyz='0 0 1'/><limit lower='0' upper='2' effort='1' velocity='1'/></joint>"
    (tmp_path / "k.urdf").write_text(f"<robot name='k'>{links}{joint}</robot>", encoding="utf-8")
    found = lw.load_world(tmp_path / "k.urdf")
    assert found.names == ("frame", "door/1", "door/2")
    assert found["door/1"].pose[2, 3] == 2.0  # halfway between its limits
    kitchen = lw.load(tmp_path / "k.urdf")
    assert lw.World.from_linkage(kitchen, kitchen.pose(j=0.0))["door/2"].pose[2, 3] == 1.0


# Refused input

OWN, MOVEIT = "linkwork: 2\nobstacles:\n  - ", "world: {{collision_objects: [{{id: a, {}}}]}}"
BAD = {
    "an unknown field": (OWN + "{shap: box}", "w.yaml:3: .*no field 'shap'; did you mean 'shape'"),
    "an unknown shape": (OWN + "{shape: box}", r"w.yaml:3: obstacles\[0\].shape: no shape 'box'"),
    "an inverted box": (OWN + "{shape: {kind: box, size: [1, -1, 1]}}", ":3: .*must be positive"),
    "a name twice": (OWN + "\n  - ".join(["{name: a, shape: {kind: half_space}}"] * 2), "'a' appears twice"),
    "a flat hull": (OWN + "{shape: {kind: hull, points: [[0, 0, 0]]}}", "n >= 4, 3"),
    "a NaN": (OWN + "{shape: {kind: half_space}, at: [0, 0, .nan]}", ":3: .nan is not a finite number"),
    "something else": ("goals: []", "not a world: a scene has 'linkwork'"),
    "a list": ("[1, 2]", "not a world"),
    "objects that are none": ("world: {collision_objects: 3}", "collision objects must be a list, got '3'"),
    "half a pose": (MOVEIT.format("planes: [{coef: [0, 0, 1, 0]}], plane_poses: [1]"), "a pose must be a mapping"),
    "an unknown primitive": (MOVEIT.format("primitives: [{type: 9}]"), "unknown primitive 9; known are box"),
    "too few sizes": (MOVEIT.format("primitives: [{type: 1, dimensions: [1]}]"), "3 numbers, got"),
    "a negative size": (MOVEIT.format("primitives: [{type: 2, dimensions: [-1]}]"), "sphere radius must be positive"),
    "a long quaternion": (MOVEIT.format("pose: {orientation: [0, 0, 0, 3]}"), "a quaternion must have length 1, got 3"),
    "more poses than shapes": (MOVEIT.format("primitive_poses: [{}]"), "1 poses do not match 0 primitives"),
    "a plane without a direction": (MOVEIT.format("planes: [{coef: [0, 0, 0, 1]}]"), "direction"),
    "a missing corner": (
        MOVEIT.format("meshes: [{vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 5]]}]"),
        "corners 0 to 2, got 5",
    ),
    "held by nobody": ("robot_state: {attached_collision_objects: [{object: {id: a}}]}", "needs link_name"),
}
BAD_TEXTS = {
    "no objects": ("name\n", "ends where an object or the final dot"),
    "no star": ("name\nbox\n.\n", r":2: an object begins with '\* name', got 'box'"),
    "a word": ("name\n* a\n1\nbox\n1 x 3\n", ":5: the size of a box: 3 finite numbers expected, got '1 x 3'"),
    "a NaN": ("name\n* a\n1\nsphere\nnan\n", ":5: the radius of a sphere: 1 finite number expected"),
    "many shapes": ("name\n* a\n1e9\n", "whole number up to 100,000"),
    "a large mesh": ("name\n* a\n1\nmesh\n1000000 1000000\n", "are not in this file"),
    "an unknown shape": ("name\n* a\n1\ntorus\n1\n", "unknown shape 'torus'; known are box"),
    "an inverted box": ("name\n* a\n1\nbox\n1 -1 1\n0 0 0\n0 0 0 1\n0 0 0 0\n.\n", ":4: object 'a': box size must"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_documents_are_named(case: str, tmp_path: Path) -> None:
    text, said = BAD[case]
    (tmp_path / "w.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        lw.load_world(tmp_path / "w.yaml")


@pytest.mark.parametrize("case", BAD_TEXTS)
def test_wrong_scene_texts_are_named(case: str, tmp_path: Path) -> None:
    text, said = BAD_TEXTS[case]
    (tmp_path / "w.scene").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        lw.load_world(tmp_path / "w.scene")


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"unknown format '.stl' of worlds; known formats: .yaml"):
        lw.load_world(tmp_path / "w.stl")
    with pytest.raises(FormatError, match=r"worlds cannot be written as '.bvh'"):
        world().save(tmp_path / "w.bvh")
    with pytest.raises(OptionError, match="'mjcf', got 'moveit'"):
        world().save(tmp_path / "w.xml", kind="moveit")
    with pytest.raises(LinkageError, match="stores only the world"):
        world().save(tmp_path / "w.xml", linkage=lw.models.planar([1]))
    assert not list(tmp_path.iterdir())
