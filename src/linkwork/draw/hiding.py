"""What a camera sees of solids: faces, or the pieces of them, that no other solid hides.

Imports `sketch` and what stands before it, NumPy only. A point is hidden when the ray from it to the eye passes through
a solid. The points that a convex solid hides form a convex set, so a face is cut straight across where its border enters
one; what remains does not overlap on the page, however the solids pierce each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..geometry import Box, Capsule, Cylinder, Shape, Sphere
from ..transforms import FloatArray
from .sketch import IntArray, Part

CORNERS = 8  # a face of four corners that was cut up to four times; fewer repeat the last
HALVINGS = 12


@dataclass(frozen=True)
class Eye:
    """Where a picture is seen from: a point, or with `weight` zero a direction."""

    position: FloatArray
    weight: float

    @classmethod
    def of(cls, projection: FloatArray, towards: FloatArray) -> Eye:
        """Return the eye of a 4x4 projection: the point that appears nowhere, where x, y and w are all zero.

        Args:
            projection: Homogeneous projection of the world onto the page.
            towards: Roughly the direction to the eye, to tell the front from the back.
        """
        eye = np.linalg.svd(projection[[0, 1, 3]])[2][-1]
        if abs(eye[3]) < 1e-9:
            return cls(eye[:3] * np.sign(eye[:3] @ towards), 0.0)
        return cls(eye[:3] / eye[3], 1.0)

    def from_points(self, points: FloatArray) -> FloatArray:
        """Return the vectors that lead from points (..., 3) to the eye, or towards it when it is infinitely far."""
        return np.broadcast_to(self.position, points.shape) - self.weight * points

    def nearness(self, points: FloatArray) -> FloatArray:
        """Return a number that rises as points (..., 3) come nearer."""
        if self.weight == 0.0:
            return np.asarray(points @ self.position)
        return -np.linalg.norm(self.from_points(points), axis=-1)


def is_solid(shape: Shape) -> bool:
    """Return whether a shape has an inside that can hide something."""
    return isinstance(shape, Box | Sphere | Cylinder | Capsule)


def roundness(shape: Shape) -> float:
    """Return the radius with which a shape is curved [m]; zero for a box."""
    return shape.radius if isinstance(shape, Sphere | Cylinder | Capsule) else 0.0


def hits(shape: Shape, origins: FloatArray, directions: FloatArray, grow: float = 0.0) -> FloatArray:
    """Return whether rays (..., 3), in a solid's own coordinates, pass through it; `grow` makes it thicker or thinner.

    Example:
        >>> hits(Sphere(1.0), np.array([[0.0, 0.0, -3.0], [0.0, 2.0, -3.0]]), np.array([0.0, 0.0, 1.0])).tolist()
        [True, False]
    """
    o, d = np.broadcast_arrays(origins, directions)
    if isinstance(shape, Box):
        half = np.array([_grown(edge / 2.0, grow) for edge in shape.size])
        return _meets([_slab(o[..., k], d[..., k], half[k]) for k in range(3)])
    if isinstance(shape, Sphere):
        return _meets([_ball(o, d, _grown(shape.radius, grow))])
    if isinstance(shape, Cylinder):
        radius, half_length = _grown(shape.radius, grow), _grown(shape.length / 2.0, grow)
        return _meets([_ball(o[..., :2], d[..., :2], radius), _slab(o[..., 2], d[..., 2], half_length)])
    if isinstance(shape, Capsule):
        radius, end = _grown(shape.radius, grow), np.array([0.0, 0.0, shape.length / 2.0])
        wall = [_ball(o[..., :2], d[..., :2], radius), _slab(o[..., 2], d[..., 2], shape.length / 2.0)]
        return np.asarray(_meets(wall) | _meets([_ball(o - end, d, radius)]) | _meets([_ball(o + end, d, radius)]))
    return np.zeros(o.shape[:-1], dtype=np.bool_)


def _grown(size: float, grow: float) -> float:
    return max(size + grow, 0.3 * size)


def _slab(o: FloatArray, d: FloatArray, half: float) -> tuple[FloatArray, FloatArray]:
    """Return when rays enter and leave the space between two planes."""
    along = np.where(np.abs(d) < 1e-15, 1e-15, d)
    first, second = (-half - o) / along, (half - o) / along
    return np.minimum(first, second), np.maximum(first, second)


def _ball(o: FloatArray, d: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """Return when rays enter and leave a ball around the origin, or in two dimensions a tube around an axis."""
    a = np.maximum((d * d).sum(axis=-1), 1e-30)
    b = (o * d).sum(axis=-1)
    inside = b * b - a * ((o * o).sum(axis=-1) - radius * radius)
    reach = np.sqrt(np.maximum(inside, 0.0))
    return np.where(inside > 0.0, (-b - reach) / a, np.inf), np.where(inside > 0.0, (-b + reach) / a, -np.inf)


def _meets(spans: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return whether there is a time after the start that lies in all spans."""
    enter, leave = spans[0]
    for start, stop in spans[1:]:
        enter, leave = np.maximum(enter, start), np.minimum(leave, stop)
    return np.asarray((enter < leave) & (leave > 0.0))


def visible(
    faces: FloatArray,
    groups: IntArray,
    pages: FloatArray,
    parts: list[Part],
    frames: FloatArray,
    eye: Eye,
    slack: float,
    sag: float,
) -> tuple[FloatArray, IntArray]:
    """Return the visible pieces of faces that look towards the eye.

    Where two surfaces coincide, that of the later part is seen: `slack` is how near is the same.

    Args:
        faces: Faces in the world, shape (n, 4, 3), those of one part one after another.
        groups: The part that each face belongs to, rising; further groups, such as bones, come after the parts.
        pages: Where their corners appear on the page, shape (n, 4, 2).
        parts: The parts.
        frames: world_from_frame, shape (frames, 4, 4).
        eye: Where they are seen from.
        slack: Tolerance [m].

    Returns:
        Polygons of shape (m, 8, 3), and the face each is a piece of.
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    stops = [*starts[1:].tolist(), len(groups)]
    names = groups[starts]
    low = np.minimum.reduceat(pages.min(axis=1), starts)
    high = np.maximum.reduceat(pages.max(axis=1), starts)
    near = eye.nearness(faces)
    nearest, furthest = np.maximum.reduceat(near.max(axis=1), starts), np.minimum.reduceat(near.min(axis=1), starts)
    hides = np.array([name < len(parts) and is_solid(parts[name].shape) for name in names])
    wholes, pieces = [], [(np.zeros((0, CORNERS, 3)), np.zeros(0, dtype=np.int64))]
    for k, (start, stop) in enumerate(zip(starts.tolist(), stops, strict=True)):
        index, corners = np.arange(start, stop), faces[start:stop]
        overlaps = hides & (low < high[k]).all(axis=1) & (high > low[k]).all(axis=1) & (nearest > furthest[k] - slack)
        overlaps[k] = False
        cut, cut_index = pieces[0]
        for j in np.flatnonzero(overlaps).tolist():
            part = parts[int(names[j])]
            cover = _Cover(part, frames[part.link] @ part.matrix, eye, -slack - sag * roundness(part.shape) if k > j else slack)
            cut, kept = _uncovered(cut, cover)
            cut_index = cut_index[kept]
            hidden = cover(corners)
            touched = hidden.any(axis=1)
            split = touched & ~hidden.all(axis=1)
            more, kept = _uncovered(np.repeat(corners[split], CORNERS // 4, axis=1), cover)
            cut, cut_index = np.concatenate([cut, more]), np.concatenate([cut_index, index[split][kept]])
            corners, index = corners[~touched], index[~touched]
        wholes.append((np.repeat(corners, CORNERS // 4, axis=1), index))
        pieces.append((cut, cut_index))
    everything = wholes + pieces
    return np.concatenate([p for p, _ in everything]), np.concatenate([index for _, index in everything])


@dataclass(frozen=True)
class _Cover:
    """What one solid hides: true for points (..., 3) from which it stands before the eye."""

    part: Part
    world: FloatArray
    eye: Eye
    grow: float

    def __call__(self, points: FloatArray) -> FloatArray:
        turn = self.world[:3, :3]
        origins = (points - self.world[:3, 3]) @ turn
        return hits(self.part.shape, origins, self.eye.from_points(points) @ turn, self.grow)


def _uncovered(polygons: FloatArray, cover: _Cover) -> tuple[FloatArray, IntArray]:
    """Return what a solid leaves of polygons (n, 8, 3), and which of them it was (Sutherland and Hodgman)."""
    if not len(polygons):
        return polygons, np.zeros(0, dtype=np.int64)
    shown = ~cover(polygons)
    kept = np.flatnonzero(shown.any(axis=1))
    polygons, shown = polygons[kept], shown[kept]
    crossing = shown != np.roll(shown, -1, axis=1)
    after = np.roll(polygons, -1, axis=1)
    between = polygons.copy()
    between[crossing] = _border(
        np.where(shown[..., None], polygons, after)[crossing],
        np.where(shown[..., None], after, polygons)[crossing],
        cover,
    )
    slots = np.stack([polygons, between], axis=2).reshape(len(kept), 2 * CORNERS, 3)
    used = np.stack([shown, crossing], axis=2).reshape(len(kept), 2 * CORNERS)
    order = np.argsort(~used, axis=1, kind="stable")[:, :CORNERS]
    last = np.minimum(used.sum(axis=1), CORNERS) - 1
    rows = np.arange(len(kept))
    order = np.where(np.arange(CORNERS) <= last[:, None], order, order[rows, last][:, None])
    return slots[rows[:, None], order], kept


def _border(shown: FloatArray, hidden: FloatArray, cover: _Cover) -> FloatArray:
    """Return the points between shown and hidden ones where the cover begins, by halving."""
    for _ in range(HALVINGS):
        middle = (shown + hidden) / 2.0
        covered = cover(middle)[:, None]
        shown, hidden = np.where(covered, shown, middle), np.where(covered, middle, hidden)
    return shown
