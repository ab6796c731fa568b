"""Keys and pins: a hand holds on while the body moves.

Pose keys with different interpolations, and one hand pinned to a rail from 0.8 s to 2.2 s. Then faults are put into a
copy of the motion, reported and repaired.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import linkwork as lw

RAIL = (0.35, 0.25, 1.05)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    human = lw.models.human()
    keys = [
        lw.Key(0.0, "stand", "ease-in"),
        lw.Key(1.0, human.pose(base="wave", waist=(0, 0, 0.15)), "squad"),
        lw.Key(2.0, human.pose(base="wave", waist=(0, 0.25, -0.15)), "squad"),
        lw.Key(3.0, "stand"),
    ]
    pin = lw.Pin(0.8, 2.2, lw.Reach("left_hand", position=RAIL), ease=0.4)
    clip = lw.Timeline(human, [*keys, pin], fps=30, stiff={"left_wrist": 5}).play()
    free = lw.interpolate(human, keys, fps=30)
    off = np.linalg.norm(clip[0.8:2.2].forward(frame="left_hand")[:, :3, 3] - RAIL, axis=1).max()
    print(f"the hand is held to {1e3 * off:.2g} mm while the body plays on")
    shown = [0, 15, 30, 45, 60, 75]
    lw.draw.strip(clip, frames=shown, trail="left_hand", goal=RAIL, view=(12, -35), path=out / "pinned.png")

    figure = Figure(figsize=(7.5, 2.8), layout="constrained")
    axes = figure.subplots()
    for motion, label in ((free, "keys alone"), (clip, "pinned")):
        away = motion.forward(frame="left_hand")[:, :3, 3] - RAIL
        axes.plot(motion.times, np.linalg.norm(away, axis=1), label=label)
    axes.axvspan(pin.start, pin.end, color="0.9")
    axes.set(xlabel="time [s]", ylabel="from hand to rail [m]")
    axes.legend()
    figure.savefig(out / "pins.png", dpi=110)

    poses = clip.poses.copy()
    poses[20, human.coordinate_index["right_elbow"]] += 0.7
    poses[50:56, human.coordinate_index["right_knee"]] = human.upper[human.coordinate_index["right_knee"]] + 0.1
    repair = lw.repair(lw.Clip(human, clip.times, poses))
    print(repair.before, repair, sep="\n\n")
    lw.draw.report(repair.before, path=out / "report.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
