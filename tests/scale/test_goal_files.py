"""Datasets of goals: what columns mean, how files fall into blocks, and what is said of those that cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from goal_tables import columns_of, spoil, write
from linkwork.errors import BlockError, FormatError, MissingExtraError, OptionError
from linkwork.scale.goal_columns import QUATERNION
from linkwork.scale.goal_files import open_goals, read_block

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.panda()
PLANAR = lw.models.planar([15, 10, 5])


def transforms(count, seed=0):
    return ARM.forward(ARM.random_pose(seed, count), frame="tip")


def rows_of(goals, linkage=ARM, chunk=7):
    read = [
        rows for block in goals.blocks for rows in read_block(goals.columns, block, linkage, linkage.neutral(), chunk)
    ]
    return read, np.concatenate([rows.targets for rows in read])


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("turn", ["quaternion", "matrix", None])
def test_goals_are_read_as_they_were_written(suffix, turn, tmp_path):
    targets = transforms(53)
    path = write(tmp_path / f"goals{suffix}", columns_of(targets, turn), row_group=20)
    goals = open_goals(path, ARM, block_rows=16)
    read, got = rows_of(goals)
    assert goals.rows == 53
    assert max(block.rows for block in goals.blocks) <= 16
    assert [rows.first for rows in read] == [*np.cumsum([0, *(len(rows.targets) for rows in read[:-1])])]
    np.testing.assert_allclose(got, targets if turn else targets[:, :3, 3], atol=1e-12)


def test_positions_in_a_plane_have_no_z_and_rotations_no_position(tmp_path):
    flat = open_goals(write(tmp_path / "flat.csv", {"x": [1.0, 2.0], "y": [3.0, 4.0]}), PLANAR, block_rows=9)
    assert flat.columns.position == "xy"
    np.testing.assert_array_equal(rows_of(flat, PLANAR)[1], [[1.0, 3.0], [2.0, 4.0]])
    named = columns_of(transforms(3))
    turned = open_goals(write(tmp_path / "goals.parquet", named), ARM, block_rows=9, position=False)
    assert rows_of(turned)[1].shape == (3, 3, 3)
    placed = open_goals(tmp_path / "goals.parquet", ARM, block_rows=9, orientation=False)
    assert rows_of(placed)[1].shape == (3, 3)


@pytest.mark.parametrize(("groups", "most", "expected"), [(10, 25, [20, 20, 20]), (30, 12, [10] * 6), (60, 60, [60])])
def test_small_row_groups_go_together_and_large_ones_are_cut(groups, most, expected, tmp_path):
    path = write(tmp_path / "goals.parquet", columns_of(transforms(60)), row_group=groups)
    assert [block.rows for block in open_goals(path, ARM, block_rows=most).blocks] == expected


def test_a_folder_is_one_dataset_in_the_order_of_names(tmp_path):
    targets = transforms(30)
    for k in (2, 0, 1):
        write(tmp_path / f"goals-{k}.parquet", columns_of(targets[10 * k : 10 * k + 10]))
    (tmp_path / "notes.txt").write_text("not a dataset")
    goals = open_goals(tmp_path, ARM, block_rows=100)
    assert [block.first for block in goals.blocks] == [0, 10, 20]
    np.testing.assert_allclose(rows_of(goals)[1], targets, atol=1e-12)
    write(tmp_path / "goals-3.parquet", columns_of(targets, None))
    with pytest.raises(FormatError, match=r"goals-3.parquet: has other columns than goals-0.parquet"):
        open_goals(tmp_path, ARM, block_rows=100)


def test_starts_are_columns_by_coordinate_and_empty_ones_are_neutral(tmp_path):
    named = {"x": [1.0, 2.0], "y": [0.0, 0.0], "start.j3": pa.array([0.5, None]), "id": ["a", "b"]}
    for suffix in (".parquet", ".csv"):
        goals = open_goals(write(tmp_path / f"goals{suffix}", named), PLANAR, block_rows=9)
        (rows,) = rows_of(goals, PLANAR)[0]
        np.testing.assert_array_equal(rows.starts, [[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
        assert rows.ids.to_pylist() == ["a", "b"]
        assert goals.id_type == "string"


def test_rows_without_a_rotation_or_a_number_become_nan(tmp_path):
    named = columns_of(transforms(5))
    named["qw"][1] += 0.5
    for name in QUATERNION:
        named[name][2] = 0.0
    named["x"] = pa.array([*named["x"][:3], None, named["x"][4]])
    got = rows_of(open_goals(write(tmp_path / "goals.parquet", named), ARM, block_rows=9))[1]
    assert np.isnan(got).any(axis=(1, 2)).tolist() == [False, True, True, True, False]


WRONG = [
    ({"x": [1.0], "z": [1.0]}, "has x, z but no y"),
    ({"x": [1.0], "y": [1.0], "qw": [1.0]}, "has qw but no qx, qy, qz"),
    ({"x": [1.0], "y": [1.0], "colour": [1.0]}, "column 'colour' is unknown; columns are x, y, z, qw"),
    (
        {"x": [1.0], "y": [1.0], "start.elbow": [1.0]},
        "column 'start.elbow' is not a start: linkage 'planar' has j1, j2, j3",
    ),
    ({"id": [1]}, "has no goals: it needs the columns x, y, z"),
]


@pytest.mark.parametrize(("named", "message"), WRONG)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_wrong_columns_are_told_before_anything_is_read(named, message, suffix, tmp_path):
    path = write(tmp_path / f"goals{suffix}", named)
    with pytest.raises(FormatError, match=message):
        open_goals(path, PLANAR, block_rows=9)


def test_a_column_may_be_ignored(tmp_path):
    path = write(tmp_path / "goals.csv", {"x": [1.0], "y": [1.0], "colour": ["red"]})
    assert open_goals(path, PLANAR, block_rows=9, ignore=["colour"]).rows == 1


def test_columns_of_another_type_are_told(tmp_path):
    for named, message in (
        ({"x": ["one"], "y": [1.0]}, "column 'x' holds string; it must hold numbers"),
        ({"x": [1.0], "y": [1.0], "id": [1.5]}, "column 'id' holds double"),
    ):
        with pytest.raises(FormatError, match=message):
            open_goals(write(tmp_path / "goals.parquet", named), PLANAR, block_rows=9)


def test_orientations_are_given_once(tmp_path):
    named = columns_of(transforms(2)) | columns_of(transforms(2), "matrix")
    with pytest.raises(FormatError, match="gives orientations twice"):
        open_goals(write(tmp_path / "goals.parquet", named), ARM, block_rows=9)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("goals.txt", b"", "is not a dataset of goals: its name must end in .parquet, .csv"),
        ("goals.parquet", b"PAR1 nonsense PAR1", "is not a Parquet file"),
        ("goals.csv", b"", "is empty"),
        ("goals.csv", b"\xff\xfe\n", "is not CSV"),
        ("goals.csv", b"x,y\n" + b"1" * 70000, "has a line longer than"),
        ("goals.csv", b"x,y,x\n1,2,3\n", "names a column twice"),
    ],
)
def test_files_that_are_no_datasets_are_refused(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=message):
        open_goals(tmp_path / name, PLANAR, block_rows=9)


def test_what_is_not_there_is_told(tmp_path, monkeypatch):
    with pytest.raises(FormatError, match="no such file"):
        open_goals(tmp_path / "goals.parquet", ARM, block_rows=9)
    with pytest.raises(FormatError, match="holds no files of goals"):
        open_goals(tmp_path, ARM, block_rows=9)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[formats\]"):
        open_goals(tmp_path, ARM, block_rows=9)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,zwei", "rows 2 to 3 cannot be read: .*row 3, column 'y': 'zwei' is not a number"),
        ("1,2,3", "rows 2 to 3 cannot be read: .*row 3 has 3 values under 2 columns"),
    ],
)
def test_a_corrupt_block_of_csv_says_which_row(line, message, tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text("\n".join(["x,y", "0,0", "", "1,1", "2,2", line, "4,4", "", ""]))
    goals = open_goals(path, PLANAR, block_rows=2)
    assert [block.rows for block in goals.blocks] == [2, 2, 1]
    good, bad, last = ([goals.columns, block, PLANAR, PLANAR.neutral(), 9] for block in goals.blocks)
    np.testing.assert_array_equal(next(read_block(*good)).targets, [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(next(read_block(*last)).targets, [[4.0, 4.0]])
    with pytest.raises(BlockError, match=message):
        list(read_block(*bad))


def test_a_corrupt_row_group_says_which_rows(tmp_path):
    path = write(tmp_path / "goals.parquet", columns_of(transforms(60)), row_group=20)
    spoil(path, 1)
    goals = open_goals(path, ARM, block_rows=20)
    read = [block for block in goals.blocks if block.number != 1]
    assert sum(len(rows.targets) for b in read for rows in read_block(goals.columns, b, ARM, ARM.neutral(), 9)) == 40
    with pytest.raises(BlockError, match=r"goals.parquet: rows 20 to 39 cannot be read"):
        list(read_block(goals.columns, goals.blocks[1], ARM, ARM.neutral(), 9))


def test_the_digest_tells_inputs_apart(tmp_path):
    one, other = transforms(40), transforms(40, seed=1)
    for suffix in (".parquet", ".csv"):
        paths = [tmp_path / f"{name}{suffix}" for name in ("one", "same", "other")]
        for path, targets in zip(paths, (one, one, other), strict=True):
            write(path, columns_of(targets))
        digests = [open_goals(path, ARM, block_rows=9).digest for path in paths]
        assert digests[0] == digests[1] != digests[2]


def test_an_empty_dataset_has_no_blocks(tmp_path):
    for suffix in (".parquet", ".csv"):
        path = write(tmp_path / f"goals{suffix}", {"x": pa.array([], pa.float64()), "y": pa.array([], pa.float64())})
        assert open_goals(path, PLANAR, block_rows=9).blocks == ()


def test_a_block_has_a_sensible_number_of_rows(tmp_path):
    path = write(tmp_path / "goals.csv", {"x": [1.0], "y": [1.0]})
    for rows in (0, -1, 1.5, True, 2**40):
        with pytest.raises(OptionError, match="block_rows"):
            lw.solve_dataset(PLANAR, "tip", path, tmp_path / "out", block_rows=rows)
    assert not (tmp_path / "out").exists()
