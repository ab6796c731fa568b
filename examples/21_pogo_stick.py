"""A pogo stick.

Free fall in the air, half an oscillation of the spring on the ground, and equal speed where the two meet.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

GRAVITY, DEPTH, HEIGHT, STEP = 9.81, 0.18, 0.35, 0.2  # depth of the spring, height and length of a hop


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    stick = lw.models.pogo_stick()
    speed = np.sqrt(2 * GRAVITY * HEIGHT)  # when it leaves the ground, and when it lands
    flight, contact = 2 * speed / GRAVITY, np.pi * DEPTH / speed
    times = np.arange(0, 3 * (flight + contact), 1 / 24)
    hops, phase = np.divmod(times, flight + contact)
    air, ground = np.minimum(phase, flight), np.maximum(phase - flight, 0)
    values = {
        "travel": STEP * (hops + air / flight) - 0.3,
        "hop": speed * air - GRAVITY * air**2 / 2,
        "lean": np.radians(4) * np.cos(np.pi * (air / flight + ground / contact)),
        "spring": -DEPTH * np.sin(np.pi * ground / contact),
    }
    poses = np.zeros((len(times), stick.nq))
    for name, curve in values.items():
        poses[:, stick.coordinate_index[name]] = curve
    clip = lw.Clip(stick, times, stick.clamp(poses))

    foot = clip.forward(frame="foot")[:, 2, 3]
    grip = clip.forward(frame="left_grip")[:, 2, 3]
    print(f"{flight:.2f} s in the air, {contact:.2f} s on the spring; the foot rises {np.ptp(foot):.3f} m")
    print(f"the grips go from {grip.min():.2f} to {grip.max():.2f} m; the spring pushes with "
          f"{1 + DEPTH * (np.pi / contact) ** 2 / GRAVITY:.1f} times the weight")  # fmt: skip
    lw.draw.film(clip, out / "pogo_stick.html", trail="left_grip", title="A pogo stick")
    lw.draw.film(clip, out / "pogo_stick.png", frames=6, trail="left_grip", view=(12, -70))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
