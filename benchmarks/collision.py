"""Collision-free solutions: MotionBenchMaker's problems with Panda and UR5, compared with mink and its collision limit.

A problem is solved if the frame is where the joint values of the goal place it, to 1e-4 m and 1e-3 rad, within limits,
and, according to coal, no sphere of the robot touches an obstacle or another link. Goals that touch something are left
out. All take turns on one core; times are CPU time.

    python benchmarks/collision.py FOLDER            print the tables and update results.md
    python benchmarks/collision.py FOLDER --quick    every tenth problem
    python benchmarks/collision.py FOLDER --no-write print only
"""

from __future__ import annotations

import gc
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from ik_peers import Array
from ik_report import Verdict
from results import arguments, publish, say

import linkwork as lw

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from collision_peers import POSITION, ROTATION, STARTS, STEPS, Mink, free_starts

from free_judge import Judge
from free_problems import SCENES, problems, world_of

SECTION = "collision"
PREPARED, PLAIN, MINK = "linkwork, `ik(target)`", "linkwork, `lw.solve(arm, [reach, avoid])`", "mink"
SHARE = 5  # mink gets one problem in this many
BATCH = 20_000  # targets in a batch
NEAR: dict[str, Any] = {"tolerance": POSITION, "rotation_tolerance": ROTATION}


@dataclass
class Row:
    """Results of one library in one scene: whether each problem was solved, and its time [us]."""

    solved: list[bool] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def told(self) -> dict[str, float]:
        """Return the numbers of solved and of all problems, and mean, median and 99th percentile [us]."""
        times = np.array(self.times)
        figures = {"mean": times.mean(), "median": np.median(times), "p99": np.percentile(times, 99)}
        return {"solved": sum(self.solved), "of": len(self.solved), **{k: float(v) for k, v in figures.items()}}


@dataclass
class Report:
    """Results of a run: rows by scene and library; collision-free answers per second of a batch, by scene."""

    machine: dict[str, Any]
    versions: dict[str, str]
    rows: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    batches: dict[str, float] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def timed(solve: Callable[[], Any], rounds: int) -> tuple[Any, float]:
    """Return an answer and the best CPU time of several rounds [us], after one that is not counted."""
    answer, best = solve() if rounds > 1 else None, np.inf
    for _ in range(rounds):
        begin = time.process_time_ns()
        answer = solve()
        best = min(best, time.process_time_ns() - begin)
    return answer, best / 1e3


def verified(arm: lw.Linkage, judge: Judge, tip: str, q: Array, target: Array) -> bool:
    """Return whether a pose reaches a target within limits and is free of collisions according to coal."""
    found = arm.forward(q, frame=tip)
    turned = np.arccos(np.clip((np.trace(found[:3, :3].T @ target[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))
    there = np.linalg.norm(found[:3, 3] - target[:3, 3]) <= POSITION and turned <= ROTATION
    inside = (arm.lower - 1e-9 <= q).all() and (q <= arm.upper + 1e-9).all()
    return bool(there and inside and judge.distance(q) >= 0.0)


def by_prepared(ik: Any, target: Array) -> Array:
    return np.asarray(ik(target).q)


def by_solve(arm: lw.Linkage, goals: list[Any]) -> Array:
    return np.asarray(lw.solve(arm, goals).q)


def is_free(judge: Judge, q: Array) -> bool:
    return bool(judge.distance(q) >= 0.0)


def measure(folder: Path, scene: str, every: int, rounds: int, report: Report) -> None:
    """Solve the problems of a scene with all libraries and store the results."""
    (arm, given), tip, rows = problems(folder, scene), SCENES[scene], {name: Row() for name in (PREPARED, PLAIN, MINK)}
    report.left_out[scene] = 0
    for number, problem in enumerate(given[::every]):
        judge, goal = Judge(arm, problem), arm.pose(problem["goal"])
        if judge.distance(goal) < 0.0:
            report.left_out[scene] += 1
            continue
        target, avoid = arm.forward(goal, frame=tip), lw.Avoid(world_of(problem), margin=0.0)
        ik, reach = lw.prepare(arm, tip, avoid=avoid, **NEAR), lw.Reach(tip, pose=target)
        ways: dict[str, Callable[[], Any]] = {PREPARED: partial(by_prepared, ik, target)}
        ways[PLAIN] = partial(by_solve, arm, [reach, avoid])
        if not report.missing and number % SHARE == 0:
            urdf = (folder / f"{scene.rpartition('_')[2]}_spherized.urdf").read_text(encoding="utf-8")
            peer = Mink(arm, urdf, problem, tip, judge)
            starts = free_starts(arm, problem, partial(is_free, judge))
            ways[MINK] = partial(peer.solve, target, starts)
        for name, solve in ways.items():
            q, best = timed(solve, 1 if name == MINK else rounds)
            rows[name].times.append(best)
            rows[name].solved.append(verified(arm, judge, tip, q, target))
    report.rows[scene] = {name: row.told() for name, row in rows.items() if row.times}
    report.batches[scene] = batch(arm, tip, lw.Avoid(world_of(given[0]), margin=0.0))


def batch(arm: lw.Linkage, tip: str, avoid: lw.Avoid) -> float:
    """Return collision-free answers per second on one core, for targets of random free poses in one world."""
    poses = arm.random_pose(0, 2 * BATCH)
    targets = arm.forward(poses[~lw.collides(arm, poses, avoid.world)][:BATCH], frame=tip)
    found, best = timed(lambda: lw.solve_batch(arm, tip, targets, avoid=avoid, threads=1, **NEAR), 3)
    free = lw.clearance(arm, found.q, avoid.world).distance >= 0.0
    return float((found.success & free).sum() / best * 1e6)


def run(folder: Path, every: int, rounds: int) -> Report:
    report = Report(machine(stay_on_one_core()), {"linkwork": lw.__version__})
    try:
        report.versions |= {"mink": version("mink"), "coal": version("coal")}
        import mink  # noqa: F401
    except ImportError as error:
        report.missing.append(f"mink is not installed ({error}); install it with: pip install 'linkwork[bench]'")
    gc.disable()
    for scene in SCENES:
        say(f"{scene} ...")
        measure(folder, scene, every, rounds, report)
        gc.collect()
    report.versions |= {"Python": platform.python_version(), "NumPy": np.__version__}
    return report


# The report


def verdicts(report: Report) -> list[Verdict]:
    ours = {scene: rows[PREPARED] for scene, rows in report.rows.items()}
    panda = {scene: row for scene, row in ours.items() if scene.endswith("panda")}
    solved, count = sum(row["solved"] for row in ours.values()), sum(row["of"] for row in ours.values())
    mean, p99 = (max(row[what] for row in panda.values()) for what in ("mean", "p99"))
    least = min(report.batches.values())
    lines = [
        Verdict("every problem solved, and free according to coal", f"{solved:.0f} of {count:.0f}", solved == count),
        Verdict("Panda: mean under 40 us in every scene", f"{mean:.1f} at most", mean < 40.0),
        Verdict("Panda: 99th percentile under 400 us in every scene", f"{p99:.1f} at most", p99 < 400.0),
        Verdict("a batch: at least 50,000 free answers per second on one core", f"{least:,.0f} at least", least >= 5e4),
    ]
    ratios = [rows[MINK]["mean"] / rows[PREPARED]["mean"] for rows in report.rows.values() if MINK in rows]
    if ratios:
        lines.append(
            Verdict("at least 100 times as fast as mink", f"{min(ratios):,.0f} at least", min(ratios) >= 100.0)
        )
    return lines


def tables(report: Report) -> list[str]:
    lines = [
        "| | solved and free | mean [us] | median | 99th percentile | mean, times ours |",
        "|---" + "|---:" * 5 + "|",
    ]
    for scene, rows in report.rows.items():
        for who, row in rows.items():
            numbers = " | ".join(f"{row[what]:,.1f}" for what in ("mean", "median", "p99"))
            ratio = row["mean"] / rows[PREPARED]["mean"]
            lines.append(f"| {scene}: {who} | {row['solved']:.0f} of {row['of']:.0f} | {numbers} | {ratio:,.1f} |")
    lines += ["", "| Batch, one core | free answers per second |", "|---|---:|"]
    return [*lines, *(f"| {scene} | {rate:,.0f} |" for scene, rate in report.batches.items())]


def section(report: Report) -> str:
    where = report.machine
    versions = ", ".join(f"{name} {release}" for name, release in report.versions.items())
    core = "one core" if where["one_core"] else "single-threaded calls (this system cannot bind to a core)"
    out = ", ".join(f"{scene} {count}" for scene, count in report.left_out.items() if count) or "none"
    return "\n".join(
        [
            "## Collision-free solutions",
            "",
            f"{where['date']}, {where['cpu']}, {where['cores']} cores, {where['simd']}, {where['system']}; {core}.",
            f"{versions}. Made by `python benchmarks/collision.py`.",
            "",
            "MotionBenchMaker's problems (Chamzas et al. 2022): Panda (59 spheres) and UR5 among 7 to 12 obstacles.",
            "The target is the position and orientation of the frame in a known pose. A problem is solved if the",
            "frame is within 1e-4 m and 1e-3 rad of it, limits are kept, and coal finds no sphere touching an",
            "obstacle or another link. Goals that",
            f"touch something themselves are left out: {out}. The world is prepared beforehand.",
            "mink has a frame task, joint limits and its collision limit for the same pairs. It gets",
            f"one problem in {SHARE}: {STEPS} steps from the problem's own start, then from up to {STARTS - 1} free",
            "random poses. Times are CPU time, ours the best of several rounds.",
            f"A batch has {BATCH:,} targets of random free poses in the first world of the scene.",
            "",
            *tables(report),
            "",
            *map(str, verdicts(report)),
            *(["", *(f"- {line}" for line in report.missing)] if report.missing else []),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path, help="folder of the problems, one JSON file per scene")
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds; the best counts (5)")
    parser.add_argument("--quick", action="store_true", help="every tenth problem")
    options = parser.parse_args()
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder with problems")
    report = run(options.folder, 10 if options.quick else 1, options.rounds)
    found = {**vars(report), "verdicts": list(map(str, verdicts(report)))}
    publish(SECTION, section(report), found, options)


if __name__ == "__main__":
    main()
