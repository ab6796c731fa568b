"""The search for one pose: rounds of eight starts for one goal, in parallel lanes; the first to arrive wins.

The arrays are laid out in `chain_memory`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .aim import aim, aim_room, travels
from .chain_memory import BEST, CODE, ENDS, FRAME, FRAMES, LIMITS, REPORT, SETTINGS, Tables, chain_of, lane_sizes
from .damped import tip_error, turned_back, within
from .joint_step import ROW_NUMBERS, TRANSFORM
from .lanes import beyond, bits, cells, divided, flat, load, store
from .search_many import (
    BEYOND,
    CLOSEST,
    CLOSING,
    INVALID,
    REACHED,
    UNSOLVED,
    advance,
    keep_best,
    turn_back,
    write_best,
)
from .starts import FIRST_STARTS, TABLE_STARTS, in_reach, put_start, read_goal, starts_worth_trying, uniform

WIDTH = TABLE_STARTS  # lanes: one round runs the starts of one table
ALL = (1 << WIDTH) - 1
GIVEN, AROUND, NEW, BEST_MET = 0, 1, 2, 3  # what the lanes of a round start from
NEARBY = 0.02  # spread of starts around a given one, per lane: a share of the range


@part
def put_around(limits, values, seed, given, q):
    """Write a given start into the first lane, and random starts around it into the others, with growing distance."""
    for value in range(values):
        at = LIMITS.size * value
        room = NEARBY * (load(limits, at + LIMITS.start_high) - load(limits, at + LIMITS.start_low))
        for lane in range(WIDTH):
            x = load(given, value) + lane * room * (2.0 * uniform(seed, 0, lane, value) - 1.0)
            store(q, WIDTH * value + lane, within(limits, value, x))


@part
def nearest(near, limits, values, given, q):
    """Return which of the arrived lanes, given as bits, is nearest to a pose, up to whole turns."""
    best, least = 0, math.inf
    for lane in range(WIDTH):
        if (near >> lane) & 1:
            away = 0.0
            for value in range(values):
                start = load(given, value)
                d = turned_back(limits, value, load(q, WIDTH * value + lane), start) - start
                away += d * d
            if away < least:
                best, least = lane, away
    return best


@part
def first_bit(bits):
    """Return the position of the lowest set bit."""
    place = 0
    while (bits >> place) & 1 == 0:
        place += 1
    return place


@part
def arrived_after(chain, rows, lanes):
    """Return as bits which lanes have arrived after a step, without taking another; if any, store their errors."""
    codes, numbers, settings, _ = chain
    goal, _, moved, turned, _, after, work, _ = lanes
    _, _, _, p, r = tip_error(codes, numbers, rows, settings, goal, after, work)
    near = bits((p <= load(settings, SETTINGS.near)) & (r <= load(settings, SETTINGS.aligned)))
    if near:
        store(moved, 0, p)
        store(turned, 0, r)
    return near


@part
def run_round(chain, rows, values, lanes, mode):
    """Step all lanes until one arrives or all have ended; in the mode AROUND, until all have ended.

    Final poses are in `q`. From a given start few steps are needed, so in the mode GIVEN the pose is also checked right
    after each step. Return the lanes that have arrived, as bits, and the number of steps.
    """
    over, taken = 0, 0
    while True:
        ended, near = advance(chain, rows, values, lanes)
        over |= ended
        if (near and mode != AROUND) or over == ALL:
            return near, taken
        taken += 1
        if mode == GIVEN:
            near = arrived_after(chain, rows, lanes)
        for value in range(values):
            store(lanes.q, value, load(lanes.after, value))
        if mode == GIVEN and near:
            return near, taken


@part
def fill_round(chain, tables, values, mode, seed, begun, goal, best, out, q):
    """Write the starts of a round into the lanes of `q`."""
    if mode == AROUND:
        put_around(chain.limits, values, seed, out, q)
        return
    for lane in range(WIDTH):
        if mode == NEW:
            put_start(chain, values, tables, goal, 0, seed, 0, begun + lane, q, lane, WIDTH)
            continue
        for value in range(values):
            x = load(out, value) if mode == GIVEN else load(best, BEST.size + value)
            store(q, WIDTH * value + lane, within(chain.limits, value, x))


@part
def aim_round(chain, rows, values, mode, goal, room, q):
    """Move the bases of all starts towards the goal."""
    for lane in range(WIDTH):
        aim(chain, rows, values, goal, mode != NEW, room, q, lane, WIDTH)


@inner
def tables_place(rows, values):
    """Return where the tables begin in the array made by `pack`, in rows of eight."""
    return (SETTINGS.size + LIMITS.size * values + ENDS.size + ROW_NUMBERS.size * rows + WIDTH - 1) // WIDTH


@inner
def answer_places(values):
    """Return the offsets of the report, the start and the target in an answer, and its size; the pose comes first."""
    start = values + REPORT.size
    return values, start, start + values, start + values + 16


@part
def keep_goal(target, one, kept, goals):
    """Copy the target into the answer, and the goal into all lanes."""
    for k in range(16):
        store(kept, k, load(target, k))
    for k in range(TRANSFORM.size):
        store(goals, k, load(one, k))


@kernel("i8[] f8[,] f8[,] f8[,] i8 i8 b1 f8[] -> i8")
def search_one(codes, packed, room, target, seed, tries, given, out):
    """Search for one target (4, 4); write the pose, its errors, and the numbers of starts and steps into `out`.

    `packed` holds the chain, its settings and tables, eight numbers a row, see `pack`; `room` is workspace, see
    `Answer`; `out` is laid out by `answer_places`. If `given`, a start is read from `out`; the target is copied there.
    A given start is tried first, then starts around it, of whose solutions the nearest to it is taken. Return the
    status; UNSOLVED if the start is not finite.
    """
    rows, values = codes.size // CODE.size, (out.size - REPORT.size - 16) // 2
    to_tables = tables_place(rows, values)
    to_report, to_start, to_target, _ = answer_places(values)
    lanes = divided(cells(room), lane_sizes(rows, values, 1))
    _, _, moved, turned, q, _, _, scores = divided(flat(room), lane_sizes(rows, values, WIDTH))
    chain, cell = chain_of(cells(codes), flat(packed), values), cells(out)
    poses = beyond(flat(packed), to_tables * WIDTH + FRAME.size * FRAMES)
    tables = Tables(beyond(cells(packed), to_tables), poses, lanes.ranks, scores)
    best = beyond(scores, 2 * WIDTH)
    one, begin_at, settings = beyond(best, BEST.size + values), beyond(cell, to_start), chain.settings
    if not read_goal(chain.numbers, load(settings, SETTINGS.spin), flat(target), 0, one):
        return INVALID
    for value in range(values if given else 0):
        if load(begin_at, value) - load(begin_at, value) != 0.0:
            return UNSOLVED
    keep_goal(flat(target), one, beyond(cell, to_target), lanes.goal)
    possible = in_reach(settings, one)
    allowed = min(FIRST_STARTS, tries) if possible else 1
    begun, total, near, winner, mode = 0, 0, 0, 0, GIVEN if given else NEW
    store(best, BEST.error, math.inf)
    while True:
        store(lanes.steps, 0, -CLOSING if mode == BEST_MET else 0.0)
        fill_round(chain, tables, values, mode, seed, begun, one, best, begin_at, q)
        if travels(settings) and mode != BEST_MET:
            aim_round(chain, rows, values, mode, one, beyond(one, TRANSFORM.size), q)
        near, taken = run_round(chain, rows, values, lanes, mode)
        total += taken
        if near:
            store(best, BEST.error, math.inf)
            winner = nearest(near, chain.limits, values, begin_at, q) if mode == AROUND else first_bit(near)
        for lane in range(WIDTH):
            if not near or lane == winner:
                p, r = load(moved, lane), load(turned, lane)
                keep_best(lane, WIDTH, values, p, r, load(settings, SETTINGS.rotation_weight), q, best)
        if mode == NEW:
            begun += WIDTH
        if mode == BEST_MET and possible:
            allowed = starts_worth_trying(settings, load(best, BEST.error), tries)
        if near or (mode == BEST_MET and begun >= allowed):
            break
        mode = AROUND if mode == GIVEN else NEW if begun < allowed else BEST_MET
    write_best(values, best, begun, total, cell, beyond(cell, to_report))
    if given:
        turn_back(chain.limits, values, begin_at, cell)
    return REACHED if near else CLOSEST if possible else BEYOND


def pack(numbers: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the array that `search_one` reads, from settings, limits and chain, and the table of `search_table`."""
    head = np.zeros((-(-numbers.size // WIDTH), WIDTH))
    head.reshape(-1)[: numbers.size] = numbers
    return np.concatenate([head, table])


class Answer:
    """Sizes of the arrays of `search_one` for a chain, and the parts of an answer.

    Args:
        rows: Number of rows of the chain.
        values: Number of values that drive them.

    Attributes:
        size: Number of items of an answer.
        room: Shape of the workspace.
        start: Slice of an answer for a given start.
    """

    def __init__(self, rows: int, values: int) -> None:
        report, start, target, self.size = answer_places.py_func(values)
        kept = BEST.size + values + TRANSFORM.size + aim_room.py_func(rows, values)  # the best pose and the goal
        self.room = (sum(lane_sizes.py_func(rows, values, 1)) + 2 + -(-kept // WIDTH), WIDTH)
        self.values, self.report = slice(0, values), slice(report, start)
        self.start, self.target = slice(start, target), slice(target, self.size)
