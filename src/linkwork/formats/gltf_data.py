"""Read untrusted glTF and GLB files: the JSON, the buffers and their accessors.

Lengths, counts and indices are checked before memory is allocated, and files outside the folder of the model are only
opened if the options allow it.
"""

from __future__ import annotations

import binascii
import os
import struct
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..transforms import FloatArray
from . import meshopt
from .atomic_files import MAX_BYTES
from .file_parts import Bytes, FilePart, bytes_of, part_of
from .gltf_document import Accessor, Buffer, BufferView, Compressed, Gltf
from .meshopt_triangles import decode_indices, decode_triangles
from .options import Options

MAGIC, JSON_CHUNK, BINARY_CHUNK = b"glTF", 0x4E4F534A, 0x004E4942
MAX_BINARY = 256 * 2**20
MAX_OBJECTS, MAX_NUMBERS = 500_000, 8_000_000  # in the JSON, counted before it is parsed
MAX_VALUES = 12_000_000  # numbers of all accessors held in memory
MAX_CHANNELS = 30_000  # of all animations
COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
COMPRESSED = ("EXT_meshopt_compression", "KHR_meshopt_compression")

Item = TypeVar("Item")


MODES: dict[str, Callable[[bytes, Compressed], bytes]] = {
    "ATTRIBUTES": lambda data, packed: meshopt.decode(data, packed.count, packed.byte_stride, packed.filter),
    "TRIANGLES": lambda data, packed: decode_triangles(data, packed.count, packed.byte_stride),
    "INDICES": lambda data, packed: decode_indices(data, packed.count, packed.byte_stride),
}


class GltfSource:
    """A file being read: its document, and the numbers of its accessors."""

    def __init__(self, path: str | os.PathLike[str], options: Options) -> None:
        self.path, self.options = path, options
        data = bytes_of(path, MAX_BINARY)
        self.binary: Bytes | None = None
        self.more: list[tuple[int, bytes]] = []  # kinds and bytes of unknown chunks
        self.spare = 0  # bytes after the length stated in a GLB header
        self.text = self._chunks(data) if data[:4] == MAGIC else data[:]
        self.document = self._document(self.text)
        self._buffers: dict[int, Bytes] = {}
        self._times: dict[int, FloatArray] = {}
        self.supplied: dict[int, NDArray[Any]] = {}  # numbers of accessors that are not in a buffer view
        self._views: dict[int, bytes] = {}  # decompressed buffer views
        self._room = MAX_BINARY
        self._left = MAX_VALUES
        self._slices = MAX_BINARY // 4
        channels = sum(len(animation.channels) for animation in self.document.animations)
        if channels > MAX_CHANNELS:
            self.refuse(f"has {channels} channels in its animations; at most {MAX_CHANNELS} are read.")

    def refuse(self, message: str) -> NoReturn:
        """Raise a FormatError for this file."""
        raise FormatError(self.path, message)

    def item(self, items: Sequence[Item], index: int, what: str) -> Item:
        """Return the item at an index, or raise if it does not exist."""
        if index >= len(items):
            self.refuse(f"{what} {index} is referred to, but there are only {len(items)}.")
        return items[index]

    # The document

    def _chunks(self, data: Bytes) -> bytes:
        """Return the JSON of a GLB file, and keep its binary chunk."""
        if len(data) < 20:
            self.refuse(f"is a GLB file of {len(data)} bytes; the two headers alone take 20.")
        version, length = struct.unpack("<II", data[4:12])
        if version != 2:
            self.refuse(f"is GLB version {version}; linkwork reads version 2.")
        if length > len(data):
            self.refuse(f"should have {length} bytes by its header, but ends after {len(data)}.")
        self.spare = len(data) - length
        chunks: dict[int, Bytes] = {}
        place = 12
        while place + 8 <= length:
            size, kind = struct.unpack("<II", data[place : place + 8])
            place += 8
            if size > length - place:
                self.refuse(f"has a chunk of {size} bytes, but only {length - place} are left.")
            if not chunks and kind != JSON_CHUNK:
                self.refuse("is a GLB file whose first chunk is not JSON.")
            if kind in (JSON_CHUNK, BINARY_CHUNK):
                chunks.setdefault(kind, part_of(data, place, place + size))
            else:
                self.more.append((kind, data[place : place + size]))
            place += size
        if JSON_CHUNK not in chunks:
            self.refuse("is a GLB file without a JSON chunk.")
        self.binary = chunks.get(BINARY_CHUNK)
        return chunks[JSON_CHUNK][: MAX_BYTES + 1]

    def _document(self, text: bytes) -> Gltf:
        if len(text) > MAX_BYTES:
            self.refuse(f"contains more than {MAX_BYTES // 2**20} MiB of JSON, the limit.")
        if text.count(b"{") > MAX_OBJECTS or text.count(b"[") > MAX_OBJECTS or text.count(b",") > MAX_NUMBERS:
            self.refuse(f"contains more than {MAX_OBJECTS} objects or {MAX_NUMBERS} numbers.")
        try:
            document = msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"), type=Gltf)
        except msgspec.ValidationError as error:
            self.refuse(f"not glTF: {_sentence(error)}")
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise FormatError(self.path, f"not JSON: {_sentence(error)}", line=_line(text, error)) from error
        except RecursionError:
            self.refuse("is nested too deeply.")
        asset = document.asset
        if not (asset.min_version or asset.version).startswith("2."):
            self.refuse(f"is glTF {(asset.min_version or asset.version)[:20]!r}; linkwork reads 2.0.")
        return document

    # Numbers

    def times(self, index: int, what: str) -> FloatArray:
        """Return the key times in an accessor, shape (count,); they are cached, since many samplers share them."""
        if index not in self._times:
            self._times[index] = self.values(index, what, "SCALAR")[:, 0]
        return self._times[index]

    def values(self, index: int, what: str, shape: str, *, finite: bool = True) -> FloatArray:
        """Return the elements of an accessor, shape (count, components), with integers normalised if it requires so.

        Numbers that are not finite are refused, or with `finite` False set to zero.
        """
        accessor = self._accessor(index, what, shape)
        self._hold(accessor, index)
        return self._numbers(accessor, index, what, slice(0, accessor.count), finite=finite)

    def rows(self, index: int, what: str, shape: str) -> Rows:
        """Return the elements of an accessor for reading in slices; more are allowed if they stay in the file."""
        accessor = self._accessor(index, what, shape)
        rows = Rows(self, accessor, index, what)
        if rows.is_in_file:
            self.take(accessor.count * COMPONENTS[shape], f"accessor {index}")
        else:
            self._hold(accessor, index)
        return rows

    def take(self, count: int, what: str) -> None:
        """Count numbers that are read in slices, and refuse more than the largest file can contain."""
        self._slices -= count
        if self._slices < 0:
            self.refuse(f"{what} announces {count} numbers; the limit is {MAX_BINARY // 4} in total.")

    def _hold(self, accessor: Accessor, index: int) -> None:
        """Count numbers that are loaded into memory, and refuse too many."""
        self._left -= accessor.count * COMPONENTS[accessor.type]
        if self._left < 0:
            most = f"{MAX_VALUES} numbers in total is the limit"
            self.refuse(f"accessor {index} announces {accessor.count} elements; {most}.")

    def _accessor(self, index: int, what: str, shape: str) -> Accessor:
        """Return an accessor, and check its type."""
        accessor = self.item(self.document.accessors, index, f"accessor of {what}")
        if accessor.type != shape:
            self.refuse(f"{what} must be {shape}, got {accessor.type[:20]!r} (accessor {index}).")
        return accessor

    def _numbers(self, accessor: Accessor, index: int, what: str, span: slice, *, finite: bool = True) -> FloatArray:
        """Return some elements of an accessor."""
        width, count = COMPONENTS[accessor.type], span.stop - span.start
        if index in self.supplied:
            numbers: NDArray[Any] = self.supplied[index]
            if numbers.shape[1] != width:
                self.refuse(f"{what} has {numbers.shape[1]} numbers per vertex, not {width} (accessor {index}).")
            numbers = numbers[span]
        elif accessor.buffer_view is None:
            numbers = np.zeros((count, width), self._dtype(accessor.component_type))
        else:
            numbers = self._elements(accessor, accessor.component_type, span, width, f"accessor {index}")
        if accessor.sparse is not None:
            numbers = self._replaced(numbers, accessor, index)
        result = numbers.astype(np.float64)
        if accessor.normalized and numbers.dtype.kind in "iu":
            result = np.maximum(result / np.iinfo(numbers.dtype).max, -1.0)
        if not finite:
            result[~np.isfinite(result)] = 0.0
        if not np.isfinite(result).all():
            self.refuse(f"{what} contains a number that is not finite (accessor {index}).")
        return result

    def _dtype(self, component: int) -> Any:
        if component not in TYPES:
            self.refuse(f"unknown component type {component}; glTF has {', '.join(map(str, TYPES))}.")
        return np.dtype(TYPES[component]).newbyteorder("<")

    def _replaced(self, numbers: NDArray[Any], accessor: Accessor, index: int) -> NDArray[Any]:
        sparse, what = accessor.sparse, f"sparse accessor {index}"
        if sparse is None or sparse.count > accessor.count:
            self.refuse(f"{what} replaces more elements than it has.")
        kind = sparse.indices.component_type
        if kind not in (5121, 5123, 5125):
            self.refuse(f"{what} has indices of component type {kind}.")
        rows = self._elements(sparse.indices, kind, slice(0, sparse.count), 1, what)[:, 0].astype(np.int64)
        if (rows >= accessor.count).any():
            self.refuse(f"{what} replaces element {rows.max()} of {accessor.count}.")
        result = numbers.copy()
        span = slice(0, sparse.count)
        result[rows] = self._elements(sparse.values, accessor.component_type, span, numbers.shape[1], what)
        return result

    def _elements(self, place: Any, component: int, span: slice, width: int, what: str) -> NDArray[Any]:
        """Return some elements of a buffer view: `width` numbers per stride, checked against the end of the view."""
        view = self.item(self.document.buffer_views, place.buffer_view, f"buffer view of {what}")
        dtype = self._dtype(component)
        data, start = self._bytes_around(place.buffer_view, view, what)
        size = dtype.itemsize * width
        stride = view.byte_stride or size
        count = span.stop - span.start
        first = start + place.byte_offset + span.start * stride
        needed = (count - 1) * stride + size if count else 0
        beyond = start + view.byte_length > len(data) or first + needed > start + view.byte_length
        if beyond or stride < size:
            self.refuse(f"{what} needs bytes {first} to {first + needed}, beyond its buffer view or buffer.")
        if not count:
            return np.zeros((0, width), dtype)
        held, first = (data, first) if isinstance(data, bytes) else (data[first : first + needed], 0)
        rows = np.ndarray((count, size), np.uint8, held, first, (stride, 1))
        return np.ascontiguousarray(rows).view(dtype)

    def view(self, index: int, what: str) -> bytes:
        """Return the bytes of a buffer view."""
        view = self.item(self.document.buffer_views, index, f"buffer view of {what}")
        data, start = self._bytes_around(index, view, what)
        if start + view.byte_length > len(data):
            self.refuse(f"{what} needs bytes {start} to {start + view.byte_length}, beyond its buffer.")
        return data[start : start + view.byte_length]

    def _bytes_around(self, index: int, view: BufferView, what: str) -> tuple[Bytes, int]:
        """Return the bytes that contain a buffer view, and its offset in them."""
        if any(name in view.extensions for name in COMPRESSED):
            return self._decompressed(index, view, what), 0
        return self.buffer(view.buffer), view.byte_offset

    def _decompressed(self, index: int, view: BufferView, what: str) -> bytes:
        """Return the bytes of a buffer view compressed by meshopt."""
        if index not in self._views:
            raw = next(view.extensions[name] for name in COMPRESSED if name in view.extensions)
            try:
                packed = msgspec.json.decode(raw, type=Compressed)
            except (msgspec.DecodeError, RecursionError) as error:
                self.refuse(f"{what} has an invalid description of its compression: {_sentence(error)}")
            if packed.mode not in MODES:
                self.refuse(f"{what} has the meshopt mode {packed.mode[:20]!r}; known are {', '.join(MODES)}.")
            self._room -= packed.count * packed.byte_stride
            if self._room < 0:
                self.refuse(
                    f"contains more than {MAX_BINARY // 2**20} MiB when decompressed, the largest size that is read."
                )
            data = self.buffer(packed.buffer)[packed.byte_offset : packed.byte_offset + packed.byte_length]
            try:
                self._views[index] = MODES[packed.mode](data, packed)
            except ValueError as error:
                self.refuse(f"{what} is damaged: its bytes are compressed by meshopt, but {error}.")
        return self._views[index]

    def buffer(self, index: int) -> Bytes:
        """Return the bytes of a buffer, from the GLB file, a ``data:`` URI or another file."""
        if index not in self._buffers:
            buffer = self.item(self.document.buffers, index, "buffer")
            data = self._loaded(buffer, index)
            if buffer.byte_length > len(data):
                self.refuse(f"buffer {index} should have {buffer.byte_length} bytes, but there are {len(data)}.")
            self._buffers[index] = data
            if sum(map(len, self._buffers.values())) > MAX_BINARY:
                self.refuse(f"has more than {MAX_BINARY // 2**20} MiB in its buffers, the largest size that is read.")
        return self._buffers[index]

    def _loaded(self, buffer: Buffer, index: int) -> Bytes:
        if buffer.uri is None:
            if index or self.binary is None:
                self.refuse(f"buffer {index} has no URI, and there is no binary chunk for it.")
            return self.binary
        if buffer.uri.startswith("data:"):
            return self.data(buffer.uri, f"buffer {index}")
        return bytes_of(self.beside(buffer.uri), MAX_BINARY)

    def data(self, uri: str, what: str) -> bytes:
        """Return the bytes in a ``data:`` URI."""
        head, comma, body = uri.partition(",")
        if not comma or not head.endswith(";base64"):
            self.refuse(f"{what} is a data URI without base64.")
        try:
            return binascii.a2b_base64(body)
        except (binascii.Error, ValueError) as error:
            self.refuse(f"{what} is not base64: {error}.")

    def beside(self, uri: str) -> Path:
        """Return the file of a relative URI; it must be in the folder of the model or in an allowed one."""
        name = unquote(uri)
        if ":" in name.split("/")[0] or "\0" in name or "\\" in name or PurePath(name).is_absolute():
            self.refuse(f"refers to {name[:80]!r}; only relative names of files beside it are read.")
        folder = Path(os.path.realpath(self.path)).parent
        target = Path(os.path.realpath(folder / name))
        if not self.options.allows(target, folder):
            self.refuse(f"refers to {name[:80]!r}, outside its folder; allow it with folders=[...] (--folder).")
        return target


class Rows:
    """The elements of an accessor, read from the file in slices and checked when read.

    Args:
        source: The file.
        accessor: The accessor.
        index: Its index.
        what: Its content, for error messages.
    """

    def __init__(self, source: GltfSource, accessor: Accessor, index: int, what: str) -> None:
        self._source, self._accessor, self._index, self._what = source, accessor, index, what

    def __len__(self) -> int:
        return self._accessor.count

    def __getitem__(self, span: slice) -> FloatArray:
        first, last, _ = span.indices(len(self))
        return self._source._numbers(self._accessor, self._index, self._what, slice(first, max(first, last)))

    @property
    def is_in_file(self) -> bool:
        """Whether slices can be read from the file directly, without decompression or sparse values."""
        accessor, document = self._accessor, self._source.document
        if accessor.buffer_view is None or accessor.sparse is not None or self._index in self._source.supplied:
            return False
        view = self._source.item(document.buffer_views, accessor.buffer_view, f"buffer view of {self._what}")
        return isinstance(self._source._bytes_around(accessor.buffer_view, view, self._what)[0], FilePart)


def _sentence(error: Exception) -> str:
    return str(error)[:200].rstrip(".") + "."


def _line(text: bytes, error: Exception) -> int | None:
    """Return the line of a JSON error, whose message ends with the byte position."""
    digits = str(error).rpartition("(byte ")[2].rstrip(")")
    return text.count(b"\n", 0, int(digits)) + 1 if digits.isdecimal() else None
