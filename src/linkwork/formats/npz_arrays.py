"""Read arrays of untrusted NPZ files: nothing is unpickled, and headers are checked before the data."""

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
# Raised by `zipfile` for data that are damaged or not an archive; negative offsets raise ValueError.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)


def names_in(path: FilePath) -> list[str]:
    """Return the names of the arrays in a file; empty if it is not an archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive:
            return [info.filename.removesuffix(".npy") for info in archive.infolist()]
    except DAMAGE:
        return []


def read_arrays(path: FilePath, names: Sequence[str], *, kinds: str = "fiuU", most: int = MAX_ARRAY) -> dict[str, Any]:
    """Return the requested arrays that exist in a file, by name.

    Args:
        path: The file.
        names: Names of the requested arrays.
        kinds: Allowed kinds of data, as NumPy's letters.
        most: Largest size of an array [bytes].

    Raises:
        FormatError: If it is not an NPZ file, or an array is larger or of another kind.
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
        raise FormatError(path, f"array {info.filename!r} is larger than {most // 2**20} MiB, the limit.")
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
