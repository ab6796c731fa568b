"""The moon around the earth around the sun.

Relative motion without limbs: every body needs only one angle, and the path of the moon follows.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    system = lw.models.planets()
    print(system, "with", ", ".join(name for name in system.joints if name.endswith("_orbit")))

    years = np.linspace(0, 1, 97)  # real turns per year; those of the moon relative to the sun
    turns = {"mercury_orbit": 4.15, "venus_orbit": 1.63, "earth_orbit": 1.0, "moon_orbit": 12.37, "mars_orbit": 0.53}
    poses = np.zeros((len(years), system.nq))
    for name, rate in turns.items():
        poses[:, system.coordinate_index[name]] = 2 * np.pi * rate * years
    clip = lw.Clip(system, 4 * years, poses)  # a year in four seconds

    moon, earth = clip.forward(frame="moon")[:, :3, 3], clip.forward(frame="earth")[:, :3, 3]
    apart = np.linalg.norm(moon - earth, axis=1)
    print(f"moon to earth {apart.min():.3f} to {apart.max():.3f}; moon to sun {np.linalg.norm(moon, axis=1).min():.3f} "
          f"to {np.linalg.norm(moon, axis=1).max():.3f}")  # fmt: skip

    lw.draw.strip(clip, frames=[0, 8, 16, 24, 32], trail="moon", view="top", path=out / "planets.png")
    spring = lw.Clip(system, clip.times[:25], clip.poses[:25])
    lw.draw.film(spring, out / "planets.gif", fps=12, trail="moon")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
