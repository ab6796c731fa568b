"""Runs over datasets: every row once and correct, for any blocks, engines, workers and interruptions."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import children
import linkwork as lw
from goal_tables import columns_of, spoil, write
from linkwork.cli import app as cli
from linkwork.errors import FormatError, OptionError, RunError

pq = pytest.importorskip("pyarrow.parquet")

ARM = lw.models.panda()
COUNT, ROWS = 600, 100
PART = "part-{:010d}.parquet"


@pytest.fixture(scope="module")
def targets():
    """Targets: some reached, some only from a later start, some never."""
    targets = ARM.forward(ARM.random_pose(0, COUNT), frame="tip")
    targets[::2, :3, :3] = targets[::2, :3, :3] @ np.diag([1.0, -1.0, -1.0])
    targets[7, 0, 3] = np.nan
    return targets


@pytest.fixture
def goals(tmp_path, targets):
    return write(tmp_path / "goals.parquet", columns_of(targets), row_group=ROWS)


def answers(folder):
    return pq.read_table(folder).to_pydict()


def contents(folder):
    """Return the files of a folder, without records of interrupted runs, which contain times."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and "_parts" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def parts(folder):
    return {name: data for name, data in contents(folder).items() if name.startswith("part-")}


def same_rows(one, other):
    """Return whether two folders have bit-identical rows, with equal NaN."""
    first, second = pq.read_table(one), pq.read_table(other)
    return first.schema.equals(second.schema) and repr(first.to_pydict()) == repr(second.to_pydict())


def solve(goals, out, **options):
    return lw.solve_dataset(ARM, "tip", goals, out, **{"block_rows": ROWS, **options})


# Output


def test_answers_are_those_of_one_batch(goals, targets, tmp_path):
    result = solve(goals, tmp_path / "out", tolerance=1e-5)
    table = answers(tmp_path / "out")
    batch = lw.solve_batch(ARM, "tip", targets, tolerance=1e-5)
    assert list(table) == [
        "id",
        *(f"q.{name}" for name in ARM.coordinates),
        *("success", "status", "position_error", "rotation_error", "restarts"),
    ]
    assert table["id"] == list(range(COUNT))
    assert table["status"] == batch.status.tolist()
    assert table["success"] == batch.success.tolist()
    assert table["restarts"] == batch.restarts.tolist()
    q = np.transpose([np.array(table[f"q.{name}"], np.float64) for name in ARM.coordinates])
    np.testing.assert_allclose(q[batch.success], batch.q[batch.success], atol=1e-9)  # there is a quaternion in between
    assert max(batch.restarts) > 1
    assert result.counts == {name: table["status"].count(name) for name in result.counts}
    assert (result.total, result.answered, result.complete, result.resumed) == (COUNT, COUNT, True, 0)
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == COUNT // ROWS


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 3}, {"block_rows": 37}, {"block_rows": 10_000}])
def test_rows_do_not_depend_on_blocks_and_workers(options, goals, tmp_path):
    solve(goals, tmp_path / "one", workers=2)
    solve(goals, tmp_path / "other", **options)
    assert same_rows(tmp_path / "one", tmp_path / "other")


def test_ids_and_starts_are_kept(tmp_path):
    arm = lw.models.planar([15, 10, 5])
    named = {"x": [15.0, -20.0], "y": [10.0, 5.0], "id": ["left", "right"], "start.j2": [1.0, -1.0]}
    for suffix in (".csv", ".parquet"):
        out = tmp_path / suffix[1:]
        lw.solve_dataset(arm, "tip", write(tmp_path / f"goals{suffix}", named), out)
        table = answers(out)
        assert table["id"] == ["left", "right"]
        assert np.sign(table["q.j2"]).tolist() == [1.0, -1.0]
        assert "rotation_error" not in table


def test_a_start_serves_rows_without_one(goals, targets, tmp_path):
    solve(goals, tmp_path / "out", start="ready")
    ready = ARM.stored_pose("ready")
    first = answers(tmp_path / "out")
    near = np.transpose([first[f"q.{name}"][:3] for name in ARM.coordinates])
    batch = lw.solve_batch(ARM, "tip", targets[:3], start=ready)
    np.testing.assert_allclose(near, batch.q, atol=1e-6)
    assert {first[f"q.{name}"][7] for name in ARM.coordinates} == {None}  # the invalid row has no pose
    with pytest.raises(OptionError, match="start is one pose"):
        solve(goals, tmp_path / "other", start=np.tile(ready, (2, 1)))


def test_options_are_checked_before_anything_is_written(goals, tmp_path):
    for options, message in (
        ({"engine": "abacus"}, "no engine 'abacus'; engines are local, cuda, ray"),
        ({"address": "auto"}, "need the engine ray"),
        ({"workers": 0}, "workers"),
        ({"tolerances": 1.0}, "no option 'tolerances'"),
        ({"dtype": "float16"}, "dtype"),
        ({"time_budget": 1.0}, "time_budget does not apply to datasets"),
        ({"store": "float16"}, "no store 'float16'"),
        ({"compression": "zip"}, "no compression 'zip'"),
    ):
        with pytest.raises(OptionError, match=message):
            solve(goals, tmp_path / "out", **options)
    with pytest.raises(lw.errors.FrameNotFoundError):
        lw.solve_dataset(ARM, "nose", goals, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_empty_dataset_gives_no_answers(tmp_path):
    path = tmp_path / "goals.csv"
    path.write_text("x,y,z\n", encoding="utf-8")
    result = lw.solve_dataset(ARM, "tip", path, tmp_path / "out")
    assert (result.total, result.complete, repr(result)) == (0, True, "<DatasetResult: 0 of 0 reached>")
    assert pq.read_schema(tmp_path / "out" / PART.format(0)).names[:2] == ["id", f"q.{ARM.coordinates[0]}"]
    assert lw.verify_dataset(tmp_path / "out")


# Interruptions


class Stop:
    """Interrupts a run after some blocks, as Ctrl-C does."""

    def __init__(self, after):
        self.left = after

    def __call__(self, _result):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_an_interrupted_run_is_resumed_to_the_same_files(goals, tmp_path):
    solve(goals, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        solve(goals, out, workers=1, progress=Stop(2))
    left = contents(out)
    assert left.items() <= contents(tmp_path / "whole").items()  # only complete and correct parts
    assert 2 < len(left) < COUNT // ROWS + 1
    assert not (out / "_SUCCESS").exists()
    assert "interrupted" in lw.verify_dataset(out).faults[""]
    result = solve(goals, out, resume=True)
    assert result.resumed == (len(left) - 1) * ROWS
    assert (result.complete, result.counts) == (True, solve(goals, tmp_path / "again").counts)
    assert contents(out) == contents(tmp_path / "whole")


def test_a_run_is_resumed_only_with_what_it_began_with(goals, tmp_path):
    out = tmp_path / "out"
    solve(goals, out)
    with pytest.raises(RunError, match="holds a run already; continue it with resume"):
        solve(goals, out)
    for options, message in (
        ({"seed": 1}, r"another options: seed \(0, not 1\)"),
        ({"block_rows": 50}, r"another output: block_rows \(100, not 50\)"),
        ({"store": "float32"}, r'another output: store \("float64", not "float32"\)'),
        ({"start": "ready"}, r"another start \(null, not \["),
        ({"orientation": False}, r"another columns .*; options: orientation \(true, not false\)"),
    ):
        with pytest.raises(RunError, match=message):
            solve(goals, out, resume=True, **options)
    with pytest.raises(RunError, match="another linkage"):
        lw.solve_dataset(ARM.freeze("panda_joint3", at=0.0), "tip", goals, out, resume=True, block_rows=ROWS)
    goals.rename(goals.with_name("others.parquet"))
    with pytest.raises(RunError, match=r"these files of its input are missing: goals.parquet"):
        solve(goals.with_name("others.parquet"), out, resume=True)


def test_damaged_parts_and_drafts_of_a_killed_run_are_replaced(goals, tmp_path):
    out = tmp_path / "out"
    solve(goals, out)
    whole = contents(out)
    part = out / PART.format(2)
    part.write_bytes(part.read_bytes()[:-100])
    (out / PART.format(3)).write_bytes(whole[PART.format(4)][:40])
    (out / ".0123456789abcdef.tmp").write_bytes(b"half a part")
    assert solve(goals, out, resume=True).resumed == COUNT - 2 * ROWS
    assert contents(out) == whole


def test_a_folder_with_something_else_in_it_is_refused(goals, tmp_path):
    with pytest.raises(RunError, match="is not empty and not the folder of a run"):
        solve(goals, tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    for text in ("[]", "{}", "nonsense"):
        (out / "_manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(RunError, match="is not the manifest"):
            solve(goals, out, resume=True)
    with pytest.raises(RunError, match="cannot write to"):
        solve(goals, goals / "out")


def test_two_runs_do_not_share_a_folder(goals, tmp_path):
    pytest.importorskip("fcntl")
    told = []

    def again(_result):
        with pytest.raises(RunError, match="another run is at work") as caught:
            solve(goals, tmp_path / "out", resume=True)
        told.append(caught)

    solve(goals, tmp_path / "out", progress=again)
    assert len(told) == COUNT // ROWS


def test_a_full_disk_ends_the_run_and_loses_nothing(goals, tmp_path, monkeypatch):
    sync, calls, most = os.fsync, [], math.inf

    def full(handle):
        calls.append(handle)
        if len(calls) > most:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        solve(goals, tmp_path / "whole", workers=1)
    most = len(calls) // 2
    calls.clear()
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(FormatError, match=r"cannot be written: no space left on device"):
            solve(goals, out, workers=1)
    left = parts(out)
    assert 1 < len(left) < COUNT // ROWS
    assert left.items() <= contents(tmp_path / "whole").items()
    solve(goals, out, resume=True)
    assert contents(out) == contents(tmp_path / "whole")


def test_a_corrupt_block_is_told_and_the_rest_goes_on(goals, targets, tmp_path):
    solve(goals, tmp_path / "whole")
    spoil(goals, 3)
    result = solve(goals, tmp_path / "out")
    (lost,) = result.missing
    assert (lost.first, lost.count, result.answered, result.complete) == (300, 100, COUNT - 100, False)
    assert "goals.parquet: rows 300 to 399 cannot be read" in lost.reason
    assert repr(result).endswith("reached, 100 missing>")
    assert answers(tmp_path / "out")["id"] == [*range(300), *range(400, COUNT)]
    for path in (tmp_path / "out").glob("part-*"):
        assert answers(path)["id"] == answers(tmp_path / "whole" / path.name)["id"]


# The command


def run(*words):
    return CliRunner().invoke(cli.app, ["batch", *map(str, words)], prog_name="linkwork")


def test_the_command_solves_a_dataset_and_counts(goals, tmp_path):
    given = (goals, "--model", "panda", "--frame", "tip", "-o", tmp_path / "out", "--block-rows", ROWS)
    result = run(*given)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["status", "reached", "beyond"]
    assert f"out: {COUNT} answers" in result.stdout
    solve(goals, tmp_path / "same")
    assert contents(tmp_path / "out") == contents(tmp_path / "same")
    assert run(*given).exit_code == 2
    data = json.loads(run(*given, "--resume", "--json").stdout)
    assert (data["rows"], data["answered"], data["resumed"], data["missing"]) == (COUNT, COUNT, COUNT, [])
    assert sum(data["counts"].values()) == COUNT


def test_the_command_exits_with_1_when_rows_are_missing(goals, tmp_path):
    spoil(goals, 0)
    result = run("solve", goals, "--model", "panda", "-o", tmp_path / "out", "--block-rows", ROWS)
    assert result.exit_code == 1
    assert "missing" in result.stdout
    assert "rows 0 to 99 cannot be read" in result.stderr


@pytest.mark.parametrize(("words", "code"), [(["nothing.parquet"], 3), (["goals.parquet", "--engine", "abacus"], 2)])
def test_the_command_says_what_is_wrong(words, code, goals, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words, "--model", "panda", "-o", "out")
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.startswith("linkwork: ")


def test_ctrl_c_says_how_to_go_on(goals, tmp_path, monkeypatch):
    monkeypatch.setattr("linkwork.scale.block_solver.dealt", Stop(1))
    monkeypatch.setattr(Stop, "__call__", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = run(goals, "--model", "panda", "-o", tmp_path / "out")
    assert result.exit_code == 130
    assert "--resume continues" in result.stderr


# Other processes

COMMAND = [sys.executable, "-W", "ignore", "-m", "linkwork", "batch"]
RAY_ALONE = """
from linkwork.cli.app import main
from linkwork.scale import engine
engine.HEAD_START = False
main()
"""
HARD = ("--restarts", "2000", "--block-rows", "100")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A dataset that takes seconds, and its answers."""
    folder = tmp_path_factory.mktemp("many")
    targets = ARM.forward(ARM.random_pose(1, 6000), frame="tip") @ np.diag([1.0, -1.0, -1.0, 1.0])
    path = write(folder / "goals.parquet", columns_of(targets), row_group=100)
    lw.solve_dataset(ARM, "tip", path, folder / "whole", restarts=2000, block_rows=100)
    return path


@contextlib.contextmanager
def begun(goals, out, *words, parts=3):
    """Start a run in a separate process, and wait until it has written a number of parts."""
    with children.started([*COMMAND, goals, "--model", "panda", "-o", out, *HARD, *words]) as process:
        for _ in range(int(children.LIMIT / 0.01)):
            if process.poll() is not None or len(list(out.glob("part-*.parquet"))) >= parts:
                break
            time.sleep(0.01)
        assert process.poll() is None, process.stderr.read().decode()
        yield process


def differing(folder, other):
    """Return the differences of two folders by file: columns and rows, or metadata."""
    files, others = contents(folder), contents(other)
    assert set(files) == set(others)
    found = {}
    for name in (name for name in files if files[name] != others[name]):
        one, two = pq.read_table(folder / name), pq.read_table(other / name)
        pairs = {c: zip(one[c].to_pylist(), two[c].to_pylist(), strict=True) for c in one.column_names}
        rows = {c: [pair for pair in both if pair[0] != pair[1]] for c, both in pairs.items()}
        found[name] = {c: values[:3] for c, values in rows.items() if values} or (
            one.schema.metadata,
            two.schema.metadata,
        )
    return found


def test_a_killed_run_is_resumed_to_the_same_files(many, tmp_path):
    with begun(many, tmp_path / "out", "--workers", "1") as process:
        process.kill()
    assert len(parts(tmp_path / "out")) < 60
    result = run(many, "--model", "panda", "-o", tmp_path / "out", *HARD, "--resume", "--json")
    assert 200 <= json.loads(result.stdout)["resumed"] < 6000  # the last part may lack its record
    assert not differing(tmp_path / "out", many.parent / "whole")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals for another process")
def test_a_run_that_is_asked_to_end_says_how_to_go_on(many, tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as under nohup; children inherit it
    try:
        with begun(many, tmp_path / "out", "--workers", "1") as process:
            process.terminate()
            _, said = process.communicate(timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (process.returncode, said) == (
        130,
        b"linkwork: interrupted; what was written is complete, and --resume continues\n",
    )
    assert len(parts(tmp_path / "out")) < 60


MEMORY = """
import pathlib, re, sys
import linkwork as lw
for goals in sys.argv[1:]:
    lw.solve_dataset(lw.models.planar([15, 10, 5]), "tip", goals, goals + ".out", workers=2, block_rows=50_000)
    print(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the memory of a process under /proc")
def test_memory_does_not_grow_with_the_number_of_goals(tmp_path):
    paths = []
    for count in (200_000, 1_000_000):
        x, y = np.random.default_rng(0).uniform(-18.0, 18.0, (2, count))
        paths.append(write(tmp_path / f"{count}.parquet", {"x": x, "y": y}, row_group=100_000))
    result = children.run([sys.executable, "-c", MEMORY, *paths], check=True)
    small, large = map(int, result.stdout.split())
    assert large < small + 30_000  # kB: less than half of the larger dataset's goals and answers


# Ray

ray = pytest.mark.skipif(
    find_spec("ray") is None or not Path("/proc/self/stat").exists(), reason="needs ray, and processes under /proc"
)


def descendants(ancestor):
    """Return the child processes of a process, also indirect ones: names by process id."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8")
                names[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = {ancestor}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {number: names.get(number, "") for number in found - {ancestor}}


def workers_of(process, count):
    """Return a run's workers in Ray, once there are enough; workers may outlive a killed run and write parts."""
    for _ in range(int(children.LIMIT / 0.05)):
        found = [number for number, name in descendants(process.pid).items() if "MapWorker" in name]
        if len(found) == count or process.poll() is not None:
            break
        time.sleep(0.05)
    assert len(found) == count
    return found


class OneProcess:
    """A stand-in for the parts of Ray that a run uses, in this process."""

    exceptions = SimpleNamespace(RayError=type("RayError", (Exception,), {}))

    class DataContext:
        enable_progress_bars = True

        @classmethod
        def get_current(cls):
            return cls

    def __init__(self, cores=2, fails=False, times=1):
        self.data, self.cores, self.fails, self.times, self.calls = self, cores, fails, times, []

    def is_initialized(self):
        return False

    def init(self, address, **options):
        self.calls.append((address, options))
        if address != "local":
            raise ConnectionError("no one is there")

    def shutdown(self):
        self.calls.append("shutdown")

    def cluster_resources(self):
        return {"CPU": self.cores}

    def from_items(self, items, **_):
        self.items = items
        return self

    def remote(self, **_):
        def actor(kind):
            one = kind()
            return SimpleNamespace(remote=lambda: SimpleNamespace(begin=SimpleNamespace(remote=one.begin)))

        return actor

    def get(self, answer):
        return answer

    def map_batches(self, worker, *, fn_constructor_args, **_):
        self.worker = worker(*fn_constructor_args)
        return self

    def iter_batches(self, **_):
        for row in self.items:
            if self.fails:
                raise self.exceptions.RayError("all workers died")
            for _ in range(self.times):
                answer = self.worker({"item": [row["item"]]})
            yield answer

    ActorPoolStrategy = staticmethod(dict)


@pytest.fixture
def one_process(monkeypatch):
    def put(**options):
        fake = OneProcess(**options)
        monkeypatch.setitem(sys.modules, "ray", fake)
        monkeypatch.setitem(sys.modules, "ray.data", fake)
        monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
        monkeypatch.setattr("linkwork.scale.engine.HEAD_START", False)
        return fake

    return put


def test_ray_does_the_same_work(goals, tmp_path, one_process):
    fake = one_process()
    solve(goals, tmp_path / "one")
    assert solve(goals, tmp_path / "out", engine="ray", workers=2).complete
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    (address, options), last = fake.calls
    assert (address, options["num_cpus"], options["include_dashboard"], last) == ("local", 2, False, "shutdown")
    assert solve(goals, tmp_path / "out", engine="ray", resume=True).resumed == COUNT  # without starting Ray
    assert len(fake.calls) == 2


def test_threads_work_while_ray_is_started(goals, tmp_path, one_process, monkeypatch):
    fake, out = one_process(), tmp_path / "out"

    def init(*_words, **_options):
        for _ in range(6000):  # until some parts are there
            if len(parts(out)) >= 2:
                return
            time.sleep(0.01)

    monkeypatch.setattr(fake, "init", init)
    monkeypatch.setattr("linkwork.scale.engine.HEAD_START", True)
    fake.items = []
    solve(goals, tmp_path / "one")
    assert solve(goals, out, engine="ray", workers=1).counts == solve(goals, tmp_path / "one", resume=True).counts
    assert len(fake.items) < COUNT // ROWS
    assert contents(out) == contents(tmp_path / "one")


def test_what_ray_cannot_do_ends_the_run_in_words(goals, tmp_path, one_process, monkeypatch):
    one_process(cores=1)
    with pytest.raises(RunError, match="Ray has 1 CPUs for 2 workers"):
        solve(goals, tmp_path / "few", engine="ray", workers=2)
    with pytest.raises(RunError, match="Ray cannot be started: no one is there"):
        solve(goals, tmp_path / "away", engine="ray", address="auto")
    with pytest.raises(RunError, match=r"no Ray cluster answers at '127.0.0.1:1'"):  # at once; Ray itself would retry
        solve(goals, tmp_path / "nobody", engine="ray", address="127.0.0.1:1")
    fake = one_process(fails=True)
    with pytest.raises(RunError, match="Ray could not go on: all workers died"):
        solve(goals, tmp_path / "dead", engine="ray")
    assert fake.calls[-1] == "shutdown"
    one_process(times=9)  # as if workers died repeatedly
    with pytest.raises(RunError, match="item 0 ended 8 Ray workers"):
        solve(goals, tmp_path / "deadly", engine="ray")
    one_process()
    monkeypatch.setattr(
        "linkwork.scale.block_solver.write_part",
        lambda form, *_: (_ for _ in ()).throw(FormatError(form.part(0), "full.")),
    )
    with pytest.raises(RunError, match=r"part-0000000000.parquet: full"):
        solve(goals, tmp_path / "full", engine="ray")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ray" else True)
    with pytest.raises(lw.errors.MissingExtraError, match=r"linkwork\[ray\]"):
        solve(goals, tmp_path / "none", engine="ray")


@ray
def test_a_driver_of_ray_that_is_killed_is_resumed_and_a_killed_worker_costs_no_row(many, tmp_path, monkeypatch):
    out, words = tmp_path / "out", ("--engine", "ray", "--workers", "2", "--json")
    monkeypatch.setitem(globals(), "COMMAND", [*COMMAND[:3], "-c", RAY_ALONE, "batch"])
    with begun(many, out, *words) as process:
        process.kill()
    there = len(list(out.glob("part-*.parquet")))
    with begun(many, out, *words, "--resume", parts=there + 3) as process:
        os.kill(workers_of(process, 2)[0], signal.SIGKILL)
        data = json.loads(process.communicate(timeout=children.LIMIT)[0])
    assert process.returncode == 0
    assert 100 * there <= data["resumed"] < 6000  # workers may finish a part after their driver ended
    assert (data["answered"], data["missing"]) == (6000, [])
    expected = sorted((many.parent / "whole").glob("part-*.parquet"))
    found = sorted(out.glob("part-*.parquet"))  # killed workers may leave temporary files
    assert [path.name for path in found] == [path.name for path in expected]
    assert [a.name for a, b in zip(found, expected, strict=True) if a.read_bytes() != b.read_bytes()] == []
