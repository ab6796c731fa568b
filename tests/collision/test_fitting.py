"""Fits of spheres, capsules and hulls, checked with trimesh at its own sample points."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.collision.fitting import Fit, fit
from linkwork.collision.samples import cut
from linkwork.collision.splitting import clipped
from linkwork.errors import LinkageError, OptionError
from linkwork.transforms import transform

HAIR = 1e-8
PLACE = np.array([0.1, 0.0, 0.2])


def bracket() -> trimesh.Trimesh:
    """Two plates at a right angle: far from convex."""
    upright = trimesh.creation.box((0.02, 0.2, 0.3), transform((0.0, 0.0, 0.15)))
    foot = trimesh.creation.box((0.2, 0.2, 0.02), transform((0.1, 0.0, 0.01)))
    return trimesh.util.concatenate([upright, foot])


MESHES = {
    "bracket": bracket(),
    "ball": trimesh.creation.icosphere(3, 0.1),
    "ring": trimesh.creation.torus(0.15, 0.03, 48, 24),
}


def linkage(tmp_path, mesh: trimesh.Trimesh) -> lw.Linkage:
    file = tmp_path / "part.stl"
    file.write_bytes(mesh.export(file_type="stl"))
    b = lw.Builder("one", shape=lw.Visual(lw.Mesh("part.stl", file=str(file)), PLACE, role="collision"))
    return b.build()


def depth_in(found: Fit, points: np.ndarray) -> np.ndarray:
    """Return the depth of points inside the nearest fitted shape, in link coordinates."""
    deepest = np.full(len(points), -np.inf)
    for visual in found.linkage.nodes[0].visuals:
        if visual.role != "collision":
            continue
        local = (points - visual.placement[:3, 3]) @ visual.placement[:3, :3]
        if isinstance(visual.shape, lw.Hull):
            hull = trimesh.convex.convex_hull(visual.shape.points)
            planes = np.einsum("ij,ij->i", hull.face_normals, hull.triangles[:, 0])
            inside = -(local @ hull.face_normals.T - planes).max(axis=1)
        else:
            half = getattr(visual.shape, "length", 0.0) / 2.0
            local[:, 2] -= np.clip(local[:, 2], -half, half)
            inside = visual.shape.radius - np.linalg.norm(local, axis=1)
        deepest = np.maximum(deepest, inside)
    return deepest


CASES = [  # mesh, kind, number of shapes, largest protrusion
    ("ball", "spheres", 1, 0.004),
    ("ring", "spheres", 8, 0.05),
    ("ring", "hulls", 8, 0.06),
    ("bracket", "spheres", 8, 0.08),
    ("bracket", "capsules", 3, 0.11),
    ("bracket", "hulls", 4, 0.01),
]


@pytest.mark.parametrize(("name", "kind", "most", "error"), CASES)
def test_a_conservative_fit_holds_every_point_and_sticks_out_little(tmp_path, name, kind, most, error):
    mesh = MESHES[name]
    found = fit(linkage(tmp_path, mesh), kind, most=most)
    assert found.uncovered == 0.0
    assert 1 <= found.count <= most
    assert found.error < error
    points, _ = trimesh.sample.sample_surface(mesh, 3000, seed=1)
    points = np.concatenate([points, mesh.vertices]) + PLACE
    assert depth_in(found, points).min() > -1e-6  # files hold 32 bits


def test_how_far_it_sticks_out_is_what_another_measures(tmp_path):
    mesh = MESHES["bracket"]
    found = fit(linkage(tmp_path, mesh), "spheres", most=6)
    random = np.random.default_rng(3)
    points = []
    for visual in found.linkage.nodes[0].visuals:
        around = random.normal(size=(400, 3))
        around *= visual.shape.radius / np.linalg.norm(around, axis=1, keepdims=True)
        points.append(visual.placement[:3, 3] + around)
    shown = np.concatenate(points)
    shown = shown[depth_in(found, shown) < 1e-9]  # not inside another
    _, away, _ = trimesh.proximity.closest_point_naive(mesh, shown - PLACE)
    assert found.error == pytest.approx(away.max(), abs=0.004)
    assert found.links[0].mean == pytest.approx(away.mean(), abs=0.004)


def test_a_tight_fit_leaves_as_much_out_as_it_sticks_out(tmp_path):
    arm = linkage(tmp_path, MESHES["bracket"])
    loose, tight = fit(arm, most=6), fit(arm, most=6, conservative=False)
    assert 0.0 < tight.uncovered <= 0.6 * loose.error
    assert tight.error < 0.75 * loose.error
    assert 0.0 < tight.links[0].share < 1.0


def test_an_error_is_kept_or_it_is_said_that_it_is_not(tmp_path):
    arm = linkage(tmp_path, MESHES["ring"])
    found = fit(arm, error=0.06)
    assert found.error <= 0.06
    assert not found.remarks
    few = fit(arm, error=0.05, most=3)
    assert [remark.kind for remark in few.remarks] == ["error"]
    assert "3 spheres stick out by" in str(few)
    assert len(str(few).splitlines()) == 3


def test_spheres_are_shared_between_links_and_shapes_of_the_file_are_kept(tmp_path):
    base, ball = lw.Box((0.3, 0.3, 0.1)), lw.Sphere(0.1)
    arm = lw.Builder("arm", shape=base).revolute("j1", "upper", axis="y", shape=ball).build()
    found = fit(arm, most=4)
    assert [row.count for row in found.links] == [4, 1]
    kept = found.linkage.nodes[1].visuals[1]
    assert (kept.shape, kept.role) == (ball, "collision")
    assert found.links[1].sticks_out == 0.0
    assert [visual.role for visual in found.linkage.nodes[0].visuals] == ["visual"] + 4 * ["collision"]
    only = fit(arm, "hulls", links=["base"])
    assert [visual.shape.kind for visual in only.linkage.nodes[0].visuals] == ["box", "box"]
    assert only.linkage.nodes[1] == arm.nodes[1]


def test_a_round_shape_is_held_too_though_it_is_fitted_as_triangles():
    rod = lw.Builder("rod", shape=lw.Visual(lw.Cylinder(0.05, 0.3), role="collision")).build()
    angles = np.linspace(0.0, 2.0 * np.pi, 500)
    rims = [
        np.stack([0.05 * np.cos(angles), 0.05 * np.sin(angles), np.full(500, z)], axis=1) for z in (-0.15, 0.0, 0.15)
    ]
    for kind in ("spheres", "capsules"):
        assert depth_in(fit(rod, kind, most=3), np.concatenate(rims)).min() > -HAIR


@pytest.mark.parametrize("text", [b"", b"solid\nendsolid\n", b"not a mesh", b"\x00" * 84])
def test_a_mesh_that_cannot_be_read_is_said(tmp_path, text):
    file = tmp_path / "part.stl"
    file.write_bytes(text)
    broken = lw.Visual(lw.Mesh("part.stl", file=str(file)), role="collision")
    with pytest.raises(LinkageError, match=r"nothing to fit: link 'base': mesh part.stl cannot be read"):
        fit(lw.Builder("one", shape=broken).build())
    both = lw.Builder("one", shape=[broken, lw.Visual(lw.Box((0.1, 0.1, 0.1)), role="collision")]).build()
    assert [remark.kind for remark in fit(both, most=1).remarks] == ["missing-mesh"]


def test_open_flat_and_huge_meshes(tmp_path):
    sheet = trimesh.Trimesh([[0, 0, 0], [0.2, 0, 0], [0.2, 0.1, 0], [0, 0.1, 0]], [[0, 1, 2], [0, 2, 3]])
    for kind in ("spheres", "capsules", "hulls"):
        found = fit(linkage(tmp_path, sheet), kind, most=4)
        assert found.uncovered == 0.0
        assert found.error < 0.075
    huge = sheet.copy()
    huge.apply_scale(1e9)
    with pytest.raises(LinkageError, match="is 2e\\+08 m large"):
        fit(linkage(tmp_path, huge))


def test_wrong_wishes_are_refused(tmp_path):
    arm = linkage(tmp_path, MESHES["ball"])
    for wrong in ({"kind": "cubes"}, {"error": -1.0}, {"most": 0}, {"most": 1.5}, {"role": "looks"}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            fit(arm, **wrong)
    with pytest.raises(LinkageError, match="no link has a shape"):
        fit(lw.Builder("bare").revolute("j1", "upper", axis="y").build())


def test_what_is_cut_covers_what_was_there():
    triangles = np.random.default_rng(0).normal(size=(20, 3, 3))
    area = lambda t: np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).sum()  # noqa: E731
    pieces = cut(triangles, 0.3)
    assert area(pieces) == pytest.approx(area(triangles))
    assert np.linalg.norm(np.roll(pieces, 1, axis=1) - pieces, axis=2).max() <= 0.3
    normal = np.array([0.6, 0.0, 0.8])
    below, above = clipped(triangles, normal, 0.1), clipped(triangles, -normal, -0.1)
    assert area(below) + area(above) == pytest.approx(area(triangles))
    assert (below @ normal).max() <= 0.1 + 1e-12
