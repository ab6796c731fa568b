"""What becomes of a descent on a graphics card: a look in double precision, an answer, or another try.

`cuda_search` says what the kernels do and when they are launched.
"""

from __future__ import annotations

import math
from typing import Any

from numba import cuda

from .chain_memory import SETTINGS
from .cuda import device
from .cuda_codegen import Parts
from .layout import Layout
from .search_many import BEYOND, CLOSEST, CLOSING, INVALID, REACHED
from .starts import FIRST_STARTS

# counters: descents taken, problems left by a judge, by closing in or a race, and by another race
TALLY = Layout("taken", "left", "open", "last")
KEY, NO_ONE = 1024, 2**31 - 1  # a racer's key is KEY times its steps, and its number
POLISH = 30  # steps in double precision for what descents have found


def polish_with(parts: Parts) -> Any:
    """Return the device function that looks at a pose in double precision."""
    error_of, step = parts.exact_error, parts.exact_step

    def polish(q, aim, arrived, known):
        """Return a pose, brought closer where it had arrived but is not within tolerance; its errors; if it is now."""
        near, aligned = known[SETTINGS.near], known[SETTINGS.aligned]
        p, r = error_of(q, aim)
        tries = 0
        while arrived and tries < POLISH and not (p <= near and r <= aligned):
            q, _, _ = step(q, aim, 0.0)
            p, r = error_of(q, aim)
            tries += 1
        return q, p, r, p <= near and r <= aligned

    return device(polish)


def finish_with(parts: Parts) -> Any:
    """Return the device function that writes an answer."""
    answer, take_base, put_pose, nq = parts.answer, parts.take_base, parts.put_pose, parts.task.nq
    given, (moved, turned) = parts.task.given, parts.task.asked
    both = moved and turned

    def finish(problem, q, p, r, starts, outcome, base, out):
        """Write the answer to a problem."""
        answers, residuals, restarts, codes, reached = out
        put_pose(answers, nq * problem, answer(q, take_base(base, nq * problem if given else 0)))
        away, off = math.sqrt(p), 2.0 * math.asin(min(0.5 * math.sqrt(r), 1.0))
        if both:
            residuals[2 * problem], residuals[2 * problem + 1] = away, off
        else:
            residuals[problem] = away if moved else off
        restarts[problem], codes[problem], reached[problem] = starts, outcome, outcome == REACHED

    return device(finish)


def refuse_with(parts: Parts) -> Any:
    """Return the device function that writes the answer to what is no target."""
    put_pose, take_base, nq, given = parts.put_pose, parts.take_base, parts.task.nq, parts.task.given
    blocks = sum(parts.task.asked)

    def refuse(problem, base, out):
        """Write the answer to a problem that is none."""
        answers, residuals, restarts, codes, reached = out
        put_pose(answers, nq * problem, take_base(base, nq * problem if given else 0))
        for k in range(blocks):
            residuals[blocks * problem + k] = math.nan
        restarts[problem], codes[problem], reached[problem] = 0, INVALID, False

    return device(refuse)


def accept_with(parts: Parts, finish: Any) -> Any:
    """Return the kernel `accept`."""
    read, exact, within, error_of, take = parts.read, parts.exact, parts.within, parts.exact_error, parts.take_values
    size, values, refuse = math.prod(parts.task.shape), parts.task.values, refuse_with(parts)

    def accept(targets, known, base, following, pose, found, counters, out, count):
        problem = cuda.grid(1)
        if problem == 0:
            counters[TALLY.taken] = 0
        if problem >= count:
            return
        if found[problem] > 0:
            aim, _, _ = read(targets, size * problem, known)
            q = within(exact(take(pose, values * problem)))
            p, r = error_of(q, aim)
            if p <= known[SETTINGS.near] and r <= known[SETTINGS.aligned]:
                finish(problem, q, p, r, found[problem] - 1, REACHED, base, out)
                return
        if out.codes[problem] == INVALID:
            refuse(problem, base, out)
        else:
            following[cuda.atomic.add(counters, TALLY.left, 1)] = problem

    return accept


def winner_of(slot, racers, key, error):
    """Return which of a problem's descents has arrived first or, where none has, come closest."""
    if key < NO_ONE:
        return slot + key % KEY
    best = slot
    for k in range(slot + 1, slot + racers):
        if error[k] < error[best]:
            best = k
    return best


def judge_with(parts: Parts, finish: Any, polish: Any) -> Any:
    """Return the kernel `judge`."""
    read, exact, within, take, put = parts.read, parts.exact, parts.within, parts.take_values, parts.put_values
    size, values = math.prod(parts.task.shape), parts.task.values
    weight = float(parts.task.settings[0][SETTINGS.rotation_weight]) ** 2
    winner, refuse = device(winner_of), refuse_with(parts)

    def judge(
        targets, known, base, listed, following, allowed, begun, keys, pose, error, found, counters, best, nearest,
        out, numbers,
    ):  # fmt: skip
        count, racers, high, whole, fresh, last = numbers
        place = cuda.grid(1)
        if place == 0:
            counters[TALLY.taken] = counters[TALLY.open] = 0
        if place >= count:
            return
        problem = place if whole else listed[place]
        if out.codes[problem] == INVALID:
            refuse(problem, base, out)
            return
        slot = place
        if racers > 1:
            slot = winner(place * racers, racers, keys[place], error)
            keys[place] = NO_ONE
        if fresh:
            nearest[problem] = math.inf
        arrived, better = found[slot] > 0, False
        aim, _, _ = read(targets, size * problem, known)
        if arrived or error[slot] < math.inf:
            q, p, r, good = polish(within(exact(take(pose, values * slot))), aim, arrived, known)
            if arrived and good:
                finish(problem, q, p, r, found[slot] - 1, REACHED, base, out)
                return
            better = p + r * weight < nearest[problem]
            if better:
                nearest[problem] = p + r * weight
                put(best, values * problem, q)
        begun[problem] = max(begun[problem], min(high, allowed[problem]))
        if last and not better:
            q, p, r, _ = polish(take(best, values * problem), aim, False, known)
            finish(problem, q, p, r, begun[problem], CLOSEST, base, out)
        else:
            following[cuda.atomic.add(counters, TALLY.left, 1)] = problem

    return judge


def close_with(parts: Parts, finish: Any) -> Any:
    """Return the kernel `close`."""
    read, error_of, step, take, put = (
        parts.read,
        parts.exact_error,
        parts.exact_step,
        parts.take_values,
        parts.put_values,
    )
    starts_worth_trying = parts.starts_worth_trying
    size, values = math.prod(parts.task.shape), parts.task.values
    weight = float(parts.task.settings[0][SETTINGS.rotation_weight]) ** 2
    caution, steps = float(parts.task.settings[0][SETTINGS.caution]), int(CLOSING)

    def close(
        targets, known, base, listed, following, allowed, begun, counters, best, nearest,
        out, count, tries,
    ):  # fmt: skip
        place = cuda.grid(1)
        if place >= count:
            return
        problem = listed[place]
        near, aligned = known[SETTINGS.near], known[SETTINGS.aligned]
        aim, _, _ = read(targets, size * problem, known)
        kept = take(best, values * problem)
        q, taken = kept, 0
        p, r = error_of(q, aim)
        while taken < steps and not (p <= near and r <= aligned):
            q, _, _ = step(q, aim, caution)
            p, r = error_of(q, aim)
            taken += 1
        if p + r * weight < nearest[problem]:
            nearest[problem] = p + r * weight
            put(best, values * problem, q)
        else:
            q = kept
            p, r = error_of(q, aim)
        starts, most, outcome = begun[problem], allowed[problem], REACHED
        if not (p <= near and r <= aligned):
            outcome = CLOSEST if most >= min(FIRST_STARTS, tries) else BEYOND
            most = starts_worth_trying(known, nearest[problem], tries) if outcome == CLOSEST else starts
            if starts < most:
                allowed[problem] = most
                following[cuda.atomic.add(counters, TALLY.open, 1)] = problem
                return
        finish(problem, q, p, r, starts, outcome, base, out)

    return close
