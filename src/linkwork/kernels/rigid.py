"""Which 4x4 targets are rigid transforms: one test for all searches and closed forms."""

from __future__ import annotations

from . import inner, kernel, part
from .joint_step import vector
from .lanes import flat, load
from .rotations import cross, dot

FARTHEST = 1.0e100  # squares of longer distances would overflow [m]
OVERFLOW = 1.7976931348623157e308 / FARTHEST  # times a longer distance it is infinite, and zero times that is NaN
RIGID = 1e-11  # sum of squared deviations above which a matrix is not a rigid transform


@inner
def deviation(x, y, z, p, last, corner):
    """Return the sum of squared deviations of a matrix from a rigid transform; NaN if it is not finite or too far away.

    Args: the rows of its rotation, its origin, and its last row; numbers or lanes.
    """
    off = dot(x, y) * dot(x, y) + dot(y, z) * dot(y, z) + dot(z, x) * dot(z, x)
    for row in (x, y, z):
        length = dot(row, row) - 1.0
        off = off + length * length
    off = off + dot(last, last) + (corner - 1.0) * (corner - 1.0)
    return off + 0.0 * (OVERFLOW * p[0]) + 0.0 * (OVERFLOW * p[1]) + 0.0 * (OVERFLOW * p[2])


@inner
def is_right_handed(x, y, z):
    """Return whether the determinant of three rows is positive."""
    return dot(x, cross(y, z)) > 0.0


@part
def is_rigid(targets, at):
    """Return whether a target (4, 4), stored row by row from `at` on, is a finite rigid transform, not too far away."""
    x, y, z, last = vector(targets, at), vector(targets, at + 4), vector(targets, at + 8), vector(targets, at + 12)
    p = load(targets, at + 3), load(targets, at + 7), load(targets, at + 11)
    return (deviation(x, y, z, p, last, load(targets, at + 15)) < RIGID) & is_right_handed(x, y, z)


@kernel("f8[,,] i8[]", nogil=True)
def rigid_targets(targets, good):
    """Write for each target (4, 4) whether it is a finite rigid transform that is not too far away."""
    numbers = flat(targets)
    for i in range(targets.shape[0]):
        good[i] = 1 if is_rigid(numbers, 16 * i) else 0
