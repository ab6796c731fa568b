"""A figure waves.

Key poses, by name and by joint, with eased interpolation; the other arm and the head move a little, too.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human()
    raised = figure.pose({"head.rz": "-15deg", "chest.rz": "-5deg", "left_elbow": "25deg"}, base="wave")
    outward = figure.pose({"right_elbow": "60deg", "right_wrist.first": "10deg"}, base=raised)
    inward = figure.pose({"right_elbow": "105deg", "right_wrist.first": "-10deg"}, base=raised)
    keys = [(0.0, figure.stored_pose("stand")), (0.8, inward)]
    keys += [(0.8 + 0.28 * k, outward if k % 2 else inward) for k in range(1, 7)]
    clip = lw.interpolate(figure, [*keys, (3.4, "stand")], fps=24, kind="ease")

    inside = (clip.poses >= figure.lower - 1e-12) & (clip.poses <= figure.upper + 1e-12)
    tips = clip.forward(frame="right_fingertips")[:, :3, 3]
    speed = np.linalg.norm(np.diff(tips, axis=0), axis=1) * 24
    print(f"{len(clip)} frames, {inside.mean():.0%} of all values within their limits")
    print(f"the fingertips rise from {tips[0, 2]:.2f} to {tips[:, 2].max():.2f} m, at most {speed.max():.1f} m/s fast")
    lw.draw.film(clip, out / "waving.html", trail="right_fingertips", title="Hello")
    lw.draw.film(clip, out / "waving.png", frames=4, end=1.2, trail="right_fingertips", view=(10, -25))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
