"""Layouts: names and offsets of the fields of an array that a kernel reads or writes, declared in the kernel's module.

Kernels read offsets from the layout, which Numba treats as a named tuple of constants; other code reads and writes by
name::

    SETTINGS = Layout("tolerance", ("axis", 3), "damping")
    settings[SETTINGS.axis + 2]                               # in a kernel; the next record is SETTINGS.size further on
    settings = SETTINGS.pack(tolerance=1e-4, axis=(0, 0, 1), damping=0.1)
    SETTINGS.view(settings).axis                              # array([0., 0., 1.])

Memory whose parts have sizes known only at run time is split by `lanes.divided`, with a named tuple of the sizes.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


class Layout(tuple[int, ...]):
    """Names and offsets of the fields of a flat array, or of each record of an array of records.

    Args:
        *fields: In order, a name for a field of one item, or a pair of a name and the number of items.

    The offset of each field is an attribute with the field's name.

    Attributes:
        names: The names, in order.
        size: Total number of items.
        items: Index or slice of each field in a record, by name.
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
        """Return a new array (*shape, size) with the values of all fields, each broadcast to ``shape``."""
        if set(values) != set(self.names):
            odd = ", ".join(sorted(set(values) ^ set(self.names)))
            raise TypeError(f"a record has {', '.join(self.names)}; missing or unknown: {odd}.")
        array = np.empty((*shape, self.size), dtype)
        for name, value in values.items():
            array[..., self.items[name]] = value
        return array

    def view(self, array: NDArray[Any]) -> Record:
        """Return a view of an array (..., size) with its fields as attributes, readable and writable."""
        if array.shape[-1] != self.size:
            raise ValueError(f"a record has {self.size} items, got an array of shape {array.shape}.")
        return Record(self, array)

    def rows(self, array: NDArray[Any]) -> Record:
        """Return the records of a flat array (n * size,): fields have shape (n,) or (n, count)."""
        return self.view(array.reshape(-1, self.size))


class Record:
    """An array with named fields on its last axis. Fields are views: writing to them writes to the array."""

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


def pack_tables(
    header: Layout, counts: Mapping[str, int], codes: Mapping[str, ArrayLike], numbers: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return tables of integers behind a header, and tables of numbers, each as one array.

    Args:
        header: Layout of the header: the counts, and where each table begins in its array.
        counts: Other fields of the header.
        codes: Tables of integers by name, in the order in which they are stored.
        numbers: Tables of numbers, likewise.
    """
    fields: dict[str, Any] = dict(counts)
    parts = []
    for tables, dtype, at in ((codes, np.int64, header.size), (numbers, np.float64, 0)):
        arrays = [np.asarray(table, dtype).ravel() for table in tables.values()]
        fields |= zip(tables, at + np.cumsum([0, *(array.size for array in arrays[:-1])]), strict=True)
        parts.append(arrays)
    return np.concatenate([header.pack(dtype=np.int64, **fields), *parts[0]]), np.concatenate(parts[1])
