"""Sweep a straight path between two poses: whether all pairs keep a margin, and the first place where they do not.

Conservative advancement. The speed at which two pieces can approach has a bound, so the distances at one pose tell how
far along the path nothing can happen. This cannot jump over anything, however thin. If two slide along each other at
the margin itself, distances alone would allow no progress: between two checks they may be nearer by the *slack*, and
separating planes allow longer sections, see `apart`.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel, part
from ..lanes import beyond, cells, divided
from .apart import bodies_stay, world_stays
from .moving import approach_bounds, fastest_approach, meeting, put_pose, put_reaches
from .near import near_pairs, work_size, work_sizes as near_sizes
from .piece_layout import HEADER, NEAR, table
from .scene_distance import place_frames

MOST = 24  # pairs that are known at a pose; all others are known to be further apart
FAR = 0.1  # distance beyond the margin within which pairs are sought [m]
BISECTIONS = 40
HALVINGS = 6  # of a section that planes may clear
ROUNDING = 1e-12
LEFT = 1e-9  # how much nearer pairs below the margin may come: rounding [m]

Sweep = namedtuple("Sweep", "pose world after near records inside reaches")


@inner
def sweep_sizes(values, frames, near):
    """Return the size of each part of the memory, for a scene and the workspace of `near_pairs`."""
    return Sweep(
        pose=values,
        world=16 * frames,
        after=16 * frames,  # frames at the end of a section
        near=near,
        records=MOST * NEAR.size,
        inside=MOST * NEAR.size,  # pairs below the margin at the start of the path
        reaches=frames,
    )


@inner
def sum_of(sizes):
    """Return the sum of a tuple."""
    total = 0
    for size in sizes:
        total += size
    return total


@inner
def divided_for(codes, room):
    """Return memory divided into the parts of a sweep's workspace."""
    near = sum_of(near_sizes(codes))
    return divided(room, sweep_sizes(codes[HEADER.values], codes[HEADER.frames], near))


def room_size(codes: NDArray[np.int64]) -> int:
    """Return the size of the workspace of a sweep, in numbers."""
    return int(sum(sweep_sizes.py_func(codes[HEADER.values], codes[HEADER.frames], work_size(codes))))


@part
def floor_of(record, margin, inside, insides):
    """Return how near a pair may come: the margin, or its distance at the start if that is less."""
    for k in range(insides):
        other = beyond(inside, NEAR.size * k)
        if record[NEAR.owner_a] == other[NEAR.owner_a] and record[NEAR.owner_b] == other[NEAR.owner_b]:
            return min(margin, other[NEAR.distance] - LEFT)
    return margin


@part
def look(codes, numbers, ways, q, change, share, within, s):
    """Write the near pairs at a share of the path; return their number."""
    put_pose(ways, codes[HEADER.values], q, change, share, s.pose)
    place_frames(codes, numbers, s.pose, s.world)
    return near_pairs(codes, numbers, s.world, within, MOST, s.records, s.near)


@part
def nearest_below(count, margin, insides, s):
    """Return the index of the first record below its floor, or -1."""
    for k in range(count):
        record = beyond(s.records, NEAR.size * k)
        if record[NEAR.distance] < floor_of(record, margin, s.inside, insides):
            return k
    return -1


@part
def safe_stretch(codes, numbers, ways, q, change, count, margin, slack, fastest, insides, s):
    """Return the share of the path, from a pose on, that brings no pair below its floor by more than the slack.

    It follows from speeds, and holds if no pair is below its floor at the end either: going down and back up, the path
    is twice the slack. Also return the share that is safe for the pairs that are not among the records.
    """
    beyond_it = FAR if count < MOST else s.records[NEAR.size * (MOST - 1) + NEAR.distance] - margin
    others = (beyond_it + 2.0 * slack) / fastest
    share = others
    for k in range(count):
        record = beyond(s.records, NEAR.size * k)
        room = record[NEAR.distance] - floor_of(record, margin, s.inside, insides) + 2.0 * slack
        a, b = int(record[NEAR.frame_a]), int(record[NEAR.frame_b])
        if room < share * fastest:
            speed, _ = approach_bounds(codes, numbers, ways, q, change, s.reaches, a, b)
            share = min(share, room / speed if speed > 0.0 else math.inf)
    return share, others


@part
def longer_stretch(codes, numbers, ways, q, change, share, count, margin, slack, insides, stretches, s):
    """Return a longer section that separating planes clear, if there is one; sections are halved until one is clear."""
    short, stretch = stretches
    for _ in range(HALVINGS):
        if stretch < 2.0 * short:
            break
        put_pose(ways, codes[HEADER.values], q, change, share + stretch, s.pose)
        place_frames(codes, numbers, s.pose, s.after)
        clear = True
        for k in range(count):
            record = beyond(s.records, NEAR.size * k)
            floor = floor_of(record, margin, s.inside, insides)
            if clear:
                clear = stays_apart(codes, numbers, ways, q, change, record, stretch, floor - slack, s)
        if clear:
            return stretch
        stretch *= 0.5
    return short


@part
def stays_apart(codes, numbers, ways, q, change, record, stretch, least, s):
    """Return whether the two of a record stay apart over a section from `s.world` to `s.after`."""
    a, b = int(record[NEAR.frame_a]), int(record[NEAR.frame_b])
    one, two = int(record[NEAR.owner_a]), int(record[NEAR.owner_b])
    speed, bend = approach_bounds(codes, numbers, ways, q, change, s.reaches, a, b)
    limit = least + speed * stretch
    if record[NEAR.distance] >= limit:
        return True
    least += bend * stretch * stretch / 8.0
    work = divided(s.near, near_sizes(codes))
    if two >= codes[HEADER.bodies]:
        return world_stays(codes, numbers, s.world, s.after, one, two, limit, least, work)
    top = meeting(table(codes, HEADER.parents, codes), a, b)
    return bodies_stay(codes, numbers, s.world, s.after, one, two, top, limit, least, work)


@part
def first_contact(codes, numbers, ways, q, change, margin, slack, looks, insides, s):
    """Return the share of the path that is clear, and the first place that is not: infinity if there is none.

    The record of that pair is the first of `s.records`. NaN instead of a place means that `looks` checks were not
    enough. Pairs among the first `insides` of `s.inside` may be as near as they are there.
    """
    put_reaches(codes, numbers, s.reaches)
    fastest = fastest_approach(codes, numbers, ways, q, change, s.reaches)
    clear, share = 0.0, 0.0
    for _ in range(looks):
        within = margin + slack + min(FAR, fastest * (1.0 - share))
        count = look(codes, numbers, ways, q, change, share, within, s)
        if nearest_below(count, margin, insides, s) >= 0:
            return narrowed(codes, numbers, ways, q, change, margin, clear, share, slack / fastest, insides, s)
        clear = share
        if share >= 1.0 or not fastest > 0.0:
            return 1.0, math.inf
        short, others = safe_stretch(codes, numbers, ways, q, change, count, margin, slack, fastest, insides, s)
        short, others = min(short, 1.0 - share), min(others, 1.0 - share)
        share += longer_stretch(
            codes, numbers, ways, q, change, share, count, margin, slack, insides, (short, others), s
        )
        share = 1.0 if share > 1.0 - ROUNDING else share
    return clear, math.nan


@part
def narrowed(codes, numbers, ways, q, change, margin, clear, share, fine, insides, s):
    """Return where a clear path becomes blocked, by bisection; the pair is the first of the records."""
    for _ in range(BISECTIONS):
        if not share - clear > fine:
            break
        middle = 0.5 * (clear + share)
        count = look(codes, numbers, ways, q, change, middle, margin, s)
        if nearest_below(count, margin, insides, s) >= 0:
            share = middle
        else:
            clear = middle
    count = look(codes, numbers, ways, q, change, share, margin, s)
    guilty = max(nearest_below(count, margin, insides, s), 0)
    for k in range(NEAR.size):
        s.records[k] = s.records[NEAR.size * guilty + k]
    return clear, share


@kernel("i8[] f8[] i8[] f8[,] f8[,] f8 f8 i8 f8[] f8[,] f8[,]", nogil=True)
def sweep_many(codes, numbers, ways, poses, changes, margin, slack, looks, room, shares, records):
    """Sweep from poses (n, nq) along changes (n, columns): write the results of `first_contact`, and the pair there.

    `room` is workspace of `room_size` numbers; a start below the margin is a contact at once.
    """
    scene, constants = cells(codes), cells(numbers)
    s = divided_for(scene, cells(room))
    for k in range(poses.shape[0]):
        q, change = cells(poses[k]), cells(changes[k])
        clear, share = first_contact(scene, constants, cells(ways), q, change, margin, slack, looks, 0, s)
        shares[k, 0], shares[k, 1] = clear, share
        for i in range(NEAR.size):
            records[k, i] = s.records[i]
