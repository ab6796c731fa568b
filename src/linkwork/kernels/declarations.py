"""Declarations of kernels, of parts that only kernels call, and of intrinsics; no machine code exists yet."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from .signatures import Signature, symbols

KERNELS: dict[str, Kernel] = {}  # all declared kernels, by name
LONGEST = ("search_bodies", "search_many", "search_many_f4", "closest_many", "search_one", "step_body", "follow_one")


class Part:
    """A function that only kernels call. Numba compiles it into them; `compiler` defines how.

    Args:
        function: The Python function.
        inline: Whether it is inlined into its callers.

    Attributes:
        py_func: The Python function, for callers that evaluate it in Python.
    """

    def __init__(self, function: Callable[..., Any], *, inline: bool) -> None:
        self.py_func, self.inline = function, inline
        self.compiled: Any = None  # Numba's dispatcher, once created
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *_args: Any, **_kws: Any) -> NoReturn:
        """Raise a TypeError: Python cannot call a part."""
        raise TypeError(f"{self.__name__} is a part of kernels: only they can call it.")


class Intrinsic:
    """A function that exists only in compiled code; `emission` defines its LLVM code."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.compiled: Any = None  # Numba's object for it, once created
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *_args: Any, **_kws: Any) -> NoReturn:
        """Raise a TypeError: Python cannot call an intrinsic."""
        raise TypeError(f"{self.__name__} is known to kernels only.")


class Kernel:
    """A function that Python calls and that runs as machine code, as declared before it is compiled.

    Attributes:
        function: The Python function.
        signatures: Its signatures; each is compiled separately.
        nogil: Whether it releases Python's lock while it runs.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Signature, ...], *, nogil: bool) -> None:
        self.function, self.signatures, self.nogil = function, signatures, nogil
        self.name = function.__name__.lstrip("_")
        self.symbols = symbols(self.name, signatures)


def all_kernels() -> dict[str, Kernel]:
    """Return all kernels of this package, by name, after importing their modules."""
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], f"{__package__}."):
        if not module.name.rpartition(".")[2].startswith(("cuda", "__main__")):
            importlib.import_module(module.name)
    return {name: one for name, one in sorted(KERNELS.items()) if one.function.__module__.startswith(f"{__package__}.")}


def in_order(symbols: Iterable[str]) -> list[str]:
    """Return symbols in the order of compilation: the slowest to compile first."""
    return sorted(symbols, key=lambda one: (LONGEST.index(one) if one in LONGEST else len(LONGEST), one))


def inner(function: Callable[..., Any]) -> Any:
    """Declare a function that only kernels call and that is inlined into its callers."""
    return Part(function, inline=True)


def part(function: Callable[..., Any]) -> Any:
    """Declare a function that only kernels call and that is not inlined."""
    return Part(function, inline=False)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Declare a function that exists only in compiled code; it has a docstring and no body."""
    return Intrinsic(function)
