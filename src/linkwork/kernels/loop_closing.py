"""Close loops from arbitrary poses by damped steps, for many starts; `assemble` finds assembly modes with it.

The step is ``A^T (A A^T + d)^-1 gaps`` with a damping that fades with the squared gaps, so it converges like Newton's
method. Joints that push against a limit are left out.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .body_layout import HEADER, table
from .body_state import move
from .dense import eliminate, product, put_rows_squared, put_transposed
from .lanes import all_flat, beyond, divided, flat
from .layout import Layout
from .loop_rows import (
    LOOPS,
    Loops,  # noqa: F401 -- in LOOPS
    are_closed,
    copy,
    largest,
    leave_closure,
    leave_gaps,
    leave_used,
    put_change,
)

CLOSING = Layout(
    "rounding",  # a gap that no step can reduce, given the mechanism's size
    "longest",  # largest change in a step
    "damping",  # factor on the squared gap
    "steps",  # largest number of steps from one start
)
LEAST = 1.0e-13  # relative to the largest squared row: minimum damping, for redundant rows
HALVINGS = 8
PROGRESS = 1.0 - 1.0e-6  # ratio of gaps: a step that leaves more is the last
OUT = 4  # how often joints are removed from a step

Desk = namedtuple(
    "Desk",
    (
        "world",  # of a sweep
        "twists",
        "work",
        "gaps",
        "wanted",  # the gaps that joints can change
        "rows",
        "matrix",  # of the dependent columns
        "square",
        "solved",
        "step",
        "change",
        "trial",
    ),
)


@inner
def desk_sizes(codes, m, n):
    """Return the size of each part of the workspace, with m rows and n dependent columns."""
    c = codes[HEADER.columns]
    tree = 16 * codes[HEADER.frames], 6 * codes[HEADER.motions], 12
    return Desk(*tree, codes[HEADER.errors], m, m * c, m * n, m * m, m, n, c, codes[HEADER.values])


def closing_size(codes: NDArray[np.int64], rows: int, free: int) -> int:
    """Return the size of the workspace for closing loops, in numbers."""
    return int(sum(desk_sizes.py_func(codes, rows, free)))


@part
def damped_step(damping, m, n, desk):
    """Write the damped step of the dependent columns."""
    put_rows_squared(desk.matrix, m, n, 0.0, desk.square)
    most = 0.0
    for i in range(m):
        most = max(most, desk.square[(m + 1) * i])
    for i in range(m):
        desk.square[(m + 1) * i] += damping + LEAST * most + 1.0e-300
    copy(desk.wanted, m, desk.solved)
    eliminate(desk.square, desk.solved, m)
    put_transposed(desk.matrix, desk.solved, m, n, desk.step)


@part
def takes_out(loops, q, m, n, desk):
    """Remove joints that push against a limit from the matrix; return whether there are any."""
    codes, some = loops.codes, False
    places = table(codes, HEADER.pose_index, codes)
    lower, upper = table(codes, HEADER.lower, loops.numbers), table(codes, HEADER.upper, loops.numbers)
    for j in range(n):
        v = loops.free[j]
        if places[v] < 0:
            continue
        value, step = q[places[v]], desk.step[j]
        if (value <= lower[v] and step < 0.0) or (value >= upper[v] and step > 0.0):
            some = True
            for i in range(m):
                desk.matrix[n * i + j] = 0.0
    return some


@part
def closes(loops, settings, m, n, q, desk):
    """Close the loops from a pose, which is updated; return whether they are closed."""
    codes, nq = loops.codes, loops.codes[HEADER.values]
    most = leave_gaps(loops, q, desk, desk.gaps)
    leave_used(loops, desk.gaps, desk.wanted)
    square = product(desk.wanted, desk.wanted, m)
    for _ in range(int(settings[CLOSING.steps])):
        if most <= settings[CLOSING.rounding]:
            break
        leave_closure(loops, m, n, desk)
        damped_step(settings[CLOSING.damping] * square, m, n, desk)
        for _ in range(OUT):
            if not takes_out(loops, q, m, n, desk):
                break
            damped_step(settings[CLOSING.damping] * square, m, n, desk)
        size = min(1.0, settings[CLOSING.longest] / max(largest(desk.step, n), 1.0e-300))
        less = math.inf
        for _ in range(HALVINGS):
            put_change(loops, n, desk.step, desk)
            for v in range(codes[HEADER.columns]):
                desk.change[v] *= size
            move(codes, loops.numbers, q, desk.change, desk.trial, desk.work)
            most = leave_gaps(loops, desk.trial, desk, desk.gaps)
            leave_used(loops, desk.gaps, desk.wanted)
            less = product(desk.wanted, desk.wanted, m)
            if less < square:
                break
            size /= 2.0
        if not less < square * PROGRESS * PROGRESS:
            break
        square = less
        copy(desk.trial, nq, q)
    leave_gaps(loops, q, desk, desk.gaps)
    return are_closed(loops, desk.gaps)


@kernel(f"{LOOPS} f8[] i8 f8[] f8[,] u1[]", nogil=True)
def close_loops(loops, settings, rows, memory, q, closed):
    """Close the loops from each of many poses (n, nq), which are updated, and write which are closed.

    `rows` is the number of gaps that joints can change.
    """
    own, n = all_flat(loops), loops.free.size
    desk = divided(flat(memory), desk_sizes(own.codes, rows, n))
    for i in range(q.shape[0]):
        closed[i] = 1 if closes(own, flat(settings), rows, n, beyond(flat(q), q.shape[1] * i), desk) else 0
