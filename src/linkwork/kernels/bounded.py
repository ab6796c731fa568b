"""A damped step within bounds: factor a sparse symmetric matrix, solve, hold what would leave its range, solve again.

Imports `lanes`. The matrix is taken apart from the last column to the first, which keeps it as sparse as the tree is:
the columns of one limb never meet those of another. `coupled` lists, for every column, the earlier columns it meets,
nearest first, those that come in on the way included.
"""

from __future__ import annotations

from . import part
from .lanes import beyond

ROUNDS = 6  # of solving and holding; what is still outside then is cut off


@part
def factor(n, starts, coupled, matrix, damping, metric, held, work):
    """Write ``L^T D L = matrix + damping * metric`` for the columns that are not held into the lower half of `work`."""
    for k in range(n):
        row = n * k
        for at in range(starts[k], starts[k + 1]):
            i = coupled[at]
            work[row + i] = 0.0 if held[k] != 0.0 or held[i] != 0.0 else matrix[row + i]
        work[row + k] = 1.0 if held[k] != 0.0 else matrix[row + k] + damping * metric[k]
    for k in range(n - 1, -1, -1):
        if held[k] != 0.0:
            continue
        row, inverse = n * k, 1.0 / work[n * k + k]
        for at in range(starts[k], starts[k + 1]):
            i = coupled[at]
            share = work[row + i] * inverse
            if share != 0.0:
                other = beyond(work, n * i)
                other[i] -= share * work[row + i]
                for further in range(at + 1, starts[k + 1]):
                    j = coupled[further]
                    other[j] -= share * work[row + j]
            work[row + i] = share


@part
def back(n, starts, coupled, work, x):
    """Solve with the factors, in place."""
    for k in range(n - 1, -1, -1):
        for at in range(starts[k], starts[k + 1]):
            x[coupled[at]] -= work[n * k + coupled[at]] * x[k]
    for k in range(n):
        total = x[k] / work[n * k + k]
        for at in range(starts[k], starts[k + 1]):
            total -= work[n * k + coupled[at]] * x[coupled[at]]
        x[k] = total


@part
def bounded_step(n, starts, coupled, matrix, gradient, damping, metric, low, high, held, work, change):
    """Write the damped least-squares change within bounds, ``low <= change <= high``, which hold zero.

    A column at its bound and pushed outwards is held there; one that the step would take beyond goes to its bound and
    is held, and the others are solved for again, now knowing of it.
    """
    for k in range(n):
        outwards = (low[k] >= 0.0 and gradient[k] < 0.0) or (high[k] <= 0.0 and gradient[k] > 0.0)
        held[k] = 1.0 if outwards else 0.0
        change[k] = 0.0
    bounds = beyond(work, n * n)  # where the held ones are
    for k in range(n):
        bounds[k] = 0.0
    for _ in range(ROUNDS):
        for k in range(n):
            change[k] = 0.0 if held[k] != 0.0 else gradient[k]
        for k in range(n):  # what the held ones do to the others
            for at in range(starts[k], starts[k + 1]):
                i = coupled[at]
                change[k] -= 0.0 if held[k] != 0.0 else matrix[n * k + i] * bounds[i]
                change[i] -= 0.0 if held[i] != 0.0 else matrix[n * k + i] * bounds[k]
        factor(n, starts, coupled, matrix, damping, metric, held, work)
        back(n, starts, coupled, work, change)
        outside = False
        for k in range(n):
            if held[k] != 0.0:
                change[k] = bounds[k]
            elif not low[k] <= change[k] <= high[k]:
                bounds[k] = low[k] if change[k] < low[k] else high[k]
                held[k], change[k], outside = 1.0, bounds[k], True
        if not outside:
            break
