"""Feet attached to the root of a rig instead of its legs, as in exported rigs for inverse kinematics.

The leg ends in a node without a bone; the foot, which moves the skin, is a separate bone in the same place. In a source
it is the ankle; in a target it is moved along with the end of the leg and given the orientation of the foot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..linkage.joints import Floating
from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..transforms import FloatArray, inverse, steady
from .names import SIDES
from .skeletons import Skeleton

SAME_PLACE = 0.01  # largest distance of a foot from the end of its leg at rest, over the size of the linkage


def detached_foot(linkage: Linkage, end: str) -> str | None:
    """Return the link of the foot at the end of a leg, if it is attached elsewhere; else None.

    Args:
        linkage: The linkage.
        end: The link at which the leg ends; only a link without children can have a detached foot.
    """
    index = linkage.link_index(end)
    if linkage.children[index]:
        return None
    world = linkage.forward(rest_pose(linkage))
    places = np.stack([world[name][:3, 3] for name in linkage.links])
    size = float(np.ptp(places, axis=0).max())
    near = np.linalg.norm(places - places[index], axis=1) < SAME_PLACE * size
    leg = set(linkage.path_to(end)[0])
    found = [
        i
        for i in np.flatnonzero(near).tolist()
        if i not in leg and isinstance(linkage.arcs[i].articulation, Floating) and linkage.arcs[i].mimic is None
    ]
    return linkage.links[found[0]] if len(found) == 1 else None


def with_detached_feet(skeleton: Skeleton) -> Skeleton:
    """Return a skeleton whose ankles are the detached feet, if it has any."""
    feet = {
        role: foot
        for side in SIDES
        if (role := f"{side}_ankle") in skeleton
        and (foot := detached_foot(skeleton.linkage, skeleton.roles[role])) is not None
    }
    return replace(skeleton, roles={**skeleton.roles, **feet}) if feet else skeleton


def carry_feet(linkage: Linkage, turns: Mapping[str, FloatArray], poses: FloatArray) -> FloatArray:
    """Return poses (frames, nq) in which detached feet follow their legs.

    Args:
        linkage: The linkage.
        turns: Wanted orientations in the world of the links at the ends of legs, (frames, 3, 3), by link.
        poses: The poses so far.
    """
    result = poses
    for end, turn in turns.items():
        foot = detached_foot(linkage, end)
        if foot is None:
            continue
        rest = linkage.forward(rest_pose(linkage))
        wanted = np.tile(np.eye(4), (len(poses), 1, 1))
        wanted[:, :3, :3] = turn @ rest[end][:3, :3].T @ rest[foot][:3, :3]
        wanted[:, :3, 3] = linkage.forward(poses, frame=end)[:, :3, 3]
        result = _placed(linkage, foot, wanted, np.array(result))
    return result


def _placed(linkage: Linkage, link: str, wanted: FloatArray, poses: FloatArray) -> FloatArray:
    """Return poses in which a link on a floating joint has the wanted transforms (frames, 4, 4)."""
    from scipy.spatial.transform import Rotation

    index = linkage.link_index(link)
    above = linkage.forward(poses, frame=linkage.links[linkage.parents[index]])
    local = inverse(above @ linkage.arcs[index].placement) @ wanted
    turned = steady(Rotation.from_matrix(local[:, :3, :3]).as_quat(scalar_first=True))
    poses[:, linkage.drives[index].columns] = np.hstack([local[:, :3, 3], turned])
    return poses
