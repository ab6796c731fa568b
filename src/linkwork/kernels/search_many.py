"""The search for poses that reach many goals: descents side by side in lanes; a lane that has ended is refilled.

What a lane computes does not depend on its neighbours, so that answers are the same however problems are dealt out to
lanes and threads. `chain_memory` says what stands in the arrays. Inside, memory goes in groups:

    chain:  codes, numbers, settings, limits
    batch:  targets, how many, starts given, whether there are any, number of the first problem, seed, tries
    flow:   poses before and after a step, goals, steps, squared errors of position and rotation; by lane
    pages:  state and best pose of each lane, one goal
    out:    poses, reports, status
"""

from __future__ import annotations

import math

from numba import float64, int64

from . import inner, kernel, part
from .chain_memory import (
    AT_ALIGNED,
    AT_AXES,
    AT_BEST_ERROR,
    AT_BEST_POSE,
    AT_BEST_POSITION,
    AT_BEST_ROTATION,
    AT_CAUTION,
    AT_CHECK_AFTER,
    AT_CLOSE,
    AT_MOST_STEPS,
    AT_NEAR,
    AT_ORIGIN,
    AT_POSITION_ERROR,
    AT_ROTATION_ERROR,
    AT_ROTATION_WEIGHT,
    AT_SPIN,
    AT_STALLED,
    AT_STARTS,
    AT_STEPS,
    AT_TIP,
    CODES,
    REPORT_SIZE,
    TRANSFORM_SIZE,
    chain_of,
    lane_places,
    tables_of,
)
from .damped import bounds, damped_step, larger, smaller, tip_error
from .lanes import beyond, bits, cells, flat, gather, load, scatter, select, store
from .layout import Layout
from .starts import FIRST_STARTS, in_reach, put_start, read_goal, starts_worth_trying

CLOSING = 40.0  # more steps, from the best pose met, where no start has reached the goal
IDLE = -1.0e30  # steps of a lane that has nothing to do
UNSOLVED, REACHED, CLOSEST, BEYOND, INVALID = 0, 1, 2, 3, 4
AGAIN, CLOSER = 5, 6  # what a lane does next where its problem is not over
LANE_STATE = Layout("problem", "start", "taken", "allowed", "open")  # of a lane, see `take_problem`; -1 is no problem
AT_PROBLEM, AT_START, AT_TAKEN, AT_ALLOWED, AT_OPEN = LANE_STATE.places
STATE = LANE_STATE.size


@part
def keep_best(lane, width, values, moved, turned, weight, q, best, at):
    """Keep the pose of a lane and its errors in `best` from `at` on if it is the closest so far; say whether it is."""
    error = moved + turned * weight * weight
    if not error < load(best, at + AT_BEST_ERROR):
        return False
    store(best, at + AT_BEST_ERROR, error)
    store(best, at + AT_BEST_POSITION, moved)
    store(best, at + AT_BEST_ROTATION, turned)
    for value in range(values):
        store(best, at + AT_BEST_POSE + value, float64(load(q, width * value + lane)))
    return True


@part
def write_best(lane, values, problem, outcome, state, best, out):
    """Write the closest pose of a lane as the answer to its problem."""
    poses, report, status = out
    at, to = (AT_BEST_POSE + values) * lane, REPORT_SIZE * problem
    for value in range(values):
        store(poses, values * problem + value, load(best, at + AT_BEST_POSE + value))
    store(report, to + AT_POSITION_ERROR, load(best, at + AT_BEST_POSITION))
    store(report, to + AT_ROTATION_ERROR, load(best, at + AT_BEST_ROTATION))
    store(report, to + AT_STARTS, float64(load(state, STATE * lane + AT_START)))
    store(report, to + AT_STEPS, float64(load(state, STATE * lane + AT_TAKEN)))
    store(status, problem, outcome)


@part
def advance(chain, rows, values, lanes):
    """Take one step in all lanes; return which have ended, and which have reached their goals, as bits."""
    codes, numbers, settings, limits = chain
    goal, q, work, after, steps, moved, turned = lanes
    closing = load(steps, 0) < 0.0
    caution = select(closing, load(settings, AT_CAUTION), 0.0)
    p, r = damped_step(codes, numbers, rows, settings, limits, values, goal, q, work, after, caution)
    taken = load(steps, 0) + 1.0
    w = load(settings, AT_ROTATION_WEIGHT)
    error, before = p + r * (w * w), load(moved, 0) + load(turned, 0) * (w * w)
    store(steps, 0, taken)
    store(moved, 0, p)
    store(turned, 0, r)
    near = (p <= load(settings, AT_NEAR)) & (r <= load(settings, AT_ALIGNED))
    stuck = (error > load(settings, AT_CLOSE)) & (error > before * load(settings, AT_STALLED))
    ended = near | (stuck & (taken > load(settings, AT_CHECK_AFTER))) | (taken >= load(settings, AT_MOST_STEPS))
    ended = ended | (closing & (taken > -0.5))
    return bits(ended & (taken > -1.0e6)), bits(near)


@part
def judge_end(settings, lane, values, arrived, closer, tries, state, best):
    """Return what a lane does after a descent: begin another one, close in on its best pose, or stop (its outcome).

    The first starts are always made. Then the best pose is brought as close as it will come, and how close that is
    decides how many more starts are worth trying.
    """
    own = STATE * lane
    if arrived:
        return REACHED
    if load(state, own + AT_OPEN) < 0:  # it has closed in
        store(state, own + AT_OPEN, 0)
        if load(state, own + AT_ALLOWED) >= FIRST_STARTS:
            error = load(best, (AT_BEST_POSE + values) * lane + AT_BEST_ERROR)
            store(state, own + AT_ALLOWED, starts_worth_trying(settings, error, tries))
    elif closer:
        store(state, own + AT_OPEN, 1)
    if load(state, own + AT_START) < load(state, own + AT_ALLOWED):
        return AGAIN
    if load(state, own + AT_OPEN) == 1 and tries > 0:
        return CLOSER
    return CLOSEST if load(state, own + AT_ALLOWED) >= min(FIRST_STARTS, tries) else BEYOND


@part
def take_problem(chain, batch, flow, pages, status, lane, width, values, waiting):
    """Give a lane the next problem that is still to be solved; return the one to tip_error at after it.

    The lane's problem is -1 where there are no more. Targets that are none are marked.
    """
    _, numbers, settings, _ = chain
    targets, count, _, given, _, _, tries = batch
    state, best, one = pages
    own = STATE * lane
    store(state, own + AT_PROBLEM, -1)
    while waiting < count and load(state, own + AT_PROBLEM) < 0:
        if load(status, waiting) == UNSOLVED:
            if read_goal(numbers, load(settings, AT_SPIN), targets, 16 * waiting, one):
                store(state, own + AT_PROBLEM, waiting)
                store(state, own + AT_START, -given)
                store(state, own + AT_TAKEN, 0)
                store(state, own + AT_OPEN, 0)
                store(state, own + AT_ALLOWED, min(FIRST_STARTS if in_reach(settings, one) else 2, tries))
                store(best, (AT_BEST_POSE + values) * lane + AT_BEST_ERROR, math.inf)
                for k in range(TRANSFORM_SIZE):
                    store(flow[2], width * k + lane, load(one, k))
            else:
                store(status, waiting, INVALID)
        waiting += 1
    return waiting


@part
def begin_descent(chain, tables, batch, flow, pages, lane, width, values, then):
    """Put into a lane what it does next: close in on its best pose, follow the start given, or take another one."""
    _, _, starts, _, first, seed, _ = batch
    _, after, goal, steps, _, _ = flow
    state, best, one = pages
    own, problem = STATE * lane, load(state, STATE * lane + AT_PROBLEM)
    if then == CLOSER:
        for value in range(values):
            store(after, width * value + lane, load(best, (AT_BEST_POSE + values) * lane + AT_BEST_POSE + value))
        store(steps, lane, -CLOSING)
        store(state, own + AT_OPEN, -1)
        store(state, own + AT_TAKEN, load(state, own + AT_TAKEN) + int64(CLOSING))
        return
    start = load(state, own + AT_START)
    store(state, own + AT_START, start + 1)
    store(steps, lane, 0.0)
    if start < 0:
        for value in range(values):
            x = load(starts, values * problem + value)
            lower, upper = bounds(chain[3], value)
            store(after, width * value + lane, min(max(x, float64(lower)), float64(upper)))
        return
    for k in range(TRANSFORM_SIZE):
        store(one, k, float64(load(goal, width * k + lane)))
    put_start(chain, values, tables, one, 2 * lane, seed, first + problem, start, after, lane, width)


@part
def refill_lane(chain, tables, batch, flow, pages, out, lane, width, values, near, waiting):
    """See to a lane whose descent has ended: note its answer, give it another start or another problem.

    Return the problem to tip_error at next, and by how much the number of lanes at work has changed.
    """
    q, _, _, steps, moved, turned = flow
    state, best = pages[0], pages[1]
    own, at, change, then = STATE * lane, (AT_BEST_POSE + values) * lane, 0, AGAIN
    problem = load(state, own + AT_PROBLEM)
    if problem >= 0:
        store(state, own + AT_TAKEN, load(state, own + AT_TAKEN) + int64(load(steps, lane)))
        p, r, w = float64(load(moved, lane)), float64(load(turned, lane)), float64(load(chain[2], AT_ROTATION_WEIGHT))
        arrived = (near >> lane) & 1 == 1
        if arrived:  # whatever came close before it
            store(best, at + AT_BEST_ERROR, math.inf)
            store(state, own + AT_TAKEN, load(state, own + AT_TAKEN) - 1)  # the last one was only looked at
        closer = keep_best(lane, width, values, p, r, w, q, best, at)
        then = judge_end(chain[2], lane, values, arrived, closer, batch[6], state, best)
        if then < AGAIN:
            write_best(lane, values, problem, then, state, best, out)
            change -= 1
    if problem < 0 or then < AGAIN:
        store(steps, lane, IDLE)
        waiting = take_problem(chain, batch, flow, pages, out[2], lane, width, values, waiting)
        if load(state, own + AT_PROBLEM) < 0:
            return waiting, change
        change, then = change + 1, AGAIN
    begin_descent(chain, tables, batch, flow, pages, lane, width, values, then)
    return waiting, change


@inner
def at(memory, row):
    """Return the lanes of an array from a row on."""
    return beyond(cells(memory), row)


@kernel(nogil=True)
def search_many(codes, numbers, table, targets, given, first, seed, tries, memory, books, state, poses, report, status):
    """Search for the targets (m * 16,) whose status (m,) is UNSOLVED; write poses (m * values,), reports and status.

    `numbers` are the chain's settings, limits and numbers, in the precision of the search; `given` is a start for each
    problem, or empty; `first` is the number of the first problem, for its random starts. `room` tells how large the
    arrays to work in must be: `memory` in the same precision, `books`, and `state`, which begins with -1 throughout.
    """
    rows, count, values = codes.size // CODES, status.size, poses.size // status.size
    width = memory.shape[1]
    to_steps, to_moved, to_turned, to_q, to_after, to_work, to_ranks = lane_places(rows, values)
    chain = chain_of(cells(codes), cells(numbers), values)
    tables = tables_of(cells(table), flat(table), at(memory, to_ranks), beyond(flat(memory), to_ranks * width))
    batch = (cells(targets), count, cells(given), min(given.size, 1), first, seed, tries)
    out = (cells(poses), cells(report), cells(status))
    pages = (cells(state), beyond(flat(books), TRANSFORM_SIZE), flat(books))
    goal, steps, moved, turned = cells(memory), at(memory, to_steps), at(memory, to_moved), at(memory, to_turned)
    q, after, work = at(memory, to_q), at(memory, to_after), at(memory, to_work)
    other = flat(memory)
    source, sink = beyond(other, to_q * width), beyond(other, to_after * width)
    lane_steps, lane_moved = beyond(other, to_steps * width), beyond(other, to_moved * width)
    waiting, live, ended, near = 0, 0, (1 << width) - 1, 0
    for lane in range(width):
        store(lane_steps, lane, IDLE)
    while ended != 0:
        flow = (source, sink, other, lane_steps, lane_moved, beyond(other, to_turned * width))
        for lane in range(width):
            if (ended >> lane) & 1:
                waiting, change = refill_lane(
                    chain, tables, batch, flow, pages, out, lane, width, values, near, waiting
                )
                live += change
        ended = 0
        while live > 0 and ended == 0:
            q, after, source, sink = after, q, sink, source
            ended, near = advance(chain, rows, values, (goal, q, work, after, steps, moved, turned))


@part
def gather_goals(numbers, spin, targets, first, goal):
    """Bring the goals of targets from `first` on side by side into lanes, as `read_goal` does for one."""
    for row in range(3):
        item = 16 * first + 4 * row
        a, b, c = gather(targets, item, 16), gather(targets, item + 1, 16), gather(targets, item + 2, 16)
        store(goal, AT_ORIGIN + row, gather(targets, item + 3, 16))
        for k in range(3):
            tip = AT_TIP + AT_AXES + k
            turned = a * load(numbers, tip) + b * load(numbers, tip + 3) + c * load(numbers, tip + 6)
            if spin != 0.0:
                turned = gather(targets, item + k, 16)
            store(goal, AT_AXES + 3 * k + row, turned)


@kernel(nogil=True)
def check_many(codes, numbers, targets, poses, memory, report):
    """Bring poses (m * values,) within limits and write their squared errors into their reports; all targets are rigid.

    There is at least one pose for every lane. The arrays are those of `search_many`.
    """
    rows, width, count = codes.size // CODES, memory.shape[1], report.size // REPORT_SIZE
    values = poses.size // count
    chain = chain_of(cells(codes), cells(numbers), values)
    _, _, _, to_q, _, to_work, _ = lane_places(rows, values)
    goal, q, work = cells(memory), at(memory, to_q), at(memory, to_work)
    for first in range(0, count, width):
        begin_at = min(first, count - width)  # the last ones are looked at twice
        gather_goals(chain[1], load(chain[2], AT_SPIN), cells(targets), begin_at, goal)
        for value in range(values):
            lower, upper = bounds(chain[3], value)
            x = smaller(larger(gather(cells(poses), values * begin_at + value, values), lower), upper)
            store(q, value, x)
            scatter(cells(poses), values * begin_at + value, values, x)
        _, _, _, p, r = tip_error(chain[0], chain[1], rows, chain[2], goal, q, work)
        scatter(cells(report), REPORT_SIZE * begin_at + AT_POSITION_ERROR, REPORT_SIZE, p)
        scatter(cells(report), REPORT_SIZE * begin_at + AT_ROTATION_ERROR, REPORT_SIZE, r)


def room(rows: int, values: int, width: int) -> tuple[tuple[int, int], int, int]:
    """Return the shape of `memory` and the sizes of `books` and `state` for a chain's rows and values.

    Each lane has two rows for its ranks. The books hold one goal, and the best pose of each lane.
    """
    *_, ranks = lane_places.py_func(rows, values)
    return (ranks + 2 * width, width), TRANSFORM_SIZE + (AT_BEST_POSE + values) * width, STATE * width
