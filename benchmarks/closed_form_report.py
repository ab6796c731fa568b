"""Report of `closed_form.py`: tables, and bounds met or missed.

It imports none of the measuring code: a report is plain numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from ik_report import Verdict

SECTION = "closed-form"
OURS = "linkwork"
EVERY = {"UR5": 2.5, "Puma 560": 2.5, "Jaco 2": 60.0}  # bounds for all solutions of one goal [us]
SINGLE = {"UR5": 2.5, "Panda": 3.0}
BATCH = {"UR5": 3e6, "Panda, one solution": 3e6}  # goals per second
WORDS = ("goals", "solutions", "missing", "wrong", "twice", "new")


@dataclass
class Sizes:
    """Amounts to measure: goals in a batch, single goals, rounds, goals compared with a search from many starts."""

    goals: int = 200_000
    singles: int = 2000
    rounds: int = 5
    truth: int = 20


@dataclass
class Report:
    """Results of a run, by table."""

    machine: dict[str, Any]
    versions: dict[str, str]
    sizes: Sizes
    every: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    single: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    batches: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    unreachable: dict[str, dict[str, float]] = field(default_factory=dict)
    complete: dict[str, dict[str, int]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)


def verdicts(report: Report) -> list[Verdict]:
    """Return the bounds and whether they are met."""
    lines = []
    for name, bound in EVERY.items():
        mean = report.every[name][OURS]["mean"]
        lines.append(Verdict(f"{name}, all solutions of one goal under {bound:g} us", f"{mean:.2f}", mean < bound))
    for name, bound in SINGLE.items():
        row = next(iter(report.single[name].values()))
        here = f"{row['mean']:.2f}, {row['verified']:.2%} verified"
        met = row["mean"] < bound and row["verified"] == 1.0
        lines.append(Verdict(f"{name}, one solution of one goal under {bound:g} us", here, met))
    for name, bound in BATCH.items():
        rate = next(iter(report.batches[name].values()))["rate"]
        text = f"{name}, a batch on one core: at least {bound / 1e6:g} million goals per second"
        lines.append(Verdict(text, f"{rate / 1e6:.2f}", rate >= bound))
    for name, costs in report.unreachable.items():
        text = f"{name}: a batch with a tenth of impossible goals costs at most twice as much"
        lines.append(Verdict(text, f"{costs['impossible']:.2f}", costs["impossible"] <= 2.0))
    total = {word: sum(row[word] for row in report.complete.values()) for word in WORDS}
    here = ", ".join(f"{total[word]} {word}" for word in ("missing", "wrong", "twice"))
    text = f"{total['solutions']:,} solutions of {total['goals']:,} goals: none missing, none wrong, none twice"
    return [*lines, Verdict(text, here, not total["missing"] + total["wrong"] + total["twice"])]


def tables(report: Report) -> list[str]:
    lines = [
        "| all solutions of one goal | mean [us] | times ours | solutions each | of all found |",
        "|---" + "|---:" * 4 + "|",
    ]
    for name, rows in report.every.items():
        for who, row in rows.items():
            numbers = f"{row['mean']:.1f} | {row['mean'] / rows[OURS]['mean']:.1f}"
            lines.append(
                f"| {name}, {who} | {numbers} | {_plain(row['each'], '.2f')} | {_plain(row['found'], '.2%')} |"
            )
    lines += ["", "| one solution of one goal | mean [us] | verified |", "|---" + "|---:" * 2 + "|"]
    for name, rows in report.single.items():
        lines += [f"| {name}, {who} | {row['mean']:.1f} | {row['verified']:.2%} |" for who, row in rows.items()]
    lines += [
        "",
        "| batches on one core | goals per second | verified solutions each | proven |",
        "|---" + "|---:" * 3 + "|",
    ]
    for name, rows in report.batches.items():
        for who, row in rows.items():
            each, proven = _plain(row.get("each", math.nan), ".2f"), _plain(row.get("proven", math.nan), ".1%")
            lines.append(f"| {name}, {who} | {row['rate']:,.0f} | {each} | {proven} |")
    lines += [
        "",
        "| a tenth of the goals | outside: times the cost | impossible: times the cost |",
        "|---" + "|---:" * 2 + "|",
    ]
    lines += [
        f"| {name} | {row['outside']:.2f} | {row['impossible']:.2f} |" for name, row in report.unreachable.items()
    ]
    titles = ("goals", "solutions", "missing", "wrong", "twice", "not found by 10,000 starts")
    lines += ["", f"| against 10,000 starts | {' | '.join(titles)} |", "|---" + "|---:" * len(titles) + "|"]
    lines += [f"| {name} | {' | '.join(str(row[word]) for word in WORDS)} |" for name, row in report.complete.items()]
    return lines


def _plain(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


def section(report: Report) -> str:
    where, sizes = report.machine, report.sizes
    versions = ", ".join(f"{name} {release}" for name, release in report.versions.items())
    core = "one core" if where["one_core"] else "single-threaded calls (this system cannot bind to a core)"
    return "\n".join(
        [
            "## All solutions",
            "",
            f"{where['date']}, {where['cpu']}, {where['cores']} cores, {where['simd']}, {where['system']}; {core}.",
            f"{versions}. Made by `python benchmarks/closed_form.py`: {sizes.goals:,} goals, {sizes.rounds} rounds.",
            "",
            "Every answer is checked by a chain in plain NumPy: position to 1e-4 m, rotation to 1e-3 rad. All",
            "libraries get the same goals, except ssik: its own arms are fifty times faster than arms built at run",
            "time, and have their own goals. EAIK and jaik do not check limits; our answers are within limits and",
            "verified. frankik samples joint 7, or takes one value of it. Means are CPU time, of the best rounds.",
            "*Impossible* goals are within reach, but with an orientation that no start reaches.",
            "",
            *tables(report),
            "",
            *map(str, verdicts(report)),
            *(["", *(f"- {line}" for line in report.missing)] if report.missing else []),
        ]
    )
