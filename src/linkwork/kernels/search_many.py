"""The search for poses that reach many goals: descents side by side in lanes; a lane that has ended is refilled.

Imports `damped`, `starts` and `lanes`. What a lane computes does not depend on its neighbours, so that answers are the
same however problems are dealt out to lanes and threads. Inside, memory goes in groups:

    limb:   codes, numbers, settings, limits
    batch:  targets, how many, starts given, whether there are any, number of the first problem, seed, tries
    flow:   poses before and after a step, goals, steps, squared errors of position and rotation; by lane
    pages:  state and best pose of each lane, one goal
    out:    poses, reports, status
"""

from __future__ import annotations

import math

from numba import float64, int64

from . import inner, kernel, part
from .damped import (
    ALIGNED,
    CODES,
    LIMITS,
    LOWER,
    NEAR,
    ROTATION,
    SPIN,
    TIP,
    UPPER,
    damped_step,
    larger,
    look,
    smaller,
)
from .lanes import beyond, bits, cells, flat, gather, load, scatter, select, store
from .starts import (
    CAUTION,
    CHECK,
    CLOSE,
    FIRST_STARTS,
    STALLED,
    STEPS,
    as_limb,
    as_tables,
    hope,
    in_reach,
    put_start,
    read_goal,
)

CLOSING = 40.0  # more steps, from the best pose met, where no start has reached the goal
IDLE = -1.0e30  # steps of a lane that has nothing to do
UNSOLVED, REACHED, CLOSEST, BEYOND, INVALID = 0, 1, 2, 3, 4
AGAIN, CLOSER = 5, 6  # what a lane does next where its problem is not over
# of a lane: its problem, starts begun, steps taken, starts allowed, whether its best pose may come closer
PROBLEM, START, TAKEN, ALLOWED, OPEN, STATE = 0, 1, 2, 3, 4, 5
# of the books: one goal, then best errors and pose of each lane
ONE, FREE = 0, 12
# of a problem, beside its pose: squared position error, squared length of the rotation error, starts, steps
REPORT = 4


@part
def keep_best(lane, width, values, moved, turned, weight, q, best, at):
    """Keep the pose of a lane and its errors in `best` from `at` on if it is the closest so far; say whether it is."""
    error = moved + turned * weight * weight
    if not error < load(best, at):
        return False
    store(best, at, error)
    store(best, at + 1, moved)
    store(best, at + 2, turned)
    for value in range(values):
        store(best, at + 3 + value, float64(load(q, width * value + lane)))
    return True


@part
def write_best(lane, values, problem, outcome, state, best, out):
    """Write the closest pose of a lane as the answer to its problem."""
    poses, report, status = out
    at = (values + 3) * lane
    for value in range(values):
        store(poses, values * problem + value, load(best, at + 3 + value))
    store(report, REPORT * problem, load(best, at + 1))
    store(report, REPORT * problem + 1, load(best, at + 2))
    store(report, REPORT * problem + 2, float64(load(state, STATE * lane + START)))
    store(report, REPORT * problem + 3, float64(load(state, STATE * lane + TAKEN)))
    store(status, problem, outcome)


@part
def advance(limb, rows, values, lanes):
    """Take one step in all lanes; return which have ended, and which have reached their goals, as bits."""
    codes, numbers, settings, limits = limb
    goal, q, work, after, steps, moved, turned = lanes
    closing = load(steps, 0) < 0.0
    caution = select(closing, load(settings, CAUTION), 0.0)
    p, r = damped_step(codes, numbers, rows, settings, limits, values, goal, q, work, after, caution)
    taken = load(steps, 0) + 1.0
    w = load(settings, ROTATION)
    error, before = p + r * (w * w), load(moved, 0) + load(turned, 0) * (w * w)
    store(steps, 0, taken)
    store(moved, 0, p)
    store(turned, 0, r)
    near = (p <= load(settings, NEAR)) & (r <= load(settings, ALIGNED))
    stuck = (error > load(settings, CLOSE)) & (error > before * load(settings, STALLED))
    ended = near | (stuck & (taken > load(settings, CHECK))) | (taken >= load(settings, STEPS))
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
    if load(state, own + OPEN) < 0:  # it has closed in
        store(state, own + OPEN, 0)
        if load(state, own + ALLOWED) >= FIRST_STARTS:
            store(state, own + ALLOWED, hope(settings, load(best, (values + 3) * lane), tries))
    elif closer:
        store(state, own + OPEN, 1)
    if load(state, own + START) < load(state, own + ALLOWED):
        return AGAIN
    if load(state, own + OPEN) == 1 and tries > 0:
        return CLOSER
    return CLOSEST if load(state, own + ALLOWED) >= min(FIRST_STARTS, tries) else BEYOND


@part
def take_problem(limb, batch, flow, pages, status, lane, width, values, waiting):
    """Give a lane the next problem that is still to be solved; return the one to look at after it.

    The lane's problem is -1 where there are no more. Targets that are none are marked.
    """
    _, numbers, settings, _ = limb
    targets, count, _, given, _, _, tries = batch
    state, best, one = pages
    own = STATE * lane
    store(state, own + PROBLEM, -1)
    while waiting < count and load(state, own + PROBLEM) < 0:
        if load(status, waiting) == UNSOLVED:
            if read_goal(numbers, load(settings, SPIN), targets, 16 * waiting, one):
                store(state, own + PROBLEM, waiting)
                store(state, own + START, -given)
                store(state, own + TAKEN, 0)
                store(state, own + OPEN, 0)
                store(state, own + ALLOWED, min(FIRST_STARTS if in_reach(settings, one) else 2, tries))
                store(best, (values + 3) * lane, math.inf)
                for k in range(12):
                    store(flow[2], width * k + lane, load(one, k))
            else:
                store(status, waiting, INVALID)
        waiting += 1
    return waiting


@part
def begin(limb, tables, batch, flow, pages, lane, width, values, then):
    """Put into a lane what it does next: close in on its best pose, follow the start given, or take another one."""
    _, _, starts, _, first, seed, _ = batch
    _, after, goal, steps, _, _ = flow
    state, best, one = pages
    own, problem = STATE * lane, load(state, STATE * lane + PROBLEM)
    if then == CLOSER:
        for value in range(values):
            store(after, width * value + lane, load(best, (values + 3) * lane + 3 + value))
        store(steps, lane, -CLOSING)
        store(state, own + OPEN, -1)
        store(state, own + TAKEN, load(state, own + TAKEN) + int64(CLOSING))
        return
    start = load(state, own + START)
    store(state, own + START, start + 1)
    store(steps, lane, 0.0)
    if start < 0:
        for value in range(values):
            x = load(starts, values * problem + value)
            lower, upper = load(limb[3], LIMITS * value + LOWER), load(limb[3], LIMITS * value + UPPER)
            store(after, width * value + lane, min(max(x, float64(lower)), float64(upper)))
        return
    for k in range(12):
        store(one, k, float64(load(goal, width * k + lane)))
    put_start(limb, values, tables, one, 2 * lane, seed, first + problem, start, after, lane, width)


@part
def settle(limb, tables, batch, flow, pages, out, lane, width, values, near, waiting):
    """See to a lane whose descent has ended: note its answer, give it another start or another problem.

    Return the problem to look at next, and by how much the number of lanes at work has changed.
    """
    q, _, _, steps, moved, turned = flow
    state, best = pages[0], pages[1]
    own, at, change, then = STATE * lane, (values + 3) * lane, 0, AGAIN
    problem = load(state, own + PROBLEM)
    if problem >= 0:
        store(state, own + TAKEN, load(state, own + TAKEN) + int64(load(steps, lane)))
        p, r, w = float64(load(moved, lane)), float64(load(turned, lane)), float64(load(limb[2], ROTATION))
        arrived = (near >> lane) & 1 == 1
        if arrived:  # whatever came close before it
            store(best, at, math.inf)
            store(state, own + TAKEN, load(state, own + TAKEN) - 1)  # the last one was only looked at
        closer = keep_best(lane, width, values, p, r, w, q, best, at)
        then = judge_end(limb[2], lane, values, arrived, closer, batch[6], state, best)
        if then < AGAIN:
            write_best(lane, values, problem, then, state, best, out)
            change -= 1
    if problem < 0 or then < AGAIN:
        store(steps, lane, IDLE)
        waiting = take_problem(limb, batch, flow, pages, out[2], lane, width, values, waiting)
        if load(state, own + PROBLEM) < 0:
            return waiting, change
        change, then = change + 1, AGAIN
    begin(limb, tables, batch, flow, pages, lane, width, values, then)
    return waiting, change


@inner
def at(memory, row):
    """Return the lanes of an array from a row on."""
    return beyond(cells(memory), row)


@kernel(nogil=True)
def search_many(codes, numbers, table, targets, given, first, seed, tries, memory, books, state, poses, report, status):
    """Search for the targets (m * 16,) whose status (m,) is UNSOLVED; write poses (m * values,), reports and status.

    `numbers` are the limb's settings, limits and numbers, in the precision of the search; `given` is a start for each
    problem, or empty; `first` is the number of the first problem, for its random starts. `room` tells how large the
    arrays to work in must be: `memory` in the same precision, `books`, and `state`, which begins with -1 throughout.
    """
    rows, count, values = codes.size // CODES, status.size, poses.size // status.size
    width = memory.shape[1]
    free = 15 + 2 * values + 6 * rows
    limb = as_limb(cells(codes), cells(numbers), values)
    tables = as_tables(cells(table), flat(table), at(memory, free), beyond(flat(memory), free * width))
    best = beyond(flat(books), FREE)
    batch = (cells(targets), count, cells(given), min(given.size, 1), first, seed, tries)
    out = (cells(poses), cells(report), cells(status))
    pages = (cells(state), best, beyond(flat(books), ONE))
    goal, steps, moved, turned = cells(memory), at(memory, 12), at(memory, 13), at(memory, 14)
    q, after, work = at(memory, 15), at(memory, 15 + values), at(memory, 15 + 2 * values)
    source, sink, other = beyond(flat(memory), 15 * width), beyond(flat(memory), (15 + values) * width), flat(memory)
    waiting, live, ended, near = 0, 0, (1 << width) - 1, 0
    for lane in range(width):
        store(other, 12 * width + lane, IDLE)
    while ended != 0:
        flow = (source, sink, other, beyond(other, 12 * width), beyond(other, 13 * width), beyond(other, 14 * width))
        for lane in range(width):
            if (ended >> lane) & 1:
                waiting, change = settle(limb, tables, batch, flow, pages, out, lane, width, values, near, waiting)
                live += change
        ended = 0
        while live > 0 and ended == 0:
            q, after, source, sink = after, q, sink, source
            ended, near = advance(limb, rows, values, (goal, q, work, after, steps, moved, turned))


@part
def gather_goals(numbers, spin, targets, first, goal):
    """Bring the goals of targets from `first` on side by side into lanes, as `read_goal` does for one."""
    for row in range(3):
        item = 16 * first + 4 * row
        a, b, c = gather(targets, item, 16), gather(targets, item + 1, 16), gather(targets, item + 2, 16)
        store(goal, 9 + row, gather(targets, item + 3, 16))
        for k in range(3):
            turned = a * load(numbers, TIP + k) + b * load(numbers, TIP + 3 + k) + c * load(numbers, TIP + 6 + k)
            if spin != 0.0:
                turned = gather(targets, item + k, 16)
            store(goal, 3 * k + row, turned)


@kernel(nogil=True)
def check_many(codes, numbers, targets, poses, memory, report):
    """Bring poses (m * values,) within limits and write their squared errors into their reports; all targets are rigid.

    There is at least one pose for every lane. The arrays are those of `search_many`.
    """
    rows, width, count = codes.size // CODES, memory.shape[1], report.size // REPORT
    values = poses.size // count
    limb = as_limb(cells(codes), cells(numbers), values)
    goal, q, work = cells(memory), at(memory, 15), at(memory, 15 + 2 * values)
    for first in range(0, count, width):
        begin_at = min(first, count - width)  # the last ones are looked at twice
        gather_goals(limb[1], load(limb[2], SPIN), cells(targets), begin_at, goal)
        for value in range(values):
            lower, upper = load(limb[3], LIMITS * value + LOWER), load(limb[3], LIMITS * value + UPPER)
            x = smaller(larger(gather(cells(poses), values * begin_at + value, values), lower), upper)
            store(q, value, x)
            scatter(cells(poses), values * begin_at + value, values, x)
        _, _, _, p, r = look(limb[0], limb[1], rows, limb[2], goal, q, work)
        scatter(cells(report), REPORT * begin_at, REPORT, p)
        scatter(cells(report), REPORT * begin_at + 1, REPORT, r)


def room(rows: int, values: int, width: int) -> tuple[tuple[int, int], int, int]:
    """Return the shape of `memory` and the sizes of `books` and `state` for a limb's rows and values."""
    return (15 + 2 * values + 6 * rows + 2 * width, width), FREE + (values + 3) * width, STATE * width
