"""Small dense matrices in plain loops: Gaussian elimination, and the singular value decomposition by rotations.

Matrices lie in memory row by row; workspace is passed as an argument.
"""

from __future__ import annotations

import math

from . import inner, part
from .lanes import beyond

SWEEPS = 30  # largest number of sweeps; about eight are enough for six rows
AT_RIGHT_ANGLES = 1.0e-15  # cosine between two rows below which they count as perpendicular


@inner
def product(a, b, count):
    """Return the dot product of two vectors of `count` numbers."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@part
def put_product(matrix, x, m, n, out):
    """Write ``A x`` for a matrix (m, n)."""
    for i in range(m):
        out[i] = product(beyond(matrix, n * i), x, n)


@part
def put_transposed(matrix, x, m, n, out):
    """Write ``A^T x`` for a matrix (m, n)."""
    for j in range(n):
        total = 0.0
        for i in range(m):
            total += matrix[n * i + j] * x[i]
        out[j] = total


@part
def put_rows_squared(matrix, m, n, extra, out):
    """Write ``A A^T + extra I`` for a matrix (m, n)."""
    for i in range(m):
        for j in range(m):
            out[m * i + j] = product(beyond(matrix, n * i), beyond(matrix, n * j), n) + (extra if i == j else 0.0)


@part
def put_columns_squared(matrix, m, n, extra, out):
    """Write ``A^T A + extra I`` for a matrix (m, n)."""
    for i in range(n):
        for j in range(n):
            total = extra if i == j else 0.0
            for k in range(m):
                total += matrix[n * k + i] * matrix[n * k + j]
            out[n * i + j] = total


@part
def eliminate(matrix, x, n):
    """Solve ``matrix y = x`` by elimination with pivoting, y replacing x; return whether the matrix is regular."""
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


@inner
def turn_rows(one, two, width, c, s):
    """Apply a plane rotation to two rows."""
    for k in range(width):
        x, y = one[k], two[k]
        one[k], two[k] = c * x - s * y, s * x + c * y


@part
def rotate_rows(rows, turns, count, width):
    """Rotate rows until all are perpendicular, and the rows of `turns` likewise (Hestenes' one-sided Jacobi)."""
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


@part
def decompose(matrix, m, n, sigma, u, v):
    """Write the singular values of a matrix (m, n), unsorted, and its singular vectors; return the largest value.

    There are k of each, k = min(m, n); `u` has k rows of m numbers, `v` k rows of n. The rows of the matrix, or its
    columns if these are fewer, are rotated until they are perpendicular. Their lengths are the singular values, their
    directions one set of singular vectors, and the accumulated rotations the other.
    """
    count, width = min(m, n), max(m, n)
    turns, rows = (u, v) if m <= n else (v, u)
    for i in range(count):
        for j in range(width):
            rows[width * i + j] = matrix[n * i + j] if m <= n else matrix[n * j + i]
        for j in range(count):
            turns[count * i + j] = 1.0 if i == j else 0.0
    rotate_rows(rows, turns, count, width)
    largest = 0.0
    for i in range(count):
        row = beyond(rows, width * i)
        sigma[i] = math.sqrt(product(row, row, width))
        largest = max(largest, sigma[i])
        for j in range(width):
            row[j] = row[j] / sigma[i] if sigma[i] > 0.0 else 0.0
    return largest
