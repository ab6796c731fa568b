"""Collision-free solutions.

A Panda reaches between the boards of a shelf. Without `lw.Avoid`, its wrist is inside a board; with it, the arm comes
from the side. If there is no such pose, the explanation names the obstacle.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.transforms import transform

AHEAD = Rotation.from_euler("y", 90, degrees=True)
SHELF = lw.World(
    [
        lw.Obstacle(lw.Box((0.35, 0.8, 0.02)), (0.6, 0.0, 0.3), name="lower board"),
        lw.Obstacle(lw.Box((0.35, 0.8, 0.02)), (0.6, 0.0, 0.65), name="upper board"),
        lw.Obstacle(lw.Box((0.02, 0.8, 0.9)), (0.785, 0.0, 0.45), name="back"),
    ]
)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.panda()
    goal = lw.Reach("tip", pose=transform((0.6, -0.1, 0.5), AHEAD))
    for name, goals in (("unaware", [goal]), ("free", [goal, lw.Avoid(SHELF)])):
        found = lw.solve(arm, goals, start="ready")
        near = lw.clearance(arm, found.q, SHELF)
        print(f"{name}: {' and '.join(near.pair)}, {1e3 * near.distance:.1f} mm")
        lw.draw.clearance(arm, found.q, SHELF, view=(14, -62), path=out / f"shelf_{name}.png")

    deeper = lw.solve(arm, [lw.Reach("tip", pose=transform((0.78, -0.1, 0.5), AHEAD)), lw.Avoid(SHELF)], start="ready")
    print(f"deeper: {deeper.explain()}")

    y, z = (axis.ravel() for axis in np.meshgrid(np.linspace(-0.35, 0.35, 15), np.linspace(0.35, 0.6, 11)))
    targets = np.tile(transform((0.6, 0.0, 0.0), AHEAD), (len(y), 1, 1))
    targets[:, 1, 3], targets[:, 2, 3] = y, z
    batch = lw.solve_batch(arm, "tip", targets, avoid=lw.Avoid(SHELF))
    print(f"between the boards: {batch.success.sum()} of {len(targets)} poses of the hand are reached and free")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
