"""A pool of GPU memory for results; allocating it takes longer than computing the results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


class Lease:
    """What keeps lent memory from being used again."""


class Lender:
    """Lends memory, and takes it back when no one holds its lease.

    Args:
        make: Returns memory for so many answers.
        worth_keeping: Whether memory for so many may stay on the card while no one uses it.
    """

    def __init__(self, make: Callable[[int], Any], worth_keeping: Callable[[int], bool]) -> None:
        self.make, self.worth_keeping = make, worth_keeping
        self._returned: dict[int, Any] = {}

    def lent(self, count: int) -> tuple[Any, Lease]:
        """Return memory for so many answers, that of the last batch if it had as many, and its lease."""
        memory = self._returned.pop(count, None)
        self._returned.clear()
        if memory is None:
            memory = self.make(count)
        lease = Lease()
        if self.worth_keeping(count):
            weakref.finalize(lease, self._returned.__setitem__, count, memory).atexit = False
        return memory, lease
