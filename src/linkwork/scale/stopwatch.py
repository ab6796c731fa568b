"""Measure how the time of a run is spent."""

from __future__ import annotations

import time
from collections import Counter

KINDS = ("digest", "read", "wait", "solve", "write")


class Stopwatch:
    """Time spent by one worker, by kind of work [s]; the time since the last lap belongs to the current one.

    Example:
        >>> watch = Stopwatch()
        >>> watch.lap("read")
        >>> [*watch.times]
        ['read']
    """

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self._since = time.perf_counter()

    def lap(self, kind: str) -> None:
        """Add the time since the last lap to a kind of work."""
        now = time.perf_counter()
        self.times[kind] += now - self._since  # type: ignore[assignment]  # mypy expects integers in a Counter
        self._since = now
