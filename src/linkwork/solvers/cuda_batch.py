"""Batches on a GPU: targets in host memory are copied there in blocks, targets on the GPU stay there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DeviceError, GoalError, OptionError
from ..kernels.cards import current_card, free_memory
from ..kernels.cuda import device_array, pinned_array, stream, to_device
from ..kernels.cuda_parts import Answers
from ..kernels.devices import DeviceArray, as_doubles, from_device, on_card, to_host
from .batch_shapes import leading_axes
from .chain_solver import Prepared
from .cuda_engine import ANSWERS, Engine
from .groups import within_limits

SHAPES = ((4, 4), (3, 3), (3,), (2,))


class Seat:
    """A stream, with GPU and host memory, for a block of targets from the host and its results."""

    def __init__(self, engine: Engine, capacity: int) -> None:
        self.capacity, self.stream = capacity, stream()
        self.room, self.out = engine.room(capacity), engine.answers(capacity)
        size, task = math.prod(engine.task.shape), engine.task
        self.sizes = (size, engine.values, task.nq) if engine.given else (size,)
        self.inputs = [(pinned_array(n * capacity), device_array(n * capacity)) for n in self.sizes]
        self.results = Answers(
            *(pinned_array(w * capacity, kind) for w, kind in zip(engine.widths, ANSWERS, strict=True))
        )

    def solve(self, engine: Engine, arrays: list[NDArray[Any]], first: int) -> Answers:
        """Return the results for arrays of targets and, if given, starts: values of the chain, and poses."""
        count = len(arrays[0])
        for (staged, memory), array, size in zip(self.inputs, arrays, self.sizes, strict=True):
            staged[: size * count].reshape(array.shape)[:] = array
            memory[: size * count].copy_to_device(staged[: size * count], self.stream)
        values, base = (self.inputs[1][1], self.inputs[2][1]) if engine.given else (None, None)
        engine.run(
            self.inputs[0][1], count, self.room, self.out, first=first, values=values, base=base, stream=self.stream
        )
        results = self.results.rows(0, count, engine.widths)
        for memory, host in zip(self.out.rows(0, count, engine.widths), results, strict=True):
            memory.copy_to_host(host, self.stream)
        self.stream.synchronize()
        return results


class Card:
    """A prepared solver on a GPU.

    Args:
        prepared: The solver.
        dtype: Precision of descents.
    """

    def __init__(self, prepared: Prepared, dtype: Any) -> None:
        self.prepared, self.dtype = prepared, np.dtype(dtype)
        self._engines: dict[tuple[tuple[int, ...], bool], Engine] = {}
        self._lock = Lock()

    def engine(self, shape: tuple[int, ...], given: bool, coming: int = 0) -> Engine:
        """Return the cached search for targets of a shape, with or without starts; `coming` targets are expected."""
        with self._lock:
            if (shape, given) not in self._engines:
                self.prepared.as_targets(np.zeros((0, *shape)))  # refuses a wrong shape
                self._engines[shape, given] = self._made(shape, given)
            engine = self._engines[shape, given]
            engine.expect(coming)
            return engine

    def _made(self, shape: tuple[int, ...], given: bool) -> Engine:
        if self.prepared.avoid is None:
            return Engine(self.prepared, shape, given, self.dtype)
        from .cuda_free import FreeEngine  # only needed with collisions

        free: Any = self.prepared
        return FreeEngine(free, shape, given, self.dtype)

    def solve(self, targets: NDArray[Any], start: NDArray[Any] | None, first: int) -> Answers:
        """Return results, host arrays, for a block of host targets; `start` is one pose, or one for each."""
        engine, count = self.engine(targets.shape[1:], start is not None), len(targets)
        arrays = [np.asarray(targets)]
        if start is not None:
            arrays += self._poses(engine, start, count)
        try:
            seat = engine.seats.pop()
        except IndexError:
            seat = None
        if seat is None or seat.capacity < count:
            with _memory_for(count):
                seat = Seat(engine, count)
        results = Answers(*(np.array(a) for a in seat.solve(engine, arrays, first)))
        engine.seats.append(seat)
        return results

    def solve_there(self, targets: Any, start: Any, first: int) -> Answers:
        """Return results on the GPU for targets there, solved in blocks that fit into its memory."""
        memory, shape = from_device(targets)
        lead = leading_axes(shape, "rad" in {block.unit for block in self.prepared.goal.blocks})
        own, count = shape[len(lead) :], math.prod(lead)
        if not lead or own not in SHAPES or memory.dtype.kind != "f":
            raise GoalError(f"targets are floating-point numbers of shape (n, 4, 4), got {memory.dtype} {shape}.")
        engine, size = self.engine(own, start is not None, count), math.prod(own)
        memory = as_doubles(memory)
        values, base = self._starts(engine, start, lead)
        with _memory_for(count):
            (out, lease), room = engine.lender.lent(count), engine.kept_room(count)
        block = room.count
        for at in range(0, count, block):
            n = min(block, count - at)
            rows = [
                a if a is None or n == count else a[w * at : w * (at + n)]
                for a, w in ((memory, size), (values, engine.values), (base, engine.task.nq))
            ]
            some = out if n == count else out.rows(at, n, engine.widths)
            engine.run(rows[0], n, room, some, first=first + at, values=rows[1], base=rows[2], stream=0)
        engine.keep(room)
        return Answers(
            *(
                DeviceArray(a, (*lead, w) if k < 2 else lead, lease, current_card())
                for k, (a, w) in enumerate(zip(out, engine.widths, strict=True))
            )
        )

    def _starts(self, engine: Engine, start: Any, lead: tuple[int, ...]) -> tuple[Any, Any]:
        """Return starts on the GPU: values of the chain, and poses. Those of a whole linkage need not be copied."""
        if start is None:
            return None, None
        whole = (*lead, engine.task.nq)
        if engine.task.whole and on_card(start) and tuple(getattr(start, "shape", ())) == whole:
            base = as_doubles(from_device(start)[0])
            return base, base
        host = to_host(start)
        if host.shape not in (whole, whole[-1:]):
            raise OptionError(f"start has shape {whole[-1:]} or {whole}, got {host.shape}.")
        rows = host.reshape(-1, engine.task.nq) if host.ndim > 1 else host
        values, poses = self._poses(engine, rows, math.prod(lead))
        return tuple(to_device(np.ascontiguousarray(a).ravel()) for a in (values, poses))

    def _poses(self, engine: Engine, start: NDArray[Any], count: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a start for each target: values of the chain, and poses with the other joints within limits."""
        poses = np.broadcast_to(start, (count, engine.task.nq))
        values = self.prepared.chain.values_of(poses)
        if self.prepared.settings.limits != "ignore" and not engine.task.whole:
            poses = within_limits(self.prepared.linkage, poses, self.prepared.group)
        return values, poses


@contextmanager
def _memory_for(count: int) -> Iterator[None]:
    """Turn an out-of-memory error into one that says what to do."""
    try:
        yield
    except Exception as error:
        if "OUT_OF_MEMORY" not in f"{error}" and "out of memory" not in f"{error}".lower():
            raise
        raise DeviceError(
            f"the GPU has too little memory for the answers to {count:,} targets, {free_memory() / 2**30:.1f} GiB are "
            "free; solve them in parts, or pass NumPy arrays, which are solved block by block."
        ) from error
