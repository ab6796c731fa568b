"""Whole datasets of goals solved into datasets of answers, by this computer, a graphics card or many machines.

What a row's answer is depends on its number, the linkage and the options, not on blocks and workers, so that an
interrupted run is resumed to the same answers.
"""

from __future__ import annotations

import inspect
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ..errors import BlockError, OptionError, PoseError, RunError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from ..solvers.batch import Batch, solve_batch
from ..solvers.options import BatchOptions, given_tolerance, precision, whole
from ..solvers.preparing import prepare
from ..solvers.threads import cores, dealt
from ..transforms import FloatArray
from .answer_files import part_path, read_counts, schema_of, write_part
from .engine import Receipt, Receipts, check_engine, linkage_digest, run_folder, run_ray
from .goal_files import Goals, RowBlock, open_goals, read_block

ENGINES = ("local", "cuda", "ray")
ROWS = {"cpu": 2**18, "cuda": 2**20}  # of a block, by default
CHUNK = {"cpu": 2**15, "cuda": 2**20}  # rows in memory at a time
DEFAULTS = {p.name: p.default for p in inspect.signature(prepare).parameters.values() if p.default != p.empty}
Progress = Callable[["DatasetResult"], None]


@dataclass(frozen=True)
class MissingRows:
    """Items without an answer: rows of a dataset, or a file of a library, and why."""

    first: int
    count: int
    reason: str


@dataclass(frozen=True)
class DatasetResult:
    """What a run over a dataset has given so far, or in all.

    Attributes:
        folder: Where the answers are.
        total: How many rows the input has.
        counts: How many of them ended how: ``reached``, ``closest``, ``beyond``, ``invalid``.
        missing: Rows without an answer, because their block of the input cannot be read.
        resumed: Rows that were there from a run before.
        seconds: How long it took.
    """

    folder: Path
    total: int
    counts: dict[str, int]
    missing: tuple[MissingRows, ...]
    resumed: int
    seconds: float

    @property
    def answered(self) -> int:
        """Rows that have an answer."""
        return sum(self.counts.values())

    @property
    def reached(self) -> int:
        """Rows whose goal is reached."""
        return self.counts.get("reached", 0)

    @property
    def complete(self) -> bool:
        """Whether every row has an answer."""
        return self.answered == self.total

    @property
    def rate(self) -> float:
        """Answers a second, of those of this run."""
        return (self.answered - self.resumed) / self.seconds if self.seconds > 0.0 else 0.0

    def __repr__(self) -> str:
        lost = f", {self.total - self.answered} missing" if not self.complete else ""
        return f"<DatasetResult: {self.reached} of {self.total} reached{lost}>"


def solve_dataset(
    linkage: Linkage,
    frame: str,
    goals: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    gpu: bool = False,
    resume: bool = False,
    block_rows: int | None = None,
    ignore: Sequence[str] = (),
    start: PoseLike | None = None,
    progress: Progress | None = None,
    **options: Unpack[BatchOptions],
) -> DatasetResult:
    r"""Solve a dataset of goals into a dataset of answers, in memory that does not grow with it.

    Args:
        linkage: The linkage.
        frame: Name of the frame that goals are for.
        goals: A Parquet or CSV file, or a folder of them, with the columns x, y, z and qw, qx, qy, qz (or r11 to r33),
            those that matter; id, and start.COORDINATE, where there are such.
        output: A folder for the answers, ``part-00000.parquet`` and so on, with the columns id, q.COORDINATE, success,
            status, position_error, rotation_error and restarts.
        engine: ``"local"``: threads of this process; ``"cuda"``: its graphics card; ``"ray"``: workers of Ray Data.
        workers: How many threads or workers; by default as many as there are cores.
        address: The Ray cluster, such as ``"auto"`` or ``"ray://head:10001"``; by default Ray on this computer alone.
        gpu: Whether each of Ray's workers has a graphics card of its own and solves there.
        resume: Whether to continue a run that was interrupted.
        block_rows: Rows of a block at most, which is read, solved and written as one: 262,144, or 1,048,576 on a card.
        ignore: Columns to leave out.
        start: A pose (nq,), or the name of a stored one, to begin with where no column says so.
        progress: Told what there is after each block.
        **options: As in `solve_batch`.

    Raises:
        FormatError: If the goals cannot be read at all, or the answers cannot be written.
        RunError: If the folder holds another run.

    Example:
        >>> import linkwork as lw, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "goals.csv").write_text("x,y\n15,10\n-20,5\n99,0\n")
        >>> lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", folder / "goals.csv", folder / "answers")
        <DatasetResult: 2 of 3 reached>
    """
    check_linkage(linkage)
    check_engine(engine, ENGINES, workers, address, gpu=gpu)
    device = "cuda" if gpu or engine == "cuda" else "cpu"
    given = {name: options.pop(name) is not False for name in ("position", "orientation") if name in options}
    rows = ROWS[device] if block_rows is None else whole("block_rows", block_rows, least=1, most=2**24)
    plan = open_goals(goals, linkage, block_rows=rows, ignore=ignore, **given)
    solve = BlockSolver(linkage, frame, plan, start, dict(options), device)
    solve.check("cpu" if engine == "ray" else device)
    with run_folder(output, solve.facts(rows), resume=resume) as (folder, digest):
        solve.folder, solve.run, blocks = folder, digest, [(block.first, block.rows) for block in plan.blocks]
        work = partial(solve.receipts, engine=engine, workers=workers, address=address, gpu=gpu)
        return collect(folder, blocks, solve.kept, work, progress)


def collect(
    folder: Path,
    spans: Sequence[tuple[int, int]],
    kept: Callable[[int], dict[str, int] | None],
    done: Callable[[Sequence[int]], Receipts],
    progress: Progress | None,
) -> DatasetResult:
    """Have items done that are not, and return what there is then.

    Args:
        folder: Where it is written.
        spans: The first row and the number of rows of each item.
        kept: Gives how the rows of an item ended that is there already, or None.
        done: Does items, by number, and yields a receipt for each.
        progress: Told what there is after each item.

    Raises:
        RunError: If a receipt says that the run cannot go on.
    """
    began = time.perf_counter()
    there = [kept(item) for item in range(len(spans))]
    counts: Counter[str] = Counter()
    for one in there:
        counts.update(one or {})
    resumed, total = sum(counts.values()), sum(rows for _, rows in spans)
    missing: list[MissingRows] = []

    def so_far() -> DatasetResult:
        lost = tuple(sorted(missing, key=lambda rows: rows.first))
        return DatasetResult(folder, total, dict(counts), lost, resumed, time.perf_counter() - began)

    with closing(done([item for item, one in enumerate(there) if one is None])) as receipts:  # no one works after it
        for receipt in receipts:
            if receipt.fatal:
                raise RunError(receipt.fatal)
            counts.update(receipt.counts)
            if receipt.missing:
                missing.append(MissingRows(*spans[receipt.item], receipt.missing))
            if progress is not None:
                progress(so_far())
    return so_far()


class BlockSolver:
    """Reads a block of goals, solves it and writes its part; it travels to the workers."""

    def __init__(
        self,
        linkage: Linkage,
        frame: str,
        goals: Goals,
        start: PoseLike | None,
        options: dict[str, Any],
        device: str,
    ) -> None:
        self.linkage, self.frame, self.goals = linkage, frame, goals
        self.start = None if start is None else start_pose(linkage, start)
        if self.start is not None and self.start.shape != (linkage.nq,):
            raise OptionError(f"start is one pose of shape ({linkage.nq},), got {self.start.shape}.")
        self.options = {**options, "position": goals.columns.position, "orientation": bool(goals.columns.turn)}
        self.device, self.threads = device, 1
        self.folder, self.run = Path(), ""

    def check(self, device: str) -> None:
        """Raise what is wrong with the options, or with a device that is here, before anything is written."""
        columns = self.goals.columns
        shape = ((4, 4) if columns.position else (3, 3)) if columns.turn else (len(columns.place),)
        self._batch(np.zeros((0, *shape)), self.start, 0, device)

    def facts(self, block_rows: int) -> dict[str, Any]:
        """Return what decides the answers and how they are parted, as plain data."""
        plain: dict[str, Any] = DEFAULTS | self.options  # whether a default was said or not is no difference
        plain["tolerance"] = given_tolerance(self.linkage, plain["tolerance"])
        free = plain["free"]
        plain["free"] = free if free is None or isinstance(free, str) else np.asarray(free).tolist()
        if "dtype" in plain:
            plain["dtype"] = precision(plain["dtype"]).name
        return {
            "kind": "answers",
            "input": {"sha256": self.goals.digest, "rows": self.goals.rows, "columns": list(self.goals.columns.names)},
            "linkage": {"name": self.linkage.name, "sha256": linkage_digest(self.linkage)},
            "frame": self.frame,
            "start": None if self.start is None else self.start.tolist(),
            "options": {name: plain[name] for name in sorted(plain)},
            "device": self.device,
            "block_rows": block_rows,
        }

    def kept(self, number: int) -> dict[str, int] | None:
        """Return how the rows of a block ended, if its part is there."""
        block = self.goals.blocks[number]
        return read_counts(part_path(self.folder, block), self.run, block.rows)

    def receipts(
        self, blocks: Sequence[int], *, engine: str, workers: int | None, address: str | None, gpu: bool
    ) -> Receipts:
        """Do blocks, and yield a receipt for each."""
        if engine == "ray":
            return run_ray(self, blocks, workers, address=address, gpu=gpu)
        threads = 1 if engine == "cuda" else workers or cores()
        at_once = max(1, min(threads, len(blocks)))
        self.threads = max(1, threads // at_once)  # where blocks are few, each is solved by several
        return dealt(self, blocks, at_once)

    def __call__(self, number: int) -> Receipt:
        """Do one block; a block that cannot be read is told of, anything else raises."""
        block = self.goals.blocks[number]
        schema = schema_of(self.linkage, self.goals.columns, self.goals.id_type)
        try:
            return Receipt(number, write_part(part_path(self.folder, block), self.run, schema, self._answers(block)))
        except BlockError as error:
            return Receipt(number, missing=str(error))

    def _answers(self, block: RowBlock) -> Iterator[tuple[Batch, Any, int]]:
        base = self.linkage.neutral() if self.start is None else self.start
        for rows in read_block(self.goals.columns, block, self.linkage, base, CHUNK[self.device]):
            try:
                start = self.start if rows.starts is None else rows.starts
                batch = self._batch(rows.targets, start, rows.first, self.device)
            except PoseError as error:
                raise block.unreadable(error) from error
            yield batch, rows.ids, rows.first

    def _batch(self, targets: FloatArray, start: FloatArray | None, first: int, device: str) -> Batch:
        return solve_batch(
            self.linkage, self.frame, targets, start=start, device=device, threads=self.threads, progress=False,
            first=first, **self.options,
        )  # fmt: skip
