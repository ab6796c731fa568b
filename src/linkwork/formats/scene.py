"""The scene file, linkwork's own format: a linkage with its shapes and poses as YAML or JSON.

Joints and shapes are read and written by the fields of their classes, so that a new kind needs no change here.
docs/scene.md describes the file.
"""

from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
from msgspec import UNSET, Struct

from ..collision.obstacles import Obstacle, World
from ..errors import DuplicateNameError, FormatError, LinkageError, LinkworkError, Remark, listed, meant
from ..linkage.couplings import Coupling
from ..linkage.curves import CURVES, CouplingCurve
from ..linkage.geometry import SHAPES, Inertia, Mesh, Shape, Visual
from ..linkage.joints import ARTICULATIONS, Articulation, Joint, Mimic
from ..linkage.linkage import Frame, Link, Linkage, Loop
from ..linkage.motion_limits import MOTION_LIMITS
from ..transforms import IDENTITY, FloatArray, as_angle, as_rotation, transform
from . import dh_table, meshes, scene_schema as schema, yaml_json
from .atomic_files import read_text, write_text
from .content import Content, Remarks
from .followers import held
from .options import DEFAULTS, FilePath, Options
from .scene_document import NOTHING, coordinate_names, document
from .scene_schema import CURVE_ENTRIES, JOINTS, LIMITS, ROOTS, SHAPE_ENTRIES, saved_fields
from .scene_versions import VERSION, upgraded
from .yaml_json import Path

T = TypeVar("T", bound=Struct)


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of a scene file or a Denavit-Hartenberg table; JSON if its name ends in ``.json``.

    Meshes are searched for beside the file; missing ones get a remark.
    """
    text, kind = read_text(path), _kind(path)
    content = yaml_json.read(text, path, kind)
    if dh_table.is_table(content):
        return Content(dh_table.linkage(content, text, path))
    remarks = Remarks()
    linkage = held(_parsed(content, text, path), options, remarks)
    return _with_meshes(linkage, path, options, remarks)


def parse(text: str, where: object, kind: str) -> Linkage:
    """Return the linkage that a scene text describes.

    Args:
        text: The content of a scene file.
        where: Its name in error messages: a file name, or ``"<stdin>"``.
        kind: ``"yaml"`` or ``"json"``.

    Raises:
        FormatError: If the text is not a scene or its linkage is invalid; the message names the line, if known.

    Example:
        >>> parse("{linkwork: 2, joints: [{name: j1, parent: base, child: arm, kind: revolute}]}", "note", "yaml")
        <Linkage 'linkage': 2 links, 1 joint, nq=1, nv=1>
    """
    return _parsed(yaml_json.read(text, where, kind), text, where)


def parse_world(content: Any, text: str, where: object) -> World:
    """Return the world in a scene; it may have no obstacles.

    Args:
        content: The plain values of the file.
        text: Its text, for line numbers in errors.
        where: Its name in error messages.
    """
    with _lines_of(text, where):
        scene = _scene(content)
        shapes = {name: _shape(raw, ("shapes", name)) for name, raw in scene.shapes.items()}
        obstacles = [_obstacle(raw, ("obstacles", i), shapes) for i, raw in enumerate(scene.obstacles)]
        with _at("obstacles"):
            return World(obstacles)


def _parsed(content: Any, text: str, where: object) -> Linkage:
    with _lines_of(text, where):
        return _linkage(content)


@contextmanager
def _lines_of(text: str, where: object) -> Iterator[None]:
    """Turn problems in the file into `FormatError`, with line numbers."""
    try:
        yield
    except _Problem as problem:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.path).lstrip(".")
        message = f"{place}: {problem}" if place else str(problem)
        raise FormatError(where, message, line=yaml_json.line_of(text, problem.path)) from problem.__cause__


def _with_meshes(linkage: Linkage, path: FilePath, options: Options, remarks: Remarks) -> Content:
    """Return a linkage with its mesh files located on this machine, and add a remark on each missing one."""
    finder, links = meshes.MeshFinder(pathlib.Path(path), options), dict[str, Any]()
    for link in linkage.nodes:
        visuals = list(link.visuals)
        for k, visual in enumerate(visuals):
            if not isinstance(visual.shape, Mesh):
                continue
            if (remark := finder.remark(visual.shape.path, link.name)) is not None:
                remarks.append(remark)
            if (file := finder.find(visual.shape.path).file) is not None:
                visuals[k] = replace(visual, shape=replace(visual.shape, file=str(file)))
                links[link.name] = {"visuals": visuals}
    return Content(linkage.replace(links=links) if links else linkage, remarks=tuple(remarks))


def write(content: Content, path: FilePath) -> tuple[Remark, ...]:
    """Write a linkage to a scene file, completely or not at all; JSON if its name ends in ``.json``, else YAML."""
    write_text(path, dump(content.linkage, _kind(path)))
    return ()


def dump(linkage: Linkage | None, kind: str, world: World = NOTHING) -> str:
    """Return the scene text of a linkage, a world or both; reading it gives exactly the same numbers.

    Example:
        >>> import linkwork as lw
        >>> print(dump(lw.Builder("leg", base="hip").revolute("knee", "shin", at=(0, 0, -0.4)).build(), "yaml"), end="")
        linkwork: 2
        name: leg
        links: [hip, shin]
        joints:
          - {name: knee, parent: hip, child: shin, kind: revolute, at: [0, 0, -0.4]}
    """
    text = yaml_json.write(document(linkage, world), kind)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half, what = error.object[error.start], "the world" if linkage is None else f"linkage {linkage.name!r}"
        raise LinkageError(f"{what} has a name with {half!r}, which is not a character.") from error
    return text


def _kind(path: FilePath) -> str:
    return "json" if pathlib.PurePath(path).suffix.lower() == ".json" else "yaml"


# Reading


class _Problem(Exception):  # noqa: N818 - internal: `parse` turns it into a FormatError
    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


@contextmanager
def _at(*path: str | int) -> Iterator[None]:
    """Add the place in the file to errors raised by parts of the linkage."""
    try:
        yield
    except LinkworkError as error:
        raise _Problem(path, str(error)) from error


def _entry(raw: Any, entry: type[T], path: Path, what: str) -> T:
    """Check one mapping of the file and return it as an entry."""
    known = entry.__struct_fields__
    if not isinstance(raw, dict):
        raise _Problem(path, f"{what} is a mapping of {listed(known)}; got {_shown(raw)}.")
    for key in raw:
        if key not in known:
            raise _Problem((*path, key), f"{what} has no field {_advice(key, known, 'It has')}")
    return cast(T, _typed(raw, entry, path))


def _typed(raw: Any, kind: Any, path: Path) -> Any:
    """Return a value converted to a type, or raise with its place in the file."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        steps = re.findall(r"\.(\w+)|\[(\d+)\]", place)
        raise _Problem((*path, *(name or int(index) for name, index in steps)), f"{message}.") from error


def _advice(name: object, known: Iterable[str], have: str) -> str:
    known = tuple(known)
    return f"{_shown(name)}{meant(name, known)} {have} {listed(known) or 'none'}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _scene(document: Any) -> schema.SceneFile:
    """Return the tables of a file, in the latest version of its format."""
    if not isinstance(document, dict) or "linkwork" not in document:
        raise _Problem((), f"not a scene file: it should begin with 'linkwork: {VERSION}', the version of its format.")
    version = document["linkwork"]
    if version not in (1, VERSION) or isinstance(version, bool):
        message = f"this file has version {_shown(version)}; this release of linkwork reads 1 and {VERSION}."
        raise _Problem(("linkwork",), message)
    return _entry(document if version == VERSION else upgraded(document), schema.SceneFile, (), "a scene")


def _linkage(document: Any) -> Linkage:
    scene = _scene(document)
    if scene.obstacles and not (scene.links or scene.joints):
        number = len(scene.obstacles)
        raise _Problem((), f"contains a world of {number} obstacles but no linkage; lw.load_world (--world) reads it.")
    shapes = {name: _shape(raw, ("shapes", name)) for name, raw in scene.shapes.items()}
    links = [_link(raw, ("links", i), shapes) for i, raw in enumerate(scene.links)]
    joints = [_joint(raw, ("joints", i)) for i, raw in enumerate(scene.joints)]
    frames = [_frame(raw, ("frames", i)) for i, raw in enumerate(scene.frames)]
    loops = [_loop(raw, ("loops", i)) for i, raw in enumerate(scene.loops)]
    couplings = [_coupling(raw, ("couplings", i)) for i, raw in enumerate(scene.couplings)]
    root = _root(scene.root)
    named = dict.fromkeys(link.name for link in links)
    ends = dict.fromkeys(str(end) for joint in joints for end in (joint.parent, joint.child))
    links += [Link(name) for name in ends if name not in named]
    try:
        more: dict[str, Any] = {"frames": frames, "root": root, "loops": loops, "groups": scene.groups}
        more["couplings"] = couplings
        linkage = Linkage(links, joints, name=scene.name, disabled_pairs=_pairs(scene.disabled_pairs), **more)
    except DuplicateNameError as error:
        raise _Problem(_second(document, error), str(error)) from error
    except LinkworkError as error:
        raise _Problem((), str(error)) from error
    if not scene.poses:
        return linkage
    poses = {name: _pose(linkage, raw, ("poses", name)) for name, raw in scene.poses.items()}
    return linkage.replace(poses=poses)


def _pairs(rows: list[list[str]]) -> dict[tuple[str, str], str]:
    for k, row in enumerate(rows):
        if len(row) not in (2, 3):
            raise _Problem(("disabled_pairs", k), f"a disabled pair is two links and an optional reason; got {row}.")
    return {(first, second): "".join(reason) for first, second, *reason in rows}


def _second(document: dict[str, Any], error: DuplicateNameError) -> Path:
    """Return the path of the last entry with a repeated name."""
    table = f"{error.kind}s"
    entries = list(enumerate(document.get(table, ())))
    places = [i for i, raw in entries if raw == error.name or (isinstance(raw, dict) and raw.get("name") == error.name)]
    return (table, places[-1]) if places else ()


def _shape(raw: Any, path: Path) -> Shape:
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if isinstance(raw, dict) and (not isinstance(kind, str) or kind not in SHAPE_ENTRIES):
        raise _Problem((*path, "kind"), f"no kind of shape {_advice(kind, SHAPES, 'There are')}")
    entry: Any = _entry(raw, SHAPE_ENTRIES.get(str(kind), schema.ShapeEntry), path, f"a {kind or 'shape'}")
    with _at(*path):
        return SHAPES[entry.kind](**_given(entry, SHAPES[entry.kind]))


def _link(raw: Any, path: Path, shapes: Mapping[str, Shape]) -> Link:
    entry = _entry({"name": raw} if isinstance(raw, str) else raw, schema.LinkEntry, path, "a link")
    visuals = tuple(_visual(visual, (*path, "visuals", i), shapes) for i, visual in enumerate(entry.visuals))
    node = IDENTITY
    if entry.node is not None:
        node = _placement(_entry(entry.node, schema.Placed, (*path, "node"), "a node transform"), (*path, "node"))
    inertia = None
    if entry.inertia is not None:
        body = _entry(entry.inertia, schema.InertiaEntry, (*path, "inertia"), "an inertia")
        with _at(*path, "inertia"):
            inertia = Inertia(body.mass, np.array(body.center), np.array(body.matrix), body.known)
    with _at(*path):
        return Link(entry.name, visuals, node, inertia)


def _named_shape(raw: str | dict[str, Any], path: Path, shapes: Mapping[str, Shape]) -> Shape:
    """Return a shape defined in place, or one from the table of shapes."""
    if isinstance(raw, str) and raw not in shapes:
        raise _Problem(path, f"no shape {_advice(raw, shapes, 'The table of shapes has')}")
    return shapes[raw] if isinstance(raw, str) else _shape(raw, path)


def _obstacle(raw: Any, path: Path, shapes: Mapping[str, Shape]) -> Obstacle:
    entry = _entry(raw, schema.ObstacleEntry, path, "an obstacle")
    shape, pose = _named_shape(entry.shape, (*path, "shape"), shapes), _placement(entry, path)
    with _at(*path):
        return Obstacle(shape, pose, entry.name, entry.link, entry.touches, entry.color)


def _visual(raw: Any, path: Path, shapes: Mapping[str, Shape]) -> Visual:
    entry = _entry(raw, schema.VisualEntry, path, "a visual")
    shape = _named_shape(entry.shape, (*path, "shape"), shapes)
    placement = _placement(entry, path)
    with _at(*path):
        return Visual(shape, placement, entry.color, entry.role)


def _frame(raw: Any, path: Path) -> Frame:
    entry = _entry(raw, schema.FrameEntry, path, "a frame")
    return Frame(entry.name, entry.link, _placement(entry, path))


def _loop(raw: Any, path: Path) -> Loop:
    entry = _entry(raw, schema.LoopEntry, path, "a loop")
    with _at(*path):
        return Loop(**_given(entry, Loop))


def _coupling(raw: Any, path: Path) -> Coupling:
    entry = _entry(raw, schema.CouplingEntry, path, "a coupling")
    given: Any = {entry.drivers: 1.0} if isinstance(entry.drivers, str) else entry.drivers
    curve = None if entry.curve is None else _curve(entry.curve, (*path, "curve"))
    with _at(*path):
        shifts = as_angle(entry.phase), as_angle(entry.offset)
        return Coupling(entry.name, entry.follower, tuple(given.items()), curve, *shifts, entry.tolerance)


def _curve(raw: dict[str, Any], path: Path) -> CouplingCurve:
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in CURVE_ENTRIES:
        raise _Problem((*path, "kind"), f"no kind of curve {_advice(kind, CURVE_ENTRIES, 'There are')}")
    entry: Any = _entry(raw, CURVE_ENTRIES[kind], path, f"a {kind}")
    with _at(*path):
        return CURVES[kind](**_given(entry, CURVES[kind]))


def _joint(raw: Any, path: Path) -> Joint:
    entry, articulation = _arc(raw, JOINTS, path)
    mimic = None
    if entry.mimic is not None:
        follows = {"joint": entry.mimic} if isinstance(entry.mimic, str) else entry.mimic
        leader = _entry(follows, schema.MimicEntry, (*path, "mimic"), "a mimic")
        with _at(*path, "mimic"):
            mimic = Mimic(leader.joint, leader.multiplier, as_angle(leader.offset))
    placement = _placement(entry, path)
    with _at(*path):
        return Joint(entry.name, entry.parent, entry.child, articulation, placement, mimic, **_motion_limits(entry))


def _root(raw: str | dict[str, Any]) -> Joint:
    entry, articulation = _arc({"kind": raw} if isinstance(raw, str) else raw, ROOTS, ("root",))
    placement = _placement(entry, ("root",))
    with _at("root"):
        return Joint(entry.name, None, "", articulation, placement, **_motion_limits(entry))


def _motion_limits(entry: Any) -> dict[str, Any]:
    return {what: getattr(entry, what) for what in MOTION_LIMITS}


def _arc(raw: Any, entries: Mapping[str, type[Struct]], path: Path) -> tuple[Any, Articulation]:
    """Return the entry of a joint or of the root, and its articulation."""
    kind = raw.get("kind", "fixed") if isinstance(raw, dict) else "fixed"
    if not isinstance(kind, str) or kind not in entries:
        raise _Problem((*path, "kind"), f"no kind of joint {_advice(kind, ARTICULATIONS, 'There are')}")
    entry: Any = _entry(raw, entries[kind], path, f"a {kind} joint")
    with _at(*path):
        return entry, ARTICULATIONS[kind](**_given(entry, ARTICULATIONS[kind]))


def _given(entry: Any, owner: type) -> dict[str, Any]:
    """Return the parameters of an articulation or shape given in the file; an open limit is infinite."""
    given = {}
    for field in saved_fields(owner):
        value = getattr(entry, field.name)
        if field.name in LIMITS:
            endless = -math.inf if field.name == "lower" else math.inf
            value = UNSET if value is None else value
            value = [endless if limit is None else limit for limit in value] if isinstance(value, list) else value
        if value is not UNSET:
            given[field.name] = value
    return given


def _placement(entry: schema.Placed, path: Path) -> FloatArray:
    if entry.rotation is None:
        with _at(*path, "at"):
            return transform(entry.at)
    spec = _entry(entry.rotation, schema.Rotation, (*path, "rotation"), "a rotation")
    forms = {name: value for name, value in msgspec.structs.asdict(spec).items() if value is not UNSET}
    with _at(*path, "rotation"):
        return transform(entry.at, forms)


def _pose(linkage: Linkage, raw: Any, path: Path) -> FloatArray:
    if not isinstance(raw, dict):
        raise _Problem(path, f"a pose is a mapping of joints to values; got {_shown(raw)}.")
    values: dict[str, Any] = {}
    for name, value in raw.items():
        values |= _coordinates(name, value, linkage, (*path, name)) if isinstance(value, dict) else {name: value}
    for name, value in values.items():
        kind = schema.Amount if name in linkage.coordinate_index else schema.Values
        _typed(value, kind, (*path, name))
    with _at(*path):
        return linkage.pose(values)


def _coordinates(name: str, value: dict[str, Any], linkage: Linkage, path: Path) -> dict[str, Any]:
    """Return the values of a joint by coordinate, so that quaternions in w, x, y, z order keep all digits.

    Other forms of a rotation (Euler angles, a matrix) are left to `Linkage.pose`.
    """
    with _at(*path):
        articulation = linkage.joint(name).articulation
    plain, quaternion = coordinate_names(articulation)
    if not set(value) <= {*plain, "wxyz"} or ("wxyz" in value and not quaternion):
        return {name: value}
    result = {f"{name}.{key}": amount for key, amount in value.items() if key != "wxyz"}
    if "wxyz" in value:
        wxyz = _entry({"wxyz": value["wxyz"]}, schema.Rotation, path, "a quaternion").wxyz
        with _at(*path):
            as_rotation({"wxyz": wxyz}, f"value of {name!r}")
        result |= {f"{name}.{key}": amount for key, amount in zip(quaternion, wxyz or (), strict=True)}
    return result
