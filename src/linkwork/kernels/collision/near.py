"""Find bodies of a scene that are near each other or near the world: bounding balls first, then pieces.

A search has a limit: pairs further apart are skipped. It is given, and once all records are full it is the distance of
the furthest of them, so a search for the nearest pair alone soon skips almost everything.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, part
from ..lanes import beyond, divided
from ..rotations import dot, minus, place, vector
from .pair_distance import PAIR_WORK, distance_within
from .piece_layout import (
    BODY,
    BOUND,
    CYLINDER,
    HEADER,
    HULL,
    NEAR,
    NODE,
    PIECE,
    PIECE_CODE,
    POINT,
    body_code,
    piece_code,
    piece_numbers,
    table,
)
from .support import moved, sizes_of, turned_back

DEEPEST = 64  # largest depth of the tree of world pieces

Work = namedtuple("Work", "pair pose_a pose_b body_centres piece_centres stack")


@inner
def work_sizes(codes):
    """Return the size of each part of the workspace of a search, in numbers."""
    return Work(
        pair=PAIR_WORK,
        pose_a=12,
        pose_b=12,
        body_centres=3 * codes[HEADER.bodies],
        piece_centres=3 * codes[HEADER.world],
        stack=DEEPEST,
    )


def work_size(codes: NDArray[np.int64]) -> int:
    """Return the size of the workspace of `near_pairs`, in numbers."""
    return int(sum(work_sizes.py_func(codes)))


@part
def place_centres(codes, numbers, frames, w):
    """Write the centres of the bounding balls of bodies and of their pieces to the workspace."""
    bounds = table(codes, HEADER.bounds, numbers)
    for body in range(codes[HEADER.bodies]):
        code = body_code(codes, body)
        frame = beyond(frames, 16 * code[BODY.frame])
        bound = beyond(bounds, BOUND.size * body)
        place(moved(frame, vector(beyond(bound, BOUND.centre), 0)), w.body_centres, body)
        for piece in range(code[BODY.first], code[BODY.end]):
            centre = vector(beyond(piece_numbers(codes, numbers, piece), PIECE.centre), 0)
            place(moved(frame, centre), w.piece_centres, piece)


@inner
def are_far(p, q, room):
    """Return whether the distance of two points is at least `room`; a negative room is always exceeded."""
    way = minus(p, q)
    return room <= 0.0 or dot(way, way) >= room * room


@part
def compose(frames, code, piece, centre, out):
    """Write world_from_piece of a body's piece, three rows of four; for a ball only its position."""
    if code[PIECE_CODE.kind] == POINT:
        for k in range(12):
            out[k] = 1.0 if k % 5 == 0 else 0.0
        out[3], out[7], out[11] = centre
        return
    frame, m = beyond(frames, 16 * code[PIECE_CODE.frame]), beyond(piece, PIECE.transform)
    for i in range(3):
        row = beyond(frame, 4 * i)
        for j in range(4):
            out[4 * i + j] = row[0] * m[j] + row[1] * m[4 + j] + row[2] * m[8 + j]
        out[4 * i + 3] += row[3]


@inner
def half_shadow(pose, sizes, way):
    """Return how far a box extends from its middle along a direction."""
    x, y, z = turned_back(pose, way)
    return sizes[0] * abs(x) + sizes[1] * abs(y) + sizes[2] * abs(z)


@part
def boxes_are_far(pose_a, piece_a, here, pose_b, piece_b, there, limit):
    """Return whether the boxes around two pieces are separated by a limit along an axis of one of them.

    The boxes are aligned with the pieces and centred at their bounding balls.
    """
    way, room = minus(there, here), limit + piece_a[PIECE.radius] + piece_b[PIECE.radius]
    first, second = sizes_of(piece_a), sizes_of(piece_b)
    far = False
    if piece_a[PIECE.bound] + piece_b[PIECE.bound] == math.inf:  # a half-space has no box
        return far
    for k in range(3):
        axis = pose_a[k], pose_a[4 + k], pose_a[8 + k]
        far = far or abs(dot(way, axis)) - first[k] - half_shadow(pose_b, second, axis) >= room
        axis = pose_b[k], pose_b[4 + k], pose_b[8 + k]
        far = far or abs(dot(way, axis)) - second[k] - half_shadow(pose_a, first, axis) >= room
    return far


@inner
def is_slow(code):
    """Return whether distances of a piece are expensive, so that checking boxes first pays."""
    return code[PIECE_CODE.kind] in (CYLINDER, HULL)


@part
def limit_of(records, count, most, within, owner_a, owner_b):
    """Return the distance below which a pair of owners is recorded: of its record, of the last record, or `within`."""
    for k in range(count):
        record = beyond(records, NEAR.size * k)
        if record[NEAR.owner_a] == owner_a and record[NEAR.owner_b] == owner_b:
            return record[NEAR.distance]
    return records[NEAR.size * (most - 1) + NEAR.distance] if count == most else within


@part
def note(records, count, most, owners, found):
    """Insert a pair into the records, the nearest first, one for two owners; return their number.

    Args:
        records: Memory for `most` records.
        count: Present number of records.
        most: Largest number of records.
        owners: Frames and owners of the two.
        found: The result of `pair_distance`; its distance is below `limit_of` them.
    """
    at = count
    for k in range(count):  # the record of the same owners, if there is one
        record = beyond(records, NEAR.size * k)
        if record[NEAR.owner_a] == owners[2] and record[NEAR.owner_b] == owners[3]:
            at = k
            break
    if at == most:
        at = most - 1
    elif at == count:
        count += 1
    while at > 0 and records[NEAR.size * (at - 1) + NEAR.distance] > found[0]:
        for item in range(NEAR.size):
            records[NEAR.size * at + item] = records[NEAR.size * (at - 1) + item]
        at -= 1
    record = beyond(records, NEAR.size * at)
    record[NEAR.frame_a], record[NEAR.frame_b] = float(owners[0]), float(owners[1])
    record[NEAR.owner_a], record[NEAR.owner_b] = float(owners[2]), float(owners[3])
    for k in range(10):
        record[NEAR.distance + k] = found[k]
    return count


@part
def near_bodies(codes, numbers, frames, a, b, limit, w):
    """Return the distance of two bodies, points and normal, if it is below a limit; else infinity first."""
    code_a, code_b = body_code(codes, a), body_code(codes, b)
    points = table(codes, HEADER.points, numbers)
    bound = beyond(table(codes, HEADER.bounds, numbers), BOUND.size * b)
    centre, radius = vector(w.body_centres, b), bound[BOUND.radius]
    best = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(code_a[BODY.first], code_a[BODY.end]):
        one, piece_a = piece_code(codes, i), piece_numbers(codes, numbers, i)
        here = vector(w.piece_centres, i)
        if are_far(here, centre, limit + radius + piece_a[PIECE.bound]):
            continue
        composed = False
        for j in range(code_b[BODY.first], code_b[BODY.end]):
            piece_b = piece_numbers(codes, numbers, j)
            there = vector(w.piece_centres, j)
            if are_far(here, there, limit + piece_a[PIECE.bound] + piece_b[PIECE.bound]):
                continue
            if not composed:
                compose(frames, one, piece_a, here, w.pose_a)
                composed = True
            other = piece_code(codes, j)
            compose(frames, other, piece_b, there, w.pose_b)
            slow = is_slow(one) or is_slow(other)
            if slow and boxes_are_far(w.pose_a, piece_a, here, w.pose_b, piece_b, there, limit):
                continue
            result = distance_within(one, piece_a, w.pose_a, other, piece_b, w.pose_b, points, limit, w.pair)
            if result[0] < limit:
                limit, best = result[0], result
    return best


@part
def near_obstacle(codes, numbers, frames, body, piece, limit, w):
    """Return the distance of a body and a piece of the world, likewise."""
    code, other, piece_b = body_code(codes, body), piece_code(codes, piece), piece_numbers(codes, numbers, piece)
    points, centre = table(codes, HEADER.points, numbers), vector(beyond(piece_b, PIECE.centre), 0)
    best = (math.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(code[BODY.first], code[BODY.end]):
        one, piece_a, here = piece_code(codes, i), piece_numbers(codes, numbers, i), vector(w.piece_centres, i)
        if are_far(here, centre, limit + piece_a[PIECE.bound] + piece_b[PIECE.bound]):
            continue
        compose(frames, one, piece_a, here, w.pose_a)
        pose_b = beyond(piece_b, PIECE.transform)
        if is_slow(one) and boxes_are_far(w.pose_a, piece_a, here, pose_b, piece_b, centre, limit):
            continue
        result = distance_within(one, piece_a, w.pose_a, other, piece_b, pose_b, points, limit, w.pair)
        if result[0] < limit:
            limit, best = result[0], result
    return best


@part
def is_ignored(codes, body, owner):
    """Return whether a body may touch an obstacle."""
    code, ignored = body_code(codes, body), table(codes, HEADER.ignored, codes)
    found = False
    for k in range(code[BODY.ignored], code[BODY.ignored_end]):
        found = found or ignored[k] == owner
    return found


@part
def note_obstacle(codes, numbers, frames, body, piece, within, most, records, count, w):
    """Check a body against a piece of the world; return the number of records."""
    code, owner = body_code(codes, body), piece_code(codes, piece)[PIECE_CODE.owner]
    if is_ignored(codes, body, owner):
        return count
    limit = limit_of(records, count, most, within, code[BODY.owner], owner)
    bound = beyond(table(codes, HEADER.bounds, numbers), BOUND.size * body)
    piece_b = piece_numbers(codes, numbers, piece)
    there = vector(beyond(piece_b, PIECE.centre), 0)
    if are_far(vector(w.body_centres, body), there, limit + bound[BOUND.radius] + piece_b[PIECE.bound]):
        return count
    found = near_obstacle(codes, numbers, frames, body, piece, limit, w)
    if found[0] < limit:
        count = note(records, count, most, (code[BODY.frame], -1, code[BODY.owner], owner), found)
    return count


@inner
def to_node(nodes, node, p):
    """Return the squared distance from a point to the box of a node."""
    box = beyond(nodes, NODE.size * node)
    total = 0.0
    for k in range(3):
        off = max(max(box[NODE.low + k] - p[k], p[k] - box[NODE.high + k]), 0.0)
        total += off * off
    return total


@part
def near_world(codes, numbers, frames, body, within, most, records, count, w):
    """Check a body against the world: half-spaces one by one, the others down the tree, nearer branch first."""
    for piece in range(codes[HEADER.world], codes[HEADER.bounded]):
        count = note_obstacle(codes, numbers, frames, body, piece, within, most, records, count, w)
    leaves, first = codes[HEADER.leaves], codes[HEADER.bounded]
    if leaves == 0:
        return count
    nodes, pieces = table(codes, HEADER.nodes, numbers), codes[HEADER.pieces] - first
    centre = vector(w.body_centres, body)
    radius = beyond(table(codes, HEADER.bounds, numbers), BOUND.size * body)[BOUND.radius]
    w.stack[0] = 0.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = int(w.stack[waiting])
        limit = records[NEAR.size * (most - 1) + NEAR.distance] if count == most else within
        room = limit + radius
        if room <= 0.0 or to_node(nodes, node, centre) >= room * room:
            continue
        if node >= leaves - 1:
            leaf = node - (leaves - 1)
            for piece in range(first + pieces * leaf // leaves, first + pieces * (leaf + 1) // leaves):
                count = note_obstacle(codes, numbers, frames, body, piece, within, most, records, count, w)
            continue
        left, right = 2 * node + 1, 2 * node + 2
        if to_node(nodes, left, centre) < to_node(nodes, right, centre):
            left, right = right, left
        w.stack[waiting], w.stack[waiting + 1] = float(left), float(right)
        waiting += 2
    return count


@part
def near_pairs(codes, numbers, frames, within, most, records, work):
    """Write the near pairs, the nearest first; return their number.

    Args:
        codes: The scene.
        numbers: Likewise.
        frames: The scene's frames, 16 numbers each.
        within: Pairs at this distance or further are left out [m].
        most: Largest number of pairs, at least 1.
        records: Receives up to `most` records of NEAR: one for two links, or a link and an obstacle.
        work: Workspace of `work_size(codes)` numbers.
    """
    w = divided(work, work_sizes(codes))
    place_centres(codes, numbers, frames, w)
    count, pairs = 0, table(codes, HEADER.pair_codes, codes)
    bounds = table(codes, HEADER.bounds, numbers)
    for body in range(codes[HEADER.bodies]):
        if body_code(codes, body)[BODY.looks] != 0:
            count = near_world(codes, numbers, frames, body, within, most, records, count, w)
    for k in range(codes[HEADER.pairs]):
        a, b = pairs[2 * k], pairs[2 * k + 1]
        limit = records[NEAR.size * (most - 1) + NEAR.distance] if count == most else within
        reach = bounds[BOUND.size * a + BOUND.radius] + bounds[BOUND.size * b + BOUND.radius]
        if are_far(vector(w.body_centres, a), vector(w.body_centres, b), limit + reach):
            continue
        found = near_bodies(codes, numbers, frames, a, b, limit, w)
        if found[0] < limit:
            one, two = body_code(codes, a), body_code(codes, b)
            owners = one[BODY.frame], two[BODY.frame], one[BODY.owner], two[BODY.owner]
            count = note(records, count, most, owners, found)
    return count
