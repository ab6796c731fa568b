"""Compiled kernels: Python that runs as machine code, from a pack made ahead of time or from Numba's compiler.

Importing this package, or any kernel, imports no Numba. `runtime` chooses where the machine code comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declarations import KERNELS, Kernel, inner, intrinsic, part
from .signatures import parse

__all__ = ["inner", "intrinsic", "kernel", "part"]


def kernel(*signatures: str, nogil: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Make a function one that runs as machine code and is called by Python.

    Args:
        *signatures: What it takes and returns, see `signatures`; the first that fits a call's arguments is used.
        nogil: Whether other threads of Python run meanwhile: for kernels that take long. Letting go of the lock and
            taking it again costs as much as a single pose takes.
    """

    def declare(function: Callable[..., Any]) -> Any:
        from .runtime import callable_of

        one = Kernel(function, tuple(map(parse, signatures)), nogil=nogil)
        KERNELS[one.name] = one
        return callable_of(one)

    return declare
