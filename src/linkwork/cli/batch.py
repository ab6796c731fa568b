"""The commands of batch: datasets of goals, and libraries of motions."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from click.exceptions import Exit

from ..errors import OptionError
from .commands import HELP_NAMES, build, command, examples, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, progress, say
from .options import (
    AsJson,
    FrameName,
    Quiet,
    RetargetOptions,
    RunOptions,
    Seed,
    To,
    ToleranceOptions,
    given,
)
from .parsing import read_frame
from .reading import FileOptions, WorldOptions, read_length

if TYPE_CHECKING:
    from ..goals import Goal
    from ..linkage.linkage import Linkage
    from ..scale.datasets import DatasetResult

MOST_SAID = 10  # missing blocks or files that are listed

Output = Annotated[str, writes("Folder for this run alone, or a URL.", "FOLDER")]
Engine = Annotated[str, takes("NAME", "Where to run: local, cuda (solve only) or ray.", "--engine")]
DEFAULT = "solve"


@dataclass(frozen=True)
class FrameOptions:
    """Frames of the goals, and frames to hold."""

    frame: Annotated[
        list[str] | None,
        takes("NAME", "Frame of the goals; repeat for several, with columns NAME.x, NAME.y, ...", "--frame"),
    ] = None
    by_row: Annotated[bool, flag("--frame-column", "Take the frame of each goal from the column frame.")] = False
    hold: Annotated[
        list[str] | None, takes("NAME", "Frame to hold where the start pose has it; may be repeated.", "--hold")
    ] = None

    def read(self, linkage: Linkage) -> tuple[str | list[str | Goal] | None, list[Goal]]:
        """Return the frame of the goals, or frames if there are several goals per row, and the hold goals."""
        from ..goals import Hold

        frames, hold = self.frame or [], self.hold or []
        if self.by_row:
            if frames or hold:
                raise OptionError(
                    "--frame-column takes the frame of each goal from its row; leave out --frame and --hold"
                )
            return None, []
        if len(frames) < 2 and not hold:
            return read_frame(linkage, frames[0] if frames else None), []
        return [read_frame(linkage, name) for name in frames], [Hold(read_frame(linkage, name)) for name in hold]


@dataclass(frozen=True)
class WritingOptions:
    """Blocks of rows, columns to ignore or keep, and the format of the answers."""

    block_rows: Annotated[int | None, takes("N", "Largest number of rows in a block.", "--block-rows", least=1)] = None
    ignore: Annotated[list[str] | None, takes("COLUMN", "Column to ignore; may be repeated.", "--ignore")] = None
    keep: Annotated[
        list[str] | None,
        takes(
            "COLUMN[=NAME]", "Column to copy to the answers, under another name if given; may be repeated.", "--keep"
        ),
    ] = None
    store: Annotated[str, takes("TYPE", "Number type of the answers: float64 or float32.", "--store")] = "float64"
    form: Annotated[str, takes("NAME", "Format: parquet, zarr, webdataset or huggingface.", "--format")] = "parquet"
    compression: Annotated[
        str | None, takes("NAME", "Compression: zstd, gzip, lz4, snappy or none.", "--compression")
    ] = None

    def read(self) -> dict[str, Any]:
        """Return the options by their names in `solve_dataset`."""
        plain = given(block_rows=self.block_rows, ignore=self.ignore, compression=self.compression)
        if self.keep is not None:
            pairs = ((text.rpartition("=") if "=" in text else (text, "", text)) for text in self.keep)
            plain["keep"] = kept = {column: name for column, _, name in pairs}
            if len(kept) < len(self.keep):
                raise OptionError(f"--keep names a column twice: {', '.join(self.keep)}")
        return plain | {"store": self.store, "format": self.form}


@dataclass(frozen=True)
class GoalOptions(ToleranceOptions):
    """Options for the answers to goals."""

    free: Annotated[str | None, takes("AXIS", "Axis that the frame may spin about freely: x, y or z.", "--free")] = None
    solutions: Annotated[
        int | None, takes("K", "Up to K distinct solutions per goal, as lists.", "--solutions", least=1)
    ] = None
    apart: Annotated[
        float | None, takes("SIZE", "Least difference of two solutions, in some joint [rad, m].", "--apart")
    ] = None
    restarts: Annotated[int | None, takes("N", "Largest number of restarts per goal.", "--restarts", least=0)] = None
    closest: Annotated[
        str | None, takes("HOW", "Search for the closest pose to a missed goal: quick, thorough or none.", "--closest")
    ] = None
    seed: Seed = 0
    dtype: Annotated[str | None, takes("TYPE", "Number type to compute with: float64 or float32.", "--dtype")] = None

    def read(self) -> dict[str, Any]:
        """Return the options that are given, by their names in `solve_batch`."""
        more = given(free=self.free, solutions=self.solutions, apart=self.apart, restarts=self.restarts)
        closest = False if self.closest == "none" else self.closest
        return super().read() | more | given(dtype=self.dtype, seed=self.seed, closest=closest)


@command(
    "batch goals.parquet --model panda --frame tip -o answers",
    "batch goals.parquet --model panda --engine ray --workers 8 -o answers --resume",
    "batch goals.parquet --model panda --format zarr -o answers.zarr",
    "batch goals.csv --model human --frame left_hand --frame right_hand --start stand -o answers",
)
def solve(
    goals: Annotated[str, operand("GOALS", "A .parquet or .csv file, a folder or pattern of them, or a URL.")],
    model: Annotated[str, takes("MODEL", "The linkage: a file, or a ready-made model.", "--model")],
    output: Output,
    engine: Engine = "local",
    *,
    frames: FrameOptions,
    run: RunOptions,
    gpu: Annotated[bool, flag("--gpu", "Give each Ray worker a GPU of its own.")] = False,
    device: Annotated[
        list[int] | None,
        takes("N", "GPU for the engine cuda; may be repeated. By default all.", "--device"),
    ] = None,
    profile: Annotated[bool, flag("--profile", "Show how the time was spent.")] = False,
    writing: WritingOptions,
    options: GoalOptions,
    around: WorldOptions,
    reading: FileOptions,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Solve a dataset of goals into a dataset of answers.

    GOALS has the columns x, y, z [m]; qw, qx, qy, qz, or r11 to r33; id; start.COORDINATE. For several frames they are
    FRAME.x, FRAME.y and so on, and the answers have FRAME.position_error, FRAME.rotation_error and FRAME.status. With
    --frame-column, the column frame names the frame of each row.

    The answers, part-0000000000.parquet and so on, have the columns id, q.COORDINATE, success, status, position_error,
    rotation_error, restarts, and those of --keep. In Zarr they are one group of these arrays, with all poses in q; in
    WebDataset, tar files of samples; for Hugging Face, Parquet files with a dataset card.

    With --solutions, poses and errors are lists. Further columns are solutions (how many), complete (proven to be all)
    and diversity (distance of the nearest two, 0 to 1).

    With --world or --margin, an answer must keep the linkage clear of all obstacles, and of itself, by the margin,
    1 cm by default.

    A goal that is not reached still gets a row, and is counted; so does an unreadable line of CSV. Exits with 1 if rows
    are missing because a block of the input cannot be read, or if a file in GOALS holds no goals.
    """
    from ..scale.datasets import solve_dataset

    linkage = reading.model(model)
    asked, also = frames.read(linkage)
    with _resumable(), progress("solving", shown=not quiet) as report:
        result = solve_dataset(
            linkage, asked, goals, output, engine=engine, gpu=gpu, devices=device, also=also,
            start=options.read_start(linkage), **asdict(run), **writing.read(), **options.read(),
            **given(avoid=around.avoid(reading)),
            progress=lambda so_far: report(so_far.answered / max(so_far.total, 1), _rate(so_far)),
        )  # fmt: skip
    if not as_json:
        _print_counts(result)
    if profile and not as_json:
        _print_times(result)
    _end(result, f"{result.answered:,} answers", f", {result.rate:,.0f} per second", as_json=as_json)


@command("batch retarget clips --to human -o out", "batch retarget clips --to panda --suffix .csv -o out")
def retarget(
    clips: Annotated[Path, operand("CLIPS", "Folder of motion files, searched with its subfolders.")],
    to: To,
    output: Output,
    suffix: Annotated[str, takes("SUFFIX", "Format to write: .bvh, .glb, .csv, ...", "--suffix")] = ".bvh",
    engine: Engine = "local",
    *,
    run: RunOptions,
    options: RetargetOptions,
    reading: FileOptions,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Transfer every motion of a folder to another body or robot.

    Motions keep their names. A first frame that is a separate rest pose is left out, unless --keep-first is given.
    Exits with 1 if some motions are missing, because they cannot be read or their body parts are not recognized; these
    are listed.
    """
    from ..scale.folders import retarget_library

    with _resumable(), progress("retargeting", shown=not quiet) as report:
        result = retarget_library(
            clips, reading.of_model.model(to), output, suffix=suffix, engine=engine, **asdict(run), **options.read(),
            reading=reading.of_motion.given,
            progress=lambda so_far: report(so_far.answered / so_far.total, _rate(so_far)),
        )  # fmt: skip
    _end(result, f"{result.answered:,} of {result.total:,} motions", as_json=as_json)


@command("batch verify answers")
def verify(
    folder: Annotated[str, operand("FOLDER", "Folder that batch has written.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Verify every file that a run has written, byte by byte.

    Exits with 1 if a file is missing, damaged or not part of the run, or if the run is not complete.
    """
    from ..scale.verification import verify_dataset

    found = verify_dataset(folder)
    if as_json:
        print_json({"output": str(found.folder), "files": found.files, "rows": found.rows, "faults": found.faults})
    else:
        state = "as they were written" if found else f"{len(found.faults)} faults"
        print(f"{found.folder}: {found.files:,} files, {found.rows:,} rows: {state}")
    _say_some([f"{name or found.folder} {why}" for name, why in found.faults.items()])
    if not found:
        raise Exit(NOT_DONE)


@command("batch describe answers", "batch describe answers -o answers.html")
def describe(
    folder: Annotated[str, operand("FOLDER", "Folder that batch has written.")],
    output: Annotated[Path | None, writes("Page to write, with a histogram of every joint.", "FILE")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Summarize a dataset of answers: statuses, errors, joints."""
    from ..scale.description import SHARES, describe_dataset

    found = describe_dataset(folder)
    if output is not None:
        found.save(output)
    if as_json:
        print_json(_finite(asdict(found)) | {"folder": str(found.folder)})
        return
    rows = max(found.rows, 1)
    print(f"{found.folder}: {found.rows:,} answers{'' if found.complete else ', not complete'}\n")
    counts = Counter(found.counts).most_common()
    print_columns([("status", "rows", "share"), *((n, f"{k:,}", f"{100.0 * k / rows:.4g} %") for n, k in counts)])
    print()
    errors = [(n, *(f"{s.shares[w]:.3g}" for w in SHARES), f"{s.largest:.3g}") for n, s in found.errors.items()]
    print_columns([("error", *SHARES, "largest"), *errors])
    print()
    if found.solutions.count:
        told = (("solutions", found.solutions), ("diversity", found.diversity))
        several = [(n, f"{s.least:.4g}", f"{s.mean:.4g}", f"{s.largest:.4g}") for n, s in told if s.count]
        print_columns([("per row", "least", "mean", "largest"), *several])
        print()
    joints = [(n, f"{s.least:.4g}", f"{s.mean:.4g}", f"{s.largest:.4g}") for n, s in found.joints.items()]
    print_columns([("coordinate", "least", "mean", "largest"), *joints])


@command(
    "batch sample goals.parquet --model panda --frame tip --count 1000",
    "batch sample goals.parquet --model panda --world cell.yaml --on table --standoff 5cm --count 1000",
)
def sample(
    output: Annotated[Path, operand("GOALS", "The .parquet or .csv file to write.")],
    model: Annotated[str, takes("MODEL", "The linkage: a file, or a ready-made model.", "--model")],
    count: Annotated[int, takes("N", "Number of goals.", "--count", least=0)],
    frame: FrameName = None,
    *,
    uniform: Annotated[str, takes("KIND", "Sample evenly in the workspace, box or joints.", "--uniform")] = "workspace",
    on: Annotated[str | None, takes("NAME", "Sample the surface of this obstacle of --world.", "--on")] = None,
    standoff: Annotated[str, takes("LENGTH", "Distance from the surface: 0.05, 5cm.", "--standoff")] = "0",
    approach: Annotated[str, takes("AXIS", "Axis of the frame that points to the surface.", "--approach")] = "z",
    position: Annotated[bool, flag("--position", "Sample positions only, no orientations.")] = False,
    every: Annotated[bool, flag("--unreachable", "Keep goals that cannot be reached, labelled.")] = False,
    starts: Annotated[bool, flag("--starts", "Also write the poses found, as columns start.COORDINATE.")] = False,
    seed: Seed = 0,
    around: WorldOptions,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Sample random goals, and write them for batch solve.

    Goals are spread evenly over the workspace, over the area of a surface or over a box, or come from random joint
    values. Columns are x, y, z, qw, qx, qy, qz and reachable; with --world also free (whether some pose keeps clear)
    and touching (what is in the way).
    """
    from ..explain.sampled_goals import sample_goals
    from ..scale.saved_goals import save_goals

    linkage = reading.model(model)
    kind: Any = uniform  # which `sample_goals` checks
    goals = sample_goals(
        linkage, read_frame(linkage, frame), count, uniform=kind, on=on, approach=approach, seed=seed,
        standoff=read_length("--standoff", standoff), orientation=not position, avoid=around.avoid(reading),
        only_reachable=False if every else None,
    )  # fmt: skip
    save_goals(output, goals, starts=linkage if starts else None)
    free = {} if goals.free is None else {"free": int(goals.free.sum())}
    if as_json:
        print_json({"output": str(output), "goals": len(goals), "reachable": int(goals.reachable.sum()), **free})
        return
    told = "".join(f", {number:,} {what}" for what, number in free.items())
    print(f"{output}: {len(goals):,} goals, {int(goals.reachable.sum()):,} reachable{told}")


def _finite(value: Any) -> Any:
    """Return plain data with None for numbers that are not finite, such as the least of no numbers."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Batches(click.Group):
    """The group of batch: a first word that is not one of its commands is a dataset of goals to solve."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """Return the names of its commands, the default first."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the name of the default command if it is left out."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


batch = Batches(
    "batch",
    commands={
        DEFAULT: build(solve),
        "sample": build(sample),
        "retarget": build(retarget),
        "verify": build(verify),
        "describe": build(describe),
    },
    no_args_is_help=True,
    context_settings=HELP_NAMES,
    epilog=examples(
        "batch goals.parquet --model panda --frame tip -o answers",
        "batch goals.csv --model panda --tolerance 0.001 -o answers --resume --json",
        "batch sample goals.parquet --model panda --frame tip --count 1000",
        "batch retarget clips --to human -o out",
    ),
    help="""Solve datasets of goals, or retarget folders of motions.

    batch GOALS is short for batch solve GOALS; for its options, see linkwork batch solve --help. Files are written
    completely or not at all, and --resume continues after an interruption.
    """,
)


@contextmanager
def _resumable() -> Iterator[None]:
    """Keep messages, also Ray's, off stdout, and say how to continue after an interruption."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        say("interrupted; what was written is complete, and --resume continues")
        raise


def _print_times(result: DatasetResult) -> None:
    """Print how the time of all workers was spent."""
    from ..scale.stopwatch import KINDS

    whole = max(sum(result.times.values()), 1e-9)
    spent = [(kind, result.times.get(kind, 0.0)) for kind in KINDS]
    shares = [(kind, f"{seconds:.1f} s", f"{100.0 * seconds / whole:.0f} %") for kind, seconds in spent]
    print_columns([("work", "of all workers", "share"), *shares])
    print()


def _print_counts(result: DatasetResult) -> None:
    """Print the number of rows by status."""
    counts = Counter(result.counts).most_common()
    counts += [] if result.answered == result.total else [("missing", result.total - result.answered)]
    shares = [(n, f"{count:,}", f"{100.0 * count / max(result.total, 1):.4g} %") for n, count in counts]
    print_columns([("status", "rows", "share"), *shares])
    print()


def _rate(result: DatasetResult) -> str:
    return f"{result.answered:,} of {result.total:,}, {result.rate:,.0f} per second"


def _end(result: DatasetResult, what: str, speed: str = "", *, as_json: bool) -> None:
    """Print the result of a run, list what is missing, and exit with 1 if anything is."""
    if as_json:
        missing = [{"first": one.first, "rows": one.count, "reason": one.reason} for one in result.missing]
        print_json(
            {
                "output": str(result.folder),
                "rows": result.total,
                "answered": result.answered,
                "resumed": result.resumed,
                "counts": dict(sorted(result.counts.items())),
                "missing": missing,
                "unread": list(result.unread),
                "foreign": list(result.foreign),
                "notes": list(result.notes),
                "seconds": result.seconds,
                "rate": result.rate,
                "times": dict(result.times),
            }
        )
    else:
        before = f", {result.resumed:,} of them from an earlier run" if result.resumed else ""
        print(f"{result.folder}: {what}{before}, {result.seconds:.1f} s{speed}")
    _say_some([one.reason for one in result.missing])
    _say_some([f"{name} was not read: it holds no goals; the pattern '*.parquet' skips it" for name in result.unread])
    _say_some([f"{name} is in the output folder but not of this run; move it, and resume" for name in result.foreign])
    _say_some([f"{note}: answered as invalid" for note in result.notes])
    if not result.complete:
        raise Exit(NOT_DONE)


def _say_some(lines: Sequence[str]) -> None:
    """Print lines on stderr, but only the first of many."""
    for line in lines[:MOST_SAID]:
        say(line)
    if len(lines) > MOST_SAID:
        say(f"and {len(lines) - MOST_SAID} more")
