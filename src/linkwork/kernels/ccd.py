"""Cyclic coordinate descent: the best change of one joint, and its effect on the effectors.

The whole effect of a joint on an effector follows from its column of the Jacobian: rotated by an angle t about its unit
axis a, the effector moves by ``sin t (a x r) + (1 - cos t) a x (a x r)``, where ``a x r`` is the linear half of the
column. Going inward, a joint never moves the axes of those still to come, so one Jacobian is enough for a sweep.

A joint whose axis passes through the effector, or through the goal, changes nothing by turning, and its optimum is
noise. It is held back, smoothly, as its best rotation gains less and less.

Memory of one problem: ``world`` (e, 4, 4) and ``jacobian`` (e, 6, nv) of its effectors.
"""

from __future__ import annotations

import math
from collections import namedtuple

from . import inner, kernel, part
from .lanes import all_flat, beyond, flat
from .rotations import best_turn, cross, dot, plus, times

TURN, SLIDE = 0, 1
BY_USEFULNESS, BY_RECENCY, BY_LIMITS = 0, 1, 2
RECENT = 1.0e-3  # share of the largest gain; joints that gain less are not useful
EDGE = 0.05  # weight of a joint at its limit
STILL = 1.0e-9
LEVER = 0.02  # share of the longest lever arm of an effector; joints with shorter ones are held back
Goals = namedtuple(
    "Goals",
    (
        "count",
        "target",  # of each goal: the target of its effector (4, 4)
        "coordinates",  # number of position coordinates that count
        "oriented",  # whether the orientation counts
        "weight",
        "radius",  # length that weighs a radian [m]
    ),
)


@inner
def down(memory, at, stride):
    """Return a vector stored in a column: three numbers, `stride` apart."""
    return memory[at], memory[at + stride], memory[at + 2 * stride]


@inner
def halves(jacobian, nv, e, column):
    """Return the linear and angular halves of a column, and whether the joint moves the effector at all."""
    at = 6 * nv * e + column
    linear, axis = down(jacobian, at, nv), down(jacobian, at + 3 * nv, nv)
    return linear, axis, dot(linear, linear) + dot(axis, axis) > STILL * STILL


@inner
def orientation_terms(world, target, axis):
    """Return A and B of the orientation merit ``A cos t + B sin t`` of a rotation, the trace of ``goal^T rotated``."""
    cosine, sine = 0.0, 0.0
    for k in range(3):  # the axes of the frame, and their targets
        now, wanted = down(world, k, 4), down(target, k, 4)
        cosine += dot(now, wanted) - dot(axis, now) * dot(axis, wanted)
        sine += dot(cross(axis, now), wanted)
    return cosine, sine


@part
def longest_lever(jacobian, nv, effectors, kinds):
    """Return the largest distance of an effector from an axis that rotates it [m]."""
    square = 0.0
    for e in range(effectors):
        for c in range(nv):
            if kinds[c] == TURN:
                linear = down(jacobian, 6 * nv * e + c, nv)
                square = max(square, dot(linear, linear))
    return math.sqrt(square)


@inner
def held_back(amount, least):
    """Return the merit of not moving: zero if a change is worth `least` or more, `least` if it is worth nothing."""
    if amount >= least:
        return 0.0
    missing = 1.0 - amount / least
    return least * missing * missing


@part
def best(goals, world, jacobian, nv, column, kind, low, high, lever):
    """Return the best change of one joint within its range, and its gain.

    The merit of a rotation by t is ``first cos t + second sin t``; of a translation by t, ``first t - second t^2 / 2``.
    A rotation's amplitude is the effector's distance from the axis times the goal's; `whole` is the amplitude of a
    joint with the longest lever arm for the larger of the two. No joint turns by more than half a turn.
    """
    first, second, whole = 0.0, 0.0, 0.0
    for e in range(goals.count):
        linear, axis, moves = halves(jacobian, nv, e, column)
        if not moves:
            continue
        inward = cross(axis, linear)  # from the effector to the axis
        weight, target = goals.weight[e], beyond(goals.target, 16 * e)
        square, along = 0.0, 0.0  # of the vector from the axis to the goal
        for k in range(goals.coordinates[e]):
            way = target[4 * k + 3] - world[16 * e + 4 * k + 3]
            if kind == TURN:
                way -= inward[k]  # perpendicular, from the axis to the goal
                first -= weight * way * inward[k]
                second += weight * way * linear[k]
                square += way * way
                along += way * axis[k]
            else:
                first += weight * way * linear[k]
                second += weight * linear[k] * linear[k]
        if kind == SLIDE:
            whole += weight
        elif goals.coordinates[e] > 0:
            whole += weight * lever * math.sqrt(max(square - along * along, dot(linear, linear)))
        if kind == TURN and goals.oriented[e]:
            cosine, sine = orientation_terms(beyond(world, 16 * e), target, axis)
            first += weight * goals.radius * goals.radius * cosine
            second += weight * goals.radius * goals.radius * sine
    if kind == TURN:
        stay = held_back(math.sqrt(first * first + second * second), LEVER * whole)
        change = best_turn(first + stay, second, max(low, -math.pi), min(high, math.pi))
        return change, first * (math.cos(change) - 1.0) + second * math.sin(change)
    stiffness = second + held_back(second, LEVER * LEVER * whole)
    change = min(max(first / stiffness, low), high) if stiffness > 0.0 else 0.0
    return change, first * change - 0.5 * second * change * change


@part
def take(world, jacobian, effectors, kind, nv, column, change):
    """Apply one joint's change to the effectors and their Jacobians."""
    sine, verse = math.sin(change), 1.0 - math.cos(change)
    for e in range(effectors):
        linear, axis, moves = halves(jacobian, nv, e, column)
        if not moves:
            continue
        moved = times(change, linear)
        if kind == TURN:
            moved = plus(times(sine, linear), times(verse, cross(axis, linear)))
            for k in range(16 * e, 16 * e + 3):
                y = cross(axis, down(world, k, 4))
                add(world, k, 4, plus(times(sine, y), times(verse, cross(axis, y))))
        add(world, 16 * e + 3, 4, moved)
        for at in range(6 * nv * e, 6 * nv * e + nv):
            add(jacobian, at, nv, cross(down(jacobian, at + 3 * nv, nv), moved))


@inner
def add(memory, at, stride, v):
    """Add a vector to one stored in a column."""
    memory[at], memory[at + stride], memory[at + 2 * stride] = plus(down(memory, at, stride), v)


@part
def descend(goals, world, jacobian, nv, kinds, low, high, together, change, gain):
    """Write the best change of every joint and its gain, the outermost joint first; see `sweep_inward`."""
    lever = longest_lever(jacobian, nv, goals.count, kinds)
    for step in range(nv):
        c = nv - 1 - step
        change[c], gain[c] = best(goals, world, jacobian, nv, c, kinds[c], low[c], high[c], lever)
        if together:
            take(world, jacobian, goals.count, kinds[c], nv, c, change[c])


@inner
def share_left(change, low, high):
    """Return the distance to the nearer limit after a change, as a share of the range; 1 if there is no limit."""
    width = high - low
    return min(high - change, change - low) / width if 0.0 < width < math.inf else 1.0


@part
def first_ranked(ranking, nv, change, gain, last, iteration, low, high):
    """Return the joint that ranks first, by one of the rankings of `linkwork.solvers.ccd`: gain, recency or limits."""
    chosen, highest, most = 0, -math.inf, -math.inf
    for c in range(nv):
        most = max(most, gain[c])
    for c in range(nv):
        score = gain[c]
        if ranking == BY_RECENCY:
            score = iteration - last[c] if gain[c] > RECENT * most else 0.0
        elif ranking == BY_LIMITS:
            score = gain[c] * (EDGE + share_left(change[c], low[c], high[c]))
        if score > highest:
            chosen, highest = c, score
    return chosen


@kernel("Goals(i8 f8[,,] i8[] i8[] f8[] f8) f8[,,,] f8[,,,] i8[] f8[,] f8[,] b1 f8[,] f8[,]", nogil=True)
def sweep_inward(goals, world, jacobian, kinds, low, high, together, change, gain):
    """Write the best change of every joint and its gain, (n, nv), for n problems, the outermost joint first.

    Each joint is considered alone or, with `together`, after the joints further out have made their change.
    """
    aims, nv = all_flat(goals), kinds.size
    for i in range(change.shape[0]):
        w, j = beyond(flat(world), 16 * aims.count * i), beyond(flat(jacobian), 6 * nv * aims.count * i)
        room = beyond(flat(low), nv * i), beyond(flat(high), nv * i)
        descend(aims, w, j, nv, flat(kinds), *room, together, beyond(flat(change), nv * i), beyond(flat(gain), nv * i))
