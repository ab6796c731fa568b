"""Closed loops at a pose: the gaps between their frames, and how every joint changes them.

The tree, its motions and the loops are stored in the arrays of a body (`body_layout`), with a `PLACE` goal for each
loop. Gaps and rows are relative to the size of the mechanism: metres are divided by it, radians are unchanged.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .body_layout import HEADER, table
from .body_state import clear, direction, origin, sweep_body
from .goal_layout import AIM, ANY_SPIN, GOAL, ROTATION_ROWS
from .goal_rows import turn_onto
from .lanes import all_flat, beyond, divided, flat
from .pose_error import turn_between
from .rotations import cross, dot, minus, place, plus, times, vector

UPRIGHT = (0.0, 0.0, 1.0)  # the axis that loops with a free spin align

Loops = namedtuple(
    "Loops",
    (
        "codes",  # of the body
        "numbers",
        "aims",  # of its goals
        "used",  # of each gap: its row among those that some joint changes, or -1
        "units",  # of each column: its unit in radians or metres
        "tolerances",  # of each gap: largest value that counts as closed
        "free",  # dependent columns
    ),
)
LOOPS = "Loops(i8[] f8[] f8[] i8[] f8[] f8[] i8[])"  # in the signature of a kernel


@inner
def loop_at(codes, k):
    """Return the codes of a loop."""
    return beyond(table(codes, HEADER.goal_codes, codes), GOAL.size * k)


@part
def leave_gaps(loops, q, desk, gaps):
    """Sweep the tree at a pose and write all gaps [m, rad]; return the largest, relative to the mechanism's size."""
    codes, world, most = loops.codes, desk.world, 0.0
    sweep_body(codes, loops.numbers, q, world, desk.twists, desk.work)
    for k in range(codes[HEADER.goals]):
        loop = loop_at(codes, k)
        first, second, mask = loop[GOAL.frame], loop[GOAL.other], loop[GOAL.mask]
        aim, own = beyond(loops.aims, loop[GOAL.number]), beyond(gaps, loop[GOAL.error])
        place(minus(origin(world, second), origin(world, first)), own, 0)
        for i in range(3):
            most = max(most, aim[AIM.metres] * abs(own[i]))
        if mask & ROTATION_ROWS:
            if mask & ANY_SPIN:
                turn = turn_onto(direction(world, first, UPRIGHT), direction(world, second, UPRIGHT))
            else:
                turn = turn_between(beyond(world, 16 * first), beyond(world, 16 * second), 4)
            place(turn, own, 1)
            for i in range(3, 6):
                most = max(most, aim[AIM.radians] * abs(own[i]))
    return most


@part
def are_closed(loops, gaps):
    """Return whether all gaps are within their tolerances."""
    closed = True
    for i in range(loops.codes[HEADER.errors]):
        closed &= abs(gaps[i]) <= loops.tolerances[i]
    return closed


@part
def leave_used(loops, gaps, out):
    """Write the gaps that some joint changes, relative to the mechanism's size."""
    codes = loops.codes
    for k in range(codes[HEADER.goals]):
        loop = loop_at(codes, k)
        aim, at = beyond(loops.aims, loop[GOAL.number]), loop[GOAL.error]
        for i in range(6 if loop[GOAL.mask] & ROTATION_ROWS else 3):
            row = loops.used[at + i]
            if row >= 0:
                out[row] = gaps[at + i] * (aim[AIM.metres] if i < 3 else aim[AIM.radians])


@part
def leave_rows(loops, count, desk, out):
    """Write the rows (count, columns) by which velocities close the gaps, at the pose swept last."""
    codes = loops.codes
    clear(out, count * codes[HEADER.columns])
    for k in range(codes[HEADER.goals]):
        loop = loop_at(codes, k)
        add_end(loops, loop, loop[GOAL.frame], 1.0, desk, out)
        add_end(loops, loop, loop[GOAL.other], -1.0, desk, out)


@part
def add_end(loops, loop, frame, sign, desk, out):
    """Add the motion of one of a loop's frames due to every joint above it."""
    codes, mask, at = loops.codes, loop[GOAL.mask], loop[GOAL.error]
    rates, before = table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    aim, here, n = beyond(loops.aims, loop[GOAL.number]), origin(desk.world, frame), codes[HEADER.columns]
    axis = direction(desk.world, loop[GOAL.frame], UPRIGHT)
    motion = table(codes, HEADER.last, codes)[frame]
    while motion >= 0:
        column = rates[motion]
        turn, slide = vector(desk.twists, 2 * motion), vector(desk.twists, 2 * motion + 1)
        share = sign * loops.units[column]
        add_three(loops.used, at, times(share * aim[AIM.metres], plus(slide, cross(turn, here))), out, n, column)
        if mask & ROTATION_ROWS:
            if mask & ANY_SPIN:
                turn = minus(turn, times(dot(turn, axis), axis))
            add_three(loops.used, at + 3, times(share * aim[AIM.radians], turn), out, n, column)
        motion = before[motion]


@inner
def add_three(used, at, v, out, n, column):
    """Add a vector to the rows of three gaps, as far as these are used."""
    if used[at] >= 0:
        out[n * used[at] + column] += v[0]
    if used[at + 1] >= 0:
        out[n * used[at + 1] + column] += v[1]
    if used[at + 2] >= 0:
        out[n * used[at + 2] + column] += v[2]


@part
def leave_closure(loops, m, n, desk):
    """Write the rows of the closure, and their dependent columns, at the pose swept last."""
    c = loops.codes[HEADER.columns]
    leave_rows(loops, m, desk, desk.rows)
    for i in range(m):
        for j in range(n):
            desk.matrix[n * i + j] = desk.rows[c * i + loops.free[j]]


@part
def put_change(loops, n, step, desk):
    """Write a change of all columns in radians and metres: a step of the dependent ones, zero for the others."""
    clear(desk.change, loops.codes[HEADER.columns])
    for j in range(n):
        desk.change[loops.free[j]] = step[j] * loops.units[loops.free[j]]


@part
def copy(numbers, count, out):
    """Copy numbers."""
    for k in range(count):
        out[k] = numbers[k]


@inner
def largest(numbers, count):
    """Return the largest absolute value of some numbers."""
    most = 0.0
    for k in range(count):
        most = max(most, abs(numbers[k]))
    return most


Sweep = namedtuple("Sweep", "world twists work")  # workspace of measuring


@inner
def sweep_sizes(codes):
    """Return the sizes of the workspace for measuring."""
    return Sweep(16 * codes[HEADER.frames], 6 * codes[HEADER.motions], 12)


def sweep_size(codes: NDArray[np.int64]) -> int:
    """Return the size of the workspace for measuring, in numbers."""
    return int(sum(sweep_sizes.py_func(codes)))


@kernel(f"{LOOPS} f8[] f8[,] f8[,] f8[,,]", nogil=True)
def measure_loops(loops, memory, q, gaps, rows):
    """Write the gaps (n, gaps) at poses (n, nq) [m, rad], and rows (n, rows, columns) of the closure unless empty."""
    own, count = all_flat(loops), rows.shape[1] * rows.shape[2]
    desk = divided(flat(memory), sweep_sizes(own.codes))
    for i in range(q.shape[0]):
        leave_gaps(own, beyond(flat(q), q.shape[1] * i), desk, beyond(flat(gaps), gaps.shape[1] * i))
        if rows.shape[0] > 0:
            leave_rows(own, rows.shape[1], desk, beyond(flat(rows), count * i))
