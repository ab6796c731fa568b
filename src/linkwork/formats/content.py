"""The content of a file: a linkage, its clips, and remarks on assumptions and oddities.

Every format's `read` returns a `Content` and its `write` takes one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ..errors import (
    FormatError,
    LinkageError,
    LinkworkError,
    MissingExtraError,
    OptionError,
    Remark,
    VersionError,
    listed,
)
from ..linkage.linkage import Linkage
from ..motion.clips import Clip

FRAMES_COMPARED, SAME_PLACE = 5, 1e-5


class Remarks(list[Remark]):
    """A list that collects remarks while a file is read or written."""

    def add(self, kind: str, text: str, where: str = "", line: int | None = None) -> None:
        """Add a remark; the arguments are those of `Remark`."""
        self.append(Remark(kind, text, where, line))


@contextmanager
def file_errors(path: object) -> Iterator[None]:
    """Add the file name to errors of the linkage itself, whose parts are readable but do not form a linkage."""
    try:
        yield
    except (FormatError, MissingExtraError, OptionError, VersionError):
        raise
    except (LinkworkError, np.linalg.LinAlgError) as error:
        raise FormatError(path, str(error)) from error


@dataclass(frozen=True, eq=False)
class Content:
    """The content of a file.

    Args:
        linkage: The linkage.
        clips: Motions by name, in file order; empty by default.
        remarks: Remarks on assumptions and oddities of the file.
        roles: Links by body part, for formats that need them for writing.
    """

    linkage: Linkage
    clips: Mapping[str, Clip] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)


def carried(content: Content, linkage: Linkage) -> Content:
    """Return content with its motions transferred to another linkage with the same coordinates, in any order."""
    own = content.linkage
    missing = [name for name in linkage.coordinates if name not in own.coordinate_index]
    if missing or own.nq != linkage.nq:
        more = missing or [name for name in own.coordinates if name not in linkage.coordinate_index]
        which = f"linkage {linkage.name!r}" if missing else "the file"
        raise LinkageError(f"the motion does not fit linkage {linkage.name!r}: only {which} has {listed(more)}.")
    columns = np.array([own.coordinate_index[name] for name in linkage.coordinates], dtype=np.int64)
    clips = {name: Clip(linkage, clip.times, clip.poses[:, columns]) for name, clip in content.clips.items()}
    for name, clip in clips.items():
        _check_same_motion(content.clips[name], clip)
    return Content(linkage, clips, content.remarks)


def _check_same_motion(own: Clip, carried: Clip) -> None:
    """Raise if joints of the same name move their links differently, because of other axes, signs or lengths."""
    shown = np.linspace(0, len(own) - 1, min(len(own), FRAMES_COMPARED)).astype(np.int64)
    before, after = own.linkage.forward(own.poses[shown]), carried.linkage.forward(carried.poses[shown])
    for joint in carried.linkage.joints:
        if joint in own.linkage.joints:
            here, there = carried.linkage.joint(joint).child, own.linkage.joint(joint).child
            away = float(np.linalg.norm(after[here][:, :3, 3] - before[there][:, :3, 3], axis=-1).max())
            if away > SAME_PLACE * (1.0 + carried.linkage.length):
                raise LinkageError(
                    f"the motion does not fit linkage {carried.linkage.name!r}: its joint {joint!r} differs from the "
                    f"joint of that name in the file; link {here!r} would be off by {away:.3g} m."
                )


class UniqueNames:
    """Makes names unique, for files with missing or repeated names: a name that is taken gets a number.

    Args:
        wanted: Names that will be requested; numbering never produces one of these.

    Example:
        >>> names = UniqueNames(["hand", "hand", "hand_2"])
        >>> [names.take(name) for name in ("hand", "hand", "hand_2")]
        ['hand', 'hand_3', 'hand_2']
    """

    def __init__(self, wanted: Iterable[str] = ()) -> None:
        self._wanted, self._taken = frozenset(wanted), set[str]()
        self._tries: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def take(self, name: str, stand_in: str = "") -> str:
        """Return an unused name, based on `name`, or on `stand_in` if `name` is empty."""
        base = free = name or stand_in
        while free in self._taken or (free in self._wanted and free != name):
            self._tries[base] += 1
            free = f"{base}_{self._tries[base] + 1}"
        self._taken.add(free)
        return free


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where needed.

    Example:
        >>> counted(1, "node"), counted(2, "mesh")
        ('1 node', '2 meshes')
    """
    ending = "" if number == 1 else "es" if what.endswith("sh") else "s"
    return f"{number} {what}{ending}"
