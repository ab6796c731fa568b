"""The search for poses that reach many goals: descents in parallel lanes; a lane that has ended is refilled.

The result of a lane does not depend on its neighbours, so answers are the same however problems are distributed to
lanes and threads. The arrays are laid out in `chain_memory`. `books` holds one goal, then the best pose of each lane,
then workspace of `aim`; `flow` is the memory of the lanes as single numbers.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from . import inner, kernel, part
from .aim import aim, aim_room, travels
from .chain_memory import BEST, CODE, FRAME, FRAMES, REPORT, SETTINGS, Lanes, Tables, chain_of, lane_sizes
from .damped import damped_step, tip_error, turned_back, within
from .joint_step import TRANSFORM
from .lanes import beyond, bits, cells, divided, flat, gather, load, scatter, select, store
from .layout import Layout
from .starts import FIRST_STARTS, in_reach, put_row, put_start, read_goal, starts_worth_trying

CLOSING = 40.0  # further steps from the best pose found, if no start has reached the goal
IDLE = -1.0e30  # step count of an idle lane
UNSOLVED, REACHED, CLOSEST, BEYOND, INVALID = 0, 1, 2, 3, 4
AGAIN, CLOSER = 5, 6  # what a lane does next if its problem is not finished
Batch = namedtuple("Batch", "targets count given any_given first seed tries leave")  # given: starts; first: its number
LANE = Layout("problem", "start", "taken", "allowed", "open")  # of a lane, see `take_problem`; problem -1: none


@part
def keep_best(lane, width, values, moved, turned, weight, q, best):
    """Keep the pose of a lane and its errors in `best` if it is the closest so far; return whether it is."""
    error = moved + turned * weight * weight
    if not error < load(best, BEST.error):
        return False
    store(best, BEST.error, error)
    store(best, BEST.position, moved)
    store(best, BEST.rotation, turned)
    for value in range(values):
        store(best, BEST.size + value, np.float64(load(q, width * value + lane)))
    return True


@part
def write_best(values, best, starts, steps, pose, report):
    """Write the closest pose and its report, with the numbers of starts and steps."""
    for value in range(values):
        store(pose, value, load(best, BEST.size + value))
    store(report, REPORT.position_error, load(best, BEST.position))
    store(report, REPORT.rotation_error, load(best, BEST.rotation))
    store(report, REPORT.starts, np.float64(starts))
    store(report, REPORT.steps, np.float64(steps))


@part
def turn_back(limits, values, start, pose):
    """Replace every value of a pose by its copy, whole turns away, that is nearest to a start within the limits."""
    for value in range(values):
        store(pose, value, turned_back(limits, value, load(pose, value), load(start, value)))


@part
def advance(chain, rows, values, lanes):
    """Take one step in all lanes; return which have ended, and which have reached their goals, as bits."""
    codes, numbers, settings, limits = chain
    goal, steps, moved, turned, q, after, work, _ = lanes
    closing = load(steps, 0) < 0.0
    caution = select(closing, load(settings, SETTINGS.caution), 0.0)
    p, r = damped_step(codes, numbers, rows, settings, limits, values, goal, q, work, after, caution)
    taken = load(steps, 0) + 1.0
    w = load(settings, SETTINGS.rotation_weight)
    error, before = p + r * (w * w), load(moved, 0) + load(turned, 0) * (w * w)
    store(steps, 0, taken)
    store(moved, 0, p)
    store(turned, 0, r)
    near = (p <= load(settings, SETTINGS.near)) & (r <= load(settings, SETTINGS.aligned))
    stuck = (error > load(settings, SETTINGS.close)) & (error > before * load(settings, SETTINGS.stalled))
    late = taken > load(settings, SETTINGS.check_after)
    ended = near | (stuck & late) | (taken >= load(settings, SETTINGS.most_steps)) | (closing & (taken > -0.5))
    return bits(ended & (taken > -1.0e6)), bits(near)


@part
def judge_end(settings, arrived, closer, tries, state, best):
    """Return what a lane does after a descent: start again, refine its best pose, or stop (the status of its problem).

    The first starts are always made. Then the best pose is refined as far as possible, and its error decides how many
    more starts are worth trying.
    """
    if arrived:
        return REACHED
    if load(state, LANE.open) < 0:  # the best pose was refined
        store(state, LANE.open, 0)
        if load(state, LANE.allowed) >= FIRST_STARTS:
            store(state, LANE.allowed, starts_worth_trying(settings, load(best, BEST.error), tries))
    elif closer:
        store(state, LANE.open, 1)
    if load(state, LANE.start) < load(state, LANE.allowed):
        return AGAIN
    if load(state, LANE.open) == 1 and tries > 0:
        return CLOSER
    return CLOSEST if load(state, LANE.allowed) >= min(FIRST_STARTS, tries) else BEYOND


@part
def take_problem(chain, batch, goals, one, state, best, status, lane, width, waiting):
    """Give a lane the next unsolved problem; return the index of the problem after it.

    The lane's problem is -1 if there are no more. Invalid targets are marked, and so are targets out of reach if
    `leave` is set.
    """
    settings = chain.settings
    store(state, LANE.problem, -1)
    while waiting < batch.count and load(state, LANE.problem) < 0:
        if load(status, waiting) == UNSOLVED:
            valid = read_goal(chain.numbers, load(settings, SETTINGS.spin), batch.targets, 16 * waiting, one)
            possible = valid and in_reach(settings, one)
            if possible or (valid and not batch.leave):
                store(state, LANE.problem, waiting)
                store(state, LANE.start, -batch.any_given)
                store(state, LANE.taken, 0)
                store(state, LANE.open, 0)
                store(state, LANE.allowed, min(FIRST_STARTS if possible else 2, batch.tries))
                store(best, BEST.error, math.inf)
                for k in range(TRANSFORM.size):
                    store(goals, width * k + lane, load(one, k))
            else:
                store(status, waiting, BEYOND if valid else INVALID)
        waiting += 1
    return waiting


@part
def begin_descent(chain, tables, batch, flow, books, state, best, lane, width, rows, values, then):
    """Prepare the next descent of a lane: refine its best pose, use the given start, or take the next start."""
    _, steps, _, _, _, after, _, _ = flow
    problem, start, one = load(state, LANE.problem), load(state, LANE.start), books
    if then == CLOSER:
        for value in range(values):
            store(after, width * value + lane, load(best, BEST.size + value))
        store(steps, lane, -CLOSING)
        store(state, LANE.open, -1)
        store(state, LANE.taken, load(state, LANE.taken) + np.int64(CLOSING))
        return
    store(state, LANE.start, start + 1)
    store(steps, lane, 0.0)
    for k in range(TRANSFORM.size):
        store(one, k, np.float64(load(flow.goal, width * k + lane)))
    if start < 0:
        for value in range(values):
            store(after, width * value + lane, within(chain.limits, value, load(batch.given, values * problem + value)))
    else:
        put_start(chain, values, tables, one, 2 * lane, batch.seed, batch.first + problem, start, after, lane, width)
    if travels(chain.settings):
        room_to_aim = beyond(books, TRANSFORM.size + (BEST.size + values) * width)
        aim(chain, rows, values, one, start < 0, room_to_aim, after, lane, width)


@part
def refill_lane(chain, tables, batch, flow, books, states, out, lane, width, rows, values, near, waiting):
    """Handle a lane whose descent has ended: store its answer, and give it another start or another problem.

    Return the next problem to consider, and the change in the number of active lanes.
    """
    goals, steps, moved, turned, q, _, _, _ = flow
    poses, reports, status = out
    one, best = books, beyond(books, TRANSFORM.size + (BEST.size + values) * lane)
    state, change, then = beyond(states, LANE.size * lane), 0, AGAIN
    problem = load(state, LANE.problem)
    if problem >= 0:
        taken, arrived = load(state, LANE.taken) + np.int64(load(steps, lane)), (near >> lane) & 1 == 1
        if arrived:  # it wins even if its error is larger than an earlier one
            store(best, BEST.error, math.inf)
            taken -= 1  # the last step was only evaluated
        store(state, LANE.taken, taken)
        p, r = np.float64(load(moved, lane)), np.float64(load(turned, lane))
        weight = np.float64(load(chain.settings, SETTINGS.rotation_weight))
        closer = keep_best(lane, width, values, p, r, weight, q, best)
        then = judge_end(chain.settings, arrived, closer, batch.tries, state, best)
        if then < AGAIN:
            report, pose = beyond(reports, REPORT.size * problem), beyond(poses, values * problem)
            write_best(values, best, load(state, LANE.start), taken, pose, report)
            if batch.any_given:
                turn_back(chain.limits, values, beyond(batch.given, values * problem), pose)
            store(status, problem, then)
            change -= 1
    if problem < 0 or then < AGAIN:
        store(steps, lane, IDLE)
        waiting = take_problem(chain, batch, goals, one, state, best, status, lane, width, waiting)
        if load(state, LANE.problem) < 0:
            return waiting, change
        change, then = change + 1, AGAIN
    begin_descent(chain, tables, batch, flow, books, state, best, lane, width, rows, values, then)
    return waiting, change


@inner
def swapped(memory):
    """Return the memory of lanes with the pose and the pose after a step exchanged."""
    goal, steps, moved, turned, q, after, work, ranks = memory
    return Lanes(goal, steps, moved, turned, after, q, work, ranks)


@kernel(
    "i8[] f8[] f8[,] f8[] f8[] i8 i8 i8 b1 f8[,] f8[] i8[] f8[] f8[] i8[]",
    "i8[] f4[] f4[,] f8[] f8[] i8 i8 i8 b1 f4[,] f8[] i8[] f8[] f8[] i8[]",
    nogil=True,
)
def search_many(
    codes, numbers, table, targets, given, first, seed, tries, leave, memory, books, state, poses, report, status
):
    """Search for the targets (m * 16,) whose status (m,) is UNSOLVED; write poses (m * values,), reports and status.

    `numbers` are the chain's settings, limits and numbers, in the precision of the search; `given` has a start for each
    problem, or is empty; `first` is the number of the first problem, used for its random starts. If `leave` is set,
    goals clearly out of reach are marked and not searched. `room` returns the sizes of the workspace: `memory` in the
    same precision, `books`, and `state`, which must be filled with -1.
    """
    rows, count, values = codes.size // CODE.size, status.size, poses.size // status.size
    width = memory.shape[1]
    lanes = divided(cells(memory), lane_sizes(rows, values, 1))
    flow = divided(flat(memory), lane_sizes(rows, values, width))
    chain = chain_of(cells(codes), cells(numbers), values)
    tables = Tables(cells(table), beyond(flat(table), FRAME.size * FRAMES), lanes.ranks, flow.ranks)
    batch = Batch(cells(targets), count, cells(given), min(given.size, 1), first, seed, tries, leave)
    out = (cells(poses), cells(report), cells(status))
    waiting, live, ended, near = 0, 0, (1 << width) - 1, 0
    for lane in range(width):
        store(flow.steps, lane, IDLE)
    while ended != 0:
        for lane in range(width):
            if (ended >> lane) & 1:
                waiting, change = refill_lane(
                    chain, tables, batch, flow, flat(books), cells(state), out, lane, width, rows, values, near, waiting
                )
                live += change
        ended = 0
        while live > 0 and ended == 0:
            lanes, flow = swapped(lanes), swapped(flow)
            ended, near = advance(chain, rows, values, lanes)


@part
def gather_goals(numbers, spin, targets, first, goal):
    """Load the goals of targets from `first` on into lanes, as `read_goal` does for one."""
    for row in range(3):
        item = 16 * first + 4 * row
        axes = gather(targets, item, 16), gather(targets, item + 1, 16), gather(targets, item + 2, 16)
        put_row(numbers, spin, row, axes, gather(targets, item + 3, 16), goal)


@kernel("i8[] f8[] f8[] f8[] f8[,] f8[]", nogil=True)
def check_many(codes, numbers, targets, poses, memory, report):
    """Clamp poses (m * values,) to their limits and write their squared errors to the reports; all targets are rigid.

    There is at least one pose for every lane. The arrays are those of `search_many`.
    """
    rows, width, count = codes.size // CODE.size, memory.shape[1], report.size // REPORT.size
    values = poses.size // count
    chain = chain_of(cells(codes), cells(numbers), values)
    goal, _, _, _, q, _, work, _ = divided(cells(memory), lane_sizes(rows, values, 1))
    for first in range(0, count, width):
        begin_at = min(first, count - width)  # the last block overlaps the one before
        gather_goals(chain.numbers, load(chain.settings, SETTINGS.spin), cells(targets), begin_at, goal)
        for value in range(values):
            x = within(chain.limits, value, gather(cells(poses), values * begin_at + value, values))
            store(q, value, x)
            scatter(cells(poses), values * begin_at + value, values, x)
        _, _, _, p, r = tip_error(chain.codes, chain.numbers, rows, chain.settings, goal, q, work)
        scatter(cells(report), REPORT.size * begin_at + REPORT.position_error, REPORT.size, p)
        scatter(cells(report), REPORT.size * begin_at + REPORT.rotation_error, REPORT.size, r)


def room(rows: int, values: int, width: int) -> tuple[tuple[int, int], int, int]:
    """Return the shape of `memory` and the sizes of `books` and `state` for a chain's rows and values.

    Each lane has two rows for its ranks. The books hold one goal, the best pose of each lane, and workspace of `aim`.
    """
    return (
        (sum(lane_sizes.py_func(rows, values, 1)) + 2 * width, width),
        TRANSFORM.size + (BEST.size + values) * width + aim_room.py_func(rows, values),
        LANE.size * width,
    )
