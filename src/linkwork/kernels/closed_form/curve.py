"""Curves of poses that all reach one goal: a one-dimensional set of solutions, followed step by step.

A chain of n values and a goal of n - 1 independent errors leave a curve. A step goes along its tangent, then Newton's
method returns to the curve in the plane perpendicular to the tangent (pseudo-arclength continuation)::

    [ J ]          [ e ]            [ J ]            [ 0 ]
    [ t ] change = [ 0 ]            [ t ] tangent  = [ 1 ]

Folds, where a joint reverses its direction, need no special treatment. The determinant of the matrix keeps its sign
along a regular curve: a step that changes it has jumped to another curve, close by, and is repeated with half the
length. The arrays of the chain are laid out in `chain_memory`; values are divided by `scales`, so that translations and
rotations are comparable.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import CODE, LIMITS, chain_of
from ..damped import TURN, columns, tip_error
from ..lanes import beyond, cells, divided, flat, load, store

CLOSED, LEFT, FULL, STUCK = 0, 1, 2, 3  # how a trace ends: closed, beyond a stop, out of memory, singular
FIRST_STEP, LONGEST_STEP, SHORTEST_STEP = 0.03, 0.25, 1.0e-7
TURN_WANTED, TURN_MOST = 0.12, 0.25  # wanted and largest angle between the tangents of neighbours [rad]
ASIDE, ALWAYS = 0.7, 1.0e-3  # how far Newton's method may move a step sideways, times angle and step; and minimum
NEWTON, NEAR, NEAR_ENOUGH = 8, 1.0e-12, 1.0e-8
SAME = 1.0e-6  # a closed curve returns to its start within this distance
SINGULAR = 1.0e-14  # smallest pivot
Room = namedtuple("Room", "work error matrix change tangent trial plane")
Curve = namedtuple("Curve", "chain rows values goal mix scales")


@inner
def room_sizes(rows, values):
    """Return the size of each part of the workspace, in numbers."""
    return Room(6 * rows, 6, values * values, values, values, values, values)


@part
def put_system(curve, room, v):
    """Write error, matrix and both right sides at values `v`; the last row of the matrix is the plane. Return errors.

    They are squared, of the position [m²] and of the rotation.
    """
    chain, n = curve.chain, curve.values
    z, tip, e, p, r = tip_error(chain.codes, chain.numbers, curve.rows, chain.settings, curve.goal, v, room.work)
    columns(chain.codes, chain.numbers, curve.rows, chain.settings, tip, z, room.work)
    for k in range(6):
        store(room.error, k, e[k])
    for i in range(n - 1):
        total = 0.0
        for k in range(6):
            total += load(curve.mix, 6 * i + k) * load(room.error, k)
        store(room.change, i, total)
        store(room.tangent, i, 0.0)
        for j in range(n):
            total = 0.0
            for k in range(6):
                total += load(curve.mix, 6 * i + k) * load(room.work, 6 * j + k)
            store(room.matrix, n * i + j, total * load(curve.scales, j))
    for j in range(n):
        store(room.matrix, n * (n - 1) + j, load(room.plane, j))
    store(room.change, n - 1, 0.0)
    store(room.tangent, n - 1, 1.0)
    return p, r


@part
def swap(memory, i, j):
    """Exchange two numbers."""
    x = load(memory, i)
    store(memory, i, load(memory, j))
    store(memory, j, x)


@part
def eliminate_both(matrix, one, two, n):
    """Solve for two right sides in place; return the sign of the determinant, 0 if the matrix is singular."""
    sign = 1
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(load(matrix, n * i + k)) > abs(load(matrix, n * pivot + k)):
                pivot = i
        if not abs(load(matrix, n * pivot + k)) > SINGULAR:
            return 0
        if pivot != k:
            sign = -sign
            swap(one, k, pivot)
            swap(two, k, pivot)
            for j in range(k, n):
                swap(matrix, n * k + j, n * pivot + j)
        if load(matrix, n * k + k) < 0.0:
            sign = -sign
        for i in range(k + 1, n):
            share = load(matrix, n * i + k) / load(matrix, n * k + k)
            store(one, i, load(one, i) - share * load(one, k))
            store(two, i, load(two, i) - share * load(two, k))
            for j in range(k + 1, n):
                store(matrix, n * i + j, load(matrix, n * i + j) - share * load(matrix, n * k + j))
    for back in range(n):
        k = n - 1 - back
        x, y = load(one, k), load(two, k)
        for j in range(k + 1, n):
            x -= load(matrix, n * k + j) * load(one, j)
            y -= load(matrix, n * k + j) * load(two, j)
        store(one, k, x / load(matrix, n * k + k))
        store(two, k, y / load(matrix, n * k + k))
    return sign


@part
def size_of(v, n):
    """Return the norm of a vector in memory."""
    total = 0.0
    for k in range(n):
        total += load(v, k) * load(v, k)
    return math.sqrt(total)


@part
def corrected(curve, room, v):
    """Bring values `v` onto the curve within the plane; return the sign of the determinant, 0 on failure.

    The unit tangent there, on the plane's side, is written to `room.tangent`.
    """
    n, least = curve.values, math.inf
    for _ in range(NEWTON):
        put_system(curve, room, v)
        sign = eliminate_both(room.matrix, room.change, room.tangent, n)
        if sign == 0:
            return 0
        step = size_of(room.change, n)
        if not step < 1.0:
            return 0
        for k in range(n):
            store(v, k, load(v, k) + load(room.change, k) * load(curve.scales, k))
        if step < NEAR or (step < NEAR_ENOUGH and step > 0.1 * least):  # limited by rounding
            size = size_of(room.tangent, n)
            for k in range(n):
                store(room.tangent, k, load(room.tangent, k) / size)
            return sign
        least = step
    return 0


@part
def put_first_tangent(curve, room, v):
    """Bring the first values onto the curve and write the tangent there; return the determinant's sign, or 0."""
    n, best, least = curve.values, -1, math.inf
    for j in range(n):
        for k in range(n):
            store(room.plane, k, 1.0 if k == j else 0.0)
        put_system(curve, room, v)
        if eliminate_both(room.matrix, room.change, room.tangent, n) != 0:
            size = size_of(room.tangent, n)
            if size < least:
                best, least = j, size
    for k in range(n):
        store(room.plane, k, 1.0 if k == best else 0.0)
    return corrected(curve, room, v)


@inner
def towards(curve, from_values, to_values, k):
    """Return the scaled difference of two values; to the nearest copy if a whole turn changes nothing."""
    d = load(to_values, k) - load(from_values, k)
    if load(curve.chain.limits, LIMITS.size * k + LIMITS.periodic) != 0.0:
        d -= TURN * math.floor(d / TURN + 0.5)
    return d / load(curve.scales, k)


@part
def put_trial(curve, room, v, tangent, step):
    """Write the values a step further along a tangent, and the plane perpendicular to it."""
    for k in range(curve.values):
        store(room.trial, k, load(v, k) + step * load(tangent, k))
        store(room.plane, k, load(tangent, k) / load(curve.scales, k))


@part
def comes_back(curve, room, first, v, tangent, step):
    """Return the distance along the tangent at which the curve returns to its start, or -1; overwrites `trial`."""
    ahead, square = 0.0, 0.0
    for k in range(curve.values):
        d = towards(curve, v, first, k)
        ahead += d * load(tangent, k) / load(curve.scales, k)
        square += d * d
    if not (0.0 < ahead <= step) or square - ahead * ahead > 0.1 * step * step:
        return -1.0
    put_trial(curve, room, v, tangent, ahead)
    if corrected(curve, room, room.trial) == 0:
        return -1.0
    for k in range(curve.values):
        if abs(towards(curve, room.trial, first, k)) > SAME:
            return -1.0
    return ahead


@part
def judge(curve, room, v, tangent):
    """Return the angle between the tangents at `v` and at the trial, the trial's sideways offset, and its distance."""
    cosine, square, ahead = 0.0, 0.0, 0.0
    for k in range(curve.values):
        scale = load(curve.scales, k)
        t, d = load(tangent, k) / scale, (load(room.trial, k) - load(v, k)) / scale
        cosine += t * load(room.tangent, k)
        ahead += t * d
        square += d * d
    return math.sqrt(max(2.0 - 2.0 * cosine, 0.0)), math.sqrt(max(square - ahead * ahead, 0.0)), math.sqrt(square)


@part
def beyond_stops(stops, v, n):
    """Return whether a value is beyond its stops."""
    outside = False
    for k in range(n):
        outside |= not load(stops, 2 * k) <= load(v, k) <= load(stops, 2 * k + 1)
    return outside


@part
def write_knot(curve, room, knot, along):
    """Write the trial values, their rates along the curve, and the arc length so far."""
    n = curve.values
    for k in range(n):
        store(knot, k, load(room.trial, k))
        store(knot, n + k, load(room.tangent, k) * load(curve.scales, k))
    store(knot, 2 * n, along)


@kernel("i8[] f8[] f8[] f8[] f8[] f8[] b1 f8[] f8[,] i8[] -> i8", nogil=True)
def trace_curve(codes, numbers, goal, mix, scales, stops, back, room, knots, count):
    """Follow the curve through the values of the first knot; write its knots (m, 2 n + 1) and their number.

    A knot is values, their rates along the curve, and the length so far. `goal` is that of the search, `mix` (n - 1, 6)
    are the combinations of errors that count, `stops` (n, 2) the bounds at which to stop; `back` reverses the
    direction. Return how it ended; the last knot of a closed curve is the first one again, up to whole turns.
    """
    n, most = scales.size, knots.shape[0]
    rows, width = codes.size // CODE.size, 2 * n + 1
    chain = chain_of(cells(codes), cells(numbers), n)
    curve = Curve(chain, rows, n, cells(goal), cells(mix), cells(scales))
    own, first = divided(cells(room), room_sizes(rows, n)), flat(knots)
    for k in range(n):
        store(own.trial, k, load(first, k))
    sign = put_first_tangent(curve, own, own.trial)
    taken, along, step, ended = 1, 0.0, FIRST_STEP, FULL
    if sign == 0:
        store(cells(count), 0, 0)
        return STUCK
    if back:
        for k in range(n):
            store(own.tangent, k, -load(own.tangent, k))
        sign = -sign
    write_knot(curve, own, first, 0.0)
    put_trial(curve, own, first, beyond(first, n), 0.0)
    sign = corrected(curve, own, own.trial)  # with the tangent as the plane, as in all later steps
    while taken < most:
        v = beyond(first, width * (taken - 1))
        tangent = beyond(v, n)
        put_trial(curve, own, v, tangent, step)
        found = corrected(curve, own, own.trial)
        turned, aside, chord = judge(curve, own, v, tangent)
        smooth = found != 0 and turned < TURN_MOST and aside < ASIDE * step * turned + ALWAYS * step
        if not smooth or (found != sign and step > SHORTEST_STEP):
            if step < SHORTEST_STEP:
                ended = STUCK
                break
            step *= 0.5
            continue
        sign = found  # two curves may cross
        after = step * min(2.0, max(0.5, TURN_WANTED / max(turned, 1.0e-3)))
        closing = comes_back(curve, own, first, v, tangent, 1.001 * step) if taken > 1 else -1.0
        if closing < 0.0:
            put_trial(curve, own, v, tangent, step)
            corrected(curve, own, own.trial)
        else:
            _, _, chord = judge(curve, own, v, tangent)
        along += chord * (1.0 + turned * turned / 24.0)
        write_knot(curve, own, beyond(first, width * taken), along)
        taken += 1
        if closing >= 0.0:
            ended = CLOSED
            break
        if beyond_stops(cells(stops), own.trial, n):
            ended = LEFT
            break
        step = min(after, LONGEST_STEP)
    store(cells(count), 0, taken)
    return ended


@kernel("i8[] f8[] f8[] f8[] f8[] f8[,] f8[] f8[,] f8[,]", nogil=True)
def put_on_curve(codes, numbers, goal, mix, scales, planes, room, values, errors):
    """Bring values (m, n) onto the curve within planes (m, n); write squared errors (m, 2), NaN on failure."""
    n, rows = scales.size, codes.size // CODE.size
    chain = chain_of(cells(codes), cells(numbers), n)
    curve = Curve(chain, rows, n, cells(goal), cells(mix), cells(scales))
    own = divided(cells(room), room_sizes(rows, n))
    for m in range(values.shape[0]):
        v = beyond(flat(values), n * m)
        for k in range(n):
            store(own.plane, k, load(flat(planes), n * m + k))
        good = corrected(curve, own, v) != 0
        _, _, _, p, r = tip_error(chain.codes, chain.numbers, rows, chain.settings, curve.goal, v, own.work)
        store(flat(errors), 2 * m, p if good else math.nan)
        store(flat(errors), 2 * m + 1, r if good else math.nan)


@kernel("i8[] f8[] f8[] f8[,] f8[] f8[,]")
def curve_rows(codes, numbers, goal, values, room, columns_out):
    """Write the weighted columns of the Jacobian, 6 for each value, at values (m, n)."""
    n, rows = values.shape[1], codes.size // CODE.size
    chain = chain_of(cells(codes), cells(numbers), n)
    own = divided(cells(room), room_sizes(rows, n))
    for m in range(values.shape[0]):
        v = beyond(flat(values), n * m)
        z, tip, _, _, _ = tip_error(chain.codes, chain.numbers, rows, chain.settings, cells(goal), v, own.work)
        columns(chain.codes, chain.numbers, rows, chain.settings, tip, z, own.work)
        for k in range(6 * n):
            store(flat(columns_out), 6 * n * m + k, load(own.work, k))


def room_size(rows: int, values: int) -> int:
    """Return the size of the workspace of the kernels, in numbers."""
    return sum(room_sizes.py_func(rows, values))
