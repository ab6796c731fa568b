"""A damped change of a chain, within bounds and of limited length: six equations for any number of joints.

`bounded` solves the same problem for trees through ``J^T J``; here it is solved through ``J J^T``, as a chain has six
rows.
"""

from __future__ import annotations

import math
from collections import namedtuple

from . import inner, part
from .joint_step import TRANSFORM
from .lanes import load, store

ROUNDS, TRUSTS = 8, 4  # limits on rounds of the active set, and of finding the damping
NOTHING = 1e-6  # relative to the square of the smallest singular value
SLACK = 1.1  # a change may exceed its length limit by this factor

Scratch = namedtuple(
    "Scratch",
    (
        "goal",
        "error",  # six weighted rows
        "q",
        "trial",
        "low",  # bounds of this cycle
        "high",
        "change",
        "aside",  # the preferred change in directions that the goal leaves free
        "free",  # 1 if a value is free to move, 0 if it is held at a bound
        "work",  # of a sweep: axes, then columns of the Jacobian
        "other",  # the same for the trial pose
        "matrix",
        "pull",
        "rest",
    ),
)


@inner
def scratch_sizes(rows, values):
    """Return the size of each part of the memory."""
    n = values
    return Scratch(TRANSFORM.size, 6, n, n, n, n, n, n, n, 6 * rows, 6 * rows, 36, 6, 6)


@inner
def pull_of(columns, value, pull):
    """Return the dot product of a value's column and six numbers."""
    total = 0.0
    for k in range(6):
        total += load(columns, 6 * value + k) * load(pull, k)
    return total


@part
def factor(values, columns, damping, s):
    """Write ``J J^T + damping I`` of free columns as ``L D L^T``, and the error less the known changes to `pull`."""
    matrix = s.matrix
    for i in range(6):
        left = load(s.error, i)
        for value in range(values):
            free = load(s.free, value)
            known = load(s.change, value) * (1.0 - free) + load(s.aside, value) * free
            left -= load(columns, 6 * value + i) * known
        store(s.pull, i, left)
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for value in range(values):
                total += load(columns, 6 * value + i) * load(columns, 6 * value + j) * load(s.free, value)
            store(matrix, 6 * i + j, total)
    for k in range(6):
        inverse = 1.0 / load(matrix, 7 * k)
        for i in range(k + 1, 6):
            share = load(matrix, 6 * i + k) * inverse
            for j in range(k + 1, i + 1):
                store(matrix, 6 * i + j, load(matrix, 6 * i + j) - share * load(matrix, 6 * j + k))
        for i in range(k + 1, 6):
            store(matrix, 6 * i + k, load(matrix, 6 * i + k) * inverse)


@part
def solve_factored(matrix, x):
    """Solve with the factors of `factor`, in place."""
    for k in range(6):
        for i in range(k + 1, 6):
            store(x, i, load(x, i) - load(matrix, 6 * i + k) * load(x, k))
    for k in range(5, -1, -1):
        total = load(x, k) / load(matrix, 7 * k)
        for i in range(k + 1, 6):
            total -= load(matrix, 6 * i + k) * load(x, i)
        store(x, k, total)


@part
def held_back(values, columns, s):
    """Write the change of every free value; hold those that would leave their bounds. Return whether any did."""
    outside = False
    for value in range(values):
        if load(s.free, value) != 0.0:
            change, x = load(s.aside, value) + pull_of(columns, value, s.pull), load(s.q, value)
            low, high = load(s.low, value) - x, load(s.high, value) - x
            if not low <= change <= high:
                change, outside = low if change < low else high, True
                store(s.free, value, 0.0)
            store(s.change, value, change)
    return outside


@part
def let_go(values, columns, s):
    """Free the values that are held at a bound but pulled back inside; return whether there are any."""
    found = False
    for value in range(values):
        low, high = load(s.low, value), load(s.high, value)
        if load(s.free, value) == 0.0 and low < high:
            change = load(s.change, value)
            beyond_it = load(s.aside, value) + pull_of(columns, value, s.pull) - change
            at_low = change <= low - load(s.q, value)
            if (at_low and beyond_it > 0.0) or (not at_low and beyond_it < 0.0):
                store(s.free, value, 1.0)
                found = True
    return found


@part
def bounded_change(values, columns, damping, s):
    """Write the change within bounds that minimizes ``|e - J change|^2 + damping |change - aside|^2``.

    The solution of the normal equations is left in `pull`: it is ``(e - J change) / damping``.
    """
    for value in range(values):
        store(s.free, value, 1.0)
        store(s.change, value, 0.0)
    for _ in range(ROUNDS):
        factor(values, columns, damping, s)
        solve_factored(s.matrix, s.pull)
        if not held_back(values, columns, s) and not let_go(values, columns, s):
            break


@part
def short_change(values, columns, damping, longest, s):
    """Write a change within bounds that is not longer than `longest`; return the damping that achieves this.

    Newton's method on the reciprocal of the length, which is nearly linear in the damping (Moré and Sorensen).
    """
    for _ in range(TRUSTS):
        bounded_change(values, columns, damping, s)
        total, moving = 0.0, 0.0
        for value in range(values):
            square = (load(s.change, value) - load(s.aside, value)) ** 2
            total, moving = total + square, moving + square * load(s.free, value)
        size = math.sqrt(total)
        if size <= SLACK * longest:
            break
        for k in range(6):
            store(s.rest, k, load(s.pull, k))
        solve_factored(s.matrix, s.rest)
        squares, both = 0.0, 0.0
        for k in range(6):
            squares, both = squares + load(s.pull, k) ** 2, both + load(s.pull, k) * load(s.rest, k)
        slope = squares - damping * both
        if not slope > 0.0 or not moving > 0.0:
            break
        damping += moving / slope * (size - longest) / longest
    return damping


@inner
def weakness(damping, smallest, s):
    """Return how near the last factors are to a singular pose, from 0 to 1, by their smallest pivot.

    The pivot is compared with the square of the smallest singular value. A pivot near zero is a row that no joint
    changes and is ignored.
    """
    least, square = math.inf, smallest * smallest
    for k in range(6):
        pivot = load(s.matrix, 7 * k) - damping
        least = min(least, pivot if pivot > NOTHING * square else math.inf)
    return max(1.0 - least / square, 0.0)


@inner
def promised(damping, s):
    """Return the predicted decrease of the squared error, with the chain linearized by its Jacobian."""
    before, after = 0.0, 0.0
    for k in range(6):
        before, after = before + load(s.error, k) ** 2, after + (damping * load(s.pull, k)) ** 2
    return before - after
