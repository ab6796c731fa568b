"""Marker files: read correctly for all processor types, and damage is reported."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import FormatError, LinkageError
from marker_files import DEC, INTEL, POINTS, SGI, c3d, trc


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


@pytest.mark.parametrize("mark", ["\t", ","])
def test_trc(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "walk.trc"
    path.write_text(trc(mark), encoding="utf-8")
    markers = lw.load_markers(path, up="z")
    assert repr(markers) == "<Markers: 2 markers, 2 frames, 0.01 s>"
    np.testing.assert_allclose(markers["toe"], [[0.004, 0.005, 0.006], [np.nan] * 3])
    assert markers.only(["toe"]).names == ("toe",)
    with pytest.raises(LinkageError, match="no marker 'tow'; there are heel, toe"):
        markers["tow"]
    floor = trc(mark, "1 0 0 -900 50 0 900 1500")  # z stands on the ground, y does not
    path.write_text(floor, encoding="utf-8")
    np.testing.assert_allclose(lw.load_markers(path)["toe"], [[0.0, 0.9, 1.5]])


def test_a_marker_at_no_place_is_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "walk.trc"
    path.write_text(trc(rows="1 0.00 1 2 3 4 inf 6\n2 0.01 1e300 2 3 4 5 6"), encoding="utf-8")
    markers = lw.load_markers(path)
    assert markers.missing == {"heel": 0.5, "toe": 0.5}
    assert [remark.kind for remark in markers.remarks] == ["places", "up-axis"]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.c3d", b"", "its first bytes are different"),
        ("a.c3d", c3d(INTEL, whole=False)[:1024], "none are present"),
        ("a.c3d", c3d(99, whole=False), "unknown processor"),
        ("a.c3d", b"\xff" * 2048, "its first bytes are different"),
        ("a.trc", b"once upon a time", "does not begin with PathFileType"),
        ("a.trc", b"PathFileType\t4\n", "within its header"),
        ("a.trc", trc(rows="1 0 1 2 x").encode(), ":6: this row has 'x', not a number"),
        ("a.trc", trc().replace("100", "no").encode(), ":3: its header has no number"),
        ("a.trc", trc(rows="").encode(), "0 frames"),
        ("a.txt", b"", "known formats: .c3d, .trc"),
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
