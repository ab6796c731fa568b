"""The signed distance of two convex pieces: by a closed form if there is one, else by an exact search."""

from __future__ import annotations

import math

from .. import inner, kernel, part
from ..lanes import beyond, cells
from ..rotations import length, minus, plus, times
from .closed_pairs import (
    found,
    piece_and_halfspace,
    point_and_box,
    point_and_cylinder,
    point_and_triangle,
    segment_and_segment,
    segment_and_solid,
    segment_of,
)
from .depth import WORK, overlap
from .gjk import distance_apart
from .piece_layout import CYLINDER, HALFSPACE, HULL, PIECE, PIECE_CODE, POINT, SEGMENT
from .support import NOTES, Two, moved, reach, relative, shift, sizes_of, turned

PAIR_WORK = 12 + NOTES.size + WORK  # second_from_first, notes, and workspace for depths
CLOSE = 1.0e-6  # relative to the size: if nearer than this, the vector between nearest points may be no direction ...
SOUND = 1.0e-12  # ... which is the case if pieces reach further along it than this


@inner
def kind_of(code):
    """Return the kind of a piece."""
    return code[PIECE_CODE.kind]


@inner
def rank(kind):
    """Return the rank that decides which of two kinds is second in a pair: cylinders come after all with corners."""
    return HULL if kind == CYLINDER else CYLINDER if kind == HULL else kind


@part
def core_distance(two, points, work):
    """Return the signed distance of two cores, the first of the lower rank: ten numbers in the second's axes."""
    kind_a, kind_b, piece_b, across = kind_of(two.code_a), kind_of(two.code_b), two.piece_b, two.across
    if kind_b == HALFSPACE:
        if kind_a == HALFSPACE:  # two of them are fixed: nothing can be done about it
            return found(math.inf, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
        return piece_and_halfspace(two, points)
    if kind_a == POINT and kind_b != HULL:
        if kind_b == CYLINDER:
            return point_and_cylinder(shift(across), sizes_of(piece_b))
        return point_and_box(shift(across), sizes_of(piece_b))
    if kind_a == SEGMENT and kind_b <= CYLINDER:
        centre, way = segment_of(two.piece_a, across)
        if kind_b == SEGMENT:
            result = segment_and_segment(centre, way, sizes_of(piece_b)[2])
        else:
            result = segment_and_solid(centre, way, sizes_of(piece_b), kind_b == CYLINDER)
    elif kind_a == POINT and two.code_b[PIECE_CODE.count] == 3:
        result = point_and_triangle(shift(across), beyond(points, 3 * two.code_b[PIECE_CODE.first]))
    else:
        far, a, b = distance_apart(two, points, (0.0, 0.0, 0.0), work)
        result = found(far, a, b, times(1.0 / far if far > 0.0 else 0.0, minus(b, a)))
    return checked(two, points, result, work)


@part
def checked(two, points, result, work):
    """Return the result for two cores with the depth if they overlap, and with a valid normal if they almost touch.

    If they almost touch, the nearest points differ by little more than rounding, and the vector between them is not a
    direction: the reach of the pieces along it shows that.
    """
    two.notes[NOTES.limit] = math.inf  # the following moves pieces apart on purpose
    far, a, normal = result[0], (result[1], result[2], result[3]), (result[7], result[8], result[9])
    if far <= 0.0:
        return overlap(two, points, work)
    origin = shift(two.across)
    size = length(a) + length(origin) + length(minus(a, origin))
    if far < CLOSE * size:
        off = far + reach(two, points, normal)
        if off > SOUND * size:
            deep = overlap(two, points, work)
            if deep[0] < 0.0:
                return deep
            if far - deep[0] < off:
                normal = deep[7], deep[8], deep[9]
                return found(far, a, plus(a, times(far, normal)), normal)
    return result


@part
def ordered_distance(code_a, piece_a, pose_a, code_b, piece_b, pose_b, points, limit, work):
    """Return the same as `distance_within` for two pieces, the first of the lower rank."""
    relative(pose_a, pose_b, work)
    notes, first, second = beyond(work, 12), piece_a[PIECE.radius], piece_b[PIECE.radius]
    notes[NOTES.hint_a], notes[NOTES.hint_b], notes[NOTES.limit] = 0.0, 0.0, limit + first + second
    two = Two(code_a, piece_a, code_b, piece_b, work, notes)
    far, ax, ay, az, bx, by, bz, nx, ny, nz = core_distance(two, points, beyond(notes, NOTES.size))
    a = moved(pose_b, (ax + first * nx, ay + first * ny, az + first * nz))
    b = moved(pose_b, (bx - second * nx, by - second * ny, bz - second * nz))
    return found(far - first - second, a, b, turned(pose_b, (nx, ny, nz)))


@part
def distance_within(code_a, piece_a, pose_a, code_b, piece_b, pose_b, points, limit, work):
    """Return the same as `pair_distance`, or infinity first as soon as the distance is known to exceed a limit."""
    if rank(kind_of(code_a)) <= rank(kind_of(code_b)):
        return ordered_distance(code_a, piece_a, pose_a, code_b, piece_b, pose_b, points, limit, work)
    far, bx, by, bz, ax, ay, az, nx, ny, nz = ordered_distance(
        code_b, piece_b, pose_b, code_a, piece_a, pose_a, points, limit, work
    )
    return far, ax, ay, az, bx, by, bz, -nx, -ny, -nz


@part
def pair_distance(code_a, piece_a, pose_a, code_b, piece_b, pose_b, points, work):
    """Return the signed distance of two pieces, the nearest point of each and a unit normal, in the world: ten numbers.

    The normal points from the first to the second. The distance is negative if they overlap: how far they must move
    apart along the normal. ``b - a = distance * normal``, and the distance changes by
    ``normal . (velocity of b - velocity of a)``.

    Args:
        code_a: A PIECE_CODE.
        piece_a: A PIECE.
        pose_a: world_from_piece, three rows of four.
        code_b: Likewise for the second.
        piece_b: Likewise.
        pose_b: Likewise.
        points: The points of all hulls.
        work: Workspace of PAIR_WORK numbers.
    """
    return distance_within(code_a, piece_a, pose_a, code_b, piece_b, pose_b, points, math.inf, work)


@kernel("i8[] f8[] f8[] f8[] f8[]", nogil=True)
def pair_distances(codes, pieces, points, work, out):
    """Write ten numbers for each pair of pieces, which are placed in the world by their own transforms.

    Args:
        codes: Two PIECE_CODE for each pair.
        pieces: Two PIECE for each pair.
        points: The points of all hulls.
        work: Workspace of PAIR_WORK numbers.
        out: Receives the results of `pair_distance`, pair by pair.
    """
    for k in range(out.size // 10):
        code_a, piece_a = beyond(cells(codes), 2 * k * PIECE_CODE.size), beyond(cells(pieces), 2 * k * PIECE.size)
        code_b, piece_b = beyond(code_a, PIECE_CODE.size), beyond(piece_a, PIECE.size)
        pose_a, pose_b = beyond(piece_a, PIECE.transform), beyond(piece_b, PIECE.transform)
        result = pair_distance(code_a, piece_a, pose_a, code_b, piece_b, pose_b, cells(points), cells(work))
        for i in range(10):
            out[10 * k + i] = result[i]
