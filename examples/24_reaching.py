"""A figure reaches for a ball.

The hand follows the ball, the feet stay, the eyes look at the ball, and the weight stays over the feet: five goals,
solved together in every frame.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

FEET = [f"{side}_{part}" for side in ("left", "right") for part in ("heel", "toe")]


def ball(time: float) -> np.ndarray:
    """Return the position of the ball: a loop in front of the figure and to its right, starting low."""
    turn = 2 * np.pi * time / 2.5
    return np.array([0.50 + 0.06 * np.cos(turn), -0.28 - 0.22 * np.sin(turn), 1.05 - 0.40 * np.cos(turn)])


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    figure = lw.models.human(root="floating")
    stand = figure.stored_pose("stand")
    feet = [lw.Hold(f"{side}_foot", pose=figure.forward(stand, frame=f"{side}_foot")) for side in ("left", "right")]

    def goals(time: float) -> list[lw.goals.Goal]:
        return [
            *feet,
            lw.Reach("right_hand", position=ball(time)),
            lw.LookAt("eyes", at=ball(time), tolerance=0.02),
            lw.Balance(over=FEET),
        ]

    times = np.arange(26) / 10
    # Each frame is solved from the standing pose, so that the figure returns to it.
    found = [lw.solve(figure, goals(time), start=stand, method="damped", tolerance=1e-4) for time in times]
    clip = lw.Clip(figure, times, np.array([solution.q for solution in found]))
    missed = np.linalg.norm(clip.forward(frame="right_hand")[:, :3, 3] - [ball(time) for time in times], axis=1).max()
    slide = max(np.ptp(clip.forward(frame=f"{side}_foot")[:, :3, 3], axis=0).max() for side in ("left", "right"))
    reached = sum(solution.success for solution in found)
    print(f"{reached} of {len(clip)} frames: the hand within {missed:.1e} m of the ball, the feet move {slide:.1e} m")
    lw.draw.film(clip, out / "reaching.html", trail="right_hand", title="Reaching for a ball")
    lw.draw.film(clip, out / "reaching.png", frames=4, end=1.9, trail="right_hand", view=(12, -35))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
