"""One step of the textbook's Jacobian methods: transpose, damped least squares and the pseudoinverse.

J is the weighted Jacobian (m, n), the error V has m rows, the change n values. Small dense matrices in plain loops; the
memory to work in is an argument. In Python the methods of `linkwork.solvers.jacobian` are these equations over whole
batches; these serve where there is no NumPy, such as a web page.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .lanes import beyond, flat

SWEEPS = 30  # of rotations at most; some eight are enough for six rows
AT_RIGHT_ANGLES = 1.0e-15  # cosine between rows below which they are left alone


@inner
def product(a, b, count):
    """Return the scalar product of two runs of numbers."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@part
def put_transposed(jac, error, m, n, out):
    """Write ``J^T V``."""
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += jac[n * i + j] * error[i]
        out[j] = total


@kernel("f8[,] f8[] f8 f8[] -> f8")
def transpose_step(jacobian, error, scale, change):
    """Write ``alpha J^T V`` and return alpha: the scale or, where that is 0, the one that best fits V.

    That is ``(V . JJ^T V) / |JJ^T V|²``; 0 where no joint helps.
    """
    m, n, jac, wanted, out = jacobian.shape[0], jacobian.shape[1], flat(jacobian), flat(error), flat(change)
    put_transposed(jac, wanted, m, n, out)
    alpha = scale
    if scale == 0.0:
        agreed, square = 0.0, 0.0
        for i in range(m):
            moved = product(beyond(jac, n * i), out, n)
            agreed += wanted[i] * moved
            square += moved * moved
        alpha = agreed / square if square > 0.0 else 0.0
    for j in range(n):
        out[j] *= alpha
    return alpha


@part
def eliminate(matrix, x, n):
    """Solve ``matrix x = x`` in place by elimination with pivots; return whether the matrix is regular."""
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(matrix[n * i + k]) > abs(matrix[n * pivot + k]):
                pivot = i
        if matrix[n * pivot + k] == 0.0:
            return False
        if pivot != k:
            x[k], x[pivot] = x[pivot], x[k]
            for j in range(k, n):
                matrix[n * k + j], matrix[n * pivot + j] = matrix[n * pivot + j], matrix[n * k + j]
        for i in range(k + 1, n):
            share = matrix[n * i + k] / matrix[n * k + k]
            x[i] -= share * x[k]
            for j in range(k + 1, n):
                matrix[n * i + j] -= share * matrix[n * k + j]
    for back in range(n):
        k = n - 1 - back
        for j in range(k + 1, n):
            x[k] -= matrix[n * k + j] * x[j]
        x[k] /= matrix[n * k + k]
    return True


@kernel("f8[,] f8[] f8 f8[] f8[] -> b1")
def damped_step(jacobian, error, squared_damping, room, change):
    """Write ``J^T (J J^T + lambda² I)^-1 V``, or the equal ``(J^T J + lambda² I)^-1 J^T V`` where that is smaller.

    `room` has `textbook_room` numbers. Return whether the matrix is regular; any damping makes it so.
    """
    m, n, jac, wanted, out = jacobian.shape[0], jacobian.shape[1], flat(jacobian), flat(error), flat(change)
    size = min(m, n)
    matrix, x = flat(room), beyond(flat(room), size * size)
    for i in range(size):
        for j in range(size):
            total = squared_damping if i == j else 0.0
            if m <= n:
                total += product(beyond(jac, n * i), beyond(jac, n * j), n)
            else:
                for k in range(m):
                    total += jac[n * k + i] * jac[n * k + j]
            matrix[size * i + j] = total
    if m > n:
        put_transposed(jac, wanted, m, n, out)
        return eliminate(matrix, out, n)
    for i in range(m):
        x[i] = wanted[i]
    regular = eliminate(matrix, x, m)
    put_transposed(jac, x, m, n, out)
    return regular


@part
def rotate_rows(rows, turns, count, width):
    """Turn rows until all are at right angles, and the rows of `turns` with them (Hestenes' one-sided rotations)."""
    for _ in range(SWEEPS):
        still = True
        for a in range(count):
            for b in range(a + 1, count):
                one, two = beyond(rows, width * a), beyond(rows, width * b)
                p, q, r = product(one, one, width), product(two, two, width), product(one, two, width)
                if abs(r) <= AT_RIGHT_ANGLES * math.sqrt(p * q):
                    continue
                still = False
                zeta = (q - p) / (2.0 * r)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                turn_rows(one, two, width, c, c * t)
                turn_rows(beyond(turns, count * a), beyond(turns, count * b), count, c, c * t)
        if still:
            return


@inner
def turn_rows(one, two, width, c, s):
    """Turn two rows into each other."""
    for k in range(width):
        x, y = one[k], two[k]
        one[k], two[k] = c * x - s * y, s * x + c * y


@kernel("f8[,] f8[] f8 f8[] f8[] -> i8")
def pseudoinverse_step(jacobian, error, rank, room, change):
    """Write ``J^+ V`` through the singular values, those below `rank` of the largest left out; return how many are not.

    Rows of J (columns, where these are fewer) are turned until they are at right angles: their lengths are the
    singular values, and what they are turned by one set of singular vectors. `room` has `textbook_room` numbers.
    """
    m, n, jac, wanted, out = jacobian.shape[0], jacobian.shape[1], flat(jacobian), flat(error), flat(change)
    count, width = min(m, n), max(m, n)
    rows, turns = flat(room), beyond(flat(room), count * width)
    for i in range(count):
        for j in range(width):
            rows[width * i + j] = jac[n * i + j] if m <= n else jac[n * j + i]
        for j in range(count):
            turns[count * i + j] = 1.0 if i == j else 0.0
    rotate_rows(rows, turns, count, width)
    largest, kept = 0.0, 0
    for i in range(count):
        largest = max(largest, product(beyond(rows, width * i), beyond(rows, width * i), width))
    for j in range(n):
        out[j] = 0.0
    for i in range(count):
        row, turn = beyond(rows, width * i), beyond(turns, count * i)
        square = product(row, row, width)
        if not square > rank * rank * largest:
            continue
        kept += 1
        along = (product(turn, wanted, m) if m <= n else product(row, wanted, m)) / square
        for j in range(n):
            out[j] += along * (row[j] if m <= n else turn[j])
    return kept


def textbook_room(m: int, n: int) -> int:
    """Return how many numbers the steps need to work in, for a Jacobian (m, n)."""
    least, most = min(m, n), max(m, n)
    return least * (least + most)
