"""Small dense quadratic programs: the x within bounds that minimizes ``x^T H x / 2 + g^T x``, with ``G x <= h``.

The dual active-set method of Goldfarb and Idnani (1983). It starts with the x that is optimal without constraints and
adds the most violated bound or row to the active set, one after another, so x is always optimal for the active set.
Everything is computed in coordinates ``w = L^T x + v`` with ``H = L L^T`` and ``v = L^-1 g``, in which the objective is
``|w|^2 / 2``: a bound or row is a half-space there, stored by its unit normal.

If no x satisfies all rows, bounds are kept and rows are violated as little as possible, in the least-squares sense.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .dense import product
from .lanes import beyond, cells, divided, flat

SOLVED, RELAXED, INDEFINITE = 0, 1, 2  # outcomes; RELAXED: no x satisfies all rows
SETTLED = 1e-12  # tolerance of a bound or row, relative to the numbers in it
PARALLEL = 1e-11  # squared sine between a normal and the span of the active ones, below which it is linearly dependent
ROUNDED = 1e-9  # the same tolerance for a normal that depends on the active ones, which are kept instead
SOFTNESS = 1e-10  # weight of x relative to the rows, if not all can be satisfied
LONGEST = 20  # largest number of rounds per bound and row
REFINEMENTS = 3  # number of refinements of the multipliers, the first from zero

Work = namedtuple(
    "Work",
    (
        "factor",  # L, row by row
        "lean",  # v
        "w",
        "normals",  # of each bound, then of each row: L^-1 c / |L^-1 c|
        "lengths",  # |L^-1 c|
        "leans",  # what v adds to the bound, in these units
        "soft",  # softness of a bound or row: zero as long as all can be satisfied
        "taken",  # active set: indices
        "sides",  # 1 for the lower bound, -1 for the upper
        "pushes",  # their multipliers, zero or more
        "gram",  # Gram matrix of their normals, as Cholesky factor
        "ratios",  # decrease of the other multipliers per unit of the new one
        "isin",  # 1 if a bound or row is active
        "relaxed",  # upper ends of rows at the least violation
    ),
)


@inner
def work_sizes(n, rows):
    """Return the size of each part of the memory for n unknowns and a number of rows."""
    k = n + rows
    return Work(n * n, n, n, k * n, k, k, k, k, k, k, k * k, k, k, rows)


def work_size(n: int, rows: int) -> int:
    """Return the size of the workspace of a program, in numbers."""
    return int(sum(work_sizes.py_func(n, rows)))


@part
def put_factor(matrix, n, factor):
    """Write the Cholesky factor of a matrix from its lower half; return whether it is positive definite."""
    for i in range(n):
        for j in range(i + 1):
            total = matrix[n * i + j] - product(beyond(factor, n * i), beyond(factor, n * j), j)
            if i > j:
                factor[n * i + j] = total / factor[n * j + j]
            elif total > 0.0:
                factor[n * i + i] = math.sqrt(total)
            else:
                return False
    return True


@part
def solve_lower(factor, n, size, x):
    """Solve ``L y = x``, y replacing x, for the first `size` unknowns of a factor with rows of length n."""
    for i in range(size):
        x[i] = (x[i] - product(beyond(factor, n * i), x, i)) / factor[n * i + i]


@part
def solve_upper(factor, n, size, x):
    """Solve ``L^T y = x``, y replacing x."""
    for i in range(size - 1, -1, -1):
        x[i] /= factor[n * i + i]
        for j in range(i):
            x[j] -= factor[n * i + j] * x[i]


@part
def put_normals(n, rows, matrix, s):
    """Write the unit normal of every bound and row, its length before normalization, and its component of v."""
    for k in range(n + rows):
        y = beyond(s.normals, n * k)
        for j in range(n):
            y[j] = (1.0 if j == k else 0.0) if k < n else matrix[n * (k - n) + j]
        solve_lower(s.factor, n, n, y)
        length = math.sqrt(product(y, y, n))
        s.lengths[k], s.soft[k], s.isin[k] = length, 0.0, 0.0
        for j in range(n):
            y[j] = y[j] / length if length > 0.0 else 0.0
        s.leans[k] = product(y, s.lean, n)


@inner
def edge(n, k, low, high, upper, side, s):
    """Return the least coordinate of w along a normal on a side of a bound or row; -inf if unbounded."""
    least = -math.inf
    if k < n:
        least = low[k] if side > 0.0 else -max(high[k], low[k])
    elif side < 0.0:
        least = -upper[k - n]
    return least / s.lengths[k] + side * s.leans[k] if s.lengths[k] > 0.0 else -math.inf


@part
def worst(n, rows, low, high, upper, size, s):
    """Return the inactive bound or row that is violated most, or -1; its side, the violation, and its scale."""
    found, way, most, scale = -1, 0.0, 0.0, size
    for k in range(n + rows):
        if s.isin[k] == 0.0:
            along = product(beyond(s.normals, n * k), s.w, n)
            for turn in range(2):
                side = 1.0 - 2.0 * turn
                least = edge(n, k, low, high, upper, side, s)
                missed = least - side * along
                if missed > most and missed > SETTLED * (abs(least) + size):
                    found, way, most, scale = k, side, missed, abs(least) + size
    return found, way, most, scale


@part
def factor_taken(n, total, first, count, s):
    """Write the Cholesky factor of the Gram matrix of active normals, from row `first` on."""
    for i in range(first, count):
        k, row = int(s.taken[i]), beyond(s.gram, total * i)
        for j in range(i + 1):
            other = int(s.taken[j])
            same = product(beyond(s.normals, n * k), beyond(s.normals, n * other), n) * s.sides[i] * s.sides[j]
            value = same + (s.soft[k] if i == j else 0.0) - product(row, beyond(s.gram, total * j), j)
            row[j] = value / s.gram[total * j + j] if i > j else math.sqrt(max(value, PARALLEL))


@part
def put_ratios(n, total, k, side, count, s):
    """Write the decrease of other multipliers per unit of a new one; return the speed of w along its normal."""
    y = beyond(s.normals, n * k)
    for i in range(count):
        s.ratios[i] = product(beyond(s.normals, n * int(s.taken[i])), y, n) * s.sides[i] * side
    solve_lower(s.gram, total, count, s.ratios)
    speed = 1.0 - product(s.ratios, s.ratios, count)
    solve_upper(s.gram, total, count, s.ratios)
    return speed + s.soft[k]


@part
def drop(n, total, which, count, s):
    """Remove one constraint from the active set."""
    s.isin[int(s.taken[which])] = 0.0
    for i in range(which, count - 1):
        s.taken[i], s.sides[i], s.pushes[i] = s.taken[i + 1], s.sides[i + 1], s.pushes[i + 1]
    factor_taken(n, total, which, count - 1, s)


@part
def take_in(n, total, k, side, missed, scale, count, s):
    """Add a bound or row: raise its multiplier until w satisfies it; constraints with negative multipliers are removed.

    `scale` is the size of the numbers in it. Return the size of the active set, and whether it can be satisfied.
    """
    push = 0.0
    while True:
        speed = put_ratios(n, total, k, side, count, s)
        full = missed / speed if speed > PARALLEL else math.inf
        step, blocking = full, -1
        for i in range(count):
            if s.ratios[i] > 0.0 and s.pushes[i] < step * s.ratios[i]:
                step, blocking = s.pushes[i] / s.ratios[i], i
        if step == math.inf:
            s.isin[k] = 1.0 if missed <= ROUNDED * scale else 0.0  # so it is not checked again
            return count, missed <= ROUNDED * scale
        push, missed = push + step, missed - step * speed
        for i in range(count):
            s.pushes[i] -= step * s.ratios[i]
        if blocking < 0:
            break
        drop(n, total, blocking, count, s)
        count -= 1
    s.taken[count], s.sides[count], s.pushes[count], s.isin[k] = k, side, push, 1.0
    factor_taken(n, total, count, count + 1, s)
    return count + 1, True


@part
def put_w(n, count, s):
    """Write the w of the present multipliers."""
    for j in range(n):
        s.w[j] = 0.0
    for i in range(count):
        y, push = beyond(s.normals, n * int(s.taken[i])), s.pushes[i] * s.sides[i]
        for j in range(n):
            s.w[j] += push * y[j]


@part
def settle(n, total, low, high, upper, count, s):
    """Compute the multipliers of the active set anew, to remove rounding errors of the steps.

    If normals are nearly dependent, the Gram matrix loses digits; the remaining violations are corrected by iterative
    refinement.
    """
    for i in range(count):
        s.pushes[i] = 0.0
    for _ in range(REFINEMENTS):
        put_w(n, count, s)
        for i in range(count):
            k, side = int(s.taken[i]), s.sides[i]
            along = side * product(beyond(s.normals, n * k), s.w, n)
            s.ratios[i] = edge(n, k, low, high, upper, side, s) - along - s.soft[k] * s.pushes[i]
        solve_lower(s.gram, total, count, s.ratios)
        solve_upper(s.gram, total, count, s.ratios)
        for i in range(count):
            s.pushes[i] += s.ratios[i]
    put_w(n, count, s)


@part
def search(n, rows, low, high, upper, s):
    """Add violated constraints until there are none; return the outcome."""
    count, total, size = 0, n + rows, math.sqrt(product(s.lean, s.lean, n))
    for k in range(total):
        s.isin[k] = 0.0
    put_w(n, 0, s)
    for _ in range(LONGEST * total):
        k, side, missed, scale = worst(n, rows, low, high, upper, size, s)
        if k < 0:
            settle(n, total, low, high, upper, count, s)
            return SOLVED
        count, kept = take_in(n, total, k, side, missed, scale, count, s)
        put_w(n, count, s)
        if not kept:
            return RELAXED
    return RELAXED


@part
def put_start(n, rows, hessian, gradient, matrix, s):
    """Write the initial data of a search; return whether the matrix is positive definite."""
    if not put_factor(hessian, n, s.factor):
        return False
    for j in range(n):
        s.lean[j] = gradient[j]
    solve_lower(s.factor, n, n, s.lean)
    put_normals(n, rows, matrix, s)
    return True


@part
def put_x(n, low, high, s, x):
    """Write the x of w, clamped to the bounds against rounding."""
    for j in range(n):
        x[j] = s.w[j] - s.lean[j]
    solve_upper(s.factor, n, n, x)
    for j in range(n):
        x[j] = max(min(x[j], max(high[j], low[j])), low[j])


@part
def least_violation(n, rows, low, high, matrix, upper, s, x):
    """Write the x within bounds that violates rows least, in least squares, and of these approximately the shortest."""
    longest = 0.0
    for k in range(rows):
        longest = max(longest, product(beyond(matrix, n * k), beyond(matrix, n * k), n))
    for i in range(n):
        for j in range(n):
            s.factor[n * i + j] = 1.0 if i == j else 0.0
        s.lean[i] = 0.0
    put_normals(n, rows, matrix, s)
    for k in range(n, n + rows):
        s.soft[k] = SOFTNESS * longest / s.lengths[k] ** 2 if s.lengths[k] > 0.0 else 0.0
    search(n, rows, low, high, upper, s)
    put_x(n, low, high, s, x)


@part
def minimize(n, rows, hessian, gradient, low, high, matrix, upper, s, x):
    """Write the x of a quadratic program; return the outcome.

    The lower half of `hessian` is read. Bounds may be infinite. If bounds cross, the lower one applies. If not all rows
    can be satisfied, the x of least violation is found first, and then the best x that violates no row by more.
    """
    if not put_start(n, rows, hessian, gradient, matrix, s):
        return INDEFINITE
    ended = search(n, rows, low, high, upper, s)
    if ended == SOLVED:
        put_x(n, low, high, s, x)
        return SOLVED
    least_violation(n, rows, low, high, matrix, upper, s, x)
    for k in range(rows):
        row = beyond(matrix, n * k)
        s.relaxed[k] = max(upper[k], product(row, x, n))
    put_start(n, rows, hessian, gradient, matrix, s)
    if search(n, rows, low, high, s.relaxed, s) == SOLVED:
        put_x(n, low, high, s, x)
    return RELAXED


@kernel("f8[,] f8[] f8[] f8[] f8[,] f8[] f8[] f8[] -> i8")
def solve_quadratic(hessian, gradient, low, high, matrix, upper, room, x):
    """Write the x of one quadratic program; return the outcome. `room` is workspace of `work_size` numbers."""
    n, rows = x.size, upper.size
    s = divided(cells(room), work_sizes(n, rows))
    return minimize(
        n, rows, flat(hessian), cells(gradient), cells(low), cells(high), flat(matrix), cells(upper), s, cells(x)
    )


def least_quadratic(
    hessian: NDArray[np.float64],
    gradient: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    matrix: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> tuple[NDArray[np.float64], int]:
    """Return the x of a quadratic program, and its outcome: `SOLVED`, `RELAXED` or `INDEFINITE`."""
    x = np.zeros(len(gradient))
    return x, solve_quadratic(hessian, gradient, low, high, matrix, upper, np.empty(work_size(len(x), len(upper))), x)
