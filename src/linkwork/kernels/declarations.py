"""What is declared of kernels before there is machine code: kernels, their parts, and functions that only they know."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from .signatures import Signature, symbols

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


def all_kernels() -> dict[str, Kernel]:
    """Return all kernels of this package, by name."""
    for module in pkgutil.walk_packages([str(Path(__file__).parent)], f"{__package__}."):
        if not module.name.rpartition(".")[2].startswith(("cuda", "__main__")):
            importlib.import_module(module.name)
    return {name: one for name, one in sorted(KERNELS.items()) if one.function.__module__.startswith(f"{__package__}.")}


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
