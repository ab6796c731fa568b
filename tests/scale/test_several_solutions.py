"""Datasets with several solutions per row: lists equal to those of `solve_batch`, described, verified, resumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import linkwork as lw
from goal_tables import columns_of, write
from linkwork.cli import app as cli
from linkwork.errors import OptionError, RunError

pq = pytest.importorskip("pyarrow.parquet")
ARM = lw.models.ur5()
TARGETS = ARM.forward(ARM.random_pose(0, 60), frame="tip")
TARGETS[4, :3, 3] *= 9.0  # beyond the reach
TARGETS[7, 0, 3] = np.nan


@pytest.fixture
def goals(tmp_path: Path) -> Path:
    return write(tmp_path / "goals.parquet", columns_of(TARGETS), row_group=25)


def test_rows_have_the_solutions_of_a_batch(tmp_path: Path, goals: Path) -> None:
    lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", solutions=4, block_rows=25)
    rows = pq.read_table(tmp_path / "out").to_pylist()
    batch = lw.solve_batch(ARM, "tip", TARGETS, solutions=4)
    assert [row["solutions"] for row in rows] == batch.mask.sum(axis=1).tolist()
    for row, q, mask, diversity in zip(rows, batch.q, batch.mask, batch.diversity, strict=True):
        if row["status"] == "invalid":
            assert row["position_error"] is row["q.elbow_joint"] is None
            continue
        poses = np.array([row[f"q.{name}"] for name in ARM.coordinates]).T
        assert_allclose(poses.reshape(-1, 6), q[mask], atol=1e-12)
        assert len(row["rotation_error"]) == len(poses)
        assert_allclose(np.nan if row["diversity"] is None else row["diversity"], diversity, atol=1e-9)
    assert rows[4]["q.elbow_joint"] == []
    assert (rows[4]["status"], rows[4]["complete"], rows[4]["success"]) == ("beyond", True, False)
    every = pq.read_table(tmp_path / "out", columns=["solutions", "complete"]).to_pydict()
    assert every["complete"] == (batch.complete & (batch.counts <= 4)).tolist()
    assert batch.to_arrow().column("solutions").to_pylist() == every["solutions"]
    with pytest.raises(RunError, match="solutions"):
        lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", solutions=5, block_rows=25, resume=True)


def test_a_dataset_of_them_is_described_and_verified_on_the_command_line(tmp_path: Path, goals: Path) -> None:
    out = tmp_path / "out"
    said = ["batch", str(goals), "--model", "ur5", "-o", str(out), "--solutions", "3", "--apart", "0.2", "--json"]
    done = CliRunner().invoke(cli.app, said)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["counts"] == {"beyond": 1, "invalid": 1, "reached": 58}
    assert lw.verify_dataset(out)
    found = lw.describe_dataset(out)
    assert found.solutions.largest == 3
    assert found.joints["elbow_joint"].count == sum(pq.read_table(out).column("solutions").to_pylist())
    assert 0.0 < found.diversity.least <= found.diversity.largest <= 1.0
    found.save(tmp_path / "page.html")
    assert "diversity" in (tmp_path / "page.html").read_text(encoding="utf-8")
    told = CliRunner().invoke(cli.app, ["batch", "describe", str(out)])
    assert "solutions" in told.stdout


def test_formats_without_lists_say_so(tmp_path: Path, goals: Path) -> None:
    pytest.importorskip("zarr")
    with pytest.raises(OptionError, match="write Parquet"):
        lw.solve_dataset(ARM, "tip", goals, tmp_path / "out", solutions=2, format="zarr")
