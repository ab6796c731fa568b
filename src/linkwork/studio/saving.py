"""Files of the studio: scenes with their targets and keys, uploads that are trusted with nothing, and exports.

Everything that comes from a page is read in a private folder that is gone afterwards, and everything that goes to a
page is made in one: no other file is touched.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import msgspec
import numpy as np

from .. import draw
from ..errors import FormatError, LinkworkError, MethodNotFoundError, listed
from ..formats import CLIP, Content, Remark, read, write, yaml_json
from ..formats.atomic_files import MAX_BYTES, read_bytes, read_text, write_text
from ..formats.doctor import examine
from ..formats.options import DEFAULTS, Options
from ..formats.scene_document import document
from ..linkage.geometry import Mesh, Visual
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..solvers import METHODS
from ..transforms import FloatArray, read_only
from .session import Scene, first_scene, ready_pose
from .targets import Target
from .timeline import FPS, SceneKey, SceneTimeline

UPLOAD_LIMIT = 16 * 2**20
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


class Section(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a scene file says beside its linkage: the field ``studio``."""

    pose: list[float] | None = None
    method: str = "robust"
    targets: list[TargetEntry] = []
    keys: list[KeyEntry] = []
    fps: float = FPS
    loop: bool = True
    time: float = 0.0


def scene_text(scene: Scene, kind: str = "yaml") -> str:
    """Return a scene as the text of a file that `read_scene` reads back to the last bit."""
    line = scene.timeline
    said = {
        "pose": scene.q,
        "method": scene.method,
        "targets": scene.targets,
        "keys": line.keys,
        "fps": line.fps,
        "loop": line.loop,
        "time": scene.time,
    }
    section = msgspec.convert(msgspec.to_builtins(said, enc_hook=_plain), Section)  # which leaves out what is usual
    return yaml_json.write(document(scene.linkage) | {"studio": msgspec.to_builtins(section)}, kind)


def write_scene(scene: Scene, path: Path) -> None:
    """Write a scene file, whole or not at all."""
    write_text(path, scene_text(scene, "json" if path.suffix.lower() == ".json" else "yaml"))


def read_scene(path: Path, options: Options = DEFAULTS) -> tuple[Scene, tuple[Remark, ...]]:
    """Return what is in a file, read as options say, as a scene, with everything there is to say about it.

    A scene file may hold targets and keys; in any other file, the first motion becomes the keys.

    Raises:
        FormatError: If it cannot be read, or holds what cannot be.
    """
    content = read(path, options)
    return scene_of(content, _section(path)), examine(content)


def scene_of(content: Content, section: Section | None = None) -> Scene:
    """Return the scene of a file's content, as its section says or as one begins with it."""
    linkage = content.linkage
    if section is None:
        return first_scene(linkage, next(iter(content.clips.values()), None))
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
    if not 1.0 <= section.fps <= 1000.0:
        raise LinkworkError(f"fps of a scene goes from 1 to 1000, got {section.fps:g}.")
    timeline = SceneTimeline(fps=section.fps, loop=section.loop)
    for entry in section.keys:
        pose = None if entry.pose is None else read_only(linkage.pose(entry.pose))
        timeline = timeline.with_key(
            SceneKey(entry.time, pose, {name: _place(rows) for name, rows in entry.places.items()}, entry.kind)
        )
    q = ready_pose(linkage) if section.pose is None else linkage.pose(section.pose)
    return Scene(linkage, read_only(linkage.clamp(q)), targets, section.method, timeline, section.time)


def _section(path: Path) -> Section | None:
    """Return what a scene file says to the studio, if it is one and says anything."""
    if path.suffix.lower() not in SCENES:
        return None
    raw = yaml_json.read(read_text(path), path, "json" if path.suffix.lower() == ".json" else "yaml")
    if not isinstance(raw, dict) or "studio" not in raw:
        return None
    try:
        return msgspec.convert(raw["studio"], Section)
    except msgspec.ValidationError as error:
        raise FormatError(path, f"studio: {error}.") from error


def _plain(array: Any) -> Any:
    """Return an array for a file: a pose whole, of a 4x4 transform the upper three rows."""
    return array[:3].tolist() if array.ndim == 2 else array.tolist()


def _place(rows: list[list[float]]) -> FloatArray:
    if [len(row) for row in rows] != [4, 4, 4]:
        raise LinkworkError(f"the place of a target is three rows of four numbers, got {rows!r}.")
    return read_only(np.array([*rows, [0.0, 0.0, 0.0, 1.0]]))


# Uploads


def read_upload(name: str, content: bytes, *, limit: int = UPLOAD_LIMIT) -> tuple[Scene, tuple[Remark, ...]]:
    """Return the scene in an uploaded file.

    It is put into a folder of its own and read there by the reader of its kind. Meshes that it names are not looked
    for: nothing of this machine is shown because a page asked for it.

    Raises:
        FormatError: If it is too large, of no known kind, or cannot be read; the message has the uploaded name.
    """
    label = safe_name(name)
    if len(content) > limit:
        raise FormatError(label, f"is larger than {limit / 2**20:.4g} MiB, the most that is uploaded.")
    with private_folder(label) as folder:
        path = folder / label
        path.write_bytes(content)
        scene, remarks = read_scene(path)
        told = (replace(remark, text=_without(folder, remark.text)) for remark in remarks)
        return replace(scene, linkage=without_files(scene.linkage)), tuple(told)


def safe_name(name: str) -> str:
    """Return the last part of a file name with nothing in it but letters, digits, dots, dashes and underscores.

    Example:
        >>> safe_name("../../etc/pass wd.urdf")
        'pass_wd.urdf'
    """
    last = PurePath(name.replace("\\", "/")).name
    clean = re.sub(r"[^\w.-]", "_", last, flags=re.ASCII).lstrip(".")
    return clean[-LONGEST_NAME:] or "upload"


@contextmanager
def private_folder(label: str) -> Iterator[Path]:
    """Give out a folder that only this user may enter and that is gone afterwards; errors do not tell its name."""
    with tempfile.TemporaryDirectory(prefix="linkwork-") as name:
        try:
            yield Path(name)
        except LinkworkError as error:
            text = _without(name, str(error)).strip()
            line = getattr(error, "line", None)
            place = f"{label}:{line}: " if line is not None else f"{label}: "
            raise FormatError(label, text.removeprefix(place), line=line) from error


def _without(folder: str | Path, text: str) -> str:
    return text.replace(f"{folder}/", "").replace(f"{folder}\\", "").replace(str(folder), "")


def without_files(linkage: Linkage) -> Linkage:
    """Return a linkage whose meshes have their names but lie nowhere on this machine."""

    def forgotten(visual: Visual) -> Visual:
        shape = visual.shape
        return replace(visual, shape=replace(shape, file=None)) if isinstance(shape, Mesh) else visual

    links = {
        link.name: {"visuals": tuple(map(forgotten, link.visuals))}
        for link in linkage.nodes
        if any(isinstance(visual.shape, Mesh) and visual.shape.file for visual in link.visuals)
    }
    return linkage.replace(links=links) if links else linkage


# Exports

MOTIONS = (".bvh", ".glb", ".usda", ".csv", ".npz", ".trajectory.yaml")
EXPORTS = (*MOTIONS, ".gif", ".mp4", ".html")  # what the motion can be written as


def export(clip: Clip, suffix: str) -> tuple[str, bytes]:
    """Return the name and content of a file of the motion, of a kind in `EXPORTS`."""
    if suffix not in EXPORTS:
        raise FormatError(f"motion{suffix}", f"is not written; there are {listed(EXPORTS)}.")
    label = safe_name(f"{clip.linkage.name}{suffix}")
    with private_folder(label) as folder:
        path = folder / label
        if suffix in draw.FILMS:
            draw.film(clip, path)
        else:
            write(Content(clip.linkage, {CLIP: clip}), path)
        return label, read_bytes(path, MAX_BYTES * 4)
