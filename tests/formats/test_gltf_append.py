"""A motion inserted into the glTF file of its body: the body moves, and the rest of the file stays."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from gltf_files import UP, character, local_matrix, wandering
from linkwork.cli.app import app
from linkwork.errors import FormatError, OptionError
from linkwork.formats import gltf

PICTURE = b"\x89PNG\r\n\x1a\nnot much of a picture"


def saved(folder: Path, name: str = "body.glb") -> Path:
    (folder / "art").mkdir(parents=True)
    (folder / "art" / "skin one.png").write_bytes(PICTURE)
    return character().save(folder, name, "body.bin" if name.endswith(".gltf") else "")


def parts(path: Path) -> tuple[dict, bytes]:
    """Return the JSON of a file and the bytes of its first buffer."""
    data = path.read_bytes()
    if data[:4] != b"glTF":
        document = json.loads(data)
        return document, b""
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def node_places(document: dict, binary: bytes, animation: dict, frame: int) -> dict[str, np.ndarray]:
    """Return world_from_node of all nodes at a key of an animation, computed from the file only."""
    nodes = [dict(node) for node in document["nodes"]]
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        accessor = document["accessors"][sampler["output"]]
        view = document["bufferViews"][accessor["bufferView"]]
        rows = np.frombuffer(binary, "<f4", view["byteLength"] // 4, view["byteOffset"]).reshape(accessor["count"], -1)
        nodes[channel["target"]["node"]][channel["target"]["path"]] = rows[min(frame, len(rows) - 1)].tolist()
    result: dict[str, np.ndarray] = {}
    waiting = [(index, np.eye(4)) for index in document["scenes"][0]["nodes"]]
    while waiting:
        index, above = waiting.pop()
        node = nodes[index]
        own = np.reshape(node["matrix"], (4, 4)).T if "matrix" in node else local_matrix(node)
        result[node.get("name", str(index))] = above @ own
        waiting += [(child, above @ own) for child in node.get("children", [])]
    return result


def test_all_that_was_in_the_file_is_still_there_and_one_animation_more(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    assert wandering(lw.load(path)).save(out) == ()
    (before, old), (after, new) = parts(path), parts(out)
    assert new.startswith(old)
    for key, value in before.items():
        if key == "buffers":
            assert after[key] == [{"byteLength": len(new)}]
        elif key in ("accessors", "bufferViews", "animations"):
            assert after[key][: len(value)] == value
        else:
            assert after[key] == value, key
    assert [animation["name"] for animation in after["animations"]] == ["old", "new"]
    assert after.keys() == before.keys()


@pytest.mark.parametrize("units", [None, 0.01])
def test_the_joints_of_the_file_go_where_the_links_of_the_clip_go(tmp_path, units):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    clip = wandering(lw.load(path, units=units))
    clip.save(out)
    document, binary = parts(out)
    frames = clip.forward()
    for frame in (0, 3, len(clip) - 1):
        places = node_places(document, binary, document["animations"][-1], frame)
        for link in (f"bone{k}" for k in range(2, 7)):
            there = UP @ places[link][:3, 3] * (units or 1.0)
            np.testing.assert_allclose(there, frames[link][frame, :3, 3], atol=1e-5)
            turned = UP @ places[link][:3, :3] / 100.0
            np.testing.assert_allclose(turned, frames[link][frame, :3, :3], atol=1e-5)
        still = node_places(*parts(path), {"channels": []}, 0)
        np.testing.assert_array_equal(places["Armature"], still["Armature"])  # joints move, the armature does not


def test_where_the_body_goes_is_said_by_its_top_joint_alone(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    body = lw.load(path)
    clip = wandering(body)
    clip.save(out)
    document, _ = parts(out)
    moved = [c["target"] for c in document["animations"][-1]["channels"] if c["target"]["path"] == "translation"]
    slides = next(arc.child for arc in body.arcs if arc.articulation.kind == "floating")
    assert {document["nodes"][target["node"]]["name"] for target in moved} == {"bone2", slides}


def test_a_node_with_a_matrix_is_given_translation_rotation_and_scale(tmp_path):
    file = character()
    bone = file.document["nodes"][2]
    matrix = local_matrix(bone) @ np.diag([2.0, 2.0, 2.0, 1.0])
    file.document["nodes"][2] = {"name": "bone2", "children": [3], "matrix": matrix.T.ravel().tolist()}
    path, out = file.save(tmp_path), tmp_path / "out.glb"
    clip = wandering(lw.load(path))
    clip.save(out)
    document, binary = parts(out)
    assert "matrix" not in document["nodes"][2]
    np.testing.assert_allclose(local_matrix(document["nodes"][2]), matrix, atol=1e-6)
    places = node_places(document, binary, document["animations"][-1], 4)
    np.testing.assert_allclose(UP @ places["bone6"][:3, 3], clip.forward()["bone6"][4, :3, 3], atol=1e-5)


def test_a_sheared_matrix_is_refused(tmp_path):
    file = character()
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    file.document["nodes"][2] = {"name": "bone2", "children": [3], "matrix": matrix.T.ravel().tolist()}
    path = file.save(tmp_path)
    with pytest.raises(FormatError, match="'bone2' has a sheared matrix"):
        wandering(lw.load(path)).save(tmp_path / "out.glb")
    assert not (tmp_path / "out.glb").exists()


# Files beside it


@pytest.mark.parametrize("folder", ["", "elsewhere"])
def test_gltf_keeps_its_files_or_has_copies_of_them(tmp_path, folder):
    path = saved(tmp_path, "body.gltf")
    out = tmp_path / folder / "out.gltf"
    out.parent.mkdir(exist_ok=True)
    clip = wandering(lw.load(path))
    clip.save(out)
    assert (out.parent / "art" / "skin one.png").read_bytes() == PICTURE
    assert (out.parent / "body.bin").read_bytes() == (tmp_path / "body.bin").read_bytes()
    document, _ = parts(out)
    assert document["images"] == [{"uri": "art/skin%20one.png"}]
    assert document["buffers"][0]["uri"] == "body.bin"
    read = gltf.read(out)
    assert list(read.clips) == ["old", "new"]
    np.testing.assert_allclose(read.clips["new"].forward()["bone6"], clip.forward()["bone6"], atol=1e-5)


def test_glb_of_a_gltf_file_holds_all_inside(tmp_path):
    path, out = saved(tmp_path, "body.gltf"), tmp_path / "out.glb"
    wandering(lw.load(path)).save(out)
    document, binary = parts(out)
    assert [buffer.keys() for buffer in document["buffers"]] == [{"byteLength"}]
    (image,) = document["images"]
    view = document["bufferViews"][image["bufferView"]]
    assert image["mimeType"] == "image/png"
    assert binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]] == PICTURE
    assert binary.startswith((tmp_path / "body.bin").read_bytes())


def test_gltf_of_a_glb_file_holds_its_numbers_inside(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.gltf"
    wandering(lw.load(path)).save(out)
    document, _ = parts(out)
    assert document["buffers"][0]["uri"].startswith("data:")
    assert list(gltf.read(out).clips) == ["old", "new"]


def test_no_other_file_is_overwritten(tmp_path):
    path, out = saved(tmp_path, "body.gltf"), tmp_path / "else" / "out.gltf"
    out.parent.mkdir()
    (out.parent / "body.bin").write_bytes(b"mine")
    with pytest.raises(FormatError, match=r"'body\.bin' beside it, but a different file"):
        wandering(lw.load(path)).save(out)
    assert [file.name for file in out.parent.iterdir()] == ["body.bin"]


@pytest.mark.parametrize("uri", ["../secret.png", "/etc/hostname", "file:///etc/hostname", "gone.png"])
def test_files_elsewhere_are_not_brought_along(tmp_path, uri):
    (tmp_path / "secret.png").write_bytes(PICTURE)
    (tmp_path / "model").mkdir()
    file = character()
    file.document["images"] = [{"uri": uri}]
    path = file.save(tmp_path / "model")
    (tmp_path / "out").mkdir()
    (remark,) = wandering(lw.load(path)).save(tmp_path / "out" / "out.glb")
    assert remark.kind == "missing-file"
    assert parts(tmp_path / "out" / "out.glb")[0]["images"] == [{"uri": uri}]
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["out.glb"]


# Which file


def test_bare_writes_the_skeleton_alone(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    clip = wandering(lw.load(path))
    clip.save(out, bare=True)
    read = gltf.read(out)
    assert list(read.clips) == ["new"]
    assert np.array_equal(read.clips["new"].poses, clip.poses)
    with pytest.raises(OptionError, match="bare writes only a skeleton"):
        clip.save(out, bare=True, into=path)


def test_into_names_another_file(tmp_path):
    path, out = saved(tmp_path / "a"), tmp_path / "out.glb"
    other = saved(tmp_path / "b", "other.glb")
    clip = wandering(lw.load(path))
    path.unlink()
    with pytest.raises(FormatError, match="no longer exists; into="):
        clip.save(out)
    clip.save(out, into=other)
    assert [animation["name"] for animation in parts(out)[0]["animations"]] == ["old", "new"]
    with pytest.raises(OptionError, match="of the same format"):
        clip.save(tmp_path / "out.bvh", into=other)
    human = lw.models.motion("human")
    with pytest.raises(FormatError, match="lacks 25 of 25 moving links of 'human'"):
        human.save(out, into=other)


def test_a_file_of_another_kind_says_what_it_leaves_out(tmp_path):
    remarks = wandering(lw.load(saved(tmp_path))).save(tmp_path / "out.bvh")
    assert any(remark.kind == "dropped" and "meshes of body.glb" in remark.text for remark in remarks)


def test_a_motion_of_the_file_is_not_put_into_it_again_and_another_of_its_name_is_renamed(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    clip = lw.load_clip(path)
    clip.save(out)
    assert [animation["name"] for animation in parts(out)[0]["animations"]] == ["old"]
    (remark,) = clip.reverse().save(out)
    assert remark.kind == "names"
    assert [animation["name"] for animation in parts(out)[0]["animations"]] == ["old", "old_2"]


def test_links_with_new_names_still_move_their_nodes(tmp_path):
    path, out = saved(tmp_path), tmp_path / "out.glb"
    body = lw.load(path)
    named = body.replace(links={"bone6": {"name": "hand"}})
    clip = wandering(named)
    clip.save(out)
    read = gltf.read(out).clips["new"]
    np.testing.assert_allclose(read.forward()["bone6"], clip.forward()["hand"], atol=1e-5)


def test_bytes_serve_as_the_file(tmp_path):
    body = lw.loads(character().glb(), "glb")
    remarks = wandering(body).save(tmp_path / "out.glb")
    assert [remark.kind for remark in remarks] == ["missing-file"]
    assert list(gltf.read(tmp_path / "out.glb").clips) == ["old", "new"]


def test_the_command_keeps_the_mesh_or_not(tmp_path, monkeypatch):
    saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name, options, animations in (("whole.glb", [], 1), ("bare.glb", ["--bare"], 1)):
        result = CliRunner().invoke(app, ["convert", "body.glb", name, *options])
        assert result.exit_code == 0, result.output
        document, _ = parts(tmp_path / name)
        assert ("materials" in document and document["materials"][0].get("name") == "skin") == (not options)
        assert len(document["animations"]) == animations
    result = CliRunner().invoke(app, ["convert", "bare.glb", "into.glb", "--into", "body.glb"])
    assert result.exit_code == 0, result.output
    assert [animation["name"] for animation in parts(tmp_path / "into.glb")[0]["animations"]] == ["old", "old_2"]
