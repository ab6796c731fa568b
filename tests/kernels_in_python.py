"""Runs kernels as plain Python as well as machine code, with bounds on all memory, and compares the results.

``PYTHONPATH=tests python -m pytest -p kernels_in_python tests/kernels``, or `make kernels-in-python`, runs the tests
with machine code as usual. The first calls of each kernel in a test run again as Python, on copies of their arrays.
There, an access outside of an array is an error, and results are compared with those of the machine code.

A run ends after STEPS loads and stores. `lanes` become immutable arrays; arithmetic is NumPy's.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkwork.kernels import declarations, runtime
from linkwork.kernels.declarations import Intrinsic, Kernel, Part

CALLS = 3  # calls of a kernel that run again, in each test
STEPS = 30_000  # loads and stores of a run
CLOSE = 1e-6  # relative to the largest number: larger differences mean that a branch was taken differently
WIDTHS = {8: 8, 4: 16}  # number of lanes, by bytes of a number

made: Counter[str] = Counter()  # calls of kernels in this test
outcomes: dict[str, Counter[str]] = {}  # by kernel: runs with equal and different results, and those cut short
_now = threading.local()


class Enough(Exception):  # noqa: N818 - it only ends a run
    """A run has used all its steps."""


# Replacements of what the module `lanes` declares


class Lanes:
    """Several numbers or truth values, immutable."""

    __slots__ = ("values",)
    __array_priority__ = 1000.0  # so that a NumPy number on the left defers to this class

    def __init__(self, values: Any) -> None:
        self.values = values


def _operator(name: str, *, swapped: bool = False) -> Callable[[Lanes, Any], Lanes]:
    plain = getattr(np.ndarray, f"__{name}__")

    def operate(self: Lanes, other: Any) -> Lanes:
        other = other.values if isinstance(other, Lanes) else np.full_like(self.values, other)
        return Lanes(plain(other, self.values) if swapped else plain(self.values, other))

    return operate


for _name in ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "and", "or"):
    setattr(Lanes, f"__{_name}__", _operator(_name))
    if _name in ("add", "sub", "mul", "truediv"):
        setattr(Lanes, f"__r{_name}__", _operator(_name, swapped=True))
Lanes.__neg__ = lambda self: Lanes(-self.values)  # type: ignore[attr-defined]


class Memory:
    """The numbers or lanes of an array from some index on; access before the first or after the last is an error."""

    __slots__ = ("items", "start")

    def __init__(self, items: Any, start: int = 0) -> None:
        self.items, self.start = items, start

    def at(self, item: Any) -> int:
        _now.steps -= 1
        if _now.steps < 0:
            raise Enough
        place = self.start + int(item)
        if not 0 <= place < len(self.items):
            raise IndexError(f"item {place} of {len(self.items)}")
        return place

    def __getitem__(self, item: Any) -> Any:
        return _value(self.items[self.at(item)])

    def __setitem__(self, item: Any, value: Any) -> None:
        self.items[self.at(item)] = getattr(value, "values", value)


def _value(x: Any) -> Any:
    """Return an item of memory as a kernel sees it: an integer, a float, or lanes."""
    if isinstance(x, np.ndarray):
        return Lanes(x.copy())
    return int(x) if isinstance(x, np.integer | np.bool_) else x


def _on(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: Lanes(function(x.values)) if isinstance(x, Lanes) else function(np.float64(x))


def _select(mask: Any, yes: Any, no: Any) -> Any:
    if not isinstance(mask, Lanes):
        return yes if mask else no
    return Lanes(np.where(mask.values, getattr(yes, "values", yes), getattr(no, "values", no)))


def _mantissa_bit(x: Any, position: int) -> Any:
    values = x.values if isinstance(x, Lanes) else np.atleast_1d(x)
    found = (values.view(f"u{values.dtype.itemsize}") >> np.array(position, f"u{values.dtype.itemsize}")) & 1 == 1
    return Lanes(found) if isinstance(x, Lanes) else bool(found[0])


def _precision(x: Any, double: Any, single: Any) -> Any:
    x = x.items if isinstance(x, Memory) else x.values if isinstance(x, Lanes) else np.asarray(x)
    return np.float32(single) if x.dtype == np.float32 else np.float64(double)


def _fill(memory: Memory, value: Any) -> Any:
    items = memory.items
    return Lanes(np.full(items.shape[1], value, items.dtype)) if items.ndim == 2 else items.dtype.type(value)


def _divided(memory: Memory, sizes: Any) -> Any:
    starts = np.cumsum([0, *sizes])[:-1]
    parts = [Memory(memory.items, memory.start + int(start)) for start in starts]
    return type(sizes)(*parts) if hasattr(sizes, "_fields") else tuple(parts)


def _places(memory: Memory, item: Any, stride: Any) -> list[int]:
    return [memory.at(item + k * stride) for k in range(WIDTHS[memory.items.dtype.itemsize])]


def _scatter(memory: Memory, item: Any, stride: Any, value: Any) -> None:
    memory.items[_places(memory, item, stride)] = getattr(value, "values", value)


def _cells(array: Any) -> Memory:
    return Memory(array if array.ndim == 1 else array.reshape(-1, array.shape[-1]))


def _flat(array: Any) -> Memory:
    return Memory(array.items if isinstance(array, Memory) else array.reshape(-1))


def _all_flat(group: Any) -> Any:
    return type(group)(*(_flat(one) if isinstance(one, np.ndarray) else one for one in group))


PYTHON: dict[str, Callable[..., Any]] = {
    "sqrt": _on(np.sqrt),
    "fabs": _on(np.abs),
    "exact_sin": _on(np.sin),
    "exact_cos": _on(np.cos),
    "select": _select,
    "bits": lambda mask: sum(1 << k for k, one in enumerate(np.atleast_1d(getattr(mask, "values", mask))) if one),
    "lowest": lambda x: x.values.min() if isinstance(x, Lanes) else x,
    "mantissa_bit": _mantissa_bit,
    "by_precision": _precision,
    "cells": _cells,
    "flat": _flat,
    "all_flat": _all_flat,
    "beyond": lambda memory, items: Memory(memory.items, memory.start + int(items)),
    "divided": _divided,
    "load": Memory.__getitem__,
    "store": Memory.__setitem__,
    "fill": lambda memory, value: (
        Lanes(np.full(memory.items.shape[1], value, memory.items.dtype))
        if memory.items.ndim == 2
        else np.float64(value)
    ),
    "gather": lambda memory, item, stride: Lanes(memory.items[_places(memory, item, stride)]),
    "scatter": _scatter,
}


class _Math(SimpleNamespace):
    """The functions of `math` with the behaviour of machine code: undefined results are NaN, and nothing is raised."""

    def __getattr__(self, name: str) -> Any:
        if name in ("floor", "ceil"):
            return lambda x: int(getattr(np, name)(x))  # an integer in machine code too
        twin = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "fabs": "abs"}.get(name, name)
        plain = getattr(math, name)
        return getattr(np, twin, plain) if callable(plain) else plain


MATH = _Math()

# A kernel, run twice


class Twice:
    """A kernel that runs as machine code; its first calls also run as Python."""

    def __init__(self, kernel: Kernel, machine_code: Any) -> None:
        self.kernel, self.machine_code = kernel, machine_code
        self.__name__, self.__doc__ = kernel.name, kernel.function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the machine code."""
        name = self.kernel.name
        if made[name] >= CALLS or getattr(_now, "inside", False):
            return self.machine_code(*arguments)
        made[name] += 1
        twins = dict[int, Any]()
        copies = [_copied(argument, twins) for argument in arguments]
        result = self.machine_code(*arguments)
        outcomes.setdefault(name, Counter())[self._outcome(copies, arguments, result)] += 1
        return result

    def _outcome(self, copies: list[Any], arguments: tuple[Any, ...], result: Any) -> str:
        _now.steps, _now.inside = STEPS, True
        try:
            with np.errstate(all="ignore"), _numpy_for_math():
                own = self.kernel.function(*map(_given, copies))
        except Enough:
            return "cut short"
        except Exception as error:
            return f"{type(error).__name__}: {error} at {_line(error)}"
        finally:
            _now.inside = False
        pairs = [(own, result), *zip(copies, arguments, strict=True)]
        return "same" if all(_alike(one, other) for one, other in pairs) else "differs"


def _line(error: Exception) -> str:
    trace, found = error.__traceback__, ""
    while trace is not None:
        if "/linkwork/kernels/" in trace.tb_frame.f_code.co_filename:
            found = f"{trace.tb_frame.f_code.co_filename.rpartition('/kernels/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def _copied(argument: Any, twins: dict[int, Any]) -> Any:
    """Return a copy; copies of arrays that share memory share it too."""
    if isinstance(argument, tuple):
        parts = [_copied(one, twins) for one in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    if not isinstance(argument, np.ndarray):
        return argument
    base = argument
    while isinstance(base.base, np.ndarray):
        base = base.base
    if not base.flags.c_contiguous:
        return argument.copy()
    if id(base) not in twins:
        twins[id(base)] = np.frombuffer(bytearray(base.tobytes()), np.uint8)
    first = argument.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    if not argument.size:
        return argument.copy()
    return np.ndarray(argument.shape, argument.dtype, twins[id(base)], first, argument.strides)


def _given(argument: Any) -> Any:
    """Return an argument in the form that a kernel sees."""
    return (
        np.float64(argument) if isinstance(argument, float) else _value(argument) if np.isscalar(argument) else argument
    )


def _alike(one: Any, other: Any) -> bool:
    """Return whether two results are equal except for rounding."""
    if isinstance(one, tuple):
        return all(_alike(*pair) for pair in zip(one, other, strict=True))
    if one is None or other is None:
        return True
    one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
    size = np.abs(other[np.isfinite(other)]).max(initial=1.0)
    return bool(np.allclose(one, other, rtol=CLOSE, atol=CLOSE * size, equal_nan=True))


# Installation, before the first kernel is imported


def in_place() -> None:
    """Make every kernel that is declared from now on run twice."""
    if declarations.KERNELS:
        raise RuntimeError(f"kernels are declared already: {', '.join(declarations.KERNELS)}")
    compiled = runtime.callable_of
    runtime.callable_of = lambda kernel: Twice(kernel, compiled(kernel))
    Part.__call__ = lambda self, *args, **kws: self.py_func(*args, **kws)  # type: ignore[assignment,method-assign]
    Intrinsic.__call__ = lambda self, *args: PYTHON[self.__name__](*args)  # type: ignore[assignment,method-assign]


@contextmanager
def _numpy_for_math() -> Iterator[None]:
    """Give the imported modules of kernels NumPy's functions, which the compiler does not support."""
    named = [module for name, module in list(sys.modules.items()) if name.startswith("linkwork.kernels.")]
    others: list[Any] = [module for module in named if getattr(module, "math", None) is math]
    try:
        for module in others:
            module.math = MATH
        yield
    finally:
        for module in others:
            module.math = math


def summary() -> str:
    """Return the number of kernels that ran, and the outcomes of their runs."""
    lines = [f"{len(outcomes)} of {len(declarations.KERNELS)} kernels ran as Python too"]
    for name, found in sorted(outcomes.items()):
        lines += [f"  {name}: {', '.join(f'{count} {what}' for what, count in found.most_common())}"]
    return "\n".join(lines)


# As a plugin of pytest


def pytest_runtest_setup() -> None:
    made.clear()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(summary())


in_place()
