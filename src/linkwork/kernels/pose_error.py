"""Errors of frames against a target pose: displacement and rotation vector, six numbers.

Scalar code is enough: the solve that follows costs far more.
"""

from __future__ import annotations

from . import inner, kernel, part
from .lanes import beyond, flat
from .rotations import dot, rotation_vector, vector


@inner
def rows_dot(b, i, a, j, width):
    """Return the dot product of row i of one matrix and row j of another, whose rows are `width` numbers long."""
    return dot(vector(beyond(b, width * i), 0), vector(beyond(a, width * j), 0))


@part
def turn_between(a, b, width):
    """Return the rotation vector, in world axes [rad], that rotates the axes of `a` onto those of `b`.

    Both are matrices with rows of `width` numbers, 3 or 4. The quaternion of ``b a^T``, computed from its largest
    component, is accurate at any angle up to half a turn.
    """
    m00, m11, m22 = rows_dot(b, 0, a, 0, width), rows_dot(b, 1, a, 1, width), rows_dot(b, 2, a, 2, width)
    m01, m10 = rows_dot(b, 0, a, 1, width), rows_dot(b, 1, a, 0, width)
    m02, m20 = rows_dot(b, 0, a, 2, width), rows_dot(b, 2, a, 0, width)
    m12, m21 = rows_dot(b, 1, a, 2, width), rows_dot(b, 2, a, 1, width)
    trace, largest = m00 + m11 + m22, max(m00, m11, m22)
    if trace >= largest:
        w, x, y, z = 1.0 + trace, m21 - m12, m02 - m20, m10 - m01
    elif m00 == largest:
        w, x, y, z = m21 - m12, 1.0 + 2.0 * m00 - trace, m01 + m10, m02 + m20
    elif m11 == largest:
        w, x, y, z = m02 - m20, m01 + m10, 1.0 + 2.0 * m11 - trace, m12 + m21
    else:
        w, x, y, z = m10 - m01, m02 + m20, m12 + m21, 1.0 + 2.0 * m22 - trace
    return rotation_vector(w, x, y, z)


@kernel("f8[,,] f8[,] f8[,]")
def pose_errors(frames, target, out):
    """Write the errors (n, 6) of frames (n, 4, 4) against one target (4, 4), in world axes: metres, then radians."""
    a, b, errors = flat(frames), flat(target), flat(out)
    for i in range(frames.shape[0]):
        frame, error = beyond(a, 16 * i), beyond(errors, 6 * i)
        for k in range(3):
            error[k] = b[4 * k + 3] - frame[4 * k + 3]
        error[3], error[4], error[5] = turn_between(frame, b, 4)
