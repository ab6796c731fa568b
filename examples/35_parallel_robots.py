"""Parallel robots: a Delta in batches, a five-bar workspace.

Legs are solved in closed form, and loops are closed to rounding error: all solutions of a five-bar, both solutions of
its forward kinematics, and its workspace with singular curves.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    robot, turn = lw.models.delta(), np.linspace(0.0, 4.0 * np.pi, 20_000)
    screw = np.column_stack([0.12 * np.cos(turn), 0.12 * np.sin(turn), -0.4 - 0.01 * turn])
    batch = lw.solve_batch(robot, "platform", screw, orientation=False, start="ready")
    gap = max(float(np.abs(lw.Close(loop).error(robot, batch.q)).max()) for loop in robot.loops)
    print(f"Delta: {int(batch.success.sum())} of {len(screw)} places along a screw, loops open by {gap:.0e} m at most")

    bars = lw.models.five_bar()
    print(lw.solve_all(bars, lw.Reach("tip", position=(0.15, 0.4, 0.0))))
    print(lw.assemble(bars, start="ready", keep=("left", "right")))
    space = lw.explain.workspace(bars, "tip", start="ready", samples=4000)
    print(space.curves)
    lw.draw.workspace(space, path=out / "five-bar.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
