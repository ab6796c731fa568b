"""The search for poses that reach many goals, on a GPU: one thread for each descent.

The host launches these kernels one after another, and again on the remaining problems:

    race        everything at once for few problems: threads of a block race for each; failures remain
    prepare     reads targets, checks which are valid and may be in reach, and ranks the narrow table of starts
    rank        ranks the wide table, for remaining problems
    descend     descents; threads are persistent, and take the next one when theirs ends. If there are more threads
                than problems, several of them race for one: `racers`
    accept      checks results in double precision, and writes the answer or records the problem as remaining
    judge       the same, thoroughly: polishes poses that have arrived, and keeps the best of those that have not
    close       brings the best pose closer, and decides how many more starts are worth trying

The answer to a problem does not depend on the others, nor on the order of threads: of racers, the one with the fewest
steps wins. Memory is flat, by problem, or by descent (`pose`, `error`, `found`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32

from .chain_memory import NARROW, WIDE
from .cuda import THREADS, device, items, kernel, put
from .cuda_answers import KEY, NO_ONE, TALLY, accept_with, close_with, finish_with, judge_with, polish_with, refuse_with
from .cuda_parts import Parts, arguments
from .joint_step import TRANSFORM
from .search_many import INVALID, REACHED, UNSOLVED
from .starts import FIRST_STARTS, TABLE_STARTS

UNREACHABLE = 2  # number of starts for a goal out of reach


class Kernels(NamedTuple):
    """The kernels of a search."""

    race: Any
    prepare: Any
    rank: Any
    descend: Any
    accept: Any
    judge: Any
    close: Any


def search_kernels(parts: Parts, ptx: dict[str, str] | None = None, *, blocks: int = 4) -> Kernels:
    """Return the kernels of some parts; `blocks` of descents share a multiprocessor. `ptx` has compiled ones."""
    fast, done = parts.dtype is np.float32, ptx or {}
    begin, finish, polish = _begin(parts), finish_with(parts), polish_with(parts)
    kinds = arguments("f4" if fast else "f8")

    def made(function: Any, *, fast: bool = False, blocks: int = 1) -> Any:
        return kernel(function, kinds, parts.key, fast=fast, blocks=blocks, ptx=done.get(function.__name__, ""))

    return Kernels(
        made(_race(parts, finish, polish), fast=fast, blocks=2),
        made(_prepare(parts), blocks=6),
        made(_rank(parts)),
        made(_descend(parts, begin), fast=fast, blocks=blocks),
        made(accept_with(parts, finish), blocks=4),
        made(judge_with(parts, finish, polish)),
        made(close_with(parts, finish)),
    )


def _race(parts: Parts, finish: Any, polish: Any) -> Any:
    read, ranked, rounded, step = parts.read, parts.ranked, parts.rounded, parts.step
    take, random_start, exact, within = parts.take, parts.random_start, parts.exact, parts.within
    given_up, refuse, groups, weight_of = parts.given_up, refuse_with(parts), THREADS // TABLE_STARTS or 1, parts.weight

    def race(
        card, targets, known, poses, base, listed, following, counters, out,
        count, racers, low, high, seed, first, whole, tally, near_to, aligned_to,
    ):  # fmt: skip
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
        goal, valid, reach = read(card, targets, problem, known)
        aim, key, start, total, taken, fresh = rounded(goal), NO_ONE, low + racer, 0, 0, True
        order, q, before, weight = ranked(card, aim), take(card, poses, 0), near_to, weight_of(card)
        while here and valid and reach and start < high and key == NO_ONE:
            if fresh and start < TABLE_STARTS:
                q = take(card, poses, (order[start // 4] >> (16 * (start % 4))) & 0xFFFF)
            elif fresh:
                q = random_start(card, known, seed, first + problem, start + TABLE_STARTS)
            if fresh:
                fresh, taken = False, 0
            after, p, r = step(card, q, aim)
            taken, total, now = taken + 1, total + 1, p + r * weight
            if p <= near_to and r <= aligned_to:
                key = KEY * total + racer
                cuda.atomic.min(keys, group, key)
            elif given_up(card, taken, now, before):
                start, fresh = start + racers, True
            else:
                q, before = after, now
            if cuda.atomic.min(keys, group, NO_ONE) <= KEY * total:
                break
        cuda.syncthreads()
        left = here and racer == 0 and keys[group] == NO_ONE
        if here and key < NO_ONE and keys[group] == key:
            pose, moved, turned, done = polish(card, within(card, exact(q)), goal, True, known)
            left = not done
            if done:
                finish(card, problem, pose, moved, turned, start + 1, REACHED, base, out)
        if left and not valid:
            refuse(card, problem, base, out)
        elif left:
            out.codes[problem] = UNSOLVED
            following[cuda.atomic.add(counters, tally, 1)] = problem

    return race


def _prepare(parts: Parts) -> Any:
    read, ranked, rounded, given = parts.read, parts.ranked, parts.rounded, parts.given
    put_goal = put("put_goal", TRANSFORM.size)

    def prepare(card, targets, known, listed, goal, order, allowed, begun, codes, counters, count, tries, whole):
        i = cuda.grid(1)
        if i < TALLY.size:
            counters[i] = 0
        if i < count:
            problem = i if whole else listed[i]
            exact, valid, reach = read(card, targets, problem, known)
            near = rounded(exact)
            put_goal(goal, TRANSFORM.size * problem, near)
            order[2 * problem], order[2 * problem + 1] = ranked(card, near)
            begun[problem] = -1 if given(card) else 0
            allowed[problem] = min(FIRST_STARTS if reach else UNREACHABLE, tries) if valid else 0
            codes[problem] = UNSOLVED if valid else INVALID

    return prepare


def _rank(parts: Parts) -> Any:
    ranked, take_goal = parts.ranked_widely, items("take_goal", TRANSFORM.size)
    first = NARROW // TABLE_STARTS

    def rank(table, goal, listed, order, count):
        i = cuda.grid(1)
        if i < count:
            problem = listed[i]
            near = take_goal(goal, TRANSFORM.size * problem)
            order[2 * problem], order[2 * problem + 1] = ranked(near, table, first, first + WIDE // TABLE_STARTS)

    return rank


def _begin(parts: Parts) -> Any:
    take, within, single, random_start = parts.take, parts.within, parts.single, parts.random_start

    def begin(card, start, problem, order, poses, given, known, seed, first):
        if start < 0:
            return single(within(card, take(card, given, problem)))
        if start < FIRST_STARTS:
            four = order[2 * problem + (start // 4) % 2]
            return take(card, poses, (four >> (16 * (start % 4))) & 0xFFFF)
        return random_start(card, known, seed, first + problem, start)

    return device(begin)


def _descend(parts: Parts, begin: Any) -> Any:
    step, take, put_values, take_goal = parts.step, parts.take, parts.put, items("take_goal", TRANSFORM.size)
    infinity, weight_of, given_up = parts.dtype(math.inf), parts.weight, parts.given_up

    def descend(
        card, goal, order, poses, given, known, listed, allowed, begun, keys, pose, error, found, counters,
        count, racers, grain, low, high, seed, first, whole, near_to, aligned_to,
    ):  # fmt: skip
        slot, end, busy, fresh, problem, start, last = 0, 0, False, False, 0, 0, 0
        taken, total, best, before = 0, 0, infinity, infinity
        if cuda.grid(1) == 0:
            counters[TALLY.left] = 0
        aim, q, weight = take_goal(goal, 0), take(card, poses, 0), weight_of(card)
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
                q = begin(card, start, problem, order, poses, given, known, seed, first)
                fresh, taken = False, 0
            after, p, r = step(card, q, aim)
            taken, total, now = taken + 1, total + 1, p + r * weight
            if p <= near_to and r <= aligned_to:
                put_values(card, pose, slot, q)
                found[slot], error[slot] = start + 2, now  # a given start is -1
                if racers > 1:
                    cuda.atomic.min(keys, slot // racers, KEY * total + slot % racers)
                slot, busy = slot + 1, False
            elif given_up(card, taken, now, before):
                if now < best:
                    best = now
                    put_values(card, pose, slot, q)
                start, fresh = start + racers, True
                if start >= last:
                    found[slot], error[slot], slot, busy = 0, best, slot + 1, False
            else:
                q, before = after, now
            if racers > 1 and busy and cuda.atomic.min(keys, slot // racers, NO_ONE) <= KEY * total:
                found[slot], error[slot], slot, busy = 0, infinity, slot + 1, False

    return descend
