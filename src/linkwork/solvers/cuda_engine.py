"""The search on a GPU: kernels generated for a chain, their working memory, and the rounds of launches.

`cuda_batch` copies targets and results. This needs the extra `cuda`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import chain_memory as memory
from ..kernels.cards import free_memory
from ..kernels.closed_form.cuda_seven import SevenKernels, seven_kernels, tried
from ..kernels.cuda import THREADS, device_array, fetch, processors, to_device
from ..kernels.cuda_answers import NO_ONE, TALLY
from ..kernels.cuda_codegen import Task, WrittenParts
from ..kernels.cuda_generic import bound_of, card_of
from ..kernels.cuda_pack import any_kernels
from ..kernels.cuda_parts import Answers, CardChain
from ..kernels.cuda_search import Kernels, search_kernels
from ..kernels.joint_step import TRANSFORM
from ..kernels.starts import FIRST_STARTS, TABLE_STARTS
from ..transforms import plane_basis
from .card_memory import Lender
from .chain_settings import LEAST_DAMPING
from .chain_solver import Prepared
from .closed_form.seven import Seven, seven_form

RACERS, CROWD = 8, 256  # largest number of threads that race for a goal: in the first rounds, and later
FEW, FIELD = 32768, 256  # up to FEW problems are raced for at once, each with FIELD starts
RACE_STARTS = 64  # starts per problem in a race for problems that the first descents did not solve
STRAGGLERS, HEATS = 16384, 1 << 20  # up to STRAGGLERS problems get a whole block each, with HEATS starts in total
FORM_TRIES, FORM_BLOCKS = 32, 6  # angles that a closed form tries, and its blocks per multiprocessor
GRAIN = 8  # descents that a thread takes at once if there are many
ANSWERS = (np.float64, np.float64, np.int32, np.int8, np.bool_)
SHARE, KEPT = 0.7, 0.2  # shares of the free memory: for the work of one batch, and kept for the next one
LITTLE, SMALL = 1 << 26, 4096  # bytes below which free memory is not checked; kept memory for SMALL problems is reused
# Time to compile kernels for one chain, and time lost by kernels for any chain: per batch, and per target on one
# multiprocessor; measured on an H200 for an arm of seven joints [s].
COMPILING, LOST_EACH_BATCH, LOST_EACH = 12.0, 5e-4, 5e-7
FINEST = 2e-5  # error of single precision, as a share of the chain's length: finer tolerances need double precision


class Engine:
    """The search for one prepared solver and kind of target.

    Args:
        prepared: The solver.
        shape: Shape of one target.
        given: Whether targets have starts.
        dtype: Precision of descents.
    """

    def __init__(self, prepared: Prepared, shape: tuple[int, ...], given: bool, dtype: Any) -> None:
        self.prepared, self.dtype, self.tries = prepared, np.dtype(dtype), prepared.restarts
        exact = prepared.packed(np.float64, bounded=True)[: memory.SETTINGS.size]
        frames, poses = prepared.frames.astype(self.dtype), prepared.chain.table[0].astype(self.dtype)
        self.task = _task(prepared, exact, frames[: memory.NARROW], shape, given, self.dtype.type)
        self.given, self.values = given, int(self.task.values)
        self.bound = bound_of(self.task)
        self.card = CardChain(*map(to_device, card_of(self.task, frames)))
        self.seats: list[Any] = []  # memory for blocks from the host, filled by `cuda_batch`
        self._room: Room | None = None
        self.lender = Lender(self.answers, self._worth_keeping)
        self._lock = Lock()
        fine = (FINEST * prepared.chain.length) ** 2 if self.dtype == np.float32 else 0.0
        settings = memory.SETTINGS.view(exact)
        near, aligned = float(settings.near), float(settings.aligned)
        turned = fine / max(float(settings.rotation_weight) ** 2, 1e-30)
        rough = max(0.81 * near, fine), max(0.81 * aligned, turned)
        self.tolerances = tuple(self.dtype.type(x) for x in rough)
        self.exacting = rough[0] > near or rough[1] > aligned
        self.form_kernels: SevenKernels | None = None  # of a closed form, used instead of the first descents
        self.kernels = any_kernels(self.dtype, self.bound) if self.bound else self._own_kernels()
        self.lost, self.settled = 0.0, False  # time lost by kernels for any chain [s]
        known = np.concatenate([exact, prepared.chain.limits.ravel()])
        self.known, self.poses, self.neutral = (to_device(array.ravel()) for array in (known, poses, prepared.rest))

    def _own_kernels(self) -> Kernels:
        """Return kernels generated for this chain, and make those of its closed form if it has one."""
        parts, form = WrittenParts(self.task), self._form()
        if form is not None:
            self.form_kernels = seven_kernels(form.numbers, parts)
            self.angles = to_device(tried(form.tries)[:FORM_TRIES].astype(self.dtype).ravel())
        return search_kernels(parts)

    def _form(self) -> Seven | None:
        """Return the closed form that solves most goals, if there is one that suits the descents' precision."""
        prepared, fine = self.prepared, FORM_TRIES and not self.exacting
        asked = prepared.whole_pose and prepared.settings.keeps_limits and self.task.shape == (4, 4) and not self.given
        form = seven_form(prepared.chain) if fine and asked else None
        return form if isinstance(form, Seven) and form.exact else None

    def expect(self, count: int) -> None:
        """Announce a number of targets. After enough of them, kernels are compiled for this chain alone.

        That is when the time lost by kernels for any chain exceeds the compile time. It is estimated, not measured, so
        that a program gives the same results in every run.
        """
        if self.bound and not self.settled:
            self.lost += LOST_EACH_BATCH + LOST_EACH * count / processors()
            if self.lost > COMPILING:
                self.bound, self.kernels = 0, self._own_kernels()

    def settle(self, count: int) -> None:
        """Choose kernels for a total number of targets, once and for all."""
        with self._lock:
            self.expect(count)
            self.settled = True

    @cached_property
    def threads(self) -> int:
        """Number of descents that run in parallel."""
        return 4 * THREADS * processors()

    def room(self, count: int) -> Room:
        """Return working memory for that many problems."""
        return Room(count, self.values, self.dtype, self.threads)

    def kept_room(self, count: int) -> Room:
        """Return working memory, kept or new, for that many problems or as many as fit into memory."""
        with self._lock:
            room, self._room = self._room, None
        if room is None or not count <= room.count <= max(4 * count, SMALL):
            del room
            wanted = max(count, 1) * self.bytes_each
            fits = count if wanted < LITTLE else int(SHARE * free_memory()) // self.bytes_each
            room = self.room(max(1, min(count, fits)))
        return room

    def _worth_keeping(self, count: int) -> bool:
        size = count * self.bytes_each
        return size < LITTLE or size < KEPT * free_memory()  # asking the driver takes longer than a small batch

    def keep(self, room: Room) -> None:
        """Keep memory for the next batch, unless it is large."""
        if self._worth_keeping(room.count):
            self._room = room

    def answers(self, count: int) -> Answers:
        """Return GPU memory for results."""
        return Answers(*(device_array(count * w, kind) for w, kind in zip(self.widths, ANSWERS, strict=True)))

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of values of each kind in a result."""
        return self.task.nq, sum(self.task.asked), 1, 1, 1

    @property
    def bytes_each(self) -> int:
        """Working memory per problem [bytes], besides its target and its result."""
        return (TRANSFORM.size + 1 + self.values) * int(self.dtype.itemsize) + 8 * (self.values + 3) + 20

    def run(
        self, targets: Any, count: int, room: Room, out: Answers, *, first: int, values: Any, base: Any, stream: Any
    ) -> None:
        """Solve targets, one per row; `values` and `base` are starts of the chain and of the whole pose."""
        values, base = self.known if values is None else values, self.neutral if base is None else base
        self.finish(Rounds(self, targets, room, out, first, values, base, stream, count))

    def finish(self, search: Rounds) -> None:
        """Run all rounds of a search."""
        if self.given:
            search.prepare()
        elif not search.races():
            return
        for low, high in [(-1, 0)] * self.given + [
            (0, TABLE_STARTS),
            (TABLE_STARTS, FIRST_STARTS),
        ]:
            search.round(low, high, last=False)
            if not search.left:
                return
        while search.close():
            search.round(FIRST_STARTS, self.tries, last=True)
            if not search.left:
                return


class Room:
    """Device memory that a search works in.

    Args:
        count: Largest number of problems.
        values: Number of values of the chain.
        dtype: Precision of descents.
        threads: Number of descents that run in parallel.
    """

    def __init__(self, count: int, values: int, dtype: Any, threads: int) -> None:
        slots = max(count, min(threads, CROWD * count))
        self.count = count
        self.goal, self.pose = (
            device_array(TRANSFORM.size * count, dtype),
            device_array(values * slots, dtype),
        )
        self.error, self.found = device_array(slots, dtype), device_array(slots, np.int32)
        self.order = device_array(2 * count, np.int64)
        self.counters = to_device(np.zeros(TALLY.size, np.int32))
        self.allowed, self.begun = device_array(count, np.int32), device_array(count, np.int32)
        self.listed, self.following = device_array(count, np.int32), device_array(count, np.int32)
        self.best, self.nearest = device_array(values * count, np.float64), device_array(count, np.float64)
        self.keys = to_device(np.full(min(count, threads), NO_ONE, np.int32))  # judge kernels reset it


@dataclass
class Rounds:
    """A running search; `left` is the number of problems not reached yet."""

    engine: Engine
    targets: Any
    room: Room
    out: Answers
    first: int
    values: Any
    base: Any
    stream: Any
    left: int
    whole: bool = True
    fresh: bool = True

    def __post_init__(self) -> None:
        self.counters = np.zeros(TALLY.size, np.int32)

    def _grid(self, count: int) -> tuple[int, int, Any]:
        return -(-max(count, 1) // THREADS), THREADS, self.stream

    def _count(self, which: int) -> int:
        fetch(self.room.counters, self.counters, self.stream)
        self.room.listed, self.room.following = self.room.following, self.room.listed
        self.whole = False
        return int(self.counters[which])

    def races(self) -> int:
        """Race for all problems; return the number not reached, which is left to the rounds."""
        few, low, high = self.left <= FEW, 0, FIELD
        swept = not few and self.engine.form_kernels is None
        if swept:
            self.prepare()
            self.sweep()
            low, high = TABLE_STARTS, RACE_STARTS
        elif not few:
            self.choose(self.engine.form_kernels)
            high = RACE_STARTS
        if self.left:
            self.race(low, high, TABLE_STARTS, TALLY.open)
        if 0 < self.left <= STRAGGLERS:
            self.race(high, high + HEATS // self.left, THREADS, TALLY.last)
        if self.left and not swept:
            self.prepare()
        return self.left

    def race(self, low: int, high: int, racers: int, tally: int) -> None:
        """Race for all remaining problems, with starts `low` to `high`."""
        e, room, count = self.engine, self.room, self.left
        e.kernels.race[-(-count * racers // THREADS), THREADS, self.stream](
            e.card, self.targets, e.known, e.poses, self.base, room.listed, room.following, room.counters, self.out,
            count, racers, low, min(high, e.tries), e.prepared.seed, self.first, int(self.whole), tally, *e.tolerances,
        )  # fmt: skip
        self.left = self._count(tally)

    def prepare(self) -> None:
        """Read targets and rank the first starts."""
        e, room, count = self.engine, self.room, self.left
        e.kernels.prepare[self._grid(max(count, len(self.counters)))](
            e.card, self.targets, e.known, room.listed, room.goal, room.order, room.allowed, room.begun,
            self.out.codes, room.counters, count, e.tries, int(self.whole),
        )  # fmt: skip

    def _descend(self, low: int, high: int, racers: int) -> None:
        e, room, count = self.engine, self.room, self.left
        grain = GRAIN if count * racers > 4 * GRAIN * e.threads else 1
        blocks = min(-(-count * racers // THREADS), e.threads // THREADS)
        e.kernels.descend[blocks, THREADS, self.stream](
            e.card, room.goal, room.order, e.poses, self.values, e.known, room.listed, room.allowed, room.begun,
            room.keys, room.pose, room.error, room.found, room.counters,
            count, racers, grain, low, high, e.prepared.seed, self.first, int(self.whole), *e.tolerances,
        )  # fmt: skip

    def sweep(self) -> None:
        """Run the first descents of all problems, and accept their solutions."""
        e, room, count = self.engine, self.room, self.left
        if e.exacting:
            self.round(0, TABLE_STARTS, last=False)
            return
        self._descend(0, TABLE_STARTS, 1)
        e.kernels.accept[self._grid(count)](
            e.card,
            self.targets,
            e.known,
            self.base,
            room.following,
            room.pose,
            room.found,
            room.counters,
            self.out,
            count,
        )
        self.left = self._count(TALLY.left)

    def choose(self, kernels: Any) -> None:
        """Solve problems with a closed form."""
        e, room, count = self.engine, self.room, self.left
        blocks = min(-(-count // THREADS), FORM_BLOCKS * processors())
        tries = e.angles.size // 2
        kernels.choose[blocks, THREADS, self.stream](self.targets, e.angles, room.found, room.counters, count, tries)
        kernels.settle[self._grid(count)](
            e.card, self.targets, e.known, self.base, e.angles, room.following, room.found, room.counters, self.out,
            count,
        )  # fmt: skip
        self.left = self._count(TALLY.left)

    def round(self, low: int, high: int, *, last: bool) -> None:
        """Run the descents of starts `low` to `high` for all remaining problems, and judge them."""
        e, room, out, count = self.engine, self.room, self.out, self.left
        most = CROWD if last else min(RACERS, high - low)
        racers = max(1, min(most, 2 ** int(math.log2(max(e.threads // count, 1)))))
        if low == TABLE_STARTS:
            e.kernels.rank[self._grid(count)](e.card.table, room.goal, room.listed, room.order, count)
        self._descend(low, high, racers)
        e.kernels.judge[self._grid(count)](
            e.card, self.targets, e.known, self.base, room.listed, room.following, room.allowed, room.begun, room.keys,
            room.pose, room.error, room.found, room.counters, room.best, room.nearest, out,
            count, racers, high, int(self.whole), int(self.fresh), int(last),
        )  # fmt: skip
        self.fresh = False
        self.left = self._count(TALLY.left)

    def close(self) -> int:
        """Refine the best poses of the remaining problems; return how many of these get more starts."""
        e, room, out = self.engine, self.room, self.out
        e.kernels.close[self._grid(self.left)](
            e.card, self.targets, e.known, self.base, room.listed, room.following, room.allowed, room.begun,
            room.counters, room.best, room.nearest, out, self.left, e.tries,
        )  # fmt: skip
        self.left = self._count(TALLY.open)
        return self.left


def _task(
    prepared: Prepared, exact: NDArray[Any], table: NDArray[Any], shape: tuple[int, ...], given: bool, dtype: Any
) -> Task:
    """Return the description that kernels are generated from."""
    chain, linkage, goal = prepared.chain, prepared.linkage, prepared.goal
    limits, bounds = prepared.kept_limits, np.stack([linkage.lower, linkage.upper])
    if prepared.settings.limits == "ignore":
        bounds[:] = [[-np.inf], [np.inf]]
    if prepared.group is not None:
        bounds[:, ~prepared.group.values] = [[-np.inf], [np.inf]]
    rough = exact.copy()
    memory.SETTINGS.view(rough).damping_least = LEAST_DAMPING[np.dtype(dtype)] * chain.length**2
    inside, outside = chain.plain
    return Task(
        codes=chain.codes,
        settings=(exact, rough),
        limits=limits,
        numbers=chain.numbers,
        table=table,
        turn=None if goal.free is None else plane_basis(goal.free),
        shape=shape,
        neutral=prepared.rest,
        bounds=bounds,
        plain=np.stack([inside, outside], axis=1),
        balls=chain.balls,
        open=tuple(outside[np.isin(inside, prepared.open)].tolist()),
        whole=prepared.whole,
        given=given,
        asked=(goal.coordinates > 0, len(goal.rows) > goal.coordinates),
        dtype=dtype,
    )
