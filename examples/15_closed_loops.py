"""Closed loops: four-bar, engine, pantograph, walking leg.

Each is driven by one joint through a full turn, with loops closed to 1e-9. Then the singular positions of a four-bar.
"""

from __future__ import annotations

import sys
from math import degrees, pi
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in ("four_bar", "engine", "jansen_leg"):
        mechanism = lw.models.build(name)
        start = next(iter(mechanism.poses))
        begin = mechanism.stored_pose(start)[0]
        clip = lw.drive(mechanism, "crank", begin + np.linspace(0, 2 * pi, 97), start=start)
        assert clip.residuals is not None
        print(f"{name}: {len(mechanism.loops)} loops, closed to {clip.residuals.max():.0e} m through a whole turn")
        lw.draw.strip(clip, frames=[0, 16, 32, 48, 64, 80], path=out / f"{name}.png")

    board = lw.models.pantograph(2.5)
    circle = [(0.12 + 0.03 * np.cos(t), 0.22 + 0.03 * np.sin(t)) for t in np.linspace(0, 2 * pi, 25)]
    drawn = lw.track(board, [lw.Reach("tracer", position=p) for p in circle], start="ready", tolerance=1e-9)
    pen, tracer = (drawn.forward(frame=frame)[:, :2, 3] for frame in ("pen", "tracer"))
    print(f"pantograph: the pen is off 2.5 times the tracer by {abs(pen - 2.5 * tracer).max():.0e} m")

    stuck = lw.models.four_bar(0.4, 0.3, 0.3, 0.25)
    for position in lw.singular_positions(stuck, "crank", start="start"):
        print(f"four-bar where no bar turns round: {position.kind} at {degrees(position.value):.2f} deg")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
