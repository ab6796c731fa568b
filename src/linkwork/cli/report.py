"""The command about motions: inspect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ClipNotFoundError, FormatError, OptionError, listed
from .console import is_file, print_columns, print_json, read_model, writing
from .file import Mover
from .ik import AsJson, FrameName, examples, flag, takes
from .output import save_clip
from .parsing import read_frame, read_goals

if TYPE_CHECKING:
    from ..motion.clips import Clip
    from ..motion.inspection import Report

WRONG = 1
MOST_LISTED = 12  # findings of one kind that are printed; --json prints all

ClipOperand = Annotated[str, typer.Argument(metavar="CLIP", help="A file with a motion, or a ready-made model.")]
Name = Annotated[str | None, takes("NAME", "Which motion, where there are several.", "--clip")]
Goals = Annotated[str | None, takes("FILE", "What it should follow, one goal a frame; - reads stdin.", "--goals")]
Ground = Annotated[float | None, takes("M", "Height of the ground; by default that of the feet.", "--ground")]
Feet = Annotated[list[str] | None, takes("NAME", "A foot; may be repeated. By default by name.", "--foot")]
Slide = Annotated[float | None, takes("M", "How far a planted foot may move.", "--slide", min=0.0)]
Depth = Annotated[float | None, takes("M", "How far below the ground things may be.", "--depth", min=0.0)]
PictureFile = Annotated[Path | None, takes("FILE", "Draw the report: .png, .svg or .pdf.", "--picture")]


def inspect(
    clip: ClipOperand,
    name: Name = None,
    linkage: Mover = None,
    goals: Goals = None,
    frame: FrameName = None,
    ground: Ground = None,
    feet: Feet = None,
    slide: Slide = None,
    depth: Depth = None,
    fix: Annotated[bool, flag("--fix", "Put right what can be, and write it to -o.")] = False,
    output: Annotated[Path | None, takes("FILE", "The motion put right.", "--output", "-o")] = None,
    picture: PictureFile = None,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with a motion, and put it right.

    Looks for jumps to other branches or other numbers of a rotation, velocity spikes, values beyond limits or stuck at
    them, planted feet that slide, what is below the ground and, with --goals, goals that are missed. Exits with 0 if
    nothing is wrong, or nothing after --fix, and with 1 otherwise.
    """
    from .. import draw, formats
    from ..motion import repairs

    if fix != (output is not None):
        raise OptionError("--fix and -o go together: the file is where the motion put right is written")
    motion = _read(clip, name, linkage)
    wanted = None if goals is None else read_goals(motion.linkage, goals, read_frame(motion.linkage, frame))[0]
    options: dict[str, Any] = {"goals": wanted, "ground": ground, "feet": feet, "slide": slide, "depth": depth}
    report = motion.report(**options)
    repaired = repairs.repair(motion, **options) if fix else None
    if picture is not None:
        with writing(picture, draw.IMAGES) as path:
            draw.report(report if repaired is None else repaired.after, path=path)
    if repaired is not None and output is not None:
        with writing(output, formats.suffixes("clips", "writes")) as path:
            save_clip(repaired.clip, path)
    left = report if repaired is None else repaired.after
    if as_json:
        data: dict[str, Any] = {"file": clip, **report.as_dict()}
        if repaired is not None:
            data |= {"done": list(repaired.done), "output": str(output), "after": repaired.after.as_dict()}
        print_json(data)
    else:
        _print(clip, report)
        if repaired is not None:
            print("\n".join(["\ndone:", *repaired.words, "\nwhat remains:"]))
            _print(str(output), repaired.after)
    if not left.ok:
        raise typer.Exit(WRONG)


COMMANDS: dict[Callable[..., None], str] = {
    inspect: examples("inspect human", "inspect panda --json", "inspect human --picture report.png"),
}


def _read(text: str, name: str | None, linkage: str | None) -> Clip:
    """Return the motion of a file or a ready-made model."""
    from .. import formats, models

    if not is_file(text):
        return models.motion(text)
    held = formats.read(text, linkage=None if linkage is None else read_model(linkage)).clips
    if not held:
        raise FormatError(text, f"holds no motion; files that can are {listed(formats.suffixes('clips'))}.")
    if name is not None and name not in held:
        raise ClipNotFoundError(name, text, held)
    return held[name] if name is not None else next(iter(held.values()))


def _print(title: str, report: Report) -> None:
    clip = report.clip
    print(f"{title}: {clip.linkage.name}, {len(clip)} frames, {clip.duration:.3g} s")
    if report.ok:
        print("nothing wrong")
    else:
        print_columns([("what", "frames", "remark"), *_rows(report)])


def _rows(report: Report) -> Iterator[tuple[str, str, str]]:
    for kind, count in report.counts.items():
        for finding in report.of(kind)[:MOST_LISTED]:
            yield kind, f"{finding.first}-{finding.last}", finding.text
        if count > MOST_LISTED:
            yield kind, "", f"{count - MOST_LISTED} more like these; --json lists them all."
