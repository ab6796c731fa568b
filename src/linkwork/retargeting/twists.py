"""Twist bones: share the rotation of a limb about its length evenly along it.

A twist bone beside a limb's bone takes the twist that the limb has at its place, from none at the upper end to all at
the lower; twist bones in the chain itself take equal parts. No bone gets the whole twist, so skins do not wring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..linkage.linkage import Linkage
from ..linkage.poses import rest_pose
from ..motion.splines import product, steady_signs
from ..transforms import FloatArray, steady
from .core import is_twist
from .names import SIDES
from .skeletons import NEXT, Skeleton

BONES = tuple(f"{side}_{part}" for side in SIDES for part in ("shoulder", "elbow", "hip", "knee"))
ASIDE = 0.03  # over bone length: twist bones farther from its axis would move the next joint


@dataclass(frozen=True, eq=False)
class TwistedBone:
    """A bone of a limb with twist bones.

    Args:
        link: Its link.
        after: The link of the next joint.
        axes: Unit vector from its joint to the next, in the coordinates of each link involved, by link.
        inside: Twist bones between the two joints.
        beside: Twist bones attached to it, and their positions along it, from 0 to 1.
    """

    link: int
    after: int
    axes: Mapping[int, FloatArray]
    inside: Sequence[int]
    beside: Mapping[int, float]


def signed(linkage: Linkage, poses: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """Return poses (frames, nq) with continuous signs of quaternions, from the frame before or from positive ones.

    Twists are counted from there, also beyond half a turn.
    """
    first = poses[0].copy() if before is None else before
    for k, _ in linkage.table.quaternions if before is None else ():
        first[k : k + 4] *= -1.0 if first[k] < 0.0 else 1.0
    return steady_signs(linkage, np.concatenate([first[None], poses]))[1:]


def share_twist(skeleton: Skeleton, poses: FloatArray) -> FloatArray:
    """Return poses (frames, nq) in which twist bones take their share; the joints of limbs do not move.

    Args:
        skeleton: The skeleton.
        poses: Its poses, as `signed` returns them.
    """
    linkage, result = skeleton.linkage, poses.copy()
    for role in BONES:
        bone = _twisted(skeleton, role)
        if bone is None:
            continue
        own = _twist(linkage, bone.link, bone.axes[bone.link], result)
        total = own
        if role.endswith("_elbow"):  # the forearm's two bones turn the hand
            total = own + _twist(linkage, bone.after, bone.axes[bone.after], result)
        for link, share in bone.beside.items():
            _turn(linkage, link, bone.axes[link], share * total - own, result)
        for link in bone.inside:
            part = own / (len(bone.inside) + 1)
            _turn(linkage, bone.link, bone.axes[bone.link], -part, result)
            _turn(linkage, link, bone.axes[link], part, result)
    return result


def _twisted(skeleton: Skeleton, role: str) -> TwistedBone | None:
    """Return a bone of a limb if it has twist bones and a ball joint; else None."""
    linkage, after = skeleton.linkage, skeleton.roles.get(NEXT[role])
    if role not in skeleton or after is None:
        return None
    link, last = linkage.link_index(skeleton.roles[role]), linkage.link_index(after)
    path = linkage.path_to(after)[0]
    if link not in path or _column(linkage, link) is None:
        return None
    world = linkage.forward(rest_pose(linkage))
    places = {i: world[linkage.links[i]][:3, 3] for i in range(len(linkage.links))}
    way = places[last] - places[link]
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return None
    way = way / length
    between = path[path.index(link) + 1 : -1]
    apart = {i: places[i] - places[link] - way * (way @ (places[i] - places[link])) for i in between}
    inside = [i for i in between if _is_free_twist(linkage, i) and np.linalg.norm(apart[i]) < ASIDE * length]
    hanging = [i for above in (link, *between) for i in linkage.children[above] if i not in path]
    beside = {
        i: float(np.clip(way @ (places[i] - places[link]) / length, 0.0, 1.0))
        for i in hanging
        if _is_free_twist(linkage, i)
    }
    if not (inside or beside):
        return None
    axes = {i: world[linkage.links[i]][:3, :3].T @ way for i in (link, last, *inside, *beside)}
    return TwistedBone(link, last, axes, inside, beside)


def _is_free_twist(linkage: Linkage, link: int) -> bool:
    return is_twist(linkage, link) and _column(linkage, link) is not None


def _column(linkage: Linkage, link: int) -> int | None:
    """Return the first column of a joint's quaternion in a pose, or None if it has none."""
    joint = linkage.arcs[link]
    elements = [element for element in joint.articulation.elements if element.kind == "ball"]
    return linkage.drives[link].q + elements[0].value if elements and joint.mimic is None else None


def _twist(linkage: Linkage, link: int, axis: FloatArray, poses: FloatArray) -> FloatArray:
    """Return the rotation of a joint about an axis of its link (frames,) [rad]; 0 without a quaternion.

    A rotation is a swing after a twist: the twist about a has the quaternion (w, a · v), normalised.
    """
    column = _column(linkage, link)
    if column is None:
        return np.zeros(len(poses))
    q = poses[:, column : column + 4]
    return np.asarray(2.0 * np.arctan2(q[:, 1:] @ axis, q[:, 0]))


def _turn(linkage: Linkage, link: int, axis: FloatArray, angles: FloatArray, poses: FloatArray) -> None:
    """Turn a joint further about an axis of its link."""
    column = _column(linkage, link)
    if column is None:
        return
    half = angles[:, None] / 2.0
    turn = np.hstack([np.cos(half), np.sin(half) * axis])
    poses[:, column : column + 4] = steady(product(poses[:, column : column + 4], turn))
