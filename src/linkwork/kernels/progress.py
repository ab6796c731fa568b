"""The bookkeeping of an iteration, for every problem of a batch: cost, progress, and how it ended.

Compiled because a dozen small array operations would cost more than the step itself.
"""

from __future__ import annotations

import math

from . import kernel

ACTIVE, REACHED, STALLED, DIVERGED = 0, 1, 2, 3
PROGRESS = 0.999  # a cost that has not fallen by a thousandth is no progress
RUNAWAY = 1.0e3


@kernel("f8[,] f8[] i8[,] f8[] f8[] f8[,] b1[]")
def measure(error, scale, blocks, tolerances, cost, residuals, reached):
    """Write the weighted cost (n,), the norm of each block (n, blocks) and whether all are within tolerance (n,)."""
    for i in range(error.shape[0]):
        total = 0.0
        for k in range(error.shape[1]):
            weighted = error[i, k] * scale[k]
            total += weighted * weighted
        cost[i] = math.sqrt(total)
        reached[i] = True
        for b in range(blocks.shape[0]):
            square = 0.0
            for k in range(blocks[b, 0], blocks[b, 1]):
                square += error[i, k] * error[i, k]
            residuals[i, b] = math.sqrt(square)
            if not residuals[i, b] <= tolerances[b]:
                reached[i] = False


@kernel("f8[,] f8[] b1[] f8[,] f8[] f8[] f8[] i8[] i8[] i8[] i8")
def judge(q, cost, reached, best_q, best_cost, first_cost, mark, waiting, count, status, patience):
    """Update the best pose, the patience left and the status of every problem that is still going."""
    for i in range(q.shape[0]):
        if status[i] != ACTIVE:
            continue
        count[i] += 1
        if cost[i] < best_cost[i] or reached[i]:
            best_cost[i] = cost[i]
            for k in range(q.shape[1]):  # a loop: it compiles ten times as fast as best_q[i] = q[i]
                best_q[i, k] = q[i, k]
        if best_cost[i] < PROGRESS * mark[i]:
            mark[i] = best_cost[i]
            waiting[i] = 0
        else:
            waiting[i] += 1
        if reached[i]:
            status[i] = REACHED
        elif not cost[i] <= RUNAWAY * max(first_cost[i], 1e-9):
            status[i] = DIVERGED
        elif waiting[i] >= patience:
            status[i] = DIVERGED if cost[i] > 2.0 * best_cost[i] else STALLED
