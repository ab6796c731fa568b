"""Read a block of goals, solve it, write its part of the answers and record it."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, cast

import numpy as np

from ..errors import BlockError, DeviceError, OptionError, PoseError
from ..goals import as_avoid
from ..kernels.cards import card_count
from ..kernels.threads import cores, dealt
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..solvers.answer_tables import body_columns, schema_of, taken_names
from ..solvers.batch import settle_card, solve_batch
from ..solvers.batch_answers import Batch
from ..solvers.body_answers import BodyBatch
from ..solvers.options import given_tolerance, precision
from ..solvers.preparing import prepare
from ..solvers.solutions_batch import SolutionsBatch
from ..transforms import FloatArray
from .answer_files import record_of, write_companions, write_part
from .answer_format import AnswerFormat
from .engine import Receipt, Receipts, avoid_facts, linkage_digest, run_ray
from .goal_blocks import Digests, RowBlock
from .goal_columns import BodyColumns, Columns
from .goal_files import Goals
from .goal_rows import GoalRows, MissingRows, RowReader
from .places import Here
from .row_frames import COLUMN as FRAME, RowFrames
from .runs import Record, Run
from .several_goals import SeveralGoals
from .stopwatch import Stopwatch

ROWS = {"cpu": 2**18, "cuda": 2**20}  # default number of rows of a block
LEAST_CHUNK = 1024  # fewest rows in memory per thread, if each row has many solutions
CHUNK = {"cpu": 2**15, "cuda": 2**18}  # rows in memory per thread
Answers = Batch | SolutionsBatch | BodyBatch
AT_ONCE = 8  # number of threads that share one GPU
MOST_NOTES = 100  # largest number of notes kept for a block
DEFAULTS = {p.name: p.default for p in inspect.signature(prepare).parameters.values() if p.default != p.empty}


@dataclass
class _Log:
    """The log of a block: notes on single rows, rows that could not be read, and times."""

    notes: list[str] = field(default_factory=list)
    missing: list[MissingRows] = field(default_factory=list)
    watch: Stopwatch = field(default_factory=Stopwatch)


class BlockSolver:
    """Reads a block of goals, solves it and writes its part; it is sent to the workers.

    Args:
        linkage: The linkage.
        frame: The frame of the goals; several goals per row; or None if a column names the frame of each row.
        goals: The dataset.
        start: The start pose if there are no start columns, or None.
        options: As in `solve_batch`.
        device: Where to solve.
        store: Number type of the answers: ``"float64"`` or ``"float32"``.
        form: The format of the answers, and how its files are compressed.
        block_rows: Largest number of rows of a block.

    Attributes:
        run: The run whose parts it writes.
        threads: Number of threads that solve a block.
    """

    def __init__(
        self,
        linkage: Linkage,
        frame: str | SeveralGoals | None,
        goals: Goals,
        start: PoseLike | None,
        options: dict[str, Any],
        *,
        device: str,
        store: str,
        form: tuple[type[AnswerFormat], str],
        block_rows: int,
    ) -> None:
        self.linkage, self.frame, self.goals = linkage, frame, goals
        self.start = None if start is None else start_pose(linkage, start)
        if self.start is not None and self.start.shape != (linkage.nq,):
            raise OptionError(f"start is one pose of shape ({linkage.nq},), got {self.start.shape}.")
        self.device, self.store, self.threads = device, store, 1
        columns, self.options = goals.columns, options
        if isinstance(columns, BodyColumns):
            if device != "cpu":
                raise DeviceError("several goals per row are solved on the processor; use the engine local or ray.")
            self.errors, statuses = body_columns(self._no_bodies())
        else:
            self.options = {**options, "position": columns.position, "orientation": bool(columns.turn)}
            self.errors, statuses = columns.errors, ()
        several = self.options.get("solutions") is not None
        if several and frame is None:
            raise OptionError("solutions needs one frame for all rows; solve the goals of each frame separately.")
        _refuse_taken(goals, linkage, (*self.errors, *statuses))
        schema = schema_of(linkage, self.errors, goals.types, store, statuses=statuses, several=several)
        self.form = form[0](schema, form[1], goals.rows, block_rows, tuple(linkage.coordinates))
        self.run, self.digests = Run(Here(""), ""), Digests()
        self._readers: dict[int, RowReader] = {}  # one for each thread, which continues where it stopped
        self._cards: SimpleQueue[str] | None = None  # GPUs that are free for a further thread
        self._frames: RowFrames | None = None  # frames that rows may name; created by a worker
        if frame is None and device != "cpu":
            raise DeviceError("rows with different frames are solved on the processor; use the engine local or ray.")
        if device != "cpu":
            self.linkage = linkage.replace()  # a copy with its own cache: kernels must not depend on earlier solves

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_readers": {}, "_cards": None, "_frames": None}

    def close(self) -> None:
        """Close open files; a thread that still had them at the end of the process could crash it."""
        self._readers.clear()

    def check(self, device: str) -> None:
        """Raise an error if options, or a device of this computer, cannot be used, before anything is written."""
        self.form.check()
        columns = self.goals.columns
        if self.frame is None:
            self._rows_of_frames()
        elif isinstance(columns, Columns):
            self._batch(np.zeros((0, *columns.shape)), self.start, 0, device)

    def _rows_of_frames(self) -> RowFrames:
        """Return the frames that rows may name; raise for wrong options."""
        if self._frames is None:
            columns: Any = self.goals.columns
            none = np.zeros((0, *columns.shape))
            self._frames = RowFrames(self.linkage, lambda name: self._batch(none, self.start, 0, "cpu", name))
        return self._frames

    def _no_bodies(self) -> BodyBatch:
        """Return the answers to zero goals, which define the columns of answers; raise for wrong options."""
        columns: Any = self.goals.columns
        none = {one.frame: np.zeros((0, *one.shape)) for one in columns.frames}
        found = self._batch(none, self.start, 0, "cpu")
        return cast(BodyBatch, found)

    def facts(self) -> dict[str, Any]:
        """Return the settings that determine answers and blocks, as plain data, without `inputs`."""
        plain: dict[str, Any] = DEFAULTS | self.options  # defaults given explicitly must not make a difference
        plain["tolerance"] = given_tolerance(self.linkage, plain["tolerance"])
        free = plain["free"]
        plain["free"] = free if free is None or isinstance(free, str) else np.asarray(free).tolist()
        if (apart := as_avoid(plain.get("avoid"))) is not None:
            plain["avoid"] = avoid_facts(apart)
        if "dtype" in plain:
            plain["dtype"] = precision(plain["dtype"]).name
        return {
            "kind": "answers",
            "columns": [*self.goals.columns.names, *self.goals.types],
            "linkage": {
                "name": self.linkage.name,
                "sha256": linkage_digest(self.linkage),
                "coordinates": list(self.linkage.coordinates),
            },
            **(
                self.frame.facts() | {"errors": self.errors}
                if isinstance(self.frame, SeveralGoals)
                else {"frame": self.frame}
            ),
            "start": None if self.start is None else self.start.tolist(),
            "options": {name: plain[name] for name in sorted(plain)},
            "device": self.device,
            "output": {
                "format": self.form.name,
                "store": self.store,
                "compression": self.form.compression,
                "block_rows": self.form.block_rows,
            },
        }

    def items(self) -> tuple[list[str], list[tuple[int, int]]]:
        """Return the names of all records, and the first row and the number of rows of each block.

        Companion files are written here. Without goals there is one empty part, which has the columns.
        """
        spans = [(block.first, block.rows) for block in self.goals.blocks]
        names = write_companions(self.form, self.run)
        parts = [self.form.part(number) for number in range(len(spans))] if spans else self._write_empty()
        return [*parts, *names], spans

    def kept(self) -> dict[int, Mapping[str, int]]:
        """Return the statuses of rows in blocks whose parts exist, undamaged and made from the current input."""
        blocks = {self.form.part(block.number): block for block in self.goals.blocks}

        def fits(record: Record) -> bool:
            block = blocks[record.file]
            same = (record.first, record.rows) == (block.first, block.rows)
            return same and bool(digest := self.digests.of(block)) and digest == record.input

        return {blocks[record.file].number: record.counts for record in self.run.kept(blocks, fits)}

    def sweep(self) -> list[str]:
        """Remove parts without a record; return foreign files that would be read together with the answers."""
        return self.run.sweep(self.form.is_part, self.form.is_data)

    def receipts(
        self,
        blocks: Sequence[int],
        *,
        engine: str,
        workers: int | None,
        address: str | None,
        gpu: bool,
        devices: Sequence[int] | None,
    ) -> Receipts:
        """Process blocks, and yield a receipt for each."""
        if engine == "ray":
            return run_ray(self, blocks, workers, address=address, gpu=gpu)
        if engine == "cuda":
            self._take(range(card_count()) if devices is None else devices)
        threads = workers or cores()
        at_once = max(1, min(threads, len(blocks)))
        self.threads = max(1, threads // at_once)  # with few blocks, several threads solve each
        return dealt(self, blocks, at_once)

    def _take(self, devices: Sequence[int]) -> None:
        """Prepare GPUs. Threads then use whichever is free, while others read and write."""
        self._cards, names = SimpleQueue(), [f"cuda:{number}" for number in devices]
        columns: Any = self.goals.columns
        start = self.linkage.neutral()[None] if columns.starts else self.start
        if isinstance(self.frame, str):  # prepare only for a single frame
            like = np.zeros((1, *columns.shape)), start
            for name in names:
                settle_card(self.linkage, self.frame, *like, self.goals.rows, device=name, **self._single)
        for name in AT_ONCE * names:
            self._cards.put(name)

    @contextmanager
    def _device(self) -> Iterator[str]:
        """Yield the device for a solve; a GPU is released for the next thread."""
        if self._cards is None:
            yield self.device
            return
        name = self._cards.get()
        try:
            yield name
        finally:
            self._cards.put(name)

    def __call__(self, number: int) -> Receipt:
        """Process one block. A block that cannot be read is reported in the receipt; other errors are raised."""
        block = self.goals.blocks[number]
        log = _Log()
        try:
            record = self._written(block, log)
        except BlockError as error:
            missing = log.missing or [MissingRows(block.first, block.rows, str(error))]
            return Receipt(number, missing=missing, times=dict(log.watch.times))
        self.run.keep(record)
        log.watch.lap("write")
        return Receipt(number, record.counts, record.notes, log.missing, times=dict(log.watch.times))

    def _write_empty(self) -> list[str]:
        """Write an empty part, for its columns, and return its name; none if the format stores columns elsewhere."""
        name, (counts, files) = self.form.part(0), write_part(self.form, self.run, RowBlock(0, 0, 0), ())
        if not files:
            return []
        self.run.keep(record_of(name, 0, 0, 0, "", files, counts=counts, more={"run": self.run.digest}))
        return [name]

    def _written(self, block: RowBlock, log: _Log) -> Record:
        name, source = self.form.part(block.number), self.digests.of(block)
        log.watch.lap("digest")
        counts, files = write_part(self.form, self.run, block, self._answers(block, log))
        notes = log.notes
        said = notes[:MOST_NOTES] + ([f"and {len(notes) - MOST_NOTES} more lines"] if len(notes) > MOST_NOTES else [])
        told: dict[str, Any] = {"counts": counts, "notes": said, "more": {"run": self.run.digest}}
        return record_of(name, block.number, block.first, sum(counts.values()), source, files, **told)

    def _answers(self, block: RowBlock, log: _Log) -> Iterator[tuple[Answers, GoalRows]]:
        thread = threading.get_ident()
        if thread not in self._readers:
            base = self.linkage.neutral() if self.start is None else self.start
            chunk = max(CHUNK[self.device] // (self.options.get("solutions") or 1), LEAST_CHUNK)
            if self.frame is None:  # random starts are numbered per frame over the whole block, so read it at once
                chunk = self.form.block_rows
            self._readers[thread] = RowReader(self.goals, self.linkage, base, chunk)
        reader = self._readers[thread]
        for rows in reader.read(block):
            if isinstance(rows, MissingRows):
                log.missing.append(rows)
                continue
            log.notes += rows.notes
            log.watch.lap("read")
            try:
                start = self.start if rows.starts is None else rows.starts
                with self._device() as device:
                    log.watch.lap("wait")
                    targets: Any = rows.targets
                    frames: list[str] | None = None
                    if self.frame is None:
                        names = rows.carried[FRAME].to_pylist()
                        frames, targets, notes = self._rows_of_frames().of(names, targets, rows.first)
                        log.notes += notes
                    batch = self._batch(targets, start, rows.first, device, frames)
            except PoseError as error:
                raise block.unreadable(error) from error
            log.watch.lap("solve")
            yield batch, rows
            log.watch.lap("write")
        if sum(rows.count for rows in log.missing) == block.rows:  # do not write a part without rows
            raise block.unreadable("nothing of it is there")

    @property
    def _single(self) -> dict[str, Any]:
        """The options for a single answer to each goal."""
        return {name: value for name, value in self.options.items() if name not in ("solutions", "apart")}

    def _batch(
        self, targets: Any, start: FloatArray | None, first: int, device: str, frames: Sequence[str] | None = None
    ) -> Answers:
        shared: dict[str, Any] = {"start": start, "threads": self.threads, "progress": False, "first": first}
        if isinstance(self.frame, SeveralGoals):
            every = self.frame.keyed(targets)
            return solve_batch(self.linkage, every, also=self.frame.also, **shared, **self.options)
        frame: Any = self.frame if frames is None else frames
        found: Answers = solve_batch(self.linkage, frame, targets, device=device, **shared, **self.options)
        return found


def _refuse_taken(goals: Goals, linkage: Linkage, more: Sequence[str]) -> None:
    """Raise OptionError if a copied column has the name of a column of answers."""
    taken = {*taken_names(goals.types, linkage, more)}
    source = next((name for name, called in goals.carried.items() if called in taken), None)
    if source is not None:
        called = goals.carried[source]
        raise OptionError(
            f"answers have a column {called!r} of their own, so the column {source!r} of the goals cannot keep that "
            f"name; give it another, keep={{{source!r}: 'goal_{source}'}} or --keep {source}=goal_{source}, or "
            "ignore it."
        )
