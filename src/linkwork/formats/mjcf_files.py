"""The files of an MJCF model: included files, attached models, and the names of its meshes.

Names are resolved from the folder of the outermost model, and only in folders that may be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ..errors import FormatError
from . import xml
from .content import Remarks
from .options import FilePath, Options
from .xml import XmlElement

MAX_DEPTH = 200
MAX_READ = 50_000  # elements in all files together
MAX_FILES = 200
MAX_NESTED = 10  # depth of attached models


class ModelFiles:
    """Reads and counts the files of one model.

    Args:
        path: The outermost file.
        options: Options for reading, with the allowed folders.

    Attributes:
        remarks: Remarks on faulty parts that were left out.
    """

    def __init__(self, path: FilePath, options: Options) -> None:
        self.home, self.options = Path(path).parent, options
        self.elements = self.files = self.names = 0
        self.nested: list[str] = []
        self.titles: dict[Path, str] = {}
        self.remarks = Remarks()

    def number(self) -> int:
        """Return the next unused number."""
        self.names += 1
        return self.names

    def model_name(self, file: Path) -> str:
        """Return the name of a model that was read."""
        return self.titles.get(file, "")

    def read(self, path: FilePath) -> XmlElement:
        """Return the root of a model with its included files, and mesh names relative to the outermost folder."""
        root = self._parse(path)
        if root.tag != "mujoco":
            hint = "; it looks like URDF: use the suffix .urdf" if root.tag == "robot" else ""
            what = f"is not MJCF: its root element is <{root.tag}>, not <mujoco>{hint}."
            raise FormatError(path, what, line=root.line)
        self._include(root, Path(path))
        self._name_meshes(root, Path(path).parent)
        self.titles[Path(path)] = root.attributes.get("model", "")
        return root

    @contextmanager
    def opened(self, node: XmlElement, model: FilePath) -> Iterator[Path]:
        """Yield the file of an attached model."""
        file = self._found(node, Path(model).parent)
        real = os.path.realpath(file)
        if real in self.nested:
            raise FormatError(node.path, f"takes bodies from {str(file)!r}, and vice versa.", line=node.line)
        if len(self.nested) == MAX_NESTED:
            raise FormatError(node.path, f"attaches models more than {MAX_NESTED} deep.", line=node.line)
        self.nested.append(real)
        yield file
        self.nested.pop()

    def _parse(self, path: FilePath) -> XmlElement:
        self.files += 1
        document = xml.read(path, depth=MAX_DEPTH, elements=MAX_READ - self.elements)
        self.elements += document.elements
        if document.rest is not None:
            text = f"content after </{document.root.tag}> is left out."
            if self.options.strict:
                raise FormatError(path, text, line=document.rest)
            self.remarks.add("rest", text, Path(path).name, document.rest)
        return document.root

    def _include(self, root: XmlElement, model: Path) -> None:
        """Replace each <include> by the content of its file; a file may be included once."""
        seen = {os.path.realpath(model)}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            children: list[XmlElement] = []
            for child in node.children:
                if child.tag != "include":
                    children.append(child)
                    continue
                file = self._found(child, model.parent)
                if os.path.realpath(file) in seen:
                    raise FormatError(child.path, f"includes {str(file)!r} a second time, or itself.", line=child.line)
                seen.add(os.path.realpath(file))
                part = self._parse(file)
                children += part.children
                if part.tag == node.tag == "mujoco":
                    node.attributes = {**part.attributes, **node.attributes}
            node.children = children
            if any(child.tag == "include" for child in children):
                waiting.append(node)  # included files may include more
            else:
                waiting += children

    def _found(self, node: XmlElement, folder: Path) -> Path:
        """Return the file named by an element, if it may be read."""
        name, verb = node.attributes.get("file", ""), "includes" if node.tag == "include" else "takes bodies from"
        if not name or "\0" in name:
            raise FormatError(node.path, f"has a <{node.tag}> without a file.", line=node.line)
        if self.files >= MAX_FILES:
            raise FormatError(node.path, f"consists of more than {MAX_FILES} files.", line=node.line)
        for file in (folder / name, Path(node.path).parent / name):
            if not self.options.allows(file, self.home):
                message = (
                    f"{verb} {name!r}, outside the model's folder; allow that folder with folders=[...] (--folder)."
                )
                raise FormatError(node.path, message, line=node.line)
            if file.is_file():
                return file
        raise FormatError(node.path, f"{verb} {name!r}, which does not exist.", line=node.line)

    def _name_meshes(self, root: XmlElement, folder: Path) -> None:
        """Make the names of mesh files relative to the outermost folder.

        As in MuJoCo, names are resolved in ``meshdir`` of the model's folder; if there is no such file, in the folder
        of the included file.
        """
        inner, strip = "", False
        for compiler in root.all("compiler"):
            inner = compiler.attributes.get("meshdir", compiler.attributes.get("assetdir", inner))
            strip = compiler.attributes.get("strippath", str(strip)).lower() == "true"
        for node in root.walk():
            name = node.attributes.get("file", "").replace("\\", "/")
            if node.tag != "mesh" or not name:
                continue
            name = PurePosixPath(name).name if strip else name
            beside, inside = Path(node.path).parent, PurePosixPath(inner.replace("\\", "/")) / name
            places = [folder / inside] + [beside / name] * (beside != folder)
            found = next((place for place in places if _is_file(place)), places[0])
            if not PurePosixPath(name).is_absolute() and "://" not in name and found != self.home / inside:
                inside = PurePosixPath(os.path.relpath(found, self.home).replace(os.sep, "/"))
            node.attributes = {**node.attributes, "file": str(inside)}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False
