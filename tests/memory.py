"""Measures the memory of a test process, and returns free memory to the system."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

GROWTH = 30.0  # MB of growth after which a process returns free memory
STATM = Path("/proc/self/statm")
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # only glibc has it
AFTER: dict[str, float] = {"resident": 0.0}  # [MB], after memory was last returned


def give_back() -> None:
    """Return memory to the system after growth; a garbage collection first frees pictures in reference cycles."""
    if TRIM is not None and STATM.exists() and resident() > AFTER["resident"] + GROWTH:
        gc.collect()
        TRIM(0)
        AFTER["resident"] = resident()


def resident() -> float:
    """Return the memory of this process [MB]."""
    return int(STATM.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak() -> float:
    """Return the peak memory of this process [MB]; zero if the system cannot tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
