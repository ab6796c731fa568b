"""What a file holds: a linkage, the clips that come with it, and remarks on what was assumed or odd.

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
    """Remarks as they are collected while a file is read or written."""

    def add(self, kind: str, text: str, where: str = "", line: int | None = None) -> None:
        """Add a remark; the arguments are those of `Remark`."""
        self.append(Remark(kind, text, where, line))


@contextmanager
def file_errors(path: object) -> Iterator[None]:
    """Name the file in errors of the linkage itself: every part was read, and together they make no linkage."""
    try:
        yield
    except (FormatError, MissingExtraError, OptionError, VersionError):
        raise
    except (LinkworkError, np.linalg.LinAlgError) as error:
        raise FormatError(path, str(error)) from error


@dataclass(frozen=True, eq=False)
class Content:
    """A file's content.

    Args:
        linkage: The linkage.
        clips: Motions by name, in file order; empty where there are none.
        remarks: What was assumed or odd.
        roles: Links by the part of the body that they are, where a file to be written needs to know.
    """

    linkage: Linkage
    clips: Mapping[str, Clip] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)


def carried(content: Content, linkage: Linkage) -> Content:
    """Return content whose motions are those of another linkage with the same coordinates, in any order."""
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
    """Raise if joints of the same names bring their links elsewhere: other axes, signs or lengths."""
    shown = np.linspace(0, len(own) - 1, min(len(own), FRAMES_COMPARED)).astype(np.int64)
    before, after = own.linkage.forward(own.poses[shown]), carried.linkage.forward(carried.poses[shown])
    for joint in carried.linkage.joints:
        if joint in own.linkage.joints:
            here, there = carried.linkage.joint(joint).child, own.linkage.joint(joint).child
            away = float(np.linalg.norm(after[here][:, :3, 3] - before[there][:, :3, 3], axis=-1).max())
            if away > SAME_PLACE * (1.0 + carried.linkage.length):
                raise LinkageError(
                    f"the motion does not fit linkage {carried.linkage.name!r}: its joint {joint!r} has the name of "
                    f"one in the file, but turns or stands otherwise; link {here!r} would be off by {away:.3g} m."
                )


class UniqueNames:
    """Gives every name once, where a file leaves one out or has it twice: a name that is taken gets a number.

    Args:
        wanted: Names that will be asked for; no number makes another name one of these.

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
        """Return a name that has not been given yet, made from the stand-in if there is none."""
        base = free = name or stand_in
        while free in self._taken or (free in self._wanted and free != name):
            self._tries[base] += 1
            free = f"{base}_{self._tries[base] + 1}"
        self._taken.add(free)
        return free


def counted(number: int, what: str) -> str:
    """Return a number of things in words.

    Example:
        >>> counted(1, "node"), counted(2, "mesh")
        ('1 node', '2 meshes')
    """
    ending = "" if number == 1 else "es" if what.endswith("sh") else "s"
    return f"{number} {what}{ending}"
