"""What follows a descent on a GPU: a check in double precision, an answer, or another attempt.

`cuda_search` describes the kernels and when they are launched.
"""

from __future__ import annotations

import math
from typing import Any

from numba import cuda

from . import lanes
from .chain_memory import SETTINGS
from .cuda import device, shared
from .cuda_parts import Parts
from .layout import Layout
from .search_many import BEYOND, CLOSEST, CLOSING, INVALID, REACHED
from .starts import FIRST_STARTS, starts_worth_trying
from .symbolic import rebuilt

# counters: descents taken, problems left by a judge, by closing in or a race, and by another race
TALLY = Layout("taken", "left", "open", "last")
KEY, NO_ONE = 1024, 2**31 - 1  # a racer's key is KEY times its steps, plus its number
POLISH = 30  # steps in double precision for results of descents


def polish_with(parts: Parts) -> Any:
    """Return the device function that checks a pose in double precision."""
    error_of, step = parts.exact_error, parts.exact_step

    def polish(card, q, aim, arrived, known):
        """Return a pose, its errors and whether it is within tolerance; one that had arrived is refined if needed."""
        near, aligned, tries = known[SETTINGS.near], known[SETTINGS.aligned], 0
        while True:
            p, r = error_of(card, q, aim)
            good = p <= near and r <= aligned
            if good or not arrived or tries >= POLISH:
                return q, p, r, good
            q, _, _ = step(card, q, aim, 0.0)
            tries += 1

    return device(polish)


def finish_with(parts: Parts) -> Any:
    """Return the device function that writes an answer."""
    write, asked = parts.write, parts.asked

    def finish(card, problem, q, p, r, starts, outcome, base, out):
        """Write the answer to a problem."""
        answers, residuals, restarts, codes, reached = out
        write(card, answers, problem, q, base)
        away, off = math.sqrt(p), 2.0 * math.asin(min(0.5 * math.sqrt(r), 1.0))
        moved, turned = asked(card)
        if moved and turned:
            residuals[2 * problem], residuals[2 * problem + 1] = away, off
        else:
            residuals[problem] = away if moved else off
        restarts[problem], codes[problem], reached[problem] = starts, outcome, outcome == REACHED

    return device(finish)


def refuse_with(parts: Parts) -> Any:
    """Return the device function that writes the answer to an invalid target."""
    refuse_pose, asked = parts.refuse, parts.asked

    def refuse(card, problem, base, out):
        """Write the answer to an invalid problem."""
        answers, residuals, restarts, codes, reached = out
        refuse_pose(card, answers, problem, base)
        moved, turned = asked(card)
        blocks = 2 if moved and turned else 1
        for k in range(blocks):
            residuals[blocks * problem + k] = math.nan
        restarts[problem], codes[problem], reached[problem] = 0, INVALID, False

    return device(refuse)


def accept_with(parts: Parts, finish: Any) -> Any:
    """Return the kernel `accept`."""
    read, exact, within, error_of, take = parts.read, parts.exact, parts.within, parts.exact_error, parts.take
    refuse = refuse_with(parts)

    def accept(card, targets, known, base, following, pose, found, counters, out, count):
        problem = cuda.grid(1)
        if problem == 0:
            counters[TALLY.taken] = 0
        if problem >= count:
            return
        if found[problem] > 0:
            aim, _, _ = read(card, targets, problem, known)
            q = within(card, exact(take(card, pose, problem)))
            p, r = error_of(card, q, aim)
            if p <= known[SETTINGS.near] and r <= known[SETTINGS.aligned]:
                finish(card, problem, q, p, r, found[problem] - 1, REACHED, base, out)
                return
        if out.codes[problem] == INVALID:
            refuse(card, problem, base, out)
        else:
            following[cuda.atomic.add(counters, TALLY.left, 1)] = problem

    return accept


def winner_of(slot, racers, key, error):
    """Return the index of the descent of a problem that arrived first or, if none did, came closest."""
    if key < NO_ONE:
        return slot + key % KEY
    best = slot
    for k in range(slot + 1, slot + racers):
        if error[k] < error[best]:
            best = k
    return best


def judge_with(parts: Parts, finish: Any, polish: Any) -> Any:
    """Return the kernel `judge`."""
    read, exact, within, take, put = parts.read, parts.exact, parts.within, parts.take, parts.put
    error_of, winner, refuse, weight_of = parts.exact_error, device(winner_of), refuse_with(parts), parts.exact_weight

    def judge(
        card, targets, known, base, listed, following, allowed, begun, keys, pose, error, found, counters, best,
        nearest, out, count, racers, high, whole, fresh, last,
    ):  # fmt: skip
        place = cuda.grid(1)
        if place == 0:
            counters[TALLY.taken] = counters[TALLY.open] = 0
        if place >= count:
            return
        problem = place if whole else listed[place]
        if out.codes[problem] == INVALID:
            refuse(card, problem, base, out)
            return
        slot, weight = place, weight_of(card)
        if racers > 1:
            slot = winner(place * racers, racers, keys[place], error)
            keys[place] = NO_ONE
        if fresh:
            nearest[problem] = math.inf
        arrived, better = found[slot] > 0, False
        aim, _, _ = read(card, targets, problem, known)
        if arrived or error[slot] < math.inf:
            q, p, r, good = polish(card, within(card, exact(take(card, pose, slot))), aim, arrived, known)
            if arrived and good:
                finish(card, problem, q, p, r, found[slot] - 1, REACHED, base, out)
                return
            better = p + r * weight < nearest[problem]
            if better:
                nearest[problem] = p + r * weight
                put(card, best, problem, q)
        begun[problem] = max(begun[problem], min(high, allowed[problem]))
        if last and not better:
            q = take(card, best, problem)
            p, r = error_of(card, q, aim)
            finish(card, problem, q, p, r, begun[problem], CLOSEST, base, out)
        else:
            following[cuda.atomic.add(counters, TALLY.left, 1)] = problem

    return judge


def close_with(parts: Parts, finish: Any) -> Any:
    """Return the kernel `close`."""
    read, error_of, step, take, put = parts.read, parts.exact_error, parts.exact_step, parts.take, parts.put
    worth_trying = rebuilt(starts_worth_trying, {lanes.load: shared(item_of)}, device)
    weight_of, caution_of, steps = parts.exact_weight, parts.caution, int(CLOSING)

    def close(
        card, targets, known, base, listed, following, allowed, begun, counters, best, nearest, out, count, tries
    ):  # fmt: skip
        place = cuda.grid(1)
        if place >= count:
            return
        problem, weight, caution = listed[place], weight_of(card), caution_of(card)
        near, aligned = known[SETTINGS.near], known[SETTINGS.aligned]
        aim, _, _ = read(card, targets, problem, known)
        q, taken, first_p, first_r = take(card, best, problem), 0, 0.0, 0.0
        while True:
            p, r = error_of(card, q, aim)
            if taken == 0:
                first_p, first_r = p, r
            if taken >= steps or (p <= near and r <= aligned):
                break
            q, _, _ = step(card, q, aim, caution)
            taken += 1
        if p + r * weight < nearest[problem]:
            nearest[problem] = p + r * weight
            put(card, best, problem, q)
        else:
            q, p, r = take(card, best, problem), first_p, first_r
        starts, most, outcome = begun[problem], allowed[problem], REACHED
        if not (p <= near and r <= aligned):
            outcome = CLOSEST if most >= min(FIRST_STARTS, tries) else BEYOND
            most = worth_trying(known, nearest[problem], tries) if outcome == CLOSEST else starts
            if starts < most:
                allowed[problem] = most
                following[cuda.atomic.add(counters, TALLY.open, 1)] = problem
                return
        finish(card, problem, q, p, r, starts, outcome, base, out)

    return close


def item_of(memory, item):
    """Return an item of memory."""
    return memory[item]
