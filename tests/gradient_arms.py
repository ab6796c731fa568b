"""Arms by name, and motions of targets, for tests of derivatives with three libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.transforms import FloatArray


def slides() -> lw.Linkage:
    """Return an arm of prismatic joints, a screw and revolute joints; another joint follows one of these."""
    b = lw.Builder("slides").prismatic("rail", "cart", axis="x", limits=(-2.0, 2.0)).revolute("turn", "post", axis="z")
    b = b.prismatic("lift", "head", axis="z", limits=(0.0, 1.5), at=(0.0, 0.1, 0.3)).revolute("nod", "boom", axis="y")
    b = b.screw("drill", "bit", axis="x", lead=0.2, at=(0.4, 0.0, 0.0)).revolute("tilt", "tool", axis="z")
    return b.frame("tip", at=(0.1, 0.2, 0.1)).build()


def balls() -> lw.Linkage:
    """Return an arm with a ball joint, a quaternion among its values, at the shoulder."""
    b = lw.Builder("balls").ball("shoulder", "upper").revolute("elbow", "fore", axis="y", at=(0.3, 0.0, 0.0))
    return b.revolute("wrist", "hand", axis="x", at=(0.25, 0.0, 0.0)).frame("tip", at=(0.1, 0.05, 0.0)).build()


def five() -> lw.Linkage:
    """Return an arm of five joints, which cannot follow every motion of its target."""
    return lw.models.ur5().freeze(lw.models.ur5().joints[-1], at=0.3)


ARMS: dict[str, Any] = {
    "panda": lw.models.panda,  # seven joints
    "ur5": lw.models.ur5,  # six, in closed form
    "stanford": lw.models.stanford,  # six, one of them prismatic
    "scara": lw.models.scara,  # four
    "planar": lambda: lw.models.planar([2.0, 1.5, 1.0]),
    "slides": slides,
    "balls": balls,
    "five": five,
}


def moved(targets: FloatArray, twists: FloatArray) -> FloatArray:
    """Return poses (..., 4, 4) moved by twists (..., 6) about their origins, along the world's axes."""
    result = np.array(np.broadcast_to(targets, (*np.broadcast_shapes(targets.shape[:-2], twists.shape[:-1]), 4, 4)))
    result[..., :3, :3] = (
        Rotation.from_rotvec(twists[..., 3:].reshape(-1, 3)).as_matrix().reshape(*twists.shape[:-1], 3, 3)
        @ targets[..., :3, :3]
    )
    result[..., :3, 3] += twists[..., :3]
    return result


def twist_between(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the twist (..., 6) that moves one pose (..., 4, 4) to another."""
    turn = (second[..., :3, :3] @ np.swapaxes(first[..., :3, :3], -1, -2)).reshape(-1, 3, 3)
    angles = Rotation.from_matrix(turn).as_rotvec().reshape(*first.shape[:-2], 3)
    return np.concatenate([second[..., :3, 3] - first[..., :3, 3], angles], axis=-1)
