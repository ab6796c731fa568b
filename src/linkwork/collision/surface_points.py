"""Points on the surfaces of shapes, drawn at random and evenly by area, with the normals there.

Points of round shapes lie on the exact surface, not on a triangulation of it.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import ObstacleError
from ..linkage.geometry import Box, Capsule, Cylinder, HalfSpace, HeightField, PointCloud, Shape, Sphere
from ..transforms import FloatArray
from .surfaces import triangles_of

Points = tuple[FloatArray, FloatArray]


def points_on(
    shape: Shape, count: int, rng: np.random.Generator, *, center: FloatArray, reach: float
) -> tuple[FloatArray, FloatArray]:
    """Return points on the surface of a shape, and outward unit normals there, both (count, 3), in its own axes.

    For a height field, this is only the ground; for a point cloud, the parts that no other ball covers.

    Args:
        shape: The shape.
        count: Number of points.
        rng: The random generator.
        center: Centre of the relevant region, for a half-space, which is infinite.
        reach: Radius of this region [m].

    Raises:
        ObstacleError: If the shape has no surface, such as a mesh whose file cannot be read.

    Example:
        >>> middle, rng = np.zeros(3), np.random.default_rng(0)
        >>> points, normals = points_on(Sphere(2.0), 5, rng, center=middle, reach=1.0)
        >>> np.allclose(points, 2.0 * normals)
        True
    """
    match shape:
        case Sphere():
            normals = _directions(count, rng)
            return shape.radius * normals, normals
        case Box():
            return _on_box(shape, count, rng)
        case Cylinder() | Capsule():
            return _on_round(shape, count, rng)
        case HalfSpace():
            return _on_plane(count, rng, center, reach)
        case PointCloud():
            return _on_cloud(shape, count, rng)
        case HeightField():
            tops = shape.prisms[:, :3]
            return _on_triangles(tops, count, rng)
    triangles = triangles_of(shape)
    if triangles is None or not len(triangles):  # triangles without area are left out
        path = getattr(shape, "path", None)
        why = f"the file of mesh {path!r} cannot be read" if path else "it has none"
        raise ObstacleError(f"goals cannot be drawn on the surface of {shape!r}: {why}.")
    return _on_triangles(triangles, count, rng)


def _directions(count: int, rng: np.random.Generator) -> FloatArray:
    drawn = rng.normal(size=(count, 3))
    directions: FloatArray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return directions


def _on_box(box: Box, count: int, rng: np.random.Generator) -> Points:
    size = np.array(box.size)
    areas = np.prod(size) / size  # area of a side perpendicular to each axis
    axes, rows = rng.choice(3, count, p=areas / areas.sum()), np.arange(count)
    normals = np.zeros((count, 3))
    normals[rows, axes] = rng.choice([-1.0, 1.0], count)
    points = rng.uniform(-0.5, 0.5, (count, 3)) * size
    points[rows, axes] = 0.5 * size[axes] * normals[rows, axes]
    return points, normals


def _on_round(shape: Cylinder | Capsule, count: int, rng: np.random.Generator) -> Points:
    """Return points on the wall or the ends, which are half spheres of a capsule and discs of a cylinder."""
    radius, half = shape.radius, shape.length / 2.0
    wall, ends = 2.0 * math.pi * radius * shape.length, math.pi * radius**2 * (4.0 if shape.kind == "capsule" else 2.0)
    around, heights = rng.uniform(-math.pi, math.pi, count), rng.uniform(-half, half, count)
    ring = np.stack([np.cos(around), np.sin(around), np.zeros(count)], axis=1)
    points, normals = radius * ring, ring
    points[:, 2] = heights
    if shape.kind == "capsule":
        caps = _directions(count, rng)
        tips = radius * caps
        tips[:, 2] += np.copysign(half, caps[:, 2])
    else:
        caps = np.zeros((count, 3))
        caps[:, 2] = rng.choice([-1.0, 1.0], count)
        tips = radius * np.sqrt(rng.uniform(size=(count, 1))) * ring + half * caps
    at_end = rng.uniform(size=(count, 1)) * (wall + ends) >= wall
    return np.where(at_end, tips, points), np.where(at_end, caps, normals)


def _on_plane(count: int, rng: np.random.Generator, center: FloatArray, reach: float) -> Points:
    """Return points of the disc in which the plane z = 0 cuts the relevant ball."""
    radius = math.sqrt(max(reach**2 - float(center[2]) ** 2, 0.0))
    if radius == 0.0:
        raise ObstacleError("goals cannot be drawn on a half-space whose plane is out of reach.")
    around, far = rng.uniform(-math.pi, math.pi, count), radius * np.sqrt(rng.uniform(size=count))
    points = np.stack([center[0] + far * np.cos(around), center[1] + far * np.sin(around), np.zeros(count)], axis=1)
    return points, np.tile([0.0, 0.0, 1.0], (count, 1))


def _on_cloud(cloud: PointCloud, count: int, rng: np.random.Generator) -> Points:
    """Return points on the balls, except those inside another ball."""
    from scipy.spatial import KDTree

    tree, kept = KDTree(cloud.points), [np.empty((0, 2, 3))]
    while sum(map(len, kept)) < count:
        normals = _directions(2 * count, rng)
        points = cloud.points[rng.integers(len(cloud.points), size=2 * count)] + cloud.radius * normals
        open_air = tree.query(points)[0] >= cloud.radius * (1.0 - 1e-9)
        kept.append(np.stack([points[open_air], normals[open_air]], axis=1))
    both = np.concatenate(kept)[:count]
    return both[:, 0], both[:, 1]


def _on_triangles(triangles: FloatArray, count: int, rng: np.random.Generator) -> Points:
    corner, one, two = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    cross = np.cross(one, two)
    doubled = np.linalg.norm(cross, axis=1)
    which = rng.choice(len(triangles), count, p=doubled / doubled.sum())
    a, b = rng.uniform(size=(2, count, 1))
    a, b = np.where(a + b > 1.0, 1.0 - a, a), np.where(a + b > 1.0, 1.0 - b, b)
    return corner[which] + a * one[which] + b * two[which], cross[which] / doubled[which, None]
