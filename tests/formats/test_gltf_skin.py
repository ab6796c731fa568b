"""The meshes of glTF files: every corner stands where the standard says, in its colour, at rest and in motion."""

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
from linkwork.formats.skins import skin_of


def expected(nodes: list[dict], tracks, time: float | None):
    """Return where the corners stand: those of the mesh on joint 4 first, as its node does, then those of the skin."""
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
    "a joint too many": (lambda file: file.document["skins"][0].update(joints=[2, 3]), "hangs on joint 4"),
    "matrices too few": (
        lambda file: file.document["accessors"][file.document["skins"][0]["inverseBindMatrices"]].update(count=3),
        "3 inverse bind matrices",
    ),
    "no such mesh": (lambda file: file.document["nodes"][7].update(mesh=9), "mesh 9"),
    "meshes of words": (lambda file: file.document.update(meshes=["a", "b"]), "its meshes are not as glTF"),
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


def test_what_is_compressed_or_no_surface_is_left_out(tmp_path):
    for primitive in ({"extensions": {"KHR_draco_mesh_compression": {}}}, {"mode": 1}):
        file, _ = dressed(**primitive)
        assert len(skin_of(lw.load(file.save(tmp_path))).corners) == COUNT


@pytest.mark.parametrize(
    ("mode", "triangles"), [(5, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]), (6, [[0, 1, 2], [0, 2, 3], [0, 3, 4]])]
)
def test_strips_and_fans_are_triangles(tmp_path, mode, triangles):
    file, _ = dressed()
    indices = file.numbers(np.arange(5, dtype=np.uint16))
    file.document["meshes"][1]["primitives"][0] |= {"mode": mode, "indices": indices}
    assert skin_of(lw.load(file.save(tmp_path))).triangles[:3].tolist() == triangles
