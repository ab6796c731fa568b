"""Signatures of kernels: the types of their arguments, in NumPy's short names.

``i8[] f8[,] i8 b1 -> i8`` takes an array of integers, a matrix, an integer and a boolean, and returns an integer.
Arrays are C-contiguous. ``Goals(i8 f8[])`` is a named tuple of the kernel's module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

DTYPES = ("f8", "f4", "i8", "i4", "u1", "b1")
NUMBERS = ("f8", "i8", "b1")  # types of scalar arguments
WORD = re.compile(r"\s*(?:(\w+)\(([^()]*)\)|(\w\d)(\[,*\])?)")


@dataclass(frozen=True)
class Item:
    """An argument: a number, or an array with a number of axes."""

    dtype: str
    axes: int = -1

    @property
    def slots(self) -> int:
        """Number of 8-byte slots in a block of arguments: an address and the lengths of all axes, or one."""
        return 1 if self.axes < 0 else 1 + self.axes

    def __str__(self) -> str:
        return self.dtype if self.axes < 0 else f"{self.dtype}[{',' * (self.axes - 1)}]"


@dataclass(frozen=True)
class Group:
    """An argument that is a named tuple of items."""

    name: str
    items: tuple[Item, ...]

    @property
    def slots(self) -> int:
        """Number of slots of all its items."""
        return sum(item.slots for item in self.items)

    def __str__(self) -> str:
        return f"{self.name}({' '.join(map(str, self.items))})"


@dataclass(frozen=True)
class Signature:
    """The arguments of a kernel, and the dtype that it returns, or an empty string."""

    arguments: tuple[Item | Group, ...]
    returns: str

    @cached_property
    def slots(self) -> int:
        """Number of slots of a block of arguments."""
        return sum(argument.slots for argument in self.arguments)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """All items, including those of groups."""
        return tuple(item for a in self.arguments for item in (a.items if isinstance(a, Group) else (a,)))

    def __str__(self) -> str:
        return " ".join(map(str, self.arguments)) + (f" -> {self.returns}" if self.returns else "")


def parse(text: str) -> Signature:
    """Return the signature that a text describes.

    Example:
        >>> str(parse("i8[] f8[,] b1 -> i8")), parse("i8[] f8[,] b1 -> i8").slots
        ('i8[] f8[,] b1 -> i8', 6)
    """
    given, _, returns = (part.strip() for part in text.partition("->"))
    if returns and returns not in NUMBERS:
        raise ValueError(f"a kernel returns one of {', '.join(NUMBERS)} or nothing, got {returns!r}.")
    return Signature(tuple(_arguments(given)), returns)


def _arguments(text: str) -> list[Item | Group]:
    found: list[Item | Group] = []
    at = 0
    while text[at:].strip():
        word = WORD.match(text, at)
        if word is None:
            raise ValueError(
                f"an argument is a dtype such as f8, an array such as f8[,] or a group, got {text[at:]!r}."
            )
        name, members, dtype, axes = word.groups()
        if name:
            found.append(Group(name, tuple(_item(*WORD.match(m).groups()[2:]) for m in members.split())))  # type: ignore[union-attr]
        else:
            found.append(_item(dtype, axes))
        at = word.end()
    return found


def _item(dtype: str, axes: str | None) -> Item:
    if dtype not in (NUMBERS if axes is None else DTYPES):
        raise ValueError(f"{dtype}{axes or ''} is not an argument of kernels; dtypes are {', '.join(DTYPES)}.")
    return Item(dtype, -1 if axes is None else axes.count(",") + 1)


def symbols(name: str, signatures: tuple[Signature, ...]) -> tuple[str, ...]:
    """Return the names of a kernel's entry points, one for each signature; the first is the kernel's own name."""
    first = signatures[0].items
    result = [name]
    for signature in signatures[1:]:
        other = next(b.dtype for a, b in zip(first, signature.items, strict=True) if a != b)
        result.append(f"{name}_{other}")
    return tuple(result)
