"""Long-running jobs: all pages show their progress, and any page can cancel them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import LinkworkError

MOST = 4  # jobs at a time
KEPT = 8  # finished jobs that are still shown


class CancelledError(LinkworkError):
    """A job was cancelled."""


@dataclass
class Job:
    """One job.

    Attributes:
        number: Its unique number.
        what: Its description, such as ``"motion.gif"``.
        share: Fraction that is done, from 0 to 1.
        state: ``"working"``, ``"done"``, ``"cancelled"`` or ``"failed"``.
        said: URL of its file, or the error.
    """

    number: int
    what: str
    share: float = 0.0
    state: str = "working"
    said: str = ""
    stop: threading.Event = field(default_factory=threading.Event, repr=False)

    def shown(self) -> dict[str, Any]:
        """Return the job as plain data for a page."""
        return {
            "number": self.number, "what": self.what, "share": round(self.share, 3), "state": self.state,
            "said": self.said,
        }  # fmt: skip


class Jobs:
    """All jobs of a studio, each in its own thread.

    Args:
        changed: Called with all jobs as plain data after every change, in any thread.
    """

    def __init__(self, changed: Callable[[list[dict[str, Any]]], None]) -> None:
        self._changed, self._lock = changed, threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._count = 0

    def begin(self, what: str, work: Callable[[Callable[[float], None]], str]) -> int:
        """Start a job and return its number.

        Args:
            what: Its description.
            work: Does the job and returns the text for `Job.said`. It is called with a progress function, which takes
                the fraction that is done and raises if the job was cancelled.

        Raises:
            LinkworkError: If too many jobs are running.
        """
        with self._lock:
            if sum(job.state == "working" for job in self._jobs.values()) >= MOST:
                raise LinkworkError(f"{MOST} jobs are running already; wait for one of them, or cancel it.")
            self._count += 1
            job = self._jobs[self._count] = Job(self._count, what)
            for old in [number for number, one in self._jobs.items() if one.state != "working"][:-KEPT]:
                del self._jobs[old]
        threading.Thread(target=self._run, args=(job, work), name=f"linkwork {what}", daemon=True).start()
        self.tell()
        return job.number

    def cancel(self, number: int) -> None:
        """Ask a job to stop, if it is still running."""
        with self._lock:
            job = self._jobs.get(number)
        if job is not None:
            job.stop.set()

    def close(self) -> None:
        """Cancel all jobs."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()

    def tell(self) -> None:
        """Report all jobs."""
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
        except Exception as error:  # any error is reported to the page; the studio goes on
            job.state, job.said = "failed", f"{type(error).__name__}: {error}"
        self.tell()
