"""Solve whole bodies: damped steps within limits towards all goals at once, and new starts for limbs that fail.

A body with goals on several levels first descends with equal weights for all. Unless that reaches them, it then
descends with small weights for lower levels, and is refined without the last level, and so on up to the first level
alone. So there are two sets of goal numbers, which differ in their weights.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .avoid_rows import avoid_goal, avoids_with
from .balance_rows import balance_goal
from .body_curvature import add_curvature
from .body_layout import BLOCK, HEADER, KEPT, WRENCHES, cone_at, quaternion_at, slice_scratch, table
from .body_state import add_composites, add_rows, clear, move, sweep_body
from .bounded import bounded_step
from .dexterity_rows import dexterity_goal
from .goal_layout import (
    ACROSS,
    AIM,
    AVOID,
    BALANCE,
    BEND,
    COUPLE,
    DEXTERITY,
    DISTANCE,
    GOAL,
    PLACE,
    POINTING,
    RANGE,
    REST,
)
from .goal_rows import across_goal, bend_goal, distance_goal, place_goal, pointing_goal
from .joint_rows import add_rest, couple_goal, rest_goal
from .lanes import beyond, cells
from .layout import Layout
from .range_rows import range_goal
from .rotations import place, quaternion_product, rotation_vector
from .starts import uniform
from .swing_twist import cone_bounds, random_in_cone

SETTINGS = Layout(
    "gain", "floor",  # damping: factor on the squared error, and minimum
    "steps", "patience",  # from one start: largest number of steps, and of steps without progress
    "stalled",  # progress means a squared error below this share of the last one that was progress
    "settled",  # wishes (goals without tolerance) are followed until a step gains less than this share
    "finest", "finish",  # for refinement of a level: error that counts as zero, and largest number of steps
    "two_weights", "has_wishes",  # whether the two sets of goal numbers differ; whether some goals have no tolerance
)  # fmt: skip
REPORT = Layout("square", "steps", "starts")  # squared weighted error; then the error of each block

REACHED, MISSED = 1, 0
FIRST_PATIENCE = 3.0  # steps without progress after which the first of several starts is abandoned
WISH_STARTS = 32  # number of new starts for the sake of a lower level
CURVED = 2  # steps of a refinement before curvature is used: goals in reach are reached by then
EMPHASIS = (1.0, 1.0e-3, 1.0e-5)  # weights of the goals of a level relative to the first
SOFTER = (1.0e3, 1.0e2, 1.0e1)  # factors on these weights in refinements, but never beyond the weight of the first
ALL_JOINTS, ALL_ANEW = (
    1,
    2,
)  # of every three starts, the one that renews all joints of missed goals, and the one that renews all joints
LESS_CAUTION, MORE_CAUTION = 0.25, 6.0  # factors on the caution after good and bad steps
LEAST_AT_REST, LEAST_ON_THE_WAY, LEAST_AFTER_BAD = 1.0e-6, 1.0e-3, 0.1  # lower bounds of the caution
LARGEST_DAMPING = 1.0e2  # [m²]: with this damping nothing moves
NO_GAIN = 1.0e-15  # relative gain in squared error
NO_CHANGE = 1.0e-10  # [rad, m]: size of a step that changes nothing


@part
def evaluate(codes, numbers, aims, level, q, scratch):
    """Compute the errors of all goals down to a level at a pose, and their rows."""
    sweep_body(codes, numbers, q, scratch.world, scratch.twists, scratch.work)
    clear(scratch.sums, WRENCHES.size * codes[HEADER.frames])
    clear(scratch.rows, codes[HEADER.explicit] * codes[HEADER.columns])
    clear(scratch.weighted, codes[HEADER.explicit])
    goals = table(codes, HEADER.goal_codes, codes)
    for g in range(codes[HEADER.goals]):
        goal = beyond(goals, GOAL.size * g)
        aim, kind = beyond(aims, goal[GOAL.number]), goal[GOAL.kind]
        if goal[GOAL.level] > level:
            continue
        if kind == PLACE:
            place_goal(codes, goal, aim, scratch)
        elif kind == POINTING:
            pointing_goal(codes, goal, aim, scratch)
        elif kind == BEND:
            bend_goal(codes, goal, aim, scratch)
        elif kind == ACROSS:
            across_goal(codes, goal, aim, scratch)
        elif kind == DISTANCE:
            distance_goal(codes, goal, aim, scratch)
        elif kind == BALANCE:
            balance_goal(codes, numbers, goal, aim, scratch)
        elif kind == REST:
            rest_goal(codes, goal, aim, q, scratch)
        elif kind == COUPLE:
            couple_goal(codes, goal, aim, q, scratch)
        elif kind == RANGE:
            range_goal(codes, goal, aim, scratch)
        elif kind == DEXTERITY:
            dexterity_goal(codes, goal, aim, scratch)
        elif kind == AVOID:
            avoid_goal(codes, numbers, goal, aim, scratch)


@inner
def block_at(codes, b):
    """Return the record of a block of errors."""
    return beyond(table(codes, HEADER.block_codes, codes), BLOCK.size * b)


@inner
def block_square(block, errors):
    """Return the squared error of a block."""
    square = 0.0
    for k in range(block[BLOCK.first], block[BLOCK.end]):
        square += errors[k] * errors[k]
    return square


@part
def judge(codes, numbers, aims, level, finest, errors):
    """Return the squared weighted error of all goals down to a level, the same of those with a tolerance, and success.

    Success means that these are within their tolerances, each capped at `finest`.
    """
    tolerances = table(codes, HEADER.tolerances, numbers)
    total, judged, reached = 0.0, 0.0, True
    for b in range(codes[HEADER.blocks]):
        block = block_at(codes, b)
        if block[BLOCK.level] > level:
            continue
        square, weight = block_square(block, errors), aims[block[BLOCK.weight]]
        total += weight * weight * square
        if tolerances[b] < math.inf:
            judged += weight * weight * square
            if not math.sqrt(square) <= min(tolerances[b], finest):
                reached = False
    return total, judged, reached


@part
def assemble(codes, numbers, aims, level, q, scratch):
    """Compute the normal matrix and the gradient of the goals evaluated last."""
    n, matrix, gradient = codes[HEADER.columns], scratch.matrix, scratch.gradient
    clear(matrix, n * n)
    clear(gradient, n)
    add_composites(codes, scratch.twists, scratch.sums, matrix, gradient)
    add_rows(codes, scratch.rows, scratch.weighted, matrix, gradient)
    goals = table(codes, HEADER.goal_codes, codes)
    for g in range(codes[HEADER.goals]):
        goal = beyond(goals, GOAL.size * g)
        if goal[GOAL.kind] == REST and goal[GOAL.level] <= level:
            add_rest(codes, numbers, goal, beyond(aims, goal[GOAL.number]), q, scratch)


@part
def leave_bounds(codes, numbers, q, scratch):
    """Write the bounds of every column's change from a pose: within limits, and within reach of a cycle's start."""
    n, low, high, places = codes[HEADER.columns], scratch.low, scratch.high, table(codes, HEADER.pose_index, codes)
    lower, upper = table(codes, HEADER.lower, numbers), table(codes, HEADER.upper, numbers)
    reach, travel = scratch.reach, scratch.travel
    for v in range(n):
        here = q[places[v]] if places[v] >= 0 else 0.0
        low[v] = min(max(lower[v] - here, -reach[v] - travel[v]), 0.0)
        high[v] = max(min(upper[v] - here, reach[v] - travel[v]), 0.0)
    for k in range(codes[HEADER.cones]):
        at, v = quaternion_at(codes, HEADER.cone_codes, k)
        cone_bounds(cone_at(codes, numbers, k), beyond(q, at), scratch.work, beyond(low, v), beyond(high, v))
    stays = table(codes, HEADER.stays, codes)
    for v in range(n):
        if stays[v]:
            low[v], high[v] = 0.0, 0.0


@part
def leave_step(codes, numbers, q, damping, scratch):
    """Write the damped step within bounds from a pose; return False if there is none, as the matrix is indefinite."""
    n = codes[HEADER.columns]
    leave_bounds(codes, numbers, q, scratch)
    coupled = table(codes, HEADER.coupled_from, codes), table(codes, HEADER.coupled, codes)
    return bounded_step(n, coupled, scratch, damping, table(codes, HEADER.metric, numbers))


@inner
def largest(n, change):
    """Return the largest absolute value of a change."""
    most = 0.0
    for v in range(n):
        most = max(most, abs(change[v]))
    return most


@inner
def leave_turn(begin, end, out):
    """Write the rotation vector from a quaternion to another, in the axes of the first."""
    w, x, y, z = quaternion_product((begin[0], -begin[1], -begin[2], -begin[3]), end)
    place(rotation_vector(w, x, y, z), out, 0)


@inner
def take(codes, scratch, q):
    """Accept the pose after a step, and update how far each column has moved since the start of a cycle."""
    for k in range(codes[HEADER.values]):
        q[k] = scratch.trial[k]
    for v in range(codes[HEADER.columns]):
        scratch.travel[v] += scratch.change[v]
    for k in range(codes[HEADER.balls]):
        at, v = quaternion_at(codes, HEADER.ball_codes, k)
        if scratch.reach[v] < math.inf:  # rotation vectors do not add up
            leave_turn(beyond(scratch.began, at), beyond(q, at), beyond(scratch.travel, v))


@part
def descend(codes, numbers, settings, aims, level, finest, most, patience, scratch, q):
    """Descend from a pose, which is updated, while steps help; return squared error, whether reached, and steps.

    A step that does not help is undone and shortened by more damping.
    """
    trial, mark, waiting, caution = scratch.trial, math.inf, 0, 1.0
    evaluate(codes, numbers, aims, level, q, scratch)
    error, judged, reached = judge(codes, numbers, aims, level, finest, scratch.errors)
    resting = finest < math.inf  # to convergence, even if the goals are not reached
    count, wishes = 0, judged < error and not resting
    better, last = True, math.inf
    while count < most:
        if reached and (not wishes or (caution <= 1.0 and last - error <= settings[SETTINGS.settled] * error)):
            break
        if better:
            assemble(codes, numbers, aims, level, q, scratch)
            if resting and count >= CURVED:
                add_curvature(codes, aims, level, scratch)
        damping = caution * (settings[SETTINGS.gain] * error + settings[SETTINGS.floor])
        count += 1
        definite = leave_step(codes, numbers, q, damping, scratch)
        better, new, new_judged, new_reached = False, error, judged, reached
        if definite:
            move(codes, numbers, q, scratch.change, trial, scratch.work)
            evaluate(codes, numbers, aims, level, trial, scratch)
            new, new_judged, new_reached = judge(codes, numbers, aims, level, finest, scratch.errors)
            better = new < error
        if better:
            take(codes, scratch, q)
            last, error, judged, reached = error, new, new_judged, new_reached
            caution = max(caution * LESS_CAUTION, LEAST_AT_REST if resting else LEAST_ON_THE_WAY)
            if resting and last - error <= NO_GAIN * error:
                break
        else:
            caution = max(caution * MORE_CAUTION, LEAST_AFTER_BAD)
            still = resting and definite and largest(codes[HEADER.columns], scratch.change) < NO_CHANGE
            if damping > LARGEST_DAMPING or still:
                break
        if error < settings[SETTINGS.stalled] * mark:
            mark, waiting = error, 0
        else:
            waiting += 1
            if waiting >= patience and not resting and not reached:
                break
    return error, reached, count


@part
def mark_missed(codes, numbers, errors, missed):
    """Write for every goal whether it is missed."""
    tolerances = table(codes, HEADER.tolerances, numbers)
    clear(missed, codes[HEADER.goals])
    for b in range(codes[HEADER.blocks]):
        block = block_at(codes, b)
        if not math.sqrt(block_square(block, errors)) <= tolerances[b]:
            missed[block[BLOCK.goal]] = 1.0


@part
def mark_renewed(codes, attempt, scratch):
    """Write which columns get a new start: those on which only missed goals depend; every third time all of theirs.

    With several levels, every third start renews all columns, because the solution of the higher levels may be in the
    way. If a body is too near to something, columns that move the near pairs are renewed, even if other goals that
    depend on them are met.
    """
    missed, renewed = scratch.missed, scratch.renewed
    n, support, stays = codes[HEADER.columns], table(codes, HEADER.support, codes), table(codes, HEADER.stays, codes)
    every, anew = attempt % 3 == ALL_JOINTS, attempt % 3 == ALL_ANEW and codes[HEADER.levels] > 1
    for v in range(n):
        misses, meets, near = False, False, False
        for g in range(codes[HEADER.goals]):
            if support[n * g + v]:
                misses, meets = misses or missed[g] != 0.0, meets or missed[g] == 0.0
                goal = beyond(table(codes, HEADER.goal_codes, codes), GOAL.size * g)
                near = near or (goal[GOAL.kind] == AVOID and missed[g] != 0.0 and avoids_with(codes, goal, v, scratch))
        renewed[v] = 1.0 if (anew or near or (misses and (every or not meets))) and not stays[v] else 0.0


@part
def put_other_start(codes, numbers, seed, problem, attempt, renewed, q):
    """Give joints new values: the first time the middle of their range, then random values in it.

    With several levels, the second start, which renews all joints, also uses the middle.
    """
    middle = 1 if codes[HEADER.levels] == 1 else ALL_ANEW
    places = table(codes, HEADER.pose_index, codes)
    low, high = table(codes, HEADER.start_lower, numbers), table(codes, HEADER.start_upper, numbers)
    for v in range(codes[HEADER.columns]):
        if places[v] >= 0 and renewed[v] != 0.0 and low[v] < high[v]:
            share = 0.5 if attempt <= middle else uniform(seed, problem, attempt, v)
            q[places[v]] = low[v] + (high[v] - low[v]) * share
    for k in range(codes[HEADER.balls]):
        at, v = quaternion_at(codes, HEADER.ball_codes, k)
        if renewed[v] != 0.0 and low[v] < high[v]:
            turn_at_random(seed, problem, attempt, v, beyond(q, at))
    for k in range(codes[HEADER.cones]):
        at, v = quaternion_at(codes, HEADER.cone_codes, k)
        if renewed[v] != 0.0:
            random_in_cone(cone_at(codes, numbers, k), seed, problem, attempt, v, beyond(q, at))


@part
def turn_at_random(seed, problem, attempt, v, q):
    """Write a random rotation (Shoemake's method)."""
    u, a, b = (
        uniform(seed, problem, attempt, v),
        2.0 * math.pi * uniform(seed, problem, attempt, v + 1),
        2.0 * math.pi * uniform(seed, problem, attempt, v + 2),
    )
    q[0], q[1] = math.sqrt(1.0 - u) * math.sin(a), math.sqrt(1.0 - u) * math.cos(a)
    q[2], q[3] = math.sqrt(u) * math.sin(b), math.sqrt(u) * math.cos(b)


@part
def walk_levels(codes, numbers, settings, aims, size, patience, scratch, q):
    """Descend from a pose, which is updated, and refine the levels from the last but one up.

    Return the squared error, whether all goals are reached, whether those of the first level are, and steps.
    """
    top, most, count = codes[HEADER.levels] - 1, settings[SETTINGS.steps], 0
    error, reached, first_reached = math.inf, False, True
    if settings[SETTINGS.two_weights] != 0.0:
        alike = beyond(aims, size)
        _, reached, count = descend(codes, numbers, settings, alike, top, math.inf, most, patience, scratch, q)
    if not reached or settings[SETTINGS.has_wishes] != 0.0:
        error, reached, steps = descend(codes, numbers, settings, aims, top, math.inf, most, patience, scratch, q)
        count += steps
    for level in range(top - 1, -1, -1):
        finest, finish = settings[SETTINGS.finest], settings[SETTINGS.finish]
        _, _, steps = descend(codes, numbers, settings, aims, level, finest, finish, patience, scratch, q)
        count += steps
    if top > 0:
        evaluate(codes, numbers, aims, top, q, scratch)
        error, _, reached = judge(codes, numbers, aims, top, math.inf, scratch.errors)
        _, _, first_reached = judge(codes, numbers, aims, 0, math.inf, scratch.errors)
    return error, reached, first_reached, count


@part
def keep_end(values, kept, error, q):
    """Keep the final pose of a start among the best, replacing the worst of them."""
    worst = 0
    for k in range(1, KEPT):
        if kept[(values + 1) * k] > kept[(values + 1) * worst]:
            worst = k
    own = beyond(kept, (values + 1) * worst)
    if error < own[0]:
        own[0] = error
        for k in range(values):
            own[1 + k] = q[k]


@part
def soften(codes, aims, factor, out):
    """Write goal numbers with larger weights of lower levels, by a factor for each level, up to the first level's."""
    for k in range(codes[HEADER.aims]):
        out[k] = aims[k]
    goals = table(codes, HEADER.goal_codes, codes)
    for g in range(codes[HEADER.goals]):
        goal = beyond(goals, GOAL.size * g)
        own, level = beyond(out, goal[GOAL.number]), goal[GOAL.level]
        more = min(factor**level, 1.0 / EMPHASIS[level])
        own[AIM.metres], own[AIM.radians] = more * own[AIM.metres], more * own[AIM.radians]


@part
def bring_to_rest(codes, numbers, settings, aims, first, scratch, q):
    """Descend to convergence, with all levels and then with fewer; return squared error, whether reached, and steps.

    The strict weights of levels form a narrow, curved valley, along which progress is slow. So lower levels start with
    larger weights, those of `SOFTER` from index `first` on.
    """
    top, count = codes[HEADER.levels] - 1, 0
    finest, finish, patience = settings[SETTINGS.finest], settings[SETTINGS.finish], settings[SETTINGS.patience]
    for k in range(first, len(SOFTER) if top > 0 else 0):
        soften(codes, aims, SOFTER[k], scratch.softened)
        _, _, steps = descend(codes, numbers, settings, scratch.softened, top, finest, finish, patience, scratch, q)
        count += steps
    for level in range(top, -1, -1):
        _, _, steps = descend(codes, numbers, settings, aims, level, finest, finish, patience, scratch, q)
        count += steps
    evaluate(codes, numbers, aims, top, q, scratch)
    error, _, reached = judge(codes, numbers, aims, top, math.inf, scratch.errors)
    return error, reached, count


@part
def best_at_rest(codes, numbers, settings, aims, scratch, q):
    """Refine the kept final poses and write the best; return squared error, whether reached, and steps."""
    values, best, found, count = codes[HEADER.values], math.inf, False, 0
    for k in range(KEPT):
        own = beyond(scratch.kept, (values + 1) * k)
        if own[0] < math.inf:
            end = beyond(own, 1)
            error, reached, steps = bring_to_rest(codes, numbers, settings, aims, k % 2, scratch, end)
            count += steps
            if error < best:
                best, found = error, reached
                for i in range(values):
                    q[i] = end[i]
    return best, found, count


@part
def search_body(codes, numbers, settings, aims, size, seed, problem, tries, scratch, q, report):
    """Solve from a pose, which becomes the best one found; return whether its goals are reached.

    Starts 0 to `tries` are made; start 0 is the pose itself. If only lower levels are missed, a few of them are enough.
    """
    values, top, current = codes[HEADER.values], codes[HEADER.levels] - 1, scratch.current
    best, count, starts, reached = math.inf, 0, 0, False
    for k in range(KEPT):
        scratch.kept[(values + 1) * k] = math.inf
    for attempt in range(tries + 1):
        for k in range(values):
            current[k] = q[k]
        if attempt > 0:
            evaluate(codes, numbers, aims, top, q, scratch)
            mark_missed(codes, numbers, scratch.errors, scratch.missed)
            mark_renewed(codes, attempt, scratch)
            put_other_start(codes, numbers, seed, problem, attempt, scratch.renewed, current)
        patience = settings[SETTINGS.patience]
        if attempt == 0 and tries > 0:  # the middle of the range may well be nearer
            patience = FIRST_PATIENCE
        error, reached, first_reached, steps = walk_levels(
            codes, numbers, settings, aims, size, patience, scratch, current
        )
        count += steps
        starts += 1
        keep_end(values, scratch.kept, error, current)
        if error < best or reached:
            best = error
            for k in range(values):
                q[k] = current[k]
        if reached or (top > 0 and first_reached and attempt >= WISH_STARTS):
            break
    if not reached:
        best, reached, steps = best_at_rest(codes, numbers, settings, aims, scratch, q)
        count += steps
    report[REPORT.square] = best
    report[REPORT.steps] += count
    report[REPORT.starts] += starts
    return reached


@kernel("i8[] f8[] f8[] f8[] i8 i8 b1 i8 i8 f8[] f8[] f8[] i8[]", nogil=True)
def search_bodies(codes, numbers, settings, aims, size, start, chained, seed, tries, memory, out, report, status):
    """Solve problems; poses (n * nq,) in `out` are starts and become answers.

    Each problem has `size` goal numbers, or twice as many with several levels. With `chained`, each problem starts
    where the previous one ended. A report is a `REPORT`, then the error of each block. `memory` is workspace of
    `scratch_size` numbers.
    """
    c, values = cells(codes), codes[HEADER.values]
    scratch = slice_scratch(c, cells(memory))
    for v in range(c[HEADER.columns]):
        scratch.reach[v], scratch.travel[v] = math.inf, 0.0
    width, stride = REPORT.size + c[HEADER.blocks], size if c[HEADER.levels] == 1 else 2 * size
    for problem in range(status.size):
        q, own = beyond(cells(out), values * problem), beyond(cells(report), width * problem)
        aim = beyond(cells(aims), stride * problem)
        if chained and problem > 0:
            for k in range(values):
                q[k] = q[k - values]
        reached = search_body(
            c, cells(numbers), cells(settings), aim, size, seed, start + problem, tries, scratch, q, own
        )
        status[problem] = REACHED if reached else MISSED
        evaluate(c, cells(numbers), aim, c[HEADER.levels], q, scratch)
        for b in range(c[HEADER.blocks]):
            own[REPORT.size + b] = math.sqrt(block_square(block_at(c, b), scratch.errors))
