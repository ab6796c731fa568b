"""Real files of other programs, if they are beside the repository. Other tests cover all their peculiarities.

Expected positions were computed by Pinocchio (URDF), MuJoCo (MJCF), three.js (glTF) and two readers of BVH.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from gltf_files import UP as Z_UP, at
from linkwork.formats import bvh, gltf, mjcf, urdf
from linkwork.formats.options import UP, Options
from linkwork.linkage.linkage import Linkage
from linkwork.linkage.poses import zero_pose
from linkwork.retargeting import recognise, retarget_with_report
from linkwork.transforms import quaternion_matrix

DATA = Path(__file__).parents[3] / "shared" / "data"
if not DATA.is_dir():
    pytest.skip("files of others are not beside the repository", allow_module_level=True)

ROUNDED = {"SimpleSkin.gltf"}  # its quaternions have three digits, and three.js does not make them unit ones
BVH = sorted((DATA / "bvh").glob("*.bvh"))


def goldens(kind: str):
    paths = sorted((DATA / "golden").glob(f"{kind}__*.json"))
    return pytest.mark.parametrize("golden", paths, ids=lambda path: path.stem.partition("__")[2])


def uncoupled(linkage: Linkage) -> Linkage:
    return linkage.replace(joints={arc.name: {"mimic": None} for arc in linkage.arcs if arc.mimic is not None})


@goldens("urdf")
def test_robots_agree_with_pinocchio(golden, tmp_path):
    expected = json.loads(golden.read_text(encoding="utf-8"))
    linkage = urdf.read(DATA / expected["file"]).linkage
    urdf.write(lw.formats.Content(linkage), tmp_path / "again.urdf")
    assert set(linkage.links) == set(expected["poses"][0]["links"])
    for robot in (linkage, urdf.read(tmp_path / "again.urdf").linkage):
        for pose in expected["poses"]:
            values = {name: value for name, value in pose["q"].items() if robot.joint(name).mimic is None}
            frames = robot.forward(robot.pose(values, base=zero_pose(robot)))
            for name, place in pose["links"].items():
                np.testing.assert_allclose(frames[name][:3, 3], place["pos"], rtol=0, atol=1e-9)
                np.testing.assert_allclose(frames[name][:3, :3], place["R"], rtol=0, atol=1e-9)


@goldens("mjcf")
def test_models_agree_with_mujoco(golden):
    pytest.importorskip("mujoco")
    expected = json.loads(golden.read_text(encoding="utf-8"))
    linkage = uncoupled(mjcf.read(DATA / expected["file"]).linkage)
    for state in expected["poses"]:
        q = linkage.neutral()
        for name, joint in state["joints"].items():
            unnamed = "root" if joint["type"] == "free" else f"joint{name[1:]}"
            arc = linkage.arc_index(unnamed if name.startswith("#") else name)
            start = linkage.drives[arc].q
            q[start : start + linkage.arcs[arc].articulation.nq] = joint["qpos"]
        places = linkage.forward(q)
        for name, place in state["bodies"].items():
            if name == "world" and name not in linkage.links:
                continue
            matrix = places[f"body{name[1:]}" if name.startswith("#") else name]
            assert np.abs(matrix[:3, 3] - place["pos"]).max() < 1e-9
            assert np.abs(matrix[:3, :3] - quaternion_matrix(np.array(place["quat"]))).max() < 1e-9
        for name, position in state["sites"].items():
            frame = f"site{name[1:]}" if name.startswith("#") else name
            frame = f"{frame}_" if frame in state["bodies"] else frame
            assert np.abs(places[frame][:3, 3] - position).max() < 1e-9


def scene_order(path: Path) -> list[int]:
    """Return node indices, depth first, from the JSON only."""
    data = path.read_bytes()
    if data[:4] == b"glTF":
        data = data[20 : 20 + struct.unpack("<I", data[12:16])[0]]
    document = json.loads(data)
    order, waiting = [], list(reversed(document["scenes"][document.get("scene", 0)]["nodes"]))
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(document["nodes"][order[-1]].get("children", []))
    return order


@goldens("gltf")
def test_nodes_stand_where_three_js_puts_them(golden):
    expected = json.loads(golden.read_text(encoding="utf-8"))
    path = DATA / expected["file"]
    content, order = gltf.read(path), scene_order(path)
    names = dict(zip(order, content.linkage.links[-len(order) :], strict=True))
    motions = list(content.clips.values())
    for pose in expected["poses"]:
        q = content.linkage.neutral() if pose["anim"] is None else at(motions[pose["anim"]], pose["time"])
        frames = content.linkage.forward(q)
        size = max(np.abs(node["pos"]).max() for node in pose["nodes"].values())
        for index, node in pose["nodes"].items():
            matrix = frames[names[int(index)]]
            np.testing.assert_allclose(matrix[:3, 3], Z_UP @ node["pos"], rtol=0, atol=1e-5 * size)
            axes = np.reshape(node["m"], (4, 4)).T[:3, :3]
            if axes.any(axis=0).all():  # a scale of zero leaves no axes to compare
                axes = Z_UP @ axes / np.linalg.norm(axes, axis=0)
                np.testing.assert_allclose(matrix[:3, :3], axes, rtol=0, atol=1e-3 if path.name in ROUNDED else 1e-5)


@goldens("bvh")
@pytest.mark.parametrize(("positions", "key"), [("replace", "frames"), ("add", "frames_add_offset")])
def test_captures_agree_with_their_goldens(golden, positions, key):
    expected = json.loads(golden.read_text(encoding="utf-8"))
    if expected[key] is None:
        return  # positions and offsets disagree in this file
    content = bvh.read(DATA / expected["file"], Options(units=1.0, up="y", positions=positions))
    (clip,) = content.clips.values()
    links = content.linkage.links
    names = [name if name in links else name.removesuffix("_End") + ".end" for name in expected["joints"]]
    assert sorted(content.linkage.frames) == sorted(names)
    assert len(clip) == expected["nframes"]
    world, theirs = clip.forward(), np.array(list(expected[key].values()))
    ours = np.stack([world[name][:, :3, 3] for name in names], axis=1)[[int(frame) for frame in expected[key]]]
    assert np.abs(ours @ UP["y"] - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize("path", BVH, ids=lambda path: path.stem)
def test_captures_are_written_mirrored_and_put_right(path, tmp_path):
    clip = lw.load_clip(path)
    clip.save(tmp_path / path.name)
    again = lw.load_clip(tmp_path / path.name)
    assert again.poses == pytest.approx(clip.poses, abs=1e-9)
    if path.stem not in ("alien", "sinusoidal"):  # which have no sides
        np.testing.assert_allclose(clip.mirror().mirror().forward().array, clip.forward().array, rtol=0, atol=1e-10)
    repair = lw.repair(clip)
    assert repair.after.ok, str(repair)


KNOWN = {
    "bvh/cmu_16_49.bvh": {"left_hip": "LeftUpLeg", "left_clavicle": "LeftShoulder", "right_elbow": "RightForeArm"},
    "urdf/humanoid_nonunit_axes.urdf": {"hips": "pelvis", "chest": "torso", "left_hip": "link1_16"},
    "gltf/RiggedFigure/RiggedFigure.gltf": {"left_elbow": "arm_joint_L_2", "right_ankle": "leg_joint_R_3"},
}


@pytest.mark.parametrize("file", KNOWN)
def test_skeletons_are_recognised(file):
    roles = recognise(lw.load(DATA / file)).roles
    assert {role: roles[role] for role in KNOWN[file]} == KNOWN[file]


@pytest.mark.parametrize(
    ("file", "first", "last"), [("walk01.bvh", 0, 60), ("cmu_16_49.bvh", 0, 90), ("mocapbank_crlf.bvh", 60, 180)]
)
def test_captured_motions_keep_their_promises(file, first, last):
    clip = lw.load_clip(DATA / "bvh" / file)
    clip = lw.Clip(clip.linkage, clip.times[first:last], clip.poses[first:last])
    for target in (lw.models.human(), lw.load(DATA / "bvh" / "pirouette.bvh")):
        made = retarget_with_report(clip, target).report
        assert made.slide < 0.005
        assert made.hands < 0.02
        assert made.jerk < 1.5
        assert made.outside == made.flips == 0
