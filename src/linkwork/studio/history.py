"""Undo and redo: a line of snapshots, what each change was, and where on it one stands.

Snapshots are values that never change: keeping one costs what it does not share with the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Snapshot = TypeVar("Snapshot")
LONGEST = 500
HEAVIEST = 2**26  # bytes


class History(Generic[Snapshot]):
    """The states that a person has been through.

    Args:
        first: The state that everything begins with.
        longest: How many states are kept; the oldest are forgotten.
        weigh: Says how many bytes a state holds, beside what it shares with the one before; None before the first.
        heaviest: How many bytes are kept; the oldest are forgotten. The present state and the one before it never are:
            whatever was opened, one can go back.

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
        """How many bytes the states hold."""
        return sum(self._weights)

    @property
    def present(self) -> Snapshot:
        """The state one stands at."""
        return self._states[self._at][0]

    @property
    def can_undo(self) -> str:
        """What an undo takes back, in a few words; empty if there is nothing."""
        return self._states[self._at][1] if self._at > 0 else ""

    @property
    def can_redo(self) -> str:
        """What a redo brings again; empty if there is nothing."""
        return self._states[self._at + 1][1] if self._at < len(self._states) - 1 else ""

    def record(self, state: Snapshot, what: str, *, instead: bool = False) -> None:
        """Keep a new state; what was undone is forgotten. The state one stands at is not kept twice.

        Args:
            state: The new state.
            what: What the change was, such as ``"drag of tip"``.
            instead: Whether it takes the place of the one that one stands at, as the next moment of the same change.
        """
        if state is self.present:
            return
        kept = self._at if instead and self._at > 0 and self.can_undo == what else self._at + 1
        before = self._states[kept - 1][0] if kept else None
        self._states = [*self._states[:kept], (state, what)]
        self._weights = [*self._weights[:kept], self._weigh(state, before)]
        while len(self._states) > self._longest or (self.weight > self._heaviest and len(self._states) > 2):
            del self._states[0], self._weights[0]
            self._weights[0] = self._weigh(self._states[0][0], None)  # what it shared is its own now
        self._at = len(self._states) - 1

    def undo(self) -> Snapshot:
        """Go back one state, if there is one, and return where one stands."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> Snapshot:
        """Go forward again, if something was undone, and return where one stands."""
        self._at = min(len(self._states) - 1, self._at + 1)
        return self.present
