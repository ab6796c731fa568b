"""MJCF before MuJoCo sees it: read with limits, includes put in, everything a linkage has no use for taken out.

What comes out is one text that names no other file MuJoCo would open, one element to a line, with a table of where each
line came from.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ..errors import FormatError, Remark
from . import xml
from .options import FilePath, Options
from .xml import XmlElement

MAX_DEPTH = 200
MAX_READ = 50_000  # elements in all files together
MAX_ELEMENTS = 10_000  # elements that MuJoCo gets to see, with all repetitions
MAX_INCLUDES = 200
MAX_REPEATED = {"body": 2_000, "joint": 2_000}  # MuJoCo takes seconds for more: its work grows with the square

TOP = {"compiler", "default", "asset", "worldbody", "equality", "keyframe"}
BODY = {"body", "frame", "replicate", "joint", "freejoint", "geom", "site", "inertial"}
CHILDREN: dict[str, set[str]] = {
    "mujoco": TOP,
    "default": {"default", "joint", "geom", "site", "mesh", "material", "equality"},
    "asset": {"mesh", "material"},
    "worldbody": BODY,
    "body": BODY,
    "frame": BODY,
    "replicate": BODY,
    "equality": {"connect", "weld", "joint"},
    "keyframe": {"key"},
}
ATTRIBUTES: dict[str, set[str]] = {  # of elements that could make MuJoCo open files, fuse bodies or allocate at will
    "mujoco": {"model"},
    "compiler": {
        *("angle", "eulerseq", "coordinate", "autolimits", "meshdir", "assetdir", "strippath", "alignfree"),
        *("balanceinertia", "boundmass", "boundinertia", "inertiafromgeom", "inertiagrouprange", "settotalmass"),
    },
    "mesh": {"name", "class", "file", "scale", "refpos", "refquat", "vertex", "face", "inertia"},
    "material": {"name", "class", "rgba"},
    "key": {"name", "qpos"},
}
NUMBERS = {
    *("pos", "quat", "axis", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "size", "ref", "range", "offset"),
    *("mass", "density", "diaginertia", "fullinertia", "anchor", "relpose", "polycoef", "qpos", "scale", "rgba"),
    *("refpos", "refquat", "vertex", "boundmass", "boundinertia", "settotalmass"),
}
OPEN_ENDED = {"range"}  # the only ones of these that may be infinite
TEXTS = {  # all other attributes hold numbers or keywords
    *("name", "class", "childclass", "model", "file", "meshdir", "assetdir", "mesh", "material", "hfield", "prefix"),
    *("body1", "body2", "joint1", "joint2", "site1", "site2", "sep", "fluidshape"),
}
REFUSED = {
    "attach": "takes bodies from another model by <attach>; let MuJoCo save it as one file first.",
    "composite": "makes bodies by <composite>, which MuJoCo itself has given up; write them out.",
}


@dataclass(frozen=True)
class MjcfSource:
    """A model that is safe to hand to MuJoCo: its text, where each line is from, and what was left out."""

    text: str
    places: tuple[tuple[FilePath, int], ...]
    remarks: tuple[Remark, ...]


def read_source(path: FilePath, options: Options) -> MjcfSource:
    """Return a model as one text for MuJoCo.

    Raises:
        FormatError: If a file cannot be read, is not MJCF, includes what it must not, or is too deep or too large.
    """
    root, count = _parse(path)
    if root.tag != "mujoco":
        hint = "; it looks like URDF: give it the suffix .urdf" if root.tag == "robot" else ""
        raise FormatError(path, f"is not MJCF: its first element is <{root.tag}>, not <mujoco>{hint}.", line=root.line)
    _include(root, Path(path), options, count)
    remarks = _strip(root)
    _check(root)
    lines, nodes = zip(*_lines(root), strict=True)
    return MjcfSource("\n".join(lines), tuple((node.path, node.line) for node in nodes), remarks)


def _parse(path: FilePath, count: int = 0) -> tuple[XmlElement, int]:
    """Return the root element of a file, and how many elements there are with those before it."""
    document = xml.read(path, depth=MAX_DEPTH, elements=MAX_READ - count)
    return document.root, count + document.elements


# Files in files


def _include(root: XmlElement, model: Path, options: Options, count: int) -> None:
    """Put the content of included files in the place of their <include>; each may be included once."""
    seen = {os.path.realpath(model)}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        children: list[XmlElement] = []
        for child in node.children:
            if child.tag != "include":
                children.append(child)
                continue
            file = _included(child, model, options)
            if os.path.realpath(file) in seen:
                raise FormatError(child.path, f"includes {str(file)!r} a second time, or itself.", line=child.line)
            seen.add(os.path.realpath(file))
            if len(seen) > MAX_INCLUDES:
                raise FormatError(child.path, f"includes more than {MAX_INCLUDES} files.", line=child.line)
            part, count = _parse(file, count)
            children += part.children
            if part.tag == node.tag == "mujoco":
                node.attributes = {**part.attributes, **node.attributes}
        node.children = children
        if any(child.tag == "include" for child in children):
            waiting.append(node)  # what was included includes more
        else:
            waiting += children


def _included(node: XmlElement, model: Path, options: Options) -> Path:
    """Return the file that an <include> means, if it may be read."""
    name = node.attributes.get("file", "")
    if not name or "\0" in name:
        raise FormatError(node.path, "has an <include> that names no file.", line=node.line)
    for file in (model.parent / name, Path(node.path).parent / name):
        if not options.allows(file, model.parent):
            message = f"includes {name!r}, outside the model's folder; allow that folder with folders=[...] (--folder)."
            raise FormatError(node.path, message, line=node.line)
        if file.is_file():
            return file
    raise FormatError(node.path, f"includes {name!r}, which is not there.", line=node.line)


# What MuJoCo is to see


def _strip(root: XmlElement) -> tuple[Remark, ...]:
    """Take out the elements and attributes that say nothing about links, joints and shapes; say which elements."""
    dropped: dict[str, int] = {}  # the first line of each
    for node in root.walk():
        known = CHILDREN.get(node.tag, set())
        for child in node.children:
            if child.tag in REFUSED:
                raise FormatError(child.path, REFUSED[child.tag], line=child.line)
            if child.tag not in known:
                dropped.setdefault(child.tag, child.line)
        node.children = [child for child in node.children if child.tag in known]
        if node.tag in ATTRIBUTES:
            kept = ATTRIBUTES[node.tag]
            node.attributes = {name: value for name, value in node.attributes.items() if name in kept}
    names = ", ".join(f"<{tag}>" for tag in dropped)
    line = min(dropped.values(), default=0)
    return (Remark("dropped", f"a linkage holds nothing of {names}.", line=line),) if dropped else ()


def _check(root: XmlElement) -> None:
    """Raise if a number is none, or if repetitions make the model too large."""
    waiting = [(root, 1, 1)]
    totals: Counter[str] = Counter()
    while waiting:
        node, times, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise FormatError(node.path, f"is nested deeper than {MAX_DEPTH} elements.", line=node.line)
        for name, value in node.attributes.items():
            if name not in TEXTS:
                _check_numbers(node, name, value)
        if node.tag == "replicate":
            count = node.attributes.get("count", "")
            try:
                times *= min(max(int(count), 1), MAX_ELEMENTS + 1)
            except ValueError as error:
                what = f"count of <replicate> is {count!r}, not a number."
                raise FormatError(node.path, what, line=node.line) from error
        totals[node.tag] += times
        totals[""] += times
        for tag in (node.tag, ""):
            most = MAX_REPEATED.get(tag, MAX_ELEMENTS)
            if totals[tag] > most:
                what = f"has more than {most} {f'<{tag}> ' if tag else ''}elements with all repetitions"
                raise FormatError(node.path, f"{what}, the most that are read.", line=node.line)
        waiting += [(child, times, depth + 1) for child in node.children]


def _check_numbers(node: XmlElement, name: str, value: str) -> None:
    """Raise at what MuJoCo would take, and write a log about, as NaN; and at infinite sizes and places."""
    for token in value.split():
        nan = token.lower().lstrip("+-").startswith("nan")
        try:
            endless = name in NUMBERS and name not in OPEN_ENDED and math.isinf(float(token))
        except ValueError:
            endless = False  # a word: MuJoCo says what it thinks of it
        if nan or endless:
            raise FormatError(node.path, f"{name} of <{node.tag}> must be finite, got {token[:20]}.", line=node.line)


def _lines(root: XmlElement) -> Iterator[tuple[str, XmlElement]]:
    """Yield the elements as XML, one tag to a line."""
    waiting: list[tuple[XmlElement, bool]] = [(root, False)]
    while waiting:
        node, closing = waiting.pop()
        if closing:
            yield f"</{node.tag}>", node
            continue
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in node.attributes.items())
        if not node.children:
            yield f"<{node.tag}{attributes}/>", node
            continue
        yield f"<{node.tag}{attributes}>", node
        waiting.append((node, True))
        waiting += [(child, False) for child in reversed(node.children)]
