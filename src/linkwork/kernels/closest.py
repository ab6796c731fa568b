"""The pose closest to a goal that no search has reached: Newton's method within limits, from many starts side by side.

What is made small is ``|p - goal|² + (w · 2 sin(angle / 2))²``: the squared distance, and the squared chord of the
angle that is missing, times the rotation weight. Far from a goal the curvature of the chain counts as much as its
Jacobian, so the second derivatives are the true ones; they cost a cross product for each pair of joints:

    d²p / dqi dqj = wi x dp/dqj          d²c / dqi dqj = wi x (wj x c)          joint i before joint j, c an axis

Damping is added until the matrix is positive and a step helps; joints that push against a limit are held. Memory is
that of `chain_memory`.
"""

from __future__ import annotations

import math
from collections import namedtuple

from numba import float64

from . import inner, kernel, part
from .aim import aim, aim_room, travels
from .chain_memory import CODE, ENDS, FRAME, FRAMES, NARROW, REPORT, SETTINGS, WIDE, Tables, chain_of
from .damped import axes_of, error_at, gate, row_velocity, sweep_tip, turned_back, within
from .joint_step import ROW_NUMBERS, TRANSFORM, blend, vector
from .lanes import beyond, bits, cells, divided, fill, flat, load, lowest, select, sqrt, store
from .layout import Layout
from .rotations import cross, dot, minus, plus, times
from .search_many import BEYOND, CLOSEST, REACHED, turn_back
from .starts import rank, read_goal, take_best

WIDTH = 8  # lanes
ROUNDS, FEWER_ROUNDS = 4, 2  # of starts for each goal; the latter where only a position is asked for
MET = 2  # lanes of the first round that hold the start that was given and the best pose met
SHORT, MOST_STEPS = 8, 60  # steps of a round; steps of the last one, from the closest poses of all
PATIENCE, HOPE = 3, 2.0  # after so many steps, who would not be the closest with so many times the gain is left behind
FIRST_DAMPING, LESS, MORE, LEAST, LARGEST = 0.2, 0.2, 4.0, 1.0e-9, 1.0e6  # times the metric
PIVOT = 1.0e-9  # the least that counts as positive, as a share of the metric
DONE, FINEST = 1.0e-10, 1.0e-10  # share of the squared error that a last step still gains; errors that are none
SAME_MINIMUM = 0.03  # share of the squared error by which two poses on their way to one minimum differ at most
SAME = 1.0e-6  # errors that differ by less, as shares of a quarter of the chain's length, are the same
POOLED = Layout("error")  # squared; the pose follows
CHOICE = Layout("least", "away", "position", "rotation")  # errors but the first are squared; the pose follows
Books = namedtuple("Books", "goal best room pool")
Newton = namedtuple(
    "Newton",
    (
        "goal",
        "q",  # the pose
        "axes",  # and origins of its joints, 6 for each row; then its tip, a TRANSFORM
        "trial",  # the pose after a step
        "ahead",  # what the pose after a step has for axes
        "work",  # velocities: how fast each row moves and turns the tip
        "matrix",  # of second derivatives, then its factors
        "gradient",
        "metric",
        "change",
        "damping",
        "error",  # squared
        "ranks",
    ),
)


@part
def look(chain, rows, memory, q, axes):
    """Sweep to a pose; leave its axes and tip. Return the squared errors of position and rotation, and in all."""
    settings, w = chain.settings, load(chain.settings, SETTINGS.rotation_weight)
    x, y, z, tip = sweep_tip(chain.codes, chain.numbers, rows, load(settings, SETTINGS.spin), q, axes)
    for k in range(3):
        at = 6 * rows + k
        store(axes, at, x[k])
        store(axes, at + 3, y[k])
        store(axes, at + 6, z[k])
        store(axes, at + 9, tip[k])
    _, p, r = error_at(settings, memory.goal, x, y, z, tip)
    return p, r, p + r * (w * w)


@part
def assemble(chain, rows, values, memory):
    """Leave gradient, matrix of second derivatives and metric of half the squared error at the pose `q`."""
    codes, numbers, settings, _ = chain
    goal, q, axes, _, _, work, matrix, gradient, metric, _, _, _, _ = memory
    spin, w = load(settings, SETTINGS.spin), load(settings, SETTINGS.rotation_weight)
    arm, weights = load(settings, SETTINGS.arm), vector(settings, SETTINGS.position_weights)
    x, y, z, tip = axes_of(axes, 6 * rows)
    gx, gy, gz, there = axes_of(goal, 0)
    away = minus(there, tip)
    force = away[0] * weights[0], away[1] * weights[1], away[2] * weights[2]
    torque, trace = plus(plus(cross(x, gx), cross(y, gy)), cross(z, gz)), dot(x, gx) + dot(y, gy) + dot(z, gz)
    gain = 0.5
    if spin != 0.0:
        torque, trace, gain = cross(z, gz), dot(z, gz), 1.0
    gain = gain * w * w
    zero = fill(q, 0.0)
    for k in range(values):
        store(gradient, k, zero)
        store(metric, k, zero)
    for k in range(values * values):
        store(matrix, k, zero)
    for j in range(rows):
        multiplier = load(numbers, ENDS.size + ROW_NUMBERS.size * j + ROW_NUMBERS.multiplier)
        linear, angular = row_velocity(codes, numbers, j, tip, axes)
        linear, angular = times(multiplier, linear), times(multiplier, angular)
        put_velocity(work, j, linear, angular)
        value = load(codes, CODE.size * j + CODE.value)
        slope = dot(linear, force) + gain * dot(angular, torque)
        store(gradient, value, load(gradient, value) - slope)
        slide = select(dot(angular, angular) > 0.0, arm * arm * dot(angular, angular), dot(linear, linear))
        store(metric, value, load(metric, value) + slide)
        turned = times(dot(gz, angular), z)
        if spin == 0.0:
            turned = blend(x, y, z, dot(gx, angular), dot(gy, angular), dot(gz, angular))
        bend = minus(cross(force, linear), times(gain, minus(turned, times(trace, angular))))
        pull = linear[0] * weights[0], linear[1] * weights[1], linear[2] * weights[2]
        for i in range(j + 1):
            other = load(codes, CODE.size * i + CODE.value)
            h = dot(vector(work, 6 * i), pull) + dot(vector(work, 6 * i + 3), bend)
            if i < j and other == value:  # a follower and its leader
                h = h + h
            at = values * max(other, value) + min(other, value)
            store(matrix, at, load(matrix, at) + h)


@part
def put_velocity(work, row, linear, angular):
    """Put a row's velocities where its axis and origin were."""
    for k in range(3):
        store(work, 6 * row + k, linear[k])
        store(work, 6 * row + 3 + k, angular[k])


@part
def factor_held(chain, values, memory):
    """Factor matrix plus damping, L D L^T in place, without the joints that are held; return where it is positive."""
    _, q, _, _, _, _, matrix, gradient, metric, change, damping, _, _ = memory
    good, shift = fill(q, 1.0), load(damping, 0)
    for k in range(values):
        store(change, k, gate(chain.limits, k, load(q, k), -load(gradient, k)))
    for k in range(values):
        free, at = load(change, k), values * k
        least = PIVOT * load(metric, k)
        for i in range(k):
            total = load(matrix, at + i) * free * load(change, i)
            for m in range(i):  # the row holds L D so far
                total = total - load(matrix, at + m) * load(matrix, values * i + m)
            store(matrix, at + i, total)
        pivot = select(free > 0.0, load(matrix, at + k) + shift * load(metric, k), 1.0)
        for i in range(k):
            scaled = load(matrix, at + i) / load(matrix, values * i + i)
            pivot = pivot - scaled * load(matrix, at + i)
            store(matrix, at + i, scaled)
        positive = pivot > least
        good = select(positive, good, 0.0)
        store(matrix, at + k, select(positive, pivot, 1.0))
    for k in range(values):
        store(change, k, -load(gradient, k) * load(change, k))
    return good > 0.0


@part
def solve_held(values, matrix, change):
    """Solve with the factors, in place."""
    for k in range(values):
        total = load(change, k)
        for i in range(k):
            total = total - load(matrix, values * k + i) * load(change, i)
        store(change, k, total)
    for k in range(values - 1, -1, -1):
        total = load(change, k) / load(matrix, values * k + k)
        for i in range(k + 1, values):
            total = total - load(matrix, values * i + k) * load(change, i)
        store(change, k, total)


@part
def settle(chain, rows, values, memory, most):
    """Walk from the poses `q` of all lanes to minima of the squared error; return the steps taken."""
    _, q, axes, trial, ahead, _, matrix, gradient, _, change, damping, error, _ = memory
    _, _, before = look(chain, rows, memory, q, axes)
    arm = load(chain.settings, SETTINGS.arm)
    store(error, 0, before)
    store(damping, 0, FIRST_DAMPING * sqrt(before) / arm)
    for taken in range(most):
        assemble(chain, rows, values, memory)
        positive = factor_held(chain, values, memory)
        solve_held(values, matrix, change)
        gain = fill(q, 0.0)  # that the model promises
        for k in range(values):
            gain = gain - load(gradient, k) * load(change, k)
            store(trial, k, within(chain.limits, k, load(q, k) + load(change, k)))
        before, shift = load(error, 0), load(damping, 0)
        _, _, after = look(chain, rows, memory, trial, ahead)
        better = positive & (after < before)
        for k in range(values):
            store(q, k, select(better, load(trial, k), load(q, k)))
        for k in range(6 * rows + TRANSFORM.size):
            store(axes, k, select(better, load(ahead, k), load(axes, k)))
        now = select(better, after, before)
        store(error, 0, now)
        lower, higher = shift * LESS, select(shift > LEAST, shift, LEAST) * MORE
        store(damping, 0, select(better, select(lower > LEAST, lower, LEAST), higher))
        least = DONE * (before + FINEST * arm * arm)
        going = (select(positive, gain, least + least) > least) & (shift < LARGEST)
        if taken >= PATIENCE:
            going = going & (now - HOPE * gain < lowest(now))
        if bits(going) == 0:
            return taken + 1
    return most


@part
def pool_lane(lane, values, error, first, q, pool):
    """Keep the pose of a lane among the closest, from `first` on, if it is one; of two that end in one minimum, one."""
    place, most = first, -1.0
    for k in range(first, WIDTH):
        other = load(pool, (POOLED.size + values) * k + POOLED.error)
        if math.fabs(other - error) < SAME_MINIMUM * error:
            place, most = k, other
            break
        if other > most:
            place, most = k, other
    if error < most:
        own = beyond(pool, (POOLED.size + values) * place)
        store(own, POOLED.error, error)
        for value in range(values):
            store(own, POOLED.size + value, load(q, WIDTH * value + lane))


@part
def keep_closest(lane, limits, values, error, position, rotation, same, given, start, q, best):
    """Keep the pose of a lane in `best` if it is the closest so far; of those as close, the nearest to a start."""
    away = 0.0
    for value in range(values if given else 0):
        x = load(start, value)
        d = turned_back(limits, value, load(q, WIDTH * value + lane), x) - x
        away += d * d
    off, least = math.sqrt(error), load(best, CHOICE.least)
    closer = off < least - same or (off <= least + same and away < load(best, CHOICE.away))
    if not closer:
        return
    store(best, CHOICE.least, min(off, least))
    store(best, CHOICE.away, away)
    store(best, CHOICE.position, position)
    store(best, CHOICE.rotation, rotation)
    for value in range(values):
        store(best, CHOICE.size + value, load(q, WIDTH * value + lane))


@part
def fill_starts(chain, tables, rows, values, number, rounds, given, start, pose, one, room, q):
    """Write the starts of a round into the lanes of `q`: those of its share of the wide table that are nearest.

    In the first round, two lanes have the start that was given and the best pose met.
    """
    blocks = WIDE // WIDTH
    first, end = number * blocks // rounds, (number + 1) * blocks // rounds
    rank(tables.frames, NARROW // WIDTH + first, end - first, one, tables.ranks, 0)
    for lane in range(WIDTH):
        met = number == 0 and lane < MET
        frame = 0 if met else take_best(tables.scores, 0, WIDTH)
        for value in range(values):
            x = load(tables.poses, frame * values + value)
            if met:
                x = load(start, value) if given and lane == 0 else load(pose, value)
            store(q, WIDTH * value + lane, within(chain.limits, value, x))
        if travels(chain.settings) and not met:
            aim(chain, rows, values, one, False, room, q, lane, WIDTH)


@part
def take_pool(values, pool, q):
    """Bring the poses of the pool into the lanes; where there are fewer, the first again."""
    for lane in range(WIDTH):
        own = beyond(pool, (POOLED.size + values) * lane)
        if not load(own, POOLED.error) < math.inf:
            own = pool
        for value in range(values):
            store(q, WIDTH * value + lane, load(own, POOLED.size + value))


@part
def closest_pose(chain, tables, rows, values, memory, flow, given, start, pose, effort, books):
    """Leave the pose closest to a goal in the books; `pose` is the best met so far. Return the steps taken.

    Rounds of a few steps tell which starts are worth going on with; the closest of all go on to their minima, and with
    them the start that was given.
    """
    one, best, room, pool = books
    weight, taken = load(chain.settings, SETTINGS.rotation_weight), 0
    for k in range(TRANSFORM.size):
        store(memory.goal, k, load(one, k))
    for k in range(WIDTH):
        store(pool, (POOLED.size + values) * k + POOLED.error, math.inf)
    rounds = effort * (ROUNDS if weight > 0.0 else FEWER_ROUNDS)
    for number in range(rounds):
        fill_starts(chain, tables, rows, values, number, rounds, given, start, pose, one, room, flow.q)
        taken += settle(chain, rows, values, memory, SHORT)
        for lane in range(WIDTH):
            first = 1 if given and number + lane > 0 else 0
            pool_lane(lane, values, load(flow.error, lane), first, flow.q, pool)
    take_pool(values, pool, flow.q)
    taken += settle(chain, rows, values, memory, MOST_STEPS)
    p, r, _ = look(chain, rows, memory, memory.q, memory.axes)
    store(memory.damping, 0, p)
    store(memory.error, 0, r)
    store(best, CHOICE.least, math.inf)
    store(best, CHOICE.away, math.inf)
    same = SAME * load(chain.settings, SETTINGS.arm)
    for lane in range(WIDTH):
        p, r = load(flow.damping, lane), load(flow.error, lane)
        keep_closest(lane, chain.limits, values, p + r * weight * weight, p, r, same, given, start, flow.q, best)
    return taken


@kernel(nogil=True)
def closest_many(codes, numbers, table, targets, given, effort, memory, books, poses, report, status):
    """Bring the poses (m * values,) of targets (m * 16,) that were missed as close as they come.

    What `search_many` has found is in `poses`, `report` and `status`, and is written over; a goal that is reached after
    all is marked so. `given` is as there; `effort` multiplies the number of starts; `newton_room` tells how large
    `memory` and `books` must be.
    """
    rows, count, values = codes.size // CODE.size, status.size, poses.size // status.size
    lanes = divided(cells(memory), newton_sizes(rows, values, 1))
    flow = divided(flat(memory), newton_sizes(rows, values, WIDTH))
    chain = chain_of(cells(codes), cells(numbers), values)
    tables = Tables(cells(table), beyond(flat(table), FRAME.size * FRAMES), lanes.ranks, flow.ranks)
    notes, settings = divided(cells(books), book_sizes(values, aim_room(rows, values))), chain.settings
    any_given = given.size > 0
    for problem in range(count):
        outcome = load(cells(status), problem)
        if outcome != CLOSEST and outcome != BEYOND:
            continue
        read_goal(chain.numbers, load(settings, SETTINGS.spin), cells(targets), 16 * problem, notes.goal)
        pose, own = beyond(cells(poses), values * problem), beyond(cells(report), REPORT.size * problem)
        start = beyond(cells(given), values * problem if any_given else 0)
        taken = closest_pose(chain, tables, rows, values, lanes, flow, any_given, start, pose, effort, notes)
        best = notes.best
        p, r = load(best, CHOICE.position), load(best, CHOICE.rotation)
        store(own, REPORT.position_error, p)
        store(own, REPORT.rotation_error, r)
        store(own, REPORT.steps, load(own, REPORT.steps) + float64(taken))
        for value in range(values):
            store(pose, value, load(best, CHOICE.size + value))
        if any_given:
            turn_back(chain.limits, values, start, pose)
        if p <= load(settings, SETTINGS.near) and r <= load(settings, SETTINGS.aligned):
            store(cells(status), problem, REACHED)


@inner
def newton_sizes(rows, values, width):
    """Return how much each part of the memory takes: in lanes where the width is 1, else in numbers."""
    one, axes = width * values, width * (6 * rows + TRANSFORM.size)
    goal, work = width * TRANSFORM.size, 6 * width * rows
    return Newton(goal, one, axes, one, axes, work, one * values, one, one, one, width, width, 0)


@inner
def book_sizes(values, aiming):
    """Return how many numbers each part of the books takes; `aiming` is what `aim` works in."""
    return Books(TRANSFORM.size, CHOICE.size + values, aiming, WIDTH * (POOLED.size + values))


def newton_room(rows: int, values: int) -> tuple[tuple[int, int], int]:
    """Return the shape of `memory` and the size of `books` for a chain's rows and values."""
    lanes = sum(newton_sizes.py_func(rows, values, 1)) + 2  # the ranks of the tables
    return (lanes, WIDTH), sum(book_sizes.py_func(values, aim_room.py_func(rows, values)))
