"""Two robots in one linkage.

Two arms on a table, each with a gripper, reach for each other. The motion is retimed as fast as the limits allow and
written as a trajectory for ROS.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def gripper() -> lw.Linkage:
    b = lw.Builder("gripper", base="palm", shape=lw.Box((0.04, 0.1, 0.04)), inertia=lw.Inertia(0.6))
    b.prismatic("left", "left_pad", axis="y", limits=(0, 0.04), at=(0, 0.01, 0.05), shape=lw.Box((0.02, 0.01, 0.06)))
    b.prismatic("right", "right_pad", axis="-y", parent="palm", at=(0, -0.01, 0.05), mimic="left")
    return b.frame("grasp", link="palm", at=(0, 0, 0.08)).build()


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # the trajectory warns that it holds no linkage
    panda = lw.models.panda()
    cell = lw.Linkage([lw.Link("table", lw.Box((0.6, 1.6, 0.04)))], name="cell")
    for side, y in (("left_", 0.5), ("right_", -0.5)):
        cell = cell.attach(panda, "table", prefix=side, at=(0, y, 0.02))
        cell = cell.attach(gripper(), f"{side}tip", prefix=f"{side}hand_")
    print(f"{cell}; the hands are called {', '.join(f.name for f in cell.extra_frames if 'grasp' in f.name)}")

    ready = cell.pose({f"{side}_{joint}": value for side in ("left", "right") for joint, value in named(panda)})
    middle = [lw.Reach(f"{side}_hand_grasp", position=(0.45, y, 0.5)) for side, y in (("left", 0.06), ("right", -0.06))]
    meet = lw.solve(cell, middle, start=ready)
    print(f"both reach the middle: {meet.success}, {meet.residual:.1e} m off")

    slow = lw.interpolate(cell, [(0, ready), (2, meet.q), (4, ready)], fps=30)
    fast = slow.retime(velocity=2.0, acceleration=8.0, fps=100)
    top = np.abs(fast.velocities).max()
    print(f"{slow.duration:g} s become {fast.duration:.2f} s; the fastest joint turns at {top:.2f} rad/s")
    fast.save(out / "cell.trajectory.yaml")
    lw.draw.strip(fast, frames=np.linspace(0, len(fast) - 1, 5).astype(int).tolist(), path=out / "cell.png")
    logging.getLogger("linkwork").setLevel(logging.NOTSET)


def named(panda: lw.Linkage) -> list[tuple[str, float]]:
    return list(zip(panda.coordinates, panda.stored_pose("ready").tolist(), strict=True))


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
