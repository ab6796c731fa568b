"""Motions as tables: exact to the bit, readable by other programs; hostile tables are refused."""

from __future__ import annotations

import contextlib
import csv
import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import linkwork as lw
from linkages import JOINTS, one_joint
from linkwork.errors import FormatError
from linkwork.formats import CLIP, Content, read, tables, write
from linkwork.formats.npz_writer import Rows, write_arrays
from scenes import LINKAGES, bits

SUFFIXES = (".csv", ".npz", ".parquet")
every_table = pytest.mark.parametrize("suffix", SUFFIXES)


def need(suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")


def clip(linkage: lw.Linkage, frames: int = 5) -> lw.Clip:
    rng = np.random.default_rng(0)
    return lw.Clip(linkage, np.cumsum(rng.uniform(0.01, 1.0, frames)) - 3.0, linkage.random_pose(rng, frames))


def saved(suffix: str, motion: lw.Clip, folder: Path) -> Path:
    path = folder / f"motion{suffix}"
    write(Content(motion.linkage, {CLIP: motion}), path)
    return path


# Writing and reading


@every_table
@pytest.mark.parametrize("name", [*JOINTS, "odd_names", "tree 20", "model human", "heavy", "loops"])
def test_a_motion_comes_back_bit_for_bit(name: str, suffix: str, tmp_path: Path) -> None:
    need(suffix)
    motion = clip(LINKAGES[name]())
    if not motion.linkage.nq:
        return
    path = saved(suffix, motion, tmp_path)
    found = lw.load_clip(path, linkage=motion.linkage if suffix == ".csv" else None)
    assert (found.times.tobytes(), found.poses.tobytes()) == (motion.times.tobytes(), motion.poses.tobytes())
    assert bits(found.linkage) == bits(motion.linkage)


@every_table
@pytest.mark.parametrize("value", [5e-324, -0.0, 1e300, 1 / 3, 0.1])
def test_numbers_that_are_hard_to_write_come_back(value: float, suffix: str, tmp_path: Path) -> None:
    need(suffix)
    arm = lw.Builder("arm").prismatic("slide", "hand").build()
    motion = lw.Clip(arm, [0.0, 1 / 3], [[value], [-value]])
    found = lw.load_clip(saved(suffix, motion, tmp_path), linkage=arm)
    assert found.poses.tobytes() == motion.poses.tobytes()


@every_table
def test_a_linkage_that_cannot_move_has_a_motion_of_times_only(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    stone = lw.Linkage([lw.Link("stone")])
    motion = lw.Clip(stone, [0.0, 1.0], np.zeros((2, 0)))
    found = lw.load_clip(saved(suffix, motion, tmp_path), linkage=stone)
    assert (found.times.tolist(), found.poses.shape) == ([0.0, 1.0], (2, 0))


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_table_that_holds_its_linkage_is_a_model_too(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    motion = lw.models.motion("human")
    assert lw.load(saved(suffix, motion, tmp_path)) == motion.linkage


@every_table
def test_a_second_motion_is_left_out_aloud(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    motion = clip(one_joint(JOINTS["planar-z"]))
    remarks = write(Content(motion.linkage, {"a": motion, "b": motion, "c": motion}), tmp_path / f"m{suffix}")
    assert [remark.text for remark in remarks if remark.where == "clips"] == [
        f"{suffix[1:].upper() if suffix != '.parquet' else 'Parquet'} holds one motion, 'a': 'b', 'c' left out."
    ]


# Other programs


def test_a_csv_file_says_names_and_units(tmp_path: Path) -> None:
    b = lw.Builder("b", root="floating").revolute("knee, left", "shin").prismatic("slide", "hand")
    path = saved(".csv", clip(b.build(), 3), tmp_path)
    with path.open(newline="", encoding="utf-8") as file:
        titles, *rows = csv.reader(file)
    assert titles == [
        "time [s]",
        *("root.x [m]", "root.y [m]", "root.z [m]", "root.qw", "root.qx", "root.qy", "root.qz"),
        "knee, left [rad]",
        "slide [m]",
    ]
    assert np.array(rows, dtype=float).shape == (3, 10)


def test_numpy_reads_an_npz_file_without_pickles(tmp_path: Path) -> None:
    motion = clip(one_joint(JOINTS["floating"]))
    with np.load(saved(".npz", motion, tmp_path), allow_pickle=False) as arrays:
        assert sorted(arrays) == sorted(tables.ARRAYS)
        assert arrays["coordinates"].tolist() == list(motion.linkage.coordinates)
        assert arrays["units"].tolist() == ["m"] * 3 + [""] * 4 + ["rad"]
        np.testing.assert_array_equal(arrays["poses"], motion.poses)
        assert str(arrays["scene"]).startswith("linkwork: 2\n")


def test_an_npz_file_is_byte_by_byte_what_numpy_writes() -> None:
    rng = np.random.default_rng(0)
    arrays = {"times": rng.random(50), "poses": rng.random((50, 3)), "name": "walk", "units": np.array(["m", "rad"])}
    ours, theirs = io.BytesIO(), io.BytesIO()
    blocks = (arrays["poses"][begin : begin + 16] for begin in range(0, 50, 16))
    write_arrays(ours, arrays | {"poses": Rows((50, 3), blocks)})
    np.savez_compressed(theirs, **arrays)
    assert ours.getvalue() == theirs.getvalue()


@every_table
def test_a_motion_in_blocks_comes_back_bit_for_bit(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(suffix)
    monkeypatch.setattr(tables, "BLOCK", 4)
    motion = clip(one_joint(JOINTS["floating"]), 11)
    found = lw.load_clip(saved(suffix, motion, tmp_path), linkage=motion.linkage)
    assert (found.times.tobytes(), found.poses.tobytes()) == (motion.times.tobytes(), motion.poses.tobytes())


def test_arrow_reads_a_parquet_file_with_its_units(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    motion = clip(one_joint(JOINTS["planar-z"]))
    table = parquet.read_table(saved(".parquet", motion, tmp_path))
    assert table.column_names == ["time", *motion.linkage.coordinates]
    assert [field.metadata[b"unit"] for field in table.schema] == [b"s", b"m", b"m", b"rad", b"rad"]
    np.testing.assert_array_equal(table["hinge"].to_numpy(), motion.poses[:, -1])


# Input of users


ARM = lw.Builder("arm").revolute("a", "upper").prismatic("b c", "lower").build()
TABLE = "time [s],a [rad],b c [m]\n0,0.5,0.25\n1,0.75,0.5\n"


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.replace(" [rad]", "").replace(" [m]", "").replace(" [s]", ""),
        TABLE.replace("\n", "\r\n"),
        TABLE.rstrip("\n"),
        "\ufeff" + TABLE,
        TABLE.replace("\n", "\n\n"),
        "b c [m] , a [rad],time [s]\n0.25,0.5,0\n0.5,0.75,1\n",
        '"time [ms]","a [rad]","b c [mm]"\n"0","0.5","250"\n1000,0.75, 500 \n',
        "time,tip.x,a [rad],b c [cm]\n0,9,0.5,25\n1,9,.75,5e1\n",
    ],
)
def test_a_table_is_read_as_meant(text: str, tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    path.write_text(text, encoding="utf-8", newline="")
    found = lw.load_clip(path, linkage=ARM)
    assert found.times.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(found.poses, [[0.5, 0.25], [0.75, 0.5]], rtol=1e-15)


def test_degrees_are_read_and_columns_that_mean_nothing_are_said(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    path.write_text("time,note,a [deg],b c\n0,1,180,0\n", encoding="utf-8")
    content = read(path, linkage=ARM)
    assert content.clips[tables.NAME].poses.tolist() == [[np.pi, 0.0]]
    assert [(remark.kind, remark.text) for remark in content.remarks] == [
        ("ignored", "not coordinates of 'arm': columns 'note'.")
    ]


BROKEN = {
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "no rows": ("time,a,b c\n", "contains no times"),
    "no column": ("time,a\n0,1\n", ":1: has no column b c of linkage 'arm'"),
    "no time": ("a,b c\n0,1\n", ":1: has no column time"),
    "twice": ("time,a,a,b c\n0,1,1,1\n", ":1: two columns have the name 'a'"),
    "wrong unit": ("time,a [m],b c\n0,1,1\n", ":1: column 'a' has the unit 'm'; known units are deg, rad"),
    "word": ("time,a,b c\n0,1,1\n\n1,1,one\n", ":4: 'b c' is 'one', not a number"),
    "short row": ("time,a,b c\n0,1,1\n1,1\n", ":3: this row has 2 cells, the first line 3"),
    "long row": ("time,a,b c\n0,1,1\n1,1,1,1\n", ":3: this row has 4 cells, the first line 3"),
    "all rows long": ("time,a,b c\n0,1,1,1\n", ":2: this row has 4 cells, the first line 3"),
    "NaN": ("time,a,b c\n0,1,nan\n", "'b c' of pose (0,) is nan"),
    "infinite": ("time,a,b c\n0,1,1e999\n", "is inf"),
    "NaN time": ("time,a,b c\nnan,1,1\n", "increasing times"),
    "falling times": ("time,a,b c\n1,1,1\n0,1,1\n", "increasing times"),
    "open quote": ('time,a,"b c\n0,1,1\n', "not CSV"),
    "long line": ("time,a,b c\n" + "1" * 9999 + ",1,1\n", "a line of 10003 characters is not a row of 3 numbers"),
    "many columns": (",".join(map(str, range(40_000))) + "\n", "has 40000 columns"),
    "no such UTF-8": (b"time,a,b c\n\xff", ":2: is not UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, words = BROKEN[name]
    path = tmp_path / "motion.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        lw.load_clip(path, linkage=ARM)
    assert words in str(caught.value)


def test_a_table_without_a_linkage_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"only numbers; give the linkage with linkage=\.\.\."):
        lw.load(saved(".csv", clip(ARM), tmp_path))
    path = saved(".npz", clip(ARM), tmp_path)
    with np.load(path) as arrays:
        kept = {name: arrays[name] for name in arrays if name != "scene"}
    np.savez(path, **kept)
    with pytest.raises(FormatError, match="contains no linkage"):
        lw.load_clip(path)
    assert len(lw.load_clip(path, linkage=ARM)) == 5


def test_a_joint_called_time_is_refused_by_name(tmp_path: Path) -> None:
    clock = lw.Builder("clock").revolute("time", "hand").build()
    for suffix in (".csv", ".npz"):
        with pytest.raises(FormatError, match="a joint has the name 'time'"):
            clip(clock).save(tmp_path / f"clock{suffix}")
    assert not list(tmp_path.iterdir())


# Hostile files


def npz(**arrays: Any) -> bytes:
    """Return a valid NPZ file with some arrays replaced; None removes one."""
    motion = clip(ARM)
    sound = {"times": motion.times, "poses": motion.poses, "coordinates": np.array(ARM.coordinates)}
    data = io.BytesIO()
    np.savez(data, allow_pickle=True, **{key: x for key, x in (sound | arrays).items() if x is not None})
    return data.getvalue()


def lying(shape: str, kind: str = "<f8") -> bytes:
    """Return an NPZ file whose header announces a larger array of poses than it contains."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}"
    text = header.ljust(117).encode() + b"\n"
    data = io.BytesIO(npz(poses=None))
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("poses.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(80))
    return data.getvalue()


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _spring, ()


def _spring() -> None:
    raise SystemExit("a pickle was loaded")


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a pickle": (lambda: npz(poses=np.array([Trap()], dtype=object)), "'poses.npy' cannot be read"),
    "a pickle instead": (lambda: pickle.dumps(Trap()), "not an NPZ file"),
    "no poses": (lambda: npz(poses=None), "has no array poses"),
    "texts for numbers": (lambda: npz(poses=np.array([["a", "b"]] * 5)), "do not match"),
    "other shapes": (lambda: npz(poses=np.zeros((4, 2))), "do not match"),
    "complex": (lambda: npz(poses=np.zeros((5, 2), complex)), "'poses.npy' cannot be read"),
    "numbers for names": (lambda: npz(coordinates=np.arange(2)), "is not a list"),
    "too few units": (lambda: npz(units=np.array(["rad"])), "2 coordinates but 1 units"),
    "another unit": (lambda: npz(units=np.array(["parsec", "m"])), "has the unit 'parsec'"),
    "NaN": (lambda: npz(poses=np.full((5, 2), np.nan)), "is nan"),
    "a scene that is none": (lambda: npz(scene=np.array("joints: 7")), "its scene cannot be read"),
    "a lie": (lambda: lying("(1000000000000, 2)"), "does not fit"),
    "a negative lie": (lambda: lying("(-1, 2)"), "cannot be read"),
    "a lie of many axes": (lambda: lying("(" + "1," * 40 + ")"), "cannot be read|do not match"),
    "a huge text": (lambda: lying("(1,)", "<U99999999"), "does not fit"),
    "no header": (lambda: lying("oops"), "cannot be read"),
    "empty archive": (lambda: b"PK\x05\x06" + bytes(18), "has no array"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_npz_file_is_refused(name: str, tmp_path: Path) -> None:
    build, words = HOSTILE[name]
    path = tmp_path / "motion.npz"
    path.write_bytes(build())
    with pytest.raises(FormatError, match=words):
        lw.load_clip(path, linkage=None if "scene" in name else ARM)


def test_an_archive_that_grows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_VALUES", 2**12)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, times=np.zeros(2**20), poses=np.zeros(1), coordinates=np.array(["a"]))
    assert path.stat().st_size < 2**14
    with pytest.raises(FormatError, match=r"'times.npy' is larger than"):
        lw.load_clip(path, linkage=ARM)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"time": [0.0, 1.0], "a": [1.0, None], "b c": [1.0, 1.0]}, "is nan"),
        ({"time": [0.0], "a": ["one"], "b c": [1.0]}, "columns a are not numbers"),
        ({"time": [0.0], "a": [[1.0]], "b c": [1.0]}, "columns a are not numbers"),
        ({"time": [0.0], "a": [1.0]}, "has no column b c"),
        ({"time": [], "a": [], "b c": []}, "not numbers|at least one time"),
    ],
)
def test_a_hostile_parquet_file_is_refused(columns: dict[str, Any], words: str, tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "motion.parquet"
    parquet.write_table(arrow.table(columns), path)
    with pytest.raises(FormatError, match=words):
        lw.load_clip(path, linkage=ARM)


@every_table
def test_a_file_cut_short_anywhere_is_refused(suffix: str, tmp_path: Path) -> None:
    need(suffix)
    path = saved(suffix, clip(ARM), tmp_path)
    data = path.read_bytes()
    last = len(data) - (25 if suffix == ".csv" else 0)  # a CSV file cut after a complete number is valid
    for end in np.linspace(0, last - 1, 40).astype(int):
        path.write_bytes(data[:end])
        try:
            found = lw.load_clip(path, linkage=ARM)
        except FormatError:
            continue
        assert suffix == ".csv"
        assert len(found) < 5


@every_table
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_a_file_with_a_wrong_byte_gives_a_motion_or_an_error_of_ours(
    suffix: str, position: int, byte: int, cut: bool, tmp_path: Path
) -> None:
    need(suffix)
    path = saved(suffix, clip(ARM), tmp_path)
    data = bytearray(path.read_bytes())
    position %= len(data)
    path.write_bytes(data[:position] + bytes([byte]) + (b"" if cut else data[position + 1 :]))
    with contextlib.suppress(FormatError):
        assert lw.load_clip(path, linkage=ARM).linkage == ARM


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from('time,ab c[]\n\r"0123.eE+-nan\x00 '), max_size=60))
def test_any_text_is_a_motion_or_an_error_of_ours(text: str, tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text("time,a,b c\n" + text, encoding="utf-8", newline="")
    with contextlib.suppress(FormatError):
        assert lw.load_clip(path, linkage=ARM).linkage == ARM
