"""Work that takes long: what of it is done is shown in all pages, and any of them can cancel it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import LinkworkError

MOST = 4  # jobs at a time
KEPT = 8  # that are over and still shown


class CancelledError(LinkworkError):
    """A person has cancelled a job."""


@dataclass
class Job:
    """One piece of work.

    Attributes:
        number: Its number, which no other has.
        what: What it does, such as ``"film of motion"``.
        share: How much of it is done, from 0 to 1.
        state: ``"working"``, ``"done"``, ``"cancelled"`` or ``"failed"``.
        said: Where its file is, or what went wrong.
    """

    number: int
    what: str
    share: float = 0.0
    state: str = "working"
    said: str = ""
    stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def shown(self) -> dict[str, Any]:
        """Return it for a page."""
        return {
            "number": self.number, "what": self.what, "share": round(self.share, 3), "state": self.state,
            "said": self.said,
        }  # fmt: skip


class Jobs:
    """All jobs of a studio, each in a thread of its own.

    Args:
        changed: Told what there is to show after every change, in whatever thread.
    """

    def __init__(self, changed: Callable[[list[dict[str, Any]]], None]) -> None:
        self._changed, self._lock = changed, threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._count = 0

    def begin(self, what: str, work: Callable[[Callable[[float], None]], str]) -> int:
        """Begin a job and return its number.

        Args:
            what: What it does.
            work: Called with a function that it tells its share, and that raises if it was cancelled; it returns what
                is to be said at its end.

        Raises:
            LinkworkError: If too many are under way.
        """
        with self._lock:
            if sum(job.state == "working" for job in self._jobs.values()) >= MOST:
                raise LinkworkError(f"{MOST} things are being made already; wait for one of them, or cancel it.")
            self._count += 1
            job = self._jobs[self._count] = Job(self._count, what)
            for old in [number for number, one in self._jobs.items() if one.state != "working"][:-KEPT]:
                del self._jobs[old]
        threading.Thread(target=self._run, args=(job, work), name=f"linkwork {what}", daemon=True).start()
        self.tell()
        return job.number

    def cancel(self, number: int) -> None:
        """Have a job end soon, if it has not ended."""
        with self._lock:
            job = self._jobs.get(number)
        if job is not None:
            job.stop.set()

    def close(self) -> None:
        """Cancel everything."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()

    def tell(self) -> None:
        """Tell what there is."""
        with self._lock:
            shown = [job.shown() for job in self._jobs.values()]
        self._changed(shown)

    def _run(self, job: Job, work: Callable[[Callable[[float], None]], str]) -> None:
        def progress(share: float) -> None:
            if job.stop.is_set():
                raise CancelledError(f"{job.what} was cancelled.")
            if share - job.share > 0.01 or share >= 1.0:
                job.share = min(share, 1.0)
                self.tell()

        try:
            progress(0.0)
            job.said = work(progress)
            job.state, job.share = "done", 1.0
        except CancelledError:
            job.state = "cancelled"
        except LinkworkError as error:
            job.state, job.said = "failed", str(error)
        except Exception as error:  # whatever it was, the page is told; the studio goes on
            job.state, job.said = "failed", f"{type(error).__name__}: {error}"
        self.tell()
