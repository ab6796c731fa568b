"""The point of a simplex (up to four corners) nearest to the origin, as weights of its corners.

Corners of curved pieces are close to each other and nearly collinear. So weights are computed from differences of
corners, which are exact there, and not from the corners themselves.
"""

from __future__ import annotations

from .. import inner, part
from ..rotations import cross, dot, minus, plus, times, vector

FLAT = 1.0e-28  # squared area relative to the fourth power of an edge, below which a triangle is degenerate


@inner
def on_segment(p, q):
    """Return the squared distance from the origin to a segment, and the weights of its ends."""
    way = minus(q, p)
    size = dot(way, way)
    t = -dot(p, way) / size if size > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    at = plus(times(1.0 - t, p), times(t, q))
    return dot(at, at), 1.0 - t, t


@part
def on_triangle(p, q, r):
    """Return the squared distance from the origin to a triangle, and the weights of its corners."""
    pq, pr = minus(q, p), minus(r, p)
    normal = cross(pq, pr)
    size = dot(normal, normal)
    if size > FLAT * dot(pq, pq) * dot(pr, pr):
        v = -dot(cross(p, pr), normal) / size
        w = -dot(cross(pq, p), normal) / size
        u = 1.0 - v - w
        if u >= 0.0 and v >= 0.0 and w >= 0.0:
            far = dot(p, normal)
            return far * far / size, u, v, w
    best, u, v = on_segment(p, q)
    w = 0.0
    far, s, t = on_segment(q, r)
    if far < best:
        best, u, v, w = far, 0.0, s, t
    far, s, t = on_segment(r, p)
    if far < best:
        best, u, v, w = far, t, 0.0, s
    return best, u, v, w


@part
def on_tetrahedron(corners, weights):
    """Write the weights of four corners at the point nearest to the origin; return whether the origin is inside."""
    a, b, c, d = vector(corners, 0), vector(corners, 1), vector(corners, 2), vector(corners, 3)
    ab, ac, ad = minus(b, a), minus(c, a), minus(d, a)
    volume = dot(ab, cross(ac, ad))
    v = -dot(a, cross(ac, ad)) / volume
    w = -dot(ab, cross(a, ad)) / volume
    t = -dot(ab, cross(ac, a)) / volume
    u = 1.0 - v - w - t
    if u >= 0.0 and v >= 0.0 and w >= 0.0 and t >= 0.0:  # false for a zero volume, which gives NaN
        weights[0], weights[1], weights[2], weights[3] = u, v, w, t
        return True
    best, x, y, z = on_triangle(a, b, c)
    weights[0], weights[1], weights[2], weights[3] = x, y, z, 0.0
    far, x, y, z = on_triangle(a, c, d)
    if far < best:
        best = far
        weights[0], weights[1], weights[2], weights[3] = x, 0.0, y, z
    far, x, y, z = on_triangle(a, d, b)
    if far < best:
        best = far
        weights[0], weights[1], weights[2], weights[3] = x, z, 0.0, y
    far, x, y, z = on_triangle(b, d, c)
    if far < best:
        weights[0], weights[1], weights[2], weights[3] = 0.0, x, z, y
    return False


@part
def nearest_weights(corners, count, weights):
    """Write the weights of a simplex's corners at its point nearest to the origin; return whether it is the origin."""
    if count == 4:
        return on_tetrahedron(corners, weights)
    if count == 3:
        _, weights[0], weights[1], weights[2] = on_triangle(vector(corners, 0), vector(corners, 1), vector(corners, 2))
    elif count == 2:
        _, weights[0], weights[1] = on_segment(vector(corners, 0), vector(corners, 1))
    else:
        weights[0] = 1.0
    return False
