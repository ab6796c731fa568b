"""Limits of a process that reads what is not trusted. Programs of this folder run this file: it imports nothing."""

from __future__ import annotations


def limit(seconds: float, size: int) -> None:
    """End this process when it takes more time [s] or memory [bytes] than any honest file does."""
    try:
        import resource
    except ImportError:  # not on Windows; there the clock of the other side ends it
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    clock = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (clock, clock))
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
