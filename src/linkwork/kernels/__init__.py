"""Compiled kernels: Python turned into machine code by Numba, once for a machine, then kept in Numba's cache.

Importing this package imports Numba; nothing else in linkwork does, so it is imported when first needed. Numba keys its
cache by the file of the function alone; here the key also holds a hash of all kernel sources, so that an edit in any
kernel file recompiles what calls it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

from .compiler import PART, only_for_kernels

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}


def source_hash(folder: Path) -> str:
    """Return a hash of all Python files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


SOURCES = source_hash(Path(__file__).parent)


class KernelCache(FunctionCache):
    """Numba's cache on disk, keyed also by the sources of all kernels; says when something must be compiled."""

    announced = False

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return (*super()._index_key(sig, codegen), SOURCES)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            announce()
        return found


def announce() -> None:
    """Say on a terminal, once, that something must be compiled."""
    if not KernelCache.announced and sys.stderr is not None and sys.stderr.isatty():
        KernelCache.announced = True
        print("linkwork: compiling kernels (once; kept for later runs) ...", file=sys.stderr)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and keep the result on disk. Long ones let other threads run."""
    dispatcher = njit(**OPTIONS, nogil=function.__name__.endswith("_many"))(function)
    try:
        dispatcher._cache = KernelCache(function)
    except RuntimeError:
        return dispatcher  # no folder can be written to: compile in every process
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call: it becomes part of its callers and is not kept by itself."""
    return only_for_kernels(njit(**OPTIONS, **PART, forceinline=True)(function))


def part(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call and that is called, not copied into its callers."""
    return only_for_kernels(njit(**OPTIONS, **PART)(function))
