"""Files: a linkage from a file and a linkage to a file, the format chosen by the suffix of the name.

Imports everything before it. A new format is one file here, with `read` and `write`, and one row in `FORMATS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePath

from ..errors import FormatError, LinkageError, listed
from ..joints import ARTICULATIONS
from ..linkage import Linkage
from . import scene

FilePath = str | os.PathLike[str]
ROOTS = ("fixed", "planar", "floating")


@dataclass(frozen=True)
class Format:
    """How one kind of file is read and written; None where it cannot be."""

    read: Callable[[FilePath], Linkage] | None
    write: Callable[[Linkage, FilePath], None] | None


FORMATS: dict[str, Format] = {
    ".yaml": Format(scene.read, scene.write),
    ".yml": Format(scene.read, scene.write),
    ".json": Format(scene.read, scene.write),
}


def load(path: FilePath, *, root: str | None = None) -> Linkage:
    """Return the linkage in a file.

    Args:
        path: The file; its suffix says what it is.
        root: Give the linkage another first joint, ``"fixed"``, ``"planar"`` or ``"floating"``, in the place where the
            file has its own. By default the file's is kept.

    Raises:
        FormatError: If the file cannot be read; with its name and, where there is one, the line.
    """
    if root is not None and root not in ROOTS:
        raise LinkageError(f"root is {listed([repr(name) for name in ROOTS])}, got {root!r}.")
    read = _format(path).read
    if read is None:
        raise FormatError(path, f"files of this kind are written, not read; {_known('read')}.")
    linkage = read(path)
    return linkage if root is None else _rooted(linkage, root)


def save(linkage: Linkage, path: FilePath) -> None:
    """Write a linkage to a file: all of it, or nothing and the old file stays.

    Args:
        linkage: What to write.
        path: The file; its suffix says what it will be.

    Raises:
        FormatError: If the file cannot be written.
    """
    write = _format(path).write
    if write is None:
        raise FormatError(path, f"files of this kind are read, not written; {_known('write')}.")
    write(linkage, path)


def _format(path: FilePath) -> Format:
    suffix = PurePath(path).suffix.lower()
    if suffix not in FORMATS:
        got = f"no format {suffix!r}" if suffix else "no suffix that says its format"
        raise FormatError(path, f"{got}; known are {', '.join(FORMATS)}.")
    return FORMATS[suffix]


def _known(verb: str) -> str:
    return f"linkwork can {verb} {', '.join(suffix for suffix, row in FORMATS.items() if getattr(row, verb))}"


def _rooted(linkage: Linkage, root: str) -> Linkage:
    """Return a linkage with another root articulation; its poses keep what they say about the other joints."""
    result = linkage.replace(root=replace(linkage.root, articulation=ARTICULATIONS[root]()), poses={})
    poses = {}
    for name, pose in linkage.poses.items():
        values = dict(zip(linkage.coordinates, pose.tolist(), strict=True))
        poses[name] = result.pose({key: values[key] for key in result.coordinates if key in values})
    return result.replace(poses=poses)
