"""A whole figure: hands reach, feet stay, eyes follow.

One list of goals, solved frame by frame in one compiled call.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

ASIDE = np.array([0.0, 0.12, 0.0])
SOLES = ["left_heel", "left_ball", "right_heel", "right_ball"]


def goals(t: float) -> list[lw.Goal]:
    ball = np.array([0.4, 0.3 * np.sin(t), 1.1 + 0.25 * np.cos(t)])
    return [
        lw.Reach("left_hand", position=ball + ASIDE),
        lw.Reach("right_hand", position=ball - ASIDE),
        lw.Hold("left_foot"),
        lw.Hold("right_foot"),
        lw.LookAt("eyes", at=ball),
        lw.Balance(over=SOLES),
        lw.Rest("stand"),  # one priority level below: prefer poses near this one
    ]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human(root="floating")
    start = figure.stored_pose("stand")
    times = np.linspace(0.0, 2.0 * np.pi, 49)

    motion = lw.prepare(figure, goals(0.0)).follow([goals(t) for t in times], start=start)
    print(f"{int(motion.success.sum())} of {len(times)} frames serve all goals")
    feet = figure.forward(motion.q, frame="left_foot")[:, :3, 3] - figure.forward(start, frame="left_foot")[:3, 3]
    print(f"the left foot moves {1e3 * np.linalg.norm(feet, axis=-1).max():.3f} mm at most")

    clip = lw.Clip(figure, times / 2.0, motion.q)
    lw.draw.strip(clip, frames=[0, 12, 24, 36, 48], view=(12, -55), path=out / "whole_figure.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
