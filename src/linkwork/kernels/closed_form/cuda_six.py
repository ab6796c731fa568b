"""All solutions on a GPU: a branch of `solve_six` generated for one arm; each thread solves eight for a goal.

Single precision is fast and loses roots where two of them meet. A goal in doubt is recorded, and solved again in double
precision.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from ..cuda import KINDS, PLACE, THREADS, device, kernel, of_source, sync_warp
from ..cuda_codegen import known_numbers, truth
from ..joint_step import TRANSFORM
from ..symbolic import Cells, Symbol, Trace, by_need, compiled, moved
from .check import put_values
from .form_layout import BRANCH, BRANCHES, CODES, GOAL, JOINTS, NUMBERS, WRIST
from .parallel import solve as solve_parallel
from .solve_six import ROOTS, kind_of, may_be_continuum, put_home, put_motion, reaches, settle
from .wrist import solve as solve_wrists

DOUBT = 1e-5  # relative distance to where two roots meet below which single precision is in doubt
SINGLE = 2e-5  # error of solutions in single precision, relative to the arm's size [rad]
SIGNS = ("first", "second", "third")  # of the three roots
HALF = BRANCHES // 2  # number of branches of a warp's goals that its shared memory holds
WIDTH = HALF * JOINTS
ROW = WIDTH + 1  # size of a thread's row in that memory: odd, which avoids bank conflicts
WARP = min(THREADS, 32)
ROOM = THREADS * ROW
SIDE, TARGET = 8, 16  # numbers of an answer, and of a target, that neighbouring threads move together
BLOCKS = {"float32": 5, "float64": 4}  # that must fit on a multiprocessor


class WrittenForm:
    """The device function of half the branches of an arm, in one precision.

    Args:
        codes: The form's codes.
        numbers: Its numbers.
        tolerance: Largest squared errors of solutions: of position and rotation.
        dtype: The precision.

    Attributes:
        branches: ``branches(goal, first, memory, at)`` writes the values of the four branches whose first root has a
            given sign, NaN if there is no solution, to memory. It returns which are solutions, a byte each, whether one
            is in doubt, and whether none represents a continuum.
        key: Identifies what it was generated from.
    """

    def __init__(
        self, codes: NDArray[np.int64], numbers: NDArray[np.float64], tolerance: tuple[float, float], dtype: Any
    ) -> None:
        self.dtype, trace = dtype, Trace(dtype)
        arm, known, signs = Cells(codes.tolist()), known_numbers(numbers), Cells(Symbol(trace, name) for name in SIGNS)
        goal, found = Cells([0.0] * GOAL.size), Cells([0.0] * BRANCH.size)
        goal[GOAL.target : GOAL.target + TRANSFORM.size] = trace.memory("goal", TRANSFORM.size)
        trace.of(put_home)(arm, known, known, False, goal)
        trace.of(put_motion)(arm, known, goal)
        wrist = codes[CODES.family] == WRIST
        trace.of(solve_wrists if wrist else solve_parallel)(arm, known, signs, 1, goal, found)
        trace.of(put_values)(arm, known, found)
        there = trace.of(reaches)(found, *tolerance)
        doubt = _doubt(found, there, float(numbers[NUMBERS.extent]) ** 0.5, 2 if wrist else 1)
        inside, _ = trace.of(settle)(known, found, known, False)
        _, second = trace.of(kind_of)(found, signs, 1, 0, 0, 0)
        good = there & inside & (second < 0.5)
        values = found[BRANCH.values : BRANCH.values + JOINTS]
        free = there & trace.of(may_be_continuum)(found)
        source = _looped(trace, [trace.text(x) for x in values], truth(good), truth(doubt), truth(free))
        self.branches, self.key = of_source(trace, "branches", source)


def _looped(trace: Trace, values: list[str], good: str, doubt: str, free: str) -> str:
    """Return the text of a function with each line in as few nested loops over signs as possible."""
    plus, minus, none = trace.text(1.0), trace.text(-1.0), trace.text(math.nan)
    once, first, second, third = by_need(trace.lines, SIGNS)
    ends = [f"memory[place(at + {JOINTS} * b + {k})] = {value} if {good} else {none}" for k, value in enumerate(values)]
    ends += [
        f"solved |= (1 if {good} else 0) << (8 * b)",
        f"unsure = unsure or {doubt}",
        f"alone = alone and not {free}",
    ]
    text = [
        "def branches(goal, first, memory, at):",
        *moved(1, [*once, *first, "solved, unsure, alone = 0, False, True", "for j in range(2):"]),
        *moved(2, [f"second = {minus} if j else {plus}", *second, "for k in range(2):"]),
        *moved(3, [f"b, third = 2 * j + k, {minus} if k else {plus}", *third, *ends]),
        "    return solved, unsure, alone",
    ]
    return "\n".join([*text, ""])


def _doubt(found: Cells, there: Any, size: float, angle: int) -> Any:
    """Return whether a root is near to where it ends, or a branch with all roots does not reach the goal."""
    close, real = False, True
    for stage, miss in enumerate(found[BRANCH.miss : BRANCH.miss + ROOTS]):
        edge = DOUBT * (1.0 if stage == angle else size)
        close = close | ((miss > -edge) & (miss < edge))
        real = real & (miss < 0.0)
    return close | (real & _not(there))


def _not(mask: Any) -> Any:
    return mask.trace.line(f"not {mask.name}") if isinstance(mask, Symbol) else not mask


def all_kernels(codes: Any, numbers: Any, tolerance: tuple[float, float], dtype: Any) -> tuple[Any, Any]:
    """Return the kernel for all goals in a precision, and in single precision the one for goals in doubt; else None.

    Args:
        codes: The form's codes.
        numbers: Its numbers.
        tolerance: Largest squared errors of position and rotation of solutions.
        dtype: The precision of the first kernel, and of all arrays.
    """
    quick, doubts = WrittenForm(codes, numbers, tolerance, dtype), dtype is np.float32
    first = _kernel(_all_goals(quick, doubts), quick, dtype)
    if not doubts:
        return first, None
    exact = WrittenForm(codes, numbers, tolerance, np.float64)
    return first, _kernel(_goals_in_doubt(exact), exact, dtype)


def _kernel(function: Any, form: WrittenForm, dtype: Any) -> Any:
    numbers = f"f{np.dtype(dtype).itemsize}[]"
    kinds = {
        "targets": numbers,
        "values": numbers,
        "mask": "i8[]",
        "isolated": "b1[]",
        "tally": "i4[]",
        "doubtful": "i4[]",
    }
    key = hashlib.sha256(f"{form.key} {numbers}".encode()).hexdigest()
    fast = form.dtype is np.float32
    return kernel(function, kinds, key, fast=fast, blocks=BLOCKS[np.dtype(form.dtype).name])


def goal_with(form: WrittenForm) -> Any:
    """Return the device function that reads a goal from a target in memory, by columns."""
    listed = ", ".join(f"kind(memory[place(at + {4 * row + column})])" for column in range(4) for row in range(3))
    names = {"place": PLACE, "kind": KINDS[np.dtype(form.dtype).name]}
    return device(compiled("goal_of", f"def goal_of(memory, at):\n    return ({listed})\n", names))


def _all_goals(form: WrittenForm, doubts: bool) -> Any:
    """Return the kernel for all goals: the threads of a warp load targets and store answers together.

    If each thread read and wrote its own rows, far from its neighbours', it would take three times as long. The
    assignment of data to threads makes all offsets but the first constant.
    """
    goal_of, kind = goal_with(form), KINDS[np.dtype(form.dtype).name]
    branches, plus, minus = form.branches, form.dtype(1.0), form.dtype(-1.0)

    def all_goals(targets, count, values, mask, isolated, tally, doubtful, turn):
        room = cuda.shared.array(ROOM, kind)
        own = cuda.threadIdx.x % WARP
        tile = ROW * (cuda.threadIdx.x - own)
        read, read_at = own // TARGET, tile + ROW * (own // TARGET) + own % TARGET
        wrote, wrote_at = own // SIDE, tile + ROW * (own // SIDE) + own % SIDE
        first = THREADS * cuda.blockIdx.x + cuda.threadIdx.x - own
        while first < count:
            here = min(WARP, count - first)
            source = PLACE(TARGET * first + own)
            for k in range(TARGET):
                if k * WARP // TARGET + read < here:
                    room[PLACE(read_at + k * WARP // TARGET * ROW)] = targets[source + PLACE(k * WARP)]
            sync_warp()
            goal, solved, unsure, apart = goal_of(room, tile + ROW * min(own, here - 1)), 0, False, True
            for half in range(2):
                sync_warp()
                some, doubt, alone = branches(goal, minus if half else plus, room, tile + ROW * own)
                solved, unsure, apart = solved | some << (8 * HALF * half), unsure or doubt, apart and alone
                sync_warp()
                sink = PLACE(2 * WIDTH * (first + wrote) + WIDTH * half + own % SIDE)
                for k in range(0, WARP, WARP // SIDE):
                    if k + wrote < here:
                        for column in range(0, WIDTH, SIDE):
                            values[sink + PLACE(2 * WIDTH * k + column)] = room[PLACE(wrote_at + ROW * k + column)]
            if own < here:
                mask[PLACE(first + own)], isolated[PLACE(first + own)] = solved, apart
                if doubts and unsure:
                    doubtful[PLACE(cuda.atomic.add(tally, turn, 1))] = first + own
            sync_warp()
            first += THREADS * cuda.gridDim.x

    return all_goals


def _goals_in_doubt(form: WrittenForm) -> Any:
    goal_of, branches = goal_with(form), form.branches

    def goals_in_doubt(targets, values, mask, isolated, tally, doubtful, turn):
        item = cuda.grid(1)
        if item == 0:
            tally[1 - turn] = 0  # for the next batch
        while item < tally[turn]:
            at = doubtful[PLACE(item)]
            goal = goal_of(targets, 16 * at)
            fore, _, apart = branches(goal, 1.0, values, 2 * WIDTH * at)
            rear, _, alone = branches(goal, -1.0, values, 2 * WIDTH * at + WIDTH)
            mask[PLACE(at)], isolated[PLACE(at)] = fore | rear << (8 * HALF), apart and alone
            item += cuda.gridsize(1)

    return goals_in_doubt
