"""Shapes as convex pieces, each a core with a radius around it, between which distances are computed.

Spheres, capsules, boxes, cylinders, hulls and half-spaces are one piece. A height field is prisms, a point cloud balls.
Each triangle of a mesh in the world is one piece, so that an arm can reach into a shelf. A mesh on a link is replaced
by its convex hull, unless simpler shapes are fitted to it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkageError
from ..kernels.collision.piece_layout import BOUND, BOX, CYLINDER, HALFSPACE, HULL, PIECE, PIECE_CODE, POINT, SEGMENT
from ..kernels.collision.support import SEEDS
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
from ..transforms import FloatArray
from .surfaces import triangles_of

MOST_PIECES = 500_000  # largest number in one scene: 150 MB
FLAT = 1e-7  # relative extent below which points count as flat in a direction
LARGE = 2 * SEEDS  # number of points from which on the search for the furthest one climbs along the edges of a hull
SLACK = 1e-12  # relative margin of the bounding balls, against rounding


@dataclass(frozen=True, eq=False)
class Pieces:
    """Convex pieces in one frame.

    Args:
        kinds: Kinds of their cores, as in `kernels.collision.piece_layout`, shape (n,).
        transforms: frame_from_piece, shape (n, 4, 4).
        sizes: Half sizes along the piece's axes, shape (n, 3).
        radii: Radius around each core, shape (n,).
        counts: Number of points of each, for hulls only, shape (n,).
        points: The points of all of them in their own coordinates, concatenated, shape (m, 3).
        edge_counts: Number of values of the edges of each, for large hulls only, shape (n,).
        edges: The edges of all of them, along which the kernels search, concatenated, shape (k,).
    """

    kinds: NDArray[np.int64]
    transforms: FloatArray
    sizes: FloatArray
    radii: FloatArray
    counts: NDArray[np.int64]
    points: FloatArray
    edge_counts: NDArray[np.int64]
    edges: FloatArray

    def __len__(self) -> int:
        return len(self.kinds)

    def placed(self, transform: FloatArray) -> Pieces:
        """Return the pieces, moved by a transform."""
        return replace(self, transforms=transform @ self.transforms)

    def sorted(self, order: NDArray[np.int64]) -> Pieces:
        """Return the pieces in another order."""
        return Pieces(
            self.kinds[order],
            self.transforms[order],
            self.sizes[order],
            self.radii[order],
            self.counts[order],
            self.points[_runs(self.counts, order)],
            self.edge_counts[order],
            self.edges[_runs(self.edge_counts, order)],
        )

    def balls(self) -> tuple[FloatArray, FloatArray]:
        """Return the centres (n, 3) and radii (n,) of balls around the pieces, in the frame's axes."""
        middles, around = np.zeros((len(self), 3)), np.linalg.norm(self.sizes, axis=1)
        disc = self.kinds == CYLINDER
        around[disc] = np.hypot(self.sizes[disc, 0], self.sizes[disc, 2])
        hulls = np.flatnonzero(self.counts)
        if len(hulls):
            counts = self.counts[hulls]
            starts = np.cumsum(counts) - counts
            low, high = np.minimum.reduceat(self.points, starts), np.maximum.reduceat(self.points, starts)
            middles[hulls] = (low + high) / 2.0
            offsets = np.linalg.norm(self.points - np.repeat(middles[hulls], counts, axis=0), axis=1)
            around[hulls] = np.maximum.reduceat(offsets, starts)
        around[self.kinds == HALFSPACE] = np.inf
        centres = np.einsum("nij,nj->ni", self.transforms[:, :3, :3], middles) + self.transforms[:, :3, 3]
        return centres, (around + self.radii) * (1.0 + SLACK)

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest coordinates of each along the frame's axes, shape (n, 3)."""
        turns, centres = self.transforms[:, :3, :3], self.transforms[:, :3, 3]
        out = np.einsum("nij,nj->ni", np.abs(turns), self.sizes)
        disc = self.kinds == CYLINDER
        across = np.sqrt(np.maximum(1.0 - turns[disc, :, 2] ** 2, 0.0))
        out[disc] = self.sizes[disc, :1] * across + self.sizes[disc, 2:] * np.abs(turns[disc, :, 2])
        low, high = centres - out, centres + out
        hulls = np.flatnonzero(self.counts)
        if len(hulls):
            counts = self.counts[hulls]
            starts = np.cumsum(counts) - counts
            which = np.repeat(hulls, counts)
            placed = np.einsum("nij,nj->ni", turns[which], self.points) + centres[which]
            low[hulls], high[hulls] = np.minimum.reduceat(placed, starts), np.maximum.reduceat(placed, starts)
        around = self.radii[:, None] + SLACK * np.abs(np.stack([low, high])).max(axis=0)
        return low - around, high + around

    @cached_property
    def records(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Records of PIECE_CODE and PIECE, without frame and owner; points and edges begin at 0."""
        centres, bounds = self.balls()
        sizes, hulls = self.sizes.copy(), np.flatnonzero(self.counts)
        if len(hulls):  # the size of a hull is that of its bounding box
            first_points = np.cumsum(self.counts[hulls]) - self.counts[hulls]
            low = np.minimum.reduceat(self.points, first_points)
            sizes[hulls] = (np.maximum.reduceat(self.points, first_points) - low) / 2.0
        codes = PIECE_CODE.pack(
            dtype=np.int64,
            shape=(len(self),),
            kind=self.kinds,
            frame=-1,
            first=np.cumsum(self.counts) - self.counts,
            count=self.counts,
            owner=-1,
            edges=np.where(self.edge_counts > 0, np.cumsum(self.edge_counts) - self.edge_counts, -1),
        )
        numbers = PIECE.pack(
            shape=(len(self),),
            transform=self.transforms[:, :3].reshape(-1, 12),
            sizes=sizes,
            radius=self.radii,
            centre=centres,
            bound=bounds,
        )
        return codes, numbers

    @cached_property
    def ball(self) -> FloatArray:
        """A record of BOUND: a ball around the balls of all pieces."""
        centres, reach = self.balls()
        centre = np.zeros(3)
        if np.isfinite(reach).all():
            around = reach[:, None]
            centre = ((centres - around).min(axis=0) + (centres + around).max(axis=0)) / 2.0
        radius = (np.linalg.norm(centres - centre, axis=1) + reach).max() * (1.0 + SLACK)
        return BOUND.pack(centre=centre, radius=radius)

    def by_kind(self) -> Pieces:
        """Return the pieces in the order of their kinds."""
        return self.sorted(np.argsort(self.kinds, kind="stable"))


def joined(parts: Iterable[Pieces]) -> Pieces:
    """Return pieces of one frame together."""
    every = [_EMPTY, *parts]
    names = [field.name for field in fields(Pieces)]
    return Pieces(*(np.concatenate([getattr(part, name) for part in every]) for name in names))


def _cores(
    kind: int,
    count: int = 1,
    *,
    at: FloatArray | None = None,
    sizes: Any = (0.0, 0.0, 0.0),
    radius: float = 0.0,
    points: FloatArray | None = None,
    edges: FloatArray | None = None,
) -> Pieces:
    transforms = np.tile(np.eye(4), (count, 1, 1))
    if at is not None:
        transforms[:, :3, 3] = at
    given = np.zeros((0, 3)) if points is None else points.reshape(-1, 3)
    return Pieces(
        np.full(count, kind, np.int64),
        transforms,
        np.broadcast_to(np.asarray(sizes, np.float64), (count, 3)).copy(),
        np.full(count, radius),
        np.full(count, len(given) // max(count, 1), np.int64),
        given,
        np.full(count, 0 if edges is None else len(edges), np.int64),
        np.zeros(0) if edges is None else edges,
    )


_EMPTY = _cores(POINT, 0)


def pieces_of(shape: Shape, *, surface: bool, what: str) -> Pieces:
    """Return a shape as pieces in its own axes.

    Args:
        shape: The shape.
        surface: Whether a mesh is its triangles; else it is its convex hull.
        what: Its owner, for messages.

    Raises:
        LinkageError: If it is a mesh that cannot be read, or has too many triangles.
    """
    for kind, make in PIECES.items():
        if isinstance(shape, kind):
            made = make(shape)
            break
    else:
        made = _of_mesh(shape, surface=surface, what=what)
    if len(made) > MOST_PIECES:
        raise LinkageError(
            f"{what} is {len(made):,} convex pieces, and a scene holds {MOST_PIECES:,}: simplify it, or fit something "
            "simpler to it."
        )
    return made


def _of_mesh(shape: Shape, *, surface: bool, what: str) -> Pieces:
    triangles = triangles_of(shape)
    if triangles is None or not len(triangles):
        if isinstance(shape, Mesh) and shape.file is not None and os.path.isfile(shape.file):  # noqa: PTH113
            advice = f"{shape.file} is there but could not be read: save it as STL, OBJ, PLY or GLB"
        elif isinstance(shape, Mesh) and os.path.isfile(shape.path):  # noqa: PTH113 - Path.is_file raises for some names
            advice = f"name the file, {shape.path}: Mesh({shape.path!r}, file={shape.path!r})"
        else:
            name = (shape.file or shape.path) if isinstance(shape, Mesh) else shape.kind
            advice = f"{name} was not found (linkwork doctor lists the paths that were tried)"
        raise LinkageError(
            f"{what} is a {shape.kind} without a surface, so distances to it are unknown; {advice}, or give it "
            "another shape."
        )
    if not np.isfinite(triangles).all():
        raise LinkageError(f"{what} is a {shape.kind} with corners that are not finite.")
    if surface:
        return _cores(HULL, len(triangles), points=triangles)
    return _filled(triangles.reshape(-1, 3))


def _runs(counts: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices of items grouped by owner, `counts` each, for another order of the owners."""
    firsts, chosen = np.cumsum(counts) - counts, counts[order]
    within = np.arange(chosen.sum()) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    return np.asarray(np.repeat(firsts[order], chosen) + within)


def _filled(points: FloatArray) -> Pieces:
    """Return the convex hull of points; a large hull has edges, along which its furthest point is found by climbing."""
    corners, simplices = _hull_of(points)
    if len(corners) < LARGE:
        return _cores(HULL, points=corners)
    turn, height = math.pi * (3.0 - math.sqrt(5.0)) * np.arange(SEEDS), 1.0 - (2.0 * np.arange(SEEDS) + 1.0) / SEEDS
    across = np.sqrt(1.0 - height**2)
    ways = np.stack([across * np.cos(turn), across * np.sin(turn), height], axis=1)  # a spiral on the unit sphere
    seeds = list(dict.fromkeys((corners @ ways.T).argmax(axis=0).tolist()))
    order = np.concatenate([seeds, np.setdiff1d(np.arange(len(corners)), seeds)])
    faces = np.argsort(order)[simplices]
    pairs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(len(corners) + 1)) + len(corners) + 1
    return _cores(HULL, points=corners[order], edges=np.concatenate([starts, pairs[:, 1]]).astype(np.float64))


def hull_points(points: FloatArray) -> FloatArray:
    """Return the corners of the convex hull of points (n, 3), which may lie in a plane, in a line or in one place.

    Example:
        >>> hull_points(np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0]])).tolist()
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return _hull_of(points)[0]


def _hull_of(points: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the corners of a hull and its triangles; a flat hull has no triangles."""
    middle = points.mean(axis=0)
    off = points - middle
    squares, axes = np.linalg.eigh(off.T @ off)
    flat = int((squares > (FLAT * FLAT) * squares[-1]).sum()) if squares[-1] > 0.0 else 0
    nothing = np.zeros((0, 3), np.int64)
    if flat <= 1:
        along = off @ axes[:, -1]
        return points[[along.argmin(), along.argmax()]][: 1 + flat], nothing
    from scipy.spatial import ConvexHull

    found = ConvexHull(off @ axes[:, 3 - flat :])
    corners = np.sort(found.vertices)
    faces = np.searchsorted(corners, found.simplices) if flat == 3 else nothing
    return points[corners], faces


def _box(shape: Box) -> Pieces:
    return _cores(BOX, sizes=np.array(shape.size) / 2.0)


def _sphere(shape: Sphere) -> Pieces:
    return _cores(POINT, radius=shape.radius)


def _capsule(shape: Capsule) -> Pieces:
    return _cores(SEGMENT, sizes=(0.0, 0.0, shape.length / 2.0), radius=shape.radius)


def _cylinder(shape: Cylinder) -> Pieces:
    return _cores(CYLINDER, sizes=(shape.radius, shape.radius, shape.length / 2.0))


def _half_space(_: HalfSpace) -> Pieces:
    return _cores(HALFSPACE)


def _hull(shape: Hull) -> Pieces:
    return _filled(shape.points)


def _height_field(shape: HeightField) -> Pieces:
    prisms = shape.prisms
    return _cores(HULL, len(prisms), points=prisms)


def _point_cloud(shape: PointCloud) -> Pieces:
    return _cores(POINT, len(shape.points), at=shape.points, radius=shape.radius)


def _nothing(_: Polyline) -> Pieces:
    return _EMPTY


PIECES: dict[type[Shape], Callable[[Any], Pieces]] = {
    Box: _box,
    Sphere: _sphere,
    Capsule: _capsule,
    Cylinder: _cylinder,
    HalfSpace: _half_space,
    Hull: _hull,
    HeightField: _height_field,
    PointCloud: _point_cloud,
    Polyline: _nothing,
}
MESHES = (Mesh, TriangleMesh)  # shapes given by triangles
