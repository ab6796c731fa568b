"""Support functions: the point of a piece's core furthest along a direction, which is all that distances need.

Two pieces are seen from the axes of the second: `relative` writes second_from_first, three rows of four.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, part
from ..lanes import beyond
from ..layout import Layout
from ..rotations import dot, minus
from .piece_layout import CYLINDER, HULL, PIECE, PIECE_CODE


@inner
def turned(m, v):
    """Return a vector rotated by a transform, three rows of four."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[4] * v[0] + m[5] * v[1] + m[6] * v[2],
        m[8] * v[0] + m[9] * v[1] + m[10] * v[2],
    )


@inner
def turned_back(m, v):
    """Return a vector rotated by the inverse."""
    return (
        m[0] * v[0] + m[4] * v[1] + m[8] * v[2],
        m[1] * v[0] + m[5] * v[1] + m[9] * v[2],
        m[2] * v[0] + m[6] * v[1] + m[10] * v[2],
    )


@inner
def moved(m, v):
    """Return a point transformed by three rows of four."""
    x, y, z = turned(m, v)
    return x + m[3], y + m[7], z + m[11]


@inner
def shift(m):
    """Return the origin of a transform, three rows of four."""
    return m[3], m[7], m[11]


@inner
def sizes_of(piece):
    """Return the half sizes of a piece."""
    return piece[PIECE.sizes], piece[PIECE.sizes + 1], piece[PIECE.sizes + 2]


@part
def relative(pose_a, pose_b, out):
    """Write second_from_first for two pieces, from world_from_piece of each."""
    for i in range(3):
        for j in range(3):
            out[4 * i + j] = pose_b[i] * pose_a[j] + pose_b[4 + i] * pose_a[4 + j] + pose_b[8 + i] * pose_a[8 + j]
    out[3], out[7], out[11] = turned_back(pose_b, minus(shift(pose_a), shift(pose_b)))


# Two pieces: their records, second_from_first, and notes of the distance search
Two = namedtuple("Two", "code_a piece_a code_b piece_b across notes")
NOTES = Layout("hint_a", "hint_b", "limit")  # start corners of hulls; distances above the limit do not matter


SEEDS = 48  # the first points of a large hull, well apart, from one of which a search begins


@part
def climbed(points, own, count, edges, way, start):
    """Return the index of the point of a hull furthest along a direction, by hill climbing from neighbour to neighbour.

    On a convex hull this never ends below the top. It begins at a given point, or at one of the first, which are well
    apart, if that is higher.
    """
    here = start
    most = own[3 * here] * way[0] + own[3 * here + 1] * way[1] + own[3 * here + 2] * way[2]
    for k in range(SEEDS):
        far = own[3 * k] * way[0] + own[3 * k + 1] * way[1] + own[3 * k + 2] * way[2]
        if far > most:
            here, most = k, far
    lists = beyond(points, edges)
    for _ in range(count):
        best = here
        for place in range(int(lists[here]), int(lists[here + 1])):
            k = int(lists[place])
            far = own[3 * k] * way[0] + own[3 * k + 1] * way[1] + own[3 * k + 2] * way[2]
            if far > most:
                best, most = k, far
        if best == here:
            break
        here = best
    return here


@part
def furthest(own, count, way):
    """Return the index of the point furthest along a direction."""
    best, most = 0, -math.inf
    for k in range(count):
        far = own[3 * k] * way[0] + own[3 * k + 1] * way[1] + own[3 * k + 2] * way[2]
        if far > most:
            best, most = k, far
    return best


@part
def support(code, piece, points, way, notes, hint):
    """Return the point of a core furthest along a direction, both in the piece's axes.

    `notes[hint]` is the start corner of a large hull, and receives the one found.
    """
    kind = code[PIECE_CODE.kind]
    if kind == HULL:
        own, count, edges = beyond(points, 3 * code[PIECE_CODE.first]), code[PIECE_CODE.count], code[PIECE_CODE.edges]
        if edges >= 0:
            best = climbed(points, own, count, edges, way, int(notes[hint]))
            notes[hint] = float(best)
        else:
            best = furthest(own, count, way)
        return own[3 * best], own[3 * best + 1], own[3 * best + 2]
    x, y, z = sizes_of(piece)
    z = math.copysign(z, way[2])
    if kind == CYLINDER:
        across = math.sqrt(way[0] * way[0] + way[1] * way[1])
        scale = x / across if across > 0.0 else 0.0
        return scale * way[0], scale * way[1], z
    return math.copysign(x, way[0]), math.copysign(y, way[1]), z


@inner
def support_pair(two, points, way):
    """Return the point of one piece furthest along a direction, and that of another furthest against it."""
    ahead = turned_back(two.across, way)
    a = moved(two.across, support(two.code_a, two.piece_a, points, ahead, two.notes, NOTES.hint_a))
    return a, support(two.code_b, two.piece_b, points, (-way[0], -way[1], -way[2]), two.notes, NOTES.hint_b)


@inner
def reach(two, points, way):
    """Return how far the second piece must move along a unit direction to be clear of the first."""
    a, b = support_pair(two, points, way)
    return dot(minus(a, b), way)
