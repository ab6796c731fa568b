"""Shapes and mass properties of links. A shape has its own coordinates and may be shared between links.

A shape has no pose. `Visual` places it in a link, together with the link's node transform, which is used for drawing
only and not inherited by child links.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LinkageError
from ..transforms import (
    IDENTITY,
    FloatArray,
    TransformLike,
    Value,
    as_array,
    as_number,
    as_transform,
    as_vector,
    read_only,
)

IntArray = NDArray[np.int64]
SYMMETRY_TOLERANCE = 1e-9
FLAT = 1e-9  # relative thickness below which points count as lying in one plane


def _positive(value: float, what: str) -> float:
    size = as_number(value, what)
    if size <= 0.0:
        raise LinkageError(f"{what} must be positive, got {size:g}.")
    return size


class Shape:
    """Base of all shapes. `kind` is its name in files."""

    kind: ClassVar[str]


class Meshed(Shape):
    """Base of shapes that are drawn by their triangles."""


@dataclass(frozen=True)
class Box(Shape):
    """A box centred on the origin.

    Args:
        size: Edge lengths along x, y, z [m].
    """

    size: tuple[float, float, float]
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        vars(self)["size"] = tuple(_positive(edge, "box size") for edge in as_vector(self.size, "box size").tolist())


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere centred on the origin."""

    radius: float
    kind: ClassVar[str] = "sphere"

    def __post_init__(self) -> None:
        vars(self)["radius"] = _positive(self.radius, "sphere radius")


@dataclass(frozen=True)
class _Round(Shape):
    radius: float
    length: float

    def __post_init__(self) -> None:
        vars(self).update({name: _positive(size, f"{self.kind} {name}") for name, size in vars(self).items()})


@dataclass(frozen=True)
class Cylinder(_Round):
    """A cylinder along z, centred on the origin."""

    kind: ClassVar[str] = "cylinder"


@dataclass(frozen=True)
class Capsule(_Round):
    """A cylinder along z with a half sphere at either end; `length` excludes the half spheres."""

    kind: ClassVar[str] = "capsule"


@dataclass(frozen=True)
class Polyline(Shape):
    """Straight segments through points, shape (n, 3) [m]."""

    points: tuple[tuple[float, float, float], ...]
    closed: bool = False
    kind: ClassVar[str] = "polyline"

    def __post_init__(self) -> None:
        points = as_array(self.points, "polyline points")
        if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2 or not np.isfinite(points).all():
            raise LinkageError(f"polyline points must be finite, of shape (n >= 2, 3), got shape {points.shape}.")
        vars(self)["points"] = tuple(map(tuple, points.tolist()))


@dataclass(frozen=True)
class Mesh(Meshed):
    """A mesh in a file. The file is read when the mesh is first used.

    Args:
        path: Path as given; a relative path is relative to the model's folder.
        scale: Factors along x, y, z, or one for all: 0.001 for a file in millimetres.
        file: Location of the file on this machine; neither compared nor saved. Loading a model or a world finds it. For
            a mesh that you create yourself, give it: ``Mesh("part.stl", file="part.stl")``.
    """

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    file: str | None = field(default=None, compare=False, repr=False)
    kind: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        path = os.fspath(self.path) if isinstance(self.path, str | os.PathLike) else None
        if not isinstance(path, str) or not path:
            raise LinkageError(f"a mesh needs the path of its file, got {self.path!r}.")
        file = None if self.file is None else os.fspath(self.file)
        scale = (self.scale,) * 3 if isinstance(self.scale, int | float) else self.scale
        vars(self).update(path=path, scale=tuple(as_vector(scale, "mesh scale").tolist()), file=file)


@dataclass(frozen=True)
class HalfSpace(Meshed):
    """Everything below the plane z = 0 of its own axes: an infinite floor, wall or ceiling.

    It is drawn as a square of two metres.
    """

    kind: ClassVar[str] = "half_space"


class _Numbers(Value, Meshed):
    """Base of shapes that hold arrays: equal by value, and hashed by it."""

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __hash__(self) -> int:  # type: ignore[override]
        parts = vars(self).values()
        return hash((type(self), *(part.tobytes() if isinstance(part, np.ndarray) else part for part in parts)))


def _points(value: ArrayLike, what: str, least: int) -> FloatArray:
    points = as_array(value, what)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < least:
        raise LinkageError(f"{what} must have shape (n >= {least}, 3), got {points.shape}.")
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise LinkageError(f"{what} must be finite, got {points[wrong[0]].tolist()} in row {wrong[0]}.")
    return read_only(points + 0.0)  # replaces -0.0, which is equal to 0.0 but has other bytes


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Hull(_Numbers):
    """The convex hull of points, filled.

    Args:
        points: Its corners [m], shape (n, 3), at least four and not all in one plane. Points inside the hull are
            allowed.

    Example:
        >>> Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        Hull(4 points)
    """

    points: FloatArray
    kind: ClassVar[str] = "hull"

    def __init__(self, points: ArrayLike) -> None:
        corners = _points(points, "hull points", 4)
        size = float(np.ptp(corners, axis=0).max())
        thick = float(np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)[-1])
        if thick <= FLAT * max(size, float(np.abs(corners).max())):
            raise LinkageError(
                f"{len(corners)} hull points lie in one plane and enclose nothing; "
                "use a thin Box, or a TriangleMesh for a surface."
            )
        vars(self)["points"] = corners

    def __repr__(self) -> str:
        return f"Hull({len(self.points)} points)"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TriangleMesh(_Numbers):
    """A triangle mesh in memory; a mesh in a file is a `Mesh`.

    Args:
        points: Corners [m], shape (n, 3).
        triangles: Indices of the three corners of each, counter-clockwise seen from outside, shape (m, 3).
    """

    points: FloatArray
    triangles: IntArray
    kind: ClassVar[str] = "triangles"

    def __init__(self, points: ArrayLike, triangles: ArrayLike) -> None:
        corners, faces = _points(points, "corners of triangles", 3), as_array(triangles, "triangles")
        if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise LinkageError(f"triangles must have shape (m >= 1, 3), got {faces.shape}.")
        if not np.array_equal(faces, np.floor(faces)):
            raise LinkageError(f"triangles are whole numbers, got {faces[faces != np.floor(faces)][0]:g}.")
        if faces.min() < 0 or faces.max() >= len(corners):
            worst = int(faces.min() if faces.min() < 0 else faces.max())
            raise LinkageError(f"triangles name corners 0 to {len(corners) - 1}, got {worst}.")
        vars(self).update(points=corners, triangles=read_only(faces.astype(np.int64)))

    @property
    def closed(self) -> bool:
        """Whether the surface is closed: every edge is used once in each direction."""
        edges = self.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        there, back = (edges @ [len(self.points), 1], edges @ [1, len(self.points)])
        return len(np.unique(there)) == len(there) and np.array_equal(np.sort(there), np.sort(back))

    def __repr__(self) -> str:
        return f"TriangleMesh({len(self.points)} points, {len(self.triangles)} triangles)"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class HeightField(_Numbers):
    """Heights on a grid, centred on the origin and solid below, as in MuJoCo.

    Args:
        heights: Heights [m], shape (rows, columns), at least two of each; rows are along y, columns along x.
        size: Length along x and along y, from the first to the last height [m].
        depth: Thickness of the solid below the lowest height [m].
    """

    heights: FloatArray
    size: tuple[float, float]
    depth: float = 1.0
    kind: ClassVar[str] = "height_field"

    def __init__(self, heights: ArrayLike, size: ArrayLike, depth: float = 1.0) -> None:
        grid = as_array(heights, "heights")
        if grid.ndim != 2 or min(grid.shape) < 2:
            raise LinkageError(f"heights must have shape (rows >= 2, columns >= 2), got {grid.shape}.")
        if not np.isfinite(grid).all():
            row, column = np.argwhere(~np.isfinite(grid))[0].tolist()
            raise LinkageError(f"heights must be finite, got {grid[row, column]} in row {row}, column {column}.")
        sides = tuple(_positive(side, "size of a height field") for side in as_vector(size, "size", 2).tolist())
        vars(self).update(heights=read_only(grid + 0.0), size=sides, depth=_positive(depth, "depth of a height field"))

    @property
    def points(self) -> FloatArray:
        """The points of the surface, shape (rows, columns, 3) [m]."""
        rows, columns = self.heights.shape
        x, y = (np.linspace(-0.5, 0.5, count) * side for count, side in zip((columns, rows), self.size, strict=True))
        return np.stack([*np.meshgrid(x, y), self.heights], axis=-1)

    @property
    def floor(self) -> float:
        """The z coordinate of its lower face [m]."""
        return float(self.heights.min()) - self.depth

    @property
    def prisms(self) -> FloatArray:
        """The vertical prisms that fill it, two per cell: three corners on the surface, then those below them.

        Shape (n, 6, 3) [m].
        """
        p = self.points
        a, b, c, d = p[:-1, :-1], p[:-1, 1:], p[1:, 1:], p[1:, :-1]
        tops = np.stack([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)], axis=2).reshape(-1, 3, 3)
        below = tops.copy()
        below[..., 2] = self.floor
        return np.concatenate([tops, below], axis=1)

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"HeightField({rows} x {columns} heights, size={self.size}, depth={self.depth:g})"


@dataclass(frozen=True, eq=False, repr=False, init=False)
class PointCloud(_Numbers):
    """Points from a camera or a scanner, each with a ball around it.

    Args:
        points: The points [m], shape (n, 3).
        radius: Radius of the balls [m]: half the distance between neighbours closes the gaps.
    """

    points: FloatArray
    radius: float
    kind: ClassVar[str] = "point_cloud"

    def __init__(self, points: ArrayLike, radius: float) -> None:
        own = _points(points, "points of a cloud", 1)
        vars(self).update(points=own, radius=_positive(radius, "radius of a point cloud"))

    def __repr__(self) -> str:
        return f"PointCloud({len(self.points)} points, radius={self.radius:g})"


SHAPES: dict[str, type[Shape]] = {
    cls.kind: cls
    for cls in (
        *(Box, Sphere, Cylinder, Capsule, Polyline, Mesh),
        *(HalfSpace, Hull, TriangleMesh, HeightField, PointCloud),
    )
}


@dataclass(frozen=True, eq=False, init=False)
class Visual(Value):
    """A shape placed in a link.

    Args:
        shape: The shape, possibly shared with other links.
        placement: link_from_shape, 4x4 or a position.
        color: Red, green, blue from 0 to 1, or None for a default colour.
        role: ``"visual"`` or ``"collision"``.
    """

    shape: Shape
    placement: FloatArray
    color: tuple[float, float, float] | None
    role: str

    def __init__(
        self, shape: Shape, placement: TransformLike = IDENTITY, color: ArrayLike | None = None, role: str = "visual"
    ) -> None:
        if not isinstance(shape, Shape):
            raise LinkageError(f"a visual needs a shape ({', '.join(SHAPES)}), got {shape!r}.")
        if role not in ("visual", "collision"):
            raise LinkageError(f"a visual's role is 'visual' or 'collision', got {role!r}.")
        placed = read_only(as_transform(placement, "visual placement"))
        shown = None if color is None else tuple(as_vector(color, "color").tolist())
        if shown is not None and (min(shown) < 0.0 or max(shown) > 1.0):
            raise LinkageError(f"color components go from 0 to 1, got {list(shown)}.")
        vars(self).update(shape=shape, placement=placed, color=shown, role=role)


@dataclass(frozen=True, eq=False, init=False)
class Inertia(Value):
    """Mass of a link, its centre and its inertia matrix.

    Args:
        mass: Mass [kg], zero or more.
        center: Centre of mass in the link's coordinates [m].
        matrix: Moments of inertia about the centre of mass, along the link's axes [kg m²]: symmetric, shape (3, 3).
        known: False if part of the mass could not be read, for example because a mesh file is missing. The other fields
            then hold the known part, and computations that need the mass raise an error.
    """

    mass: float
    center: FloatArray
    matrix: FloatArray
    known: bool

    def __init__(
        self,
        mass: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        matrix: ArrayLike = ((0.0,) * 3,) * 3,
        known: bool = True,
    ) -> None:
        mass = as_number(mass, "mass")
        if mass < 0.0:
            raise LinkageError(f"mass must not be negative, got {mass:g}.")
        matrix = as_array(matrix, "inertia matrix")
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise LinkageError(f"an inertia matrix must be finite, of shape (3, 3), got {matrix.tolist()}.")
        if not np.array_equal(matrix, matrix.T):
            skew, size = np.abs(matrix / 2.0 - matrix.T / 2.0).max(), np.abs(matrix).max()
            if skew > SYMMETRY_TOLERANCE * size:
                raise LinkageError(f"an inertia matrix must be symmetric, got {matrix.tolist()}.")
            matrix = matrix / 2.0 + matrix.T / 2.0
        if not isinstance(known, bool):
            raise LinkageError(f"known (whether the mass is known) must be True or False, got {known!r}.")
        center = read_only(as_vector(center, "center of mass"))
        vars(self).update(mass=mass, center=center, matrix=read_only(matrix), known=known)


Visuals: TypeAlias = Shape | Visual | Sequence[Shape | Visual]


def as_visuals(value: Visuals) -> tuple[Visual, ...]:
    """Return visuals from a shape, a visual, or a sequence of either."""
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(item if isinstance(item, Visual) else Visual(item) for item in items)


def bone(start: ArrayLike, end: ArrayLike, radius: float, color: tuple[float, float, float] | None = None) -> Visual:
    """Return a capsule of a radius [m] between two points of a link (3,) [m], as a simple shape of a limb.

    Example:
        >>> bone((0, 0, 0), (0, 0, 0.5), 0.05).shape
        Capsule(radius=0.05, length=0.5)
    """
    start, end = as_vector(start, "bone start"), as_vector(end, "bone end")
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        raise LinkageError("the two ends of a bone must be different points.")
    z = (end - start) / length
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x /= np.linalg.norm(x)
    placement = np.eye(4)
    placement[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    placement[:3, 3] = (start + end) / 2
    return Visual(Capsule(radius, length), placement, color)
