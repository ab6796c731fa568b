"""Synthesis: mechanisms designed for a task.

A four-bar that passes through six points on a line, one that moves a body through four positions, and a slider-crank
with a quick return. Each is driven, drawn with its requirements, and checked.
"""

from __future__ import annotations

import sys
from math import degrees, pi
from pathlib import Path

import numpy as np

import linkwork as lw

LINE = [(0.2, 0.05 * k) for k in range(4, 10)]
POSITIONS = [(0.0, 0.0, 0.0), (1.0, 0.2, 0.3), (2.0, 1.0, 0.8), (2.4, 2.0, 1.5)]


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    best = lw.synthesis.path(LINE)[0]
    print(f"a line: {best}")
    clip = lw.drive(best.linkage, "crank", best.angles[0] + np.linspace(0, 2 * pi, 97), start="start")
    lw.draw.mechanism(clip, trails="point", marks=LINE, path=out / "line.png")
    lw.draw.mechanism(clip, trails="point", marks=LINE, driver="crank", path=out / "line.html")

    carrier = lw.synthesis.motion(POSITIONS)[0]
    print(f"four positions: {carrier}")
    clip = lw.drive(carrier.linkage, "crank", np.linspace(carrier.angles[0], carrier.angles[-1], 49), start="start")
    lw.draw.mechanism(clip, trails="point", marks=POSITIONS, path=out / "carrier.png")

    pump = lw.synthesis.slider_crank(0.1, 1.2)
    print(f"a stroke: {pump}")
    near, far = lw.singular_positions(pump.linkage, "slide", start="start")
    back = degrees(near.q[0] - far.q[0]) % 360.0
    print(f"driven, it goes {1000 * (far.value - near.value):.3f} mm, back in {back:.1f} degrees of the crank")
    turn = lw.drive(pump.linkage, "crank", np.linspace(0, 2 * pi, 97), start="start")
    lw.draw.mechanism(turn, frame=8, dimensions=True, path=out / "pump.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
