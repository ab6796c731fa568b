"""A damped step within bounds: factor a sparse symmetric matrix, solve, fix columns that leave their range, repeat.

The matrix is eliminated from the last column to the first, which keeps it as sparse as the tree: the columns of one
limb never couple to those of another. `coupled` lists, for every column, the earlier columns that it couples to,
nearest first, fill-in included.
"""

from __future__ import annotations

from . import part
from .lanes import beyond

ROUNDS = 3  # of solving and fixing columns; changes still outside afterwards are clamped


@part
def subtract(share, row, count, other):
    """Subtract a multiple of a row from another, the first `count` numbers; a plain loop, so that it vectorizes."""
    for j in range(count):
        other[j] -= share * row[j]


@part
def factor(n, starts, coupled, matrix, damping, metric, held, factors):
    """Write ``L^T D L = matrix + damping * metric``, of columns that are not held, into the lower half of `factors`.

    Return whether the matrix is positive definite.
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
        for at in range(starts[k], starts[k + 1]):  # nearest first: rows further away are not modified yet
            i = coupled[at]
            share = row[i] * inverse
            if share != 0.0:
                subtract(share, row, i + 1, beyond(factors, n * i))
            row[i] = share
    return definite


@part
def solve_factored(n, starts, coupled, factors, x):
    """Solve with the factors of `factor`, in place."""
    for k in range(n - 1, -1, -1):
        subtract(x[k], beyond(factors, n * k), k, x)
    for k in range(n):
        row, total = beyond(factors, n * k), x[k] / factors[n * k + k]
        for at in range(starts[k], starts[k + 1]):
            total -= row[coupled[at]] * x[coupled[at]]
        x[k] = total


@part
def bounded_step(n, coupling, scratch, damping, metric):
    """Write the damped least-squares change within bounds, ``low <= change <= high``; the bounds contain zero.

    `coupling` holds where the coupled columns of each column begin, and their indices; `scratch` holds the matrix, the
    gradient, the bounds and workspace. This is an active-set method: a column at its bound that is pushed outwards is
    held there; a column that the step would take beyond its bound is set to the bound and held, and the others are
    solved again, given that change.

    Return whether the matrix is positive definite; if not, the change is undefined.
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
        for k in range(n):  # the effect of held columns on the others
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
