"""Whether two bodies stay apart over a short section of a motion: by separating planes, if speed bounds do not tell.

Between two convex pieces with a gap there is a separating plane. At the end of the section, the remaining gap along the
plane's normal is computed. A point moves almost straight in between, so the gap is never smaller than at the two ends,
except for the curvature of paths. Pieces that slide along each other without coming nearer are cleared this way at
once.
"""

from __future__ import annotations

from .. import inner, part
from ..lanes import beyond
from ..rotations import dot, times, vector
from .near import are_far, compose, is_ignored, to_node
from .pair_distance import distance_within
from .piece_layout import (
    BODY,
    BOUND,
    HALFSPACE,
    HEADER,
    PIECE,
    PIECE_CODE,
    body_code,
    piece_code,
    piece_numbers,
    table,
)
from .support import moved, shift, support, turned, turned_back


@part
def extent_along(code, piece, pose, points, normal, work):
    """Return how far a piece extends along a unit normal of the world."""
    if code[PIECE_CODE.kind] == HALFSPACE:  # its plane bounds it, as normals point away from it
        return dot(shift(pose), normal)
    work[0] = 0.0  # start corner of a hull
    core = moved(pose, support(code, piece, points, turned_back(pose, normal), work, 0))
    return dot(core, normal) + piece[PIECE.radius]


@inner
def carried(frames_before, frames_after, top, normal):
    """Return a direction that moves with a frame; -1 is the world."""
    if top < 0:
        return normal
    return turned(beyond(frames_after, 16 * top), turned_back(beyond(frames_before, 16 * top), normal))


@inner
def centre_of(frames, code, piece):
    """Return the centre of a piece's bounding ball in the world."""
    centre, frame = vector(beyond(piece, PIECE.centre), 0), code[PIECE_CODE.frame]
    return centre if frame < 0 else moved(beyond(frames, 16 * frame), centre)


@part
def place_piece(frames, code, piece, out):
    """Write world_from_piece, three rows of four."""
    if code[PIECE_CODE.frame] < 0:
        for k in range(12):
            out[k] = piece[PIECE.transform + k]
    else:
        compose(frames, code, piece, centre_of(frames, code, piece), out)


@part
def pieces_stay(codes, numbers, before, after, one, two, top, limit, least, w):
    """Return whether two pieces stay apart: further than a limit at the start, or a gap along a normal at the end."""
    code_a, piece_a = piece_code(codes, one), piece_numbers(codes, numbers, one)
    code_b, piece_b = piece_code(codes, two), piece_numbers(codes, numbers, two)
    points = table(codes, HEADER.points, numbers)
    room = limit + piece_a[PIECE.bound] + piece_b[PIECE.bound]
    if are_far(centre_of(before, code_a, piece_a), centre_of(before, code_b, piece_b), room):
        return True
    place_piece(before, code_a, piece_a, w.pose_a)
    place_piece(before, code_b, piece_b, w.pose_b)
    found = distance_within(code_a, piece_a, w.pose_a, code_b, piece_b, w.pose_b, points, limit, w.pair)
    if found[0] >= limit:
        return True
    if found[0] < least or code_a[PIECE_CODE.kind] == HALFSPACE:
        return False
    normal = carried(before, after, top, (found[7], found[8], found[9]))
    place_piece(after, code_a, piece_a, w.pose_a)
    place_piece(after, code_b, piece_b, w.pose_b)
    ahead = extent_along(code_a, piece_a, w.pose_a, points, normal, w.pair)
    return -extent_along(code_b, piece_b, w.pose_b, points, times(-1.0, normal), w.pair) - ahead >= least


@part
def bodies_stay(codes, numbers, before, after, a, b, top, limit, least, w):
    """Return whether all pieces of two bodies stay apart."""
    code_a, code_b = body_code(codes, a), body_code(codes, b)
    for i in range(code_a[BODY.first], code_a[BODY.end]):
        for j in range(code_b[BODY.first], code_b[BODY.end]):
            if not pieces_stay(codes, numbers, before, after, i, j, top, limit, least, w):
                return False
    return True


@part
def stays_off_piece(codes, numbers, before, after, body, piece, limit, least, w):
    """Return whether all pieces of a body stay apart from one piece of the world."""
    code = body_code(codes, body)
    for i in range(code[BODY.first], code[BODY.end]):
        if not pieces_stay(codes, numbers, before, after, i, piece, -1, limit, least, w):
            return False
    return True


@part
def world_stays(codes, numbers, before, after, body, owner, limit, least, w):
    """Return whether all pieces of a body stay apart from an obstacle fixed to the world."""
    code = body_code(codes, body)
    if is_ignored(codes, body, owner):
        return True
    for piece in range(codes[HEADER.world], codes[HEADER.bounded]):
        if piece_code(codes, piece)[PIECE_CODE.owner] == owner and not stays_off_piece(
            codes, numbers, before, after, body, piece, limit, least, w
        ):
            return False
    leaves, first = codes[HEADER.leaves], codes[HEADER.bounded]
    if leaves == 0:
        return True
    nodes, pieces = table(codes, HEADER.nodes, numbers), codes[HEADER.pieces] - first
    bound = beyond(table(codes, HEADER.bounds, numbers), BOUND.size * body)
    centre = moved(beyond(before, 16 * code[BODY.frame]), vector(beyond(bound, BOUND.centre), 0))
    room = max(limit + bound[BOUND.radius], 0.0)
    w.stack[0], waiting = 0.0, 1
    while waiting > 0:
        waiting -= 1
        node = int(w.stack[waiting])
        if to_node(nodes, node, centre) >= room * room:
            continue
        if node < leaves - 1:
            w.stack[waiting], w.stack[waiting + 1] = float(2 * node + 1), float(2 * node + 2)
            waiting += 2
            continue
        leaf = node - (leaves - 1)
        for piece in range(first + pieces * leaf // leaves, first + pieces * (leaf + 1) // leaves):
            if piece_code(codes, piece)[PIECE_CODE.owner] == owner and not stays_off_piece(
                codes, numbers, before, after, body, piece, limit, least, w
            ):
                return False
    return True
