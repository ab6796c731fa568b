"""A damped step within bounds: factor a sparse symmetric matrix, solve, hold what would leave its range, solve again.

The matrix is taken apart from the last column to the first, which keeps it as sparse as the tree is: the columns of one
limb never meet those of another. `coupled` lists, for every column, the earlier columns it meets, nearest first, those
that come in on the way included.
"""

from __future__ import annotations

from . import part
from .lanes import beyond

ROUNDS = 3  # of solving and holding; what is still outside then is cut off


@part
def subtract(share, row, count, other):
    """Subtract a multiple of a row from another, the first `count` numbers: one straight loop, which vectorizes."""
    for j in range(count):
        other[j] -= share * row[j]


@part
def factor(n, starts, coupled, matrix, damping, metric, held, factors):
    """Write ``L^T D L = matrix + damping * metric``, of columns that are not held, into the lower half of `factors`.

    Return whether it is positive definite.
    """
    definite = True
    for k in range(n):
        row, given = beyond(factors, n * k), beyond(matrix, n * k)
        for i in range(k):
            row[i] = given[i]
        row[k] = given[k] + damping * metric[k]
        if held[k] != 0.0:
            for i in range(k):
                row[i] = 0.0
            row[k] = 1.0
    for k in range(n):
        if held[k] != 0.0:
            for i in range(k + 1, n):
                factors[n * i + k] = 0.0
    for k in range(n - 1, -1, -1):
        row = beyond(factors, n * k)
        if not row[k] > 0.0:
            definite = False
        inverse = 1.0 / row[k]
        for at in range(starts[k], starts[k + 1]):  # from the nearest on: what is further is still as it was
            i = coupled[at]
            share = row[i] * inverse
            if share != 0.0:
                subtract(share, row, i + 1, beyond(factors, n * i))
            row[i] = share
    return definite


@part
def solve_factored(n, starts, coupled, factors, x):
    """Solve with the factors, in place."""
    for k in range(n - 1, -1, -1):
        subtract(x[k], beyond(factors, n * k), k, x)
    for k in range(n):
        row, total = beyond(factors, n * k), x[k] / factors[n * k + k]
        for at in range(starts[k], starts[k + 1]):
            total -= row[coupled[at]] * x[coupled[at]]
        x[k] = total


@part
def bounded_step(n, coupling, scratch, damping, metric):
    """Leave the damped least-squares change within bounds, ``low <= change <= high``, which hold zero.

    `coupling` says where the coupled columns of each begin, and which they are; `scratch` has the matrix, the gradient,
    the bounds and what is worked in. A column at its bound and pushed outwards is held there; one that the step would
    take beyond goes to its bound and is held, and the others are solved for again, now knowing of it.

    Return whether the matrix is positive definite; where it is not, the change means nothing.
    """
    (starts, coupled), matrix, gradient = coupling, scratch.matrix, scratch.gradient
    low, high, held, bounds, change = scratch.low, scratch.high, scratch.held, scratch.bounds, scratch.change
    for k in range(n):
        outwards = (low[k] >= 0.0 and gradient[k] < 0.0) or (high[k] <= 0.0 and gradient[k] > 0.0)
        held[k] = 1.0 if outwards else 0.0
        bounds[k] = 0.0
    for _ in range(ROUNDS):
        for k in range(n):
            change[k] = 0.0 if held[k] != 0.0 else gradient[k]
        for k in range(n):  # what the held ones do to the others
            if bounds[k] != 0.0:
                subtract(bounds[k], beyond(matrix, n * k), k, change)
                for i in range(k + 1, n):
                    change[i] -= bounds[k] * matrix[n * i + k]
        if not factor(n, starts, coupled, matrix, damping, metric, held, scratch.factors):
            return False
        solve_factored(n, starts, coupled, scratch.factors, change)
        outside = False
        for k in range(n):
            if held[k] != 0.0:
                change[k] = bounds[k]
            elif not low[k] <= change[k] <= high[k]:
                bounds[k] = low[k] if change[k] < low[k] else high[k]
                held[k], change[k], outside = 1.0, bounds[k], True
        if not outside:
            break
    return True
