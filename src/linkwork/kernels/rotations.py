"""Vectors and 3x3 matrices inside kernels, and the rotation that best fits a set of rays.

A vector is a tuple of three numbers. Matrices lie in memory as 9 numbers, row by row; input and output memory must not
overlap. Loops are used instead of written-out sums because they compile faster and run as fast.
"""

from __future__ import annotations

import math

from . import inner, part
from .lanes import beyond


@inner
def vector(memory, i):
    """Return vector number `i` of an array of vectors."""
    return memory[3 * i], memory[3 * i + 1], memory[3 * i + 2]


@inner
def place(v, memory, i):
    """Write a vector as number `i` of an array of vectors."""
    memory[3 * i], memory[3 * i + 1], memory[3 * i + 2] = v


@inner
def matrix(memory, i):
    """Return matrix number `i` of an array of matrices."""
    return beyond(memory, 9 * i)


@inner
def plus(a, b):
    """Return the sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner
def minus(a, b):
    """Return the difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner
def times(factor, a):
    """Return a multiple of a vector."""
    return factor * a[0], factor * a[1], factor * a[2]


@inner
def cross(a, b):
    """Return the cross product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def dot(a, b):
    """Return the dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def length(a):
    """Return the length of a vector."""
    return math.sqrt(dot(a, a))


@inner
def applied(a, v):
    """Return a matrix times a vector."""
    return dot(vector(a, 0), v), dot(vector(a, 1), v), dot(vector(a, 2), v)


@inner
def copy(a, out):
    """Write a copy of a matrix."""
    for i in range(9):
        out[i] = a[i]


@inner
def scaled_unit(size, out):
    """Write a multiple of the identity matrix."""
    for i in range(9):
        out[i] = size if i % 4 == 0 else 0.0


@part
def product(a, b, out):
    """Write the product of two matrices."""
    for i in range(0, 9, 3):
        for j in range(3):
            out[i + j] = a[i] * b[j] + a[i + 1] * b[j + 3] + a[i + 2] * b[j + 6]


@part
def product_back(a, b, out):
    """Write ``a b^T``."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = dot(vector(a, i), vector(b, j))


@part
def back_product(a, b, out):
    """Write ``a^T b``."""
    for i in range(3):
        for j in range(3):
            out[3 * i + j] = a[i] * b[j] + a[i + 3] * b[j + 3] + a[i + 6] * b[j + 6]


@inner
def add_ray(M, weight, ray, towards):
    """Add ``weight ray towards^T`` to the matrix M."""
    for i in range(3):
        place(plus(vector(M, i), times(weight * ray[i], towards)), M, i)


@inner
def turn_terms(M, a):
    """Return A and B of ``trace(Q M) = A cos t + B sin t + constant``, where Q rotates by t about the unit axis a."""
    cosine = M[0] + M[4] + M[8] - dot(a, applied(M, a))
    return cosine, dot(a, (M[5] - M[7], M[6] - M[2], M[1] - M[3]))


@inner
def best_turn(cosine, sine, low, high):
    """Return the angle within [low, high] at which ``cosine cos t + sine sin t`` is largest."""
    angle = math.atan2(sine, cosine) if cosine != 0.0 or sine != 0.0 else 0.0
    if angle < low:
        angle += 2.0 * math.pi
    elif angle > high:
        angle -= 2.0 * math.pi
    if low <= angle <= high:
        return angle
    at_low = cosine * math.cos(low) + sine * math.sin(low)
    at_high = cosine * math.cos(high) + sine * math.sin(high)
    return low if at_low > at_high else high


@part
def quaternion_into(w, x, y, z, out):
    """Write the rotation matrix of a quaternion of any nonzero length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    place((1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)), out, 0)
    place((s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)), out, 1)
    place((s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)), out, 2)


@inner
def quaternion_product(a, b):
    """Return the product of two quaternions, w first."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inner
def rotation_vector(w, x, y, z):
    """Return the rotation vector [rad] of a quaternion of any nonzero length, for the shorter rotation."""
    sine = math.sqrt(x * x + y * y + z * z)
    if w < 0.0:  # use the other quaternion of the same rotation
        w, sine = -w, -sine
    scale = 2.0 * math.atan2(abs(sine), w) / sine if sine != 0.0 else 0.0
    return scale * x, scale * y, scale * z


@inner
def axis_matrix(a, angle, out):
    """Write the rotation matrix about a unit axis by an angle [rad]."""
    x, y, z = times(math.sin(0.5 * angle), a)
    quaternion_into(math.cos(0.5 * angle), x, y, z, out)


BEST_ROTATION_SIZE = 32  # two 4x4 matrices


@part
def best_rotation(M, room, out):
    """Write the rotation Q with the largest ``trace(Q M)``; `room` is workspace of BEST_ROTATION_SIZE numbers.

    Its quaternion is the eigenvector of the largest eigenvalue of Horn's 4x4 matrix N, found by Jacobi rotations, which
    are accumulated in V.
    """
    N, V = room, beyond(room, 16)
    N[0], N[5], N[10], N[15] = M[0] + M[4] + M[8], M[0] - M[4] - M[8], M[4] - M[0] - M[8], M[8] - M[0] - M[4]
    N[1], N[2], N[3] = M[5] - M[7], M[6] - M[2], M[1] - M[3]
    N[6], N[7], N[11] = M[1] + M[3], M[6] + M[2], M[5] + M[7]
    for i in range(4):
        for j in range(4):
            V[4 * i + j] = 1.0 if i == j else 0.0
            if j < i:
                N[4 * i + j] = N[4 * j + i]
    for _ in range(10):  # sweeps of Jacobi rotations; five or six give full precision
        off, on = 0.0, 0.0
        for i in range(4):
            on += N[5 * i] * N[5 * i]
            for j in range(i):
                off += N[4 * i + j] * N[4 * i + j]
        if off <= 1e-33 * on:
            break
        for i in range(3):
            for j in range(i + 1, 4):
                if N[4 * i + j] != 0.0:
                    jacobi(N, V, i, j)
    top = 0
    for i in range(1, 4):
        if N[5 * i] > N[5 * top]:
            top = i
    quaternion_into(V[top], V[top + 4], V[top + 8], V[top + 12], out)


@part
def jacobi(N, V, i, j):
    """Apply the Jacobi rotation that zeroes entries (i, j) and (j, i) of a symmetric 4x4 matrix; accumulate it in V."""
    half = (N[5 * j] - N[5 * i]) / (2.0 * N[4 * i + j])
    tangent = math.copysign(1.0, half) / (abs(half) + math.sqrt(half * half + 1.0))
    c = 1.0 / math.sqrt(tangent * tangent + 1.0)
    s = tangent * c
    for k in range(4):
        swing_pair(N, 4 * k + i, 4 * k + j, c, s)
    for k in range(4):
        swing_pair(N, 4 * i + k, 4 * j + k, c, s)
        swing_pair(V, 4 * k + i, 4 * k + j, c, s)


@inner
def swing_pair(memory, i, j, c, s):
    """Rotate two numbers of memory, as coordinates in a plane, by the angle with cosine `c` and sine `s`."""
    memory[i], memory[j] = c * memory[i] - s * memory[j], s * memory[i] + c * memory[j]
