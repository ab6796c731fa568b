"""Processes that compile kernels side by side."""

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
    """Return what some work gives for each symbol, in no order; it is done in as many processes as there are cores.

    An application that was frozen into one file has no Python to start, and would start itself: it works alone.

    Args:
        symbols: Names of functions, those that take long first.
        work: Called with a symbol and the arguments, in another process.
        *arguments: What else it is called with.
        workers: How many processes at a time.
        apart: Whether each symbol has a process of its own. Numba counts what it has compiled and puts the counts into
            names, so that code depends on what came before it in its process.
        progress: Told how many symbols of how many are done, and the last of them.
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
    """Return whether `sys.executable` is a Python, not an application with linkwork in it, as PyInstaller makes."""
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
    """End this process when the one that started it is killed: no one waits for its work."""

    def wait() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
