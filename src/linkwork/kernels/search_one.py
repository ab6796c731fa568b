"""The search for one pose: rounds of eight starts of one goal, side by side in the lanes; the first to arrive wins.

Imports `search` and what stands before it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64
from numpy.typing import NDArray

from . import inner, kernel, part
from .damped import ALIGNED, CODES, FROM, LIMITS, LOWER, NEAR, ROTATION, ROWS, SPIN, TO, UPPER, look
from .joint_step import NUMBERS
from .lanes import beyond, bits, cells, flat, load, store
from .search_many import (
    BEYOND,
    CLOSEST,
    CLOSING,
    FREE,
    INVALID,
    ONE,
    REACHED,
    REPORT,
    UNSOLVED,
    advance,
    keep_best,
    room,
)
from .starts import (
    FIRST_STARTS,
    NARROW,
    RIVALS,
    SETTINGS,
    TABLE,
    WIDE,
    as_limb,
    as_tables,
    hope,
    in_reach,
    put_start,
    read_goal,
    uniform,
)

ALL = (1 << RIVALS) - 1
TARGET = 16  # numbers of a target
GIVEN, AROUND, FRESH, LAST = 0, 1, 2, 3  # what the lanes of a round begin with
NEARBY = 0.02  # how far, for each lane, starts lie from a given one: a share of the range


@part
def put_around(limits, values, seed, given, q):
    """Write a given start into the first lane, and others the further from it the higher the lane."""
    for value in range(values):
        at = LIMITS * value
        room = NEARBY * (load(limits, at + TO) - load(limits, at + FROM))
        for lane in range(RIVALS):
            x = load(given, value) + lane * room * (2.0 * uniform(seed, 0, lane, value) - 1.0)
            store(q, RIVALS * value + lane, min(max(x, load(limits, at + LOWER)), load(limits, at + UPPER)))


@part
def nearest(near, values, given, q):
    """Return which of the lanes that have arrived, given as bits, is nearest to a pose."""
    best, least = 0, math.inf
    for lane in range(RIVALS):
        if (near >> lane) & 1:
            away = 0.0
            for value in range(values):
                d = load(q, RIVALS * value + lane) - load(given, value)
                away += d * d
            if away < least:
                best, least = lane, away
    return best


@part
def first_bit(bits):
    """Return the place of the lowest bit that is set."""
    place = 0
    while (bits >> place) & 1 == 0:
        place += 1
    return place


@part
def glance(limb, rows, lanes):
    """Look at the poses after a step, without taking another; return which have arrived. Their errors are noted."""
    codes, numbers, settings, _ = limb
    goal, _, work, after, _, moved, turned = lanes
    _, _, _, p, r = look(codes, numbers, rows, settings, goal, after, work)
    near = bits((p <= load(settings, NEAR)) & (r <= load(settings, ALIGNED)))
    if near:
        store(moved, 0, p)
        store(turned, 0, r)
    return near


@part
def run_round(limb, rows, values, memory, mode):
    """Step all lanes until one arrives or all have ended; around a given start, until all have.

    `memory` holds lanes: goal, steps, errors, the pose twice (it ends in the first), the work of a step. From a given
    start the way is short: there, poses are looked at after each step. Return which have arrived, and the steps taken.
    """
    q, after, work = beyond(memory, 15), beyond(memory, 15 + values), beyond(memory, 15 + 2 * values)
    lanes = (memory, q, work, after, beyond(memory, 12), beyond(memory, 13), beyond(memory, 14))
    over, taken = 0, 0
    while True:
        ended, near = advance(limb, rows, values, lanes)
        over |= ended
        if (near and mode != AROUND) or over == ALL:
            return near, taken
        taken += 1
        if mode == GIVEN:
            near = glance(limb, rows, lanes)
        for value in range(values):
            store(q, value, load(after, value))
        if mode == GIVEN and near:
            return near, taken


@part
def fill_round(limb, tables, values, mode, seed, begun, goal, best, out, q):
    """Write the starts of a round into the lanes of `q`."""
    if mode == AROUND:
        put_around(limb[3], values, seed, out, q)
        return
    for lane in range(RIVALS):
        if mode == FRESH:
            put_start(limb, values, tables, goal, 0, seed, 0, begun + lane, q, lane, RIVALS)
            continue
        for value in range(values):
            x = load(out, value) if mode == GIVEN else load(best, 3 + value)
            lower, upper = load(limb[3], LIMITS * value + LOWER), load(limb[3], LIMITS * value + UPPER)
            store(q, RIVALS * value + lane, min(max(x, lower), upper))


@inner
def rows_of(rows, values):
    """Return how many rows of eight the numbers of a limb take, and how many its tables."""
    numbers = SETTINGS + LIMITS * values + ROWS + NUMBERS * rows
    frames = NARROW + WIDE
    return (numbers + RIVALS - 1) // RIVALS, (TABLE * frames + values * frames + RIVALS - 1) // RIVALS


@kernel
def race_one(codes, packed, target, seed, tries, given, out):
    """Search for one target (4, 4); write the pose, its errors, the starts and the steps into `out`.

    `packed` holds all that is needed, eight numbers a row: the limb's numbers, its tables, and room to work in; see
    `pack`. `out` has room for the answer (values), its report (REPORT), a start (values), where one is `given`, and the
    target, which is copied there. The start is followed first, and of the answers around it the nearest is taken.
    Return how it ended; UNSOLVED where the start is not finite.
    """
    rows, values = codes.size // CODES, (out.size - REPORT - TARGET) // 2
    head, middle = rows_of(rows, values)
    memory, lanes = beyond(cells(packed), head + middle), beyond(flat(packed), (head + middle) * RIVALS)
    free, table = 15 + 2 * values + 6 * rows, beyond(flat(packed), head * RIVALS)
    limb = as_limb(cells(codes), flat(packed), values)
    tables = as_tables(beyond(cells(packed), head), table, beyond(memory, free), beyond(lanes, free * RIVALS))
    books, cell, begin_at = beyond(lanes, (free + 2) * RIVALS), cells(out), beyond(cells(out), values + REPORT)
    one, best = beyond(books, ONE), beyond(books, FREE)
    q, settings = beyond(lanes, 15 * RIVALS), limb[2]
    if not read_goal(limb[1], load(settings, SPIN), flat(target), 0, one):
        return INVALID
    for value in range(values if given else 0):
        if load(begin_at, value) - load(begin_at, value) != 0.0:
            return UNSOLVED
    for k in range(TARGET):
        store(begin_at, values + k, load(flat(target), k))
    for k in range(12):
        store(memory, k, load(one, k))
    possible = in_reach(settings, one)
    allowed = min(FIRST_STARTS, tries) if possible else 1
    begun, total, near, winner, mode = 0, 0, 0, 0, GIVEN if given else FRESH
    store(best, 0, math.inf)
    while True:
        store(memory, 12, -CLOSING if mode == LAST else 0.0)
        fill_round(limb, tables, values, mode, seed, begun, one, best, begin_at, q)
        near, taken = run_round(limb, rows, values, memory, mode)
        total += taken
        if near:
            store(best, 0, math.inf)
            winner = nearest(near, values, begin_at, q) if mode == AROUND else first_bit(near)
        for lane in range(RIVALS):
            if not near or lane == winner:
                p, r = load(lanes, 13 * RIVALS + lane), load(lanes, 14 * RIVALS + lane)
                keep_best(lane, RIVALS, values, p, r, load(settings, ROTATION), q, best, 0)
        if mode == FRESH:
            begun += RIVALS
        if mode == LAST and possible:
            allowed = hope(settings, load(best, 0), tries)
        if near or (mode == LAST and begun >= allowed):
            break
        mode = AROUND if mode == GIVEN else FRESH if begun < allowed else LAST
    for value in range(values):
        store(cell, value, load(best, 3 + value))
    for k, x in ((0, load(best, 1)), (1, load(best, 2)), (2, float64(begun)), (3, float64(total))):
        store(cell, values + k, x)
    return REACHED if near else CLOSEST if possible else BEYOND


def pack(numbers: NDArray[np.float64], table: NDArray[np.float64], rows: int, values: int) -> NDArray[np.float64]:
    """Return what `race_one` reads and works in, from a limb's numbers (settings and limits first) and its tables."""
    head = np.zeros((-(-numbers.size // RIVALS), RIVALS))
    head.reshape(-1)[: numbers.size] = numbers
    (lanes, _), books, _ = room(rows, values, RIVALS)
    return np.concatenate([head, table, np.zeros((lanes + -(-books // RIVALS), RIVALS))])
