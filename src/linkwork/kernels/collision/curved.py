"""Exact nearest points with a cylinder: the result of a search is refined by the features that it has found.

Near a rim a search by corners converges slowly, and its corners become too close to each other to define a direction.
But then the nearest feature is known: an edge or a face of the other piece, or the rim of the other cylinder. An edge
is a line and a rim a circle, along which the distance from a cylinder has one minimum nearby; a face is nearest to the
cylinder's furthest point.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..rotations import cross, dot, minus, plus, times, vector
from .closed_pairs import into_cylinder, on_path, segment_and_solid, settled, slope
from .support import NOTES, shift, sizes_of, support, turned, turned_back

WIDEST = 1.6  # radians: range around the estimate in which the nearest point of a rim is sought
INSIDE = -1.0e-12  # smallest weight of a corner that still counts as inside a triangle


@inner
def nearer(p, q, far, a, b):
    """Return the shorter of two distances, with its points."""
    way = minus(q, p)
    here = math.sqrt(dot(way, way))
    return (here, p, q) if here < far else (far, a, b)


@part
def by_edges(firsts, count, sizes, far, a, b):
    """Return the nearest points so far, improved by the edges between corners of the first piece."""
    for i in range(count):
        for j in range(i):
            p, q = vector(firsts, i), vector(firsts, j)
            result = segment_and_solid(times(0.5, plus(p, q)), times(0.5, minus(q, p)), sizes, True)
            if result[0] < far:
                far = result[0]
                a, b = (result[1], result[2], result[3]), (result[4], result[5], result[6])
    return far, a, b


@part
def by_face(two, points, p, q, r, far, a, b):
    """Return the nearest points so far, improved by a face of the first piece."""
    pq, pr = minus(q, p), minus(r, p)
    normal = cross(pq, pr)
    size = math.sqrt(dot(normal, normal))
    if not size > 0.0:
        return far, a, b
    normal = times(math.copysign(1.0 / size, dot(normal, minus(b, a))), normal)  # from the first to the second
    y = support(two.code_b, two.piece_b, points, times(-1.0, normal), two.notes, NOTES.hint_b)
    gap = dot(minus(y, p), normal)
    x = minus(minus(y, times(gap, normal)), p)
    across = cross(pq, pr)
    v, w = dot(cross(x, pr), across) / (size * size), dot(cross(pq, x), across) / (size * size)
    if gap > 0.0 and gap < far and min(v, min(w, 1.0 - v - w)) >= INSIDE:
        return gap, minus(y, times(gap, normal)), y
    return far, a, b


@part
def by_rim(centre, axes, radius, sizes, p, far, a, b):
    """Return the nearest points so far, improved by the rim of one cylinder near its point p.

    The other cylinder is at the origin; a and b are the points so far.
    """
    e, f = axes
    off = minus(p, centre)
    middle = math.atan2(dot(off, f), dot(off, e))
    path, spread = (centre, times(radius, e), times(radius, f), True), 1.0e-3
    while spread < WIDEST:
        if slope(path, middle - spread, sizes, True) < 0.0 and slope(path, middle + spread, sizes, True) > 0.0:
            s = settled(path, middle - spread, middle + spread, sizes, True)
            x, _ = on_path(path, s)
            return nearer(x, into_cylinder(x, sizes), far, a, b)
        spread = 4.0 * spread
    return far, a, b


@part
def rims_of_both(two, away, far, a, b):
    """Return the nearest points of two cylinders so far, improved by their rims."""
    m, first, second = two.across, sizes_of(two.piece_a), sizes_of(two.piece_b)
    origin = plus(shift(m), away)
    x, y, z = (m[0], m[4], m[8]), (m[1], m[5], m[9]), (m[2], m[6], m[10])
    side = math.copysign(first[2], dot(minus(a, origin), z))
    far, a, b = by_rim(plus(origin, times(side, z)), (x, y), first[0], second, a, far, a, b)
    # the rim of the second, in the axes of the first
    q = turned_back(m, minus(b, origin))
    x, y, z = (m[0], m[1], m[2]), (m[4], m[5], m[6]), (m[8], m[9], m[10])
    centre = plus(turned_back(m, times(-1.0, origin)), times(math.copysign(second[2], b[2]), z))
    before = far
    far, q, p = by_rim(centre, (x, y), second[0], first, q, far, q, q)
    if far < before:
        a, b = plus(turned(m, p), origin), plus(turned(m, q), origin)
    return far, a, b


@part
def settle_polytope(two, points, firsts, count, far, a, b):
    """Return the nearest points of a piece with corners and a cylinder so far, improved by its edges and faces."""
    far, a, b = by_edges(firsts, count, sizes_of(two.piece_b), far, a, b)
    for i in range(count):
        for j in range(i):
            for k in range(j):
                p, q, r = vector(firsts, i), vector(firsts, j), vector(firsts, k)
                far, a, b = by_face(two, points, p, q, r, far, a, b)
    return far, a, b
