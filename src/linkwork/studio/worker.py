"""One thread that works off what it is given: of work with one name only the newest, so that it never lags behind.

All changes of a session are made by one such thread: pages that are open side by side cannot corrupt each other.
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
        self._waiting: dict[str, tuple[float, Work]] = {}
        self._count = 0
        self._open, self._busy = True, False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Work, *, name: str | None = None, after: float = 0.0) -> None:
        """Have something done, in a while [s] if one is given.

        Of what has the same name and has not begun, only the newest is done, at the time of the first.
        """
        with self._change:
            if not self._open:
                return
            self._count += 1
            key = f"#{self._count}" if name is None else name
            due = time.monotonic() + after
            self._waiting[key] = (min(due, self._waiting[key][0]) if key in self._waiting else due, work)
            self._change.notify_all()

    def drop(self, name: str) -> None:
        """Forget work of a name that has not begun."""
        with self._change:
            self._waiting.pop(name, None)
            self._change.notify_all()

    def idle(self, timeout: float) -> bool:
        """Wait until nothing is left to do, and return whether that came about in time [s]."""
        with self._change:
            return self._change.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Drop what is waiting, let what has begun finish, and end the thread."""
        with self._change:
            self._open = False
            self._waiting.clear()
            self._change.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._change:
                self._busy = False
                self._change.notify_all()
                work: Work | None = None
                while self._open and work is None:
                    work = self._next()
                if work is None:
                    return
                self._busy = True
            try:
                work()
            except Exception as error:  # whatever it was, the thread lives on and says so
                self._failed(error)

    def _next(self) -> Work | None:
        """Return what is due, the longest waiting first; or wait for something, and return None."""
        key = min(self._waiting, key=lambda name: self._waiting[name][0], default=None)
        if key is None:
            self._change.wait()
            return None
        left = self._waiting[key][0] - time.monotonic()
        if left > 0.0:
            self._change.wait(left)
            return None
        return self._waiting.pop(key)[1]
