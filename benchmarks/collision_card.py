"""Collision-free solutions on an NVIDIA GPU: goals near those of MotionBenchMaker's problems.

A batch is for one world. For every tenth problem, collision-free poses near its own give a million goals; targets and
answers stay on the GPU. Some answers of each batch are checked on the CPU: goals, limits and clearances. Then every
problem is solved alone, in its own world.

    python benchmarks/collision_card.py                print the tables and update results.md
    python benchmarks/collision_card.py --no-write     print only
    python benchmarks/collision_card.py --home PATH    folder of the problems
"""

from __future__ import annotations

import sys
import time
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
from closed_form_card import _card as card, best, there, waiting
from results import arguments, publish

import linkwork as lw
from linkwork.kernels.devices import to_host

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from free_problems import SCENES, problems, world_of

HOME = Path(__file__).parents[2] / "shared" / "data" / "collision"
SECTION, SEED, CHECKED = "collision_card", 7, 5_000
COUNT, NEAR = 1 << 20, 20_000  # goals in a batch, and poses they are made from
SPREAD = 0.05  # distance of poses from the problem's own [rad]
EVERY = 10  # one problem in this many is used
WANTED = 20e6


def batches(scene: str, home: Path) -> tuple[float, float, float, float, float]:
    """Return free answers per second over all batches and in the slowest, the share of goals solved, and the checks.

    The checks are the least clearance and the largest error of the checked answers.
    """
    arm, every = problems(home, scene)
    frame, rng = SCENES[scene], np.random.default_rng(SEED)
    took, solved, slowest, least, off, asked = 0.0, 0, np.inf, np.inf, 0.0, 0
    for problem in every[::EVERY]:
        world = world_of(problem)
        poses = np.clip(arm.pose(problem["goal"]) + rng.normal(0.0, SPREAD, (NEAR, arm.nq)), arm.lower, arm.upper)
        poses = poses[~lw.collides(arm, poses, world)]
        if not len(poses):
            continue
        targets = arm.forward(np.resize(poses, (COUNT, arm.nq)), frame=frame)
        aims, avoid = there(targets), lw.Avoid(world, margin=0.0)
        seconds = best(waiting(partial(lw.solve_batch, arm, frame, aims, avoid=avoid, device="cuda")), 5)
        found = lw.solve_batch(arm, frame, aims, avoid=avoid, device="cuda")
        good = to_host(found.success)
        took, solved, asked = took + seconds, solved + int(good.sum()), asked + COUNT
        slowest = min(slowest, good.sum() / seconds)
        rows = np.flatnonzero(good)[:CHECKED]
        q = to_host(found.q)[rows]
        assert ((q >= arm.lower) & (q <= arm.upper)).all()
        least = min(least, float(lw.clearance(arm, q, world).distance.min()))
        away = arm.forward(q, frame=frame) - targets[rows]
        off = max(off, float(np.linalg.norm(away[:, :3, 3], axis=1).max()))
    return solved / took, slowest, solved / asked, least, off


def one_by_one(scene: str, home: Path) -> tuple[int, int, float]:
    """Return the number of problems with a collision-free goal, the number solved, and the mean time of each [s]."""
    arm, every = problems(home, scene)
    frame, asked, solved, took = SCENES[scene], 0, 0, 0.0
    for problem in every:
        world, q = world_of(problem), arm.pose(problem["goal"])
        if lw.collides(arm, q, world):
            continue
        aims, avoid = there(np.asarray(arm.forward(q, frame=frame))[None]), lw.Avoid(world, margin=0.0)
        lw.solve_batch(arm, frame, aims, avoid=avoid, device="cuda")
        begin = time.perf_counter()
        found = lw.solve_batch(arm, frame, aims, avoid=avoid, device="cuda").on_host()
        took, asked = took + time.perf_counter() - begin, asked + 1
        solved += bool(found.success[0]) and float(lw.clearance(arm, found.q[0], world).distance) >= 0.0
    return asked, solved, took / max(asked, 1)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--home", type=Path, default=HOME)
    options = parser.parse_args()
    lines = ["## Collision-free solutions on a GPU", ""]
    lines += [f"{date.today()}, {card()}, linkwork {lw.__version__}. Made by `python benchmarks/collision_card.py`."]
    lines += [
        f"Batches of {COUNT:,} goals, each in one world, arrays on the GPU; margin 0. Then each problem alone.",
        "",
    ]
    lines += ["| | million free answers per second | slowest batch | goals solved | problems solved | us per problem |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    notes, data = [], {}
    for scene in SCENES:
        rate, slowest, share, least, off = batches(scene, options.home)
        asked, solved, mean = one_by_one(scene, options.home)
        row = f"| {scene} | {rate / 1e6:.0f} | {slowest / 1e6:.0f} | {share:.4%} | {solved} of {asked} | "
        row += f"{mean * 1e6:.0f} |"
        lines.append(row)
        notes.append(
            f"- {scene}: least clearance {least:.1e} m, largest error {off:.1e} m, among {CHECKED:,} in each batch"
        )
        verdict = "met" if rate >= WANTED else "MISSED"
        notes.append(f"- {verdict}: 20 million free answers per second; {rate / 1e6:.0f}")
        data[scene] = {"rate": rate, "slowest": slowest, "share": share, "solved": solved, "asked": asked, "mean": mean}
        print(row, flush=True)
    publish(SECTION, "\n".join([*lines, "", *notes]), data, options)


if __name__ == "__main__":
    main()
