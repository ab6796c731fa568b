"""One step down a chain: a constant transform, then an elementary motion. Shared by all forward sweeps.

A frame is four columns ``x, y, z, p``, each a tuple of three numbers or lanes: its axes and its origin in the world.
The two arrays `codes` and `numbers` hold one row for each step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner
from .lanes import bits, by_precision, exact_cos, exact_sin, fabs, fill, load, mantissa_bit, select
from .layout import Layout
from .rotations import plus

ROW_CODES = Layout("motion", "axis", "value", "constant")  # axis: 0 x, 1 y, 2 z; value: index in the pose
TRANSFORM = Layout(("axes", 9), ("origin", 3))  # column by column: x, y, z and the origin
# the constant transform; the motion is by multiplier * value + offset
ROW_NUMBERS = Layout(("transform", TRANSFORM.size), "multiplier", "offset", "advance")
STAY, REVOLUTE, PRISMATIC, SCREW, BALL = 0, 1, 2, 3, 4  # motions
IDENTITY, SHIFT, GENERAL = 0, 1, 2  # forms of the constant transform
SHORTEST, LONGEST = 1.0e-203, 1.0e203  # bounds of squared lengths of quaternions that have a direction
LARGE_ANGLE, LARGE_ANGLE_32 = 1.0e5, 1.0e3
ROUND, ROUND_32 = 6755399441055744.0, 12582912.0  # 1.5 * 2**52, 1.5 * 2**23: the nearest integer moves to the low bits
TWO_OVER_PI = 0.63661977236758134308
# pi / 2 in three parts; the first two have few enough bits for exact products with the number of quarter turns
HIGH, MIDDLE, LOW = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
HIGH_32, MIDDLE_32, LOW_32 = 1.5703125, 4.837512969970703125e-4, 7.549789948768648e-8


@inner
def sine_cosine(angle):
    """Return the sine and cosine of numbers or lanes [rad], accurate to two or three units in the last place.

    The angle is reduced to [-pi/4, pi/4] by multiples of pi/2, held in three parts. There, two minimax polynomials
    (degrees 13 and 14) give both; the low bits of the multiple select which is which and their signs.
    """
    bias = by_precision(angle, ROUND, ROUND_32)
    shifted = angle * by_precision(angle, TWO_OVER_PI, TWO_OVER_PI) + bias
    turns = shifted - bias
    r = (angle - turns * by_precision(angle, HIGH, HIGH_32)) - turns * by_precision(angle, MIDDLE, MIDDLE_32)
    r = r - turns * by_precision(angle, LOW, LOW_32)
    z = r * r
    s = 1.58962301576546568060e-10 * z - 2.50507477628578072866e-8
    s = (s * z + 2.75573136213857245213e-6) * z - 1.98412698295895385996e-4
    s = (s * z + 8.33333333332211858878e-3) * z - 1.66666666666666307295e-1
    s = r + r * z * s
    c = -1.13585365213876817300e-11 * z + 2.08757008419747316778e-9
    c = (c * z - 2.75573141792967388112e-7) * z + 2.48015872888517045348e-5
    c = (c * z - 1.38888888888730564116e-3) * z + 4.16666666666665929218e-2
    c = 1.0 - 0.5 * z + z * z * c
    odd = mantissa_bit(shifted, 0)
    sine, cosine = select(odd, c, s), select(odd, s, c)
    sine = select(mantissa_bit(shifted, 1), -sine, sine)
    cosine = select(mantissa_bit(shifted + by_precision(angle, 1.0, 1.0), 1), -cosine, cosine)
    large = fabs(angle) > by_precision(angle, LARGE_ANGLE, LARGE_ANGLE_32)
    if bits(large) != 0:
        sine, cosine = select(large, exact_sin(angle), sine), select(large, exact_cos(angle), cosine)
    return sine, cosine


@inner
def vector(memory, at):
    """Return three consecutive items of memory."""
    return load(memory, at), load(memory, at + 1), load(memory, at + 2)


@inner
def blend(x, y, z, a, b, c):
    """Return the vector a x + b y + c z."""
    return x[0] * a + y[0] * b + z[0] * c, x[1] * a + y[1] * b + z[1] * c, x[2] * a + y[2] * b + z[2] * c


@inner
def along(p, axis, amount):
    """Return the point moved by an amount along an axis."""
    return p[0] + axis[0] * amount, p[1] + axis[1] * amount, p[2] + axis[2] * amount


@inner
def swing(a, b, sine, cosine):
    """Return two perpendicular axes rotated in their plane, a towards b."""
    return (
        (a[0] * cosine + b[0] * sine, a[1] * cosine + b[1] * sine, a[2] * cosine + b[2] * sine),
        (b[0] * cosine - a[0] * sine, b[1] * cosine - a[1] * sine, b[2] * cosine - a[2] * sine),
    )


@inner
def place(constant, m, at, x, y, z, p):
    """Return the frame after a constant transform (the chapter's Lmatrix), a TRANSFORM at offset `at` of `m`."""
    if constant != IDENTITY:
        p = plus(p, blend(x, y, z, *vector(m, at + TRANSFORM.origin)))
        if constant == GENERAL:
            a = at + TRANSFORM.axes
            b, c, d = vector(m, a), vector(m, a + 3), vector(m, a + 6)
            x, y, z = blend(x, y, z, *b), blend(x, y, z, *c), blend(x, y, z, *d)
    return x, y, z, p


@inner
def pick(axis, x, y, z):
    """Return the column x, y or z for an axis code."""
    if axis == 0:
        return x
    if axis == 1:
        return y
    return z


@inner
def turn(axis, angle, x, y, z):
    """Return the axes rotated about one of themselves by an angle [rad]."""
    sine, cosine = sine_cosine(angle)
    if axis == 0:
        y, z = swing(y, z, sine, cosine)
    elif axis == 1:
        z, x = swing(z, x, sine, cosine)
    else:
        x, y = swing(x, y, sine, cosine)
    return x, y, z


@inner
def turn_by_quaternion(w, i, j, k, x, y, z):
    """Return the axes rotated by a quaternion; NaN if its length is zero, infinite or otherwise out of range."""
    square = w * w + i * i + j * j + k * k
    s = select((square >= SHORTEST) & (square <= LONGEST), 2.0 / square, math.nan)
    return (
        blend(x, y, z, 1.0 - s * (j * j + k * k), s * (i * j + w * k), s * (i * k - w * j)),
        blend(x, y, z, s * (i * j - w * k), 1.0 - s * (i * i + k * k), s * (j * k + w * i)),
        blend(x, y, z, s * (i * k + w * j), s * (j * k - w * i), 1.0 - s * (i * i + j * j)),
    )


@inner
def step(codes, numbers, row, q, x, y, z, p):
    """Return the frame one row further down the chain: ``frame * constant * motion(q)``."""
    code, at = ROW_CODES.size * row, ROW_NUMBERS.size * row
    x, y, z, p = place(load(codes, code + ROW_CODES.constant), numbers, at + ROW_NUMBERS.transform, x, y, z, p)
    motion, axis = load(codes, code + ROW_CODES.motion), load(codes, code + ROW_CODES.axis)
    value = load(codes, code + ROW_CODES.value)
    if motion == BALL:
        x, y, z = turn_by_quaternion(load(q, value), *vector(q, value + 1), x, y, z)
    elif motion != STAY:
        amount = load(q, value) * load(numbers, at + ROW_NUMBERS.multiplier) + load(numbers, at + ROW_NUMBERS.offset)
        if motion != REVOLUTE:
            p = along(p, pick(axis, x, y, z), amount * load(numbers, at + ROW_NUMBERS.advance))
        if motion != PRISMATIC:
            x, y, z = turn(axis, amount, x, y, z)
    return x, y, z, p


@inner
def start(q):
    """Return the world frame in the type of `q`, numbers or lanes."""
    zero, one = fill(q, 0.0), fill(q, 1.0)
    return (one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, zero, zero)


def transform(matrices: NDArray[Any]) -> NDArray[Any]:
    """Return transforms (..., 4, 4) in the layout TRANSFORM, shape (..., 12)."""
    return np.swapaxes(matrices[..., :3, :], -1, -2).reshape(*matrices.shape[:-2], TRANSFORM.size)


def xyz_quaternion(sines: Any, cosines: Any) -> tuple[Any, ...]:
    """Return the quaternion, w first, of rotations about moving x, y, z axes, from sines and cosines of half angles."""
    (a, b, c), (d, e, f) = cosines, sines
    return a * b * c - d * e * f, d * b * c + a * e * f, a * e * c - d * b * f, d * e * c + a * b * f
