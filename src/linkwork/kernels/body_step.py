"""One control cycle of a whole body: as near to its goals as joints come in the time there is, and what held them.

A box around the pose, what every joint can travel in the time, is searched for the best pose by steps downhill alone:
so a body stays on its branch, and what it cannot reach in one cycle it approaches over several. The box is small where
the errors are: before a singular pose, where joints would have to travel far for little, the body slows down.
"""

from __future__ import annotations

import math

from . import kernel, part
from .body_layout import HEADER, slice_scratch
from .body_search import assemble, block_at, block_square, bring_to_rest, evaluate, judge, leave_bounds
from .lanes import beyond, cells
from .layout import Layout

# Squared weighted errors before and after, steps; the column that is most in the way, -1 if none, and which bound it is
# at; then follows how far each block is off.
CYCLE = Layout("before", "after", "steps", "column", "bound")
NO_BOUND, AT_LIMIT, AT_SPEED, SLOWED = 0, 1, 2, 3
# How far a column comes in a cycle, and what counts as a radian of it; then, for each block, how many radians a column
# may travel in a cycle for each unit that it is off.
RATE = Layout("reach", "radian")
AT_BOUND = 1.0e-9  # [rad, m]: nearer to a bound, a column is at it
PRESSING = 1.0e-3  # [1/rad, 1/m]: what a column in the way would gain of the squared error, at least
FROM = 1  # of `SOFTER`, what lower levels count for more at first
ENOUGH = 1.0e-9  # of the squared error: cycles without time that gain less are the last


@part
def find_bound(codes, numbers, aims, rates, error, scratch, q, own):
    """Write which column at a bound would gain most from going on, and whether its limit or its speed holds it.

    Speeds come first, since more cycles help.
    """
    assemble(codes, numbers, aims, codes[HEADER.levels] - 1, q, scratch)
    leave_bounds(codes, numbers, q, scratch)
    least, most = PRESSING * error, 0.0
    for v in range(codes[HEADER.columns]):
        way, room, spare = scratch.gradient[v], scratch.high[v], scratch.reach[v] - scratch.travel[v]
        if way < 0.0:
            room, spare = -scratch.low[v], scratch.reach[v] + scratch.travel[v]
        if not room < AT_BOUND or not abs(way) > least:
            continue
        kind = AT_LIMIT
        if spare < AT_BOUND:
            kind = SLOWED if scratch.reach[v] < rates[RATE.size * v + RATE.reach] else AT_SPEED
        first = kind > AT_LIMIT and own[CYCLE.bound] <= AT_LIMIT
        if first or (abs(way) > most and (kind > AT_LIMIT or own[CYCLE.bound] <= AT_LIMIT)):
            most = abs(way)
            own[CYCLE.column], own[CYCLE.bound] = v, kind


@part
def leave_blocks(codes, errors, out):
    """Write how far every block is off."""
    for b in range(codes[HEADER.blocks]):
        out[b] = math.sqrt(block_square(block_at(codes, b), errors))


@part
def calm_travel(codes, rates, errors):
    """Return how many radians a column may travel for the sake of errors."""
    each, square = beyond(rates, RATE.size * codes[HEADER.columns]), 0.0
    for b in range(codes[HEADER.blocks]):
        if each[b] < math.inf:
            square += each[b] * each[b] * block_square(block_at(codes, b), errors)
        else:
            return math.inf
    return math.sqrt(square)


@part
def put_box(codes, rates, wide, scratch):
    """Write how far every column may be from where it began: so many times its reach, and no further than is calm."""
    calm = calm_travel(codes, rates, scratch.errors)
    for v in range(codes[HEADER.columns]):
        rate = beyond(rates, RATE.size * v)
        scratch.reach[v] = min(wide * rate[RATE.reach], calm * rate[RATE.radian])


@kernel("i8[] f8[] f8[] f8[] f8[] i8 f8 f8[] f8[] f8[] -> b1")
def step_body(codes, numbers, settings, aims, rates, cycles, leap, memory, out, report):
    """Move the pose in `out` towards goals: in each cycle every column by its reach at most, in all by `leap` of them.

    Return whether they are reached. It ends before its last cycle where one brings nothing. `rates` holds RATE for each
    column, then a number for each block. The report is a `CYCLE`, then how far each block is off. `memory` has
    `scratch_size`.
    """
    c, n, s, aim, own, q = cells(codes), cells(numbers), cells(settings), cells(aims), cells(report), cells(out)
    scratch, top, count, rate = slice_scratch(c, cells(memory)), c[HEADER.levels] - 1, 0, cells(rates)
    for v in range(c[HEADER.columns]):
        scratch.travel[v] = 0.0
    for k in range(c[HEADER.values]):
        scratch.began[k] = q[k]
    evaluate(c, n, aim, top, q, scratch)
    error, _, reached = judge(c, n, aim, top, math.inf, scratch.errors)
    own[CYCLE.before], own[CYCLE.column], own[CYCLE.bound] = error, -1.0, NO_BOUND
    for cycle in range(cycles):
        last = error
        put_box(c, rate, min(cycle + 1.0, leap), scratch)
        error, reached, steps = bring_to_rest(c, n, s, aim, FROM, scratch, q)
        count += steps
        if reached or (cycle + 1.0 >= leap and not error < (1.0 - ENOUGH) * last):
            break
    own[CYCLE.after], own[CYCLE.steps] = error, count
    leave_blocks(c, scratch.errors, beyond(own, CYCLE.size))
    if not reached:
        find_bound(c, n, aim, rate, error, scratch, q, own)
    return reached
