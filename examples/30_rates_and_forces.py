"""Rates and forces: an engine under load, a four-bar.

An engine runs at 3,000 revolutions per minute under gas pressure. Velocities, accelerations and the forces in every pin
are computed from its closed loop, without finite differences.
"""

from __future__ import annotations

import sys
from math import degrees, pi
from pathlib import Path

import numpy as np

import linkwork as lw

SPEED = 3000 * 2 * pi / 60  # of the crank [rad/s]
GAS = 5000.0  # force on the piston while it moves down [N]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    motor = lw.models.engine()
    turn = np.linspace(0.0, 2 * pi, 97)
    clip = lw.drive(motor, "crank", turn)
    speed, change = lw.drive_rates(clip, "crank", speed=SPEED).of("piston")
    print(f"piston at 3,000 turns a minute: up to {abs(speed).max():.1f} m/s and {abs(change).max():.0f} m/s²")

    load = np.zeros((len(turn), 3))
    load[turn < pi, 2] = -GAS
    held = lw.statics(motor, clip.poses, "crank", loads={"pin": load})
    best = int(np.argmax(abs(held.drivers["crank"])))
    wall = abs(held.joints["piston"][:, 0]).max()
    most = abs(held.drivers["crank"][best])
    print(f"gas of {GAS:.0f} N: {most:.0f} N m at {degrees(turn[best]):.0f} deg of the crank")
    print(f"the wall of the cylinder bears up to {wall:.0f} N")

    bars = lw.models.four_bar()
    swing = lw.drive(bars, "crank", turn, start="start")
    angle = np.degrees(lw.transmission_angle(bars, swing.poses, "crank", "rocker"))
    print(f"four-bar: transmission angle from {angle.min():.1f} to {angle.max():.1f} deg")
    lw.draw.film(swing, out / "four_bar.html", trail="point")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
