"""A folder of answers has the answers for the current input, and no other files that readers would include."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

import linkwork as lw
from goal_tables import write
from linkwork.errors import OptionError, RunError

pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.planar([15, 10, 5])
ROWS = 10
FORMATS = ("parquet", "zarr", "webdataset", "huggingface")


def put(path, count):
    x, y = np.random.default_rng(0).uniform(-20.0, 20.0, (2, count))
    write(path, {"x": x, "y": y}, row_group=ROWS)


def solve(goals, out, **options):
    return lw.solve_dataset(ARM, "tip", goals, out, **{"block_rows": ROWS, "workers": 1, **options})


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def stop(_result):
    raise KeyboardInterrupt


@pytest.mark.parametrize("form", FORMATS)
def test_parts_without_a_record_are_removed_when_a_shorter_input_is_resumed(form, tmp_path):
    if form in ("zarr", "webdataset"):
        pytest.importorskip(form)
    goals, out, clean = tmp_path / "goals.parquet", tmp_path / "out", tmp_path / "clean"
    put(goals, 6 * ROWS)
    solve(goals, out, format=form)
    (out / "_parts.json").unlink()
    put(goals, 2 * ROWS)
    assert solve(goals, out, format=form, resume=True).complete
    solve(goals, clean, format=form)
    assert files(out) == files(clean)
    assert (out / "_SUCCESS").exists()
    assert lw.verify_dataset(out)


def test_a_stray_part_is_removed_and_files_of_others_stay_and_are_named(tmp_path):
    goals, out = tmp_path / "goals.parquet", tmp_path / "out"
    put(goals, 2 * ROWS)
    solve(goals, out)
    one = out / "part-0000000000.parquet"
    shutil.copy(one, out / "part-0000000099.parquet")
    assert solve(goals, out, resume=True).complete
    assert pq.read_table(out).num_rows == 2 * ROWS
    (out / "sub").mkdir()
    for name in ("extra.parquet", "sub/part-0000000000.parquet"):
        shutil.copy(one, out / name)
    assert lw.verify_dataset(out).faults.keys() == {"extra.parquet", "sub/part-0000000000.parquet"}
    result = solve(goals, out, resume=True)
    assert (result.complete, result.foreign) == (False, ("extra.parquet", "sub/part-0000000000.parquet"))
    assert [one["file"] for one in json.loads((out / "_missing.json").read_text(encoding="utf-8"))] == list(
        result.foreign
    )
    assert not (out / "_SUCCESS").exists()
    for name in result.foreign:
        (out / name).unlink()
    assert solve(goals, out, resume=True).complete


@pytest.mark.parametrize("form", ["parquet", "zarr"])
def test_a_run_that_ends_before_its_first_part_leaves_nothing(form, tmp_path, monkeypatch):
    if form == "zarr":
        pytest.importorskip("zarr")
    goals, out = tmp_path / "goals.parquet", tmp_path / "out"
    put(goals, 2 * ROWS)
    with monkeypatch.context() as patch:
        patch.setattr(
            "linkwork.scale.block_solver.dealt", lambda *_: (_ for _ in ()).throw(RunError("no one is there"))
        )
        with pytest.raises(RunError, match="no one is there"):
            solve(goals, out, format=form)
    assert not out.exists()
    with pytest.raises(KeyboardInterrupt):
        solve(goals, out, format=form, progress=stop)
    assert (out / "_manifest.json").exists()
    assert solve(goals, out, format=form, resume=True).resumed >= ROWS


def test_what_holds_no_run_is_said_plainly(tmp_path):
    put(tmp_path / "goals.parquet", ROWS)
    (tmp_path / "empty").mkdir()
    for look in (lw.verify_dataset, lw.describe_dataset):
        for name, what in (("none", "does not exist"), ("empty", "holds no run"), ("goals.parquet", "is a file")):
            with pytest.raises(RunError, match=what):
                look(tmp_path / name)
    pytest.importorskip("fsspec")
    with pytest.raises(RunError, match="does not exist"):
        lw.verify_dataset("memory://nothing")
    with pytest.raises(lw.errors.FormatError, match="does not exist"):
        solve("memory://nothing", tmp_path / "out")


def test_answers_are_not_written_into_the_folder_that_is_read(tmp_path):
    put(tmp_path / "goals.parquet", ROWS)
    for out in (tmp_path, tmp_path / "out", tmp_path / "more" / ".." / "out"):
        with pytest.raises(OptionError, match="is inside the input folder"):
            solve(tmp_path, out)
    assert files(tmp_path) == {"goals.parquet"}
    assert solve(tmp_path, tmp_path / "_out").complete  # which is ignored as input


def test_progress_may_be_told_to_a_function_shown_or_left_out(tmp_path, monkeypatch):
    put(tmp_path / "goals.parquet", 2 * ROWS)
    told = []

    @contextmanager
    def reporting(shown, total):
        yield lambda done: told.append((shown, done, total))

    monkeypatch.setattr("linkwork.scale.datasets.reporting", reporting)
    for k, progress in enumerate((True, False, None)):
        assert solve(tmp_path / "goals.parquet", tmp_path / f"{k}", progress=progress).complete
    assert told == [(shown, done, 2 * ROWS) for shown in (True, False, False) for done in (ROWS, 2 * ROWS)]
    with pytest.raises(OptionError, match="progress is True, False, None or a function"):
        solve(tmp_path / "goals.parquet", tmp_path / "out", progress="yes")
    assert not (tmp_path / "out").exists()
