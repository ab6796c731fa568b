"""Coordinate descent: the best change of one joint, and what it does to the effectors.

A joint's whole effect on an effector follows from its column of the Jacobian: turned
by an angle t about its unit axis a, the effector moves by ``sin t (a x r) + (1 - cos t) a x (a x r)``, and ``a x r`` is
the column's linear half. Going inward, a joint never moves the axes of those still to come, so one Jacobian serves a
sweep.

A joint whose axis passes through the effector, or through the goal, changes nothing by turning, and where its merit is
largest is noise: it is held back, smoothly, as its best turn gains less and less.

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
RECENT = 1.0e-3  # of the largest gain: joints that gain less are not useful
EDGE = 0.05  # what a joint at its limit still counts
STILL = 1.0e-9
LEVER = 0.02  # of the longest lever of an effector: joints with a shorter one are held back
Goals = namedtuple(
    "Goals",
    (
        "count",
        "target",  # of each: where its effector should be (4, 4)
        "coordinates",  # how many of the position are asked for
        "oriented",  # whether the orientation is
        "weight",
        "radius",  # metres that a radian counts
    ),
)


@inner
def down(memory, at, stride):
    """Return a vector that stands in a column: three numbers, `stride` apart."""
    return memory[at], memory[at + stride], memory[at + 2 * stride]


@inner
def halves(jacobian, nv, e, column):
    """Return the linear and angular half of a column, and whether the joint moves the effector at all."""
    at = 6 * nv * e + column
    linear, axis = down(jacobian, at, nv), down(jacobian, at + 3 * nv, nv)
    return linear, axis, dot(linear, linear) + dot(axis, axis) > STILL * STILL


@inner
def orientation_terms(world, target, axis):
    """Return A and B of the merit of a turn as far as the orientation is concerned: the trace of ``goal^T turned``."""
    cosine, sine = 0.0, 0.0
    for k in range(3):  # the frame's axes and where they should point
        now, wanted = down(world, k, 4), down(target, k, 4)
        cosine += dot(now, wanted) - dot(axis, now) * dot(axis, wanted)
        sine += dot(cross(axis, now), wanted)
    return cosine, sine


@part
def longest_lever(jacobian, nv, effectors, kinds):
    """Return the largest distance of an effector from an axis that turns it."""
    square = 0.0
    for e in range(effectors):
        for c in range(nv):
            if kinds[c] == TURN:
                linear = down(jacobian, 6 * nv * e + c, nv)
                square = max(square, dot(linear, linear))
    return math.sqrt(square)


@inner
def held_back(amount, least):
    """Return the worth of staying: none where a change is worth `least` and more, all of `least` where nothing."""
    if amount >= least:
        return 0.0
    missing = 1.0 - amount / least
    return least * missing * missing


@part
def best(goals, world, jacobian, nv, column, kind, low, high, lever):
    """Return the best change of one joint within its range, and how much better it makes things.

    The merit of a turn by t is ``first cos t + second sin t``; of a slide by t, ``first t - second t^2 / 2``. A turn
    moves an effector by its distance from the axis times the goal's; `whole` is what a joint with the longest lever
    would make of the larger of the two. No joint turns by more than half a turn: beyond, it is the other way round.
    """
    first, second, whole = 0.0, 0.0, 0.0
    for e in range(goals.count):
        linear, axis, moves = halves(jacobian, nv, e, column)
        if not moves:
            continue
        inward = cross(axis, linear)  # from the effector to the axis
        weight, target = goals.weight[e], beyond(goals.target, 16 * e)
        square, along = 0.0, 0.0  # of the way from the axis to the goal
        for k in range(goals.coordinates[e]):
            way = target[4 * k + 3] - world[16 * e + 4 * k + 3]
            if kind == TURN:
                way -= inward[k]  # from the axis to the goal, across
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
    """Let one joint's change carry the effectors along, and their Jacobians with them."""
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
    """Add to a vector that stands in a column."""
    memory[at], memory[at + stride], memory[at + 2 * stride] = plus(down(memory, at, stride), v)


@part
def descend(goals, world, jacobian, nv, kinds, low, high, together, change, gain):
    """Write the best change of every joint and what it gains, the outermost joint first; see `sweep_inward`."""
    lever = longest_lever(jacobian, nv, goals.count, kinds)
    for step in range(nv):
        c = nv - 1 - step
        change[c], gain[c] = best(goals, world, jacobian, nv, c, kinds[c], low[c], high[c], lever)
        if together:
            take(world, jacobian, goals.count, kinds[c], nv, c, change[c])


@inner
def share_left(change, low, high):
    """Return the distance to the nearer limit after a change, as a share of the range; one where there is no limit."""
    width = high - low
    return min(high - change, change - low) / width if 0.0 < width < math.inf else 1.0


@part
def first_ranked(ranking, nv, change, gain, last, iteration, low, high):
    """Return the joint that ranks first, the rankings of `linkwork.solvers.ccd`: how useful, how long ago, how free."""
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
    """Write the best change of every joint and what it gains, (n, nv), for n problems, the outermost joint first.

    Each joint is looked at alone or, with `together`, after those further out have made their change.
    """
    aims, nv = all_flat(goals), kinds.size
    for i in range(change.shape[0]):
        w, j = beyond(flat(world), 16 * aims.count * i), beyond(flat(jacobian), 6 * nv * aims.count * i)
        room = beyond(flat(low), nv * i), beyond(flat(high), nv * i)
        descend(aims, w, j, nv, flat(kinds), *room, together, beyond(flat(change), nv * i), beyond(flat(gain), nv * i))
