"""Many targets of one frame: dealt out in blocks to threads, solved by the compiled search.

Answers do not depend on the number of threads, and memory beyond targets and answers is that of a few blocks.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..errors import DeviceError, GoalError, OptionError
from ..goals import Reach
from ..kernels.chain_memory import REPORT
from ..kernels.devices import as_library, on_card, require_card, to_host
from ..kernels.search_many import BEYOND, CLOSEST, INVALID, REACHED, UNSOLVED
from ..linkage.couplings import couplings_of, followed
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..linkage.showing import Shown
from ..transforms import FloatArray
from .chain_closest import NO_STARTS, bring_closer
from .chain_solution import NAMES
from .chain_solver import Prepared
from .legs import solved_on_legs
from .options import PrepareOptions, positive, precision, refuse_unknown, whole
from .preparing import prepare
from .solution import ending, errors_in_words
from .threads import cores, dealt

SMALLEST, BLOCK, SHARES = 1024, 8192, 4  # targets in a block, and blocks for each thread if they are to be had
CARD_BLOCK, CARD_BLOCKS = 1 << 18, 4  # targets that travel to a card together, and blocks under way at once
TRAVELS = "a base that travels on long slides is aimed on the processor only; leave out device='cuda'."
Progress = bool | Callable[[int, int], None] | None
Closest = bool | Literal["quick", "thorough"]


@dataclass(frozen=True, eq=False)
class Batch(Shown):
    """What a batch of solves gives back, a row for each target.

    Attributes:
        linkage: The linkage.
        goal: A goal of the kind that all targets are; its own target means nothing.
        q: Poses, shape (n, nq): answers, or the closest found; the neutral pose where a target is invalid.
        success: Whether each is within tolerance and limits, shape (n,).
        residuals: Position [m] and rotation [rad] errors, those asked for, shape (n, 1 or 2); NaN where invalid.
        restarts: Starts that each took, shape (n,).
        status: ``reached``, ``closest``, ``beyond`` (reach), ``invalid`` (no finite rigid transform) or ``time``.
    """

    linkage: Linkage
    goal: Reach
    q: FloatArray
    success: NDArray[np.bool_]
    residuals: FloatArray
    restarts: NDArray[np.int32]
    codes: NDArray[np.int8]

    @property
    def frame(self) -> str:
        """The frame that targets are for."""
        return self.goal.frame

    @property
    def status(self) -> NDArray[np.str_]:
        """How each ended, in a word."""
        words = np.array([NAMES[code] for code in range(len(NAMES))])
        result: NDArray[np.str_] = words[to_host(self.codes)]
        return result

    @property
    def residual(self) -> FloatArray:
        """The largest of each row's residuals."""
        largest: FloatArray = to_host(self.residuals).max(axis=-1)
        return largest

    def reason(self, row: int) -> str:
        """Return one sentence on how a row ended."""
        if on_card(self.codes):
            return self.on_host().reason(row)
        errors = errors_in_words(self.residuals[row], [block.unit for block in self.goal.blocks])
        return ending(NAMES[int(self.codes[row])], errors, f"{int(self.restarts[row])} starts")

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise OptionError(
                f"{len(self)} answers are neither true nor false together; use success.all() or success.any()."
            )
        return bool(to_host(self.success)[0])

    def on_host(self) -> Batch:
        """Return the same with NumPy arrays; it is itself where they are."""
        if not on_card(self.q):
            return self
        arrays = (self.q, self.success, self.residuals, self.restarts, self.codes)
        return Batch(self.linkage, self.goal, *map(to_host, arrays))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"<Batch of {self.frame!r}: {int(to_host(self.success).sum())} of {len(self)} reached>"


def solve_batch(
    linkage: Linkage,
    frame: str,
    targets: ArrayLike,
    *,
    start: PoseLike | None = None,
    device: str = "cpu",
    threads: int | None = None,
    dtype: DTypeLike | None = None,
    time_budget: float | None = None,
    progress: Progress = None,
    first: int = 0,
    closest: Closest = "quick",
    **options: Unpack[PrepareOptions],
) -> Batch:
    """Return poses that bring a frame to each of many targets.

    A parallel robot, whose loops join legs to the link of the frame, is solved leg by leg, with all loops closed.

    Args:
        linkage: The linkage.
        frame: Name of the frame.
        targets: Shape (n, 4, 4). With ``orientation=False`` also positions (n, 3), with ``position=False`` rotations
            (n, 3, 3). A target that is not finite or not rigid fails alone.
        start: A pose (nq,), the name of a stored one, or a pose for each target (n, nq), to begin with.
        device: Where to solve: ``"cpu"``, or ``"cuda"``: an NVIDIA graphics card. There, targets and starts may be
            arrays of CuPy, PyTorch, JAX or whatever else speaks DLPack or ``__cuda_array_interface__``, which are used
            where they are; answers are then arrays of the same library, on the card.
        threads: How many; all cores by default. Answers do not depend on it.
        dtype: ``"float64"``, or ``"float32"``: faster; every answer is checked, and if need be finished, in float64.
            By default float64 on the processor, float32 on a card.
        time_budget: Seconds after which targets not yet looked at are left, with status ``time``.
        progress: True for a bar, False for none, a function of (done, total); by default a bar after a second.
        first: Number of the first target, where these are some of more: random starts are drawn by number.
        closest: How poses that miss are brought close to their targets: ``"quick"``, from few starts, which takes ten
            times as long as reaching one and mostly ends at the closest pose or near it; ``"thorough"`` (or True), from
            128, ten times as long again; False leaves them as they are. Targets that stay on a card are always left.
        **options: As in `prepare`: position, orientation, free, tolerance, rotation_tolerance, limits, restarts, seed,
            joints.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.panda()
        >>> targets = arm.forward(arm.random_pose(0, 1000), frame="tip")
        >>> lw.solve_batch(arm, "tip", targets)
        <Batch of 'tip': 1000 of 1000 reached>
    """
    check_linkage(linkage)
    if linkage.loops or couplings_of(linkage, frame):
        shared = {"device": device, "threads": threads, "dtype": dtype, "time_budget": time_budget, "first": first}
        return _on_legs(linkage, frame, targets, start, {**shared, "progress": progress, "closest": closest, **options})
    work = _work(device)(linkage, frame, dtype, threads, time_budget, options)
    work.first, work.closest = whole("first", first), _effort(closest)
    if isinstance(work, _CardWork) and on_card(targets):
        return work.solve_there(targets, start)
    array, stiff = as_targets(targets, frame), work.prepared.stiff
    base = _starts(linkage, start, len(array))
    if base.ndim == 1 or stiff is None or len(base) < 2 or (base[:, stiff] == base[0, stiff]).all():
        return work.solve(array, base, start is not None, progress)
    return _solved_apart(work, array, base, stiff, progress)


def _on_legs(linkage: Linkage, frame: str, targets: Any, start: PoseLike | None, options: dict[str, Any]) -> Batch:
    """Return answers of a robot whose loops join legs to the link of a frame."""
    found: Batch = solved_on_legs(solve_batch, linkage, frame, as_targets(targets, frame), start, options)
    return found


def _solved_apart(
    work: _Work, targets: NDArray[Any], starts: FloatArray, stiff: NDArray[np.int64], progress: Progress
) -> Batch:
    """Return answers where joints that stay differ from start to start: those that have them alike go together."""
    _, which = np.unique(starts[:, stiff], axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(which[order])) + 1)
    done = [work.solve(targets[rows], starts[rows], True, False) for rows in parts]
    if callable(progress):
        progress(len(targets), len(targets))
    back = np.argsort(order, kind="stable")
    names = ("q", "success", "residuals", "restarts", "codes")
    arrays = [np.concatenate([getattr(part, name) for part in done])[back] for name in names]
    return Batch(done[0].linkage, done[0].goal, *arrays)


def solve_blocks(
    linkage: Linkage,
    frame: str,
    blocks: Iterable[ArrayLike],
    *,
    device: str = "cpu",
    threads: int | None = None,
    dtype: DTypeLike | None = None,
    closest: Closest = "quick",
    **options: Unpack[PrepareOptions],
) -> Iterator[Batch]:
    """Yield a batch for each block of targets as it comes: any number of them in the memory of one.

    Random starts are drawn as if all blocks were one batch, so that the answers are the same.
    """
    check_linkage(linkage)
    work = _work(device)(linkage, frame, dtype, threads, None, options)
    work.closest = _effort(closest)
    for block in blocks:
        targets = as_targets(block, frame)
        yield work.solve(targets, linkage.neutral(), False, False)
        work.first += len(targets)


class _Work:
    """The prepared chain, and how its work is dealt out to the threads of a processor."""

    PRECISION = "float64"

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
        self.closest = "quick"

    def solve(self, targets: NDArray[Any], base: FloatArray, given: bool, progress: Progress) -> Batch:
        if len(base):
            self.prepared = self.prepared.held_at(base if base.ndim == 1 else base[0])
        prepared, count = self.prepared, len(targets)
        linkage = prepared.linkage
        prepared.as_targets(np.zeros((0, *targets.shape[1:])))  # refuses a wrong shape before any work
        self.get_ready(targets, given)
        q, codes = np.empty((count, linkage.nq)), np.zeros(count, np.int8)
        residuals = np.full((count, len(prepared.goal.blocks)), np.nan)
        restarts = np.zeros(count, np.int32)
        block = self.block(count)
        deadline = np.inf if self.time_budget is None else time.perf_counter() + self.time_budget

        def work(at: int) -> int:
            rows = slice(at, min(at + block, count))
            start = base if base.ndim == 1 else base[rows]
            if time.perf_counter() > deadline:
                q[rows] = start
                return rows.stop - rows.start
            answers = self.answers(targets[rows], start, given, self.first + at)
            q[rows], residuals[rows], restarts[rows], codes[rows] = answers
            return rows.stop - rows.start

        blocks = range(0, count, block)
        several = self.threads > 1 and len(blocks) > 1
        sizes = dealt(work, blocks, self.threads) if several else (work(at) for at in blocks)
        with closing(sizes), _reporting(progress, count) as report:
            done = 0
            for size in sizes:
                done += size
                report(done)
        return Batch(linkage, prepared.goal, q, codes == REACHED, residuals, restarts, codes)

    @property
    def quick(self) -> bool:
        """Whether poses that miss are brought close with little effort."""
        return self.closest == "quick"

    def get_ready(self, _targets: NDArray[Any], _given: bool) -> None:
        """Do what need not be done in every thread."""
        for kind in {self.dtype, np.dtype(np.float64)}:
            self.prepared.packed(kind, bounded=True)

    def block(self, count: int) -> int:
        """Return how many targets go together."""
        return min(max(count // (SHARES * self.threads), SMALLEST), BLOCK)

    def answers(self, block: NDArray[Any], start: FloatArray, given: bool, first: int) -> tuple[Any, ...]:
        """Return poses, residuals, restarts and codes for a block of targets."""
        prepared = self.prepared
        values, report, status = self._block(block, start, given, first)
        q, residuals = prepared.pose(values, start), prepared.residuals(report)
        invalid = status == INVALID
        if invalid.any():
            q[invalid] = start if start.ndim == 1 else start[invalid]
            residuals[invalid] = np.nan
        return q, residuals, REPORT.view(report).starts, status

    def _block(
        self, block: NDArray[Any], start: FloatArray, given: bool, first: int
    ) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        prepared = self.prepared
        targets = prepared.as_targets(np.asarray(block, np.float64))
        status = np.zeros(len(targets), np.int64)
        starts = NO_STARTS
        if given:
            values = prepared.chain.values_of(start)
            starts = np.array(np.broadcast_to(values, (len(targets), prepared.chain.values)))  # one that may be written
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
        good = prepared.check(valid, values, report)  # and within limits, which single precision rounds to either side
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


class _CardWork(_Work):
    """The same on a graphics card: a few threads keep blocks under way there, one travels while another is solved."""

    PRECISION = "float32"

    def get_ready(self, targets: NDArray[Any], given: bool) -> None:
        if self.prepared.chain.carriers:
            raise DeviceError(TRAVELS)
        self.threads = CARD_BLOCKS
        self.card.engine(targets.shape[1:], given, len(targets))  # compiled once

    @property
    def card(self) -> Any:
        """The prepared chain on the card; it is kept there."""
        require_card()
        from .cuda_batch import Card

        return self.prepared.cache.get("card", self.dtype, lambda: Card(self.prepared, self.dtype))

    def block(self, count: int) -> int:
        return max(min(count, CARD_BLOCK), 1)

    def answers(self, block: NDArray[Any], start: FloatArray, given: bool, first: int) -> tuple[Any, ...]:
        found = self.card.solve(block, start if given else None, first)
        q, residuals = found.q.reshape(len(block), -1), found.residuals.reshape(len(block), -1)
        if self.closest:
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
        """Bring the few poses that missed as close to their targets as they come, here: the card has no Newton."""
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
        """Return answers, on the card, to targets that are there."""
        linkage = self.prepared.linkage
        if self.prepared.chain.carriers:
            raise DeviceError(TRAVELS)
        if start is not None and not on_card(start):
            start = start_pose(linkage, start)
        if start is not None and self.prepared.stiff is not None:
            self.prepared = self.prepared.held_at(_common_rest(self.prepared, to_host(start)))
        found = self.card.solve_there(targets, start, self.first)
        arrays = (found.q, found.reached, found.residuals, found.restarts, found.codes)
        return Batch(linkage, self.prepared.goal, *(as_library(array, targets) for array in arrays))


def _common_rest(prepared: Prepared, starts: FloatArray) -> FloatArray:
    """Return a pose with the joints that stay as all starts on a card have them, or say that they differ."""
    poses = starts.reshape(-1, prepared.linkage.nq)
    if len(poses) and not (poses[:, prepared.stiff] == poses[0, prepared.stiff]).all():
        raise OptionError(
            f"joints that stay, and lead to {prepared.goal.frame!r}, differ from start to start; hand over NumPy "
            "arrays, which are solved in turn."
        )
    return poses[0] if len(poses) else prepared.rest


def _work(device: str) -> type[_Work]:
    """Return who does the work."""
    try:
        return {"cpu": _Work, "cuda": _CardWork}[device]
    except (KeyError, TypeError):
        raise OptionError(f"device is 'cpu' or 'cuda', got {device!r}.") from None


def _effort(closest: Any) -> str:
    """Return how much is done for poses that miss: ``"quick"``, ``"thorough"``, or nothing: an empty word."""
    try:
        return {False: "", True: "thorough", "quick": "quick", "thorough": "thorough"}[closest]
    except (KeyError, TypeError):
        raise OptionError(f"closest is 'quick', 'thorough', True or False, got {closest!r}.") from None


@contextmanager
def _reporting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that reports how many are done: to a bar, to the caller's own function, or to no one."""
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if progress not in (None, True, False):
        raise OptionError(f"progress is True, False, None or a function of (done, total), got {progress!r}.")
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if progress is False or total == 0 or (progress is None and not terminal):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("solving"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    begin = time.perf_counter()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("solving", total=total, visible=progress is True)

        def report(done: int) -> None:
            late = progress is True or time.perf_counter() - begin > 1.0
            bar.update(task, completed=done, visible=late)

        yield report


def prepared_batch(linkage: Linkage, frame: str, options: PrepareOptions) -> Prepared:
    """Return the solver of many targets; it is kept on the linkage."""
    refuse_unknown(options, PrepareOptions.__annotations__, "a batch")
    key = (frame, *((name, type(value), value) for name, value in sorted(options.items())))
    try:
        hash(key)
    except TypeError:  # an axis given as an array
        return prepare(linkage, frame, **options)
    return linkage.cache.get("batch", key, lambda: prepare(linkage, frame, **options))


def as_targets(targets: ArrayLike, frame: str) -> NDArray[Any]:
    """Return many targets as an array of numbers, or say why they are none."""
    if on_card(targets):
        raise DeviceError(
            f"targets of {frame!r} are on a graphics card; solve them there with solve_batch(..., device='cuda'), "
            "or copy them to NumPy first."
        )
    try:
        array = np.asarray(targets)
    except ValueError as error:
        raise GoalError(f"targets of {frame!r} are an array of numbers, one row each: {error}.") from error
    if array.dtype.kind not in "fiu" or array.ndim < 2:
        raise GoalError(f"targets of {frame!r} are an array of numbers, one row each; got {array.dtype} {array.shape}.")
    return array


def _starts(linkage: Linkage, start: PoseLike | None, count: int) -> FloatArray:
    if start is None:
        return linkage.neutral()
    poses = start_pose(linkage, start)
    if poses.shape not in ((linkage.nq,), (count, linkage.nq)):
        raise OptionError(f"start has shape ({linkage.nq},) or ({count}, {linkage.nq}), got {poses.shape}.")
    return followed(linkage, poses) if linkage.couplings else poses
