"""Files of markers, written here byte by byte as the format is described, in the orders of three processors."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError, LinkageError

INTEL, DEC, SGI = 84, 85, 86
SCALE, NAMES = 0.05, ("head", "toe")
POINTS = np.array([[[100.0, -20.0, 1500.0], [0.5, 10.0, 30.0]], [[110.0, -20.0, 1490.0], [0.0, 0.0, 0.0]]])  # mm


def real(value: float, kind: int) -> bytes:
    if kind != DEC:
        return struct.pack(">f" if kind == SGI else "<f", value)
    data = struct.pack("<f", 4.0 * value)
    return data[2:] + data[:2]


def c3d(kind: int, *, whole: bool, labels: tuple[str, ...] = NAMES, unit: str = "mm", up: str = "+Z") -> bytes:
    """Return a C3D file with two frames of two points, and two analog channels that are to be skipped."""
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


@pytest.mark.parametrize("kind", [INTEL, DEC, SGI])
@pytest.mark.parametrize("whole", [True, False])
def test_numbers_of_all_processors(kind: int, whole: bool, tmp_path: Path) -> None:
    path = tmp_path / "walk.c3d"
    path.write_bytes(c3d(kind, whole=whole))
    markers = lw.load_markers(path)
    assert markers.names == ("head", "toe")
    np.testing.assert_allclose(markers.times, [0.0, 0.02])
    np.testing.assert_allclose(markers["head"], 0.001 * POINTS[:, 0], rtol=1e-6)
    assert np.isnan(markers["toe"][1]).all()
    assert markers.missing == {"head": 0.0, "toe": 0.5}
    assert not markers.remarks


def test_units_axes_and_names(tmp_path: Path) -> None:
    path = tmp_path / "walk.c3d"
    path.write_bytes(c3d(INTEL, whole=False, labels=("a",), unit="m", up="+Y"))
    markers = lw.load_markers(path)
    assert markers.names == ("a", "marker2")
    x, y, z = POINTS[0, 0]
    np.testing.assert_allclose(markers["a"][0], [x, -z, y], rtol=1e-6)
    told = lw.load_markers(path, units=0.01, up="z")
    np.testing.assert_allclose(told["a"][0], 0.01 * POINTS[0, 0], rtol=1e-6)
    path.write_bytes(c3d(INTEL, whole=False, unit="ell", up=""))
    said = {remark.kind for remark in lw.load_markers(path).remarks}
    assert said == {"units", "up-axis"}


def trc(mark: str = "\t", rows: str = "1 0.00 1 2 3 4 5 6\n2 0.01 1 2 3") -> str:
    head = "PathFileType 4 (X/Y/Z) walk\nDataRate NumMarkers Units\n100 2 mm\n"
    head += "Frame# Time heel   toe\n  X1 Y1 Z1 X2 Y2 Z2\n"
    return (head + rows).replace(" ", mark)


@pytest.mark.parametrize("mark", ["\t", ","])
def test_trc(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "walk.trc"
    path.write_text(trc(mark))
    markers = lw.load_markers(path, up="z")
    assert repr(markers) == "<Markers: 2 markers, 2 frames, 0.01 s>"
    np.testing.assert_allclose(markers["toe"], [[0.004, 0.005, 0.006], [np.nan] * 3])
    assert markers.only(["toe"]).names == ("toe",)
    with pytest.raises(LinkageError, match="no marker 'tow'; there are heel, toe"):
        markers["tow"]
    floor = trc(mark, "1 0 0 -900 50 0 900 1500")  # z stands on the ground, y does not
    path.write_text(floor)
    np.testing.assert_allclose(lw.load_markers(path)["toe"], [[0.0, 0.9, 1.5]])


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.c3d", b"", "does not begin as one"),
        ("a.c3d", c3d(INTEL, whole=False)[:1024], "none are there"),
        ("a.c3d", c3d(99, whole=False), "unknown processor"),
        ("a.c3d", b"\xff" * 2048, "does not begin as one"),
        ("a.trc", b"once upon a time", "does not begin with PathFileType"),
        ("a.trc", b"PathFileType\t4\n", "within its header"),
        ("a.trc", trc(rows="1 0 1 2 x").encode(), ":6: this row has 'x', not a number"),
        ("a.trc", trc().replace("100", "no").encode(), ":3: its header has no number"),
        ("a.trc", trc(rows="").encode(), "0 frames"),
        ("a.txt", b"", "known are .c3d, .trc"),
    ],
)
def test_what_is_no_such_file_is_refused(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=why):
        lw.load_markers(tmp_path / name)


def test_damaged_files_end_in_an_error_or_in_markers(tmp_path: Path) -> None:
    whole, random, path = c3d(INTEL, whole=True), np.random.default_rng(0), tmp_path / "a.c3d"
    for _ in range(200):
        data = bytearray(whole[: random.integers(600, len(whole))])
        for place in random.integers(0, min(len(data), 700), 6):
            data[place] = random.integers(256)
        path.write_bytes(data)
        with contextlib.suppress(FormatError):
            assert len(lw.load_markers(path)) > 0
