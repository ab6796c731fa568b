"""Decode numbers compressed by meshopt in glTF files: the codec of attributes, both versions, and its filters.

It is described by the extensions EXT_meshopt_compression and KHR_meshopt_compression, and used for animations and mesh
vertices. `meshopt_triangles` decodes triangles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GROUP = 16  # elements whose deltas have the same number of bits
LARGEST_BLOCK, BLOCK_BYTES = 256, 8192
OLD, NEW = 0xA0, 0xA1  # first bytes of the two versions
LEAST_TAIL = {OLD: 32, NEW: 24}
WIDTHS = {OLD: (0, 2, 4, 8), 0: (0, 1, 2, 4), 1: (1, 2, 4, 8)}  # bits of a delta, by version or control and header
ZEROS, LITERAL = 2, 3  # controls of bytes without a header


def _unpacked(bits: int) -> list[bytes]:
    """Return the values packed in every byte; single bits start with the lowest, others with the highest."""
    shifts = range(0, 8, bits) if bits == 1 else range(8 - bits, -1, -bits)
    return [bytes((byte >> shift) & ((1 << bits) - 1) for shift in shifts) for byte in range(256)]


UNPACKED = {bits: _unpacked(bits) for bits in (1, 2, 4)}


def decode(data: bytes, count: int, stride: int, name: str) -> bytes:
    """Return the decoded bytes of elements.

    Args:
        data: The compressed bytes.
        count: Number of elements.
        stride: Bytes of each element, a multiple of four.
        name: The filter: ``"NONE"``, ``"QUATERNION"``, ``"EXPONENTIAL"`` or ``"OCTAHEDRAL"``.

    Raises:
        ValueError: If the data are invalid.
    """
    version = data[0] if data else -1
    if version not in LEAST_TAIL or stride % 4 or not 4 <= stride <= 256:
        raise ValueError("they have an unknown version")
    if name not in FILTERS:
        raise ValueError(f"there is no filter {name[:40]!r}")
    own = stride + (stride // 4 if version == NEW else 0)
    end = len(data) - max(own, LEAST_TAIL[version])
    deltas, place = np.zeros((count, stride), np.uint8), 1
    most = min((BLOCK_BYTES // stride) & ~(GROUP - 1), LARGEST_BLOCK)
    for first in range(0, count, most):
        size = min(most, count - first)
        controls = [OLD] * stride
        if version == NEW:
            packed = data[place : place + stride // 4]
            controls = [(byte >> shift) & 3 for byte in packed for shift in (0, 2, 4, 6)]
            place += stride // 4
        if place > end:
            raise ValueError("they end too early")
        for k, control in enumerate(controls):
            column, place = _column(data, place, size, control)
            if place > end:
                raise ValueError("they end too early")
            deltas[first : first + size, k] = np.frombuffer(column, np.uint8, size)
    if place > end or any(data[place:end]):
        raise ValueError("they do not end where they should")
    tail = data[len(data) - own :]
    modes = tail[stride:] if version == NEW else bytes(stride // 4)
    values = np.empty_like(deltas)
    for k, mode in enumerate(modes):
        here = slice(4 * k, 4 * k + 4)
        values[:, here] = _summed(deltas[:, here], tail[here], mode)
    return FILTERS[name](values)


def _column(data: bytes, place: int, size: int, control: int) -> tuple[bytes, int]:
    """Return the deltas of one byte of all elements of a block, at least `size`, and the position after them."""
    if control == ZEROS:
        return bytes(size), place
    if control == LITERAL:
        return data[place : place + size].ljust(size, b"\0"), place + size
    groups = -(-size // GROUP)
    headers = data[place : place + -(-groups // 4)]
    place += len(headers)
    result = bytearray()
    for group in range(groups):
        bits = WIDTHS[control][(headers[group // 4] >> 2 * (group % 4)) & 3] if group // 4 < len(headers) else 0
        packed = data[place : place + 2 * bits]
        place += 2 * bits
        if bits in (0, 8):
            result += packed.ljust(GROUP, b"\0")
            continue
        values, sentinel = bytearray(b"".join(UNPACKED[bits][byte] for byte in packed)), (1 << bits) - 1
        for i, value in enumerate(values):
            if value == sentinel:
                values[i] = data[place] if place < len(data) else 0
                place += 1
        result += values.ljust(GROUP, b"\0")
    return bytes(result), place


def _summed(deltas: NDArray[np.uint8], baseline: bytes, mode: int) -> NDArray[np.uint8]:
    """Return four bytes of all elements from their deltas (count, 4) and the initial element."""
    if mode in (0, 1):
        kind = np.dtype("<u1" if mode == 0 else "<u2")
        zigzag = np.ascontiguousarray(deltas).view(kind)
        steps = np.where(zigzag & 1, ~(zigzag >> 1), zigzag >> 1).astype(kind)
        start = np.frombuffer(baseline, kind)
        return np.asarray((np.cumsum(steps, axis=0, dtype=kind) + start).astype(kind).view(np.uint8), np.uint8)
    turn = (32 - (mode >> 4)) & 31
    if mode & 15 != 2:
        raise ValueError(f"the mode {mode} of differences is unknown")
    words = np.ascontiguousarray(deltas).view("<u4")
    if turn:
        words = (words << np.uint32(turn)) | (words >> np.uint32(32 - turn))
    start = np.frombuffer(baseline, "<u4")
    return np.asarray((np.bitwise_xor.accumulate(words, axis=0) ^ start).astype("<u4").view(np.uint8), np.uint8)


# Filters


def _plain(values: NDArray[np.uint8]) -> bytes:
    return values.tobytes()


def _quaternion(values: NDArray[np.uint8]) -> bytes:
    """Decode quaternions stored as three components to x, y, z, w as normalised 16-bit integers."""
    parts = _shorts(values, 4)
    largest = parts[:, 3] & 3
    three = parts[:, :3] / ((parts[:, 3:] | 3) * np.sqrt(2.0))
    fourth = np.sqrt(np.maximum(0.0, 1.0 - (three * three).sum(axis=1)))
    result = np.empty((len(parts), 4))
    rows = np.arange(len(parts))
    for k in range(3):
        result[rows, (largest + 1 + k) % 4] = three[:, k]
    result[rows, largest] = fourth
    return bytes(np.rint(result * 32767.0).astype("<i2").tobytes())


def _exponential(values: NDArray[np.uint8]) -> bytes:
    """Decode numbers stored as 24 bits of mantissa and 8 of exponent."""
    words = np.ascontiguousarray(values).view("<i4")
    return bytes(np.ldexp((words << 8) >> 8, words >> 24).astype("<f4").tobytes())


def _octahedral(values: NDArray[np.uint8]) -> bytes:
    """Decode directions stored as points of an octahedron to normalised integers of 8 or 16 bits."""
    kind = np.dtype("<i1" if values.shape[1] == 4 else "<i2")
    if values.shape[1] not in (4, 8):
        raise ValueError("directions must have 4 or 8 bytes")
    parts: NDArray[Any] = np.ascontiguousarray(values).view(kind).astype(np.float64)
    x, y, one = parts[:, 0], parts[:, 1], parts[:, 2]
    z = one - np.abs(x) - np.abs(y)
    below = np.maximum(-z, 0.0)
    x, y = x - np.copysign(below, x), y - np.copysign(below, y)
    scale = np.iinfo(kind).max / np.maximum(np.sqrt(x * x + y * y + z * z), 1e-9)
    result = np.stack([x * scale, y * scale, z * scale, parts[:, 3]], axis=1)
    return bytes(np.rint(result).astype(kind).tobytes())


def _shorts(values: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    if values.shape[1] != 2 * width:
        raise ValueError(f"they should have {2 * width} bytes each, got {values.shape[1]}")
    return np.ascontiguousarray(values).view("<i2").astype(np.int64)


FILTERS = {"NONE": _plain, "QUATERNION": _quaternion, "EXPONENTIAL": _exponential, "OCTAHEDRAL": _octahedral}
