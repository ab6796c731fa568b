"""Buffer bytes for a file: in memory if they are few, else in an unnamed temporary file beside it."""

from __future__ import annotations

import base64
import io
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import FormatError
from .options import FilePath

HELD = 8 * 2**20  # largest number of bytes in memory
PIECE = 3 * 2**18  # bytes at a time; a multiple of three encodes to base64 without padding


class Spool:
    r"""A buffer of bytes, which are appended or written into reserved space.

    Args:
        path: The file that they are for; a large buffer is stored in its folder.

    Example:
        >>> spool = Spool("a.glb")
        >>> place = spool.room(4)
        >>> spool.add(b"end")
        4
        >>> spool.put(place, b"ab")
        >>> b"".join(spool.pieces())
        b'ab\x00\x00end'
    """

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self._count = 0
        self._file: IO[bytes] = io.BytesIO()

    def __len__(self) -> int:
        return self._count

    def add(self, data: bytes) -> int:
        """Append bytes, and return their offset."""
        place = self.room(len(data))
        self.put(place, data)
        return place

    def room(self, size: int) -> int:
        """Reserve `size` zero bytes at the end, and return their offset."""
        place = self._count
        self._count += size
        if self._count > HELD and isinstance(self._file, io.BytesIO):
            self._move()
        return place

    def put(self, place: int, data: bytes) -> None:
        """Write bytes at an offset in reserved space."""
        try:
            self._file.seek(place)
            self._file.write(data)
        except OSError as error:
            raise self._full(error) from error

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """Yield all bytes, in pieces of `size`."""
        for begin in range(0, self._count, size):
            self._file.seek(begin)
            wanted = min(size, self._count - begin)
            yield self._file.read(wanted).ljust(wanted, b"\0")  # reserved space at the end that was never written

    def _move(self) -> None:
        """Move the bytes from memory to a temporary file."""
        folder = Path(self.path).absolute().parent
        try:
            file = tempfile.TemporaryFile(dir=folder, prefix=".linkwork-")  # noqa: SIM115
            weakref.finalize(self, file.close)
            file.write(self._file.getvalue())  # type: ignore[attr-defined]
        except OSError as error:
            raise self._full(error) from error
        self._file = file

    def _full(self, error: OSError) -> FormatError:
        return FormatError(self.path, f"cannot be written: {error.strerror}.")


class DataUri:
    """A ``data:`` URI with the bytes of a spool in base64.

    Args:
        spool: The bytes.
    """

    HEAD = b"data:application/octet-stream;base64,"

    def __init__(self, spool: Spool) -> None:
        self.spool = spool

    def __len__(self) -> int:
        return len(self.HEAD) + 4 * -(-len(self.spool) // 3)

    def pieces(self) -> Iterator[bytes]:
        """Yield the URI in pieces."""
        yield self.HEAD
        for piece in self.spool.pieces():
            yield base64.b64encode(piece)
