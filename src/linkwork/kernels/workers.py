"""Processes that compile kernels in parallel."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from typing import Any

from .threads import cores

Progress = Callable[[int, int, str], None]


def work_on(
    symbols: Iterable[str],
    work: Callable[..., Any],
    *arguments: Any,
    workers: int | None = None,
    apart: bool = False,
    progress: Progress | None = None,
) -> list[Any]:
    """Return the results of some work for each symbol, in any order, computed by parallel processes.

    A frozen single-file application has no Python to start, and would start itself: it does the work in this process.

    Args:
        symbols: Names of functions, the slowest first.
        work: Called with a symbol and the arguments, in another process.
        *arguments: Further arguments of `work`.
        workers: Number of processes; by default the number of cores.
        apart: Whether each symbol gets its own process. Numba numbers the functions that it compiles and puts the
            numbers into names, so code depends on what was compiled before in the same process.
        progress: Called with the number of completed symbols, their total number and the last symbol.
    """
    if not can_start_python():
        return _here([*symbols], work, arguments, progress)
    with ProcessPoolExecutor(
        workers or cores(),
        mp_context=get_context("spawn"),
        initializer=_end_with_parent,
        max_tasks_per_child=1 if apart else None,
    ) as pool:
        under_way = {pool.submit(work, symbol, *arguments): symbol for symbol in symbols}
        found = []
        try:
            for count, done in enumerate(as_completed(under_way), start=1):
                found.append(done.result())
                if progress is not None:
                    progress(count, len(under_way), under_way[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def can_start_python() -> bool:
    """Return whether `sys.executable` is Python, not an application that contains linkwork, as made by PyInstaller."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _here(
    symbols: list[str], work: Callable[..., Any], arguments: tuple[Any, ...], progress: Progress | None
) -> list[Any]:
    """Do the work in this process."""
    found = []
    for count, symbol in enumerate(symbols, start=1):
        found.append(work(symbol, *arguments))
        if progress is not None:
            progress(count, len(symbols), symbol)
    return found


def _end_with_parent() -> None:
    """End this process if its parent is killed, since no one waits for its work then."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
