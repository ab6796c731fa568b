"""The step that each of the textbook's methods proposes at a pose: a velocity for unit time."""

from __future__ import annotations

import math

from . import inner, part
from .ccd import Goals as Effectors, descend, first_ranked
from .fabrik import best_trial
from .fabrik_layout import BONES, goals_of, skeleton_of, slice_memory
from .joint_step import xyz_quaternion
from .lanes import beyond, divided
from .planar_arm import FIGURES, NEAREST, PLACES, STEPS, put_arm, shift_of
from .rotations import quaternion_product, rotation_vector
from .textbook import CONTROL, TRANSPOSE, jacobian_step, room_sizes
from .textbook_goals import measure_pose, put_jacobian, put_six
from .textbook_plan import HEAD, OPTIONS, VALUE
from .textbook_pose import keep_within, keeps_limits

CCD, RANKED_CCD, FABRIK, ANALYTIC = range(TRANSPOSE + 1, TRANSPOSE + 5)
EXACT = 1.0e-9  # metres per metre of the linkage, and radians
SAME_ROOT = 1.0e-7  # closed forms are exact: poses that differ by more are two solutions, even near a singular pose
xyz_turn = inner(xyz_quaternion)


@part
def shorten(plan, desk):
    """Shorten the step, if needed, so that no value changes by more than the largest allowed change."""
    most, largest = 0.0, plan.options[OPTIONS.max_step]
    for v in range(plan.head[HEAD.nv]):
        most = max(most, abs(desk.change[v]))
    if most > largest:
        for v in range(plan.head[HEAD.nv]):
            desk.change[v] *= largest / most


@part
def put_wish(plan, q, desk):
    """Write the wish of the control method, ``gains (theta - desired)`` or its square as printed, in velocity units."""
    wholes, reals, change = plan.wholes, plan.reals, desk.change
    for v in range(plan.head[HEAD.nv]):
        at = wholes.value[v]
        if at >= 0:
            value = beyond(reals.values, VALUE.size * at)
            away = q[at] - value[VALUE.desired]
            if reals.wraps[v] != 0.0 and not abs(away) < math.pi:
                turns = (away + math.pi) / (2.0 * math.pi)
                away = (turns - math.floor(turns)) * 2.0 * math.pi - math.pi
            change[v] = away
    for k in range(plan.head[HEAD.balls]):
        at, v = wholes.balls[2 * k], wholes.balls[2 * k + 1]
        home = beyond(reals.values, VALUE.size * at + VALUE.desired)
        back = home[0], -home[VALUE.size], -home[2 * VALUE.size], -home[3 * VALUE.size]
        now = q[at], q[at + 1], q[at + 2], q[at + 3]
        change[v], change[v + 1], change[v + 2] = rotation_vector(*quaternion_product(back, now))
    for j in range(plan.head[HEAD.free]):
        v = wholes.columns[j]
        away = change[v] * change[v] if plan.head[HEAD.choice] else change[v]
        desk.wish[j] = reals.gains[v] * away / reals.measures[v]


@part
def step_along(plan, q, desk):
    """Propose the step of a Jacobian method; return its note."""
    head, options, wholes, method = plan.head, plan.options, plan.wholes, plan.head[HEAD.method]
    m, n = head[HEAD.changing], head[HEAD.free]
    put_jacobian(plan, desk)
    if method == CONTROL:
        put_wish(plan, q, desk)
    blocks = wholes.starts, head[HEAD.starts]
    numbers = options[OPTIONS.amount], options[OPTIONS.length], options[OPTIONS.rank]
    room = divided(desk.matrices, room_sizes(m, n))
    note = jacobian_step(method, desk.jacobian, desk.wanted, m, n, *blocks, desk.wish, *numbers, room, desk.short)
    largest, most = options[OPTIONS.max_step], 0.0
    for j in range(n):
        most = max(most, abs(desk.short[j]))
    factor = largest / most if most > largest else 1.0
    for v in range(head[HEAD.nv]):
        desk.change[v] = 0.0
    for j in range(n):
        desk.change[wholes.columns[j]] = factor * desk.short[j] * plan.reals.measures[wholes.columns[j]]
    return note


@part
def step_by_joints(plan, targets, q, iteration, desk):
    """Propose the change of every joint in turn, or of the one that ranks first; return which that is."""
    head, wholes, reals, nv = plan.head, plan.wholes, plan.reals, plan.head[HEAD.nv]
    put_six(plan, desk)
    for v in range(nv):
        desk.low[v], desk.high[v] = (-math.inf, math.inf) if wholes.moving[v] else (0.0, 0.0)
        if wholes.moving[v] and wholes.value[v] >= 0:
            value, now = beyond(reals.values, VALUE.size * wholes.value[v]), q[wholes.value[v]]
            desk.low[v], desk.high[v] = value[VALUE.lower] - now, value[VALUE.upper] - now
    asked = wholes.coordinates, wholes.oriented, reals.counts, plan.options[OPTIONS.radius]
    goals = Effectors(head[HEAD.goals], targets, *asked)
    room, together = (desk.low, desk.high), head[HEAD.method] == CCD
    descend(goals, desk.world, desk.six, nv, wholes.kind, *room, together, desk.change, desk.gain)
    chosen = 0
    if not together:
        chosen = first_ranked(head[HEAD.choice], nv, desk.change, desk.gain, desk.last, iteration, *room)
        desk.last[chosen] = iteration
        for v in range(nv):
            desk.change[v] = desk.change[v] if v == chosen else 0.0
    for k in range(head[HEAD.balls]):  # three rotations, one after another, as one rotation vector
        turn = beyond(desk.change, wholes.balls[2 * k + 1])
        a, b, c = 0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]
        sines, cosines = (math.sin(a), math.sin(b), math.sin(c)), (math.cos(a), math.cos(b), math.cos(c))
        turn[0], turn[1], turn[2] = rotation_vector(*xyz_turn(sines, cosines))
    return float(chosen)


@part
def step_of_bones(plan, targets, q, desk):
    """Propose the change of the best trial of FABRIK's passes; return the number of the trial."""
    wholes, reals, goals = plan.wholes, plan.reals, plan.head[HEAD.goals]
    skeleton, rest = skeleton_of(wholes.places, reals.figures)
    aim, spot, memory = divided(desk.work, (9 * goals, 3 * goals, 0))
    for g in range(goals):
        for i in range(3):
            spot[3 * g + i] = targets[16 * g + 4 * i + 3]
            for j in range(3):
                aim[9 * g + 3 * i + j] = targets[16 * g + 4 * i + j]
    wanted = goals_of(reals.figures, rest, wholes.coordinates, wholes.oriented, aim, spot)
    bodies, work = slice_memory(skeleton, memory)
    for v in range(plan.head[HEAD.nv]):
        desk.change[v] = 0.0
    trials = wholes.places[BONES.trials]
    chosen = best_trial(skeleton, wanted, q, rest.trials, trials, bodies, work, desk.change)
    shorten(plan, desk)
    return float(chosen)


# Closed forms of planar arms


@part
def missed_by(plan, targets, q, desk):
    """Return the error of a pose: metres relative to the linkage's length, and radians; the larger of both."""
    measure_pose(plan, targets, q, desk)
    length, miss = plan.options[OPTIONS.length], 0.0
    for b in range(plan.head[HEAD.blocks]):
        share = desk.residuals[b] / length if b == 0 and length > 0.0 else desk.residuals[b]
        miss = max(miss, share)
    return miss


@inner
def asked_for(plan, side):
    """Return whether the elbow may be on a side; if its axis points the other way, down and up are exchanged."""
    wish, sign = plan.wholes.places[PLACES.elbow], plan.reals.figures[FIGURES.signs + 1]
    return wish == NEAREST or wish == (side if sign > 0.0 else 1 - side)


@part
def reach_by_analysis(plan, targets, start, desk, other, best):
    """Write the solution nearest to a start; return whether there is one.

    If a free choice violates a limit, other directions of the last link are tried, the nearest first.
    """
    places, figures, nq = plan.wholes.places, plan.reals.figures, plan.head[HEAD.nq]
    free = places[PLACES.links] == 3 and not places[PLACES.directed] and not places[PLACES.turned]
    for k in range(STEPS + 1 if free else 1):
        found, near, least = False, False, math.inf
        for side in range(2):
            if not asked_for(plan, side):
                continue
            copy_pose(start, nq, other)
            put_arm(places, figures, targets, start, desk.low, desk.high, side, shift_of(k), other)
            if missed_by(plan, targets, other, desk) > EXACT:
                continue
            near = True
            if keeps_limits(plan, other):
                away, apart = distances(nq, start, other, best)
                if not found or (away < least and apart >= SAME_ROOT):
                    least, found = away, True
                    copy_pose(other, nq, best)
        if found or not near:
            return found
    return False


@part
def come_closest(plan, targets, start, desk, other, best):
    """Write the pose that comes closest to a target out of reach, within limits."""
    places, figures, nq, least = plan.wholes.places, plan.reals.figures, plan.head[HEAD.nq], math.inf
    for side in range(2):
        if asked_for(plan, side):
            copy_pose(start, nq, other)
            put_arm(places, figures, targets, start, desk.low, desk.high, side, 0.0, other)
            if plan.head[HEAD.limited]:
                keep_within(plan, other)
            miss = missed_by(plan, targets, other, desk)
            if miss < least:
                least = miss
                copy_pose(other, nq, best)


@inner
def copy_pose(a, nq, out):
    """Copy a pose."""
    for k in range(nq):
        out[k] = a[k]


@inner
def distances(nq, start, pose, best):
    """Return the distance of a pose from a start, and its largest difference from another pose."""
    square, apart = 0.0, 0.0
    for k in range(nq):
        square += (pose[k] - start[k]) * (pose[k] - start[k])
        apart = max(apart, abs(pose[k] - best[k]))
    return math.sqrt(square), apart


@part
def step_by_analysis(plan, targets, q, desk):
    """Propose the change to the pose that the closed form of a planar arm gives."""
    head, wholes, nq = plan.head, plan.wholes, plan.head[HEAD.nq]
    other, best, _ = divided(desk.work, (nq, nq, 0))
    for k in range(nq):
        value = beyond(plan.reals.values, VALUE.size * k)
        desk.low[k], desk.high[k], best[k] = value[VALUE.lower], value[VALUE.upper], q[k]
    if not reach_by_analysis(plan, targets, q, desk, other, best):
        come_closest(plan, targets, q, desk, other, best)
    for v in range(head[HEAD.nv]):
        desk.change[v] = best[wholes.value[v]] - q[wholes.value[v]] if wholes.value[v] >= 0 else 0.0
    shorten(plan, desk)
    measure_pose(plan, targets, q, desk)  # other poses have been measured meanwhile


@part
def propose(plan, targets, q, iteration, desk):
    """Write the step of the plan's method at a pose that has been measured; return its note."""
    method = plan.head[HEAD.method]
    if method <= TRANSPOSE:
        return step_along(plan, q, desk)
    if method == FABRIK:
        return step_of_bones(plan, targets, q, desk)
    if method == ANALYTIC:
        step_by_analysis(plan, targets, q, desk)
        return 0.0
    return step_by_joints(plan, targets, q, iteration, desk)
