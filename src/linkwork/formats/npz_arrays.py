"""Arrays of NPZ files, read with distrust: nothing is unpickled, and a header is judged before its numbers."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import FormatError
from .atomic_files import read_bytes
from .options import FilePath

MAX_ARRAY = 2**26 + 2**16  # bytes
# What `zipfile` raises for an archive that is none, or is damaged: a place before its beginning is a ValueError.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)


def names_in(path: FilePath) -> list[str]:
    """Return the names of the arrays in a file; none if it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive:
            return [info.filename.removesuffix(".npy") for info in archive.infolist()]
    except DAMAGE:
        return []


def read_arrays(path: FilePath, names: Sequence[str], *, kinds: str = "fiuU", most: int = MAX_ARRAY) -> dict[str, Any]:
    """Return those of some arrays that are in a file.

    Args:
        path: The file.
        names: Which arrays.
        kinds: What they may hold, as NumPy's letters for kinds of numbers and texts.
        most: The most bytes of one.

    Raises:
        FormatError: If it is no NPZ file, or an array is larger or of another kind.
    """
    data = read_bytes(path, None if most <= MAX_ARRAY else 2 * most)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in reversed(archive.infolist())}
            return {name: _array(archive, members[name], path, kinds, most) for name in names if name in members}
    except FormatError:
        raise
    except DAMAGE as error:
        raise FormatError(path, f"not an NPZ file: {str(error).rstrip('.')}.") from error


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: FilePath, kinds: str, most: int) -> Any:
    with archive.open(info) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise FormatError(path, f"array {info.filename!r} is larger than {most // 2**20} MiB, the most that is read.")
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = header(stream)
        count = int(np.prod([int(n) for n in shape], dtype=object))
        fits = count * max(1, dtype.itemsize) <= len(data) - stream.tell() and min(shape, default=0) >= 0
        if dtype.hasobject or dtype.kind not in kinds or not fits:
            raise ValueError(f"an array of {dtype} and shape {shape} does not fit in {len(data)} bytes")
        array = np.frombuffer(data, dtype, count, stream.tell()) if count else np.zeros(0, dtype)
        return array.reshape(shape, order="F" if fortran else "C")
    except (ValueError, KeyError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError) as error:
        raise FormatError(path, f"array {info.filename!r} cannot be read: {str(error)[:200]}.") from error
