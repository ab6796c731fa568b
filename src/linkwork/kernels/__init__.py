"""Compiled kernels: Python functions that run as machine code, from a prebuilt pack or compiled by Numba.

Importing this package, or any kernel, does not import Numba. `runtime` chooses where the machine code comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .declarations import KERNELS, Kernel, inner, intrinsic, part
from .signatures import parse

__all__ = ["inner", "intrinsic", "kernel", "part"]


def kernel(*signatures: str, nogil: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function that runs as machine code and that Python calls.

    Args:
        *signatures: Types of the arguments and of the result, see `signatures`; a call uses the first that fits.
        nogil: Whether the kernel releases Python's lock, so that other threads run meanwhile. For long kernels only:
            releasing and taking the lock costs as much as solving a single pose.
    """

    def declare(function: Callable[..., Any]) -> Any:
        from .runtime import callable_of

        one = Kernel(function, tuple(map(parse, signatures)), nogil=nogil)
        KERNELS[one.name] = one
        return callable_of(one)

    return declare
