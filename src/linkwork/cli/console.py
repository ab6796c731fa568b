"""What the commands share: reading models and joint values, printing results, a linkage in words and as plain data.

The library is imported when a function runs, so that ``linkwork --help`` is quick; nothing here knows typer.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FormatError, LinkworkError, ModelNotFoundError, OptionError, listed

if TYPE_CHECKING:
    from rich.console import Console

    from ..linkage.joints import Joint
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..transforms import FloatArray

# Reading


def read_model(text: str) -> Linkage:
    """Return the linkage of a file, or a ready-made one."""
    from .. import formats, models

    if is_file(text):
        return formats.load(text)
    try:
        return models.build(text)
    except ModelNotFoundError as error:
        close = get_close_matches(str(error.name), error.known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise OptionError(f"{text!r} is no file and no model{hint} Models are {', '.join(error.known)}.") from error


def is_file(text: str) -> bool:
    """Return whether a MODEL means a file: it is there, or its name ends as files do."""
    from .. import formats

    return Path(text).suffix.lower() in formats.FORMATS or Path(text).exists()


def read_motion(text: str, linkage: Linkage) -> Clip:
    """Return the motion of a ready-made model or a file; without one it goes through the stored poses and back."""
    from .. import formats, models
    from ..motion import clips

    if not is_file(text):
        return models.motion(text)
    held = formats.read(text).clips
    if held:
        return next(iter(held.values()))
    if not linkage.poses:
        raise OptionError(f"{text} has no motion, and no stored poses to move through")
    poses = list(linkage.poses.values())
    start = poses[0] if len(poses) > 1 else linkage.neutral()
    return clips.interpolate(linkage, list(enumerate([start, *poses[len(poses) > 1 :], start])), kind="ease")


def read_pair(option: str, text: str) -> tuple[float, float]:
    """Return two numbers from a text such as ``20,-60``."""
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise OptionError(f"{option} takes two numbers with a comma between, got {text!r}") from None
    return first, second


def read_values(words: Sequence[str]) -> dict[str, Any]:
    """Return joint values from words such as ``j1=30deg``, ``hip=0.1,0.2,0.3`` and ``hip=wxyz:1,0,0,0``."""
    from ..transforms import as_angle

    values: dict[str, Any] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        if not name or not text:
            raise OptionError(f"{word!r} is not a joint value; write JOINT=VALUE, such as j1=30deg or hip=0.1,0.2,0.3")
        if name in values:
            raise OptionError(f"joint {name!r} is given twice, the second time as {word!r}")
        form, _, numbers = text.rpartition(":")
        try:
            parts = [as_angle(part) for part in numbers.split(",")]
        except LinkworkError as error:
            raise OptionError(f"{word}: {error}") from error
        kind, _, order = form.partition(":")  # euler:xyz:10deg,0,0
        if form:
            values[name] = {kind: (order, parts) if order else parts}
        else:
            values[name] = parts if len(parts) > 1 else parts[0]
    return values


def read_poses(linkage: Linkage, words: Sequence[str], stored: str | None) -> FloatArray:
    """Return the poses that a command line asks for, shape (nq,), or (n, nq) if stdin holds a list of them.

    Starts from a stored pose or the neutral one; the values on stdin, where ``-`` is among the words, come next, and
    those on the command line last.
    """
    import numpy as np

    base = linkage.neutral() if stored is None else linkage.stored_pose(stored)
    values = read_values([word for word in words if word != "-"])
    given = read_stdin() if "-" in words else {}
    if not isinstance(given, dict | list):
        raise OptionError("stdin must hold a JSON object of joint values, or a list of poses.")
    items = given if isinstance(given, list) else [given]
    starts = [linkage.pose(item, base=base if isinstance(item, dict) else None) for item in items]
    poses = np.array([linkage.pose(values, base=start) for start in starts]).reshape(-1, linkage.nq)
    return poses if isinstance(given, list) else poses[0]


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


# Writing


def say(message: object) -> None:
    """Print one line on stderr."""
    print(f"linkwork: {' '.join(str(message).split())}", file=sys.stderr)


@contextmanager
def writing(output: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    """Give a path that may be written to, checked ahead; ``-`` goes to stdout, in the first of the formats."""
    if str(output) != "-":
        if output.suffix.lower() not in suffixes:
            raise OptionError(f"cannot write {str(output)!r}: its name must end in {listed(suffixes)}")
        if not output.parent.is_dir():
            raise OptionError(f"cannot write {str(output)!r}: there is no folder {str(output.parent)!r}")
        yield output
        return
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, f"picture{suffixes[0]}")
        yield draft
        sys.stdout.buffer.write(draft.read_bytes())


@contextmanager
def progress(title: str) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows how much of the work is done, 0 to 1, and on what; only on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda done, what: bar.update(task, completed=done, description=f"{title} {what}")


def print_json(data: Any) -> None:
    """Print data as JSON: spread out for a person, on one line for a program."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def console() -> Console:
    """Return the writer of text on stdout, which knows about terminals and colours."""
    from rich.console import Console

    def leave() -> None:
        raise BrokenPipeError

    result = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)
    result.on_broken_pipe = leave  # type: ignore[method-assign]  # by default rich exits with 1
    return result


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns; on a terminal the titles are dim and the first column bold."""
    from rich.cells import cell_len
    from rich.text import Text

    rows = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for i, row in enumerate(rows):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        line = Text("  ".join(cells).rstrip(), "" if i else "dim")
        line.stylize("bold" if i else "", 0, len(cells[0]))
        lines.append(line)
    console().print(Text("\n").join(lines))


# What a linkage and its frames look like, as plain data and as text


def description(linkage: Linkage) -> dict[str, Any]:
    """Return a linkage as plain data: angles in radians, lengths in metres, null where there is no limit."""
    from ..explain.mobility import degrees_of_freedom

    return {
        "name": linkage.name,
        "dof": degrees_of_freedom(linkage),
        "nq": linkage.nq,
        "nv": linkage.nv,
        "coordinates": list(linkage.coordinates),
        "links": [
            {"name": node.name, "parent": arc.parent, "joint": arc.name, "shapes": len(node.visuals)}
            for node, arc in zip(linkage.nodes, linkage.arcs, strict=True)
        ],
        "joints": [joint_description(linkage, linkage.joint(name)) for name in linkage.joints],
        "frames": [{"name": frame.name, "link": frame.link} for frame in linkage.extra_frames],
        "loops": [asdict(loop) for loop in linkage.loops],
        "poses": {name: by_coordinate(linkage, q) for name, q in linkage.poses.items()},
    }


def joint_description(linkage: Linkage, joint: Joint) -> dict[str, Any]:
    """Return a joint as plain data: what all have, and the fields of its kind, such as the axis."""
    bounds = [[x if math.isfinite(x) else None for x in bound] for bound in joint_limits(linkage, joint)]
    return {
        "name": joint.name,
        "kind": joint.articulation.kind,
        "parent": joint.parent,
        "child": joint.child,
        **asdict(joint.articulation),
        "lower": bounds[0],
        "upper": bounds[1],
        "coordinates": [] if joint.mimic else list(joint.coordinates),
        "mimic": asdict(joint.mimic) if joint.mimic else None,
    }


def joint_limits(linkage: Linkage, joint: Joint) -> list[list[float]]:
    """Return the lower and upper limits that hold for a joint's values, narrowed where others follow it."""
    if joint.mimic is not None:
        return [bound.tolist() for bound in joint.articulation.limits]
    columns = linkage.drive(joint.name).columns
    return [bound[columns].tolist() for bound in (linkage.lower, linkage.upper)]


def by_coordinate(linkage: Linkage, q: FloatArray) -> dict[str, float]:
    """Return a pose as a mapping from coordinate name to value."""
    return dict(zip(linkage.coordinates, q.tolist(), strict=True))


def tree_rows(linkage: Linkage, *, unicode: bool) -> Iterator[tuple[str, ...]]:
    """Yield one row for each link: drawn in the tree, then its joint, kind, axis and limits.

    An only child stands straight below its parent, so that long chains stay narrow.
    """
    branch, last, bar, dot = ("├─", "╰─", "│ ", "● ") if unicode else ("|-", "`-", "| ", "o ")
    yield ("link", "joint", "kind", "axis", "limits")
    stack = [(0, "", "")]
    while stack:
        i, lead, below = stack.pop()
        joint, children = linkage.arcs[i], linkage.children[i]
        words = (joint.name, joint.articulation.kind, axis_text(joint), limit_text(linkage, joint))
        moves = i > 0 or joint.articulation.nq > 0
        yield (lead + dot + linkage.nodes[i].name, *(words if moves else ("",) * 4))
        if len(children) == 1:
            stack.append((children[0], below, below))
        else:
            ends = [(branch, bar)] * (len(children) - 1) + [(last, "  ")]
            stack += [(child, below + a, below + b) for child, (a, b) in zip(children, ends, strict=False)][::-1]


def axis_text(joint: Joint) -> str:
    """Return the axes of a joint in words: ``z``, ``-y``, ``0.6,0,0.8``, or how a ball stores its rotation."""
    motion = joint.articulation
    if hasattr(motion, "euler"):
        return f"euler {motion.euler}" if motion.euler else "quaternion" * (motion.kind == "ball")
    words = []
    for axis in (getattr(motion, name) for name in ("axis", "second") if hasattr(motion, name)):
        along = [k for k in range(3) if axis[k]]
        plain = "-" * (axis[along[0]] < 0.0) + "xyz"[along[0]]
        words.append(plain if len(along) == 1 else ",".join(f"{x:.3g}" for x in axis))
    return " ".join(words)


def limit_text(linkage: Linkage, joint: Joint) -> str:
    """Return the limits of a joint in words, angles in degrees, or what it follows."""
    if joint.mimic is not None:
        factor, offset = joint.mimic.multiplier, joint.mimic.offset
        times = "" if factor == 1.0 else "-" if factor == -1.0 else f"{factor:g} * "
        plus = f" {'-' if offset < 0.0 else '+'} {abs(offset):g}" if offset else ""
        return f"= {times}{joint.mimic.joint}{plus}"
    words, units = cone_words(joint), joint.articulation.units
    for k, bounds in enumerate(zip(*joint_limits(linkage, joint), strict=True)):
        low, high = bounds if units[k] == "m" else map(math.degrees, bounds)
        text = f"{low:.5g} .. {high:.5g} {'m' if units[k] == 'm' else 'deg'}"
        if math.isfinite(low) or math.isfinite(high):
            words.append(f"{joint.articulation.coordinates[k]} {text}".strip())
    return ", ".join(words)


def cone_words(joint: Joint) -> list[str]:
    """Return the swing and twist limits of a ball joint in words, in degrees."""
    ball = joint.articulation
    swing, twist = getattr(ball, "swing", None), getattr(ball, "twist", None)
    words = [] if swing is None else [f"swing {math.degrees(swing):.5g} deg"]
    return words if twist is None else [*words, "twist {:.5g} .. {:.5g} deg".format(*map(math.degrees, twist))]


def placements(linkage: Linkage, poses: FloatArray, names: Iterable[str], *, matrix: bool) -> Iterator[dict[str, Any]]:
    """Yield, for each pose of (n, nq), its values and where the named frames are."""
    from scipy.spatial.transform import Rotation

    from ..linkage import swing_twist as cones

    world = {name: linkage.forward(poses, frame=name) for name in names}
    outside = (poses < linkage.lower) | (poses > linkage.upper)
    for cone in linkage.cones:
        outside[:, cone.q] = cones.beyond([cone], poses)
    for k, q in enumerate(poses):
        frames: dict[str, Any] = {}
        for name, matrices in world.items():
            m = matrices[k]
            turn = Rotation.from_matrix(m[:3, :3]).as_quat(scalar_first=True, canonical=True)
            place = {"position": m[:3, 3].tolist(), "quaternion_wxyz": turn.tolist()}
            frames[name] = {"matrix": m.tolist()} if matrix else place
        beyond = [name for name, out in zip(linkage.coordinates, outside[k], strict=True) if out]
        yield {"pose": by_coordinate(linkage, q), "outside_limits": beyond, "frames": frames}


def print_placement(result: dict[str, Any], title: str) -> None:
    """Print where frames are: a table, or one matrix below another."""

    def number(x: float) -> str:
        return f"{round(x, 6) + 0.0: .6f}"  # room for a sign, and no minus before zero

    rows = [("frame", " x [m]", " y [m]", " z [m]", " qw", " qx", " qy", " qz")]
    print(end=title)
    for name, place in result["frames"].items():
        if "matrix" in place:
            print("\n".join([name, *("  ".join(map(number, row)) for row in place["matrix"])]))
        else:
            rows.append((name, *map(number, (*place["position"], *place["quaternion_wxyz"]))))
    if len(rows) > 1:
        print_columns(rows)
