"""Small matrices in lanes, one in each: elimination with pivots chosen in each lane, and null vectors."""

from __future__ import annotations

from .. import inner, part
from ..lanes import fabs, load, select, store

SIX = 6


@inner
def pivoted(matrix, rows, columns, k):
    """Swap the largest entry at or below a diagonal item to it, in each lane; return it, and the sign of the swap."""
    sign = 1.0 + 0.0 * load(matrix, columns * k + k)
    for i in range(k + 1, rows):
        swap = fabs(load(matrix, columns * i + k)) > fabs(load(matrix, columns * k + k))
        sign = select(swap, -sign, sign)
        for j in range(k, columns):
            a, b = load(matrix, columns * k + j), load(matrix, columns * i + j)
            store(matrix, columns * k + j, select(swap, b, a))
            store(matrix, columns * i + j, select(swap, a, b))
    return load(matrix, columns * k + k), sign


@inner
def cleared(matrix, rows, columns, k, pivot):
    """Eliminate a column from all rows below its pivot."""
    share = 1.0 / select(fabs(pivot) > 0.0, pivot, 1.0)
    for i in range(k + 1, rows):
        factor = load(matrix, columns * i + k) * share
        for j in range(k + 1, columns):
            store(matrix, columns * i + j, load(matrix, columns * i + j) - factor * load(matrix, columns * k + j))


@part
def eliminated(matrix, rows, columns, steps):
    """Eliminate the first columns of a matrix, with pivoting; return the product of the pivots, with its sign."""
    product, sign = pivoted(matrix, rows, columns, 0)
    cleared(matrix, rows, columns, 0, product)
    product = product * sign
    for k in range(1, steps):
        pivot, sign = pivoted(matrix, rows, columns, k)
        cleared(matrix, rows, columns, k, pivot)
        product = product * (pivot * sign)
    return product


@part
def put_null_vector(middle, labels, out):
    """Write the null vector of a nearly singular 6x6 matrix, by elimination with full pivoting."""
    for j in range(SIX):
        store(labels, j, float(j))
    for k in range(SIX - 1):
        for j in range(k + 1, SIX):  # columns: the largest entry of each decides
            one, other = fabs(load(middle, SIX * k + k)), fabs(load(middle, SIX * k + j))
            for i in range(k + 1, SIX):
                a, b = fabs(load(middle, SIX * i + k)), fabs(load(middle, SIX * i + j))
                one, other = select(a > one, a, one), select(b > other, b, other)
            swap = other > one
            for i in range(SIX):
                a, b = load(middle, SIX * i + k), load(middle, SIX * i + j)
                store(middle, SIX * i + k, select(swap, b, a))
                store(middle, SIX * i + j, select(swap, a, b))
            a, b = load(labels, k), load(labels, j)
            store(labels, k, select(swap, b, a))
            store(labels, j, select(swap, a, b))
        pivot, _ = pivoted(middle, SIX, SIX, k)
        cleared(middle, SIX, SIX, k, pivot)
    x5 = 1.0 + 0.0 * load(middle, 0)
    store(out, SIX - 1, x5)
    for back in range(1, SIX):
        k = SIX - 1 - back
        total = -load(middle, SIX * k + SIX - 1)
        for j in range(k + 1, SIX - 1):
            total = total - load(middle, SIX * k + j) * load(out, j)
        pivot = load(middle, SIX * k + k)
        store(out, k, total / select(fabs(pivot) > 0.0, pivot, 1.0))
    for j in range(SIX):  # `middle` is no longer needed: it takes the vector in the order of the columns
        found = 0.0 * x5
        for k in range(SIX):
            label = load(labels, k)
            found = select((label > j - 0.5) & (label < j + 0.5), load(out, k), found)
        store(middle, j, found)
    for j in range(SIX):
        store(out, j, load(middle, j))
