"""The pseudo-inverse of a small matrix of known rank, by orthogonalizing its columns one after another."""

from __future__ import annotations

import math

from . import part
from .dense import product
from .lanes import beyond


@part
def put_inverse(matrix, m, n, rank, weakest, lost, desk, out):
    """Write the pseudo-inverse (n, m) of a matrix (m, n) of assumed rank; return whether it has that rank.

    Columns are pivoted by their remaining length. Relative to the first, the last pivot of the rank must be longer than
    `weakest`, and the remainders of the other columns must be shorter than `lost`. With ``A = Q (R S)``, the
    least-squares solution that moves only the pivot columns is ``Y = R^-1 Q^T``; the others then share the motion so
    that its norm is smallest. Workspace is `columns`, `triangle`, `order` and `few` of the desk: n times m, n, 1 and n
    numbers.
    """
    columns, triangle, order = desk.columns, desk.triangle, desk.order
    for j in range(n):
        order[j] = j
        for i in range(m):
            columns[m * j + i] = matrix[n * i + j]
    first = 0.0
    for k in range(rank):
        size = bring_longest(columns, triangle, order, m, n, k)
        first = size if k == 0 else first
        if size <= weakest * first:
            return False
        own = beyond(columns, m * k)
        triangle[n * k + k] = size
        for i in range(m):
            own[i] /= size
        for j in range(k + 1, n):
            other = beyond(columns, m * j)
            share = product(own, other, m)
            triangle[n * k + j] = share
            for i in range(m):
                other[i] -= share * own[i]
    for j in range(rank, n):
        own = beyond(columns, m * j)
        if math.sqrt(product(own, own, m)) > lost * first:
            return False
    solve_triangle(triangle, columns, m, n, rank)
    if rank < n:
        share_out(desk, m, n, rank)
    for k in range(n):
        row = beyond(out, m * int(order[k]))
        for i in range(m):
            row[i] = columns[m * k + i]
    return True


@part
def bring_longest(columns, triangle, order, m, n, k):
    """Move the longest of the columns from k on to position k; return its length."""
    best, most = k, -1.0
    for j in range(k, n):
        own = beyond(columns, m * j)
        square = product(own, own, m)
        if square > most:
            best, most = j, square
    if best != k:
        order[k], order[best] = order[best], order[k]
        for i in range(m):
            columns[m * k + i], columns[m * best + i] = columns[m * best + i], columns[m * k + i]
        for i in range(k):
            triangle[n * i + k], triangle[n * i + best] = triangle[n * i + best], triangle[n * i + k]
    return math.sqrt(most)


@part
def solve_triangle(triangle, columns, m, n, rank):
    """Replace the orthogonal columns by the rows of ``R^-1 Q^T``, and the rest of the triangle by ``R^-1 S``."""
    for back in range(rank):
        k = rank - 1 - back
        own, size = beyond(columns, m * k), triangle[n * k + k]
        for j in range(k + 1, rank):
            share, other = triangle[n * k + j], beyond(columns, m * j)
            for i in range(m):
                own[i] -= share * other[i]
            for i in range(rank, n):
                triangle[n * k + i] -= share * triangle[n * j + i]
        for i in range(m):
            own[i] /= size
        for i in range(rank, n):
            triangle[n * k + i] /= size


@part
def share_out(desk, m, n, rank):
    """Let columns beyond the rank, B of those within, share the motion: ``Z = (1 + B^T B)^-1 B^T Y``, ``Y - B Z``."""
    columns, b, few, left = desk.columns, beyond(desk.triangle, rank), desk.few, n - rank
    for i in range(left):
        for j in range(left):
            total = 1.0 if i == j else 0.0
            for k in range(rank):
                total += b[n * k + i] * b[n * k + j]
            few[left * i + j] = total
    for i in range(left):
        own = beyond(columns, m * (rank + i))
        for j in range(m):
            total = 0.0
            for k in range(rank):
                total += b[n * k + i] * columns[m * k + j]
            own[j] = total
    for i in range(left):  # elimination; the matrix is positive definite and needs no pivoting
        own = beyond(columns, m * (rank + i))
        for other in range(left):
            if other != i:
                share = few[left * other + i] / few[left * i + i]
                for j in range(i, left):
                    few[left * other + j] -= share * few[left * i + j]
                for j in range(m):
                    columns[m * (rank + other) + j] -= share * own[j]
    for i in range(left):
        own = beyond(columns, m * (rank + i))
        for j in range(m):
            own[j] /= few[left * i + i]
        for k in range(rank):
            for j in range(m):
                columns[m * k + j] -= b[n * k + i] * own[j]
