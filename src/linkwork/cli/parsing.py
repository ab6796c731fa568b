"""Parse the texts that users type: models, motions, joint values, goals, start poses and options."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import (
    ClipNotFoundError,
    FormatError,
    GoalError,
    LinkworkError,
    ModelNotFoundError,
    OptionError,
    listed,
    meant,
)
from .console import say

if TYPE_CHECKING:
    from ..formats import Options
    from ..goals import Reach
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..transforms import FloatArray

Made = TypeVar("Made")
PIXELS = re.compile(r"(\d{2,4})x(\d{2,4})")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

# Models and motions


def read_model(text: str, options: Options | None = None) -> Linkage:
    """Return the linkage of a file, read with options, or a ready-made one."""
    from .. import formats, models

    if is_file(text):
        return formats.load(text, **vars(options or formats.Options()))
    _refuse_options(text, options)
    return _ready_made(models.build, text)


def _refuse_options(text: str, options: Options | None) -> None:
    """Refuse options for reading a file if the model is ready-made."""
    from .. import formats

    if options is not None and options != formats.Options():
        raise OptionError(f"{text!r} is a ready-made model; options for reading a file do not apply")


def _ready_made(make: Callable[[str], Made], text: str) -> Made:
    try:
        return make(text)
    except ModelNotFoundError as error:
        from ..formats.descriptions import meant_description

        hint, known = meant(error.name, error.known), ", ".join(error.known)
        hint = meant_description(text) if hint == "." else hint
        raise OptionError(f"{text!r} is neither a file nor a model name{hint} Models are {known}.") from error


def is_file(text: str) -> bool:
    """Return whether a MODEL is a file, or the name of a robot whose files are downloaded."""
    from ..formats.registry import means_file

    return means_file(text)


def read_motion(
    text: str,
    options: Options | None = None,
    *,
    clip: str | None = None,
    linkage: Linkage | None = None,
    poses: bool = False,
) -> Clip:
    """Return the motion of a ready-made model or a file.

    Args:
        text: The file or the model.
        options: Options for reading a file.
        clip: Name of a motion of the file; the first by default.
        linkage: The linkage of the motion, if the file does not contain it.
        poses: For a file without a motion, return a motion through its stored poses and back.
    """
    from .. import formats, models

    if not is_file(text):
        if clip is not None or linkage is not None:
            raise OptionError(f"--clip and --linkage are for files; the model {text!r} has only one motion")
        _refuse_options(text, options)
        return _ready_made(models.motion, text)
    content = formats.read(text, options or formats.Options(), linkage=linkage)
    formats.say_guesses(text, content)
    if clip is not None and clip not in content.clips:
        raise ClipNotFoundError(clip, text, content.clips)
    if content.clips:
        return content.clips[clip] if clip is not None else next(iter(content.clips.values()))
    if not poses:
        raise FormatError(text, f"holds no motion; files that can are {listed(formats.suffixes('clips', 'reads'))}.")
    return _through_poses(content.linkage, text)


def _through_poses(linkage: Linkage, source: str) -> Clip:
    """Return a motion through the stored poses of a linkage and back."""
    from ..motion import clips

    if not linkage.poses:
        raise OptionError(f"{source} has no motion, and no stored poses to move through")
    poses = list(linkage.poses.values())
    start = poses[0] if len(poses) > 1 else linkage.neutral()
    return clips.interpolate(linkage, list(enumerate([start, *poses[len(poses) > 1 :], start])), kind="ease")


# Pictures


def read_view(text: str | None) -> str | tuple[float, float] | None:
    """Return a camera: a name, or elevation and azimuth from a text such as ``20,-60``."""
    if text is None or "," not in text:
        return text
    try:
        elevation, azimuth = map(float, text.split(","))
    except ValueError:
        raise OptionError(f"--view takes two numbers with a comma between, got {text!r}") from None
    return elevation, azimuth


def read_size(text: str | None, suffix: str) -> tuple[float, float] | None:
    """Return a size in inches from one in pixels such as ``960x540``."""
    from ..draw.films import DOTS

    if text is None:
        return None
    found = PIXELS.fullmatch(text)
    if found is None:
        raise OptionError(f"--size takes width and height in pixels, 10x10 to 9999x9999, such as 960x540; got {text!r}")
    dots = DOTS.get(suffix, 100)
    return int(found[1]) / dots, int(found[2]) / dots


# Joint values


def read_values(words: Sequence[str], linkage: Linkage | None = None) -> dict[str, Any]:
    """Return values by joint from words such as ``j1=30deg``, ``hip=0.1,0.2,0.3`` and ``hip=wxyz:1,0,0,0``.

    Args:
        words: The words.
        linkage: The linkage, whose joints define the units; None for plain numbers.
    """
    table = () if linkage is None else linkage.table
    values: dict[str, Any] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        if not name or not text:
            raise OptionError(f"{word!r} is not a joint value; write JOINT=VALUE, such as j1=30deg or hip=0.1,0.2,0.3")
        if name in values:
            raise OptionError(f"joint {name!r} is given twice, the second time as {word!r}")
        form, _, numbers = text.rpartition(":")
        kind, _, order = form.partition(":")  # euler:xyz:10deg,0,0
        if form:
            parts = read_quantities(numbers, ["rad" * (kind in ("euler", "rotvec"))] * 3, word)
            values[name] = {kind: (order, parts) if order else parts}
        else:
            parts = read_quantities(numbers, [row.unit for row in table if name in (row.name, row.joint)], word)
            values[name] = parts if len(parts) > 1 else parts[0]
    return values


def read_quantities(text: str, units: Sequence[str], given: str) -> list[float]:
    """Return values from a text such as ``0.4,45deg``: lengths if the unit is metres, else angles.

    An angle of more than a turn without a unit is taken as radians, with a question on stderr.

    Args:
        text: The values, separated by commas.
        units: ``"rad"``, ``"m"`` or ``""`` for each; further values are plain numbers.
        given: The typed text, for messages.
    """
    from ..transforms import as_angle, as_length

    values, asked = [], False
    for part, unit in zip_longest(text.split(","), units[: text.count(",") + 1], fillvalue=""):
        try:
            values.append(as_length(part) if unit == "m" else as_angle(part))
        except LinkworkError as error:
            raise OptionError(f"{given}: {error}") from error
        number = part.strip()
        if unit == "rad" and not asked and abs(values[-1]) > 2.0 * math.pi and NUMBER.fullmatch(number):
            turns = f"{abs(values[-1]) / (2.0 * math.pi):.3g} turns"
            say(f"{given}: {number} is radians, {turns}; did you mean {number}deg? Write {number}rad for radians.")
            asked = True
    return values


def read_stdin() -> Any:
    """Return the JSON on stdin; an object that gives a name twice is refused."""
    return parse_json(sys.stdin.buffer.read(), "<stdin>")


def parse_json(text: str | bytes, source: str) -> Any:
    """Return the data of a JSON text; an object that gives a name twice is refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object gives a name twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise FormatError(source, f"not JSON: {error}") from error


# Goals and options


def read_frame(linkage: Linkage, name: str | None) -> str:
    """Return the frame of a goal: the one named, else ``tip``, else the last extra frame."""
    if name is not None:
        linkage.frame_index(name)
        return name
    extra = [frame.name for frame in linkage.extra_frames]
    if not extra:
        raise OptionError(f"name a frame with --frame: linkage {linkage.name!r} has {listed(linkage.frames)}")
    return "tip" if "tip" in extra else extra[-1]


def read_position(text: str) -> list[float]:
    """Return a position from a text such as ``-20,5``; angles are refused."""
    from ..transforms import as_length

    try:
        return [as_length(part) for part in text.split(",")]
    except LinkworkError as error:
        hint = position_hint(text) or str(error)
        raise OptionError(
            f"--position takes numbers with commas between, lengths in metres, got {text!r}: {hint}"
        ) from error


def position_hint(text: str) -> str:
    """Return a hint on how to write a text that looks like a position, such as ``(-20 5)``; else nothing."""
    numbers = NUMBER.findall(text)
    if len(numbers) not in (2, 3) or NUMBER.sub("", text).strip(" ,;()[]{}'\"\t"):
        return ""
    return f"write --position={','.join(numbers)}"


def read_ranges(option: str, text: str | None, unit: str) -> list[Any] | None:
    """Return a number or a pair for each axis, in metres or radians, from a text such as ``0.01,0,-0.02:0.05``."""
    if text is None:
        return None
    axes = [read_quantities(part.replace(":", ","), [unit] * 2, f"{option} {text}") for part in text.split(",")]
    return [axis if len(axis) > 1 else axis[0] for axis in axes]


def read_new_frame(text: str) -> tuple[str, str, FloatArray]:
    """Return name, link and placement of a frame from a text such as ``tool=flange:0,0,0.1:euler=xyz:0,90deg,0``."""
    from ..transforms import transform

    name, equals, rest = text.partition("=")
    link, _, place = rest.partition(":")
    position, _, turn = place.partition(":")
    if not name or not equals or not link:
        raise OptionError(f"--add-frame takes NAME=LINK:X,Y,Z, such as tool=flange:0,0,0.1, got {text!r}")
    at = read_quantities(position, ["m"] * 3, f"--add-frame {text}") if position else (0.0, 0.0, 0.0)
    return name, link, transform(at, read_orientation(turn) if turn else None)


def read_orientation(text: str) -> dict[str, Any]:
    """Return an orientation from a text such as ``wxyz=1,0,0,0``, ``euler=xyz:0,0,90deg`` or ``rotvec=0,0,1.57``."""
    form, equals, rest = text.partition("=")
    if not equals:
        raise OptionError(f"--orientation needs a form, such as wxyz=1,0,0,0 or euler=xyz:0,0,90deg, got {text!r}")
    if form == "euler":
        order, colon, angles = rest.partition(":")
        if not colon:
            raise OptionError(f"euler= takes an order and angles, such as euler=xyz:0,0,90deg, got {text!r}")
        return {form: (order, read_quantities(angles, ["rad"] * 3, f"--orientation {text}"))}
    numbers = read_quantities(rest, ["rad" * (form == "rotvec")] * 3, f"--orientation {text}")
    return {form: [numbers[k : k + 3] for k in (0, 3, 6)] if form == "matrix" and len(numbers) == 9 else numbers}


def read_limits(linkage: Linkage, what: str, words: Sequence[str] | None) -> dict[str, float] | None:
    """Return limits by joint from words such as ``2``, for all joints, and ``elbow=90deg``; None without words."""
    result: dict[str, float] = {}
    for word in sorted(words or (), key=lambda word: "=" in word):  # those of single joints override
        name, _, text = word.rpartition("=")
        (limit, *more) = read_quantities(text, [], f"--{what} {word}")
        if more:
            raise OptionError(f"--{what} takes one number, or JOINT=NUMBER and the option again, got {word!r}")
        result |= dict.fromkeys([name] if name else linkage.table.velocity_joints, limit)
    return result or None


def read_setting(text: str) -> Any:
    """Return a number, a list of numbers, True, False, None, or the text itself."""
    from ..transforms import as_angle

    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        numbers = [as_angle(part) for part in text.split(",")]
    except LinkworkError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def read_source(source: str) -> tuple[str, str]:
    """Return the text of a file, or of stdin for ``-``, and its name for messages."""
    from ..formats.atomic_files import read_text

    if source != "-":
        return read_text(source), source
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig"), "<stdin>"
    except UnicodeDecodeError as error:
        raise FormatError("<stdin>", f"is not UTF-8 text: {error.reason}.") from error


def read_goals(linkage: Linkage, source: str, frame: str | None) -> tuple[list[list[Reach]], bool]:
    """Return the problems of a JSON or CSV text, each a list of goals to reach together, and whether it is a list.

    Args:
        linkage: The linkage.
        source: A file, or ``-`` for stdin.
        frame: The frame of goals that name none.
    """
    if source != "-" and not Path(source).exists() and position_hint(source):
        raise OptionError(f"{source!r} is not a file of goals; for a position, {position_hint(source)}")
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

    ranges = ("position_range", "rotation_range", "range_axes")
    fields = ("frame", "pose", "position", "orientation", "weight", "free", *ranges)
    if not isinstance(data, dict):
        raise OptionError(f"{where} must be an object with {listed(fields)}, got {type(data).__name__}")
    unknown = [name for name in data if name not in fields]
    if unknown:
        raise OptionError(f"{where} has no field {unknown[0]!r}; a goal has {listed(fields)}")
    name = data.get("frame") or frame
    if name is not None and not isinstance(name, str):
        raise OptionError(f"{where}: the name of a frame is a string, got {name!r}")
    rest = {key: value for key, value in data.items() if key != "frame" and value is not None}
    try:
        return Reach(read_frame(linkage, name), **rest)
    except GoalError as error:
        raise GoalError(f"{where}: {error}") from error


def read_points(source: str) -> list[list[float]]:
    """Return the points of a CSV file, or of stdin for ``-``, with the columns x, y[, z]."""
    rows = list(_goal_rows(*read_source(source)))
    if any(row.keys() != {"position"} for row in rows):
        raise FormatError(source, "points must have only the columns x, y and z.", line=1)
    return [row["position"] for row in rows]


def _goal_rows(text: str, source: str) -> Iterator[dict[str, Any]]:
    """Yield a goal for each row of a CSV text with the columns of a dataset of goals, and frame."""
    from ..scale.csv_goals import read_header, read_rows
    from ..scale.goal_columns import read_columns

    first, *lines = text.splitlines() or [""]
    header = read_header(first, source)
    columns = read_columns(source, [name for name in header if name != "frame"])
    for row in read_rows(lines, source, header, columns.numbers):
        goal: dict[str, Any] = {"frame": row["frame"]} if "frame" in row else {}
        if columns.place:
            goal["position"] = [row[name] for name in columns.place]
        if columns.turn:
            turn = [row[name] for name in columns.turn]
            goal["orientation"] = {"matrix": [turn[k : k + 3] for k in (0, 3, 6)]} if len(turn) == 9 else {"wxyz": turn}
        yield goal
