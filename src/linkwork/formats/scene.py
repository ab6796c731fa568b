"""The scene file, linkwork's own: a whole linkage with its shapes and poses as YAML or JSON.

Imports everything up to `linkage`, and `documents`, `entries` and `files` beside it. Joints and shapes are read and
written by the fields of their classes, so that a new kind needs nothing here. docs/scene.md describes the file.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
from msgspec import UNSET, Struct

from ..errors import DuplicateNameError, FormatError, LinkageError, LinkworkError, listed
from ..files import read_text, write_text
from ..geometry import SHAPES, Shape, Visual
from ..joints import ARTICULATIONS, Articulation, Joint, Mimic
from ..linkage import ROOT, Frame, Link, Linkage
from ..transforms import IDENTITY, FloatArray, as_angle, as_rotation, transform
from . import documents
from .documents import Path
from .entries import (
    JOINTS,
    LIMITS,
    ROOTS,
    SHAPE_ENTRIES,
    Amount,
    FrameEntry,
    LinkEntry,
    MimicEntry,
    Placed,
    Rotation,
    Scene,
    ShapeEntry,
    VisualEntry,
)

VERSION = 1
T = TypeVar("T", bound=Struct)


def read(path: str | os.PathLike[str]) -> Linkage:
    """Return the linkage in a scene file; JSON if its name ends in ``.json``, else YAML."""
    return parse(read_text(path), path, _kind(path))


def parse(text: str, where: object, kind: str) -> Linkage:
    """Return the linkage that a scene text describes.

    Args:
        text: The content of a scene file.
        where: What to call it in an error: a file name, or ``"<stdin>"``.
        kind: ``"yaml"`` or ``"json"``.

    Raises:
        FormatError: If the text is not a scene or its linkage cannot be; says where, with the line if there is one.

    Example:
        >>> parse("{linkwork: 1, joints: [{name: j1, parent: base, child: arm, kind: revolute}]}", "note", "yaml")
        <Linkage 'linkage': 2 links, 1 joint, nq=1, nv=1>
    """
    document = documents.read(text, where, kind)
    try:
        return _linkage(document)
    except _Problem as problem:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem.path).lstrip(".")
        message = f"{place}: {problem}" if place else str(problem)
        raise FormatError(where, message, line=documents.line_of(text, problem.path)) from problem.__cause__


def write(linkage: Linkage, path: str | os.PathLike[str]) -> None:
    """Write a linkage to a scene file, whole or not at all; JSON if its name ends in ``.json``, else YAML."""
    write_text(path, dump(linkage, _kind(path)))


def dump(linkage: Linkage, kind: str) -> str:
    """Return the scene text of a linkage: `parse` makes the same linkage of it, to the last bit.

    Example:
        >>> import linkwork as lw
        >>> print(dump(lw.Builder("leg", base="hip").revolute("knee", "shin", at=(0, 0, -0.4)).build(), "yaml"), end="")
        linkwork: 1
        name: leg
        links: [hip, shin]
        joints:
          - {name: knee, parent: hip, child: shin, kind: revolute, at: [0, 0, -0.4]}
    """
    text = documents.write(_document(linkage), kind)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise LinkageError(f"linkage {linkage.name!r} has a name with {half!r}, which is no character.") from error
    return text


def _kind(path: str | os.PathLike[str]) -> str:
    return "json" if PurePath(path).suffix.lower() == ".json" else "yaml"


# Reading


class _Problem(Exception):  # noqa: N818 - never leaves this module: `parse` makes a FormatError of it
    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


@contextmanager
def _at(*path: str | int) -> Iterator[None]:
    """Say where in the file an error of the linkage's own parts arose."""
    try:
        yield
    except LinkworkError as error:
        raise _Problem(path, str(error)) from error


def _entry(raw: Any, entry: type[T], path: Path, what: str) -> T:
    """Return one mapping of the file, checked."""
    known = entry.__struct_fields__
    if not isinstance(raw, dict):
        raise _Problem(path, f"{what} is a mapping of {listed(known)}; got {_shown(raw)}.")
    for key in raw:
        if key not in known:
            raise _Problem((*path, key), f"{what} has no field {_advice(key, known, 'It has')}")
    return cast(T, _typed(raw, entry, path))


def _typed(raw: Any, kind: Any, path: Path) -> Any:
    """Return a value as a type, or say where in the file it is of another."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        steps = re.findall(r"\.(\w+)|\[(\d+)\]", place)
        raise _Problem((*path, *(name or int(index) for name, index in steps)), f"{message}.") from error


def _advice(name: object, known: Iterable[str], have: str) -> str:
    known = tuple(known)
    close = get_close_matches(str(name), known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"{_shown(name)}{hint} {have} {listed(known) or 'none'}."


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _linkage(document: Any) -> Linkage:
    if not isinstance(document, dict) or "linkwork" not in document:
        raise _Problem((), f"not a scene file: it begins with 'linkwork: {VERSION}', the version of its format.")
    version = document["linkwork"]
    if version != VERSION or isinstance(version, bool):
        message = f"this file says version {_shown(version)}; this linkwork reads {VERSION}."
        raise _Problem(("linkwork",), message)
    scene = _entry(document, Scene, (), "a scene")
    shapes = {name: _shape(raw, ("shapes", name)) for name, raw in scene.shapes.items()}
    links = [_link(raw, ("links", i), shapes) for i, raw in enumerate(scene.links)]
    joints = [_joint(raw, ("joints", i)) for i, raw in enumerate(scene.joints)]
    frames = [_frame(raw, ("frames", i)) for i, raw in enumerate(scene.frames)]
    root = _root(scene.root)
    named = dict.fromkeys(link.name for link in links)
    ends = dict.fromkeys(str(end) for joint in joints for end in (joint.parent, joint.child))
    links += [Link(name) for name in ends if name not in named]
    try:
        linkage = Linkage(links, joints, name=scene.name, frames=frames, root=root)
    except DuplicateNameError as error:
        raise _Problem(_second(document, error), str(error)) from error
    except LinkworkError as error:
        raise _Problem((), str(error)) from error
    if not scene.poses:
        return linkage
    poses = {name: _pose(linkage, raw, ("poses", name)) for name, raw in scene.poses.items()}
    return linkage.replace(poses=poses)


def _second(document: dict[str, Any], error: DuplicateNameError) -> Path:
    """Return the path of the last thing that has a name which appears twice."""
    table = f"{error.kind}s"
    entries = list(enumerate(document.get(table, ())))
    places = [i for i, raw in entries if raw == error.name or (isinstance(raw, dict) and raw.get("name") == error.name)]
    return (table, places[-1]) if places else ()


def _shape(raw: Any, path: Path) -> Shape:
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if isinstance(raw, dict) and (not isinstance(kind, str) or kind not in SHAPE_ENTRIES):
        raise _Problem((*path, "kind"), f"no kind of shape {_advice(kind, SHAPES, 'There are')}")
    entry: Any = _entry(raw, SHAPE_ENTRIES.get(str(kind), ShapeEntry), path, f"a {kind or 'shape'}")
    with _at(*path):
        return SHAPES[entry.kind](**_given(entry, SHAPES[entry.kind]))


def _link(raw: Any, path: Path, shapes: Mapping[str, Shape]) -> Link:
    entry = _entry({"name": raw} if isinstance(raw, str) else raw, LinkEntry, path, "a link")
    visuals = tuple(_visual(visual, (*path, "visuals", i), shapes) for i, visual in enumerate(entry.visuals))
    node = IDENTITY
    if entry.node is not None:
        node = _placement(_entry(entry.node, Placed, (*path, "node"), "a node transform"), (*path, "node"))
    with _at(*path):
        return Link(entry.name, visuals, node)


def _visual(raw: Any, path: Path, shapes: Mapping[str, Shape]) -> Visual:
    entry = _entry(raw, VisualEntry, path, "a visual")
    if not isinstance(entry.shape, str):
        shape = _shape(entry.shape, (*path, "shape"))
    elif entry.shape in shapes:
        shape = shapes[entry.shape]
    else:
        raise _Problem((*path, "shape"), f"no shape {_advice(entry.shape, shapes, 'The table of shapes has')}")
    placement = _placement(entry, path)
    with _at(*path):
        return Visual(shape, placement, entry.color, entry.role)


def _frame(raw: Any, path: Path) -> Frame:
    entry = _entry(raw, FrameEntry, path, "a frame")
    return Frame(entry.name, entry.link, _placement(entry, path))


def _joint(raw: Any, path: Path) -> Joint:
    entry, articulation = _arc(raw, JOINTS, path)
    mimic = None
    if entry.mimic is not None:
        follows = {"joint": entry.mimic} if isinstance(entry.mimic, str) else entry.mimic
        leader = _entry(follows, MimicEntry, (*path, "mimic"), "a mimic")
        with _at(*path, "mimic"):
            mimic = Mimic(leader.joint, leader.multiplier, as_angle(leader.offset))
    placement = _placement(entry, path)
    with _at(*path):
        return Joint(entry.name, entry.parent, entry.child, articulation, placement, mimic)


def _root(raw: str | dict[str, Any]) -> Joint:
    entry, articulation = _arc({"kind": raw} if isinstance(raw, str) else raw, ROOTS, ("root",))
    return Joint(entry.name, None, "", articulation, _placement(entry, ("root",)))


def _arc(raw: Any, entries: Mapping[str, type[Struct]], path: Path) -> tuple[Any, Articulation]:
    """Return a joint's or the root's entry and its articulation."""
    kind = raw.get("kind", "fixed") if isinstance(raw, dict) else "fixed"
    if not isinstance(kind, str) or kind not in entries:
        raise _Problem((*path, "kind"), f"no kind of joint {_advice(kind, ARTICULATIONS, 'There are')}")
    entry: Any = _entry(raw, entries[kind], path, f"a {kind} joint")
    with _at(*path):
        return entry, ARTICULATIONS[kind](**_given(entry, ARTICULATIONS[kind]))


def _given(entry: Any, owner: type) -> dict[str, Any]:
    """Return the parameters of an articulation or a shape that the file gives; an open limit is infinite."""
    given = {}
    for field in fields(owner):
        value = getattr(entry, field.name)
        if field.name in LIMITS:
            endless = -math.inf if field.name == "lower" else math.inf
            value = UNSET if value is None else value
            value = [endless if limit is None else limit for limit in value] if isinstance(value, list) else value
        if value is not UNSET:
            given[field.name] = value
    return given


def _placement(entry: Placed, path: Path) -> FloatArray:
    if entry.rotation is None:
        with _at(*path, "at"):
            return transform(entry.at)
    spec = _entry(entry.rotation, Rotation, (*path, "rotation"), "a rotation")
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
        _typed(
            value, Amount if name in linkage.coordinate_index else Amount | list[Amount] | dict[str, Any], (*path, name)
        )
    with _at(*path):
        return linkage.pose(values)


def _coordinates(name: str, value: dict[str, Any], linkage: Linkage, path: Path) -> dict[str, Any]:
    """Return a joint's values by coordinate, so that a quaternion in its own order keeps its bits.

    Other forms of a rotation (Euler angles, a matrix) are left to the pose.
    """
    with _at(*path):
        articulation = linkage.joint(name).articulation
    plain, quaternion = _coordinate_names(articulation)
    if not set(value) <= {*plain, "wxyz"} or ("wxyz" in value and not quaternion):
        return {name: value}
    result = {f"{name}.{key}": amount for key, amount in value.items() if key != "wxyz"}
    if "wxyz" in value:
        wxyz = _entry({"wxyz": value["wxyz"]}, Rotation, path, "a quaternion").wxyz
        with _at(*path):
            as_rotation({"wxyz": wxyz}, f"value of {name!r}")
        result |= {f"{name}.{key}": amount for key, amount in zip(quaternion, wxyz or (), strict=True)}
    return result


def _coordinate_names(articulation: Articulation) -> tuple[list[str], list[str]]:
    """Return the names of an articulation's plain values and of its quaternion's, if it has one."""
    starts = [element.value for element in articulation.elements if element.kind == "ball"]
    inside = {k for start in starts for k in range(start, start + 4)}
    names = articulation.coordinates
    return [c for k, c in enumerate(names) if k not in inside], [c for k, c in enumerate(names) if k in inside]


# Writing


def _document(linkage: Linkage) -> dict[str, Any]:
    for name in (linkage.name, *linkage.poses):
        if not isinstance(name, str):
            raise LinkageError(f"a linkage and its poses have texts for names in a file, got {name!r}.")
    shapes, names = _shared_shapes(linkage)
    root = linkage.root
    arc = {"name": root.name} if root.name != ROOT else {}
    arc |= _articulation(root.articulation) | _place(root.placement)
    document: dict[str, Any] = {"linkwork": VERSION, "name": linkage.name}
    tables = {
        "root": arc,
        "shapes": shapes,
        "links": [_link_entry(link, names) for link in linkage.nodes],
        "joints": [_joint_entry(joint) for joint in linkage.arcs[1:]],
        "frames": [{"name": f.name, "link": f.link} | _place(f.placement) for f in linkage.extra_frames],
        "poses": {name: _pose_entry(linkage, pose) for name, pose in linkage.poses.items()},
    }
    return document | {key: table for key, table in tables.items() if table}


def _shared_shapes(linkage: Linkage) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the table of shapes that are used more than once, and their names by what they are."""
    uses = Counter(repr(visual.shape) for link in linkage.nodes for visual in link.visuals)
    table: dict[str, Any] = {}
    names: dict[str, str] = {}
    for shape in (visual.shape for link in linkage.nodes for visual in link.visuals):
        key = repr(shape)  # tells 0.0 from -0.0, which are equal
        if uses[key] > 1 and key not in names:
            names[key] = f"{shape.kind}{len(names) + 1}"
            table[names[key]] = _shape_entry(shape)
    return table, names


def _shape_entry(shape: Shape) -> dict[str, Any]:
    return {"kind": shape.kind} | _parameters(shape)


def _link_entry(link: Link, shapes: Mapping[str, str]) -> str | dict[str, Any]:
    node, visuals = _place(link.matrix), []
    for visual in link.visuals:
        entry = {"shape": shapes.get(repr(visual.shape)) or _shape_entry(visual.shape)} | _place(visual.placement)
        if visual.color is not None:
            entry["color"] = list(visual.color)
        if visual.role != "visual":
            entry["role"] = visual.role
        visuals.append(entry)
    more = {key: value for key, value in (("node", node), ("visuals", visuals)) if value}
    return {"name": link.name} | more if more else link.name


def _joint_entry(joint: Joint) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": joint.name, "parent": joint.parent, "child": joint.child}
    entry |= _articulation(joint.articulation) | _place(joint.placement)
    if joint.mimic is not None:
        entry["mimic"] = _parameters(joint.mimic)
    return entry


def _articulation(articulation: Articulation) -> dict[str, Any]:
    parameters = _parameters(articulation)
    return {"kind": articulation.kind} | parameters if articulation.kind != "fixed" or parameters else {}


def _parameters(owner: Any) -> dict[str, Any]:
    """Return the fields of an articulation, a shape or a mimic that are not what they are by default."""
    result = {}
    for field in fields(owner):
        value = getattr(owner, field.name)
        usual = field.default is not MISSING and repr(value) == repr(field.default)  # 0.0 is not -0.0
        if not usual and not (field.name in LIMITS and np.isinf(value).all()):
            result[field.name] = _plain(value)
    return result


def _plain(value: Any) -> Any:
    """Return a value as the file holds it: lists for tuples, null for what is infinite."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def _place(placement: FloatArray) -> dict[str, Any]:
    """Return a placement, leaving out what is nothing at all."""
    position, rotation = placement[:3, 3], placement[:3, :3]
    result: dict[str, Any] = {}
    if position.tobytes() != IDENTITY[:3, 3].tobytes():
        result["at"] = position.tolist()
    if rotation.tobytes() != IDENTITY[:3, :3].tobytes():
        result["rotation"] = _euler(rotation) or {"matrix": rotation.tolist()}
    return result


def _euler(rotation: FloatArray) -> dict[str, Any] | None:
    """Return whole or short angles in degrees if they read back as exactly this rotation."""
    if np.isin(rotation, (-1.0, 0.0, 1.0)).all():
        return None  # nothing is plainer than a matrix of zeros and ones
    (a, _, _), (d, e, f), (g, h, i) = rotation.tolist()
    second = math.atan2(-g, math.hypot(a, d))
    locked = math.hypot(a, d) < 1e-9  # then the third angle may be zero
    turns = (math.atan2(-f, e) if locked else math.atan2(h, i), second, 0.0 if locked else math.atan2(d, a))
    degrees = [round(math.degrees(turn), 6) + 0.0 for turn in turns]
    if any(abs(math.degrees(turn) - angle) > 1e-9 for turn, angle in zip(turns, degrees, strict=True)):
        return None
    form = {"euler": ["xyz", [f"{angle:.10g}deg" if angle else 0 for angle in degrees]]}
    return form if as_rotation(form).tobytes() == rotation.tobytes() else None


def _pose_entry(linkage: Linkage, pose: FloatArray) -> dict[str, Any]:
    """Return a pose by joint: a number, numbers, or a mapping that names a quaternion's order."""
    result: dict[str, Any] = {}
    for joint, drive in zip(linkage.arcs, linkage.drives, strict=True):
        count = joint.articulation.nq
        if joint.mimic is not None or not count:
            continue
        values = dict(zip(joint.articulation.coordinates, pose[drive.q : drive.q + count].tolist(), strict=True))
        plain, quaternion = _coordinate_names(joint.articulation)
        if quaternion:
            wxyz = [values[name] for name in quaternion]
            result[joint.name] = {name: values[name] for name in plain} | {"wxyz": wxyz}
        else:
            result[joint.name] = list(values.values()) if count > 1 else values[""]
    return result
