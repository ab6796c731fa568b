"""The device functions of a GPU search for any chain: they read it from memory, as on the CPU.

`cuda_codegen` has the same functions generated for one chain. Those take a third of a minute to compile and are faster;
these are compiled ahead of time, so that a first batch need not wait.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
from numba import cuda, float64
from numpy.typing import NDArray

from . import lanes
from .chain_memory import CODE, LIMITS, NARROW, SETTINGS
from .cuda import EXACT, KINDS, PLACE, both_of_any, cast, choose, device, items, put, shared, wrapped
from .cuda_codegen import PLACES, Task, limit_of, ranked_widely
from .cuda_parts import CardChain, Parts
from .damped import TURN, damped_step, nearest_copy, tip_error, within
from .joint_step import TRANSFORM, sine_cosine, xyz_quaternion
from .layout import Layout
from .starts import TABLE_STARTS, in_reach, random_value, read_goal
from .symbolic import compiled, rebuilt

BOUNDS = {8: 12, 24: 32}  # largest number of values of each set of kernels, and its largest number of rows
GOAL = TRANSFORM.size
FACTS = Layout(
    "joints",  # number of rows of the chain
    "values",
    "nq",  # size of a pose
    "width",  # number of items of a target
    ("places", 16),  # of a target's numbers in a 4x4 matrix; -1 for missing ones
    "spins",  # whether targets are rotated first
    "given",
    "moved",  # whether the position counts
    "turned",  # and the rotation
    "most_steps",
    "check_after",
    "plain",  # number of PLAIN that follow
    "balls",  # number of BALL that follow them
    "open",  # number of indices that follow them, of angles that are brought near to those of the start
    "whole",
)
PLAIN = Layout("inside", "outside", "turns")  # a value of the chain, its index in the pose, whether it is turned back
BALL = Layout("inside", "outside", "angles")  # there are always three; a loop of three would be unrolled
EXTRAS = Layout(("turn", 9))  # rotation of targets; the lower and upper limits of the pose follow


def bound_of(task: Task) -> int:
    """Return the smallest bound that a chain fits, or 0 if it has too many values or rows."""
    rows = len(task.codes) // CODE.size
    return next((bound for bound, most in BOUNDS.items() if task.values <= bound and rows <= most), 0)


def card_of(task: Task, frames: NDArray[Any]) -> CardChain:
    """Return the data of a chain for the kernels; `frames` are those of both tables."""
    limits = LIMITS.view(task.limits)
    turns = task.given & (limits.periodic != 0.0) & (limits.upper - limits.lower >= TURN)
    plain = [(i, o, turns[i] and o not in task.open) for i, o in task.plain.tolist()]
    balls = [(*ball, 3) for ball in task.balls]
    places = np.full(16, -1)
    places[list(PLACES[task.shape])] = range(len(PLACES[task.shape]))
    facts = FACTS.pack(
        dtype=np.int64,
        joints=len(task.codes) // CODE.size,
        values=task.values,
        nq=task.nq,
        width=math.prod(task.shape),
        places=places,
        spins=task.turn is not None,
        given=task.given,
        moved=task.asked[0],
        turned=task.asked[1],
        most_steps=task.settings[1][SETTINGS.most_steps],
        check_after=task.settings[1][SETTINGS.check_after],
        plain=len(plain),
        balls=len(task.balls),
        open=len(task.open),
        whole=task.whole,
    )
    lists = (np.array(numbers, np.int64).ravel() for numbers in (plain, balls, task.open))
    turn = np.eye(3) if task.turn is None else task.turn
    exact, rough = (np.concatenate([settings, task.limits.ravel(), task.numbers]) for settings in task.settings)
    with np.errstate(over="ignore"):
        rough = rough.astype(task.dtype)
    extras = np.concatenate([turn.ravel(), task.bounds.ravel()])
    return CardChain(task.codes, exact, rough, frames.ravel(), np.concatenate([facts, *lists]), extras)


class AnyParts(Parts):
    """The functions for chains with a bounded number of values.

    Args:
        dtype: Precision of descents.
        bound: One of BOUNDS.
    """

    def __init__(self, dtype: Any, bound: int) -> None:
        self.dtype, self.bound, self.rows = dtype, bound, BOUNDS[bound]
        kind = np.dtype(dtype).name
        self.key = f"any {kind} {bound}"
        self.step, self.exact_step, self.exact_error = self._step(), self._exact_step(), self._error()
        self.within, self.read, self.write, self.refuse = self._within(), _read(), _write(bound), device(_refuse)
        self.ranked_widely = ranked_widely(dtype)
        self.ranked, self.random_start = _ranked(self.ranked_widely), _random_start(kind, bound)
        self.take, self.put = _take(bound), _put(bound)
        self.given_up, self.weight = device(_given_up, fast=dtype is np.float32), device(_weight)
        self.exact_weight, self.caution = device(_exact_weight), device(_caution)
        self.given, self.asked = device(_given), device(_asked)
        self.single, self.exact = cast("single", bound, kind), cast("exact", bound, "float64")
        self.rounded = cast("rounded", TRANSFORM.size, kind)

    def _step(self) -> Any:
        kind, bound, work_size = KINDS[np.dtype(self.dtype).name], self.bound, 6 * self.rows
        one, none = of_memory(damped_step, self.dtype), self.dtype(0.0)
        spread, gather, spread_goal = put("spread", bound), items("gather", bound), put("spread_goal", GOAL)

        def step(card, q, goal):
            pose, after = cuda.local.array(bound, kind), cuda.local.array(bound, kind)
            work, there = cuda.local.array(work_size, kind), cuda.local.array(GOAL, kind)
            values = card.facts[FACTS.values]
            spread(pose, 0, q)
            spread_goal(there, 0, goal)
            p, r = one(
                (card.codes, 0), (card.rough, SETTINGS.size + LIMITS.size * values), card.facts[FACTS.joints],
                (card.rough, 0), (card.rough, SETTINGS.size), values, (there, 0), (pose, 0), (work, 0), (after, 0),
                none,
            )  # fmt: skip
            return gather(after, 0), p, r

        return device(step, fast=self.dtype is np.float32)

    def _exact_step(self) -> Any:
        bound, work_size, one = self.bound, 6 * self.rows, of_memory(damped_step, np.float64)
        spread, gather, spread_goal = put("spread", bound), items("gather", bound), put("spread_goal", GOAL)

        def exact_step(card, q, goal, caution):
            pose, after = cuda.local.array(bound, float64), cuda.local.array(bound, float64)
            work, there = cuda.local.array(work_size, float64), cuda.local.array(GOAL, float64)
            values = card.facts[FACTS.values]
            spread(pose, 0, q)
            spread_goal(there, 0, goal)
            p, r = one(
                (card.codes, 0), (card.numbers, SETTINGS.size + LIMITS.size * values), card.facts[FACTS.joints],
                (card.numbers, 0), (card.numbers, SETTINGS.size), values, (there, 0), (pose, 0), (work, 0), (after, 0),
                caution,
            )  # fmt: skip
            return gather(after, 0), p, r

        return device(exact_step)

    def _error(self) -> Any:
        bound, work_size, one = self.bound, 6 * self.rows, of_memory(tip_error, np.float64)
        spread, spread_goal = put("spread", bound), put("spread_goal", GOAL)

        def exact_error(card, q, goal):
            pose, work = cuda.local.array(bound, float64), cuda.local.array(work_size, float64)
            there = cuda.local.array(GOAL, float64)
            spread(pose, 0, q)
            spread_goal(there, 0, goal)
            numbers = card.numbers, SETTINGS.size + LIMITS.size * card.facts[FACTS.values]
            _, _, _, p, r = one(
                (card.codes, 0), numbers, card.facts[FACTS.joints], (card.numbers, 0), (there, 0), (pose, 0), (work, 0)
            )
            return p, r

        return device(exact_error)

    def _within(self) -> Any:
        one = of_memory(within, np.float64)

        def clipped(card, x, value):
            return one((card.numbers, SETTINGS.size), value, x) if value < card.facts[FACTS.values] else x

        listed = ", ".join(f"clipped(card, q[{k}], {k})" for k in range(self.bound))
        text = f"def within(card, q):\n    return ({listed},)\n"
        return device(compiled("within", text, {"clipped": device(clipped)}))


# A part of the CPU's kernels, with memory as a pair of an array and an index


def of_memory(function: Any, dtype: Any) -> Any:
    """Return a part of kernels as a device function whose memory is pairs of an array and an index in it."""
    fast = dtype is np.float32

    def root(x):
        return math.sqrt(x)

    def fill(_memory, value):
        return dtype(value)

    stand_ins: dict[Any, Any] = {
        lanes.load: shared(_load),
        lanes.store: shared(_store),
        lanes.fill: device(fill),
        lanes.select: shared(choose, fast=fast),
        lanes.sqrt: device(root, fast=fast),
        sine_cosine: shared(both_of_any if fast else EXACT, fast=fast),
    }
    return rebuilt(function, stand_ins, lambda plain: device(in_precision(plain, dtype), fast=fast))


def in_precision(function: Any, dtype: Any) -> Any:
    """Return a function with its constants in a precision; double constants would make all numbers double."""

    def of(value: Any) -> Any:
        return dtype(value) if type(value) is float else value

    with np.errstate(over="ignore"):  # from constants that other functions of the module use
        code = function.__code__.replace(co_consts=tuple(map(of, function.__code__.co_consts)))
        names = {name: of(value) for name, value in function.__globals__.items()}
    return FunctionType(code, names, function.__name__)


def _load(memory, item):
    return memory[0][PLACE(memory[1] + item)]


def _store(memory, item, value):
    memory[0][PLACE(memory[1] + item)] = value


# Targets and answers


def _read() -> Any:
    read_target, reachable = of_memory(read_goal, np.float64), of_memory(in_reach, np.float64)
    gather = items("gather", GOAL)

    def read(card, targets, problem, known):
        matrix, goal = cuda.local.array(16, float64), cuda.local.array(GOAL, float64)
        at, turn = card.facts[FACTS.width] * problem, card.extras
        for k in range(16):
            place = card.facts[FACTS.places + k]
            matrix[k] = targets[PLACE(at + place)] if place >= 0 else 1.0 if k % 5 == 0 else 0.0
        if card.facts[FACTS.spins]:
            for row in range(0, 12, 4):
                x, y, z = matrix[row], matrix[row + 1], matrix[row + 2]
                for k in range(3):
                    matrix[row + k] = x * turn[k] + y * turn[3 + k] + z * turn[6 + k]
        numbers = card.numbers, SETTINGS.size + LIMITS.size * card.facts[FACTS.values]
        valid = read_target(numbers, card.numbers[SETTINGS.spin], (matrix, 0), 0, (goal, 0))
        return gather(goal, 0), valid, reachable((known, 0), (goal, 0))

    return device(read)


def _write(bound: int) -> Any:
    spread, copy, near = put("spread", bound), shared(nearest_copy.py_func), shared(wrapped)
    quaternion, put_turn, halves = device(xyz_quaternion), put("put_turn", 4), shared(EXACT)

    def write(card, answers, problem, q, base):
        values, facts, nq = cuda.local.array(bound, float64), card.facts, card.facts[FACTS.nq]
        sines, cosines = cuda.local.array(3, float64), cuda.local.array(3, float64)
        spread(values, 0, q)
        at, begin = nq * problem, nq * problem if facts[FACTS.given] else 0
        for k in range(nq):
            answers[PLACE(at + k)] = base[PLACE(begin + k)]
        entry = FACTS.size
        for _ in range(facts[FACTS.plain]):
            inside, outside = facts[PLACE(entry + PLAIN.inside)], facts[PLACE(entry + PLAIN.outside)]
            x, limit = values[PLACE(inside)], SETTINGS.size + LIMITS.size * inside
            if facts[PLACE(entry + PLAIN.turns)]:
                lower, upper = card.numbers[PLACE(limit + LIMITS.lower)], card.numbers[PLACE(limit + LIMITS.upper)]
                x = copy(x, base[PLACE(begin + outside)], lower, upper)
            answers[PLACE(at + outside)] = x
            entry += PLAIN.size
        for _ in range(facts[FACTS.balls]):
            inside, outside = facts[PLACE(entry + BALL.inside)], at + facts[PLACE(entry + BALL.outside)]
            for k in range(facts[PLACE(entry + BALL.angles)]):
                sines[PLACE(k)], cosines[PLACE(k)] = halves(0.5 * values[PLACE(inside + k)])
            turn = quaternion((sines[0], sines[1], sines[2]), (cosines[0], cosines[1], cosines[2]))
            put_turn(answers, outside, turn)
            entry += BALL.size
        if not facts[FACTS.whole]:
            for k in range(nq):
                lower, upper = card.extras[PLACE(EXTRAS.size + k)], card.extras[PLACE(EXTRAS.size + nq + k)]
                answers[PLACE(at + k)] = min(max(answers[PLACE(at + k)], lower), upper)
        for k in range(facts[FACTS.open]):
            outside = facts[PLACE(entry + k)]
            start = base[PLACE(begin + outside)]
            answers[PLACE(at + outside)] = start + near(answers[PLACE(at + outside)] - start)

    return device(write)


def _refuse(card, answers, problem, base):
    nq = card.facts[FACTS.nq]
    begin = nq * problem if card.facts[FACTS.given] else 0
    for k in range(nq):
        answers[PLACE(nq * problem + k)] = base[PLACE(begin + k)]


# Starts


def _ranked(widely: Any) -> Any:
    end = NARROW // TABLE_STARTS

    def ranked(card, goal):
        return widely(goal, card.table, 0, end)

    return device(ranked)


def _random_start(kind: str, bound: int) -> Any:
    one = rebuilt(random_value, {lanes.load: shared(limit_of)}, device)

    gather, real = items("gather", bound), KINDS[kind]

    def random_start(card, known, seed, problem, start):
        q = cuda.local.array(bound, real)
        for value in range(bound):
            q[value] = one(known, seed, problem, start, value) if value < card.facts[FACTS.values] else 0.0
        return gather(q, 0)

    return device(random_start)


def _take(bound: int) -> Any:
    listed = ", ".join(f"memory[place(at + min({k}, values - 1))]" for k in range(bound))
    lines = ("def take(card, memory, row):", "values = card.facts[VALUES]", "at = values * row", f"return ({listed},)")
    text = "\n    ".join(lines) + "\n"
    return device(compiled("take", text, {"VALUES": FACTS.values, "place": PLACE}))


def _put(bound: int) -> Any:
    lines = "".join(f"    if {k} < values:\n        memory[place(values * row + {k})] = q[{k}]\n" for k in range(bound))
    text = f"def give(card, memory, row, q):\n    values = card.facts[VALUES]\n{lines}"
    return device(compiled("give", text, {"VALUES": FACTS.values, "place": PLACE}))


# Data of the chain


def _given_up(card, taken, now, before):
    return taken >= card.facts[FACTS.most_steps] or (
        taken > card.facts[FACTS.check_after]
        and now > card.rough[SETTINGS.close]
        and now > before * card.rough[SETTINGS.stalled]
    )


def _weight(card):
    return card.rough[SETTINGS.rotation_weight] * card.rough[SETTINGS.rotation_weight]


def _exact_weight(card):
    return card.numbers[SETTINGS.rotation_weight] * card.numbers[SETTINGS.rotation_weight]


def _caution(card):
    return card.numbers[SETTINGS.caution]


def _given(card):
    return card.facts[FACTS.given] != 0


def _asked(card):
    return card.facts[FACTS.moved] != 0, card.facts[FACTS.turned] != 0
