"""A dataset of goals on a GPU, from Parquet to Parquet: rows per second, and how the time is spent.

The goals are random poses of an arm, made on all cores and written as float32. Then `linkwork batch --engine cuda`
solves them in a separate process. The kernels are compiled before, in a run with few goals, and the files of goals may
still be in the page cache. `linkwork batch verify` reads what was written, and the poses of some parts are checked with
forward kinematics: errors, and whether limits are kept.

    python benchmarks/datasets_card.py                      50 million goals of a Panda and of a UR10e
    python benchmarks/datasets_card.py --goals 500000000 --arms panda --folder /data --no-write
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numba import njit
from results import arguments, publish, say

import linkwork as lw
from linkwork.kernels.threads import cores, dealt
from linkwork.scale.stopwatch import KINDS

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import six_joint_arms

SECTION = "datasets_card"
GROUP, GROUPS, CHUNK = 2**20, 4, 2**18  # rows per row group, row groups per file, rows made at once
LOOKED_AT = 40  # parts whose poses are checked
WARM, BEYOND = 2**19, 100  # goals of the warm-up run, which compiles kernels, and how many are out of reach
TURN = ("qw", "qx", "qy", "qz")
ARMS: dict[str, Any] = {"panda": lw.models.panda, "ur10e": lambda: six_joint_arms.linkage("UR10e")}


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def put(tips: Any, out: Any, first: int) -> None:
    """Write positions and quaternions of transforms into an array (7, n), in single precision."""
    for i in range(len(tips)):
        m = tips[i]
        a, b, c = m[0, 0], m[1, 1], m[2, 2]
        if a + b + c > 0.0:
            w, x, y, z = 1.0 + a + b + c, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
        elif a > b and a > c:
            w, x, y, z = m[2, 1] - m[1, 2], 1.0 + a - b - c, m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]
        elif b > c:
            w, x, y, z = m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], 1.0 - a + b - c, m[1, 2] + m[2, 1]
        else:
            w, x, y, z = m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], 1.0 - a - b + c
        size = np.sqrt(w * w + x * x + y * y + z * z)
        row = (m[0, 3], m[1, 3], m[2, 3], w / size, x / size, y / size, z / size)
        for k in range(7):
            out[k, first + i] = row[k]


def make_goals(folder: Path, arm: lw.Linkage, count: int, beyond: int = 0) -> float:
    """Write goals of random poses, some moved out of reach in each row group; return the time it took [s]."""
    folder.mkdir()
    began = time.perf_counter()
    rows = GROUP * GROUPS

    def file(number: int) -> None:
        left, writer = min(rows, count - number * rows), None
        for group in range(-(-left // GROUP)):
            size = min(GROUP, left - group * GROUP)
            columns = np.empty((7, size), np.float32)
            for first in range(0, size, CHUNK):
                seed = ((number * GROUPS) + group) * GROUP + first
                put(arm.forward(arm.random_pose(seed, min(CHUNK, size - first)), frame="tip"), columns, first)
            columns[0, :beyond] += 10.0  # [m]
            table = pa.table(dict(zip((*"xyz", *TURN), columns, strict=True)))
            how: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
            writer = writer or pq.ParquetWriter(folder / f"goals-{number:05d}.parquet", table.schema, **how)
            writer.write_table(table)
        if writer is not None:
            writer.close()

    for _ in dealt(file, range(-(-count // rows)), cores()):
        pass
    return time.perf_counter() - began


def command(*words: object) -> tuple[dict[str, Any], float]:
    """Run a linkwork command; return its output and the time of its process [s]."""
    began = time.perf_counter()
    line = [sys.executable, "-m", "linkwork", "batch", *map(str, words), "--json"]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False, encoding="utf-8")
    if done.returncode:
        raise SystemExit(f"{' '.join(line)} failed with {done.returncode}: {done.stdout[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result, time.perf_counter() - began


def checked(arm: lw.Linkage, goals: Path, out: Path) -> dict[str, float]:
    """Return the errors of the poses of some parts, by forward kinematics in double precision."""
    files = sorted(goals.glob("*.parquet"))
    counts = np.cumsum([0, *(pq.read_metadata(path).num_rows for path in files)])
    parts = sorted(out.glob("part-*.parquet"))
    found = {"rows": 0, "position": 0.0, "rotation": 0.0, "said": 0.0, "beyond limits": 0.0}
    for part in parts[:: max(1, len(parts) // LOOKED_AT)]:
        table = pq.ParquetFile(part).read_row_group(0)
        first, rows = table["id"][0].as_py(), table.num_rows
        k = int(np.searchsorted(counts, first, side="right")) - 1
        asked = pq.ParquetFile(files[k]).read().slice(first - int(counts[k]), rows)
        q = np.stack([table[f"q.{name}"].to_numpy() for name in arm.coordinates], axis=1).astype(np.float64)
        tips = arm.forward(q, frame="tip")
        places = np.stack([asked[name].to_numpy() for name in "xyz"], axis=1)
        turns = np.stack([asked[name].to_numpy() for name in TURN], axis=1).astype(np.float64)
        mine = np.empty((7, rows))
        put(tips, mine, 0)
        reached = table["success"].to_numpy(zero_copy_only=False)
        off = np.linalg.norm(tips[:, :3, 3] - places, axis=1)
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        side = np.minimum(np.linalg.norm(turns - mine[3:].T, axis=1), np.linalg.norm(turns + mine[3:].T, axis=1))
        said = table["position_error"].to_numpy()
        over = np.maximum(q - arm.upper, arm.lower - q).max(axis=1)
        found["rows"] += rows
        for name, value in (
            ("position", off),
            ("rotation", 4.0 * np.arcsin(0.5 * side)),
            ("said", abs(off - said)),
            ("beyond limits", over),
        ):
            found[name] = max(found[name], float(value[reached].max(initial=0.0)))
    return found


def measure(name: str, count: int, folder: Path, options: list[str]) -> dict[str, Any]:
    arm = ARMS[name]()
    model, goals, out = folder / f"{name}.yaml", folder / "goals", folder / "answers"
    lw.save(arm, model)
    words = ["--model", model, "--frame", "tip", "--engine", "cuda", "--store", "float32", *options]
    for rows in (WARM, count):
        for path in (goals, out):
            shutil.rmtree(path, ignore_errors=True)
        made = make_goals(goals, arm, rows, beyond=BEYOND if rows == WARM else 0)  # the first run compiles everything
        say(f"{name}: {rows:,} goals made in {made:.1f} s")
        result, process = command(goals, "-o", out, *words)
        say(f"{name}: {result['rate']:,.0f} per second, process {process:.1f} s, {result['times']}")
    verified, verify = command("verify", out)
    say(f"{name}: verified {verified} in {verify:.1f} s")
    folders = (("in", goals), ("out", out))
    sizes = {what: sum(path.stat().st_size for path in where.glob("*.parquet")) for what, where in folders}
    found = {"arm": name, "made": made, "process": process, "verify": verify, "faults": len(verified["faults"])}
    keys = ("rows", "answered", "counts", "seconds", "rate", "times")
    return found | {key: result[key] for key in keys} | {"sizes": sizes, "checked": checked(arm, goals, out)}


def report(runs: list[dict[str, Any]], options: list[str]) -> str:
    card = subprocess.run(
        ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout.strip()
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba-cuda", "pyarrow", "numpy"))
    lines = [
        "## Datasets on a GPU",
        "",
        f"{date.today():%Y-%m-%d}, {card}, {cores()} cores; linkwork {lw.__version__}, {versions}. Made by",
        f"`python benchmarks/datasets_card.py`: `linkwork batch --engine cuda --store float32 {' '.join(options)}`,",
        "from Parquet to Parquet: read, solved, checked, written and flushed to disk, with digests of all files read",
        "and written. Rows per second of the run, and of the whole process, with its start and the choice of kernels.",
        "",
        "| | goals | reached | rows per second | whole process | in, GB | out, GB | `batch verify`, s |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for run in runs:
        reached, whole = run["counts"].get("reached", 0), run["rows"] / run["process"]
        lines.append(
            f"| {run['arm']} | {run['rows']:,} | {reached:,} | {run['rate']:,.0f} | {whole:,.0f} | "
            f"{run['sizes']['in'] / 1e9:.1f} | {run['sizes']['out'] / 1e9:.1f} | {run['verify']:.1f} |"
        )
    lines += [
        "",
        "Time of the threads:",
        "",
        f"| | {' | '.join(KINDS)} | thread ns per row |",
        f"|---|{'---:|' * len(KINDS)}---:|",
    ]
    for run in runs:
        whole = sum(run["times"].values())
        shares = " | ".join(f"{100.0 * run['times'].get(kind, 0.0) / whole:.0f} %" for kind in KINDS)
        lines.append(f"| {run['arm']} | {shares} | {1e9 * whole / run['rows']:.0f} |")
    lines.append("")
    for run in runs:
        seen = run["checked"]
        lines.append(
            f"- {run['arm']}: {seen['rows']:,} rows checked by forward kinematics; rows marked as reached have errors "
            f"of at most {seen['position']:.1e} m and {seen['rotation']:.1e} rad, and exceed limits by at most "
            f"{seen['beyond limits']:.0e} (stored as float32); faults found by `batch verify`: {run['faults']}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--goals", type=int, nargs="+", default=[50_000_000], help="goals of each arm")
    parser.add_argument("--arms", nargs="+", choices=[*ARMS], default=[*ARMS])
    parser.add_argument("--folder", type=Path, help="folder with enough space; by default that of temporary files")
    parser.add_argument("--compression", default="none")
    options = parser.parse_args()
    more = ["--compression", options.compression]
    numbers = options.goals * len(options.arms) if len(options.goals) == 1 else options.goals
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        say(f"{os.cpu_count()} cores, {shutil.disk_usage(name).free / 1e9:.0f} GB free")
        runs = [measure(arm, count, Path(name), more) for arm, count in zip(options.arms, numbers, strict=True)]
    publish(SECTION, report(runs, more), {"runs": runs}, options)


if __name__ == "__main__":
    main()
