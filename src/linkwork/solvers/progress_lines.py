"""How far a long computation is, for log files: whole lines of plain text, few however long it takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .terminal_bar import Remaining, bar, on_terminal

PAUSE, SHARE, LONGEST = 30.0, 0.01, 600.0  # s and share from one line to the next at least, and s at most


@contextmanager
def lines(title: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[float, str], None]]:
    """Give a function that says how much is done, 0 to 1, and on what: a hundred lines at most, or one in ten minutes.

    Nothing is said of what takes less than half a minute.

    Args:
        title: What is being done: ``"solving"``.
        clock: What time it is [s].
    """
    last, said, remaining = clock(), 0.0, Remaining()

    def tell(done: float, what: str) -> None:
        nonlocal last, said
        now = clock()
        left = remaining.text(now, done)
        if now - last < PAUSE or (done - said < SHARE and now - last < LONGEST):
            return
        last, said = now, done
        if sys.stderr is not None:
            print(f"linkwork: {title}: {done:.1%}{f', {what}' if what else ''}{left}", file=sys.stderr, flush=True)

    yield tell


@contextmanager
def shown(title: str, *, after: float = 0.0) -> Iterator[Callable[[float, str], None]]:
    """Give a function that shows how much is done, 0 to 1: a bar on a terminal, lines where stderr goes elsewhere."""
    with bar(title, after=after) if on_terminal() else lines(title) as report:
        yield report
