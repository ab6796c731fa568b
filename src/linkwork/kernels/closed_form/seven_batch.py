"""Answers of a seven-joint arm for many goals: goals are in lanes, and each tries one angle after another.

Goals are read eight at a time, and try their first angles in parallel. The remaining goals go into separate lanes,
where one that is solved, or abandoned, makes room for the next at once; answers are judged eight at a time. With
starts, the held joint begins near its angle there, which solves many goals. A goal next to its start is left to a
search, which goes there directly.
"""

from __future__ import annotations

from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT
from ..damped import TURN
from ..joint_step import sine_cosine
from ..lanes import beyond, bits, cells, divided, fill, flat, gather, load, select, store
from ..layout import Layout
from ..rigid import RIGID, deviation, is_right_handed
from ..search_many import CLOSEST, INVALID, REACHED, UNSOLVED
from .seven import ARC, ARM, GOAL, HELD, JOINTS, KEPT, MADE, NONE, missed_by, put_arc, put_frame, put_goal
from .seven_answers import (
    EASE,
    TRY,
    WIDTH,
    arc_angle,
    arc_of,
    bounds_of,
    brought_within,
    evaluate,
    finish,
    lane_sizes,
    middle_of,
    place_of,
    start_share,
    write_answer,
)

FEW, EDGE = 64, -0.25  # after FEW angles, a goal whose margins are all below EDGE has no pose
CLOSE, LIKELY = 6, -0.06  # and after CLOSE more beside the best of them, one below LIKELY
CLOSER, SURE = 16, -0.02  # and after CLOSER of them, one below SURE
CLOSEST_ANGLES = 32  # after this number, the remaining goals are left to a search
PLAINLY = -0.002  # and one below this if c never reaches, at any angle
FIRST_ANGLES = 1  # that all goals try before the remaining ones are handled one by one
POINT = 1.0e-6  # length of an arc that counts as one angle [rad]
NEAR = 0.05  # squared error of a start, relative to the arm and in rad², that counts as next to its goal
LANE = Layout("problem", "attempt")  # of a lane: its goal, or -1; number of angles tried
BOOK = Layout(("lanes", LANE.size * WIDTH), ("done", WIDTH), "filled", "next", "slot", "end")  # of the whole batch
Rooms = namedtuple("Rooms", "coming work done best hope frame")
Batch = namedtuple("Batch", "arm tries tried count targets given any_given each_given status")


@inner
def room_sizes(width):
    """Return the sizes of the parts of the workspace: goals to come, at work and done; then, by lane, notes.

    The notes are the angle nearest to having a pose, and its margin. Last comes the frame of the preferred pose.
    """
    size = (GOAL.size + ARC.size + 5 * JOINTS + 7) * width  # that of `lane_sizes`
    return Rooms(size, size, size, width, width, MADE.size * width)


@part
def put_starts(batch, first, coming, frame):
    """Write the preferred poses of eight goals and the frames that they produce.

    The preferred pose is the start; one start serves all goals; without starts it is the middle of all ranges. Return
    lanes of zero, NaN for goals whose start is not finite.
    """
    arm, flaw = batch.arm, fill(coming.goal, 0.0)
    for joint in range(JOINTS):
        home = fill(coming.goal, middle_of(arm, joint))
        if batch.any_given:
            if batch.each_given:
                home = gather(batch.given, JOINTS * first + place_of(arm, joint), JOINTS)
            else:
                home = fill(coming.goal, load(batch.given, place_of(arm, joint)))
            flaw = flaw + (home - home)
        s, c = sine_cosine(home)
        store(coming.prefer, 2 * joint, c)
        store(coming.prefer, 2 * joint + 1, s)
        if joint == HELD:
            store(coming.home, 0, home)
    put_frame(arm, coming.prefer, frame)
    return flaw


@part
def read_goals(batch, first, coming, frame):
    """Read eight goals and their preferred poses into lanes; return which are valid (rigid, finite starts), as bits."""
    arm, targets = batch.arm, batch.targets
    at = 16 * first
    one = gather(targets, at, 16), gather(targets, at + 1, 16), gather(targets, at + 2, 16)
    two = gather(targets, at + 4, 16), gather(targets, at + 5, 16), gather(targets, at + 6, 16)
    three = gather(targets, at + 8, 16), gather(targets, at + 9, 16), gather(targets, at + 10, 16)
    p = gather(targets, at + 3, 16), gather(targets, at + 7, 16), gather(targets, at + 11, 16)
    put_goal(arm, (one, two, three), p, coming.goal)
    last = gather(targets, at + 12, 16), gather(targets, at + 13, 16), gather(targets, at + 14, 16)
    flaw = deviation(one, two, three, p, last, gather(targets, at + 15, 16))
    if batch.each_given:
        flaw = flaw + put_starts(batch, first, coming, frame)
    for k in range(2 * JOINTS):  # a goal for which no angle has a pose keeps the preferred one
        store(coming.pairs, k, load(coming.prefer, k))
    far = fill(coming.goal, 1.0)
    if batch.any_given:
        p, r = missed_by(coming.goal, frame)
        far = select((p * load(arm, ARM.per_extent) < NEAR) & (r < NEAR), 0.0, 1.0)
    store(coming.far, 0, far)
    put_arc(arm, coming.goal, coming.arc)
    return bits((flaw < RIGID) & is_right_handed(one, two, three))


@inner
def any_left(status, begin):
    """Return whether one of eight goals is still unsolved."""
    left = False
    for lane in range(WIDTH):
        left |= load(status, begin + lane) == UNSOLVED
    return left


@inner
def try_angle(batch, memory, lane, width, attempt):
    """Return the angle of an attempt for the goal in a lane; for all lanes if the memory holds lanes, of width 1."""
    own, arc = beyond(batch.tries, EASE.size + TRY.size * attempt), arc_of(memory.arc, lane, width)
    share, side = 0.0 * arc[0] + load(own, TRY.share), 0.0 * arc[0] + load(own, TRY.side)
    if batch.any_given:
        least, most = load(batch.tries, EASE.least), load(batch.tries, EASE.most)
        here, lean = start_share(arc, load(memory.home, lane), least, most)
        share, side = share + here * load(own, TRY.from_start), side * lean
    return arc_angle(batch.arm, arc, share, side)


@part
def answer_block(batch, settings, begin, lanes, flow, frame, poses, report):
    """Read eight goals and answer in place those that the first angles solve; mark invalid ones."""
    good = read_goals(batch, begin, lanes, frame)
    for lane in range(WIDTH):
        if not (good >> lane) & 1 and load(batch.status, begin + lane) == UNSOLVED:
            store(batch.status, begin + lane, INVALID)
    store(lanes.score, 0, NONE)
    good &= bits(load(lanes.far, 0) > 0.5)
    if good == 0:
        return
    for attempt in range(min(FIRST_ANGLES, batch.tried)):
        store(lanes.angle, 0, try_angle(batch, lanes, 0, 1, attempt))
        evaluate(batch.arm, lanes)
    good &= finish(batch.arm, settings, lanes) & bits(load(lanes.score, 0) > KEPT)
    for lane in range(WIDTH):
        problem = begin + lane
        if (good >> lane) & 1 and load(batch.status, problem) == UNSOLVED:
            write_problem(batch, flow, lane, problem, REACHED, poses, report)


@part
def next_goal(batch, settings, coming, flow, frame, book, poses, report):
    """Return the slot and the index of the next goal to be solved; the index is -1 if there is none."""
    while True:
        slot = load(book, BOOK.slot)
        if slot == WIDTH:
            first = load(book, BOOK.next)
            if first >= batch.count:
                return 0, -1
            begin = min(first, batch.count - WIDTH)  # the last block overlaps the one before
            store(book, BOOK.next, first + WIDTH)
            if not any_left(batch.status, begin):
                continue
            answer_block(batch, settings, begin, coming, flow, frame, poses, report)
            store(book, BOOK.slot, first - begin)
            store(book, BOOK.end, begin)
            continue
        store(book, BOOK.slot, slot + 1)
        problem = load(book, BOOK.end) + slot
        if load(batch.status, problem) != UNSOLVED or load(flow.far, slot) < 0.5:
            continue
        _, begin, end = arc_of(flow.arc, slot, WIDTH)
        if end - begin > POINT and batch.tried > FIRST_ANGLES:
            return slot, problem
        out = load(flow.margin, slot) < PLAINLY  # out of reach at its best angle, which was tried
        write_problem(batch, flow, slot, problem, CLOSEST if out else UNSOLVED, poses, report)


@inner
def copy_goal(source, slot, target, lane):
    """Copy a goal and its preferred pose from one lane to another."""
    for k in range(GOAL.size + ARC.size + 2 * JOINTS):  # these are adjacent in memory
        store(target.goal, WIDTH * k + lane, load(source.goal, WIDTH * k + slot))
    for k in range(2 * JOINTS):
        store(target.pairs, WIDTH * k + lane, load(source.pairs, WIDTH * k + slot))
    store(target.home, lane, load(source.home, slot))
    store(target.score, lane, load(source.score, slot))


@part
def take_goal(batch, settings, coming, work, notes, book, lane, poses, report):
    """Give a lane the next goal; return whether there is one."""
    slot, problem = next_goal(batch, settings, coming[0], coming[1], coming[2], book, poses, report)
    own = beyond(book, BOOK.lanes + LANE.size * lane)
    store(own, LANE.problem, problem)
    store(own, LANE.attempt, FIRST_ANGLES)
    if problem < 0:
        return False
    copy_goal(coming[1], slot, work, lane)
    store(notes.hope, lane, load(coming[1].margin, slot))
    store(notes.best, lane, load(coming[1].angle, slot))
    store(work.angle, lane, try_angle(batch, work, lane, WIDTH, FIRST_ANGLES))
    return True


@inner
def angle_closer(batch, arc, lane, angle, number):
    """Return an angle beside the one nearest to having a pose: on alternating sides, each two half as far away."""
    _, begin, end = arc_of(arc, lane, WIDTH)
    lower, upper = bounds_of(batch.arm, HELD)
    long = max(end - begin, min(upper - lower, TURN))
    away = 2.0 * long / batch.tried / (2 << (number // 2))
    return brought_within(batch.arm, angle + away if number % 2 else angle - away)


@inner
def next_angle(batch, work, notes, book, lane, found, most):
    """Choose the next angle of a lane; return whether it continues: it is neither solved nor abandoned."""
    if found:
        return False
    own = beyond(book, BOOK.lanes + LANE.size * lane)
    attempt, hope = load(own, LANE.attempt) + 1, load(notes.hope, lane)
    store(own, LANE.attempt, attempt)
    if load(work.margin, lane) > hope:
        hope = load(work.margin, lane)
        store(notes.hope, lane, hope)
        store(notes.best, lane, load(work.angle, lane))
    beside = attempt - batch.tried
    looked = (beside >= CLOSE and hope < LIKELY) or (beside >= CLOSER and hope < SURE)
    hopeless = looked or (attempt >= FEW and hope < EDGE)
    if hopeless or attempt == most:
        if hopeless:
            store(batch.status, load(own, LANE.problem), CLOSEST)
        return False
    if beside < 0:
        angle = try_angle(batch, work, lane, WIDTH, attempt)
    else:
        angle = angle_closer(batch, work.arc, lane, load(notes.best, lane), beside)
    store(work.angle, lane, angle)
    return True


@inner
def put_aside(work, done, lane, book):
    """Copy a lane's answer to the completed ones; return whether these are eight now."""
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
    """Judge the completed answers and write them; for those that fail, the pose nearest to a solution."""
    good = finish(batch.arm, settings, lanes)
    for slot in range(load(book, BOOK.filled)):
        problem = load(book, BOOK.done + slot)
        ending = load(batch.status, problem)
        if ending != CLOSEST and (good >> slot) & 1:
            ending = REACHED
        write_problem(batch, flow, slot, problem, ending, poses, report)
    store(book, BOOK.filled, 0)


@inner
def write_problem(batch, flow, lane, problem, ending, poses, report):
    """Write the answer of a lane as that of a goal, and its status."""
    start = beyond(batch.given, JOINTS * problem if batch.each_given else 0)
    pose, line = beyond(poses, JOINTS * problem), beyond(report, REPORT.size * problem)
    write_answer(batch.arm, flow, lane, batch.any_given, start, pose, line)
    store(batch.status, problem, ending)


@kernel("f8[] f8[] f8[] f8[,] i8[] f8[] f8[] f8[] f8[] i8[]", nogil=True)
def seven_many(arm, tries, settings, room, book, targets, given, poses, report, status):
    """Write the answers to targets (m * 16,) whose status (m,) is UNSOLVED: poses (m * 7,), reports and status.

    Targets left to a search stay UNSOLVED; without starts, their poses are those nearest to a solution. There are at
    least eight targets. `given` holds a start for each, or one finite start for all, or is empty; `tries` are EASE,
    then TRY for each angle; `settings` are those of the search; `batch_room` returns the sizes of `room` and `book`.
    """
    memory, limits, out = cells(book), cells(settings), (cells(poses), cells(report))
    parts, floats = divided(cells(room), room_sizes(1)), divided(flat(room), room_sizes(WIDTH))
    one, eight = lane_sizes(1), lane_sizes(WIDTH)
    coming = divided(parts.coming, one), divided(floats.coming, eight), parts.frame
    lanes, work = divided(parts.work, one), divided(floats.work, eight)
    full, done = divided(parts.done, one), divided(floats.done, eight)
    batch = Batch(
        cells(arm),
        cells(tries),
        tries.size // TRY.size,
        status.size,
        cells(targets),
        cells(given),
        given.size > 0,
        given.size > JOINTS,
        cells(status),
    )
    most = batch.tried + CLOSEST_ANGLES
    if not batch.each_given:
        put_starts(batch, 0, coming[0], parts.frame)
    store(memory, BOOK.filled, 0)
    store(memory, BOOK.next, 0)
    store(memory, BOOK.slot, WIDTH)
    live = 0
    for lane in range(WIDTH):
        store(work.angle, lane, 0.0)
        copy_nothing(work, lane)
        if take_goal(batch, limits, coming, work, floats, memory, lane, *out):
            live += 1
    while live > 0:
        found = evaluate(batch.arm, lanes)
        for lane in range(WIDTH):
            if load(memory, BOOK.lanes + LANE.size * lane + LANE.problem) < 0:
                continue
            if next_angle(batch, work, floats, memory, lane, (found >> lane) & 1, most):
                continue
            if put_aside(work, done, lane, memory):
                write_done(batch, limits, full, done, memory, *out)
            if not take_goal(batch, limits, coming, work, floats, memory, lane, *out):
                live -= 1
    write_done(batch, limits, full, done, memory, *out)


@part
def copy_nothing(work, lane):
    """Clear a lane, so that a lane without a goal computes with finite numbers."""
    for k in range(GOAL.size + ARC.size + 2 * JOINTS):  # these are adjacent in memory
        store(work.goal, WIDTH * k + lane, 0.0)


def batch_room() -> tuple[tuple[int, int], int]:
    """Return the shape of the workspace, and the size of the book."""
    return (sum(room_sizes.py_func(1)), WIDTH), BOOK.size
