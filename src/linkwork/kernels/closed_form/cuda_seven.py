"""One solution of a seven-joint arm on a GPU: angles of the held joint are tried until one has a pose.

Angles are shares of the two arcs on which joint c can reach, as on the CPU: TRY.

There are two kernels, generated for one arm. `choose` finds, for each goal, the first angle with a pose within limits
and the best of its eight; a thread whose goal is done takes the next one of its block at once. Goals differ in the
number of angles they need, so threads in lockstep would wait for the slowest. `settle` computes the chosen pose and
checks it in double precision, as for every answer: poses that fail are left to a search, as are goals that no angle
solves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, int32
from numpy.typing import NDArray

from ..chain_memory import SETTINGS
from ..cuda import KINDS, PLACE, device, kernel, of_source
from ..cuda_answers import TALLY, finish_with, refuse_with
from ..cuda_codegen import known_numbers
from ..cuda_parts import Parts, arguments
from ..rotations import dot
from ..search_many import REACHED, UNSOLVED
from ..symbolic import WORD, Cells, Symbol, Trace, by_need, compiled, moved
from .seven import (
    ARC,
    ARM,
    GOAL,
    HELD,
    JOINTS,
    LIMIT,
    NONE,
    C,
    before_held,
    both_poses,
    branch,
    put_arc,
    put_goal,
    put_values,
    rated,
    real,
    swung,
)
from .seven_answers import TRY, arc_angle

TARGET = 12  # significant numbers of a target
POSES = 8  # per angle: the codes of chosen poses count them
TRIED, SIGNS = ("share", "arc"), ("elbow", "side", "flip")
BLOCKS = {"float32": 6, "float64": 3}  # of `choose` that must fit on a multiprocessor


def tried(tries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the kernels read of TRY (n, 3): its share and its arc, shape (n, 2)."""
    record = TRY.view(tries)
    return np.stack([record.share, record.side], axis=-1)


class SevenKernels(NamedTuple):
    """The kernels of a closed form."""

    choose: Any
    settle: Any


def seven_kernels(numbers: NDArray[np.float64], parts: Parts) -> SevenKernels:
    """Return the kernels for an arm, ARM, and the parts of the search that goes with them."""
    form = WrittenSeven(numbers, parts.dtype)
    kinds, fast = arguments("f4" if parts.dtype is np.float32 else "f8"), parts.dtype is np.float32
    kinds |= {"angles": kinds["pose"]}
    key = hashlib.sha256(f"{form.key} {parts.key}".encode()).hexdigest()
    blocks = BLOCKS[np.dtype(parts.dtype).name]
    return SevenKernels(
        kernel(_choose(form), kinds, key, fast=fast, blocks=blocks),
        kernel(_settle(form, parts), kinds, key, blocks=4),
    )


class WrittenSeven:
    """The device functions of an arm, in one precision.

    Args:
        numbers: The arm: ARM.
        dtype: The precision.

    Attributes:
        aim: ``aim(target)`` returns what all angles share, from the numbers of a target.
        best: ``best(common, share, arc)`` returns which of the eight poses for an angle is the best, or -1 if there is
            none; and all within limits, as bits.
        pose_of: ``pose_of(target, share, arc, pose)`` returns the chain's values of one of the eight.
        take: Reads the numbers of a target from memory.
        key: Identifies what they were generated from.
    """

    def __init__(self, numbers: NDArray[np.float64], dtype: Any) -> None:
        self.dtype = dtype
        (self.aim, self.best), key = self._search(numbers)
        values, text = self._values(numbers)
        self.pose_of = _signed(values, dtype)
        self.take, self.key = self._take(), f"{key} {text}"

    def _traced(self, numbers: NDArray[np.float64]) -> tuple[Trace, Cells, Cells, tuple[Any, Any]]:
        """Return a trace, the arm, a goal and the pair of the held joint."""
        trace, arm, goal = Trace(self.dtype), known_numbers(numbers), Cells([0.0] * GOAL.size)
        t = [trace.line(f"target[{k}]") for k in range(TARGET)]
        rows = (t[0], t[1], t[2]), (t[4], t[5], t[6]), (t[8], t[9], t[10])
        trace.of(put_goal)(arm, rows, (t[3], t[7], t[11]), goal)
        arc, (share, side) = Cells([0.0] * ARC.size), (Symbol(trace, name) for name in TRIED)
        trace.of(put_arc)(arm, goal, arc)
        angle = trace.of(arc_angle)(arm, (arc[ARC.middle], arc[ARC.begin], arc[ARC.end]), share, side)
        sine, cosine = trace.sine_cosine(angle)
        return trace, arm, goal, (cosine, sine)

    def _search(self, numbers: NDArray[np.float64]) -> tuple[tuple[Any, Any], str]:
        trace, arm, goal, held = self._traced(numbers)
        limits = LIMIT.view(ARM.view(numbers).limits.reshape(JOINTS, -1))
        prefer = known_numbers(np.stack([limits.middle_cosine, limits.middle_sine], axis=1))
        elbow, side = (Symbol(trace, name) for name in SIGNS[:2])
        p, axis, beside = trace.of(before_held)(arm, goal, held)
        c, reached = trace.of(swung)(arm, ARM.distance, dot.py_func(p, p), elbow)
        rate = trace.of(rated)(arm, prefer, HELD, held, (0.0, trace.of(real)(reached, 1.0)))
        here = trace.of(rated)(arm, prefer, C, c, rate)
        _, one, two, _ = trace.of(both_poses)(arm, prefer, p, axis, beside, c, side, here)
        return _searching(trace, rate[1], here[1], (one[3], two[3]))

    def _values(self, numbers: NDArray[np.float64]) -> tuple[Any, str]:
        trace, arm, goal, held = self._traced(numbers)
        signs = [Symbol(trace, name) for name in SIGNS]
        pairs, _ = trace.of(branch)(arm, goal, held, *signs)
        values = Cells([0.0] * JOINTS)
        trace.of(put_values)(arm, Cells(x for pair in pairs for x in pair), values)
        order = list(values)[:: -1 if ARM.view(numbers).backwards else 1]
        source = trace.source("values", ["target", *TRIED, *SIGNS], [trace.tuple(order)])
        function, text = of_source(trace, "values", source)
        return function, text

    def _take(self) -> Any:
        listed = ", ".join(f"kind(memory[place(at + {k})])" for k in range(TARGET))
        names = {"place": PLACE, "kind": KINDS[np.dtype(self.dtype).name]}
        return device(compiled("take", f"def take(memory, at):\n    return ({listed})\n", names))


def _signed(values: Any, dtype: Any) -> Any:
    """Return the function `pose_of`, from one that takes signs."""
    plus, minus = dtype(1.0), dtype(-1.0)

    def pose_of(target, share, arc, pose):
        elbow, side = minus if pose & 4 else plus, minus if pose & 2 else plus
        return values(target, share, arc, elbow, side, minus if pose & 1 else plus)

    return device(pose_of, fast=dtype is np.float32)


def _searching(trace: Trace, begun: Any, bent: Any, scores: tuple[Any, Any]) -> tuple[tuple[Any, Any], str]:
    """Return the functions `aim` and `best`, and a text that identifies them.

    Each line of a trace is placed where it runs least often: per goal, angle, c or side of a and b.
    """
    plus, minus, none = trace.text(1.0), trace.text(-1.0), trace.text(NONE)
    zero = trace.text(0.0)
    groups = by_need(trace.lines, (*TRIED, *SIGNS[:2]))
    goal, turn, bends, sides = groups[0], [*groups[1], *groups[2]], groups[3], groups[4]
    kept = _needed_later(goal, [*turn, *bends, *sides])
    of_goal = ["def aim(target):", *moved(1, goal), f"    return ({', '.join(kept)},)", ""]
    ends = []
    for k, score in enumerate(scores):
        ends += [f"if {score.name} > {none}:", f"    every |= 1 << (4 * j + 2 * k + {k})"]
        ends += [f"if {score.name} > most:", f"    most, found = {score.name}, 4 * j + 2 * k + {k}"]
    of_angle = [
        f"def best(common, {', '.join(TRIED)}):",
        *moved(1, [f"({', '.join(kept)},) = common", *turn, f"most, found, every = {none}, -1, 0"]),
        f"    if {trace.text(begun)} >= {zero}:",
        "        for j in range(2):",
        *moved(3, [f"elbow = {minus} if j else {plus}", *bends, f"if {trace.text(bent)} >= {zero}:"]),
        "                for k in range(2):",
        *moved(5, [f"side = {minus} if k else {plus}", *sides, *ends]),
        "    return found, every",
        "",
    ]
    made = [of_source(trace, *item) for item in (("aim", "\n".join(of_goal)), ("best", "\n".join(of_angle)))]
    return (made[0][0], made[1][0]), " ".join(text for _, text in made)


def _needed_later(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the names of lines that other lines use."""
    words = {word for line in others for word in WORD.findall(line)}
    return [name for name in (line.partition(" = ")[0] for line in lines) if name in words]


def _choose(form: WrittenSeven) -> Any:
    take, aim, best = form.take, form.aim, form.best

    def choose(targets, angles, found, counters, count, tries):
        following = cuda.shared.array(1, int32)
        share = -(-count // cuda.gridDim.x)
        first = share * cuda.blockIdx.x
        end = min(first + share, count)
        if cuda.threadIdx.x == 0:
            following[0] = first
        if cuda.grid(1) < TALLY.size:
            counters[cuda.grid(1)] = 0
        cuda.syncthreads()
        problem, tried = first, tries
        common = aim(take(targets, 0))
        while True:
            if tried == tries:
                problem, tried = cuda.atomic.add(following, 0, 1), 0
                if problem >= end:
                    break
                common = aim(take(targets, 16 * problem))
            pose, _ = best(common, angles[PLACE(2 * tried)], angles[PLACE(2 * tried + 1)])
            tried += 1
            if pose >= 0:
                found[PLACE(problem)] = POSES * tried + pose
                tried = tries
            elif tried == tries:
                found[PLACE(problem)] = 0

    return choose


def _settle(form: WrittenSeven, parts: Parts) -> Any:
    take, pose_of = form.take, form.pose_of
    read, exact, within, error_of = parts.read, parts.exact, parts.within, parts.exact_error
    finish, refuse = finish_with(parts), refuse_with(parts)

    def settle(card, targets, known, base, angles, following, found, counters, out, count):
        problem = cuda.grid(1)
        if problem >= count:
            return
        goal, valid, _ = read(card, targets, problem, known)
        if not valid:
            refuse(card, problem, base, out)
            return
        chosen = found[problem]
        if chosen > 0:
            tried, pose = chosen // POSES - 1, chosen % POSES
            q = pose_of(take(targets, 16 * problem), angles[2 * tried], angles[2 * tried + 1], pose)
            q = within(card, exact(q))
            p, r = error_of(card, q, goal)
            if p <= known[SETTINGS.near] and r <= known[SETTINGS.aligned]:
                finish(card, problem, q, p, r, 0, REACHED, base, out)
                return
        out.codes[problem] = UNSOLVED
        following[cuda.atomic.add(counters, TALLY.left, 1)] = problem

    return settle
