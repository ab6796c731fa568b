"""The commands of batch: whole datasets of goals, and whole libraries of motions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from click.exceptions import Exit

from .commands import HELP_NAMES, build, command, examples, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, progress, say
from .options import AsJson, FrameName, RetargetOptions, RunOptions, Seed, To, ToleranceOptions, given
from .parsing import read_frame
from .reading import FileOptions

if TYPE_CHECKING:
    from ..scale.datasets import DatasetResult

MOST_SAID = 10  # missing blocks or files that are told one by one

Output = Annotated[Path, writes("Where to write; a folder of its own.", "FOLDER")]
Engine = Annotated[str, takes("NAME", "local, cuda (goals alone) or ray.", "--engine")]
DEFAULT = "solve"


@command(
    "batch goals.parquet --model panda --frame tip -o answers",
    "batch goals.parquet --model panda --engine ray --workers 8 -o answers --resume",
)
def solve(
    goals: Annotated[str, operand("GOALS", "A .parquet or .csv file, or a folder of them.")],
    model: Annotated[str, takes("MODEL", "The linkage: a file, or a ready-made model.", "--model")],
    output: Output,
    frame: FrameName = None,
    engine: Engine = "local",
    *,
    run: RunOptions,
    gpu: Annotated[bool, flag("--gpu", "Each worker of Ray has a graphics card of its own.")] = False,
    block_rows: Annotated[int | None, takes("N", "Rows of a block at most.", "--block-rows", least=1)] = None,
    ignore: Annotated[list[str] | None, takes("COLUMN", "A column to leave out; may be repeated.", "--ignore")] = None,
    free: Annotated[str | None, takes("AXIS", "Axis of the frame it may spin about: x, y or z.", "--free")] = None,
    options: ToleranceOptions,
    restarts: Annotated[int | None, takes("N", "Starts at most, for one goal.", "--restarts", least=0)] = None,
    seed: Seed = 0,
    dtype: Annotated[str | None, takes("TYPE", "float64 or float32.", "--dtype")] = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Solve a dataset of goals into a dataset of answers.

    Columns of GOALS: x, y, z [m]; qw, qx, qy, qz, or r11 to r33; id; start.COORDINATE. Answers, part-00000.parquet and
    so on, have the columns id, q.COORDINATE, success, status, position_error, rotation_error, restarts.

    Exits with 1 if rows are missing because a block of the input cannot be read. A goal that is not reached is a row as
    any other, and is counted.
    """
    from ..scale.datasets import solve_dataset

    linkage = reading.model(model)
    more = given(free=free, restarts=restarts, dtype=dtype)
    with _resumable(), progress("solving") as report:
        result = solve_dataset(
            linkage, read_frame(linkage, frame), goals, output, engine=engine, gpu=gpu, block_rows=block_rows,
            ignore=ignore or (), start=options.read_start(linkage), seed=seed, **asdict(run), **options.read(), **more,
            progress=lambda so_far: report(so_far.answered / max(so_far.total, 1), _rate(so_far)),
        )  # fmt: skip
    if not as_json:
        counts = Counter(result.counts).most_common()
        counts += [] if result.complete else [("missing", result.total - result.answered)]
        shares = [(n, f"{count:,}", f"{100.0 * count / max(result.total, 1):.4g} %") for n, count in counts]
        print_columns([("status", "rows", "share"), *shares])
        print()
    _end(result, f"{result.answered:,} answers", f", {result.rate:,.0f} a second", as_json=as_json)


@command("batch retarget clips --to human -o out", "batch retarget clips --to panda --suffix .csv -o out")
def retarget(
    clips: Annotated[Path, operand("CLIPS", "A folder of motions, and of folders of them.")],
    to: To,
    output: Output,
    suffix: Annotated[str, takes("SUFFIX", "What to write: .bvh, .glb, .csv, ...", "--suffix")] = ".bvh",
    engine: Engine = "local",
    *,
    run: RunOptions,
    options: RetargetOptions,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Give every motion of a folder to another body or robot.

    Motions are written under the names they have in CLIPS, each without a first frame that is a pose of its own. Exits
    with 1 if some are missing, because they cannot be read or the parts of their bodies cannot be told; those are
    listed.
    """
    from ..scale.folders import retarget_library

    with _resumable(), progress("retargeting") as report:
        result = retarget_library(
            clips, reading.of_model.model(to), output, suffix=suffix, engine=engine, **asdict(run), **options.read(),
            reading=reading.of_motion.given,
            progress=lambda so_far: report(so_far.answered / so_far.total, _rate(so_far)),
        )  # fmt: skip
    _end(result, f"{result.answered:,} of {result.total:,} motions", as_json=as_json)


class Batches(click.Group):
    """The group of batch: what names no command of it is a dataset of goals to solve."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """Return the names of its commands, the usual one first."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the command first where it is left out."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


batch = Batches(
    "batch",
    commands={DEFAULT: build(solve), "retarget": build(retarget)},
    no_args_is_help=True,
    context_settings=HELP_NAMES,
    epilog=examples(
        "batch goals.parquet --model panda --frame tip -o answers",
        "batch goals.csv --model panda --tolerance 0.001 -o answers --resume --json",
        "batch retarget clips --to human -o out",
    ),
    help="""Solve whole datasets of goals, or retarget libraries.

    batch GOALS is short for batch solve GOALS; its options are in: linkwork batch solve --help. What is written is
    there in full or not at all, and --resume continues after an interruption.
    """,
)


@contextmanager
def _resumable() -> Iterator[None]:
    """Keep talk, of Ray's too, off the results, and say how to go on after an interruption."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        say("interrupted; what was written is complete, and --resume continues")
        raise


def _rate(result: DatasetResult) -> str:
    return f"{result.answered:,} of {result.total:,}, {result.rate:,.0f} a second"


def _end(result: DatasetResult, what: str, speed: str = "", *, as_json: bool) -> None:
    """Print what a run has given, say what is missing, and exit with 1 if something is."""
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
                "seconds": result.seconds,
                "rate": result.rate,
            }
        )
    else:
        before = f", {result.resumed:,} of them from before" if result.resumed else ""
        print(f"{result.folder}: {what}{before}, {result.seconds:.1f} s{speed}")
    for one in result.missing[:MOST_SAID]:
        say(one.reason)
    if len(result.missing) > MOST_SAID:
        say(f"and {len(result.missing) - MOST_SAID} more")
    if not result.complete:
        raise Exit(NOT_DONE)
