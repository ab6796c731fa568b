"""Undo and redo: a list of snapshots with the name of each change, and the position of the present one.

Snapshots are immutable: keeping one costs only the memory that it does not share with the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Snapshot = TypeVar("Snapshot")
LONGEST = 500
HEAVIEST = 2**26  # bytes


class History(Generic[Snapshot]):
    """The states of a session, for undo and redo.

    Args:
        first: The first state.
        longest: Largest number of states; the oldest are dropped.
        weigh: Returns the bytes of a state without those that it shares with the one before (None for the first).
        heaviest: Largest number of bytes; the oldest states are dropped, but never the present one and the one before
            it, so that a large file can always be undone.

    Example:
        >>> history = History("a")
        >>> history.record("b", "a letter")
        >>> history.can_undo, history.undo(), history.can_undo, history.redo()
        ('a letter', 'a', '', 'b')
    """

    def __init__(
        self,
        first: Snapshot,
        *,
        longest: int = LONGEST,
        weigh: Callable[[Snapshot, Snapshot | None], int] = lambda *_: 0,
        heaviest: int = HEAVIEST,
    ) -> None:
        self._states = [(first, "")]
        self._at = 0
        self._longest = max(1, longest)
        self._weigh, self._heaviest = weigh, heaviest
        self._weights = [weigh(first, None)]

    def __len__(self) -> int:
        return len(self._states)

    @property
    def weight(self) -> int:
        """Bytes that the states hold."""
        return sum(self._weights)

    @property
    def present(self) -> Snapshot:
        """The present state."""
        return self._states[self._at][0]

    @property
    def can_undo(self) -> str:
        """Name of the change that an undo takes back; empty if there is none."""
        return self._states[self._at][1] if self._at > 0 else ""

    @property
    def can_redo(self) -> str:
        """Name of the change that a redo brings back; empty if there is none."""
        return self._states[self._at + 1][1] if self._at < len(self._states) - 1 else ""

    def record(self, state: Snapshot, what: str, *, instead: bool = False) -> None:
        """Add a new state after the present one; undone states are dropped. The present state is not added twice.

        Args:
            state: The new state.
            what: Name of the change, such as ``"drag of tip"``.
            instead: Replace the present state if its change has the same name, as in a continued drag.
        """
        if state is self.present:
            return
        kept = self._at if instead and self._at > 0 and self.can_undo == what else self._at + 1
        before = self._states[kept - 1][0] if kept else None
        self._states = [*self._states[:kept], (state, what)]
        self._weights = [*self._weights[:kept], self._weigh(state, before)]
        while len(self._states) > self._longest or (self.weight > self._heaviest and len(self._states) > 2):
            del self._states[0], self._weights[0]
            self._weights[0] = self._weigh(self._states[0][0], None)  # it is now the first state and shares nothing
        self._at = len(self._states) - 1

    def undo(self) -> Snapshot:
        """Go back one state, if there is one, and return the present state."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> Snapshot:
        """Go forward one state, if one was undone, and return the present state."""
        self._at = min(len(self._states) - 1, self._at + 1)
        return self.present
