"""What a file holds: a linkage, the clips that come with it, and remarks on what was assumed or odd.

Imports `linkage` and `clips`. Every format's `read` returns a `Content` and its `write` takes one.
"""

from __future__ import annotations

from collections.abc import Mapping
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
