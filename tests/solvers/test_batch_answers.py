"""Results of batches as rows, tables and arrays of any shape: selections have the right rows in the right order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import linkwork as lw
from linkwork.errors import GoalError, MissingExtraError, OptionError
from linkwork.solvers.batch_answers import ARRAYS

PANDA = lw.models.panda()
TARGETS = PANDA.forward(PANDA.random_pose(0, 24), frame="tip")
TARGETS[5, 0, 3] += 2.0  # out of reach
TARGETS[7, 1, 1] = np.nan
FLAT = lw.solve_batch(PANDA, "tip", TARGETS)


def same(one: lw.Batch, two: lw.Batch) -> None:
    for name in ARRAYS:
        assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_a_row_says_what_its_batch_says() -> None:
    assert len(FLAT) == 24
    assert FLAT.shape == (24,)
    assert [row.status for row in FLAT] == FLAT.status.tolist()
    for k, row in enumerate(FLAT):
        assert_array_equal(row.q, FLAT.q[k])
        assert_array_equal(row.residuals, FLAT.residuals[k])
        assert bool(row) is row.success is bool(FLAT.success[k])
        assert row.restarts == FLAT.restarts[k]
        assert row.reason == FLAT.reason(k)
        assert row.frame == FLAT.frame == "tip"
    assert "out of reach" in FLAT[5].reason
    assert FLAT[-19].status == "beyond"
    assert "out of reach" in repr(FLAT[5])
    assert FLAT[0].residual == FLAT.residual[0]
    with pytest.raises(IndexError):
        FLAT[24]
    with pytest.raises(OptionError, match="a single row"):
        FLAT.reason(slice(2))


@pytest.mark.parametrize(
    "key",
    [slice(2, 9), slice(None, None, -3), ~FLAT.success, [3, 1, 1], np.array([], int), (slice(4),), (..., slice(2))],
)
def test_some_rows_are_a_batch(key: Any) -> None:
    some = FLAT[key]
    assert isinstance(some, lw.Batch)
    assert some.goal is FLAT.goal
    rows = np.arange(24)[key]
    same(some, FLAT[rows])
    assert_array_equal(some.q, FLAT.q[rows])
    assert some.status.tolist() == FLAT.status[rows].tolist()
    assert_array_equal(some.to_arrow()["id"], rows)


def test_answers_have_the_leading_axes_of_their_targets() -> None:
    cube = lw.solve_batch(PANDA, "tip", TARGETS.reshape(2, 3, 4, 4, 4))
    assert cube.q.shape == (2, 3, 4, 7)
    assert cube.residuals.shape == (2, 3, 4, 2)
    assert cube.shape == (2, 3, 4)
    assert len(cube) == 2
    assert repr(cube) == repr(FLAT) == "<Batch of 'tip': 22 of 24 reached>"
    same(cube.reshaped((24,)), FLAT)
    same(cube[1], FLAT[12:].reshaped((3, 4)))
    same(cube[..., 0], FLAT[::4].reshaped((2, 3)))
    same(cube[cube.success], FLAT[FLAT.success])
    assert cube[0, 1, 1].reason == FLAT[5].reason
    assert "22 of 24" in cube._repr_html_()
    assert [part.shape for part in cube] == [(3, 4)] * 2
    with pytest.raises(OptionError, match="2 answers"):
        bool(cube)
    starts = PANDA.random_pose(1, 24)
    begun = lw.solve_batch(PANDA, "tip", TARGETS.reshape(4, 6, 4, 4), start=starts.reshape(4, 6, 7))
    same(begun.reshaped((24,)), lw.solve_batch(PANDA, "tip", TARGETS, start=starts))
    with pytest.raises(OptionError, match=r"\(7,\) or \(4, 6, 7\), got \(24, 7\)"):
        lw.solve_batch(PANDA, "tip", TARGETS.reshape(4, 6, 4, 4), start=starts)


@pytest.mark.parametrize(("cut", "options"), [
    ((..., slice(3), 3), {"orientation": False}), ((..., slice(2), 3), {"orientation": False, "position": "xy"}),
    ((..., slice(3), slice(3)), {"position": False}), (..., {"orientation": False}),
])  # fmt: skip
def test_leading_axes_of_positions_and_rotations(cut: Any, options: Any) -> None:
    rows = np.delete(TARGETS, 7, 0)[:18]
    targets = rows[cut]
    folded = lw.solve_batch(PANDA, "tip", targets.reshape(2, 3, 3, *targets.shape[1:]), **options)
    assert folded.shape == (2, 3, 3)
    same(folded.reshaped((18,)), lw.solve_batch(PANDA, "tip", targets, **options))


def test_no_targets_keep_their_axes() -> None:
    assert lw.solve_batch(PANDA, "tip", np.zeros((0, 5, 4, 4))).q.shape == (0, 5, 7)
    assert lw.solve_batch(PANDA, "tip", np.zeros((3, 0, 4, 4))).success.shape == (3, 0)


def test_a_frame_for_each_target() -> None:
    names = np.array(["tip", "panda_link5", "tip", "panda_link7"] * 6)
    q = PANDA.random_pose(3, 24)
    targets = np.stack([PANDA.forward(pose, frame=name) for pose, name in zip(q, names, strict=True)])
    heard: list[tuple[int, int]] = []
    mixed = lw.solve_batch(PANDA, names.tolist(), targets, progress=lambda *told: heard.append(told))
    assert mixed.success.all()
    assert mixed.frames is not None
    assert mixed.frames.tolist() == names.tolist()
    assert heard[-1] == (24, 24)
    assert mixed.frame_names == ("tip", "panda_link5", "panda_link7")
    for pose, name, target in zip(mixed.q, names, targets, strict=True):
        assert np.abs(PANDA.forward(pose, frame=name) - target).max() < 1e-3
    alone = lw.solve_batch(PANDA, "panda_link5", targets[1::4])
    same(mixed[names == "panda_link5"], alone)
    assert mixed[1].frame == "panda_link5"
    assert mixed[1::4].frame == "panda_link5"
    assert repr(mixed) == "<Batch of 'tip', 'panda_link5', 'panda_link7': 24 of 24 reached>"
    assert "panda_link5" in mixed._repr_html_()
    with pytest.raises(OptionError, match="several frames, tip, panda_link5, panda_link7"):
        _ = mixed.frame
    folded = lw.solve_batch(PANDA, names.reshape(4, 6), targets.reshape(4, 6, 4, 4), start=q.reshape(4, 6, 7))
    assert folded.shape == (4, 6)
    assert np.abs(folded.q - q.reshape(4, 6, 7)).max() < 1e-3
    late = lw.solve_batch(PANDA, names, targets, time_budget=1e-9, progress=False)
    assert {*late.status.tolist()} == {"time"}


def test_frames_that_do_not_fit_are_refused() -> None:
    with pytest.raises(GoalError, match=r"one name for each target, shape \(24,\); got \(2,\)"):
        lw.solve_batch(PANDA, ["tip", "panda_link5"], TARGETS)
    with pytest.raises(GoalError, match="a name for each target; got 5, None"):
        lw.solve_batch(PANDA, ["tip", 5, None], TARGETS[:3])
    with pytest.raises(GoalError, match="no targets"):
        lw.solve_batch(PANDA, [], np.zeros((0, 4, 4)))


def test_a_table_has_the_columns_of_a_dataset(tmp_path: Any) -> None:
    table = lw.solve_batch(PANDA, "tip", TARGETS[:, :3, 3], orientation=False).to_arrow()
    lines = "\n".join(",".join(map(repr, row)) for row in TARGETS[:, :3, 3].tolist())
    (tmp_path / "goals.csv").write_text(f"x,y,z\n{lines}\n", encoding="utf-8")
    lw.solve_dataset(PANDA, "tip", tmp_path / "goals.csv", tmp_path / "out")
    kept = pq.read_table(tmp_path / "out")
    assert table.schema.equals(kept.schema)
    assert table.equals(kept)


def test_tables_of_arrow_and_pandas() -> None:
    table, data = FLAT.to_arrow(), FLAT.reshaped((4, 6)).to_pandas()
    assert_array_equal(data["id"], np.arange(24))
    assert table["status"].to_pylist() == FLAT.status.tolist() == data["status"].tolist()
    assert table["q.panda_joint3"].null_count == 1
    assert table["q.panda_joint3"][7].as_py() is None
    valid = FLAT.codes != FLAT.codes[7]
    for k, name in enumerate(PANDA.coordinates):
        assert_array_equal(data[f"q.{name}"][valid], FLAT.q[valid, k])
    assert_array_equal(data["position_error"][valid], FLAT.residuals[valid, 0])
    mixed = lw.solve_batch(PANDA, ["tip", "panda_link5"], TARGETS[:2])
    assert mixed.to_arrow()["frame"].to_pylist() == ["tip", "panda_link5"]


def test_rows_that_are_picked_keep_their_ids() -> None:
    missed = FLAT[~FLAT.success]
    assert missed.to_arrow()["id"].to_pylist() == missed.to_pandas()["id"].tolist() == [5, 7]
    assert missed[::-1][:1].to_arrow()["id"].to_pylist() == [7]
    grid = FLAT.reshaped((4, 6))
    assert grid[1:, 2:4].to_arrow()["id"].to_pylist() == [8, 9, 14, 15, 20, 21]
    assert grid[2].to_arrow()["id"].to_pylist() == list(range(12, 18))
    assert grid[1:].reshaped((-1,))[[0, 17]].to_arrow()["id"].to_pylist() == [6, 23]
    mixed = lw.solve_batch(PANDA, ["tip", "panda_link5"] * 2, TARGETS[:4])
    assert mixed[mixed.frames == "panda_link5"].to_arrow()["id"].to_pylist() == [1, 3]


def test_solutions_and_bodies_that_are_picked_keep_their_ids() -> None:
    found = lw.solve_batch(PANDA, "tip", TARGETS, solutions=2)
    assert found[~found.success].to_arrow()["id"].to_pylist() == [5, 7]
    assert found[3:9][found.success[3:9]].to_pandas()["id"].tolist() == [3, 4, 6, 8]
    body = lw.models.human()
    hands = np.array([[0.4, 0.3, 1.1], [3.0, 0.0, 0.0], [0.4, 0.3, 1.0]])
    batch = lw.solve_batch(body, {"left_hand": hands}, start="stand")
    assert batch.to_arrow()["id"].to_pylist() == [0, 1, 2]
    assert batch[~batch.success].to_pandas()["id"].tolist() == [1]
    assert batch[1:][-1].to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize(("package", "extra"), [("pyarrow", "formats"), ("pandas", "pandas")])
def test_what_is_missing_for_tables_is_said(monkeypatch: pytest.MonkeyPatch, package: str, extra: str) -> None:
    from importlib.util import find_spec

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else find_spec(name))
    with pytest.raises(MissingExtraError, match=rf"needs {package}; .*linkwork\[{extra}\]"):
        FLAT.to_pandas()
