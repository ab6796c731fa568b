"""Points sampled on surfaces: they are on the surface, and uniform by area, as trimesh measures it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import KDTree

import linkwork as lw
from linkwork.collision.surface_points import points_on
from linkwork.errors import ObstacleError

trimesh = pytest.importorskip("trimesh")

COUNT = 20_000
MIDDLE = np.zeros(3)
LUMP = np.random.default_rng(5).normal(size=(12, 3)) * [1.0, 2.0, 0.5]


def hull() -> trimesh.Trimesh:
    return trimesh.convex.convex_hull(LUMP)


SHAPES = {
    "box": (lw.Box((1.0, 2.0, 0.3)), lambda: trimesh.creation.box((1.0, 2.0, 0.3))),
    "sphere": (lw.Sphere(0.7), lambda: trimesh.creation.icosphere(4, 0.7)),
    "cylinder": (lw.Cylinder(0.4, 1.5), lambda: trimesh.creation.cylinder(0.4, 1.5, sections=256)),
    "capsule": (lw.Capsule(0.4, 1.5), lambda: trimesh.creation.capsule(1.5, 0.4, count=(64, 128))),
    "hull": (lw.Hull(LUMP), hull),
}


def drawn(shape: lw.Shape, count: int = COUNT, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return points_on(shape, count, np.random.default_rng(seed), center=MIDDLE, reach=3.0)


@pytest.mark.parametrize("name", ["box", "sphere", "cylinder", "capsule", "hull"])
def test_every_part_of_a_surface_has_its_share(name: str) -> None:
    shape, make = SHAPES[name]
    points, normals = drawn(shape)
    mesh, rng = make().subdivide_to_size(0.06), np.random.default_rng(2)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(np.ones(COUNT))
    for _ in range(20):
        away, at = rng.normal(size=3), points[rng.integers(COUNT)]
        part = mesh.area_faces[(mesh.triangles_center - at) @ away > 0.0].sum()
        found = np.mean((points - at) @ away > 0.0)
        assert abs(part / mesh.area - found) < 4.0 * np.sqrt(0.25 / COUNT) + 3e-3  # small flat sides
    far, faces = KDTree(mesh.triangles_center).query(points)
    assert far.max() < 0.05
    towards = (mesh.face_normals[faces] * normals).sum(axis=1)
    assert np.mean(towards > 0.99) > 0.9  # outward; near an edge the next side may be nearer
    off = np.abs(((points - mesh.triangles_center[faces]) * mesh.face_normals[faces]).sum(axis=1))
    assert np.median(off) < 1e-3


def test_the_ground_of_a_height_field() -> None:
    heights = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    points, normals = drawn(lw.HeightField(heights, (2.0, 1.0)))
    assert (normals[:, 2] > 0.0).all()
    slope = points[:, 0] > 0.0
    np.testing.assert_allclose(points[:, 2], np.maximum(points[:, 0], 0.0), atol=1e-12)
    assert slope.mean() == pytest.approx(np.sqrt(2.0) / (1.0 + np.sqrt(2.0)), abs=0.015)


def test_balls_of_a_cloud_are_drawn_from_where_none_covers_them() -> None:
    points, normals = drawn(lw.PointCloud([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], 0.1))
    far = np.linalg.norm(points[:, None] - [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]], axis=2)
    assert far.min() >= 0.1 - 1e-9
    left = points[:, 0] < 0.05
    np.testing.assert_allclose(points[left], 0.1 * normals[left], atol=1e-12)
    assert left.mean() == pytest.approx(0.5, abs=0.015)
    assert (points[:, 0] < 0.0).mean() == pytest.approx(1.0 / 3.0, abs=0.015)  # a half of three halves


def test_a_floor_is_drawn_from_within_reach() -> None:
    rng = np.random.default_rng(0)
    points, normals = points_on(lw.HalfSpace(), COUNT, rng, center=np.array([1.0, 2.0, 3.0]), reach=5.0)
    far = np.linalg.norm(points - [1.0, 2.0, 0.0], axis=1)
    assert (points[:, 2] == 0.0).all()
    assert (normals == [0.0, 0.0, 1.0]).all()
    assert far.max() <= 4.0
    assert np.mean(far**2) == pytest.approx(8.0, rel=0.02)  # uniform over a disc
    with pytest.raises(ObstacleError, match="out of reach"):
        points_on(lw.HalfSpace(), 1, rng, center=np.array([0.0, 0.0, 6.0]), reach=5.0)


def test_what_has_no_surface_is_refused() -> None:
    with pytest.raises(ObstacleError, match=r"the file of mesh 'none.stl' cannot be read"):
        drawn(lw.Mesh("none.stl"), 1)
    with pytest.raises(ObstacleError, match="it has none"):
        drawn(lw.TriangleMesh([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]]), 1)
