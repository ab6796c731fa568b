"""Answers of an arm of seven joints for many goals: goals stand in lanes, and each tries one angle after another.

A lane whose goal is answered, or given up, takes the next goal at once. Goals are read eight at a time, and answers are
judged eight at a time. With starts, the held joint keeps its angle where it can, or takes the nearest that serves. A
goal next to its start, which has no pose near enough with that angle, is left to a search: that goes there directly.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT
from ..joint_step import sine_cosine
from ..lanes import beyond, bits, cells, divided, fill, flat, gather, load, select, store
from ..layout import Layout
from ..rotations import cross, dot
from ..search_many import CLOSEST, INVALID, REACHED, UNSOLVED
from ..starts import RIGID
from .seven import ARM, GOAL, HELD, JOINTS, NONE, misses, put_goal
from .seven_answers import (
    AROUND,
    BESIDE,
    WIDTH,
    angle_beside,
    bounds_of,
    brought_within,
    evaluate,
    finish,
    lane_sizes,
    middle_of,
    place_of,
    write_answer,
)

EDGE = -0.2  # a goal whose margins are all below it has no pose; nearer ones are left to a search
FIRST_ANGLES = 2  # that all goals without a start try before those that are left are seen to one by one
NEAR = 0.05  # squared error of a start, shares of the arm and [rad²], that is next to its goal
NEAR_ENOUGH = JOINTS - 1.0e-3  # the score of a pose that is as near to a start as a search would find one
LANE = Layout("problem", "attempt")  # of a lane: its goal, -1 for none; how many angles it has tried
BOOK = Layout(("lanes", LANE.size * WIDTH), ("done", WIDTH), "filled", "next", "slot", "end")  # of the whole batch
Rooms = namedtuple("Rooms", "coming work done best hope")
Batch = namedtuple("Batch", "arm tries tried count targets given any_given status")


@inner
def room_sizes(width):
    """Return how much each part of the room takes: goals to come, at work and done; then, by lane, what is noted.

    The angle that is nearest to having a pose, and its margin.
    """
    size = (GOAL.size + 5 * JOINTS + 6) * width  # of `lane_sizes`
    return Rooms(size, size, size, width, width)


@part
def read_goals(batch, first, coming):
    """Read eight goals and what is preferred for them into the lanes; return which are rigid transforms, as bits."""
    arm, targets = batch.arm, batch.targets
    at = 16 * first
    one = gather(targets, at, 16), gather(targets, at + 1, 16), gather(targets, at + 2, 16)
    two = gather(targets, at + 4, 16), gather(targets, at + 5, 16), gather(targets, at + 6, 16)
    three = gather(targets, at + 8, 16), gather(targets, at + 9, 16), gather(targets, at + 10, 16)
    p = gather(targets, at + 3, 16), gather(targets, at + 7, 16), gather(targets, at + 11, 16)
    put_goal(arm, (one, two, three), p, coming.goal)
    last = gather(targets, at + 12, 16), gather(targets, at + 13, 16), gather(targets, at + 14, 16)
    flaw = dot(one, two) * dot(one, two) + dot(two, three) * dot(two, three) + dot(three, one) * dot(three, one)
    for row in (one, two, three):
        off = dot(row, row) - 1.0
        flaw = flaw + off * off
    corner = gather(targets, at + 15, 16) - 1.0
    flaw = flaw + dot(last, last) + corner * corner + ((p[0] - p[0]) + (p[1] - p[1]) + (p[2] - p[2]))
    for joint in range(JOINTS):
        home = fill(coming.goal, middle_of(arm, joint))
        if batch.any_given:
            home = gather(batch.given, JOINTS * first + place_of(arm, joint), JOINTS)
            flaw = flaw + (home - home)
        s, c = sine_cosine(home)
        store(coming.prefer, 2 * joint, c)
        store(coming.prefer, 2 * joint + 1, s)
        store(coming.values, joint, home)
    far = fill(coming.goal, 1.0)
    if batch.any_given:
        p, r = misses(arm, coming.goal, coming.values)
        far = select((p * load(arm, ARM.per_extent) < NEAR) & (r < NEAR), 0.0, 1.0)
    store(coming.far, 0, far)
    return bits((flaw < RIGID) & (dot(one, cross(two, three)) > 0.0))


@inner
def any_left(status, begin):
    """Return whether one of eight goals is still to be solved."""
    left = False
    for lane in range(WIDTH):
        left |= load(status, begin + lane) == UNSOLVED
    return left


@part
def next_goal(batch, coming, flow, book):
    """Return the slot and the number of the next goal that is to be solved; the number is -1 where there is none."""
    while True:
        slot = load(book, BOOK.slot)
        if slot == WIDTH:
            first = load(book, BOOK.next)
            if first >= batch.count:
                return 0, -1
            begin = min(first, batch.count - WIDTH)  # the last ones are read with some before them
            store(book, BOOK.next, first + WIDTH)
            if not any_left(batch.status, begin):
                continue
            good = read_goals(batch, begin, coming)
            for lane in range(WIDTH):
                if not (good >> lane) & 1 and load(batch.status, begin + lane) == UNSOLVED:
                    store(batch.status, begin + lane, INVALID)
            store(book, BOOK.slot, first - begin)
            store(book, BOOK.end, begin)
            continue
        store(book, BOOK.slot, slot + 1)
        problem = load(book, BOOK.end) + slot
        if load(batch.status, problem) == UNSOLVED and load(flow.far, slot) > 0.5:
            return slot, problem


@inner
def copy_goal(source, slot, target, lane):
    """Copy a goal and what is preferred for it from one lane to another."""
    for k in range(GOAL.size):
        store(target.goal, WIDTH * k + lane, load(source.goal, WIDTH * k + slot))
    for k in range(2 * JOINTS):
        store(target.prefer, WIDTH * k + lane, load(source.prefer, WIDTH * k + slot))


@inner
def home_of(batch, problem):
    """Return the angle of the held joint in the start of a goal."""
    return load(batch.given, JOINTS * problem + place_of(batch.arm, HELD))


@inner
def angle_tried(batch, problem, attempt, tries):
    """Return the next angle to try: around a start's, then in the order of the tries."""
    if not batch.any_given:
        return load(tries, attempt)
    if attempt >= AROUND:
        return load(tries, attempt - AROUND)
    lower, upper = bounds_of(batch.arm, HELD)
    away = min(upper - lower, 2.0 * math.pi) * ((attempt + 1) // 2 * 2.0 / AROUND)
    home = home_of(batch, problem)
    return brought_within(batch.arm, home + away if attempt % 2 else home - away)


@part
def take_goal(batch, coming, work, hope, book, lane):
    """Give a lane the next goal; return whether there is one."""
    slot, problem = next_goal(batch, coming[0], coming[1], book)
    own = beyond(book, BOOK.lanes + LANE.size * lane)
    store(own, LANE.problem, problem)
    first = 1 if batch.any_given else FIRST_ANGLES
    store(own, LANE.attempt, first)
    if problem < 0:
        return False
    copy_goal(coming[1], slot, work, lane)
    store(work.angle, lane, angle_tried(batch, problem, first, batch.tries))
    store(work.score, lane, NONE)
    store(hope, lane, NONE)
    return True


@inner
def next_angle(batch, work, notes, book, lane, found, most):
    """Choose the next angle of a lane; return 0 to go on, 1 where its answer is there, -1 where it is given up."""
    if found:
        return 1
    own = beyond(book, BOOK.lanes + LANE.size * lane)
    problem, attempt = load(own, LANE.problem), load(own, LANE.attempt) + 1
    store(own, LANE.attempt, attempt)
    if load(work.margin, lane) > load(notes.hope, lane) and attempt <= most - BESIDE:
        store(notes.hope, lane, load(work.margin, lane))
        store(notes.best, lane, load(work.angle, lane))
    if attempt == most:
        if load(notes.hope, lane) < EDGE:
            store(batch.status, problem, CLOSEST)
        return -1
    if attempt < most - BESIDE:
        angle = angle_tried(batch, problem, attempt, batch.tries)
    else:
        angle = angle_beside(batch.arm, load(notes.best, lane), attempt - most + BESIDE, batch.tried)
    store(work.angle, lane, angle)
    return 0


@inner
def put_aside(work, done, lane, book):
    """Copy a lane's answer to those that are done; return whether these are eight now."""
    slot, own = load(book, BOOK.filled), beyond(book, BOOK.lanes + LANE.size * lane)
    for k in range(GOAL.size):
        store(done.goal, WIDTH * k + slot, load(work.goal, WIDTH * k + lane))
    for k in range(2 * JOINTS):
        store(done.pairs, WIDTH * k + slot, load(work.pairs, WIDTH * k + lane))
    store(book, BOOK.done + slot, load(own, LANE.problem))
    store(book, BOOK.filled, slot + 1)
    return slot + 1 == WIDTH


@part
def write_done(batch, settings, lanes, flow, book, poses, report):
    """Judge the answers that are done and write those that hold."""
    good = finish(batch.arm, settings, lanes)
    for slot in range(load(book, BOOK.filled)):
        problem = load(book, BOOK.done + slot)
        if (good >> slot) & 1:
            write_problem(batch, flow, slot, problem, poses, report)
    store(book, BOOK.filled, 0)


@part
def answer_first(batch, settings, lanes, flow, poses, report):
    """Answer all goals that the first angles serve, eight at a time where they stand: most of them, and quickly."""
    for first in range(0, batch.count, WIDTH):
        begin = min(first, batch.count - WIDTH)
        good = read_goals(batch, begin, lanes)
        store(lanes.score, 0, NONE)
        for attempt in range(1 if batch.any_given else min(FIRST_ANGLES, batch.tried)):
            for lane in range(WIDTH):
                store(flow.angle, lane, angle_tried(batch, begin + lane, attempt, batch.tries))
            evaluate(batch.arm, lanes)
        least = select(load(lanes.far, 0) > 0.5, 0.5 * NONE, NEAR_ENOUGH)
        good &= bits(load(lanes.score, 0) > least) & finish(batch.arm, settings, lanes)
        for lane in range(WIDTH):
            problem = begin + lane
            if (good >> lane) & 1 and load(batch.status, problem) == UNSOLVED:
                write_problem(batch, flow, lane, problem, poses, report)


@inner
def write_problem(batch, flow, lane, problem, poses, report):
    """Write the answer of a lane as that of a goal."""
    start = beyond(batch.given, JOINTS * problem if batch.any_given else 0)
    pose, line = beyond(poses, JOINTS * problem), beyond(report, REPORT.size * problem)
    write_answer(batch.arm, flow, lane, batch.any_given, start, pose, line)
    store(batch.status, problem, REACHED)


@kernel("f8[] f8[] f8[] f8[,] i8[] f8[] f8[] f8[] f8[] i8[]", nogil=True)
def seven_many(arm, tries, settings, room, book, targets, given, poses, report, status):
    """Write the answers to targets (m * 16,) whose status (m,) is UNSOLVED: poses (m * 7,), reports and status.

    Those that are left to a search stay UNSOLVED. There are at least eight targets. `given` holds a start for each, or
    nothing; `tries` are angles of the held joint in their order; `settings` are those of the search; `room` and `book`
    are as `batch_room` says.
    """
    memory = cells(book)
    parts, floats = divided(cells(room), room_sizes(1)), divided(flat(room), room_sizes(WIDTH))
    one, eight = lane_sizes(1), lane_sizes(WIDTH)
    coming = divided(parts.coming, one), divided(floats.coming, eight)
    lanes, work = divided(parts.work, one), divided(floats.work, eight)
    full, done = divided(parts.done, one), divided(floats.done, eight)
    batch = Batch(
        cells(arm), cells(tries), tries.size, status.size, cells(targets), cells(given), given.size > 0, cells(status)
    )
    most = tries.size + BESIDE + (AROUND if batch.any_given else 0)
    answer_first(batch, cells(settings), lanes, work, cells(poses), cells(report))
    if not batch.any_given and tries.size <= FIRST_ANGLES:
        return
    store(memory, BOOK.filled, 0)
    store(memory, BOOK.next, 0)
    store(memory, BOOK.slot, WIDTH)
    live = 0
    for lane in range(WIDTH):
        store(work.angle, lane, 0.0)
        copy_nothing(work, lane)
        if take_goal(batch, coming, work, floats.hope, memory, lane):
            live += 1
    while live > 0:
        found = evaluate(batch.arm, lanes)
        for lane in range(WIDTH):
            if load(memory, BOOK.lanes + LANE.size * lane + LANE.problem) < 0:
                continue
            then = next_angle(batch, work, floats, memory, lane, (found >> lane) & 1, most)
            if then == 0:
                continue
            if then > 0 and put_aside(work, done, lane, memory):
                write_done(batch, cells(settings), full, done, memory, cells(poses), cells(report))
            if not take_goal(batch, coming, work, floats.hope, memory, lane):
                live -= 1
    write_done(batch, cells(settings), full, done, memory, cells(poses), cells(report))


@part
def copy_nothing(work, lane):
    """Clear a lane, so that one without a goal computes with numbers that are finite."""
    for k in range(GOAL.size):
        store(work.goal, WIDTH * k + lane, 0.0)
    for k in range(2 * JOINTS):
        store(work.prefer, WIDTH * k + lane, 0.0)


def batch_room() -> tuple[tuple[int, int], int]:
    """Return the shape of the room to work in, and the size of the book."""
    return (sum(room_sizes.py_func(1)), WIDTH), BOOK.size
