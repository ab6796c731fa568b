"""Read C3D files of optical motion capture: the points of all frames, with their labels.

Numbers may be in the byte order of Intel, DEC or SGI, and points may be integers or floats. Analog channels and events
are skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FormatError
from ..transforms import FloatArray
from .atomic_files import read_bytes
from .options import FilePath

BLOCK = 512  # bytes
INTEL, DEC, SGI = 84, 85, 86
KEY = 0x50
MAX_VALUES = 2**25  # numbers of points and analog channels
LABELS = ("LABELS", "LABELS2", "LABELS3", "LABELS4")


@dataclass(frozen=True)
class PointData:
    """The points in a file.

    Args:
        labels: Their names; empty for points without one.
        points: Positions in the units and axes of the file, shape (frames, points, 3); NaN where not seen.
        rate: Frames per second.
        unit: The unit, such as ``"mm"``; empty if the file does not state it.
        up: The up axis, such as ``"z"``; any other text if the file does not state it.
    """

    labels: list[str]
    points: FloatArray
    rate: float
    unit: str
    up: str = ""


def read_points(path: FilePath) -> PointData:
    """Return the points of a C3D file.

    Raises:
        FormatError: If it is not a C3D file, or ends too early.
    """
    data = read_bytes(path)
    if len(data) < 2 * BLOCK or data[1] != KEY or not data[0]:
        raise FormatError(path, "is not a C3D file: its first bytes are different.")
    return _C3dFile(path, data).points()


class _C3dFile:
    """Reads the bytes of a file."""

    def __init__(self, path: FilePath, data: bytes) -> None:
        self.path, self.data = path, data
        self.start = (data[0] - 1) * BLOCK
        self.kind = data[self.start + 3] if self.start + 4 <= len(data) else 0
        if self.kind not in (INTEL, DEC, SGI):
            raise FormatError(path, f"has numbers of an unknown processor type, {self.kind}.")
        self.order = ">" if self.kind == SGI else "<"

    def points(self) -> PointData:
        count, analog, first, last = (self.word(2), self.word(4), self.word(6), self.word(8))
        found = dict(self.parameters())
        scale, rate, data_block = self.real(12), self.real(20), self.word(16)
        scale = found["POINT:SCALE"] if isinstance(found.get("POINT:SCALE"), float) else scale
        rate = rate if rate > 0.0 or not isinstance(found.get("POINT:RATE"), float) else found["POINT:RATE"]
        if isinstance(block := found.get("POINT:DATA_START"), int) and block > 0:
            data_block = block & 0xFFFF
        frames = self._frames(found, last - first + 1)
        width = 4 * count + analog
        size = 4 if scale < 0.0 else 2
        start = (data_block - 1) * BLOCK
        if start < BLOCK or not count or frames < 1 or not 0.0 < rate < 1e6 or not np.isfinite(scale):
            raise FormatError(self.path, f"has {count} points, {frames} frames and {rate:g} frames per second.")
        there = (len(self.data) - start) // (size * width)
        if there < 1 or min(frames, there) * width > MAX_VALUES:
            raise FormatError(self.path, f"{frames} frames of {width} numbers: none are present, or too many.")
        frames = min(frames, there)
        table = self._numbers(start, frames * width, size).reshape(frames, width)[:, : 4 * count]
        values = table.reshape(frames, count, 4)
        points = values[..., :3] * (1.0 if size == 4 else scale)
        unseen = (values[..., 3] < 0.0) | (points == 0.0).all(axis=-1)
        points[unseen] = np.nan
        texts = {name: value for name, value in found.items() if isinstance(value, list)}
        names = [label for key in LABELS for label in texts.get(f"POINT:{key}", ())]
        labels = [names[k] if k < len(names) else "" for k in range(count)]
        upwards = texts.get("POINT:Y_SCREEN") or [""]  # the up axis on a screen, such as +Z
        unit = texts.get("POINT:UNITS") or [""]
        return PointData(labels, points, rate, unit[0], upwards[0].removeprefix("+").lower())

    def _frames(self, found: dict[str, Any], counted: int) -> int:
        """Return the number of frames; the 16 bits of the header cannot count above 65,535."""
        long = found.get("POINT:FRAMES")
        if isinstance(long, int) and (long & 0xFFFF) > counted:
            return long & 0xFFFF
        if isinstance(long, float) and counted < long < 1e7:
            return int(long)
        return counted

    # Numbers

    def word(self, place: int) -> int:
        return int(struct.unpack_from(f"{self.order}H", self.data, place)[0])

    def real(self, place: int) -> float:
        return float(self._reals(self.data[place : place + 4])[0])

    def _reals(self, data: bytes) -> FloatArray:
        if self.kind != DEC:
            return np.frombuffer(data, f"{self.order}f4").astype(np.float64)
        words = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1]  # DEC swaps the two words
        values = np.ascontiguousarray(words).view("<f4").ravel().astype(np.float64)
        return values / 4.0  # and has another exponent bias

    def _numbers(self, start: int, count: int, size: int) -> FloatArray:
        data = self.data[start : start + count * size]
        with np.errstate(all="ignore"):
            return self._reals(data) if size == 4 else np.frombuffer(data, f"{self.order}i2").astype(np.float64)

    # Parameters

    def parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield parameters by name, such as ``POINT:LABELS``, up to the first damaged entry."""
        groups: dict[int, str] = {}
        entries: list[tuple[int, str, Any]] = []
        place, end = self.start + 4, min(self.start + max(self.data[self.start + 2], 1) * BLOCK, len(self.data))
        end = max(end, min((self.word(16) - 1) * BLOCK, len(self.data)))  # may be more than a byte can count
        while place + 4 <= end:
            length, number = struct.unpack_from("bb", self.data, place)
            length = abs(length)  # negative for locked parameters
            if not number or not length or place + 4 + length > end:
                break
            name = self.data[place + 2 : place + 2 + length].decode("latin-1").strip().upper()
            body = place + 2 + length
            step = self.word(body)
            if number < 0:
                groups[-number] = name
            else:
                entries.append((number, name, self._value(body + 2, end)))
            if not step:
                break
            place = body + step
        yield from ((f"{groups.get(number, '')}:{name}", value) for number, name, value in entries)

    def _value(self, place: int, end: int) -> Any:
        """Return texts or a number; None if the value exceeds the block."""
        if place + 2 > end:
            return None
        kind, ranks = struct.unpack_from("b", self.data, place)[0], self.data[place + 1]
        sizes = list(self.data[place + 2 : place + 2 + ranks])
        start, count = place + 2 + ranks, int(np.prod(sizes, dtype=object)) if sizes else 1
        if len(sizes) < ranks or ranks > 7 or start + count * abs(kind) > end:
            return None
        if kind == -1:
            width = sizes[0] if sizes else 1
            text = self.data[start : start + count].decode("utf-8", "replace")
            rows = [text[k : k + width] for k in range(0, count, width)] if width else []
            return [row.strip(" \0\t") for row in rows]
        if kind == 2 and count:
            return self.word(start)
        return self.real(start) if kind == 4 and count else None
