"""How far a frame is from where it should be: six numbers, the way there and the turn there.

Imports nothing but the compiler. Scalars only: what follows (a solve) costs far more than this.
"""

from __future__ import annotations

import math

from . import inner, kernel


@inner
def turn_between(a, b, out):
    """Write into out[3:6] the rotation vector in the world that turns the axes of `a` onto those of `b`.

    The quaternion of ``b a^T``, taken from its largest component, gives it accurately at any angle up to half a turn.
    """
    m00 = b[0, 0] * a[0, 0] + b[0, 1] * a[0, 1] + b[0, 2] * a[0, 2]
    m01 = b[0, 0] * a[1, 0] + b[0, 1] * a[1, 1] + b[0, 2] * a[1, 2]
    m02 = b[0, 0] * a[2, 0] + b[0, 1] * a[2, 1] + b[0, 2] * a[2, 2]
    m10 = b[1, 0] * a[0, 0] + b[1, 1] * a[0, 1] + b[1, 2] * a[0, 2]
    m11 = b[1, 0] * a[1, 0] + b[1, 1] * a[1, 1] + b[1, 2] * a[1, 2]
    m12 = b[1, 0] * a[2, 0] + b[1, 1] * a[2, 1] + b[1, 2] * a[2, 2]
    m20 = b[2, 0] * a[0, 0] + b[2, 1] * a[0, 1] + b[2, 2] * a[0, 2]
    m21 = b[2, 0] * a[1, 0] + b[2, 1] * a[1, 1] + b[2, 2] * a[1, 2]
    m22 = b[2, 0] * a[2, 0] + b[2, 1] * a[2, 1] + b[2, 2] * a[2, 2]
    trace = m00 + m11 + m22
    if trace >= m00 and trace >= m11 and trace >= m22:
        w, x, y, z = 1.0 + trace, m21 - m12, m02 - m20, m10 - m01
    elif m00 >= m11 and m00 >= m22:
        w, x, y, z = m21 - m12, 1.0 + 2.0 * m00 - trace, m01 + m10, m02 + m20
    elif m11 >= m22:
        w, x, y, z = m02 - m20, m01 + m10, 1.0 + 2.0 * m11 - trace, m12 + m21
    else:
        w, x, y, z = m10 - m01, m02 + m20, m12 + m21, 1.0 + 2.0 * m22 - trace
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 0.0 else 0.0
    out[3], out[4], out[5] = scale * x, scale * y, scale * z


@kernel
def pose_errors(frames, target, out):
    """Write the errors (n, 6) of frames (n, 4, 4) against one target (4, 4): metres along, then radians about, xyz."""
    for i in range(frames.shape[0]):
        for k in range(3):
            out[i, k] = target[k, 3] - frames[i, k, 3]
        turn_between(frames[i], target, out[i])
