"""Layouts: what stands where in an array that a kernel reads or writes, declared once in the kernel's own module.

Kernels read the places from the layout, which Numba takes for a named tuple of constants; everyone else writes and
reads by name::

    SETTINGS = Layout("tolerance", ("axis", 3), "damping")
    settings[SETTINGS.axis + 2]                               # in a kernel; the next record is SETTINGS.size further on
    settings = SETTINGS.pack(tolerance=1e-4, axis=(0, 0, 1), damping=0.1)
    SETTINGS.view(settings).axis                              # array([0., 0., 1.])

Memory whose parts depend on counts is cut by `lanes.divided`, by a named tuple of how much each part takes.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


class Layout(tuple[int, ...]):
    """Names, places and the number of items of a flat array, or of each record of an array of records.

    Args:
        *fields: A name for one item, or a pair of a name and how many items it has, in order.

    Where a field begins is an attribute of its name.

    Attributes:
        names: The names, in order.
        size: How many items there are in all.
        items: What to take of a record, by name: an index, or a slice.
    """

    names: tuple[str, ...]
    items: dict[str, int | slice]

    def __new__(cls, *fields: str | tuple[str, int]) -> Layout:
        pairs = [(field, 0) if isinstance(field, str) else field for field in fields]
        names = tuple(name for name, _ in pairs)
        if len(set(names)) != len(pairs):
            raise ValueError(f"a layout names each field once, got {', '.join(names)}.")
        ends: list[int] = np.cumsum([0, *(count or 1 for _, count in pairs)]).tolist()
        kind = type("Layout", (cls, namedtuple("Layout", (*names, "size"))), {"__reduce__": lambda _: (cls, fields)})
        self: Layout = tuple.__new__(kind, ends)
        self.names = names
        self.items = {
            name: slice(at, at + count) if count else at for (name, count), at in zip(pairs, ends, strict=False)
        }
        return self

    def __getattr__(self, name: str) -> int:
        raise AttributeError(f"a record has {', '.join(self.names)}, not {name!r}.")

    def pack(self, *, dtype: DTypeLike = np.float64, shape: tuple[int, ...] = (), **values: ArrayLike) -> NDArray[Any]:
        """Return a new array (*shape, size) of the values of all fields; each is broadcast to ``shape``."""
        if set(values) != set(self.names):
            odd = ", ".join(sorted(set(values) ^ set(self.names)))
            raise TypeError(f"a record has {', '.join(self.names)}; missing or unknown: {odd}.")
        array = np.empty((*shape, self.size), dtype)
        for name, value in values.items():
            array[..., self.items[name]] = value
        return array

    def view(self, array: NDArray[Any]) -> Record:
        """Return an array (..., size) with its fields as attributes, to read and to write."""
        if array.shape[-1] != self.size:
            raise ValueError(f"a record has {self.size} items, got an array of shape {array.shape}.")
        return Record(self, array)

    def rows(self, array: NDArray[Any]) -> Record:
        """Return the records of a flat array (n * size,): fields have the shape (n,), or (n, count)."""
        return self.view(array.reshape(-1, self.size))


class Record:
    """An array whose last axis has names. Fields are views, so that what is written to them is in the array."""

    __slots__ = ("array", "layout")
    array: NDArray[Any]
    layout: Layout

    def __init__(self, layout: Layout, array: NDArray[Any]) -> None:
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "array", array)

    def __getattr__(self, name: str) -> Any:
        return self.array[..., self._item(name)]

    def __setattr__(self, name: str, value: ArrayLike) -> None:
        self.array[..., self._item(name)] = value

    def __getitem__(self, row: Any) -> Record:
        return Record(self.layout, self.array[row])

    def __len__(self) -> int:
        return len(self.array)

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, (self.layout, self.array)

    def _item(self, name: str) -> int | slice:
        try:
            return self.layout.items[name]
        except KeyError:
            raise AttributeError(f"a record has {', '.join(self.layout.names)}, not {name!r}.") from None
