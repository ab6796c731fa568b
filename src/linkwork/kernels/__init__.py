"""Compiled kernels: Python that runs as machine code, from a pack made ahead of time or from Numba's compiler.

Importing this package, or any kernel, imports no Numba. `runtime` chooses where the machine code comes from.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from .signatures import Signature, parse, symbols

KERNELS: dict[str, Kernel] = {}  # all that have been declared, by name
LONGEST = ("search_bodies", "search_many", "search_many_f4", "closest_many", "search_one", "step_body", "follow_one")


class Part:
    """A function that only kernels call. Numba compiles it into them; `compiler` says how.

    Args:
        function: The Python function.
        inline: Whether it is copied into its callers.

    Attributes:
        py_func: The Python function, for those who need what it returns.
    """

    def __init__(self, function: Callable[..., Any], *, inline: bool) -> None:
        self.py_func, self.inline = function, inline
        self.compiled: Any = None  # Numba's dispatcher, once there is one
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *_args: Any, **_kws: Any) -> NoReturn:
        """Refuse: there is nothing that Python could call."""
        raise TypeError(f"{self.__name__} is a part of kernels: only they can call it.")


class Intrinsic:
    """A function that only compiled code knows: `emission` tells Numba what it becomes."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.compiled: Any = None  # what Numba knows it as, once it does
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *_args: Any, **_kws: Any) -> NoReturn:
        """Refuse: there is nothing that Python could call."""
        raise TypeError(f"{self.__name__} is known to kernels only.")


class Kernel:
    """A function that Python calls and that runs as machine code: what is known of it before that is there.

    Attributes:
        function: The Python function.
        signatures: What it takes; each has machine code of its own.
        nogil: Whether other threads of Python run meanwhile.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Signature, ...], *, nogil: bool) -> None:
        self.function, self.signatures, self.nogil = function, signatures, nogil
        self.name = function.__name__.lstrip("_")
        self.symbols = symbols(self.name, signatures)


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


def all_kernels() -> dict[str, Kernel]:
    """Return all kernels of this package, by name."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith(("cuda", "__main__")):
            importlib.import_module(f"{__name__}.{module.name}")
    return {name: one for name, one in sorted(KERNELS.items()) if one.function.__module__.startswith(f"{__name__}.")}


def in_order(symbols: Iterable[str]) -> list[str]:
    """Return symbols in the order to compile them in: those that take long first."""
    return sorted(symbols, key=lambda one: (LONGEST.index(one) if one in LONGEST else len(LONGEST), one))


def inner(function: Callable[..., Any]) -> Any:
    """Make a function one that only kernels call: it becomes part of its callers."""
    return Part(function, inline=True)


def part(function: Callable[..., Any]) -> Any:
    """Make a function one that only kernels call and that is called, not copied into its callers."""
    return Part(function, inline=False)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Declare a function that only compiled code knows; its body is its docstring."""
    return Intrinsic(function)
