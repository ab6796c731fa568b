"""Bookkeeping of an iteration for every problem of a batch: cost, progress and status.

Compiled, because a dozen small array operations would cost more than the step itself. Parts are for one problem.
"""

from __future__ import annotations

import math

from . import kernel, part
from .lanes import beyond, flat

ACTIVE, REACHED, STALLED, DIVERGED = 0, 1, 2, 3
PROGRESS = 0.999  # progress means that the cost falls by at least a thousandth
RUNAWAY = 1.0e3


@part
def measured(error, rows, scale, blocks, count, tolerances, residuals):
    """Write the norm of each block of an error; return its weighted cost, and whether all are within tolerance.

    Block b has the rows from ``blocks[b]`` to ``blocks[b + 1]``.
    """
    total, reached = 0.0, True
    for k in range(rows):
        weighted = error[k] * scale[k]
        total += weighted * weighted
    for b in range(count):
        square = 0.0
        for k in range(blocks[b], blocks[b + 1]):
            square += error[k] * error[k]
        residuals[b] = math.sqrt(square)
        if not residuals[b] <= tolerances[b]:
            reached = False
    return math.sqrt(total), reached


@part
def judged(q, nq, cost, reached, best_q, best_cost, first_cost, mark, waiting, count, status, patience):
    """Update the best pose, the remaining patience and the status of an active problem."""
    count[0] += 1
    if cost < best_cost[0] or reached:
        best_cost[0] = cost
        for k in range(nq):
            best_q[k] = q[k]
    if best_cost[0] < PROGRESS * mark[0]:
        mark[0] = best_cost[0]
        waiting[0] = 0
    else:
        waiting[0] += 1
    if reached:
        status[0] = REACHED
    elif not cost <= RUNAWAY * max(first_cost[0], 1e-9):
        status[0] = DIVERGED
    elif waiting[0] >= patience:
        status[0] = DIVERGED if cost > 2.0 * best_cost[0] else STALLED


@kernel("f8[,] f8[] i8[] f8[] f8[] f8[,] b1[]")
def measure(error, scale, blocks, tolerances, cost, residuals, reached):
    """Write the weighted cost (n,), the norm of each block (n, blocks) and whether all are within tolerance (n,)."""
    rows, count, start, most = error.shape[1], tolerances.size, flat(blocks), flat(tolerances)
    for i in range(error.shape[0]):
        one, norms = beyond(flat(error), rows * i), beyond(flat(residuals), count * i)
        cost[i], reached[i] = measured(one, rows, flat(scale), start, count, most, norms)


@kernel("f8[,] f8[] b1[] f8[,] f8[] f8[] f8[] i8[] i8[] i8[] i8")
def judge(q, cost, reached, best_q, best_cost, first_cost, mark, waiting, count, status, patience):
    """Update the best pose, the remaining patience and the status of every active problem."""
    nq = q.shape[1]
    for i in range(q.shape[0]):
        if status[i] == ACTIVE:
            poses = beyond(flat(q), nq * i), nq, cost[i], reached[i], beyond(flat(best_q), nq * i)
            costs = beyond(flat(best_cost), i), beyond(flat(first_cost), i), beyond(flat(mark), i)
            counts = beyond(flat(waiting), i), beyond(flat(count), i), beyond(flat(status), i)
            judged(*poses, *costs, *counts, patience)
