"""Two ways to animate inverse kinematics.

The textbook arm moves to a goal. First, the goal is solved once and the pose is interpolated: the joints move evenly,
and the path of the tip is a by-product. Then, a goal on a straight line is solved for every frame: the path of the tip
is given, and the joints follow.
"""

from __future__ import annotations

import sys
from math import pi
from pathlib import Path

import numpy as np

import linkwork as lw


def straightness(clip: lw.Clip) -> float:
    """Return the largest distance of the tip from the straight line between its end points."""
    path = clip.forward(frame="tip")[:, :2, 3]
    along = (path[-1] - path[0]) / np.linalg.norm(path[-1] - path[0])
    across = np.array([-along[1], along[0]])
    return float(np.abs((path - path[0]) @ across).max())


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.planar([15, 10, 5])
    start = [pi / 8, pi / 4, pi / 4]
    goal = lw.Reach("tip", position=(-20, 5))

    solution = lw.solve(arm, goal, start=start, method="damped")
    print(solution.reason)
    by_pose = lw.interpolate(arm, [(0, start), (1, solution.q)], fps=20, kind="ease")
    by_goals = lw.track(arm, goal, start=start, frames=21, fps=20, method="damped")

    for name, clip in (("by_pose", by_pose), ("by_goals", by_goals)):
        print(f"{name}: the tip strays {straightness(clip):.2f} m from the line")
        lw.draw.strip(clip, frames=[0, 5, 10, 15, 20], trail="tip", goal=(-20, 5), path=out / f"two_ways_{name}.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
