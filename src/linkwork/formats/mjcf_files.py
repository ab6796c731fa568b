"""The files that an MJCF model is made of: what it includes, the models it takes bodies from, the names of its meshes.

Everything is found from the folder of the outermost model, and nothing outside the folders that may be read.
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
MAX_NESTED = 10  # models that take bodies from each other


class ModelFiles:
    """The files of one model, counted as they are read.

    Args:
        path: The outermost file.
        options: Which folders may be read.

    Attributes:
        remarks: What was wrong with them, and left out.
    """

    def __init__(self, path: FilePath, options: Options) -> None:
        self.home, self.options = Path(path).parent, options
        self.elements = self.files = self.names = 0
        self.nested: list[str] = []
        self.titles: dict[Path, str] = {}
        self.remarks = Remarks()

    def number(self) -> int:
        """Return a number that was not returned before."""
        self.names += 1
        return self.names

    def model_name(self, file: Path) -> str:
        """Return what a model that was read calls itself."""
        return self.titles.get(file, "")

    def read(self, path: FilePath) -> XmlElement:
        """Return the root of a model, everything included, with the names of meshes as they are from home."""
        root = self._parse(path)
        if root.tag != "mujoco":
            hint = "; it looks like URDF: give it the suffix .urdf" if root.tag == "robot" else ""
            what = f"is not MJCF: its first element is <{root.tag}>, not <mujoco>{hint}."
            raise FormatError(path, what, line=root.line)
        self._include(root, Path(path))
        self._name_meshes(root, Path(path).parent)
        self.titles[Path(path)] = root.attributes.get("model", "")
        return root

    @contextmanager
    def opened(self, node: XmlElement, model: FilePath) -> Iterator[Path]:
        """Yield the file of a model that another takes bodies from."""
        file = self._found(node, Path(model).parent)
        real = os.path.realpath(file)
        if real in self.nested or len(self.nested) == MAX_NESTED:
            raise FormatError(node.path, f"takes bodies from {str(file)!r}, and that from it.", line=node.line)
        self.nested.append(real)
        yield file
        self.nested.pop()

    def _parse(self, path: FilePath) -> XmlElement:
        self.files += 1
        document = xml.read(path, depth=MAX_DEPTH, elements=MAX_READ - self.elements)
        self.elements += document.elements
        if document.rest is not None:
            text = f"what stands after </{document.root.tag}> is left out."
            if self.options.strict:
                raise FormatError(path, text, line=document.rest)
            self.remarks.add("rest", text, Path(path).name, document.rest)
        return document.root

    def _include(self, root: XmlElement, model: Path) -> None:
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
                waiting.append(node)  # what was included includes more
            else:
                waiting += children

    def _found(self, node: XmlElement, folder: Path) -> Path:
        """Return the file that an element names, if it may be read."""
        name, verb = node.attributes.get("file", ""), "includes" if node.tag == "include" else "takes bodies from"
        if not name or "\0" in name:
            raise FormatError(node.path, f"has <{node.tag}> that names no file.", line=node.line)
        if self.files >= MAX_FILES:
            raise FormatError(node.path, f"is made of more than {MAX_FILES} files.", line=node.line)
        for file in (folder / name, Path(node.path).parent / name):
            if not self.options.allows(file, self.home):
                message = (
                    f"{verb} {name!r}, outside the model's folder; allow that folder with folders=[...] (--folder)."
                )
                raise FormatError(node.path, message, line=node.line)
            if file.is_file():
                return file
        raise FormatError(node.path, f"{verb} {name!r}, which is not there.", line=node.line)

    def _name_meshes(self, root: XmlElement, folder: Path) -> None:
        """Write the names of mesh files as they are from home, with their folder.

        As in MuJoCo, that is the ``meshdir`` from the model's folder; where there is no such file, the folder of the
        file that was included.
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
    except (OSError, ValueError):  # a name that no file can have
        return False
