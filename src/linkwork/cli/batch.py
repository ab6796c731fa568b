"""The commands of batch: whole datasets of goals, and whole libraries of motions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .console import print_columns, print_json, progress, read_model, say
from .ik import AsJson, FrameName, RotationTolerance, Start, Tolerance, examples, flag, takes
from .parsing import read_frame, read_start

if TYPE_CHECKING:
    from ..scale.datasets import Harvest

INCOMPLETE = 1
MOST_SAID = 10  # missing blocks or files that are told one by one

GoalsOperand = Annotated[str, typer.Argument(metavar="GOALS", help="A .parquet or .csv file, or a folder of them.")]
Model = Annotated[str, takes("MODEL", "The linkage: a file, or a ready-made model.", "--model")]
Output = Annotated[Path, takes("FOLDER", "Where to write; a folder of its own.", "--output", "-o")]
Engine = Annotated[str, takes("NAME", "local, cuda or ray.", "--engine")]
Workers = Annotated[int | None, takes("N", "Threads, or workers of Ray; by default one a core.", "--workers", min=1)]
Address = Annotated[str | None, takes("ADDRESS", "The Ray cluster: auto, host:port; else Ray here.", "--address")]
Resume = Annotated[bool, flag("--resume", "Continue a run that was interrupted.")]
DEFAULT = "solve"


class Batches(TyperGroup):
    """The group of batch: what names no command of it is a dataset of goals to solve."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the command first where it is left out."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


batch = typer.Typer(
    name="batch",
    cls=Batches,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
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


@batch.command(
    DEFAULT,
    epilog=examples(
        "batch goals.parquet --model panda --frame tip -o answers",
        "batch goals.parquet --model panda --engine ray --workers 8 -o answers --resume",
    ),
)
def solve(
    goals: GoalsOperand,
    model: Model,
    output: Output,
    frame: FrameName = None,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    gpu: Annotated[bool, flag("--gpu", "Each worker of Ray has a graphics card of its own.")] = False,
    resume: Resume = False,
    block_rows: Annotated[int | None, takes("N", "Rows of a block at most.", "--block-rows", min=1)] = None,
    ignore: Annotated[list[str] | None, takes("COLUMN", "A column to leave out; may be repeated.", "--ignore")] = None,
    start: Start = None,
    free: Annotated[str | None, takes("AXIS", "Axis of the frame it may spin about: x, y or z.", "--free")] = None,
    tolerance: Tolerance = None,
    rotation_tolerance: RotationTolerance = None,
    restarts: Annotated[int | None, takes("N", "Starts at most, for one goal.", "--restarts", min=0)] = None,
    seed: Annotated[int | None, takes("N", "Where random starts come from.", "--seed", min=0)] = None,
    dtype: Annotated[str | None, takes("TYPE", "float64 or float32.", "--dtype")] = None,
    as_json: AsJson = False,
) -> None:
    """Solve a dataset of goals into a dataset of answers.

    Columns of GOALS: x, y, z [m]; qw, qx, qy, qz, or r11 to r33; id; start.COORDINATE. Answers, part-00000.parquet and
    so on, have the columns id, q.COORDINATE, success, status, position_error, rotation_error, restarts.

    Exits with 1 if rows are missing because a block of the input cannot be read. A goal that is not reached is a row as
    any other, and is counted.
    """
    from ..scale.datasets import solve_dataset

    linkage = read_model(model)
    given = {"free": free, "tolerance": tolerance, "rotation_tolerance": rotation_tolerance}
    given |= {"restarts": restarts, "seed": seed, "dtype": dtype}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with _resumable(), progress("solving") as report:
        harvest = solve_dataset(
            linkage, read_frame(linkage, frame), goals, output, engine=engine, workers=workers, address=address,
            gpu=gpu, resume=resume, block_rows=block_rows, ignore=ignore or (), start=read_start(linkage, start or []),
            progress=lambda so_far: report(so_far.answered / max(so_far.total, 1), _rate(so_far)), **options,
        )  # fmt: skip
    if as_json:
        print_json(_data(harvest))
    else:
        _print(harvest)
    _end(harvest)


@batch.command(
    epilog=examples("batch retarget clips --to human -o out", "batch retarget clips --to panda --suffix .csv -o out")
)
def retarget(
    clips: Annotated[Path, typer.Argument(metavar="CLIPS", help="A folder of motions, and of folders of them.")],
    to: Annotated[str, takes("MODEL", "Who should move so: a file, or a ready-made model.", "--to")],
    output: Output,
    suffix: Annotated[str, takes("SUFFIX", "What to write: .bvh, .glb, .csv, ...", "--suffix")] = ".bvh",
    engine: Annotated[str, takes("NAME", "local or ray.", "--engine")] = "local",
    workers: Workers = None,
    address: Address = None,
    resume: Resume = False,
    map_file: Annotated[Path | None, takes("FILE", "Joint map, as retarget --write-map writes it.", "--map")] = None,
    role: Annotated[str | None, takes("ROLE", "What leads a robot arm: right_hand by default.", "--role")] = None,
    smooth: Annotated[float | None, takes("SECONDS", "Smooth motions over this time.", "--smooth")] = None,
    keep_first: Annotated[bool, flag("--keep-first", "Keep first frames that are poses of their own.")] = False,
    as_json: AsJson = False,
) -> None:
    """Give every motion of a folder to another figure or robot.

    Motions are written under the names they have in CLIPS, each without a first frame that is a pose of its own. Exits
    with 1 if some are missing, because they cannot be read or the parts of their figures cannot be told; those are
    listed.
    """
    from ..scale.folders import retarget_library

    given = {"map": map_file, "role": role, "smooth": smooth, "first": "keep" if keep_first else None}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with _resumable(), progress("retargeting") as report:
        harvest = retarget_library(
            clips, read_model(to), output, suffix=suffix, engine=engine, workers=workers, address=address,
            resume=resume, progress=lambda so_far: report(so_far.answered / so_far.total, _rate(so_far)), **options,
        )  # fmt: skip
    if as_json:
        print_json(_data(harvest))
    else:
        before = f", {harvest.resumed:,} of them from before" if harvest.resumed else ""
        written = f"{harvest.answered:,} of {harvest.total:,} motions{before}"
        print(f"{harvest.folder}: {written}, {harvest.seconds:.1f} s")
    _end(harvest)


@contextmanager
def _resumable() -> Iterator[None]:
    """Keep talk, of Ray's too, off the results, and say how to go on after an interruption."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        say("interrupted; what was written is complete, and --resume continues")
        raise


def _rate(harvest: Harvest) -> str:
    return f"{harvest.answered:,} of {harvest.total:,}, {harvest.rate:,.0f} a second"


def _data(harvest: Harvest) -> dict[str, Any]:
    missing = [{"first": one.first, "rows": one.count, "reason": one.reason} for one in harvest.missing]
    return {
        "output": str(harvest.folder),
        "rows": harvest.total,
        "answered": harvest.answered,
        "resumed": harvest.resumed,
        "counts": dict(sorted(harvest.counts.items())),
        "missing": missing,
        "seconds": harvest.seconds,
        "rate": harvest.rate,
    }


def _print(harvest: Harvest) -> None:
    counts = sorted(harvest.counts.items(), key=lambda item: -item[1])
    missing = [("missing", harvest.total - harvest.answered)] if not harvest.complete else []
    rows = [("status", "rows", "share")]
    for name, count in (*counts, *missing):
        rows.append((name, f"{count:,}", f"{100.0 * count / max(harvest.total, 1):.4g} %"))
    print_columns(rows)
    before = f", {harvest.resumed:,} of them from before" if harvest.resumed else ""
    speed = f"{harvest.seconds:.1f} s, {harvest.rate:,.0f} a second"
    print(f"\n{harvest.folder}: {harvest.answered:,} answers{before}, {speed}")


def _end(harvest: Harvest) -> None:
    for one in harvest.missing[:MOST_SAID]:
        say(one.reason)
    if len(harvest.missing) > MOST_SAID:
        say(f"and {len(harvest.missing) - MOST_SAID} more")
    if not harvest.complete:
        raise typer.Exit(INCOMPLETE)
