"""Solve joints that are stored as Euler angles in quaternions, which have no gimbal lock.

Near gimbal lock a small rotation needs large steps of the angles, so a solver that stays near given angles can get
stuck and jump back later.
"""

from __future__ import annotations

import numpy as np

from ..linkage.euler_angles import euler_order, turn_values
from ..linkage.joints import Articulation, Ball, Floating
from ..linkage.linkage import Linkage
from ..linkage.poses import zero_pose
from ..transforms import FloatArray


def without_angles(linkage: Linkage) -> Linkage:
    """Return a linkage with quaternions instead of Euler angles, except in joints with limits.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.Builder("arm", base="palm").ball("wrist", "hand", euler="ZXY").build()
        >>> without_angles(arm).coordinates
        ('wrist.w', 'wrist.x', 'wrist.y', 'wrist.z')
    """
    changed: dict[str, Articulation] = {}
    cones = {cone.q for cone in linkage.cones}
    for joint, drive in zip(linkage.arcs, linkage.drives, strict=True):
        free = np.isinf(linkage.lower[drive.columns]).all() and np.isinf(linkage.upper[drive.columns]).all()
        if free and joint.mimic is None and drive.q not in cones and euler_order(joint.articulation) is not None:
            changed[joint.name] = Ball() if isinstance(joint.articulation, Ball) else Floating()
    return linkage.replace(joints=changed) if changed else linkage


def converted(linkage: Linkage, other: Linkage, poses: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """Return poses (frames, nq) of a linkage from those of one whose joints store rotations differently.

    Angles are continuous: each set is the nearest to the one before. A joint that the other linkage does not have, such
    as a root that was made floating, stays at zero.

    Args:
        linkage: The linkage.
        other: A linkage with the same links, in the same order.
        poses: Poses of the other linkage.
        before: The pose of the linkage in the frame before, if there is one.
    """
    result = np.repeat(zero_pose(linkage)[None], len(poses), axis=0)
    for k, (joint, old) in enumerate(zip(linkage.arcs, other.arcs, strict=True)):
        values = poses[:, other.drives[k].columns]
        if joint.articulation != old.articulation:
            if not all(isinstance(one.articulation, Ball | Floating) for one in (joint, old)):
                continue
            turned = old.articulation.matrix(values)[:, :3, :3]
            near = None
            if euler_order(joint.articulation) is not None:
                near = np.zeros(3) if before is None else before[linkage.drives[k].columns][-3:]
            slides = values[:, : -4 if euler_order(old.articulation) is None else -3]
            values = np.hstack([slides, turn_values(joint.articulation, turned, near)])
        result[:, linkage.drives[k].columns] = values
    return result
