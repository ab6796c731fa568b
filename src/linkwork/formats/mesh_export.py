"""Link geometry as triangles and lines: shapes, and simple bones for links without shapes.

Mesh files are read with trimesh, if it is installed. It gets only the bytes of the file, so that other files named by a
mesh are not opened.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Remark
from ..linkage.geometry import (
    Box,
    Capsule,
    Cylinder,
    HalfSpace,
    HeightField,
    Hull,
    Mesh,
    PointCloud,
    Polyline,
    Shape,
    Sphere,
    TriangleMesh,
)
from ..linkage.linkage import Linkage
from ..transforms import FloatArray, plane_basis
from .atomic_files import read_bytes

AROUND, UPWARDS = 24, 8  # facets of round shapes: around the axis, and over a half circle
BONE_COLOR, COLOR = (0.85, 0.62, 0.25), (0.72, 0.74, 0.78)
BONE_WIDTH, JOINT_SIZE, SMALLEST = 0.08, 0.01, 1e-3  # relative to the bone; to the linkage; to the linkage
SHOWN_HALF = 1.0  # half the side of the square that shows a half-space [m]
MAX_VERTICES = 2_000_000
MESH_TYPES = ("stl", "obj", "ply", "off", "glb", "dae")

IntArray = NDArray[np.int64]
Color = tuple[float, float, float]


@dataclass(frozen=True)
class Facets:
    """Vertices, their normals, and triangles as three indices each; or lines as two indices each, without normals."""

    corners: FloatArray
    normals: FloatArray | None
    indices: IntArray


@dataclass(frozen=True)
class MeshPart:
    """Facets of one link in its own axes, with their color."""

    link: int
    facets: Facets
    color: Color


def parts(linkage: Linkage, missing: list[str]) -> Iterator[MeshPart]:
    """Yield the geometry to draw for every link: its visual shapes, or bones to its children.

    Args:
        linkage: The linkage.
        missing: Paths of meshes that could not be read are added to this.
    """
    for index, link in enumerate(linkage.nodes):
        drawn = False
        for visual in link.visuals:
            if visual.role != "visual":
                continue
            facets = facets_of(visual.shape)
            if facets is None:
                missing.append(getattr(visual.shape, "path", visual.shape.kind))
                continue
            drawn = True
            yield MeshPart(index, placed(facets, link.matrix @ visual.placement), visual.color or COLOR)
        if not drawn:
            yield MeshPart(index, _bones(linkage, index), BONE_COLOR)


def say_missing(missing: list[str]) -> Iterator[Remark]:
    """Yield a remark on the meshes that `parts` could not read, if there are any."""
    names = sorted(set(missing))
    if names:
        what = f"meshes {names[0]!r} and {len(names) - 1} more are" if names[1:] else f"mesh {names[0]!r} is"
        text = f"{what} not drawn: the file was not found, or trimesh cannot read it"
        yield Remark("missing-mesh", f"{text}; bones are drawn instead.", names[0])


def placed(facets: Facets, matrix: FloatArray) -> Facets:
    """Return facets moved by a rigid transform."""
    corners = facets.corners @ matrix[:3, :3].T + matrix[:3, 3]
    normals = None if facets.normals is None else facets.normals @ matrix[:3, :3].T
    return Facets(corners, normals, facets.indices)


def facets_of(shape: Shape) -> Facets | None:
    """Return the surface of a shape in its own coordinates; None for a mesh whose file is missing or unreadable."""
    match shape:
        case Box():
            return _flat(_BOX * np.array(shape.size) / 2.0)
        case Sphere():
            return _turned(*_arc(shape.radius, 0.0, -1.0, 1.0))
        case Cylinder():
            radius, half = shape.radius, shape.length / 2.0
            corners = np.array([[0.0, -half], [radius, -half], [radius, half], [0.0, half]])
            normals = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]])  # of bottom, wall and top
            return joined([_turned(corners[k : k + 2], normals[[k, k]]) for k in range(3)])
        case Capsule():
            half = shape.length / 2.0
            lower, upper = _arc(shape.radius, -half, -1.0, 0.0), _arc(shape.radius, half, 0.0, 1.0)
            return _turned(np.vstack([lower[0], upper[0]]), np.vstack([lower[1], upper[1]]))
        case Polyline():
            points = np.array(shape.points)
            ends = np.arange(len(points) if shape.closed else len(points) - 1)
            return Facets(points, None, np.stack([ends, (ends + 1) % len(points)], axis=1))
        case Mesh():
            return _mesh(shape)
        case TriangleMesh():
            return _flat(shape.points[shape.triangles].reshape(-1, 3))
        case Hull():
            return _flat(_hull(shape.points))
        case HeightField():
            return _flat(_field(shape))
        case PointCloud():
            return _flat((shape.points[:, None] + shape.radius * _DIAMOND).reshape(-1, 3))
        case HalfSpace():
            return _flat(_SIDE * [SHOWN_HALF, SHOWN_HALF, 0.0])
    return None


# The 12 triangles of the box from -1 to 1, shape (36, 3): two of one side, turned to the opposite one, axes permuted.
_SIDE = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, -1, 1], [1, 1, 1], [-1, 1, 1]], np.float64)
_BOX = np.concatenate([side[:, np.roll(range(3), k)] for k in (0, 2, 1) for side in (_SIDE, _SIDE * [-1, 1, -1])])


# The 8 triangles of an octahedron, shape (24, 3).
_DIAMOND = np.array(
    [
        np.array([[x, 0, 0], [0, y, 0], [0, 0, z]][:: 1 if x * y * z > 0 else -1])
        for x in (-1.0, 1.0)
        for y in (-1.0, 1.0)
        for z in (-1.0, 1.0)
    ]
).reshape(-1, 3)


def _hull(points: FloatArray) -> FloatArray:
    """Return the triangles of a convex hull, three vertices each, shape (3 n, 3)."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    corners = points[hull.simplices]
    outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inside = np.einsum("ij,ij->i", outward, hull.equations[:, :3]) < 0.0
    corners[inside] = corners[inside, ::-1]
    return corners.reshape(-1, 3)


def _field(shape: HeightField) -> FloatArray:
    """Return the surface of a height field, its walls and its floor, as separate triangles, shape (3 n, 3)."""
    points, ground = shape.points, [shape.prisms[:, :3].reshape(-1, 3)]
    rims = (points[0], points[:, -1], points[-1, ::-1], points[::-1, 0])  # counter-clockwise from above
    for rim in rims:
        a, b = rim[:-1], rim[1:]
        below_a, below_b = (np.c_[end[:, :2], np.full(len(end), shape.floor)] for end in (a, b))
        ground.append(np.stack([below_a, below_b, b, below_a, b, a], axis=1).reshape(-1, 3))
    (x, y), low = np.array(shape.size) / 2.0, shape.floor
    ground.append(_SIDE[::-1] * [x, y, 0.0] + [0.0, 0.0, low])
    return np.concatenate(ground)


def _flat(corners: FloatArray) -> Facets:
    """Return facets of separate triangles, three vertices each, with the normals of their planes."""
    triangles = corners.reshape(-1, 3, 3)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    kept = length[:, 0] > 0.0
    normals = np.repeat(normals[kept] / length[kept], 3, axis=0)
    corners = triangles[kept].reshape(-1, 3)
    return Facets(corners, normals, np.arange(len(corners)).reshape(-1, 3))


def _arc(radius: float, height: float, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Return a profile (radius, z) of a circle between two sines of latitude, and its normals."""
    count = UPWARDS if high - low > 1.5 else UPWARDS // 2
    angles = np.linspace(math.asin(low), math.asin(high), count + 1)
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    normals[np.abs(normals) < 1e-12] = 0.0
    return normals * radius + [0.0, height], normals


def _turned(profile: FloatArray, normals: FloatArray) -> Facets:
    """Return the surface of revolution of a profile (radius, z), from bottom to top, about z."""
    angles = np.linspace(0.0, 2.0 * np.pi, AROUND + 1)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def swept(rows: FloatArray) -> FloatArray:
        flat = rows[:, None, :1] * around
        heights = np.broadcast_to(rows[:, None, 1:], (*flat.shape[:2], 1))
        return np.concatenate([flat, heights], axis=2).reshape(-1, 3)

    row, column = np.meshgrid(np.arange(len(profile) - 1), np.arange(AROUND), indexing="ij")
    a = (row * (AROUND + 1) + column).ravel()
    b, c, d = a + 1, a + AROUND + 2, a + AROUND + 1
    low, high = profile[row.ravel(), 0] > 0.0, profile[row.ravel() + 1, 0] > 0.0  # at a pole there is one triangle
    triangles = [np.stack([a, b, c], axis=1)[low], np.stack([a, c, d], axis=1)[high]]
    return Facets(swept(profile), swept(normals), np.concatenate(triangles))


def joined(pieces: list[Facets]) -> Facets:
    """Return several facets of one kind joined into one."""
    starts = np.cumsum([0, *(len(piece.corners) for piece in pieces[:-1])])
    normals = [piece.normals for piece in pieces if piece.normals is not None]
    return Facets(
        np.concatenate([piece.corners for piece in pieces]),
        np.concatenate(normals) if normals else None,
        np.concatenate([piece.indices + start for piece, start in zip(pieces, starts, strict=True)]),
    )


def _mesh(shape: Mesh) -> Facets | None:
    """Return the triangles of a mesh file, or None if the file is missing or cannot be read."""
    if shape.file is None:
        return None
    try:
        import trimesh

        kind, data = PurePath(shape.file).suffix.lower().removeprefix("."), read_bytes(shape.file)
        entities = b"<!" in data.replace(b"<!--", b"") or b"\0" in data  # or another encoding, which could hide them
        if kind not in MESH_TYPES or (kind == "dae" and entities):
            return None
        mesh: Any = trimesh.load(io.BytesIO(data), file_type=kind, force="mesh")
        corners, triangles = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces, np.int64)
    except Exception:  # readers fail in many ways; a bone is drawn instead, with a remark
        return None
    if not 0 < len(triangles) <= MAX_VERTICES // 3 or not np.isfinite(corners).all():
        return None
    corners = (corners * np.array(shape.scale))[triangles]
    if np.prod(np.sign(shape.scale)) < 0.0:  # a reflection turns triangles inside out
        corners = corners[:, ::-1]
    facets = _flat(corners.reshape(-1, 3))
    return facets if len(facets.indices) else None


def _bones(linkage: Linkage, index: int) -> Facets:
    """Return a link as slim double pyramids from its origin to its children and frames, or a small one."""
    size = linkage.length or 1.0
    name = linkage.links[index]
    ends = [linkage.arcs[child].placement[:3, 3] for child in linkage.children[index]]
    ends += [frame.placement[:3, 3] for frame in linkage.extra_frames if frame.link == name]
    far = [end for end in ends if np.linalg.norm(end) > SMALLEST * size]
    small = JOINT_SIZE * size
    return joined([_bone(end) for end in far] or [_bone(np.array([0.0, 0.0, small]), small / 2.0)])


def _bone(end: FloatArray, width: float | None = None) -> Facets:
    length = float(np.linalg.norm(end))
    x, y, _ = plane_basis(end / length).T
    waist = (width or BONE_WIDTH * length) * np.array([x, y, -x, -y]) + 0.2 * end
    triangles = []
    for k in range(4):
        a, b = waist[k], waist[(k + 1) % 4]
        triangles += [np.zeros(3), b, a, end, a, b]
    return _flat(np.array(triangles))
