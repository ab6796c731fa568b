"""Three-link arm.

The chapter's planar arm with links of 15, 10 and 5 is built, posed, and its tip position computed.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    b = lw.Builder("arm", base="link0", shape=lw.Box((2.0, 2.0, 0.8)))
    b.revolute("shoulder", "link1", shape=lw.bone((0, 0, 0), (15, 0, 0), 0.7))
    b.revolute("elbow", "link2", at=(15, 0, 0), shape=lw.bone((0, 0, 0), (10, 0, 0), 0.6))
    b.revolute("wrist", "link3", at=(10, 0, 0), shape=lw.bone((0, 0, 0), (5, 0, 0), 0.5))
    b.frame("tip", at=(5, 0, 0))
    arm = b.build()
    print(arm)

    q = arm.pose(shoulder=np.pi / 8, elbow=np.pi / 4, wrist=np.pi / 4)
    x, y, _ = arm.forward(q, frame="tip")[:3, 3]
    print(f"tip at ({x:.3f}, {y:.3f})")

    # By hand, as in the chapter: every link adds its length in the direction of the sum of all angles so far.
    angles = np.cumsum(q)
    by_hand = np.array([15, 10, 5]) @ np.stack([np.cos(angles), np.sin(angles)], axis=1)
    print(f"by hand ({by_hand[0]:.3f}, {by_hand[1]:.3f})")

    lw.draw.pose(arm, q, labels=True, frames=["tip"], path=out / "three_link_arm.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
