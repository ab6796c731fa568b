"""Four-legged bodies: a robot dog, and a fox with the names and hierarchy of animation programs."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def robot(names: str = "{leg}_{part}") -> lw.Linkage:
    """Return a typical robot dog: hip abduction, thigh, calf, no foot; with a standing keyframe."""
    b = lw.Builder("robot", base="base", root=lw.Floating())
    for leg, x, y in (("FL", 0.19, 0.05), ("FR", 0.19, -0.05), ("RL", -0.19, 0.05), ("RR", -0.19, -0.05)):
        hip, thigh, calf = (names.format(leg=leg, part=part) for part in ("hip", "thigh", "calf"))
        out = 0.095 if y > 0 else -0.095
        b.revolute(f"{hip}_joint", hip, axis="x", limits=(-1.05, 1.05), parent="base", at=(x, y, 0))
        b.revolute(f"{thigh}_joint", thigh, axis="y", limits=(-1.6, 3.5), at=(0, out, 0))
        sole = lw.Visual(lw.Sphere(0.022), (0, 0, -0.213))
        b.revolute(f"{calf}_joint", calf, axis="y", limits=(-2.72, -0.84), at=(0, 0, -0.213), shape=sole)
    bare = b.build()
    stand = {
        f"{leg}_{part}_joint": value
        for leg in ("FL", "FR", "RL", "RR")
        for part, value in (("thigh", 0.9), ("calf", -1.8))
    }
    return (
        bare.replace(poses={"home": bare.pose(stand, base=np.r_[0, 0, 0.287, 1, np.zeros(15)])})
        if "{leg}" in names
        else bare
    )


def fox(mirrored: bool = False) -> lw.Linkage:
    """Return a fox of ball joints; its legs have the names of arms and legs, as in animation programs."""
    b = lw.Builder("fox", base="Armature", root=lw.Fixed())
    b.joint("b_Hip", "b_Hip", lw.Floating(), at=(0.27, 0, 0.43)).ball("Spine1", "Spine1", at=(-0.05, 0, 0.12))
    b.ball("Spine2", "Spine2", at=(-0.22, 0, 0)).ball("Neck", "Neck", at=(-0.25, 0, 0)).ball(
        "Head", "Head", at=(-0.1, 0, 0.1)
    )
    b.ball("Tail1", "Tail1", parent="b_Hip", at=(0.13, 0, 0.1)).ball("Tail2", "Tail2", at=(0.1, 0, -0.1))
    for side, sign in (("Left", -1.0), ("Right", 1.0)):  # it faces -x, so its left is -y
        y = 0.07 * (-sign if mirrored else sign)
        b.ball(f"{side}UpperArm", f"{side}UpperArm", parent="Spine2", at=(-0.18, y, -0.05))
        b.ball(f"{side}ForeArm", f"{side}ForeArm", at=(0.02, 0, -0.23)).ball(
            f"{side}Hand", f"{side}Hand", at=(-0.02, 0, -0.2)
        )
        b.ball(f"{side}UpLeg", f"{side}UpLeg", parent="b_Hip", at=(0.03, y, 0.06)).ball(
            f"{side}Leg", f"{side}Leg", at=(-0.03, 0, -0.19)
        )
        b.ball(f"{side}Foot", f"{side}Foot", at=(0.1, 0, -0.15)).ball(f"{side}Toe", f"{side}Toe", at=(-0.05, 0, -0.14))
    return b.build()
