"""Progress of a batch, shown on a terminal, in a log, or by the caller's own function."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..errors import OptionError
from .progress_lines import shown
from .terminal_bar import on_terminal

LATE = 1.0  # time after which a bar appears by default [s]

Progress = bool | Callable[[int, int], None] | None


def is_watched(progress: Progress) -> bool:
    """Return whether progress is shown anywhere."""
    return callable(progress) or progress is True or (progress is None and on_terminal())


@contextmanager
def reporting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """Provide a function that reports how many are done: on a terminal, in a log, or to the caller's function."""
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if progress not in (None, True, False):
        raise OptionError(f"progress is True, False, None or a function of (done, total), got {progress!r}.")
    if total == 0 or not is_watched(progress):
        yield lambda _: None
        return
    begin = time.monotonic()

    def rate(done: int) -> str:
        return f"{done:,} of {total:,}, {done / max(time.monotonic() - begin, 1e-9):,.0f} a second"

    with shown("solving", after=0.0 if progress else LATE) as show:
        yield lambda done: show(done / total, rate(done))
