"""Speed of the textbook methods: the 21 frames of the worked example, and a dragged Panda.

    python benchmarks/methods.py [--rounds 20] [--json] [--no-write]

Times are also relative to a plain NumPy loop with the same arithmetic for the worked example, so that a slow machine is
recognizable. The results are written to their section of results.md.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from results import write

import linkwork as lw

START = np.array([math.pi / 8, math.pi / 4, math.pi / 4])
GOAL = np.array([-20.0, 5.0])
FRAMES = 21
DRAG = 200


def best(action: Callable[[], Any], rounds: int) -> float:
    """Return the shortest time of several runs [s]."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def by_hand() -> np.ndarray[Any, Any]:
    """Return the last pose of figure 5.20 (a), written in NumPy for this arm only."""
    lengths, q = np.array([15.0, 10.0, 5.0]), START.copy()

    def tip(angles: np.ndarray[Any, Any]) -> Any:
        return np.array([(lengths * np.cos(angles)).sum(), (lengths * np.sin(angles)).sum()])

    begin = tip(q.cumsum())
    for k in range(1, FRAMES):
        angles = q.cumsum()
        x, y = lengths * np.cos(angles), lengths * np.sin(angles)
        J = np.array([-y[::-1].cumsum()[::-1], x[::-1].cumsum()[::-1]])
        V = begin + (GOAL - begin) * k / (FRAMES - 1) - tip(angles)
        q = q + J.T @ np.linalg.solve(J @ J.T, V)
    return q


def worked_example(method: str, options: dict[str, Any]) -> Callable[[], lw.Clip]:
    arm = lw.models.planar([15, 10, 5])
    goal = lw.Reach("tip", position=GOAL)
    return lambda: lw.track(arm, goal, start=START, frames=FRAMES, method=method, steps=1, **options)


def dragged(method: str, *, prepared: bool = False) -> Callable[[], int]:
    """Return a run over smoothly moving targets, each solved by a separate call from the previous pose."""
    arm = lw.models.panda()
    ik = lw.prepare(arm, "tip", method=method) if prepared else None
    ready = arm.stored_pose("ready")
    world = arm.forward(ready, frame="tip")
    angles = np.linspace(0.0, 2.0 * math.pi, DRAG)
    offsets = 0.1 * np.stack([np.zeros(DRAG), np.sin(angles), np.cos(angles) - 1.0], axis=1)

    def run() -> int:
        q, reached = ready, 0
        target = world.copy()
        for offset in offsets:
            if ik is not None:
                target[:3, 3] = world[:3, 3] + offset
                found = ik(target, start=q)
                q, reached = found.q, reached + found.success
                continue
            goal = lw.Reach("tip", position=world[:3, 3] + offset, orientation=world[:3, :3])
            solution = lw.solve(arm, goal, start=q, method=method)
            q, reached = solution.q, reached + solution.success
        return reached

    return run


def measure(rounds: int) -> dict[str, Any]:
    np.testing.assert_allclose(by_hand(), [2.1311, 1.3710, 0.6588], atol=1e-4)
    rows: dict[str, Any] = {"by hand in NumPy": best(by_hand, 10 * rounds)}
    arms: dict[str, dict[str, Any]] = {
        "pseudoinverse": {},
        "damped": {"damping": 5.0},
        "selectively-damped": {},
        "control": {"gains": [0.1, 0.5, 0.1], "desired": [0.0, 0.0, 0.0]},
        "alternative": {},
        "transpose": {},
        "ccd": {},
        "ranked-ccd": {},
        "fabrik": {},
        "fabrik, one trial": {"foresight": 0.0, "overshoot": 0.0},
        "analytic": {},
    }
    for name, options in arms.items():
        example = worked_example(name.split(",")[0], options)
        example()
        rows[name] = best(example, 10 * rounds)
    drags = {}
    for method in ("damped", "pseudoinverse", "selectively-damped", "ccd", "robust"):
        for prepared in (False, True):
            drag = dragged(method, prepared=prepared)
            reached = drag()
            speed = DRAG / best(drag, 2 * rounds)
            name = f"prepare(method={method!r})" if prepared else f"solve(method={method!r})"
            drags[name] = {"solves_per_second": speed, "reached": reached / DRAG}
    return {"frames": rows, "drag": drags}


def table(found: dict[str, Any]) -> str:
    hand = found["frames"]["by hand in NumPy"]
    versions = f"linkwork {lw.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    lines = [
        "## Textbook methods",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {versions}. Made by `python benchmarks/methods.py`.",
        "",
        "| 21 frames of the worked example, one step per frame | ms | times the hand-written loop |",
        "|---|---:|---:|",
        *(f"| {name} | {1e3 * value:.3f} | {value / hand:.2f} |" for name, value in found["frames"].items()),
        "",
        "| Panda dragged along a circle, pose goals, one call each | solves per second | reached |",
        "|---|---:|---:|",
        *(
            f"| {name} | {row['solves_per_second']:,.0f} | {row['reached']:.0%} |"
            for name, row in found["drag"].items()
        ),
        "",
        *(f"- {line}" for line in verdicts(found)),
    ]
    return "\n".join(lines) + "\n"


def verdicts(found: dict[str, Any]) -> list[str]:
    """Return the bounds and whether they are met."""
    slowest = max(
        (name for name in found["frames"] if name not in ("by hand in NumPy", "fabrik")), key=found["frames"].get
    )
    worst, trials = 1e3 * found["frames"][slowest], 1e3 * found["frames"]["fabrik"]
    rate = found["drag"]["solve(method='damped')"]["solves_per_second"]
    return [
        f"{'met' if worst < 0.15 else 'MISSED'}: 21 frames, all but `fabrik`, under 0.15 ms; {slowest} {worst:.3f}",
        f"{'met' if trials < 0.15 else 'MISSED'}: `fabrik` too, with its twelve trials per step; {trials:.3f}",
        f"{'met' if rate > 50_000 else 'MISSED'}: Panda dragged with `damped`: over 50,000 per second; {rate:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--no-write", action="store_true", help="do not change results.md")
    options = parser.parse_args()
    found = measure(options.rounds)
    print(json.dumps(found) if options.json else table(found))
    if not options.no_write:
        write("methods", table(found))


if __name__ == "__main__":
    main()
