"""Drive a mechanism by one joint: the others follow along closed poses, and never cross a singular one.

Each step goes along the tangent; there the closure matrix is inverted once, for the correction to closed poses and for
the next tangent. A step that changes the closure by more than half is repeated by halves, so no singular value can pass
through zero in an accepted step. Unusual cases (branches that meet, dead centres, limits) are left to
`linkwork.motion.drive`, which interprets them.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .body_layout import HEADER, table
from .body_state import move
from .dense import product
from .lanes import all_flat, beyond, divided, flat
from .layout import Layout
from .loop_inverse import put_inverse
from .loop_rows import (
    LOOPS,
    Loops,  # noqa: F401 -- in LOOPS
    are_closed,
    copy,
    largest,
    leave_closure,
    leave_gaps,
    leave_used,
    put_change,
)

SETTINGS = Layout(
    "rank",  # of the closure, for the dependent columns
    "rounding",  # a gap that no step can reduce, given the mechanism's size
    "longest",  # largest change in a step
    "steady",  # largest error of a predicted step, relative to the step
    "rough",  # error of a closed pose that is always allowed
    "changed",  # largest relative change of the closure in a step
    "weakest",  # relative to the first pivot column: smallest allowed pivot
    "lost",  # and columns shorter than this count as zero
    "finest",  # step of the driven joint at which the kernel gives up
)
NEWTON = 30
SURE = 0.1  # share of the largest change: a correction that changes less of the closure needs no second check
CURVED = 3.0  # bound on the change of rows per unit change of all joints: no link is longer than the mechanism

Desk = namedtuple(
    "Desk",
    (
        "world",  # of a sweep
        "twists",
        "work",
        "columns",  # workspace of the pseudo-inverse
        "triangle",
        "order",
        "few",
        "gaps",  # of the trial pose
        "wanted",  # the gaps that joints can change
        "rows",  # of the closure at the trial pose, all columns
        "matrix",  # its dependent columns
        "ahead",  # the same at the trial pose before it was closed
        "last",  # the same at the last accepted pose
        "inverse",  # of `last`
        "other",  # inverse at the trial pose
        "rates",  # of the dependent columns, per unit of the driver
        "step",  # of the dependent columns
        "total",  # sum of all corrections
        "change",  # of all columns, in radians and metres
        "pose",  # last accepted
        "trial",
        "closer",
    ),
)


@inner
def desk_sizes(codes, m, n):
    """Return the size of each part of the workspace, with m rows and n dependent columns."""
    c, nq, mn = codes[HEADER.columns], codes[HEADER.values], m * n
    tree = 16 * codes[HEADER.frames], 6 * codes[HEADER.motions], 12
    gaps = codes[HEADER.errors], m, m * c
    return Desk(*tree, mn, n * n, n, n * n, *gaps, mn, mn, mn, mn, mn, n, n, n, c, nq, nq, nq)


def desk_size(codes: NDArray[np.int64], rows: int, free: int) -> int:
    """Return the size of the workspace of a drive, in numbers."""
    return int(sum(desk_sizes.py_func(codes, rows, free)))


@part
def change_of(inverse, before, after, m, n):
    """Return the relative change of a closure to another: the norm of ``inverse (after - before)``."""
    square = 0.0
    for i in range(n):
        own = beyond(inverse, m * i)
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += own[k] * (after[n * k + j] - before[n * k + j])
            square += total * total
    return math.sqrt(square)


@part
def keep_closure(loops, driver, m, n, desk):
    """Make the closure at the trial pose that of the accepted pose, and write the rates that follow from it."""
    c = loops.codes[HEADER.columns]
    copy(desk.matrix, m * n, desk.last)
    copy(desk.other, n * m, desk.inverse)
    for j in range(n):
        total = 0.0
        for i in range(m):
            total -= desk.inverse[m * j + i] * desk.rows[c * i + driver]
        desk.rates[j] = total


@part
def in_limits(loops, q):
    """Return whether a pose is strictly within its limits."""
    codes, inside = loops.codes, True
    places = table(codes, HEADER.pose_index, codes)
    lower, upper = table(codes, HEADER.lower, loops.numbers), table(codes, HEADER.upper, loops.numbers)
    for v in range(codes[HEADER.columns]):
        if places[v] >= 0:
            inside &= lower[v] < q[places[v]] < upper[v]
    return inside


@part
def close_trial(loops, settings, m, n, gap, desk):
    """Correct the trial pose to the closed pose near it; return whether it is closed.

    The inverse of the closure is that at the start of the correction, so convergence is linear.
    """
    codes, total = loops.codes, desk.total
    for j in range(n):
        total[j] = 0.0
    for _ in range(NEWTON):
        if gap <= settings[SETTINGS.rounding]:
            break
        leave_used(loops, desk.gaps, desk.wanted)
        for j in range(n):
            desk.step[j] = product(beyond(desk.other, m * j), desk.wanted, m)
        if not largest(desk.step, n) <= settings[SETTINGS.longest]:
            return False
        put_change(loops, n, desk.step, desk)
        closed = are_closed(loops, desk.gaps)
        move(codes, loops.numbers, desk.trial, desk.change, desk.closer, desk.work)
        less = leave_gaps(loops, desk.closer, desk, desk.gaps)
        if less >= gap and closed:
            gap = leave_gaps(loops, desk.trial, desk, desk.gaps)
            break
        gap = less
        copy(desk.closer, codes[HEADER.values], desk.trial)
        for j in range(n):
            total[j] += desk.step[j]
    return are_closed(loops, desk.gaps)


@part
def is_taken_apart(settings, m, n, desk):
    """Write the inverse of the closure at the trial pose; return whether it clearly has the expected rank."""
    rank, limits = int(settings[SETTINGS.rank]), (settings[SETTINGS.weakest], settings[SETTINGS.lost])
    return put_inverse(desk.matrix, m, n, rank, limits[0], limits[1], desk, desk.other)


@part
def goes_ahead(loops, settings, driver, place, target, m, n, desk):
    """Take the trial pose, with the driver at a target, to a closed pose; return whether the step is acceptable."""
    way = (target - desk.pose[place]) / loops.units[driver]
    for j in range(n):
        desk.step[j] = way * desk.rates[j]
    size = max(largest(desk.step, n), abs(way))
    if not size <= settings[SETTINGS.longest]:
        return False
    put_change(loops, n, desk.step, desk)
    desk.change[driver] = way * loops.units[driver]
    move(loops.codes, loops.numbers, desk.pose, desk.change, desk.trial, desk.work)
    desk.trial[place] = target
    gap = leave_gaps(loops, desk.trial, desk, desk.gaps)
    leave_closure(loops, m, n, desk)
    most = settings[SETTINGS.changed]
    if not change_of(desk.inverse, desk.last, desk.matrix, m, n) <= most or not is_taken_apart(settings, m, n, desk):
        return False
    if not close_trial(loops, settings, m, n, gap, desk) or not in_limits(loops, desk.trial):
        return False
    off = largest(desk.total, n)
    if off > settings[SETTINGS.steady] * size + settings[SETTINGS.rough]:
        return False
    if CURVED * off * math.sqrt(product(desk.other, desk.other, n * m)) > SURE * most:
        copy(desk.matrix, m * n, desk.ahead)
        leave_closure(loops, m, n, desk)
        if not change_of(desk.other, desk.ahead, desk.matrix, m, n) <= most:
            return False
        return is_taken_apart(settings, m, n, desk)
    return True


@part
def goes_to(loops, settings, driver, place, value, m, n, desk):
    """Bring the pose to where the driver has a value, in as many steps as needed; return whether it got there."""
    finest = settings[SETTINGS.finest] * max(loops.units[driver], abs(value))
    step = value - desk.pose[place]
    while desk.pose[place] != value:
        left = value - desk.pose[place]
        target = value if abs(step) >= abs(left) else desk.pose[place] + step
        step = target - desk.pose[place]
        if goes_ahead(loops, settings, driver, place, target, m, n, desk):
            copy(desk.trial, loops.codes[HEADER.values], desk.pose)
            keep_closure(loops, driver, m, n, desk)
            step *= 2.0
        else:
            step /= 2.0
            if abs(step) < finest:
                return False
    return True


@kernel(f"{LOOPS} f8[] i8 i8 f8[] i8 f8[] f8[,] f8[] -> i8", nogil=True)
def drive_loops(loops, settings, driver, rows, values, first, memory, q, rates):
    """Write closed poses (n, nq) with the driver at values (n,), from the frame after `first` on; that one is given.

    `rows` is the number of gaps that joints can change. Return the number of completed frames. If some are missing, the
    row of the next frame holds the last pose before the regular method failed, and `rates` those of all columns there.
    """
    own, steer, m, n = all_flat(loops), flat(settings), rows, loops.free.size
    desk = divided(flat(memory), desk_sizes(own.codes, m, n))
    nq, place = q.shape[1], table(own.codes, HEADER.pose_index, own.codes)[driver]
    copy(beyond(flat(q), nq * first), nq, desk.pose)
    leave_gaps(own, desk.pose, desk, desk.gaps)
    leave_closure(own, m, n, desk)
    done = first + 1
    if is_taken_apart(steer, m, n, desk):
        keep_closure(own, driver, m, n, desk)
        while done < q.shape[0] and goes_to(own, steer, driver, place, values[done], m, n, desk):
            copy(desk.pose, nq, beyond(flat(q), nq * done))
            done += 1
        for j in range(n):
            rates[own.free[j]] = desk.rates[j]
        rates[driver] = 1.0
    if done < q.shape[0]:
        copy(desk.pose, nq, beyond(flat(q), nq * done))
    return done
