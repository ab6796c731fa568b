"""Make the pictures of the page on inverse kinematics: python docs/pictures/make_inverse.py.

All come from `lw.draw`, small enough to live beside the text.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from made import recorded
from make import shrink

import linkwork as lw
from linkwork.explain.races import race

HERE = Path(__file__).parent
START = (math.pi / 8, math.pi / 4, math.pi / 4)


def pictures() -> dict[str, tuple[Any, int]]:
    """Return every picture by its name, with its resolution [dots per inch]."""
    arm = lw.models.planar([15, 10, 5])
    laps = race(arm, lw.Reach("tip", position=(-20, 5)), start=START)
    space = lw.explain.workspace(lw.models.two_link(1.5, 1.0), "tip", samples=3000)
    all_ways = lw.explain.workspace(arm, "tip", samples=3000, orientations=8)
    return {
        "figure_21.png": (lw.draw.figure(lw.textbook.figure("5.21")), 110),
        "race.png": (lw.draw.race(laps), 100),
        "workspace.png": (lw.draw.workspace(space), 75),
        "dexterous.png": (lw.draw.workspace(all_ways), 75),
    }


def main() -> None:
    """Make them all and say how large they are."""
    for name, (figure, resolution) in pictures().items():
        figure.savefig(HERE / name, dpi=resolution)
        shrink(HERE / name)
        print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
