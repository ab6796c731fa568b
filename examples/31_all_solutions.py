"""All solutions of a goal.

A UR5 reaches a pose in up to eight ways, and a closed form gives all of them. For one goal they are drawn side by side;
for a grid of goals on a table they are counted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.transforms import transform

SIDE, EDGE, HEIGHT = 101, 1.0, 0.1
POSE = (0.4, -1.2, 1.5, -0.9, 1.0, 0.3)
LEANING = transform((0.0, 0.0, HEIGHT), Rotation.from_euler("y", 150, degrees=True))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.ur5()
    print(arm.closed_form("tip"))

    ways = lw.solve_all(arm, lw.Reach("tip", pose=arm.forward(POSE, frame="tip")))
    print(f"one goal: {ways}")
    figure = Figure(figsize=(9.6, 5.4))
    for k, pose in enumerate(ways.q, start=1):
        axes = figure.add_subplot(2, 4, k, projection="3d")
        lw.draw.pose(arm, pose, ax=axes, frames=["tip"], view=(18, -55))
        axes.set_axis_off()
        axes.set(xlim=(-0.2, 0.75), ylim=(-0.3, 0.65), zlim=(-0.3, 0.65))
        axes.set_box_aspect((1, 1, 1), zoom=1.5)
    figure.subplots_adjust(0, 0, 1, 1, 0, 0)
    figure.savefig(out / "eight_poses.png", dpi=100)

    x, y = np.meshgrid(*2 * [np.linspace(-EDGE, EDGE, SIDE)])
    targets = np.tile(LEANING, (SIDE * SIDE, 1, 1))
    targets[:, 0, 3], targets[:, 1, 3] = x.ravel(), y.ravel()
    found = lw.solve_all_batch(arm, "tip", targets)
    print(f"a table of goals: {found}")
    for k in (0, SIDE * SIDE // 2):
        print(f"at {targets[k, :3, 3]}: {lw.solve_all(arm, lw.Reach('tip', pose=targets[k])).evidence}")
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes = figure.subplots()
    counts, edges = found.counts.reshape(SIDE, SIDE), (-EDGE, EDGE, -EDGE, EDGE)
    image = axes.imshow(counts, origin="lower", extent=edges, cmap="viridis", vmin=0, vmax=8)
    axes.set(xlabel="x [m]", ylabel="y [m]", title="ways to hold a leaning tool")
    figure.colorbar(image, ax=axes, label="solutions")
    figure.savefig(out / "how_many.png", dpi=110)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
