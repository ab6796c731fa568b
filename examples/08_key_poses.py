"""Key poses, and four interpolations between them.

The same keys with linear, ease, cubic and Catmull-Rom interpolation: the angle of one joint, and the path of the tip.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw

KINDS = ("linear", "ease", "cubic", "catmull-rom")


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    arm = lw.models.planar([15, 10, 5])
    keys = [
        (0.0, arm.pose(j1="10deg", j2="20deg", j3="20deg")),
        (0.4, arm.pose(j1="90deg", j2="-60deg", j3="-60deg")),
        (1.2, arm.pose(j1="50deg", j2="100deg", j3="40deg")),
        (1.5, arm.pose(j1="110deg", j2="10deg", j3="70deg")),
        (2.0, arm.pose(j1="150deg", j2="70deg", j3="50deg")),
    ]
    times = np.array([time for time, _ in keys])
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    angle, path = figure.subplots(1, 2, width_ratios=[1.2, 1])
    for kind in KINDS:
        clip = lw.interpolate(arm, keys, fps=120, kind=kind)
        angle.plot(clip.times, np.degrees(clip.poses[:, 0]), label=kind)
        path.plot(*clip.forward(frame="tip")[:, :2, 3].T)
        speed = np.abs(np.diff(clip.poses[:, 0])).max() * 120
        print(f"{kind:12} {len(clip)} frames, j1 at most {speed:.2f} rad/s")
    angle.plot(times, np.degrees([pose[0] for _, pose in keys]), "ko", label="keys")
    angle.set(xlabel="time [s]", ylabel="j1 [deg]")
    angle.legend()
    tips = np.array([arm.forward(pose, frame="tip")[:2, 3] for _, pose in keys])
    path.plot(*tips.T, "ko")
    path.set(xlabel="x [m]", ylabel="y [m]", title="path of the tip", aspect="equal")
    figure.savefig(out / "key_poses.png", dpi=110)

    clip = lw.interpolate(arm, keys, fps=12, kind="cubic")
    lw.draw.strip(clip, frames=[0, 5, 10, 15, 20], trail="tip", path=out / "key_poses_strip.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
