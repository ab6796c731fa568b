"""Files of the studio: scenes with their targets and keys, and exports, which are written to a private folder first."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from .. import draw
from ..collision.obstacles import World
from ..errors import FormatError, LinkworkError, MethodNotFoundError, listed
from ..formats import CLIP, Content, Remark, read, write
from ..formats.atomic_files import MAX_BYTES, read_bytes, read_text, write_text
from ..formats.options import DEFAULTS, Options
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.keys import check_handles
from ..motion.splines import HANDLES
from ..solvers import METHODS
from ..transforms import FloatArray, read_only
from .scene import FIRST, MOST_CLIPS, Scene, begun_pose, check_size, first_scene
from .surroundings import Surroundings, usual_margin
from .targets import Target
from .timeline import FPS, SceneKey, SceneTimeline

SCENES = (".yaml", ".yml", ".json")
LONGEST_NAME = 80


# Scenes


class TargetEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A target in a file; its place is the upper three rows of a 4x4 transform."""

    name: str
    kind: str
    frame: str
    place: list[list[float]]
    turn: bool = False
    weight: float = 1.0
    priority: int = 0
    active: bool = True


class KeyEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A key in a file."""

    time: float
    pose: list[float] | None = None
    places: dict[str, list[list[float]]] = {}
    kind: str = "cubic"
    handles: list[float] = msgspec.field(default_factory=lambda: list(HANDLES))


class ClipEntry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A clip in a file."""

    name: str
    keys: list[KeyEntry] = []
    fps: float = FPS
    loop: bool = True


class Section(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The field ``studio`` of a scene file: everything except the linkage and the world."""

    pose: list[float] | None = None
    method: str = "robust"
    targets: list[TargetEntry] = []
    keys: list[KeyEntry] = []  # in old files, which have a single clip
    fps: float = FPS
    loop: bool = True
    clips: list[ClipEntry] = []
    clip: str = ""
    time: float = 0.0
    margin: float | None = None
    keeps_clear: bool = True
    clear_of_itself: bool = False


def scene_text(scene: Scene, kind: str = "yaml") -> str:
    """Return a scene as the text of a file; `read_scene` restores it exactly."""
    from ..formats import yaml_json
    from ..formats.scene_document import document

    said = {
        "pose": scene.q,
        "method": scene.method,
        "targets": scene.targets,
        "clips": [
            {"name": name, "keys": line.keys, "fps": line.fps, "loop": line.loop} for name, line in scene.clips.items()
        ],
        "clip": scene.clip,
        "time": scene.time,
        "margin": scene.around.margin,
        "keeps_clear": scene.around.keeps,
        "clear_of_itself": scene.around.itself,
    }
    section = msgspec.convert(msgspec.to_builtins(said, enc_hook=_plain), Section)  # leaves out defaults
    return yaml_json.write(document(scene.whole, scene.around.world) | {"studio": msgspec.to_builtins(section)}, kind)


def write_scene(scene: Scene, path: Path) -> None:
    """Write a scene file, completely or not at all."""
    write_text(path, scene_text(scene, "json" if path.suffix.lower() == ".json" else "yaml"))


def read_scene(path: Path, options: Options = DEFAULTS) -> tuple[Scene, tuple[Remark, ...]]:
    """Return the scene in a file, and remarks on the file.

    A scene file may hold targets and keys; motions of other files become clips.

    Raises:
        FormatError: If it cannot be read, or its content is invalid.
    """
    from ..formats.doctor import examine
    from ..formats.worlds import read_world

    content = read(path, options)
    world, remarks = read_world(path, options) if path.suffix.lower() in SCENES else (World(), ())
    world.check(content.linkage)
    return scene_of(content, _section(path), world), (*examine(content), *remarks)


def scene_of(content: Content, section: Section | None = None, world: World | None = None) -> Scene:
    """Return the scene of a file's content and its world; without a section, a first scene."""
    linkage = content.linkage
    if section is None:
        scene = first_scene(linkage, {**content.clips} or None)
        return replace(scene, around=replace(scene.around, world=world or World()))
    check_size(linkage)
    targets = tuple(
        Target(**(msgspec.structs.asdict(entry) | {"place": _place(entry.place)})) for entry in section.targets
    )
    for target in targets:
        target.goal(linkage)
    names = [target.name for target in targets]
    if len(set(names)) < len(names):
        raise LinkworkError(f"two targets of a scene share a name: {listed(names)}.")
    if section.method not in METHODS:
        raise MethodNotFoundError(section.method, "linkwork", METHODS)
    clips = _clips(linkage, section)
    clip = section.clip if section.clip in clips else next(iter(clips))
    q = begun_pose(linkage) if section.pose is None else linkage.pose(section.pose)
    margin = usual_margin(linkage, q) if section.margin is None else section.margin
    around = Surroundings(world or World(), margin, section.keeps_clear, section.clear_of_itself)
    pose = read_only(linkage.clamp(q))
    return Scene(linkage, pose, targets, section.method, MappingProxyType(clips), clip, section.time, around)


def _clips(linkage: Linkage, section: Section) -> dict[str, SceneTimeline]:
    """Return the clips of a section by name."""
    entries = section.clips or [ClipEntry(FIRST, section.keys, section.fps, section.loop)]
    if len(entries) > MOST_CLIPS or len({entry.name for entry in entries}) < len(entries):
        raise LinkworkError(f"a scene has at most {MOST_CLIPS} clips, each with a different name.")
    clips = {}
    for entry in entries:
        if not 1.0 <= entry.fps <= 1000.0:
            raise LinkworkError(f"fps of a clip goes from 1 to 1000, got {entry.fps:g}.")
        line = SceneTimeline(fps=entry.fps, loop=entry.loop)
        for key in entry.keys:
            pose = None if key.pose is None else read_only(linkage.pose(key.pose))
            places = {name: _place(rows) for name, rows in key.places.items()}
            check_handles(key.handles)
            x1, y1, x2, y2 = key.handles
            line = line.with_key(SceneKey(key.time, pose, places, key.kind, (x1, y1, x2, y2)))
        clips[entry.name] = line
    return clips


def _section(path: Path) -> Section | None:
    """Return the section for the studio in a scene file, or None."""
    if path.suffix.lower() not in SCENES:
        return None
    from ..formats import yaml_json

    raw = yaml_json.read(read_text(path), path, "json" if path.suffix.lower() == ".json" else "yaml")
    if not isinstance(raw, dict) or "studio" not in raw:
        return None
    try:
        return msgspec.convert(raw["studio"], Section)
    except msgspec.ValidationError as error:
        raise FormatError(path, f"studio: {error}.") from error


def _plain(array: Any) -> Any:
    """Return an array as lists for a file: a whole pose, or the upper three rows of a 4x4 transform."""
    return array[:3].tolist() if array.ndim == 2 else array.tolist()


def _place(rows: list[list[float]]) -> FloatArray:
    if [len(row) for row in rows] != [4, 4, 4]:
        raise LinkworkError(f"the place of a target is three rows of four numbers, got {rows!r}.")
    return read_only(np.array([*rows, [0.0, 0.0, 0.0, 1.0]]))


def file_name(name: str) -> str:
    """Return a file name of letters, digits, dots, dashes and underscores only.

    Example:
        >>> file_name("my robot/2")
        'my_robot_2'
    """
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII).strip("._")[:LONGEST_NAME] or "linkwork"


# Exports

MOTIONS = (".bvh", ".glb", ".usda", ".csv", ".npz", ".trajectory.yaml")
EXPORTS = (*MOTIONS, ".gif", ".mp4", ".html")  # suffixes of all exports


@dataclass(frozen=True)
class Film:
    """Options of an export: first and last time [s], frames per second, size [pixels], and view."""

    first: float | None = None
    last: float | None = None
    fps: float | None = None
    size: tuple[int, int] | None = None
    view: Any = None


WHOLE = Film()


def export(
    clip: Clip, suffix: str, how: Film = WHOLE, progress: Callable[[float], None] = lambda _: None
) -> tuple[str, bytes]:
    """Return the name and content of an exported motion; `progress` is called with the fraction that is done."""
    if suffix not in EXPORTS:
        raise FormatError(f"motion{suffix}", f"is not written; there are {listed(EXPORTS)}.")
    label = f"{file_name(clip.linkage.name)}{suffix}"
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        path = Path(folder) / label
        if suffix in draw.FILMS:
            dots = 100.0 if suffix == ".gif" else 200.0
            size = None if how.size is None else (how.size[0] / dots, how.size[1] / dots)
            draw.film(
                clip, path, start=how.first, end=how.last, fps=how.fps, size=size, view=how.view,
                progress=lambda done, total: progress(done / max(total, 1)),
            )  # fmt: skip
        else:
            part = clip if how.first is None and how.last is None else clip.slice(how.first, how.last)
            write(Content(clip.linkage, {CLIP: part if how.fps is None else part.resample(fps=how.fps)}), path)
        progress(1.0)
        return label, read_bytes(path, MAX_BYTES * 4)
