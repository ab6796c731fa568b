"""Fit a row of revolute joints to rotations, frame by frame: how a limb takes on a given orientation.

Damped least squares from the angles of the previous frame, so that angles continue without jumps, even where the axes
align (gimbal lock) and only the sum of two angles matters.
"""

from __future__ import annotations

import math
from collections import namedtuple

from . import inner, kernel, part
from .lanes import beyond, divided, flat
from .pose_error import turn_between
from .rotations import applied, axis_matrix, copy, matrix, place, product, vector

FIRST, LATER = 200, 12  # largest numbers of steps for the first frame, and for later ones, which start from the last
LONGEST = 0.3  # [rad]: longest step
SETTLED = 1e-10
SWING = 2.0  # allowed rotation of joints in a frame per radian of wanted rotation, besides the stride
Work = namedtuple("Work", "turned turn product directions step low high free")  # matrices; then numbers of each joint


@part
def turn_row(constants, axes, angles, count, work):
    """Write the rotation of a row of joints and the directions of their axes.

    The rotation is ``C0 R(a0, t0) C1 R(a1, t1) ... Cn``.
    """
    turned = work.turned
    copy(constants, turned)
    for h in range(count):
        axis = vector(axes, h)
        place(applied(turned, axis), work.directions, h)
        axis_matrix(axis, angles[h], work.turn)
        product(turned, work.turn, work.product)
        product(work.product, matrix(constants, h + 1), turned)


@part
def damped_turns(directions, free, count, error, damping, step):
    """Write the damped step ``J^T (J J^T + damping)^-1 e`` of the free joints."""
    a00, a11, a22 = damping, damping, damping
    a01, a02, a12 = 0.0, 0.0, 0.0
    for h in range(count):
        if free[h] != 0.0:
            x, y, z = vector(directions, h)
            a00, a11, a22 = a00 + x * x, a11 + y * y, a22 + z * z
            a01, a02, a12 = a01 + x * y, a02 + x * z, a12 + y * z
    c00, c01, c02 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
    c11, c12, c22 = a00 * a22 - a02 * a02, a01 * a02 - a00 * a12, a00 * a11 - a01 * a01
    scale = 1.0 / (a00 * c00 + a01 * c01 + a02 * c02)
    e0, e1, e2 = error
    x0 = scale * (c00 * e0 + c01 * e1 + c02 * e2)
    x1 = scale * (c01 * e0 + c11 * e1 + c12 * e2)
    x2 = scale * (c02 * e0 + c12 * e1 + c22 * e2)
    for h in range(count):
        x, y, z = vector(directions, h)
        step[h] = x * x0 + y * x1 + z * x2 if free[h] != 0.0 else 0.0


@part
def turn_bounds(lower, upper, before, goal, last, stride, count, low, high):
    """Write the range of joints in a frame: within their limits, and not far from the angles of the frame before."""
    x, y, z = turn_between(last, goal, 3)
    most = stride + SWING * math.sqrt(x * x + y * y + z * z)
    for h in range(count):
        low[h], high[h] = max(lower[h], before[h] - most), min(upper[h], before[h] + most)


@inner
def sizes(count):
    """Return the size of each part of the memory, in numbers."""
    return Work(turned=9, turn=9, product=9, directions=3 * count, step=count, low=count, high=count, free=count)


def memory_size(count: int) -> int:
    """Return the size of the workspace for a number of joints, in numbers."""
    return int(sum(sizes.py_func(count)))


@kernel("f8[,,] f8[,] f8[] f8[] f8[,,] f8[,] f8[] f8 f8")
def fit_revolute(constants, axes, lower, upper, wanted, angles, memory, damping, stride):
    """Fit angles (frames, n), whose first row is the start, to the rotations `wanted` (frames, 3, 3).

    `constants` (n + 1, 3, 3) and `axes` (n, 3) describe the row of joints, `memory` is workspace of `memory_size`
    numbers. A joint at its limit that is pushed outwards is held. If the best fit jumps to another solution, joints
    move there in steps of `stride` [rad].
    """
    count = axes.shape[0]
    work = divided(flat(memory), sizes(count))
    directions, step, low, high, free = work.directions, work.step, work.low, work.high, work.free
    fixed, turns = flat(constants), flat(axes)
    targets, values = flat(wanted), flat(angles)
    for h in range(count):
        low[h], high[h] = lower[h], upper[h]
    for f in range(wanted.shape[0]):
        now, goal = beyond(values, f * count), beyond(targets, 9 * f)
        if f > 0:
            before = beyond(values, (f - 1) * count)
            for h in range(count):
                now[h] = before[h]
            turn_bounds(lower, upper, before, goal, beyond(targets, 9 * f - 9), stride, count, low, high)
        for _ in range(FIRST if f == 0 else LATER):
            turn_row(fixed, turns, now, count, work)
            error = turn_between(work.turned, goal, 3)
            for h in range(count):
                free[h] = 1.0
            damped_turns(directions, free, count, error, damping, step)
            for h in range(count):
                outwards = (now[h] <= low[h] and step[h] < 0.0) or (now[h] >= high[h] and step[h] > 0.0)
                free[h] = 0.0 if outwards else 1.0
            damped_turns(directions, free, count, error, damping, step)
            largest = 0.0
            for h in range(count):
                largest = max(largest, abs(step[h]))
            shrink = min(1.0, LONGEST / max(largest, 1e-300))
            for h in range(count):
                now[h] = min(max(now[h] + shrink * step[h], low[h]), high[h])
            if largest < SETTLED:
                break
