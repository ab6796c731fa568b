"""A worker thread: of tasks with the same name it runs only the newest, so that it never lags behind.

One such thread makes all changes of a session, so that several pages cannot corrupt each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Work = Callable[[], None]


class Worker:
    """A thread with a short queue of named tasks.

    Args:
        name: The thread's name.
        failed: Called with the error of a task; the thread goes on.
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
        """Run a task, after a delay [s] if one is given.

        Of tasks with the same name that have not begun, only the newest runs, at the time of the first.
        """
        with self._change:
            if not self._open:
                return
            self._count += 1
            key = f"#{self._count}" if name is None else name
            due = time.monotonic() + after
            self._waiting[key] = (min(due, self._waiting[key][0]) if key in self._waiting else due, work)
            self._change.notify_all()

    def idle(self, timeout: float) -> bool:
        """Wait until all tasks are done; return False if the timeout [s] passes first."""
        with self._change:
            return self._change.wait_for(lambda: not self._waiting and not self._busy, timeout)

    def close(self, timeout: float = 10.0) -> None:
        """Drop waiting tasks, let the running one finish, and end the thread."""
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
            except Exception as error:  # any error is reported, and the thread goes on
                self._failed(error)

    def _next(self) -> Work | None:
        """Return the next task that is due; or wait for one, and return None."""
        key = min(self._waiting, key=lambda name: self._waiting[name][0], default=None)
        if key is None:
            self._change.wait()
            return None
        left = self._waiting[key][0] - time.monotonic()
        if left > 0.0:
            self._change.wait(left)
            return None
        return self._waiting.pop(key)[1]
