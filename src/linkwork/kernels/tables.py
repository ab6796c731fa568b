"""Convert columns of tables to the transforms that solvers take, in one pass where NumPy needs twenty."""

from __future__ import annotations

import math

from . import inner, kernel
from .lanes import beyond, flat


@kernel("f8[,] i8 f8 f8[,,]", nogil=True)
def transforms_of_columns(columns, place, unit, out):
    """Write transforms (n, 4, 4) of columns (k, n): `place` coordinates, then a quaternion, w first, or nine numbers.

    Without coordinates they are rotations (n, 3, 3). A quaternion that is not finite, or whose length differs from one
    by more than `unit`, gives NaN.
    """
    count, width, size = columns.shape[1], out.shape[1], out.shape[1] * out.shape[2]
    read, written = flat(columns), flat(out)
    for i in range(count):
        row, column = beyond(written, size * i), beyond(read, i)
        for k in range(size):
            row[k] = 0.0
        for k in range(place):
            row[4 * k + 3] = column[k * count]
        row[size - 1] = 1.0
        if columns.shape[0] - place == 9:
            for k in range(9):
                row[width * (k // 3) + k % 3] = column[(place + k) * count]
        else:
            _turn(beyond(column, place * count), count, row, width, unit)


@inner
def _turn(column, count, row, width, unit):
    w, x, y, z = column[0], column[count], column[2 * count], column[3 * count]
    square = w * w + x * x + y * y + z * z
    s = 2.0 / square if abs(math.sqrt(square) - 1.0) <= unit else math.nan
    row[0], row[1], row[2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    row[width], row[width + 1], row[width + 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    row[2 * width] = s * (x * z - w * y)
    row[2 * width + 1], row[2 * width + 2] = s * (y * z + w * x), 1.0 - s * (x * x + y * y)
