"""Poses near goals that cannot be reached: sixteen goals in parallel lanes, each from a few poses of a table.

The table holds poses at the edge of a chain's workspace: those closest to goals out of its reach. The pose nearest to a
goal from each share of the table makes one sweep, in which every joint, from the last to the first, moves to its
optimum with the others fixed. The best continue by Newton's method (objective: see `newton`), then the best of these.
Goals that still improve wait until there are enough of them to fill all lanes, and continue. Everything is in single
precision. `closest` is slower and more thorough: more starts, and every descent to convergence.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import inner, kernel, part
from .chain_memory import CODE, ENDS, FRAME, LIMITS, SETTINGS, chain_of
from .closed_form.angles import atan2
from .damped import TURN, axes_of, bounds, error_at, within
from .joint_step import PRISMATIC, REVOLUTE, ROUND, ROUND_32, ROW_NUMBERS, TRANSFORM, sine_cosine, vector
from .lanes import beyond, by_precision, cells, divided, fill, flat, load, select, sqrt, store
from .layout import Layout
from .newton import FIRST_DAMPING, look_at_all, newton_sizes, newton_step
from .rotations import cross, dot, minus, plus, times
from .search_many import BEYOND, CLOSEST
from .starts import read_goal

WIDTH = 16
# number of starts from the table, one from each share; whether the present pose of a goal is one more; number of
# finalists, four at most, their sweeps and their steps; steps of the best finalist, and how often these are repeated if
# they help
PLAN = Layout("shares", "met", "finalists", "sweeps", "first", "last", "rounds")
HELPS = 0.995  # ratio of squared errors, after to before, below which steps help
FINALISTS, FINALIST = 4, Layout("error", "damping")  # number of poses that continue; the pose follows
NOTE = Layout("problem", "rounds")  # of a lane, and of a waiting goal
WAITING, WAITS = 2 * WIDTH, Layout(("goal", TRANSFORM.size), "damping")  # maximum number of waiting goals; poses follow
Kept = namedtuple("Kept", "finalists where before")
Line = namedtuple("Line", "notes queue count")  # of waiting goals: NOTE, WAITS, and their number


@inner
def kept_sizes(values, width):
    """Return the sizes of the memory parts beside Newton's: in vectors of lanes if `width` is 1, else in numbers."""
    return Kept(width * FINALISTS * (FINALIST.size + values), width, width)


# Starts


@part
def nearest_frame(table, first, end, goal):
    """Return the frame of a part of the table that is nearest to the goal of each lane; see `starts.rank`."""
    best, where = fill(goal, math.inf), fill(goal, 0.0)
    for frame in range(first, end):
        row = FRAME.size * frame
        away = fill(goal, load(table, row + FRAME.constant))
        for k in range(TRANSFORM.size):
            away = away + load(table, row + FRAME.factors + k) * load(goal, k)
        nearer = away < best
        best, where = select(nearer, away, best), select(nearer, np.float64(frame), where)
    return where


@part
def take_goals(chain, targets, status, count, at, one, goal, notes):
    """Read the next missed goals, from `at` on; return how many there are, and where to continue.

    Unused lanes repeat the first goal.
    """
    found = 0
    while at < count and found < WIDTH:
        if load(status, at) == CLOSEST or load(status, at) == BEYOND:
            read_goal(chain.numbers, load(chain.settings, SETTINGS.spin), targets, 16 * at, one)
            for lane in range(found, found + 1 if found > 0 else WIDTH):
                put_goal(one, goal, lane)
            store(notes, NOTE.size * found + NOTE.problem, at)
            store(notes, NOTE.size * found + NOTE.rounds, 0)
            found += 1
        at += 1
    return found, at


@inner
def put_goal(one, goal, lane):
    """Write a goal into a lane."""
    for k in range(TRANSFORM.size):
        store(goal, WIDTH * k + lane, np.float32(load(one, k)))


@part
def take_poses(values, poses, where, q):
    """Give each lane the pose of its frame of the table."""
    for lane in range(WIDTH):
        pose = beyond(poses, values * np.int64(load(where, lane)))
        for value in range(values):
            store(q, WIDTH * value + lane, load(pose, value))


@part
def take_met(limits, values, poses, notes, found, q):
    """Give each lane the present pose of its goal."""
    for lane in range(WIDTH):
        pose = beyond(poses, values * load(notes, NOTE.size * (lane if lane < found else 0) + NOTE.problem))
        for value in range(values):
            store(q, WIDTH * value + lane, np.float32(within(limits, value, np.float32(load(pose, value)))))


# One joint after another


@inner
def leverage(axis, u, v, weight):
    """Return how rotating u about an axis changes its weighted dot product with v: the cosine and sine coefficients."""
    return weight * (dot(u, v) - dot(axis, u) * dot(axis, v)), weight * dot(axis, cross(u, v))


@inner
def turned(axis, cosine, sine, v):
    """Return a vector rotated about an axis."""
    return plus(plus(times(cosine, v), times(sine, cross(axis, v))), times((1.0 - cosine) * dot(axis, v), axis))


@inner
def best_angle(limits, value, x):
    """Return an angle brought within its limits: by whole turns if possible, else clamped to the nearer limit."""
    lower, upper = bounds(limits, value)
    if lower > -math.inf and upper < math.inf and load(limits, LIMITS.size * value + LIMITS.periodic) != 0.0:
        middle, bias = 0.5 * (lower + upper), by_precision(x, ROUND, ROUND_32)
        x = x - TURN * (((x - middle) * (1.0 / TURN) + bias) - bias)
    return within(limits, value, x)


@part
def sweep_joints(chain, rows, memory):
    """Move each joint, from the last to the first, to its optimum with the others fixed; return the squared error.

    Axes, origins and the tip are those stored by `look`. A rotation changes the squared error as
    ``-c cos(angle) - s sin(angle)``, a translation as a parabola. Screws are left unchanged.
    """
    codes, numbers, settings, limits = chain
    goal, q, axes = memory.goal, memory.q, memory.axes
    spin, w = load(settings, SETTINGS.spin), load(settings, SETTINGS.rotation_weight)
    placed, half = load(settings, SETTINGS.position_weights), 0.5 * w * w
    x, y, z, tip = axes_of(axes, 6 * rows)
    gx, gy, gz, there = axes_of(goal, 0)
    for before in range(rows):
        row = rows - 1 - before
        motion, value = load(codes, CODE.size * row + CODE.motion), load(codes, CODE.size * row + CODE.value)
        at = ENDS.size + ROW_NUMBERS.size * row
        gain, was = load(numbers, at + ROW_NUMBERS.multiplier), load(q, value)
        axis, origin = vector(axes, 6 * row), vector(axes, 6 * row + 3)
        if motion == REVOLUTE:
            u = minus(tip, origin)
            c, s = leverage(axis, u, minus(there, origin), placed)
            a, b = leverage(axis, z, gz, half)
            d, e = a, b
            if spin == 0.0:
                (d, e), (f, g) = leverage(axis, x, gx, half), leverage(axis, y, gy, half)
                c, s = c + f, s + g
            now = best_angle(limits, value, was + atan2(s + b + e, c + a + d) * (1.0 / gain))
            sine, cosine = sine_cosine((now - was) * gain)
            x, y, z = turned(axis, cosine, sine, x), turned(axis, cosine, sine, y), turned(axis, cosine, sine, z)
            tip = plus(origin, turned(axis, cosine, sine, u))
            store(q, value, now)
        elif motion == PRISMATIC:
            gain = gain * load(numbers, at + ROW_NUMBERS.advance)
            now = within(limits, value, was + dot(axis, minus(there, tip)) * (placed / gain))
            tip = plus(tip, times((now - was) * gain, axis))
            store(q, value, now)
    _, p, r = error_at(settings, goal, x, y, z, tip)
    return p + r * (w * w)


# Finalists


@part
def keep_better(values, q, error, damping, own):
    """Keep the pose of each lane if it is closer than the one kept."""
    better = error < load(own, FINALIST.error)
    store(own, FINALIST.error, select(better, error, load(own, FINALIST.error)))
    store(own, FINALIST.damping, select(better, damping, load(own, FINALIST.damping)))
    for value in range(values):
        place = FINALIST.size + value
        store(own, place, select(better, load(q, value), load(own, place)))


@part
def begin(chain, rows, values, memory, sweeps, own):
    """Sweep from the poses of all lanes, and keep those that are closer than the pose kept."""
    look_at_all(chain, rows, memory)
    error = load(memory.error, 0)
    for _ in range(sweeps):
        error = sweep_joints(chain, rows, memory)
    keep_better(values, memory.q, error, FIRST_DAMPING * sqrt(error) / load(chain.settings, SETTINGS.arm), own)


@part
def go_on(chain, rows, values, memory, sweeps, steps, own):
    """Refine the kept pose, by sweeps and then by Newton's method; return its squared error before."""
    for value in range(values):
        store(memory.q, value, load(own, FINALIST.size + value))
    look_at_all(chain, rows, memory)
    before = load(memory.error, 0)
    for _ in range(sweeps):
        sweep_joints(chain, rows, memory)
        look_at_all(chain, rows, memory)
    store(memory.damping, 0, load(own, FINALIST.damping))
    for _ in range(steps):  # a fixed number, so that no lane depends on another
        newton_step(chain, rows, values, memory)
    store(own, FINALIST.error, fill(memory.q, math.inf))
    keep_better(values, memory.q, load(memory.error, 0), load(memory.damping, 0), own)
    return before


@part
def descend(chain, rows, values, plan, frames, lanes, flow, kept, where, met):
    """Find poses near the goals in all lanes, and store them with their errors as the first finalist."""
    (table, count), shares = frames, load(plan, PLAN.shares)
    finalists, own = load(plan, PLAN.finalists), FINALIST.size + values
    sweeps = 1 if rows == values else 0  # a joint with followers cannot move alone
    for k in range(finalists):
        store(kept.finalists, own * k + FINALIST.error, fill(lanes.q, math.inf))
    for share in range(shares):
        store(kept.where, 0, nearest_frame(table, share * count // shares, (share + 1) * count // shares, lanes.goal))
        take_poses(values, beyond(table, FRAME.size * count), where, flow.q)
        begin(chain, rows, values, lanes, sweeps, beyond(kept.finalists, own * (share % finalists)))
    if load(plan, PLAN.met) != 0:
        take_met(chain.limits, values, *met, flow.q)
        begin(chain, rows, values, lanes, sweeps, beyond(kept.finalists, own * (shares % finalists)))
    sweeps, steps = sweeps * load(plan, PLAN.sweeps), load(plan, PLAN.first)
    for k in range(finalists):
        one = beyond(kept.finalists, own * k)
        if sweeps + steps > 0:
            go_on(chain, rows, values, lanes, sweeps, steps, one)
        error, damping = load(one, FINALIST.error), load(one, FINALIST.damping)
        keep_better(values, beyond(one, FINALIST.size), error, damping, kept.finalists)


# Waiting goals


@inner
def waiting_at(line, values, number):
    """Return the note and the numbers of a waiting goal."""
    return beyond(line.notes, NOTE.size * number), beyond(line.queue, (WAITS.size + values) * number)


@part
def put_in_line(values, lane, goal, best, note, line):
    """Append the goal of a lane, with its pose, to the waiting goals."""
    number = load(line.count, 0)
    own, numbers = waiting_at(line, values, number)
    store(own, NOTE.problem, load(note, NOTE.problem))
    store(own, NOTE.rounds, load(note, NOTE.rounds) + 1)
    for k in range(TRANSFORM.size):
        store(numbers, WAITS.goal + k, load(goal, WIDTH * k + lane))
    store(numbers, WAITS.damping, load(best, WIDTH * FINALIST.damping + lane))
    for value in range(values):
        store(numbers, WAITS.size + value, load(best, WIDTH * (FINALIST.size + value) + lane))
    store(line.count, 0, number + 1)


@part
def take_waiting(values, line, goal, best, notes):
    """Give the lanes the waiting goals, the last ones first, and their poses; return how many there are.

    Unused lanes repeat one of them.
    """
    count = load(line.count, 0)
    found = min(count, WIDTH)
    for lane in range(WIDTH):
        note, numbers = waiting_at(line, values, count - 1 - (lane if lane < found else 0))
        for k in range(NOTE.size):
            store(notes, NOTE.size * lane + k, load(note, k))
        for k in range(TRANSFORM.size):
            store(goal, WIDTH * k + lane, load(numbers, WAITS.goal + k))
        store(best, WIDTH * FINALIST.damping + lane, load(numbers, WAITS.damping))
        for value in range(values):
            store(best, WIDTH * (FINALIST.size + value) + lane, load(numbers, WAITS.size + value))
    store(line.count, 0, count - found)
    return found


@part
def settle(values, rounds, found, goal, best, before, notes, line, poses):
    """Write the poses of goals that no longer improve, and let the others wait."""
    for lane in range(found):
        note = beyond(notes, NOTE.size * lane)
        helped = load(best, WIDTH * FINALIST.error + lane) < HELPS * load(before, lane)
        if helped and load(note, NOTE.rounds) < rounds:
            put_in_line(values, lane, goal, best, note, line)
            continue
        pose = beyond(poses, values * load(note, NOTE.problem))
        for value in range(values):
            store(pose, value, np.float64(load(best, WIDTH * (FINALIST.size + value) + lane)))


@kernel("i8[] f8[] f4[] f4[] f8[] i8[] f4[,] f4[,] f4[] f8[] i8[] f8[] i8[]", nogil=True)
def closest_quickly(codes, numbers, rough, table, targets, plan, memory, kept, queue, one, notes, poses, status):
    """Bring the poses (m * values,) of missed targets (m * 16,) near to them; the status (m,) tells which are missed.

    `poses` holds the poses found so far and is overwritten. `rough` are the chain's numbers in single precision;
    `table` comes from `edge_table`; `plan` is a PLAN; `quick_room` returns the sizes of the other arrays.
    """
    rows, count, values = codes.size // CODE.size, status.size, poses.size // status.size
    chain, quick = chain_of(cells(codes), cells(numbers), values), chain_of(cells(codes), cells(rough), values)
    lanes = divided(cells(memory), newton_sizes(rows, values, 1))
    flow = divided(flat(memory), newton_sizes(rows, values, WIDTH))
    own, single = divided(cells(kept), kept_sizes(values, 1)), divided(flat(kept), kept_sizes(values, WIDTH))
    frames, slips = (cells(table), table.size // (FRAME.size + values)), cells(notes)
    line = Line(beyond(slips, NOTE.size * WIDTH), cells(queue), beyond(slips, NOTE.size * (WIDTH + WAITING)))
    store(line.count, 0, 0)
    at, steps, rounds = 0, load(cells(plan), PLAN.last), load(cells(plan), PLAN.rounds)
    while True:
        if load(line.count, 0) >= WIDTH or (at == count and load(line.count, 0) > 0):
            found = take_waiting(values, line, flow.goal, single.finalists, slips)
        else:
            found, at = take_goals(chain, cells(targets), cells(status), count, at, cells(one), flow.goal, slips)
            if found == 0 and load(line.count, 0) == 0:
                return
            if found > 0:
                met = cells(poses), slips, found
                descend(quick, rows, values, cells(plan), frames, lanes, flow, own, single.where, met)
        if found > 0:
            store(own.before, 0, go_on(quick, rows, values, lanes, 0, steps, own.finalists))
            settle(values, rounds, found, flow.goal, single.finalists, single.before, slips, line, cells(poses))


def quick_room(rows: int, values: int) -> tuple[tuple[int, int], tuple[int, int], int, int, int]:
    """Return the shapes of `memory` and `kept`, and the sizes of `queue`, `one` and `notes`."""
    newton, kept = sum(newton_sizes.py_func(rows, values, 1)), sum(kept_sizes.py_func(values, 1))
    queue, notes = WAITING * (WAITS.size + values), NOTE.size * (WIDTH + WAITING) + 1
    return (newton, WIDTH), (kept, WIDTH), queue, TRANSFORM.size, notes


def edge_table(frames: NDArray[Any], poses: NDArray[Any]) -> NDArray[np.float32]:
    """Return frames (n, FRAME.size) and the poses (n, values) that reach them in the layout of the kernel."""
    return np.concatenate([frames.reshape(-1), poses.reshape(-1)]).astype(np.float32)
