"""The skin of a character on the stage stands where films draw it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from gltf_files import dressed
from linkwork.draw.sketch import Sketch
from linkwork.draw.triangles import of_meshes
from linkwork.formats.skins import skin_of
from linkwork.studio.skins import SkinView
from linkwork.transforms import transform


class Scene:
    """What remembers the meshes it is given."""

    def __init__(self):
        self.meshes, self.clouds = [], []

    def add_mesh_skinned(self, name, vertices, faces, **look):
        bones = [SimpleNamespace(wxyz=None, position=None) for _ in look["bone_wxyzs"]]
        self.meshes.append(SimpleNamespace(name=name, vertices=vertices, faces=faces, bones=bones, **look))
        return self.meshes[-1]

    def add_point_cloud(self, name, points, colors, *, visible):
        self.clouds.append((name, points, colors, visible))


def places(mesh):
    """Return where viser draws the corners: each bone moves what was bound where it stood first."""
    first = [transform(at, {"wxyz": q}) for q, at in zip(mesh.bone_wxyzs, mesh.bone_positions, strict=True)]
    now = [transform(bone.position, {"wxyz": bone.wxyz}) for bone in mesh.bones]
    moves = np.array(now) @ np.linalg.inv(first)
    points = np.c_[mesh.vertices, np.ones(len(mesh.vertices))]
    return np.einsum("nb,bij,nj->ni", mesh.skin_weights, moves, points)[:, :3]


def test_corners_stand_where_films_draw_them(tmp_path):
    file, _ = dressed()
    rigid = np.tile(np.eye(4), (5, 1, 1))
    rigid[:, :3, :3] = 0.02 * Rotation.random(5, rng=1).as_matrix()
    file.document["accessors"].pop()
    file.document["skins"][0]["inverseBindMatrices"] = file.numbers(
        np.swapaxes(rigid, 1, 2).reshape(5, 16), type="MAT4"
    )
    body = lw.load(file.save(tmp_path))
    q, scene = body.random_pose(np.random.default_rng(2)), Scene()
    frames = body.forward(q).array[: len(body.links)]
    view = SkinView(scene, "/body", body, skin_of(body), color=(1, 2, 3))
    view.pose(frames)
    (mesh,) = scene.meshes
    skin = skin_of(body)
    wanted, _ = of_meshes(Sketch(body)).placed(body.forward(q).array)
    assert places(mesh) == pytest.approx(wanted[np.unique(skin.triangles)], abs=1e-3 * np.abs(wanted).max())
    mesh.bones[0].wxyz = "as it was"
    view.pose(frames)
    assert mesh.bones[0].wxyz == "as it was"  # nothing has moved, so nothing is sent


def test_every_corner_has_its_colour(tmp_path):
    """The mesh has the mean colour, and points below it, which are not shown, those of its corners."""
    file, _ = dressed()
    rng = np.random.default_rng(1)
    file.document["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = file.numbers(rng.uniform(size=(30, 3)))
    body, scene = lw.load(file.save(tmp_path)), Scene()
    skin = skin_of(body)
    SkinView(scene, "/body", body, skin)
    (mesh,), ((name, points, colors, visible),) = scene.meshes, scene.clouds
    used = np.unique(skin.triangles)
    assert (name, visible, len(points)) == ("/body/skin/colors", False, len(mesh.vertices))
    np.testing.assert_allclose(colors / 255.0, skin.colors[used], atol=0.5 / 255.0 + 1e-9)
    np.testing.assert_allclose(mesh.color, 255.0 * skin.colors[used].mean(axis=0), atol=1.0)
