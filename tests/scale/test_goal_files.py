"""Datasets of goals: meaning of columns, division of files into blocks, and messages about unreadable files."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

import linkwork as lw
from goal_tables import columns_of, spoil, write
from linkwork.errors import FormatError, MissingExtraError, OptionError
from linkwork.scale.goal_blocks import Digests
from linkwork.scale.goal_columns import QUATERNION
from linkwork.scale.goal_files import open_goals
from linkwork.scale.goal_rows import GoalRows, MissingRows, RowReader
from symlinks import symlink

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.panda()
PLANAR = lw.models.planar([15, 10, 5])


def transforms(count, seed=0):
    return ARM.forward(ARM.random_pose(seed, count), frame="tip")


def kept(read):
    """Return rows with copied targets, since a reader reuses its memory."""
    return [replace(rows, targets=rows.targets.copy()) if isinstance(rows, GoalRows) else rows for rows in read]


def rows_of(goals, linkage=ARM, chunk=7):
    reader = RowReader(goals, linkage, linkage.neutral(), chunk)
    read = kept(rows for block in goals.blocks for rows in reader.read(block))
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
    (tmp_path / "notes.txt").write_text("not a dataset", encoding="utf-8")
    goals = open_goals(tmp_path, ARM, block_rows=100)
    assert [piece.first for block in goals.blocks for piece in block.pieces] == [0, 10, 20]
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
        assert rows.carried["id"].to_pylist() == ["a", "b"]
        assert str(goals.types["id"]) == "string"


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
    ({"x": [1.0], "y": [1.0], "reachable": [True]}, r"keep=\['reachable'\] \(--keep reachable\), or ignore it"),
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
    for named, message in (({"x": ["one"], "y": [1.0]}, "column 'x' holds string; it must hold numbers"),):
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
    with pytest.raises(FormatError, match="does not exist"):
        open_goals(tmp_path / "goals.parquet", ARM, block_rows=9)
    with pytest.raises(FormatError, match="holds no files of goals"):
        open_goals(tmp_path, ARM, block_rows=9)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"linkwork\[formats\]"):
        open_goals(tmp_path, ARM, block_rows=9)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("1,zwei", "line 6, column 'y': 'zwei' is not a number"),
        ("1,2,3", "line 6 has 3 values under 2 columns"),
        ("1_0,2", "line 6, column 'x': '1_0' is not a number"),
        ('1,"2', "line 6 is not CSV"),
        ("", "line 6 is blank"),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\r\n  \n"])
def test_a_line_that_cannot_be_read_is_one_row_without_numbers(line, note, end, tmp_path):
    path = tmp_path / "goals.csv"
    path.write_bytes(("\n".join(["x,y", "0,0", "", "1,1", "2,2", line, "4,4"]) + end).encode())
    goals = open_goals(path, PLANAR, block_rows=2)
    assert [block.rows for block in goals.blocks] == [2, 2, 2]
    read, targets = rows_of(goals, PLANAR)
    nan = [np.nan, np.nan]
    np.testing.assert_array_equal(targets, [[0.0, 0.0], nan, [1.0, 1.0], [2.0, 2.0], nan, [4.0, 4.0]])
    first, second = (one.partition(f"{path}: ")[2] for rows in read for one in rows.notes)
    assert first == "line 3 is blank"
    assert second.startswith(note)


def test_bad_lines_among_many_are_found_by_halving(tmp_path):
    lines = [f"{k},{k}" for k in range(2000)]
    for k, line in ((7, "x,1"), (1200, ""), (1201, "1"), (1999, "1,,")):
        lines[k] = line
    path = tmp_path / "goals.csv"
    path.write_text("x,y\r\n" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    (rows,), targets = rows_of(open_goals(path, PLANAR, block_rows=5000), PLANAR, chunk=5000)
    bad = np.isnan(targets[:, 0])
    assert np.flatnonzero(bad).tolist() == [7, 1200, 1201, 1999]
    np.testing.assert_array_equal(targets[~bad, 0], np.arange(2000)[~bad])
    assert [note.partition(": ")[2].split()[1].strip(",") for note in rows.notes] == ["9", "1202", "1203", "2001"]


@pytest.mark.parametrize("blank", range(8))
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_blank_lines_at_the_end_are_none_however_many(blank, rows, tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text("x,y\n1,1\n2,2\n3,3" + "\n" * blank, encoding="utf-8")
    goals = open_goals(path, PLANAR, block_rows=rows)
    np.testing.assert_array_equal(rows_of(goals, PLANAR)[1], [[k, k] for k in (1.0, 2.0, 3.0)])
    path.write_text("x,y\n1,1\n" + "\n" * blank + "2,2\n", encoding="utf-8")
    targets = rows_of(open_goals(path, PLANAR, block_rows=rows), PLANAR)[1]
    assert np.isnan(targets[:, 0]).tolist() == [False, *[True] * blank, False]


@pytest.mark.parametrize("chunk", [20, 1000])
@pytest.mark.parametrize("rows", [20, 60, 180])
def test_a_corrupt_row_group_says_which_rows_and_costs_no_others(rows, chunk, tmp_path):
    targets = transforms(180)
    for k in range(3):
        write(tmp_path / f"{k}.parquet", columns_of(targets[60 * k : 60 * k + 60]), row_group=20)
    spoil(tmp_path / "1.parquet", 1)
    goals = open_goals(tmp_path, ARM, block_rows=rows)
    reader = RowReader(goals, ARM, ARM.neutral(), chunk)
    read = kept(rows for block in goals.blocks for rows in reader.read(block))
    (lost,) = (rows for rows in read if isinstance(rows, MissingRows))
    assert (lost.first, lost.count) == (80, 20)
    assert f"1.parquet: rows 80 to {79 + lost.count} cannot be read" in lost.reason
    for rows in (rows for rows in read if rows is not lost):
        np.testing.assert_allclose(rows.targets, targets[rows.first : rows.first + len(rows.targets)], atol=1e-12)
    assert sum(len(rows.targets) for rows in read if rows is not lost) == 180 - lost.count


def test_links_are_followed_but_not_in_circles_and_those_to_nowhere_are_named(tmp_path):
    targets, goals, other = transforms(8), tmp_path / "goals", tmp_path / "other[1]"
    for folder, rows in ((goals, targets[:4]), (other, targets[4:])):
        folder.mkdir()
        write(folder / "a.parquet", columns_of(rows))
    symlink(goals / "day2", other)
    symlink(other / "back", goals)
    symlink(goals / "gone.parquet", tmp_path / "nowhere.parquet")
    symlink(goals / "away", tmp_path / "nowhere")
    for source, unread in ((goals, ("away", "gone.parquet")), (f"{goals}/**/*.parquet", ("gone.parquet",))):
        found = open_goals(source, ARM, block_rows=9)
        assert (list(found.files), found.unread) == (["a.parquet", "day2/a.parquet"], unread)
        np.testing.assert_allclose(rows_of(found)[1], targets, atol=1e-12)
    (other / "back").unlink()
    assert list(open_goals(str(other), ARM, block_rows=9).files) == ["a.parquet"]  # a folder, not a pattern


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("aligned", [False, True])
def test_small_files_go_together_and_all_rows_are_there_in_order(suffix, aligned, tmp_path):
    targets, at = transforms(200), 0
    for k, count in enumerate((3, 1, 0, 44, 7, 90, 5, 50)):
        write(tmp_path / f"{k}{suffix}", columns_of(targets[at : at + count]), row_group=30)
        at += count
    goals = open_goals(tmp_path, ARM, block_rows=32, aligned=aligned)
    sizes = [block.rows for block in goals.blocks]
    assert sizes == ([32] * 6 + [8] if aligned else sizes)
    assert (sum(sizes), max(sizes) <= 32) == (200, True)
    assert list(goals.files.values()) == [3, 1, 0, 44, 7, 90, 5, 50]
    read, got = rows_of(goals, chunk=11)
    np.testing.assert_allclose(got, targets, atol=1e-12)
    assert [rows.first for rows in read] == [*np.cumsum([0, *(len(rows.targets) for rows in read[:-1])])]
    write(tmp_path / f"9{suffix}", columns_of(targets[:40]), row_group=30)  # an added file only changes the last block
    digests = Digests()
    more = open_goals(tmp_path, ARM, block_rows=32, aligned=aligned, known=list(goals.files))
    same = [digests.of(one) == digests.of(two) for one, two in zip(goals.blocks, more.blocks, strict=False)]
    assert all(same[:-1])


def test_a_large_row_group_is_read_on_from_block_to_block_and_in_any_order(tmp_path):
    targets = transforms(100)
    path = write(tmp_path / "goals.parquet", columns_of(targets), row_group=100)
    goals = open_goals(path, ARM, block_rows=8)
    reader = RowReader(goals, ARM, ARM.neutral(), 5)
    order = np.random.default_rng(0).permutation(len(goals.blocks))
    for number in (*range(len(goals.blocks)), *order.tolist(), *range(0, len(goals.blocks), 2)):
        block = goals.blocks[number]
        got = np.concatenate([rows.targets for rows in kept(reader.read(block))])
        np.testing.assert_allclose(got, targets[block.first : block.first + block.rows], atol=1e-12)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_digests_of_blocks_tell_which_rows_have_changed(suffix, tmp_path):
    """The file has no statistics, so that only the values differ."""
    targets = transforms(40)
    kept = {}
    for name, value in (("one", 0.0), ("same", 0.0), ("other", 1e-9)):
        columns = columns_of(targets)
        columns["y"] = columns["y"] + value * (np.arange(40) == 25)
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".csv":
            write(path, columns)
        else:
            pq.write_table(pa.table(columns), path, row_group_size=10, write_statistics=False, compression="none")
        digests = Digests()
        kept[name] = [digests.of(block) for block in open_goals(path, ARM, block_rows=10).blocks]
    assert kept["one"] == kept["same"]
    assert [a == b for a, b in zip(kept["one"], kept["other"], strict=True)] == [True, True, False, True]


def test_folders_in_folders_are_read_their_names_give_columns_and_others_are_named(tmp_path):
    targets = transforms(12)
    for k, name in enumerate(("day=1/robot=panda/b", "day=1/robot=ur5/a", "day=2/robot=panda/a")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write(tmp_path / f"{name}.parquet", columns_of(targets[4 * k : 4 * k + 4]))
    for name in (".hidden.parquet", "_draft.csv", "_old/c.parquet", "day=1/.x/c.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"not read")
    (tmp_path / "day=2" / "notes.txt").write_text("not read either, but named", encoding="utf-8")
    goals = open_goals(tmp_path, ARM, block_rows=100)
    read, got = rows_of(goals)
    np.testing.assert_allclose(got, targets, atol=1e-12)
    assert goals.unread == ("day=2/notes.txt",)
    assert [row.as_py() for rows in read for row in rows.carried["robot"]] == ["panda"] * 4 + ["ur5"] * 4 + [
        "panda"
    ] * 4
    assert [row.as_py() for rows in read for row in rows.carried["day"]] == ["1"] * 8 + ["2"] * 4
    some = open_goals(f"{tmp_path}/day=*/robot=panda/*.parquet", ARM, block_rows=100)
    assert (list(some.files.values()), some.unread) == ([4, 4], ())
    assert rows_of(some)[1].shape == (8, 4, 4)
    assert open_goals(f"{tmp_path}/**/a.parquet", ARM, block_rows=100, ignore=["day"]).types.keys() == {"robot"}
    with pytest.raises(FormatError, match="holds no files of goals that match"):
        open_goals(f"{tmp_path}/night=*/*.parquet", ARM, block_rows=100)


def test_a_folder_may_name_a_number(tmp_path):
    (tmp_path / "z=0.5").mkdir()
    write(tmp_path / "z=0.5" / "goals.csv", {"x": [1.0], "y": [2.0]})
    assert rows_of(open_goals(tmp_path, ARM, block_rows=9))[1].tolist() == [[1.0, 2.0, 0.5]]
    (tmp_path / "z=0.5").rename(tmp_path / "z=high")
    with pytest.raises(FormatError, match="z=high gives no number for column 'z'"):
        open_goals(tmp_path, ARM, block_rows=9)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_column_that_a_folder_names_too_is_refused(suffix, tmp_path):
    """Otherwise the folder would take precedence silently."""
    (tmp_path / "x=3").mkdir()
    write(tmp_path / "x=3" / f"goals{suffix}", {"x": [1.0], "y": [2.0], "z": [0.0]})
    with pytest.raises(FormatError, match=r"has a column 'x', and its folder x=3 gives one too: rename one, or leave"):
        open_goals(tmp_path, ARM, block_rows=9)
    (tmp_path / "x=3").rename(tmp_path / "day=3")
    write(tmp_path / "day=3" / f"goals{suffix}", {"x": [1.0], "y": [2.0], "z": [0.0], "day": [5.0]})
    with pytest.raises(FormatError, match=r"has a column 'day', and its folder day=3 gives one too"):
        open_goals(tmp_path, ARM, block_rows=9, keep=["day"])
    assert open_goals(tmp_path, ARM, block_rows=9, ignore=["day"]).types == {}


def test_the_folder_of_rows_without_a_value_gives_none(tmp_path):
    for name in ("robot=panda", "robot=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "goals.csv", {"x": [1.0], "y": [2.0]})
    read, _ = rows_of(open_goals(tmp_path, PLANAR, block_rows=9), PLANAR)
    assert sorted((row.as_py() for rows in read for row in rows.carried["robot"]), key=str) == [None, "panda"]


def test_columns_of_any_kind_are_carried_along(tmp_path):
    named = {
        "x": [1.0, 2.0],
        "y": [0.0, 0.0],
        "label": [["a"], []],
        "id": [1.5, 2.5],
        "when": pa.array([0, 1], "date32"),
    }
    path = write(tmp_path / "goals.parquet", named)
    goals = open_goals(path, PLANAR, block_rows=9, keep=["label", "when"])
    (rows,) = rows_of(goals, PLANAR)[0]
    assert {name: str(kind) for name, kind in goals.types.items()} == {
        "id": "double", "label": "list<element: string>", "when": "date32[day]",
    }  # fmt: skip
    assert rows.carried["label"].to_pylist() == [["a"], []]
    with pytest.raises(FormatError, match="has no column size to keep; it has x, y"):
        open_goals(path, PLANAR, block_rows=9, keep=["size"])


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


@pytest.mark.parametrize(("data", "says"), [
    ("x,y\n1,2\n".encode("utf-16"), r"goals.csv:1: is not CSV but UTF-16 text, .*; save it as UTF-8"),
    ("x,y\n1,2\n".encode("utf-16-be"), r"goals.csv:1: is not CSV but UTF-16 text, .*; save it as UTF-8"),
    (b"x,y\r1,2\r3,4\r", r"goals.csv:1: has lines that end in CR alone; save it with LF or CR LF"),
])  # fmt: skip
def test_texts_of_other_kinds_are_refused_in_words(data, says, tmp_path):
    (tmp_path / "goals.csv").write_bytes(data)
    with pytest.raises(FormatError, match=says):
        lw.solve_dataset(PLANAR, "tip", tmp_path / "goals.csv", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_odd_columns_are_kept_as_they_are(tmp_path):
    """Dictionaries, long texts, structures, decimals, nulls: kept columns have the same types and values."""
    columns = {
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "long": pa.array(["a", None, "c"], pa.large_string()),
        "deep": pa.array([{"a": 1, "b": [1, 2]}, None, {"a": 3, "b": []}]),
        "price": pa.array([Decimal("1.50"), None, Decimal("2.25")], pa.decimal128(10, 2)),
        "nothing": pa.nulls(3),
    }
    pq.write_table(pa.table({"x": [15.0, -20.0, 9.0], "y": [10.0, 5.0, 3.0], **columns}), tmp_path / "goals.parquet")
    lw.solve_dataset(PLANAR, "tip", tmp_path / "goals.parquet", tmp_path / "out", keep=list(columns), block_rows=2)
    answers = pq.read_table(tmp_path / "out")
    for name, values in columns.items():
        assert answers[name].type == values.type, name
        assert answers[name].to_pylist() == values.to_pylist(), name
