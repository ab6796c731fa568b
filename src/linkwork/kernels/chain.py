"""Forward kinematics and Jacobian of one chain, from the world to a frame.

The inner functions work on one pose (memory of numbers) or on eight poses in parallel (memory of lanes). Python calls
`*_one` and `*_many` and provides the workspace `room`, because allocating inside a kernel would double its compile
time. `codes` and `numbers` are the rows of `joint_step`.
"""

from __future__ import annotations

from . import inner, kernel
from .joint_step import BALL, PRISMATIC, ROW_CODES, ROW_NUMBERS, SCREW, STAY, pick, start, step
from .lanes import beyond, bits, cells, fill, flat, gather, load, scatter, store

LANES = 8


@inner
def sweep(codes, numbers, rows, q):
    """Return the frame at the end of a chain: columns x, y, z, p."""
    x, y, z, p = start(q)
    for row in range(rows):
        x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
    return x, y, z, p


@inner
def note(work, column, axis, p):
    """Store the axis and a point on it for one column of the Jacobian."""
    for k in range(3):
        store(work, 6 * column + k, axis[k])
        store(work, 6 * column + 3 + k, p[k])


@inner
def sweep_axes(codes, numbers, rows, q, work):
    """Return the frame at the end of a chain as `sweep` does; store the axis and origin of every motion in `work`."""
    x, y, z, p = start(q)
    column = 0
    for row in range(rows):
        x, y, z, p = step(codes, numbers, row, q, x, y, z, p)
        motion = load(codes, ROW_CODES.size * row + ROW_CODES.motion)
        if motion == BALL:  # its angular velocity is along the child's own axes
            note(work, column, x, p)
            note(work, column + 1, y, p)
            note(work, column + 2, z, p)
            column += 3
        elif motion != STAY:
            note(work, column, pick(load(codes, ROW_CODES.size * row + ROW_CODES.axis), x, y, z), p)
            column += 1
    return x, y, z, p


@inner
def add(jac, item, nv, v):
    """Add a vector to three rows of one column of the Jacobian, whose first item is `item`."""
    for k in range(3):
        at = item + nv * k
        store(jac, at, load(jac, at) + v[k])


@inner
def columns(codes, numbers, rows, rates, work, tip, jac, nv):
    """Write the Jacobian row by row into `jac`, item ``row * nv + velocity``: three linear rows, then three angular.

    A rotation moves the tip by ``axis x (tip - origin)`` and turns it about the axis; a translation moves it along the
    axis; a screw does both. Followers add to the column of their leader.
    """
    zero = fill(jac, 0.0)
    for item in range(6 * nv):
        store(jac, item, zero)
    column = 0
    for row in range(rows):
        motion, at = load(codes, ROW_CODES.size * row + ROW_CODES.motion), ROW_NUMBERS.size * row
        if motion == STAY:
            continue
        scale, advance = load(numbers, at + ROW_NUMBERS.multiplier), load(numbers, at + ROW_NUMBERS.advance)
        for _ in range(3 if motion == BALL else 1):
            axis, v = 6 * column, load(rates, column)
            ax, ay, az = load(work, axis) * scale, load(work, axis + 1) * scale, load(work, axis + 2) * scale
            if motion != PRISMATIC:
                rx, ry, rz = tip[0] - load(work, axis + 3), tip[1] - load(work, axis + 4), tip[2] - load(work, axis + 5)
                add(jac, v, nv, (ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx))
                add(jac, 3 * nv + v, nv, (ax, ay, az))
            if motion in (PRISMATIC, SCREW):
                add(jac, v, nv, (ax * advance, ay * advance, az * advance))
            column += 1


@inner
def to_local(x, y, z, jac, nv):
    """Rotate the rows of a Jacobian from world axes into the axes of the frame."""
    for first in (0, 3 * nv):
        for a in range(first, first + nv):
            gx, gy, gz = load(jac, a), load(jac, a + nv), load(jac, a + 2 * nv)
            store(jac, a, x[0] * gx + x[1] * gy + x[2] * gz)
            store(jac, a + nv, y[0] * gx + y[1] * gy + y[2] * gz)
            store(jac, a + 2 * nv, z[0] * gx + z[1] * gy + z[2] * gz)


@inner
def keep(world, frame, x, y, z, p):
    """Store a frame as its 4x4 matrix, row by row: 16 items of `world`, numbers or lanes."""
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
    """Return zero if all items are finite, else NaN: x - x is zero only for finite numbers."""
    total = fill(memory, 0.0)
    for k in range(count):
        total = total + (load(memory, k) - load(memory, k))
    return total


@inner
def first_flaw(total):
    """Return the first lane whose total is NaN, or LANES if there is none."""
    good = bits(total >= 0.0)
    for lane in range(LANES):
        if (good >> lane) & 1 == 0:
            return lane
    return LANES


@inner
def take(q, nq, first, lanes):
    """Load the poses from number `first` on into lanes, one pose in each lane."""
    for k in range(nq):
        store(lanes, k, gather(q, first * nq + k, nq))


@inner
def give(lanes, size, out, first, width):
    """Store the first `size` items of lanes as rows of `width` numbers, from row `first` on."""
    for k in range(size):
        scatter(out, first * width + k, width, load(lanes, k))


@kernel("i8[] f8[] f8[] f8[,] -> b1")
def tip_one(codes, numbers, q, out):
    """Write world_from_frame (4, 4) for a pose (nq,); return whether the pose and the frame are finite."""
    x, y, z, p = sweep(cells(codes), cells(numbers), codes.size // ROW_CODES.size, cells(q))
    keep(flat(out), 0, x, y, z, p)
    return flaw(cells(q), q.size) + flaw(flat(out), 16) == 0.0


@kernel("i8[] f8[] f8[] i8 f8[,] f8[] -> i8", nogil=True)
def tip_many(codes, numbers, q, nq, room, out):
    """Write world_from_frame (n * 16,) for poses (n * nq,), n >= LANES; return the index of a non-finite pose, or n.

    `room` is workspace of nq + 16 rows of LANES.
    """
    count, rows = out.size // 16, codes.size // ROW_CODES.size
    lanes, world = cells(room), beyond(cells(room), nq)
    for first in range(0, count, LANES):
        at = min(first, count - LANES)  # the last block overlaps the one before, so that every lane has a pose
        take(cells(q), nq, at, lanes)
        x, y, z, p = sweep(cells(codes), cells(numbers), rows, lanes)
        keep(world, 0, x, y, z, p)
        bad = first_flaw(flaw(lanes, nq + 16))
        if bad < LANES:
            return at + bad
        give(world, 16, cells(out), at, 16)
    return count


@kernel("i8[] f8[] i8[] f8[] b1 f8[] f8[,] -> b1")
def jacobian_one(codes, numbers, rates, q, local, room, out):
    """Write the Jacobian (6, nv) for a pose (nq,), in local or world axes; return whether both are finite.

    `room` is workspace of 6 numbers for each of the rates.
    """
    rows, nv, jac = codes.size // ROW_CODES.size, out.shape[1], flat(out)
    x, y, z, p = sweep_axes(cells(codes), cells(numbers), rows, cells(q), cells(room))
    columns(cells(codes), cells(numbers), rows, cells(rates), cells(room), p, jac, nv)
    if local:
        to_local(x, y, z, jac, nv)
    return flaw(cells(q), q.size) + flaw(jac, 6 * nv) == 0.0


@kernel("i8[] f8[] i8[] f8[] i8 b1 f8[,] f8[] -> i8", nogil=True)
def jacobian_many(codes, numbers, rates, q, nq, local, room, out):
    """Write Jacobians (n * 6 nv,) for poses (n * nq,), n >= LANES, nq > 0; return the index of a non-finite pose, or n.

    `room` is workspace of nq + 6 nv rows of LANES, and six more for each of the rates.
    """
    count, rows = q.size // nq, codes.size // ROW_CODES.size
    size = out.size // count
    lanes, jac, work = cells(room), beyond(cells(room), nq), beyond(cells(room), nq + size)
    for first in range(0, count, LANES):
        at = min(first, count - LANES)  # the last block overlaps the one before, so that every lane has a pose
        take(cells(q), nq, at, lanes)
        x, y, z, p = sweep_axes(cells(codes), cells(numbers), rows, lanes, work)
        columns(cells(codes), cells(numbers), rows, cells(rates), work, p, jac, size // 6)
        if local:
            to_local(x, y, z, jac, size // 6)
        bad = first_flaw(flaw(lanes, nq + size))
        if bad < LANES:
            return at + bad
        give(jac, size, cells(out), at, size)
    return count
