"""Pack a linkage for programs without Python, such as web pages, as JSON text or as bytes; see `docs/web.md`."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..linkage.linkage import Linkage
from ..solvers.options import PackOptions
from ..solvers.packing import Wanted, layouts, linkage_data, solvers_data
from .atomic_files import replacing

VERSION = 1  # of the format; readers refuse other versions
MAGIC = b"LINKWORK"
ALIGNMENT = 8  # arrays begin at multiples of this, so that readers can use them in place
TYPES = {"f": "<f8", "i": "<i4", "b": "|u1", "u": "<i4"}  # by kind of NumPy type; float32 is kept


@dataclass(frozen=True, eq=False, repr=False)
class PackedLinkage:
    """A linkage and its solvers as plain data for ``linkwork.js``.

    Attributes:
        data: All data, as nested dictionaries, lists and arrays.

    Example:
        >>> import linkwork as lw
        >>> packed = lw.models.panda().pack("tip")
        >>> packed
        <PackedLinkage 'panda': 7 values, solvers tip>
        >>> packed.to_bytes()[:8]
        b'LINKWORK'
    """

    data: Mapping[str, Any]

    def __repr__(self) -> str:
        solvers = ", ".join(self.data["solvers"]) or "none"
        return f"<PackedLinkage {self.data['name']!r}: {self.data['nq']} values, solvers {solvers}>"

    def to_json(self) -> str:
        """Return JSON text. Arrays are flat lists of numbers with all digits; infinity is 1e999."""
        return json_text(self.data)

    def to_bytes(self) -> bytes:
        """Return bytes: a header, the JSON text with references to the arrays, then the arrays, little-endian."""
        arrays: list[NDArray[Any]] = []
        end = 0

        def placed(value: Any) -> Any:
            nonlocal end
            if isinstance(value, Mapping):
                return {key: placed(item) for key, item in value.items()}
            if not isinstance(value, np.ndarray):
                return [placed(item) for item in value] if isinstance(value, list) else value
            array = np.ascontiguousarray(value, "<f4" if value.dtype == np.float32 else TYPES[value.dtype.kind])
            arrays.append(array)
            at, end = end, end + _rounded(array.nbytes)
            return {"array": [array.dtype.str[1:], at, array.size]}

        text = "".join(_text(placed(self.data))).encode()
        text += b" " * (_rounded(len(text)) - len(text))
        head = MAGIC + struct.pack("<II", VERSION, len(text))
        parts = (array.tobytes() for array in arrays)
        return head + text + b"".join(part + bytes(_rounded(len(part)) - len(part)) for part in parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: JSON if its name ends in ``.json``, bytes if it ends in ``.linkwork``."""
        name = os.fspath(path)
        if not name.endswith((".json", ".linkwork")):
            raise OptionError(f"cannot write {name!r}: its name must end in .json (text) or .linkwork (bytes).")
        data = self.to_json().encode() if name.endswith(".json") else self.to_bytes()
        with replacing(path) as file:
            file.write(data)


def pack(
    linkage: Linkage, solvers: Wanted | Mapping[str, Wanted] = (), **options: Unpack[PackOptions]
) -> PackedLinkage:
    """Return a linkage packed with solvers; see `Linkage.pack`."""
    own_version = import_module("linkwork").__version__  # by name: the package imports this module for its types
    head = {"format": "linkwork", "version": VERSION, "linkwork": own_version}
    own = solvers_data(linkage, solvers, **options) | {"layouts": layouts()}
    return PackedLinkage(head | linkage_data(linkage) | own)


def json_text(data: Mapping[str, Any]) -> str:
    """Return plain data and arrays as JSON text: arrays are flat lists, infinity is 1e999."""
    return "".join(_text(data))


def _rounded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _text(value: Any) -> Any:
    """Yield the pieces of JSON text."""
    if isinstance(value, Mapping):
        yield "{"
        for k, (key, item) in enumerate(value.items()):
            yield f"{',' if k else ''}{json.dumps(key)}:"
            yield from _text(item)
        yield "}"
    elif isinstance(value, np.ndarray):
        finite = value.dtype.kind != "f" or np.isfinite(value).all()
        items = value.ravel().tolist()
        # Python's JSON writer is many times faster, but cannot write infinity.
        yield from [json.dumps(items, separators=(",", ":"))] if finite else _text(items)
    elif isinstance(value, list | tuple):
        yield "["
        for k, item in enumerate(value):
            yield "," if k else ""
            yield from _text(item)
        yield "]"
    elif isinstance(value, float) and np.isinf(value):
        yield "1e999" if value > 0.0 else "-1e999"
    else:
        yield json.dumps(value, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """Return a NumPy number or truth value as a Python one."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data.")
