"""Inverse kinematics of a whole body, compared with mink, pink and PlaCo: Talos, five pose targets, a free base.

All get the same goals, made from random poses beforehand, and every answer is checked by Pinocchio: each position to
1 mm, each rotation to 0.01 rad, limits kept. They take turns on one core; what counts is the ratio within one run,
since absolute times vary with the machine.

    python benchmarks/whole_body.py                  print the tables and update results.md
    python benchmarks/whole_body.py --quick          fewer goals
    python benchmarks/whole_body.py --no-write       print only
    python benchmarks/whole_body.py --json           JSON on stdout, messages on stderr
"""

from __future__ import annotations

import gc
import math
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from ik_report import Verdict
from results import arguments, publish, say
from whole_body_peers import FRAMES, POSITION, ROTATION, SHIFT, TILT, Array, Body, Peer, linkwork, mink, pink, placo

import linkwork as lw

SECTION = "whole-body"
OURS, PLAIN = "linkwork, `ik(goals, start=q)`", "linkwork, `lw.solve(body, goals, start=q)`"
STEPS = 100  # steps of a peer from one start
AGAIN, SHORT = 30, 40  # starts of a peer with restarts, and its steps from each
HALF, WHOLE = "half the range, from zero", "the whole range, from zero"
CASES = {  # start, share of the range
    HALF: ("zero", 0.5),
    WHOLE: ("zero", 1.0),
    "half the range, from the middle": ("middle", 0.5),
    "the whole range, from the middle": ("middle", 1.0),
}
ALIKE = 0.01  # success rates count as equal within this difference


@dataclass(frozen=True)
class Contender:
    """A way to solve for five targets, converted by `ready`; `pose` converts the result to Pinocchio's order."""

    name: str
    solve: Callable[[Any], Any]
    pose: Callable[[Any], Array]
    ready: Callable[[Array], Any] = np.copy


@dataclass
class Report:
    """Results of a run: success, mean, median and 99th percentile [us] for every case and library."""

    machine: dict[str, Any]
    versions: dict[str, str]
    goals: int
    rounds: int
    cases: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def ours(body: Body, start: Array) -> list[Contender]:
    """Return the prepared solver and the plain call."""
    own, begin, back = linkwork(body)
    q = begin(start)
    near: dict[str, Any] = {"tolerance": POSITION, "rotation_tolerance": ROTATION}

    def goals(targets: Array) -> list[lw.Reach]:
        return [lw.Reach(frame, pose=target) for frame, target in zip(FRAMES, targets, strict=True)]

    ik = lw.prepare(own, goals(body.forward(start)), **near)
    return [
        Contender(OURS, lambda wanted: ik(wanted, start=q), lambda found: back(found.q), goals),
        Contender(PLAIN, lambda wanted: lw.solve(own, wanted, start=q, **near), lambda found: back(found.q), goals),
    ]


def once(peer: Peer, start: Array) -> Contender:
    """Return a peer with one start."""
    q = peer.begin(start)
    return Contender(peer.name, lambda targets: peer.attempt(targets, q, STEPS)[0].copy(), peer.pose)


def again(peer: Peer, body: Body, start: Array) -> Contender:
    """Return a peer that also starts from random poses, with a few steps from each, until it succeeds."""
    rng = np.random.default_rng(1)
    starts = [peer.begin(pose) for pose in [start, *(body.random_pose(rng, start, 1.0) for _ in range(AGAIN - 1))]]

    def solve(targets: Array) -> Any:
        for q in starts:
            found, there = peer.attempt(targets, q, SHORT)
            if there:
                break
        return found.copy()

    return Contender(f"{peer.name}, {AGAIN} starts", solve, peer.pose)


def measured(contenders: Sequence[Contender], body: Body, goals: Sequence[Array], rounds: int) -> dict[str, Any]:
    """Return success and CPU times; for every goal the best round counts, for all libraries."""
    clock = time.process_time_ns
    times = {one.name: np.full((rounds, len(goals)), np.inf) for one in contenders}
    good = {one.name: np.zeros(len(goals), np.bool_) for one in contenders}
    for one in contenders:
        one.solve(one.ready(goals[0]))  # may compile
    gc.collect()
    gc.disable()
    for turn in range(rounds):
        for one in contenders:
            wanted = [one.ready(targets) for targets in goals]
            for k, goal in enumerate(wanted):
                begin = clock()
                answer = one.solve(goal)
                times[one.name][turn, k] = clock() - begin
                if turn == 0:
                    good[one.name][k] = body.verified(one.pose(answer), goals[k])
    gc.enable()
    found = {}
    for one in contenders:
        best = times[one.name].min(axis=0) / 1e3
        found[one.name] = {
            "success": float(good[one.name].mean()),
            "mean": float(best.mean()),
            "median": float(np.median(best)),
            "p99": float(np.percentile(best, 99)),
        }
    return found


def run(count: int, rounds: int) -> Report:
    report = Report(machine(stay_on_one_core()), {"linkwork": lw.__version__}, count, rounds)
    with tempfile.TemporaryDirectory() as folder:
        body = Body(Path(folder))
        report.versions["Pinocchio"] = body.pin.__version__
        peers = []
        for build in (mink, pink, placo):
            try:
                peers.append(build(body))
                report.versions[peers[-1].name] = peers[-1].version
            except ImportError as error:
                report.missing.append(
                    f"{build.__name__} is not installed ({error}); install it with: pip install 'linkwork[bench]'"
                )
        for seed, (name, (from_where, share)) in enumerate(CASES.items()):
            say(f"{name} ...")
            start, rng = getattr(body, from_where), np.random.default_rng(seed)
            goals = [body.forward(body.random_pose(rng, start, share)) for _ in range(count)]
            theirs = [*(once(peer, start) for peer in peers), *(again(peer, body, start) for peer in peers)]
            contenders = [*ours(body, start), *theirs]
            report.cases[name] = measured(contenders, body, goals, rounds)
    report.versions |= {"Python": platform.python_version(), "NumPy": np.__version__}
    return report


# The report


def rival(rows: dict[str, dict[str, float]]) -> tuple[str, float]:
    """Return the peer of equal success with the smallest mean, and its ratio to our mean."""
    equal = [
        (row["mean"] / rows[OURS]["mean"], peer)
        for peer, row in rows.items()
        if peer not in (OURS, PLAIN) and row["success"] >= rows[OURS]["success"] - ALIKE
    ]
    ratio, peer = min(equal, default=(math.nan, "any peer (there is none)"))
    return peer, ratio


def verdicts(report: Report) -> list[Verdict]:
    lines = []
    for case, least, most in ((HALF, 0.995, 200.0), (WHOLE, 0.99, 3000.0)):
        rows = report.cases[case]
        row, (peer, ratio) = rows[OURS], rival(rows)
        lines += [
            Verdict(f"{case}: at least {least:.1%} verified", f"{row['success']:.2%}", row["success"] >= least),
            Verdict(f"{case}: mean under {most:.0f} us", f"{row['mean']:.1f}", row["mean"] < most),
            Verdict(
                f"{case}: at least 10 times as fast as the fastest peer of equal success, {peer}",
                f"{ratio:.1f}",
                None if math.isnan(ratio) else ratio >= 10.0,
            ),
        ]
    return lines


def tables(report: Report) -> list[str]:
    lines = []
    for case, rows in report.cases.items():
        first = next(iter(rows.values()))
        lines += [
            "",
            f"| {case} | verified | mean [us] | median | 99th percentile | mean, times ours | mean per verified |",
            "|---" + "|---:" * 6 + "|",
        ]
        for who, row in rows.items():
            numbers = " | ".join(f"{row[what]:,.0f}" for what in ("mean", "median", "p99"))
            each = f"{row['mean'] / row['success']:,.0f}" if row["success"] else "none"
            lines.append(f"| {who} | {row['success']:.1%} | {numbers} | {row['mean'] / first['mean']:.1f} | {each} |")
    return lines[1:]


def section(report: Report) -> str:
    where = report.machine
    versions = ", ".join(f"{name} {release}" for name, release in report.versions.items())
    core = "one core" if where["one_core"] else "single-threaded calls (this system cannot bind to a core)"
    return "\n".join(
        [
            "## A whole body",
            "",
            f"{where['date']}, {where['cpu']}, {where['cores']} cores, {where['simd']}, {where['system']}; {core}.",
            f"{versions}. Made by `python benchmarks/whole_body.py`: goals: {report.goals}, rounds: {report.rounds}.",
            "",
            "Talos of `example-robot-data` with a free base, 36 degrees of freedom; pose targets for both hands, both",
            "soles and the head. The goals come from random poses: every joint anywhere in its range, or halfway",
            f"between there and the start; the base moved by up to {SHIFT} m per axis and tilted by up to {TILT} rad.",
            "*Zero* is the pose with all joints straight (within limits), a hard start: knees and elbows are singular",
            "and at their limits. *Middle* is the middle of every range. Every answer is checked by Pinocchio: each",
            "position to 1 mm, each rotation to 0.01 rad, limits kept. The others take full steps with limits as",
            f"bounds, mink and pink with DAQP and their best damping, until they reach the goal or after {STEPS}",
            f"steps; with {AGAIN} starts, {SHORT} steps from each. Times are CPU time;",
            "for each goal, the best round counts.",
            "",
            *tables(report),
            "",
            *map(str, verdicts(report)),
            *(["", *(f"- {line}" for line in report.missing)] if report.missing else []),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--goals", type=int, default=500, help="goals per case (500)")
    parser.add_argument("--rounds", type=int, default=2, help="number of rounds; the best counts (2)")
    parser.add_argument("--quick", action="store_true", help="50 goals, 1 round")
    options = parser.parse_args()
    if options.goals < 10 or options.rounds < 1:
        parser.error("--goals must be at least 10, --rounds at least 1")
    report = run(50, 1) if options.quick else run(options.goals, options.rounds)
    found = {**vars(report), "verdicts": list(map(str, verdicts(report)))}
    publish(SECTION, section(report), found, options)


if __name__ == "__main__":
    main()
