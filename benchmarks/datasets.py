"""Datasets of goals: one and two workers, with threads and with Ray, and the memory that ten million goals take.

The goals are random poses of the Panda. Every run is a separate process. The rate is that of the blocks after each
worker's first, so that compilation and the start of Ray do not count; the time of the whole run is also shown. Answers
of all runs are compared. The results are written to their section of results.md.

    python benchmarks/datasets.py [--goals 1000000] [--most 10000000] [--blocks 16] [--rounds 2] [--no-write]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from results import RESULTS, write
from scipy.spatial.transform import Rotation

import linkwork as lw

SECTION = "datasets"
AT_ONCE = 250_000
RATIO, MEMORY = 1.7, 1e9
RUN = """
import json, pathlib, re, sys, time
import linkwork as lw
goals, out, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
began, told = time.perf_counter(), []
def tell(result):
    told.append((time.perf_counter(), result.answered))
result = lw.solve_dataset(lw.models.panda(), "tip", goals, out, progress=tell, **options)
at, rows = told[options["workers"] - 1]
peak = 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
measured = {"seconds": told[-1][0] - began, "rate": (result.answered - rows) / (told[-1][0] - at), "peak": peak}
print(json.dumps(measured | {"reached": result.reached, "rows": result.total, "blocks": len(told)}))
"""  # not ru_maxrss: a new process inherits that of its parent


def make_goals(path: Path, count: int, group: int) -> None:
    arm, writer = lw.models.panda(), None
    for first in range(0, count, AT_ONCE):
        tips = arm.forward(arm.random_pose(first, min(AT_ONCE, count - first)), frame="tip")
        turns = Rotation.from_matrix(tips[:, :3, :3]).as_quat(scalar_first=True)
        columns = {name: tips[:, k, 3] for k, name in enumerate("xyz")}
        columns |= {name: turns[:, k] for k, name in enumerate(("qw", "qx", "qy", "qz"))}
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=group)
    if writer is not None:
        writer.close()


def measure(goals: Path, out: Path, **options: Any) -> dict[str, Any]:
    shutil.rmtree(out, ignore_errors=True)
    words = [sys.executable, "-W", "ignore", "-c", RUN, str(goals), str(out), json.dumps(options)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, encoding="utf-8")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    digest = hashlib.sha256()
    for part in sorted(out.glob("part-*.parquet")):
        digest.update(part.read_bytes())
    return result | {"digest": digest.hexdigest(), "load": os.getloadavg()[0]}


def scaling(folder: Path, count: int, blocks: int, rounds: int) -> list[dict[str, Any]]:
    rows = -(-count // blocks)
    goals = folder / "goals.parquet"
    make_goals(goals, count, rows)
    runs = []
    for _ in range(rounds):
        for engine in ("local", "ray"):
            for workers in (1, 2):
                given = {"engine": engine, "workers": workers}
                runs.append(given | measure(goals, folder / "out", block_rows=rows, **given))
                print(runs[-1], file=sys.stderr)
    if len({run["digest"] for run in runs}) != 1:
        raise SystemExit("the runs disagree: their parts differ")
    return runs


def _verdict(ratio: float, load: float) -> str:
    """Return whether two workers are fast enough, if the cores were free."""
    if load > (os.cpu_count() or 1):
        return "not conclusive: the machine was busy"
    return f"{'at least' if ratio >= RATIO else 'below'} {RATIO}"


def report(runs: list[dict[str, Any]], large: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numba", "pyarrow", "ray"))
    versions = f"Python {platform.python_version()}, {packages}"
    lines = [
        "## Datasets of goals",
        "",
        f"{date.today():%B %Y}; {platform.machine()}, {os.cpu_count()} cores, {versions}.",
        "Panda, full pose, float64, from Parquet to Parquet: read, solved, written and flushed to disk. The rate",
        "is that of the blocks after each worker's first, the best of the rounds. *Load* is that of the machine right",
        "after the run: above the number of cores, other processes were running, and no second core was free.",
        "",
        f"{runs[0]['rows']:,} goals in {runs[0]['blocks']} blocks; {runs[0]['reached']:,} reached; all runs gave",
        "the same files.",
        "",
        "| engine | workers | goals per second | times one worker | whole run, s | load |",
        "|---|---|---|---|---|---|",
    ]
    for engine in ("local", "ray"):
        best = {
            workers: max((r for r in runs if (r["engine"], r["workers"]) == (engine, workers)), key=lambda r: r["rate"])
            for workers in (1, 2)
        }
        for workers, run in best.items():
            ratio = run["rate"] / best[1]["rate"]
            verdict = "" if workers == 1 else f" ({_verdict(ratio, max(one['load'] for one in best.values()))})"
            lines.append(
                f"| `{engine}` | {workers} | {run['rate']:,.0f} | {ratio:.2f}{verdict} | {run['seconds']:.1f} | "
                f"{run['load']:.1f} |"
            )
    verdict = "under" if large["peak"] < MEMORY else "NOT under"
    lines += [
        "",
        f"{large['rows']:,} goals with `local` and two workers: {large['peak'] / 1e6:,.0f} MB of memory at most,",
        f"{verdict} 1 GB; {large['reached']:,} reached, {large['seconds']:.0f} s, {large['rate']:,.0f} goals",
        f"per second at load {large['load']:.1f}.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", type=int, default=1_000_000)
    parser.add_argument("--most", type=int, default=10_000_000)
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--no-write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = scaling(folder, given.goals, given.blocks, given.rounds)
        make_goals(folder / "many.parquet", given.most, AT_ONCE)
        large = measure(folder / "many.parquet", folder / "out", workers=2)
        print(large, file=sys.stderr)
    text = report(runs, large)
    print(text)
    if not given.no_write:
        write(SECTION, text)
        print(f"written to {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    main()
