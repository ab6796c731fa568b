"""Newton's method on six rotations at once, in lanes: a pose near a solution is refined and judged."""

from __future__ import annotations

from .. import inner, part
from ..joint_step import blend, vector
from ..lanes import beyond, bits, fabs, load, select, store
from ..rotations import cross, dot, minus, plus
from .general_back import unit_pair
from .general_elimination import turned
from .general_matrices import cleared, pivoted
from .general_memory import FIGURES, JOINTS, ROOM, WIDTH

LAST, LONGEST = 12, 26  # largest numbers of steps; near coinciding solutions each step only halves the distance
EXACT = 1.0e-26  # squared error at which nothing can be gained
GAIN = 0.25  # share of a small squared error to which a step must reduce it, else the iteration has ended
NEARLY, CLOSE = 1.0e-20, 1.0e-12  # squared errors
FARTHEST = 0.4  # largest rotation of a joint in a step [rad]
WIDE = JOINTS + 1
ALL = (1 << WIDTH) - 1


@part
def put_errors(figures, goal, room):
    """Write axes of the joints, the system of Newton's step, and the squared errors at the pose; return their sum."""
    lines, pairs, axes = beyond(figures, FIGURES.lines), ROOM.pairs, ROOM.axes
    zero = 0.0 * load(room, pairs)
    one = zero + 1.0
    x, y, z, p = (one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, zero, zero)
    for joint in range(JOINTS):
        h, at = vector(lines, 6 * joint), vector(lines, 6 * joint + 3)
        c, s = load(room, pairs + 2 * joint), load(room, pairs + 2 * joint + 1)
        axis, point = blend(x, y, z, *h), plus(blend(x, y, z, *at), p)
        for k in range(3):
            store(room, axes + 6 * joint + k, axis[k])
            store(room, axes + 6 * joint + 3 + k, point[k])
        x, y, z = turned(axis, c, s, x), turned(axis, c, s, y), turned(axis, c, s, z)
        p = minus(point, blend(x, y, z, *at))
    gx, gy, gz, gp = vector(goal, 0), vector(goal, 3), vector(goal, 6), vector(goal, 9)
    away = minus(gp, p)
    turn = plus(plus(cross(x, gx), cross(y, gy)), cross(z, gz))
    for joint in range(JOINTS):
        at = axes + 6 * joint
        axis = load(room, at), load(room, at + 1), load(room, at + 2)
        point = load(room, at + 3), load(room, at + 4), load(room, at + 5)
        moves = cross(axis, minus(p, point))
        for k in range(3):
            store(room, ROOM.middle + WIDE * k + joint, moves[k])
            store(room, ROOM.middle + WIDE * (3 + k) + joint, axis[k])
    for k in range(3):
        store(room, ROOM.middle + WIDE * k + JOINTS, away[k])
        store(room, ROOM.middle + WIDE * (3 + k) + JOINTS, 0.5 * turn[k])
    dx, dy, dz = minus(gx, x), minus(gy, y), minus(gz, z)
    moved, missing = dot(away, away), 0.5 * (dot(dx, dx) + dot(dy, dy) + dot(dz, dz))
    store(room, ROOM.errors, moved)
    store(room, ROOM.errors + 1, missing)
    return moved + missing


@part
def put_step(room):
    """Solve for Newton's step, in the system's last column; write the smallest pivot relative to the largest."""
    system = beyond(room, ROOM.middle)
    least, largest = 0.0 * load(system, 0), 0.0 * load(system, 0)
    for k in range(JOINTS):
        pivot, _ = pivoted(system, JOINTS, WIDE, k)
        size = fabs(pivot)
        least = size if k == 0 else select(size < least, size, least)
        largest = select(size > largest, size, largest)
        cleared(system, JOINTS, WIDE, k, pivot)
    store(room, ROOM.errors + 2, least / select(largest > 0.0, largest, 1.0))
    for back in range(JOINTS):
        k = JOINTS - 1 - back
        total = load(system, WIDE * k + JOINTS)
        for j in range(k + 1, JOINTS):
            total = total - load(system, WIDE * k + j) * load(system, WIDE * j + JOINTS)
        pivot = load(system, WIDE * k + k)
        store(system, WIDE * k + JOINTS, total / select(fabs(pivot) > 0.0, pivot, 1.0))


@inner
def take_step(room, ended):
    """Rotate every joint by its part of the step, scaled down if one would turn too far; not in ended lanes."""
    far = 0.0 * load(room, ROOM.middle)
    for k in range(JOINTS):
        size = fabs(load(room, ROOM.middle + WIDE * k + JOINTS))
        far = select(size > far, size, far)
    share = select(ended, 0.0, select(far > FARTHEST, FARTHEST / select(far > FARTHEST, far, 1.0), 1.0))
    for k in range(JOINTS):
        half = 0.5 * share * load(room, ROOM.middle + WIDE * k + JOINTS)
        c, s = load(room, ROOM.pairs + 2 * k), load(room, ROOM.pairs + 2 * k + 1)
        a, b = 1.0 - half * half, 2.0 * half  # a pair of an angle that equals the step up to third order
        c, s = unit_pair(c * a - s * b, s * a + c * b)
        store(room, ROOM.pairs + 2 * k, c)
        store(room, ROOM.pairs + 2 * k + 1, s)


@part
def polish(figures, goal, room):
    """Take Newton steps until every lane has converged or gains nothing more; pairs, errors and pivots are updated."""
    error = put_errors(figures, goal, room)
    put_step(room)
    before = error
    for step in range(LONGEST):
        ended = (error <= EXACT) | ((error > GAIN * before) & (error <= NEARLY)) if step > 0 else error <= EXACT
        if bits(ended) == ALL or (step >= LAST and bits(ended | (error > CLOSE)) == ALL):
            break
        take_step(room, ended)
        before = error
        error = put_errors(figures, goal, room)
        put_step(room)
