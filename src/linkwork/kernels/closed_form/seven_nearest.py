"""The pose of a seven-joint arm nearest to a start, on all curves of solutions, searched by the held joint's angle.

A search from the start has found one pose, mostly the nearest or near it. Angles of the held joint further and further
from the start's are evaluated, each with all eight poses in parallel, as long as that joint alone is not further away
than the nearest pose found. Then angles beside the best are tried, closer and closer. The geometry is in `seven`.
"""

from __future__ import annotations

import math
from collections import namedtuple

from .. import inner, kernel, part
from ..chain_memory import REPORT
from ..damped import TURN
from ..joint_step import sine_cosine, vector
from ..lanes import beyond, bits, cells, divided, flat, load, select, store
from ..search_one import answer_places
from .angles import atan2, subtracted
from .seven import ARM, GOAL, HELD, JOINTS, LIMIT, branch, put_goal
from .seven_answers import WIDTH, bounds_of, finish_values, place_of

SHARE, LEAST_STEP, MOST_STEP = 0.5, 0.01, 0.12  # step between angles: share of the distance found, and bounds [rad]
STEPS = 64  # largest number on either side
CANDIDATES, WORSE = 3, 4.0  # number of the eight poses that are refined; squared distances relative to the best's
ROUNDS = 4  # of angles beside a pose, each four times closer than the last
ROUNDING = 1.0e-12  # rounding by which limits [rad], and their cosines, may be exceeded before clamping
GAIN = 1.0e-6  # relative decrease of the distance required to replace a pose
SIGNS = 3
Near = namedtuple("Near", "goal home pairs signs angle values away best at position rotation")


@inner
def near_sizes(width):
    """Return the sizes of the parts of the workspace: in vectors of lanes if `width` is 1, else in numbers."""
    joints = JOINTS * width
    return Near(GOAL.size * width, joints, 2 * joints, SIGNS * width, width, joints, width, width, width, width, width)


@inner
def copy_within(lower, upper, x):
    """Return an angle beyond its limits shifted by a whole turn, if needed."""
    x = select(x > upper, x - TURN, x)
    return select(x < lower, x + TURN, x)


@inner
def lanes_of(lanes, number):
    """Return a number in all lanes."""
    return 0.0 * load(lanes.goal, 0) + number


@part
def look_at_angles(arm, lanes):
    """Write the values of the pose of each lane, by its angle and signs, and their squared distance from the start.

    Without a pose within limits, the distance is infinite.
    """
    angle = load(lanes.angle, 0)
    s, c = sine_cosine(angle)
    signs = load(lanes.signs, 0), load(lanes.signs, 1), load(lanes.signs, 2)
    pairs, roots = branch(arm, lanes.goal, (c, s), *signs)
    good = (roots[0] >= 0.0) & (roots[1] >= 0.0) & (roots[2] >= 0.0)
    for joint in range(JOINTS):
        at, pair = ARM.limits + LIMIT.size * joint, pairs[joint]
        inside = pair[0] * load(arm, at + LIMIT.middle_cosine) + pair[1] * load(arm, at + LIMIT.middle_sine)
        good = good & (inside >= load(arm, at + LIMIT.half_cosine) - ROUNDING)
    store(lanes.away, 0, lanes_of(lanes, math.inf))
    if bits(good) == 0:  # at most angles; computing distances would take longer
        return
    total = 0.0 * angle
    for joint in range(JOINTS):
        home, (lower, upper) = load(lanes.home, joint), bounds_of(arm, joint)
        off = subtracted(pairs[joint], (load(lanes.pairs, 2 * joint), load(lanes.pairs, 2 * joint + 1)))
        x = copy_within(lower, upper, home + atan2(off[1], off[0]))
        good = good & (x >= lower - ROUNDING) & (x <= upper + ROUNDING)
        x = select(x < lower, lower, select(x > upper, upper, x))
        store(lanes.values, joint, x)
        total = total + (x - home) * (x - home)
    store(lanes.away, 0, select(good, total, math.inf))


@inner
def put_signs(flow, lane, number):
    """Give a lane the signs of one of the eight poses."""
    for k in range(SIGNS):
        store(flow.signs, WIDTH * k + lane, 1.0 - 2.0 * ((number >> (SIGNS - 1 - k)) & 1))


@part
def look_at_one(lanes, flow, angle, arm):
    """Evaluate all eight poses of an angle, and keep the best of each; return the smallest squared distance of them."""
    least = math.inf
    store(lanes.angle, 0, lanes_of(lanes, angle))
    look_at_angles(arm, lanes)
    for lane in range(WIDTH):
        found = load(flow.away, lane)
        if found < load(flow.best, lane):
            store(flow.best, lane, found)
            store(flow.at, lane, angle)
            least = min(least, found)
    return least


@part
def look_around(arm, lanes, flow, home, known, least):
    """Evaluate a known angle and others further and further from the start's; store the best of each of the eight.

    `least` is the squared distance of the known pose. Return the step between angles.
    """
    lower, upper = bounds_of(arm, HELD)
    middle, step = min(max(home, lower), upper), min(max(SHARE * math.sqrt(least), LEAST_STEP), MOST_STEP)
    for lane in range(WIDTH):
        put_signs(flow, lane, lane)
        store(flow.best, lane, math.inf)
    least = min(least, look_at_one(lanes, flow, known, arm))
    for number in range(2 * STEPS + 1):
        away = step * ((number + 1) // 2)
        if away * away > least:
            break
        angle = middle + away if number % 2 else middle - away
        if lower <= angle <= upper:
            least = min(least, look_at_one(lanes, flow, angle, arm))
    for end in (lower, upper):
        if (end - home) * (end - home) < least:
            look_at_one(lanes, flow, end, arm)
    return step


@part
def close_in(arm, lanes, flow, angle, least, span):
    """Evaluate angles beside one, closer and closer, all lanes with the same signs; return the best and distance."""
    lower, upper = bounds_of(arm, HELD)
    for _ in range(ROUNDS):
        begin, end = max(angle - span, lower), min(angle + span, upper)
        for lane in range(WIDTH):
            store(flow.angle, lane, begin + (end - begin) * ((lane + 0.5) / WIDTH))
        look_at_angles(arm, lanes)
        for lane in range(WIDTH):
            if load(flow.away, lane) < least:
                least, angle = load(flow.away, lane), load(flow.angle, lane)
        span = (end - begin) / WIDTH
    return angle, least


@part
def put_nearest(arm, lanes, flow, home, known, most):
    """Write the pose nearest to the start to all lanes; return whether it is nearer than the known one."""
    step = look_around(arm, lanes, flow, home, known, most)
    chosen, best, limit = -1, 0.0, most * (1.0 - GAIN)
    for _ in range(CANDIDATES):
        number = 0
        for lane in range(WIDTH):
            if load(flow.best, lane) < load(flow.best, number):
                number = lane
        least = load(flow.best, number)
        if not least < WORSE * limit:
            break
        store(flow.best, number, math.inf)
        for lane in range(WIDTH):
            put_signs(flow, lane, number)
        angle, least = close_in(arm, lanes, flow, load(flow.at, number), least, step)
        if least < limit:
            chosen, best, limit = number, angle, least
    if chosen < 0:
        return False
    for lane in range(WIDTH):
        put_signs(flow, lane, chosen)
    store(lanes.angle, 0, lanes_of(lanes, best))
    look_at_angles(arm, lanes)
    return True


@kernel("f8[] f8[] f8[,] f8[,] f8[]")
def seven_nearest(arm, packed, room, target, out):
    """Replace the pose that `search_one` left in `out` by the pose that reaches a target (4, 4) nearest to the start.

    `packed` are settings, limits and numbers of the chain; `room` has the shape `near_room`.
    """
    numbers, aim, cell = cells(arm), flat(target), cells(out)
    lanes, flow = divided(cells(room), near_sizes(1)), divided(flat(room), near_sizes(WIDTH))
    to_report, to_start, _, _ = answer_places(JOINTS)
    rows = vector(aim, 0), vector(aim, 4), vector(aim, 8)
    put_goal(numbers, rows, (load(aim, 3), load(aim, 7), load(aim, 11)), lanes.goal)
    least = 0.0
    for joint in range(JOINTS):
        place = place_of(numbers, joint)
        home = load(cell, to_start + place)
        off = load(cell, place) - home
        s, c = sine_cosine(home)
        store(lanes.home, joint, lanes_of(lanes, home))
        store(lanes.pairs, 2 * joint, lanes_of(lanes, c))
        store(lanes.pairs, 2 * joint + 1, lanes_of(lanes, s))
        least += off * off
    known = load(cell, place_of(numbers, HELD))
    if not put_nearest(numbers, lanes, flow, load(flow.home, WIDTH * HELD), known, least):
        return
    if finish_values(numbers, cells(packed), lanes) & 1 == 0:
        return
    for joint in range(JOINTS):
        store(cell, place_of(numbers, joint), load(flow.values, WIDTH * joint))
    report = beyond(cell, to_report)
    store(report, REPORT.position_error, load(flow.position, 0))
    store(report, REPORT.rotation_error, load(flow.rotation, 0))


def near_room() -> tuple[int, int]:
    """Return the shape of the workspace."""
    return sum(near_sizes.py_func(1)), WIDTH
