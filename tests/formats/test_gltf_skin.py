"""Meshes of glTF files: positions by the standard and colours of all vertices, at rest and in motion."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from gltf_files import BINDS, CORNERS, COUNT, JOINTS, OWNERS, UP, WEIGHTS, dressed, worlds
from linkwork.draw.sketch import Sketch
from linkwork.draw.triangles import of_meshes
from linkwork.errors import FormatError
from linkwork.formats import child
from linkwork.formats.skins import skin_of


def expected(nodes: list[dict], tracks, time: float | None):
    """Return the positions of vertices: first of the mesh on joint 4, which moves with its node, then of the skin."""
    found = worlds(nodes, tracks, time)
    points = np.c_[CORNERS, np.ones(COUNT)]
    moves = np.array([found[node] for node in JOINTS]) @ BINDS
    skin = np.einsum("nk,nkij,nj->ni", WEIGHTS, moves[OWNERS], points)[:, :3]
    return np.concatenate([(points @ found[4].T)[:, :3], skin]) @ UP.T


@pytest.mark.parametrize("path", ["rotation", "translation"])
def test_corners_stand_where_the_standard_says(tmp_path, path):
    file, tracks = dressed(path)
    clip = lw.load_clip(file.save(tmp_path))
    triangles = of_meshes(Sketch(clip.linkage))
    for time, q in ((None, clip.linkage.neutral()), *zip(clip.times, clip.poses, strict=True)):
        places, facing = triangles.placed(clip.linkage.forward(q).array)
        wanted = expected(file.document["nodes"], tracks, time)
        assert places == pytest.approx(wanted, abs=2e-4 * np.abs(wanted).max())
        assert np.linalg.norm(facing, axis=1) == pytest.approx(np.ones(2 * COUNT))


def test_units_and_edits_keep_the_skin_on(tmp_path):
    file, _ = dressed()
    body = lw.load(file.save(tmp_path), units=0.01).replace(root="floating")
    q = body.pose({"root": [1.0, 2.0, 3.0]})
    lift = body.forward(q).array[0, :3, 3] - body.forward(body.neutral()).array[0, :3, 3]
    places, _ = of_meshes(Sketch(body)).placed(body.forward(q).array)
    wanted = 0.01 * expected(file.document["nodes"], [], None) + lift
    assert places == pytest.approx(wanted, abs=2e-4 * np.abs(wanted).max())


def test_a_link_that_is_gone_takes_what_hangs_on_it_along(tmp_path):
    file, _ = dressed()
    body = lw.load(file.save(tmp_path))
    part = skin_of(body.subtree("bone5"))
    assert set(part.links) == {"bone5"}
    assert len(part.triangles) < len(skin_of(body).triangles)


def colors_of(tmp_path, **primitive) -> np.ndarray:
    texture = np.zeros((2, 2, 3), np.uint8)
    texture[0, 0], texture[0, 1], texture[1, 0], texture[1, 1] = [255, 0, 0], [0, 255, 0], [0, 0, 255], [128, 128, 128]
    data = io.BytesIO()
    Image.fromarray(texture).save(data, "PNG")
    file, _ = dressed(material=0)
    places = np.tile([[0.25, 0.25], [0.75, 0.25], [1.25, -0.25], [0.75, 0.75]], (8, 1))[:COUNT]
    attributes = file.document["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_0"] = file.numbers(places)
    file.document["images"] = [{"bufferView": file.view(np.frombuffer(data.getvalue(), np.uint8))}]
    file.document["textures"] = [{"source": 0}]
    file.document["materials"] = [{"pbrMetallicRoughness": primitive}]
    return skin_of(lw.load(file.save(tmp_path))).colors[COUNT:]


def test_a_texture_colours_corners(tmp_path):
    colors = colors_of(tmp_path, baseColorTexture={"index": 0})
    assert colors[:4] == pytest.approx(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [128 / 255] * 3]), abs=1e-6)


def test_a_material_is_linear_light(tmp_path):
    colors = colors_of(tmp_path, baseColorFactor=[0.214041, 1.0, 0.0, 1.0])
    assert colors == pytest.approx(np.tile([0.5, 1.0, 0.0], (COUNT, 1)), abs=1e-5)


WRONG = {
    "a joint too many": (lambda file: file.document["skins"][0].update(joints=[2, 3]), "refers to joint 4"),
    "matrices too few": (
        lambda file: file.document["accessors"][file.document["skins"][0]["inverseBindMatrices"]].update(count=3),
        "3 inverse bind matrices",
    ),
    "no such mesh": (lambda file: file.document["nodes"][7].update(mesh=9), "mesh 9"),
    "meshes of words": (lambda file: file.document.update(meshes=["a", "b"]), "its meshes are not valid glTF"),
}


@pytest.mark.parametrize("what", WRONG)
def test_broken_meshes_are_refused_and_the_bones_are_drawn(tmp_path, what):
    file, _ = dressed()
    spoil, message = WRONG[what]
    spoil(file)
    body = lw.load(file.save(tmp_path))
    with pytest.raises(FormatError, match=message):
        skin_of(body)
    sketch = Sketch(body)
    assert sketch.skin is None
    assert sketch.meshes == [str(tmp_path / "file.glb")]
    assert len(sketch.bones.owners)


def test_what_is_no_surface_is_left_out(tmp_path):
    file, _ = dressed(mode=1)
    assert len(skin_of(lw.load(file.save(tmp_path))).corners) == COUNT


def test_morph_targets_weigh_what_the_file_rests_with(tmp_path):
    """Weights of the node take precedence over those of the mesh; a target with weight zero is not read."""
    rng = np.random.default_rng(4)
    shifts = rng.standard_normal((2, COUNT, 3))
    for weights in ({"mesh": [0.5, 0.0]}, {"mesh": [0.5, 0.0], "node": [-1.0, 2.0]}):
        file, _ = dressed()
        primitive = file.document["meshes"][0]["primitives"][0]
        primitive["targets"] = [{"POSITION": file.numbers(shift)} for shift in shifts]
        file.document["meshes"][0]["weights"] = weights["mesh"]
        if "node" in weights:
            file.document["nodes"][7]["weights"] = weights["node"]
        skin = skin_of(lw.load(file.save(tmp_path)))
        wanted = CORNERS + np.tensordot(weights.get("node", weights["mesh"]), shifts, 1)
        np.testing.assert_allclose(skin.corners[COUNT:], wanted, atol=1e-5)


def squeezed(folder):
    """Return a file whose skin is compressed with Draco."""
    draco = pytest.importorskip("DracoPy", reason="DracoPy (extra draco) is not installed")
    file, _ = dressed()
    primitive = file.document["meshes"][0]["primitives"][0]
    faces = np.arange(COUNT - COUNT % 3, dtype=np.uint32).reshape(-1, 3)
    more = {5: OWNERS.astype(np.uint8), 6: WEIGHTS.astype(np.float32)}
    data = draco.encode(
        CORNERS.astype(np.float32), faces, quantization_bits=20, preserve_order=True, generic_attributes=more
    )
    view = file.document["accessors"][file.numbers(np.frombuffer(data, np.uint8))]["bufferView"]
    primitive["indices"] = file.numbers(faces.reshape(-1).astype(np.uint16))
    position = next(one["unique_id"] for one in draco.decode(data).attributes if one["attribute_type"] == 0)
    own = {"POSITION": position, "JOINTS_0": 5, "WEIGHTS_0": 6}
    primitive["attributes"] = {name: primitive["attributes"][name] for name in own}
    for accessor in (*primitive["attributes"].values(), primitive["indices"]):
        del file.document["accessors"][accessor]["bufferView"]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": view, "attributes": own}}
    return file.save(folder)


def test_what_draco_has_compressed_is_drawn(tmp_path):
    skin = skin_of(lw.load(squeezed(tmp_path)))
    np.testing.assert_allclose(skin.corners[COUNT:][: COUNT - COUNT % 3], CORNERS[: COUNT - COUNT % 3], atol=1e-4)
    whole = np.take_along_axis(skin.bones[COUNT:], np.argsort(skin.bones[COUNT:], axis=1), axis=1)
    assert len(skin.triangles) == 2 * (COUNT // 3)
    assert len(np.unique(whole, axis=0)) > 1


def test_what_draco_cannot_decode_is_refused(tmp_path):
    path = squeezed(tmp_path)
    data = path.read_bytes()
    place = data.index(b"DRACO")
    path.write_bytes(data[:place] + b"DRAMA" + data[place + 5 :])
    with pytest.raises(FormatError, match="Draco"):
        skin_of(lw.load(path))


def test_without_draco_the_bones_are_drawn_and_it_is_said_what_to_install(tmp_path, monkeypatch, caplog):
    body = lw.load(squeezed(tmp_path))
    monkeypatch.setattr(child, "START", "import sys; sys.modules['DracoPy'] = None\n" + child.START)
    assert Sketch(body).skin is None
    assert "pip install 'linkwork[draco]'" in caplog.text


@pytest.mark.parametrize(
    ("mode", "triangles"), [(5, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]), (6, [[0, 1, 2], [0, 2, 3], [0, 3, 4]])]
)
def test_strips_and_fans_are_triangles(tmp_path, mode, triangles):
    file, _ = dressed()
    indices = file.numbers(np.arange(5, dtype=np.uint16))
    file.document["meshes"][1]["primitives"][0] |= {"mode": mode, "indices": indices}
    assert skin_of(lw.load(file.save(tmp_path))).triangles[:3].tolist() == triangles
