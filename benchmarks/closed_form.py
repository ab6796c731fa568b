"""All solutions by closed forms, compared with EAIK, ssik, jaik (compiled by Numba) and frankik.

All libraries get the same goals, made beforehand, and every answer is checked by a chain in plain NumPy: position to
1e-4 m, rotation to 1e-3 rad. They take turns on one core; what counts is the ratio within one run, since absolute times
vary with the machine. Completeness is checked against 10,000 starts of the search for each goal.

    python benchmarks/closed_form.py             print the tables and update results.md
    python benchmarks/closed_form.py --quick     fewer goals and rounds
    python benchmarks/closed_form.py --full      200 goals per arm against 10,000 starts each; takes an hour
    python benchmarks/closed_form.py --full --kept FILE   the same in parts: skips arms already in the file
    python benchmarks/closed_form.py --no-write  print only
    python benchmarks/closed_form.py --json      JSON on stdout, messages on stderr
"""

from __future__ import annotations

import gc
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import closed_form_peers as peers
import numpy as np
from closed_form_report import OURS, SECTION, Report, Sizes, section, verdicts
from forward import machine
from ik import cost_of_unreachable, spread_out, stay_on_one_core
from ik_peers import Array, Chain
from results import arguments, publish, say

import linkwork as lw

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import six_joint_arms

STARTS = 10_000
TURN = 2.0 * math.pi
SAME = 1e-4  # largest difference of equal poses [rad]


def table(name: str) -> lw.Linkage:
    """Return an arm of the tests' table, with joint ranges of one turn."""
    whole = (-math.pi, math.pi)
    rows = [(0.0, d, a, math.radians(alpha), "R", whole) for d, a, alpha in six_joint_arms.ARMS[name]]
    return lw.from_dh(rows, name=name)


ARMS: dict[str, tuple[Callable[[], lw.Linkage], str]] = {  # and the name of ssik's arm
    "UR5": (lw.models.ur5, "ur5_ik"),
    "Puma 560": (lambda: table("Puma 560"), "puma560_ik"),
    "KUKA KR6 R900": (lambda: table("KUKA KR6 R900"), "kr6_r900_ik"),
    "Jaco 2": (lambda: table("Jaco 2"), "jaco2_ik"),
}


# One goal


def mean_times(contenders: Sequence[peers.Lister], goals: Sequence[Sequence[Any]], rounds: int) -> list[float]:
    """Return the mean CPU time per call [us] of each library for its goals, the best of several rounds."""
    best = [math.inf] * len(contenders)
    gc.collect()
    gc.disable()
    for _ in spread_out(5 * rounds):  # a round takes milliseconds
        for k, (contender, own) in enumerate(zip(contenders, goals, strict=True)):
            call = contender.call
            begin = time.process_time()
            for goal in own:
                call(goal)
            best[k] = min(best[k], (time.process_time() - begin) / len(own) * 1e6)
    gc.enable()
    return best


def distinct(poses: Array) -> Array:
    """Return poses (k, n) of angles without duplicates modulo whole turns."""
    kept: list[Array] = []
    for pose in poses:
        if not any(np.abs((pose - other + math.pi) % TURN - math.pi).max() < SAME for other in kept):
            kept.append(pose)
    return np.array(kept).reshape(-1, poses.shape[1])


def turned_inside(chain: Chain, poses: Array) -> Array:
    """Return poses moved by whole turns into the limits, without those that cannot be."""
    low, high = chain.arm.lower, chain.arm.upper
    turned = low + (poses - low) % TURN
    return np.asarray(turned[(turned <= high).all(axis=1)])


def verified(chain: Chain, poses: Array, target: Array) -> Array:
    """Return the distinct poses that reach a target within limits, modulo whole turns."""
    inside = turned_inside(chain, poses)
    good = chain.verified(inside, np.tile(target, (len(inside), 1, 1))) if len(inside) else np.zeros(0, bool)
    return distinct(inside[good])


def all_of_one(name: str, sizes: Sizes, report: Report) -> dict[str, dict[str, float]]:
    """Time all solutions of single goals, and count the verified solutions."""
    make, own = ARMS[name]
    chain = Chain(make(), "tip")
    ik, targets = lw.prepare(chain.arm, "tip"), chain.goals(2, sizes.singles)
    contenders = [peers.Lister(OURS, lw.__version__, ik.all, same, lambda found: np.asarray(found.q))]
    builders = [lambda: peers.eaik(chain), *([lambda: peers.jaik(chain, "ur5")[0]] if name == "UR5" else [])]
    contenders += [one for one in (attempt(build, report) for build in builders) if one is not None]
    goals = [[one.adapt(target) for target in targets] for one in contenders]
    counts = np.array([held(chain, one, own_goals, targets) for one, own_goals in zip(contenders, goals, strict=True)])
    each, shares = counts.mean(axis=1).tolist(), (counts.sum(axis=1) / counts.max(axis=0).sum()).tolist()
    shipped = attempt(lambda: peers.ssik(own), report)
    if shipped is not None:
        lister, forward, limits = shipped
        contenders.append(lister)
        low, high = limits.clip(-math.pi, math.pi).T
        poses = np.random.default_rng(2).uniform(low, high, (sizes.singles // 10, len(limits)))
        goals.append([forward(q) for q in poses])
        each, shares = [*each, math.nan], [*shares, math.nan]
    times = mean_times(contenders, goals, sizes.rounds)
    report.versions |= {one.name.split(",")[0]: one.version for one in contenders}
    rows = zip(contenders, times, each, shares, strict=True)
    return {one.name: {"mean": mean, "each": many, "found": share} for one, mean, many, share in rows}


def held(chain: Chain, one: peers.Lister, goals: Sequence[Any], targets: Array) -> list[int]:
    """Return the number of distinct verified answers of a library for each target."""
    return [
        len(verified(chain, one.poses(one.call(goal)), target)) for goal, target in zip(goals, targets, strict=True)
    ]


def same(target: Array) -> Array:
    """Return a target unchanged."""
    return target


def attempt(build: Callable[[], Any], report: Report) -> Any:
    """Return what was built, or None with the reason added to the report."""
    try:
        return build()
    except (ImportError, LookupError) as error:
        line = f"{error}"
        report.missing += [] if line in report.missing else [line]
        return None


def one_of_one(arm: lw.Linkage, sizes: Sizes, report: Report) -> dict[str, dict[str, float]]:
    """Time one solution of single goals."""
    chain = Chain(arm, "tip")
    ik, targets = lw.prepare(arm, "tip"), chain.goals(2, sizes.singles)
    contenders = [peers.Lister("linkwork, `ik(target)`", lw.__version__, ik, same, lambda found: found.q[None])]
    if arm.nq == 7:
        contenders += attempt(lambda: peers.frankik(chain), report) or []
    goals = [[one.adapt(target) for target in targets] for one in contenders]
    times = mean_times(contenders, goals, sizes.rounds)
    report.versions |= {one.name.split(",")[0]: one.version for one in contenders}
    return {
        one.name: {"mean": mean, "verified": float(np.mean(held(chain, one, own_goals, targets)))}
        for one, own_goals, mean in zip(contenders, goals, times, strict=True)
    }


# Batches


def rate(solve: Callable[[], Any], count: int, rounds: int) -> float:
    """Return goals per second of CPU time, the best of several rounds after one that may compile."""
    solve()
    times = []
    for _ in spread_out(3 * rounds):
        begin = time.process_time()
        solve()
        times.append(time.process_time() - begin)
    return count / min(times)


def all_of_many(name: str, sizes: Sizes, report: Report) -> dict[str, dict[str, float]]:
    """Measure goals per second on one core, with all solutions of each."""
    chain = Chain(ARMS[name][0](), "tip")
    count, most = (sizes.goals // 20, 16) if name == "Jaco 2" else (sizes.goals, 8)
    targets, some = chain.goals(3, count), min(count, 2000)

    def solve() -> lw.SolutionsBatch:
        return lw.solve_all_batch(chain.arm, "tip", targets, most=most)

    found = solve()
    rows = zip(found.q[:some], found.mask[:some], targets[:some], strict=True)
    good = sum(len(verified(chain, q[mask], target)) for q, mask, target in rows)
    proven = float(found.complete.mean())
    result = {OURS: {"rate": rate(solve, count, sizes.rounds), "each": good / some, "proven": proven}}
    theirs = attempt(lambda: peers.jaik(chain, "ur5"), report) if name == "UR5" else None
    if theirs is not None:
        lister, many = theirs
        adapted = lister.adapt(targets)
        result["jaik, a loop in Numba"] = {"rate": rate(lambda: many(adapted), count, sizes.rounds)}
    return result


def nearest_of_many(sizes: Sizes) -> dict[str, dict[str, float]]:
    """Measure Panda goals per second on one core: the solution nearest to a start."""
    chain = Chain(lw.models.panda(), "tip")
    targets, start = chain.goals(3, sizes.goals), chain.arm.stored_pose("ready")

    def solve() -> lw.Batch:
        return lw.solve_batch(chain.arm, "tip", targets, start=start, threads=1, progress=False)

    good = float(chain.verified(solve().q, targets).mean())
    return {"linkwork, from a start": {"rate": rate(solve, sizes.goals, sizes.rounds), "each": good}}


# Completeness


def complete(name: str, count: int) -> dict[str, int]:
    """Count solutions that 10,000 starts find and the closed form does not, and vice versa."""
    arm, row = (
        six_joint_arms.linkage(name),
        {"goals": 0, "solutions": 0, "missing": 0, "wrong": 0, "twice": 0, "new": 0},
    )
    rng = np.random.default_rng(11)
    targets = six_joint_arms.forward(name, rng.uniform(-math.pi, math.pi, (count - count // 4, 6)))
    targets = np.concatenate([targets, six_joint_arms.somewhere(name, count // 4)])
    for target in targets:
        goal = lw.Reach("tip", pose=target)
        ours, brute = lw.solve_all(arm, goal), lw.solve_all(arm, goal, starts=STARTS)
        reached = six_joint_arms.forward(name, ours.q) if len(ours) else np.zeros((0, 4, 4))
        row["goals"] += 1
        row["solutions"] += len(ours)
        row["wrong"] += int((np.abs(reached - target).max(axis=(1, 2)) > 1e-8).sum()) if len(ours) else 0
        row["twice"] += len(ours) - len(distinct(ours.q))
        row["missing"] += len(distinct(np.concatenate([ours.q, brute.q]))) - len(distinct(ours.q))
        row["new"] += len(distinct(np.concatenate([brute.q, ours.q]))) - len(distinct(brute.q))
    return row


def completed(sizes: Sizes, kept: Path | None) -> dict[str, dict[str, int]]:
    """Count for all arms that are not in a file of earlier counts, and add each to the file."""
    rows: dict[str, dict[str, int]] = (
        json.loads(kept.read_text(encoding="utf-8")) if kept is not None and kept.exists() else {}
    )
    rows = {name: row for name, row in rows.items() if row["goals"] >= sizes.truth}
    for name in six_joint_arms.ARMS:
        if name not in rows:
            say(f"{name}: {sizes.truth} goals against {STARTS:,} starts each ...")
            rows[name] = complete(name, sizes.truth)
            if kept is not None:
                kept.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return {name: rows[name] for name in six_joint_arms.ARMS}


def run(sizes: Sizes, kept: Path | None = None) -> Report:
    one_core = stay_on_one_core()
    report = Report(machine(one_core), {"linkwork": lw.__version__}, sizes)
    for name in ARMS:
        say(f"{name}: all solutions, single goals ...")
        report.every[name] = all_of_one(name, sizes, report)
    say("one solution, single goals ...")
    for name, arm in (("UR5", lw.models.ur5()), ("Panda", lw.models.panda())):
        report.single[name] = one_of_one(arm, sizes, report)
    say("batches ...")
    report.batches = {name: all_of_many(name, sizes, report) for name in ARMS}
    report.batches["Panda, one solution"] = nearest_of_many(sizes)
    for name in ("Panda", "UR5", "KUKA KR6 R900", "Jaco 2"):
        say(f"{name}: goals that cannot be reached ...")
        chain = Chain(lw.models.panda() if name == "Panda" else ARMS[name][0](), "tip")
        report.unreachable[name] = cost_of_unreachable(chain, None, sizes.goals // 5, 3 * sizes.rounds)
    report.complete = completed(sizes, kept)
    report.versions |= {"Python": platform.python_version(), "NumPy": np.__version__}
    return report


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 goals, 300 one by one, 2 rounds, 4 against starts")
    parser.add_argument("--full", action="store_true", help="200 goals of each arm against 10,000 starts")
    parser.add_argument("--kept", type=Path, help="a file of such counts to continue")
    options = parser.parse_args()
    sizes = Sizes(10_000, 300, 2, 4) if options.quick else Sizes()
    if options.full:
        sizes.truth = 200
    report = run(sizes, options.kept)
    found = {**vars(report), "sizes": vars(sizes), "verdicts": list(map(str, verdicts(report)))}
    publish(SECTION, section(report), found, options)


if __name__ == "__main__":
    main()
