"""Writing glTF: read again, read by other libraries, and checked by Khronos' validator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import children
import linkwork as lw
from gltf_files import UP, File, at, local_matrix, model, motion
from linkwork.errors import FormatError
from linkwork.formats import gltf, mesh_export
from linkwork.formats.content import Content

MODELS = ("human", "panda", "planar", "hand", "planets", "engine", "pogo_stick")

# Writing and reading


@pytest.mark.parametrize("suffix", ["glb", "gltf"])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_written_comes_back_to_the_last_bit(tmp_path, name, suffix):
    linkage = model(name)
    content = Content(linkage, {"first": motion(linkage), "second": motion(linkage, 1)})
    path = tmp_path / f"file.{suffix}"
    assert gltf.write(content, path) == ()
    again = gltf.read(path)
    assert again.linkage == linkage
    assert list(again.clips) == ["first", "second"]
    assert again.remarks == ()
    for key, clip in again.clips.items():
        assert np.array_equal(clip.poses, content.clips[key].poses)
        assert np.array_equal(clip.times, content.clips[key].times)


@pytest.mark.parametrize("name", MODELS)
def test_pygltflib_sees_the_motion_in_the_nodes(tmp_path, name):
    """Nodes, animation and skin, read by another library, compared with the clip's forward kinematics."""
    pygltflib = pytest.importorskip("pygltflib")
    linkage = model(name)
    clip = motion(linkage)
    gltf.write(Content(linkage, {"wave": clip}), tmp_path / "file.glb")
    file = pygltflib.GLTF2().load(str(tmp_path / "file.glb"))
    blob = file.binary_blob()

    def numbers(index):
        accessor = file.accessors[index]
        view = file.bufferViews[accessor.bufferView]
        dtype = {5126: np.float32, 5121: np.uint8, 5123: np.uint16}[accessor.componentType]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
        return np.frombuffer(blob, dtype, accessor.count * width, view.byteOffset).reshape(accessor.count, width)

    (animation,) = file.animations
    moved = {(c.target.node, c.target.path): animation.samplers[c.sampler] for c in animation.channels}
    frames = clip.forward()
    expected = np.stack([frames[link] for link in linkage.frames], axis=1)
    for frame in (0, 5, len(clip) - 1):
        worlds = [np.eye(4)] * len(file.nodes)
        waiting = [(index, np.eye(4)) for index in file.scenes[0].nodes]
        while waiting:
            index, above = waiting.pop()
            node = file.nodes[index]
            place = {"translation": node.translation, "rotation": node.rotation}
            for path in place:
                sampler = moved.get((index, path))
                if sampler:
                    key = np.abs(numbers(sampler.input)[:, 0] - clip.times[frame]).argmin()
                    place[path] = numbers(sampler.output)[key]
            local = local_matrix({key: value for key, value in place.items() if value is not None})
            worlds[index] = above @ local
            waiting += [(child, worlds[index]) for child in node.children or []]
        got = np.stack(worlds[: len(linkage.frames)])
        size = 1.0 + np.abs(expected[frame, :, :3, 3]).max()
        np.testing.assert_allclose(UP @ got[:, :3, 3, None], expected[frame, :, :3, 3:], atol=1e-5 * size)
        np.testing.assert_allclose(UP @ got[:, :3, :3], expected[frame, :, :3, :3], atol=1e-5)
    # The skin in the last of these frames: every vertex stays at its position on its link.
    binds = np.swapaxes(numbers(file.skins[0].inverseBindMatrices).reshape(-1, 4, 4), 1, 2)
    parts = list(mesh_export.parts(linkage, []))
    groups = {}
    for part in parts:
        corners = part.facets.corners @ expected[-1, part.link, :3, :3].T + expected[-1, part.link, :3, 3]
        groups.setdefault((part.color, part.facets.normals is None), []).append(corners)
    for primitive, corners in zip(file.meshes[0].primitives, groups.values(), strict=True):
        owner = numbers(primitive.attributes.JOINTS_0)[:, 0]
        matrices = np.stack(worlds)[owner] @ binds[owner]
        bound = numbers(primitive.attributes.POSITION)
        skinned = np.einsum("nij,nj->ni", matrices[:, :3, :3], bound) + matrices[:, :3, 3]
        np.testing.assert_allclose(skinned @ UP.T, np.concatenate(corners), atol=2e-5 * size)


def test_extras_say_the_joint_above_a_node(tmp_path):
    gltf.write(Content(lw.models.panda()), tmp_path / "panda.gltf")
    document = json.loads((tmp_path / "panda.gltf").read_text(encoding="utf-8"))
    joint = lw.models.panda().arcs[1]
    lower, upper = joint.articulation.limits
    assert document["nodes"][1]["extras"] == {
        "joint": joint.name,
        "kind": "revolute",
        "axis": list(joint.articulation.axis),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    }


def test_turns_of_more_than_half_a_circle_keep_their_sense(tmp_path):
    arm = lw.models.planar([1, 1]).replace(joints={"j1": {"lower": -10.0, "upper": 10.0}})  # it does not wrap
    clip = lw.Clip(arm, [0.0, 1.0, 2.0], [[0, 0], [5.0, 0], [-7.0, 1]])
    gltf.write(Content(arm, {"spin": clip}), tmp_path / "spin.gltf")
    document = json.loads((tmp_path / "spin.gltf").read_text(encoding="utf-8"))
    del document["scenes"][0]["extras"]  # as any other program's file
    (tmp_path / "spin.gltf").write_text(json.dumps(document), encoding="utf-8")
    read = gltf.read(tmp_path / "spin.gltf").clips["spin"]
    for time in (0.5, 1.5):
        expected = arm.forward(at(clip, time))["tip"][:3, 3]
        np.testing.assert_allclose(read.linkage.forward(at(read, time))["tip"][:3, 3], expected, atol=1e-5)


def test_angles_that_wrap_do_not_spin_between_frames(tmp_path):
    body = lw.Builder("body").ball("a", "upper", euler="zxy").revolute("b", "lower", at=(0, 0, 1)).build()
    poses = np.radians([[170, 10, 20, 179], [179, 10, 20, -179], [-179, 10, 20, 178], [1, 170, -160, -178]])  # the last
    clip = lw.Clip(body, [0.0, 0.1, 0.2, 0.3], poses)  # is the one before, written in its other triple of angles
    gltf.write(Content(body, {"turn": clip}), tmp_path / "turn.gltf")
    document = json.loads((tmp_path / "turn.gltf").read_text(encoding="utf-8"))
    del document["scenes"][0]["extras"]  # as any other program's file
    (tmp_path / "turn.gltf").write_text(json.dumps(document), encoding="utf-8")
    read = gltf.read(tmp_path / "turn.gltf").clips["turn"]
    assert len(read) == len(clip)
    assert np.degrees(np.abs(read.linkage.difference(read.poses[:-1], read.poses[1:])).max()) < 10.0


def test_what_glb_cannot_hold_is_said(tmp_path):
    arm = lw.models.planar([1, 1])
    clip = lw.Clip(arm, [-1.0, 0.0, 1e-9], np.zeros((3, 2)), residuals=np.zeros((3, 1)))
    remarks = gltf.write(Content(arm, {"still": clip}), tmp_path / "a.glb")
    assert [remark.kind for remark in remarks] == ["times", "dropped", "dropped"]
    assert np.array_equal(gltf.read(tmp_path / "a.glb").clips["still"].times, clip.times)


def test_a_clip_of_another_linkage_is_refused_and_nothing_is_written(tmp_path):
    content = Content(lw.models.panda(), {"wave": motion(lw.models.planar([1, 1]))})
    with pytest.raises(FormatError, match="moves another linkage"):
        gltf.write(content, tmp_path / "a.glb")
    assert not list(tmp_path.iterdir())


def edited(document, how: str) -> None:
    nodes, scene = document["nodes"], document["scenes"][0]
    if how == "moved":
        nodes[2]["translation"] = [1, 2, 3]
    elif how == "renamed":
        nodes[2]["name"] = "other"
    elif how == "hung elsewhere":
        nodes[2]["children"], nodes[1]["children"] = [], nodes[1]["children"] + nodes[2]["children"]
    elif how == "scaled":
        nodes[2]["scale"] = [2, 2, 2]
    elif how == "broken":
        scene["extras"]["linkwork"] = {"linkwork": 2, "joints": 7}
    elif how == "no frames":
        del document["animations"][0]["extras"]
    elif how == "other frames":
        document["animations"][0]["channels"].pop()
    elif how == "damaged frames":
        document["animations"][0]["extras"]["linkwork"]["poses"] = "AAAA"


@pytest.mark.parametrize(
    "how",
    ["moved", "renamed", "hung elsewhere", "scaled", "broken", "no frames", "other frames", "damaged frames"],
)
def test_extras_are_not_believed_once_the_nodes_say_otherwise(tmp_path, how):
    human = lw.models.human()
    path = tmp_path / "human.gltf"
    gltf.write(Content(human, {"wave": motion(human)}), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    edited(document, how)
    path.write_text(json.dumps(document), encoding="utf-8")
    content = gltf.read(path)
    assert content.linkage != human
    assert len(content.clips["wave"]) > 1
    assert [remark.kind for remark in content.remarks].count("extras") == 1


# Geometry

SHAPES = {
    "box": (lw.Box((1, 2, 3)), 6.0),
    "sphere": (lw.Sphere(0.5), 4 / 3 * np.pi * 0.5**3),
    "cylinder": (lw.Cylinder(0.5, 2), np.pi * 0.25 * 2),
    "capsule": (lw.Capsule(0.5, 2), np.pi * 0.25 * 2 + 4 / 3 * np.pi * 0.5**3),
}


def volume(facets) -> float:
    a, b, c = np.moveaxis(facets.corners[facets.indices], 1, 0)
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize(("shape", "expected"), SHAPES.values(), ids=SHAPES)
def test_shapes_are_closed_and_face_outwards(shape, expected):
    linkage = lw.Linkage([lw.Link("a", (shape,))])
    (part,) = mesh_export.parts(linkage, [])
    facets = part.facets
    assert 0.88 * expected < volume(facets) <= expected * (1 + 1e-9)
    corners = facets.corners[facets.indices]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(faces, axis=1).min() > 0
    assert ((facets.normals[facets.indices] * faces[:, None]).sum(axis=-1) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(facets.normals, axis=1), 1)


def test_links_without_shapes_get_bones_to_their_children():
    linkage = lw.Builder("arm").revolute("a", "upper").revolute("b", "lower", at=(0, 0, 2)).build()
    parts = list(mesh_export.parts(linkage, []))
    assert [part.link for part in parts] == [0, 1, 2]
    assert np.ptp(parts[1].facets.corners, axis=0)[2] == pytest.approx(2)
    assert all(volume(part.facets) > 0 for part in parts)


def test_missing_meshes_are_said_and_found_ones_drawn(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "box.stl")
    found = lw.Mesh("box.stl", scale=(1, 1, -2), file=str(tmp_path / "box.stl"))
    linkage = lw.Linkage([lw.Link("a", (found,)), lw.Link("b", (lw.Mesh("no.stl"),))], [lw.Joint("j", "a", "b")])
    missing: list[str] = []
    parts = list(mesh_export.parts(linkage, missing))
    assert missing == ["no.stl"]
    assert volume(parts[0].facets) == pytest.approx(12)
    (remark,) = gltf.write(Content(linkage), tmp_path / "a.glb")
    assert remark.kind == "missing-mesh"
    assert "no.stl" in remark.text


def test_a_mesh_opens_no_other_file(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1, 1, 1))
    (tmp_path / "model").mkdir()
    box.export(tmp_path / "model" / "box.glb")
    for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
        text = data.replace(b'"uri":"', b'"uri":"../') if name.endswith(".gltf") else data
        (tmp_path / ("model" if name.endswith(".gltf") else ".") / name).write_bytes(text)
    (tmp_path / "secret.mtl").write_text("newmtl m", encoding="utf-8")
    (tmp_path / "model" / "a.obj").write_text(
        "mtllib ../secret.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8"
    )
    (tmp_path / "model" / "a.dae").write_text(
        '<!DOCTYPE a [<!ENTITY b SYSTEM "../secret.mtl">]><COLLADA>&b;</COLLADA>', encoding="utf-8"
    )
    opened: list[str] = []
    real = Path.open

    def noted(self, *args, **kwargs):
        opened.append(self.name)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", noted)
    monkeypatch.setattr("builtins.open", lambda path, *_, **__: pytest.fail(f"{path} is opened"))
    drawn = []
    for name in ("box.glb", "model.gltf", "a.obj", "a.dae"):
        path = tmp_path / "model" / name
        missing: list[str] = []
        list(mesh_export.parts(lw.Linkage([lw.Link("a", (lw.Mesh(name, file=str(path)),))]), missing))
        drawn.append(not missing)
    assert drawn == [True, False, True, False]
    assert set(opened) <= {"box.glb", "model.gltf", "a.obj", "a.dae"}


# The Khronos validator


def test_the_khronos_validator_finds_nothing(tmp_path, validator):
    files = []
    for name in MODELS:
        linkage = model(name)
        clips_by_name = {"wave": motion(linkage), "still": lw.Clip(linkage, [0.0], linkage.neutral()[None])}
        for suffix in ("glb", "gltf"):
            files.append(tmp_path / f"{name}.{suffix}")
            gltf.write(Content(linkage, clips_by_name), files[-1])
    line = lw.Polyline(((0, 0, 0), (1, 0, 0), (1, 1, 0)), closed=True)
    names = [f"link{k}" for k in range(300)]  # more than a byte can count
    links = [lw.Link(name, (line,) if k == 0 else ()) for k, name in enumerate(names)]
    joints = [lw.Joint(f"j{k}", f"link{k}", f"link{k + 1}", lw.Ball(), (0, 0, 0.1)) for k in range(299)]
    files.append(tmp_path / "long.glb")
    gltf.write(Content(lw.Linkage(links, joints)), files[-1])
    script = Path(__file__).parent / "gltf_validator.mjs"
    command = ["node", str(script), str(validator), *map(str, files)]
    done = children.run(command, text=True, check=True, encoding="utf-8")
    found = json.loads(done.stdout)
    assert len(found) == len(files)
    assert {Path(file).name: issues for file, issues in found.items() if issues} == {}


def test_the_validator_finds_something_in_a_wrong_file(tmp_path, validator):
    path = File([{"name": "a", "rotation": [0, 0, 0, 2]}], scene=3).save(tmp_path)
    script = Path(__file__).parent / "gltf_validator.mjs"
    done = children.run(["node", str(script), str(validator), str(path)], text=True, check=True, encoding="utf-8")
    assert any("UNRESOLVED_REFERENCE" in issue for issue in json.loads(done.stdout)[str(path)])


def test_a_linkage_too_large_for_the_extras_is_written_without_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.formats.gltf_extras.MAX_SCENE", 1000)
    human = lw.models.human()
    (remark,) = gltf.write(Content(human), tmp_path / "human.glb")
    assert remark.kind == "dropped"
    assert set(human.frames) < set(gltf.read(tmp_path / "human.glb").linkage.links)


def test_numbers_beyond_float32_are_refused(tmp_path):
    far = lw.Linkage([lw.Link("a"), lw.Link("b")], [lw.Joint("j", "a", "b", lw.Fixed(), (1e60, 0, 0))])
    with pytest.raises(FormatError, match="too large"):
        gltf.write(Content(far), tmp_path / "far.glb")
    assert not list(tmp_path.iterdir())
