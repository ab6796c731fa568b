"""One control cycle of a whole body: move towards its goals within the time available, and report what limits it.

The best pose is searched by descent steps alone within a box around the pose, the distance every joint can travel in
the time. So a body stays on its branch, and approaches over several cycles what it cannot reach in one. The box shrinks
with the errors: before a singular pose, where joints would have to travel far for little, the body slows down.
"""

from __future__ import annotations

import math

from . import kernel, part
from .body_layout import HEADER, slice_scratch
from .body_search import assemble, block_at, block_square, bring_to_rest, evaluate, judge, leave_bounds
from .lanes import beyond, cells
from .layout import Layout

# Squared weighted errors before and after, number of steps; the column that most limits the motion, -1 if none, and its
# bound; the error of each block follows.
CYCLE = Layout("before", "after", "steps", "column", "bound")
NO_BOUND, AT_LIMIT, AT_SPEED, SLOWED = 0, 1, 2, 3
# Largest change of a column in a cycle, and the value that counts as a radian of it; then, for each block, how many
# radians a column may travel in a cycle per unit of error.
RATE = Layout("reach", "radian")
AT_BOUND = 1.0e-9  # [rad, m]: distance below which a column is at its bound
PRESSING = 1.0e-3  # [1/rad, 1/m]: smallest relative gain in squared error that a limiting column must promise
FROM = 1  # index into `SOFTER`: the initial weights of lower levels
ENOUGH = 1.0e-9  # relative gain in squared error below which cycles without a time step end


@part
def find_bound(codes, numbers, aims, rates, error, scratch, q, own):
    """Write the column at a bound that would gain most from moving on, and whether its limit or its speed holds it.

    Speeds take precedence, since more cycles help.
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
    """Write the error of every block."""
    for b in range(codes[HEADER.blocks]):
        out[b] = math.sqrt(block_square(block_at(codes, b), errors))


@part
def calm_travel(codes, rates, errors):
    """Return how many radians a column may travel, given the present errors."""
    each, square = beyond(rates, RATE.size * codes[HEADER.columns]), 0.0
    for b in range(codes[HEADER.blocks]):
        if each[b] < math.inf:
            square += each[b] * each[b] * block_square(block_at(codes, b), errors)
        else:
            return math.inf
    return math.sqrt(square)


@part
def put_box(codes, rates, wide, scratch):
    """Write how far every column may be from its start: `wide` times its reach, but not beyond `calm_travel`."""
    calm = calm_travel(codes, rates, scratch.errors)
    for v in range(codes[HEADER.columns]):
        rate = beyond(rates, RATE.size * v)
        scratch.reach[v] = min(wide * rate[RATE.reach], calm * rate[RATE.radian])


@kernel("i8[] f8[] f8[] f8[] f8[] i8 f8 f8[] f8[] f8[] -> b1")
def step_body(codes, numbers, settings, aims, rates, cycles, leap, memory, out, report):
    """Move the pose in `out` towards goals: every column by at most its reach per cycle, and by `leap` reaches in all.

    Return whether they are reached. It ends early if a cycle brings nothing. `rates` holds RATE for each column, then a
    number for each block. The report is a `CYCLE`, then the error of each block. `memory` is workspace of
    `scratch_size` numbers.
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
