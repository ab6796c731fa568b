"""Self-motion: a Panda moves, its hand does not.

Seven joints leave one degree of freedom for a pose of the hand: the solutions are curves, called with s from 0 to 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

FRAMES, FPS = 120, 30


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.panda()
    goal = lw.Reach("tip", pose=arm.forward("reach", frame="tip"))
    ways = lw.solve_all(arm, goal)
    print(f"{len(ways.curves)} curves, {'proven' if ways.complete else 'not proven'}: {ways.proof}")
    for curve in ways.curves:
        print(f"{curve.length:.2f} rad from {curve.ends[0]} to {curve.ends[1]}")
    for low, high in ways.extents("panda_joint7"):
        print(f"panda_joint7 can be from {np.degrees(low):.1f} to {np.degrees(high):.1f} deg")

    there = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, FRAMES + 1))  # to the end and back
    poses = ways.curve(0)(there)
    print(f"the hand is off by {np.abs(goal.error(arm, poses)).max():.0e} at most")
    clip = lw.Clip(arm, np.arange(FRAMES + 1) / FPS, poses)
    lw.draw.film(clip, out / "self_motion.html", title="A Panda moves, its hand does not")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
