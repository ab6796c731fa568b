"""Transfer orientations from one skeleton to another, bone by bone, and fit joint values to them.

A bone of the target is turned so that its anatomical axes (see `anatomy`) are those of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..goals import turn_between
from ..linkage.linkage import Linkage
from ..motion.clips import Clip
from ..motion.frame_files import block_of
from ..transforms import (
    FloatArray,
    axis_rotation,
    quaternion_matrix,
    rotation_vector,
    vector_quaternion,
)
from .anatomy import limb_way, mean_axes
from .bone_fit import OrientedLink, fit_bone
from .frame_blocks import frame_blocks
from .names import SIDES, TRUNK
from .skeletons import Skeleton

MOST_TORSION = 1.0  # [rad]: largest rotation of a foot about its shank
TWISTING = 0.6  # cosine from which an axis runs along a bone and twists it
BOTH_BONES = 4  # number of axes that can point both an upper arm and its forearm, or a thigh and its shank
POINTINGS, POINTED = 6, 0.005  # most fits to a direction, and tolerance of the direction [rad]

# The substitute for a bone that a source does not have.
ARM_ABOVE = {"clavicle": "chest", "shoulder": "chest", "elbow": "shoulder", "hand": "elbow"}
LEG_ABOVE = {"hip": "hips", "knee": "hip", "ankle": "knee", "toe": "ankle"}
SUBSTITUTES = {"chest": "hips", "head": "chest"} | {
    f"{side}_{part}": other if other in TRUNK else f"{side}_{other}"
    for side in SIDES
    for part, other in (ARM_ABOVE | LEG_ABOVE).items()
}
ORIENTED = ("hips", "chest", "head", *(role for role in SUBSTITUTES if "_" in role))


def anatomical_motion(clip: Clip, skeleton: Skeleton, roles: Sequence[str] | None = None) -> dict[str, FloatArray]:
    """Return the anatomical axes in the world of every role over a clip, or of some, shape (frames, 3, 3) each."""
    found = {role: np.empty((len(clip), 3, 3)) for role in (skeleton.anatomy if roles is None else roles)}
    for rows in frame_blocks(len(clip)):
        world = clip.linkage.forward(block_of(clip.poses, rows))
        for role, turned in found.items():
            turned[rows] = world[skeleton.body(role)][..., :3, :3] @ skeleton.anatomy[role]
    return found


def wanted_rotations(skeleton: Skeleton, motion: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return the wanted orientation in the world of each bone of a target, by role: (frames, 3, 3)."""
    result: dict[str, FloatArray] = {}
    for role, local in skeleton.anatomy.items():
        if role in ORIENTED:
            found = role
            while found not in motion and found in SUBSTITUTES:
                found = SUBSTITUTES[found]
            if found in motion:
                result[role] = motion[found] @ local.T
    return result


def torsions(target: Skeleton, axes: Mapping[str, FloatArray]) -> dict[str, float]:
    """Return the rotations of feet about their shanks that match the target's mean torsion, by side [rad].

    Shanks have a torsion of their own, small or large depending on how a skeleton was fitted. A foot that cannot turn
    about its shank would pull the knee sideways to point like the source's. Ankles that can twist are left alone.

    Args:
        target: The target.
        axes: Anatomical axes of the source over its motion, or over representative frames, by role.
    """
    result: dict[str, float] = {}
    for side in SIDES:
        knee, ankle = f"{side}_knee", f"{side}_ankle"
        if not target.has(knee, ankle) or knee not in axes or ankle not in axes or _ankle_twists(target, side):
            continue
        own = {role: target.worlds[target.body(role)][:, :3, :3] @ target.anatomy[role] for role in (knee, ankle)}
        angle = _torsion(own[knee], own[ankle]) - _torsion(axes[knee], axes[ankle])
        if abs(angle) < MOST_TORSION:  # more is no real torsion: a motion that is always bent does not show it
            result[side] = angle
    return result


def without_torsion(torsion: Mapping[str, float], axes: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return anatomical axes with feet rotated about their shanks by the angles from `torsions`."""
    turned = {
        f"{side}_ankle": axes[f"{side}_ankle"] @ axis_rotation(np.array([0.0, 0.0, 1.0]), angle)
        for side, angle in torsion.items()
    }
    return axes | turned


def _torsion(shank: FloatArray, foot: FloatArray) -> float:
    """Return the mean rotation of a foot about its shank [rad], from the axes of both, (frames, 3, 3)."""
    ahead = np.einsum("tji,tj->ti", shank, foot[..., 0]).mean(axis=0)
    return float(np.arctan2(ahead[1], ahead[0]))


def _ankle_twists(skeleton: Skeleton, side: str) -> bool:
    """Return whether an ankle can turn its foot about the shank."""
    linkage, knee, ankle = skeleton.linkage, f"{side}_knee", f"{side}_ankle"
    above, foot = (linkage.link_index(skeleton.body(role)) for role in (knee, ankle))
    shank = skeleton.world[skeleton.body(knee)][:3, :3] @ skeleton.anatomy[knee][:, 2]
    for arc in (i for i in linkage.path_to(linkage.links[foot])[0] if i > above):
        turned = skeleton.world[linkage.links[arc]][:3, :3]
        for element in linkage.arcs[arc].articulation.elements:
            if element.kind == "ball" or (element.kind == "revolute" and abs(turned @ element.axis @ shank) > TWISTING):
                return True
    return False


def joint_values(skeleton: Skeleton, wanted: Mapping[str, FloatArray], begin: FloatArray | None = None) -> FloatArray:
    """Return poses (frames, nq) whose bones have the wanted orientations, as nearly as joints and limits allow.

    Bones are fitted from the root outwards; each compensates for the errors of those before it. Between hips, chest and
    head, ball joints share the rotation evenly. Bones of a limb with few axes match the direction but not the twist.
    `begin` is the pose of the first frame, from the part of the motion before; the rest pose by default.
    """
    linkage = skeleton.linkage
    frames = len(next(iter(wanted.values())))
    poses = np.repeat(skeleton.rest[None], frames, axis=0)
    if begin is not None:
        poses[0] = begin
    reached: dict[int, FloatArray] = {-1: np.broadcast_to(np.eye(3), (frames, 3, 3))}
    for bone in _bones(skeleton, wanted):
        base = reached[bone.above]
        local = np.swapaxes(base, -1, -2) @ bone.wanted
        fit_bone(linkage, bone, local, poses)
        now = linkage.forward(poses, frame=linkage.links[bone.link])[:, :3, :3]
        if bone.way is not None:
            now = _pointed(linkage, bone, bone.way, base, now, poses)
        reached[bone.link] = np.ascontiguousarray(now)  # a view would keep the whole transforms
    return poses


def _pointed(
    linkage: Linkage, bone: OrientedLink, way: FloatArray, base: FloatArray, now: FloatArray, poses: FloatArray
) -> FloatArray:
    """Fit the joints of a bone to its direction, whatever its twist, and return its orientations."""
    for _ in range(POINTINGS):
        off = turn_between(now @ way, bone.wanted @ way)
        if np.abs(off).max() < POINTED:
            break
        least = quaternion_matrix(vector_quaternion(off)) @ now
        fit_bone(linkage, bone, np.swapaxes(base, -1, -2) @ least, poses)
        now = linkage.forward(poses, frame=linkage.links[bone.link])[:, :3, :3]
    return now


def _bones(skeleton: Skeleton, wanted: Mapping[str, FloatArray]) -> list[OrientedLink]:
    linkage = skeleton.linkage
    targets: dict[int, tuple[int, FloatArray]] = {}
    ways: dict[int, FloatArray] = {}
    for role, rotations in wanted.items():
        body = linkage.link_index(skeleton.body(role))
        if body not in targets and _only_points(skeleton, role):
            ways[body] = skeleton.anatomy[role] @ limb_way(role)
        targets.setdefault(body, (linkage.link_index(skeleton.roles[role]), rotations))
    for start, end in (("hips", "chest"), ("chest", "head")):
        if start in wanted and end in wanted:
            _share(skeleton, start, end, wanted, targets)
    result = []
    for link in sorted(targets):
        first, rotations = targets[link]
        path = [link]
        while linkage.parents[path[-1]] >= 0 and linkage.parents[path[-1]] not in targets:
            path.append(linkage.parents[path[-1]])
        path.reverse()
        own = [arc for arc in path if arc >= first]
        moving = own if sum(_turns(linkage, arc) for arc in own) >= 3 else path
        above = linkage.parents[path[0]]
        result.append(OrientedLink(link, above, tuple(path), frozenset(moving), rotations, ways.get(link)))
    return result


def _share(
    skeleton: Skeleton,
    start: str,
    end: str,
    wanted: Mapping[str, FloatArray],
    targets: dict[int, tuple[int, FloatArray]],
) -> None:
    """Share the rotation between two bones equally among the ball joints between them."""
    linkage = skeleton.linkage
    low, high = (linkage.link_index(skeleton.roles[role]) for role in (start, end))
    path = linkage.path_to(linkage.links[high])[0]
    if low not in path:
        return
    balls = [arc for arc in path[path.index(low) + 1 :] if _turns(linkage, arc) == 3]
    first, last = (wanted[role] @ skeleton.anatomy[role] for role in (start, end))
    locals_of = skeleton.cache.get("shares", (start, end), lambda: _shares(skeleton, start, end, balls))
    for k, (arc, local) in enumerate(zip(balls[:-1], locals_of, strict=True), start=1):
        targets.setdefault(arc, (arc, _between(first, last, k / len(balls)) @ local.T))


def _shares(skeleton: Skeleton, start: str, end: str, balls: Sequence[int]) -> list[FloatArray]:
    """Return axes of the links of all ball joints but the last, interpolated between those of two roles."""
    first, last = (skeleton.worlds[skeleton.body(role)][:, :3, :3] @ skeleton.anatomy[role] for role in (start, end))
    worlds = [skeleton.worlds[skeleton.linkage.links[arc]][:, :3, :3] for arc in balls[:-1]]
    return [mean_axes(world, _between(first, last, k / len(balls))) for k, world in enumerate(worlds, start=1)]


def _between(first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    """Return rotations (frames, 3, 3) interpolated between two others."""
    from scipy.spatial.transform import Rotation

    turn = rotation_vector(np.swapaxes(first, -1, -2) @ second)
    result: FloatArray = first @ Rotation.from_rotvec(share * turn).as_matrix()
    return result


def points_both(skeleton: Skeleton, first: str, second: str) -> bool:
    """Return whether the two bones of a limb can be pointed independently."""
    return _turning(skeleton, first, second) >= BOTH_BONES


def _only_points(skeleton: Skeleton, role: str) -> bool:
    """Return whether a bone belongs to a limb with so few axes that only its direction is a goal, not its twist."""
    side, _, part = role.partition("_")
    pair = next((pair for pair in (("shoulder", "elbow"), ("hip", "knee")) if part in pair), None)
    if pair is None:
        return False
    first, second = (f"{side}_{name}" for name in pair)
    return skeleton.has(first, second) and not points_both(skeleton, first, second)


def _turning(skeleton: Skeleton, start: str, end: str) -> int:
    """Return the number of rotation axes of a limb from the bone of one role to that of another; a ball joint has 3."""
    linkage = skeleton.linkage
    path = linkage.path_to(skeleton.body(end))[0]
    first = linkage.link_index(skeleton.roles[start])
    return sum(_turns(linkage, arc) for arc in path if arc >= first)


def _turns(linkage: Linkage, arc: int) -> int:
    """Return the number of rotation axes of a joint; 0 if it follows another."""
    joint = linkage.arcs[arc]
    if joint.mimic is not None:
        return 0
    return sum({"ball": 3, "revolute": 1}.get(element.kind, 0) for element in joint.articulation.elements)


def place_root(skeleton: Skeleton, poses: FloatArray, roles: Sequence[str], wanted: FloatArray) -> None:
    """Slide the root, as far as it can, so that the middle of some roles is at the wanted positions (frames, 3)."""
    joint, drive = skeleton.linkage.arcs[0], skeleton.linkage.drives[0]
    now = np.mean([skeleton.path(role, poses) for role in roles], axis=0)
    way = (wanted - now) @ joint.placement[:3, :3]
    for element in joint.articulation.elements:
        if element.kind == "prismatic":
            poses[:, drive.q + element.value] += way @ element.axis
