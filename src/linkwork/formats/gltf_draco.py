"""Meshes of a glTF file compressed by Draco (KHR_draco_mesh_compression): their numbers, by accessor.

They are decoded by `DracoPy`, if installed, in a separate process, since damaged data may crash it.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct
from numpy.typing import NDArray

from ..errors import MissingExtraError
from .child import ask_arrays
from .gltf_data import GltfSource
from .gltf_document import Index

EXTENSION = "KHR_draco_mesh_compression"
SECONDS, SLOWEST = 2.0, 2**20  # CPU time [s], and bytes for one more second
MEMORY, WORK = 450 * 2**20, 64  # memory of the process [bytes], and more per byte of data


class Squeezed(Struct, rename="camel"):
    """The compressed bytes of a mesh, and the Draco ids of its attributes."""

    buffer_view: Index
    attributes: dict[str, Index] = {}


def supply(source: GltfSource, primitives: Sequence[Any]) -> None:
    """Decode compressed parts of meshes, and store the numbers of their accessors in the source.

    Args:
        source: The file.
        primitives: Parts of meshes, with `attributes`, `indices` and `extensions`; uncompressed ones are skipped.

    Raises:
        FormatError: If the bytes are damaged.
        MissingExtraError: If `DracoPy` is not installed.
    """
    packed = [(one, _squeezed(source, one.extensions)) for one in primitives if EXTENSION in one.extensions]
    if not packed:
        return
    data = [source.view(one.buffer_view, "a mesh compressed by Draco") for _, one in packed]
    size = sum(map(len, data))
    request = {"meshes": [base64.b64encode(part).decode() for part in data]}
    limits = {"seconds": SECONDS + size / SLOWEST, "bytes": MEMORY + WORK * size}
    missing = MissingExtraError("DracoPy", "draco", "drawing meshes compressed by Draco")
    _, arrays = ask_arrays("draco_program.py", request | limits, source.path, "Draco", dict(os.environ), missing)
    for k, (primitive, squeezed) in enumerate(packed):
        given: dict[int, NDArray[Any]] = {}
        if primitive.indices is not None:
            given[primitive.indices] = arrays[f"triangles{k}"].reshape(-1, 1)
        for name, number in squeezed.attributes.items():
            if name not in primitive.attributes:
                continue
            values = arrays.get(f"attribute{k}_{number}")
            if values is None:
                source.refuse(f"a mesh compressed by Draco lacks attribute {number}, its {name}.")
            given[primitive.attributes[name]] = values.reshape(len(values), -1)
        source.supplied |= given


def _squeezed(source: GltfSource, extensions: Mapping[str, Raw]) -> Squeezed:
    try:
        return msgspec.json.decode(extensions[EXTENSION], type=Squeezed)
    except (msgspec.DecodeError, RecursionError) as error:
        source.refuse(f"a mesh has an invalid description of its Draco compression: {str(error)[:200].rstrip('.')}.")
