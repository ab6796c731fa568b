"""Follow a goal from the current pose: control cycles, each a search within a box around the previous pose.

A cycle takes Levenberg-Marquardt steps, each a damped least-squares change within the bounds of limits and speeds. Two
rules keep it calm. A change is not longer than the error divided by twice a smallest singular value, so the chain slows
down before singularities. A step that gains much less than predicted is repeated with more damping, so the chain comes
to rest at the edge of reach. The arrays of the chain are laid out in `chain_memory`.
"""

from __future__ import annotations

import math

from . import inner, kernel, part
from .bounded_chain import bounded_change, promised, pull_of, scratch_sizes, short_change, weakness
from .chain_memory import CODE, SETTINGS, chain_of
from .damped import bounds, columns, tip_error, within
from .lanes import beyond, cells, divided, flat, load, store
from .layout import Layout
from .starts import read_goal, uniform

INVALID, UNFIT, REACHED, FOLLOWING, LIMITED, HELD = 0, 1, 2, 3, 4, 5  # outcomes; UNFIT: the start is not finite
NO_LIMIT, POSITION, VELOCITY = 0, 1, 2

PACE = Layout(
    "smallest",  # singular value below which the chain slows down
    "fine",  # squared share of the tolerance below which a cycle ends
    "leap",  # how far many cycles together may lead, in multiples of the reach of one cycle; 0 for no bound
    "far",  # error at the start above which they may lead further:
    "lever",  # additional reaches per metre
)
RATE = Layout(  # of each value, after the pace
    "speed",  # units per second
    "most",  # largest change in a cycle, if there is no speed limit
    "zone",  # distance from a limit within which the value moves away from it, if the goal leaves freedom
)
CYCLE = Layout("position_error", "rotation_error", "asked", "left", "value", "limit", "steps", "damping")  # a report

STEPS, ATTEMPTS = 8, 5  # largest numbers of steps in a cycle, and of attempts at a step
WORTH = 0.5  # share of the predicted gain that a step must achieve
GROWTH = 8.0  # of the damping, if it does not
STILL = 0.02  # cosine between a joint's column and the error below which the joint cannot help
CENTRE = 0.4  # weight of the pull to the middle of the range, at its end
AWAY = 1.0  # how fast a value leaves the zone of a limit, relative to the error
KEPT = 0.9  # share of the previous motion that is tried: motion that the goal does not ask for dies out
PROGRESS = 0.998  # ratio of squared errors: a cycle that gains less makes no progress
ROUNDING = 1e-12
NEARBY, SPREAD = 8, 0.7  # number of walks from poses around the start, and their spread: a share of the allowed range
NUDGES, NUDGE = 6, 0.2  # number of sideways motions tried, and their size: a share of the box


@inner
def places(values):
    """Return the offsets of the report, the start and the target in the output array, and its size."""
    start = values + CYCLE.size
    return values, start, start + values, start + values + 16


@part
def look(chain, rows, goal, q, work, error):
    """Evaluate a pose: write its weighted error, and axes and origins to `work`; return z, tip and squared errors."""
    z, tip, e, p, r = tip_error(chain.codes, chain.numbers, rows, chain.settings, goal, q, work)
    for k in range(6):
        store(error, k, e[k])
    return z, tip, p, r


@inner
def is_near(chain, pace, p, r):
    """Return whether the errors are so small that nothing is left to do."""
    fine = load(pace, PACE.fine)
    return p <= load(chain.settings, SETTINGS.near) * fine and r <= load(chain.settings, SETTINGS.aligned) * fine


@part
def arrive(chain, rows, pace, z, tip, p, r, s):
    """Replace the axes in `work` by columns of the Jacobian, unless nothing is left to do; return whether there is."""
    if is_near(chain, pace, p, r):
        return False
    columns(chain.codes, chain.numbers, rows, chain.settings, tip, z, s.work)
    return True


@part
def take(rows, values, s):
    """Accept the trial pose: copy it, its error and its axes."""
    for value in range(values):
        store(s.q, value, load(s.trial, value))
        store(s.aside, value, 0.0)
    for k in range(6):
        store(s.error, k, load(s.rest, k))
    for k in range(6 * rows):
        store(s.work, k, load(s.other, k))


@part
def drop_aside(values, s):
    """Drop the secondary motion `aside`; return whether there was any."""
    found = False
    for value in range(values):
        found |= load(s.aside, value) != 0.0
        store(s.aside, value, 0.0)
    return found


@part
def run_cycle(chain, rows, values, pace, p, r, s):
    """Bring `q` as near to the goal as possible within the box; return squared errors, steps and damping.

    Before and after, unless nothing is left to do, `error` is the error of `q`, and `work` holds its columns.
    """
    settings, taken, damping, more = chain.settings, 0, 0.0, not is_near(chain, pace, p, r)
    w = load(settings, SETTINGS.rotation_weight)
    while more and taken < STEPS:
        error = p + r * (w * w)
        fresh = error * load(settings, SETTINGS.damping_gain) + load(settings, SETTINGS.damping_least)
        damping = max(fresh, damping / GROWTH)
        longest = math.sqrt(error) / (2.0 * load(pace, PACE.smallest))
        caution = load(settings, SETTINGS.caution) * math.sqrt(error)
        better, attempt = False, 0
        while not better and attempt < ATTEMPTS:
            damping = short_change(values, s.work, damping, longest, s)
            careful = caution * weakness(damping, load(pace, PACE.smallest), s)
            if damping < careful:
                damping = short_change(values, s.work, careful, longest, s)
            for value in range(values):
                x = load(s.q, value) + load(s.change, value)
                store(s.trial, value, min(max(x, load(s.low, value)), load(s.high, value)))
            gain = promised(damping, s)
            z, tip, p_after, r_after = look(chain, rows, s.goal, s.trial, s.other, s.rest)
            gained = error - (p_after + r_after * (w * w))
            better, attempt = gained > 0.0 and gained > WORTH * gain, attempt + 1
            if not better and not drop_aside(values, s):
                damping = max(GROWTH * damping, caution)
        if not better:
            break
        p, r, taken = p_after, r_after, taken + 1
        take(rows, values, s)
        more = arrive(chain, rows, pace, z, tip, p, r, s)
    return p, r, taken, damping


@part
def put_aside(settings, limits, values, pace, asked, s):
    """Write to `aside` a secondary motion towards the middle of the limits and out of their zones, scaled by the error.

    Far from the goal it is zero: with the damping used there, it would compete with the motion to the goal.
    """
    turn = asked / load(settings, SETTINGS.arm)
    pull = AWAY * turn * max(1.0 - turn, 0.0)
    for value in range(values):
        rate, x, low_high = PACE.size + RATE.size * value, load(s.q, value), bounds(limits, value)
        zone, room = load(pace, rate + RATE.zone), (low_high[1] - low_high[0]) / 2.0
        deep = max(low_high[0] + zone - x, 0.0) - max(x - low_high[1] + zone, 0.0)
        share = min(max(deep / zone, -1.0), 1.0) if deep != 0.0 else 0.0
        if 0.0 < room < math.inf:
            share += CENTRE * (low_high[0] + room - x) / room
        reach = (load(s.high, value) - load(s.low, value)) / 2.0
        store(s.aside, value, share * min(pull, reach))


@part
def begin(chain, rows, values, pace, moving, last, s):
    """Evaluate `q`, or if `moving` the pose extrapolated from the last cycle if nearer; return errors, and q's own."""
    w, (_, before, _, _) = load(chain.settings, SETTINGS.rotation_weight), places(values)
    z, tip, p, r = look(chain, rows, s.goal, s.q, s.work, s.error)
    asked = p + r * (w * w)
    if moving and not is_near(chain, pace, p, r):
        for value in range(values):
            x = load(s.q, value) + KEPT * (load(last, value) - load(last, before + value))
            store(s.trial, value, min(max(x, load(s.low, value)), load(s.high, value)))
        z_after, tip_after, p_after, r_after = look(chain, rows, s.goal, s.trial, s.other, s.rest)
        if p_after + r_after * (w * w) < asked:
            z, tip, p, r = z_after, tip_after, p_after, r_after
            take(rows, values, s)
    put_aside(chain.settings, chain.limits, values, pace, math.sqrt(asked), s)
    arrive(chain, rows, pace, z, tip, p, r, s)
    return p, r, asked


@part
def put_box(limits, values, pace, dt, span, start, s):
    """Write the bounds of a cycle around `q`, from speeds, limits and the largest distance from the start."""
    for value in range(values):
        rate = PACE.size + RATE.size * value
        speed, x, lower_upper = load(pace, rate + RATE.speed), load(s.q, value), bounds(limits, value)
        reach = speed * dt if speed < math.inf else load(pace, rate + RATE.most)
        far = span * reach if span < math.inf else math.inf
        low, high = max(lower_upper[0], load(start, value) - far), min(lower_upper[1], load(start, value) + far)
        low, high = min(max(low, x - reach), x + reach), min(max(high, x - reach), x + reach)
        store(s.low, value, low)
        store(s.high, value, high)
        store(s.q, value, min(max(x, low), high))


@part
def nudge(chain, rows, values, p, r, s):
    """Move `q` out of a singular pose, by a motion that the goal leaves free; return errors, and whether it helped.

    At such a pose no joint pulls towards the goal, as in a stretched arm that should retract. A small motion that
    hardly changes the tip gets out of it, in one direction or the other; towards the middle of the limits is tried
    first.
    """
    w = load(chain.settings, SETTINGS.rotation_weight)
    error, least = p + r * (w * w), load(chain.settings, SETTINGS.damping_least)
    for attempt in range(NUDGES):
        for value in range(values):
            side = 1.0 if (value >> (attempt // 2)) & 1 == attempt & 1 else -1.0
            low_high = bounds(chain.limits, value)
            room = (low_high[1] - low_high[0]) / 2.0
            if attempt == 0 and 0.0 < room < math.inf:
                side = (low_high[0] + room - load(s.q, value)) / room
            store(s.aside, value, side * NUDGE * (load(s.high, value) - load(s.low, value)))
        bounded_change(values, s.work, least, s)
        for value in range(values):
            x = load(s.q, value) + load(s.change, value)
            store(s.trial, value, min(max(x, load(s.low, value)), load(s.high, value)))
        z, tip, p_after, r_after = look(chain, rows, s.goal, s.trial, s.other, s.rest)
        if p_after + r_after * (w * w) < PROGRESS * error:
            take(rows, values, s)
            columns(chain.codes, chain.numbers, rows, chain.settings, tip, z, s.work)
            return p_after, r_after, True
    return p, r, False


@part
def judge(limits, values, pace, s):
    """Return why a pose that misses its goal is not nearer: the outcome, the value in the way, and which limit.

    Speed limits come first, since more cycles help; then joints that could still come nearer, including those that only
    the end of a cycle has stopped; then position limits; then HELD.
    """
    size = 0.0
    for k in range(6):
        size += load(s.error, k) ** 2
    most, place, way, helps = 0.0, -1, NO_LIMIT, False
    for value in range(values):
        length = 0.0
        for k in range(6):
            length += load(s.work, 6 * value + k) ** 2
        push = pull_of(s.work, value, s.error)
        cosine = abs(push) / math.sqrt(max(length * size, 1e-300))
        x, lower_upper = load(s.q, value), bounds(limits, value)
        bound = load(s.low, value) if push < 0.0 else load(s.high, value)
        limit = lower_upper[0] if push < 0.0 else lower_upper[1]
        if cosine < STILL:
            continue
        kind = POSITION if bound == limit else VELOCITY
        endless = kind == VELOCITY and load(pace, PACE.size + RATE.size * value + RATE.speed) == math.inf
        if abs(x - bound) > ROUNDING * (1.0 + abs(x)) or endless:
            helps = True
            continue
        if kind > way or (kind == way and cosine > most):
            most, place, way = cosine, value, kind
    if way == VELOCITY:
        return LIMITED, place, way
    if helps:
        return FOLLOWING, -1, NO_LIMIT
    return (LIMITED, place, way) if way == POSITION else (HELD, -1, NO_LIMIT)


@part
def read_task(chain, target, values, cell, s):
    """Read target and start; return INVALID or UNFIT if one of them is not usable, else FOLLOWING."""
    _, to_start, to_target, _ = places(values)
    if not read_goal(chain.numbers, load(chain.settings, SETTINGS.spin), target, 0, s.goal):
        return INVALID
    for k in range(16):
        store(cell, to_target + k, load(target, k))
    for value in range(values):
        x = load(cell, to_start + value)
        if x - x != 0.0:
            return UNFIT
        store(s.q, value, x)
    return FOLLOWING


@part
def span_of(chain, rows, pace, s):
    """Return how far many cycles may lead, in multiples of the reach of one cycle."""
    if load(pace, PACE.leap) == 0.0:
        return math.inf
    w = load(chain.settings, SETTINGS.rotation_weight)
    _, _, p, r = look(chain, rows, s.goal, s.q, s.work, s.error)
    error = math.sqrt(p + r * (w * w))
    more = error - load(pace, PACE.far)
    return load(pace, PACE.leap) + (load(pace, PACE.lever) * more if more > 0.0 else 0.0)


@inner
def is_reached(settings, p, r):
    """Return whether the errors are within tolerance."""
    return p <= load(settings, SETTINGS.near) and r <= load(settings, SETTINGS.aligned)


@part
def walk(chain, rows, values, pace, dt, cycles, span, start, p, r, s):
    """Run cycles, each from the end of the last, until the goal is reached or there is no more progress.

    Return squared errors, the outcome, the value in the way, which limit, steps and damping.
    """
    settings, w = chain.settings, load(chain.settings, SETTINGS.rotation_weight)
    steps, cycle, before = 0, 0, math.inf
    while True:
        p, r, taken, damping = run_cycle(chain, rows, values, pace, p, r, s)
        steps, cycle = steps + taken, cycle + 1
        if is_reached(settings, p, r):
            return p, r, REACHED, -1, NO_LIMIT, steps, damping
        ended, place, way = judge(chain.limits, values, pace, s)
        if ended == HELD:
            p, r, nudged = nudge(chain, rows, values, p, r, s)
            if nudged:
                p, r, taken, damping = run_cycle(chain, rows, values, pace, p, r, s)
                steps, ended = steps + taken, FOLLOWING
                if is_reached(settings, p, r):
                    return p, r, REACHED, -1, NO_LIMIT, steps, damping
        left = p + r * (w * w)
        if cycle >= cycles or way == POSITION or ended == HELD or left > PROGRESS * before:
            return p, r, ended, place, way, steps, damping
        before = left
        put_box(chain.limits, values, pace, dt, span, start, s)


@part
def walk_nearby(chain, rows, values, pace, dt, cycles, span, start, s):
    """Walk from poses around the start, if the start itself leads nowhere; return as `walk` does if one arrives.

    Where branches meet, the one taken may end at a limit while another, equally near, continues.
    """
    for attempt in range(NEARBY):
        for value in range(values):
            room = span * (load(s.high, value) - load(s.low, value)) / 2.0
            x = load(start, value) + SPREAD * room * (2.0 * uniform(0, 0, attempt, value) - 1.0)
            store(s.q, value, within(chain.limits, value, x))
        put_box(chain.limits, values, pace, dt, span, start, s)
        p, r, _ = begin(chain, rows, values, pace, False, start, s)
        found = walk(chain, rows, values, pace, dt, cycles, span, start, p, r, s)
        if found[2] == REACHED:
            return found
    return 0.0, 0.0, HELD, -1, NO_LIMIT, 0, 0.0


@kernel("i8[] f8[,] f8[] f8[,] f8[] f8 i8 b1 f8[] f8[] -> i8")
def follow_one(codes, packed, room, target, pace, dt, cycles, moving, last, out):
    """Follow a target (4, 4) from a start; write the pose and a report, a CYCLE, into `out`; return the outcome.

    `packed` is the array of `search_one`; `pace` holds PACE, then RATE for each value; `out` is laid out by `places`
    and contains the start; the pose comes first. If `moving`, `last` is the output of the previous cycle. One cycle
    lasts `dt` seconds. Each of several cycles continues from the one before, until the goal is reached or there is no
    more progress.
    """
    rows, values = codes.size // CODE.size, (pace.size - PACE.size) // RATE.size
    chain, cell, rates = chain_of(cells(codes), flat(packed), values), cells(out), cells(pace)
    to_report, to_start, _, _ = places(values)
    s = divided(cells(room), scratch_sizes(rows, values))
    report, start = beyond(cell, to_report), beyond(cell, to_start)
    outcome = read_task(chain, flat(target), values, cell, s)
    if outcome != FOLLOWING:
        return outcome
    w, span = load(chain.settings, SETTINGS.rotation_weight), span_of(chain, rows, rates, s)
    put_box(chain.limits, values, rates, dt, span, start, s)
    p, r, asked = begin(chain, rows, values, rates, moving, cells(last), s)
    p, r, ended, place, way, steps, damping = walk(chain, rows, values, rates, dt, cycles, span, start, p, r, s)
    for value in range(values):
        store(cell, value, load(s.q, value))
    if ended != REACHED and cycles > 1:
        found = walk_nearby(chain, rows, values, rates, dt, cycles, span, start, s)
        if found[2] == REACHED:
            p, r, ended, place, way, steps, damping = found
            for value in range(values):
                store(cell, value, load(s.q, value))
    store(report, CYCLE.position_error, p)
    store(report, CYCLE.rotation_error, r)
    store(report, CYCLE.asked, math.sqrt(asked))
    store(report, CYCLE.left, math.sqrt(p + r * (w * w)))
    store(report, CYCLE.value, place)
    store(report, CYCLE.limit, way)
    store(report, CYCLE.steps, steps)
    store(report, CYCLE.damping, damping)
    return ended
