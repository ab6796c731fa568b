"""What a file holds: a linkage, the clips that come with it, and remarks on what was assumed or odd.

Every format's `read` returns a `Content` and its `write` takes one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..linkage.linkage import Linkage
from ..motion.clips import Clip


@dataclass(frozen=True)
class Remark:
    """Something a person should know about a file: what was assumed, what is odd, what cannot be held.

    Args:
        kind: A short fixed word for programs: ``"units"``, ``"up-axis"``, ``"missing-mesh"``, ``"dropped"``, ...
        text: One sentence for people, with its numbers.
        where: The joint, link, frame or channel that it is about, if it is about one.
        line: The line of the file, where there is one.
    """

    kind: str
    text: str
    where: str = ""
    line: int | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """A file's content.

    Args:
        linkage: The linkage.
        clips: Motions by name, in file order; empty where there are none.
        remarks: What was assumed or odd.
    """

    linkage: Linkage
    clips: Mapping[str, Clip] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


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
