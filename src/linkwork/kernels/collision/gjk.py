"""The distance between two convex pieces that are apart, by Gilbert, Johnson and Keerthi (GJK).

The difference of two pieces (all points of the first minus all of the second) is convex; the distance of the pieces is
that of the origin from it. A simplex of up to four of its points moves towards the origin: the next corner is the
support point towards the origin. The nearest point of the simplex gives an upper bound, the plane through the new
corner a lower bound of the distance: when they agree, it is found.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..lanes import beyond
from ..layout import Layout
from ..rotations import dot, length, minus, place, plus, times, vector
from .curved import rims_of_both, settle_polytope
from .piece_layout import CYLINDER, PIECE_CODE
from .simplex import nearest_weights
from .support import NOTES, shift, support_pair

MOST_STEPS = 64
GAP = 1.0e-15  # between the bounds, relative to the distance: the limit of precision
AS_GOOD = 1.0e-12  # relative to a distance: a feature that is no further has the better direction
TOUCH = 1.0e-14  # relative to the size of the difference: pieces nearer than this touch

# Corners of the difference, the first piece's points that they come from, and weights
SIMPLEX = Layout(("corners", 12), ("firsts", 12), ("weights", 4))


@inner
def blended(memory, weights, count):
    """Return the weighted sum of vectors in memory."""
    total = (0.0, 0.0, 0.0)
    for k in range(count):
        total = plus(total, times(weights[k], vector(memory, k)))
    return total


@inner
def drop_idle(corners, firsts, weights, count):
    """Keep only the corners with nonzero weights; return their number."""
    kept = 0
    for k in range(count):
        if weights[k] > 0.0:
            place(vector(corners, k), corners, kept)
            place(vector(firsts, k), firsts, kept)
            weights[kept] = weights[k]
            kept += 1
    return kept


@part
def distance_apart(two, points, away, work):
    """Return the distance of two pieces, the first moved by a vector, and the nearest points of both; 0 if they touch.

    Points are in the axes of the second piece, that of the first after the move. If the distance exceeds the limit in
    the notes, it is infinite.
    """
    corners, firsts = beyond(work, SIMPLEX.corners), beyond(work, SIMPLEX.firsts)
    weights = beyond(work, SIMPLEX.weights)
    way = minus((0.0, 0.0, 0.0), plus(shift(two.across), away))
    if dot(way, way) == 0.0:
        way = (1.0, 0.0, 0.0)
    a, b = support_pair(two, points, way)
    a = plus(a, away)
    place(minus(a, b), corners, 0)
    place(a, firsts, 0)
    weights[0] = 1.0
    count, nearest, sure = 1, minus(a, b), False
    square, size = dot(nearest, nearest), dot(nearest, nearest)
    limit = max(two.notes[NOTES.limit], 0.0)
    limit = limit * limit
    for _ in range(MOST_STEPS):
        if square <= TOUCH * TOUCH * size:
            return 0.0, a, a
        a, b = support_pair(two, points, minus((0.0, 0.0, 0.0), nearest))
        a = plus(a, away)
        corner = minus(a, b)
        size = max(size, dot(corner, corner))
        apart = dot(nearest, corner)
        if apart > 0.0 and apart * apart > limit * square:
            return math.inf, a, b
        if square - apart <= GAP * square:
            sure = True
            break
        place(corner, corners, count)
        place(a, firsts, count)
        inside = nearest_weights(corners, count + 1, weights)
        if inside:
            return 0.0, a, a
        trial = blended(corners, weights, count + 1)
        if not dot(trial, trial) < square:  # limited by precision
            nearest_weights(corners, count, weights)
            break
        nearest, square = trial, dot(trial, trial)
        count = drop_idle(corners, firsts, weights, count + 1)
    a = blended(firsts, weights, count)
    far, b = math.sqrt(square), minus(a, nearest)
    if not sure and two.code_b[PIECE_CODE.kind] == CYLINDER:
        far = far * (1.0 + AS_GOOD)
        if two.code_a[PIECE_CODE.kind] == CYLINDER:
            _, a, b = rims_of_both(two, away, far, a, b)
        else:
            _, a, b = settle_polytope(two, points, firsts, count, far, a, b)
    return length(minus(b, a)), a, b
