"""The command drive: a mechanism with closed loops, driven by one joint."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import GoalError, LoopError, OptionError
from .commands import command, takes, writes
from .console import NOT_DONE, print_json, say, writing
from .options import AsJson, ModelOperand, PoseOptions, Size, View
from .parsing import read_quantities, read_size, read_view
from .reading import FileOptions

if TYPE_CHECKING:
    from ..explain.singular_positions import SingularPositions
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..transforms import FloatArray

SECONDS = 2.0  # for one turn, for less than one, or for the travel of a joint that slides
TABLES = (".csv", ".json")
MOMENTS = 5  # of a motion, side by side in a picture
WHOLE = 1e-6  # tolerance of whole turns


@command(
    "drive engine --turns 2 -o engine.html",
    "drive four_bar --frame point -o bars.csv",
    "drive four_bar --joint rocker --from 100deg --to 140deg",
    "drive jansen_leg --frame foot -o leg.png",
)
def drive(
    model: ModelOperand,
    *,
    given: PoseOptions,
    output: Annotated[Path | None, writes("Film (.html, .mp4, .gif, .png) or table (.csv, .json).")] = None,
    joint: Annotated[str | None, takes("NAME", "Input joint; by default one that can make a full turn.")] = None,
    turns: Annotated[float | None, takes("N", "Number of turns, 1 by default; negative turns backwards.")] = None,
    begin: Annotated[str | None, takes("VALUE", "First value, instead of the pose's: 30deg, 0.1.", "--from")] = None,
    end: Annotated[str | None, takes("VALUE", "Last value, instead of --turns.", "--to")] = None,
    speed: Annotated[float | None, takes("RATE", "Joint speed [rad/s, m/s]; by default 2 s for a turn.")] = None,
    fps: Annotated[float, takes("RATE", "Frames per second.", "--fps")] = 24.0,
    frame: Annotated[list[str] | None, takes("NAME", "Frame whose path is shown; may be repeated.")] = None,
    driven: Annotated[str | None, takes("NAME", "Output joint; by default one on the ground.", "--driven")] = None,
    size: Size = None,
    view: View = None,
    title: Annotated[str | None, takes("TEXT", "Title above the picture.", "--title")] = None,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Drive a mechanism with closed loops through one joint.

    Prints dead centres, the highest velocity and the smallest transmission angle. A table has the exact values,
    velocities and accelerations of all joints and of each --frame. A film shows the paths of the frames. A planar
    mechanism is drawn in textbook style; its page (.html) also plots velocities. --view draws it in 3D.

    Exits with 1 if the mechanism cannot move that far. Velocities are undefined at a dead centre and where branches
    meet: the table has nan (.csv) or null (.json) there, and a message says where.
    """
    from .. import draw
    from ..motion.drive_table import drive_table, ground_joint, turning_joint

    linkage = reading.model(model)
    if not linkage.constrained and all(arc.mimic is None for arc in linkage.arcs):
        raise OptionError(
            f"linkage {linkage.name!r} has no closed loops or gears to drive; use linkwork animate or pose"
        )
    usual = "start" if "start" in linkage.poses else None
    start = given.read(linkage, usual) if given.values or given.stored or usual else None
    name = joint or turning_joint(linkage, start)
    out = driven or ground_joint(linkage, name)
    try:
        clip = _driven(linkage, name, start, turns, (begin, end), speed, fps)
        table = drive_table(clip, name, frames=frame or (), output=out, speed=_speed(clip, name))
    except LoopError as error:
        say(error)
        raise Exit(NOT_DONE) from None
    report = _report(clip, name, out, table)
    if output is not None:
        with writing(output, (*draw.FILMS, *TABLES)) as path:
            if path.suffix.lower() in TABLES:
                if size or view or title:
                    raise OptionError("--size, --view and --title are for films, not for tables")
                _write(table, path)
            else:
                _film(clip, (name, out), path, frame or [], size, view, title)
    if as_json:
        print_json(report | ({} if output is None else {"file": str(output)}))
    elif str(output) != "-":
        _print(report, output)


def _film(
    clip: Clip,
    joints: tuple[str, str | None],
    path: Path,
    frames: list[str],
    size: str | None,
    view: str | None,
    title: str | None,
) -> None:
    """Write a film: in textbook style if the mechanism is planar and no view is given, otherwise in 3D.

    `joints` are the input joint and the output joint.
    """
    from .. import draw

    suffix, trails = path.suffix.lower(), list(dict.fromkeys(frames))
    shape = read_size(size, suffix)
    if view is not None or not draw.is_planar(clip.linkage):
        draw.film(clip, path, trail=trails[0] if trails else None, size=shape, view=read_view(view), title=title)
        return
    driver, driven = joints if suffix == ".html" else (None, None)
    moments = _moments(clip, joints[0]) if suffix == ".png" else 0
    draw.mechanism(clip, frame=moments, trails=trails, driver=driver, driven=driven, size=shape, title=title, path=path)


def _moments(clip: Clip, joint: str) -> list[int]:
    """Return frames at even times; for whole turns without the last one, which equals the first."""
    values = clip.poses[:, clip.linkage.coordinates.index(joint)]
    turns = float(values[-1] - values[0]) / (2.0 * math.pi)
    row = clip.linkage.table[clip.linkage.coordinates.index(joint)]
    whole = row.unit == "rad" and abs(turns - round(turns)) < WHOLE
    return [round(k * (len(clip) - 1) / (MOMENTS - (not whole))) for k in range(MOMENTS)]


def _driven(
    linkage: Linkage,
    joint: str,
    start: FloatArray | None,
    turns: float | None,
    ends: tuple[str | None, str | None],
    speed: float | None,
    fps: float,
) -> Clip:
    """Return the requested motion."""
    import numpy as np

    from ..motion.drive import drive as driven
    from ..solvers.closing import assemble
    from ..solvers.loops import coordinate
    from ..solvers.options import positive

    place, _ = coordinate(linkage, joint)
    unit = linkage.table[place].unit
    positive("fps", fps, finite=True)
    if speed is not None:
        positive("speed", speed, finite=True)
    if turns is not None and (ends[1] is not None or unit != "rad"):
        raise OptionError(f"--turns is for joints that turn, in place of --to; {joint!r} is in {unit}")
    values = [None if text is None else read_quantities(text, [unit], text)[0] for text in ends]
    if values[1] is None and unit != "rad":
        raise OptionError(f"{joint!r} slides: give its travel with --from and --to")
    begin = values[0]
    if begin is None:
        start = assemble(linkage, most=1)[0] if start is None else start
        begin = float(start[place])
    way = 2.0 * math.pi * (1.0 if turns is None else turns) if values[1] is None else values[1] - begin
    if not way:
        raise OptionError(f"{joint!r} would not move: give its travel with --turns or --to")
    usual = min(abs(way), 2.0 * math.pi if unit == "rad" else math.inf) / SECONDS
    fast = usual if speed is None else speed
    count = max(5, round(abs(way) / fast * fps) + 1)
    clip = driven(linkage, joint, np.linspace(begin, begin + way, count), start=start)
    return type(clip)(linkage, np.linspace(0.0, abs(way) / fast, count), clip.poses, clip.residuals)


def _speed(clip: Clip, joint: str) -> float:
    """Return the constant speed of the input joint."""
    values = clip.poses[:, clip.linkage.coordinates.index(joint)]
    return float(values[-1] - values[0]) / clip.duration


def _report(clip: Clip, joint: str, driven: str | None, table: dict[str, FloatArray]) -> dict[str, Any]:
    """Return a report on a motion, as plain data."""
    import numpy as np

    angle = table.get("transmission_angle")
    report: dict[str, Any] = {
        "linkage": clip.linkage.name,
        "joint": joint,
        "driven": driven,
        "frames": len(clip),
        "units": {row.name: row.unit for row in clip.linkage.table if row.v is not None},
        "seconds": clip.duration,
        "gap": float(clip.residuals.max(initial=0.0)) if clip.residuals is not None else None,
        "transmission_angle": None if angle is None else [float(np.nanmin(angle)), float(np.nanmax(angle))],
        "largest_velocity": {}, "largest_acceleration": {}, "dead_centres": {},
    }  # fmt: skip
    for row in clip.linkage.table:
        if row.v is not None:
            for what in ("velocity", "acceleration"):
                report[f"largest_{what}"][row.name] = float(np.nanmax(abs(table[f"{row.name}.{what}"])))
    for name in (joint, driven, *(coupling.follower for coupling in clip.linkage.couplings)):
        if name is not None:
            report["dead_centres"][name] = [
                {"kind": one.kind, name: one.value, joint: _value(clip.linkage, joint, one.q)}
                for one in _singular(clip, name)
            ]
    return report


def _value(linkage: Linkage, joint: str, q: FloatArray) -> float:
    """Return the value of a joint in a pose, within half a turn of zero if whole turns make no difference."""
    from ..motion.drive_table import turns_alike

    value = float(q[linkage.coordinates.index(joint)])
    return math.remainder(value, 2.0 * math.pi) if turns_alike(linkage, joint) else value


def _in_words(value: float, unit: str) -> str:
    return f"{math.degrees(value):.2f} deg" if unit == "rad" else f"{value:.6g} {unit}"


def _singular(clip: Clip, joint: str) -> SingularPositions | tuple[()]:
    """Return the singular positions of a joint; none with more degrees of freedom, as they depend on more joints."""
    from ..explain.singular_positions import singular_positions

    try:
        return singular_positions(clip.linkage, joint, start=clip.poses[0])
    except GoalError as error:
        say(error)
        return ()


def _print(report: dict[str, Any], output: Path | None) -> None:
    """Print a report for people, with angles in degrees, and the output file."""
    driver, units = report["joint"], report["units"]
    print(f"{report['linkage']}: driven by {driver}, {report['frames']} frames, {report['seconds']:.4g} s")
    print(f"largest gap: {report['gap']:.1e} m")
    for name, centres in report["dead_centres"].items():
        places = dict.fromkeys(
            f"{one['kind']} at {driver} = {_in_words(one[driver], units[driver])}" for one in centres
        )
        print(f"singular positions of {name}: {', '.join(places) or 'none'}")
    if report["transmission_angle"] is not None:
        least, most = (math.degrees(angle) for angle in report["transmission_angle"])
        print(f"transmission angle at {report['driven']}: {least:.2f} to {most:.2f} deg")
    for name, speed in report["largest_velocity"].items():
        further = report["largest_acceleration"][name]
        print(f"{name}: at most {speed:.4g} {units[name]}/s, {further:.4g} {units[name]}/s²")
    if output is not None:
        say(f"the motion of {report['linkage']!r} is in {output}")


def _write(table: dict[str, FloatArray], path: Path) -> None:
    """Write columns as CSV, or as JSON of lists by name."""
    if path.suffix.lower() == ".json":
        plain = {name: [None if math.isnan(one) else one for one in values.tolist()] for name, values in table.items()}
        path.write_text(json.dumps(plain), encoding="utf-8")
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(values.tolist() for values in table.values()), strict=True))
