"""Handle joints that follow others beyond their own limits: add a remark, or tighten the limits of the leader."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..linkage.followers import narrowed, overruns
from ..linkage.linkage import Linkage
from .content import Remarks
from .options import Options

NO_LINES: Mapping[str, int] = MappingProxyType({})


def held(linkage: Linkage, options: Options, remarks: Remarks, lines: Mapping[str, int] = NO_LINES) -> Linkage:
    """Return a linkage with limits as set by `options.limits`, and add a remark on every follower that exceeds its own.

    Args:
        linkage: The linkage as in the file: every leader has its own limits.
        options: Options for reading.
        remarks: Remarks are added to this.
        lines: The line of each joint, if the file has lines.
    """
    result, beyond = narrowed(linkage) if options.limits == "followers" else (linkage, overruns(linkage))
    for overrun in beyond:
        remarks.add("mimic-limits", overrun.text, overrun.joint, lines.get(overrun.joint))
    if result is not linkage:
        for before, after in zip(linkage.table, result.table, strict=True):
            if (before.lower, before.upper) != (after.lower, after.upper):
                own, new = (f"{row.lower:.6g} to {row.upper:.6g}" for row in (before, after))
                text = f"the limits of {after.name!r} are {new} instead of {own}, so that its followers keep theirs."
                remarks.add("mimic-limits", text, after.joint, lines.get(after.joint))
    return result
