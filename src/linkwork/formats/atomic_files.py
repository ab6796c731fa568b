"""Files at the border: read with a limit, written whole or not at all.

Every file that linkwork reads or writes by itself goes through here.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import FormatError, LinkworkError
from .texts import TextFile

MAX_BYTES = 64 * 2**20
WINDOWS = os.name == "nt"
DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)  # no files on Windows, whatever follows the dot
PAUSES = (0.01, 0.03, 0.1, 0.3, 0.6)  # s from one try to the next


def read_bytes(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return what is in a file or a `TextFile`, if it is no more than `limit` bytes, `MAX_BYTES` by default.

    Raises:
        FormatError: If there is no such file, it is a directory or too large.
    """
    limit = MAX_BYTES if limit is None else limit
    try:
        if isinstance(path, TextFile):
            data = path.read(limit + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(limit + 1)
    except UnicodeEncodeError as error:
        raise FormatError(path, f"holds {error.object[error.start]!r}, which is not a character.") from error
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be read: {_reason(error)}.") from error
    if len(data) > limit:
        raise FormatError(path, f"is larger than {limit / 2**20:.4g} MiB, the most that is read.")
    return data


def located(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return a path that means the same file from any folder; a `TextFile` is itself."""
    return path if isinstance(path, TextFile) else Path(path).absolute()


def text_pieces(path: str | os.PathLike[str], limit: int, size: int) -> Iterator[str]:
    """Yield the text of a UTF-8 file, piece after piece, as `read_text` returns all of it; lines end in a newline.

    Args:
        path: The file or a `TextFile`.
        limit: The most bytes that are read.
        size: About so many are read at a time.

    Raises:
        FormatError: As in `read_text`, when the piece that is wrong is read.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8-sig")(), translate=True)
    line = 1
    for data in _byte_pieces(path, limit, size):
        try:
            piece = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            byte, line = error.object[error.start], line + bytes(error.object).count(b"\n", 0, error.start)
            raise FormatError(path, f"is not UTF-8 text: byte 0x{byte:02x}; save it as UTF-8.", line=line) from error
        line += piece.count("\n")
        if piece:
            yield piece


def _byte_pieces(path: str | os.PathLike[str], limit: int, size: int) -> Iterator[bytes]:
    """Yield what is in a file, and nothing at its end."""
    if isinstance(path, TextFile):
        data = read_bytes(path, limit)
        yield from (data[begin : begin + size] for begin in range(0, len(data), size))
        yield b""
        return
    total = 0
    try:
        with Path(path).open("rb") as file:
            while data := file.read(size):
                total += len(data)
                if total > limit:
                    raise FormatError(path, f"is larger than {limit / 2**20:.4g} MiB, the most that is read.")
                yield data
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be read: {_reason(error)}.") from error
    yield b""


def read_text(path: str | os.PathLike[str], limit: int | None = None) -> str:
    """Return the text of a UTF-8 file of at most `limit` bytes, `MAX_BYTES` by default, without its byte order mark.

    Raises:
        FormatError: If there is no such file, it is a directory, too large or not UTF-8.
    """
    data = read_bytes(path, limit)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise FormatError(path, f"is not UTF-8 text: byte 0x{byte:02x}; save it as UTF-8.", line=line) from error


@contextmanager
def on_disk(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the real path of a file; a `TextFile` lies in a temporary folder meanwhile."""
    if not isinstance(path, TextFile):
        yield Path(path).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        file = Path(folder).resolve() / Path(path).name
        file.write_bytes(read_bytes(path))
        yield file


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file so that it is there in full or, if anything fails, as it was before."""
    data = text.encode()
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str], *, flushed: bool = True) -> Iterator[BinaryIO]:
    """Open a file to be written whole or not at all.

    What is written goes to a temporary file beside the target, is flushed to the disk and then takes the target's
    place; if anything fails, the target is as it was before. A link is followed, and the permissions of a file that is
    replaced are kept.

    Args:
        path: The file.
        flushed: Whether it is to outlast a failure of the power, which takes the disk some milliseconds.

    Raises:
        FormatError: If the file cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
        file = draft.open("xb")
        try:
            with file:
                yield file
                file.flush()
                if flushed:
                    os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, draft)
            _put(draft, target)
        except BaseException:
            with suppress(OSError):  # what failed is raised
                draft.unlink()
            raise
        _settle(target.parent)
    except LinkworkError:  # what was to be written could not be made
        raise
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be written: {_reason(error)}.") from error


def _put(draft: Path, target: Path) -> None:
    """Put a file in the place of another; on Windows, wait a moment for a scanner that holds either of them."""
    for pause in PAUSES if WINDOWS else ():
        try:
            draft.replace(target)
            return
        except PermissionError:
            time.sleep(pause)
    draft.replace(target)


def _settle(folder: Path) -> None:
    """Flush a folder's list of names to the disk, where it can be; the file is written already."""
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):  # a folder that may be written but not listed, or a disk that does not do this
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]
