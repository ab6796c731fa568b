"""Answers in every format: readable by its own library with identical numbers; damage is found and repaired."""

from __future__ import annotations

import gc
import json
import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import linkwork as lw
from goal_tables import write
from linkwork.errors import MissingExtraError, OptionError, RunError
from linkwork.scale.answer_files import FORMATS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.planar([15, 10, 5])
ROWS = 25
OTHERS = ("zarr", "webdataset", "huggingface")
formats = pytest.mark.parametrize("name", FORMATS)


def goals_of(count, seed=0):
    x, y = np.random.default_rng(seed).uniform(-25.0, 25.0, (2, count))
    x[3] = np.nan  # an invalid row
    names = [f"goal {seed}-{k}é" for k in range(count)]
    marks = [None if k % 5 == 0 else k for k in range(count)]
    return {
        "x": x,
        "y": y,
        "id": names,
        "mark": pa.array(marks, pa.int64()),
        "good": pa.array(marks, pa.int64()).is_null(),
    }


def solve(goals, out, **options):
    return lw.solve_dataset(
        ARM, "tip", goals, out, **{"block_rows": ROWS, "workers": 2, "keep": ["mark", "good"], **options}
    )


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def goals(tmp_path_factory):
    """Three files whose rows do not fill whole blocks."""
    folder = tmp_path_factory.mktemp("formats") / "goals"
    folder.mkdir()
    for k, count in enumerate((30, 12, 41)):
        write(folder / f"{k}.parquet", goals_of(count, k), row_group=20)
    return folder


@pytest.fixture(scope="module")
def made(goals):
    """The result of a run in each format."""
    for name in FORMATS:
        pytest.importorskip(FORMATS[name].package or "pyarrow")
        result = solve(goals, goals.parent / name, format=name)
        assert result.complete
        assert result.total == 83
    return goals.parent


@pytest.fixture(scope="module")
def table(made):
    return pq.read_table(made / "parquet").to_pandas()


# Opened by their own libraries


def test_zarr_opens_one_group(made, table):
    zarr = pytest.importorskip("zarr")
    group = zarr.open(made / "zarr", mode="r")
    assert sorted(name for name, _ in group.arrays()) == sorted({*table} - {f"q.{n}" for n in ARM.coordinates} | {"q"})
    assert group["q"].attrs["names"] == list(ARM.coordinates)
    assert group["q"].shape == (83, 3)
    for k, name in enumerate(ARM.coordinates):
        assert_array_equal(group["q"][:, k], table[f"q.{name}"])
    words = dict(zip(group["status"].attrs["flag_values"], group["status"].attrs["flag_meanings"].split(), strict=True))
    assert [words[int(code)] for code in group["status"][:]] == table["status"].tolist()
    assert group["id"][:].tolist() == table["id"].tolist()
    assert_array_equal(group["success"][:], table["success"])
    assert_array_equal(group["position_error"][:], table["position_error"])
    assert_array_equal(group["good"][:], table["good"])
    least = group["mark"].attrs["missing_value"]
    assert_array_equal(np.where(group["mark"][:] == least, np.nan, group["mark"][:]), table["mark"])


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # webdataset leaves files open
def test_webdataset_reads_samples(made, table):
    wds = pytest.importorskip("webdataset")
    parts = [f"file:{path}" for path in sorted((made / "webdataset").glob("part-*.tar"))]
    samples = list(wds.WebDataset(parts, shardshuffle=False, empty_check=False).decode())
    assert [int(sample["__key__"]) for sample in samples] == list(range(83))
    assert_array_equal(np.stack([sample["q.npy"] for sample in samples]), table[[f"q.{n}" for n in ARM.coordinates]])
    gc.collect()
    told = [sample["json"] for sample in samples]
    for name in ("id", "success", "status", "restarts", "good"):
        assert [row[name] for row in told] == table[name].tolist()
    for name in ("position_error", "mark"):
        assert_array_equal([np.nan if row[name] is None else row[name] for row in told], table[name])


def test_datasets_of_hugging_face_load_the_folder(made, table, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # no downloads
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(made / "huggingface"), cache_dir=str(tmp_path))["train"]
    assert loaded.column_names == list(table)
    assert_array_equal(loaded.to_pandas()["position_error"], table["position_error"])


def test_the_card_of_hugging_face_names_the_parts_alone(made):
    card = (made / "huggingface" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nconfigs:\n- config_name: default\n  data_files: part-*.parquet\n")
    assert "| `q.j1` | double |" in card
    same = {n for n, data in contents(made / "parquet").items() if contents(made / "huggingface").get(n) == data}
    assert "_SUCCESS" in same  # parts differ only in the digest of the run
    parts = sorted((made / "huggingface").glob("part-*"))
    assert pa.concat_tables(map(pq.read_table, parts)).equals(pq.read_table(made / "parquet"))


# What holds for every run


@formats
def test_descriptions_are_the_same(made, name):
    one, other = (lw.describe_dataset(made / folder) for folder in ("parquet", name))
    assert (one.rows, one.counts, one.complete) == (other.rows, other.counts, other.complete)
    for spreads in ("joints", "errors"):
        for name, spread in getattr(one, spreads).items():
            there = getattr(other, spreads)[name]
            assert (there.count, there.least, there.largest) == (spread.count, spread.least, spread.largest)
            assert there.bins == spread.bins
            assert there.mean == pytest.approx(spread.mean, rel=1e-12)


@formats
def test_damage_is_found_and_resume_mends_it(goals, made, name, tmp_path):
    shutil.copytree(made / name, tmp_path / "out")
    whole = contents(tmp_path / "out")
    assert lw.verify_dataset(tmp_path / "out").faults == {}
    own = sorted(file for file in whole if not file.startswith("_"))
    assert len(own) == {"parquet": 4, "zarr": 8 * 5 + 1, "webdataset": 4, "huggingface": 5}[name]
    for k, file in enumerate(own[:: max(1, len(own) // 5)]):
        path = tmp_path / "out" / file
        data = bytearray(whole[file])
        data[len(data) // 2] ^= 4
        path.write_bytes(data) if k % 2 else path.unlink()
        assert not lw.verify_dataset(tmp_path / "out")
        assert solve(goals, tmp_path / "out", format=name, resume=True).resumed >= 50
        assert contents(tmp_path / "out") == whole
    stray = next(file for file in own if FORMATS[name]().is_data(file))
    (tmp_path / "out" / stray.replace("/0", "/9").replace("part-0", "part-9")).write_bytes(b"?")
    assert "belongs to no record" in " ".join(lw.verify_dataset(tmp_path / "out").faults.values())


@formats
def test_a_file_that_is_added_ends_as_a_clean_run(goals, made, name, tmp_path):
    shutil.copytree(goals, tmp_path / "goals")
    shutil.copytree(made / name, tmp_path / "out")
    write(tmp_path / "goals" / "3.parquet", goals_of(20, 3), row_group=20)
    result = solve(tmp_path / "goals", tmp_path / "out", format=name, resume=True)
    assert result.complete
    assert result.resumed in (75, 83)
    solve(tmp_path / "goals", tmp_path / "clean", format=name)
    assert contents(tmp_path / "out") == contents(tmp_path / "clean")


@formats
def test_no_goals_are_a_dataset_too(name, tmp_path):
    write(tmp_path / "goals.parquet", {"x": np.zeros(0), "y": np.zeros(0)})
    assert lw.solve_dataset(ARM, "tip", tmp_path / "goals.parquet", tmp_path / "out", format=name).complete
    assert lw.verify_dataset(tmp_path / "out").faults == {}
    assert lw.describe_dataset(tmp_path / "out").rows == 0


def test_rows_that_are_missing_say_so_in_zarr(goals, tmp_path):
    zarr = pytest.importorskip("zarr")
    shutil.copytree(goals, tmp_path / "goals")
    bad = tmp_path / "goals" / "1.parquet"
    data = bytearray(bad.read_bytes())
    data[4:200] = bytes(196)
    bad.write_bytes(data)
    result = solve(tmp_path / "goals", tmp_path / "out", format="zarr")
    assert not result.complete
    assert [(lost.first, lost.count) for lost in result.missing] == [(30, 12)]
    group = zarr.open(tmp_path / "out", mode="r")
    assert_array_equal(np.flatnonzero(group["status"][:] == -1), np.arange(30, 42))
    assert np.isnan(group["q"][30:42]).all()
    assert {*lw.verify_dataset(tmp_path / "out").faults} == {""}
    assert lw.describe_dataset(tmp_path / "out").rows == 71


@pytest.mark.parametrize("compression", FORMATS["zarr"].compressions)
@pytest.mark.parametrize("store", ["float64", "float32"])
def test_compressions_of_zarr(goals, table, compression, store, tmp_path):
    zarr = pytest.importorskip("zarr")
    solve(goals, tmp_path / "out", format="zarr", compression=compression, store=store)
    q = zarr.open(tmp_path / "out", mode="r")["q"]
    assert q.dtype == store
    assert_array_equal(q[:, 1], table["q.j2"].astype(store))


def test_formats_work_in_stores(goals):
    fsspec = pytest.importorskip("fsspec")
    zarr = pytest.importorskip("zarr")
    solve(goals, "memory://answers/zarr", format="zarr")
    assert lw.verify_dataset("memory://answers/zarr").faults == {}
    files = fsspec.filesystem("memory")
    assert json.loads(files.cat("/answers/zarr/zarr.json"))["node_type"] == "group"
    assert zarr.open("memory://answers/zarr", mode="r")["q"].shape == (83, 3)
    solve(goals, "memory://answers/tar", format="webdataset")
    assert lw.verify_dataset("memory://answers/tar").faults == {}
    files.rm("/answers", recursive=True)


def test_what_a_format_cannot_hold_is_refused(goals, made, tmp_path, monkeypatch):
    write(tmp_path / "odd.parquet", {"x": [1.0], "y": [2.0], "many": pa.array([[1, 2]])})
    for name, what in (("zarr", "Zarr holds"), ("webdataset", "a sample of WebDataset holds")):
        with pytest.raises(OptionError, match=rf"{what} numbers and texts, not many \(list<"):
            solve(tmp_path / "odd.parquet", tmp_path / "out", format=name, keep=["many"])
    with pytest.raises(OptionError, match=r"no format 'hdf5'; there are parquet, zarr, webdataset, huggingface"):
        solve(goals, tmp_path / "out", format="hdf5")
    with pytest.raises(OptionError, match=r"no compression 'snappy' for zarr; there are zstd, lz4, gzip, none"):
        solve(goals, tmp_path / "out", format="zarr", compression="snappy")
    with pytest.raises(RunError, match=r'had another output: format \("zarr", not "parquet"\)'):
        solve(goals, made / "zarr", resume=True)
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "zarr" else True)
    with pytest.raises(MissingExtraError, match=r"the format 'zarr' needs zarr; .*linkwork\[zarr\]"):
        solve(goals, tmp_path / "out", format="zarr")
