"""Along one chain from the world to a frame: where it is, and its Jacobian.

Imports `lanes` and `rows`. The inner functions serve one pose (memory of numbers) and eight poses side by side (memory
of lanes); `*_one` and `*_many` are what Python calls. A `program` is the pair of arrays that `rows` describes.
"""

from __future__ import annotations

import numpy as np

from . import inner, kernel
from .lanes import bits, cells, fill, gather, hold, load, scatter, store
from .rows import (
    ADVANCE,
    AXIS,
    BALL,
    CODES,
    MOTION,
    MULTIPLIER,
    NUMBERS,
    PRISMATIC,
    SCREW,
    STAY,
    pick,
    start,
    step,
)

LANES = 8


@inner
def sweep(codes, numbers, rows, q):
    """Return the columns of the frame at the end of a chain."""
    x, y, z, p = start(q)
    for row in range(rows):
        x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
    return x, y, z, p


@inner
def note(work, column, axis, p):
    """Keep the axis and a point of it for one column of the Jacobian."""
    for k in range(3):
        store(work, 6 * column + k, axis[k])
        store(work, 6 * column + 3 + k, p[k])


@inner
def sweep_axes(codes, numbers, rows, q, work):
    """Sweep as `sweep` does and leave the axis and origin of every motion in `work`."""
    x, y, z, p = start(q)
    column = 0
    for row in range(rows):
        x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
        motion = load(codes, CODES * row + MOTION)
        if motion == BALL:  # angular velocity along the child's own axes
            note(work, column, x, p)
            note(work, column + 1, y, p)
            note(work, column + 2, z, p)
            column += 3
        elif motion != STAY:
            note(work, column, pick(load(codes, CODES * row + AXIS), x, y, z), p)
            column += 1
    return x, y, z, p


@inner
def add(jac, item, value):
    """Add to an item of the Jacobian."""
    store(jac, item, load(jac, item) + value)


@inner
def columns(codes, numbers, rows, rates, work, tip, jac, nv):
    """Write the Jacobian row by row into `jac`, item ``row * nv + velocity``.

    A turn moves the tip by ``axis x (tip - origin)`` and turns it about the axis; a slide moves it along the axis; a
    screw does both. Followers add to the column of their leader.
    """
    zero = fill(jac, 0.0)
    for item in range(6 * nv):
        store(jac, item, zero)
    column = 0
    for row in range(rows):
        motion = load(codes, CODES * row + MOTION)
        if motion == STAY:
            continue
        scale, advance = load(numbers, NUMBERS * row + MULTIPLIER), load(numbers, NUMBERS * row + ADVANCE)
        for _ in range(3 if motion == BALL else 1):
            at, v = 6 * column, load(rates, column)
            ax, ay, az = load(work, at) * scale, load(work, at + 1) * scale, load(work, at + 2) * scale
            if motion != PRISMATIC:
                rx, ry, rz = tip[0] - load(work, at + 3), tip[1] - load(work, at + 4), tip[2] - load(work, at + 5)
                add(jac, v, ay * rz - az * ry)
                add(jac, nv + v, az * rx - ax * rz)
                add(jac, 2 * nv + v, ax * ry - ay * rx)
                add(jac, 3 * nv + v, ax)
                add(jac, 4 * nv + v, ay)
                add(jac, 5 * nv + v, az)
            if motion in (PRISMATIC, SCREW):
                add(jac, v, ax * advance)
                add(jac, nv + v, ay * advance)
                add(jac, 2 * nv + v, az * advance)
            column += 1


@inner
def to_local(x, y, z, jac, nv):
    """Turn the rows of a Jacobian into the axes of the frame itself."""
    for half in range(2):
        for v in range(nv):
            a, b, c = 3 * half * nv + v, (3 * half + 1) * nv + v, (3 * half + 2) * nv + v
            gx, gy, gz = load(jac, a), load(jac, b), load(jac, c)
            store(jac, a, x[0] * gx + x[1] * gy + x[2] * gz)
            store(jac, b, y[0] * gx + y[1] * gy + y[2] * gz)
            store(jac, c, z[0] * gx + z[1] * gy + z[2] * gz)


@inner
def keep(world, frame, x, y, z, p):
    """Keep a frame as its 4x4 matrix, row by row: 16 items of `world`, numbers or lanes."""
    for k in range(3):
        at = 16 * frame + 4 * k
        store(world, at, x[k])
        store(world, at + 1, y[k])
        store(world, at + 2, z[k])
        store(world, at + 3, p[k])
    for k in range(12, 16):
        store(world, 16 * frame + k, 0.0 if k < 15 else 1.0)


@inner
def flaw(memory, count):
    """Return zero if all items are finite, else NaN: x - x is zero for finite numbers alone."""
    total = fill(memory, 0.0)
    for k in range(count):
        total = total + (load(memory, k) - load(memory, k))
    return total


@inner
def first_flaw(total):
    """Return the first lane whose total is NaN, or LANES."""
    good = bits(total >= 0.0)
    for lane in range(LANES):
        if (good >> lane) & 1 == 0:
            return lane
    return LANES


@inner
def block(first, count):
    """Return where a block of poses begins: the last one reaches back, so that every lane has a pose."""
    return min(first, count - LANES)


@inner
def take(q, nq, first, lanes):
    """Bring the poses from `first` on side by side into lanes."""
    for k in range(nq):
        store(lanes, k, gather(q, first * nq + k, nq))


@inner
def give(lanes, size, out, first, width):
    """Put the first `size` items of lanes into rows of `width` numbers, from row `first` on."""
    for k in range(size):
        scatter(out, first * width + k, width, load(lanes, k))


@kernel
def tip_one(codes, numbers, q, out):
    """Write world_from_frame (4, 4) for a pose (nq,); return whether pose and frame are finite."""
    flat = out.reshape(-1)
    x, y, z, p = sweep(cells(codes), cells(numbers), codes.size // CODES, cells(q))
    keep(cells(flat), 0, x, y, z, p)
    return flaw(cells(q), q.size) + flaw(cells(flat), 16) == 0.0


@kernel
def tip_many(codes, numbers, q, nq, out):
    """Write world_from_frame (n * 16,) for poses (n * nq,), n >= LANES; return the index of a bad pose, or n."""
    count, rows = out.size // 16, codes.size // CODES
    lanes, world = np.empty((max(nq, 1), LANES)), np.empty((16, LANES))
    for first in range(0, count, LANES):
        at = block(first, count)
        take(cells(q), nq, at, cells(lanes))
        x, y, z, p = sweep(cells(codes), cells(numbers), rows, cells(lanes))
        keep(cells(world), 0, x, y, z, p)
        bad = first_flaw(flaw(cells(lanes), nq) + flaw(cells(world), 16))
        if bad < LANES:
            return at + bad
        give(cells(world), 16, cells(out), at, 16)
    hold(lanes)
    hold(world)
    return count


@kernel
def jacobian_one(codes, numbers, rates, q, local, out):
    """Write the Jacobian (6, nv) for a pose (nq,); return whether pose and Jacobian are finite."""
    work, jac = np.empty(6 * rates.size), out.reshape(-1)
    rows, nv = codes.size // CODES, out.shape[1]
    x, y, z, p = sweep_axes(cells(codes), cells(numbers), rows, cells(q), cells(work))
    columns(cells(codes), cells(numbers), rows, cells(rates), cells(work), p, cells(jac), nv)
    if local:
        to_local(x, y, z, cells(jac), nv)
    hold(work)
    return flaw(cells(q), q.size) + flaw(cells(jac), 6 * nv) == 0.0


@kernel
def jacobian_many(codes, numbers, rates, q, nq, local, out):
    """Write Jacobians (n * 6 nv,) for poses (n * nq,), n >= LANES, nq > 0; return the index of a bad pose, or n."""
    count, rows = q.size // nq, codes.size // CODES
    size = out.size // count
    lanes, work, jac = np.empty((nq, LANES)), np.empty((6 * rates.size, LANES)), np.empty((size, LANES))
    for first in range(0, count, LANES):
        at = block(first, count)
        take(cells(q), nq, at, cells(lanes))
        x, y, z, p = sweep_axes(cells(codes), cells(numbers), rows, cells(lanes), cells(work))
        columns(cells(codes), cells(numbers), rows, cells(rates), cells(work), p, cells(jac), size // 6)
        if local:
            to_local(x, y, z, cells(jac), size // 6)
        bad = first_flaw(flaw(cells(lanes), nq) + flaw(cells(jac), size))
        if bad < LANES:
            return at + bad
        give(cells(jac), size, cells(out), at, size)
    hold(lanes)
    hold(work)
    hold(jac)
    return count
