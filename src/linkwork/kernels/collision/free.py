"""Check which of eight poses are free of collisions: poses are in lanes, and a lane that touches something is out.

Bodies are checked one after another: first the bounding ball of a body, then its pieces. Balls are checked in lanes,
exactly, against every kind of piece in the world and against each other; other pieces go through `pair_distance`, lane
by lane.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, part
from ..lanes import beyond, bits, cells, divided, fabs, fill, flat, load, select, sqrt, store
from ..rotations import dot, minus
from ..tree import sweep_tree
from .near import is_ignored
from .pair_distance import PAIR_WORK, pair_distance
from .piece_layout import (
    BODY,
    BOUND,
    CYLINDER,
    HALFSPACE,
    HEADER,
    HULL,
    NODE,
    PIECE,
    PIECE_CODE,
    POINT,
    SEGMENT,
    body_code,
    piece_code,
    piece_numbers,
    table,
)

WIDTH = 8
# the scene, its margin, indices of a chain's values in a pose; the pose and all frames in lanes, and as numbers
Free = namedtuple("Free", "codes numbers margin places values pose world flow work")


@inner
def free_of(codes, numbers, margin, places, room):
    """Return the memory of a check; `room` has the shape `free_room`."""
    scene = cells(codes)
    values, frames = scene[HEADER.values], scene[HEADER.frames]
    pose, world = divided(cells(room), (values, 16 * frames))
    _, flow, work = divided(flat(room), (WIDTH * values, WIDTH * 16 * frames, 0))
    return Free(scene, cells(numbers), margin, cells(places), values, pose, world, flow, work)


@inner
def put_base(free, bases, number):
    """Write one of several whole poses into all lanes."""
    for value in range(free.values):
        store(free.pose, value, fill(free.pose, load(cells(bases), free.values * number + value)))


@inner
def in_world(free, frame, memory, at):
    """Return a point of a frame, three numbers of memory, in world coordinates in each lane."""
    x, y, z = memory[at], memory[at + 1], memory[at + 2]
    m, a = free.world, 16 * frame
    return (
        load(m, a) * x + load(m, a + 1) * y + load(m, a + 2) * z + load(m, a + 3),
        load(m, a + 4) * x + load(m, a + 5) * y + load(m, a + 6) * z + load(m, a + 7),
        load(m, a + 8) * x + load(m, a + 9) * y + load(m, a + 10) * z + load(m, a + 11),
    )


@inner
def seen_from(piece, p):
    """Return a point in the axes of a piece fixed to the world."""
    x, y, z = p[0] - piece[3], p[1] - piece[7], p[2] - piece[11]
    return (
        x * piece[0] + y * piece[4] + z * piece[8],
        x * piece[1] + y * piece[5] + z * piece[9],
        x * piece[2] + y * piece[6] + z * piece[10],
    )


@inner
def positive(x):
    """Return a number, or lanes, with negative values replaced by zero."""
    return select(x > 0.0, x, 0.0)


@inner
def larger(x, y):
    """Return the larger of two numbers, or lanes."""
    return select(x > y, x, y)


@inner
def nearer(kind, piece, p, least):
    """Return the lanes in which a point is nearer than `least` to the core of a piece in the world, exactly.

    Inside a core, distances are negative. A hull counts as its bounding ball, which is never further away than the
    hull.
    """
    square = least * least if least > 0.0 else -1.0
    if kind == POINT:
        x, y, z = p[0] - piece[3], p[1] - piece[7], p[2] - piece[11]
        return x * x + y * y + z * z < square
    if kind == HULL:
        at = PIECE.centre
        x, y, z = p[0] - piece[at], p[1] - piece[at + 1], p[2] - piece[at + 2]
        reach = larger(least + (piece[PIECE.bound] - piece[PIECE.radius]), 0.0)
        return x * x + y * y + z * z < reach * reach
    x, y, z = seen_from(piece, p)
    if kind == HALFSPACE:
        return z < least
    a, b, c = piece[PIECE.sizes], piece[PIECE.sizes + 1], piece[PIECE.sizes + 2]
    if kind == SEGMENT:
        z = positive(fabs(z) - c)
        return x * x + y * y + z * z < square
    z = fabs(z) - c
    if kind == CYLINDER:
        x = sqrt(x * x + y * y) - a
        deep, x, z = larger(x, z), positive(x), positive(z)
        if least > 0.0:
            return x * x + z * z < square
        return deep < least
    x, y = fabs(x) - a, fabs(y) - b
    deep, x, y, z = larger(larger(x, y), z), positive(x), positive(y), positive(z)
    if least > 0.0:
        return x * x + y * y + z * z < square
    return deep < least


@part
def place_piece(free, lane, frame, piece, out):
    """Write world_from_piece of a piece in one lane, three rows of four; frame -1 is the world."""
    m = beyond(piece, PIECE.transform)
    for i in range(3):
        at = WIDTH * (16 * max(frame, 0) + 4 * i) + lane
        x, y, z, p = free.flow[at], free.flow[at + WIDTH], free.flow[at + 2 * WIDTH], free.flow[at + 3 * WIDTH]
        for j in range(4):
            out[4 * i + j] = m[4 * i + j] if frame < 0 else x * m[j] + y * m[4 + j] + z * m[8 + j]
        if frame >= 0:
            out[4 * i + 3] += p


@part
def touching(free, frame, piece, other_frame, other, lanes):
    """Return the lanes, of some, in which two pieces are nearer than the margin, by `pair_distance`."""
    codes, numbers = free.codes, free.numbers
    a, b = piece_numbers(codes, numbers, piece), piece_numbers(codes, numbers, other)
    pose_a, pose_b, work = divided(free.work, (12, 12, PAIR_WORK))
    hit, points = 0, table(codes, HEADER.points, numbers)
    for lane in range(WIDTH):
        if (lanes >> lane) & 1:
            place_piece(free, lane, frame, a, pose_a)
            place_piece(free, lane, other_frame, b, pose_b)
            one, two = piece_code(codes, piece), piece_code(codes, other)
            if pair_distance(one, a, pose_a, two, b, pose_b, points, work)[0] < free.margin:
                hit |= 1 << lane
    return hit


@part
def meet_world_piece(free, number, bound, centre, piece, alive):
    """Return the lanes, of some, that are still free after checking a body against a piece of the world."""
    body = body_code(free.codes, number)
    code, there = piece_code(free.codes, piece), piece_numbers(free.codes, free.numbers, piece)
    kind, apart = code[PIECE_CODE.kind], there[PIECE.radius] + free.margin
    near = bits(nearer(kind, there, centre, bound[BOUND.radius] + apart)) & alive
    if near == 0 or is_ignored(free.codes, number, code[PIECE_CODE.owner]):
        return alive
    for own in range(body[BODY.first], body[BODY.end]):
        shape = piece_numbers(free.codes, free.numbers, own)
        if piece_code(free.codes, own)[PIECE_CODE.kind] == POINT and kind != HULL:
            p = in_world(free, body[BODY.frame], shape, PIECE.centre)
            hit = bits(nearer(kind, there, p, shape[PIECE.radius] + apart)) & near
        else:
            p = in_world(free, body[BODY.frame], shape, PIECE.centre)
            hit = bits(nearer(kind, there, p, shape[PIECE.bound] + apart)) & near
            hit = touching(free, body[BODY.frame], own, -1, piece, hit)
        near, alive = near & ~hit, alive & ~hit
        if near == 0:
            break
    return alive


@inner
def over_node(node, p, reach):
    """Return the lanes in which a ball meets the box of a node."""
    x = positive(larger(node[0] - p[0], p[0] - node[3]))
    y = positive(larger(node[1] - p[1], p[1] - node[4]))
    z = positive(larger(node[2] - p[2], p[2] - node[5]))
    return x * x + y * y + z * z <= reach * reach


@part
def meet_world(free, number, alive):
    """Return the lanes, of some, that are still free after checking a body against the world, by its tree."""
    codes, body = free.codes, body_code(free.codes, number)
    bound = beyond(table(codes, HEADER.bounds, free.numbers), BOUND.size * number)
    centre = in_world(free, body[BODY.frame], bound, BOUND.centre)
    for piece in range(codes[HEADER.world], codes[HEADER.bounded]):
        alive = meet_world_piece(free, number, bound, centre, piece, alive)
    leaves, nodes = codes[HEADER.leaves], table(codes, HEADER.nodes, free.numbers)
    first, pieces = codes[HEADER.bounded], codes[HEADER.pieces] - codes[HEADER.bounded]
    reach = larger(bound[BOUND.radius] + free.margin, 0.0)
    node = 0 if leaves > 0 else -1
    while node >= 0 and alive:
        inside = bits(over_node(beyond(nodes, NODE.size * node), centre, reach)) & alive
        if inside and node < leaves - 1:
            node = 2 * node + 1
            continue
        if inside:
            leaf = node - (leaves - 1)
            for piece in range(first + pieces * leaf // leaves, first + pieces * (leaf + 1) // leaves):
                alive = meet_world_piece(free, number, bound, centre, piece, alive)
        while node > 0 and node % 2 == 0:
            node = (node - 1) // 2
        node = node + 1 if node > 0 else -1
    return alive


@inner
def apart_by(p, q, least):
    """Return the lanes in which two points are nearer to each other than `least`."""
    away = minus(p, q)
    return dot(away, away) < (least * least if least > 0.0 else -1.0)


@part
def meet_body(free, first, second, alive):
    """Return the lanes, of some, that are still free after checking two bodies against each other."""
    codes, one, two = free.codes, body_code(free.codes, first), body_code(free.codes, second)
    bounds = table(codes, HEADER.bounds, free.numbers)
    mine, yours = beyond(bounds, BOUND.size * first), beyond(bounds, BOUND.size * second)
    here = in_world(free, one[BODY.frame], mine, BOUND.centre)
    there = in_world(free, two[BODY.frame], yours, BOUND.centre)
    reach = yours[BOUND.radius] + free.margin
    close = bits(apart_by(here, there, mine[BOUND.radius] + reach)) & alive
    if close == 0:
        return alive
    for a in range(one[BODY.first], one[BODY.end]):
        shape = piece_numbers(codes, free.numbers, a)
        p = in_world(free, one[BODY.frame], shape, PIECE.centre)
        near = bits(apart_by(p, there, shape[PIECE.bound] + reach)) & alive
        for b in range(two[BODY.first], two[BODY.end] if near else 0):
            other = piece_numbers(codes, free.numbers, b)
            q = in_world(free, two[BODY.frame], other, PIECE.centre)
            hit = bits(apart_by(p, q, shape[PIECE.bound] + other[PIECE.bound] + free.margin)) & near
            kinds = piece_code(codes, a)[PIECE_CODE.kind], piece_code(codes, b)[PIECE_CODE.kind]
            if kinds[0] != POINT or kinds[1] != POINT:
                hit = touching(free, one[BODY.frame], a, two[BODY.frame], b, hit)
            near, alive = near & ~hit, alive & ~hit
            if near == 0:
                break
    return alive


@part
def free_lanes(free, alive):
    """Return the lanes, of some given as bits, whose poses are free of collisions, margin included."""
    codes = free.codes
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, free.numbers)
    sweep_tree(starts, parents, codes[HEADER.frames], rows, constants, free.pose, free.world)
    bodies, pairs = codes[HEADER.bodies], table(codes, HEADER.pair_codes, codes)
    for k in range(bodies):
        body = bodies - 1 - k
        if body_code(codes, body)[BODY.looks]:
            alive = meet_world(free, body, alive)
            if alive == 0:
                return 0
    for k in range(codes[HEADER.pairs]):
        alive = meet_body(free, pairs[2 * k], pairs[2 * k + 1], alive)
        if alive == 0:
            return 0
    return alive


def free_room(codes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the shape of the workspace of a check."""
    return int(codes[HEADER.values] + 16 * codes[HEADER.frames]) + -(-(24 + PAIR_WORK) // WIDTH), WIDTH
