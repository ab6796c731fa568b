"""Datasets of goals in many shapes: rows per second from file to file, how the time is spent, and memory.

The same goals of the Panda, solved by closed forms, are stored in one file or a thousand, in row groups of a hundred or
of all rows, as CSV, single precision, matrices, with starts, ids and columns to keep, compressed or not, on disk or in
a store. Every run is a separate process with one worker, warmed up by a small dataset of the same shape. The whole of
`solve_dataset` counts: planning, reading, hashing, solving, writing, flushing to disk, recording. Rates are the best of
several turns in each process and of the rounds. The results are written to their section of results.md.

    python benchmarks/dataset_shapes.py [--rows 1000000] [--rounds 2] [--turns 3] [--only NAME] [--no-write]
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from results import arguments, publish, say
from scipy.spatial.transform import Rotation

import linkwork as lw

ARM = lw.models.panda()
SHARE = 0.5  # least rate of a shape, relative to the best
WARM = 40_000  # rows of the dataset that warms up a process
RUN = """
import json, pathlib, re, shutil, sys, time
import linkwork as lw
goals, warm, out, options = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
if out.startswith("memory:"):
    import fsspec
    store = fsspec.filesystem("memory")
    for name, folder in (("goals", goals), ("warm", warm)):
        store.put(folder, "/" + name, recursive=True)
    goals, warm = "memory://goals", "memory://warm"
arm = lw.models.panda()
lw.solve_batch(arm, "tip", lw.sample_goals(arm, "tip", 100, uniform="box").targets)  # loads kernels of rare cases too
lw.solve_dataset(arm, "tip", warm, out + "-warm", workers=1, **options)
best = None
for turn in range(int(sys.argv[5])):
    began, busy = time.perf_counter(), time.process_time()
    result = lw.solve_dataset(arm, "tip", goals, f"{out}-{turn}", workers=1, **options)
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    if result.answered != result.total:
        sys.exit(f"{result.total - result.answered} goals have no answer")
    if best is None or busy < best[1]:
        best = seconds, busy, result
seconds, busy, result = best
peak = 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
found = {"rows": result.total, "reached": result.reached, "seconds": seconds, "busy": busy}
print(json.dumps(found | {"solving": result.times["solve"], "peak": peak}))
"""  # not ru_maxrss: a new process inherits that of its parent


@dataclass(frozen=True)
class Shape:
    """A layout of goals in files.

    Attributes:
        write: Writes a table of goals to a folder.
        make: Makes the columns of the table from transforms.
        options: Options of `solve_dataset`.
        store: Whether goals and answers are in a store (fsspec's memory) instead of on disk.
    """

    write: Callable[[pa.Table, Path], None]
    make: Callable[[np.ndarray], pa.Table] = field(default=lambda tips: pa.table(_placed(tips) | _turned(tips)))
    options: dict[str, Any] = field(default_factory=dict)
    store: bool = False


def _placed(tips: np.ndarray) -> dict[str, np.ndarray]:
    return {name: tips[:, k, 3] for k, name in enumerate("xyz")}


def _turned(tips: np.ndarray) -> dict[str, np.ndarray]:
    turns = Rotation.from_matrix(tips[:, :3, :3]).as_quat(scalar_first=True)
    return {name: turns[:, k] for k, name in enumerate(("qw", "qx", "qy", "qz"))}


def _as_matrices(tips: np.ndarray) -> pa.Table:
    named = {f"r{i + 1}{j + 1}": tips[:, i, j] for i in range(3) for j in range(3)}
    return pa.table(_placed(tips) | named)


def _single(tips: np.ndarray) -> pa.Table:
    return pa.table({name: values.astype(np.float32) for name, values in (_placed(tips) | _turned(tips)).items()})


def _with_more(tips: np.ndarray) -> pa.Table:
    """Return goals with text ids, arbitrary starts, and two columns to keep."""
    starts = ARM.random_pose(1, len(tips))
    more: dict[str, Any] = {f"start.{name}": starts[:, k] for k, name in enumerate(ARM.coordinates)}
    more |= {"id": [f"goal-{k:09d}" for k in range(len(tips))], "weight": np.arange(len(tips)) * 0.5}
    return pa.table(_placed(tips) | _turned(tips) | more | {"label": [f"kind {k % 7}" for k in range(len(tips))]})


def _grouped(rows: int | None = None, compression: str = "snappy") -> Callable[[pa.Table, Path], None]:
    def write(table: pa.Table, folder: Path) -> None:
        pq.write_table(table, folder / "a.parquet", row_group_size=rows or len(table), compression=compression)

    return write


def _many_files(table: pa.Table, folder: Path) -> None:
    for at in range(0, len(table), 1000):
        pq.write_table(table.slice(at, 1000), folder / f"{at // 1000:06d}.parquet")


def _hive(table: pa.Table, folder: Path) -> None:
    rows = max(len(table) // 50, 1)
    for at in range(0, len(table), rows):
        part = folder / f"robot=panda/day={at // rows}" / "a.parquet"
        part.parent.mkdir(parents=True)
        pq.write_table(table.slice(at, rows), part)


def _csv(table: pa.Table, folder: Path) -> None:
    pyarrow.csv.write_csv(table, folder / "a.csv")


SHAPES = {
    "one file, row groups of 250,000": Shape(_grouped(250_000)),
    "one row group, blocks of 20,000": Shape(_grouped(), options={"block_rows": 20_000}),
    "row groups of 100 rows": Shape(_grouped(100)),
    "files of 1,000 rows": Shape(_many_files),
    "hive partitions, 50 of them": Shape(_hive),
    "CSV": Shape(_csv),
    "float32 columns": Shape(_grouped(250_000), _single),
    "rotation matrices": Shape(_grouped(250_000), _as_matrices),
    "starts, text ids, kept columns": Shape(_grouped(250_000), _with_more, {"keep": ["weight", "label"]}),
    "gzip": Shape(_grouped(250_000, "gzip")),
    "zstd": Shape(_grouped(250_000, "zstd")),
    "not compressed": Shape(_grouped(250_000, "none")),
    "positions alone": Shape(_grouped(250_000), lambda tips: pa.table(_placed(tips))),
    "a store (`memory://`)": Shape(_grouped(250_000), store=True),
}
OUTPUTS = {
    "answers in float32": {"store": "float32"},
    "answers not compressed": {"compression": "none"},
    "answers in gzip": {"compression": "gzip"},
}
SHAPES |= {name: Shape(_grouped(250_000), options=options) for name, options in OUTPUTS.items()}


def measure(name: str, rows: int, turns: int, folder: Path) -> dict[str, Any]:
    """Write goals in a shape and solve them several times in a separate process."""
    shape = SHAPES[name]
    for part, count in (("goals", rows), ("warm", WARM)):
        shutil.rmtree(folder / part, ignore_errors=True)
        (folder / part).mkdir()
        shape.write(shape.make(ARM.forward(ARM.random_pose(0, count), frame="tip")), folder / part)
    for made in folder.glob("out-*"):
        shutil.rmtree(made)
    out = "memory://out" if shape.store else str(folder / "out")
    words = [str(folder / "goals"), str(folder / "warm"), out, json.dumps(shape.options), str(turns)]
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words], stdout=subprocess.PIPE, text=True, check=True, encoding="utf-8"
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found | {"shape": name, "rate": found["rows"] / found["busy"], "load": os.getloadavg()[0]}


def measure_box(count: int = 100_000) -> str:
    """Return a sentence on goals sampled from a box around the arm, most of them out of reach."""
    targets = lw.sample_goals(ARM, "tip", count, uniform="box").targets
    rates = {}
    for closest in ("quick", False):
        lw.solve_batch(ARM, "tip", targets[:2000], threads=1, closest=closest)  # loads kernels
        began = time.process_time()
        answers = lw.solve_batch(ARM, "tip", targets, threads=1, closest=closest)
        rates[closest] = count / (time.process_time() - began)
    missed = 1.0 - float(answers.success.mean())
    return (
        f"Goals sampled evenly from a box around the arm, {missed:.0%} out of reach, in memory on one core: "
        f"{rates['quick']:,.0f} per second of CPU time with closest poses for missed goals, {rates[False]:,.0f} "
        f"without (`closest=False`, `--closest none`)."
    )


def report(found: list[dict[str, Any]], box: str) -> str:
    """Return the section: a row for each shape."""
    inputs = [one for one in found if one["shape"] not in OUTPUTS]
    best = max((one["rate"] for one in inputs), default=1.0)
    slow = [one["shape"] for one in inputs if one["rate"] < SHARE * best]
    machine, loads = platform.machine(), [one["load"] for one in found]
    lines = [
        "## Shapes of datasets",
        "",
        f"{date.today():%B %Y}, {machine}, Python {platform.python_version()}, pyarrow {version('pyarrow')}.",
        f"Panda, {max(one['rows'] for one in found):,} goals, one worker, closed forms, from files to files: planned,",
        "read, hashed, solved, written and flushed. Rates are goals per second of CPU time, since the machine was",
        f"shared (load {min(loads):.0f} to {max(loads):.0f} on {os.cpu_count()} cores). *Solving* is its share of the",
        "time; *memory* is the peak of the whole process (with `memory://` including the files). The last rows are",
        "other output formats.",
        "",
        "| shape | goals per second | of the best | solving | other us per goal | memory, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for one in found:
        share = min(one["solving"] / one["seconds"], 1.0)
        lines.append(
            f"| {one['shape']} | {one['rate']:,.0f} | {one['rate'] / best:.2f} | {share:.0%} | "
            f"{1e6 * (1.0 - share) / one['rate']:.2f} | {one['peak'] / 1e6:,.0f} |"
        )
    verdict = (
        f"below half of the best: {', '.join(slow)}" if slow else "met: no shape of input is below half of the best"
    )
    return "\n".join([*lines, "", f"- {verdict}", "", box])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3, help="runs in each process; the best counts")
    parser.add_argument("--only", choices=list(SHAPES), action="append", help="one shape; may be repeated")
    given = parser.parse_args()
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(given.rounds):
            for shape in given.only or SHAPES:
                one = measure(shape, given.rows, given.turns, Path(name))
                say(str(one))
                if shape not in best or one["rate"] > best[shape]["rate"]:
                    best[shape] = one
    publish("dataset-shapes", report(list(best.values()), measure_box()), {"shapes": list(best.values())}, given)


if __name__ == "__main__":
    main()
