"""Gears, planets, a differential, cams and a Geneva drive.

Joints follow others by a ratio or along a curve, and transmit forces as well as motion.
"""

from __future__ import annotations

import sys
from math import degrees, pi
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    planets = lw.models.planetary(24, 18)
    print(f"planetary: the sun turns {1.0 / planets.drive('carrier').multiplier:.2f} times for one turn of the carrier")
    held = lw.statics(planets, "start", "sun", loads={"carrier": (0, 0, 0, 0, 0, -70.0)})
    print(f"70 N m on its carrier are {abs(float(held.drivers['sun'])):.1f} N m on its sun")

    b = lw.Builder("differential", base="axle").continuous("case", "case", axis="y")
    b.continuous("left", "left", parent="axle", axis="y").continuous("right", "right", parent="axle", axis="y")
    car = b.couple("right", {"case": 2.0, "left": -1.0}).build()
    print(f"differential: case 1.0, left 0.7, right {car.pose(case=1.0, left=0.7)[2]:.1f} turns")

    valve = lw.models.cam_follower(0.02)
    outline = lw.cam_outline(valve, "cam", "roller", roller=0.01)
    print(f"cam: pressure angle up to {degrees(outline.pressure.max()):.1f} deg")
    clip = lw.drive(valve, "cam", np.linspace(0.0, 2 * pi, 49), start="start")
    speed, change = lw.drive_rates(clip, "cam", speed=100.0).of("follower")
    print(f"at 100 rad/s its follower goes {abs(speed).max():.2f} m/s and bears {abs(change).max():.0f} m/s²")
    lw.draw.film(clip, out / "cam.html")

    geneva = lw.models.geneva(6)
    steps = lw.drive(geneva, "crank", np.linspace(-pi, 3 * pi, 97), start="start")
    lw.draw.film(steps, out / "geneva.html")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
