"""The command retarget: a motion transferred to another body."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from click.exceptions import Exit

from ..errors import MappingError, OptionError, listed
from .commands import command, flag, takes, writes
from .console import NOT_DONE, print_columns, print_json, progress, say
from .options import AsJson, ClipName, MotionOperand, Quiet, RetargetOptions, SaveOptions, To, given
from .reading import FileOptions, WorldOptions

if TYPE_CHECKING:
    from ..linkage.linkage import Linkage
    from ..motion.clips import Clip
    from ..retargeting import Outcome, Quadruped, Skeleton


@command(
    "retarget human --to panda -o panda-waves.csv",
    "retarget human:floating --to human:1.2 -o small.bvh --write-map map.yaml",
    "retarget human:floating --to human:1.2 -o clear.bvh --avoid --margin 5mm",
)
def retarget(
    motion: MotionOperand,
    to: To,
    output: Annotated[Path | None, writes("Motion to write; by default MOTION-MODEL.bvh, or MODEL's suffix.")] = None,
    clip: ClipName = None,
    frames: Annotated[str | None, takes("FIRST:LAST", "Frames to use, from 0 on: 1: or 10:200.", "--range")] = None,
    *,
    options: RetargetOptions,
    saving: SaveOptions,
    reading: FileOptions,
    around: WorldOptions,
    write_map: Annotated[Path | None, takes("FILE", "Write the joint map found, to edit it.")] = None,
    write_contacts: Annotated[Path | None, takes("FILE", "Write the foot contacts of the source.")] = None,
    frame: Annotated[str | None, takes("NAME", "Frame of a robot arm; by default tip, or else the last link.")] = None,
    avoid: Annotated[bool, flag("--avoid", "Avoid self-collisions; implied by --world and --margin.")] = False,
    keep_root: Annotated[bool, flag("--keep-root", "Keep a target that is fixed to the ground fixed.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Transfer a motion to another body or robot.

    Body parts are recognized from names and shape, and shown. --write-map writes them to a file; edit it and pass it
    back with --map. Planted feet do not slide, hand positions and gaze are kept, joints stay within limits. A robot arm
    follows one hand. A character (.glb, .gltf) that is written in its own format keeps its mesh, skin, materials and
    other animations; --bare writes the skeleton only. With --avoid the target does not touch itself, with --world it
    also keeps clear of obstacles.
    """
    from .. import retargeting
    from ..motion.frame_files import frames_in

    target = reading.of_model.model(to)
    path = _path(output, motion, target, bare=saving.bare)
    with frames_in(path.absolute().parent):
        source = _cut(reading.of_motion.motion(motion, clip=clip), frames)
    _write_found(source, target, write_map, options.map_file, write_contacts)
    chosen = options.read() | given(avoid=around.avoid(reading, always=avoid))
    if isinstance(chosen.get("target_rest"), int):
        chosen["target_rest"] = _frame_of(reading.of_model.motion(to), target, chosen["target_rest"])
    with progress("solving", shown=not quiet) as report, frames_in(path.absolute().parent):
        outcome = retargeting.retarget_with_report(
            source, target, frame=frame, root="keep" if keep_root else "auto",
            progress=lambda done, total: report(done / total, ""), **chosen,
        )  # fmt: skip
    leading = options.role or retargeting.pipeline.LEADING
    outcome.clip.save(path, **saving.read(), roles=retargeting.recognition.bones_for(outcome.clip.linkage, path))
    if not saving.bare and _is_kind_of(path, target):
        say(f"the motion is the last animation of {path}; --clip {outcome.clip.name!r} reads it")
    if as_json:
        sides = {"source": outcome.source, "target": outcome.target}
        maps = {side: {} if body is None else {**body.roles, **body.fingers} for side, body in sides.items()}
        print_json({"output": str(path), "map": maps, "report": asdict(outcome.report), "remarks": outcome.remarks})
    else:
        print_columns(_rows(outcome, leading))
        print(f"\n{path}: {outcome.report.summary()}")
        if outcome.target is None:
            say(f"{target.name} is an arm: its frame {outcome.frame} follows {leading}")
    for words in (*outcome.remarks, *(wrong := outcome.report.wrong())):
        say(words)
    if wrong:
        raise Exit(NOT_DONE)


def _is_kind_of(path: Path, target: Linkage) -> bool:
    """Return whether a file has the format of the file with a mesh that a character was read from."""
    from .. import formats

    origin = target.origin
    return origin is not None and origin.has_meshes and formats.suffix_of(path) == formats.suffix_of(origin.file)


def _path(output: Path | None, motion: str, target: Linkage, *, bare: bool) -> Path:
    """Return the output file: the given one, or a default in the format of the file of a character."""
    from .. import formats

    suffix = ".bvh" if target.origin is None or bare else Path(target.origin.file).suffix
    path = output or Path(f"{Path(motion.partition(':')[0]).stem}-{target.name}{suffix}")
    known = formats.suffixes("clips", "writes")
    if formats.suffix_of(path) not in known:
        raise OptionError(f"cannot write a motion to {str(path)!r}: its name must end in {listed(known)}")
    return path


def _cut(clip: Clip, frames: str | None) -> Clip:
    """Return the frames of a clip in a range such as ``1:`` or ``10:200``, both ends included."""
    from ..motion.clips import Clip

    if frames is None:
        return clip
    first, colon, last = frames.partition(":")
    try:
        start, end = int(first or 0), int(last) + 1 if last else len(clip)
    except ValueError:
        start = end = -1
    if not colon or not 0 <= start < end <= len(clip):
        raise OptionError(f"--range takes FIRST:LAST within 0:{len(clip) - 1}, got {frames!r}")
    return Clip(clip.linkage, clip.times[start:end] - clip.times[start], clip.poses[start:end])


def _frame_of(clip: Clip, linkage: Linkage, frame: int) -> Any:
    """Return the pose of a target in a frame of its file's motion."""
    if clip.linkage.coordinates != linkage.coordinates or not frame < len(clip):
        raise OptionError(f"--target-rest {frame}: the target's own motion has frames 0 to {len(clip) - 1}")
    return clip.poses[frame]


def _write_found(
    source: Clip, target: Linkage, map_path: Path | None, given: Path | None, contacts_path: Path | None
) -> None:
    """Write the joint map and the contacts that are found, if requested."""
    from ..retargeting import Thresholds, write_contacts

    if map_path is not None:
        _write_map(map_path, source.linkage, target, given)
    if contacts_path is not None:
        write_contacts(contacts_path, source.contacts(rules=Thresholds()))


def _write_map(path: Path, source: Linkage, target: Linkage, given: Path | None) -> None:
    """Write the joint map; if nothing is found, it can be filled in."""
    from ..retargeting import find_quadruped, recognise, write_map
    from ..retargeting.maps import as_map

    known = as_map(given)
    found: dict[str, Any] = {}
    for side, linkage in (("source", source), ("target", target)):
        try:
            found[side] = find_quadruped(linkage, known[side]) or recognise(linkage, known[side], what=side)
        except MappingError:
            found[side] = linkage
    write_map(path, found["source"], found["target"])


def _rows(outcome: Outcome, leading: str) -> list[tuple[str, ...]]:
    """Return the joint map as a table."""
    target = outcome.target
    rows: list[tuple[str, ...]] = [("role", "source", "target", "found by")]
    for role, link, reason in outcome.source.table():
        if target is None:
            rows += [(role, link, outcome.frame, reason)] if role == leading else []
        elif role in target:
            both = reason if reason == target.reasons[role] else f"{reason}, {target.reasons[role]}"
            rows.append((role, link, target.roles[role], both))
        else:
            rows.append((role, link, "-", reason))
    if target is not None:
        rows += [row for side in ("left", "right") if (row := _fingers(outcome.source, target, side)) is not None]
    return rows


def _fingers(source: Skeleton | Quadruped, target: Skeleton | Quadruped, side: str) -> tuple[str, ...] | None:
    """Return the row of one hand's fingers, or None if neither body has any."""
    words, reasons = [], set()
    for figure in (source, target):
        roles = [role for role in figure.fingers if role.startswith(side)]
        words.append(" ".join(dict.fromkeys(role.split("_")[1] for role in roles)) or "-")
        reasons |= {figure.reasons[role] for role in roles}
    return (f"{side} fingers", *words, ", ".join(sorted(reasons))) if reasons else None
