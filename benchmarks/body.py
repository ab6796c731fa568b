"""A body with 61 degrees of freedom that stands, looks, balances and moves a tool in each hand, frame by frame.

Every frame is solved from the previous pose, as in a web page or a game. Times are CPU time.

    python benchmarks/body.py                  print the table and update results.md
    python benchmarks/body.py --no-write       print only
    python benchmarks/body.py --json           the same as JSON on stdout
"""

from __future__ import annotations

import platform
import time
from datetime import date
from typing import Any

import numpy as np
from forward import machine
from ik import stay_on_one_core
from results import arguments, publish

import linkwork as lw

SECTION, WANTED, FOOT = "body", 500.0, 1e-4
SOLES = ["left_heel", "left_ball", "right_heel", "right_ball"]
SIDES = {"left": 1.0, "right": -1.0}
FRAMES = 500


def figure() -> lw.Linkage:
    """Return the human model with a tool on a ball joint in each hand."""
    human, place = lw.models.human(root="floating"), lw.transforms.translation
    tools = [lw.Link(f"{side}_tool") for side in SIDES]
    grip, tip = place((0.0, 0.0, -0.05)), place((0.0, 0.0, -0.1))
    grips = [lw.Joint(f"{side}_grip", f"{side}_palm", f"{side}_tool", lw.Ball(), grip) for side in SIDES]
    frames = [*human.extra_frames, *(lw.Frame(f"{side}_tip", f"{side}_tool", tip) for side in SIDES)]
    return lw.Linkage([*human.nodes, *tools], [*human.arcs[1:], *grips], name="worker", frames=frames, root="floating")


def goals(t: float, *, rest: bool) -> list[lw.Goal]:
    """Return the goals at a time: tools on circles, feet held, eyes on one tool."""
    places = {side: np.array([0.4, 0.25 * y, 1.0 + 0.15 * np.sin(t + y)]) for side, y in SIDES.items()}
    return [
        *(lw.Reach(f"{side}_tip", position=place) for side, place in places.items()),
        lw.Hold("left_foot"),
        lw.Hold("right_foot"),
        lw.LookAt("eyes", at=places["right"]),
        lw.Balance(over=SOLES),
        *([lw.Rest()] if rest else []),
    ]


def measured(body: lw.Linkage, *, rest: bool) -> dict[str, float]:
    """Return solves per second, the share that reached their goals, and the largest error of a foot [m]."""
    start = body.neutral()
    planted = [lw.Hold(f"{side}_foot").resolve(body, start) for side in SIDES]
    frames = [[*goals(0.02 * k, rest=rest)] for k in range(FRAMES)]
    for each in frames:
        each[2:4] = planted
    ik = lw.prepare(body, frames[0])
    q = ik(frames[0], start=start).q
    reached, stray, best = 0, 0.0, np.inf
    for _ in range(3):
        pose, begin = q, time.process_time()
        solutions = []
        for each in frames:
            solutions.append(ik(each, start=pose))
            pose = solutions[-1].q
        best = min(best, time.process_time() - begin)
    for solution in solutions:
        reached += solution.success
        stray = max(stray, *(float(np.linalg.norm(goal.error(body, solution.q)[:3])) for goal in planted))
    return {"solves": FRAMES / best, "reached": reached / FRAMES, "stray": stray}


def section(report: dict[str, Any]) -> str:
    """Return the section of results.md."""
    rows = {"goals alone": report["plain"], "and a preferred pose, one level below": report["rest"]}
    where = f"{machine(one_core=True)['cpu']}, one core, Python {platform.python_version()}"
    lines = [
        "## A body, frame by frame",
        "",
        f"{date.today().isoformat()}, linkwork {lw.__version__}, {where}. {report['nv']} degrees of freedom; two "
        "tools, "
        "two planted feet, eyes, the centre of mass over the soles; `ik(goals, start=q)` from the previous pose.",
        "",
        "| | solves per second | reached | largest foot error |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {row['solves']:,.0f} | {row['reached']:.1%} | {1e3 * row['stray']:.2g} mm |"
            for name, row in rows.items()
        ),
        "",
        *verdicts(report),
    ]
    return "\n".join(lines)


def verdicts(report: dict[str, Any]) -> list[str]:
    """Return the bounds and whether they are met."""
    slowest = min(report[name]["solves"] for name in ("plain", "rest"))
    stray = max(report[name]["stray"] for name in ("plain", "rest"))
    return [
        f"- {'met' if slowest >= WANTED else 'MISSED'}: over {WANTED:.0f} solves per second; here {slowest:,.0f}",
        f"- {'met' if stray <= FOOT else 'MISSED'}: feet within {1e3 * FOOT:g} mm; here {1e3 * stray:.2g} mm",
    ]


def main() -> None:
    options = arguments(__doc__).parse_args()
    stay_on_one_core()
    body = figure()
    report: dict[str, Any] = {"nv": body.nv, "plain": measured(body, rest=False), "rest": measured(body, rest=True)}
    publish(SECTION, section(report), {**report, "verdicts": verdicts(report)}, options)


if __name__ == "__main__":
    main()
