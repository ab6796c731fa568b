"""One answer of a seven-joint arm, in the format of the chain search; angles of the held joint are tried.

Angles are tried in an order that solves most goals soonest. A goal that none of them solves is left to a search. The
geometry is in `seven`; answers near a start are found by `seven_nearest`.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel, part
from ..chain_memory import REPORT, SETTINGS, chain_of
from ..damped import nearest_copy
from ..joint_step import sine_cosine, vector
from ..lanes import beyond, bits, cells, divided, fabs, flat, load, select, store
from ..layout import Layout
from ..search_many import INVALID, REACHED, UNSOLVED
from ..search_one import answer_places
from ..starts import read_goal
from .check import nearest_whole
from .seven import (
    ARC,
    ARM,
    FLAT,
    GOAL,
    HELD,
    JOINTS,
    KEPT,
    LIMIT,
    NONE,
    middle_pair,
    misses,
    put_arc,
    put_best,
    put_goal,
    put_values,
)

WIDTH = 8
BESIDE = 16  # number of angles tried beside the one nearest to having a pose, if none has
EVERY = (1 << WIDTH) - 1
TRY = Layout("share", "from_start", "side")  # an angle: share of an arc, relative to a start's if 1; and which arc
EASE = Layout("least", "most")  # before all tries: the shares of an arc between which a start's is clamped
Lanes = namedtuple("Lanes", "goal arc prefer pairs values angle score margin position rotation far home")


@inner
def lane_sizes(width):
    """Return the sizes of the parts of the workspace: in vectors of lanes if `width` is 1, else in numbers."""
    pairs = 2 * JOINTS * width
    return Lanes(
        GOAL.size * width,
        ARC.size * width,
        pairs,
        pairs,
        JOINTS * width,
        width,
        width,
        width,
        width,
        width,
        width,
        width,
    )


@inner
def place_of(arm, joint):
    """Return the index of a family joint in the chain's values."""
    return joint if load(arm, ARM.backwards) == 0.0 else JOINTS - 1 - joint


@inner
def bounds_of(arm, joint):
    """Return the lower and upper limits of a joint."""
    at = ARM.limits + LIMIT.size * joint
    return load(arm, at + LIMIT.lower), load(arm, at + LIMIT.upper)


@inner
def middle_of(arm, joint):
    """Return the middle of a joint's range."""
    return load(arm, ARM.limits + LIMIT.size * joint + LIMIT.middle)


@part
def evaluate(arm, lanes):
    """Find the best pose for the angle in each lane; store its pairs and score if it is better than the last.

    Return which lanes have a better one within limits, as bits.
    """
    s, c = sine_cosine(load(lanes.angle, 0))
    before = load(lanes.score, 0)
    score, margin = put_best(arm, lanes.goal, (c, s), lanes.prefer, before, lanes.pairs)
    store(lanes.score, 0, score)
    store(lanes.margin, 0, margin)
    return bits((score > before) & (score > KEPT))


@part
def finish(arm, settings, lanes):
    """Convert the pairs in all lanes to angles and judge them; return which lanes reach their goals, as bits."""
    put_values(arm, lanes.pairs, lanes.values)
    return finish_values(arm, settings, lanes)


@part
def finish_values(arm, settings, lanes):
    """Judge the values in all lanes; return which reach their goals, as bits."""
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
def reduced(angle, middle):
    """Return an angle shifted by whole turns to within half a turn of another."""
    return angle - (2.0 * math.pi) * nearest_whole((angle - middle) * (0.5 / math.pi))


@inner
def start_share(arc, home, least, most):
    """Return the share of an arc at, or nearest to, a start's angle; and 1 or -1 for the arc."""
    middle, begin, end = arc
    off, long = reduced(home - middle, 0.0), end - begin
    share = (fabs(off) - begin) / select(long > FLAT, long, 1.0)
    return select(share < least, least, select(share > most, most, share)), select(off < 0.0, -1.0, 1.0)


@inner
def arc_angle(arm, arc, share, side):
    """Return the angle at a share of an arc where c can reach; if beyond limits, at that share of the range."""
    middle, begin, end = arc
    lower, upper = bounds_of(arm, HELD)
    angle = reduced(middle + side * (begin + share * (end - begin)), middle_of(arm, HELD))
    other = middle_of(arm, HELD) + (share - 0.5) * min(upper - lower, 2.0 * math.pi)
    return select((angle < lower) | (angle > upper), other, angle)


@inner
def arc_of(memory, lane, width):
    """Return the numbers of an arc in a lane of memory, or in lanes if its width is 1."""
    return (
        load(memory, width * ARC.middle + lane),
        load(memory, width * ARC.begin + lane),
        load(memory, width * ARC.end + lane),
    )


@inner
def angle_beside(arm, arc, lane, angle, number, tried):
    """Return an angle beside another, on either side, closer than the spacing of the angles tried on the arcs."""
    _, begin, end = arc_of(arc, lane, WIDTH)
    away = 2.0 * (end - begin) / tried * (number // 2 + 1) * (2.0 / (BESIDE + 2))
    return brought_within(arm, angle + away if number % 2 else angle - away)


@inner
def brought_within(arm, angle):
    """Return an angle of the held joint clamped to its limits."""
    lower, upper = bounds_of(arm, HELD)
    return min(max(angle, lower), upper)


@part
def search_anywhere(arm, tries, rows, lanes, flow):
    """Try angles in their order, eight at a time; return the lane of the best pose of the first eight, or -1.

    If none has a pose, angles beside the one nearest to a pose are tried, closer to it than the others.
    """
    angle, margin = 0.0, NONE
    put_arc(arm, lanes.goal, lanes.arc)
    for row in range(rows + BESIDE // WIDTH):
        if row < rows:
            share, side = load(tries, TRY.size * row + TRY.share), load(tries, TRY.size * row + TRY.side)
            store(lanes.angle, 0, arc_angle(arm, arc_of(lanes.arc, 0, 1), share, side))
        else:
            for lane in range(WIDTH):
                number = WIDTH * (row - rows) + lane
                store(flow.angle, lane, angle_beside(arm, flow.arc, lane, angle, number, WIDTH * rows))
        store(lanes.score, 0, NONE)
        found = evaluate(arm, lanes)
        if found:
            return best_lane(found, flow.score)
        lane = best_lane(EVERY, flow.margin)
        if row < rows and load(flow.margin, lane) > margin:
            angle, margin = load(flow.angle, lane), load(flow.margin, lane)
    return -1


@part
def write_answer(arm, flow, lane, given, start, pose, report):
    """Write the values of a lane and its report; with a start, each angle is the copy nearest to it."""
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
def seven_one(codes, arm, tries, packed, room, target, _given, out):
    """Write the answer to a target (4, 4) into `out`, as `search_one` does; return REACHED, UNSOLVED or INVALID.

    UNSOLVED leaves the target to a search. `tries` are TRY, in lanes; `packed` are settings, limits and numbers of the
    chain; `room` has the shape `answer_room`. A start is never given: targets with one are searched first.
    """
    numbers, aim, cell, tried = cells(arm), flat(target), cells(out), cells(tries)
    lanes, flow = divided(cells(room), lane_sizes(1)), divided(flat(room), lane_sizes(WIDTH))
    to_report, _, to_target, _ = answer_places(JOINTS)
    chain = chain_of(cells(codes), cells(packed), JOINTS)
    if not read_goal(chain.numbers, 0.0, aim, 0, flow.pairs):
        return INVALID
    for k in range(16):
        store(cell, to_target + k, load(aim, k))
    for joint in range(JOINTS):
        c, s = middle_pair(numbers, joint)
        store(lanes.prefer, 2 * joint, c)
        store(lanes.prefer, 2 * joint + 1, s)
    rows = vector(aim, 0), vector(aim, 4), vector(aim, 8)
    put_goal(numbers, rows, (load(aim, 3), load(aim, 7), load(aim, 11)), lanes.goal)
    lane = search_anywhere(numbers, tried, tries.shape[0] // TRY.size, lanes, flow)
    if lane < 0 or (finish(numbers, chain.settings, lanes) >> lane) & 1 == 0:
        return UNSOLVED
    write_answer(numbers, flow, lane, False, cell, cell, beyond(cell, to_report))
    return REACHED


def answer_room() -> tuple[int, int]:
    """Return the shape of the workspace."""
    return sum(lane_sizes.py_func(1)), WIDTH


def tries_in_lanes(tries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return TRY (n, 3) for one goal, eight at a time: a row for each item of TRY, n a multiple of eight."""
    return np.ascontiguousarray(tries.reshape(-1, WIDTH, TRY.size).swapaxes(1, 2).reshape(-1, WIDTH))
