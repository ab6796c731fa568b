"""One motion, many files.

A walk is saved as BVH, GLB, CSV and NPZ, and a robot as URDF. Every file is read back and compared, and each format
reports what it cannot hold.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    logging.getLogger("linkwork").setLevel(logging.ERROR)  # losses are logged as warnings; they are printed below
    walk = lw.models.motion("human")
    hands = walk.forward(frame="left_palm")[:, :3, 3]

    for suffix in (".bvh", ".glb", ".csv", ".npz"):
        path = out / f"walk{suffix}"
        losses = walk.save(path)
        again = lw.load_clip(path, linkage=walk.linkage if suffix == ".csv" else None)
        palm = again.linkage.joint("left_wrist").child  # every format keeps the names of joints
        error = np.abs(again.forward(frame=palm)[:, :3, 3] - hands).max()
        print(f"{path.name}: {path.stat().st_size} bytes, the palm is {error:.1e} m from where it was")
        for remark in losses:
            print(f"  {remark.kind}: {remark.text[:90]}")

    panda = lw.models.panda()
    lw.save(panda, out / "panda.urdf")
    robot = lw.load(out / "panda.urdf", root="floating")
    print(f"panda.urdf: {robot}")
    logging.getLogger("linkwork").setLevel(logging.NOTSET)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
