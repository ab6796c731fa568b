"""The steps of the textbook's Jacobian methods: each is its equation.

J is the weighted Jacobian (m, n), V the weighted error of m rows; the change has n values. The methods of
`linkwork.solvers.jacobian` are the same equations in NumPy, with the chapter's numbering; tests compare both. Matrices
lie in memory row by row; `room` is workspace of `textbook_room` numbers.
"""

from __future__ import annotations

import math
from collections import namedtuple

from . import inner, kernel, part
from .dense import (
    decompose,
    eliminate,
    product,
    put_columns_squared,
    put_product,
    put_rows_squared,
    put_transposed,
)
from .lanes import beyond, divided, flat

INVERSE, PSEUDOINVERSE, ROWS, COLUMNS, DAMPED, SELECTIVELY_DAMPED, CONTROL, ALTERNATIVE, TRANSPOSE = range(9)
ADAPTIVE = -1.0  # in place of a damping: depends on the error
GAIN, LEAST = 0.05, 1.0e-9  # of the adaptive damping: factors on the squared error and on the linkage's squared length
TINY = 1.0e-300
Room = namedtuple("Room", "matrix u v sigma x")


@inner
def room_sizes(m, n):
    """Return the size of each part of the workspace."""
    return Room(max(m, n) * max(m, n), min(m, n) * m, min(m, n) * n, min(m, n), max(m, n))


def textbook_room(m: int, n: int) -> int:
    """Return the size of the workspace of the steps for a Jacobian (m, n), in numbers."""
    return int(sum(room_sizes.py_func(m, n)))


# The equations


@part
def transpose(J, V, m, n, alpha, room, out):
    """Write ``alpha J^T V`` and return alpha: the given one or, if that is 0, the one that best fits V.

    That is ``(V . JJ^T V) / |JJ^T V|²``; 0 if no joint helps.
    """
    put_transposed(J, V, m, n, out)
    if alpha == 0.0:
        put_product(J, out, m, n, room.x)
        square = product(room.x, room.x, m)
        alpha = product(V, room.x, m) / square if square > 0.0 else 0.0
    for j in range(n):
        out[j] *= alpha
    return alpha


@part
def damped(J, V, m, n, squared_damping, room, out):
    """Write ``J^T (J J^T + lambda² I)^-1 V``, or the equal ``(J^T J + lambda² I)^-1 J^T V`` if that is smaller.

    Return whether the matrix is regular; any damping makes it regular.
    """
    if m <= n:
        return through_rows(J, V, m, n, squared_damping, room, out)
    return through_columns(J, V, m, n, squared_damping, room, out)


@part
def through_rows(J, V, m, n, squared_damping, room, out):
    """Write ``J^T beta``, with ``(J J^T + lambda² I) beta = V`` solved by elimination: the printed form for rows."""
    put_rows_squared(J, m, n, squared_damping, room.matrix)
    for i in range(m):
        room.x[i] = V[i]
    regular = eliminate(room.matrix, room.x, m)
    put_transposed(J, room.x, m, n, out)
    return regular


@part
def through_columns(J, V, m, n, squared_damping, room, out):
    """Solve ``(J^T J + lambda² I) change = J^T V`` by elimination: the printed form for columns."""
    put_columns_squared(J, m, n, squared_damping, room.matrix)
    put_transposed(J, V, m, n, out)
    return eliminate(room.matrix, out, n)


@part
def along_directions(V, m, n, least, room, out):
    """Write ``sum (u_i . V) v_i / sigma_i`` over the singular values above `least`; return how many there are."""
    kept = 0
    for j in range(n):
        out[j] = 0.0
    for i in range(min(m, n)):
        if room.sigma[i] > least:
            kept += 1
            amount = product(beyond(room.u, m * i), V, m) / room.sigma[i]
            for j in range(n):
                out[j] += amount * room.v[n * i + j]
    return kept


@part
def pseudoinverse(J, V, m, n, rank, room, out):
    """Write ``J^+ V`` by singular values, without those below `rank` times the largest; return the rank."""
    largest = decompose(J, m, n, room.sigma, room.u, room.v)
    return along_directions(V, m, n, rank * largest, room, out)


@part
def inverse(J, V, n, singular, rank, room, out):
    """Write ``J^-1 V`` or, if the smallest singular value is not above `singular` times the largest, ``J^+ V``.

    Return whether it is near a singularity in this sense.
    """
    largest = decompose(J, n, n, room.sigma, room.u, room.v)
    least = largest
    for i in range(n):
        least = min(least, room.sigma[i])
    near = not least > singular * largest
    if near:
        along_directions(V, n, n, rank * largest, room, out)
        return near
    for i in range(n):
        out[i] = V[i]
        for j in range(n):
            room.matrix[n * i + j] = J[n * i + j]
    eliminate(room.matrix, out, n)
    return near


@part
def control(J, V, m, n, z, rank, room, out):
    """Write ``J^+ (V + J z) - z``: the pseudoinverse, with a preferred change -z in the null space. V is changed."""
    put_product(J, z, m, n, room.x)
    for i in range(m):
        V[i] += room.x[i]
    pseudoinverse(J, V, m, n, rank, room, out)
    for j in range(n):
        out[j] -= z[j]


@part
def clamp(vector, count, largest):
    """Scale a vector down, if needed, so that no entry exceeds a bound."""
    size = 0.0
    for j in range(count):
        size = max(size, abs(vector[j]))
    factor = min(1.0, largest / max(size, TINY))
    for j in range(count):
        vector[j] *= factor


@inner
def block_norms(entries, stride, m, blocks, count):
    """Return the sum of the norms of the blocks of a column, whose entries are `stride` apart."""
    total = 0.0
    for b in range(count):
        square = 0.0
        for i in range(blocks[b], blocks[b + 1] if b + 1 < count else m):
            square += entries[stride * i] * entries[stride * i]
        total += math.sqrt(square)
    return total


@part
def selectively_damped(J, V, m, n, blocks, count, gamma, rank, room, out):
    """Write the step of Buss and Kim: each singular direction is damped individually.

    Direction i would change the pose by ``phi_i = (u_i . V) v_i / sigma_i``. It may move no joint by more than
    ``gamma_i = min(1, N_i / M_i) gamma``, where N_i is how far it moves the effectors and M_i how far the joints, one
    by one, would move them. `blocks` are the rows where the positions and rotations of the effectors begin.
    """
    largest = decompose(J, m, n, room.sigma, room.u, room.v)
    phi = room.x
    for j in range(n):
        out[j] = 0.0
    for i in range(min(m, n)):
        sigma, u, v = room.sigma[i], beyond(room.u, m * i), beyond(room.v, n * i)
        if not sigma > rank * max(largest, TINY):
            continue
        N, M = block_norms(u, 1, m, blocks, count), 0.0
        for j in range(n):
            M += abs(v[j]) * block_norms(beyond(J, j), n, m, blocks, count) / sigma
        amount = product(u, V, m) / sigma
        for j in range(n):
            phi[j] = amount * v[j]
        clamp(phi, n, gamma * min(1.0, N / max(M, TINY)))
        for j in range(n):
            out[j] += phi[j]
    clamp(out, n, gamma)


# Dispatch


@inner
def squared_damping(damping, V, m, length):
    """Return lambda² for an error V and a linkage of a given length [m]."""
    if damping == ADAPTIVE:
        return GAIN * product(V, V, m) + LEAST * length * length + TINY
    return damping * damping + TINY


@part
def jacobian_step(method, J, V, m, n, blocks, count, z, amount, length, rank, room, out):
    """Write the step of a method and return its note for a trace; NaN if a printed form has no inverse.

    `amount` is the method's own parameter: singular, damping, gamma or alpha. V may be changed.
    """
    if method == INVERSE:
        return 1.0 if inverse(J, V, n, amount, rank, room, out) else 0.0
    if method == ROWS:
        return 0.0 if through_rows(J, V, m, n, 0.0, room, out) else math.nan
    if method == COLUMNS:
        return 0.0 if through_columns(J, V, m, n, 0.0, room, out) else math.nan
    if method == DAMPED:
        squared = squared_damping(amount, V, m, length)
        damped(J, V, m, n, squared, room, out)
        return math.sqrt(squared)
    if method == SELECTIVELY_DAMPED:
        selectively_damped(J, V, m, n, blocks, count, amount, rank, room, out)
        return 0.0
    if method == CONTROL:
        control(J, V, m, n, z, rank, room, out)
        return 0.0
    if method == TRANSPOSE:
        return transpose(J, V, m, n, amount, room, out)
    return float(pseudoinverse(J, V, m, n, rank, room, out))


@kernel("i8 f8[,] f8[] i8[] f8[] f8 f8 f8 f8[] f8[] -> f8")
def textbook_step(method, jacobian, error, blocks, wish, amount, length, rank, memory, change):
    """Write the step of a method for a Jacobian (m, n) and an error, which may be changed; see `jacobian_step`."""
    m, n = jacobian.shape
    room = divided(flat(memory), room_sizes(m, n))
    given = flat(jacobian), flat(error)
    return jacobian_step(
        method, *given, m, n, flat(blocks), blocks.size, flat(wish), amount, length, rank, room, flat(change)
    )
