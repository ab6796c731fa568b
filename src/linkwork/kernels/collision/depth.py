"""Penetration depth of two pieces: the smallest translation that separates them.

Along a unit direction n the second piece must move by ``reach(n)``, the support of the difference of both, to be clear
of the first. The minimum over all directions is wanted. For boxes and segments it is among the face normals and the
cross products of edges. For others a polytope is grown inside the difference (the expanding polytope algorithm, EPA):
its nearest face gives a lower bound, the reach along its normal an upper bound. Curved pieces are then refined: moved
apart and a little further, their nearest points show a direction that is as good or better.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..lanes import beyond
from ..layout import Layout
from ..rotations import cross, dot, minus, place, plus, times, vector
from .gjk import SIMPLEX, distance_apart
from .piece_layout import BOX, CYLINDER, HULL, PIECE_CODE
from .support import reach, sizes_of, support_pair

MOST_CORNERS = 128  # of the polytope
MOST_FACES = 2 * MOST_CORNERS
PARALLEL = 1.0e-12  # sine of the angle between edges whose product is not a direction
CLOSE = 1.0e-14  # relative to the size of the difference: between the bounds
CURVED_CLOSE = 1.0e-6  # ... for cylinders and hulls of many corners, which other steps refine
THIN = 1.0e-11  # relative to the size: a difference that is flat
FACE = Layout(("corners", 3), ("normal", 3), "far")  # indices of its corners; its plane
GROWTH = Layout(("corners", 3 * MOST_CORNERS), ("faces", FACE.size * MOST_FACES), ("edges", 2 * 3 * MOST_FACES))
WORK = SIMPLEX.size + GROWTH.size  # size of the workspace for the depth of a pair, in numbers
POLISHINGS, APART, IMPROVED = 24, 0.02, 1.0e-12  # steps for curved pieces; separation, relative to depth; smallest gain


@inner
def unit(v):
    """Return a vector normalized to length one; the x axis for a zero vector."""
    size = math.sqrt(dot(v, v))
    return times(1.0 / size, v) if size > 0.0 else (1.0, 0.0, 0.0)


@inner
def axis(m, k):
    """Return a column of a transform, three rows of four."""
    return m[k], m[4 + k], m[8 + k]


@inner
def basis(k):
    """Return an axis of the second piece."""
    return 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0


@inner
def better(two, points, way, best, normal):
    """Return the smaller of a reach so far and that along a unit direction or its opposite, and its direction."""
    for side in (1.0, -1.0):
        n = times(side, way)
        here = reach(two, points, n)
        if here < best:
            best, normal = here, n
    return best, normal


@part
def between_boxes(two, points):
    """Return the smallest reach of boxes and segments, and its direction (separating axes)."""
    m = two.across
    best, normal = math.inf, (0.0, 0.0, 1.0)
    for k in range(3):
        best, normal = better(two, points, basis(k), best, normal)
        best, normal = better(two, points, axis(m, k), best, normal)
    for i in range(3):
        for j in range(3):
            way = cross(axis(m, i), basis(j))
            size = math.sqrt(dot(way, way))
            if size > PARALLEL:
                best, normal = better(two, points, times(1.0 / size, way), best, normal)
    return best, normal[0], normal[1], normal[2]


@inner
def corner_along(two, points, way):
    """Return the corner of the difference furthest along a direction."""
    a, b = support_pair(two, points, way)
    return minus(a, b)


@part
def put_face(corners, faces, count, i, j, k):
    """Write a face with its plane; its corners are counter-clockwise from outside."""
    p = vector(corners, i)
    u, v = minus(vector(corners, j), p), minus(vector(corners, k), p)
    normal = cross(u, v)
    size = math.sqrt(dot(normal, normal))
    face = beyond(faces, FACE.size * count)
    face[FACE.corners], face[FACE.corners + 1], face[FACE.corners + 2] = float(i), float(j), float(k)
    if size > 1.0e-13 * math.sqrt(dot(u, u) * dot(v, v)) and size > 0.0:
        normal = times(1.0 / size, normal)
        place(normal, face, 1)
        face[FACE.far] = dot(normal, p)
    else:  # three collinear corners: no plane, and nothing is beyond it
        place((0.0, 0.0, 0.0), face, 1)
        face[FACE.far] = math.inf


@part
def first_corners(two, points, corners):
    """Write four corners of the difference that span it.

    Return 4 and the size of the difference; or 0 if it is flat, and the direction across it.
    """
    best, way = -1.0, (1.0, 0.0, 0.0)
    for k in range(3):
        p, q = corner_along(two, points, basis(k)), corner_along(two, points, times(-1.0, basis(k)))
        far = dot(minus(q, p), minus(q, p))
        if far > best:
            best, way = far, minus(q, p)
            place(p, corners, 0)
            place(q, corners, 1)
    size = math.sqrt(best)
    p, along = vector(corners, 0), unit(way)
    small = 0 if abs(along[0]) <= min(abs(along[1]), abs(along[2])) else (1 if abs(along[1]) <= abs(along[2]) else 2)
    one = unit(cross(along, basis(small)))
    other = cross(along, one)
    best = -1.0
    for k in range(4):
        aside = one if k % 2 == 0 else other
        r = corner_along(two, points, times(1.0 if k < 2 else -1.0, aside))
        off = cross(minus(r, p), along)
        if dot(off, off) > best:
            best = dot(off, off)
            place(r, corners, 2)
    if best <= (THIN * size) * (THIN * size):
        return 0, size, one[0], one[1], one[2]
    normal = unit(cross(minus(vector(corners, 1), p), minus(vector(corners, 2), p)))
    up, down = corner_along(two, points, normal), corner_along(two, points, times(-1.0, normal))
    above, below = dot(minus(up, p), normal), -dot(minus(down, p), normal)
    if max(above, below) <= THIN * size:
        return 0, size, normal[0], normal[1], normal[2]
    if above >= below:  # the fourth corner is above: the others are exchanged, so that faces point outwards
        place(up, corners, 3)
        r = vector(corners, 1)
        place(vector(corners, 2), corners, 1)
        place(r, corners, 2)
    else:
        place(down, corners, 3)
    return 4, size, normal[0], normal[1], normal[2]


@inner
def toggle_edge(edges, count, i, j):
    """Record an edge of a removed face; the same edge of a neighbour that is also removed cancels it."""
    for k in range(count):
        if edges[2 * k] == j and edges[2 * k + 1] == i:
            edges[2 * k], edges[2 * k + 1] = edges[2 * count - 2], edges[2 * count - 1]
            return count - 1
    edges[2 * count], edges[2 * count + 1] = i, j
    return count + 1


@part
def add_corner(corners, faces, edges, count, which, slack):
    """Add a new corner to the polytope; return its number of faces."""
    w, kept, rim = vector(corners, which), 0, 0
    for f in range(count):
        face = beyond(faces, FACE.size * f)
        if dot(vector(face, 1), w) - face[FACE.far] > slack:
            i, j, k = face[FACE.corners], face[FACE.corners + 1], face[FACE.corners + 2]
            rim = toggle_edge(edges, rim, i, j)
            rim = toggle_edge(edges, rim, j, k)
            rim = toggle_edge(edges, rim, k, i)
    if rim == 0:
        return count
    for f in range(count):
        face = beyond(faces, FACE.size * f)
        if not dot(vector(face, 1), w) - face[FACE.far] > slack:
            for item in range(FACE.size):
                faces[FACE.size * kept + item] = face[item]
            kept += 1
    for e in range(rim):
        if kept < MOST_FACES:
            put_face(corners, faces, kept, int(edges[2 * e]), int(edges[2 * e + 1]), which)
            kept += 1
    return kept


@part
def grown(two, points, close, work):
    """Return the smallest reach of any two pieces, its direction, and the size of the difference (EPA)."""
    corners, faces, edges = beyond(work, GROWTH.corners), beyond(work, GROWTH.faces), beyond(work, GROWTH.edges)
    dimensions, size, x, y, z = first_corners(two, points, corners)
    if dimensions == 0:
        best, normal = better(two, points, (x, y, z), math.inf, (x, y, z))
        return best, normal[0], normal[1], normal[2], size
    put_face(corners, faces, 0, 0, 1, 2)
    put_face(corners, faces, 1, 0, 3, 1)
    put_face(corners, faces, 2, 1, 3, 2)
    put_face(corners, faces, 3, 2, 3, 0)
    best, normal, count = math.inf, (0.0, 0.0, 1.0), 4
    for which in range(4, MOST_CORNERS):
        nearest = 0
        for f in range(1, count):
            if faces[FACE.size * f + FACE.far] < faces[FACE.size * nearest + FACE.far]:
                nearest = f
        face = beyond(faces, FACE.size * nearest)
        way = vector(face, 1)
        corner = corner_along(two, points, way)
        here = dot(corner, way)
        if here < best:
            best, normal = here, way
        if best - face[FACE.far] <= close * size:
            break
        place(corner, corners, which)
        after = add_corner(corners, faces, edges, count, which, CLOSE * size)
        if after == count and faces[FACE.size * nearest + FACE.far] == dot(way, vector(corners, int(face[0]))):
            break
        count = after
    return best, normal[0], normal[1], normal[2], size


@inner
def is_curved(code):
    """Return whether a piece is curved, or has so many corners that it might be."""
    return code[PIECE_CODE.kind] == CYLINDER or (code[PIECE_CODE.kind] == HULL and code[PIECE_CODE.edges] >= 0)


@part
def overlap(two, points, work):
    """Return the negative depth of two overlapping pieces, nearest points and normal: ten numbers, the first <= 0."""
    kind_a, kind_b = two.code_a[PIECE_CODE.kind], two.code_b[PIECE_CODE.kind]
    curved = is_curved(two.code_a) or is_curved(two.code_b)
    if kind_a <= BOX and kind_b <= BOX:
        best, x, y, z = between_boxes(two, points)
        sizes_a, sizes_b = sizes_of(two.piece_a), sizes_of(two.piece_b)
        size = math.sqrt(dot(sizes_a, sizes_a)) + math.sqrt(dot(sizes_b, sizes_b))
    else:
        best, x, y, z, size = grown(two, points, CURVED_CLOSE if curved else CLOSE, beyond(work, SIMPLEX.size))
    normal, a, b, stride = (x, y, z), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0
    for _ in range(POLISHINGS if curved else 1):
        away = times(-(best + APART * best + 1.0e-4 * size), normal)
        far, a, b = distance_apart(two, points, away, work)
        a = minus(a, away)
        if far <= 0.0:
            break
        way = unit(minus(b, plus(a, away)))
        here = reach(two, points, way)
        if curved:  # while steps are short, also try a longer one in the same direction
            further = unit(plus(way, times(stride, minus(way, normal))))
            there = reach(two, points, further)
            stride = 2.0 * stride if there < here else 1.0
            here, way = (there, further) if there < here else (here, way)
        gained = best - here
        if here < best:
            best, normal = here, way
        if gained <= IMPROVED * size:
            break
    b = minus(a, times(best, normal))  # curvature errors in the last digits of points do not affect distances
    return -best, a[0], a[1], a[2], b[0], b[1], b[2], normal[0], normal[1], normal[2]
