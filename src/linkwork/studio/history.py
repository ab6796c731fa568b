"""Undo and redo: a line of snapshots, and where on it one stands.

Snapshots are values that never change, so that keeping one costs a reference.
"""

from __future__ import annotations

from typing import Generic, TypeVar

Snapshot = TypeVar("Snapshot")
LONGEST = 200


class History(Generic[Snapshot]):
    """The states that a person has been through.

    Args:
        first: The state that everything begins with.
        longest: How many states are kept; the oldest are forgotten.

    Example:
        >>> history = History("a")
        >>> history.record("b")
        >>> history.undo(), history.can_undo, history.redo()
        ('a', False, 'b')
    """

    def __init__(self, first: Snapshot, *, longest: int = LONGEST) -> None:
        self._states = [first]
        self._at = 0
        self._longest = max(1, longest)

    @property
    def present(self) -> Snapshot:
        """The state one stands at."""
        return self._states[self._at]

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether a state was undone and nothing recorded since."""
        return self._at < len(self._states) - 1

    def record(self, state: Snapshot, *, instead: bool = False) -> None:
        """Keep a new state; what was undone is forgotten. The state one stands at is not kept twice.

        Args:
            state: The new state.
            instead: Whether it takes the place of the one that one stands at, as the next moment of the same change.
        """
        if state is self.present:
            return
        kept = self._at if instead and self._at > 0 else self._at + 1
        self._states = [*self._states[:kept], state][-self._longest :]
        self._at = len(self._states) - 1

    def undo(self) -> Snapshot:
        """Go back one state, if there is one, and return where one stands."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> Snapshot:
        """Go forward again, if something was undone, and return where one stands."""
        self._at = min(len(self._states) - 1, self._at + 1)
        return self.present
