"""Bytes on their way into a file: few are held in memory, many wait in a file without a name beside it."""

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

HELD = 8 * 2**20  # bytes in memory
PIECE = 3 * 2**18  # bytes at a time; threes make base64 without a gap


class Spool:
    r"""Bytes that are added at the end, or put into room that was made for them.

    Args:
        path: The file that they are for; a long spool is in its folder.

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
        """Add bytes behind the others, and return where they begin."""
        place = self.room(len(data))
        self.put(place, data)
        return place

    def room(self, size: int) -> int:
        """Make room for so many bytes behind the others, zeros for now, and return where it begins."""
        place = self._count
        self._count += size
        if self._count > HELD and isinstance(self._file, io.BytesIO):
            self._move()
        return place

    def put(self, place: int, data: bytes) -> None:
        """Write bytes at a place where there is room for them."""
        try:
            self._file.seek(place)
            self._file.write(data)
        except OSError as error:
            raise self._full(error) from error

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """Yield all bytes, so many at a time."""
        for begin in range(0, self._count, size):
            self._file.seek(begin)
            wanted = min(size, self._count - begin)
            yield self._file.read(wanted).ljust(wanted, b"\0")  # room at the end that nothing was put into

    def _move(self) -> None:
        """Go on in a file."""
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
    """An address that holds the bytes of a spool itself, in base64.

    Args:
        spool: The bytes.
    """

    HEAD = b"data:application/octet-stream;base64,"

    def __init__(self, spool: Spool) -> None:
        self.spool = spool

    def __len__(self) -> int:
        return len(self.HEAD) + 4 * -(-len(self.spool) // 3)

    def pieces(self) -> Iterator[bytes]:
        """Yield the address, piece by piece."""
        yield self.HEAD
        for piece in self.spool.pieces():
            yield base64.b64encode(piece)
