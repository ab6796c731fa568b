"""Distribute work to threads so that Ctrl-C ends it at any moment and leaves nothing waiting.

An interrupt can be raised between any two steps of the main thread. Within the locks of `threading` and
`concurrent.futures`, which are written in Python, it would leave a lock taken that the workers need, and all would wait
for ever. So the main thread uses none of them here: shared data is changed in single steps, and queues written in C,
which an interrupt cannot leave inconsistent, only tell when to look.
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
LOOK = 0.1  # s: interval at which waiting threads wake up to check (Windows delays Ctrl-C until then)


def cores() -> int:
    """Return the number of cores this process may use; `taskset`, batch systems or ``PYTHON_CPU_COUNT`` limit it."""
    counted = getattr(os, "process_cpu_count", None)  # since Python 3.13
    if counted is not None:
        return int(counted() or 1)
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def dealt(work: Callable[[Item], Answer], items: Sequence[Item], threads: int) -> Generator[Answer, None, None]:
    """Yield the results of work on each item as they are completed; idle threads take the next item.

    Work is at most two items per thread ahead of the consumer. If it raises, or the consumer stops early, running items
    are completed and no others are started.

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
            busy.add(number)  # before taking an item: if nothing is left to do and no thread is busy, all work is done
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
    """Return the next item of a queue, or None after a timeout."""
    with suppress(Empty):
        return queue.get(timeout=LOOK)
    return None
