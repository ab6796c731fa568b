"""Distances of pairs with closed forms: a point or a segment and another core, a half-space and anything.

Everything is in the axes of the second piece. Functions return the distance (0 or less only if the form also knows the
depth), the nearest points of the cores and the unit normal from the first to the second: ten numbers.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..rotations import cross, dot, minus, plus, times, vector
from .simplex import on_triangle
from .support import NOTES, moved, shift, sizes_of, support, turned_back

MOST_HALVINGS = 120
NARROW = 1.0e-16  # relative to a segment: precision of its nearest point


@inner
def found(distance, a, b, normal):
    """Return distance, points and normal as ten numbers."""
    return distance, a[0], a[1], a[2], b[0], b[1], b[2], normal[0], normal[1], normal[2]


@inner
def towards(a, b):
    """Return the distance of two points and the unit vector from one to the other; zeros if they coincide."""
    way = minus(b, a)
    far = math.sqrt(dot(way, way))
    return far, times(1.0 / far if far > 0.0 else 0.0, way)


@inner
def clamped(value, most):
    """Return a number clamped to [-most, most]."""
    return min(max(value, -most), most)


@inner
def into_box(p, sizes):
    """Return the point of a box nearest to a point."""
    return clamped(p[0], sizes[0]), clamped(p[1], sizes[1]), clamped(p[2], sizes[2])


@inner
def into_cylinder(p, sizes):
    """Return the point of a cylinder nearest to a point."""
    across = math.sqrt(p[0] * p[0] + p[1] * p[1])
    scale = sizes[0] / across if across > sizes[0] else 1.0
    return scale * p[0], scale * p[1], clamped(p[2], sizes[2])


@part
def point_and_box(p, sizes):
    """Return the distance of a point and a box, which may be flat, thin or a point itself."""
    b = into_box(p, sizes)
    far, normal = towards(p, b)
    if far > 0.0:
        return found(far, p, b, normal)
    x, y, z = sizes[0] - abs(p[0]), sizes[1] - abs(p[1]), sizes[2] - abs(p[2])
    if x <= y and x <= z:
        side = math.copysign(1.0, p[0])
        return found(-x, p, (side * sizes[0], p[1], p[2]), (-side, 0.0, 0.0))
    if y <= z:
        side = math.copysign(1.0, p[1])
        return found(-y, p, (p[0], side * sizes[1], p[2]), (0.0, -side, 0.0))
    side = math.copysign(1.0, p[2])
    return found(-z, p, (p[0], p[1], side * sizes[2]), (0.0, 0.0, -side))


@part
def point_and_cylinder(p, sizes):
    """Return the distance of a point and a cylinder."""
    b = into_cylinder(p, sizes)
    far, normal = towards(p, b)
    if far > 0.0:
        return found(far, p, b, normal)
    across = math.sqrt(p[0] * p[0] + p[1] * p[1])
    if sizes[0] - across <= sizes[2] - abs(p[2]):
        x, y = (p[0] / across, p[1] / across) if across > 0.0 else (1.0, 0.0)
        return found(across - sizes[0], p, (sizes[0] * x, sizes[0] * y, p[2]), (-x, -y, 0.0))
    side = math.copysign(1.0, p[2])
    return found(abs(p[2]) - sizes[2], p, (p[0], p[1], side * sizes[2]), (0.0, 0.0, -side))


@inner
def into_solid(p, sizes, rounded):
    """Return the point of a box or a cylinder nearest to a point."""
    return into_cylinder(p, sizes) if rounded else into_box(p, sizes)


@inner
def on_path(path, s):
    """Return the point of a path at s, and its tangent: a line ``centre + s way``, or a circle about a centre."""
    centre, way, other, round_about = path
    if round_about:
        sine, cosine = math.sin(s), math.cos(s)
        return (
            plus(centre, plus(times(cosine, way), times(sine, other))),
            minus(times(cosine, other), times(sine, way)),
        )
    return plus(centre, times(s, way)), way


@inner
def slope(path, s, sizes, rounded):
    """Return half the derivative of the squared distance from a box or a cylinder along a path."""
    p, way = on_path(path, s)
    return dot(minus(p, into_solid(p, sizes, rounded)), way)


@part
def settled(path, low, high, sizes, rounded):
    """Return where on a path, from low to high, the distance from a box or a cylinder is smallest.

    The slope increases from low to high. Its zero is bracketed by regula falsi with the Illinois rule, and by bisection
    where that is slow.
    """
    at_low, at_high = slope(path, low, sizes, rounded), slope(path, high, sizes, rounded)
    if at_low >= 0.0:
        return low
    if at_high <= 0.0:
        return high
    s, slack, last, width = low, NARROW * (high - low), 0, high - low
    for k in range(MOST_HALVINGS):
        if k % 3 == 2 and high - low > 0.25 * width:
            s, last = 0.5 * (low + high), 0
        else:
            s = min(max(low - at_low * (high - low) / (at_high - at_low), low), high)
        width = high - low if k % 3 == 2 else width
        here = slope(path, s, sizes, rounded)
        if here == 0.0:
            break
        if here < 0.0:
            at_high = 0.5 * at_high if last < 0 else at_high
            low, at_low, last = s, here, -1
        else:
            at_low = 0.5 * at_low if last > 0 else at_low
            high, at_high, last = s, here, 1
        if high - low <= slack:
            break
    return s


@part
def between_kinks(centre, way, sizes):
    """Return where on a segment, s from -1 to 1, the distance from a box is smallest.

    The slope is piecewise linear, with kinks where the line passes a side of the box: between two kinks, one secant
    step is exact.
    """
    path = (centre, way, way, False)
    low, high = -1.0, 1.0
    at_low, at_high = slope(path, low, sizes, False), slope(path, high, sizes, False)
    if at_low >= 0.0:
        return low
    if at_high <= 0.0:
        return high
    for k in range(6):
        axis = k % 3
        size = sizes[axis] if k < 3 else -sizes[axis]
        s = (size - centre[axis]) / way[axis] if way[axis] != 0.0 else -2.0
        if low < s < high:
            here = slope(path, s, sizes, False)
            if here < 0.0:
                low, at_low = s, here
            else:
                high, at_high = s, here
    return min(max(low - at_low * (high - low) / (at_high - at_low), low), high)


@part
def segment_and_solid(centre, way, sizes, rounded):
    """Return the distance of a segment ``centre + s way``, s from -1 to 1, and a box or a cylinder; 0 if they meet.

    The squared distance is convex along the segment.
    """
    s = settled((centre, way, way, False), -1.0, 1.0, sizes, True) if rounded else between_kinks(centre, way, sizes)
    p = plus(centre, times(s, way))
    b = into_solid(p, sizes, rounded)
    far, normal = towards(p, b)
    return found(far, p, b, normal)


@part
def segment_and_segment(centre, way, half):
    """Return the distance of a segment ``centre + s way`` and one along z, from -half to half."""
    square, across = dot(way, way), dot(way, way) - way[2] * way[2]
    s = 0.0
    if across > 0.0:
        s = clamped(-(centre[0] * way[0] + centre[1] * way[1]) / across, 1.0)
    z = clamped(centre[2] + s * way[2], half)
    if square > 0.0:  # if the end of the other segment is nearest, this one's nearest point changes
        s = clamped(dot(minus((0.0, 0.0, z), centre), way) / square, 1.0)
        z = clamped(centre[2] + s * way[2], half)
        s = clamped(dot(minus((0.0, 0.0, z), centre), way) / square, 1.0)
    p, b = plus(centre, times(s, way)), (0.0, 0.0, clamped(centre[2] + s * way[2], half))
    far, normal = towards(p, b)
    if far == 0.0:
        normal = cross(way, (0.0, 0.0, 1.0))
        size = math.sqrt(dot(normal, normal))
        normal = times(1.0 / size, normal) if size > 0.0 else (1.0, 0.0, 0.0)
    return found(far, p, b, normal)


@part
def piece_and_halfspace(two, points):
    """Return the distance of any core and the half-space below z = 0."""
    down = turned_back(two.across, (0.0, 0.0, -1.0))
    a = moved(two.across, support(two.code_a, two.piece_a, points, down, two.notes, NOTES.hint_a))
    return found(a[2], a, (a[0], a[1], 0.0), (0.0, 0.0, -1.0))


@inner
def segment_of(piece, across):
    """Return the middle of a segment and the vector from there to its end."""
    half = sizes_of(piece)[2]
    return shift(across), (half * across[2], half * across[6], half * across[10])


@part
def point_and_triangle(p, corners):
    """Return the distance of a point and a triangle; 0 if the point is in it."""
    q, r, t = minus(vector(corners, 0), p), minus(vector(corners, 1), p), minus(vector(corners, 2), p)
    _, u, v, w = on_triangle(q, r, t)
    b = plus(p, plus(times(u, q), plus(times(v, r), times(w, t))))
    far, normal = towards(p, b)
    return found(far, p, b, normal)
