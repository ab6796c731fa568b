"""A snake moves forward.

A wave runs through the body. The belly slides easily along the body and hardly sideways; the motion with the least
sideways slip is forward.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

JOINTS, SWAY, WAVES, SECONDS, FPS = 24, 0.85, 1.5, 4.0, 24


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    snake = lw.models.snake(JOINTS, root="planar")
    yaws = np.array([snake.coordinate_index[f"j{k}"] for k in range(1, JOINTS + 1, 2)])
    times = np.arange(round(SECONDS * FPS) + 1) / FPS
    along = WAVES * np.arange(len(yaws)) / len(yaws)
    heading = SWAY * np.sin(2 * np.pi * (times[:, None] / 2 + along))  # of each segment, relative to the course
    bends = np.diff(heading, axis=1, prepend=heading[:, :1])  # a joint turns by the difference of two headings

    poses = np.zeros((len(times), snake.nq))
    poses[:, yaws] = bends
    segments = [f"segment{k}" for k in range(JOINTS + 1)]
    slip = 0.0
    for k in range(1, len(times)):
        q = poses[k - 1]
        sideways = np.stack([snake.jacobian(q, name, axes="local")[1] for name in segments])
        change = np.zeros(snake.nv)
        change[yaws] = bends[k] - bends[k - 1]  # these joints have the same index in velocity and pose
        change[:3] = np.linalg.lstsq(sideways[:, :3], -sideways @ change, rcond=None)[0]
        slip = max(slip, float(np.abs(sideways @ change).max()) * FPS)
        poses[k, :3] = q[:3] + change[:3]
    clip = lw.Clip(snake, times, poses)

    head = clip.forward(frame="head")[:, :3, 3]
    print(f"{len(segments)} pieces; {np.linalg.norm(head[-1] - head[0]):.2f} m ahead in {SECONDS:g} s, "
          f"sideways slip at most {slip:.2f} m/s")  # fmt: skip
    lw.draw.film(clip, out / "snake.html", trail="segment0", title="A snake gets ahead")
    lw.draw.film(clip, out / "snake.png", frames=4, trail="segment0", view=(40, -70))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
