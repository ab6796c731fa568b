"""One answer of an arm of seven joints, written where the chain's search writes its own; angles of one joint are tried.

With a start, the held joint keeps its angle where that gives a pose nearby; else angles further and further away are
tried, and the nearest pose is taken. Without a start, angles are tried in an order that serves most goals soonest. A
goal that none of them serves is left to a search. `seven` has the geometry.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT, SETTINGS, chain_of
from ..damped import nearest_copy
from ..joint_step import sine_cosine, vector
from ..lanes import beyond, bits, cells, divided, flat, load, store
from ..search_many import INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import read_goal
from .seven import ARM, GOAL, HELD, JOINTS, LIMIT, NONE, misses, put_best, put_goal, put_values

WIDTH = 8
NEARBY = 0.1  # summed half squares of angles by which poses are near enough to a start to keep the held joint [rad²]
BESIDE = 16  # angles beside the one that is nearest to having a pose, where none has
EVERY = (1 << WIDTH) - 1
AROUND, FINER = 32, 2  # angles around a start's; rounds of going back towards it, by ninths each time
Lanes = namedtuple("Lanes", "goal prefer pairs values angle score margin position rotation far")


@inner
def lane_sizes(width):
    """Return how much each part of the room takes: in lanes where the width is 1, else in numbers."""
    pairs = 2 * JOINTS * width
    return Lanes(GOAL.size * width, pairs, pairs, JOINTS * width, width, width, width, width, width, width)


@inner
def place_of(arm, joint):
    """Return which of the chain's values a joint of the family has."""
    return joint if load(arm, ARM.backwards) == 0.0 else JOINTS - 1 - joint


@inner
def bounds_of(arm, joint):
    """Return the lower and the upper limit of a joint."""
    at = ARM.limits + LIMIT.size * joint
    return load(arm, at + LIMIT.lower), load(arm, at + LIMIT.upper)


@inner
def middle_of(arm, joint):
    """Return the middle of a joint's range."""
    return load(arm, ARM.limits + LIMIT.size * joint + LIMIT.middle)


@part
def evaluate(arm, lanes):
    """Find the best pose for the angle in each lane; leave its pairs and its score where it is better than the last.

    Return which lanes have a better one.
    """
    s, c = sine_cosine(load(lanes.angle, 0))
    before = load(lanes.score, 0)
    score, margin = put_best(arm, lanes.goal, (c, s), lanes.prefer, before, lanes.pairs)
    store(lanes.score, 0, score)
    store(lanes.margin, 0, margin)
    return bits(score > before)


@part
def finish(arm, settings, lanes):
    """Make angles of the pairs in all lanes and judge them; return which reach their goals."""
    put_values(arm, lanes.pairs, lanes.values)
    p, r = misses(arm, lanes.goal, lanes.values)
    store(lanes.position, 0, p)
    store(lanes.rotation, 0, r)
    return bits((p <= load(settings, SETTINGS.near)) & (r <= load(settings, SETTINGS.aligned)))


@part
def best_lane(found, score):
    """Return the lane with the best score of those that have a pose."""
    best, most = 0, -math.inf
    for lane in range(WIDTH):
        if (found >> lane) & 1 and load(score, lane) > most:
            best, most = lane, load(score, lane)
    return best


@inner
def angle_around(arm, home, attempt):
    """Return the next angle around a start's: on both sides, further and further away, as squares grow."""
    lower, upper = bounds_of(arm, HELD)
    share = ((attempt + 1) // 2) * (2.0 / AROUND)
    away = min(upper - lower, 2.0 * math.pi) * share * share
    return brought_within(arm, home + away if attempt % 2 else home - away)


@inner
def angle_beside(arm, angle, number, tried):
    """Return an angle on either side of another, nearer than the next of as many as were tried over the range."""
    lower, upper = bounds_of(arm, HELD)
    away = min(upper - lower, 2.0 * math.pi) / tried * (number // 2 + 1) * (2.0 / (BESIDE + 2))
    return brought_within(arm, angle + away if number % 2 else angle - away)


@inner
def brought_within(arm, angle):
    """Return an angle of the held joint within its limits."""
    lower, upper = bounds_of(arm, HELD)
    return min(max(angle, lower), upper)


@inner
def nothing_nearer(arm, home, attempt, score):
    """Return whether a pose is near enough to a start, or none from an attempt on nearer: the held joint is too far."""
    _, cosine = sine_cosine(angle_around(arm, home, attempt) - home)
    return score > JOINTS - NEARBY or JOINTS - 1.0 + cosine <= score


@part
def search_near(arm, lanes, flow, home):
    """Find the pose nearest to a start among angles around its own; leave it in the first lane, or return False.

    Angles lie on both sides, further and further away, until none can give a nearer pose. From the best of them it goes
    back towards the start as long as poses get nearer.
    """
    angle, score = home, NONE
    for attempt in range(0, AROUND, WIDTH):
        for lane in range(WIDTH):
            store(flow.angle, lane, angle_around(arm, home, attempt + lane))
        store(lanes.score, 0, score)
        found = evaluate(arm, lanes)
        if attempt == 0 and found & 1 and nothing_nearer(arm, home, 1, load(flow.score, 0)):
            return True
        if found:
            lane = best_lane(found, flow.score)
            angle, score = load(flow.angle, lane), load(flow.score, lane)
        if score > NONE:
            break
    if not score > NONE:
        return False
    way = home - angle
    for _ in range(FINER):
        way /= WIDTH + 1
        for lane in range(WIDTH):
            store(flow.angle, lane, angle + way * (WIDTH - lane))
        store(lanes.score, 0, score)
        found = evaluate(arm, lanes)
        if found:
            lane = best_lane(found, flow.score)
            angle, score = load(flow.angle, lane), load(flow.score, lane)
    store(lanes.angle, 0, angle)
    store(lanes.score, 0, NONE)
    evaluate(arm, lanes)
    return True


@part
def search_anywhere(arm, tries, count, lanes, flow):
    """Try angles in their order, eight at a time; return the lane of the best pose of the first eight, or -1.

    Where none has a pose, the one nearest to one has neighbours, closer to it than the others are.
    """
    angle, margin = 0.0, NONE
    for row in range(count + BESIDE // WIDTH):
        if row < count:
            store(lanes.angle, 0, load(tries, row))
        else:
            for lane in range(WIDTH):
                store(flow.angle, lane, angle_beside(arm, angle, WIDTH * (row - count) + lane, WIDTH * count))
        store(lanes.score, 0, NONE)
        found = evaluate(arm, lanes)
        if found:
            return best_lane(found, flow.score)
        lane = best_lane(EVERY, flow.margin)
        if row < count and load(flow.margin, lane) > margin:
            angle, margin = load(flow.angle, lane), load(flow.margin, lane)
    return -1


@part
def write_answer(arm, flow, lane, given, start, pose, report):
    """Write the values of a lane and its report; angles at the copy nearest to a start where there is one."""
    for joint in range(JOINTS):
        place, value = place_of(arm, joint), load(flow.values, WIDTH * joint + lane)
        if given:
            lower, upper = bounds_of(arm, joint)
            value = nearest_copy(value, load(start, place), lower, upper)
        store(pose, place, value)
    store(report, REPORT.position_error, load(flow.position, lane))
    store(report, REPORT.rotation_error, load(flow.rotation, lane))
    store(report, REPORT.starts, 0.0)
    store(report, REPORT.steps, 0.0)


@kernel("i8[] f8[] f8[,] f8[] f8[,] f8[,] b1 f8[] -> i8")
def seven_one(codes, arm, tries, packed, room, target, given, out):
    """Write the answer to a target (4, 4) into `out`, as `search_one` does; return REACHED, UNSOLVED or INVALID.

    UNSOLVED leaves it to a search. `tries` are angles of the held joint, eight a row; `packed` are settings, limits and
    numbers of the chain; `room` is as `answer_room` says.
    """
    numbers, aim, cell, tried = cells(arm), flat(target), cells(out), cells(tries)
    lanes, flow = divided(cells(room), lane_sizes(1)), divided(flat(room), lane_sizes(WIDTH))
    to_report, to_start, to_target, _ = answer_places(JOINTS)
    chain = chain_of(cells(codes), cells(packed), JOINTS)
    if not read_goal(chain.numbers, 0.0, aim, 0, flow.pairs):
        return INVALID
    for k in range(16):
        store(cell, to_target + k, load(aim, k))
    for joint in range(JOINTS):
        home = load(cell, to_start + place_of(numbers, joint)) if given else middle_of(numbers, joint)
        if home - home != 0.0:
            return UNSOLVED
        s, c = sine_cosine(home)
        store(lanes.prefer, 2 * joint, c)
        store(lanes.prefer, 2 * joint + 1, s)
    rows = vector(aim, 0), vector(aim, 4), vector(aim, 8)
    put_goal(numbers, rows, (load(aim, 3), load(aim, 7), load(aim, 11)), lanes.goal)
    lane = 0
    if not given or not search_near(numbers, lanes, flow, load(cell, to_start + place_of(numbers, HELD))):
        lane = search_anywhere(numbers, tried, tries.shape[0], lanes, flow)
    if lane < 0 or (finish(numbers, chain.settings, lanes) >> lane) & 1 == 0:
        return UNSOLVED
    write_answer(numbers, flow, lane, given, beyond(cell, to_start), cell, beyond(cell, to_report))
    return REACHED


def answer_room() -> tuple[int, int]:
    """Return the shape of the room to work in."""
    return sum(lane_sizes.py_func(1)), WIDTH
