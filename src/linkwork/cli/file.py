"""The commands about files: convert, pack and doctor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import ClipNotFoundError, FormatError, OptionError, listed
from .commands import command, flag, operand, takes
from .console import BAD_FILE, NOT_DONE, print_columns, print_json, say
from .options import AsJson, ClipName, EditOptions, ModelOperand, MoverName, SaveOptions, given
from .output import freedom_of
from .parsing import is_file, read_frame
from .reading import FileOptions

if TYPE_CHECKING:
    from ..formats import Content, Remark

MOST_SAID, MOST_LISTED = 3, 10  # remarks of one kind that convert prints, and that doctor lists


# Commands


@command(
    "convert human walk.bvh",
    "convert panda panda.urdf --add-frame tool=panda_link7:0,0,0.2",
    "convert snake:9 snake.csv --json",
)
def convert(
    source: Annotated[str, operand("SOURCE", "A file, or a ready-made model.")],
    target: Annotated[Path, operand("TARGET", "The file to write.")],
    clip: ClipName = None,
    linkage: MoverName = None,
    *,
    options: FileOptions,
    edits: EditOptions,
    saving: SaveOptions,
    as_json: AsJson = False,
) -> None:
    """Convert a file to another format.

    Reports on stderr what was assumed about SOURCE and what TARGET cannot hold. A ready-made model is written with its
    motion, if TARGET can hold one. A .csv motion needs --linkage. Frames can be added, and other linkages attached to
    frames: a gripper to a flange, a second robot.
    """
    from .. import formats
    from ..retargeting.recognition import bones_for

    row = formats.FORMATS.get(formats.suffix_of(target))
    if row is None or not row.writes:
        why = "its name must end" if row is None else f"{row.title} is read, not written; write a name that ends"
        raise OptionError(f"cannot write {str(target)!r}: {why} in {listed(formats.suffixes('writes'))}")
    content = _edited(_content(source, linkage, options, motions=row.clips), edits)
    if clip is not None:
        if clip not in content.clips:
            raise ClipNotFoundError(clip, source, content.clips)
        content = formats.Content(content.linkage, {clip: content.clips[clip]}, content.remarks)
    content, dropped = formats.fit(content, target)
    dropped += formats.write(content, target, **saving.read(), roles=bones_for(content.linkage, target))
    if as_json:
        parts = {"assumed": content.remarks, "dropped": dropped}
        data = {"source": source, "target": str(target), **_summary(content)}
        print_json(data | {key: [asdict(remark) for remark in remarks] for key, remarks in parts.items()})
    else:
        print(f"{target}: {_described(content)}")
        for remark in (*_shortened(content.remarks, MOST_SAID), *_shortened(dropped, MOST_SAID)):
            say(f"{remark.kind}: {remark.text}" + ("" if remark.line is None else f" (line {remark.line})"))


@command(
    "pack panda panda.linkwork.json",
    "pack human human.linkwork --frame left_hand --frame right_hand --position-only",
)
def pack(
    model: ModelOperand,
    target: Annotated[Path, operand("TARGET", "File to write: .json (text) or .linkwork (binary).")],
    frames: Annotated[
        list[str] | None,
        takes("NAME", "Frame to solve for; may be repeated. By default tip, or else the last one.", "--frame"),
    ] = None,
    position_only: Annotated[bool, flag("--position-only", "Solve for positions only.")] = False,
    tolerance: Annotated[float | None, takes("M", "Largest position error of a reached goal [m].")] = None,
    rotation_tolerance: Annotated[float | None, takes("RAD", "Largest rotation error of a reached goal [rad].")] = None,
    *,
    reading: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Pack a linkage and its solvers for a web page.

    linkwork.js reads the file. It gives forward kinematics of every frame, and inverse kinematics of each --frame.
    """
    from ..goals import Reach

    linkage = reading.model(model)
    asked: list[str | None] = [*frames] if frames else [None]
    names = list(dict.fromkeys(read_frame(linkage, name) for name in asked))
    point = (0.0, 0.0, 0.0)
    solvers: Any = {name: Reach(name, position=point) if position_only else name for name in names}
    packed = linkage.pack(solvers, **given(tolerance=tolerance, rotation_tolerance=rotation_tolerance))
    packed.save(target)
    size = target.stat().st_size
    if as_json:
        print_json({"source": model, "target": str(target), "bytes": size, "solvers": list(packed.data["solvers"])})
    else:
        print(f"{target}: {linkage.name}, solvers {', '.join(packed.data['solvers'])}, {size / 1000:.0f} kB")


@command("doctor panda", "doctor human --json")
def doctor(
    file: Annotated[str, operand("FILE", "The file to check, or a ready-made model.")],
    linkage: MoverName = None,
    *,
    options: FileOptions,
    as_json: AsJson = False,
) -> None:
    """Check a file: list assumptions made and problems found.

    Exits with 0 if there is nothing to report, 1 if there is, and 3 if the file cannot be read.
    """
    from ..formats.doctor import examine

    options.read()  # wrong options are wrong usage, not a bad file
    try:
        content = _content(file, linkage, options, motions=True)
        remarks = examine(content)
    except FormatError as error:
        if not as_json:
            raise
        print_json({"file": file, "readable": False, "error": str(error), "line": error.line, "remarks": []})
        raise Exit(BAD_FILE) from None
    if as_json:
        data = {"file": file, "readable": True, **_summary(content)}
        print_json(data | {"remarks": [asdict(remark) for remark in remarks]})
    else:
        print(f"{file}: {_described(content)}")
        if remarks:
            rows = [("what", "where", "remark")]
            for remark in _shortened(remarks, MOST_LISTED):
                place = remark.where if remark.line is None else f"{remark.where} line {remark.line}".strip()
                rows.append((remark.kind, place, " ".join(remark.text.split())))
            print_columns(rows)
        else:
            print("nothing odd")
    if remarks:
        raise Exit(NOT_DONE)


# Shared functions


def _content(source: str, linkage: str | None, options: FileOptions, *, motions: bool) -> Content:
    """Return the content of a file, or a ready-made model with its motion."""
    from .. import formats, models

    if is_file(source):
        if linkage is None:
            return formats.read(source, options.read())
        return formats.read(source, options.of_motion.read(), linkage=options.of_model.model(linkage))
    model = options.model(source)
    return formats.Content(model, {formats.CLIP: models.motion(source)} if motions else {})


def _edited(content: Content, edits: EditOptions) -> Content:
    """Return content with edits to its linkage; attached linkages stay neutral in motions."""
    import numpy as np

    from ..formats import Content
    from ..motion.clips import Clip

    whole = edits.edit(content.linkage)
    if whole is content.linkage:
        return content
    columns = [whole.coordinate_index[name] for name in content.linkage.coordinates]
    clips = {}
    for name, clip in content.clips.items():
        poses = np.repeat(whole.neutral()[None], len(clip), axis=0)
        poses[:, columns] = clip.poses
        clips[name] = Clip(whole, clip.times, poses, name=clip.name, source=clip.source)
    return Content(whole, clips, content.remarks)


def _summary(content: Content) -> dict[str, Any]:
    linkage = content.linkage
    clips = [{"name": n, "frames": len(clip), "seconds": clip.duration} for n, clip in content.clips.items()]
    counts = {"links": len(linkage.links), "joints": len(linkage.joints), "nq": linkage.nq, "nv": linkage.nv}
    return {"linkage": {"name": linkage.name, **counts}, "clips": clips}


def _described(content: Content) -> str:
    """Return the content of a file in words."""
    linkage, freedom = content.linkage, freedom_of(content.linkage)
    words = [f"{linkage.name}, {len(linkage.links)} links, {len(linkage.joints)} joints, {freedom}"]
    if len(content.clips) > 1:
        words.append(f"{len(content.clips)} motions: {listed(list(content.clips))}")
    else:
        words += [f"motion {name}, {len(clip)} frames" for name, clip in content.clips.items()]
    return "; ".join(words)


def _shortened(remarks: Sequence[Remark], most: int) -> list[Remark]:
    """Return remarks for people: only the first of many of one kind, and the number of others; all on lost content."""
    from ..formats import Remark

    result: list[Remark] = []
    counts, seen = Counter(remark.kind for remark in remarks), Counter[str]()
    for remark in remarks:
        kind = remark.kind
        seen[kind] += 1
        if kind == "dropped" or counts[kind] <= most + 1 or seen[kind] <= most:
            result.append(remark)
        elif seen[kind] == counts[kind]:
            result.append(Remark(kind, f"{counts[kind] - most} more like these; --json lists them all."))
    return result
