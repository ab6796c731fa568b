"""The search for poses that reach many goals, on a graphics card: a thread for each descent.

The host launches these one after another, and again on the problems
that are left:

    race        all at once for few problems: threads of a block race for each; what is not reached is left
    prepare     reads targets, sees which are goals and may be in reach, and ranks the narrow table of starts
    rank        ranks the wide table, for problems that are left
    descend     descents; threads stay, and take the next one when theirs is over. Where there are more threads than
                problems, several of them race for one: `racers`
    accept      looks at what was found in double precision, and writes the answer or notes the problem as left
    judge       the same, thoroughly: polishes what has arrived, and keeps the best pose of what has not
    close       brings the best pose closer, and says how many more starts are worth trying

What a problem's answer is does not depend on the others, nor on which thread comes first: of racers, the one with the
fewest steps wins. Memory is numbers in a row, by problem, or by descent (`pose`, `error`, `found`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32

from .chain_memory import NARROW, SETTINGS, WIDE
from .cuda import THREADS, device, kernel
from .cuda_answers import KEY, NO_ONE, TALLY, accept_with, close_with, finish_with, judge_with, polish_with, refuse_with
from .cuda_codegen import Parts
from .joint_step import TRANSFORM
from .search_many import INVALID, REACHED, UNSOLVED
from .starts import FIRST_STARTS, TABLE_STARTS

UNREACHABLE = 2  # starts for a goal out of reach


class Kernels(NamedTuple):
    """The kernels of one chain."""

    race: Any
    prepare: Any
    rank: Any
    descend: Any
    accept: Any
    judge: Any
    close: Any


def search_kernels(parts: Parts, *, blocks: int = 4) -> Kernels:
    """Return the kernels for a chain; `blocks` of descents share a multiprocessor."""
    key, fast = parts.key, parts.task.dtype is np.float32
    begin, finish, polish = _begin(parts), finish_with(parts), polish_with(parts)
    return Kernels(
        kernel(_race(parts, finish, polish), key, fast=fast, blocks=2),
        kernel(_prepare(parts), key, blocks=6),
        kernel(_rank(parts), key),
        kernel(_descend(parts, begin), f"{key} {blocks}", fast=fast, blocks=blocks),
        kernel(accept_with(parts, finish), key, blocks=4),
        kernel(judge_with(parts, finish, polish), key),
        kernel(close_with(parts, finish), key),
    )


def _race(parts: Parts, finish: Any, polish: Any) -> Any:
    read, ranked, rounded, step = parts.read, parts.ranked, parts.rounded, parts.step
    take, random_start, exact, within = parts.take_values, parts.random_start, parts.exact, parts.within
    size, values, given_up = math.prod(parts.task.shape), parts.task.values, _given_up(parts)
    refuse, groups, weight = refuse_with(parts), THREADS // TABLE_STARTS or 1, _weight(parts)

    def race(
        targets, known, poses, base, listed, following, counters, out,
        numbers, tolerances,
    ):  # fmt: skip
        count, racers, low, high, seed, first, whole, tally = numbers
        near_to, aligned_to = tolerances
        keys = cuda.shared.array(groups, int32)
        group, racer = cuda.threadIdx.x // racers, cuda.threadIdx.x % racers
        if racer == 0:
            keys[group] = NO_ONE
        if cuda.grid(1) == 0:
            counters[TALLY.open + TALLY.last - tally] = 0
        cuda.syncthreads()
        place = cuda.blockIdx.x * (cuda.blockDim.x // racers) + group
        here = place < count
        problem = listed[place] if here and not whole else place if here else 0
        goal, valid, reach = read(targets, size * problem, known)
        aim, key, start, total, taken, fresh = rounded(goal), NO_ONE, low + racer, 0, 0, True
        order, q, before = ranked(aim), take(poses, 0), near_to
        while here and valid and reach and start < high and key == NO_ONE:
            if fresh and start < TABLE_STARTS:
                q = take(poses, values * ((order[start // 4] >> (16 * (start % 4))) & 0xFFFF))
            elif fresh:
                q = random_start(known, seed, first + problem, start + TABLE_STARTS)
            if fresh:
                fresh, taken = False, 0
            after, p, r = step(q, aim)
            taken, total, now = taken + 1, total + 1, p + r * weight
            if p <= near_to and r <= aligned_to:
                key = KEY * total + racer
                cuda.atomic.min(keys, group, key)
            elif given_up(taken, now, before):
                start, fresh = start + racers, True
            else:
                q, before = after, now
            if cuda.atomic.min(keys, group, NO_ONE) <= KEY * total:
                break
        cuda.syncthreads()
        left = here and racer == 0 and keys[group] == NO_ONE
        if here and key < NO_ONE and keys[group] == key:
            pose, moved, turned, done = polish(within(exact(q)), goal, True, known)
            left = not done
            if done:
                finish(problem, pose, moved, turned, start + 1, REACHED, base, out)
        if left and not valid:
            refuse(problem, base, out)
        elif left:
            out.codes[problem] = UNSOLVED
            following[cuda.atomic.add(counters, tally, 1)] = problem

    return race


def _weight(parts: Parts) -> Any:
    return parts.task.dtype(parts.task.settings[1][SETTINGS.rotation_weight] ** 2)


def _given_up(parts: Parts) -> Any:
    settings, real = parts.task.settings[1], parts.task.dtype
    close, stalled = real(settings[SETTINGS.close]), real(settings[SETTINGS.stalled])
    most, check = int(settings[SETTINGS.most_steps]), int(settings[SETTINGS.check_after])

    def given_up(taken, now, before):
        """Return whether a descent has taken too many steps, or no longer comes closer."""
        return taken >= most or (taken > check and now > close and now > before * stalled)

    return device(given_up, fast=parts.task.dtype is np.float32)


def _prepare(parts: Parts) -> Any:
    read, ranked, rounded, put_goal = parts.read, parts.ranked, parts.rounded, parts.put_goal
    size, unbegun = math.prod(parts.task.shape), -1 if parts.task.given else 0

    def prepare(targets, known, listed, goal, order, allowed, begun, codes, counters, count, tries, whole):
        i = cuda.grid(1)
        if i < TALLY.size:
            counters[i] = 0
        if i < count:
            problem = i if whole else listed[i]
            exact, valid, reach = read(targets, size * problem, known)
            near = rounded(exact)
            put_goal(goal, TRANSFORM.size * problem, near)
            order[2 * problem], order[2 * problem + 1] = ranked(near)
            begun[problem] = unbegun
            allowed[problem] = min(FIRST_STARTS if reach else UNREACHABLE, tries) if valid else 0
            codes[problem] = UNSOLVED if valid else INVALID

    return prepare


def _rank(parts: Parts) -> Any:
    ranked, take_goal, first = parts.ranked_widely, parts.take_goal, NARROW // TABLE_STARTS

    def rank(table, goal, listed, order, count):
        i = cuda.grid(1)
        if i < count:
            problem = listed[i]
            near = take_goal(goal, TRANSFORM.size * problem)
            order[2 * problem], order[2 * problem + 1] = ranked(near, table, first, first + WIDE // TABLE_STARTS)

    return rank


def _begin(parts: Parts) -> Any:
    take, within, single, random_start = parts.take_values, parts.within, parts.single, parts.random_start
    values = parts.task.values

    def begin(start, problem, order, poses, given, known, seed, first):
        if start < 0:
            return single(within(take(given, values * problem)))
        if start < FIRST_STARTS:
            four = order[2 * problem + (start // 4) % 2]
            return take(poses, values * ((four >> (16 * (start % 4))) & 0xFFFF))
        return random_start(known, seed, first + problem, start)

    return device(begin)


def _descend(parts: Parts, begin: Any) -> Any:
    step, take_goal, take_values, put_values = parts.step, parts.take_goal, parts.take_values, parts.put_values
    values, infinity, weight, given_up = parts.task.values, parts.task.dtype(math.inf), _weight(parts), _given_up(parts)

    def descend(
        goal, order, poses, given, known, listed, allowed, begun, keys, pose, error, found, counters, numbers,
        tolerances,
    ):  # fmt: skip
        count, racers, grain, low, high, seed, first, whole = numbers
        near_to, aligned_to = tolerances
        slot, end, busy, fresh, problem, start, last = 0, 0, False, False, 0, 0, 0
        taken, total, best, before = 0, 0, infinity, infinity
        if cuda.grid(1) == 0:
            counters[TALLY.left] = 0
        aim, q = take_goal(goal, 0), take_values(poses, 0)
        while True:
            if not busy:
                if slot >= end:
                    slot = int32(cuda.atomic.add(counters, TALLY.taken, grain))
                    end = min(slot + grain, count * racers)
                    if slot >= end:
                        break
                place = slot // racers
                problem = place if whole else listed[place]
                start, last = max(low, begun[problem]) + slot - place * racers, min(high, allowed[problem])
                if start >= last:
                    found[slot], error[slot], slot = 0, infinity, slot + 1
                    continue
                aim, busy, fresh, total, best = take_goal(goal, TRANSFORM.size * problem), True, True, 0, infinity
            if fresh:
                q = begin(start, problem, order, poses, given, known, seed, first)
                fresh, taken = False, 0
            after, p, r = step(q, aim)
            taken, total, now = taken + 1, total + 1, p + r * weight
            if p <= near_to and r <= aligned_to:
                put_values(pose, values * slot, q)
                found[slot], error[slot] = start + 2, now  # a given start is -1
                if racers > 1:
                    cuda.atomic.min(keys, slot // racers, KEY * total + slot % racers)
                slot, busy = slot + 1, False
            elif given_up(taken, now, before):
                if now < best:
                    best = now
                    put_values(pose, values * slot, q)
                start, fresh = start + racers, True
                if start >= last:
                    found[slot], error[slot], slot, busy = 0, best, slot + 1, False
            else:
                q, before = after, now
            if racers > 1 and busy and cuda.atomic.min(keys, slot // racers, NO_ONE) <= KEY * total:
                found[slot], error[slot], slot, busy = 0, infinity, slot + 1, False

    return descend
