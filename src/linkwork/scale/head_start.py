"""Process items with threads of this process while other workers are starting."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from ..kernels.threads import LOOK, dealt


class HeadStart:
    """Items that threads process, a few at a time, until other workers take over.

    Args:
        work: Function that processes an item; its errors are raised by `finish`.
        items: All items.
        threads: How many.

    Example:
        >>> early = HeadStart(abs, [-1, -2], 2)
        >>> answers = sorted(early.finish())
        >>> len(answers) == early.done
        True
    """

    def __init__(self, work: Callable[[Any], Any], items: Sequence[Any], threads: int) -> None:
        self.done, self._over, self._ended = 0, False, False
        self._answers: SimpleQueue[tuple[Any] | BaseException | None] = SimpleQueue()
        _thread.start_new_thread(self._run, (work, items, threads))

    def _run(self, work: Callable[[Any], Any], items: Sequence[Any], threads: int) -> None:
        try:
            while not self._over and self.done < len(items):
                some = items[self.done : self.done + threads]
                for answer in dealt(work, some, threads):
                    self._answers.put((answer,))
                self.done += len(some)
        except BaseException as error:
            self._answers.put(error)
        else:
            self._answers.put(None)

    def finish(self) -> Iterator[Any]:
        """Start no more items; yield the results of those that were done, which are the first `done`."""
        self._over = True
        while not self._ended:
            try:
                answer = self._answers.get(timeout=LOOK)
            except Empty:
                continue
            self._ended = not isinstance(answer, tuple)
            if isinstance(answer, BaseException):
                raise answer
            if answer is not None:
                yield answer[0]
