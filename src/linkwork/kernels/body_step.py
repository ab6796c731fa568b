"""One control cycle of a whole body: as near to its goals as joints come in the time there is, and what held them.

A box around the pose, what every joint can travel in the time, is searched for the best pose by steps downhill alone:
so a body stays on its branch, and what it cannot reach in one cycle it approaches over several.
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
NO_BOUND, AT_LIMIT, AT_SPEED = 0, 1, 2
AT_BOUND = 1.0e-9  # [rad, m]: nearer to a bound, a column is at it
PRESSING = 1.0e-3  # [1/rad, 1/m]: what a column in the way would gain of the squared error, at least
FROM = 1  # of `SOFTER`, what lower levels count for more at first
ENOUGH = 1.0e-9  # of the squared error: cycles without time that gain less are the last


@part
def find_bound(codes, numbers, aims, error, scratch, q, own):
    """Write which column at a bound would gain most from going on, and whether its limit or its speed holds it."""
    assemble(codes, numbers, aims, codes[HEADER.levels] - 1, q, scratch)
    leave_bounds(codes, numbers, q, scratch)
    most = PRESSING * error
    for v in range(codes[HEADER.columns]):
        way, room, spare = scratch.gradient[v], scratch.high[v], scratch.reach[v] - scratch.travel[v]
        if way < 0.0:
            room, spare = -scratch.low[v], scratch.reach[v] + scratch.travel[v]
        if room < AT_BOUND and abs(way) > most:
            most = abs(way)
            own[CYCLE.column], own[CYCLE.bound] = v, AT_SPEED if spare < AT_BOUND else AT_LIMIT


@part
def leave_blocks(codes, errors, out):
    """Write how far every block is off."""
    for b in range(codes[HEADER.blocks]):
        out[b] = math.sqrt(block_square(block_at(codes, b), errors))


@part
def go_through_box(codes, numbers, settings, aims, reach, scratch, q):
    """Go to the best pose within reach of every column, level by level; return error, whether reached, and steps."""
    for v in range(codes[HEADER.columns]):
        scratch.reach[v], scratch.travel[v] = reach[v], 0.0
    for k in range(codes[HEADER.values]):
        scratch.began[k] = q[k]
    return bring_to_rest(codes, numbers, settings, aims, FROM, scratch, q)


@kernel
def step_body(codes, numbers, settings, aims, reach, cycles, memory, out, report):
    """Move the pose in `out` towards goals, in each cycle no column by more than its `reach`.

    Return whether they are reached. It ends before its last cycle where one brings nothing. The report is a `CYCLE`,
    then how far each block is off. `memory` has `scratch_size`.
    """
    c, n, s, aim, own, q = cells(codes), cells(numbers), cells(settings), cells(aims), cells(report), cells(out)
    scratch, top, count = slice_scratch(c, cells(memory)), c[HEADER.levels] - 1, 0
    evaluate(c, n, aim, top, q, scratch)
    error, _, reached = judge(c, n, aim, top, math.inf, scratch.errors)
    own[CYCLE.before], own[CYCLE.column], own[CYCLE.bound] = error, -1.0, NO_BOUND
    for _ in range(cycles):
        last = error
        error, reached, steps = go_through_box(c, n, s, aim, cells(reach), scratch, q)
        count += steps
        if reached or not error < (1.0 - ENOUGH) * last:
            break
    own[CYCLE.after], own[CYCLE.steps] = error, count
    leave_blocks(c, scratch.errors, beyond(own, CYCLE.size))
    if not reached:
        find_bound(c, n, aim, error, scratch, q, own)
    return reached
