"""Names for what a file leaves unnamed or names twice. Imports nothing of the package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Names:
    """Gives every name once: one that is taken is followed by a number.

    Args:
        wanted: Names that will be asked for; no number makes another name one of these.

    Example:
        >>> names = Names(["hand", "hand", "hand_2"])
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
