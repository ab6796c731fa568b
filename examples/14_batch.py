"""Twenty thousand goals in one call.

Where on a table can the Panda place its hand pointing straight down? A grid of goals, solved at once, gives the map.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw

SIDE, EDGE = 141, 0.9
HEIGHT = 0.05


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.panda()
    across = np.linspace(-EDGE, EDGE, SIDE)
    x, y = np.meshgrid(across, across)
    targets = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (SIDE * SIDE, 1, 1))  # the hand points down
    targets[:, :3, 3] = np.stack([x.ravel(), y.ravel(), np.full(x.size, HEIGHT)], axis=1)
    lw.solve_batch(arm, "tip", targets[:1])  # the first call may compile

    began = time.perf_counter()
    batch = lw.solve_batch(arm, "tip", targets)
    took = time.perf_counter() - began
    print(f"{batch} in {1e3 * took:.0f} ms")
    print(f"a corner of the table: {batch.reason(0)}")

    anyhow = lw.solve_batch(arm, "tip", targets, orientation=False)
    print(f"{anyhow} where the position alone counts")
    goal = lw.Reach("tip", position=(0.5, 0.3, HEIGHT), orientation=targets[0, :3, :3])
    print(f"one goal, many answers: {lw.solve_all(arm, goal)}")

    figure = Figure(figsize=(9.5, 4.5), layout="constrained")
    for axes, answer, title in zip(figure.subplots(1, 2), (batch, anyhow), ("hand down", "hand anyhow"), strict=True):
        ease = lw.explain.manipulability(arm, answer.q, "tip").measure
        shown = np.where(answer.success, ease, np.nan).reshape(SIDE, SIDE)
        image = axes.imshow(shown, origin="lower", extent=(-EDGE, EDGE, -EDGE, EDGE), cmap="viridis")
        axes.plot(0, 0, "o", color="tab:red")
        axes.set(xlabel="x [m]", ylabel="y [m]", title=f"{title}: {answer.success.mean():.0%} of the table")
        axes.set_facecolor("0.92")
    figure.colorbar(image, ax=figure.axes, label="manipulability")
    figure.savefig(out / "batch.png", dpi=110)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
