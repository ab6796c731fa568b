"""Collision-free poses for many targets on a GPU: proposals of closed forms first, then repeated searches.

The scene is an argument of the kernels, so one arm in many worlds needs one set of kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DeviceError
from ..kernels.closed_form.cuda_seven import WrittenSeven, tried
from ..kernels.closed_form.cuda_six import SINGLE, WrittenForm
from ..kernels.collision.cuda_free import only_balls
from ..kernels.collision.cuda_propose import FreeKernels, free_kernels, rough_kind
from ..kernels.collision.piece_layout import HEADER
from ..kernels.cuda import THREADS, device_array, fetch, to_device
from ..kernels.cuda_answers import TALLY
from ..kernels.cuda_codegen import WrittenParts
from ..kernels.cuda_parts import Answers
from ..kernels.starts import TABLE_STARTS
from ..transforms import FloatArray
from .closed_form.finding import family_form
from .closed_form.seven import Seven, seven_form
from .cuda_engine import FIELD, Engine, Room, Rounds
from .free_chain import HAIR, FreeChain

SLACK = 1e-6  # added to the margin for the error of single precision, as a share of the arm's size
FINER = 992  # angles that a closed form tries after the first ones, which solve most goals
SPAN = 64  # starts of each further round of the search
ROUNDS, SURE = 24, 6  # largest number of rounds; SURE if a closed form gives all poses, so only rounding can lose one
FEW = 4096  # up to this many goals, each thread takes one start


def _finer() -> FloatArray:
    """Return more fractions of both arcs, between those tried first; any number of them is evenly spread."""
    shares = 0.5 + 0.618033988749895 * np.arange(FINER // 2)
    return np.stack([np.repeat(shares % 1.0, 2), np.tile([1.0, -1.0], FINER // 2)], axis=-1)


class FreeRoom(Room):
    """Memory of a collision-free search: the remaining problems, and their number."""

    def __init__(self, count: int, values: int, dtype: Any, threads: int) -> None:
        super().__init__(count, values, dtype, threads)
        self.slots = self.found.size
        self.open, self.later = device_array(count, np.int32), device_array(count, np.int32)
        self.tallies, self.turn = to_device(np.zeros(2, np.int32)), 0

    def next_turn(self) -> int:
        """Return the index of this launch's counter; the launch sets the other one to zero."""
        self.turn = 1 - self.turn
        return self.turn


class FreeEngine(Engine):
    """The collision-free search for one prepared chain."""

    def __init__(self, prepared: FreeChain, shape: tuple[int, ...], given: bool, dtype: Any) -> None:
        super().__init__(prepared, shape, given, dtype)
        scene, margin, rest = prepared.scene, prepared.avoid.margin + HAIR, prepared.rest
        if margin < 0.0 and not only_balls(scene.codes):
            raise DeviceError(
                f"on a GPU, a margin below zero ({prepared.avoid.margin} m) needs links made of spheres, in a world "
                "without meshes; solve on the CPU, or fit spheres: lw.collision.fit(arm)."
            )
        real = rough_kind(scene.codes)
        self.scene, self.shapes, self.rough = map(to_device, (scene.codes, scene.numbers, scene.numbers.astype(real)))
        outside = prepared.put(prepared.chain.values_of(rest), rest)  # within limits, as in results
        self.places, self.outside = to_device(prepared.places), to_device(outside.astype(real))
        more = SLACK * prepared.chain.length if real is np.float32 else 0.0
        self.margin, self.wide = float(margin), real(margin + more)
        like = *(int(scene.codes[which]) for which in (HEADER.values, HEADER.frames)), only_balls(scene.codes)
        self.free, self.angles, self.proves = prepared.cache.get(
            "free kernels", (shape, given, self.dtype, like), lambda: self._free_kernels(prepared)
        )

    def _form(self) -> None:
        return None  # here, a closed form proposes poses; the search does not start with it

    def _free_kernels(self, prepared: FreeChain) -> tuple[FreeKernels, Any, bool]:
        """Return the kernels, the angles that a closed form tries, and whether it finds all solutions."""
        form: WrittenSeven | WrittenForm | None = None
        angles, proves = np.zeros((1, 2)), False
        plain = prepared.whole_pose and self.task.shape == (4, 4) and not self.given and not self.exacting
        if plain and self.dtype == np.float32:
            six = family_form(prepared.chain)
            seven = seven_form(prepared.chain) if prepared.settings.keeps_limits else ""
            if six is not None and six.exact and six.recognised is not None:
                near, aligned = max(six.tolerance[0], SINGLE * six.axes.size), max(six.tolerance[1], SINGLE)
                numbers = six.numbers if prepared.settings.keeps_limits else six.unlimited
                form, proves = WrittenForm(six.codes, numbers, (near**2, aligned**2), np.float32), True
                angles = np.array([[1.0, 0.0], [-1.0, 0.0]])  # signs of the first root
            elif isinstance(seven, Seven) and seven.exact:
                form = WrittenSeven(seven.numbers, np.float32)
                angles = np.concatenate([tried(seven.tries), _finer()])
        kernels = free_kernels(prepared.scene.codes, WrittenParts(self.task), form)
        return kernels, to_device(angles.astype(np.float32).ravel()), proves

    def room(self, count: int) -> FreeRoom:
        return FreeRoom(count, self.values, self.dtype, self.threads)

    @property
    def bytes_each(self) -> int:
        return super().bytes_each + 8

    def run(
        self, targets: Any, count: int, room: Any, out: Answers, *, first: int, values: Any, base: Any, stream: Any
    ) -> None:
        """Solve targets until the poses are collision-free; the remaining ones are marked as colliding."""
        given = (self.known if values is None else values), (self.neutral if base is None else base)
        work = _Free(self, targets, room, out, first, *given, stream)
        left, whole = count, True
        if self.free.propose is not None:
            left, whole = work.propose(count), False
        if left:
            work.search(left, whole)


class _Free:
    """A running search."""

    def __init__(
        self, engine: FreeEngine, targets: Any, room: FreeRoom, out: Answers, first: int, values: Any, base: Any,
        stream: Any,
    ) -> None:  # fmt: skip
        self.engine, self.targets, self.room, self.out, self.first = engine, targets, room, out, first
        self.values, self.base, self.stream = values, base, stream
        self.counters = np.zeros(2, np.int32)

    def _count(self, tally: int) -> int:
        """Return the number of remaining problems, and make them the open ones."""
        room = self.room
        fetch(room.tallies, self.counters, self.stream)
        room.open, room.later = room.later, room.open
        return int(self.counters[tally])

    def _grid(self, count: int) -> tuple[int, int, Any]:
        return -(-max(count, 1) // THREADS), THREADS, self.stream

    def propose(self, count: int) -> int:
        """Let a closed form propose poses; return the number of remaining problems, which are then open."""
        e, room, cursor, left, whole = self.engine, self.room, 0, count, 1
        angles = e.angles.size // 2
        while left and cursor < angles:
            crowd = max(1, min(room.slots // left, angles - cursor))
            e.free.propose[self._grid(left * crowd)](
                self.targets, e.angles, e.scene, e.rough, e.places, e.outside, room.open, room.pose, room.found,
                left, crowd, cursor, whole, e.wide,
            )  # fmt: skip
            e.free.settle[self._grid(left)](
                e.card, self.targets, e.known, self.base, room.open, room.pose, room.found, self.out, left, crowd, whole
            )
            left, whole, cursor = self._judge(left, bool(whole)), 0, cursor + crowd
        return left

    def search(self, left: int, whole: bool) -> None:
        """Search for the open problems, and again from other starts for those whose poses collide."""
        e, room = self.engine, self.room
        rounds = self._rounds(left, whole)
        e.finish(rounds)
        left, low = self._judge(left, whole), FIELD
        end = min(e.tries, FIELD + SPAN * (SURE if e.proves else ROUNDS))
        while left and low < end:
            rounds = self._rounds(left, False)
            room.counters.copy_to_device(np.zeros(TALLY.size, np.int32), self.stream)
            rounds.race(low, low + SPAN, TABLE_STARTS if left > FEW else min(SPAN, THREADS), TALLY.open)
            left, low = self._judge(left, False), low + SPAN

    def _rounds(self, left: int, whole: bool) -> Rounds:
        if not whole:
            self.room.listed[:left].copy_to_device(self.room.open[:left], self.stream)
        values, base = self.values, self.base
        return Rounds(
            self.engine, self.targets, self.room, self.out, self.first, values, base, self.stream, left, whole
        )

    def _judge(self, left: int, whole: bool) -> int:
        """Mark results that collide; return their number. They are then the open problems."""
        e, room, turn = self.engine, self.room, self.room.next_turn()
        e.free.judge[self._grid(left)](
            e.scene, e.shapes, room.open, room.later, room.tallies, self.out, left, int(whole), turn, 1 - turn,
            e.margin,
        )  # fmt: skip
        return self._count(turn)
