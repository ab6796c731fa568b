"""The command synthesis: design mechanisms for a task."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import FormatError, LinkworkError, OptionError
from .commands import command, flag, operand, takes, writes
from .console import NOT_DONE, print_json, say, writing
from .options import AsJson
from .parsing import read_quantities, read_source

if TYPE_CHECKING:
    from ..models.synthesis import Design, QuickReturn, SliderCrank
    from ..transforms import FloatArray

# Units of the columns of the file, by the kind of task.
COLUMNS = {
    "path": (("m", "m"), ("m", "m", "rad")),
    "motion": (("m", "m", "rad"),),
    "function": (("rad", "rad"),),
}
NAMES = {
    "path": "x, y and, if it matters, the angle of the crank",
    "motion": "x, y and angle",
    "function": "angle of the crank, angle of the rocker",
}


@command(
    "synthesis path points.csv -o four_bar.yaml",
    "synthesis motion positions.csv --kind crank-rocker -o carrier.yaml",
    "synthesis motion positions.csv --pivots 0,-1.5,1.5,-1.6",
    "synthesis function angles.csv --dials --json",
    "synthesis slider-crank --stroke 0.1 --ratio 1.2 -o pump.yaml",
    "synthesis crank-rocker --swing 80deg --ratio 1.1",
)
def synthesis(
    what: Annotated[str, operand("WHAT", "path, motion, function, slider-crank, crank-rocker or quick-return.")],
    file: Annotated[str | None, operand("FILE", "A .csv file of the task; - reads stdin.")] = None,
    output: Annotated[Path | None, writes("The best design as a linkage: .yaml or .json.")] = None,
    kind: Annotated[
        str | None, takes("NAME", "For motion: type of four-bar, such as crank-rocker or double-crank.")
    ] = None,
    pivots: Annotated[str | None, takes("X,Y,X,Y", "For motion through three positions: both fixed pivots.")] = None,
    dials: Annotated[bool, flag("--dials", "For function: the zeros of both angles may be chosen freely.")] = False,
    ground: Annotated[str | None, takes("LENGTH", "Distance of the fixed pivots; 1 for four-bars.")] = None,
    stroke: Annotated[str | None, takes("LENGTH", "Travel of the slider, or of the end of the lever.")] = None,
    swing: Annotated[str | None, takes("ANGLE", "Swing of the rocker of a crank-rocker: 80deg.")] = None,
    ratio: Annotated[float | None, takes("N", "Time ratio, 1 to 3: slow stroke over quick return.")] = None,
    designs: Annotated[int, takes("N", "Largest number of designs to show.", least=1)] = 5,
    as_json: AsJson = False,
) -> None:
    """Design a mechanism for a path, a motion or a function.

    For path, FILE has rows of x and y that the coupler point passes in order; a third column may give the crank angle
    at each. For motion, it has three or four rows of x, y and angle of the coupler. For function, it has rows of crank
    angle and rocker angle. Numbers are metres and radians, or degrees: 45deg. A header row is skipped.

    A slider-crank and a quick-return (a shaper's slotted lever) take --stroke and --ratio, a crank-rocker takes --swing
    and --ratio; they need no file.

    Lists designs, best first, with error, Grashof class, lengths, transmission angle and defects. Exits with 1 if there
    is none, or if the best has a defect.
    """
    from .. import formats
    from ..models.synthesis import Design

    given: dict[str, Any] = {"--kind": kind, "--pivots": pivots, "--dials": dials or None, "--ground": ground}
    given |= {"--stroke": stroke, "--swing": swing, "--ratio": ratio}
    asked = {name: value for name, value in given.items() if value is not None}
    found = _from_table(what, file, asked, designs) if what in COLUMNS else _by_time_ratio(what, file, asked)
    if output is not None and found:
        with writing(output, (".yaml", ".yml", ".json")) as path:
            formats.save(found[0].linkage, path)
    if as_json:
        print_json([_data(design) for design in found])
    elif str(output) != "-":
        for number, design in enumerate(found, 1):
            print(f"{number}. {design}")
    if output is not None and found and str(output) != "-":
        say(f"the first is in {output}")
    if not found:
        say(f"no four-bar was found for this {what}{'' if kind is None else f' that is a {kind}'}")
    if not found or (isinstance(found[0], Design) and found[0].defects):
        raise Exit(NOT_DONE)


def _refuse(what: str, asked: dict[str, Any], *taken: str) -> None:
    """Refuse options of another kind of synthesis."""
    for name in asked:
        if name not in taken:
            raise OptionError(f"{name} does not apply to a {what}; see linkwork synthesis --help")


def _length(asked: dict[str, Any], name: str) -> float:
    return read_quantities(asked[name], ["m"], f"{name} {asked[name]}")[0]


def _from_table(what: str, file: str | None, asked: dict[str, Any], designs: int) -> tuple[Design, ...]:
    """Return four-bars for a path, a motion or a function of a table."""
    from ..models import synthesis as made

    if file is None:
        raise OptionError(f"a {what} needs a table: linkwork synthesis {what} FILE, with rows of {NAMES[what]}")
    rows = _rows(what, file)
    if what == "path":
        _refuse(what, asked)
        return made.path(rows[:, :2], timing=rows[:, 2] if rows.shape[1] == 3 else None, designs=designs)
    if what == "function":
        _refuse(what, asked, "--dials", "--ground")
        ground = _length(asked, "--ground") if "--ground" in asked else 1.0
        return made.function(rows[:, 0], rows[:, 1], dials="--dials" in asked, ground=ground, designs=designs)
    _refuse(what, asked, "--kind", "--pivots")
    places = None
    if "--pivots" in asked:
        pivots = asked["--pivots"]
        numbers = read_quantities(pivots, ["m"] * 4, f"--pivots {pivots}")
        if len(numbers) != 4:
            raise OptionError(f"--pivots {pivots}: expected two points, X,Y,X,Y")
        places = [numbers[:2], numbers[2:]]
    return made.motion(rows, pivots=places, kind=asked.get("--kind"), designs=designs)


def _by_time_ratio(
    what: str, file: str | None, asked: dict[str, Any]
) -> tuple[Design, ...] | tuple[SliderCrank | QuickReturn]:
    """Return mechanisms with a stroke or a swing and a time ratio."""
    from ..models import synthesis as made

    needed = {"slider-crank": "--stroke", "quick-return": "--stroke", "crank-rocker": "--swing"}
    if what not in needed:
        raise OptionError(f"{what!r} cannot be synthesised; give one of {', '.join([*COLUMNS, *needed])}")
    if file is not None:
        raise OptionError(f"a {what} takes no file; give {needed[what]} and --ratio")
    if needed[what] not in asked:
        raise OptionError(f"a {what} needs {needed[what]}")
    _refuse(what, asked, needed[what], "--ratio", *(("--ground",) if what != "slider-crank" else ()))
    ratio, ground = asked.get("--ratio", 1.0), _length(asked, "--ground") if "--ground" in asked else None
    if what == "crank-rocker":
        return made.crank_rocker(asked["--swing"], ratio, ground=1.0 if ground is None else ground)
    stroke = _length(asked, "--stroke")
    if what == "quick-return":
        return (made.quick_return(stroke, ratio, ground=ground),)
    return (made.slider_crank(stroke, ratio),)


def _rows(what: str, file: str) -> FloatArray:
    """Return the numbers of a table: metres and radians."""
    import numpy as np

    from ..transforms import as_angle, as_length

    text, file = read_source(file)
    widths = {len(units): units for units in COLUMNS[what]}
    rows: list[list[float]] = []
    for line, cells in enumerate(csv.reader(text.splitlines()), 1):
        if not any(cell.strip() for cell in cells) or cells[0].lstrip().startswith("#"):
            continue
        units = widths.get(len(rows[0]) if rows else len(cells))
        if units is None or len(units) != len(cells):
            raise FormatError(file, f"a row has {NAMES[what]}, got {len(cells)} values.", line=line)
        try:
            rows.append(
                [as_length(cell) if unit == "m" else as_angle(cell) for cell, unit in zip(cells, units, strict=True)]
            )
        except LinkworkError as error:
            if rows or any(character.isdigit() for character in cells[0]):
                raise FormatError(file, str(error), line=line) from error
    if not rows:
        raise FormatError(file, f"there are no rows; each has {NAMES[what]}.")
    return np.array(rows)


def _data(design: Design | SliderCrank | QuickReturn) -> dict[str, Any]:
    """Return a design for a program: metres and radians."""
    from ..models.synthesis import Design

    if not isinstance(design, Design):
        lengths = dataclasses.asdict(design)
        return lengths | {"stroke": design.stroke, "ratio": design.ratio}
    bars = design.four_bar
    ground, crank, coupler, rocker = bars.lengths
    return {
        "kind": design.kind,
        "pivots": [bars.numbers[:2].tolist(), bars.numbers[2:4].tolist()],
        "ground": ground,
        "crank": crank,
        "coupler": coupler,
        "rocker": rocker,
        "point": bars.numbers[7:9].tolist(),
        "tilt": bars.tilt,
        "side": bars.side,
        "angles": design.angles.tolist(),
        "error": design.error,
        "worst": design.worst,
        "unit": design.unit,
        "transmission_angle": design.transmission,
        "defects": list(design.defects),
    }
