"""Read and write worlds: linkwork's scene, MoveIt's planning scene (YAML and ``.scene``), MJCF.

Any other file with a linkage can be read as a world too: a kitchen as URDF, or a second robot that does not move.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Literal, Unpack

from ..collision.obstacles import Obstacle, World
from ..errors import FormatError, LinkageError, OptionError, Remark
from ..linkage.geometry import Mesh
from ..linkage.linkage import Linkage
from . import yaml_json
from .atomic_files import read_text, write_text
from .content import Remarks, file_errors
from .meshes import MeshFinder
from .options import FilePath, Options, ReadOptions, as_options
from .registry import FORMATS, format_of

WorldKind = Literal["scene", "moveit", "mjcf"]
DOCUMENTS = (".yaml", ".yml", ".json")
WRITTEN: dict[str, tuple[WorldKind, ...]] = dict.fromkeys(DOCUMENTS, ("scene", "moveit"))
WRITTEN |= {".scene": ("moveit",), ".xml": ("mjcf",)}  # the default first
_LOG = logging.getLogger("linkwork")


def load_world(path: FilePath, **options: Unpack[ReadOptions]) -> World:
    """Return the world in a file.

    Args:
        path: A scene of linkwork (``.yaml``, ``.json``; only its obstacles are read), a planning scene of MoveIt
            (``.yaml``, ``.json``, ``.scene``), an MJCF model (``.xml``; only its static parts are read), or any other
            file with a linkage, which is placed in its neutral pose.
        **options: Options for reading: `packages` and `folders` locate meshes, as in `load`.

    Content that a world cannot store, and guesses, are logged as warnings.

    Raises:
        FormatError: If the file cannot be read; the message names the file and, if known, the line.
    """
    world, remarks = read_world(path, as_options(options))
    for remark in (remark for remark in remarks if remark.kind != "pairs"):  # these belong to the linkage
        _LOG.warning("%s%s: %s", path, "" if remark.line is None else f":{remark.line}", remark.text)
    return world


def read_world(path: FilePath, options: Options) -> tuple[World, tuple[Remark, ...]]:
    """Return the world in a file, and remarks on omissions and guesses."""
    suffix, remarks = PurePath(path).suffix.lower(), Remarks()
    with file_errors(path):
        if suffix in DOCUMENTS:
            world = _document(path, remarks)
        elif suffix == ".scene":
            from .planning_scene_text import parse

            world = parse(read_text(path), path, remarks)
        elif suffix in FORMATS and format_of(path).module == "mjcf":
            from .mjcf_world import read

            return read(path, options)
        elif suffix in FORMATS and FORMATS[suffix].linkages:
            from .files import read as read_linkage

            content = read_linkage(path, options)
            remarks += (remark for remark in content.remarks if remark.kind == "missing-mesh")
            return World.from_linkage(content.linkage), tuple(remarks)
        else:
            known = dict.fromkeys((*WRITTEN, *(suffix for suffix, row in FORMATS.items() if row.linkages)))
            got = f"unknown format {suffix!r} of worlds" if suffix else "has no suffix to select a format"
            raise FormatError(path, f"{got}; known formats: {', '.join(known)}.")
        return _with_meshes(world, path, options, remarks), tuple(remarks)


def _document(path: FilePath, remarks: Remarks) -> World:
    """Return the world in a YAML or JSON file: a scene of linkwork, or a planning scene of MoveIt."""
    from . import planning_scene, scene

    text = read_text(path)
    content = yaml_json.read(text, path, _kind(path))
    if planning_scene.is_planning_scene(content):
        return planning_scene.parse(content, text, path, remarks)
    if not isinstance(content, dict) or "linkwork" not in content:
        keys = ", ".join(planning_scene.SIGNS)
        raise FormatError(path, f"not a world: a scene has 'linkwork' and 'obstacles', a planning scene one of {keys}.")
    return scene.parse_world(content, text, path)


def _kind(path: FilePath) -> str:
    return "json" if PurePath(path).suffix.lower() == ".json" else "yaml"


def _with_meshes(world: World, path: FilePath, options: Options, remarks: Remarks) -> World:
    """Return a world with its mesh files located on this machine, and add a remark on each missing one."""
    finder = MeshFinder(Path(path), options)

    def found(obstacle: Obstacle) -> Obstacle:
        if not isinstance(obstacle.shape, Mesh):
            return obstacle
        if (remark := finder.remark(obstacle.shape.path, str(obstacle.name))) is not None:
            remarks.append(remark)
        file = finder.find(obstacle.shape.path).file
        return obstacle if file is None else replace(obstacle, shape=replace(obstacle.shape, file=str(file)))

    return World(map(found, world))


def save_world(
    world: World, path: FilePath, *, linkage: Linkage | None = None, kind: WorldKind | None = None
) -> tuple[Remark, ...]:
    """Write a world to a file, completely or not at all; return remarks on what the format cannot store.

    Args:
        world: The world.
        path: The file: ``.yaml`` or ``.json`` for a scene of linkwork, ``.scene`` for MoveIt's text, ``.xml`` for MJCF.
        linkage: A linkage to write into the same scene of linkwork.
        kind: ``"moveit"`` writes a planning scene to a ``.yaml`` or ``.json`` file.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in WRITTEN:
        raise FormatError(path, f"worlds cannot be written as {suffix!r}; use {', '.join(WRITTEN)}.")
    wanted = kind or WRITTEN[suffix][0]
    if wanted not in WRITTEN[suffix]:
        known = " or ".join(map(repr, WRITTEN[suffix]))
        raise OptionError(f"a {suffix} file holds a world as {known}, got {kind!r}.")
    if linkage is not None and wanted != "scene":
        raise LinkageError(f"a {suffix} file of {wanted} stores only the world; save the linkage to another file.")
    remarks = Remarks()
    write_text(path, _text(world, path, wanted, linkage, remarks))
    return tuple(remarks)


def _text(world: World, path: FilePath, kind: WorldKind, linkage: Linkage | None, remarks: Remarks) -> str:
    if kind == "scene":
        from .scene import dump

        return dump(linkage, _kind(path), world)
    if kind == "mjcf":
        from .mjcf_world import dump as dump_mjcf

        return dump_mjcf(world, remarks)
    if PurePath(path).suffix.lower() == ".scene":
        from .planning_scene_text import dump as dump_text

        return dump_text(world, remarks)
    from .planning_scene import document

    return yaml_json.write(document(world, remarks), _kind(path))
