"""Distribute the blocks of a batch to CPU threads, or send them to a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import DeviceError, OptionError
from ..kernels.cards import at_card, card_count, card_number
from ..kernels.chain_memory import REPORT
from ..kernels.devices import as_library, card_holding, on_card, to_host
from ..kernels.search_many import BEYOND, CLOSEST, INVALID, REACHED, UNSOLVED
from ..kernels.threads import cores, dealt
from ..linkage.linkage import Linkage
from ..linkage.poses import start_pose
from ..transforms import FloatArray
from .batch_answers import Batch
from .chain_closest import NO_STARTS, bring_closer
from .chain_solver import Prepared
from .options import PrepareOptions, positive, precision, refuse_unknown, whole
from .preparing import prepare
from .progress import Progress, is_watched, reporting

if TYPE_CHECKING:
    from .solution_sources import Source
    from .solutions_batch import SolutionsBatch

SMALLEST, BLOCK, SHARES = 1024, 8192, 4  # smallest and largest block, and blocks per thread if there are enough targets
ALONE = 32768  # targets in a block for one thread without a progress display
CARD_BLOCK, CARD_BLOCKS = 1 << 18, 4  # targets copied to the GPU at once, and blocks in progress at once
More = Callable[[slice, NDArray[Any], FloatArray, bool, int, tuple[Any, ...]], None]
TRAVELS = "a mobile base on long slides is supported on the processor only; leave out device='cuda'."


class Work:
    """The prepared chain, and the distribution of its work to CPU threads."""

    PRECISION = "float64"
    picking = False  # whether several solutions per target are selected, which keeps all threads busy

    def __init__(
        self,
        linkage: Linkage,
        frame: str,
        dtype: DTypeLike | None,
        threads: int | None,
        time_budget: float | None,
        options: PrepareOptions,
    ) -> None:
        if time_budget is not None:
            positive("time_budget", time_budget)
        self.prepared = prepared_batch(linkage, frame, options)
        self.dtype, self.time_budget, self.first = precision(self.PRECISION if dtype is None else dtype), time_budget, 0
        self.threads = cores() if threads is None else whole("threads", threads, least=1)
        self.closest, self.nearest = "quick", False

    def solve(
        self, targets: NDArray[Any], base: FloatArray, given: bool, progress: Progress, more: More | None = None
    ) -> Batch:
        """Return an answer for each target; call `more` with the answers of each block."""
        self._hold(base)
        prepared, count = self.prepared, len(targets)
        linkage = prepared.linkage
        prepared.as_targets(np.zeros((0, *targets.shape[1:])))  # raises for a wrong shape before any work
        if self.nearest:
            self._check_nearest(given)
        self.get_ready(targets, given)
        q, residuals = np.empty((count, linkage.nq)), np.empty((count, len(prepared.goal.blocks)))
        restarts, codes = np.zeros(count, np.int32), np.zeros(count, np.int8)
        found: list[NDArray[Any]] = [q, residuals, restarts, codes]
        block = self.block(count, watched=self.time_budget is not None or is_watched(progress))
        deadline = np.inf if self.time_budget is None else time.perf_counter() + self.time_budget

        def work(at: int) -> int:
            rows = slice(at, min(at + block, count))
            start = base if base.ndim == 1 else base[rows]
            if time.perf_counter() > deadline:
                q[rows], residuals[rows] = start, np.nan
                return rows.stop - rows.start
            answers = self.answers(targets[rows], start, given, self.first + at)
            for k, (array, some) in enumerate(zip(found, answers, strict=True)):
                if len(some) == count and some.dtype == array.dtype:
                    found[k] = some  # one block with all targets needs no copy
                else:
                    array[rows] = some
            if more is not None:
                more(rows, targets[rows], start, given, self.first + at, answers)
            return rows.stop - rows.start

        blocks = range(0, count, block)
        sizes = (
            dealt(work, blocks, self.threads) if self.threads > 1 and len(blocks) > 1 else (work(at) for at in blocks)
        )
        with closing(sizes), reporting(progress, count) as report:
            done = 0
            for size in sizes:
                done += size
                report(done)
        poses, errors, taken, ended = found
        return Batch(linkage, prepared.goal, poses, ended == REACHED, errors, taken, ended)

    def solve_several(
        self,
        targets: NDArray[Any],
        base: FloatArray,
        given: bool,
        progress: Progress,
        solutions: int,
        apart: float | None,
    ) -> SolutionsBatch:
        """Return several solutions of each target."""
        from .several import Several  # needs closed forms, so it is imported on demand

        self._hold(base)
        self.picking = True
        several = Several(self.prepared, len(targets), solutions, apart, self.source(solutions))
        return several.result(targets, self.solve(targets, base, given, progress, several.add))

    def source(self, solutions: int) -> Source:
        """Return the source of several solutions of a target."""
        from .solution_sources import source_for

        return source_for(self.prepared, solutions)

    def _hold(self, base: FloatArray) -> None:
        """Store the values of held joints, which all starts must have in common."""
        if len(base):
            self.prepared = self.prepared.held_at(base if base.ndim == 1 else base[0])

    @property
    def quick(self) -> bool:
        """Whether missed targets get a closest pose by the quick method."""
        return self.closest == "quick"

    def get_ready(self, _targets: NDArray[Any], _given: bool) -> None:
        """Prepare what all threads share."""
        for kind in {self.dtype, np.dtype(np.float64)}:
            self.prepared.packed(kind, bounded=True)

    def block(self, count: int, *, watched: bool) -> int:
        """Return the number of targets of a block; fewer with a progress display or a time budget."""
        if self.threads == 1 and not watched:
            return min(max(count, SMALLEST), ALONE)
        return min(max(count // (SHARES * self.threads), SMALLEST), BLOCK)

    def answers(self, block: NDArray[Any], start: FloatArray, given: bool, first: int) -> tuple[Any, ...]:
        """Return poses, residuals, restarts and codes for a block of targets."""
        prepared = self.prepared
        values, report, status = self._block(block, start, given, first)
        if self.nearest:
            from .batch_nearest import put_nearest

            targets = prepared.as_targets(np.asarray(block, np.float64))
            poses = np.broadcast_to(start, (len(targets), prepared.linkage.nq))
            put_nearest(prepared, targets, poses, status, values, report)
        q, residuals = prepared.pose(values, start), prepared.residuals(report)
        invalid = status == INVALID
        if invalid.any():
            q[invalid] = start if start.ndim == 1 else start[invalid]
            residuals[invalid] = np.nan
        return q, residuals, REPORT.view(report).starts, status

    def _check_nearest(self, given: bool) -> None:
        from .batch_nearest import check_nearest  # needs closed forms, so it is imported on demand

        check_nearest(self.prepared, given)

    def _block(
        self, block: NDArray[Any], start: FloatArray, given: bool, first: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        prepared = self.prepared
        targets = prepared.as_targets(np.asarray(block, np.float64))
        status = np.zeros(len(targets), np.int64)
        starts = NO_STARTS
        if given:
            starts = np.broadcast_to(prepared.chain.values_of(start), (len(targets), prepared.chain.values))
        if prepared.avoid is not None:
            return prepared.search_free(targets, start, starts, first)
        if self.dtype == np.float64:
            values, report = prepared.search(
                targets, status, given=starts, first=first, bounded=True, leave=bool(self.closest)
            )
            if self.closest:
                bring_closer(prepared, prepared.spun(targets), status, values, report, given=starts, quick=self.quick)
            return values, report, status
        how: Any = {"given": starts, "first": first, "dtype": np.float32}
        values, report = prepared.search(targets, status, bounded=True, leave=bool(self.closest), **how)
        valid = np.where(status[:, None, None] == INVALID, np.eye(4), targets) if INVALID in status else targets
        good = prepared.check(valid, values, report)  # single precision may round values beyond limits
        again = (status == CLOSEST) | ((status == REACHED) & ~good)
        if again.any():
            left = np.where(again, UNSOLVED, REACHED)
            more, further = prepared.search(targets, left, given=values, first=first, bounded=True)
            both, before = REPORT.view(further), REPORT.view(report)
            both.starts += before.starts
            both.steps += before.steps
            values[again], report[again], status[again] = more[again], further[again], left[again]
        if self.closest:
            bring_closer(prepared, prepared.spun(targets), status, values, report, given=starts, quick=self.quick)
        return values, report, status


class CardWork(Work):
    """The same on a GPU: a few threads keep it busy; one block is copied while another is solved."""

    PRECISION = "float32"
    number: int | None = None  # number of the GPU; None for the current GPU of the thread

    def _check_nearest(self, _given: bool) -> None:
        raise DeviceError("nearest=True is found on the processor only; leave out device='cuda', or nearest=.")

    def get_ready(self, targets: NDArray[Any], given: bool) -> None:
        if self.prepared.chain.carriers:
            raise DeviceError(TRAVELS)
        self.threads = self.threads if self.picking else CARD_BLOCKS
        with at_card(self.number):
            self.card.engine(targets.shape[1:], given, len(targets))  # compiled once

    @property
    def card(self) -> Any:
        """The prepared chain on the GPU; it is cached."""
        from .card_sources import card_of

        return card_of(self.prepared, self.dtype, self.number)

    def block(self, count: int, *, watched: bool) -> int:
        return super().block(count, watched=watched) if self.picking else max(min(count, CARD_BLOCK), 1)

    def source(self, solutions: int) -> Source:
        from .card_sources import card_source

        return card_source(self.prepared, solutions, self.dtype, self.number)

    def answers(self, block: NDArray[Any], start: FloatArray, given: bool, first: int) -> tuple[Any, ...]:
        with at_card(self.number):
            found = self.card.solve(block, start if given else None, first)
        q, residuals = found.q.reshape(len(block), -1), found.residuals.reshape(len(block), -1)
        if self.prepared.avoid is not None:
            left = np.flatnonzero((found.codes != REACHED) & (found.codes != INVALID))
            if len(left):  # the CPU has more ways to find a collision-free pose
                again = super().answers(block[left], start if start.ndim == 1 else start[left], given, first)
                q[left], residuals[left], found.restarts[left], found.codes[left] = again
        elif self.closest:
            self._bring_closer(block, start, given, q, residuals, found.codes)
        return q, residuals, found.restarts, found.codes

    def _bring_closer(
        self,
        block: NDArray[Any],
        start: FloatArray,
        given: bool,
        q: FloatArray,
        residuals: FloatArray,
        codes: NDArray[np.int8],
    ) -> None:
        """Bring the few poses that missed closer to their targets on the CPU: the GPU has no Newton's method."""
        missed = np.flatnonzero((codes == CLOSEST) | (codes == BEYOND))
        if not len(missed):
            return
        prepared, base = self.prepared, start if start.ndim == 1 else start[missed]
        targets = prepared.as_targets(np.asarray(block[missed], np.float64))
        values, status = prepared.chain.values_of(q[missed]), codes[missed].astype(np.int64)
        report, starts = np.zeros((len(missed), REPORT.size)), NO_STARTS
        if given:
            starts = np.array(np.broadcast_to(prepared.chain.values_of(base), values.shape))
        bring_closer(prepared, prepared.spun(targets), status, values, report, given=starts, quick=self.quick)
        q[missed], residuals[missed], codes[missed] = prepared.pose(values, base), prepared.residuals(report), status

    def solve_there(self, targets: Any, start: Any) -> Batch:
        """Return results on the GPU for targets there."""
        linkage = self.prepared.linkage
        if self.prepared.chain.carriers:
            raise DeviceError(TRAVELS)
        if start is not None and not on_card(start):
            start = start_pose(linkage, start)
        if start is not None and self.prepared.stiff is not None:
            self.prepared = self.prepared.held_at(_common_rest(self.prepared, to_host(start)))
        with at_card(self._card_with(targets)):
            found = self.card.solve_there(targets, start, self.first)
        arrays = (found.q, found.reached, found.residuals, found.restarts, found.codes)
        return Batch(linkage, self.prepared.goal, *(as_library(array, targets) for array in arrays))

    def _card_with(self, targets: Any) -> int | None:
        """Return the number of the GPU that holds the targets; raise DeviceError if another GPU was requested."""
        there = card_holding(targets)
        if self.number is not None and there is not None and there != self.number:
            raise DeviceError(f"the targets are on the card 'cuda:{there}', not on 'cuda:{self.number}'; copy them.")
        self.number = there if self.number is None and card_count() > 1 else self.number
        return self.number


def _common_rest(prepared: Prepared, starts: FloatArray) -> FloatArray:
    """Return a pose with the held joints of all starts on a GPU; raise OptionError if they differ."""
    poses = starts.reshape(-1, prepared.linkage.nq)
    if len(poses) and not (poses[:, prepared.stiff] == poses[0, prepared.stiff]).all():
        raise OptionError(
            f"held joints that move {prepared.goal.frame!r} differ between starts; pass NumPy "
            "arrays, which are solved group by group."
        )
    return poses[0] if len(poses) else prepared.rest


def work_on(device: str, linkage: Linkage, frame: str, *given: Any) -> Work:
    """Return the `Work` for a device."""
    if device == "cpu":
        return Work(linkage, frame, *given)
    if not isinstance(device, str) or not device.startswith("cuda"):
        raise OptionError(f"device is 'cpu' or 'cuda', got {device!r}.")
    work = CardWork(linkage, frame, *given)
    work.number = card_number(device)
    return work


def effort_of(closest: Any) -> str:
    """Return the effort for missed targets: ``"quick"``, ``"thorough"``, or an empty text for none."""
    try:
        return {False: "", True: "thorough", "quick": "quick", "thorough": "thorough"}[closest]
    except (KeyError, TypeError):
        raise OptionError(f"closest is 'quick', 'thorough', True or False, got {closest!r}.") from None


def prepared_batch(linkage: Linkage, frame: str, options: PrepareOptions) -> Prepared:
    """Return the solver of many targets; it is cached on the linkage."""
    refuse_unknown(options, PrepareOptions.__annotations__, "a batch")
    key = (frame, *((name, type(value), value) for name, value in sorted(options.items())))
    try:
        hash(key)
    except TypeError:  # for example, an axis given as an array is not hashable
        return prepare(linkage, frame, **options)
    return linkage.cache.get("batch", key, lambda: prepare(linkage, frame, **options))
