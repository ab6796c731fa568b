"""A million tips at once.

Where can the arm reach, and how often? One call for a million random poses gives the answer.
"""

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    limits = {name: {"lower": "-120deg", "upper": "120deg"} for name in ("j2", "j3")}
    arm = lw.models.planar([15, 10, 5]).replace(joints={"j1": {"lower": "-30deg", "upper": "150deg"}, **limits})
    poses = arm.random_pose(0, 1_000_000)
    arm.forward(poses[:8], frame="tip")  # the first call may compile

    began = time.perf_counter()
    tips = arm.forward(poses, frame="tip")[:, :2, 3]
    took = time.perf_counter() - began
    print(f"{len(tips):,} tips in {took:.2f} s")
    print(f"distance from the shoulder: {np.hypot(*tips.T).min():.2f} to {np.hypot(*tips.T).max():.2f} m")

    counts, x, y = np.histogram2d(tips[:, 0], tips[:, 1], bins=300)
    figure = Figure(figsize=(6.5, 6), layout="constrained")
    axes = figure.subplots()
    axes.set_facecolor("0.96")
    image = np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan).T
    axes.imshow(image, origin="lower", extent=(x[0], x[-1], y[0], y[-1]), cmap="viridis")
    lw.draw.pose(arm, arm.pose(j1="40deg", j2="60deg", j3="-50deg"), ax=axes)
    axes.set_aspect("equal", adjustable="box")
    axes.grid(False)
    axes.set(xlim=(-32, 32), ylim=(-27, 33), xlabel="x [m]", ylabel="y [m]", title="tips of a million random poses")
    figure.savefig(out / "million_tips.png", dpi=110)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
