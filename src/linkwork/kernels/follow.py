"""Following a goal from where a chain is: control cycles, each a search within a box around the pose before it.

A cycle takes Levenberg-Marquardt steps, each a damped least-squares change within bounds: what limits and speeds allow.
Two rules keep it calm. A change is no longer than the error over twice a smallest singular value, so that the chain
slows down before singularities. A step that gains little of what it promised is taken again with more damping, so that
it comes to rest at the edge of reach. `chain_memory` says what stands in the arrays of the chain.
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

INVALID, UNFIT, REACHED, FOLLOWING, LIMITED, HELD = 0, 1, 2, 3, 4, 5  # how it ended; unfit: a start that is not finite
NO_LIMIT, POSITION, VELOCITY = 0, 1, 2

PACE = Layout(
    "smallest",  # singular value below which the chain slows down
    "fine",  # squared share of the tolerance at which a cycle has nothing left to do
    "leap",  # how far many cycles together may lead: so many reaches of one; 0 for no bound
    "far",  # error at the start from which on they may lead further:
    "lever",  # so many reaches for each metre more
)
RATE = Layout(  # of a value, after the pace
    "speed",  # units a second
    "most",  # in a cycle, where there is no speed
    "zone",  # how near to a limit it is moved away from it, where the goal leaves freedom
)
CYCLE = Layout("position_error", "rotation_error", "asked", "left", "value", "limit", "steps", "damping")  # a report

STEPS, ATTEMPTS = 8, 5  # of a cycle, and of a step
WORTH = 0.5  # share of the gain it promised that a step must bring
GROWTH = 8.0  # of the damping, where it does not
STILL = 0.02  # cosine between a joint's pull and the error below which it cannot help
CENTRE = 0.4  # how much of that leads to the middle of the range from its end
AWAY = 1.0  # how fast a value leaves the zone of a limit: a share of what is asked of the frame
KEPT = 0.9  # share of the motion before that is tried: what of it the goal does not ask for ends by and by
PROGRESS = 0.998  # squared errors: a cycle that gains less leads nowhere
ROUNDING = 1e-12
NEARBY, SPREAD = 8, 0.7  # walks from poses around the start, and how far around: a share of where they may lead
NUDGES, NUDGE = 6, 0.2  # ways aside that are tried, and how far: a share of the room there is


@inner
def places(values):
    """Return where the report, the start and the target begin in what a call gets back, and its size."""
    start = values + CYCLE.size
    return values, start, start + values, start + values + 16


@part
def look(chain, rows, goal, q, work, error):
    """Write the weighted error of a pose, leave axes and origins in `work`; return what `columns` wants, and errors."""
    z, tip, e, p, r = tip_error(chain.codes, chain.numbers, rows, chain.settings, goal, q, work)
    for k in range(6):
        store(error, k, e[k])
    return z, tip, p, r


@inner
def is_near(chain, pace, p, r):
    """Return whether nothing is left to do."""
    fine = load(pace, PACE.fine)
    return p <= load(chain.settings, SETTINGS.near) * fine and r <= load(chain.settings, SETTINGS.aligned) * fine


@part
def arrive(chain, rows, pace, z, tip, p, r, s):
    """Turn what a sweep has left in `work` into columns, unless nothing is left to do; return whether there is."""
    if is_near(chain, pace, p, r):
        return False
    columns(chain.codes, chain.numbers, rows, chain.settings, tip, z, s.work)
    return True


@part
def take(rows, values, s):
    """Make the trial the pose."""
    for value in range(values):
        store(s.q, value, load(s.trial, value))
        store(s.aside, value, 0.0)
    for k in range(6):
        store(s.error, k, load(s.rest, k))
    for k in range(6 * rows):
        store(s.work, k, load(s.other, k))


@part
def drop_aside(values, s):
    """Give up what is best where the goal leaves freedom; return whether there was anything."""
    found = False
    for value in range(values):
        found |= load(s.aside, value) != 0.0
        store(s.aside, value, 0.0)
    return found


@part
def run_cycle(chain, rows, values, pace, p, r, s):
    """Bring `q` as near to the goal as it comes within the box; return squared errors, steps and damping.

    Before and after, unless nothing is left to do, the error is that of `q` and its columns are in `work`.
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
    """Put into `aside` the way to the middle of the limits, and out of their zones: the further, the more is asked.

    Far from the goal nothing is put aside: there, damping would let it weigh against the way to the goal.
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
    """Look at `q` or, if it is moving, at where that leads if that is nearer; return errors, and that of `q`."""
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
    """Write the bounds of a cycle around `q`: its speeds, the limits and, around the start, how far it may lead."""
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
    """Move `q` where a singular pose hides the way: aside, along what the goal leaves free; return errors, and if so.

    At such a pose no joint pulls towards the goal, as in an arm that is stretched out and should come in. A small
    motion that changes the tip by little does, one way or the other: first towards the middle of the limits.
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
    """Return why a pose that misses its goal is not nearer: how it ended, the value in its way, and which limit.

    A speed first, since more cycles help; then joints that could still come nearer, also those that only a cycle's end
    has stopped; then limits; then nothing.
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
    """Read target and start; return how it ended if one of them is none."""
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
    """Return how far many cycles may lead, in reaches of one."""
    if load(pace, PACE.leap) == 0.0:
        return math.inf
    w = load(chain.settings, SETTINGS.rotation_weight)
    _, _, p, r = look(chain, rows, s.goal, s.q, s.work, s.error)
    error = math.sqrt(p + r * (w * w))
    more = error - load(pace, PACE.far)
    return load(pace, PACE.leap) + (load(pace, PACE.lever) * more if more > 0.0 else 0.0)


@inner
def is_reached(settings, p, r):
    """Return whether errors are within tolerance."""
    return p <= load(settings, SETTINGS.near) and r <= load(settings, SETTINGS.aligned)


@part
def walk(chain, rows, values, pace, dt, cycles, span, start, p, r, s):
    """Run cycles, each from where the last one ended, until the goal is reached or nothing leads nearer.

    Return squared errors, how it ended, the value in the way, which limit, steps and damping.
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
    """Walk from poses around the start, where the start itself leads nowhere; return as `walk` does, if one arrives.

    Where branches meet, the one that was taken may end at a limit while another, as near, goes on.
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
    """Follow a target (4, 4) from a start; write the pose and a report, see `CYCLE`, into `out`; return how it ended.

    `packed` is what `search_one` reads; `pace` holds PACE, then RATE for each value; `out` is laid out by `places`, the
    start stands there, the pose is first. If it is `moving`, `last` is what the cycle before wrote. One cycle lasts
    `dt`. Of several, each goes on from the one before, until the goal is reached or nothing leads nearer.
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
