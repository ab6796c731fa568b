"""Progress of a long computation for log files: whole lines of plain text, and only a few."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .terminal_bar import Remaining, bar, on_terminal

PAUSE, SHARE, LONGEST = 30.0, 0.01, 600.0  # between lines: shortest time [s], smallest share, longest time [s]


@contextmanager
def lines(title: str, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[float, str], None]]:
    """Provide a function that reports the share done, 0 to 1, with a text: at most 100 lines, or one in ten minutes.

    Nothing is printed in the first half minute.

    Args:
        title: The task: ``"solving"``.
        clock: Function that returns the time [s].
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
    """Provide a function that shows the share done, 0 to 1: a bar on a terminal, lines if stderr is redirected."""
    with bar(title, after=after) if on_terminal() else lines(title) as report:
        yield report
