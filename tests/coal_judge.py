"""Coal as a reference for distances between links and obstacles."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

Placed = list[tuple[Any, Any]]  # shapes, each with its placement


def coal_links(linkage: lw.Linkage) -> dict[str, Placed]:
    """Return coal's shapes of all links, in link coordinates."""
    return {
        link.name: [(s, v.placement @ at) for v in link.visuals for s, at in coal_shapes(v.shape)]
        for link in linkage.nodes
    }


def coal_shapes(shape: lw.Shape) -> Placed:
    """Return the shapes of coal that represent a shape, each with its placement."""
    import coal

    def hull(points: Any) -> Any:
        corners = coal.StdVec_Vec3s()
        for point in points:
            corners.append(point)
        return coal.ConvexBase.convexHull(corners, False, "")

    match shape:
        case lw.Box():
            return [(coal.Box(*shape.size), np.eye(4))]
        case lw.Sphere():
            return [(coal.Sphere(shape.radius), np.eye(4))]
        case lw.Cylinder():
            return [(coal.Cylinder(shape.radius, shape.length), np.eye(4))]
        case lw.Capsule():
            return [(coal.Capsule(shape.radius, shape.length), np.eye(4))]
        case lw.HalfSpace():
            return [(coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), np.eye(4))]
        case lw.Hull():
            return [(hull(shape.points), np.eye(4))]
        case lw.HeightField():
            return [(hull(prism), np.eye(4)) for prism in shape.prisms]
        case lw.PointCloud():
            return [(coal.Sphere(shape.radius), _at(point)) for point in shape.points]
        case lw.TriangleMesh():
            mesh, corners, triangles = coal.BVHModelOBBRSS(), coal.StdVec_Vec3s(), coal.StdVec_Triangle()
            for point in shape.points:
                corners.append(point)
            for triangle in shape.triangles.tolist():
                triangles.append(coal.Triangle(*triangle))
            mesh.beginModel(len(triangles), len(corners))
            mesh.addSubModel(corners, triangles)
            mesh.endModel()
            return [(mesh, np.eye(4))]
    raise AssertionError(shape)


def coal_distance(one: Placed, two: Placed, first: Any, second: Any) -> float:
    """Return the least distance between two groups of shapes, negative if they overlap."""
    import coal

    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    least = np.inf
    for a, at in one:
        for b, there in two:
            poses = [coal.Transform3s(m[:3, :3].copy(), m[:3, 3].copy()) for m in (first @ at, second @ there)]
            least = min(least, coal.distance(a, poses[0], b, poses[1], request, coal.DistanceResult()))
    return least


def _at(point: Any) -> Any:
    result = np.eye(4)
    result[:3, 3] = point
    return result
