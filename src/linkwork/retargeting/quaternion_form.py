"""Joints stored as Euler angles, solved for as quaternions, which have no gimbal lock.

Near gimbal lock a small rotation takes large steps of the angles: a solver that stays near given angles can stop far
away and jump back later.
"""

from __future__ import annotations

import numpy as np

from ..linkage.euler_angles import euler_order, turn_values
from ..linkage.joints import Articulation, Ball, Floating
from ..linkage.linkage import Linkage
from ..linkage.poses import zero_pose
from ..transforms import FloatArray


def without_angles(linkage: Linkage) -> Linkage:
    """Return a linkage in which joints of Euler angles hold quaternions, but for those with limits.

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
    """Return poses (frames, nq) of a linkage from those of one with the same joints that hold their turns otherwise.

    Angles go on from frame to frame, each set nearest to the one before. A joint that the other does not have, such as
    a root that was set free, stays at zero.

    Args:
        linkage: The linkage.
        other: One with the same links, in the same order.
        poses: Poses of that.
        before: The pose of the linkage in the frame before, where there is one.
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
