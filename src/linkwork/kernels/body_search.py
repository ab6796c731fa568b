"""Whole figures: damped steps within limits towards all goals at once, and other starts for the limbs that fail.

Imports `aims`, `bounded`, `cones`, `figure`, `lanes` and `starts`. `settings` and `room` are laid out by the names
below; `solvers.figure` brings them. A figure whose goals stand on several levels first walks towards all alike; then,
unless that has served them, with the lower ones counting for little; and is then brought to rest without the last
level, and so on up to the first alone. So there are two sets of aims, which differ in their weights.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .body_state import (
    BALL_AT,
    BALLS,
    BLOCK_AT,
    BLOCKS,
    COLUMNS,
    COMPOSITE,
    CONE_AT,
    CONE_NUMBERS,
    CONES,
    COUPLED,
    COUPLED_AT,
    ERRORS,
    EXPLICIT,
    FRAMES,
    FROM,
    GOAL_AT,
    GOALS,
    LEVELS,
    LOWER,
    METRIC,
    MOTIONS,
    PLACES,
    SUPPORT,
    TO,
    TOLERANCES,
    UPPER,
    VALUES,
    add_composites,
    add_rows,
    clear,
    move,
    sweep_figure,
    table,
)
from .bounded import bounded_step
from .goal_rows import (
    ACROSS,
    AIM,
    BALANCE,
    BEND,
    COUPLE,
    DISTANCE,
    ERROR,
    GOAL_CODES,
    KIND,
    LEVEL,
    NUMBER,
    PLACE,
    REST,
    across_goal,
    add_rest,
    aim_goal,
    balance_goal,
    bend_goal,
    couple_goal,
    distance_goal,
    place_goal,
    rest_goal,
)
from .lanes import beyond, cells
from .starts import uniform
from .swing_twist import CONE, cone_bounds, random_in_cone

# parts of the room
WORLD, TWISTS, SUMS, SCRATCH, EXPLICIT_ROWS, WEIGHTED, ALL_ERRORS, MATRIX, GRADIENT, POSES, STEP = range(11)
# settings
GAIN, FLOOR, STEPS, PATIENCE, STALLED, SETTLED, FINEST, FINISH, ALIKE, WISHING = range(10)
REACHED, MISSED = 1, 0
REPORT = 3  # squared weighted error, steps, starts
FREELY = 1
HASTE = 3.0  # steps without progress after which the first of several starts is given up
WISHES = 8  # other starts for the sake of a lower level
CALM, ALARM = 0.25, 6.0  # what good and bad steps make of the caution
LEAST, BRAVE, TIMID = 1.0e-6, 1.0e-3, 0.1  # its least at rest and on the way; after a bad step, at least
MOST = 1.0e2  # damping [m²] that lets nothing move any more
STILL = 1.0e-15  # of the squared error: a gain that is none


@inner
def laid_out(codes, room):
    """Return the parts of the room, in the order of their names; the step's also holds its bounds and work."""
    frames, n, q = codes[FRAMES], codes[COLUMNS], codes[VALUES]
    twists = beyond(room, 16 * frames)
    sums = beyond(twists, 6 * codes[MOTIONS])
    scratch = beyond(sums, COMPOSITE * frames)
    rows = beyond(scratch, 8 * frames + 16)
    weighted = beyond(rows, codes[EXPLICIT] * n)
    errors = beyond(weighted, codes[EXPLICIT])
    matrix = beyond(errors, codes[ERRORS])
    gradient = beyond(matrix, n * n)
    poses = beyond(gradient, n)
    steps = beyond(poses, 2 * q)
    return room, twists, sums, scratch, rows, weighted, errors, matrix, gradient, poses, steps


@part
def look(codes, numbers, aims, level, q, parts):
    """Leave errors of all goals down to a level at a pose, and the rows that make up for them."""
    world, twists, sums, scratch = parts[WORLD], parts[TWISTS], parts[SUMS], parts[SCRATCH]
    rows, weighted, errors = parts[EXPLICIT_ROWS], parts[WEIGHTED], parts[ALL_ERRORS]
    sweep_figure(codes, numbers, q, world, twists, scratch)
    clear(sums, COMPOSITE * codes[FRAMES])
    clear(rows, codes[EXPLICIT] * (codes[COLUMNS] + 1))  # and their errors behind them
    goals = table(codes, GOAL_AT, codes)
    for g in range(codes[GOALS]):
        goal = beyond(goals, GOAL_CODES * g)
        aim, kind = beyond(aims, goal[NUMBER]), goal[KIND]
        if goal[LEVEL] > level:
            continue
        if kind == PLACE:
            place_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted, scratch)
        elif kind == AIM:
            aim_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted)
        elif kind == BEND:
            bend_goal(codes, goal, aim, world, twists, rows, errors, weighted)
        elif kind == ACROSS:
            across_goal(goal, aim, world, sums, errors)
        elif kind == DISTANCE:
            distance_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted)
        elif kind == BALANCE:
            balance_goal(codes, numbers, goal, aims, world, twists, rows, errors, weighted, scratch)
        elif kind == REST:
            rest_goal(codes, goal, aims, q, errors)
        elif kind == COUPLE:
            couple_goal(codes, goal, aims, q, rows, errors, weighted)


@part
def judge(codes, numbers, aims, level, finest, errors):
    """Return the squared weighted error of all goals down to a level, and that of those that are judged.

    And whether these are within their tolerances, none of which is larger than the finest.
    """
    blocks, tolerances = table(codes, BLOCK_AT, codes), table(codes, TOLERANCES, numbers)
    total, judged, reached = 0.0, 0.0, True
    for b in range(codes[BLOCKS]):  # items, four each: first and last row, which weight, level
        block = beyond(blocks, 4 * b)
        if block[3] > level:
            continue
        square = 0.0
        for k in range(block[0], block[1]):
            square += errors[k] * errors[k]
        weight = aims[block[2]]
        total += weight * weight * square
        if tolerances[b] < math.inf:
            judged += weight * weight * square
            if not math.sqrt(square) <= min(tolerances[b], finest):
                reached = False
    return total, judged, reached


@part
def assemble(codes, numbers, aims, level, q, parts):
    """Leave the normal matrix and the gradient of the goals that were looked at."""
    n, matrix, gradient = codes[COLUMNS], parts[MATRIX], parts[GRADIENT]
    clear(matrix, n * n + n)
    add_composites(codes, parts[TWISTS], parts[SUMS], matrix, gradient)
    add_rows(codes, parts[EXPLICIT_ROWS], parts[WEIGHTED], matrix, gradient)
    goals = table(codes, GOAL_AT, codes)
    for g in range(codes[GOALS]):
        goal = beyond(goals, GOAL_CODES * g)
        if goal[KIND] == REST and goal[LEVEL] <= level:
            add_rest(codes, numbers, goal, aims, q, parts[ALL_ERRORS], matrix, gradient, parts[SCRATCH])


@part
def propose(codes, numbers, q, damping, parts):
    """Leave the damped step within limits from a pose."""
    n, steps = codes[COLUMNS], parts[STEP]
    low, high = beyond(steps, n), beyond(steps, 2 * n)
    lower, upper, places = table(codes, LOWER, numbers), table(codes, UPPER, numbers), table(codes, PLACES, codes)
    for v in range(n):
        here = q[places[v]] if places[v] >= 0 else 0.0
        low[v], high[v] = min(lower[v] - here, 0.0), max(upper[v] - here, 0.0)
    cones = table(codes, CONE_AT, codes)
    for k in range(codes[CONES]):
        v, cone = cones[2 * k + 1], beyond(table(codes, CONE_NUMBERS, numbers), CONE * k)
        cone_bounds(cone, beyond(q, cones[2 * k]), parts[SCRATCH], beyond(low, v), beyond(high, v))
    coupled_at, coupled = table(codes, COUPLED_AT, codes), table(codes, COUPLED, codes)
    bounded_step(
        n,
        coupled_at,
        coupled,
        parts[MATRIX],
        parts[GRADIENT],
        damping,
        table(codes, METRIC, numbers),
        low,
        high,
        beyond(steps, 3 * n),
        beyond(steps, 4 * n),
        steps,
    )


@part
def descend(codes, numbers, settings, aims, level, finest, most, patience, parts, q):
    """Walk from a pose, which is moved, as far as steps lead; return squared error, whether it is reached, and steps.

    A step that does not help is taken back and made shorter by more damping.
    """
    trial, mark, waiting, caution = beyond(parts[POSES], codes[VALUES]), math.inf, 0, 1.0
    look(codes, numbers, aims, level, q, parts)
    error, judged, reached = judge(codes, numbers, aims, level, finest, parts[ALL_ERRORS])
    resting = finest < math.inf  # to the very end, even where that is not the goals
    count, wishes = 0, judged < error and not resting
    fresh, last = True, math.inf
    while count < most:
        if reached and (not wishes or (caution <= 1.0 and last - error <= settings[SETTLED] * error)):
            break
        if fresh:
            assemble(codes, numbers, aims, level, q, parts)
        damping = caution * (settings[GAIN] * error + settings[FLOOR])
        propose(codes, numbers, q, damping, parts)
        move(codes, numbers, q, parts[STEP], trial, parts[SCRATCH])
        look(codes, numbers, aims, level, trial, parts)
        new, new_judged, new_reached = judge(codes, numbers, aims, level, finest, parts[ALL_ERRORS])
        count += 1
        fresh = new < error
        if fresh:
            for k in range(codes[VALUES]):
                q[k] = trial[k]
            last, error, judged, reached = error, new, new_judged, new_reached
            caution = max(caution * CALM, LEAST if resting else BRAVE)
            if resting and last - error <= STILL * error:
                break
        else:
            caution = max(caution * ALARM, TIMID)
            if damping > MOST:
                break
        if error < settings[STALLED] * mark:
            mark, waiting = error, 0
        else:
            waiting += 1
            if waiting >= patience and not resting and not reached:
                break
    return error, reached, count


@part
def failing(codes, numbers, errors, flags):
    """Write for every goal whether it is missed."""
    blocks, tolerances = table(codes, BLOCK_AT, codes), table(codes, TOLERANCES, numbers)
    block, goals = 0, table(codes, GOAL_AT, codes)
    for g in range(codes[GOALS]):
        flags[g] = 0.0
        last = goals[GOAL_CODES * (g + 1) + ERROR] if g + 1 < codes[GOALS] else codes[ERRORS]
        while block < codes[BLOCKS] and blocks[4 * block] < last:
            square = 0.0
            for k in range(blocks[4 * block], blocks[4 * block + 1]):
                square += errors[k] * errors[k]
            if not math.sqrt(square) <= tolerances[block]:
                flags[g] = 1.0
            block += 1


@part
def shake(codes, numbers, seed, problem, attempt, flags, q):
    """Give limbs that fail other values: joints that only missed goals depend on; every third time all of theirs.

    The first time they go to the middle of their range, then anywhere.
    """
    n, support, places = codes[COLUMNS], table(codes, SUPPORT, codes), table(codes, PLACES, codes)
    low, high, balls = table(codes, FROM, numbers), table(codes, TO, numbers), table(codes, BALL_AT, codes)
    freely = attempt % 3 == FREELY
    for v in range(n):
        missed, met = False, False
        for g in range(codes[GOALS]):
            if support[n * g + v]:
                missed, met = missed or flags[g] != 0.0, met or flags[g] == 0.0
        if places[v] >= 0 and missed and (freely or not met) and low[v] < high[v]:
            share = 0.5 if attempt == 1 else uniform(seed, problem, attempt, v)
            q[places[v]] = low[v] + (high[v] - low[v]) * share
        flags[codes[GOALS] + v] = 1.0 if missed and (freely or not met) else 0.0
    for ball in range(codes[BALLS]):
        v, at = balls[2 * ball + 1], balls[2 * ball]
        if flags[codes[GOALS] + v] != 0.0 and low[v] < high[v]:
            turn_at_random(seed, problem, attempt, v, beyond(q, at))
    cones = table(codes, CONE_AT, codes)
    for k in range(codes[CONES]):
        v, at = cones[2 * k + 1], cones[2 * k]
        if flags[codes[GOALS] + v] != 0.0:
            cone = beyond(table(codes, CONE_NUMBERS, numbers), CONE * k)
            random_in_cone(cone, seed, problem, attempt, v, beyond(q, at))


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
def solve_from(codes, numbers, settings, aims, size, seed, problem, first, tries, parts, flags, q, report):
    """Solve from a pose, which becomes the best one found; return whether its goals are reached.

    Starts `first` to ``first + tries`` are made; number 0 is the pose itself. Where only the lower level is missed, a
    few of them are enough.
    """
    values, top = codes[VALUES], codes[LEVELS] - 1
    current, most = parts[POSES], settings[STEPS]
    best, error = math.inf, math.inf
    count, starts, reached = 0, 0, False
    for attempt in range(first, first + tries + 1):
        for k in range(values):
            current[k] = q[k]
        if attempt > 0:
            look(codes, numbers, aims, top, q, parts)
            failing(codes, numbers, parts[ALL_ERRORS], flags)
            shake(codes, numbers, seed, problem, attempt, flags, current)
        steps, firm, reached = 0, True, False
        patience = HASTE if attempt == 0 and tries > 0 else settings[PATIENCE]  # the middle may well be nearer
        if settings[ALIKE] != 0.0:
            near = beyond(aims, size)
            _, reached, steps = descend(codes, numbers, settings, near, top, math.inf, most, patience, parts, current)
        if not reached or settings[WISHING] != 0.0:
            error, reached, more = descend(
                codes, numbers, settings, aims, top, math.inf, most, patience, parts, current
            )
            steps += more
        for level in range(top - 1, -1, -1):
            finest, rest = settings[FINEST], settings[FINISH]
            _, _, more = descend(codes, numbers, settings, aims, level, finest, rest, patience, parts, current)
            steps += more
        if top > 0:
            look(codes, numbers, aims, top, current, parts)
            error, _, reached = judge(codes, numbers, aims, top, math.inf, parts[ALL_ERRORS])
            _, _, firm = judge(codes, numbers, aims, 0, math.inf, parts[ALL_ERRORS])
        count += steps
        starts += 1
        if error < best or reached:
            best = error
            for k in range(values):
                q[k] = current[k]
        if reached or (top > 0 and firm and attempt >= WISHES):
            break
    if not reached and top == 0:  # as near as it comes
        finest, rest = settings[FINEST], settings[FINISH]
        _, _, more = descend(codes, numbers, settings, aims, top, finest, rest, settings[PATIENCE], parts, q)
        look(codes, numbers, aims, top, q, parts)
        best, _, reached = judge(codes, numbers, aims, top, math.inf, parts[ALL_ERRORS])
        count += more
    report[0], report[1], report[2] = best, report[1] + count, report[2] + starts
    return reached


@part
def measure(codes, errors, out):
    """Write how far each block is off."""
    blocks = table(codes, BLOCK_AT, codes)
    for b in range(codes[BLOCKS]):
        square = 0.0
        for k in range(blocks[4 * b], blocks[4 * b + 1]):
            square += errors[k] * errors[k]
        out[b] = math.sqrt(square)


@kernel(nogil=True)
def figure_many(codes, numbers, settings, aims, size, start, chained, seed, first, tries, room, out, report, status):
    """Solve problems; poses (n * nq,) in `out` are starts and become answers.

    Each problem has `size` numbers of aims, or twice as many where there are several levels. With `chained`, it begins
    where the one before it ended. A report is the squared weighted error, steps and starts, then how far each block is
    off.
    """
    c, values = cells(codes), codes[VALUES]
    parts = laid_out(c, cells(room))
    width, stride = REPORT + c[BLOCKS], size if c[LEVELS] == 1 else 2 * size
    flags = beyond(cells(room), room.size - c[GOALS] - c[COLUMNS])
    for problem in range(status.size):
        q = beyond(cells(out), values * problem)
        if chained and problem > 0:
            for k in range(values):
                q[k] = q[k - values]
        reached = solve_from(
            c,
            cells(numbers),
            cells(settings),
            beyond(cells(aims), stride * problem),
            size,
            seed,
            start + problem,
            first,
            tries,
            parts,
            flags,
            q,
            beyond(cells(report), width * problem),
        )
        status[problem] = REACHED if reached else MISSED
        look(c, cells(numbers), beyond(cells(aims), stride * problem), c[LEVELS], q, parts)
        measure(c, parts[ALL_ERRORS], beyond(cells(report), width * problem + REPORT))
