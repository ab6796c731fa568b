"""Vectors and 3x3 matrices inside kernels, and the rotation that fits a set of rays best.

Imports nothing but the compiler. Vectors are tuples or rows of arrays; matrices are written into arrays passed in,
which must not be those that are read.
"""

from __future__ import annotations

import math

from . import inner


@inner
def product(a, b, out):
    """Write the product of two 3x3 matrices."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@inner
def product_back(a, b, out):
    """Write ``a b^T``."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]


@inner
def back_product(a, b, out):
    """Write ``a^T b``."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]


@inner
def copy(a, out):
    """Write a 3x3 matrix."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, j]


@inner
def scaled_unit(size, out):
    """Write a multiple of the 3x3 unit matrix."""
    for i in range(3):
        for j in range(3):
            out[i, j] = size if i == j else 0.0


@inner
def applied(a, v):
    """Return a 3x3 matrix times a vector."""
    return (
        a[0, 0] * v[0] + a[0, 1] * v[1] + a[0, 2] * v[2],
        a[1, 0] * v[0] + a[1, 1] * v[1] + a[1, 2] * v[2],
        a[2, 0] * v[0] + a[2, 1] * v[1] + a[2, 2] * v[2],
    )


@inner
def plus(a, b):
    """Return the sum of two vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inner
def minus(a, b):
    """Return the difference of two vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inner
def length(a):
    """Return the length of a vector."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inner
def across(a, b):
    """Return the length of the vector product."""
    return length((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


@inner
def place(v, out):
    """Write a vector."""
    out[0], out[1], out[2] = v[0], v[1], v[2]


@inner
def add_ray(M, weight, ray, towards):
    """Add ``weight ray towards^T``."""
    for i in range(3):
        for j in range(3):
            M[i, j] += weight * ray[i] * towards[j]


@inner
def axis_matrix(a, angle, out):
    """Write the rotation about a unit axis."""
    x, y, z = a[0], a[1], a[2]
    s, c = math.sin(angle), math.cos(angle)
    v = 1.0 - c
    out[0, 0], out[0, 1], out[0, 2] = c + x * x * v, x * y * v - z * s, x * z * v + y * s
    out[1, 0], out[1, 1], out[1, 2] = x * y * v + z * s, c + y * y * v, y * z * v - x * s
    out[2, 0], out[2, 1], out[2, 2] = x * z * v - y * s, y * z * v + x * s, c + z * z * v


@inner
def quaternion_into(w, x, y, z, out):
    """Write the rotation of a quaternion of any length but zero."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    out[0, 0], out[0, 1], out[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    out[1, 0], out[1, 1], out[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    out[2, 0], out[2, 1], out[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


@inner
def best_rotation(M, N, V, out):
    """Write the rotation Q with the largest ``trace(Q M)``, using room N and V (4, 4).

    Its quaternion is the first eigenvector of Horn's matrix, found by Jacobi's rotations.
    """
    N[0, 0] = M[0, 0] + M[1, 1] + M[2, 2]
    N[1, 1], N[2, 2], N[3, 3] = M[0, 0] - M[1, 1] - M[2, 2], M[1, 1] - M[0, 0] - M[2, 2], M[2, 2] - M[0, 0] - M[1, 1]
    N[0, 1], N[0, 2], N[0, 3] = M[1, 2] - M[2, 1], M[2, 0] - M[0, 2], M[0, 1] - M[1, 0]
    N[1, 2], N[1, 3], N[2, 3] = M[0, 1] + M[1, 0], M[2, 0] + M[0, 2], M[1, 2] + M[2, 1]
    for i in range(4):
        for j in range(4):
            V[i, j] = 1.0 if i == j else 0.0
            if j < i:
                N[i, j] = N[j, i]
    for _ in range(10):  # sweeps of Jacobi's rotations; five or six are enough for the last digit
        off, on = 0.0, 0.0
        for i in range(4):
            on += N[i, i] * N[i, i]
            for j in range(i):
                off += N[i, j] * N[i, j]
        if off <= 1e-33 * on:
            break
        for i in range(3):
            for j in range(i + 1, 4):
                if N[i, j] != 0.0:
                    jacobi(N, V, i, j)
    top = 0
    for i in range(1, 4):
        if N[i, i] > N[top, top]:
            top = i
    quaternion_into(V[0, top], V[1, top], V[2, top], V[3, top], out)


@inner
def jacobi(N, V, i, j):
    """Turn a symmetric matrix in the plane of two coordinates so that their entry vanishes."""
    half = (N[j, j] - N[i, i]) / (2.0 * N[i, j])
    tangent = (1.0 if half >= 0.0 else -1.0) / (abs(half) + math.sqrt(half * half + 1.0))
    c = 1.0 / math.sqrt(tangent * tangent + 1.0)
    s = tangent * c
    for k in range(4):
        N[k, i], N[k, j] = c * N[k, i] - s * N[k, j], s * N[k, i] + c * N[k, j]
    for k in range(4):
        N[i, k], N[j, k] = c * N[i, k] - s * N[j, k], s * N[i, k] + c * N[j, k]
        V[k, i], V[k, j] = c * V[k, i] - s * V[k, j], s * V[k, i] + c * V[k, j]
