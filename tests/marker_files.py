"""Writes C3D and TRC files byte by byte from their specifications, in the byte orders of three processors."""

from __future__ import annotations

import struct

import numpy as np

INTEL, DEC, SGI = 84, 85, 86
SCALE, NAMES = 0.05, ("head", "toe")
POINTS = np.array([[[100.0, -20.0, 1500.0], [0.5, 10.0, 30.0]], [[110.0, -20.0, 1490.0], [0.0, 0.0, 0.0]]])  # mm


def real(value: float, kind: int) -> bytes:
    if kind != DEC:
        return struct.pack(">f" if kind == SGI else "<f", value)
    data = struct.pack("<f", 4.0 * value)
    return data[2:] + data[:2]


def c3d(kind: int, *, whole: bool, labels: tuple[str, ...] = NAMES, unit: str = "mm", up: str = "+Z") -> bytes:
    """Return a C3D file with two frames of two points, and two analog channels for the reader to skip."""
    order = ">" if kind == SGI else "<"
    scale = SCALE if whole else -SCALE

    def entry(name: str, body: bytes, number: int = 1) -> bytes:
        step = struct.pack(f"{order}H", 2 + len(body))
        return struct.pack("bb", len(name), number) + name.encode() + step + body

    def texts(name: str, rows: tuple[str, ...]) -> bytes:
        width = max(map(len, rows), default=0)
        data = "".join(row.ljust(width) for row in rows).encode()
        return entry(name, struct.pack("bBBB", -1, 2, width, len(rows)) + data + b"\0")

    parameters = entry("POINT", b"\0", -1) + texts("LABELS", labels)
    parameters += texts("UNITS", (unit,)) + texts("Y_SCREEN", (up,))
    parameters += entry("SCALE", struct.pack("bB", 4, 0) + real(scale, kind) + b"\0")
    parameters = struct.pack("BBBB", 1, 80, 1, kind) + parameters + b"\0\0"
    words = struct.pack(f"{order}5H", 2, 2, 1, 2, 0)
    header = bytes([2, 80]) + words + real(scale, kind) + struct.pack(f"{order}2H", 3, 1) + real(50.0, kind)
    rows = b""
    for frame in POINTS:
        for point in frame:
            fourth = -1 if not point.any() else 0
            if whole:
                rows += struct.pack(f"{order}4h", *(round(value / SCALE) for value in point), fourth)
            else:
                rows += b"".join(real(value, kind) for value in (*point, fourth))
        rows += struct.pack(f"{order}2h", 7, 7) if whole else 2 * real(7.0, kind)
    return header.ljust(512, b"\0") + parameters.ljust(512, b"\0") + rows.ljust(512, b"\0")


def trc(mark: str = "\t", rows: str = "1 0.00 1 2 3 4 5 6\n2 0.01 1 2 3") -> str:
    head = "PathFileType 4 (X/Y/Z) walk\nDataRate NumMarkers Units\n100 2 mm\n"
    head += "Frame# Time heel   toe\n  X1 Y1 Z1 X2 Y2 Z2\n"
    return (head + rows).replace(" ", mark)
