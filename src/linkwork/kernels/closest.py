"""Closest poses to goals that no search has reached: the nearest starts take a few steps, the best continue.

All starts of all goals pass through the same lanes: a lane whose descent has ended takes the next. The objective is
that of `newton`; the arrays are laid out in `chain_memory`.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from . import inner, kernel, part
from .aim import aim, aim_room, travels
from .chain_memory import CODE, FRAME, FRAMES, LIMITS, NARROW, REPORT, SETTINGS, WIDE, Tables, chain_of
from .damped import TURN, bounds, turned_back, within
from .joint_step import TRANSFORM
from .lanes import beyond, cells, divided, flat, load, store
from .layout import Layout
from .newton import FIRST_DAMPING, look_at_all, newton_sizes, newton_step
from .search_many import BEYOND, CLOSEST, REACHED, turn_back
from .starts import rank, read_goal, take_best

WIDTH, MOST_WIDTH = 8, 16  # lanes in double and in single precision
GOALS = 32  # processed together
SAME_MINIMUM = 0.03  # two poses descending to one minimum differ by at most this share of the squared error
SAME = 1.0e-6  # errors that differ by less than this times SETTINGS.arm are equal
LANE = Layout("slot", "taken", "crossed")  # its slot, or -1; steps taken; whether a gap was crossed
SLOT = Layout("error", "position", "rotation", "steps")  # of a start; errors are squared; its pose follows
CHOICE = Layout("least", "away")  # of the best pose of a goal: its error, and its squared distance from a start
Books = namedtuple("Books", "goals slots best room")
Notes = namedtuple("Notes", "lanes problems tasks")  # tasks: slots whose poses are to descend
STAGE = Layout("kept", "steps")  # how many poses of each goal continue, and their largest number of steps


@inner
def slot_at(books, values, slot):
    """Return the memory of a slot."""
    return beyond(books.slots, (SLOT.size + values) * slot)


@part
def put_starts(chain, tables, rows, values, starts, given, start, pose, goal, room, slots):
    """Write the starts of a goal into its slots: the given start, the best pose found, then the nearest frames.

    Each group of eight has the nearest frames of its share of the wide table.
    """
    blocks, shares = WIDE // WIDTH, (starts + WIDTH - 1) // WIDTH
    met = 1 if given else 0
    for k in range(starts):
        share = k // WIDTH
        if k % WIDTH == 0:
            first, end = share * blocks // shares, (share + 1) * blocks // shares
            rank(tables.frames, NARROW // WIDTH + first, end - first, goal, tables.ranks, 0)
        own = beyond(slots, (SLOT.size + values) * k)
        store(own, SLOT.error, math.inf)
        store(own, SLOT.steps, 0.0)
        q, frame = beyond(own, SLOT.size), 0 if k <= met else take_best(tables.scores, 0, WIDTH)
        for value in range(values):
            x = load(tables.poses, frame * values + value)
            if k <= met:
                x = load(start, value) if k < met else load(pose, value)
            store(q, value, within(chain.limits, value, x))
        if travels(chain.settings) and k > met:
            aim(chain, rows, values, goal, False, room, q, 0, 1)


@part
def put_back(values, flow, books, own, lane, width):
    """Write the pose of a lane back into its slot, if it is closer than the pose stored there."""
    slot = slot_at(books, values, load(own, LANE.slot))
    store(slot, SLOT.steps, load(slot, SLOT.steps) + np.float64(load(own, LANE.taken)))
    store(own, LANE.taken, 0)
    if load(flow.error, lane) < load(slot, SLOT.error):
        store(slot, SLOT.error, np.float64(load(flow.error, lane)))
        store(slot, SLOT.position, np.float64(load(flow.moved, lane)))
        store(slot, SLOT.rotation, np.float64(load(flow.turned, lane)))
        for value in range(values):
            store(slot, SLOT.size + value, np.float64(load(flow.q, width * value + lane)))


@part
def cross_gaps(limits, values, q, lane, width):
    """Move joints of a lane that are stopped at a limit across the gap to the other one; return whether there are any.

    The range of a joint may be almost a turn; the best angle may lie just beyond the gap.
    """
    crossed = False
    for value in range(values):
        x, (lower, upper) = load(q, width * value + lane), bounds(limits, value)
        if load(limits, LIMITS.size * value + LIMITS.periodic) == 0.0 or not TURN / 2.0 < upper - lower < TURN:
            continue
        if x <= lower or x >= upper:
            store(q, width * value + lane, upper if x <= lower else lower)
            crossed = True
    return crossed


@part
def take_slot(limits, values, flow, books, own, lane, width, starts, slot):
    """Give a lane the pose of a slot and its goal; the slot's earlier error is reset."""
    store(own, LANE.slot, slot)
    store(own, LANE.taken, 0)
    store(own, LANE.crossed, 0)
    new, goal = slot_at(books, values, slot), beyond(books.goals, TRANSFORM.size * (slot // starts))
    store(new, SLOT.error, math.inf)
    for value in range(values):
        store(flow.q, width * value + lane, within(limits, value, load(new, SLOT.size + value)))
    for k in range(TRANSFORM.size):
        store(flow.goal, width * k + lane, load(goal, k))


@part
def refill(chain, values, flow, books, notes, lane, width, starts, count, waiting, last):
    """Handle a lane whose descent has ended; return the position in the tasks, and whether the lane has a new pose.

    In the last stage a pose may cross a gap, once.
    """
    own = beyond(notes.lanes, LANE.size * lane)
    if load(own, LANE.slot) >= 0:
        put_back(values, flow, books, own, lane, width)
        if last and load(own, LANE.crossed) == 0 and cross_gaps(chain.limits, values, flow.q, lane, width):
            store(own, LANE.crossed, 1)
            return waiting, True
    if waiting < count:
        take_slot(chain.limits, values, flow, books, own, lane, width, starts, load(notes.tasks, waiting))
        return waiting + 1, True
    store(own, LANE.slot, -1)
    return waiting, False


@part
def descend(chain, rows, values, memory, books, notes, starts, count, most, last):
    """Take the poses of the first `count` tasks to their minima, or for at most `most` steps."""
    width = memory.shape[1]
    lanes = divided(cells(memory), newton_sizes(rows, values, 1))
    flow = divided(flat(memory), newton_sizes(rows, values, width))
    waiting, ended, live = 0, (1 << width) - 1, (1 << width) - 1
    arm = load(chain.settings, SETTINGS.arm)
    for lane in range(width):
        store(notes.lanes, LANE.size * lane + LANE.slot, -1)
    while True:
        new = 0
        for lane in range(width):
            if (ended & live) >> lane & 1:
                waiting, fresh = refill(chain, values, flow, books, notes, lane, width, starts, count, waiting, last)
                if fresh:
                    new |= 1 << lane
                else:
                    live &= ~(1 << lane)
        if live == 0:
            return
        if new != 0:
            look_at_all(chain, rows, lanes)
            for lane in range(width):
                if (new >> lane) & 1:
                    store(flow.damping, lane, FIRST_DAMPING * math.sqrt(load(flow.error, lane)) / arm)
        ended = newton_step(chain, rows, values, lanes)
        for lane in range(width):
            taken = load(notes.lanes, LANE.size * lane + LANE.taken) + 1
            store(notes.lanes, LANE.size * lane + LANE.taken, taken)
            if taken >= most:
                ended |= 1 << lane


@part
def choose(values, books, problem, starts, kept, given, last, tasks, count):
    """Add the slots of a goal that are worth continuing to the tasks; return the number of tasks.

    They are the closest ones, but only one of those that descend to the same minimum. The given start always descends
    in the last stage, in double precision.
    """
    first, end, least, most = starts * problem, starts * (problem + 1), -1.0, count + kept
    if given:
        first += 1
        if last:
            store(tasks, count, first - 1)
            count += 1
    if kept == starts:
        for slot in range(first, end):
            store(tasks, count, slot)
            count += 1
        return count
    while count < most:
        best, error = -1, math.inf
        for slot in range(first, end):
            other = load(slot_at(books, values, slot), SLOT.error)
            if least < other < error:
                best, error = slot, other
        if best < 0:
            break
        store(tasks, count, best)
        count, least = count + 1, error * (1.0 + SAME_MINIMUM)
    return count


@part
def keep_closest(limits, values, same, given, start, slot, best):
    """Keep the pose of a slot in `best` if it is the closest so far; of equally close ones, the nearest to a start."""
    away = 0.0
    for value in range(values if given else 0):
        x = load(start, value)
        d = turned_back(limits, value, load(slot, SLOT.size + value), x) - x
        away += d * d
    off, least = math.sqrt(load(slot, SLOT.error)), load(best, CHOICE.least)
    closer = off < least - same or (off <= least + same and away < load(best, CHOICE.away))
    if closer:
        store(best, CHOICE.least, min(off, least))
        store(best, CHOICE.away, away)
        for k in range(SLOT.size + values):
            store(best, CHOICE.size + k, load(slot, k))


@part
def write_closest(chain, values, problem, books, notes, starts, count, given, start, pose, report, status):
    """Write the closest pose to a goal, its report, and the status REACHED if it is within tolerance."""
    best, taken = books.best, 0.0
    found = beyond(best, CHOICE.size)
    store(best, CHOICE.least, math.inf)
    store(best, CHOICE.away, math.inf)
    same = SAME * load(chain.settings, SETTINGS.arm)
    for k in range(count):
        slot = load(notes.tasks, k)
        if slot // starts == problem:
            keep_closest(chain.limits, values, same, given, start, slot_at(books, values, slot), best)
    for k in range(starts * problem, starts * (problem + 1)):
        taken += load(slot_at(books, values, k), SLOT.steps)
    p, r = load(found, SLOT.position), load(found, SLOT.rotation)
    store(report, REPORT.position_error, p)
    store(report, REPORT.rotation_error, r)
    store(report, REPORT.steps, load(report, REPORT.steps) + taken)
    if load(report, REPORT.starts) == 0.0:  # it was not searched for
        store(report, REPORT.starts, np.float64(starts))
    for value in range(values):
        store(pose, value, load(found, SLOT.size + value))
    if given:
        turn_back(chain.limits, values, start, pose)
    if p <= load(chain.settings, SETTINGS.near) and r <= load(chain.settings, SETTINGS.aligned):
        store(status, 0, REACHED)


@part
def take_goals(chain, targets, status, count, at, books, problems):
    """Read the next missed goals, from `at` on; return how many there are, and where to continue."""
    found = 0
    while at < count and found < GOALS:
        if load(status, at) == CLOSEST or load(status, at) == BEYOND:
            goal = beyond(books.goals, TRANSFORM.size * found)
            read_goal(chain.numbers, load(chain.settings, SETTINGS.spin), targets, 16 * at, goal)
            store(problems, found, at)
            found += 1
        at += 1
    return found, at


@kernel("i8[] f8[] f4[] f8[,] f8[] f8[] i8[] f8[,] f4[,] f8[] i8[] f8[] f8[] i8[]", nogil=True)
def closest_many(
    codes, numbers, rough, table, targets, given, stages, memory, rough_memory, books, notes, poses, report, status
):
    """Bring the poses (m * values,) of missed targets (m * 16,) as close as possible.

    `poses`, `report` and `status` hold the results of `search_many` and are overwritten; goals that are reached after
    all are marked so. `given` is as there. `stages` holds a STAGE each: how many poses of each goal continue, and how
    many steps they may take. All but the last stage run in single precision, with the numbers `rough`. `closest_room`
    returns the sizes of the workspace.
    """
    rows, count, values = codes.size // CODE.size, status.size, poses.size // status.size
    chain, quick = chain_of(cells(codes), cells(numbers), values), chain_of(cells(codes), cells(rough), values)
    sizes = newton_sizes(rows, values, 1)
    ranks, scores = divided(cells(memory), sizes).ranks, divided(flat(memory), newton_sizes(rows, values, WIDTH)).ranks
    tables = Tables(cells(table), beyond(flat(table), FRAME.size * FRAMES), ranks, scores)
    starts, at = load(cells(stages), STAGE.kept), 0
    own, slips = divided(cells(books), book_sizes(rows, values, starts)), divided(cells(notes), note_sizes(starts))
    any_given = given.size > 0
    while at < count:
        found, at = take_goals(chain, cells(targets), cells(status), count, at, own, slips.problems)
        for k in range(found):
            problem = load(slips.problems, k)
            goal, slots = beyond(own.goals, TRANSFORM.size * k), slot_at(own, values, starts * k)
            start = beyond(cells(given), values * problem if any_given else 0)
            pose = beyond(cells(poses), values * problem)
            put_starts(chain, tables, rows, values, starts, any_given, start, pose, goal, own.room, slots)
        tasks = 0
        for stage in range(0, stages.size, STAGE.size):
            tasks, kept, most = 0, load(cells(stages), stage + STAGE.kept), load(cells(stages), stage + STAGE.steps)
            last = stage + STAGE.size == stages.size
            for k in range(found):
                tasks = choose(values, own, k, starts, kept, any_given, last, slips.tasks, tasks)
            if last:
                descend(chain, rows, values, memory, own, slips, starts, tasks, most, True)
            else:
                descend(quick, rows, values, rough_memory, own, slips, starts, tasks, most, False)
        for k in range(found):
            problem = load(slips.problems, k)
            start = beyond(cells(given), values * problem if any_given else 0)
            pose, line = beyond(cells(poses), values * problem), beyond(cells(report), REPORT.size * problem)
            outcome = beyond(cells(status), problem)
            write_closest(chain, values, k, own, slips, starts, tasks, any_given, start, pose, line, outcome)


@inner
def book_sizes(rows, values, starts):
    """Return the size of each part of the books, in numbers."""
    slot = SLOT.size + values
    return Books(GOALS * TRANSFORM.size, GOALS * starts * slot, CHOICE.size + slot, aim_room(rows, values))


@inner
def note_sizes(starts):
    """Return the size of each part of the notes, in integers."""
    return Notes(LANE.size * MOST_WIDTH, GOALS, GOALS * starts)


def closest_room(rows: int, values: int, starts: int) -> tuple[tuple[int, int], int, int]:
    """Return the shape of `memory` and the sizes of `books` and `notes`."""
    lanes = sum(newton_sizes.py_func(rows, values, 1)) + 2  # two rows for the ranks of the tables
    slot = SLOT.size + values
    books = GOALS * TRANSFORM.size + GOALS * starts * slot + CHOICE.size + slot + aim_room.py_func(rows, values)
    return (lanes, WIDTH), books, sum(note_sizes.py_func(starts))
