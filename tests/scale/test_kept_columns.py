"""Columns that are kept in the answers: under unique names, in every format."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from goal_tables import write
from linkwork.cli import app as cli
from linkwork.errors import OptionError
from linkwork.scale.answer_files import FORMATS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.planar([15, 10, 5])
GOALS = {"x": [15.0, -20.0, 99.0], "y": [10.0, 5.0, 0.0], "status": ["new", "old", None]}
TAKEN = (
    "success", "status", "restarts", "position_error", "rotation_error", "solutions", "complete", "diversity", "q",
    "q.j1", "q.elsewhere",
)  # fmt: skip


@pytest.fixture
def goals(tmp_path):
    return write(tmp_path / "goals.parquet", GOALS)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", TAKEN)
def test_a_name_that_answers_have_is_refused(tmp_path, form, name):
    pytest.importorskip(FORMATS[form].package or "pyarrow")
    path = write(tmp_path / "goals.parquet", {"x": [15.0], "y": [10.0], name: [1.0]})
    hint = rf"answers have a column '{name}' of their own.*keep=\{{'{name}': 'goal_{name}'\}} or --keep {name}=goal_"
    with pytest.raises(OptionError, match=hint):
        lw.solve_dataset(ARM, "tip", path, tmp_path / "out", keep=[name], format=form)
    assert not (tmp_path / "out").exists()
    lw.solve_dataset(ARM, "tip", path, tmp_path / "out", keep={name: f"goal_{name}"}, format=form)
    assert lw.verify_dataset(tmp_path / "out").faults == {}
    assert lw.describe_dataset(tmp_path / "out").counts == {"reached": 1}


def test_columns_have_other_names_in_the_answers(goals, tmp_path):
    lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", keep={"status": "review"})
    table = pq.read_table(tmp_path / "out")
    assert table.column_names[-1] == "review"
    assert table["review"].to_pylist() == GOALS["status"]
    assert table["status"].to_pylist() == ["reached", "reached", "closest"]


def test_any_column_may_be_the_id(goals, tmp_path):
    lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", keep={"status": "id"})
    assert pq.read_table(tmp_path / "out")["id"].to_pylist() == GOALS["status"]


def test_the_own_id_may_be_one_column_among_others(tmp_path):
    path = write(tmp_path / "goals.parquet", {"x": [15.0], "y": [10.0], "id": ["a"]})
    lw.solve_dataset(ARM, "tip", path, tmp_path / "out", keep={"id": "source"})
    table = pq.read_table(tmp_path / "out")
    assert (table["id"].to_pylist(), table["source"].to_pylist()) == ([0], ["a"])


def test_names_are_one_for_each(tmp_path):
    path = write(tmp_path / "goals.parquet", {"x": [15.0], "y": [10.0], "id": ["a"], "a": [1], "b": [2]})
    for keep in ({"a": "both", "b": "both"}, {"a": "id", "b": "b"}, {"a": "", "b": "b"}, {"a": 3, "b": "b"}):
        with pytest.raises(OptionError, match="each kept column needs a name of its own in the answers, got"):
            lw.solve_dataset(ARM, "tip", path, tmp_path / "out", keep=keep)


def test_folders_of_a_taken_name_are_refused_or_renamed(tmp_path):
    (tmp_path / "goals" / "status=old").mkdir(parents=True)
    write(tmp_path / "goals" / "status=old" / "a.parquet", {"x": [15.0], "y": [10.0]})
    with pytest.raises(OptionError, match="a column 'status' of their own"):
        lw.solve_dataset(ARM, "tip", tmp_path / "goals", tmp_path / "out")
    lw.solve_dataset(ARM, "tip", tmp_path / "goals", tmp_path / "out", keep={"status": "review"})
    assert pq.ParquetFile(tmp_path / "out" / "part-0000000000.parquet").read()["review"].to_pylist() == ["old"]
    lw.solve_dataset(ARM, "tip", tmp_path / "goals", tmp_path / "without", ignore=["status"])


def test_statuses_of_single_goals_are_taken_too(tmp_path):
    body = lw.models.human()
    goals = {f"left_hand.{axis}": [value] for axis, value in zip("xyz", (0.4, 0.3, 1.1), strict=True)}
    path = write(tmp_path / "goals.parquet", {**goals, "left_hand.status": ["?"]})
    with pytest.raises(OptionError, match=r"a column 'left_hand\.status' of their own"):
        lw.solve_dataset(body, ["left_hand"], path, tmp_path / "out", keep=["left_hand.status"], start="stand")


def test_the_column_of_frames_keeps_its_name(tmp_path):
    path = write(tmp_path / "goals.parquet", {"x": [15.0], "y": [10.0], "frame": ["tip"], "status": ["?"]})
    with pytest.raises(OptionError, match="the column frame names the frame of each goal"):
        lw.solve_dataset(ARM, None, path, tmp_path / "out", keep={"frame": "where"})
    lw.solve_dataset(ARM, None, path, tmp_path / "out", keep={"status": "review"})
    table = pq.read_table(tmp_path / "out")
    assert (table["frame"].to_pylist(), table["review"].to_pylist()) == (["tip"], ["?"])


def test_a_run_with_other_names_is_not_resumed(goals, tmp_path):
    lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", keep={"status": "review"})
    with pytest.raises(lw.errors.RunError, match="another columns"):
        lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", keep={"status": "seen"}, resume=True)


def test_the_command_renames(goals, tmp_path):
    words = ["batch", str(goals), "--model", "planar:15,10,5", "-o", str(tmp_path / "out"), "--json"]
    refused = CliRunner().invoke(cli.app, [*words, "--keep", "status"], prog_name="linkwork")
    assert refused.exit_code == 2
    assert "--keep status=goal_status" in refused.stderr
    twice = CliRunner().invoke(cli.app, [*words, "--keep", "status=a", "--keep", "status=b"], prog_name="linkwork")
    assert twice.exit_code == 2
    assert "--keep names a column twice: status=a, status=b" in twice.stderr
    done = CliRunner().invoke(cli.app, [*words, "--keep", "status=goal_status"], prog_name="linkwork")
    assert json.loads(done.stdout)["counts"] == {"closest": 1, "reached": 2}
    assert pq.read_table(tmp_path / "out")["goal_status"].to_pylist() == GOALS["status"]


def test_arrays_of_zarr_have_the_new_names(goals, tmp_path):
    zarr = pytest.importorskip("zarr")
    lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", keep={"status": "review"}, format="zarr")
    group = zarr.open_group(tmp_path / "out", mode="r")
    assert np.asarray(group["review"][:]).tolist() == ["new", "old", ""]
    assert group["q"].shape == (3, 3)
