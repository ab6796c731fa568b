"""Joints stored as Euler angles, solved for as quaternions, which have no gimbal lock.

Near gimbal lock a small rotation takes large steps of the angles: a solver that stays near given angles can stop far
away and jump back later.
"""

from __future__ import annotations

import numpy as np

from ..linkage.euler_angles import euler_order, turn_values
from ..linkage.joints import Articulation, Ball, Floating
from ..linkage.linkage import Linkage
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


def with_angles(linkage: Linkage, other: Linkage, poses: FloatArray) -> FloatArray:
    """Return poses (frames, nq) of a linkage from those of the one without angles, each set nearest to the one before.

    Args:
        linkage: The linkage.
        other: What `without_angles` made of it.
        poses: Poses of that.
    """
    result = np.empty((len(poses), linkage.nq))
    for k, (joint, solved) in enumerate(zip(linkage.arcs, other.arcs, strict=True)):
        values = poses[:, other.drives[k].columns]
        if joint.articulation != solved.articulation:
            turned = solved.articulation.matrix(values)[:, :3, :3]
            values = np.hstack([values[:, :-4], turn_values(joint.articulation, turned, np.zeros(3))])
        result[:, linkage.drives[k].columns] = values
    return result
