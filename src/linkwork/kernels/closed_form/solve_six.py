"""All solutions of six-joint arms in closed form: for one goal, with branches in lanes; or for many goals.

A branch is a choice of three roots, each by a sign. The signs are stored in lanes: for one goal every lane has its own
three (`n` is 1); for many goals the lanes hold goals, and both signs of each root are tried (`n` is 2). So one source
serves both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import inner, kernel, part
from ..joint_step import TRANSFORM, blend
from ..lanes import beyond, bits, cells, fabs, fill, flat, gather, load, scatter, select, store
from ..rigid import is_rigid
from ..rotations import cross, dot, minus, plus
from .check import SLACK, broken_by, nearest_whole, put_values, within_limits
from .form_layout import (
    ANSWER,
    BRANCH,
    BRANCHES,
    CLOSE,
    CODES,
    DISTINCT,
    FREE,
    GOAL,
    JOINTS,
    NUMBERS,
    WRIST,
    columns,
)
from .parallel import solve as solve_parallel
from .polish import POLISH_ROOM, needs_polish, polish
from .wrist import solve as solve_wrists

WIDTH = 8
ROOTS = 3
SOLUTION, CONTINUUM = 1, 2  # of a branch, in a mask
BYTES = 0x0101010101010101  # the lowest bit of each of eight bytes
TOGETHER = GOAL.size + BRANCHES * BRANCH.size + POLISH_ROOM  # where `all_many` collects the values of a block
APART = 1.0e-6  # solutions whose values differ by less are the same [rad, m]


@inner
def put_motion(codes, numbers, goal):
    """Write the product of the solved joints' motions: ``T tip^-1``, or its inverse if the arm is seen from its end."""
    x, y, z, p = columns(goal, GOAL.target)
    off = minus(z, cross(x, y))
    store(goal, GOAL.flaw, 0.5 * dot(off, off))
    ux, uy, uz, up = columns(numbers, NUMBERS.untip)
    a, b, c = blend(x, y, z, *ux), blend(x, y, z, *uy), blend(x, y, z, *uz)
    o = plus(p, blend(x, y, z, *up))
    if load(codes, CODES.backwards):
        o = -dot(a, o), -dot(b, o), -dot(c, o)
        a, b, c = (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])
    for k in range(3):
        store(goal, GOAL.motion + TRANSFORM.axes + k, a[k])
        store(goal, GOAL.motion + TRANSFORM.axes + 3 + k, b[k])
        store(goal, GOAL.motion + TRANSFORM.axes + 6 + k, c[k])
        store(goal, GOAL.motion + TRANSFORM.origin + k, o[k])


@inner
def put_home(codes, numbers, start, given, goal):
    """Write the values of the solved joints at a start, or at the middle of their limits: used if any value would do.

    A start is one number, or lanes, for each joint.
    """
    for joint in range(JOINTS):
        home = fill(goal, load(numbers, NUMBERS.middle + joint))
        if given:
            home = fill(goal, 0.0) + load(start, joint)
        solved = load(codes, CODES.place + joint)
        sense = load(numbers, NUMBERS.sense + solved) * load(numbers, NUMBERS.scale + joint)
        store(goal, GOAL.home + solved, home * sense)


@inner
def solve_branches(codes, numbers, signs, n, goal, found, work):
    """Find and check all branches of a goal, its target and home, in lanes; `work` is a workspace of POLISH_ROOM."""
    put_motion(codes, numbers, goal)
    if load(codes, CODES.family) == WRIST:
        solve_wrists(codes, numbers, signs, n, goal, found)
    else:
        solve_parallel(codes, numbers, signs, n, goal, found)
    for branch in range(n * n * n):
        one = beyond(found, BRANCH.size * branch)
        put_values(codes, numbers, one)
        if load(codes, CODES.polish) > 0 and bits(needs_polish(numbers, one)) != 0:
            polish(codes, numbers, goal, one, work)


@inner
def kind_of(found, signs, n, i, j, k):
    """Return the largest multiplicity of a branch's roots, DISTINCT and so on, and where another branch has the same.

    If two roots coincide, the branch with the positive sign represents both.
    """
    worst, second = fill(found, 0.0), fill(found, 0.0)
    for stage in range(ROOTS):
        same = load(found, BRANCH.same + stage)
        sign = load(signs, n * stage + (i if stage == 0 else j if stage == 1 else k))
        worst = select(same > worst, same, worst)
        one = ((same > DISTINCT) & (same < CLOSE)) | (same > CLOSE)
        second = select(one & (sign < 0.0), 1.0, second)
    return worst, second


@inner
def is_special(found):
    """Return where the roots of a branch are not all distinct."""
    return load(found, BRANCH.same) + load(found, BRANCH.same + 1) + load(found, BRANCH.same + 2) > DISTINCT


@inner
def may_be_continuum(found):
    """Return where a branch represents a continuum, or may: a double root has only half the digits.

    So if two roots are double at once, there may be a continuum next to them that does not look like one.
    """
    free, doubles = fill(found, 0.0), fill(found, 0.0)
    for stage in range(ROOTS):
        same = load(found, BRANCH.same + stage)
        free = select(same >= FREE, 1.0, free)
        doubles = doubles + select(same >= CLOSE, 1.0, 0.0)
    return (free > 0.5) | (doubles > 1.5)


@inner
def reaches(found, near, aligned_to):
    """Return the lanes in which a branch reaches the goal: its squared errors are at most these."""
    return (load(found, BRANCH.position) <= near) & (load(found, BRANCH.rotation) <= aligned_to)


@inner
def settle(numbers, found, start, given):
    """Bring the values of a branch within limits, near a start if given; return where that succeeds, and the distance.

    The distance is squared, and zero without a start. A start is one number, or lanes, for each joint.
    """
    away, beyond_limits = fill(found, 0.0), fill(found, 0.0)
    for joint in range(JOINTS):
        home = fill(found, load(numbers, NUMBERS.middle + joint))
        if given:
            home = fill(found, 0.0) + load(start, joint)
        value, broken = within_limits(numbers, found, joint, home)
        beyond_limits = select(broken <= SLACK, beyond_limits, 1.0)
        store(found, BRANCH.values + joint, value)
        if given:
            away = away + (value - home) * (value - home)
    return beyond_limits < 0.5, away


@inner
def settle_in_middle(numbers, found):
    """Bring the values of a branch near the middle of their limits; return where they are within them.

    No other copy of an angle is within limits where this one is not. Values beyond by rounding are clamped to the
    limit.
    """
    worst = fill(found, -1.0)
    for joint in range(JOINTS):
        value, middle = load(found, BRANCH.values + joint), load(numbers, NUMBERS.middle + joint)
        turns = nearest_whole((middle - value) * load(numbers, NUMBERS.frequency + joint))
        value = value + load(numbers, NUMBERS.period + joint) * turns
        store(found, BRANCH.values + joint, value)
        broken = broken_by(value, load(numbers, NUMBERS.lower + joint), load(numbers, NUMBERS.upper + joint))
        worst = select(broken > worst, broken, worst)
    inside = worst <= SLACK
    if bits(inside & (worst > 0.0)) != 0:
        settle(numbers, found, numbers, False)
    return inside


@part
def write_answer(lane, found, away, kind, answer):
    """Copy the solution of one lane into an answer; `found` is memory of single numbers."""
    for joint in range(JOINTS):
        store(answer, ANSWER.values + joint, load(found, WIDTH * (BRANCH.values + joint) + lane))
    store(answer, ANSWER.position, math.sqrt(load(found, WIDTH * BRANCH.position + lane)))
    store(answer, ANSWER.rotation, math.sqrt(load(found, WIDTH * BRANCH.rotation + lane)))
    store(answer, ANSWER.same, kind)
    store(answer, ANSWER.away, away)


@part
def sort_in(lane, found, away, kind, answers, count):
    """Insert the solution of one lane into the answers, sorted by distance."""
    at = count
    while at > 0 and load(answers, ANSWER.size * (at - 1) + ANSWER.away) > away:
        for k in range(ANSWER.size):
            store(answers, ANSWER.size * at + k, load(answers, ANSWER.size * (at - 1) + k))
        at -= 1
    write_answer(lane, found, away, kind, beyond(answers, ANSWER.size * at))


@part
def is_new(lane, found, numbers, answers, count):
    """Return whether the solution of one lane differs from all answers, up to whole turns."""
    for answer in range(count):
        apart = 0.0
        for joint in range(JOINTS):
            value = load(found, WIDTH * (BRANCH.values + joint) + lane)
            way = value - load(answers, ANSWER.size * answer + ANSWER.values + joint)
            period = load(numbers, NUMBERS.period + joint)
            apart = max(apart, abs(way - period * nearest_whole(way / period)))
        if apart < APART:
            return False
    return True


@kernel("i8[] f8[] f8[,] f8[,] f8[] f8 f8 f8[,] -> i8")
def all_one(codes, numbers, signs, target, start, near, aligned_to, out):
    """Write all solutions of a target, nearest to a start first; return how many, -1 if it is not a rigid (4, 4).

    Squared errors may be up to `near` and `aligned_to`. Without a start (empty), solutions come in the order of their
    branches. `out` begins with the answers; the rest is workspace, see `answers_room`: it keeps the data of every
    branch, also of those without a solution.
    """
    goal = beyond(cells(out), ANSWER.size)
    found, given, memory = beyond(goal, GOAL.size), cells(start), cells(numbers)
    aim = flat(target)
    if target.shape[0] != 4 or target.shape[1] != 4 or not is_rigid(aim, 0):
        return -1
    for row in range(3):
        for column in range(4):
            store(goal, GOAL.target + 3 * column + row, fill(goal, load(aim, 4 * row + column)))
    work, merged = beyond(found, BRANCH.size + 2), load(cells(codes), CODES.merged)
    put_home(cells(codes), memory, given, start.size > 0, goal)
    solve_branches(cells(codes), memory, cells(signs), 1, goal, found, work)
    good, away = settle(memory, found, given, start.size > 0)
    good = good & reaches(found, near, aligned_to)
    kind, second = kind_of(found, cells(signs), 1, 0, 0, 0)
    if merged:
        second = fill(found, 0.0)
    left = bits(good & (second < 0.5))
    store(found, BRANCH.size, away)
    store(found, BRANCH.size + 1, kind)
    count, places = 0, beyond(flat(out), WIDTH * (ANSWER.size + GOAL.size))
    for lane in range(WIDTH):
        if (left >> lane) & 1:
            far, what = load(places, WIDTH * BRANCH.size + lane), load(places, WIDTH * (BRANCH.size + 1) + lane)
            if not merged or is_new(lane, places, memory, flat(out), count):
                sort_in(lane, places, far, what, flat(out), count)
                count += 1
    return count


@inner
def gather_goals(targets, first, goal):
    """Load the targets from `first` on into lanes."""
    for row in range(3):
        for column in range(4):
            store(goal, GOAL.target + 3 * column + row, gather(targets, 16 * first + 4 * row + column, 16))


@inner
def last_rows(targets, first):
    """Return the lanes in which the last row of a target, from `first` on, is that of a transform."""
    at = 16 * first + 12
    x, y, z = gather(targets, at, 16), gather(targets, at + 1, 16), gather(targets, at + 2, 16)
    return (fabs(x) + fabs(y) + fabs(z) <= 0.0) & (fabs(gather(targets, at + 3, 16) - 1.0) <= 0.0)


@inner
def give_branch(values, branch, found, good):
    """Write a branch of the goals in lanes to the values of all their branches, NaN where it is not a solution."""
    for joint in range(JOINTS):
        value = select(good, load(found, BRANCH.values + joint), math.nan)
        scatter(values, JOINTS * branch + joint, JOINTS * BRANCHES, value)


@inner
def give_masks(mask, first, solved, continua):
    """Write the masks of goals in lanes, a byte for each branch; they come as bits, eight lanes for each branch."""
    for lane in range(WIDTH):
        store(mask, first + lane, SOLUTION * ((solved >> lane) & BYTES) + CONTINUUM * ((continua >> lane) & BYTES))


@part
def seen_before(numbers, found, branch):
    """Return the lanes, as ones, in which a branch has the values of an earlier one, up to whole turns."""
    seen = fill(found, 0.0)
    for other in range(branch):
        apart = fill(found, 0.0)
        for joint in range(JOINTS):
            value = load(found, BRANCH.size * branch + BRANCH.values + joint)
            way = value - load(found, BRANCH.size * other + BRANCH.values + joint)
            period = load(numbers, NUMBERS.period + joint)
            way = fabs(way - period * nearest_whole(way / period))
            apart = select(way > apart, way, apart)
        seen = select(apart < APART, 1.0, seen)
    return seen


@kernel("i8[] f8[] f8[,] f8[] f8 f8 f8[,] f8[,] i8[]", nogil=True)
def all_many(codes, numbers, signs, targets, near, aligned_to, room, values, mask):
    """Write the solutions of targets (m * 16,), m >= 8: values (m * 6, 8), in rows of 8 numbers, and a mask (m,).

    The mask has a byte for each branch: SOLUTION if it is one, and CONTINUUM if the branch, within limits or not,
    represents a continuum, or may.

    A solution is stored at the index of its branch, so its index does not change while a target moves: each target has
    eight times six values. They are collected in `room`, of shape `many_room`, and copied from there line by line,
    which suits the cache.
    """
    count, goal, memory = mask.size, cells(room), cells(numbers)
    found = beyond(goal, GOAL.size)
    work = beyond(found, BRANCHES * BRANCH.size)
    together, places = beyond(work, POLISH_ROOM), beyond(flat(room), WIDTH * TOGETHER)
    put_home(cells(codes), memory, memory, False, goal)
    for first in range(0, count, WIDTH):
        at = min(first, count - WIDTH)  # the last block overlaps the one before, so that every lane has a goal
        gather_goals(cells(targets), at, goal)
        solve_branches(cells(codes), memory, cells(signs), 2, goal, found, work)
        solved, continua, whole = 0, 0, last_rows(cells(targets), at)
        for branch in range(BRANCHES):
            one = beyond(found, BRANCH.size * branch)
            good = settle_in_middle(memory, one)
            there = whole & reaches(one, near, aligned_to)
            good, second = good & there, fill(one, 0.0)
            if load(cells(codes), CODES.merged):
                second = seen_before(memory, found, branch)
            if bits(is_special(one)) != 0:
                if not load(cells(codes), CODES.merged):
                    _, second = kind_of(one, cells(signs), 2, branch >> 2, (branch >> 1) & 1, branch & 1)
                continua |= bits(there & may_be_continuum(one)) << (WIDTH * branch)
            good = good & (second < 0.5)
            give_branch(places, branch, one, good)
            solved |= bits(good) << (WIDTH * branch)
        for row in range(BRANCHES * JOINTS):
            store(cells(values), JOINTS * at + row, load(together, row))
        give_masks(cells(mask), at, solved, continua)


def many_room() -> tuple[int, int]:
    """Return the shape of the workspace of `all_many`."""
    return TOGETHER + BRANCHES * JOINTS, WIDTH


def answers_room() -> tuple[int, int]:
    """Return the shape of the output of `all_one`; its first ANSWER.size rows are the answers of eight branches."""
    return ANSWER.size + GOAL.size + BRANCH.size + 2 + POLISH_ROOM, WIDTH


def branch_signs(n: int) -> NDArray[np.float64]:
    """Return the signs in lanes, shape (3 n, 8): for one goal with a branch in each lane (n = 1), or many (n = 2)."""
    if n == 2:
        return np.tile(np.array([1.0, -1.0])[:, None], (ROOTS, WIDTH))
    lanes = np.arange(WIDTH)
    return np.stack([1.0 - 2.0 * ((lanes >> shift) & 1) for shift in (2, 1, 0)])


def branches_in(out: NDArray[np.float64]) -> Any:
    """Return what `all_one` has stored of every branch: BRANCH, by lane, shape (8, BRANCH.size)."""
    at = ANSWER.size + GOAL.size
    return BRANCH.view(np.ascontiguousarray(out[at : at + BRANCH.size].T))


def target_in(out: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the target (4, 4) that was passed to `all_one`."""
    result = np.eye(4)
    result[:3] = out[ANSWER.size : ANSWER.size + TRANSFORM.size, 0].reshape(4, 3).T
    return result
