"""A pool of GPU memory for results; allocating it takes longer than computing the results."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any


class Lease:
    """Protects lent memory from reuse while it is held."""


class Lender:
    """Lends memory, and takes it back when its lease is no longer held.

    Function that allocates memory for a number of results.
        make: Returns memory for a number of answers.
        worth_keeping: Whether memory for a number of answers may stay allocated while it is not used.
    """

    def __init__(self, make: Callable[[int], Any], worth_keeping: Callable[[int], bool]) -> None:
        self.make, self.worth_keeping = make, worth_keeping
        self._returned: dict[int, Any] = {}

    def lent(self, count: int) -> tuple[Any, Lease]:
        """Return memory for a number of results, and its lease; memory of the last batch is reused if it fits."""
        memory = self._returned.pop(count, None)
        self._returned.clear()
        if memory is None:
            memory = self.make(count)
        lease = Lease()
        if self.worth_keeping(count):
            weakref.finalize(lease, self._returned.__setitem__, count, memory).atexit = False
        return memory, lease
