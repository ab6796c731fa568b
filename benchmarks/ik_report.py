"""Report of `ik.py`: tables, and bounds met or missed.

It imports none of the measuring code: a report is plain numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

SECTION = "ik"
OURS, PLAIN = "linkwork, `ik(target)`", "linkwork, `lw.solve(arm, goal)`"
FRAMES = 1000


@dataclass
class Sizes:
    """Amounts to measure: goals in a batch, single goals, rounds."""

    goals: int = 100_000
    singles: int = 2000
    rounds: int = 5


@dataclass
class Verdict:
    """A bound, and whether it is met; None if nothing was measured."""

    text: str
    here: str
    met: bool | None

    def __str__(self) -> str:
        word = {True: "met", False: "MISSED", None: "not measured"}[self.met]
        return f"- {word}: {self.text}{'' if self.met is None else f'; here {self.here}'}"


@dataclass
class Report:
    """Results of a run, by table."""

    machine: dict[str, Any]
    versions: dict[str, str]
    sizes: Sizes
    verified: dict[str, dict[str, Any]] = field(default_factory=dict)
    single: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    tracking: dict[str, dict[str, float]] = field(default_factory=dict)
    batch: dict[str, float] = field(default_factory=dict)
    unreachable: dict[str, dict[str, float]] = field(default_factory=dict)
    processes: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def verdicts(report: Report) -> list[Verdict]:
    """Return the bounds. A bound with two possible readings is listed for both."""
    lines = []
    for name, found in report.verified.items():
        row = found["float64"]
        here = f"{row['verified']:,}, {row['false_success']} wrongly marked as reached"
        met = row["verified"] == row["goals"] and not row["false_success"]
        lines.append(Verdict(f"{name}: all of {row['goals']:,} random reachable goals verified", here, met))
    panda, ur5 = report.single["Panda"], report.single["UR5"]
    lines += [
        _under("one Panda goal, mean", panda[OURS]["mean"], 6.0, "us"),
        _under("one Panda goal, 99th percentile", panda[OURS]["p99"], 15.0, "us"),
        *(_times("one Panda goal", panda, peer, 8.0) for peer in panda if peer.startswith("EAIK")),
        _times("one Panda goal", panda, "Robotics Toolbox", 20.0),
        _under("one UR5 goal, mean", ur5[OURS]["mean"], 6.0, "us"),
        _times("one UR5 goal", ur5, "EAIK, limits unchecked", 1.0),
        _under("one Panda goal by `lw.solve(arm, goal)`, mean", panda[PLAIN]["mean"], 30.0, "us"),
    ]
    follow = next(iter(report.tracking.values()))
    flips = f"{follow['flips']:.0f} flips, largest change {follow['jump']:.3f} rad"
    lines.append(_under("tracking, a frame", follow["us"], 3.0, "us"))
    lines.append(Verdict("tracking without a flip", flips, not follow["flips"] and follow["verified"] == 1.0))
    lines += _batch_verdicts(report)
    start, compile_time = report.processes["first_answer"], sum(report.processes["compile"].values())
    lines.append(_under("process start to first answer, kernels cached", start, 0.8, "s"))
    lines.append(_under("first compile of one goal, batch and float32, CPU time", compile_time, 15.0, "s"))
    for name, costs in report.unreachable.items():
        for kind in ("outside", "impossible"):
            text = f"{name}: a batch with a tenth of its goals {kind} costs at most twice as much per goal"
            lines.append(Verdict(text, f"{costs[kind]:.2f}", costs[kind] <= 2.0))
    if "memory" in report.processes:
        memory = report.processes["memory"]
        here = f"{memory['last']:.0f} MB after ten million goals, {memory['first']:.0f} MB after 100,000"
        lines.append(Verdict("memory stays flat", here, memory["last"] < 1.1 * memory["first"]))
    return lines


def _batch_verdicts(report: Report) -> list[Verdict]:
    wide = report.machine["simd"] == "AVX-512"
    lines = []
    for dtype, bound in (("float64", 1.2), ("float32", 2.0)):
        rate, narrow = report.batch[dtype] / 1e6, report.processes["avx2"][dtype] / 1e6
        text = f"batch on one core, {dtype}: at least {bound} million verified per second with AVX-512"
        lines.append(Verdict(text, f"{rate:.2f}", rate >= bound if wide else None))
        text = f"batch on one core, {dtype}: at least {bound / 2} million with AVX2"
        lines.append(Verdict(text, f"{narrow:.2f}", narrow >= bound / 2))
    for peer, bound in (("EAIK, limits in NumPy", 60), ("EAIK, limits by hand", 60), ("Robotics Toolbox", 150)):
        theirs = report.single["Panda"].get(peer)
        for dtype in ("float64", "float32"):
            ratio = report.batch[dtype] * theirs["mean"] / theirs["verified"] / 1e6 if theirs else math.nan
            text = f"batch on one core, {dtype}: at least {bound} times {peer}"
            lines.append(Verdict(text, f"{ratio:.0f}", None if math.isnan(ratio) else ratio >= bound))
    ratio = report.processes.get("two_threads", math.nan)
    text = "two threads at least 1.8 times one"
    return [*lines, Verdict(text, f"{ratio:.2f}", None if math.isnan(ratio) else ratio >= 1.8)]


def _under(text: str, value: float, bound: float, unit: str) -> Verdict:
    return Verdict(f"{text} under {bound:g} {unit}", f"{value:.2f}", value < bound)


def _times(text: str, rows: dict[str, dict[str, float]], peer: str, bound: float) -> Verdict:
    ratio = rows[peer]["mean"] / rows[OURS]["mean"] if peer in rows else math.nan
    what = f"{text}, mean: at least {bound:g} times as fast as {peer}"
    return Verdict(what, f"{ratio:.1f}", None if math.isnan(ratio) else ratio >= bound)


def tables(report: Report) -> list[str]:
    lines = [
        "| random reachable goals | goals | verified, float64 | starts each | verified, float32 |",
        "|---" + "|---:" * 4 + "|",
    ]
    for name, found in report.verified.items():
        double, single = found["float64"], found["float32"]
        shares = [f"{row['verified'] / row['goals']:.4%}" for row in (double, single)]
        lines.append(f"| {name} | {double['goals']:,} | {shares[0]} | {double['starts']:.2f} | {shares[1]} |")
    for name, rows in report.single.items():
        lines += [
            "",
            f"| one goal, {name} | verified | mean [us] | median | 99th percentile | mean, times ours |",
            "|---" + "|---:" * 5 + "|",
        ]
        for who, row in rows.items():
            numbers = " | ".join(f"{row[what]:.1f}" for what in ("mean", "median", "p99"))
            lines.append(f"| {who} | {row['verified']:.2%} | {numbers} | {row['mean'] / rows[OURS]['mean']:.1f} |")
    lines += [
        "",
        f"| tracking {FRAMES:,} frames, Panda | us per frame | verified | largest change of a joint [rad] | flips |",
    ]
    lines.append("|---" + "|---:" * 4 + "|")
    for who, row in report.tracking.items():
        lines.append(f"| {who} | {row['us']:.2f} | {row['verified']:.1%} | {row['jump']:.3f} | {row['flips']:.0f} |")
    lines += ["", "| batch, Panda, one core; peers in a loop | verified per second |", "|---|---:|"]
    for dtype, rate in report.batch.items():
        lines.append(f"| linkwork, {dtype} | {rate:,.0f} |")
        lines.append(f"| linkwork, {dtype}, AVX2 | {report.processes['avx2'][dtype]:,.0f} |")
    for who, row in report.single["Panda"].items():
        if who not in (OURS, PLAIN):
            lines.append(f"| {who} | {1e6 * row['verified'] / row['mean']:,.0f} |")
    lines += [
        "",
        "| a tenth of the goals | outside: times the cost | impossible: times the cost | sample | closed form finds |",
    ]
    lines.append("|---" + "|---:" * 4 + "|")
    for name, costs in report.unreachable.items():
        sample, wrong = costs.get("sample", math.nan), costs.get("closed_form_says_otherwise", math.nan)
        lines.append(f"| {name} | {costs['outside']:.2f} | {costs['impossible']:.2f} | {sample:.0f} | {wrong:.0f} |")
    return lines


def section(report: Report) -> str:
    where, sizes = report.machine, report.sizes
    versions = ", ".join(f"{name} {release}" for name, release in report.versions.items())
    core = "one core" if where["one_core"] else "single-threaded calls (this system cannot bind to a core)"
    parts = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in report.processes["compile"].items())
    return "\n".join(
        [
            "## Inverse kinematics",
            "",
            f"{where['date']}, {where['cpu']}, {where['cores']} cores, {where['simd']}, {where['system']}; {core}.",
            f"{versions}. Made by `python benchmarks/ik.py`: {sizes.goals:,} goals, {sizes.rounds} rounds.",
            "",
            "Every answer is checked by a chain in plain NumPy: position to 1e-4 m, rotation to 1e-3 rad, limits kept.",
            "All libraries get the same goals. EAIK solves the Panda with its last joint locked, at one sample after",
            "another until a branch keeps the limits; the Robotics Toolbox uses random restarts. Means are CPU time,",
            "median and 99th percentile wall time, of the best rounds. *Outside* goals are beyond the arm's length;",
            "*impossible* goals are within it, in orientations that no start reaches; the closed form checks a sample.",
            "",
            *tables(report),
            "",
            f"Compile times: {parts}.",
            "",
            *map(str, verdicts(report)),
            *(["", *(f"- {line}" for line in report.missing)] if report.missing else []),
        ]
    )
