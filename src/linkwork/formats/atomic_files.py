"""Read files with a size limit, and write files completely or not at all.

Every file that linkwork reads or writes itself goes through here.
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
DEVICES = re.compile(r"con|prn|aux|nul|com\d|lpt\d", re.IGNORECASE)  # not files on Windows, with any suffix
PAUSES = (0.01, 0.03, 0.1, 0.3, 0.6)  # between attempts [s]


def read_bytes(path: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the content of a file or a `TextFile` of at most `limit` bytes, `MAX_BYTES` by default.

    Raises:
        FormatError: If the file does not exist, is a directory or is too large.
    """
    limit = MAX_BYTES if limit is None else limit
    try:
        if isinstance(path, TextFile):
            data = path.read(limit + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(limit + 1)
    except UnicodeEncodeError as error:
        raise FormatError(path, f"contains {error.object[error.start]!r}, which is not a character.") from error
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be read: {_reason(error)}.") from error
    if len(data) > limit:
        raise FormatError(path, f"is larger than {limit / 2**20:.4g} MiB, the largest size that is read.")
    return data


def located(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return an absolute path; a `TextFile` is returned unchanged."""
    return path if isinstance(path, TextFile) else Path(path).absolute()


def text_pieces(path: str | os.PathLike[str], limit: int, size: int) -> Iterator[str]:
    """Yield the text of a UTF-8 file in pieces; lines end in a newline.

    Args:
        path: The file or a `TextFile`.
        limit: Largest size of the file [bytes].
        size: Number of bytes to read at a time.

    Raises:
        FormatError: As in `read_text`, when the faulty piece is reached.
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
    """Yield the content of a file in pieces, then an empty piece."""
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
                    raise FormatError(path, f"is larger than {limit / 2**20:.4g} MiB, the largest size that is read.")
                yield data
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be read: {_reason(error)}.") from error
    yield b""


def read_text(path: str | os.PathLike[str], limit: int | None = None) -> str:
    """Return the text of a UTF-8 file of at most `limit` bytes, `MAX_BYTES` by default, without its byte order mark.

    Raises:
        FormatError: If the file does not exist, is a directory, is too large or is not UTF-8.
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
    """Yield the real path of a file; a `TextFile` is written to a temporary folder meanwhile."""
    if not isinstance(path, TextFile):
        yield Path(path).resolve()
        return
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        file = Path(folder).resolve() / Path(path).name
        file.write_bytes(read_bytes(path))
        yield file


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file completely; if anything fails, an existing file is unchanged."""
    data = text.encode()
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str], *, flushed: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing, completely or not at all.

    The data go to a temporary file beside the target, are flushed to disk, and then replace the target. If anything
    fails, the target is unchanged. Links are followed, and the permissions of a replaced file are kept.

    Args:
        path: The file.
        flushed: Whether to flush to disk, so that the file survives a power failure; this takes some milliseconds.

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
            with suppress(OSError):  # the first error is raised
                draft.unlink()
            raise
        _settle(target.parent)
    except LinkworkError:  # raised while the data were made
        raise
    except (OSError, ValueError) as error:
        raise FormatError(path, f"cannot be written: {_reason(error)}.") from error


def _put(draft: Path, target: Path) -> None:
    """Replace a file by another; on Windows, retry while a virus scanner holds either of them."""
    for pause in PAUSES if WINDOWS else ():
        try:
            draft.replace(target)
            return
        except PermissionError:
            time.sleep(pause)
    draft.replace(target)


def _settle(folder: Path) -> None:
    """Flush the directory entry to disk, if possible; the file itself is already written."""
    if hasattr(os, "O_DIRECTORY"):
        with suppress(OSError):  # a folder that cannot be opened, or a file system without this
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]
