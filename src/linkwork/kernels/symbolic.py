"""Specialize kernel functions for one chain: straight-line arithmetic that fits into a thread's registers.

A function of this package is run once, as Python, on symbols instead of numbers. `codes` and constants are known, so
loops and branches disappear, and so do terms with 0 and 1; the remaining operations are recorded line by line. This way
the lanes of the processor and the threads of a GPU run the same source.
"""

from __future__ import annotations

import dis
import linecache
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from . import lanes
from .closed_form.angles import atan2
from .closed_form.check import nearest_whole
from .joint_step import sine_cosine

WORD = re.compile(r"\b[a-z]\w*")
BEYOND_ALL = (math.inf, -math.inf)
COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Cells(list[Any]):
    """Memory of symbols and numbers, for `lanes.load` and `lanes.store`."""

    def beyond(self, items: int) -> Beyond:
        """Return the memory that begins the given number of items further on."""
        return Beyond(self, items)


class Beyond:
    """A view of memory that begins some items further on."""

    def __init__(self, memory: Cells, first: int) -> None:
        self.memory, self.first = memory, first

    def __getitem__(self, item: int) -> Any:
        return self.memory[self.first + item]

    def __setitem__(self, item: int, value: Any) -> None:
        self.memory[self.first + item] = value

    def beyond(self, items: int) -> Beyond:
        """Return the memory that begins the given number of items further on."""
        return Beyond(self.memory, self.first + items)


class Symbol:
    """A number, or a boolean, that is known only when the generated code runs."""

    __slots__ = ("name", "trace")

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name = trace, name

    def __bool__(self) -> bool:
        raise TypeError("a branch depends on a value that is known only when the code runs")

    def __add__(self, other: Any) -> Any:
        return self if other == 0.0 else self.trace.note("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self if other == 0.0 else self.trace.note("+", other, self)

    def __sub__(self, other: Any) -> Any:
        if other in BEYOND_ALL:
            return -other
        return self if other == 0.0 else self.trace.note("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        if other in BEYOND_ALL:
            return other
        return -self if other == 0.0 else self.trace.note("-", other, self)

    def __mul__(self, other: Any) -> Any:
        if other == 0.0 or other == 1.0:
            return self if other else 0.0
        return -self if other == -1.0 else self.trace.note("*", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1.0 / other) if isinstance(other, float) else self.trace.note("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.trace.note("/", other, self)

    def __neg__(self) -> Any:
        return self.trace.line(f"-{self.name}")

    def __pow__(self, power: int) -> Any:
        return self * self if power == 2 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Any:
        return self.trace.compare("<", self, other)

    def __le__(self, other: Any) -> Any:
        return self.trace.compare("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return self.trace.compare(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return self.trace.compare(">=", self, other)

    def __and__(self, other: Any) -> Any:
        if isinstance(other, Symbol):
            return self.trace.note("&", self, other)
        return self if other else False

    def __or__(self, other: Any) -> Any:
        if isinstance(other, Symbol):
            return self.trace.note("|", self, other)
        return True if other else self

    __rand__, __ror__ = __and__, __or__


class Trace:
    """The recorded operations of a function, line by line.

    Args:
        dtype: The NumPy type of all numbers.
    """

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.lines: list[str] = []
        self.names: dict[str, Any] = {}  # constants by name
        self._known: dict[str, Symbol] = {}
        self._constants: dict[float, str] = {}

    # Recording

    def line(self, expression: str) -> Symbol:
        """Record an expression, unless it is already recorded, and return its symbol."""
        if expression not in self._known:
            name = f"t{len(self.lines)}"
            self.lines.append(f"{name} = {expression}")
            self._known[expression] = Symbol(self, name)
        return self._known[expression]

    def text(self, operand: Any) -> str:
        """Return the name of a symbol or of a constant."""
        if isinstance(operand, Symbol):
            return operand.name
        value = float(operand)
        if value not in self._constants:
            self._constants[value] = f"k{len(self._constants)}"
            with np.errstate(over="ignore"):  # a number that overflows is infinite in this precision
                self.names[self._constants[value]] = self.dtype(value)
        return self._constants[value]

    def note(self, sign: str, a: Any, b: Any) -> Symbol:
        """Record a binary operation and return its symbol."""
        return self.line(f"{self.text(a)} {sign} {self.text(b)}")

    def compare(self, sign: str, a: Any, b: Any) -> Any:
        """Record a comparison; with an infinite side, its result is already known."""
        if isinstance(b, float) and math.isinf(b):
            return COMPARED[sign](0.0, b)
        return self.note(sign, a, b)

    # Replacements of the functions of lanes

    def select(self, mask: Any, yes: Any, no: Any) -> Any:
        """Return one of two values, selected by a mask."""
        if not isinstance(mask, Symbol):
            return yes if mask else no
        return self.line(f"choose({mask.name}, {self.text(yes)}, {self.text(no)})")

    def sine_cosine(self, angle: Any) -> tuple[Any, Any]:
        """Return sine and cosine, computed by the target's own function."""
        if not isinstance(angle, Symbol):
            return math.sin(angle), math.cos(angle)
        pair = self.line(f"sine_cosine({angle.name})")
        return self.line(f"{pair.name}[0]"), self.line(f"{pair.name}[1]")

    def sqrt(self, x: Any) -> Any:
        """Return the square root."""
        return self.line(f"sqrt({x.name})") if isinstance(x, Symbol) else math.sqrt(x)

    def fabs(self, x: Any) -> Any:
        """Return the absolute value."""
        return self.line(f"fabs({x.name})") if isinstance(x, Symbol) else abs(x)

    def nearest_whole(self, x: Any) -> Any:
        """Return the nearest integer."""
        return self.line(f"floor({(x + 0.5).name})") if isinstance(x, Symbol) else float(round(x))

    def atan2(self, y: Any, x: Any) -> Any:
        """Return the angle of a point, computed by the target's own function."""
        if not isinstance(y, Symbol) and not isinstance(x, Symbol):
            return math.atan2(y, x)
        return self.line(f"atan2({self.text(y)}, {self.text(x)})")

    def of(self, function: Any) -> Callable[..., Any]:
        """Return a kernel's function rebuilt to run on symbols, with all functions that it calls."""
        stand_ins: dict[Any, Any] = {
            lanes.load: lambda memory, item: memory[item],
            lanes.store: lambda memory, item, value: memory.__setitem__(item, value),
            lanes.fill: lambda _memory, value: value,
            lanes.beyond: lambda memory, items: memory.beyond(items),
            lanes.select: self.select,
            lanes.sqrt: self.sqrt,
            lanes.fabs: self.fabs,
            lanes.bits: lambda mask: int(isinstance(mask, Symbol) or bool(mask)),  # an unknown mask may be set
            sine_cosine: self.sine_cosine,
            nearest_whole: self.nearest_whole,
            atan2: self.atan2,
        }
        result: Callable[..., Any] = rebuilt(function, stand_ins, lambda plain: plain)
        return result

    # The generated function

    def memory(self, name: str, count: int) -> Cells:
        """Return symbols for the items of a tuple that is an argument of the generated function."""
        return Cells(Symbol(self, f"{name}[{k}]") for k in range(count))

    def tuple(self, items: Iterable[Any]) -> str:
        """Return the text of a tuple."""
        return "(" + "".join(f"{self.text(item)}, " for item in items) + ")"

    def source(self, name: str, parameters: Sequence[str], results: Sequence[str]) -> str:
        """Return the text of the function."""
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def {name}({', '.join(parameters)}):\n{body}    return {', '.join(results)}\n"


def by_need(lines: Sequence[str], givens: Sequence[str]) -> list[list[str]]:
    """Return the lines of a trace in groups: those that need none of some givens, that need the first, the second ...

    A line is in the group of the last given that it needs, directly or through other lines. So each group can be placed
    inside one more nested loop than the group before.
    """
    groups: list[list[str]] = [[] for _ in range(len(givens) + 1)]
    needs = {name: k + 1 for k, name in enumerate(givens)}
    for line in lines:
        name, _, expression = line.partition(" = ")
        needs[name] = max((needs.get(word, 0) for word in WORD.findall(expression)), default=0)
        groups[needs[name]].append(line)
    return groups


def moved(depth: int, lines: Iterable[str]) -> list[str]:
    """Return lines indented by `depth` levels."""
    return [f"{'    ' * depth}{line}" for line in lines]


def rebuilt(function: Any, stand_ins: dict[Any, Any], finish: Callable[[Any], Any]) -> Any:
    """Return a kernel's function and all that it calls, some replaced by `stand_ins`, each passed through `finish`."""
    plain = function.py_func
    names = dict(plain.__globals__)
    for name in _globals(plain):
        value = names.get(name)
        if value.__hash__ is not None and value in stand_ins:
            names[name] = stand_ins[value]
        elif hasattr(value, "py_func"):
            stand_ins[value] = names[name] = rebuilt(value, stand_ins, finish)
    return finish(FunctionType(plain.__code__, names, plain.__name__))


def _globals(function: FunctionType) -> list[str]:
    """Return the global names that a function reads; `co_names` would also contain names of attributes."""
    read = {step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"}
    return sorted(read)


def compiled(name: str, source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Return the function that a text defines; tracebacks show its lines."""
    file = f"<linkwork {name} {hash(source):x}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    function: Callable[..., Any] = names[name]
    return function
