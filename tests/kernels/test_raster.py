"""Rasterised triangles, compared with a slow version: nearest triangle, coverage, shading."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.draw.surfaces import shaded
from linkwork.kernels import raster


def scene(count: int, size: int):
    rng = np.random.default_rng(count)
    pages = rng.uniform(-0.2 * size, 1.2 * size, (3 * count, 3))
    return pages, np.arange(3 * count).reshape(-1, 3)


def filled(pages, triangles, size, shells=False):
    depth, owners = np.full((size, size), np.inf, np.float32), np.full((size, size), -1, np.int32)
    raster.fill(pages, triangles, np.full(len(triangles), shells), depth, owners)
    return depth, owners


@pytest.mark.parametrize("count", [1, 12])
def test_each_pixel_shows_the_nearest_triangle(count):
    size = 40
    pages, triangles = scene(count, size)
    depth, owners = filled(pages, triangles, size)
    y, x = np.mgrid[:size, :size] + 0.5
    nearest, which = np.full((size, size), np.inf), np.full((size, size), -1)
    for t, corners in enumerate(pages[triangles]):
        weights = np.linalg.solve(
            np.vstack([corners[:, :2].T, np.ones(3)]), np.stack([x, y, np.ones_like(x)]).reshape(3, -1)
        )
        far = (corners[:, 2] @ weights).reshape(size, size)
        seen = (weights.min(axis=0) >= 0.0).reshape(size, size) & (far < nearest)
        nearest[seen], which[seen] = far[seen], t
    assert np.array_equal(owners, which)
    assert depth == pytest.approx(nearest, abs=1e-4)


def test_triangles_that_share_edges_leave_no_gap_and_cover_what_they_should():
    corners = np.array([[4, 4, 1], [36, 4, 1], [36, 36, 1], [4, 36, 1], [19.3, 21.7, 1]], np.float64)
    triangles = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    _, owners = filled(corners, triangles, 40)
    assert (owners[4:36, 4:36] >= 0).all()
    assert (owners >= 0).sum() == 32 * 32
    pixels = np.empty((20, 20, 4), np.uint8)
    colors = np.tile([200.0, 100.0, 50.0], (2, 5, 1))
    raster.averaged(corners, triangles, colors, owners, 2, pixels, np.empty(3))
    assert (pixels[2:18, 2:18] == [200, 100, 50, 255]).all()
    assert pixels[..., 3].sum() == 255 * 16 * 16


def test_of_a_closed_surface_only_the_outside_is_drawn():
    corners = np.array([[0, 0, 1], [0, 30, 1], [30, 0, 1]], np.float64)  # counter-clockwise on a page with y down
    assert (filled(corners, np.array([[0, 1, 2]]), 30, shells=True)[1] >= 0).any()
    assert (filled(corners, np.array([[0, 2, 1]]), 30, shells=True)[1] < 0).all()
    assert (filled(corners, np.array([[0, 2, 1]]), 30)[1] >= 0).any()


def test_what_is_behind_the_eye_is_not_drawn():
    points = np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 4.0], [0.0, 1.0, -1.0]])
    projection = np.array([[8.0, 0, 0, 0], [0, 8.0, 0, 0], [0, 0, 1.0, -0.1], [0, 0, 1.0, 0]])
    pages = np.empty((3, 3))
    raster.projected(points, projection, pages, bounds := np.empty(4))
    assert bounds.tolist() == [0.0, 0.0, 2.0, 0.0]
    assert pages[:2] == pytest.approx(np.array([[0, 0, 0.95], [2, 0, 0.975]]))
    assert np.isnan(pages[2]).all()
    assert (filled(pages, np.array([[0, 1, 2]]), 8)[1] < 0).all()


def test_corners_are_moved_by_the_mean_of_their_bones():
    rng = np.random.default_rng(1)
    corners, normals = rng.normal(size=(2, 50, 3))
    bones, weights, moves = rng.integers(0, 6, (50, 4)), rng.dirichlet(np.ones(4), 50), rng.normal(size=(6, 3, 4))
    weights[:10] = [1.0, 0.0, 0.0, 0.0]
    places, facing = np.empty((2, 50, 3))
    raster.skinned(corners, normals, bones, weights, moves, places, facing, np.empty((3, 4)))
    blend = np.einsum("nk,nkij->nij", weights, moves[bones])
    assert places == pytest.approx(np.einsum("nij,nj->ni", blend[..., :3], corners) + blend[..., 3])
    turned = np.einsum("nij,nj->ni", blend[..., :3], normals)
    assert facing == pytest.approx(turned / np.linalg.norm(turned, axis=1, keepdims=True))


def test_both_sides_are_lit_as_polygons_are():
    rng = np.random.default_rng(2)
    colors, light = rng.uniform(size=(40, 3)), np.array([0.0, 0.6, 0.8])
    facing = rng.normal(size=(40, 3))
    facing /= np.linalg.norm(facing, axis=1, keepdims=True)
    shown = np.empty((2, 40, 3))
    raster.lit(colors, facing, light, shown)
    assert shown == pytest.approx(255.0 * np.array([shaded(colors, facing, light), shaded(colors, -facing, light)]))
