"""Parallel platforms on legs, many poses at once: closed forms of all legs, solutions nearest to a start, checked.

Eight goals are solved in parallel lanes. Results are checked by forward kinematics, not by the closed forms.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .body_layout import HEADER, table
from .chain import LANES, give, take
from .joint_step import vector
from .lanes import all_flat, beyond, bits, cells, fabs, fill, flat, load, select, sqrt, store
from .layout import Layout
from .limb_forms import FIGURES, FLOATING, LIMB, MISSED, SLIDES, beyond_limits, limb_angles, settled, slid
from .rotations import dot, minus, plus, times
from .tree import column, sweep_tree

Platform = namedtuple(
    "Platform",
    (
        "codes",  # of a body with all frames
        "numbers",
        "limbs",  # LIMB of each path: the platform's own floating joint, then those of the legs
        "figures",  # FIGURES of each
        "ends",  # ENDS, then both frames of every loop
        "modes",  # the solution to use for each path, or ANY for the nearest
    ),
)
PLATFORM = "Platform(i8[] f8[] i8[] f8[] i8[] i8[])"
ANY = -1
ENDS = Layout("limbs", "loops", "frame")  # numbers of paths and loops, and the frame that goals are for
TOLERANCES = Layout("position", "rotation", "gap")
WAY = Layout(("values", 3), "missing")  # a solution of a leg, and its distance from being reachable [m]
ERRORS = Layout("position", "rotation", "gap", "outside")  # of a pose; the last is zero within limits


@inner
def frame_of(target, oriented):
    """Return the axes and the origin of targets in lanes; for targets that are points, the world's axes."""
    if oriented:
        return column(target, 0), column(target, 1), column(target, 2), column(target, 3)
    one, zero = fill(target, 1.0), fill(target, 0.0)
    p = load(target, 0), load(target, 1), load(target, 2)
    return (one, zero, zero), (zero, one, zero), (zero, zero, one), p


@inner
def seen(x, y, z, p, v):
    """Return a point of a frame in world coordinates."""
    return plus(plus(plus(p, times(v[0], x)), times(v[1], y)), times(v[2], z))


@inner
def turned(x, y, z, v):
    """Return a direction of a frame in world axes."""
    return plus(plus(times(v[0], x), times(v[1], y)), times(v[2], z))


@inner
def quaternion_of(x, y, z):
    """Return the quaternion, w first, of a frame with these axes, computed from its largest component."""
    w2, x2 = 1.0 + x[0] + y[1] + z[2], 1.0 + x[0] - y[1] - z[2]
    y2, z2 = 1.0 - x[0] + y[1] - z[2], 1.0 - x[0] - y[1] + z[2]
    a, b, c, d = w2, y[2] - z[1], z[0] - x[2], x[1] - y[0]
    most = w2
    more = x2 > most
    most = select(more, x2, most)
    a, b, c, d = select(more, b, a), select(more, x2, b), select(more, x[1] + y[0], c), select(more, z[0] + x[2], d)
    more = y2 > most
    most = select(more, y2, most)
    a, b = select(more, z[0] - x[2], a), select(more, x[1] + y[0], b)
    c, d = select(more, y2, c), select(more, y[2] + z[1], d)
    more = z2 > most
    a, b = select(more, x[1] - y[0], a), select(more, z[0] + x[2], b)
    c, d = select(more, y[2] + z[1], c), select(more, z2, d)
    size = 1.0 / sqrt(a * a + b * b + c * c + d * d)
    return a * size, b * size, c * size, d * size


@part
def put_floating(m, limb, target, q):
    """Write the values of a floating joint that bring its frame to a target."""
    x, y, z, p = frame_of(target, True)
    after, before = beyond(m, FIGURES.after), beyond(m, FIGURES.before)
    p = seen(x, y, z, p, vector(after, 9))
    x, y, z = turned(x, y, z, vector(after, 0)), turned(x, y, z, vector(after, 3)), turned(x, y, z, vector(after, 6))
    a, b, c, o = vector(before, 0), vector(before, 3), vector(before, 6), vector(before, 9)
    x, y, z, p = turned(a, b, c, x), turned(a, b, c, y), turned(a, b, c, z), seen(a, b, c, o, p)
    quaternion, at = quaternion_of(x, y, z), load(limb, LIMB.places)
    for k in range(3):
        store(q, at + k, p[k])
    store(q, at + 3, quaternion[0])
    store(q, at + 4, quaternion[1])
    store(q, at + 5, quaternion[2])
    store(q, at + 6, quaternion[3])


@part
def put_limb(m, limb, mode, to, near, q):
    """Write the values of a leg with its end at a point: the solution within limits nearest to a pose, or of a mode."""
    kind, count = load(limb, LIMB.kind), load(limb, LIMB.count)
    a, b, c = load(limb, LIMB.places), load(limb, LIMB.places + 1), load(limb, LIMB.places + 2)
    if kind == SLIDES:
        ways = slid(m, to)
        store(q, a, ways[0])
        store(q, b, ways[1])
        store(q, c, ways[2])
        return
    least, unreached = fill(q, 1.0e300), MISSED / load(m, FIGURES.square)
    for branch in range(4 if count == 3 else 2):
        if mode not in (ANY, branch):
            continue
        one, two = 1.0 - 2.0 * (branch & 1), 1.0 - (branch & 2)
        amounts = limb_angles(kind, m, to, one, two)
        x, y = settled(m, 0, amounts[0], load(near, a)), settled(m, 1, amounts[1], load(near, b))
        away = (x - load(near, a)) * (x - load(near, a)) + (y - load(near, b)) * (y - load(near, b))
        away = away + beyond_limits(m, 0, x) + beyond_limits(m, 1, y) + unreached * amounts[3]
        z = x
        if count == 3:
            z = settled(m, 2, amounts[2], load(near, c))
            away = away + (z - load(near, c)) * (z - load(near, c)) + beyond_limits(m, 2, z)
        better = away < least
        least = select(better, away, least)
        store(q, a, select(better, x, load(q, a)))
        store(q, b, select(better, y, load(q, b)))
        if count == 3:
            store(q, c, select(better, z, load(q, c)))


@part
def put_platform(platform, oriented, target, near, q):
    """Write poses in lanes that bring a platform to targets in lanes, each path with the solution nearest to a pose."""
    x, y, z, p = frame_of(target, oriented)
    for k in range(load(platform.ends, ENDS.limbs)):
        limb, m = beyond(platform.limbs, LIMB.size * k), beyond(platform.figures, FIGURES.size * k)
        if load(limb, LIMB.kind) == FLOATING:
            put_floating(m, limb, target, q)
        else:
            put_limb(m, limb, load(platform.modes, k), seen(x, y, z, p, vector(m, FIGURES.point)), near, q)


@inner
def largest(way):
    """Return the largest absolute value of three."""
    a, b, c = fabs(way[0]), fabs(way[1]), fabs(way[2])
    more = select(a > b, a, b)
    return select(more > c, more, c)


@part
def judge(platform, oriented, target, q, world, errors):
    """Write the errors of the platform against targets [m, rad], the gap of loops [m], and violations of limits."""
    codes, numbers, ends = platform.codes, platform.numbers, platform.ends
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers)
    sweep_tree(starts, parents, codes[HEADER.frames], rows, constants, q, world)
    x, y, z, p = frame_of(target, oriented)
    at = 16 * load(ends, ENDS.frame)
    way = minus(p, column(world, at + 3))
    store(errors, ERRORS.position, sqrt(dot(way, way)))
    turn = fill(q, 0.0)
    if oriented:
        for axis, wanted in ((column(world, at), x), (column(world, at + 1), y), (column(world, at + 2), z)):
            off = minus(wanted, axis)
            turn = turn + dot(off, off)
    store(errors, ERRORS.rotation, sqrt(0.5 * turn))  # the chord of the angle, equal to it if small
    gap = fill(q, 0.0)
    for k in range(load(ends, ENDS.loops)):
        one, two = 16 * load(ends, ENDS.size + 2 * k), 16 * load(ends, ENDS.size + 2 * k + 1)
        wide = largest(minus(column(world, one + 3), column(world, two + 3)))
        gap = select(wide > gap, wide, gap)
    store(errors, ERRORS.gap, gap)
    outside = fill(q, 0.0)
    for k in range(load(ends, ENDS.limbs)):
        limb, m = beyond(platform.limbs, LIMB.size * k), beyond(platform.figures, FIGURES.size * k)
        for i in range(load(limb, LIMB.count)):
            outside = outside + beyond_limits(m, i, load(q, load(limb, LIMB.places + i)))
    store(errors, ERRORS.outside, outside)


@kernel(f"{PLATFORM} f8[] f8[,] b1 f8[,] f8[,] f8[,] f8[,] u1[]", nogil=True)
def solve_platforms(platform, tolerances, targets, oriented, starts, room, q, errors, reached):
    """Write a pose (n, nq) for each target, n >= LANES, its errors (n, 4), and whether it is within all tolerances.

    Targets are points (n, 3) or frames (n, 16); there is one start for each target or one for all. `room` is workspace
    of `room_rows` rows of LANES.
    """
    own, count, width, nq = all_flat(platform), q.shape[0], targets.shape[1], q.shape[1]
    target, near = cells(room), beyond(cells(room), width)
    pose = beyond(near, nq)
    off = beyond(pose, nq)
    world = beyond(off, ERRORS.size)
    if starts.shape[0] == 1:
        for k in range(nq):
            store(near, k, fill(near, load(flat(starts), k)))
    for first in range(0, count, LANES):
        at = min(first, count - LANES)  # the last block overlaps the one before, so that every lane has a target
        take(flat(targets), width, at, target)
        if starts.shape[0] > 1:
            take(flat(starts), nq, at, near)
        for k in range(nq):
            store(pose, k, load(near, k))
        put_platform(own, oriented, target, near, pose)
        judge(own, oriented, target, pose, world, off)
        give(pose, nq, flat(q), at, nq)
        give(off, ERRORS.size, flat(errors), at, ERRORS.size)
        good = (load(off, ERRORS.position) <= tolerances[TOLERANCES.position]) & (load(off, ERRORS.outside) <= 0.0)
        good = good & (load(off, ERRORS.rotation) <= tolerances[TOLERANCES.rotation])
        good = good & (load(off, ERRORS.gap) <= tolerances[TOLERANCES.gap])
        mask = bits(good)
        for lane in range(LANES):
            reached[at + lane] = (mask >> lane) & 1


@kernel(f"{PLATFORM} f8[] b1 f8[] f8[,]")
def platform_ways(platform, target, oriented, near, out):
    """Write all solutions (limbs * 4, WAY) of the legs for one target, a point (3,) or a frame (16,).

    Solutions that differ only in the sign of a zero root appear twice. For branches that a leg does not have, `missing`
    is NaN.
    """
    own, goal = all_flat(platform), flat(target)
    x, y, z, p = frame_of(goal, oriented)
    for k in range(load(own.ends, ENDS.limbs)):
        limb, m = beyond(own.limbs, LIMB.size * k), beyond(own.figures, FIGURES.size * k)
        kind, count = limb[LIMB.kind], limb[LIMB.count]
        to = seen(x, y, z, p, vector(m, FIGURES.point))
        for branch in range(4):
            way = beyond(flat(out), WAY.size * (4 * k + branch))
            way[WAY.missing] = math.nan
            if kind in (SLIDES, FLOATING) or (branch >= 2 and count < 3):
                continue
            one, two = 1.0 - 2.0 * (branch & 1), 1.0 - (branch & 2)
            amounts = limb_angles(kind, m, to, one, two)
            way[WAY.missing] = math.sqrt(amounts[3])
            for i in range(count):
                amount = amounts[0] if i == 0 else amounts[1] if i == 1 else amounts[2]
                way[WAY.values + i] = settled(m, i, amount, near[limb[LIMB.places + i]])


def room_rows(width: int, nq: int, codes: NDArray[np.int64]) -> int:
    """Return the number of rows of LANES in the workspace of `solve_platforms`."""
    return int(width + 2 * nq + ERRORS.size + 16 * codes[HEADER.frames])
