"""The commands about motions: inspect and retime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import OptionError
from .commands import command, flag, operand, takes, writes
from .console import NOT_DONE, print_columns, print_json, writing
from .options import AsJson, ClipName, FrameName, MoverName
from .output import save_clip
from .parsing import read_frame, read_goals, read_limits
from .reading import FileOptions

if TYPE_CHECKING:
    from ..motion.inspection import Report

MOST_LISTED = 12  # findings of one kind that are printed; --json prints all


@command("inspect human", "inspect panda --json", "inspect human --picture report.png")
def inspect(
    clip: Annotated[str, operand("CLIP", "A motion file, or a ready-made model.")],
    name: ClipName = None,
    linkage: MoverName = None,
    goals: Annotated[str | None, takes("FILE", "Goals of the motion, one per frame; - reads stdin.")] = None,
    frame: FrameName = None,
    ground: Annotated[float | None, takes("M", "Height of the ground [m]; by default that of the feet.")] = None,
    feet: Annotated[
        list[str] | None, takes("NAME", "Foot; may be repeated. By default found by name.", "--foot")
    ] = None,
    slide: Annotated[float | None, takes("M", "Allowed slide of a planted foot [m].", least=0.0)] = None,
    depth: Annotated[float | None, takes("M", "Allowed depth below the ground [m].", least=0.0)] = None,
    overlap: Annotated[float | None, takes("M", "Allowed overlap of two links [m].", least=0.0)] = None,
    fix: Annotated[bool, flag("--fix", "Repair the motion, and write it to -o.")] = False,
    output: Annotated[Path | None, writes("Repaired motion to write.")] = None,
    picture: Annotated[Path | None, takes("FILE", "Picture of the report: .png, .svg or .pdf.")] = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Find faults in a motion, and repair them.

    Looks for jumps to another solution branch or to other numbers for the same rotation, velocity spikes, values
    outside limits or stuck at them, sliding feet, links below the ground, overlapping links and, with --goals, missed
    goals. Exits with 0 if there is no fault, or none left after --fix, and with 1 otherwise.
    """
    from .. import draw, formats
    from ..motion import repairs

    if fix != (output is not None):
        raise OptionError("--fix and -o need each other: the repaired motion is written to -o")
    motion = reading.motion(clip, clip=name, linkage=linkage)
    wanted = None if goals is None else read_goals(motion.linkage, goals, read_frame(motion.linkage, frame))[0]
    options: dict[str, Any] = {"goals": wanted, "ground": ground, "feet": feet, "slide": slide, "depth": depth}
    options["overlap"] = overlap
    report = motion.report(**options)
    repaired = repairs.repair(motion, **options) if fix else None
    left = report if repaired is None else repaired.after
    if picture is not None:
        with writing(picture, draw.IMAGES) as path:
            draw.report(left, path=path)
    if repaired is not None and output is not None:
        with writing(output, formats.suffixes("clips", "writes")) as path:
            save_clip(repaired.clip, path)
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
        raise Exit(NOT_DONE)


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


@command(
    "retime panda -o fast.npz --velocity 2 --acceleration 5",
    "retime ur5 -o fast.npz --velocity 3 --acceleration 8 --fps 125",
)
def retime(
    clip: Annotated[str, operand("CLIP", "A file with a motion, or a ready-made model.")],
    output: Annotated[Path, writes("Retimed motion to write.")],
    name: ClipName = None,
    linkage: MoverName = None,
    velocity: Annotated[
        list[str] | None, takes("LIMIT", "Velocity limit [rad/s, m/s], or JOINT=LIMIT; may be repeated.")
    ] = None,
    acceleration: Annotated[list[str] | None, takes("LIMIT", "Acceleration limit [rad/s^2, m/s^2], likewise.")] = None,
    fps: Annotated[
        float | None, takes("RATE", "Resample at this many frames per second; by default keep the poses.")
    ] = None,
    speed: Annotated[float | None, takes("SHARE", "Fraction of the highest speed, 0 to 1.")] = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Retime a motion: as fast along its path as the limits allow.

    Velocity and acceleration limits default to those of the linkage. The motion starts and ends at rest.
    """
    from .. import formats

    motion = reading.motion(clip, clip=name, linkage=linkage)
    limits = [read_limits(motion.linkage, *given) for given in (("velocity", velocity), ("acceleration", acceleration))]
    fast = motion.retime(velocity=limits[0], acceleration=limits[1], fps=fps, speed=speed)
    with writing(output, formats.suffixes("clips", "writes")) as path:
        save_clip(fast, path)
    if as_json:
        print_json(
            {
                "file": clip,
                "output": str(output),
                "before": motion.duration,
                "seconds": fast.duration,
                "frames": len(fast),
            }
        )
    elif str(output) != "-":
        print(f"{output}: {len(fast)} frames, {fast.duration:.4g} s; before: {motion.duration:.4g} s")
