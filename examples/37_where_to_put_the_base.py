"""Where to put the base.

Six targets, one UR5. `lw.differentiable` gives the derivatives of the joints with respect to the targets, and so to the
base position: gradient descent moves the base to where the joints are closer to a comfortable pose.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.transforms import transform

DOWN = Rotation.from_euler("x", 180, degrees=True)
WORK = np.array([transform((x, y, z), DOWN) for x in (0.35, 0.6) for y, z in ((-0.3, 0.1), (0.0, 0.3), (0.3, 0.1))])
EASY = np.array([0.0, -1.4, 1.6, -1.8, -1.57, 0.0])  # elbow bent, wrist far from its singularity
STEPS, PACE = 60, 0.05


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.ur5()
    ik = lw.differentiable(arm, "tip")
    base, q, losses = np.zeros(3), EASY, []
    for _ in range(STEPS):
        targets = WORK.copy()
        targets[:, :3, 3] -= base  # relative to the base
        q, success = ik(targets, start=q)
        away = arm.difference(EASY, q) * success[:, None]
        losses.append(float((away**2).sum()) / len(WORK))
        by_twist = ik.derivative(q).matrix[:, :, :3]  # derivatives by the target position
        gradient = -np.einsum("ki,kij->j", 2.0 * away, by_twist) / len(WORK)  # the base moves the other way
        base -= PACE * gradient / (1.0 + np.linalg.norm(gradient))
    print(f"reached {success.sum()} of {len(WORK)}, base at {base.round(3).tolist()}")
    print(f"joints are {np.sqrt(losses[0]):.2f} rad away at first, {np.sqrt(losses[-1]):.2f} rad in the end")
    lw.draw.pose(arm, q[0], path=out / "base.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
