"""Work dealt out to threads so that Ctrl-C, at whatever moment it comes, ends it and leaves nothing waiting.

An interrupt is raised between any two steps of the main thread. Inside the locks of `threading` and
`concurrent.futures`, which are Python themselves, it leaves a lock taken that the workers need, and all wait for ever.
So the main thread takes none of those here: what is shared is changed in single steps, and queues written in C, which
an interrupt cannot tear, only say when to look.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")
LOOK = 0.1  # s: whoever waits looks around so often, also where nothing wakes it (Windows holds Ctrl-C back so long)


def cores() -> int:
    """Return how many cores this process may use: what `taskset`, a batch system or ``PYTHON_CPU_COUNT`` leave it."""
    counted = getattr(os, "process_cpu_count", None)  # from Python 3.13 on
    if counted is not None:
        return int(counted() or 1)
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def dealt(work: Callable[[Item], Answer], items: Sequence[Item], threads: int) -> Generator[Answer, None, None]:
    """Yield what work makes of each item, as it is done; idle threads take the next, so that a busy core holds up none.

    Work is at most two items a thread ahead of who takes the answers. Where it raises, or who takes the answers ends
    early, items that are under way are brought to their end, and no others are begun.

    Example:
        >>> sorted(dealt(abs, [-3, 1, -2], threads=2))
        [1, 2, 3]
    """
    threads = min(threads, len(items))
    todo, busy, over = deque[Item](), set[int](), False
    calls, done = SimpleQueue[None](), SimpleQueue[tuple[Any, BaseException | None]]()

    def worker(number: int) -> None:
        sys.settrace(threading.gettrace())  # as `threading` does, for debuggers and coverage
        while not over:
            busy.add(number)  # before it takes an item: with nothing to do and no one busy, no work goes on
            try:
                item = todo.popleft()
            except IndexError:
                busy.discard(number)
                _wait(calls)
                continue
            answer: tuple[Any, BaseException | None]
            try:
                answer = work(item), None
            except BaseException as error:
                answer = None, error
            busy.discard(number)
            done.put(answer)

    try:
        for number in range(threads):
            _thread.start_new_thread(worker, (number,))
        dealt_out = 0
        for taken in range(len(items)):
            for item in items[dealt_out : taken + 2 * threads]:
                todo.append(item)
                calls.put(None)
                dealt_out += 1
            while (answer := _wait(done)) is None:
                pass
            if answer[1] is not None:
                raise answer[1]
            yield answer[0]
    finally:
        over = True
        todo.clear()
        for _ in range(threads):
            calls.put(None)
        while busy:
            _wait(done)


def _wait(queue: SimpleQueue[Answer]) -> Answer | None:
    """Return what comes out of a queue, or None after a while."""
    with suppress(Empty):
        return queue.get(timeout=LOOK)
    return None
