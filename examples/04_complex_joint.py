"""A complex joint as one joint and as three.

A ball-and-socket joint with a quaternion moves like three revolute joints with links of zero length between them.
"""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    b = lw.Builder("leg", base="pelvis", shape=lw.Sphere(0.08))
    b.ball("hip", "thigh", shape=lw.bone((0, 0, 0), (0, 0, -0.45), 0.06))
    b.revolute("knee", "shin", at=(0, 0, -0.45), axis="y", shape=lw.bone((0, 0, 0), (0, 0, -0.42), 0.045))
    leg = b.frame("heel", at=(0, 0, -0.42)).build()
    chain = leg.split()
    for linkage in (leg, chain):
        print(f"{linkage.name}: joints {', '.join(linkage.joints)}; links {', '.join(linkage.links)}")

    q = leg.pose(hip={"euler": ("xyz", ("20deg", "-50deg", "10deg"))}, knee="70deg")
    angles = leg.split_pose(q)
    print("hinges [deg]:", np.degrees(angles).round(2).tolist())
    apart = np.abs(chain.forward(angles, frame="heel") - leg.forward(q, frame="heel")).max()
    print(f"heels apart by {apart:.1e}")

    # Both can move the heel in the same directions: their Jacobians span the same space.
    one, three = leg.jacobian(q, "heel"), chain.jacobian(angles, "heel")
    ranks = [int(np.linalg.matrix_rank(J)) for J in (one, three, np.hstack([one, three]))]
    print("ranks of one, three, both together:", ranks)

    lw.draw.strip([leg.neutral(), q], linkage=leg, path=out / "complex_joint.png")


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ["gallery"]))
