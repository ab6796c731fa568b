"""Sources of several solutions per target: a closed form, the arcs of seven joints, or a search from many starts.

A source gives candidates for many targets at a time, in rounds: each round searches elsewhere, for targets with too few
solutions. `several` chooses which to keep. The candidates of a target depend on its number alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.closed_form.seven_spread import POSES, seven_spread, spread_room
from ..kernels.search_many import REACHED
from ..transforms import FloatArray
from .chain_solver import Prepared, prepared_for
from .closed_form import ClosedForm
from .closed_form.seven import JOINTS, Seven, seven_form
from .pose_spread import furthest_apart

Candidates = tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]
SHARES = (16, 128, 1024)  # samples of each of the two arcs of seven joints, by round
MOST_POSES = 512  # largest number of poses per target and round, for seven joints
STARTS, MOST_STARTS = 32, 256  # starts of a search's first round: four per solution, within these bounds
FINE, LEAST = 1e-3, 1e-9  # factor on tolerances, to tell solutions apart; and the finest, by the arm's size [rad]
ROUNDS = 3  # rounds of a search, each with twice the starts of the one before


class Source:
    """A source of poses that may be solutions of targets.

    Attributes:
        rounds: Number of rounds.
        together: Number of targets that it takes at a time.
        isolated: Whether its solutions are isolated and distinct, and all given in one round.
    """

    rounds: int
    together: int
    isolated = False
    prepared: Prepared

    def candidates(self, turn: int, aims: FloatArray, base: FloatArray, numbers: NDArray[np.int64]) -> Candidates:
        """Return poses (m, c, nq) for targets (m, 4, 4), which are solutions, and for which targets these are all.

        Args:
            turn: Number of the round, from 0.
            aims: The targets.
            base: Whole poses (m, nq), whose values outside the chain are kept.
            numbers: The numbers of the targets, shape (m,).
        """
        raise NotImplementedError

    def sharpened(self, aims: FloatArray, base: FloatArray, best: FloatArray) -> FloatArray:
        """Return results (m, nq) refined to finer tolerances, where possible, so that solutions can be told apart.

        Near a singular target, distant poses are within tolerance: two results there may be one solution.
        """
        fine = fine_chain(self.prepared)
        poses, good, _ = descended(fine, aims, base, fine.chain.values_of(best)[:, None], np.ones((len(best), 1), bool))
        return np.where(good, poses[:, 0], best)


class FormSource(Source):
    """All solutions of a closed form with isolated solutions, which are always distinct."""

    rounds, together, isolated = 1, 1024, True

    def __init__(self, prepared: Prepared, form: ClosedForm) -> None:
        self.prepared, self.form = prepared, form

    def candidates(self, _turn: int, aims: FloatArray, base: FloatArray, _numbers: NDArray[np.int64]) -> Candidates:
        values, good, complete = self.form.all_many_proven(aims, limits=self.prepared.settings.limits)
        return whole_poses(self.prepared, values, good, base), good, complete


class SevenSource(Source):
    """Solutions of seven joints at samples of the arcs of one joint, with all eight branches of each."""

    rounds, together = len(SHARES), 128

    def __init__(self, prepared: Prepared, form: Seven, solutions: int) -> None:
        self.prepared, self.form, self.solutions = prepared, form, solutions

    def candidates(self, turn: int, aims: FloatArray, base: FloatArray, _numbers: NDArray[np.int64]) -> Candidates:
        tries = shares_in_lanes(SHARES[turn])
        width = min(MOST_POSES, POSES * tries.size // 2)
        values, counts = np.zeros((len(aims), width, JOINTS)), np.zeros(len(aims), np.int64)
        goals = np.ascontiguousarray(aims).reshape(-1)
        seven_spread(self.form.numbers, tries, goals, np.zeros(spread_room()), values.reshape(-1), counts)
        width = int(counts.max(initial=1))
        values, good = values[:, :width], np.arange(width) < counts[:, None]
        poses = whole_poses(self.prepared, values, good, base)
        if self.form.exact:
            return poses, good, np.zeros(len(aims), np.bool_)
        return self._polished(aims, base, poses, good)

    def _polished(self, aims: FloatArray, base: FloatArray, poses: FloatArray, good: NDArray[np.bool_]) -> Candidates:
        """Return poses refined by a search, for an arm that deviates slightly from its family."""
        picked, _ = furthest_apart(self.prepared, poses, good, 4 * self.solutions, 0.0)
        there = picked >= 0
        some = np.take_along_axis(poses, np.maximum(picked, 0)[..., None], axis=1)
        return descended(fine_chain(self.prepared), aims, base, self.prepared.chain.values_of(some), there)


class SearchSource(Source):
    """Solutions that a search finds from starts spread evenly over all joints, by one long sequence of points."""

    rounds = ROUNDS

    def __init__(self, prepared: Prepared, solutions: int) -> None:
        self.prepared, chain = prepared, prepared.chain
        self.first = min(max(4 * solutions, STARTS), MOST_STARTS)
        self.together = max(1, 8192 // (self.first << (ROUNDS - 1)))
        self._shift = np.random.default_rng(prepared.seed).random(chain.values)
        self._stride = np.sqrt(primes(chain.values)) % 1.0

    def starts(self, turn: int, numbers: NDArray[np.int64]) -> FloatArray:
        """Return the starts of a round for targets with some numbers, as values (m, s, n) of the chain."""
        before, count = self.first * ((1 << turn) - 1), self.first << turn
        every = self.first * ((1 << ROUNDS) - 1)
        points = every * numbers[:, None] + (before + np.arange(count))
        return self.prepared.chain.spread((self._shift + points[..., None] * self._stride) % 1.0)

    def candidates(self, turn: int, aims: FloatArray, base: FloatArray, numbers: NDArray[np.int64]) -> Candidates:
        starts = self.starts(turn, numbers)
        return descended(fine_chain(self.prepared), aims, base, starts, np.ones(starts.shape[:2], np.bool_))


def fine_chain(prepared: Prepared) -> Prepared:
    """Return a prepared chain with tolerances that tell solutions apart; it is cached on the linkage."""
    given, size = prepared.settings, prepared.linkage.length or 1.0
    near = min(given.tolerance, max(FINE * given.tolerance, LEAST * size))
    aligned = min(given.rotation_tolerance, max(FINE * given.rotation_tolerance, LEAST))
    settings = replace(given, tolerance=near, rotation_tolerance=aligned)
    return prepared_for(prepared.linkage, prepared.goal, settings, 1, prepared.seed, prepared.group, prepared.rest)


def descended(
    prepared: Prepared, aims: FloatArray, base: FloatArray, starts: FloatArray, there: NDArray[np.bool_]
) -> Candidates:
    """Return the poses that a search finds from starts (m, s, n), those marked in `there`, and which are solutions."""
    rows, _ = np.nonzero(there)
    status = np.zeros(len(rows), np.int64)
    good = np.zeros_like(there)
    values = np.zeros_like(starts)
    if len(rows):
        values[there], _ = prepared.search(aims[rows], status, given=starts[there], restarts=0)
        good[there] = status == REACHED
    return whole_poses(prepared, values, good, base), good, np.zeros(len(aims), np.bool_)


def whole_poses(prepared: Prepared, values: FloatArray, good: NDArray[np.bool_], base: FloatArray) -> FloatArray:
    """Return the poses (m, c, nq) of the chain's values (m, c, n), with the other joints as in `base` (m, nq)."""
    if prepared.whole and not len(prepared.open_places):
        return values
    poses = np.zeros((*values.shape[:2], prepared.linkage.nq))
    rows, _ = np.nonzero(good)
    poses[good] = prepared.pose(values[good], base[rows])
    return poses


@cache
def shares_in_lanes(count: int) -> FloatArray:
    """Return even shares of both arcs, eight per row: a row of shares, one of sides, and so on, shape (count / 2, 8).

    Their order is spread out from the beginning: every eighth, and again.
    """
    shares = (np.arange(count) + 0.5) / count
    spread = np.concatenate([shares[k::8] for k in (0, 4, 2, 6, 1, 5, 3, 7)])
    both = np.stack([np.repeat(spread, 2), np.tile([1.0, -1.0], count)])  # (2, 2 count)
    return np.ascontiguousarray(both.reshape(2, -1, 8).swapaxes(0, 1).reshape(-1, 8))


def primes(count: int) -> NDArray[np.int64]:
    """Return the first primes; their square roots are the strides of a sequence that fills a cube evenly."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % prime for prime in found if prime <= math.isqrt(number)):
            found.append(number)
        number += 1
    return np.array(found, np.int64)


def source_for(prepared: Prepared, solutions: int) -> Source:
    """Return the source of several solutions for a prepared chain."""
    form: Any = prepared.form
    if isinstance(form, ClosedForm):
        return FormSource(prepared, form)
    seven = seven_form(prepared.chain) if prepared.whole_pose and prepared.settings.keeps_limits else ""
    if isinstance(seven, Seven):
        return SevenSource(prepared, seven, solutions)
    return SearchSource(prepared, solutions)
