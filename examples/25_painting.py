"""A robot paints a heart.

Seventy-two goals along a curve on a table, with the brush upright in each; one call tracks them.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

TABLE = 0.2  # height [m]
DOWN = np.diag([1, -1, -1])  # the axes of the brush: its z points down


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    robot = lw.models.panda()
    t = np.linspace(0, 2 * np.pi, 72)
    across = 16 * np.sin(t) ** 3
    up = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
    heart = np.stack([0.48 + 0.011 * up, -0.011 * across, np.full_like(t, TABLE)], axis=1)
    goals = [lw.Reach("tip", position=point, orientation=DOWN) for point in heart]
    clip = lw.track(robot, goals, fps=24, start="ready")

    tips = clip.forward(frame="tip")
    off = np.linalg.norm(tips[:, :3, 3] - heart, axis=1).max()
    tilt = np.degrees(np.arccos(np.clip(-tips[:, 2, 2], -1, 1))).max()
    largest = np.degrees(np.abs(np.diff(clip.poses, axis=0)).max())
    within = ((clip.poses >= robot.lower) & (clip.poses <= robot.upper)).all()
    print(f"{len(clip)} frames: at most {1e3 * off:.3f} mm off the curve, {tilt:.3f} deg from upright")
    print(f"limits kept: {within}; no joint turns more than {largest:.1f} deg from frame to frame")
    lw.draw.film(clip, out / "painting.html", trail="tip", view=(35, -30), title="A robot paints a heart")
    lw.draw.film(clip, out / "painting.png", frames=5, trail="tip", view=(40, -25))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
