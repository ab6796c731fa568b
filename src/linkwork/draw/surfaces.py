"""Convert shapes to polygons for drawing.

A surface is an array of quadrilaterals, counter-clockwise from outside, where a triangle repeats a corner.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..linkage.geometry import Box, Capsule, Cylinder, Polyline, Shape, Sphere
from ..transforms import FloatArray, plane_basis

NO_FACES: FloatArray = np.zeros((0, 4, 3))
MANY = 64  # number of points from which it is worth discarding those that cannot be on an outline
WAYS: FloatArray = np.stack([f(np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)) for f in (np.cos, np.sin)])


def surface(shape: Shape, *, sides: int, grain: float, thickness: float) -> FloatArray:
    """Return the surface of a shape in its own coordinates, shape (n, 4, 3) [m].

    Args:
        shape: A box, sphere, cylinder, capsule or polyline; a mesh has no surface here.
        sides: Number of flat sides of a full circle.
        grain: Longest side of a face [m]; sorting faces by depth works when none is much longer than others.
        thickness: Radius of the thin tube that stands for a polyline [m].

    Example:
        >>> surface(Box((1, 1, 1)), sides=8, grain=1.0, thickness=0.01).shape
        (6, 4, 3)
    """
    if isinstance(shape, Box):
        return box(shape.size, grain)
    if isinstance(shape, Sphere):
        return ball(shape.radius, sides)
    if isinstance(shape, Cylinder):
        half = shape.length / 2.0
        z = np.linspace(-half, half, _pieces(shape.length, grain) + 1)
        disc = np.linspace(0.0, shape.radius, _pieces(shape.radius, grain) + 1)[:-1]
        radii = np.r_[disc, np.full(len(z), shape.radius), disc[::-1]]
        return revolved(radii, np.r_[np.full(len(disc), -half), z, np.full(len(disc), half)], sides)
    if isinstance(shape, Capsule):
        return _capsule(shape, sides, grain)
    if isinstance(shape, Polyline):
        tubes = [tube(start, end, thickness, grain=grain) for start, end in pairwise(path(shape))]
        return np.concatenate([NO_FACES, *tubes])
    return NO_FACES


def path(shape: Polyline) -> FloatArray:
    """Return the points of a polyline, the first of a closed one again at its end."""
    return np.array(shape.points + shape.points[:1] * shape.closed)


def _pieces(length: float, grain: float) -> int:
    return min(max(1, math.ceil(length / grain - 1e-9)), 24)


def _arc(radius: float, centre: float, start: float, stop: float, sides: int) -> tuple[FloatArray, FloatArray]:
    """Return a profile along a circle, between two latitudes in units of pi."""
    latitude = np.pi * np.linspace(start, stop, max(2, round(sides * (stop - start) / 2.0)) + 1)
    return radius * np.cos(latitude), centre + radius * np.sin(latitude)


def ball(radius: float, sides: int) -> FloatArray:
    """Return a sphere centred on the origin."""
    return revolved(*_arc(radius, 0.0, -0.5, 0.5, sides), sides)


def _capsule(shape: Capsule, sides: int, grain: float) -> FloatArray:
    half = shape.length / 2.0
    below, above = (_arc(shape.radius, z, a, b, sides) for z, a, b in ((-half, -0.5, 0.0), (half, 0.0, 0.5)))
    between = np.linspace(-half, half, _pieces(shape.length, grain) + 1)[1:-1]
    radii = np.r_[below[0], np.full(len(between), shape.radius), above[0]]
    return revolved(radii, np.r_[below[1], between, above[1]], sides)


def revolved(radii: FloatArray, heights: FloatArray, sides: int) -> FloatArray:
    """Return the surface that a profile, listed upwards, sweeps when it turns about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    circle[-1] = circle[0]
    rings = np.empty((len(radii), sides + 1, 3))
    rings[..., :2] = np.maximum(radii, 0.0)[:, None, None] * circle
    rings[..., 2] = heights[:, None]
    corners = (rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1])
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def box(size: tuple[float, float, float], grain: float = math.inf) -> FloatArray:
    """Return a box centred on the origin, its faces cut into pieces no longer than the grain."""
    faces = []
    for k in range(3):
        u, v = (k + 1) % 3, (k + 2) % 3
        a = np.linspace(-0.5, 0.5, _pieces(size[u], grain) + 1) * size[u]
        b = np.linspace(-0.5, 0.5, _pieces(size[v], grain) + 1) * size[v]
        corners = np.empty((len(a) - 1, len(b) - 1, 4, 3))
        for c, (i, j) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
            corners[:, :, c, u] = a[i : len(a) - 1 + i, None]
            corners[:, :, c, v] = b[None, j : len(b) - 1 + j]
        for sign in (1.0, -1.0):
            face = corners.copy()
            face[..., k] = sign * size[k] / 2.0
            faces.append((face if sign > 0.0 else face[:, :, ::-1]).reshape(-1, 4, 3))
    return np.concatenate(faces)


def tube(start: FloatArray, end: FloatArray, radius: float, *, grain: float, sides: int = 6) -> FloatArray:
    """Return a thin tube between two points; empty if they coincide."""
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        return NO_FACES
    heights = np.linspace(0.0, length, _pieces(length, grain) + 1)
    return _along(revolved(np.full(len(heights), radius), heights, sides), start, end)


def spindle(start: FloatArray, end: FloatArray, radius: float) -> FloatArray:
    """Return a slender bone between two points, thickest near its start, with a sharp corner at either."""
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        return NO_FACES
    heights = length * np.array([0.0, 0.12, 0.4, 0.7, 1.0])
    return _along(revolved(radius * np.array([0.0, 1.0, 0.75, 0.5, 0.0]), heights, 6), start, end)


def _along(faces: FloatArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return faces built along z from the origin, transformed to lie along a segment."""
    direction = (end - start) / np.linalg.norm(end - start)
    moved: FloatArray = faces @ plane_basis(direction).T + start
    return moved


def normals(faces: FloatArray) -> FloatArray:
    """Return the unit outward normals (n, 3) of faces (n, 4, 3): the cross product of their diagonals."""
    across = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1])
    length = np.linalg.norm(across, axis=-1, keepdims=True)
    return np.asarray(across / np.where(length > 0.0, length, 1.0), dtype=np.float64)


def shaded(colors: FloatArray, facing: FloatArray, light: FloatArray) -> FloatArray:
    """Return colours (n, 3) as they look in soft light: darker where a face turns away, a little lighter towards it.

    Args:
        colors: Colours of the faces, from 0 to 1.
        facing: Their unit normals, shape (n, 3).
        light: Unit vector towards the light.
    """
    towards = (facing @ light)[:, None]
    dim = colors * (0.74 + 0.24 * np.clip(towards, -1.0, 1.0))
    return np.asarray(dim + (1.0 - dim) * 0.16 * np.clip(towards, 0.0, 1.0) ** 2, dtype=np.float64)


def outline(points: FloatArray) -> FloatArray:
    """Return the indices of the points (n, 2) on their convex hull, counter-clockwise (the monotone chain).

    Example:
        >>> outline(np.array([[0, 0], [1, 0], [0.5, 0.5], [1, 1], [0, 1.0]])).tolist()
        [0, 1, 3, 4]
    """
    near = _near_the_rim(points)
    order = near[np.lexsort((points[near, 1], points[near, 0]))].tolist()
    xy = points.tolist()
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    chains = []
    for path in (order, order[::-1]):
        chain: list[int] = []
        for k in path:
            while len(chain) > 1 and _turn(xy[chain[-2]], xy[chain[-1]], xy[k]) <= 1e-12 * size * size:
                chain.pop()
            chain.append(k)
        chains.append(chain)
    return np.array([*chains[0][:-1], *chains[1][:-1]] or order, dtype=np.int64)


def _near_the_rim(points: FloatArray) -> NDArray[np.int64]:
    """Return the indices of the points (n, 2) outside the polygon of those furthest in sixteen directions.

    Most points lie inside this polygon, so they are not on the outline and need not be sorted.
    """
    if len(points) < MANY:
        return np.arange(len(points))
    far = points[(points @ WAYS).argmax(axis=0)]
    far = far[(far != np.roll(far, 1, axis=0)).any(axis=1)]
    if len(far) < 3:
        return np.arange(len(points))
    (x, y), (right, up) = far.T, (np.roll(far, -1, axis=0) - far).T
    left = right * (points[:, 1:] - y) - up * (points[:, :1] - x)  # distance to the left, times edge length
    return np.flatnonzero((left <= 1e-9 * np.ptp(points, axis=0).max() ** 2).any(axis=1))


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    """Return twice the signed area of a triangle: positive for a turn to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
