"""Several solutions for each of many targets: choose, from the candidates of a source, those furthest apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.search_many import INVALID, REACHED
from ..linkage.poses import APART, turned_back
from ..transforms import FloatArray
from .batch_answers import Batch
from .chain_solver import Prepared
from .pose_spread import furthest_apart
from .solution_sources import Source
from .solutions_batch import SolutionsBatch, errors_of

THINNED, LEAST = 4, 32  # candidates checked for collisions: THINNED per solution, and at least LEAST


class Several:
    """The solutions of a batch, filled block by block.

    Args:
        prepared: The chain.
        count: Number of targets.
        solutions: Largest number of solutions per target.
        apart: Smallest difference of two solutions in some joint [rad, m]. With None it is 0.01, except for isolated
            solutions of a closed form, which are always distinct.
        source: Source of candidates.
    """

    def __init__(self, prepared: Prepared, count: int, solutions: int, apart: float | None, source: Source) -> None:
        self.prepared, self.solutions, self.source = prepared, solutions, source
        self.apart = (0.0 if self.source.isolated else APART) if apart is None else apart
        self.q = np.full((count, solutions, prepared.linkage.nq), np.nan)
        self.counts, self.complete = np.zeros(count, np.int64), np.zeros(count, np.bool_)

    def add(
        self, rows: slice, targets: FloatArray, start: FloatArray, given: bool, first: int, answers: tuple[Any, ...]
    ) -> None:
        """Find more solutions of some targets, and keep them.

        Args:
            rows: The rows of these targets in the batch.
            targets: The targets.
            start: Start pose (nq,), or one for each target.
            given: Whether solutions should be near the start; else it only gives the values outside the chain.
            first: Number of the first target.
            answers: Poses, residuals, restarts and codes of one result per target.
        """
        best, codes = answers[0], answers[3]
        aims = self.prepared.as_targets(np.asarray(targets, np.float64))
        base = np.broadcast_to(start, best.shape)
        look = np.flatnonzero(codes != INVALID if self.source.isolated else codes == REACHED)
        for at in range(0, len(look), self.source.together):
            some = look[at : at + self.source.together]
            block = _Block(self, aims[some], base[some], first + some, given)
            block.fill(best[some], codes[some] == REACHED)
            places = rows.start + some
            self.q[places], self.counts[places], self.complete[places] = block.q, block.counts, block.complete

    def result(self, targets: Any, best: Batch) -> SolutionsBatch:
        """Return the result of the batch."""
        mask = np.arange(self.solutions) < self.counts[:, None]
        valid = best.codes != INVALID
        aims = self.prepared.as_targets(np.asarray(targets, np.float64))
        return SolutionsBatch(self.prepared, aims, self.q, mask, self.counts, self.complete, valid, best)


class _Block:
    """Some targets, and the candidates that are kept.

    Attributes:
        q: Poses (m, k, nq); NaN where there is none.
        there: Which of them are solutions, shape (m, k); solutions come first.
        counts: Number of solutions found, shape (m,).
        complete: Whether these are proven to be all, shape (m,).
    """

    def __init__(
        self, several: Several, aims: FloatArray, base: FloatArray, numbers: NDArray[np.int64], given: bool
    ) -> None:
        self.several, self.prepared, self.source = several, several.prepared, several.source
        self.aims, self.base, self.numbers, self.given = aims, base, numbers, given
        shape = len(aims), several.solutions
        self.q, self.there = np.full((*shape, base.shape[1]), np.nan), np.zeros(shape, np.bool_)
        self.counts, self.complete = np.zeros(len(aims), np.int64), np.zeros(len(aims), np.bool_)

    def fill(self, best: FloatArray, reached: NDArray[np.bool_]) -> None:
        """Find more solutions, in rounds, until there are enough or a round finds no new ones."""
        if not self.source.isolated:
            free = self.prepared.avoid is not None  # the pose is kept exactly: another one nearby may collide
            self._keep(reached, best if free else self.source.sharpened(self.aims, self.base, best))
        left = np.arange(len(self.aims))
        for turn in range(self.source.rounds):
            before = self.counts[left]
            self._choose(turn, left)
            new = (self.counts[left] > before) | (turn == 0)
            left = left[new & (self.counts[left] < self.several.solutions)]
            if not len(left):
                break
        self._keep(reached & (self.counts == 0), best)
        if self.given:
            self._sort()
        self.q[~self.there] = np.nan

    def _keep(self, rows: NDArray[np.bool_], best: FloatArray) -> None:
        """Use the results of some targets as their first solutions."""
        self.q[rows, 0], self.there[rows, 0], self.counts[rows] = best[rows], True, 1

    def _choose(self, turn: int, rows: NDArray[np.int64]) -> None:
        """Choose from the candidates of a round and the solutions found before."""
        wanted, near = self.several.solutions, self.base[rows] if self.given else None
        poses, good, complete = self.source.candidates(turn, self.aims[rows], self.base[rows], self.numbers[rows])
        good = self._free(rows, poses, good)
        pool = np.concatenate([self.q[rows], poses], axis=1)
        serve = np.concatenate([self.there[rows], good], axis=1)
        most = max(wanted, poses.shape[1]) if self.source.isolated else wanted
        picked, _ = furthest_apart(self.prepared, pool, serve, most, self.several.apart, near)
        kept = np.take_along_axis(pool, np.maximum(picked, 0)[..., None], axis=1)
        there = self._verified(rows, kept, picked >= 0)
        order = np.argsort(~there, axis=1, kind="stable")  # verified ones first
        kept, counts = np.take_along_axis(kept, order[..., None], axis=1), there.sum(axis=1)
        self.q[rows], self.counts[rows], self.complete[rows] = kept[:, :wanted], counts, complete
        self.there[rows] = np.arange(wanted) < counts[:, None]

    def _free(self, rows: NDArray[np.int64], poses: FloatArray, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the good poses are collision-free; of many, only some that are far apart are checked."""
        prepared: Any = self.prepared
        if prepared.avoid is None:
            return good
        most = max(THINNED * self.several.solutions, LEAST)
        if poses.shape[1] <= most:
            row, place = np.nonzero(good)
        else:
            picked, _ = furthest_apart(prepared, poses, good, most, 0.0)
            row, column = np.nonzero(picked >= 0)
            place = picked[row, column]
        free = np.zeros_like(good)
        if len(row):
            values = prepared.chain.values_of(poses[row, place])
            free[row, place] = prepared.is_free(values, self.base[rows[row]])
        return free

    def _verified(self, rows: NDArray[np.int64], poses: FloatArray, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which poses reach their targets within tolerance, by forward kinematics."""
        row, _ = np.nonzero(there)
        if not len(row):
            return there
        settings, result = self.prepared.settings, np.zeros_like(there)
        limits = [
            settings.tolerance if b.unit == "m" else settings.rotation_tolerance for b in self.prepared.goal.blocks
        ]
        errors = errors_of(self.prepared, self.aims[rows[row]], poses[there])
        result[there] = (errors <= limits).all(axis=1)
        return result

    def _sort(self) -> None:
        """Shift solutions by whole turns towards their starts, and sort them by distance."""
        linkage, starts = self.prepared.linkage, self.base[:, None]
        q = turned_back(linkage, self.q, starts, keep_limits=self.prepared.settings.keeps_limits)
        away = np.where(
            self.there,
            np.linalg.norm(linkage.difference(starts, np.where(self.there[..., None], q, starts)), axis=-1),
            np.inf,
        )
        self.q = np.take_along_axis(q, np.argsort(away, axis=1, kind="stable")[..., None], axis=1)
