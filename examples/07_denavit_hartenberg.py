"""Denavit-Hartenberg tables, read and written.

The Stanford arm is built from its table, and tables of the Panda are computed in both conventions.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def show(table: lw.DHTable) -> None:
    print(f"  {'joint':14} {'theta':>8} {'d':>8} {'a':>8} {'alpha':>8}   ({table.convention})")
    for name, row in zip(table.joints or (), table.rows, strict=True):
        theta, alpha = np.degrees([row.theta, row.alpha]).round(6) + 0.0
        print(f"  {name:14} {theta:8.1f} {row.d:8.4f} {row.a:8.4f} {alpha:8.1f}  {row.kind}")


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    rows = [
        (0, 0.412, 0, "-90deg"),
        (0, 0.154, 0, "90deg"),
        ("-90deg", 0, 0.0203, 0, "P", (0.3, 1.2)),
        (0, 0, 0, "-90deg"),
        (0, 0, 0, "90deg"),
        (0, 0, 0, 0),
    ]
    stanford = lw.from_dh(rows, name="stanford", tool=(0, 0, 0.2))
    q = stanford.pose(j1=0.6, j2="-60deg", j3=0.7, j5="40deg")
    print(stanford, "tip at", stanford.forward(q, frame="tip")[:3, 3].round(4).tolist())

    panda = lw.models.panda()
    print("The Panda, from its frames:")
    for convention in ("standard", "modified"):
        table = panda.as_dh("tip", convention=convention)
        show(table)
        again = lw.from_dh(table)
        poses = panda.random_pose(0, 1000)
        error = np.abs(again.forward(poses, frame="tip") - panda.forward(poses, frame="tip")).max()
        print(f"  1000 random poses through the table and back: largest error {error:.0e}")

    lw.draw.pose(panda, "ready", frames=panda.links[:8], path=out / "denavit_hartenberg.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
