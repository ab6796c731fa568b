"""Make the pictures of the tutorials: python docs/pictures/make_tutorials.py.

Each page is run as the tests run it, in an empty folder. The pictures show what its names hold afterwards.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.patches
import numpy as np
from made import recorded
from make import shrink
from make_collisions import beside
from make_retargeting import strips
from matplotlib.figure import Figure

import linkwork as lw

HERE = Path(__file__).parent
TUTORIALS = HERE.parent / "tutorials"
sys.path.append(str(HERE.parents[1] / "tests"))
from test_docs import blocks, put_files, run_script, run_session  # noqa: E402

FREE, TOUCHING = "#1f77b4", "#d95f02"
SLICE = 0.06  # [m] either side of y = 0: goals that are drawn


@contextlib.contextmanager
def run(page: str) -> Iterator[dict[str, Any]]:
    """Run the blocks of a page in a folder of its own, stay there, and give the names that they have defined."""
    source, names = TUTORIALS / page, dict[str, Any]({"__name__": "page"})
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            put_files(source, Path(folder))
            for block in blocks(source):
                if block.language == "python":
                    session = block.text.lstrip().startswith(">>>")
                    (run_session if session else run_script)(block, names, f"{page}:{block.line}")
            yield names
        finally:
            os.chdir(before)


def student() -> None:
    """The reach as a strip, and the race."""
    with run("student.md") as names:
        options = {"trail": "tip", "goal": (-20, 5), "frames": [0, 5, 10, 15, 20], "size": (9.6, 2.4)}
        lw.draw.strip(names["clip"], **options).savefig(HERE / "tutorial-student-reach.png", dpi=100)
        lw.draw.race(names["results"]).savefig(HERE / "tutorial-student-race.png", dpi=80)


def robot() -> None:
    """The arm in its cell, upright and leaning; speeds of the joints along the trajectory."""
    with run("robot-engineer.md") as names:
        arm, world, fast = names["arm"], names["world"], names["fast"]
        for name, q in (("upright", names["solution"].q), ("leaning", names["free"].q)):
            lw.draw.clearance(arm, q, world, view=(16, -105), path=f"{name}.png")
        beside([Path("upright.png"), Path("leaning.png")], HERE / "tutorial-robot-cell.png", 420)
        figure = Figure(figsize=(8, 3))
        axes = figure.add_axes((0.09, 0.17, 0.78, 0.78))
        axes.plot(fast.times, fast.velocities / arm.velocity, label=arm.coordinates)
        axes.set(
            xlabel="time [s]", ylabel="speed, as a share of its limit", xlim=(0, fast.duration), ylim=(-1.05, 1.05)
        )
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
        axes.grid(alpha=0.3)
        figure.savefig(HERE / "tutorial-robot-speeds.png", dpi=100)


def animator() -> None:
    """Keys and pins as a strip; the capture above the character."""
    with run("animator.md") as names:
        options: dict[str, Any] = {"trail": "right_hand", "view": (12, -55), "size": (10.8, 2.9)}
        lw.draw.strip(names["clip"], frames=[0, 10, 20, 38, 48, 57], **options).savefig(
            HERE / "tutorial-animator-keys.png", dpi=90
        )
        rows = [("the capture", names["capture"], {}), ("the character", names["walk"], {})]
        strips(HERE / "tutorial-animator-walk.png", rows, (8, 14, 20, 27, 34), height=2.6)


def data() -> None:
    """Goals of a slice through the cell, by whether they can be reached without touching it."""
    with run("data-producer.md") as names:
        arm, cell = names["arm"], names["cell"]
        more = lw.sample_goals(arm, "tip", 20_000, uniform="workspace", avoid=cell, seed=1)
        places = more.targets[:, :3, 3]
        near = np.abs(places[:, 1]) < SLICE
        figure = Figure(figsize=(7, 5.2))
        axes = figure.add_axes((0.1, 0.1, 0.87, 0.87))
        for flag, colour, label in ((True, FREE, "free"), (False, TOUCHING, "every solution touches something")):
            chosen = places[near & (np.asarray(more.free) == flag)]
            axes.plot(chosen[:, 0], chosen[:, 2], ".", color=colour, markersize=4, label=label)
        for obstacle in cell.obstacles:
            x, _, z = obstacle.pose[:3, 3]
            width, _, height = obstacle.shape.size
            axes.add_patch(matplotlib.patches.Rectangle((x - width / 2, z - height / 2), width, height, color="0.4"))
            axes.annotate(obstacle.name, (x, z), xytext=(6, 8), textcoords="offset points", backgroundcolor="white")
        axes.set(xlabel="x [m]", ylabel="z [m]", aspect="equal", ylim=(-1.2, 1.05))
        axes.legend(loc="lower left", framealpha=1)
        figure.savefig(HERE / "tutorial-data-free.png", dpi=90)


if __name__ == "__main__":
    matplotlib.use("Agg")
    with recorded(__file__):
        student()
        robot()
        animator()
        data()
        for picture in sorted(HERE.glob("tutorial-*.png")):
            shrink(picture)
            print(f"{picture.name}: {picture.stat().st_size / 1000:.0f} kB")
