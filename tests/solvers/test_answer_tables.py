"""Answers as tables: single-precision numbers keep limits, and are as close as single precision allows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from goal_tables import columns_of, write
from linkwork.solvers.answer_tables import schema_of, table_of
from linkwork.solvers.batch_answers import Batch

pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SINGLE = float(np.finfo(np.float32).eps)


def stored(linkage: lw.Linkage, q: np.ndarray) -> np.ndarray:
    """Return poses (n, nq) as stored in a dataset of float32, as float64."""
    count = len(q)
    rows = np.ones(count, np.bool_), np.zeros((count, 2)), np.zeros(count, np.int32), np.zeros(count, np.int8)
    batch = Batch(linkage, lw.Reach(linkage.frames[-1], pose=np.eye(4)), q, *rows)
    table = table_of(batch, schema_of(linkage, ("position_error", "rotation_error"), {}, "float32"))
    columns = [table[f"q.{name}"].to_numpy() for name in linkage.coordinates]
    assert all(column.dtype == np.float32 for column in columns)
    return np.stack(columns, axis=1).astype(np.float64)


def limited(lower: float, upper: float) -> lw.Linkage:
    arm = lw.models.planar([2, 1])
    return arm.replace(joints={name: {"lower": lower, "upper": upper} for name in arm.joints})


@pytest.mark.parametrize("name", ["panda", "ur5", "stanford", "scara"])
def test_values_at_limits_of_robots_stay_within(name: str) -> None:
    arm = getattr(lw.models, name)()
    ends = [np.where(np.isfinite(limit), limit, 0.3) for limit in (arm.lower, arm.upper)]
    inside = [np.nextafter(ends[0], np.inf), np.nextafter(ends[1], -np.inf)]
    q = np.stack([*ends, *inside, *arm.random_pose(0, 50)])
    kept = stored(arm, q)
    assert (kept >= arm.lower).all()
    assert (kept <= arm.upper).all()
    assert np.abs(kept - q).max() <= SINGLE * np.abs(q).max()


@pytest.mark.parametrize("digits", [1, 2, 4, 7, 16])
def test_values_at_any_limits_stay_within(digits: int) -> None:
    draw = np.random.default_rng(digits)
    for lower, width, share in zip(*(draw.uniform(a, b, 40) for a, b in ((-10, 9), (0.5, 10), (0, 1))), strict=True):
        lowest, highest = round(lower, digits), round(lower + width, digits)
        inside = np.clip(lowest + share * (highest - lowest), lowest, highest)
        q = np.array([[lowest, highest], [highest, lowest], [inside, np.nextafter(highest, lowest)]])
        kept = stored(limited(lowest, highest), q)
        assert ((kept >= lowest) & (kept <= highest)).all()
        assert (np.abs(kept - q) <= SINGLE * np.maximum(np.abs(q), 1e-30)).all()


def test_what_is_outside_or_has_no_room_is_only_rounded() -> None:
    third = 1.0 / 3.0  # the next float32 is above
    assert stored(limited(-third, third), np.array([[0.5, -0.5]])).tolist() == [[0.5, -0.5]]
    narrow = limited(third, np.nextafter(third, 1.0))  # no float32 in between
    assert stored(narrow, np.full((1, 2), third)).tolist() == [[np.float32(third)] * 2]
    assert stored(lw.models.planar([2, 1]), np.array([[0.5, third]])).tolist() == [[0.5, np.float32(third)]]
    assert stored(limited(-1e300, 1e300), np.array([[0.5, third]])).tolist() == [[0.5, np.float32(third)]]


@pytest.mark.parametrize("solutions", [None, 2])
@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_datasets_of_small_numbers_keep_limits_and_tolerance(name: str, solutions: int | None, tmp_path: Path) -> None:
    arm = getattr(lw.models, name)()
    draw = np.random.default_rng(0)
    q = arm.random_pose(0, 400)
    ends = np.where(draw.random(q.shape) < 0.5, arm.lower, arm.upper)
    targets = arm.forward(np.where(draw.random(q.shape) < 0.4, ends, q), frame=arm.frames[-1])
    goals = write(tmp_path / "goals.parquet", columns_of(targets))
    options = {} if solutions is None else {"solutions": solutions}
    lw.solve_dataset(arm, arm.frames[-1], goals, tmp_path / "out", store="float32", **options)
    table = pq.read_table(tmp_path / "out").to_pydict()
    rows = zip(table["success"], targets, *(table[f"q.{one}"] for one in arm.coordinates), strict=True)
    for success, target, *values in rows:
        poses = np.transpose(np.array(values, np.float64)).reshape(-1, arm.nq)
        assert (poses >= arm.lower).all()
        assert (poses <= arm.upper).all()
        places = arm.forward(poses, frame=arm.frames[-1])[:, :3, 3]
        assert not success or np.linalg.norm(places - target[:3, 3], axis=1).max() < 1e-4 + 1e-6
