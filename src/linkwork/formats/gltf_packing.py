"""Numbers on their way into a glTF file: accessors and their bytes, and the keys that a clip is written with."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from ..motion.clips import Clip
from ..motion.splines import unwound
from ..transforms import FloatArray, steady
from .atomic_files import replacing, write_text
from .content import Remarks
from .gltf_data import BINARY_CHUNK, JSON_CHUNK, MAGIC, TYPES
from .gltf_extras import written_times
from .options import FilePath

CODES = {np.dtype(kind): code for code, kind in TYPES.items()}  # of component types
WIDEST_TURN = 2.5  # between two keys [rad]: glTF goes the short way round


class Packing:
    """A document that accessors are added to, and the buffer that holds their bytes.

    Args:
        document: The JSON of the file, changed in place.
        binary: What the buffer holds already.
        buffer: Index of the buffer in the document.
        path: The file that is written, for errors.
    """

    def __init__(self, document: dict[str, Any], path: FilePath, *, binary: bytes = b"", buffer: int = 0) -> None:
        self.binary, self.buffer, self.path = bytearray(binary), buffer, path
        self.views: list[Any] = document.setdefault("bufferViews", [])
        self.accessors: list[Any] = document.setdefault("accessors", [])

    def view(self, data: bytes, **more: Any) -> int:
        """Write bytes and return the index of their buffer view, which begins and ends at a multiple of four."""
        self.binary += b"\0" * (-len(self.binary) % 4)
        place = {"buffer": self.buffer, "byteOffset": len(self.binary), "byteLength": len(data)}
        self.binary += data
        self.binary += b"\0" * (-len(self.binary) % 4)
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
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            text = "the linkage or its motion has numbers that are too large for a glTF file."
            raise FormatError(self.path, text)
        data = values.astype(values.dtype.newbyteorder("<")).tobytes()
        view = self.view(data, **({} if target is None else {"target": target}))
        entry: dict[str, Any] = {"bufferView": view, "componentType": CODES[values.dtype]}
        entry |= {"count": len(values), "type": kind}
        if normalized:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def clock(self, times: FloatArray) -> int:
        """Write the times of keys [s] and return the index of their accessor."""
        return self.accessor(times.astype(np.float32)[:, None], "SCALAR", bounds=True)

    def channel(self, animation: dict[str, Any], clock: int, node: int, path: str, values: FloatArray) -> None:
        """Add a property of a node to an animation: its values (keys, components) at the times of a clock."""
        samplers = animation["samplers"]
        animation["channels"].append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": clock, "output": self.accessor(values.astype(np.float32), f"VEC{values.shape[1]}")})


def data_uri(data: bytes) -> str:
    """Return bytes as an address that holds them itself."""
    return f"data:application/octet-stream;base64,{base64.b64encode(data).decode('ascii')}"


def write_document(
    path: FilePath, document: dict[str, Any], binary: bytes, more: Sequence[tuple[int, bytes]] = ()
) -> None:
    """Write a file whole or not at all: glTF with its first buffer inside, by the suffix of its name, or GLB.

    Args:
        path: The file.
        document: Its JSON.
        binary: The bytes of its first buffer, whose length the document has; empty if that lies elsewhere.
        more: Kinds and bytes of further chunks of a GLB file.
    """
    if PurePath(path).suffix.lower() == ".gltf":
        if binary:
            document["buffers"][0]["uri"] = data_uri(binary)
        write_text(path, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1))
        return
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    chunks = [(JSON_CHUNK, text + b" " * (-len(text) % 4))]
    chunks += [(BINARY_CHUNK, binary + b"\0" * (-len(binary) % 4))] if binary else []
    body = b"".join(struct.pack("<II", len(data), kind) + data for kind, data in (*chunks, *more))
    with replacing(path) as file:
        file.write(MAGIC + struct.pack("<II", 2, 12 + len(body)) + body)


def quaternions(matrices: FloatArray) -> FloatArray:
    """Return rotations (n, 3, 3) as x, y, z, w, each on the side of the one before."""
    from scipy.spatial.transform import Rotation

    return steady(Rotation.from_matrix(matrices).as_quat(canonical=True))


def key_frames(clip: Clip, name: str, remarks: Remarks) -> tuple[FloatArray, FloatArray]:
    """Return the times and poses of the keys: the clip's frames, and more where a joint turns far between two.

    Args:
        clip: The clip.
        name: What it is called.
        remarks: Gains what glTF cannot hold of it.
    """
    linkage = clip.linkage
    times, kept = written_times(clip.times)
    if clip.times[0] < 0.0:
        text = f"clip {name!r} begins at {clip.times[0]:g} s; glTF begins at zero, and so it does there."
        remarks.add("times", text, name)
    if len(kept) < len(clip):
        text = f"{len(clip) - len(kept)} frames of clip {name!r} are too near the one before for float32 times."
        remarks.add("dropped", text, name)
    if clip.residuals is not None:
        remarks.add("dropped", f"the residuals of clip {name!r} are not written.", name)
    poses = unwound(linkage, clip.poses[kept])  # an angle without limits goes the short way, as in the clip
    ratio = np.zeros(linkage.nq)
    for arc, drive in zip(linkage.arcs, linkage.drives, strict=True):
        if arc.articulation.units.count("rad") == 1:  # several make one rotation, which goes the short way too
            angle = drive.q + arc.articulation.units.index("rad")
            ratio[angle] = max(ratio[angle], abs(drive.multiplier))
    fast = np.flatnonzero(ratio)
    steps = np.abs(np.diff(poses[:, fast], axis=0)) * ratio[fast]
    counts = np.ceil(steps.max(axis=1, initial=0.0) / WIDEST_TURN).clip(1.0, 1000.0).astype(np.int64)
    if (counts == 1).all():
        return times, poses
    start = np.repeat(np.arange(len(counts)), counts)
    part = np.concatenate([np.arange(count) / count for count in counts])
    finer = times[start] + part * (times[start + 1] - times[start])
    between = linkage.interpolate(poses[start], poses[start + 1], part, wrap=False)
    finer, inside = written_times(np.append(finer, times[-1]))
    return finer, np.concatenate([between, poses[-1:]])[inside]
