"""A free axis: a tool that may spin about its own axis.

Five joints with a free axis have isolated solutions, and all of them are found. Six joints have curves of solutions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

P = np.pi / 2
SMALL = [(0, 0.1, 0, P), (0, 0, 0.12, 0), (0, 0, 0.14, 0), (0, 0, 0.02, P), (0, 0.1, 0.03, 0)]
TORCH = np.array([[0.8, 0, 0.6, 0.08], [0, 1, 0, 0], [-0.6, 0, 0.8, 0.15], [0, 0, 0, 1]])  # off the flange and slanted
FRAMES, FPS = 120, 30


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    small = lw.from_dh(SMALL, name="small arm")
    target = small.forward([0.3, 0.8, -1.0, 0.5, 0.2], frame="tip")
    ways = lw.solve_all(small, lw.Reach("tip", pose=target, free="x"))
    print(f"{len(ways)} poses, {'proven' if ways.complete else 'not proven'}, by {ways.family}")
    for q in ways.q:
        print(", ".join(f"{angle:6.1f}" for angle in np.degrees(q)))

    welder = lw.models.ur5().add_frame("torch", "tip", TORCH)
    seam = welder.forward([0.4, -1.2, 1.5, -0.9, 1.0, 0.3], frame="torch")
    ways = lw.solve_all(welder, lw.Reach("torch", pose=seam, free="z"))
    print(f"{len(ways.curves)} curves: {ways.proof}")
    curve = ways.curve(0)
    there = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, FRAMES + 1))  # to the end and back
    poses = curve(there)
    reached = welder.forward(poses, frame="torch")
    print(f"the torch's point is off by {np.abs(reached[:, :3, 3] - seam[:3, 3]).max():.0e} m at most")
    clip = lw.Clip(welder, np.arange(FRAMES + 1) / FPS, poses)
    lw.draw.film(clip, out / "free_axis.html", title="A torch spins about its own axis")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
