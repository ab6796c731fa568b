"""Reliable runs: damaged, changed and added files are found, and the result is that of a clean run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import linkwork as lw
from goal_tables import write
from linkwork.cli import app as cli
from linkwork.errors import RunError
from linkwork.scale.answer_files import FORMATS

pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.planar([15, 10, 5])
ROWS = 25


def goals_of(count, seed=0):
    x, y = np.random.default_rng(seed).uniform(-20.0, 20.0, (2, count))
    return {"x": x, "y": y}


def solve(goals, out, **options):
    return lw.solve_dataset(ARM, "tip", goals, out, **{"block_rows": ROWS, "workers": 1, **options})


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def library(tmp_path):
    """A folder with three files of goals, and the result of a run."""
    (tmp_path / "goals").mkdir()
    for k in range(3):
        write(tmp_path / "goals" / f"{k}.parquet", goals_of(2 * ROWS, seed=k), row_group=ROWS)
    solve(tmp_path / "goals", tmp_path / "out")
    return tmp_path / "goals", tmp_path / "out"


def flip(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def zero(path, rng):
    data = bytearray(path.read_bytes())
    at = int(rng.integers(len(data) // 2))
    data[at : at + 64] = bytes(64)
    path.write_bytes(data)


def cut(path, rng):
    path.write_bytes(path.read_bytes()[: int(rng.integers(100))])


def swap(path, rng):
    others = sorted(path.parent.glob("part-*.parquet"))
    path.write_bytes(others[int(rng.integers(len(others)))].read_bytes())


def lose(path, rng):
    path.unlink()


DAMAGES = (flip, zero, cut, swap, lose)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_part_that_was_damaged_after_it_was_written_is_found_and_made_anew(damage, library):
    goals, out = library
    whole, rng = contents(out), np.random.default_rng(3)
    assert lw.verify_dataset(out)
    part = sorted(out.glob("part-*.parquet"))[4]
    damage(part, rng)
    if part.exists() and part.read_bytes() == whole[part.name]:
        damage(part, rng)
    assert list(lw.verify_dataset(out).faults) == [part.name]
    assert solve(goals, out, resume=True).resumed == 5 * ROWS
    assert contents(out) == whole


def test_pages_have_checksums_that_other_readers_check(library):
    """Readers other than linkwork also detect a damaged page."""
    path = library[1] / "part-0000000000.parquet"
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 1] ^= 1  # the last byte of its page
    path.write_bytes(data)
    with pytest.raises(OSError, match=r"checksum|CRC"):
        pq.ParquetFile(path, page_checksum_verification=True).read()


@pytest.mark.parametrize("kind", FORMATS.values(), ids=list(FORMATS))
def test_names_of_parts_sort_as_their_numbers_for_ever(kind):
    names = [kind().part(number) for number in (0, 1, 9, 10, 99_999, 100_000, 999_999_999, 9_999_999_999)]
    assert names == sorted(names)


def test_a_changed_value_is_found_and_costs_its_block_alone(library):
    goals, out = library
    before = contents(out)
    changed = goals_of(2 * ROWS, seed=1)
    changed["y"][3] += 1e-9
    write(goals / "1.parquet", changed, row_group=ROWS)
    assert solve(goals, out, resume=True).resumed == 5 * ROWS
    after = contents(out)
    solve(goals, out.with_name("clean"))
    assert after == contents(out.with_name("clean"))
    assert [name for name in after if name.startswith("part-") and after[name] != before[name]] == [
        "part-0000000002.parquet"
    ]


def test_an_added_file_costs_itself_alone_and_comes_last(library):
    goals, out = library
    before = contents(out)
    write(goals / "0-and-a-half.parquet", goals_of(ROWS, seed=9))
    assert solve(goals, out, resume=True).resumed == 6 * ROWS
    after = contents(out)
    assert all(after[name] == before[name] for name in before if name.startswith("part-"))
    table = pq.read_table(out / "part-0000000006.parquet").to_pydict()
    assert table["id"] == [*range(6 * ROWS, 7 * ROWS)]
    (goals / "2.parquet").unlink()
    with pytest.raises(RunError, match=r"these files of its input are missing: 2.parquet"):
        solve(goals, out, resume=True)


def test_an_incomplete_folder_cannot_be_taken_for_a_complete_one(library):
    goals, out = library
    assert (out / "_SUCCESS").exists()
    (goals / "1.parquet").write_bytes((goals / "1.parquet").read_bytes()[:-4] + b"XXXX")
    with pytest.raises(lw.errors.FormatError, match=r"1.parquet: is not a Parquet file"):
        solve(goals, out, resume=True)
    write(goals / "1.parquet", goals_of(2 * ROWS, seed=1), row_group=ROWS)
    (goals / "notes.txt").write_text("not goals", encoding="utf-8")
    result = solve(goals, out, resume=True)
    assert (result.complete, result.unread) == (False, ("notes.txt",))
    assert not (out / "_SUCCESS").exists()
    assert json.loads((out / "_missing.json").read_text(encoding="utf-8")) == [
        {"file": "notes.txt", "reason": "is not read: it holds no goals"}
    ]
    assert "_missing.json" in lw.verify_dataset(out).faults[""]
    (goals / "notes.txt").unlink()
    assert solve(goals, out, resume=True).complete
    assert not (out / "_missing.json").exists()
    stray = out / "part-0000000077.parquet"
    stray.write_bytes((out / "part-0000000001.parquet").read_bytes())
    assert lw.verify_dataset(out).faults == {stray.name: "belongs to no record of the run"}


def test_bad_lines_are_invalid_rows_with_their_numbers(tmp_path):
    lines = ["x,y"] + [f"{k},{k}" for k in range(60)]
    lines[7], lines[40], lines[41] = "one,1", "1,2,3", ""
    (tmp_path / "goals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = solve(tmp_path / "goals.csv", tmp_path / "out")
    table = pq.read_table(tmp_path / "out").to_pydict()
    assert [k for k, status in enumerate(table["status"]) if status == "invalid"] == [6, 39, 40]
    assert [(table["q.j1"][k], table["position_error"][k]) for k in (6, 39)] == [(None, None)] * 2
    assert [note.partition("goals.csv: ")[2] for note in result.notes] == [
        "line 8, column 'x': 'one' is not a number", "line 41 has 3 values under 2 columns", "line 42 is blank",
    ]  # fmt: skip
    assert result.complete
    given = ["batch", str(tmp_path / "goals.csv"), "--model", "planar:15,10,5", "-o", str(tmp_path / "again")]
    said = CliRunner().invoke(cli.app, given, prog_name="linkwork")
    assert said.exit_code == 0
    assert "line 8, column 'x': 'one' is not a number: answered as invalid" in said.stderr


def test_texts_are_carried_as_they_are_or_not_at_all(tmp_path):
    lines = [b"x,y,id", b"15,10, a ", b"-20,5,caf\xe9", b'1,2,"b, c"', b"3,4,"]
    (tmp_path / "goals.csv").write_bytes(b"\r\n".join(lines))
    result = solve(tmp_path / "goals.csv", tmp_path / "out")
    table = pq.read_table(tmp_path / "out").to_pydict()
    assert table["id"] == [" a ", None, "b, c", ""]  # with and without an unreadable line
    assert table["status"][1] == "invalid"
    assert [note.partition("goals.csv: ")[2] for note in result.notes] == ["line 3 is not UTF-8"]
    (tmp_path / "clean.csv").write_bytes(b"\r\n".join(lines[:2] + lines[3:]))
    solve(tmp_path / "clean.csv", tmp_path / "clean")
    assert pq.read_table(tmp_path / "clean")["id"].to_pylist() == [" a ", "b, c", ""]


def test_answers_may_be_small_and_carry_columns_along(tmp_path):
    goals = goals_of(40) | {"label": [f"no {k}" for k in range(40)], "id": np.arange(40) * 0.5}
    path = write(tmp_path / "goals.parquet", goals)
    solve(path, tmp_path / "out", keep=["label"], store="float32", compression="gzip")
    solve(path, tmp_path / "full", ignore=["label"])
    small, full = (pq.read_table(tmp_path / name) for name in ("out", "full"))
    assert small.column("label").to_pylist() == goals["label"]
    assert small.column("id").to_pylist() == goals["id"].tolist()
    assert str(small.schema.field("q.j1").type) == "float"
    np.testing.assert_allclose(small.column("q.j1"), full.column("q.j1"), rtol=1e-6)
    part = pq.ParquetFile(tmp_path / "out" / "part-0000000000.parquet").metadata
    assert part.row_group(0).column(1).compression == "GZIP"
    notes = {name.decode(): json.loads(value) for name, value in part.metadata.items() if b"linkwork" in name}
    assert (notes["linkwork.block"], notes["linkwork.first"], notes["linkwork.rows"]) == (0, 0, 20)


def test_the_command_verifies_what_was_written(library):
    goals, out = library
    words = ["batch", "verify", str(out)]
    found = CliRunner().invoke(cli.app, words, prog_name="linkwork")
    assert (found.exit_code, found.stdout) == (0, f"{out}: 6 files, 150 rows: as they were written\n")
    cut(out / "part-0000000003.parquet", np.random.default_rng(0))
    found = CliRunner().invoke(cli.app, [*words, "--json"], prog_name="linkwork")
    assert (found.exit_code, list(json.loads(found.stdout)["faults"])) == (1, ["part-0000000003.parquet"])
    assert "part-0000000003.parquet has" in found.stderr
    nothing = CliRunner().invoke(cli.app, ["batch", "verify", str(goals)], prog_name="linkwork")
    assert nothing.exit_code == 2
    assert "holds no run" in nothing.stderr


def test_a_dataset_is_described_as_numpy_would(library, tmp_path):
    goals, out = library
    found, table = lw.describe_dataset(out), pq.read_table(out)
    q, error = np.array(table.column("q.j2")), np.array(table.column("position_error"))
    assert found.counts == {s: table.column("status").to_pylist().count(s) for s in found.counts}
    assert (found.rows, found.complete, sum(found.joints["j2"].bins)) == (150, True, 150)
    assert (found.joints["j2"].least, found.joints["j2"].largest) == (q.min(), q.max())
    assert found.joints["j2"].mean == pytest.approx(q.mean())
    np.testing.assert_array_equal(found.joints["j2"].bins, np.histogram(q, 40)[0])
    assert found.errors["position_error"].shares["median"] == pytest.approx(max(np.median(error), 1e-12), rel=0.05)
    given = ["batch", "describe", str(out), "-o", str(tmp_path / "page.html")]
    said = CliRunner().invoke(cli.app, given, prog_name="linkwork")
    assert said.exit_code == 0, said.output
    assert "150 answers" in said.stdout
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    data = json.loads(CliRunner().invoke(cli.app, [*given[:3], "--json"], prog_name="linkwork").stdout)
    assert data["joints"]["j1"]["count"] == 150
    with pytest.raises(RunError, match="holds no run"):
        lw.describe_dataset(goals)


def test_a_failed_start_leaves_nothing_behind(tmp_path):
    path = write(tmp_path / "goals.parquet", goals_of(5))
    for options in ({"start": "nowhere"}, {"tolerances": 1.0}, {"engine": "ray", "address": "127.0.0.1:1"}):
        with pytest.raises(lw.errors.LinkworkError):
            solve(path, tmp_path / "out", **options)
        if options.get("engine") != "ray":
            assert not (tmp_path / "out").exists()


class Killed(BaseException):
    """Ends a run at once, like a kill."""


def chaos(library, rounds, seed):
    """Kill, damage, repair and resume in random order; return the number of rounds refused with a reason."""
    goals, out = library
    rng, refused = np.random.default_rng(seed), 0
    originals = contents(goals)
    for _ in range(rounds):
        parts = sorted(out.glob("part-*.parquet"))
        for part in rng.permutation(np.array(parts, object))[: int(rng.integers(3))]:
            DAMAGES[int(rng.integers(len(DAMAGES)))](part, rng)
        name = f"{int(rng.integers(3))}.parquet"
        if rng.random() < 0.3:
            flip(goals / name, rng)
        elif rng.random() < 0.5:
            (goals / name).write_bytes(originals[name])
        left = int(rng.integers(1, 9))

        def kill(_result):
            nonlocal left
            left -= 1
            if not left:
                raise Killed

        try:
            solve(goals, out, resume=True, progress=kill)
        except (Killed, lw.errors.LinkworkError) as error:
            refused += isinstance(error, lw.errors.LinkworkError)
    for name, data in originals.items():
        (goals / name).write_bytes(data)
    solve(goals, out, resume=True)
    return refused


@pytest.mark.parametrize("seed", range(3))
def test_chaos_ends_as_a_clean_run(seed, library):
    whole = contents(library[1])
    chaos(library, 6, seed)
    assert contents(library[1]) == whole
    assert lw.verify_dataset(library[1])
