"""Start poses from tables and hashed random numbers, goals, and when a search gives up.

Shared by the searches for one goal, for many goals, and on a GPU. The arrays are laid out in `chain_memory`.
"""

from __future__ import annotations

import math

import numpy as np

from . import inner, part
from .chain_memory import ENDS, FRAME, LIMITS, NARROW, SETTINGS, WIDE
from .damped import axes_of
from .joint_step import TRANSFORM, blend, pick, vector
from .lanes import fill, load, select, store
from .rigid import is_rigid
from .rotations import dot, minus

TABLE_STARTS = 8  # number taken from each of the two tables
FIRST_STARTS = 2 * TABLE_STARTS
PLENTY, EDGE = 300.0, 0.25  # a sufficient number of starts, and the share of the bound that is allowed beyond it
MIDDLE, SPREAD = 40, 0.7  # starts before this one lie in the middle part of the range


@inner
def mixed(key):
    """Return 64 well-mixed bits of a key (splitmix64)."""
    z = key + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def uniform(seed, problem, start, value):
    """Return a number in [0, 1) that depends only on these four arguments."""
    key = mixed(np.uint64(seed) ^ mixed(np.uint64(problem) ^ mixed(np.uint64(start) ^ mixed(np.uint64(value)))))
    return np.float64(key >> np.uint64(11)) * 2.0**-53


@inner
def random_value(limits, seed, problem, start, value):
    """Return one value of a random start."""
    u = uniform(seed, problem, start, value)
    if start < MIDDLE:
        u = 0.5 + SPREAD * (u - 0.5)
    at = LIMITS.size * value
    low, high = np.float64(load(limits, at + LIMITS.start_low)), np.float64(load(limits, at + LIMITS.start_high))
    return low + (high - low) * u


@inner
def put_row(numbers, spin, row, axes, p, goal):
    """Write a row of a target, numbers or lanes, into a goal; unless it may spin, the tip's own rotation is removed."""
    store(goal, TRANSFORM.origin + row, p)
    for k in range(3):
        tip = ENDS.tip + TRANSFORM.axes + k
        turned = axes[0] * load(numbers, tip) + axes[1] * load(numbers, tip + 3) + axes[2] * load(numbers, tip + 6)
        store(goal, TRANSFORM.axes + 3 * k + row, pick(k, *axes) if spin != 0.0 else turned)


@part
def read_goal(numbers, spin, targets, at, goal):
    """Write the goal of a 4x4 target stored row by row from `at` on; return whether it is rigid and not too far."""
    for row in range(3):
        put_row(numbers, spin, row, vector(targets, at + 4 * row), load(targets, at + 4 * row + 3), goal)
    return is_rigid(targets, at)


@inner
def inside(settings, shell, p):
    """Return whether a point lies between the two spheres of a shell, given by their squared radii."""
    away = minus(p, vector(settings, SETTINGS.centre))
    square = dot(away, away)
    return (load(settings, shell) <= square) & (square <= load(settings, shell + 1))


@part
def in_reach(settings, goal):
    """Return whether a goal lies in the shell of the tip, and the point it implies on the last axis in its shell."""
    x, y, z, p = axes_of(goal, 0)
    point = minus(p, blend(x, y, z, *vector(settings, SETTINGS.point)))
    return inside(settings, SETTINGS.shell, p) & inside(settings, SETTINGS.point_shell, point)


@part
def rank(table, first, blocks, goal, ranks, at):
    """Write, for each lane of a table, the distance and block of its frame nearest to the goal, to two rows from `at`.

    The squared distance of a frame from a goal is a constant of the frame, plus the dot product of the goal's twelve
    numbers with the frame's, plus a term common to all frames. The table holds the constant and the twelve numbers,
    weighted.
    """
    best, where = fill(table, math.inf), fill(table, 0.0)
    for block in range(first, first + blocks):
        row = FRAME.size * block
        away = load(table, row + FRAME.constant)
        for k in range(TRANSFORM.size):
            away = away + load(table, row + FRAME.factors + k) * load(goal, k)
        nearer = away < best
        best, where = select(nearer, away, best), select(nearer, np.float64(block), where)
    store(ranks, at, best)
    store(ranks, at + 1, where)


@part
def take_best(scores, at, width):
    """Return the index of the nearest frame found by `rank` that was not taken yet, and mark it as taken."""
    best, lane = load(scores, at), 0
    for k in range(1, width):
        score = load(scores, at + k)
        nearer = score < best
        best, lane = select(nearer, score, best), select(nearer, k, lane)
    store(scores, at + lane, math.inf)
    return np.int64(load(scores, at + width + lane)) * width + lane


@part
def put_start(chain, values, tables, goal, row, seed, problem, start, q, lane, width):
    """Write one start for a goal into a lane of `q`.

    The first starts come from the tables, which are ranked when their first pose is needed; ranks are kept in two rows
    from `row` on. The others are random.
    """
    table, poses, ranks, scores = tables
    if start == 0:
        rank(table, 0, NARROW // width, goal, ranks, row)
    elif start == TABLE_STARTS:
        rank(table, NARROW // width, WIDE // width, goal, ranks, row)
    frame = take_best(scores, row * width, width) if start < FIRST_STARTS else 0
    for value in range(values):
        if start < FIRST_STARTS:
            x = np.float64(load(poses, frame * values + value))
        else:
            x = random_value(chain.limits, seed, problem, start, value)
        store(q, width * value + lane, x)


@part
def starts_worth_trying(settings, error, tries):
    """Return the number of starts worth trying, given the squared error of the closest pose so far.

    With more starts, failed ones end closer to a goal that can be reached: after n starts, the best of them is rarely
    further than a bound divided by n. A goal further than that is considered out of reach. A few hundred starts are
    enough except for goals at the very edge of reach, where the best pose is almost there.
    """
    bound = load(settings, SETTINGS.start_bound) / math.sqrt(max(error, 1e-300))
    return np.int64(min(max(min(bound, PLENTY), EDGE * bound, FIRST_STARTS), tries))
