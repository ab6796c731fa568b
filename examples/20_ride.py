"""A fairground ride.

A mast turns, eight arms rise and fall one after the other, and a car spins on each. The acceleration that a rider feels
comes from the path.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw

ARMS, SECONDS, FPS = 8, 8.0, 24
COLORS = [(0.80, 0.29, 0.26), (0.95, 0.77, 0.27), (0.40, 0.66, 0.36), (0.25, 0.50, 0.75)]


def disc(radius: float, height: float, at: float, color: tuple[float, float, float]) -> lw.Visual:
    return lw.Visual(lw.Cylinder(radius, height), np.array([0.0, 0.0, at]), color)


def octopus() -> lw.Linkage:
    steel, dark = (0.62, 0.66, 0.72), (0.23, 0.26, 0.30)
    foot = [disc(2.0, 0.3, 0.15, dark), disc(0.45, 3.2, 1.6, steel)]
    b = lw.Builder("octopus", shape=foot)
    b.continuous("mast", "hub", at=(0, 0, 3.2), shape=lw.Visual(lw.Sphere(0.7), color=dark))
    for k in range(ARMS):
        angle = 2 * np.pi * k / ARMS
        out = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        arm, color = lw.bone((0.5, 0, 0), (4.5, 0, -0.8), 0.12, steel), COLORS[k % len(COLORS)]
        b.revolute(f"lift{k}", f"arm{k}", parent="hub", rotation=out, axis="-y", limits=("-25deg", "35deg"), shape=arm)
        car = [disc(0.75, 0.25, -0.3, color), lw.bone((0.3, -0.45, 0), (0.3, 0.45, 0), 0.2, color)]
        b.continuous(f"spin{k}", f"car{k}", at=(4.5, 0, -0.8), shape=car)
    return b.frame("rider", at=(0.3, 0, 0.3)).build()


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    ride = octopus()
    times = np.arange(round(SECONDS * FPS) + 1) / FPS
    turn = 2 * np.pi * times / SECONDS
    poses = np.zeros((len(times), ride.nq))
    poses[:, ride.coordinate_index["mast"]] = 2 * turn  # whole turns everywhere, so that the film loops
    for k in range(ARMS):
        poses[:, ride.coordinate_index[f"lift{k}"]] = np.radians(5 + 25 * np.sin(3 * turn + 2 * np.pi * k / ARMS))
        poses[:, ride.coordinate_index[f"spin{k}"]] = (-1) ** k * 5 * turn
    clip = lw.Clip(ride, times, poses)

    path = clip.forward(frame="rider")[:, :3, 3]
    pull = np.gradient(np.gradient(path, times, axis=0), times, axis=0)[2:-2] + np.array([0, 0, 9.81])
    weights = np.linalg.norm(pull, axis=1) / 9.81
    print(f"{ride}: a rider feels {weights.min():.2f} to {weights.max():.2f} times his weight")
    lw.draw.film(clip, out / "ride.html", trail="rider", title="A ride at the fair")
    lw.draw.strip(clip, frames=[0, 12, 24, 36], trail="rider", path=out / "ride.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
