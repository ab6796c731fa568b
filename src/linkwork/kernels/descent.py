"""Coordinate descent: the best change of one joint, and what it does to the effectors.

Imports nothing but the compiler. A joint's whole effect on an effector follows from its column of the Jacobian: turned
by an angle t about its unit axis a, the effector moves by ``sin t (a x r) + (1 - cos t) a x (a x r)``, and ``a x r`` is
the column's linear half. Going inward, a joint never moves the axes of those still to come, so one Jacobian serves a
sweep.

Arrays of one problem: ``world`` (e, 4, 4) and ``jacobian`` (e, 6, nv) of its effectors, ``target`` (e, 4, 4), ``asks``
(e, 2): how many coordinates of the position and whether the orientation, ``weight`` (e,).
"""

from __future__ import annotations

import math

from . import inner, kernel

TURN, SLIDE = 0, 1
STILL = 1.0e-9


@inner
def cross(a, b):
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def halves(jacobian, e, column):
    """Return the linear and angular half of a column."""
    j = jacobian[e]
    return (j[0, column], j[1, column], j[2, column]), (j[3, column], j[4, column], j[5, column])


@inner
def moves(jacobian, e, column):
    """Return whether a joint moves an effector at all."""
    largest = 0.0
    for k in range(6):
        largest = max(largest, abs(jacobian[e, k, column]))
    return largest > STILL


@inner
def position_terms(world, target, asks, e, linear, axis):
    """Return A and B of the merit ``A cos t + B sin t`` of a turn, as far as the position is concerned."""
    inward = cross(axis, linear)  # from the effector to the axis
    cosine, sine = 0.0, 0.0
    for k in range(asks[e, 0]):
        reach = target[e, k, 3] - world[e, k, 3] - inward[k]  # from the axis to the goal, across
        cosine -= reach * inward[k]
        sine += reach * linear[k]
    return cosine, sine


@inner
def orientation_terms(world, target, e, axis):
    """Return A and B of the merit of a turn as far as the orientation is concerned: the trace of ``goal^T turned``."""
    trace, along, twist = 0.0, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            n = 0.0
            for k in range(3):
                n += world[e, i, k] * target[e, j, k]
            if i == j:
                trace += n
            else:
                sign = 1.0 if (j - i) % 3 == 1 else -1.0
                twist += sign * n * axis[3 - i - j]
            along += axis[i] * n * axis[j]
    return trace - along, twist


@inner
def best_turn(cosine, sine, low, high):
    """Return the angle within [low, high] at which ``cosine cos t + sine sin t`` is largest."""
    free = math.atan2(sine, cosine) if cosine * cosine + sine * sine > 0.0 else 0.0
    for turns in (0.0, -1.0, 1.0):
        angle = free + turns * 2.0 * math.pi
        if low <= angle <= high:
            return angle
    at_low = cosine * math.cos(low) + sine * math.sin(low)
    at_high = cosine * math.cos(high) + sine * math.sin(high)
    return low if at_low > at_high else high


@inner
def best(world, jacobian, target, asks, weight, radius, kind, low, high, column):
    """Return the best change of one joint within its range, and how much better it makes things."""
    first, second = 0.0, 0.0
    for e in range(world.shape[0]):
        if moves(jacobian, e, column):
            linear, axis = halves(jacobian, e, column)
            if kind == TURN:
                a, b = position_terms(world, target, asks, e, linear, axis)
                if asks[e, 1]:
                    c, d = orientation_terms(world, target, e, axis)
                    a, b = a + radius * radius * c, b + radius * radius * d
                first, second = first + weight[e] * a, second + weight[e] * b
            else:
                for k in range(asks[e, 0]):
                    first += weight[e] * linear[k] * (target[e, k, 3] - world[e, k, 3])
                    second += weight[e] * linear[k] * linear[k]
    if kind == TURN:
        change = best_turn(first, second, low, high)
        return change, first * (math.cos(change) - 1.0) + second * math.sin(change)
    change = min(max(first / second, low), high) if second > 0.0 else 0.0
    return change, first * change - 0.5 * second * change * change


@inner
def take(world, jacobian, kind, column, change):
    """Let one joint's change carry the effectors along, and their Jacobians with them."""
    for e in range(world.shape[0]):
        if not moves(jacobian, e, column):
            continue
        linear, axis = halves(jacobian, e, column)
        if kind == TURN:
            sine, verse = math.sin(change), 1.0 - math.cos(change)
            back = cross(axis, linear)
            moved = (
                sine * linear[0] + verse * back[0],
                sine * linear[1] + verse * back[1],
                sine * linear[2] + verse * back[2],
            )
            for k in range(3):
                x = (world[e, 0, k], world[e, 1, k], world[e, 2, k])
                y = cross(axis, x)
                z = cross(axis, y)
                for i in range(3):
                    world[e, i, k] = x[i] + sine * y[i] + verse * z[i]
        else:
            moved = (change * linear[0], change * linear[1], change * linear[2])
        for i in range(3):
            world[e, i, 3] += moved[i]
        for other in range(jacobian.shape[2]):
            _, about = halves(jacobian, e, other)
            carried = cross(about, moved)
            for i in range(3):
                jacobian[e, i, other] += carried[i]


@kernel
def sweep_inward_many(world, jacobian, target, asks, weight, radius, kinds, low, high, change):
    """Write the changes (n, nv) of one sweep from the outermost joint inward, for n problems."""
    for i in range(world.shape[0]):
        for step in range(kinds.shape[0]):
            column = kinds.shape[0] - 1 - step
            w, j, kind = world[i], jacobian[i], kinds[column]
            amount, _ = best(w, j, target, asks, weight, radius, kind, low[i, column], high[i, column], column)
            take(w, j, kind, column, amount)
            change[i, column] = amount


@kernel
def candidates_many(world, jacobian, target, asks, weight, radius, kinds, low, high, change, gain):
    """Write the best change of every joint alone, and what each would gain, (n, nv), for n problems."""
    for i in range(world.shape[0]):
        for c in range(kinds.shape[0]):
            w, j = world[i], jacobian[i]
            change[i, c], gain[i, c] = best(w, j, target, asks, weight, radius, kinds[c], low[i, c], high[i, c], c)
