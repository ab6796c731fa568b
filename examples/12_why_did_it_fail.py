"""Why a solve failed, in words.

Six goals that are not reached, each for a different reason, and the explanations of their solutions.
"""

from __future__ import annotations

import sys
from math import pi
from pathlib import Path
from typing import Any

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.planar([15, 10, 5])
    start = [pi / 8, pi / 4, pi / 4]
    stiff = arm.replace(joints={name: {"lower": -0.5, "upper": 0.5} for name in arm.joints})
    questions: dict[str, tuple[lw.Linkage, tuple[float, ...], dict[str, Any]]] = {
        "too far": (arm, (-35, 5), {"start": start}),
        "too near": (lw.models.planar([10, 2, 2]), (1, 1), {}),
        "off its plane": (arm, (-20, 5, 1), {"start": start}),
        "held by limits": (stiff, (-20, 5), {}),
        "all in a line": (arm, (22, 0), {"start": [0, 0, 0], "method": "damped"}),
        "out of patience": (arm, (-20, 5), {"start": start, "method": "transpose", "max_iterations": 3}),
    }
    for name, (linkage, position, options) in questions.items():
        solution = lw.solve(linkage, lw.Reach("tip", position=position), **options)
        print(f"{name}: {solution.explain()}")

    laps = lw.race(arm, lw.Reach("tip", position=(-35, 5)), start=start, methods=["pseudoinverse", "damped"])
    for lap in laps:
        print(f"beyond reach, {lap.method}: largest change of a joint in one step {lap.largest_step:.2f} rad")
    lw.draw.race(laps, goal=(-35, 5), path=out / "beyond_reach.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
