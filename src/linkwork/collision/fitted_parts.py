"""Convex shapes fitted to a surface: spheres, capsules and hulls that enclose given points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..linkage.geometry import Capsule, Hull, Sphere, Visual
from ..transforms import FloatArray, plane_basis

HAIR = 1e-9  # margin over the size, so that points on the surface of a part count as inside
SPREAD = 240  # number of test points on a part
MOST_FACES = 400  # largest number of faces of a hull that are sampled


def directions(count: int) -> FloatArray:
    """Return unit vectors (count, 3) spread evenly, by the golden angle."""
    steps = np.arange(count) + 0.5
    height, angle = 1.0 - 2.0 * steps / count, np.pi * (1.0 + 5.0**0.5) * steps
    across = np.sqrt(1.0 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)


class Part(Protocol):
    """A convex part of a fit, in the axes of its link."""

    def boundary(self) -> FloatArray:
        """Return points on its surface (n, 3)."""
        ...

    def distances(self, points: FloatArray) -> FloatArray:
        """Return the distances of points (n, 3) from its surface [m], negative inside."""
        ...

    def visual(self) -> Visual:
        """Return it as a shape of role ``"collision"``."""
        ...


@dataclass(frozen=True, eq=False)
class CapsulePart:
    """A capsule between two ends; a sphere if both are equal.

    Args:
        start: One end of its middle line, shape (3,).
        end: The other.
        radius: Its radius [m].
    """

    start: FloatArray
    end: FloatArray
    radius: float

    @property
    def length(self) -> float:
        """Length of its middle line [m]."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def volume(self) -> float:
        """Its volume divided by pi [m³]."""
        return self.radius**2 * (self.length + 4.0 / 3.0 * self.radius)

    def boundary(self) -> FloatArray:
        """Return points on both caps and along the side."""
        caps = self.radius * directions(SPREAD)
        if self.length == 0.0:
            return self.start + caps
        basis = plane_basis((self.end - self.start) / self.length)
        ahead = caps @ basis[:, 2] > 0.0
        angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        ring = self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ basis[:, :2].T
        along = np.linspace(0.0, 1.0, 10)[:, None, None]
        side = (self.start + along * (self.end - self.start) + ring).reshape(-1, 3)
        return np.concatenate([self.start + caps[~ahead], self.end + caps[ahead], side])

    def distances(self, points: FloatArray) -> FloatArray:
        """Return distances to the capsule, exactly."""
        along = self.end - self.start
        share = np.clip((points - self.start) @ along / max(float(along @ along), 1e-300), 0.0, 1.0)
        return np.asarray(np.linalg.norm(points - self.start - share[:, None] * along, axis=1) - self.radius)

    def visual(self) -> Visual:
        """Return the shape and its place."""
        placement = np.eye(4)
        placement[:3, 3] = (self.start + self.end) / 2.0
        if self.length == 0.0:
            return Visual(Sphere(self.radius), placement, role="collision")
        placement[:3, :3] = plane_basis((self.end - self.start) / self.length)
        return Visual(Capsule(self.radius, self.length), placement, role="collision")


@dataclass(frozen=True, eq=False)
class HullPart:
    """The convex hull of points.

    Args:
        points: Its corners, shape (n, 3).
        planes: Unit normals and offsets of its faces, shape (m, 4): `normal . x + offset <= 0` inside.
        faces: Corners of its triangles, shape (m, 3, 3).
    """

    points: FloatArray
    planes: FloatArray
    faces: FloatArray

    def boundary(self) -> FloatArray:
        """Return points spread over the faces, by their areas."""
        across = np.cross(self.faces[:, 1] - self.faces[:, 0], self.faces[:, 2] - self.faces[:, 0])
        area = np.linalg.norm(across, axis=1)
        chosen = np.searchsorted(np.cumsum(area), (np.arange(2 * SPREAD) + 0.5) / (2 * SPREAD) * area.sum())
        u, v = (np.arange(2 * SPREAD)[:, None] * [0.7548776662466927, 0.5698402909980532] % 1.0).T  # spread evenly
        u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
        a, b, c = self.faces[np.minimum(chosen, len(area) - 1)].swapaxes(0, 1)
        return np.concatenate([a + u[:, None] * (b - a) + v[:, None] * (c - a), self.faces.mean(axis=1)[:MOST_FACES]])

    def distances(self, points: FloatArray) -> FloatArray:
        """Return the distances of points beyond the furthest face: lower bounds of their distances from the hull."""
        found = [(points @ planes[:, :3].T + planes[:, 3]).max(axis=1) for planes in self._some]
        return np.asarray(np.max(found, axis=0))

    @cached_property
    def _some(self) -> list[FloatArray]:
        """The planes in batches, to limit memory."""
        return np.array_split(self.planes, max(1, len(self.planes) // 256))

    def visual(self) -> Visual:
        """Return the hull, placed at its centre."""
        middle, placement = (self.points.min(axis=0) + self.points.max(axis=0)) / 2.0, np.eye(4)
        placement[:3, 3] = middle
        return Visual(Hull(self.points - middle), placement, role="collision")


def hull_of(points: FloatArray) -> HullPart:
    """Return the hull of points; a flat hull is made slightly thicker, so that it has an inside."""
    from scipy.spatial import ConvexHull, QhullError

    size = float(np.ptp(points, axis=0).max())
    try:
        found: Any = ConvexHull(points)
    except QhullError:
        offsets = 1e-4 * max(size, 1e-6) * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        points = (points[:, None] + offsets).reshape(-1, 3)
        found = ConvexHull(points)
    return HullPart(points[found.vertices], found.equations.copy(), points[found.simplices])


def capsule_of(points: FloatArray) -> CapsulePart:
    """Return a small capsule that contains points (n, 3), by a search over directions of its axis.

    The measure is its volume. Seen along the axis, a small circle around the points gives the radius; the ends are then
    as near to each other as possible.
    """
    corners = points if len(points) < 8 else hull_of(points).points
    _, _, own = np.linalg.svd(corners - corners.mean(axis=0), full_matrices=False)
    best = _smallest(corners, np.concatenate([own, np.eye(3), directions(64)[:32]]))
    spread = 0.3
    for _ in range(5):
        along = best.end - best.start
        if best.length == 0.0:
            break
        near = along / best.length + spread * directions(14)
        found = _smallest(corners, near / np.linalg.norm(near, axis=1, keepdims=True))
        best, spread = (found, spread) if found.volume < best.volume else (best, spread / 3.0)
    return best


def _smallest(points: FloatArray, ways: FloatArray) -> CapsulePart:
    """Return the smallest capsule that contains points, of those with axes along given unit vectors (m, 3)."""
    across = np.cross(ways, np.eye(3)[np.abs(ways).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    basis = np.stack([across, np.cross(ways, across)], axis=1)
    flat, heights = np.einsum("mij,nj->mni", basis, points), ways @ points.T
    middles = _circles(flat)
    hair = HAIR * float(np.ptp(points, axis=0).max())
    squares = ((flat - middles[:, None]) ** 2).sum(axis=2)
    radii = np.sqrt(squares.max(axis=1)) + hair
    reach = np.sqrt(np.maximum(radii[:, None] ** 2 - squares, 0.0))
    lows, highs = (heights + reach).min(axis=1), (heights - reach).max(axis=1)
    best = int((radii**2 * (np.maximum(highs - lows, 0.0) + 4.0 / 3.0 * radii)).argmin())
    foot, low, high = middles[best] @ basis[best], float(lows[best]), float(highs[best])
    if low < high:
        return CapsulePart(foot + low * ways[best], foot + high * ways[best], float(radii[best]) + hair)
    place = foot + (low + high) / 2.0 * ways[best]  # the caps overlap, so a sphere is enough
    return CapsulePart(place, place, float(np.linalg.norm(points - place, axis=1).max()) + hair)


def _circles(flat: FloatArray) -> FloatArray:
    """Return centres (m, 2) of small circles around sets of points (m, n, 2), by the method of Badoiu and Clarkson.

    The circles are at most a few percent larger than the smallest ones.
    """
    middles = (flat.min(axis=1) + flat.max(axis=1)) / 2.0
    rows = np.arange(len(flat))
    for k in range(1, 24):
        furthest = ((flat - middles[:, None]) ** 2).sum(axis=2).argmax(axis=1)
        middles = middles + (flat[rows, furthest] - middles) / (k + 3.0)
    return np.asarray(middles)
