"""Symbols of mechanisms as lines in the plane: hatched ground below a pin, guides, blocks, outlines of links."""

from __future__ import annotations

import numpy as np

from ..transforms import FloatArray

HATCH = 0.75  # distance of strokes of hatched ground, in units
STROKE = np.array([-0.6, -0.75])  # a stroke, along the line and away from it


def anchor(place: FloatArray, u: float) -> list[FloatArray]:
    """Return the lines of a fixed pivot: a triangle below the pin, a line below it, and strokes.

    Args:
        place: Position of the pin (2,).
        u: Size of symbols [m].
    """
    foot = place + u * np.array([[-2.2, -2.4], [2.2, -2.4]])
    triangle = place + u * np.array([[0.0, 0.0], [-1.35, -2.4], [1.35, -2.4]])
    return [triangle, foot, *hatched(foot, np.array([0.0, -1.0]), u)]


def hatched(line: FloatArray, away: FloatArray, u: float) -> list[FloatArray]:
    """Return strokes (2, 2) on the side of a line (2, 2) that a direction points to."""
    along = line[1] - line[0]
    length = float(np.linalg.norm(along))
    along = along / length
    count = max(2, int(length / (HATCH * u)))
    starts = line[0] + along * ((np.arange(count) + 1.0) * length / count)[:, None]
    stroke = u * (STROKE[0] * along - STROKE[1] * away)
    return [np.stack([start, start + stroke]) for start in starts]


def guides(ends: FloatArray, axis: FloatArray, u: float) -> list[FloatArray]:
    """Return two walls along a path (2, 2), each with strokes on its outside."""
    side = np.array([-axis[1], axis[0]])
    lines = []
    for away in (side, -side):
        wall = ends + 1.5 * u * away
        lines += [wall, *hatched(wall, away, u)]
    return lines


def block(place: FloatArray, axis: FloatArray, u: float) -> FloatArray:
    """Return the corners (4, 2) of a block that slides along an axis."""
    side = np.array([-axis[1], axis[0]])
    return np.array([place + u * (2.1 * x * axis + 1.42 * y * side) for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))])


def collinear(points: FloatArray, same: float) -> FloatArray:
    """Return the two ends (2, 2) of points on a line, or all points (n, 2) of others in their order."""
    far = points[int(np.linalg.norm(points - points[0], axis=1).argmax())]
    along = (far - points[0]) / max(float(np.linalg.norm(far - points[0])), 1e-300)
    off = (points - points[0]) @ np.array([-along[1], along[0]])
    if np.abs(off).max() > max(same, 1e-6 * float(np.linalg.norm(far - points[0]))):
        return points
    way = (points - points[0]) @ along
    return points[[int(way.argmin()), int(way.argmax())]] if len(points) > 2 else points


def hull(points: FloatArray, same: float) -> FloatArray:
    """Return the corners of the smallest convex outline of points, anticlockwise; two if they are on a line.

    The outline begins at the first point if that is a corner.

    Example:
        >>> hull(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.2], [1.0, 1.0]]), 1e-9).tolist()
        [[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]]
    """
    ends = collinear(points, same)
    if len(ends) < len(points):
        return ends
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    lower, upper = _chain(ordered), _chain(ordered[::-1])
    corners = np.array([*lower[:-1], *upper[:-1]])
    own = np.flatnonzero((corners == points[0]).all(axis=1))
    return np.roll(corners, -int(own[0]), axis=0) if len(own) else corners


def _chain(points: FloatArray) -> list[FloatArray]:
    """Return the part of the convex hull to the right of a path through sorted points (Andrew's monotone chain)."""
    chain: list[FloatArray] = []
    for point in points:
        while len(chain) > 1:
            (ax, ay), (bx, by) = chain[-1] - chain[-2], point - chain[-2]
            if ax * by - ay * bx > 0.0:
                break
            chain.pop()
        chain.append(point)
    return chain
