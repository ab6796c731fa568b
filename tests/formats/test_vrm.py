"""VRM avatars and animations: bones by their names in the extension, a T-pose, and a round trip of a motion."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from command_line import run
from linkwork.errors import FormatError
from linkwork.formats import gltf_vrm
from linkwork.retargeting import recognise


def avatar(folder: Path, version: str = "1.0") -> tuple[Path, dict[str, str]]:
    """Return a file of the human model with meaningless node names, and its links by role."""
    human = lw.models.human()
    lw.save(human, folder / "human.gltf")
    document = json.loads((folder / "human.gltf").read_text(encoding="utf-8"))
    del document["scenes"][0]["extras"]
    roles = recognise(human).roles
    index = {node["name"]: k for k, node in enumerate(document["nodes"])}
    nodes = {bone: index[roles[role]] for bone, role in gltf_vrm.BONES.items() if role in roles}
    for k, node in enumerate(document["nodes"]):
        node["name"] = f"node {k}"
    if version == "1.0":
        bones = {bone: {"node": node} for bone, node in nodes.items()} | {"jaw": {"node": 0}, "odd": 7}
        document["extensions"] = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    else:
        document["extensions"] = {
            "VRM": {"humanoid": {"humanBones": [{"bone": b, "node": n} for b, n in nodes.items()]}}
        }
    path = folder / "avatar.gltf"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path, {role: f"node {index[link]}" for role, link in roles.items()}


@pytest.mark.parametrize("version", ["1.0", "0.0"])
def test_roles_are_those_that_the_file_says(tmp_path, version):
    path, roles = avatar(tmp_path, version)
    body = lw.load(path)
    assert dict(body.origin.roles) == roles
    skeleton = recognise(body)
    assert {role: skeleton.roles[role] for role in roles} == roles
    assert {skeleton.reasons[role] for role in roles} == {"file"}
    mapped = recognise(body, {"head": None})
    assert "head" not in mapped.roles


@pytest.mark.parametrize("extension", [None, 3, {"humanoid": []}, {"humanoid": {"humanBones": "x"}}, {}])
def test_an_extension_that_says_nothing_does_no_harm(tmp_path, extension):
    path, _ = avatar(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["extensions"] = {"VRMC_vrm": extension}
    path.write_text(json.dumps(document), encoding="utf-8")
    assert dict(lw.load(path).origin.roles) == {}


def test_an_animation_has_the_motion_of_the_body_from_a_t_pose(tmp_path):
    path, roles = avatar(tmp_path)
    body = lw.load(path, root="floating")
    others = [arc for arc, link in zip(body.drives, body.links, strict=True) if link not in roles.values()]
    poses = np.stack([body.neutral(), body.random_pose(3), body.random_pose(4)])
    for drive in others:  # VRM has no bone for them
        poses[:, drive.columns] = poses[0, drive.columns]
    keys = list(zip((0.0, 1.0, 2.0), poses, strict=True))
    clip = lw.interpolate(body, keys, fps=12).named("dance")
    clip.save(tmp_path / "dance.vrma")
    read = lw.load_clip(tmp_path / "dance.vrma")
    assert read.name == "dance"
    bones = read.linkage.origin.roles
    assert bones.keys() == roles.keys()
    assert bones["left_elbow"] == "leftLowerArm"
    before, after = clip.forward(), read.forward()
    np.testing.assert_allclose(after["hips"][:, :3, 3], before[roles["hips"]][:, :3, 3], atol=1e-5)
    limbs = (("shoulder", "elbow"), ("elbow", "hand"), ("hip", "knee"), ("knee", "ankle"), ("ankle", "toe"))
    for side, (start, end) in product(("left", "right"), limbs):
        one, two = f"{side}_{start}", f"{side}_{end}"
        old = before[roles[two]][:, :3, 3] - before[roles[one]][:, :3, 3]
        new = after[bones[two]][:, :3, 3] - after[bones[one]][:, :3, 3]
        np.testing.assert_allclose(new, old, atol=1e-5, err_msg=one)
    for start, end, way in (
        ("left_shoulder", "left_hand", (1, 0, 0)),
        ("right_shoulder", "right_hand", (-1, 0, 0)),
        ("left_hip", "left_ankle", (0, 0, -1)),
    ):
        rest = read.linkage.forward(read.linkage.neutral())
        line = rest[bones[end]][:3, 3] - rest[bones[start]][:3, 3]
        np.testing.assert_allclose(line / np.linalg.norm(line), way, atol=1e-6)
        np.testing.assert_allclose(rest[bones[end]][:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-6)  # axes of glTF


def test_bones_turn_although_no_skin_has_them_as_joints(tmp_path):
    path, roles = avatar(tmp_path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["skins"][0]["joints"] = [len(document["nodes"]) - 1]
    path.write_text(json.dumps(document), encoding="utf-8")
    body = lw.load(path)
    assert {body.arcs[body.link_index(link)].articulation.kind for link in roles.values()} == {"ball"}


def test_any_human_body_becomes_an_animation(tmp_path):
    """Bones are given, or found by the command; directions of limbs survive the round trip."""
    clip = lw.models.motion("human:floating")
    roles = recognise(clip.linkage).roles
    clip.save(tmp_path / "one.vrma", roles=roles)
    clip.save(tmp_path / "walk.bvh")
    done = run("convert", tmp_path / "walk.bvh", tmp_path / "two.vrma")
    assert done.exit_code == 0, done.stderr
    before = clip.forward()
    for name in ("one", "two"):
        read = lw.load_clip(tmp_path / f"{name}.vrma")
        after, bones = read.forward(), read.linkage.origin.roles
        for side, (start, end) in product(
            ("left", "right"), (("shoulder", "elbow"), ("hip", "knee"), ("knee", "ankle"))
        ):
            one, two = f"{side}_{start}", f"{side}_{end}"
            old = before[roles[two]][:, :3, 3] - before[roles[one]][:, :3, 3]
            new = after[bones[two]][:, :3, 3] - after[bones[one]][:, :3, 3]
            np.testing.assert_allclose(new, old, atol=1e-4, err_msg=f"{name} {one}")
    turn = lw.transforms.axis_rotation([1, 0, 0], 1.5)
    lying = clip.linkage.replace(root=replace(clip.linkage.arcs[0], placement=lw.transforms.transform(rotation=turn)))
    with pytest.raises(FormatError, match="does not stand upright"):
        lw.Clip(lying, clip.times, clip.poses).save(tmp_path / "lying.vrma", roles=roles)


def test_what_is_no_avatar_is_said(tmp_path):
    with pytest.raises(FormatError, match="no link for the bones hips"):
        lw.models.motion("human").save(tmp_path / "a.vrma")
    with pytest.raises(FormatError, match="an avatar with its skin"):
        lw.models.motion("human").save(tmp_path / "a.vrm")
    path, _ = avatar(tmp_path)
    with pytest.raises(FormatError, match="stores a motion, but there is none"):
        lw.save(lw.load(path), tmp_path / "a.vrma")
