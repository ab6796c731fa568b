"""Write numbers to glTF files: accessors, their bytes, and the file."""

from __future__ import annotations

import base64
import json
import secrets
import struct
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..transforms import FloatArray, steady
from .atomic_files import replacing
from .gltf_data import BINARY_CHUNK, JSON_CHUNK, MAGIC, TYPES
from .options import FilePath
from .spool import DataUri, Spool

CODES = {np.dtype(kind): code for code, kind in TYPES.items()}  # of component types


class Column:
    """An accessor whose numbers are written in blocks.

    Args:
        spool: The buffer for its bytes.
        place: Their offset in the buffer.
        index: Index of the accessor.
    """

    def __init__(self, spool: Spool, place: int, index: int) -> None:
        self.spool, self.index = spool, index
        self._next = place

    def add(self, values: FloatArray) -> None:
        """Append numbers (n, components), as float32."""
        data = _little(values.astype(np.float32), self.spool.path)
        self.spool.put(self._next, data)
        self._next += len(data)


class Packing:
    """A document that accessors are added to, and the buffer that holds their bytes.

    Args:
        document: The JSON of the file, changed in place.
        binary: Existing bytes of the buffer, in pieces.
        buffer: Index of the buffer in the document.
        path: The file to write, for error messages.
    """

    def __init__(
        self, document: dict[str, Any], path: FilePath, *, binary: Iterable[bytes] = (), buffer: int = 0
    ) -> None:
        self.binary, self.buffer, self.path = Spool(path), buffer, path
        for piece in binary:
            self.binary.add(piece)
        self.views: list[Any] = document.setdefault("bufferViews", [])
        self.accessors: list[Any] = document.setdefault("accessors", [])

    def room(self, size: int) -> int:
        """Reserve bytes, aligned to multiples of four, and return their offset."""
        self.binary.room(-len(self.binary) % 4)
        place = self.binary.room(size)
        self.binary.room(-len(self.binary) % 4)
        return place

    def view(self, data: bytes, **more: Any) -> int:
        """Write bytes and return the index of their buffer view, which is aligned to multiples of four."""
        index = self._view(len(data), **more)
        self.binary.put(self.views[index]["byteOffset"], data)
        return index

    def _view(self, size: int, **more: Any) -> int:
        place = {"buffer": self.buffer, "byteOffset": self.room(size), "byteLength": size}
        self.views.append(place | more)
        return len(self.views) - 1

    def accessor(
        self,
        values: NDArray[Any],
        kind: str,
        target: int | None = None,
        *,
        bounds: bool = False,
        normalized: bool = False,
    ) -> int:
        """Write numbers of shape (count, components) and return the index of their accessor."""
        data = _little(values, self.path)
        view = self.view(data, **({} if target is None else {"target": target}))
        entry: dict[str, Any] = {"bufferView": view, "componentType": CODES[values.dtype]}
        entry |= {"count": len(values), "type": kind}
        if normalized:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def column(self, count: int, width: int) -> Column:
        """Return an accessor of `count` elements with `width` float32 each, which are written later."""
        view = self._view(4 * count * width)
        entry = {"bufferView": view, "componentType": CODES[np.dtype(np.float32)], "count": count}
        self.accessors.append(entry | {"type": f"VEC{width}"})
        return Column(self.binary, self.views[view]["byteOffset"], len(self.accessors) - 1)

    def clock(self, times: FloatArray) -> int:
        """Write the times of keys [s] and return the index of their accessor."""
        return self.accessor(times.astype(np.float32)[:, None], "SCALAR", bounds=True)

    def channel(self, animation: dict[str, Any], clock: int, node: int, path: str, values: FloatArray) -> None:
        """Add a property of a node to an animation: its values (keys, components) at the times of a clock."""
        self.channel_of(animation, clock, node, path, len(values)).add(values)

    def channel_of(self, animation: dict[str, Any], clock: int, node: int, path: str, count: int) -> Column:
        """Add a property of a node to an animation, and return the column for its values at `count` keys."""
        column = self.column(count, 4 if path == "rotation" else 3)
        samplers = animation["samplers"]
        animation["channels"].append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": clock, "output": column.index})
        return column


def _little(values: NDArray[Any], path: FilePath) -> bytes:
    """Return numbers as little-endian bytes; raise if they are not finite."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise FormatError(path, "the linkage or its motion has numbers that are too large for a glTF file.")
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def data_uri(data: bytes) -> str:
    """Return bytes as a ``data:`` URI."""
    return f"{DataUri.HEAD.decode('ascii')}{base64.b64encode(data).decode('ascii')}"


def write_document(
    path: FilePath, document: dict[str, Any], binary: Spool | None, more: Sequence[tuple[int, bytes]] = ()
) -> None:
    """Write a file completely or not at all, by its suffix: glTF with its first buffer inside, or GLB.

    Args:
        path: The file.
        document: Its JSON, in which a `DataUri` may stand for a text.
        binary: The bytes of its first buffer, whose length is in the document; None if they are stored elsewhere.
        more: Kinds and bytes of further chunks of a GLB file.
    """
    inside = binary if binary is not None and len(binary) else None
    if PurePath(path).suffix.lower() == ".gltf":
        if inside is not None:
            document["buffers"][0]["uri"] = DataUri(inside)
        with replacing(path) as file:
            for part in _parts(document, indent=1):
                file.writelines(_pieces(part))
        return
    text = _parts(document, separators=(",", ":"))
    text.append(b" " * (-sum(map(len, text)) % 4))
    chunks: list[tuple[int, list[bytes | DataUri | Spool]]] = [(JSON_CHUNK, [*text])]
    chunks += [(BINARY_CHUNK, [inside, b"\0" * (-len(inside) % 4)])] if inside is not None else []
    chunks += [(kind, [data]) for kind, data in more]
    sizes = [sum(map(len, parts)) for _, parts in chunks]
    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<II", 2, 12 + sum(sizes) + 8 * len(sizes)))
        for (kind, chunk), size in zip(chunks, sizes, strict=True):
            file.write(struct.pack("<II", size, kind))
            for piece in chunk:
                file.writelines(_pieces(piece))


def _parts(document: dict[str, Any], **style: Any) -> list[bytes | DataUri]:
    """Return the text of a document in parts, with `DataUri` objects left as they are between them."""
    mark, held = secrets.token_hex(16), list[DataUri]()

    def later(thing: Any) -> str:
        if not isinstance(thing, DataUri):
            raise TypeError(f"no JSON for {type(thing).__name__}")
        held.append(thing)
        return mark

    text = json.dumps(document, ensure_ascii=False, allow_nan=False, default=later, **style).encode()
    first, *others = text.split(mark.encode())
    result: list[bytes | DataUri] = [first]
    for address, part in zip(held, others, strict=True):
        result += [address, part]
    return result


def _pieces(part: bytes | DataUri | Spool) -> Iterable[bytes]:
    return (part,) if isinstance(part, bytes) else part.pieces()


def quaternions(matrices: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """Return rotations (n, 3, 3) as x, y, z, w with continuous signs, also with respect to `before`."""
    from scipy.spatial.transform import Rotation

    found = Rotation.from_matrix(matrices).as_quat(canonical=True)
    return steady(found) if before is None else steady(np.concatenate([before[None], found]))[1:]
