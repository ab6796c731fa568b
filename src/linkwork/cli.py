"""The command line: one thin function for each command, over the functions that Python users call.

Imports typer at once and the library when a command runs, so that ``linkwork --help`` is quick. Results go to stdout,
as JSON with ``--json``; talk and progress go to stderr. Exit 0 done, 1 goal not reached, 2 wrong usage, 3 bad file.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from . import __version__
from .errors import FormatError, LinkworkError

if TYPE_CHECKING:
    from rich.console import Console

    from .joints import Joint
    from .linkage import Linkage
    from .transforms import FloatArray

WRONG_USAGE, BAD_FILE, INTERRUPTED, BROKEN_PIPE = 2, 3, 130, 141
UNIT_AXES = {
    (1.0, 0.0, 0.0): "x",
    (0.0, 1.0, 0.0): "y",
    (0.0, 0.0, 1.0): "z",
    (-1.0, 0.0, 0.0): "-x",
    (0.0, -1.0, 0.0): "-y",
    (0.0, 0.0, -1.0): "-z",
}
UsageError: Any = typer.BadParameter.__base__  # typer names only this kind of it


# The frame around every command: errors become one plain line and an exit status


class Commands(TyperGroup):
    """The group of all commands."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line and exit."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a name that the console cannot show is no crash
        options["standalone_mode"] = False
        try:
            status = super().main(*args, **options)
        except UsageError as error:
            where = error.ctx.command_path if error.ctx else "linkwork"
            say(error.format_message())
            print(f"Try: {where} --help", file=sys.stderr)
            status = WRONG_USAGE
        except typer.Abort:
            status = INTERRUPTED
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run one command, with its errors turned into words and an exit status."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush at exit
            raise typer.Exit(BROKEN_PIPE) from None
        except LinkworkError as error:
            say(error)
            raise typer.Exit(BAD_FILE if isinstance(error, FormatError) else WRONG_USAGE) from None
        except OSError as error:
            say(f"{error.filename}: {error.strerror}" if error.filename else error)
            raise typer.Exit(BAD_FILE) from None


def say(message: object) -> None:
    """Print one line on stderr."""
    print(f"linkwork: {' '.join(str(message).split())}", file=sys.stderr)


def examples(*lines: str) -> str:
    """Return the end of a command's help: lines that can be typed as they stand."""
    return "\b\nExample:\n" + "\n".join(f"  $ linkwork {line}" for line in lines)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples("info panda", "pose planar:15,10,5 j1=30deg --frame tip", "draw human --pose wave -o wave.png"),
)


@app.callback(invoke_without_command=True)
def linkwork(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Build kinematic linkages, pose them and see them.

    MODEL is a file (.yaml, .json) or a ready-made model, with arguments after a colon: panda, planar:15,10,5, snake:9.
    """
    if version:
        print(f"linkwork {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(WRONG_USAGE)


# What commands share: reading


def read_model(text: str) -> Linkage:
    """Return the linkage of a file, or a ready-made one.

    Raises:
        FormatError: If it is a file that cannot be read.
        ModelNotFoundError: If it is neither a file nor a ready-made model.
    """
    from . import formats, models

    path = Path(text)
    if path.suffix.lower() in formats.SUFFIXES or path.exists():
        return formats.load(path)
    return models.build(text)


def read_values(words: Sequence[str]) -> dict[str, Any]:
    """Return joint values from words such as ``j1=30deg``, ``hip=0.1,0.2,0.3`` and ``hip=wxyz:1,0,0,0``."""
    from .transforms import as_angle

    values: dict[str, Any] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        if not name or not text:
            raise UsageError(f"{word!r} is not a joint value; write JOINT=VALUE, such as j1=30deg or hip=0.1,0.2,0.3")
        if name in values:
            raise UsageError(f"joint {name!r} is given twice, the second time as {word!r}")
        form, _, numbers = text.rpartition(":")
        try:
            parts = [as_angle(part) for part in numbers.split(",")]
        except LinkworkError as error:
            raise UsageError(f"{word}: {error}") from error
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
    if "-" not in words:
        return linkage.pose(values, base=base)
    given = read_stdin()
    if isinstance(given, list):
        poses = [linkage.pose(item, base=base if isinstance(item, dict) else None) for item in given]
        base = np.stack(poses) if poses else np.empty((0, linkage.nq))
    elif isinstance(given, dict):
        base = linkage.pose(given, base=base)
    else:
        raise UsageError("stdin must hold a JSON object of joint values, or a list of them")
    return linkage.pose(values, base=base)


def read_stdin() -> Any:
    """Return the JSON on stdin; an object that gives a name twice is refused."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object gives a name twice")
        return dict(pairs)

    try:
        return json.loads(sys.stdin.buffer.read(), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise FormatError("<stdin>", f"not JSON: {error}") from error


# What commands share: writing


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """Give a path to write to; the file appears under its own name once it is whole, ``-`` goes to stdout."""
    to_stdout = str(path) == "-"
    if not to_stdout and not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {str(path.parent)!r}")
    with tempfile.TemporaryDirectory(dir=None if to_stdout else path.parent, prefix=".linkwork-") as folder:
        draft = Path(folder, "out.png" if to_stdout else path.name)
        yield draft
        if to_stdout:
            sys.stdout.buffer.write(draft.read_bytes())
        else:
            draft.replace(path)


def print_json(data: Any) -> None:
    """Print data as JSON: spread out for a person, on one line for a program."""
    print(json.dumps(data, allow_nan=False, indent=2 if sys.stdout.isatty() else None))


def console() -> Console:
    """Return the writer of text on stdout, which knows about terminals and colours."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True)


def print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text as columns; on a terminal the titles are dim and the first column bold."""
    from rich.cells import cell_len
    from rich.text import Text

    rows = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for i, row in enumerate(rows):
        line = Text(style="dim" if i == 0 else "")
        for k, (cell, width) in enumerate(zip(row, widths, strict=True)):
            line.append(cell + " " * (width - cell_len(cell) + 2), "bold" if k == 0 < i else "")
        line.rstrip()
        lines.append(line)
    console().print(Text("\n").join(lines))


# Commands


ModelOperand = Annotated[
    str, typer.Argument(metavar="MODEL", help="A file, or a ready-made model.", show_default=False)
]
JointValues = Annotated[
    list[str] | None,
    typer.Argument(metavar="JOINT=VALUE", help="Joint values; - reads them as JSON from stdin."),
]
StoredPose = Annotated[str | None, typer.Option("--pose", metavar="NAME", help="Start from a stored pose.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(epilog=examples("info panda", "info planar:15,10,5 --json"))
def info(model: ModelOperand, as_json: AsJson = False) -> None:
    """Show a linkage: its tree, joints, limits, degrees of freedom, frames and stored poses."""
    linkage = read_model(model)
    if as_json:
        print_json(description(linkage))
        return
    kinds = Counter(linkage.joint(name).articulation.kind for name in linkage.joints)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    print(f"{linkage.name}: {linkage.nv} DOF, {len(linkage.links)} links, {len(linkage.joints)} joints ({counts})\n")
    print_columns(tree_rows(linkage, unicode=console().encoding.startswith("utf")))
    for title, names in (
        ("frames", [f"{frame.name} (on {frame.link})" for frame in linkage.extra_frames]),
        ("poses", list(linkage.poses)),
    ):
        print(f"\n{title}: {', '.join(names) or 'none'}")


@app.command(
    epilog=examples(
        "pose panda panda_joint1=30deg panda_joint4=-1.5 --frame tip",
        "pose panda --pose ready --all --json",
        "pose planar:2,1 j1=90deg --matrix",
    )
)
def pose(
    model: ModelOperand,
    values: JointValues = None,
    stored: StoredPose = None,
    frame: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A frame to show; may be repeated.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all frames, those of the links too.")] = False,
    matrix: Annotated[bool, typer.Option("--matrix", help="Print 4x4 matrices in place of quaternions.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where frames are for given joint values: position [m] and quaternion w, x, y, z.

    Without --frame and --all these are the frames that the linkage names besides its links, or else all links.

    Values are in radians or metres, angles also in degrees: 30deg. A joint with several takes hip=0.1,0.2,0.3; a
    rotation says its form: hip=wxyz:1,0,0,0 or hip=euler:xyz:10deg,0,0. What is not given is neutral, or as in --pose.

    On stdin, an object of joint values gives one result and a list of them a list of results.
    """
    linkage = read_model(model)
    extra = [frame.name for frame in linkage.extra_frames]
    names = list(linkage.frames) if every else frame or extra or list(linkage.links)
    q = read_poses(linkage, values or [], stored)
    results = list(placements(linkage, q.reshape(-1, linkage.nq), names, matrix=matrix))
    for k, result in enumerate(results):
        which = f"pose {k}" if q.ndim > 1 else "the pose"
        if result["outside_limits"]:
            say(f"{which} is outside the limits of {', '.join(result['outside_limits'])}")
        if not as_json:
            print(f"{which}:") if q.ndim > 1 else None
            print_placement(result)
    if as_json:
        print_json(results if q.ndim > 1 else results[0])


@app.command(epilog=examples("warmup"))
def warmup(as_json: AsJson = False) -> None:
    """Compile all kernels ahead of their first use, once for a machine, and say how long it took."""
    start = time.perf_counter()
    from . import models

    arm = models.planar([1.0, 1.0])
    for q in (arm.neutral(), [arm.neutral()] * 2):  # one pose and many have kernels of their own
        arm.forward(q)
        arm.forward(q, frame="tip")
        arm.jacobian(q, "tip")
    seconds = time.perf_counter() - start
    if as_json:
        print_json({"seconds": seconds})
    else:
        print(f"kernels are ready; it took {seconds:.1f} s")


# What a linkage and its frames look like, as data and as text


def description(linkage: Linkage) -> dict[str, Any]:
    """Return a linkage as plain data for JSON: angles in radians, lengths in metres, null where there is no limit."""
    return {
        "name": linkage.name,
        "dof": linkage.nv,
        "nq": linkage.nq,
        "nv": linkage.nv,
        "coordinates": list(linkage.coordinates),
        "links": [
            {"name": node.name, "parent": arc.parent, "joint": arc.name, "shapes": len(node.visuals)}
            for node, arc in zip(linkage.nodes, linkage.arcs, strict=True)
        ],
        "joints": [joint_description(linkage, linkage.joint(name)) for name in linkage.joints],
        "frames": [{"name": frame.name, "link": frame.link} for frame in linkage.extra_frames],
        "poses": {name: by_coordinate(linkage, q) for name, q in linkage.poses.items()},
    }


def joint_description(linkage: Linkage, joint: Joint) -> dict[str, Any]:
    """Return a joint as plain data; further fields are those of its kind, such as the axis."""
    lower, upper = joint_limits(linkage, joint)
    return {
        "name": joint.name,
        "kind": joint.articulation.kind,
        "parent": joint.parent,
        "child": joint.child,
        "coordinates": list(joint.coordinates) if joint.mimic is None else [],
        **asdict(joint.articulation),
        "lower": [x if math.isfinite(x) else None for x in lower],
        "upper": [x if math.isfinite(x) else None for x in upper],
        "mimic": None if joint.mimic is None else asdict(joint.mimic),
    }


def joint_limits(linkage: Linkage, joint: Joint) -> tuple[list[float], list[float]]:
    """Return the limits that hold for a joint's values, narrowed where others follow it."""
    if joint.mimic is not None:
        low, high = joint.articulation.limits
        return low.tolist(), high.tolist()
    first = linkage.drives[linkage.arc_index(joint.name)].q
    own = slice(first, first + joint.articulation.nq)
    return linkage.lower[own].tolist(), linkage.upper[own].tolist()


def by_coordinate(linkage: Linkage, q: FloatArray) -> dict[str, float]:
    """Return a pose as a mapping from coordinate name to value."""
    return dict(zip(linkage.coordinates, q.tolist(), strict=True))


def tree_rows(linkage: Linkage, *, unicode: bool) -> Iterator[tuple[str, ...]]:
    """Yield one row for each link: drawn in the tree, then its joint, kind, axis and limits.

    A link that is an only child stands straight below its parent, so that long chains stay narrow.
    """
    branch, last, bar, dot = ("├─", "╰─", "│ ", "● ") if unicode else ("|-", "`-", "| ", "o ")
    yield ("link", "joint", "kind", "axis", "limits")
    stack = [(0, "", "")]
    while stack:
        i, lead, below = stack.pop()
        joint = linkage.arcs[i]
        moves = i > 0 or joint.name in linkage.joints
        columns = (joint.name, joint.articulation.kind, axis_text(joint), limit_text(linkage, joint))
        yield (lead + dot + linkage.nodes[i].name, *(columns if moves else ("",) * 4))
        children = linkage.children[i]
        ends = [(below + branch, below + bar)] * (len(children) - 1) + [(below + last, below + "  ")]
        if len(children) == 1:
            ends = [(below, below)]
        stack += [(child, *end) for child, end in zip(reversed(children), reversed(ends), strict=False)]


def axis_text(joint: Joint) -> str:
    """Return the axes of a joint in words: ``z``, ``-y``, ``0.6,0,0.8``, or how a ball stores its rotation."""
    motion = joint.articulation
    if motion.kind == "ball":
        euler = getattr(motion, "euler", None)
        return f"euler {euler}" if euler else "quaternion"
    axes = [getattr(motion, name) for name in ("axis", "second") if hasattr(motion, name)]
    return " ".join(UNIT_AXES.get(axis) or ",".join(f"{x:.3g}" for x in axis) for axis in axes)


def limit_text(linkage: Linkage, joint: Joint) -> str:
    """Return the limits of a joint in words, angles in degrees, or what it follows."""
    if joint.mimic is not None:
        return f"= {joint.mimic.multiplier:g} * {joint.mimic.joint} + {joint.mimic.offset:g}"
    slides = {element.value for element in joint.articulation.elements if element.kind == "prismatic"}
    words = []
    for k, (low, high) in enumerate(zip(*joint_limits(linkage, joint), strict=True)):
        if math.isinf(low) and math.isinf(high):
            continue
        low, high = (low, high) if k in slides else (math.degrees(low), math.degrees(high))
        unit = "m" if k in slides else "deg"
        name = joint.articulation.coordinates[k]
        words.append(f"{name} {low:.5g} .. {high:.5g} {unit}".strip())
    return ", ".join(words)


def placements(linkage: Linkage, poses: FloatArray, names: Sequence[str], *, matrix: bool) -> Iterator[dict[str, Any]]:
    """Yield, for each pose of (n, nq), its values and where the named frames are."""
    from scipy.spatial.transform import Rotation

    world = {name: linkage.forward(poses, frame=name) for name in names}
    outside = (poses < linkage.lower) | (poses > linkage.upper)
    for k, q in enumerate(poses):
        frames: dict[str, Any] = {}
        for name in names:
            m = world[name][k]
            turn = Rotation.from_matrix(m[:3, :3]).as_quat(scalar_first=True, canonical=True)
            place = {"position": m[:3, 3].tolist(), "quaternion_wxyz": turn.tolist()}
            frames[name] = {"matrix": m.tolist()} if matrix else place
        beyond = [name for name, out in zip(linkage.coordinates, outside[k], strict=True) if out]
        yield {"pose": by_coordinate(linkage, q), "outside_limits": beyond, "frames": frames}


def print_placement(result: dict[str, Any]) -> None:
    """Print where frames are: a table, or one matrix below another."""
    rows = [("frame", " x [m]", " y [m]", " z [m]", " qw", " qx", " qy", " qz")]
    for name, place in result["frames"].items():
        if "matrix" in place:
            print("\n".join([name, *("  ".join(map(number, row)) for row in place["matrix"])]))
        else:
            rows.append((name, *map(number, (*place["position"], *place["quaternion_wxyz"]))))
    if len(rows) > 1:
        print_columns(rows)


def number(x: float) -> str:
    """Return a number with six decimals, room for a sign, and no minus before zero."""
    return f"{round(x, 6) + 0.0: .6f}"


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
