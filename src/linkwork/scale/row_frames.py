"""Goals whose frame is named by a column; a row with an unusable frame fails on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FormatError, FrameNotFoundError, GoalError, OptionError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray

COLUMN = "frame"


class RowFrames:
    """The frames of a linkage that goals can be for.

    Args:
        linkage: The linkage.
        tried: Function that solves an empty batch for a frame, and raises an error if the frame cannot be used.

    Raises:
        GoalError: If the linkage has no frame that can be moved to a goal.
    """

    def __init__(self, linkage: Linkage, tried: Callable[[str], Any]) -> None:
        self.linkage, self.tried = linkage, tried
        self.known: dict[str, str] = {}  # reason why a frame is unusable, or empty
        self.usual = next((name for name in reversed(linkage.frames) if not self.why_not(name)), "")
        if not self.usual:
            raise GoalError(f"linkage {linkage.name!r} has no frame that can be moved to a goal.")

    def why_not(self, name: Any) -> str:
        """Return why a frame cannot have goals; empty if it can."""
        if not name or not isinstance(name, str):
            return "no frame is given"
        if name not in self.known:
            try:
                self.tried(name)
                self.known[name] = ""
            except (FrameNotFoundError, GoalError) as error:
                self.known[name] = str(error).rstrip(".")
        return self.known[name]

    def of(self, names: list[Any], targets: FloatArray, first: int) -> tuple[list[str], FloatArray, list[str]]:
        """Return a frame for each row, targets (not finite in rows with an unusable frame), and notes on those rows."""
        wrong = {k: why for k, name in enumerate(names) if (why := self.why_not(name))}
        if not wrong:
            return names, targets, []
        spoiled = np.array(targets, np.float64)
        spoiled[list(wrong)] = np.nan
        known = [self.usual if k in wrong else name for k, name in enumerate(names)]
        return known, spoiled, [f"row {first + k}: {why}" for k, why in wrong.items()]


def with_frames(keep: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return the columns to copy, by their names in the answers, including that of frames."""
    every = dict(keep) if isinstance(keep, Mapping) else {name: name for name in keep}
    if every.setdefault(COLUMN, COLUMN) != COLUMN:
        raise OptionError(f"the column {COLUMN} names the frame of each goal and keeps its name in the answers.")
    return every


def check_column(goals: object, types: Mapping[str, Any]) -> None:
    """Raise FormatError unless a dataset has the column of frames, with texts."""
    kind = types.get(COLUMN)
    if str(kind) not in ("string", "large_string") and not str(kind).startswith("dictionary<values=string"):
        raise FormatError(str(goals), f"column {COLUMN!r} names the frame of each goal; it holds {kind}, not texts.")
