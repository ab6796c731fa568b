"""One damped least-squares step of a chain: sweep, error, columns, normal matrix, factorization, step.

It is the chapter's ``dq = J^T (J J^T + lambda I)^-1 e`` (equation 5.24) with a damping that fades with the error, and
without the joints that the error pushes against a limit. Every function works on one problem (memory of numbers) or on
several in parallel (memory of lanes). The arrays are laid out in `chain_memory`.
"""

from __future__ import annotations

import math

from . import inner
from .chain_memory import CODE, DH, ENDS, FORM_DH, LIMITS, SETTINGS
from .joint_step import (
    GENERAL,
    PRISMATIC,
    REVOLUTE,
    ROW_NUMBERS,
    SHIFT,
    TRANSFORM,
    along,
    place,
    sine_cosine,
    swing,
    vector,
)
from .lanes import fill, load, select, sqrt, store
from .rotations import cross, dot, minus, plus, times

TURN, FAR = 2.0 * math.pi, 1.0e6  # further from the start than FAR, whole turns are not counted
STRAIGHT = 1.0e-6  # squared cosine of half the angle below which the rotation axis is undefined


@inner
def widened(q, v):
    """Return a vector in the type that the pose holds: numbers, or lanes."""
    return fill(q, v[0]), fill(q, v[1]), fill(q, v[2])


@inner
def axes_of(memory, at):
    """Return the columns x, y, z and the origin of a transform."""
    a = at + TRANSFORM.axes
    return vector(memory, a), vector(memory, a + 3), vector(memory, a + 6), vector(memory, at + TRANSFORM.origin)


@inner
def twisted(numbers, at, x, y, z, p):
    """Return a frame rotated about x, translated along x and then along the new z (Denavit-Hartenberg)."""
    y, z = swing(y, z, load(numbers, at + DH.twist_sine), load(numbers, at + DH.twist_cosine))
    return x, y, z, along(along(p, x, load(numbers, at + DH.length)), z, load(numbers, at + DH.travel))


@inner
def sweep(codes, numbers, rows, q, work):
    """Return the frame of the last joint; store the axis and origin of every joint in `work`, 6 items each."""
    a, b, c, d = axes_of(numbers, ENDS.base)
    x, y, z, p = widened(q, a), widened(q, b), widened(q, c), widened(q, d)
    for row in range(rows):
        code, at = CODE.size * row, ENDS.size + ROW_NUMBERS.size * row
        form, motion = load(codes, code + CODE.form), load(codes, code + CODE.motion)
        if form == FORM_DH:
            x, y, z, p = twisted(numbers, at, x, y, z, p)
        else:
            x, y, z, p = place(form, numbers, at, x, y, z, p)
        value = load(q, load(codes, code + CODE.value))
        amount = value * load(numbers, at + ROW_NUMBERS.multiplier) + load(numbers, at + ROW_NUMBERS.offset)
        if motion != REVOLUTE:
            p = along(p, z, amount * load(numbers, at + ROW_NUMBERS.advance))
        if motion != PRISMATIC:
            sine, cosine = sine_cosine(amount)
            x, y = swing(x, y, sine, cosine)
        for k in range(3):
            store(work, 6 * row + k, z[k])
            store(work, 6 * row + 3 + k, p[k])
    return x, y, z, p


@inner
def turn_error(spin, goal, x, y, z):
    """Return the rotation to the goal as a vector of length 2 sin(angle / 2), and that length squared.

    With `spin` only the z axes must agree: the frame may spin about its own z axis.
    """
    gx, gy, gz, _ = axes_of(goal, 0)
    if spin != 0.0:
        w, cosine = cross(z, gz), dot(z, gz)
        half, near, far, gain = (1.0 + cosine) * 0.5, cosine > 0.0, 2.0 - 2.0 * cosine, 1.0
    else:
        w = plus(plus(cross(x, gx), cross(y, gy)), cross(z, gz))
        trace = dot(x, gx) + dot(y, gy) + dot(z, gz)
        half, near, far, gain = (1.0 + trace) * 0.25, trace > 1.0, 3.0 - trace, 0.5
    scale = gain / sqrt(select(half > STRAIGHT, half, STRAIGHT))
    w = times(scale, w)
    return w, select(near, dot(w, w), far)  # beyond a right angle the vector shortens again, but not the error


@inner
def row_velocity(codes, numbers, row, tip, work):
    """Return the linear and angular velocity of the tip due to a joint, without its multiplier; `work` has its axis."""
    motion = load(codes, CODE.size * row + CODE.motion)
    axis, origin = vector(work, 6 * row), vector(work, 6 * row + 3)
    linear, angular = cross(axis, minus(tip, origin)), axis
    if motion != REVOLUTE:
        advance = load(numbers, ENDS.size + ROW_NUMBERS.size * row + ROW_NUMBERS.advance)
        turns = 0.0 if motion == PRISMATIC else 1.0
        linear, angular = plus(times(turns, linear), times(advance, axis)), times(turns, axis)
    return linear, angular


@inner
def columns(codes, numbers, rows, settings, tip, z, work):
    """Replace the axes and origins in `work` by weighted columns of the Jacobian, one for each value, 6 items each.

    Values are numbered in order of first appearance, so a column never overwrites an axis that is still to be read. A
    follower adds to the column of its leader.
    """
    rotation, spin, seen = load(settings, SETTINGS.rotation_weight), load(settings, SETTINGS.spin), 0
    for row in range(rows):
        value = load(codes, CODE.size * row + CODE.value)
        multiplier, at = load(numbers, ENDS.size + ROW_NUMBERS.size * row + ROW_NUMBERS.multiplier), 6 * value
        linear, angular = row_velocity(codes, numbers, row, tip, work)
        if spin != 0.0:
            angular = along(angular, z, -dot(angular, z))
        for k in range(3):
            weight = load(settings, SETTINGS.position_weights + k)
            j, r = linear[k] * (weight * multiplier), angular[k] * (rotation * multiplier)
            if value < seen:
                j, r = j + load(work, at + k), r + load(work, at + 3 + k)
            store(work, at + k, j)
            store(work, at + 3 + k, r)
        seen = max(seen, value + 1)


@inner
def bounds(limits, value):
    """Return the lower and the upper limit of a value."""
    return load(limits, LIMITS.size * value + LIMITS.lower), load(limits, LIMITS.size * value + LIMITS.upper)


@inner
def within(limits, value, x):
    """Return a value clamped to its limits."""
    lower, upper = bounds(limits, value)
    raised = select(x > lower, x, lower)
    return select(raised < upper, raised, upper)


@inner
def nearest_copy(x, start, lower, upper):
    """Return the angle plus the whole number of turns that brings it nearest to `start` within the limits."""
    if (upper - lower < TURN and lower <= x <= upper) or not abs(start - x) < FAR:  # no other copy, or none is nearest
        return x
    found = x + TURN * math.floor((start - x) / TURN + 0.5)
    if found < lower:
        found += TURN * math.ceil((lower - found) / TURN)
    elif found > upper:
        found -= TURN * math.ceil((found - upper) / TURN)
    return found if lower <= found <= upper else x


@inner
def turned_back(limits, value, x, start):
    """Return the copy of a value nearest to a start, if a whole turn of it changes nothing; else the value."""
    if load(limits, LIMITS.size * value + LIMITS.periodic) == 0.0:
        return x
    lower, upper = bounds(limits, value)
    return nearest_copy(x, start, lower, upper)


@inner
def gate(limits, value, x, push):
    """Return 0 for a joint at a limit that the error pushes outwards, else 1: the active set of the limits."""
    lower, upper = bounds(limits, value)
    held = ((x <= lower) & (push < 0.0)) | ((x >= upper) & (push > 0.0))
    return select(held, 0.0, 1.0)


@inner
def normal_matrix(limits, values, q, e, damping, work):
    """Return the lower triangle of ``J J^T + lambda I``, row by row; columns of held joints are set to zero."""
    zero = damping * 0.0
    a00, a11, a22, a33, a44, a55 = damping, damping, damping, damping, damping, damping
    a10, a20, a21, a30, a31, a32, a40, a41, a42, a43 = zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
    a50, a51, a52, a53, a54 = zero, zero, zero, zero, zero
    for value in range(values):
        at = 6 * value
        a, b, c = vector(work, at)
        d, f, g = vector(work, at + 3)
        push = a * e[0] + b * e[1] + c * e[2] + d * e[3] + f * e[4] + g * e[5]
        free = gate(limits, value, load(q, value), push)
        a, b, c, d, f, g = a * free, b * free, c * free, d * free, f * free, g * free
        store(work, at, a)
        store(work, at + 1, b)
        store(work, at + 2, c)
        store(work, at + 3, d)
        store(work, at + 4, f)
        store(work, at + 5, g)
        a00, a10, a11 = a00 + a * a, a10 + b * a, a11 + b * b
        a20, a21, a22 = a20 + c * a, a21 + c * b, a22 + c * c
        a30, a31, a32, a33 = a30 + d * a, a31 + d * b, a32 + d * c, a33 + d * d
        a40, a41, a42, a43, a44 = a40 + f * a, a41 + f * b, a42 + f * c, a43 + f * d, a44 + f * f
        a50, a51, a52, a53, a54, a55 = a50 + g * a, a51 + g * b, a52 + g * c, a53 + g * d, a54 + g * f, a55 + g * g
    return (
        (a00,),
        (a10, a11),
        (a20, a21, a22),
        (a30, a31, a32, a33),
        (a40, a41, a42, a43, a44),
        (a50, a51, a52, a53, a54, a55),
    )


@inner
def solve_symmetric(matrix, e):
    """Return b with ``matrix b = e`` for a positive definite 6x6 lower triangle: L D L^T factorization, unrolled."""
    (a00,), (a10, a11), (a20, a21, a22), (a30, a31, a32, a33), (a40, a41, a42, a43, a44), last = matrix
    a50, a51, a52, a53, a54, a55 = last
    i0 = 1.0 / a00
    l10, l20, l30, l40, l50 = a10 * i0, a20 * i0, a30 * i0, a40 * i0, a50 * i0
    i1 = 1.0 / (a11 - l10 * a10)
    t2, t3, t4, t5 = a21 - l20 * a10, a31 - l30 * a10, a41 - l40 * a10, a51 - l50 * a10
    l21, l31, l41, l51 = t2 * i1, t3 * i1, t4 * i1, t5 * i1
    i2 = 1.0 / (a22 - l20 * a20 - l21 * t2)
    u3, u4, u5 = a32 - l30 * a20 - l31 * t2, a42 - l40 * a20 - l41 * t2, a52 - l50 * a20 - l51 * t2
    l32, l42, l52 = u3 * i2, u4 * i2, u5 * i2
    i3 = 1.0 / (a33 - l30 * a30 - l31 * t3 - l32 * u3)
    v4, v5 = a43 - l40 * a30 - l41 * t3 - l42 * u3, a53 - l50 * a30 - l51 * t3 - l52 * u3
    l43, l53 = v4 * i3, v5 * i3
    i4 = 1.0 / (a44 - l40 * a40 - l41 * t4 - l42 * u4 - l43 * v4)
    s5 = a54 - l50 * a40 - l51 * t4 - l52 * u4 - l53 * v4
    l54 = s5 * i4
    i5 = 1.0 / (a55 - l50 * a50 - l51 * t5 - l52 * u5 - l53 * v5 - l54 * s5)
    b0 = e[0]
    b1 = e[1] - l10 * b0
    b2 = e[2] - l20 * b0 - l21 * b1
    b3 = e[3] - l30 * b0 - l31 * b1 - l32 * b2
    b4 = e[4] - l40 * b0 - l41 * b1 - l42 * b2 - l43 * b3
    b5 = (e[5] - l50 * b0 - l51 * b1 - l52 * b2 - l53 * b3 - l54 * b4) * i5
    b4 = b4 * i4 - l54 * b5
    b3 = b3 * i3 - l43 * b4 - l53 * b5
    b2 = b2 * i2 - l32 * b3 - l42 * b4 - l52 * b5
    b1 = b1 * i1 - l21 * b2 - l31 * b3 - l41 * b4 - l51 * b5
    b0 = b0 * i0 - l10 * b1 - l20 * b2 - l30 * b3 - l40 * b4 - l50 * b5
    return b0, b1, b2, b3, b4, b5


@inner
def sweep_tip(codes, numbers, rows, spin, q, work):
    """Return the frame of the tip; store the axis and origin of every joint in `work`, 6 items each.

    Unless the frame may spin, the rotation of the tip is already part of the goal, see `starts.read_goal`.
    """
    x, y, z, p = sweep(codes, numbers, rows, q, work)
    return place(GENERAL if spin != 0.0 else SHIFT, numbers, ENDS.tip, x, y, z, p)


@inner
def error_at(settings, goal, x, y, z, tip):
    """Return the weighted error (6) of the tip at a given frame, and its squared position and rotation parts."""
    w = load(settings, SETTINGS.rotation_weight)
    turn, rotation_error = turn_error(load(settings, SETTINGS.spin), goal, x, y, z)
    there, weights = vector(goal, TRANSFORM.origin), vector(settings, SETTINGS.position_weights)
    e0, e1, e2 = (there[0] - tip[0]) * weights[0], (there[1] - tip[1]) * weights[1], (there[2] - tip[2]) * weights[2]
    return (e0, e1, e2, turn[0] * w, turn[1] * w, turn[2] * w), e0 * e0 + e1 * e1 + e2 * e2, rotation_error


@inner
def tip_error(codes, numbers, rows, settings, goal, q, work):
    """Return the tip's z axis and position, the weighted error, and its squared position and rotation parts."""
    x, y, z, tip = sweep_tip(codes, numbers, rows, load(settings, SETTINGS.spin), q, work)
    e, position_error, rotation_error = error_at(settings, goal, x, y, z, tip)
    return z, tip, e, position_error, rotation_error


@inner
def damped_step(codes, numbers, rows, settings, limits, values, goal, q, work, after, caution):
    """Write the pose after one step into `after`; return the squared position and rotation errors before it.

    `caution` adds damping in proportion to the error itself. It is for goals out of reach, where the chain's curvature,
    which the step neglects, matters as much as the Jacobian.
    """
    z, tip, e, position_error, rotation_error = tip_error(codes, numbers, rows, settings, goal, q, work)
    w = load(settings, SETTINGS.rotation_weight)
    error = position_error + rotation_error * (w * w)
    gain, least = load(settings, SETTINGS.damping_gain), load(settings, SETTINGS.damping_least)
    damping = error * gain + least + caution * sqrt(error)
    columns(codes, numbers, rows, settings, tip, z, work)
    b = solve_symmetric(normal_matrix(limits, values, q, e, damping, work), e)
    for value in range(values):
        at = 6 * value
        c, d = vector(work, at), vector(work, at + 3)
        change = c[0] * b[0] + c[1] * b[1] + c[2] * b[2] + d[0] * b[3] + d[1] * b[4] + d[2] * b[5]
        store(after, value, within(limits, value, load(q, value) + change))
    return position_error, rotation_error
