"""Visible parts of solids: the faces, or pieces of faces, that no other solid hides.

A point is hidden when the ray from it to the eye passes through a solid. The points that a convex solid hides form a
convex set, so a face is cut straight across where its border enters one; what remains does not overlap on the page,
however the solids pierce each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..linkage.geometry import Box, Capsule, Cylinder, Shape, Sphere
from ..transforms import FloatArray
from .parts import IntArray, Part
from .sketch import BoolArray

CORNERS = 8  # corners of a face of four after up to four cuts; with fewer corners, the last repeats
BOX, TUBE, PILL = range(3)  # cylinders are tubes, capsules are pills, and spheres are pills of length zero


@dataclass(frozen=True)
class Eye:
    """The eye of a picture: a point or, with `weight` zero, a direction."""

    position: FloatArray
    weight: float

    @classmethod
    def of(cls, projection: FloatArray, towards: FloatArray) -> Eye:
        """Return the eye of a 4x4 projection: the point without an image, at which x, y and w are all zero.

        Args:
            projection: Homogeneous projection of the world onto the page.
            towards: Roughly the direction to the eye, to tell the front from the back.
        """
        eye = np.linalg.svd(projection[[0, 1, 3]])[2][-1]
        if abs(eye[3]) < 1e-9:
            return cls(eye[:3] * np.sign(eye[:3] @ towards), 0.0)
        return cls(eye[:3] / eye[3], 1.0)

    def from_points(self, points: FloatArray) -> FloatArray:
        """Return the vectors from points (..., 3) to the eye, or the direction to it if it is infinitely far."""
        return np.broadcast_to(self.position, points.shape) - self.weight * points

    def nearness(self, points: FloatArray) -> FloatArray:
        """Return a number that rises as points (..., 3) come nearer."""
        if self.weight == 0.0:
            return np.asarray(points @ self.position)
        return np.asarray(-np.linalg.norm(self.from_points(points), axis=-1))


def measures(shape: Shape, grow: float = 0.0) -> tuple[int, tuple[float, float, float]] | None:
    """Return the kind of a solid and its three sizes, made thicker or thinner; None for a shape without an inside."""
    if isinstance(shape, Box):
        x, y, z = (_grown(edge / 2.0, grow) for edge in shape.size)
        return BOX, (x, y, z)
    if isinstance(shape, Cylinder):
        return TUBE, (_grown(shape.radius, grow), _grown(shape.length / 2.0, grow), 0.0)
    if isinstance(shape, Sphere):
        return PILL, (_grown(shape.radius, grow), 0.0, 0.0)
    if isinstance(shape, Capsule):
        return PILL, (_grown(shape.radius, grow), shape.length / 2.0, 0.0)
    return None


def _grown(size: float, grow: float) -> float:
    return max(size + grow, 0.3 * size)


def hits(kind: int, sizes: FloatArray, origins: FloatArray, directions: FloatArray) -> BoolArray:
    """Return whether rays (..., 3), in a solid's own coordinates, pass through it.

    Args:
        kind: `BOX`, `TUBE` or `PILL`.
        sizes: Its sizes from `measures`, shape (..., 3).
        origins: Starts of the rays.
        directions: Directions of the rays.

    Example:
        >>> kind, sizes = measures(Sphere(1.0))
        >>> origins = np.array([[0.0, 0.0, -3.0], [0.0, 2.0, -3.0]])
        >>> hits(kind, np.array(sizes), origins, np.array([0.0, 0.0, 1.0])).tolist()
        [True, False]
    """
    x, y, z = origins[..., 0], origins[..., 1], origins[..., 2]
    u, v, w = directions[..., 0], directions[..., 1], directions[..., 2]
    a, b, c = sizes[..., 0], sizes[..., 1], sizes[..., 2]
    if kind == BOX:
        return _meets(_slab(x, u, a), _slab(y, v, b), _slab(z, w, c))
    near, along, speed = x * x + y * y, x * u + y * v, u * u + v * v
    through = _meets(_round(near, along, speed, a), _slab(z, w, b))
    if kind == TUBE:
        return through
    for end in (b, -b):
        up = z - end
        through |= _meets(_round(near + up * up, along + up * w, speed + w * w, a))
    return through


Span = tuple[FloatArray, FloatArray]


def _slab(place: FloatArray, speed: FloatArray, half: FloatArray) -> Span:
    """Return the ray parameters at which rays enter and leave the space between two planes."""
    pace = np.where(np.abs(speed) < 1e-15, 1e-15, speed)
    middle, reach = -place / pace, half / np.abs(pace)
    return middle - reach, middle + reach


def _round(near: FloatArray, along: FloatArray, speed: FloatArray, radius: FloatArray) -> Span:
    """Return the ray parameters at which rays enter and leave a ball or an infinite tube about the origin.

    Args:
        near: Squared distance of their origins from it.
        along: Product of origin and direction.
        speed: Square of the direction.
        radius: Its radius.
    """
    pace = np.maximum(speed, 1e-30)
    square = along * along - pace * (near - radius * radius)
    reach = np.sqrt(np.maximum(square, 0.0)) / pace
    middle = -along / pace
    return np.where(square > 0.0, middle - reach, np.inf), middle + reach


def _meets(*spans: Span) -> BoolArray:
    """Return whether a positive ray parameter lies in all spans."""
    enter, leave = spans[0]
    for start, stop in spans[1:]:
        enter, leave = np.maximum(enter, start), np.minimum(leave, stop)
    return np.asarray((enter < leave) & (leave > 0.0))


class Covers:
    """Solids that hide points behind them from the eye.

    Args:
        parts: The solids; shapes without an inside hide nothing.
        frames: world_from_frame, shape (frames, 4, 4).
        eye: The eye.
        slack: Surfaces closer together than this coincide [m].
        sag: Largest depth of flat faces below the round surface that they replace, over its radius.
    """

    def __init__(self, parts: list[Part], frames: FloatArray, eye: Eye, slack: float, sag: float) -> None:
        self.solid = np.array([measures(part.shape) is not None for part in parts], dtype=np.bool_)
        worlds = np.array([frames[part.link] @ part.matrix for part in parts]).reshape(-1, 4, 4)
        self._turn, self._place = worlds[:, :3, :3], worlds[:, :3, 3]
        self._weight = eye.weight
        self._eye = np.einsum("ni,nij->nj", eye.position - eye.weight * self._place, self._turn)
        self._kind = np.zeros(len(parts), dtype=np.int64)
        self._sizes = np.zeros((2, len(parts), 3))
        for k, part in enumerate(parts):
            radius = getattr(part.shape, "radius", 0.0)
            for thin, grow in ((0, slack), (1, -slack - sag * radius)):
                if (measured := measures(part.shape, grow)) is not None:
                    self._kind[k], self._sizes[thin, k] = measured

    def hide(self, covers: int | IntArray, thin: int | IntArray, points: FloatArray) -> BoolArray:
        """Return which points (n, k, 3) are hidden by one solid, or by one for each n, thick (0) or thin (1)."""
        kinds, sizes = self._kind[covers], self._sizes[thin, covers][..., None, :]
        local = (points - self._place[covers][..., None, :]) @ self._turn[covers]
        eye = self._eye[covers][..., None, :] - self._weight * local
        if kinds.ndim == 0:
            return hits(int(kinds), sizes, local, eye)
        hidden: BoolArray = np.zeros(points.shape[:2], dtype=np.bool_)
        for kind in np.unique(kinds).tolist():
            of_kind = kinds == kind
            hidden[of_kind] = hits(kind, sizes[of_kind], local[of_kind], eye[of_kind])
        return hidden

    def cut(self, polygons: FloatArray, covers: IntArray, thin: IntArray, halvings: int) -> tuple[FloatArray, IntArray]:
        """Return the visible rests of polygons (n, 8, 3), each cut by one solid, and the indices of those polygons.

        This is Sutherland and Hodgman's clipping: visible corners stay, and an edge from a visible to a hidden corner
        ends at the border of the cover, which is found by bisection.
        """
        shown = ~self.hide(covers, thin, polygons)
        kept = np.flatnonzero(shown.any(axis=1))
        polygons, shown = polygons[kept], shown[kept]
        crossing = shown != np.roll(shown, -1, axis=1)
        rows, _ = np.nonzero(crossing)
        first, second = polygons[crossing], np.roll(polygons, -1, axis=1)[crossing]
        leaving = shown[crossing][:, None]
        start, end = np.where(leaving, first, second), np.where(leaving, second, first)
        low, size = np.zeros((len(rows), 1)), 1.0
        for _ in range(halvings):
            size /= 2.0
            middle = start + (low + size) * (end - start)
            hidden = self.hide(covers[kept][rows], thin[kept][rows], middle[:, None])
            low = np.where(hidden, low, low + size)
        between = polygons.copy()
        between[crossing] = start + low * (end - start)
        slots = np.stack([polygons, between], axis=2).reshape(len(kept), 2 * CORNERS, 3)
        used = np.stack([shown, crossing], axis=2).reshape(len(kept), 2 * CORNERS)
        order = np.argsort(~used, axis=1, kind="stable")[:, :CORNERS]
        last = np.minimum(used.sum(axis=1), CORNERS) - 1
        every = np.arange(len(kept))
        order = np.where(np.arange(CORNERS) <= last[:, None], order, order[every, last][:, None])
        return slots[every[:, None], order], kept


def visible(
    faces: FloatArray, groups: IntArray, pages: FloatArray, covers: Covers, eye: Eye, *, halvings: int = 8
) -> tuple[FloatArray, IntArray]:
    """Return the visible pieces of faces that look towards the eye.

    If two surfaces coincide, that of the later part is visible.

    Args:
        faces: Faces in the world, shape (n, 4, 3), those of one part one after another.
        groups: Index of the part of each face, ascending; further groups, such as bones, come after the parts.
        pages: Positions of their corners on the page, shape (n, 4, 2).
        covers: The parts as solids.
        eye: The eye.
        halvings: Number of bisections of an edge to find the border of a cover.

    Returns:
        Polygons of shape (m, 8, 3), and the face of each.
    """
    gone, split = _first_pass(faces, groups, pages, covers, eye)
    split = split[~gone[split[:, 0]]]
    whole = np.ones(len(faces), dtype=np.bool_)
    whole[split[:, 0]] = False
    whole &= ~gone
    index = np.unique(split[:, 0])
    polygons = np.repeat(faces[index], CORNERS // 4, axis=1)
    split = split[np.argsort(split[:, 0], kind="stable")]
    turns = np.arange(len(split)) - np.searchsorted(split[:, 0], split[:, 0])
    for turn in range(int(turns.max(initial=-1)) + 1):  # each face is cut by one cover per turn
        face, cover, thin = split[turns == turn].T
        here = np.isin(index, face)
        jobs = np.searchsorted(face, index[here])
        pieces, kept = covers.cut(polygons[here], cover[jobs], thin[jobs], halvings)
        polygons = np.concatenate([polygons[~here], pieces])
        index = np.concatenate([index[~here], index[here][kept]])
    untouched = np.flatnonzero(whole)
    return np.concatenate([np.repeat(faces[untouched], CORNERS // 4, axis=1), polygons]), np.r_[untouched, index]


def _first_pass(
    faces: FloatArray, groups: IntArray, pages: FloatArray, covers: Covers, eye: Eye
) -> tuple[BoolArray, IntArray]:
    """Return which faces one solid hides completely, and (face, solid, thin) for those that it hides in part."""
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    stops = [*starts[1:].tolist(), len(groups)]
    low, high = pages.min(axis=1), pages.max(axis=1)
    lowest, highest = np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)
    near = eye.nearness(faces)
    nearest, furthest = np.maximum.reduceat(near.max(axis=1), starts), np.minimum.reduceat(near.min(axis=1), starts)
    names = groups[starts]
    solid = np.array([name < len(covers.solid) and bool(covers.solid[name]) for name in names])
    gone, split = np.zeros(len(faces), dtype=np.bool_), [np.zeros((0, 3), dtype=np.int64)]
    for k, (start, stop) in enumerate(zip(starts.tolist(), stops, strict=True)):
        before = solid & (lowest < highest[k]).all(axis=1) & (highest > lowest[k]).all(axis=1) & (nearest > furthest[k])
        before[k] = False
        for j in np.flatnonzero(before).tolist():
            meets = (low[start:stop] < highest[j]).all(axis=1) & (high[start:stop] > lowest[j]).all(axis=1)
            some = start + np.flatnonzero(meets & ~gone[start:stop])
            thin = int(k > j)
            hidden = covers.hide(int(names[j]), thin, faces[some])
            every = hidden.all(axis=1)
            gone[some[every]] = True
            partly = some[hidden.any(axis=1) & ~every]
            split.append(np.stack([partly, np.full_like(partly, names[j]), np.full_like(partly, thin)], axis=1))
    return gone, np.concatenate(split)
