"""Solve datasets of goals into datasets of answers, on this computer, on GPUs or on a cluster.

The answer of a row depends on its number, the linkage and the options, but not on blocks and workers. So a resumed run
gives the same answers as an uninterrupted one.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from ..errors import OptionError, RunError, listed
from ..goals import Goal
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..solvers.options import BatchOptions, whole
from ..solvers.progress import reporting
from .answer_files import format_named
from .block_solver import ROWS, BlockSolver
from .engine import Receipts, check_engine
from .goal_files import open_goals
from .goal_rows import MissingRows
from .places import is_below, place_of
from .row_frames import check_column, with_frames
from .runs import Run, earlier_input, run_folder
from .several_goals import several_goals

ENGINES = ("local", "cuda", "ray")
STORES = ("float64", "float32")
MOST_NOTES = 1000  # largest number of notes in a result
Progress = Callable[["DatasetResult"], None] | bool | None


@dataclass(frozen=True)
class DatasetResult:
    """Result of a run over a dataset, so far or in all.

    Attributes:
        folder: Folder of the answers.
        total: Number of rows in the input.
        counts: Number of rows by status: ``reached``, ``closest``, ``beyond``, ``invalid``.
        missing: Rows without an answer, because their block of the input cannot be read.
        resumed: Number of rows that an earlier run had answered.
        seconds: Duration of the run [s].
        unread: Input files that hold no goals.
        notes: Notes on single rows that could not be read; their status is ``invalid``.
        times: Time by task [s], summed over all workers: ``digest`` of the input, ``read``, ``wait`` for a GPU,
            ``solve``, ``write``.
        foreign: Files in the folder that this run did not write but that readers would take for answers.
    """

    folder: Path | str
    total: int
    counts: dict[str, int]
    missing: tuple[MissingRows, ...]
    resumed: int
    seconds: float
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()

    @property
    def answered(self) -> int:
        """Number of rows with an answer."""
        return sum(self.counts.values())

    @property
    def reached(self) -> int:
        """Number of rows whose goal is reached."""
        return self.counts.get("reached", 0)

    @property
    def complete(self) -> bool:
        """Whether every row has an answer, every input file was read and the folder has no foreign files."""
        return self.answered == self.total and not self.unread and not self.foreign

    @property
    def rate(self) -> float:
        """Answers per second, without those of an earlier run."""
        return (self.answered - self.resumed) / self.seconds if self.seconds > 0.0 else 0.0

    def __repr__(self) -> str:
        lost = f", {self.total - self.answered} missing" if self.answered < self.total else ""
        return f"<DatasetResult: {self.reached} of {self.total} reached{lost}>"


class DatasetOptions(BatchOptions, total=False):
    """The options of `solve_dataset` in addition to those of `solve_batch`.

    Args:
        also: Goals that are the same in all rows, if rows have several: ``[lw.Hold("left_foot"), lw.Balance()]``.
        block_rows: Largest number of rows that are solved and written as one block: 262,144, or 1,048,576 on a GPU.
        ignore: Columns to ignore.
        keep: Columns of any type to copy to the answers; ``{"status": "old_status"}`` renames them.
        store: Number type of the answers: ``"float64"``, or ``"float32"``, which halves the size.
        format: ``"parquet"``; ``"zarr"``: one group, ``zarr.open(output)["q"]``; ``"webdataset"``: tar files of
            samples; ``"huggingface"``: Parquet with a dataset card, for ``datasets.load_dataset(output)``.
        compression: ``"zstd"``, ``"gzip"``, ``"lz4"``, ``"none"``; for Parquet also ``"snappy"``.
    """

    also: Sequence[Goal]
    block_rows: int | None
    ignore: Sequence[str]
    keep: Sequence[str] | Mapping[str, str]
    store: str
    format: str
    compression: str | None


def solve_dataset(
    linkage: Linkage,
    frame: str | Sequence[str | Goal] | None,
    goals: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    gpu: bool = False,
    devices: Sequence[int] | None = None,
    resume: bool = False,
    start: PoseLike | None = None,
    progress: Progress = None,
    **options: Unpack[DatasetOptions],
) -> DatasetResult:
    r"""Solve a dataset of goals into a dataset of answers; memory use does not grow with its size.

    Args:
        linkage: The linkage.
        frame: Name of the frame of the goals; None if the column frame names it. For several goals per row, a list of
            frames or goals: ``["left_hand", lw.LookAt("eyes", at=(1, 0, 0))]``, with columns left_hand.x, eyes.x.
        goals: A Parquet or CSV file; a folder of them, with subfolders (``robot=panda`` is a column and its value); a
            pattern such as ``"day-*/*.parquet"``; or a URL. Columns, as far as present: x, y, z and qw, qx, qy, qz (or
            r11 to r33), id and start.COORDINATE.
        output: A folder or a URL for the answers, ``part-0000000000.parquet`` and so on, with the columns id,
            q.COORDINATE, success, status, position_error, rotation_error (for several goals left_hand.position_error
            and so on) and restarts. With ``solutions=8``, poses and errors are lists; solutions and diversity follow.
        engine: ``"local"``: threads of this process; ``"cuda"``: GPUs of this computer; ``"ray"``: Ray Data workers.
        workers: Number of threads or workers; by default one per core. With GPUs, the threads read and write.
        address: The Ray cluster, such as ``"auto"`` or ``"ray://head:10001"``; by default Ray on this computer alone.
        gpu: Give each Ray worker a GPU of its own to solve on.
        devices: Numbers of the GPUs to use; by default all.
        resume: Continue an interrupted run. Answers that are damaged, or whose goals have changed, are solved again.
        start: Start pose (nq,), or the name of a stored pose, for rows without start columns.
        progress: Called with the result so far after each block; True shows a progress bar, or lines in a log.
        **options: As in `DatasetOptions` and `solve_batch`, except time_budget.

    Raises:
        FormatError: If the goals cannot be read, or the answers cannot be written.
        RunError: If the folder holds another run.

    Example:
        >>> import linkwork as lw, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "goals.csv").write_text("x,y\n15,10\n-20,5\n99,0\n")
        >>> lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", folder / "goals.csv", folder / "answers")
        <DatasetResult: 2 of 3 reached>
    """
    check_run(linkage, goals, output, progress)
    check_engine(engine, ENGINES, workers, address, gpu=gpu, devices=devices)
    device = "cuda" if gpu or engine == "cuda" else "cpu"
    known = list(earlier_input(output).get("files", {})) if resume else []
    solve = _planned(linkage, frame, goals, start, device, known, options)
    for where in [device] if devices is None else [f"{device}:{number}" for number in devices]:
        solve.check("cpu" if engine == "ray" else where)
    how: dict[str, Any] = {"engine": engine, "workers": workers, "address": address, "gpu": gpu, "devices": devices}
    with run_folder(output, solve.facts(), {"files": solve.goals.files}, resume=resume) as run, closing(solve):
        solve.run, work = run, partial(solve.receipts, **how)
        return collect(run, *solve.items(), solve.kept(), work, progress, solve.goals.unread, solve.sweep)


def check_run(
    linkage: Linkage, source: str | os.PathLike[str], output: str | os.PathLike[str], progress: Progress
) -> None:
    """Check the arguments of a run; its output must not be in the folder that it reads."""
    check_linkage(linkage)
    if not callable(progress) and progress not in (None, True, False):
        raise OptionError(f"progress is True, False, None or a function of the result so far, got {progress!r}.")
    inner, outer = place_of(output), place_of(source)
    if outer.is_folder() and is_below(inner, outer):
        raise OptionError(f"output {str(inner)!r} is inside the input folder {str(outer)!r}; give another folder.")


def _planned(
    linkage: Linkage,
    frame: str | Sequence[str | Goal] | None,
    goals: str | os.PathLike[str],
    start: PoseLike | None,
    device: str,
    known: Sequence[str],
    options: DatasetOptions,
) -> BlockSolver:
    """Return the solver for the blocks of a dataset."""
    store = options.pop("store", "float64")
    if store not in STORES:
        raise OptionError(f"no store {store!r}; there are {listed(STORES)}.")
    form = format_named(options.pop("format", "parquet"), options.pop("compression", None))
    if options.get("time_budget") is not None:
        raise OptionError("time_budget does not apply to datasets; interrupt the run, and continue it with resume.")
    block_rows = options.pop("block_rows", None)
    rows = ROWS[device] if block_rows is None else whole("block_rows", block_rows, least=1, most=2**24)
    asked: dict[str, Any] = {name: options.pop(name) for name in ("ignore", "keep") if name in options}
    also = options.pop("also", ())
    several = several_goals(frame, also) if frame is not None and not isinstance(frame, str) else None
    if frame is None:
        asked["keep"] = with_frames(asked.get("keep", ()))
    if several is None and len(also):
        raise OptionError("also needs a list of frames, one for each goal of a row: ['left_hand'].")
    for name in ("position", "orientation") if several is None else ():
        if name in options:
            asked[name] = options.pop(name) is not False
    asked["frames"] = () if several is None else several.frames
    plan = open_goals(goals, linkage, block_rows=rows, known=known, aligned=form[0].aligned, **asked)
    gone = [name for name in known if name not in plan.files]
    if gone:
        raise RunError(f"the run cannot be resumed: these files of its input are missing: {listed(gone)}.")
    batch: dict[str, Any] = {k: v for k, v in options.items() if k not in ("solutions", "apart") or v is not None}
    how: dict[str, Any] = {"device": device, "store": store, "form": form, "block_rows": rows}
    if frame is None:
        check_column(goals, plan.types)
    one: Any = frame
    return BlockSolver(linkage, one if several is None else several, plan, start, batch, **how)


def collect(
    run: Run,
    names: Sequence[str],
    spans: Sequence[tuple[int, int]],
    there: Mapping[int, Mapping[str, int]],
    done: Callable[[Sequence[int]], Receipts],
    progress: Progress,
    unread: Iterable[str] = (),
    sweep: Callable[[], Sequence[str]] = tuple,
) -> DatasetResult:
    """Process the items that are not done, record in the folder whether it is complete, and return the result.

    Args:
        run: The run.
        names: The names of all files that it writes.
        spans: The first row and the number of rows of each item.
        there: Counts by status of the items that are done already.
        done: Processes items, by number, and yields a receipt for each.
        progress: Called with the result so far after each item; True shows a progress bar, or lines in a log.
        unread: Files that were not read.
        sweep: Removes files without a record from the folder, and returns the foreign files that stay.

    Raises:
        RunError: If a receipt reports that the run cannot go on.
    """
    began = time.perf_counter()
    counts: Counter[str] = Counter()
    for one in there.values():
        counts.update(one)
    resumed, total = sum(counts.values()), sum(rows for _, rows in spans)
    missing: list[MissingRows] = []
    notes: list[str] = []
    times: Counter[str] = Counter()

    def so_far() -> DatasetResult:
        lost, passed = tuple(sorted(missing, key=lambda rows: rows.first)), time.perf_counter() - began
        said = tuple(unread), tuple(notes), dict(times)
        return DatasetResult(run.folder.native, total, dict(counts), lost, resumed, passed, *said)

    left = [item for item in range(len(spans)) if item not in there]
    with reporting(progress is True, total) as report, closing(done(left)) as receipts:  # closing it stops all workers
        for receipt in receipts:
            if receipt.fatal:
                raise RunError(receipt.fatal)
            counts.update(receipt.counts)
            times.update(receipt.times)
            notes += receipt.notes[: max(0, MOST_NOTES - len(notes))]
            missing += receipt.missing
            report(sum(counts.values()))
            if callable(progress):
                progress(so_far())
    run.finish(names)
    result = replace(so_far(), foreign=tuple(sweep()))
    lost: list[dict[str, Any]] = [asdict(one) for one in result.missing]
    lost += [{"file": name, "reason": "is not read: it holds no goals"} for name in unread]
    lost += [{"file": name, "reason": "is in the folder of answers, and not of this run"} for name in result.foreign]
    run.close(lost)
    return result
