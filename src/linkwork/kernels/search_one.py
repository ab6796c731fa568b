"""The search for one pose: rounds of eight starts of one goal, side by side in the lanes; the first to arrive wins.

`chain_memory` says what stands in the arrays.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64
from numpy.typing import NDArray

from . import inner, kernel, part
from .chain_memory import (
    AT_ALIGNED,
    AT_BEST_ERROR,
    AT_BEST_POSE,
    AT_BEST_POSITION,
    AT_BEST_ROTATION,
    AT_NEAR,
    AT_POSITION_ERROR,
    AT_ROTATION_ERROR,
    AT_ROTATION_WEIGHT,
    AT_ROWS,
    AT_SPIN,
    AT_START_HIGH,
    AT_START_LOW,
    AT_STARTS,
    AT_STEPS,
    CODES,
    FRAMES,
    LIMITS_SIZE,
    REPORT_SIZE,
    SETTINGS_SIZE,
    TABLE_SIZE,
    TRANSFORM_SIZE,
    chain_of,
    lane_places,
    tables_of,
)
from .damped import bounds, tip_error
from .joint_step import NUMBERS
from .lanes import beyond, bits, cells, flat, load, store
from .search_many import BEYOND, CLOSEST, CLOSING, INVALID, REACHED, UNSOLVED, advance, keep_best
from .starts import FIRST_STARTS, RIVALS, in_reach, put_start, read_goal, starts_worth_trying, uniform

ALL = (1 << RIVALS) - 1
GIVEN, AROUND, FRESH, LAST = 0, 1, 2, 3  # what the lanes of a round begin with
NEARBY = 0.02  # how far, for each lane, starts lie from a given one: a share of the range


@part
def put_around(limits, values, seed, given, q):
    """Write a given start into the first lane, and others the further from it the higher the lane."""
    for value in range(values):
        at = LIMITS_SIZE * value
        room = NEARBY * (load(limits, at + AT_START_HIGH) - load(limits, at + AT_START_LOW))
        lower, upper = bounds(limits, value)
        for lane in range(RIVALS):
            x = load(given, value) + lane * room * (2.0 * uniform(seed, 0, lane, value) - 1.0)
            store(q, RIVALS * value + lane, min(max(x, lower), upper))


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
def arrived_after(chain, rows, lanes):
    """Return which lanes have arrived after a step, as bits, without taking another; then their errors are noted."""
    codes, numbers, settings, _ = chain
    goal, _, work, after, _, moved, turned = lanes
    _, _, _, p, r = tip_error(codes, numbers, rows, settings, goal, after, work)
    near = bits((p <= load(settings, AT_NEAR)) & (r <= load(settings, AT_ALIGNED)))
    if near:
        store(moved, 0, p)
        store(turned, 0, r)
    return near


@part
def run_round(chain, rows, values, memory, mode):
    """Step all lanes until one arrives or all have ended; around a given start, until all have.

    `memory` holds lanes as `lane_places` has them; poses end in the first. From a given start the way is short: there,
    poses are looked at after each step. Return which have arrived, and the steps taken.
    """
    to_steps, to_moved, to_turned, to_q, to_after, to_work, _ = lane_places(rows, values)
    q, after, work = beyond(memory, to_q), beyond(memory, to_after), beyond(memory, to_work)
    lanes = (memory, q, work, after, beyond(memory, to_steps), beyond(memory, to_moved), beyond(memory, to_turned))
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
            store(q, value, load(after, value))
        if mode == GIVEN and near:
            return near, taken


@part
def fill_round(chain, tables, values, mode, seed, begun, goal, best, out, q):
    """Write the starts of a round into the lanes of `q`."""
    if mode == AROUND:
        put_around(chain[3], values, seed, out, q)
        return
    for lane in range(RIVALS):
        if mode == FRESH:
            put_start(chain, values, tables, goal, 0, seed, 0, begun + lane, q, lane, RIVALS)
            continue
        for value in range(values):
            x = load(out, value) if mode == GIVEN else load(best, AT_BEST_POSE + value)
            lower, upper = bounds(chain[3], value)
            store(q, RIVALS * value + lane, min(max(x, lower), upper))


@inner
def packed_places(rows, values):
    """Return where the tables begin in what `pack` makes, and its size, in rows of eight."""
    numbers = SETTINGS_SIZE + LIMITS_SIZE * values + AT_ROWS + NUMBERS * rows
    tables = (numbers + RIVALS - 1) // RIVALS
    return tables, tables + (TABLE_SIZE * FRAMES + values * FRAMES + RIVALS - 1) // RIVALS


@inner
def room_places(ranks, values):
    """Return where the best pose and the goal begin in the room, and its size, in rows of eight.

    Before them stand the lanes, whose ranks, two rows, begin at `ranks`; see `lane_places`.
    """
    goal = ranks + 2 + (AT_BEST_POSE + values + RIVALS - 1) // RIVALS
    return ranks + 2, goal, goal + (TRANSFORM_SIZE + RIVALS - 1) // RIVALS


@inner
def answer_places(values):
    """Return where the report, the start and the target begin in an answer, and its size; the pose is first."""
    start = values + REPORT_SIZE
    return values, start, start + values, start + values + 16


@part
def keep_goal(target, one, kept, memory):
    """Copy the target into the answer, and the goal into all lanes."""
    for k in range(16):
        store(kept, k, load(target, k))
    for k in range(TRANSFORM_SIZE):
        store(memory, k, load(one, k))


@part
def write_answer(values, to_report, begun, total, best, cell):
    """Write the best pose and its report."""
    for value in range(values):
        store(cell, value, load(best, AT_BEST_POSE + value))
    store(cell, to_report + AT_POSITION_ERROR, load(best, AT_BEST_POSITION))
    store(cell, to_report + AT_ROTATION_ERROR, load(best, AT_BEST_ROTATION))
    store(cell, to_report + AT_STARTS, float64(begun))
    store(cell, to_report + AT_STEPS, float64(total))


@kernel
def search_one(codes, packed, room, target, seed, tries, given, out):
    """Search for one target (4, 4); write the pose, its errors, the starts and the steps into `out`.

    `packed` holds all that is known, eight numbers a row, see `pack`; `room` is to work in, see `room_places`; `out` is
    laid out by `answer_places`: where a start is `given`, it stands there; the target is copied there. The start is
    followed first, and of the answers around it the nearest is taken. Return how it ended; UNSOLVED where the start is
    not finite.
    """
    rows, values = codes.size // CODES, (out.size - REPORT_SIZE - 16) // 2
    to_tables, _ = packed_places(rows, values)
    to_steps, to_moved, to_turned, to_q, _, _, to_ranks = lane_places(rows, values)
    to_best, to_goal, _ = room_places(to_ranks, values)
    to_report, to_start, to_target, _ = answer_places(values)
    memory, lanes, cell = cells(room), flat(room), cells(out)
    chain = chain_of(cells(codes), flat(packed), values)
    frames, poses = beyond(cells(packed), to_tables), beyond(flat(packed), to_tables * RIVALS)
    tables = tables_of(frames, poses, beyond(memory, to_ranks), beyond(lanes, to_ranks * RIVALS))
    best, one, q = beyond(lanes, to_best * RIVALS), beyond(lanes, to_goal * RIVALS), beyond(lanes, to_q * RIVALS)
    begin_at, settings = beyond(cell, to_start), chain[2]
    if not read_goal(chain[1], load(settings, AT_SPIN), flat(target), 0, one):
        return INVALID
    for value in range(values if given else 0):
        if load(begin_at, value) - load(begin_at, value) != 0.0:
            return UNSOLVED
    keep_goal(flat(target), one, beyond(cell, to_target), memory)
    possible = in_reach(settings, one)
    allowed = min(FIRST_STARTS, tries) if possible else 1
    begun, total, near, winner, mode = 0, 0, 0, 0, GIVEN if given else FRESH
    store(best, AT_BEST_ERROR, math.inf)
    while True:
        store(memory, to_steps, -CLOSING if mode == LAST else 0.0)
        fill_round(chain, tables, values, mode, seed, begun, one, best, begin_at, q)
        near, taken = run_round(chain, rows, values, memory, mode)
        total += taken
        if near:
            store(best, AT_BEST_ERROR, math.inf)
            winner = nearest(near, values, begin_at, q) if mode == AROUND else first_bit(near)
        for lane in range(RIVALS):
            if not near or lane == winner:
                p, r = load(lanes, to_moved * RIVALS + lane), load(lanes, to_turned * RIVALS + lane)
                keep_best(lane, RIVALS, values, p, r, load(settings, AT_ROTATION_WEIGHT), q, best, 0)
        if mode == FRESH:
            begun += RIVALS
        if mode == LAST and possible:
            allowed = starts_worth_trying(settings, load(best, AT_BEST_ERROR), tries)
        if near or (mode == LAST and begun >= allowed):
            break
        mode = AROUND if mode == GIVEN else FRESH if begun < allowed else LAST
    write_answer(values, to_report, begun, total, best, cell)
    return REACHED if near else CLOSEST if possible else BEYOND


def pack(numbers: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `search_one` reads, from what `chain_memory.search_numbers` and `search_table` make."""
    head = np.zeros((-(-numbers.size // RIVALS), RIVALS))
    head.reshape(-1)[: numbers.size] = numbers
    return np.concatenate([head, table])


class Answer:
    """How large the arrays of `search_one` are for a chain, and the parts of an answer.

    Args:
        rows: Rows of the chain.
        values: Values that drive them.

    Attributes:
        size: Numbers of an answer.
        room: Shape of the room to work in.
        start: Where a start is given.
    """

    def __init__(self, rows: int, values: int) -> None:
        report, start, target, self.size = answer_places.py_func(values)
        *_, ranks = lane_places.py_func(rows, values)
        self.room = (room_places.py_func(ranks, values)[-1], RIVALS)
        self.values, self.report = slice(0, values), slice(report, start)
        self.start, self.target = slice(start, target), slice(target, self.size)
