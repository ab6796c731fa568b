"""The add-on for Blender, run in Blender: ``pip install bpy`` is 370 MB, so it is not in the dev extra."""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw

bpy = pytest.importorskip("bpy")
from mathutils import Euler, Matrix, Vector  # noqa: E402 - it comes with bpy

ADDON = Path(__file__).parents[2] / "extras/blender/linkwork_blender.py"


@pytest.fixture(scope="module")
def addon() -> Any:
    spec = importlib.util.spec_from_file_location("linkwork_blender", ADDON)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def scene(addon: Any) -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon.register()
    bpy.context.scene.render.fps = 24
    yield bpy.context.scene
    addon.unregister()


@pytest.fixture
def motion(tmp_path: Path) -> Path:
    """A BVH file of a leg and a spine whose root travels."""
    b = lw.Builder("figure", base="pelvis", root=lw.Floating("ZXY"))
    b.ball("hip", "thigh", euler="ZXY", at=(0.1, 0, -0.1)).ball("knee", "shin", euler="ZXY", at=(0, 0.02, -0.4))
    b.ball("ankle", "foot", euler="ZXY", at=(0, 0, -0.4)).frame("toe", at=(0, -0.2, 0))
    b.ball("spine", "chest", euler="ZXY", at=(-0.1, 0, 0.5), parent="pelvis").frame("crown", at=(0, 0, 0.4))
    linkage, rng = b.build(), np.random.default_rng(1)
    clip = lw.interpolate(linkage, [(k / 2, 0.4 * linkage.random_pose(rng)) for k in range(3)], fps=24)
    clip.save(tmp_path / "figure.bvh")
    return tmp_path / "figure.bvh"


def heads(armature: Any, frame: int) -> dict[str, np.ndarray]:
    """Return the positions of the heads of bones in the world [m], evaluated by Blender."""
    bpy.context.scene.frame_set(frame)
    metre = bpy.context.scene.unit_settings.scale_length
    return {bone.name: np.array(armature.matrix_world @ bone.head) * metre for bone in armature.pose.bones}


def moves_as(armature: Any, clip: lw.Clip) -> None:
    world = clip.forward()
    for k in range(len(clip)):
        for bone, head in heads(armature, 1 + k).items():
            np.testing.assert_allclose(head, world[bone][k][:3, 3], atol=1e-5, err_msg=bone)


@pytest.mark.parametrize("metre", [1.0, 0.01])
def test_an_imported_motion_is_where_linkwork_has_it(motion: Path, scene: Any, metre: float) -> None:
    scene.unit_settings.scale_length = metre
    assert bpy.ops.linkwork.import_clip(filepath=str(motion)) == {"FINISHED"}
    assert scene.frame_end >= 25
    moves_as(bpy.context.object, lw.load_clip(motion))


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # Blender's importer leaves the file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_blenders_own_importer_puts_the_same_bones_in_the_same_places(motion: Path) -> None:
    bpy.ops.linkwork.import_clip(filepath=str(motion))
    ours = bpy.context.object
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(motion), global_scale=0.01, rotate_mode="QUATERNION")
    theirs = bpy.context.object
    assert theirs != ours
    for bone in theirs.data.bones:
        same = ours.data.bones[bone.name]
        np.testing.assert_allclose(same.tail_local, bone.tail_local, atol=1e-5)
    for frame in range(1, 26):
        here, there = heads(ours, frame), heads(theirs, frame)
        assert here.keys() == there.keys()
        for bone in there:
            np.testing.assert_allclose(here[bone], there[bone], atol=1e-5, err_msg=f"{bone} at {frame}")
    gc.collect()


def test_a_robot_moves_too(addon: Any, tmp_path: Path) -> None:
    clip = lw.models.motion("stanford")  # it has a prismatic joint
    clip.save(tmp_path / "stanford.glb")
    bpy.ops.linkwork.import_clip(filepath=str(tmp_path / "stanford.glb"))
    armature = bpy.context.object
    world = clip.forward()
    for k in range(0, len(clip), 7):
        found = heads(armature, 1 + k)
        for link in clip.linkage.links:
            np.testing.assert_allclose(found[link], world[link][k][:3, 3], atol=1e-4)


def test_a_motion_is_retargeted_onto_an_armature(addon: Any, tmp_path: Path) -> None:
    walk = tmp_path / "human.bvh"
    lw.models.motion("human:floating").slice(0, 0.5).save(walk)
    child = lw.models.human(height=1.2, root="floating")
    armature, _ = addon.new_armature(child, addon.rest_links(child))
    # As in files of Mixamo: bones in centimetres with y up, in an object that is scaled and rotated.
    placed = Matrix.Rotation(np.pi / 2, 4, "X") @ Matrix.Scale(0.01, 4)
    armature.data.transform(placed.inverted())
    armature.matrix_world = placed
    bpy.context.view_layer.update()
    linkage = addon.linkage_of(armature)
    rest = linkage.forward(linkage.stored_pose("rest"))
    for link in child.links:
        np.testing.assert_allclose(rest[link][:3, 3], addon.rest_links(child)[link][:3, 3], atol=1e-5)
    assert bpy.ops.linkwork.retarget(filepath=str(walk)) == {"FINISHED"}
    expected = lw.retarget(lw.load_clip(walk), linkage)
    assert np.ptp(expected.poses, axis=0).max() > 0.1
    moves_as(armature, expected)


def chain(addon: Any, placed: Matrix | None = None) -> Any:
    """Return an armature with a slightly bent chain of bones, in pose mode, with the last bone active."""
    armature, _ = addon.new_armature(lw.models.planar([1, 1, 1, 1]), addon.rest_links(lw.models.planar([1, 1, 1, 1])))
    armature.matrix_world = placed or Matrix()
    for bone in armature.pose.bones[1:]:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.2, 0.1, 0.3)
    bpy.ops.object.mode_set(mode="POSE")
    armature.data.bones.active = armature.data.bones["link4"]
    bpy.context.view_layer.update()
    return armature


def target_at(place: tuple[float, float, float], turn: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    target = bpy.data.objects.new("target", None)
    bpy.context.collection.objects.link(target)
    target.location, target.rotation_euler = place, turn
    bpy.context.scene.linkwork_target = target
    bpy.context.view_layer.update()
    return target


def tail(armature: Any, bone: str) -> Vector:
    return armature.matrix_world @ armature.pose.bones[bone].tail


def test_inverse_kinematics_brings_the_tail_to_the_target(addon: Any) -> None:
    placed = Matrix.LocRotScale(Vector((0.5, -1, 0.3)), Euler((0.3, 0.2, 1.0)), Vector((0.5, 0.5, 0.5)))
    armature = chain(addon, placed)
    still = {name: armature.pose.bones[name].matrix.copy() for name in ("link0", "link1", "link2")}
    place = tail(armature, "link4") + Vector((-0.1, 0.1, 0.15))
    target_at(tuple(place))
    assert bpy.ops.linkwork.solve(length=2, key=True) == {"FINISHED"}
    assert (tail(armature, "link4") - place).length < 1e-5
    for name, matrix in still.items():  # bones beyond the chain stay
        np.testing.assert_allclose(armature.pose.bones[name].matrix, matrix, atol=1e-6)
    bpy.context.scene.frame_set(10)
    assert (tail(armature, "link4") - place).length < 1e-5  # it is keyed


def test_inverse_kinematics_turns_the_bone_as_the_target(addon: Any) -> None:
    armature = chain(addon)
    target = target_at((1.5, 1.2, 0.8), (0.4, -0.3, 0.9))
    assert bpy.ops.linkwork.solve(turn=True) == {"FINISHED"}
    assert (tail(armature, "link4") - target.location).length < 1e-5
    found = (armature.matrix_world @ armature.pose.bones["link4"].matrix).to_quaternion()
    assert found.rotation_difference(target.matrix_world.to_quaternion()).angle < 1e-4


def test_locked_bones_are_revolute_and_keep_their_limits(addon: Any) -> None:
    armature = chain(addon)
    for bone, angle in zip(armature.pose.bones[1:], (0.8, -0.4, 0.7, 0.85), strict=True):
        bone.rotation_euler = (0, 0, angle)
        bone.lock_ik_x = bone.lock_ik_y = True
        bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, -0.5, 0.9
    bpy.context.view_layer.update()
    reach = target_at(tuple(tail(armature, "link4")))
    for bone in armature.pose.bones[1:]:
        bone.rotation_euler = (0, 0, 0.1)
    bpy.ops.linkwork.solve()
    assert (tail(armature, "link4") - reach.location).length < 1e-5
    angles = np.array([bone.rotation_euler for bone in armature.pose.bones[1:]])
    np.testing.assert_allclose(angles[:, :2], 0.0, atol=1e-5)
    assert angles[:, 2].min() > -0.5 - 1e-5
    assert angles[:, 2].max() < 0.9 + 1e-5


def test_what_is_wrong_is_said_and_changes_nothing(addon: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.bvh").write_text("HIERARCHY\nnothing", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"bad.bvh"):
        bpy.ops.linkwork.import_clip(filepath=str(tmp_path / "bad.bvh"))
    assert len(bpy.data.objects) == 0
    armature = chain(addon)
    armature.scale = (1, 2, 1)
    target_at((1, 1, 1))
    with pytest.raises(RuntimeError, match="apply its scale"):
        bpy.ops.linkwork.solve()
    armature.scale = (1, 1, 1)
    armature.data.bones["link3"].use_inherit_rotation = False
    with pytest.raises(RuntimeError, match="link3 does not inherit"):
        bpy.ops.linkwork.solve()
