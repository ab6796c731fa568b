"""Solving whole bodies: damped steps within limits towards all goals at once, and other starts for limbs that fail.

A body whose goals stand on several levels first walks towards all alike; then, unless that has served them, with the
lower ones counting for little; and is then brought to rest without the last level, and so on up to the first alone. So
there are two sets of goal numbers, which differ in their weights.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .balance_rows import balance_goal
from .body_layout import (
    AT_BALL_CODES,
    AT_BALLS,
    AT_BLOCK_CODES,
    AT_BLOCK_END,
    AT_BLOCK_FIRST,
    AT_BLOCK_GOAL,
    AT_BLOCK_LEVEL,
    AT_BLOCK_WEIGHT,
    AT_BLOCKS,
    AT_COLUMNS,
    AT_CONE_CODES,
    AT_CONES,
    AT_COUPLED,
    AT_COUPLED_FROM,
    AT_EXPLICIT,
    AT_FRAMES,
    AT_GOAL_CODES,
    AT_GOALS,
    AT_LEVELS,
    AT_LOWER,
    AT_METRIC,
    AT_PLACES,
    AT_START_LOWER,
    AT_START_UPPER,
    AT_SUPPORT,
    AT_TOLERANCES,
    AT_UPPER,
    AT_VALUES,
    BLOCK_SIZE,
    WRENCHES_SIZE,
    cone_at,
    quaternion_at,
    slice_scratch,
    table,
)
from .body_state import add_composites, add_rows, clear, move, sweep_body
from .bounded import bounded_step
from .goal_layout import (
    ACROSS,
    AT_KIND,
    AT_LEVEL,
    AT_NUMBER,
    BALANCE,
    BEND,
    COUPLE,
    DISTANCE,
    GOAL_SIZE,
    PLACE,
    POINTING,
    REST,
)
from .goal_rows import across_goal, bend_goal, distance_goal, place_goal, pointing_goal
from .joint_rows import add_rest, couple_goal, rest_goal
from .lanes import beyond, cells
from .layout import Layout
from .starts import uniform
from .swing_twist import cone_bounds, random_in_cone

SETTINGS = Layout(
    "gain", "floor",  # damping: for each squared error, and at least
    "steps", "patience",  # from one start: at most, and without progress
    "stalled",  # progress is a squared error below this share of the last that was
    "settled",  # a wish is followed until a step gains less than this share
    "finest", "finish",  # where a level is brought to rest: the error that counts as none, and steps at most
    "two_weights", "has_wishes",  # whether the two sets of goal numbers differ; whether some goals are not judged
)  # fmt: skip
(
    AT_GAIN, AT_FLOOR, AT_STEPS, AT_PATIENCE, AT_STALLED, AT_SETTLED, AT_FINEST, AT_FINISH, AT_TWO_WEIGHTS,
    AT_HAS_WISHES,
) = SETTINGS.places  # fmt: skip
REPORT = Layout("square", "steps", "starts")  # squared weighted error; then follows how far each block is off
AT_REPORT_SQUARE, AT_REPORT_STEPS, AT_REPORT_STARTS = REPORT.places
REPORT_SIZE = REPORT.size

REACHED, MISSED = 1, 0
FIRST_PATIENCE = 3.0  # steps without progress after which the first of several starts is given up
WISH_STARTS = 8  # other starts for the sake of a lower level
ALL_JOINTS = 1  # of every three starts, the one that gives other values to all joints of missed goals
LESS_CAUTION, MORE_CAUTION = 0.25, 6.0  # what good and bad steps make of the caution
LEAST_AT_REST, LEAST_ON_THE_WAY, LEAST_AFTER_BAD = 1.0e-6, 1.0e-3, 0.1  # caution
LARGEST_DAMPING = 1.0e2  # [m²]: lets nothing move any more
NO_GAIN = 1.0e-15  # of the squared error


@part
def evaluate(codes, numbers, aims, level, q, scratch):
    """Leave errors of all goals down to a level at a pose, and the rows that make up for them."""
    sweep_body(codes, numbers, q, scratch.world, scratch.twists, scratch.work)
    clear(scratch.sums, WRENCHES_SIZE * codes[AT_FRAMES])
    clear(scratch.rows, codes[AT_EXPLICIT] * codes[AT_COLUMNS])
    clear(scratch.weighted, codes[AT_EXPLICIT])
    goals = table(codes, AT_GOAL_CODES, codes)
    for g in range(codes[AT_GOALS]):
        goal = beyond(goals, GOAL_SIZE * g)
        aim, kind = beyond(aims, goal[AT_NUMBER]), goal[AT_KIND]
        if goal[AT_LEVEL] > level:
            continue
        if kind == PLACE:
            place_goal(codes, goal, aim, scratch)
        elif kind == POINTING:
            pointing_goal(codes, goal, aim, scratch)
        elif kind == BEND:
            bend_goal(codes, goal, aim, scratch)
        elif kind == ACROSS:
            across_goal(goal, aim, scratch)
        elif kind == DISTANCE:
            distance_goal(codes, goal, aim, scratch)
        elif kind == BALANCE:
            balance_goal(codes, numbers, goal, aim, scratch)
        elif kind == REST:
            rest_goal(codes, goal, aim, q, scratch)
        elif kind == COUPLE:
            couple_goal(codes, goal, aim, q, scratch)


@inner
def block_at(codes, b):
    """Return the record of a block of errors."""
    return beyond(table(codes, AT_BLOCK_CODES, codes), BLOCK_SIZE * b)


@inner
def block_square(block, errors):
    """Return the squared error of a block."""
    square = 0.0
    for k in range(block[AT_BLOCK_FIRST], block[AT_BLOCK_END]):
        square += errors[k] * errors[k]
    return square


@part
def judge(codes, numbers, aims, level, finest, errors):
    """Return the squared weighted error of all goals down to a level, and that of those that are judged.

    And whether these are within their tolerances, none of which is larger than the finest.
    """
    tolerances = table(codes, AT_TOLERANCES, numbers)
    total, judged, reached = 0.0, 0.0, True
    for b in range(codes[AT_BLOCKS]):
        block = block_at(codes, b)
        if block[AT_BLOCK_LEVEL] > level:
            continue
        square, weight = block_square(block, errors), aims[block[AT_BLOCK_WEIGHT]]
        total += weight * weight * square
        if tolerances[b] < math.inf:
            judged += weight * weight * square
            if not math.sqrt(square) <= min(tolerances[b], finest):
                reached = False
    return total, judged, reached


@part
def assemble(codes, numbers, aims, level, q, scratch):
    """Leave the normal matrix and the gradient of the goals that were evaluated."""
    n, matrix, gradient = codes[AT_COLUMNS], scratch.matrix, scratch.gradient
    clear(matrix, n * n)
    clear(gradient, n)
    add_composites(codes, scratch.twists, scratch.sums, matrix, gradient)
    add_rows(codes, scratch.rows, scratch.weighted, matrix, gradient)
    goals = table(codes, AT_GOAL_CODES, codes)
    for g in range(codes[AT_GOALS]):
        goal = beyond(goals, GOAL_SIZE * g)
        if goal[AT_KIND] == REST and goal[AT_LEVEL] <= level:
            add_rest(codes, numbers, goal, beyond(aims, goal[AT_NUMBER]), q, scratch)


@part
def leave_step(codes, numbers, q, damping, scratch):
    """Leave the damped step within limits from a pose."""
    n, low, high, places = codes[AT_COLUMNS], scratch.low, scratch.high, table(codes, AT_PLACES, codes)
    lower, upper = table(codes, AT_LOWER, numbers), table(codes, AT_UPPER, numbers)
    for v in range(n):
        here = q[places[v]] if places[v] >= 0 else 0.0
        low[v], high[v] = min(lower[v] - here, 0.0), max(upper[v] - here, 0.0)
    for k in range(codes[AT_CONES]):
        at, v = quaternion_at(codes, AT_CONE_CODES, k)
        cone_bounds(cone_at(codes, numbers, k), beyond(q, at), scratch.work, beyond(low, v), beyond(high, v))
    coupled = table(codes, AT_COUPLED_FROM, codes), table(codes, AT_COUPLED, codes)
    bounded_step(n, coupled, scratch, damping, table(codes, AT_METRIC, numbers))


@part
def descend(codes, numbers, settings, aims, level, finest, most, patience, scratch, q):
    """Walk from a pose, which is moved, as far as steps lead; return squared error, whether it is reached, and steps.

    A step that does not help is taken back and made shorter by more damping.
    """
    trial, mark, waiting, caution = scratch.trial, math.inf, 0, 1.0
    evaluate(codes, numbers, aims, level, q, scratch)
    error, judged, reached = judge(codes, numbers, aims, level, finest, scratch.errors)
    resting = finest < math.inf  # to the very end, even where that is not the goals
    count, wishes = 0, judged < error and not resting
    better, last = True, math.inf
    while count < most:
        if reached and (not wishes or (caution <= 1.0 and last - error <= settings[AT_SETTLED] * error)):
            break
        if better:
            assemble(codes, numbers, aims, level, q, scratch)
        damping = caution * (settings[AT_GAIN] * error + settings[AT_FLOOR])
        leave_step(codes, numbers, q, damping, scratch)
        move(codes, numbers, q, scratch.change, trial, scratch.work)
        evaluate(codes, numbers, aims, level, trial, scratch)
        new, new_judged, new_reached = judge(codes, numbers, aims, level, finest, scratch.errors)
        count += 1
        better = new < error
        if better:
            for k in range(codes[AT_VALUES]):
                q[k] = trial[k]
            last, error, judged, reached = error, new, new_judged, new_reached
            caution = max(caution * LESS_CAUTION, LEAST_AT_REST if resting else LEAST_ON_THE_WAY)
            if resting and last - error <= NO_GAIN * error:
                break
        else:
            caution = max(caution * MORE_CAUTION, LEAST_AFTER_BAD)
            if damping > LARGEST_DAMPING:
                break
        if error < settings[AT_STALLED] * mark:
            mark, waiting = error, 0
        else:
            waiting += 1
            if waiting >= patience and not resting and not reached:
                break
    return error, reached, count


@part
def mark_missed(codes, numbers, errors, missed):
    """Write for every goal whether it is missed."""
    tolerances = table(codes, AT_TOLERANCES, numbers)
    clear(missed, codes[AT_GOALS])
    for b in range(codes[AT_BLOCKS]):
        block = block_at(codes, b)
        if not math.sqrt(block_square(block, errors)) <= tolerances[b]:
            missed[block[AT_BLOCK_GOAL]] = 1.0


@part
def mark_renewed(codes, attempt, missed, renewed):
    """Write which columns get another start: those that only missed goals depend on; every third time all of theirs."""
    n, support = codes[AT_COLUMNS], table(codes, AT_SUPPORT, codes)
    every = attempt % 3 == ALL_JOINTS
    for v in range(n):
        misses, meets = False, False
        for g in range(codes[AT_GOALS]):
            if support[n * g + v]:
                misses, meets = misses or missed[g] != 0.0, meets or missed[g] == 0.0
        renewed[v] = 1.0 if misses and (every or not meets) else 0.0


@part
def put_other_start(codes, numbers, seed, problem, attempt, renewed, q):
    """Give joints other values: the first time the middle of their range, then anywhere in it."""
    places = table(codes, AT_PLACES, codes)
    low, high = table(codes, AT_START_LOWER, numbers), table(codes, AT_START_UPPER, numbers)
    for v in range(codes[AT_COLUMNS]):
        if places[v] >= 0 and renewed[v] != 0.0 and low[v] < high[v]:
            share = 0.5 if attempt == 1 else uniform(seed, problem, attempt, v)
            q[places[v]] = low[v] + (high[v] - low[v]) * share
    for k in range(codes[AT_BALLS]):
        at, v = quaternion_at(codes, AT_BALL_CODES, k)
        if renewed[v] != 0.0 and low[v] < high[v]:
            turn_at_random(seed, problem, attempt, v, beyond(q, at))
    for k in range(codes[AT_CONES]):
        at, v = quaternion_at(codes, AT_CONE_CODES, k)
        if renewed[v] != 0.0:
            random_in_cone(cone_at(codes, numbers, k), seed, problem, attempt, v, beyond(q, at))


@part
def turn_at_random(seed, problem, attempt, v, q):
    """Write a random rotation (Shoemake's way)."""
    u, a, b = (
        uniform(seed, problem, attempt, v),
        2.0 * math.pi * uniform(seed, problem, attempt, v + 1),
        2.0 * math.pi * uniform(seed, problem, attempt, v + 2),
    )
    q[0], q[1] = math.sqrt(1.0 - u) * math.sin(a), math.sqrt(1.0 - u) * math.cos(a)
    q[2], q[3] = math.sqrt(u) * math.sin(b), math.sqrt(u) * math.cos(b)


@part
def walk_levels(codes, numbers, settings, aims, size, patience, scratch, q):
    """Walk from a pose, which is moved, and bring the levels to rest from the last but one up.

    Return the squared error, whether all goals are reached, whether those of the first level are, and steps.
    """
    top, most, count = codes[AT_LEVELS] - 1, settings[AT_STEPS], 0
    error, reached, first_reached = math.inf, False, True
    if settings[AT_TWO_WEIGHTS] != 0.0:
        alike = beyond(aims, size)
        _, reached, count = descend(codes, numbers, settings, alike, top, math.inf, most, patience, scratch, q)
    if not reached or settings[AT_HAS_WISHES] != 0.0:
        error, reached, steps = descend(codes, numbers, settings, aims, top, math.inf, most, patience, scratch, q)
        count += steps
    for level in range(top - 1, -1, -1):
        finest, finish = settings[AT_FINEST], settings[AT_FINISH]
        _, _, steps = descend(codes, numbers, settings, aims, level, finest, finish, patience, scratch, q)
        count += steps
    if top > 0:
        evaluate(codes, numbers, aims, top, q, scratch)
        error, _, reached = judge(codes, numbers, aims, top, math.inf, scratch.errors)
        _, _, first_reached = judge(codes, numbers, aims, 0, math.inf, scratch.errors)
    return error, reached, first_reached, count


@part
def search_body(codes, numbers, settings, aims, size, seed, problem, tries, scratch, q, report):
    """Solve from a pose, which becomes the best one found; return whether its goals are reached.

    Starts 0 to `tries` are made; number 0 is the pose itself. Where only the lower level is missed, a
    few of them are enough.
    """
    values, top, current = codes[AT_VALUES], codes[AT_LEVELS] - 1, scratch.current
    best, count, starts, reached = math.inf, 0, 0, False
    for attempt in range(tries + 1):
        for k in range(values):
            current[k] = q[k]
        if attempt > 0:
            evaluate(codes, numbers, aims, top, q, scratch)
            mark_missed(codes, numbers, scratch.errors, scratch.missed)
            mark_renewed(codes, attempt, scratch.missed, scratch.renewed)
            put_other_start(codes, numbers, seed, problem, attempt, scratch.renewed, current)
        patience = settings[AT_PATIENCE]
        if attempt == 0 and tries > 0:  # the middle of the range may well be nearer
            patience = FIRST_PATIENCE
        error, reached, first_reached, steps = walk_levels(
            codes, numbers, settings, aims, size, patience, scratch, current
        )
        count += steps
        starts += 1
        if error < best or reached:
            best = error
            for k in range(values):
                q[k] = current[k]
        if reached or (top > 0 and first_reached and attempt >= WISH_STARTS):
            break
    if not reached and top == 0:  # as near as it comes
        finest, finish, patience = settings[AT_FINEST], settings[AT_FINISH], settings[AT_PATIENCE]
        _, _, steps = descend(codes, numbers, settings, aims, top, finest, finish, patience, scratch, q)
        evaluate(codes, numbers, aims, top, q, scratch)
        best, _, reached = judge(codes, numbers, aims, top, math.inf, scratch.errors)
        count += steps
    report[AT_REPORT_SQUARE] = best
    report[AT_REPORT_STEPS] += count
    report[AT_REPORT_STARTS] += starts
    return reached


@kernel(nogil=True)
def search_bodies(codes, numbers, settings, aims, size, start, chained, seed, tries, memory, out, report, status):
    """Solve problems; poses (n * nq,) in `out` are starts and become answers.

    Each problem has `size` goal numbers, or twice as many where there are several levels. With `chained`, it begins
    where the one before it ended. A report is a `REPORT`, then how far each block is off. `memory` has `scratch_size`.
    """
    c, values = cells(codes), codes[AT_VALUES]
    scratch = slice_scratch(c, cells(memory))
    width, stride = REPORT_SIZE + c[AT_BLOCKS], size if c[AT_LEVELS] == 1 else 2 * size
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
        evaluate(c, cells(numbers), aim, c[AT_LEVELS], q, scratch)
        for b in range(c[AT_BLOCKS]):
            own[REPORT_SIZE + b] = math.sqrt(block_square(block_at(c, b), scratch.errors))
