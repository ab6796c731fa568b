"""Rates of closed loops: velocities and accelerations of the dependent columns, from those of the drivers.

``J v = 0`` and ``J a = -J' v`` at many poses; ``J' v`` is the relative acceleration of a loop's frames if no joint
accelerates, summed along the motions that lead to them.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .body_layout import HEADER, table
from .body_state import direction, origin
from .dense import put_product
from .goal_layout import AIM, ANY_SPIN, GOAL, ROTATION_ROWS
from .lanes import all_flat, beyond, divided, flat
from .layout import Layout
from .loop_inverse import put_inverse
from .loop_rows import (
    LOOPS,
    UPRIGHT,
    Loops,  # noqa: F401 -- in LOOPS
    largest,
    leave_closure,
    leave_gaps,
    loop_at,
)
from .rotations import cross, dot, minus, place, plus, times, vector

MOTION = Layout(
    "rank",  # of the closure, for the dependent columns: all of them
    "weakest",  # relative to the first pivot column: poses with a smaller pivot are not solved here
    "refused",  # relative to the drivers' motion: poses where loops resist more are not solved here
)

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
        "gaps",
        "rows",
        "matrix",
        "inverse",
        "wanted",
        "left",
        "found",
        "speeds",  # of every motion: twist of all motions up to it
        "turns",  # and its rate of change if no joint accelerates
    ),
)


@inner
def desk_sizes(codes, m, n):
    """Return the size of each part of the workspace, with m rows and n dependent columns."""
    motions, mn = codes[HEADER.motions], m * n
    tree = 16 * codes[HEADER.frames], 6 * motions, 12
    return Desk(
        *tree, mn, n * n, n, n * n, codes[HEADER.errors], m * codes[HEADER.columns], mn, mn, m, m, n,
        6 * motions, 6 * motions,
    )  # fmt: skip


def motion_size(codes: NDArray[np.int64], rows: int, free: int) -> int:
    """Return the size of the workspace for rates, in numbers."""
    return int(sum(desk_sizes.py_func(codes, rows, free)))


@part
def leave_speeds(codes, rates, desk):
    """Write, for every motion, the twist of all motions up to it, and its rate of change if no joint accelerates.

    A motion is carried by those before it: its twist S changes by the product of theirs, V, with it.
    """
    before, columns = table(codes, HEADER.before, codes), table(codes, HEADER.rates, codes)
    for k in range(codes[HEADER.motions]):
        rate, b = rates[columns[k]], before[k]
        turn, slide = times(rate, vector(desk.twists, 2 * k)), times(rate, vector(desk.twists, 2 * k + 1))
        spin, speed = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        more, further = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if b >= 0:
            spin, speed = vector(desk.speeds, 2 * b), vector(desk.speeds, 2 * b + 1)
            more, further = vector(desk.turns, 2 * b), vector(desk.turns, 2 * b + 1)
        place(plus(spin, turn), desk.speeds, 2 * k)
        place(plus(speed, slide), desk.speeds, 2 * k + 1)
        place(plus(more, cross(spin, turn)), desk.turns, 2 * k)
        place(plus(further, plus(cross(spin, slide), cross(speed, turn))), desk.turns, 2 * k + 1)


@inner
def accelerated(codes, frame, desk):
    """Return the acceleration of a frame's origin, its angular acceleration and velocity, if no joint accelerates."""
    motion, at = table(codes, HEADER.last, codes)[frame], origin(desk.world, frame)
    if motion < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    spin, speed = vector(desk.speeds, 2 * motion), vector(desk.speeds, 2 * motion + 1)
    more, further = vector(desk.turns, 2 * motion), vector(desk.turns, 2 * motion + 1)
    moving = plus(speed, cross(spin, at))
    return plus(further, plus(cross(more, at), cross(spin, moving))), more, spin


@part
def leave_drift(loops, desk, out):
    """Write ``J' v`` of the gaps that joints can change, relative to the mechanism's size."""
    codes = loops.codes
    for k in range(codes[HEADER.goals]):
        loop = loop_at(codes, k)
        aim, at, mask = beyond(loops.aims, loop[GOAL.number]), loop[GOAL.error], loop[GOAL.mask]
        first, second = accelerated(codes, loop[GOAL.frame], desk), accelerated(codes, loop[GOAL.other], desk)
        put_used(loops.used, at, times(aim[AIM.metres], minus(first[0], second[0])), out)
        if mask & ROTATION_ROWS:
            turn = minus(first[1], second[1])
            if mask & ANY_SPIN:  # a spin about the common axis rotates with it
                axis = direction(desk.world, loop[GOAL.frame], UPRIGHT)
                turn = minus(turn, times(dot(turn, axis), axis))
                turn = minus(turn, times(dot(axis, minus(first[2], second[2])), cross(first[2], axis)))
            put_used(loops.used, at + 3, times(aim[AIM.radians], turn), out)


@inner
def put_used(used, at, v, out):
    """Write a vector to the rows of three gaps, as far as these are used."""
    if used[at] >= 0:
        out[used[at]] = v[0]
    if used[at + 1] >= 0:
        out[used[at + 1]] = v[1]
    if used[at + 2] >= 0:
        out[used[at + 2]] = v[2]


@part
def follows(loops, settings, m, n, given, desk):
    """Write the rates of dependent columns into `given`; ``J rates = -wanted``; return whether the loops allow it."""
    c = loops.codes[HEADER.columns]
    for i in range(m):
        for v in range(c):
            desk.wanted[i] += desk.rows[c * i + v] * given[v] / loops.units[v]
    put_product(desk.inverse, desk.wanted, n, m, desk.found)
    put_product(desk.matrix, desk.found, m, n, desk.left)
    off = 0.0
    for i in range(m):
        off = max(off, abs(desk.left[i] - desk.wanted[i]))
    for j in range(n):
        given[loops.free[j]] = -desk.found[j] * loops.units[loops.free[j]]
    return off <= settings[MOTION.refused] * largest(desk.wanted, m)


@kernel(f"{LOOPS} f8[] i8 f8[] f8[,] f8[,] f8[,] u1[]", nogil=True)
def move_loops(loops, settings, rows, memory, q, velocities, accelerations, good):
    """Write the rates (n, columns) of dependent columns at closed poses (n, nq), beside the given ones.

    Dependent columns must be zero before. A pose that is singular, or where the loops do not allow the motion, is
    marked as not good.
    """
    own, steer, m, n = all_flat(loops), flat(settings), rows, loops.free.size
    desk = divided(flat(memory), desk_sizes(own.codes, m, n))
    c, weakest = velocities.shape[1], steer[MOTION.weakest]
    for i in range(q.shape[0]):
        speed, further = beyond(flat(velocities), c * i), beyond(flat(accelerations), c * i)
        leave_gaps(own, beyond(flat(q), q.shape[1] * i), desk, desk.gaps)
        leave_closure(own, m, n, desk)
        good[i] = 0
        if not put_inverse(desk.matrix, m, n, int(steer[MOTION.rank]), weakest, 1.0, desk, desk.inverse):
            continue
        for k in range(m):
            desk.wanted[k] = 0.0
        moves = follows(own, steer, m, n, speed, desk)
        leave_speeds(own.codes, speed, desk)
        leave_drift(own, desk, desk.wanted)
        good[i] = 1 if moves and follows(own, steer, m, n, further, desk) else 0
