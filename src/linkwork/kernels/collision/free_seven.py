"""One free pose of a seven-joint arm: all poses at angle after angle of its held joint, until one touches nothing.

Eight angles are in the lanes. Each has up to eight poses; those within limits wait in a queue of eight, which are
checked together: whether they reach the goal, and whether they are free. Without a start the first free pose is taken.
With one, angles lie around the start's, further and further away, and the nearest free pose is taken. The geometry is
in `closed_form.seven`; `free_lanes` checks poses.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT, chain_of
from ..closed_form.seven import (
    ARM,
    HELD,
    JOINTS,
    NONE,
    A,
    B,
    C,
    X,
    Y,
    Z,
    before_held,
    line,
    meet,
    on_orbit,
    put_arc,
    put_goal,
    rated,
    real,
    swung,
    undo,
    wrist,
)
from ..closed_form.seven_answers import (
    TRY,
    WIDTH,
    arc_angle,
    arc_of,
    bounds_of,
    brought_within,
    finish,
    lane_sizes,
    middle_of,
    place_of,
)
from ..damped import nearest_copy
from ..joint_step import sine_cosine, vector
from ..lanes import beyond, bits, cells, divided, flat, load, select, store
from ..layout import Layout
from ..rotations import dot
from ..search_many import INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import read_goal
from .free import free_lanes, free_of, put_base

NEARBY = 0.1  # sum of half squared angles within which a pose is near enough to a start to keep the held joint [rad²]
AROUND, FINER = 32, 2  # number of angles around a start's; rounds of returning towards it, by ninths each
GOLDEN = 0.6180339887498949  # multiples of it, modulo 1, are evenly spread for any number of them
# of a search: number of waiting poses, number that reached the goal; the best free one
NOTES = Layout("filled", "looked", "score", "position", "rotation", ("values", JOINTS))
CANDIDATE = Layout(("pairs", 2 * JOINTS), "score")
LANES = sum(lane_sizes.py_func(1))
Rooms = namedtuple("Rooms", "lanes found notes")
Seven = namedtuple("Seven", "arm settings tries tried most free lanes flow found offered notes")


@inner
def room_sizes(width):
    """Return the sizes of the parts of the workspace: in vectors of lanes if `width` is 1, else in numbers."""
    return Rooms(LANES * width, CANDIDATE.size * width, 2 * width)


@part
def look(seven):
    """Judge the waiting poses, and keep the free one with the highest score if it is higher than the last."""
    arm, flow, notes = seven.arm, seven.flow, seven.notes
    waiting = (1 << int(load(notes, NOTES.filled))) - 1
    if not waiting:
        return
    store(notes, NOTES.filled, 0.0)
    good = finish(arm, seven.settings, seven.lanes) & waiting
    if not good:
        return
    for joint in range(JOINTS):
        store(seven.free.pose, load(seven.free.places, place_of(arm, joint)), load(seven.lanes.values, joint))
    left = free_lanes(seven.free, good)
    for lane in range(WIDTH):
        if (good >> lane) & 1:
            store(notes, NOTES.looked, load(notes, NOTES.looked) + 1.0)
        if (left >> lane) & 1 and load(flow.score, lane) > load(notes, NOTES.score):
            store(notes, NOTES.score, load(flow.score, lane))
            store(notes, NOTES.position, load(flow.position, lane))
            store(notes, NOTES.rotation, load(flow.rotation, lane))
            for joint in range(JOINTS):
                store(notes, NOTES.values + joint, load(flow.values, WIDTH * joint + lane))


@inner
def offer(seven, pairs, score, valid):
    """Put the poses of some lanes, given as bits, into the queue; it is judged whenever it is full."""
    for joint in range(JOINTS):
        store(seven.found, CANDIDATE.pairs + 2 * joint, pairs[joint][0])
        store(seven.found, CANDIDATE.pairs + 2 * joint + 1, pairs[joint][1])
    store(seven.found, CANDIDATE.score, score)
    for lane in range(WIDTH):
        if (valid >> lane) & 1:
            slot = int(load(seven.notes, NOTES.filled))
            for k in range(2 * JOINTS):
                store(seven.flow.pairs, WIDTH * k + slot, load(seven.offered, WIDTH * (CANDIDATE.pairs + k) + lane))
            store(seven.flow.score, slot, load(seven.offered, WIDTH * CANDIDATE.score + lane))
            store(seven.notes, NOTES.filled, slot + 1.0)
            if slot + 1 == WIDTH:
                look(seven)


@part
def offer_wrists(seven, held, p, axis, beside, c, side, rate):
    """Offer the two poses for one c and one side of a and b that are within limits and better than the best so far."""
    arm, prefer = seven.arm, seven.lanes.prefer
    a, b, square = meet(arm, p, on_orbit(arm, ARM.reach, c), side)
    rate = rated(arm, prefer, B, b, rated(arm, prefer, A, a, rate))
    rate = rate[0], real(square * load(arm, ARM.per_extent), rate[1])
    if bits(rate[1] >= 0.0) == 0:
        return
    axis, beside = undo(arm, a, b, c, axis), undo(arm, a, b, c, beside)
    between = dot(line(arm, X), axis)
    for flip in (1.0, -1.0):
        y, turning = swung(arm, ARM.between, between, flip)
        x, z = wrist(arm, axis, beside, y)
        score, margin = rated(arm, prefer, Z, z, rated(arm, prefer, Y, y, rated(arm, prefer, X, x, rate)))
        score = select(real(turning, margin) >= 0.0, score, NONE)
        valid = bits(score > load(seven.notes, NOTES.score))
        if valid:
            offer(seven, (held, a, b, c, x, y, z), score, valid)


@part
def offer_all(seven):
    """Offer all poses with the held joint at the angles in the lanes, if they are better than the best so far."""
    arm, prefer = seven.arm, seven.lanes.prefer
    sine, cosine = sine_cosine(load(seven.lanes.angle, 0))
    held = cosine, sine
    p, axis, beside = before_held(arm, seven.lanes.goal, held)
    _, reached = swung(arm, ARM.distance, dot(p, p), 1.0)
    rate = rated(arm, prefer, HELD, held, (cosine * 0.0, real(reached, cosine * 0.0 + 1.0)))
    for elbow in (1.0, -1.0):
        c, _ = swung(arm, ARM.distance, dot(p, p), elbow)
        here = rated(arm, prefer, C, c, rate)
        if bits(here[1] >= 0.0) != 0:
            for side in (1.0, -1.0):
                offer_wrists(seven, held, p, axis, beside, c, side, here)


@inner
def found_any(seven):
    """Return whether a free pose was found."""
    return load(seven.notes, NOTES.score) > NONE


@inner
def angle_around(arm, home, attempt):
    """Return the next angle around a start's: on both sides, further and further away, quadratically."""
    lower, upper = bounds_of(arm, HELD)
    share = ((attempt + 1) // 2) * (2.0 / AROUND)
    away = min(upper - lower, 2.0 * math.pi) * share * share
    return brought_within(arm, home + away if attempt % 2 else home - away)


@inner
def nothing_nearer(arm, home, attempt, score):
    """Return whether a pose is near enough to a start, or no later attempt can be nearer: the held joint is too far."""
    _, cosine = sine_cosine(angle_around(arm, home, attempt) - home)
    return score > JOINTS - NEARBY or JOINTS - 1.0 + cosine <= score


@part
def search_near(seven, home):
    """Find the nearest free pose to a start among angles around its own; return whether there is one.

    Angles lie on both sides, further and further away, until none can give a nearer pose. From the best of them the
    search returns towards the start as long as poses get nearer.
    """
    arm, flow, notes = seven.arm, seven.flow, seven.notes
    for attempt in range(0, AROUND, WIDTH):
        for lane in range(WIDTH):
            store(flow.angle, lane, angle_around(arm, home, attempt + lane))
        offer_all(seven)
        look(seven)
        if found_any(seven) and nothing_nearer(arm, home, attempt + WIDTH, load(notes, NOTES.score)):
            break
    if not found_any(seven):
        return False
    angle = load(notes, NOTES.values + HELD)
    way = home - angle
    for _ in range(FINER):
        way /= WIDTH + 1
        for lane in range(WIDTH):
            store(flow.angle, lane, angle + way * (WIDTH - lane))
        offer_all(seven)
        look(seven)
        angle = load(notes, NOTES.values + HELD)
    return True


@inner
def spread_angle(seven, number, lane):
    """Return the angle of a number: they are evenly spread over both arcs where c can reach, for any number of them."""
    share = GOLDEN * (number // 2)
    arc = arc_of(seven.flow.arc, lane, WIDTH)
    return arc_angle(seven.arm, arc, share - math.floor(share), 1.0 if number % 2 else -1.0)


@part
def search_anywhere(seven):
    """Find a free pose among angles in the order of the tries, then among more and more; return whether there is one.

    All poses of eight angles are judged before one is taken.
    """
    arm, lanes, tries = seven.arm, seven.lanes, seven.tries
    put_arc(arm, lanes.goal, lanes.arc)
    for row in range(seven.most):
        if row < seven.tried:
            share, side = load(tries, TRY.size * row + TRY.share), load(tries, TRY.size * row + TRY.side)
            store(lanes.angle, 0, arc_angle(arm, arc_of(lanes.arc, 0, 1), share, side))
        else:
            for lane in range(WIDTH):
                store(seven.flow.angle, lane, spread_angle(seven, WIDTH * row + lane, lane))
        offer_all(seven)
        if load(seven.notes, NOTES.filled) > 0.5 * WIDTH:
            look(seven)
        if found_any(seven):
            return True
    look(seven)
    return found_any(seven)


@part
def answer(seven, aim, given, start, pose, report):
    """Search for a target (16,) and write the pose and its report; return REACHED, or UNSOLVED without a free pose."""
    arm, lanes, notes = seven.arm, seven.lanes, seven.notes
    for joint in range(JOINTS):
        home = load(start, place_of(arm, joint)) if given else middle_of(arm, joint)
        s, c = sine_cosine(home)
        store(lanes.prefer, 2 * joint, c)
        store(lanes.prefer, 2 * joint + 1, s)
    rows = vector(aim, 0), vector(aim, 4), vector(aim, 8)
    put_goal(arm, rows, (load(aim, 3), load(aim, 7), load(aim, 11)), lanes.goal)
    store(notes, NOTES.filled, 0.0)
    store(notes, NOTES.looked, 0.0)
    store(notes, NOTES.score, NONE)
    found = False
    if given:
        found = search_near(seven, load(start, place_of(arm, HELD)))
    if not found:
        found = search_anywhere(seven)
    store(report, REPORT.starts, load(notes, NOTES.looked))
    store(report, REPORT.steps, 0.0)
    if not found:
        return UNSOLVED
    for joint in range(JOINTS):
        place, value = place_of(arm, joint), load(notes, NOTES.values + joint)
        if given:
            lower, upper = bounds_of(arm, joint)
            value = nearest_copy(value, load(start, place), lower, upper)
        store(pose, place, value)
    store(report, REPORT.position_error, load(notes, NOTES.position))
    store(report, REPORT.rotation_error, load(notes, NOTES.rotation))
    return REACHED


@inner
def seven_of(arm, tries, most, chain, free, room):
    """Return the memory of a search; `room` has the shape `seven_room`."""
    one, many = divided(cells(room), room_sizes(1)), divided(flat(room), room_sizes(WIDTH))
    lanes, flow = divided(one.lanes, lane_sizes(1)), divided(many.lanes, lane_sizes(WIDTH))
    known = cells(arm), chain.settings, cells(tries), tries.shape[0] // TRY.size, most // WIDTH
    return Seven(*known, free, lanes, flow, one.found, many.found, many.notes)


@kernel("i8[] f8[] f8[,] f8[] i8[] f8[] f8 i8 i8[] f8[] f8[,] f8[,] f8[,] b1 f8[] -> i8")
def free_seven_one(
    codes, arm, tries, packed, scene, shapes, margin, most, places, base, room, check_room, target, given, out
):
    """Write a free answer to a target (4, 4) into `out`, as `seven_answers.seven_one` does; return the status.

    UNSOLVED means that none of `most` angles has a free pose; the report then holds the number of poses that reach the
    goal. `scene` and `shapes` are those of `free.free_of`, `places` the indices of the chain's values in a pose, and
    `base` a pose with all other values. `room` has the shape `seven_room`, `check_room` the shape `free.free_room`.
    """
    to_report, to_start, to_target, _ = answer_places(JOINTS)
    chain, aim, cell = chain_of(cells(codes), cells(packed), JOINTS), flat(target), cells(out)
    free = free_of(scene, shapes, margin, places, check_room)
    seven = seven_of(arm, tries, most, chain, free, room)
    if not read_goal(chain.numbers, 0.0, aim, 0, seven.flow.pairs):
        return INVALID
    for k in range(16):
        store(cell, to_target + k, load(aim, k))
    for joint in range(JOINTS if given else 0):
        if load(cell, to_start + joint) - load(cell, to_start + joint) != 0.0:
            return UNSOLVED
    put_base(free, base, 0)
    return answer(seven, aim, given, beyond(cell, to_start), cell, beyond(cell, to_report))


@kernel(
    "i8[] f8[] f8[,] f8[] i8[] f8[] f8 i8 i8[] f8[] f8[,] f8[,] f8[] f8[] f8[] f8[] i8[]",
    nogil=True,
)
def free_seven_many(
    codes, arm, tries, packed, scene, shapes, margin, most, places, bases, room, check_room, targets, given, poses,
    report, status,
):  # fmt: skip
    """Do the same for targets (m * 16,) whose status (m,) is UNSOLVED: write poses (m * 7,), reports and status.

    `given` holds a start for each, or is empty; `bases` the whole pose of each, or one for all.
    """
    chain, aims = chain_of(cells(codes), cells(packed), JOINTS), cells(targets)
    free = free_of(scene, shapes, margin, places, check_room)
    seven, any_given = seven_of(arm, tries, most, chain, free, room), given.size > 0
    put_base(free, bases, 0)
    for problem in range(status.size):
        if load(cells(status), problem) != UNSOLVED:
            continue
        if not read_goal(chain.numbers, 0.0, aims, 16 * problem, seven.flow.pairs):
            store(cells(status), problem, INVALID)
            continue
        if bases.size > free.values:
            put_base(free, bases, problem)
        start = beyond(cells(given), JOINTS * problem if any_given else 0)
        pose, line_of = beyond(cells(poses), JOINTS * problem), beyond(cells(report), REPORT.size * problem)
        store(cells(status), problem, answer(seven, beyond(aims, 16 * problem), any_given, start, pose, line_of))


def seven_room() -> tuple[int, int]:
    """Return the shape of the workspace of a search."""
    return sum(room_sizes.py_func(1)), WIDTH
