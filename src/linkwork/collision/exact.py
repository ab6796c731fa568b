"""Exact distances of meshes by the library coal (extra ``collision``); dents and holes are respected.

A mesh lies in its hull, so the distance of hulls is never too large. Pairs are checked by increasing distance of their
hulls, and the search ends when the next hulls are further apart than the nearest meshes found. Where surfaces cross, or
one body is inside the other, the depth of the hulls is kept, because the depth of meshes is slow to compute.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtraError
from ..kernels.collision.piece_layout import BOX, CYLINDER, HULL, NEAR, POINT, SEGMENT
from ..linkage.geometry import Shape
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .near import near_records
from .packing import Scene, counted_visuals
from .pieces import MESHES, Pieces, pieces_of
from .surfaces import triangles_of

TOLERANCE = 1e-9  # tolerance of coal's distances [m]
OBLIQUE = np.array([0.3574, 0.4821, 0.8000])  # direction of rays, so oblique that they rarely meet an edge of a mesh


class Part(NamedTuple):
    """A shape of coal, its place in its frame, and its triangles (n, 3, 3) if it is a mesh."""

    shape: Any
    transform: FloatArray
    triangles: FloatArray | None


class ExactScene:
    """A scene with exact meshes instead of their hulls.

    Args:
        scene: The scene.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, self._coal = scene, _coal()
        self._request = self._coal.DistanceRequest()
        self._request.gjk_tolerance = self._request.epa_tolerance = TOLERANCE
        self._parts: dict[int, list[Part]] = {}
        self._held = {obstacle.name: obstacle for obstacle in scene.world or ()}

    def near_records(self, poses: FloatArray, within: float, most: int) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the result of `near.near_records`, with exact meshes."""
        records, counts = np.full((len(poses), most, NEAR.size), np.nan), np.zeros(len(poses), np.int64)
        for k, pose in enumerate(poses):
            hulls, found = near_records(self.scene, poses[k : k + 1], within, self.scene.most)
            frames = self.scene.linkage.forward(pose)
            rows: list[FloatArray] = []
            for row in hulls[0, : found[0]]:
                if len(rows) >= most and row[NEAR.distance] >= rows[most - 1][NEAR.distance]:
                    break
                exact = self._refined(row, frames)
                if exact[NEAR.distance] < within:
                    rows.append(exact)
                    rows.sort(key=lambda one: float(one[NEAR.distance]))
            counts[k] = min(len(rows), most)
            records[k, : counts[k]] = rows[:most]
        return records, counts

    def _refined(self, row: FloatArray, frames: Mapping[str, FloatArray]) -> FloatArray:
        """Return a record with the distance of the exact meshes; unchanged without meshes, or where they cross."""
        sides = [
            self._side(int(row[owner]), int(row[frame]), frames)
            for owner, frame in ((NEAR.owner_a, NEAR.frame_a), (NEAR.owner_b, NEAR.frame_b))
        ]
        if not any(part.triangles is not None for parts, _ in sides for part in parts):
            return row
        best = np.full(NEAR.size, np.inf)
        for one in sides[0][0]:
            for two in sides[1][0]:
                first, second = sides[0][1] @ one.transform, sides[1][1] @ two.transform
                result = self._coal.DistanceResult()
                distance = self._coal.distance(
                    one.shape, self._pose(first), two.shape, self._pose(second), self._request, result
                )
                if distance <= 0.0 or _encloses(one, first, two, second) or _encloses(two, second, one, first):
                    return row
                if distance < best[NEAR.distance]:
                    best = _record(row, distance, result)
        return best

    def _side(self, owner: int, frame: int, frames: Mapping[str, FloatArray]) -> tuple[Sequence[Part], FloatArray]:
        """Return the parts of an owner, and world_from_frame."""
        if owner not in self._parts:
            self._parts[owner] = self._of_owner(owner)
        return self._parts[owner], np.eye(4) if frame < 0 else frames[self.scene.frames[frame]]

    def _of_owner(self, owner: int) -> list[Part]:
        name = self.scene.owners[owner]
        if owner < self.scene.link_owners:
            linkage: Linkage = self.scene.linkage
            node = linkage.link(name)
            return [
                part
                for visual in counted_visuals(linkage, node)
                for part in self._of_shape(visual.shape, node.matrix @ visual.placement, f"link {name!r}")
            ]
        obstacle = self._held[name]
        return self._of_shape(obstacle.shape, obstacle.pose, f"obstacle {name!r}")

    def _of_shape(self, shape: Shape, placement: FloatArray, what: str) -> list[Part]:
        if not isinstance(shape, MESHES):
            pieces = pieces_of(shape, surface=False, what=what).placed(placement)
            return [Part(one, at, None) for one, at in _convex(self._coal, pieces)]
        triangles = triangles_of(shape)
        if triangles is None:  # reported when the scene was packed
            return []
        return [Part(_mesh(self._coal, triangles), placement, triangles)]

    def _pose(self, transform: FloatArray) -> Any:
        return self._coal.Transform3s(transform[:3, :3].copy(), transform[:3, 3].copy())


def _coal() -> Any:
    try:
        return importlib.import_module("coal")
    except ImportError as error:
        raise MissingExtraError("coal", "collision", "the distance of meshes as they are") from error


def _record(row: FloatArray, distance: float, result: Any) -> FloatArray:
    """Return a record with coal's result. The normal is computed from the points: coal's is unreliable for meshes."""
    made = row.copy()
    near = NEAR.view(made)
    a, b = np.asarray(result.getNearestPoint1()), np.asarray(result.getNearestPoint2())
    near.distance, near.a, near.b, near.normal = distance, a, b, (b - a) / distance
    return made


def _encloses(outer: Part, world_from_outer: FloatArray, inner: Part, world_from_inner: FloatArray) -> bool:
    """Return whether a mesh encloses a part that does not cross it.

    A ray from such a part meets the mesh an odd number of times.
    """
    if outer.triangles is None:
        return False
    start = np.zeros(3) if inner.triangles is None else inner.triangles[0, 0]
    point = np.linalg.inv(world_from_outer) @ world_from_inner @ np.append(start, 1.0)
    a, u, v = outer.triangles[:, 0], *(outer.triangles[:, k] - outer.triangles[:, 0] for k in (1, 2))
    across = np.cross(OBLIQUE, v)
    size = (u * across).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = point[:3] - a
        first = (off * across).sum(axis=1) / size
        other = np.cross(off, u)
        second = (other * OBLIQUE).sum(axis=1) / size
        far = (v * other).sum(axis=1) / size
        met = (first >= 0.0) & (second >= 0.0) & (first + second <= 1.0) & (far > 0.0)
    return bool(met.sum() % 2)


def _mesh(coal: Any, triangles: FloatArray) -> Any:
    corners, indices = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        points.append(corner)
    for face in indices.reshape(-1, 3).tolist():
        faces.append(coal.Triangle(*face))
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(faces), len(points))
    mesh.addSubModel(points, faces)
    mesh.endModel()
    return mesh


def _convex(coal: Any, pieces: Pieces) -> list[tuple[Any, FloatArray]]:
    """Return convex pieces as coal's shapes, with their transforms."""
    made, ends = [], np.cumsum(pieces.counts)
    for k, (kind, size, radius) in enumerate(zip(pieces.kinds, pieces.sizes, pieces.radii, strict=True)):
        if kind == HULL:
            corners = coal.StdVec_Vec3s()
            for corner in pieces.points[ends[k] - pieces.counts[k] : ends[k]]:
                corners.append(corner)
            shape = coal.ConvexBase.convexHull(corners, False, "")
        else:
            shape = _solid(coal, int(kind), 2.0 * size, float(radius))
        made.append((shape, pieces.transforms[k]))
    return made


def _solid(coal: Any, kind: int, size: FloatArray, radius: float) -> Any:
    if kind == POINT:
        return coal.Sphere(radius)
    if kind == SEGMENT:
        return coal.Capsule(radius, size[2])
    if kind == BOX:
        return coal.Box(*size)
    if kind == CYLINDER:
        return coal.Cylinder(size[0] / 2.0, size[2])
    return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
