"""The motion of fingers: each bone of the target points like the source's, relative to the palm.

The axes of the palm come from the knuckles, not from the rest pose. A finger that the source does not have follows its
neighbour; if the source has no fingers at all, those of the target rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..goals import turn_between
from ..linkage.linkage import Linkage
from ..linkage.poses import clamped, rest_pose
from ..motion.clips import Clip
from ..transforms import FloatArray, quaternion_matrix, quaternion_product, steady, vector_quaternion
from .frame_blocks import frame_blocks
from .names import DIGITS, PHALANGES, SIDES
from .skeletons import Skeleton

SWEEPS = 6  # of the fit of revolute joints to a direction
SHORTEST = 1e-6  # [m]: points closer than this define no direction
NEIGHBOURS = {
    "thumb": ("thumb",),
    "index": ("index", "middle", "ring", "little"),
    "middle": ("middle", "index", "ring", "little"),
    "ring": ("ring", "middle", "little", "index"),
    "little": ("little", "ring", "middle", "index"),
}


@dataclass(frozen=True, eq=False)
class Bone:
    """A bone of a finger.

    Args:
        path: Links after the bone before it, or after the palm, up to its own.
        way: Its direction, in the coordinates of its link.
        length: Its length [m], 0 if unknown.
    """

    path: tuple[int, ...]
    way: FloatArray
    length: float


@dataclass(frozen=True, eq=False)
class Hand:
    """The palm and the fingers of one hand.

    Args:
        palm: The link that the fingers are attached to.
        axes: Towards the knuckles, towards the thumb and out of the palm, as columns in the coordinates of that link.
        fingers: Bones by finger, from the palm outwards.
    """

    palm: int
    axes: FloatArray
    fingers: dict[str, list[Bone]]


def move_fingers(clip: Clip, source: Skeleton, target: Skeleton, poses: FloatArray) -> FloatArray:
    """Return poses (frames, nq) of the target with the fingers of the source.

    Args:
        clip: The motion of the source.
        source: The source.
        target: The target.
        poses: Its poses so far.
    """
    result, pairs = poses.copy(), {side: (_hand(source, side), _hand(target, side)) for side in SIDES}
    hands = {side: (one, other) for side, (one, other) in pairs.items() if one is not None and other is not None}
    seen = _directions(clip, {side: one for side, (one, _) in hands.items()})
    for side, (one, other) in hands.items():
        for digit, bones in other.fingers.items():
            found = next((name for name in NEIGHBOURS[digit] if name in one.fingers), None)
            if found is None:
                continue
            wanted = _matched(seen[side, found], [bone.length for bone in one.fingers[found]], len(bones))
            _point(target.linkage, bones, [way @ other.axes.T for way in wanted], result)
    return clamped(target.linkage, result)


def _directions(clip: Clip, hands: Mapping[str, Hand]) -> dict[tuple[str, str], list[FloatArray]]:
    """Return the directions of finger bones over a motion, (frames, 3) each in the axes of the palm, by finger."""
    links = clip.linkage.links
    found = {
        (side, digit): [np.empty((len(clip), 3)) for _ in bones]
        for side, hand in hands.items()
        for digit, bones in hand.fingers.items()
    }
    for rows in frame_blocks(len(clip)) if found else ():
        world = clip.linkage.forward(clip.poses[rows])
        palms = {side: world[links[hand.palm]][:, :3, :3] @ hand.axes for side, hand in hands.items()}
        for (side, digit), ways in found.items():
            for way, bone in zip(ways, hands[side].fingers[digit], strict=True):
                turned = world[links[bone.path[-1]]][:, :3, :3] @ bone.way
                way[rows] = np.einsum("tji,tj->ti", palms[side], turned)
    return found


def _hand(skeleton: Skeleton, side: str) -> Hand | None:
    """Return the hand of a side as `hand_of` does, cached in the skeleton."""
    return skeleton.cache.get("hand", side, lambda: (hand_of(skeleton, side),))[0]


def hand_of(skeleton: Skeleton, side: str) -> Hand | None:
    """Return the palm and the fingers on one side, or None if no fingers or no hand are known."""
    linkage = skeleton.linkage
    # A source is judged by its motion; a target by the rest pose of its file, in which fingers are straight.
    rest = rest_pose(linkage) if skeleton.seen is None else skeleton.rest
    world, hand = linkage.forward(rest), f"{side}_hand"
    joints = {
        digit: [skeleton.fingers[role] for k in PHALANGES if (role := f"{side}_{digit}_{k}") in skeleton.fingers]
        for digit in DIGITS
    }
    joints = {digit: links for digit, links in joints.items() if links}
    if not joints or hand not in skeleton:
        return None
    palm = _common(linkage, [linkage.link_index(links[0]) for links in joints.values()])
    turn = world[linkage.links[palm]][:3, :3]
    knuckles = {digit: world[links[-1 if len(links) == 1 else 0]][:3, 3] for digit, links in joints.items()}
    axes = _palm_axes(skeleton.path(hand, rest), knuckles)
    if axes is None:  # from the anatomical axes, of an arm stretched out sideways, palm down
        ahead, left = (world[skeleton.body(hand)][:3, :3] @ skeleton.anatomy[hand]).T[:2]
        out = left if side == "left" else -left
        axes = np.stack([out, ahead, np.cross(out, ahead)], axis=1)
    fingers = {}
    for digit, links in joints.items():
        numbered = f"{side}_{digit}_0" in skeleton.fingers
        fingers[digit] = _bones(linkage, world, palm, links[1:] if numbered else links, axes[:, 0])
    return Hand(palm, turn.T @ axes, {digit: bones for digit, bones in fingers.items() if bones})


def _common(linkage: Linkage, links: Sequence[int]) -> int:
    """Return the last common ancestor of some links."""
    paths = [linkage.path_to(linkage.links[linkage.parents[link]])[0] for link in links]
    shared: list[int] = [step[0] for step in zip(*paths, strict=False) if len(set(step)) == 1]
    return shared[-1]


def _palm_axes(wrist: FloatArray, knuckles: dict[str, FloatArray]) -> FloatArray | None:
    """Return the axes of a palm in the world, or None if the knuckles do not determine them."""
    order = [digit for digit in DIGITS if digit in knuckles]
    flat = [digit for digit in order if digit != "thumb"] or order
    ahead = np.mean([knuckles[digit] for digit in flat], axis=0) - wrist
    across = knuckles[flat[0]] - knuckles[flat[-1]] if len(flat) > 1 else knuckles[order[0]] - knuckles[flat[-1]]
    out = np.cross(ahead, across)
    if np.linalg.norm(out) < 0.05 * np.linalg.norm(ahead) * np.linalg.norm(across) or np.linalg.norm(across) < SHORTEST:
        return None
    ahead, out = ahead / np.linalg.norm(ahead), out / np.linalg.norm(out)
    return np.stack([ahead, np.cross(out, ahead), out], axis=1)


def _bones(
    linkage: Linkage, world: Mapping[str, FloatArray], palm: int, links: Sequence[str], ahead: FloatArray
) -> list[Bone]:
    """Return the bones of a finger from the first links of its joints; the last ends at the tip, or is straight."""
    firsts = [linkage.link_index(link) for link in links]
    result: list[Bone] = []
    above, way = palm, ahead
    for k, first in enumerate(firsts):
        last = linkage.parents[firsts[k + 1]] if k + 1 < len(firsts) else _straight_down(linkage, first)
        path = linkage.path_to(linkage.links[last])[0]
        path = path[path.index(above) + 1 :]
        end = world[linkage.links[firsts[k + 1]]][:3, 3] if k + 1 < len(firsts) else _end(linkage, world, last)
        bone = np.zeros(3) if end is None else end - world[linkage.links[first]][:3, 3]
        length = float(np.linalg.norm(bone))
        way = bone / length if length > SHORTEST else way
        result.append(Bone(tuple(path), world[linkage.links[last]][:3, :3].T @ way, length))
        above = last
    return result


def _straight_down(linkage: Linkage, link: int) -> int:
    """Return the last moving link in the same place as a link: the last of a joint's revolute axes."""
    while True:
        below = [child for child in linkage.children[link] if linkage.arcs[child].articulation.nv]
        if len(below) != 1 or np.linalg.norm(linkage.arcs[below[0]].placement[:3, 3]) > SHORTEST:
            return link
        link = below[0]


def _end(linkage: Linkage, world: Mapping[str, FloatArray], link: int) -> FloatArray | None:
    """Return the tip of a finger: a link or frame after its last joint, or None."""
    names = [linkage.links[child] for child in linkage.children[link]]
    names += [frame.name for frame in linkage.extra_frames if frame.link == linkage.links[link]]
    start = world[linkage.links[link]][:3, 3]
    ends = [world[name][:3, 3] for name in names]
    far = max(ends, key=lambda end: float(np.linalg.norm(end - start)), default=None)
    return None if far is None or np.linalg.norm(far - start) < SHORTEST else far


def _matched(ways: list[FloatArray], lengths: list[float], count: int) -> list[FloatArray]:
    """Return directions (frames, 3) for another number of bones: first and last are kept; one bone takes their sum."""
    if count == 1:
        weights = lengths if min(lengths) > 0.0 else [1.0] * len(lengths)
        chord = np.sum([weight * way for weight, way in zip(weights, ways, strict=True)], axis=0)
        return [chord / np.maximum(np.linalg.norm(chord, axis=1, keepdims=True), SHORTEST)]
    return [ways[round(k * (len(ways) - 1) / (count - 1))] for k in range(count)]


def _point(linkage: Linkage, bones: Sequence[Bone], wanted: Sequence[FloatArray], poses: FloatArray) -> None:
    """Point the bones of a finger along directions in the palm's coordinates, and write its joint values into poses."""
    turned: FloatArray = np.broadcast_to(np.eye(3), (len(poses), 3, 3))
    for bone, way in zip(bones, wanted, strict=True):
        ball = next((arc for arc in bone.path if _is_ball(linkage, arc)), None)
        if ball is not None:
            _turn_ball(linkage, bone, ball, np.einsum("tji,tj->ti", turned, way), poses)
        else:
            _turn_hinges(linkage, bone, np.einsum("tji,tj->ti", turned, way), poses)
        for arc in bone.path:
            turned = turned @ _turn(linkage, arc, poses)


def _is_ball(linkage: Linkage, arc: int) -> bool:
    joint = linkage.arcs[arc]
    return joint.mimic is None and any(element.kind == "ball" for element in joint.articulation.elements)


def _turn(linkage: Linkage, arc: int, poses: FloatArray) -> FloatArray:
    """Return parent_from_child rotations (frames, 3, 3) of a joint."""
    joint, values = linkage.arcs[arc], linkage.drives[arc].values(poses)
    turned: FloatArray = joint.placement[:3, :3] @ joint.articulation.matrix(values)[:, :3, :3]
    return turned


def _turn_ball(linkage: Linkage, bone: Bone, ball: int, wanted: FloatArray, poses: FloatArray) -> None:
    """Turn a ball joint the short way from rest, so that a bone points along directions (frames, 3)."""
    joint, drive = linkage.arcs[ball], linkage.drives[ball]
    element = next(element for element in joint.articulation.elements if element.kind == "ball")
    column = drive.q + element.value
    way = bone.way
    for arc in reversed(bone.path[bone.path.index(ball) + 1 :]):
        way = _turn(linkage, arc, poses[:1])[0] @ way
    before: FloatArray = np.broadcast_to(np.eye(3), (len(poses), 3, 3))
    for arc in bone.path[: bone.path.index(ball)]:
        before = before @ _turn(linkage, arc, poses)
    local = np.einsum("tji,tj->ti", before @ joint.placement[:3, :3], wanted)
    rest = poses[:, column : column + 4]
    turn = vector_quaternion(turn_between(quaternion_matrix(rest) @ way, local))
    poses[:, column : column + 4] = steady(quaternion_product(turn, rest))


def _turn_hinges(linkage: Linkage, bone: Bone, wanted: FloatArray, poses: FloatArray) -> None:
    """Turn the revolute joints of a bone in repeated sweeps, so that it points along directions (frames, 3).

    About one axis a, the angle from v to w is ``atan2(a · (v × w), v · w - (a · v)(a · w))``.
    """
    from scipy.spatial.transform import Rotation

    hinges, last = _hinges(linkage, bone, poses)
    for _ in range(SWEEPS if len(hinges) > 1 else 1):
        for k, (_, axis, column) in enumerate(hinges):
            local = wanted
            for before, turning, at in hinges[:k]:
                local = Rotation.from_rotvec(poses[:, at, None] * turning).apply(local @ before, inverse=True)
            local = local @ hinges[k][0]
            after = np.tile(last @ bone.way, (len(poses), 1))
            for before, turning, at in reversed(hinges[k + 1 :]):
                after = Rotation.from_rotvec(poses[:, at, None] * turning).apply(after) @ before.T
            sine = np.cross(after, local) @ axis
            cosine = (after * local).sum(axis=1) - (after @ axis) * (local @ axis)
            angle = np.where(np.hypot(sine, cosine) > SHORTEST, np.arctan2(sine, cosine), poses[:, column])
            poses[:, column] = _within(angle, float(linkage.lower[column]), float(linkage.upper[column]))


def _within(angles: FloatArray, lower: float, upper: float) -> FloatArray:
    """Return angles within limits; one outside goes to the limit that is nearer, also across a full turn."""
    turns = np.where(angles > upper, -2.0 * np.pi, np.where(angles < lower, 2.0 * np.pi, 0.0))
    other = angles + turns
    inside = np.clip(angles, lower, upper), np.clip(other, lower, upper)
    return np.where(np.abs(other - inside[1]) < np.abs(angles - inside[0]), inside[1], inside[0])


def _hinges(
    linkage: Linkage, bone: Bone, poses: FloatArray
) -> tuple[list[tuple[FloatArray, FloatArray, int]], FloatArray]:
    """Return the revolute axes of a bone (rotation before it, axis, column), and the rotation after all of them."""
    result: list[tuple[FloatArray, FloatArray, int]] = []
    constant: FloatArray = np.eye(3)
    for arc in bone.path:
        joint, drive = linkage.arcs[arc], linkage.drives[arc]
        constant = constant @ joint.placement[:3, :3]
        for element in joint.articulation.elements:
            if element.kind == "revolute" and joint.mimic is None:
                result.append((constant, element.axis, drive.q + element.value))
                constant = np.eye(3)
            else:
                constant = constant @ element.matrix(drive.values(poses[0]))[:3, :3]
    return result, constant
