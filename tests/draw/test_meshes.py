"""Meshes, skins and following cameras in films of robots and characters."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import linkwork as lw
from linkwork.draw import film, pose
from linkwork.draw.film_range import camera_way
from linkwork.draw.sketch import Sketch
from linkwork.draw.triangles import of_meshes, of_sketch
from linkwork.draw.welding import is_closed, welded
from linkwork.formats.mesh_export import facets_of
from linkwork.linkage.geometry import Box, Mesh, Sphere, Visual
from linkwork.models.characters import write_character

RED = (0.9, 0.1, 0.1)
TINY = {"size": (1.2, 1.2)}


def stl(path, shape):
    found = facets_of(shape)
    lines = ["solid x"]
    for normal, corners in zip(found.normals[found.indices[:, 0]], found.corners[found.indices], strict=True):
        loop = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
        lines.append("facet normal {} {} {}\nouter loop\n{}endloop\nendfacet".format(*normal, loop))
    path.write_text("\n".join([*lines, "endsolid x"]), encoding="utf-8")
    return str(path)


def cart(file=None):
    """A cart that moves along x, with a mesh as its body."""
    b = lw.Builder("cart", base="floor")
    body = Visual(Mesh("body.stl", file=file), (0, 0, 0.5), RED)
    return b.prismatic("drive", "body", axis="x", limits=(-20, 20), shape=body).revolute("lid", "lid", axis="y").build()


def reds(path):
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(int)
    return (pixels[..., 0] > 100) & (pixels[..., 1] < 90)


def test_a_mesh_is_drawn_in_pictures_and_films(tmp_path):
    linkage = cart(stl(tmp_path / "body.stl", Box((1, 1, 1))))
    pose(linkage, path=tmp_path / "still.png", size=(1.2, 1.2))
    film(lw.Clip(linkage, [0.0], [[0.0, 0.0]]), tmp_path / "a_%d.png", **TINY)
    for name in ("still.png", "a_0.png"):
        assert reds(tmp_path / name).mean() > 0.05
    film(lw.Clip(linkage, [0.0], [[0.0, 0.0]]), tmp_path / "a.html")
    assert "not drawn" not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_mesh_that_cannot_be_read_is_named_and_a_bone_stands_for_it(tmp_path):
    (tmp_path / "body.stl").write_text("no mesh at all", encoding="utf-8")
    for file in (None, str(tmp_path / "body.stl"), str(tmp_path / "gone.stl")):
        sketch = Sketch(cart(file))
        assert sketch.meshes == ["body.stl"]
        assert sketch.bare[1]


def test_a_camera_that_follows_keeps_what_it_follows_in_the_middle(tmp_path):
    linkage = cart(stl(tmp_path / "body.stl", Box((1, 1, 1))))
    clip = lw.Clip(linkage, np.arange(13) / 3.0, np.stack([np.linspace(-6, 6, 13), np.zeros(13)], axis=1))
    sizes, middles = {}, {}
    for follow in (False, True, "lid"):
        film(clip, tmp_path / f"{follow}_%02d.png", fps=3, follow=follow, **TINY)
        seen = [reds(tmp_path / f"{follow}_{k:02d}.png") for k in range(13)]
        sizes[follow] = np.mean([picture.sum() for picture in seen])
        middles[follow] = np.array([np.argwhere(picture).mean(axis=0) for picture in seen])
    assert sizes[True] > 3.0 * sizes[False]
    assert np.ptp(middles[False], axis=0).max() > 50.0
    for follow in (True, "lid"):
        assert np.ptp(middles[follow][3:-3], axis=0).max() < 3.0  # it eases in and out at the ends


def test_a_camera_goes_over_the_ground_and_smooths_what_shakes():
    linkage = lw.models.human(root="floating")
    poses = np.repeat(linkage.stored_pose("stand")[None], 200, axis=0)
    x, z = (linkage.coordinate_index[f"root.{k}"] for k in "xz")
    poses[:, x] = np.linspace(0.0, 4.0, 200) + 0.05 * np.sin(np.arange(200) * 1.3)
    poses[:, z] += 0.1 * np.sin(np.arange(200))
    way = camera_way(linkage, poses, 50.0, "pelvis")
    assert (way[:, 2] == 0.0).all()
    assert np.diff(way[40:-40, 0], 2) == pytest.approx(np.zeros(118), abs=5e-5)
    assert camera_way(linkage, poses, 50.0, False) is None


def test_no_stake_ties_the_hips_of_a_character_to_the_floor(tmp_path):
    write_character(tmp_path / "a.glb")
    figure = lw.load(tmp_path / "a.glb")
    sketch = Sketch(figure, shapes=False)
    base, hips = figure.link_index("base"), figure.link_index("Hips")
    assert base not in sketch.bones.owners
    assert hips in sketch.bones.owners
    raised = lw.Linkage(
        [lw.Link("ground"), lw.Link("hips"), lw.Link("leg")],
        [
            lw.Joint("free", "ground", "hips", lw.Floating(), [0, 0, 1]),
            lw.Joint("hip", "hips", "leg", lw.Ball(), [0, 1, 0]),
        ],
    )
    assert Sketch(raised).bones.owners.tolist() == [[1, 1]]
    arm = (
        lw.Builder("arm")
        .ball("shoulder", "upper", at=(0, 0, 1))
        .ball("elbow", "lower", at=(1, 0, 0))
        .frame("tip", at=(1, 0, 0))
    )
    assert len(Sketch(arm.build()).bones.owners) == 3  # the base of an arm is drawn


def test_a_skin_is_all_that_is_drawn_of_a_character(tmp_path):
    write_character(tmp_path / "a.glb", height=1.9)
    figure = lw.load(tmp_path / "a.glb")
    sketch = Sketch(figure)
    skin = of_meshes(sketch)
    assert len(of_sketch(sketch, 2.0).indices) == len(skin.indices)
    places, _ = skin.placed(figure.forward(figure.neutral()).array)
    assert places[:, 2].max() == pytest.approx(1.9, abs=0.04)
    assert places[:, 2].min() == pytest.approx(0.0, abs=0.02)
    assert sketch.extent(figure.neutral()[None]).high[2] == pytest.approx(places[:, 2].max())
    a, b, c = (places[skin.indices[:, k]] for k in range(3))
    assert 0.04 < np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0 < 0.12  # cubic metres: all faces look outwards


def test_welding_keeps_edges_sharp_and_round_things_round():
    ball = facets_of(Sphere(1.0))
    smooth = welded(ball.corners[ball.indices])
    assert np.einsum("ni,ni->n", smooth.normals, smooth.corners).min() > 0.98
    box = facets_of(Box((1, 2, 3)))
    sharp = welded(box.corners[box.indices])
    assert len(sharp.corners) == 24
    assert (np.abs(sharp.normals).max(axis=1) == 1.0).all()


def test_welding_makes_fine_meshes_coarser_and_keeps_their_shape():
    ball = facets_of(Sphere(1.0))
    fine = ball.corners[ball.indices]
    for _ in range(3):  # split each triangle into four
        a, b, c = np.moveaxis(fine, 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        fine = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    coarse = welded(fine, most=2000)
    assert 500 < len(coarse.indices) <= 2000
    assert np.linalg.norm(coarse.corners, axis=1) == pytest.approx(np.ones(len(coarse.corners)), abs=0.05)


def test_a_surface_with_a_hole_is_not_closed():
    box = facets_of(Box((1, 1, 1)))
    assert is_closed(box)
    assert not is_closed(type(box)(box.corners, box.normals, box.indices[1:]))
