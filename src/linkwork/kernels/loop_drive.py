"""A mechanism driven by one joint: the others follow along closed poses, and never cross a singular one.

Each step goes along the tangent; there the closure is taken apart once, for the way back to closed poses and for the
next tangent. A step that changes the closure by more than half of what it was is taken again by halves: no singular
value can pass zero in a step that is kept. What is out of the ordinary (branches that meet, dead centres, limits) is
left to `linkwork.motion.drive`, which says what it means.
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
    "rank",  # of the closure, for the columns that follow
    "rounding",  # a gap that no step makes smaller, by the mechanism's size
    "longest",  # the largest change in a step
    "steady",  # of a predicted step: how much of it may turn out wrong
    "rough",  # how far off a closed pose is in any case
    "changed",  # how much of the closure may change in a step
    "weakest",  # of the first column taken: shorter ones are left to others
    "lost",  # and shorter than this counts as none
    "finest",  # the step of the driven joint at which it is left to others
)
NEWTON = 30
SURE = 0.1  # of what may change: a way back that changes less of the closure needs no second look
CURVED = 3.0  # how much rows change when all joints do, by one: no link is longer than the mechanism

Desk = namedtuple(
    "Desk",
    (
        "world",  # of a sweep
        "twists",
        "work",
        "columns",  # of an inverse
        "triangle",
        "order",
        "few",
        "gaps",  # of the trial pose
        "wanted",  # those that joints change
        "rows",  # of the closure at the trial pose, all columns
        "matrix",  # its columns that follow
        "ahead",  # and those where the trial pose was before it was closed
        "last",  # and those of the pose that was kept last
        "inverse",  # of that
        "other",  # of the trial pose
        "rates",  # of the columns that follow, for a unit of the one that drives
        "step",  # of the columns that follow
        "total",  # of all corrections
        "change",  # of all columns, in radians and metres
        "pose",  # kept last
        "trial",
        "closer",
    ),
)


@inner
def desk_sizes(codes, m, n):
    """Return how much each part of the memory to work in takes, with m rows and n columns that follow."""
    c, nq, mn = codes[HEADER.columns], codes[HEADER.values], m * n
    tree = 16 * codes[HEADER.frames], 6 * codes[HEADER.motions], 12
    gaps = codes[HEADER.errors], m, m * c
    return Desk(*tree, mn, n * n, n, n * n, *gaps, mn, mn, mn, mn, mn, n, n, n, c, nq, nq, nq)


def desk_size(codes: NDArray[np.int64], rows: int, free: int) -> int:
    """Return how many numbers a drive works in."""
    return int(sum(desk_sizes.py_func(codes, rows, free)))


@part
def change_of(inverse, before, after, m, n):
    """Return how much of a closure is another one: the size of ``inverse (after - before)``."""
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
    """Take the closure at the trial pose for that of the pose kept, and leave the rates that follow from it."""
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
    """Return whether a pose is within limits, and at none of them."""
    codes, inside = loops.codes, True
    places = table(codes, HEADER.pose_index, codes)
    lower, upper = table(codes, HEADER.lower, loops.numbers), table(codes, HEADER.upper, loops.numbers)
    for v in range(codes[HEADER.columns]):
        if places[v] >= 0:
            inside &= lower[v] < q[places[v]] < upper[v]
    return inside


@part
def close_trial(loops, settings, m, n, gap, desk):
    """Bring the trial pose to the closed one near it; return whether that is one.

    The closure was taken apart where the way began, so that it comes nearer by the same share each time.
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
    """Leave the inverse of the closure at the trial pose; return whether it has the usual rank, clearly."""
    rank, limits = int(settings[SETTINGS.rank]), (settings[SETTINGS.weakest], settings[SETTINGS.lost])
    return put_inverse(desk.matrix, m, n, rank, limits[0], limits[1], desk, desk.other)


@part
def goes_ahead(loops, settings, driver, place, target, m, n, desk):
    """Take the trial pose, with the driver at a target, to a closed one; return whether the step is a sound one."""
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
    """Bring the pose to where the driver has a value, in as many steps as it takes; return whether it got there."""
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
    """Write closed poses (n, nq) with the driver at values (n,), from the frame after the first on, which is given.

    `rows` is how many gaps joints change. Return how many frames there are; where that is not all, the row of the next
    has the pose from which nothing led on in the ordinary way, and `rates` those of all columns there.
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
