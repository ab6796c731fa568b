"""URDF files to linkages: links, joints of every kind, and remarks on what is assumed or odd.

What a linkage cannot hold (transmissions, simulator settings) is counted and said. What is wrong costs no more than the
part that is wrong, unless `strict` is asked for.
"""

from __future__ import annotations

from pathlib import Path

from ..linkage.linkage import Linkage
from . import xml
from .content import Content, file_errors
from .followers import held
from .options import DEFAULTS, FilePath, Options
from .urdf_joints import read_joints
from .urdf_links import read_links
from .urdf_source import UrdfSource
from .urdf_writer import write as write
from .xml import XmlElement

HOLLOW = ("gazebo", "transmission", "mujoco", "sensor")  # nothing in them is read
OTHERS = {"mujoco": "an MJCF model; give it the suffix .xml", "sdf": "an SDF file, which is not read"}
XACRO = (b"xacro:", b"${", b"$(")
PREFIX = "xacro:"
_WORDS = ("macro", "property", "include", "arg", "if", "unless", "insert_block", "call", "element", "attribute")
SCRIPT = {PREFIX + word for word in _WORDS}  # what makes a file a script that is to be expanded


def read(path: FilePath, options: Options = DEFAULTS) -> Content:
    """Return the content of a URDF file.

    Args:
        path: The file.
        options: Of these, `packages` and `folders` say where meshes may lie, `limits` whose limits a joint that others
            follow has, and `strict` that nothing wrong is forgiven.

    Raises:
        FormatError: If the file is not URDF, or its links and joints make no linkage; with the line where there is one.
    """
    document = xml.read(path, hollow=HOLLOW)
    source, root = UrdfSource(path, options), document.root
    if any(mark in document.text for mark in XACRO):
        _refuse_xacro(source, root)
    if root.tag != "robot":
        what = OTHERS.get(root.tag, "not a URDF file, in which that is <robot>")
        source.fail(root, f"the outermost element is <{root.tag}>: this is {what}.")
    if document.blanks:
        source.remark("blank-lines", "blanks stand before the XML declaration; strict readers refuse that.")
    name = root.attributes.get("name", "")
    if not name:
        name = Path(source.path).stem
        source.remark("missing-name", f"the robot has no name; it is called {name!r} after its file.", element=root)
    source.drop_rest(root, "link", "joint", "material")
    links = read_links(source, root, name)
    joints = read_joints(source, root, name, links)
    with file_errors(path):
        linkage = Linkage(links.values(), joints.values(), name=name)
    lines = {element.attributes.get("name", ""): element.line for element in root.all("joint")}
    linkage = held(linkage, options, source.remarks, lines)
    return Content(linkage, {}, (*source.remarks, *source.dropped()))


def _refuse_xacro(source: UrdfSource, root: XmlElement) -> None:
    """Refuse a file that is still to be expanded, and drop what an expansion has left over.

    A macro that nothing defines is left over. So is a mark of xacro where it is not read: in the name of a mesh, say.
    """
    tags: dict[str, list[XmlElement]] = {}
    for element in root.walk():
        found = f"<{element.tag}>" if element.tag in SCRIPT else ""
        if not found and element.tag not in (*HOLLOW, "mesh"):
            found = next((v for v in element.attributes.values() if "${" in v or "$(" in v), "")
        if found:
            name = Path(source.path).name
            command = f"xacro {name} > {name.removesuffix('.xacro').removesuffix('.urdf')}-expanded.urdf"
            source.fail(element, f"this is xacro, still to be expanded: {found[:80]}. Expand it first: {command}")
        for child in element.children:
            if child.tag.startswith(PREFIX) and child.tag not in SCRIPT:
                tags.setdefault(child.tag, []).append(child)
        element.children = [child for child in element.children if child.tag not in tags]
    for tag, elements in tags.items():
        times = f" ({len(elements)} times)" if len(elements) > 1 else ""
        text = f"<{tag}>{times} is left out: a macro that nothing defines, left over when the file was made."
        source.forgive("leftover", text, "", elements[0])
