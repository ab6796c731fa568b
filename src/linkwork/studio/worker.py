"""One thread that works off what it is given: of work with one name only the newest, so that it never lags behind.

Imports nothing from the package. All changes of a session are made by one such thread: pages that are open side by side
cannot corrupt each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Work = Callable[[], None]


class Worker:
    """A thread with a short list of named work.

    Args:
        name: The thread's name.
        failed: Called with whatever a piece of work raises; the thread goes on.
    """

    def __init__(self, name: str, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._waiting: dict[str, Work] = {}
        self._count = 0
        self._tick: tuple[float, Work] | None = None
        self._open, self._busy = True, False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Work, *, name: str | None = None) -> None:
        """Have something done. Of what has the same name and has not begun, only the newest is."""
        with self._change:
            if not self._open:
                return
            self._count += 1
            key = f"#{self._count}" if name is None else name
            self._waiting.pop(key, None)  # the newest goes to the end
            self._waiting[key] = work
            self._change.notify_all()

    def every(self, seconds: float, work: Work | None) -> None:
        """Have something done again and again while there is nothing else to do; None ends it."""
        with self._change:
            self._tick = None if work is None else (seconds, work)
            self._change.notify_all()

    def idle(self, timeout: float) -> bool:
        """Wait until nothing is left to do, and return whether that came about in time [s]."""
        with self._change:
            return self._change.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Drop what is waiting, let what has begun finish, and end the thread."""
        with self._change:
            self._open, self._tick = False, None
            self._waiting.clear()
            self._change.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self) -> None:
        due = 0.0
        while True:
            with self._change:
                self._busy = False
                self._change.notify_all()
                work: Work | None = None
                while self._open and work is None:
                    work, due = self._next(due)
                if work is None:
                    return
                self._busy = True
            try:
                work()
            except Exception as error:  # whatever it was, the thread lives on and says so
                self._failed(error)

    def _next(self, due: float) -> tuple[Work | None, float]:
        """Return what to do now, or wait a while for something, and when the next tick is due."""
        now = time.monotonic()
        if self._waiting:
            return self._waiting.pop(next(iter(self._waiting))), due
        if self._tick is None:
            self._change.wait()
            return None, 0.0
        seconds, work = self._tick
        if now >= due:
            return work, now + seconds
        self._change.wait(due - now)
        return None, due
