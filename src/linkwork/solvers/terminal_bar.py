"""Progress of a long computation, on one line of a terminal that is overwritten.

It uses plain text and carriage returns, without colours and escape sequences, which some terminals and logs do not
support.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BAR = 24  # characters
PAUSE = 0.1  # time between updates [s]


def on_terminal() -> bool:
    """Return whether there is a terminal to show progress on: stderr, so that results on stdout stay clean."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def bar(title: str, *, after: float = 0.0) -> Iterator[Callable[[float, str], None]]:
    """Provide a function that shows the share done, 0 to 1, with a text; the line is removed at the end.

    Args:
        title: The task: ``"solving"``.
        after: Time before anything is shown [s].
    """
    shown, last = 0, time.monotonic() + after - PAUSE
    remaining = Remaining()

    def show(done: float, what: str) -> None:
        nonlocal shown, last
        now, share = time.monotonic(), min(max(done, 0.0), 1.0)
        left = remaining.text(now, share)
        if now - last < PAUSE:
            return
        last = now
        filled = round(share * BAR)
        text = f"{title} [{'#' * filled}{'.' * (BAR - filled)}] {share:4.0%}{left}{f'  {what}' if what else ''}"
        text = text[: shutil.get_terminal_size().columns - 1]
        _write(text + " " * (shown - len(text)))
        shown = len(text)

    try:
        yield show
    finally:
        if shown:
            _write(" " * shown)
            _write("")


def _write(text: str) -> None:
    if sys.stderr is not None:  # print(file=None) would write to stdout
        print(f"\r{text}", end="", file=sys.stderr, flush=True)


class Remaining:
    """Estimate of the remaining time, from the progress since the first report.

    So neither the start-up nor work of an earlier run that is resumed distorts it.

    Example:
        >>> remaining = Remaining()
        >>> remaining.text(10.0, 0.50), remaining.text(20.0, 0.75)
        ('', ', 0:00:10 left')
    """

    def __init__(self) -> None:
        self.first: tuple[float, float] | None = None

    def text(self, now: float, done: float) -> str:
        """Return the remaining time, after a comma; empty if it is not known yet."""
        if self.first is None:
            self.first = now, done
        begin, share = self.first
        return f", {_clock((now - begin) * (1.0 - done) / (done - share))} left" if done > share else ""


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
