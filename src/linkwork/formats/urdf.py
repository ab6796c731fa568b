"""Read URDF files: links, joints of every kind, and remarks on assumptions and oddities.

Elements that a linkage cannot store (transmissions, simulator settings) are counted and reported. A faulty part is left
out, and the rest is read, unless `strict` is set.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import FormatError, Remark, listed
from ..linkage.linkage import Linkage
from . import meshes, srdf, xacro, xml
from .content import Content, file_errors
from .followers import held
from .joint_limits import with_joint_limits
from .options import DEFAULTS, FilePath, Options
from .texts import TextFile
from .urdf_joints import read_joints
from .urdf_links import read_links
from .urdf_source import UrdfSource
from .urdf_writer import write as write
from .xml import XmlElement

HOLLOW = ("gazebo", "transmission", "mujoco", "sensor")  # their content is not read
OTHERS = {"mujoco": "an MJCF model; give it the suffix .xml", "sdf": "an SDF file, which is not read"}
XACRO = (b"xacro:", b"${", b"$(")
PREFIX = "xacro:"
_WORDS = ("macro", "property", "include", "arg", "if", "unless", "insert_block", "call", "element", "attribute")
SCRIPT = {PREFIX + word for word in _WORDS}  # elements of a file that must be expanded


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of a URDF file.

    Args:
        path: The file.
        options: Used are `packages` and `folders` (locations of meshes), `limits` (of joints with followers), `strict`,
            `arguments` (of xacro), `srdf` (a file with groups and poses) and `joint_limits` (a file with limits).

    Raises:
        FormatError: If the file is not URDF, or its links and joints form no linkage; the message names the line, if
            known.
    """
    document = xml.read(path, hollow=HOLLOW)
    marked = any(mark in document.text for mark in XACRO)
    if Path(path).suffix.lower() == ".xacro" or (marked and _is_script(document.root)):
        return srdf.added(_read_expanded(path, options), path, options)
    return srdf.added(_content(UrdfSource(path, options), document, marked=marked), path, options)


def _read_expanded(path: FilePath, options: Options) -> Content:
    """Return the content of a xacro file. Remarks have no lines, which would be those of the expanded text."""
    expanded = xacro.expand(path, options)
    file = TextFile(expanded.text, f"{Path(path).name}, expanded", ".urdf", meshes.absolute(path).parent)
    options = replace(options, folders=(*options.folders, *expanded.packages.values()))
    document = xml.read(file, hollow=HOLLOW)
    arguments = listed([f"{name}={value}" for name, value in expanded.arguments.items()]) or "no arguments"
    if document.root.tag == "robot" and document.root.first("link") is None:
        raise FormatError(path, f"defines no links with {arguments}; a file of macros is included by others.")
    content = _content(UrdfSource(file, options), document, marked=True)
    text = f"expanded by xacro with {arguments}."
    remarks = (Remark("xacro", text), *(replace(remark, line=None) for remark in content.remarks))
    return replace(content, remarks=remarks)


def _content(source: UrdfSource, document: xml.Document, *, marked: bool) -> Content:
    root, path = document.root, source.path
    if marked:
        _drop_leftovers(source, root)
    if root.tag != "robot":
        what = OTHERS.get(root.tag, "not a URDF file, whose root element is <robot>")
        source.fail(root, f"the root element is <{root.tag}>: this is {what}.")
    if document.blanks:
        source.remark("blank-lines", "there are blanks before the XML declaration; strict readers refuse that.")
    if document.declaration:
        shown = document.declaration[:60]
        source.remark("declaration", f"the XML declaration {shown!r} is not valid; strict readers refuse that.")
    if document.rest is not None:
        source.forgive_line("rest", "content after </robot> is left out.", document.rest)
    name = root.attributes.get("name", "")
    if not name:
        name = Path(source.path).stem
        source.remark("missing-name", f"the robot has no name; it gets the name of its file, {name!r}.", element=root)
    source.drop_rest(root, "link", "joint", "material")
    links = read_links(source, root, name)
    joints = read_joints(source, root, name, links)
    with file_errors(path):
        linkage = Linkage(links.values(), joints.values(), name=name)
    linkage = with_joint_limits(linkage, source.options, source.remarks)
    lines = {element.attributes.get("name", ""): element.line for element in root.all("joint")}
    linkage = held(linkage, source.options, source.remarks, lines)
    return Content(linkage, {}, (*source.remarks, *source.dropped()))


def _is_script(root: XmlElement) -> bool:
    """Return whether a file must be expanded; comments and mesh names may also contain marks of xacro."""
    unread = (*HOLLOW, "mesh")
    return any(
        element.tag in SCRIPT
        or (element.tag not in unread and any("${" in v or "$(" in v for v in element.attributes.values()))
        for element in root.walk()
        if not element.tag.startswith(PREFIX) or element.tag in SCRIPT
    )


def _drop_leftovers(source: UrdfSource, root: XmlElement) -> None:
    """Remove calls of undefined macros, left over from an earlier expansion."""
    tags: dict[str, list[XmlElement]] = {}
    for element in root.walk():
        for child in element.children:
            if child.tag.startswith(PREFIX):
                tags.setdefault(child.tag, []).append(child)
        element.children = [child for child in element.children if child.tag not in tags]
    for tag, elements in tags.items():
        times = f" ({len(elements)} times)" if len(elements) > 1 else ""
        text = f"<{tag}>{times} is left out: an undefined macro, left over from the generation of the file."
        source.forgive("leftover", text, "", elements[0])
