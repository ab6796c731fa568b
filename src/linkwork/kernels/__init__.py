"""Compiled kernels: Python turned into machine code by Numba, once for a machine, then kept in Numba's cache.

Importing this package imports Numba; nothing else in linkwork does, so it is imported when first needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit

from .compiler import PLAIN

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract", "nsz"}}
KERNEL_OPTIONS = dict(OPTIONS)
PART_OPTIONS: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def source_hash(folder: Path) -> str:
    """Return a hash of all Python files of a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


SOURCES = source_hash(Path(__file__).parent)


def kernel(function: Callable[..., Any] | None = None, *, nogil: bool = False) -> Any:
    """Compile a function that Python calls, and keep the result on disk.

    Args:
        function: The function; ``@kernel`` and ``@kernel(nogil=True)`` are both decorators.
        nogil: Whether other threads of Python run meanwhile: for kernels that take long. Letting go of the lock and
            taking it again costs more than a single pose takes.
    """
    if function is None:
        return lambda function: kernel(function, nogil=nogil)
    dispatcher = njit(**KERNEL_OPTIONS, nogil=nogil)(function)
    with suppress(RuntimeError):  # no folder can be written to: compile in every process
        if PLAIN:
            dispatcher.enable_caching()
        else:
            dispatcher._cache = KernelCache(function, SOURCES)
    return dispatcher


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call: it becomes part of its callers and is not kept by itself."""
    return only_for_kernels(njit(**PART_OPTIONS, forceinline=True)(function))


def part(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call and that is called, not copied into its callers."""
    return only_for_kernels(njit(**PART_OPTIONS)(function))


if PLAIN:

    def only_for_kernels(dispatcher: Any) -> Any:
        """Return a part of kernels as Numba has it."""
        return dispatcher

else:
    from .patches import KernelCache, KernelCompiler, PartCompiler, only_for_kernels

    KERNEL_OPTIONS["pipeline_class"], PART_OPTIONS["pipeline_class"] = KernelCompiler, PartCompiler
