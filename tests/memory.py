"""How much memory a process of the tests takes, and giving it back."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

GROWTH = 30.0  # MB after which a process looks for memory to give back
STATM = Path("/proc/self/statm")
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # of glibc, not of musl
AFTER: dict[str, float] = {"resident": 0.0}  # [MB], when memory was last given back


def give_back() -> None:
    """Give memory back to the system where much was taken: pictures are held by circles until they are found."""
    if TRIM is not None and STATM.exists() and resident() > AFTER["resident"] + GROWTH:
        gc.collect()
        TRIM(0)
        AFTER["resident"] = resident()


def resident() -> float:
    """Return the memory of this process [MB]."""
    return int(STATM.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak() -> float:
    """Return the most memory that this process has taken [MB]; zero where that cannot be asked."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
