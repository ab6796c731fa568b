"""Store frames of long motions in files instead of memory, in blocks that are read on demand.

The files have no names, or on Windows names that begin with ``.linkwork-``. They are deleted with the last array that
uses them, however the process ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, Any

import numpy as np

from ..errors import FormatError
from ..transforms import FloatArray

SPILL = 2**20  # numbers kept in memory before a file is created
_FOLDER: ContextVar[str | None] = ContextVar("frames of long motions", default=None)


@contextmanager
def frames_in(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Store the frames of long motions that are read or made in this context in files of a folder.

    Args:
        folder: A folder on a disk with enough space: about 2 KB per frame of a body.
    """
    before = _FOLDER.set(os.fspath(folder))
    try:
        yield
    finally:
        _FOLDER.reset(before)


class Frames:
    """Collects the rows of a table, block by block; within `frames_in`, a long table is stored in a file.

    Args:
        width: Numbers in a row.

    Example:
        >>> frames = Frames(2)
        >>> frames.add(np.zeros((3, 2)))
        >>> frames.array().shape
        (3, 2)
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.count = 0
        self._blocks: list[FloatArray] = []
        self._file: IO[bytes] | None = None

    def add(self, rows: FloatArray) -> None:
        """Append rows (n, width)."""
        self.count += len(rows)
        self._blocks.append(np.ascontiguousarray(rows, np.float64))
        folder = _FOLDER.get()
        if folder is None or (self._file is None and self.count * self.width <= SPILL):
            return
        try:
            if self._file is None:
                self._file = file = tempfile.TemporaryFile(dir=folder, prefix=".linkwork-")  # noqa: SIM115
                weakref.finalize(self, file.close)
            for block in self._blocks:
                self._file.write(block.data)
        except OSError as error:
            raise FormatError(folder, f"cannot store the frames of a long motion: {error.strerror}.") from error
        self._blocks = []

    def array(self) -> FloatArray:
        """Return all rows (n, width): an array in memory, or one that is read from the file."""
        if self._file is None:
            return np.concatenate(self._blocks) if self._blocks else np.zeros((0, self.width))
        self._file.flush()
        return np.memmap(self._file, np.float64, "r", shape=(self.count, self.width))


def is_in_file(values: Any) -> bool:
    """Return whether an array is stored in a file of `Frames`."""
    return isinstance(values, np.memmap) and not values.flags.writeable


def block_of(values: FloatArray, rows: slice) -> FloatArray:
    """Return rows of an array; for an array in a file, a copy, so that the file does not stay in memory."""
    if not is_in_file(values):
        return values[rows]
    block = np.array(values[rows])
    forget(values)
    return block


def forget(values: FloatArray) -> None:
    """Release the memory of a file that this process has read, if the system supports it."""
    found: Any = values
    while found is not None and not isinstance(found, mmap.mmap):
        found = getattr(found, "base", None)
    if found is not None and hasattr(mmap, "MADV_DONTNEED"):
        found.madvise(mmap.MADV_DONTNEED)
