"""Why did it fail?

Five goals that cannot be reached as asked, each for another reason, and what the solution says about it.
"""

from __future__ import annotations

import sys
from math import pi
from pathlib import Path
from typing import Any

import linkwork as lw


def main(out: Path) -> None:
    arm = lw.models.planar([15, 10, 5])
    start = [pi / 8, pi / 4, pi / 4]
    stiff = arm.replace(joints={name: {"lower": -0.5, "upper": 0.5} for name in arm.joints})
    questions: dict[str, tuple[lw.Linkage, tuple[float, ...], dict[str, Any]]] = {
        "too far": (arm, (-35, 5), {"start": start}),
        "too near": (lw.models.planar([10, 2, 2]), (1, 1), {}),
        "off its plane": (arm, (-20, 5, 1), {"start": start}),
        "held by limits": (stiff, (-20, 5), {}),
        "out of patience": (arm, (-20, 5), {"start": start, "method": "transpose", "max_iterations": 3}),
    }
    lines = []
    for name, (linkage, position, options) in questions.items():
        solution = lw.solve(linkage, lw.Reach("tip", position=position), **options)
        lines.append(f"{name}: {solution.explain()}")
        print(lines[-1])
    (out / "why.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    laps = lw.race(arm, lw.Reach("tip", position=(-35, 5)), start=start, methods=["pseudoinverse", "damped"])
    for lap in laps:
        print(f"beyond reach, {lap.method}: largest change of a joint in one step {lap.largest_step:.2f} rad")


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(exist_ok=True)
    main(folder)
