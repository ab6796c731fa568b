"""Make the pictures of self-motion: python docs/pictures/make_self_motion.py.

All poses of a Panda that leave its hand where it is: as curves over the angle of its last joint, as poses, as a film.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from made import recorded
from make import shrink
from matplotlib.figure import Figure

import linkwork as lw

HERE = Path(__file__).parent
INK, QUIET, FOLD, END = "#263238", "#b0bec5", "#e65100", "#37474f"
COLOURS = ("#3949ab", "#00897b", "#f9a825", "#6d4c41", "#558b2f")
POSES = 4
ACROSS, UP = "panda_joint7", "panda_joint3"


def curves(arm: lw.Linkage, goal: lw.Reach) -> Figure:
    """Draw all curves over the angle of the last joint: thin without limits, thick within them, folds as dots."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(2.1, 1.0, 1.0))
    axes = figure.add_subplot(grid[:, 0])
    x, y = arm.coordinates.index(ACROSS), arm.coordinates.index(UP)
    for curve in lw.solve_all(arm, goal, limits="ignore").curves:
        draw_broken(axes, curve(np.linspace(0, 1, 1500))[:, [x, y]])
    ways = lw.solve_all(arm, goal)
    for k, curve in enumerate(ways.curves):
        poses, colour = np.degrees(curve(np.linspace(0, 1, 600))), COLOURS[k % len(COLOURS)]
        name = f"curve({k}), {curve.length:.1f} rad"
        axes.plot(poses[:, x], poses[:, y], color=colour, label=name, linewidth=2.6, solid_capstyle="round", zorder=3)
        if not curve.closed:
            axes.plot(poses[[0, -1], x], poses[[0, -1], y], "|", color=END, markersize=11, markeredgewidth=2, zorder=4)
        turns = 1 + np.flatnonzero(np.diff(np.sign(np.diff(poses[:, x]))))
        axes.plot(poses[turns, x], poses[turns, y], "o", color=FOLD, markersize=5, zorder=5)
    axes.set(xlabel=f"{ACROSS} [deg]", ylabel=f"{UP} [deg]", xlim=(-40, 120), ylim=(-180, 180))
    axes.set_xticks(range(-30, 121, 30))
    axes.set_yticks(range(-180, 181, 60))
    axes.grid(color="#eceff1")
    axes.plot([], [], "o", color=FOLD, markersize=5, label="fold")
    axes.plot([], [], "|", color=END, markersize=11, markeredgewidth=2, label="end: a joint at its limit")
    axes.plot([], [], color=QUIET, linewidth=1.0, label="beyond limits")
    axes.legend(fontsize=8, loc="lower left", framealpha=0.95)
    for k, s in enumerate(np.linspace(0, 1, POSES)):
        scene = figure.add_subplot(grid[k // 2, 1 + k % 2], projection="3d")
        lw.draw.pose(arm, ways.curve(0)(s), ax=scene, view=(16, -62))
        scene.set_axis_off()
        scene.set_title(f"s = {k}/{POSES - 1}" if k % (POSES - 1) else f"s = {s:.0f}", color=INK, fontsize=10, y=0.95)
    return figure


def draw_broken(axes: object, points: np.ndarray) -> None:
    """Draw a thin line of angles within a turn, broken where it goes once round."""
    turned = np.degrees((points + np.pi) % (2 * np.pi) - np.pi)
    turned[1:][np.abs(np.diff(turned, axis=0)).max(axis=1) > 180] = np.nan
    axes.plot(*turned.T, color=QUIET, linewidth=1.0)  # type: ignore[attr-defined]


def film(arm: lw.Linkage, goal: lw.Reach, path: Path) -> None:
    """Write a film of the longest curve, there and back."""
    there = 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, 61))[:-1]
    clip = lw.Clip(arm, np.arange(60) / 15, lw.solve_all(arm, goal).curve(0)(there))
    lw.draw.film(clip, path, size=(3.6, 3.3), view=(16, -62), trail="panda_link4")


def main() -> None:
    """Make them and say how large they are."""
    arm = lw.models.panda()
    goal = lw.Reach("tip", pose=arm.forward("reach", frame="tip"))
    curves(arm, goal).savefig(HERE / "self-motion.png", dpi=100)
    shrink(HERE / "self-motion.png")
    film(arm, goal, HERE / "self-motion.gif")
    for name in ("self-motion.png", "self-motion.gif"):
        print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    with recorded(__file__):
        main()
