"""What is to be solved, in the words of a command line, as JSON or as CSV: frames, goals, starts and options."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, GoalError, LinkworkError, OptionError, listed
from .console import parse_json, read_values

if TYPE_CHECKING:
    from ..goals import Reach
    from ..linkage.linkage import Linkage
    from ..transforms import FloatArray

ARGUMENTS = ("linkage", "goals", "start", "method", "methods", "fps", "frames", "steps")  # of a solve, not of a method


def read_frame(linkage: Linkage, name: str | None) -> str:
    """Return the frame that a goal is for: the one named, else ``tip``, else the last that is no link's own."""
    if name is not None:
        linkage.frame_index(name)
        return name
    extra = [frame.name for frame in linkage.extra_frames]
    if not extra:
        raise OptionError(f"say which frame with --frame: linkage {linkage.name!r} has {listed(linkage.frames)}")
    return "tip" if "tip" in extra else extra[-1]


def read_numbers(option: str, text: str) -> list[float]:
    """Return numbers from a text such as ``1,2.5,-3``; angles may end in ``deg``."""
    from ..transforms import as_angle

    try:
        return [as_angle(part) for part in text.split(",")]
    except LinkworkError as error:
        raise OptionError(f"{option} takes numbers with commas between, got {text!r}: {error}") from error


def read_orientation(text: str) -> dict[str, Any]:
    """Return an orientation from a text such as ``wxyz=1,0,0,0``, ``euler=xyz:0,0,90deg`` or ``rotvec=0,0,1.57``."""
    form, equals, rest = text.partition("=")
    if not equals:
        raise OptionError(f"--orientation says its form, such as wxyz=1,0,0,0 or euler=xyz:0,0,90deg, got {text!r}")
    if form == "euler":
        order, colon, angles = rest.partition(":")
        if not colon:
            raise OptionError(f"euler= takes an order and angles, such as euler=xyz:0,0,90deg, got {text!r}")
        return {form: (order, read_numbers("--orientation", angles))}
    numbers = read_numbers("--orientation", rest)
    return {form: [numbers[k : k + 3] for k in (0, 3, 6)] if form == "matrix" and len(numbers) == 9 else numbers}


def read_start(linkage: Linkage, words: Sequence[str]) -> FloatArray | None:
    """Return a pose from words: a stored pose's name or all values in order first, then ``JOINT=VALUE``."""
    named = [word for word in words if "=" in word]
    whole = [word for word in words if "=" not in word]
    if len(whole) > 1:
        raise OptionError(f"--start takes one pose to begin with, got {listed(whole)}")
    if not words:
        return None
    base: Any = whole[0] if whole else None
    if whole and base not in linkage.poses and base[:1] in "+-.0123456789":
        base = read_numbers("--start", base)
    return linkage.pose(read_values(named), base=base)


def read_settings(words: Sequence[str], **given: Any) -> dict[str, Any]:
    """Return options of a solve: those given (not None), and words such as ``damping=5`` or ``gains=0.1,0.5,0.1``."""
    settings = {name: value for name, value in given.items() if value is not None}
    for word in words:
        name, _, text = word.partition("=")
        name = name.replace("-", "_")
        if not name or not text:
            raise OptionError(f"--set takes NAME=VALUE, such as damping=5, got {word!r}")
        if name in ARGUMENTS:
            raise OptionError(f"--set is for options of a method, and {name!r} is none, got {word!r}")
        if name in settings:
            raise OptionError(f"option {name!r} is given twice, the second time as {word!r}")
        settings[name] = _setting(text)
    return settings


def _setting(text: str) -> Any:
    """Return a number, a list of numbers, yes or no, nothing, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        numbers = read_numbers("--set", text)
    except OptionError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def read_source(source: str) -> tuple[str, str]:
    """Return the text of a file, or of stdin for ``-``, and what to call it."""
    from ..formats.atomic_files import read_text

    if source != "-":
        return read_text(source), source
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig"), "<stdin>"
    except UnicodeDecodeError as error:
        raise FormatError("<stdin>", f"is not UTF-8 text: {error.reason}.") from error


def read_goals(linkage: Linkage, source: str, frame: str | None) -> tuple[list[list[Reach]], bool]:
    """Return the problems of a JSON or CSV text, each a list of goals to reach at once; and whether there are many.

    Args:
        linkage: The linkage.
        source: A file, or ``-`` for stdin.
        frame: The frame of goals that name none.
    """
    text, name = read_source(source)
    data = parse_json(text, name) if text.lstrip()[:1] in ("{", "[") else list(_goal_rows(text, name))
    items = data if isinstance(data, list) else [data]
    problems = [
        [_goal(linkage, goal, frame, f"goal {k}") for goal in (item if isinstance(item, list) else [item])]
        for k, item in enumerate(items)
    ]
    return problems, isinstance(data, list)


def _goal(linkage: Linkage, data: Any, frame: str | None, where: str) -> Reach:
    from ..goals import Reach

    fields = ("frame", "pose", "position", "orientation", "weight")
    if not isinstance(data, dict):
        raise OptionError(f"{where} must be an object with {listed(fields)}, got {type(data).__name__}")
    unknown = [name for name in data if name not in fields]
    if unknown:
        raise OptionError(f"{where} has no field {unknown[0]!r}; a goal has {listed(fields)}")
    name = data.get("frame") or frame
    if name is not None and not isinstance(name, str):
        raise OptionError(f"{where}: the name of a frame is a text, got {name!r}")
    rest = {key: value for key, value in data.items() if key != "frame" and value is not None}
    try:
        return Reach(read_frame(linkage, name), **rest)
    except GoalError as error:
        raise GoalError(f"{where}: {error}") from error


def read_table(text: str, source: str, columns: Sequence[str], words: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the rows of a CSV text by column: numbers, and text in the columns named so."""
    try:
        lines = csv.reader(text.splitlines(), strict=True)
        rows = [(lines.line_num, [cell.strip() for cell in row]) for row in lines if any(map(str.strip, row))]
    except csv.Error as error:
        raise FormatError(source, f"not CSV: {error}.") from error
    if not rows:
        raise FormatError(source, "is empty; there are no goals.")
    (first, header), *rest = rows
    known = (*columns, *words)
    if not {"x", "y"} <= {*header} <= {*known} or len({*header}) < len(header):
        raise FormatError(source, f"the first line names columns, x,y at least, of {listed(known)}.", line=first)
    table = []
    for line, row in rest:
        if len(row) != len(header):
            raise FormatError(source, f"has {len(row)} values under {len(header)} columns.", line=line)
        cells = dict(zip(header, row, strict=True))
        try:
            table.append({name: cell if name in words else float(cell) for name, cell in cells.items()})
        except ValueError as error:
            raise FormatError(source, f"{error}.", line=line) from error
    return table


def read_points(source: str) -> list[list[float]]:
    """Return the points of a CSV file, or of stdin for ``-``, with the columns x, y[, z]."""
    return [[row[axis] for axis in "xyz" if axis in row] for row in read_table(*read_source(source), ("x", "y", "z"))]


def _goal_rows(text: str, source: str) -> Iterator[dict[str, Any]]:
    """Yield a goal for each row of a CSV text with the columns x, y[, z][, qw, qx, qy, qz][, frame]."""
    turns = ("qw", "qx", "qy", "qz")
    for row in read_table(text, source, ("x", "y", "z", *turns), ("frame",)):
        goal = {"frame": row.get("frame"), "position": [row[axis] for axis in "xyz" if axis in row]}
        if {*turns} & row.keys():
            if not {*turns} <= row.keys():
                raise FormatError(source, f"an orientation takes all four columns {listed(turns)}.", line=1)
            goal["orientation"] = {"wxyz": [row[name] for name in turns]}
        yield goal
