"""Files given as text: a stand-in for the file, and recognition of the format."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

LONGEST_NAME = 1000  # characters; longer texts are not file names
_SPACE, _TAG = re.compile(r"\s*"), re.compile(r"<(?:\w+:)?([\w.-]+)")
_BEFORE_THE_ROOT = {"<?": "?>", "<!--": "-->", "<!": ">"}  # start and end of what may precede the root element in XML
_STARTS = {"HIERARCHY": "bvh", "#usda": "usda", "#USDA": "usda", "linkwork:": "yaml"}
_SEEN = 2000  # characters used for a guess


class TextFile(os.PathLike[str]):
    """A stand-in for a file given as text: readers use it as a path, and `read_bytes` returns its content.

    Args:
        content: The text, or its bytes.
        kind: Its format for error messages, such as ``"urdf"``.
        suffix: The suffix that the file would have.
        folder: The folder that it would be in. None stands for a folder that does not exist: no other file is read.
    """

    def __init__(self, content: str | bytes, kind: str, suffix: str, folder: str | os.PathLike[str] | None) -> None:
        self.content, self.kind, self.has_folder = content, kind, folder is not None
        parent = Path(tempfile.gettempdir(), f"linkwork-{os.urandom(8).hex()}") if folder is None else Path(folder)
        self._path = os.fspath(parent / f"text{suffix}")

    def __fspath__(self) -> str:
        return self._path

    def __str__(self) -> str:
        return f"<{self.kind} text>"

    def read(self, limit: int) -> bytes:
        """Return its first `limit` characters or bytes, as bytes; raise UnicodeEncodeError for invalid text."""
        return self.content[:limit].encode() if isinstance(self.content, str) else bytes(self.content[:limit])


def root_tag(text: str) -> str | None:
    """Return the name of the root element of XML, without its prefix; None if it does not look like XML.

    Example:
        >>> root_tag("<?xml version='1.0'?><!-- an arm --><robot name='arm'/>")
        'robot'
    """
    at = 0
    while at >= 0:
        at += len(_SPACE.match(text, at)[0])  # type: ignore[index]  # it matches anywhere
        close = next((close for start, close in _BEFORE_THE_ROOT.items() if text.startswith(start, at)), None)
        if close is None:
            tag = _TAG.match(text, at)
            return tag and tag[1]
        at = text.find(close, at)
        at += len(close) if at >= 0 else 0
    return None


def guessed_kind(name: str) -> str | None:
    """Return the likely format of a text given in place of a file name; None if it may be a name.

    Example:
        >>> guessed_kind("<?xml version='1.0'?><robot name='arm'/>"), guessed_kind("arm.urdf")
        ('urdf', None)
    """
    start = name[:_SEEN].lstrip("\ufeff \t\r\n")
    if (tag := root_tag(start)) is not None:
        return {"robot": "urdf", "mujoco": "mjcf"}.get(tag, "xml")
    if start.startswith("{"):
        return "gltf" if '"asset"' in start else "json"
    guess = "yaml" if "\n" in name.strip() or len(name) > LONGEST_NAME else None
    return next((kind for mark, kind in _STARTS.items() if start.startswith(mark)), guess)
