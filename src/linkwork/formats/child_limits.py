"""Limit a process that reads untrusted files. Programs of this folder run this file, so it imports nothing."""

from __future__ import annotations


def limit(seconds: float, size: int) -> None:
    """Stop this process when it exceeds a CPU time [s] or a memory size [bytes]."""
    try:
        import resource
    except ImportError:  # on Windows; there the parent process stops it after a time
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    clock = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (clock, clock))
    resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
