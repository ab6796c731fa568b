"""Parts of large files, whose bytes are read on demand."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import FormatError
from .atomic_files import read_bytes
from .texts import TextFile

LARGE = 16 * 2**20  # files above this size [bytes] are not loaded into memory
PIECE = 2**20


class FilePart:
    """A part of a file, sliced like `bytes`; the file must not change meanwhile.

    Args:
        path: The file.
        begin: The first byte.
        end: The byte after the last.
        state: Identity, size and modification time of the file, to detect changes.
    """

    def __init__(self, path: str | os.PathLike[str], begin: int, end: int, state: tuple[int, ...]) -> None:
        self.path, self.begin, self.end, self.state = path, begin, end, state

    def __len__(self) -> int:
        return self.end - self.begin

    def __getitem__(self, span: slice) -> bytes:
        first, last, _ = span.indices(len(self))
        try:
            with Path(self.path).open("rb") as file:
                file.seek(self.begin + first)
                data = file.read(max(last - first, 0))
                state = _state(os.fstat(file.fileno()))
        except OSError as error:
            raise FormatError(self.path, f"cannot be read: {error.strerror}.") from error
        if state != self.state:
            raise FormatError(self.path, "was changed while it was read.")
        return data

    def part(self, begin: int, end: int) -> FilePart:
        """Return a part of it without reading it."""
        return FilePart(self.path, self.begin + begin, self.begin + end, self.state)


Bytes = bytes | FilePart


def bytes_of(path: str | os.PathLike[str], limit: int) -> Bytes:
    """Return the content of a file: as bytes, or as a `FilePart` if it is large.

    Raises:
        FormatError: As in `read_bytes`.
    """
    try:
        status = None if isinstance(path, TextFile) else Path(path).stat()
    except (OSError, ValueError):
        status = None
    if status is None or not LARGE < status.st_size <= limit:
        return read_bytes(path, limit)
    return FilePart(path, 0, status.st_size, _state(status))


def part_of(data: Bytes, begin: int, end: int) -> Bytes:
    """Return a part of the data, without reading a `FilePart`."""
    return data[begin:end] if isinstance(data, bytes) else data.part(begin, end)


def pieces_of(data: Bytes) -> Iterator[bytes]:
    """Yield all bytes in pieces."""
    return (data[begin : begin + PIECE] for begin in range(0, len(data), PIECE))


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
