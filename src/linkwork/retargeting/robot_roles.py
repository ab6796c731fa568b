"""Roles of limbs made of revolute joints, from the axes of those joints.

The frames of a robot's links may be anywhere along their axes, and their names follow the axes, not the body: a link
called shoulder may lie at the elbow. So a limb is interpreted as a ball, a hinge and a wrist or ankle: the hinge is the
axis that divides it best, and the ball is where the axes before it meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .names import FINGER, LIMBS, SIDES, Meaning
from .outlines import outline, rigid_group
from .skeletons import Point
from .topology import Shape

LEAST_AXES = 3  # of a limb: two for a shoulder, one for an elbow
BALL = 3  # axes of a ball joint
AT_END = 3  # most axes after the hinge: a wrist
ALONG = 0.8  # cosine from which an axis runs along a bone and twists it
NEAR = 0.35  # over bone length: largest distance of a twisting axis from a joint, and between the axes of one wrist
MEETING = 0.1  # over bone length: axes that pass closer to a point meet there
ACROSS = 0.5  # sine of the least angle between a hinge and its bones
SURE = 0.4  # [rad]: least difference of the ranges of an elbow or knee, to tell folding from opening
SETTLING = 6  # iterations of placing the middle joint between the others, and these by it
SHORT = 0.15  # over the longer bone: a shorter one does not count as a bone
LONGEST_FOREARM = 1.1  # over the upper arm, if only a shape defines its length


@dataclass(frozen=True)
class Axis:
    """A revolute joint at rest: its link, a point of its axis and the axis, in the world."""

    link: int
    place: FloatArray
    way: FloatArray

    def nearest(self, point: FloatArray) -> FloatArray:
        """Return the point of the axis nearest to another."""
        return self.place + self.way * (self.way @ (point - self.place))

    def away(self, point: FloatArray) -> float:
        """Return the distance of a point from the axis [m]."""
        return float(np.linalg.norm(point - self.nearest(point)))

    def meets(self, other: Axis) -> FloatArray:
        """Return the point of this axis nearest to another axis; for nearly parallel axes, nearest to its `place`."""
        across = np.cross(self.way, other.way)
        square = float(across @ across)
        if square < 1.0 - ALONG**2:
            return self.nearest(other.place)
        along = np.cross(other.place - self.place, other.way) @ across / square
        return self.place + along * self.way


@dataclass(frozen=True)
class RobotJoint:
    """A joint of a limb, made of one or more revolute joints.

    Args:
        link: The first link that it moves.
        point: Its position.
        hinge: The folding axis of an elbow or knee, in the coordinates of the link, if limits determine its sign.
    """

    link: int
    point: Point
    hinge: FloatArray | None = None


Limb = dict[str, RobotJoint]


def limb_of_joints(shape: Shape, chain: Sequence[int], limb: str, meanings: Sequence[Meaning]) -> Limb:
    """Return the joints of a limb by part of the body, or nothing if its joints are not revolute or do not divide it.

    Args:
        shape: The linkage at rest.
        chain: Links from the trunk, which is not included, to the end that is known; the limb may continue after it.
        limb: ``"arm"`` or ``"leg"``.
        meanings: Meanings of the names of links.
    """
    axes = _axes(shape, _to_the_end(shape.linkage, chain, meanings))
    if axes is None or len(axes) < LEAST_AXES:
        return {}
    found = [_divided(shape, axes, k, limb) for k in range(1, len(axes))]
    return max(found, key=lambda one: one[0])[1]


def arms_beside(shape: Shape, legs: Mapping[str, int]) -> dict[str, int]:
    """Return the last links of two arms of revolute joints without telling names, by side.

    Args:
        shape: The linkage at rest.
        legs: The last links of the legs by side.
    """
    left, right = (shape.places[legs[side]] for side in SIDES)
    across = left - right
    known = {i for leg in legs.values() for i in shape.path(leg)}
    ends: dict[str, list[int]] = {side: [] for side in SIDES}
    for i, below in enumerate(shape.linkage.children):
        axes = _axes(shape, [k for k in shape.path(i) if k not in known])
        if not below and i not in known and axes is not None and len(axes) >= LEAST_AXES:
            ends["left" if (shape.places[i] - (left + right) / 2.0) @ across > 0.0 else "right"].append(i)
    return {side: links[0] for side, links in ends.items()} if all(len(links) == 1 for links in ends.values()) else {}


def mirrored_hinges(shape: Shape, joints: Mapping[str, RobotJoint]) -> dict[str, FloatArray]:
    """Return the hinges of joints by role, without pairs that do not fold as mirror images."""
    result: dict[str, FloatArray] = {}
    for pair in ([f"{side}_{part}" for side in SIDES] for part in ("elbow", "knee")):
        both = [joints[role] for role in pair if role in joints]
        folds = [(shape.turns[one.link] @ one.hinge, one.hinge) for one in both if one.hinge is not None]
        if len(folds) == len(both) == len(SIDES):
            across = shape.places[both[0].link] - shape.places[both[1].link]
            (left, own), (right, other) = folds
            mirrored = 2.0 * across * (across @ right) / (across @ across) - right  # a rotation axis, mirrored
            if left @ mirrored > 0.0:
                result |= dict(zip(pair, (own, other), strict=True))
    return result


def _to_the_end(linkage: Linkage, chain: Sequence[int], meanings: Sequence[Meaning]) -> list[int]:
    """Return a chain with the links that follow it, until it branches or reaches fingers."""
    result = list(chain)
    while True:
        moving = [i for i in linkage.children[result[-1]] if _moves_below(linkage, i)]
        if len(moving) != 1 or meanings[moving[0]].part == FINGER:
            return result
        result.append(moving[0])


def _moves_below(linkage: Linkage, link: int) -> bool:
    """Return whether a link or a descendant moves independently."""
    joint = linkage.arcs[link]
    return (joint.articulation.nv > 0 and joint.mimic is None) or any(
        _moves_below(linkage, child) for child in linkage.children[link]
    )


def _axes(shape: Shape, chain: Sequence[int]) -> list[Axis] | None:
    """Return the axes of a chain's joints at rest; None if one of them is neither revolute nor fixed."""
    result = []
    for i in chain:
        joint = shape.linkage.arcs[i]
        elements = joint.articulation.elements
        if len(elements) > 1 or any(element.kind != "revolute" for element in elements):
            return None
        if elements:
            result.append(Axis(i, shape.places[i], shape.turns[i] @ elements[0].axis))
    return result


def _divided(shape: Shape, axes: Sequence[Axis], k: int, limb: str) -> tuple[float, Limb]:
    """Return a score for dividing a limb at one of its axes, and the limb; 0 and nothing if it cannot fold there.

    The score is high if the shorter of its two bones is long, both are perpendicular to the hinge, and the axes before
    the hinge meet.
    """
    hinge, behind = axes[k], axes[k + 1 : k + 1 + AT_END]
    ball = axes[max(0, k - BALL) : k]
    middle = hinge.place
    for _ in range(SETTLING):  # the middle joint is on its axis, halfway between the others
        top = _ball(ball, middle)
        bends = [axis for axis in behind if axis.away(middle) > NEAR * float(np.linalg.norm(middle - top))]
        end, held = _end(shape, [hinge, *behind], bends, top, middle, limb)
        middle = hinge.nearest((top + end) / 2.0)
    upper, lower = middle - top, end - middle
    lengths = [float(np.linalg.norm(bone)) for bone in (upper, lower)]
    if min(lengths) <= SHORT * max(lengths):
        return 0.0, {}
    slants = [
        float(np.linalg.norm(np.cross(hinge.way, bone / n))) for bone, n in zip((upper, lower), lengths, strict=True)
    ]
    if min(slants) < ACROSS:
        return 0.0, {}
    spread = np.mean([axis.away(top) for axis in axes[:k]]) / lengths[0]  # large for a wrist, after a whole arm
    parts = LIMBS[limb][-3:] if limb == "arm" else LIMBS[limb][:3]
    last = (bends or behind or [hinge])[0]
    sign = _folding(shape, hinge, upper, lower)
    folds = sign * shape.turns[hinge.link].T @ hinge.way if sign else None
    joints = (
        RobotJoint(ball[0].link, _point(shape, ball[-1].link, top)),
        RobotJoint(hinge.link, _point(shape, hinge.link, middle), folds),
        RobotJoint(last.link, _point(shape, held, end)),
    )
    score = min(lengths) * slants[0] * slants[1] / (1.0 + float(spread))
    return score, dict(zip(parts, joints, strict=True))


def _point(shape: Shape, link: int, place: FloatArray) -> Point:
    return Point(shape.linkage.links[link], shape.turns[link].T @ (place - shape.places[link]))


def _twists(axis: Axis, top: FloatArray, end: FloatArray) -> bool:
    """Return whether an axis runs along the bone between two points."""
    bone = end - top
    length = float(np.linalg.norm(bone))
    return abs(float(axis.way @ bone)) > ALONG * length and axis.away(end) < NEAR * length


def _ball(ball: Sequence[Axis], middle: FloatArray) -> FloatArray:
    """Return the centre of a ball of axes, from which the bone goes to a middle joint.

    If the last axis twists the bone, it is the point nearest to all axes, without the first if that passes far from the
    others and carries them like a collar bone. If the last axis bends the limb, it is the point on it from which the
    bone is perpendicular to it, since a thigh may be far from its roll and yaw axes.
    """
    last = ball[-1]
    if len(ball) < 2:
        return last.nearest(middle)
    top = ball[-2].meets(last)
    if not _twists(last, top, middle):
        return last.nearest(middle)
    across = [np.eye(3) - np.outer(axis.way, axis.way) for axis in ball]
    lines = np.concatenate([turn @ axis.place for turn, axis in zip(across, ball, strict=True)])
    nearest: FloatArray = np.linalg.lstsq(np.concatenate(across), lines, rcond=1e-6)[0]
    far = MEETING * float(np.linalg.norm(middle - top))
    return nearest if all(axis.away(nearest) < far for axis in ball) else top


def _end(
    shape: Shape, lower: Sequence[Axis], bends: Sequence[Axis], top: FloatArray, middle: FloatArray, limb: str
) -> tuple[FloatArray, int]:
    """Return the end of the lower bone of a limb, and the link of that point.

    A wrist is at the last axis that bends the hand, an ankle at the first that bends the foot. Without such an axis the
    bone ends where the link's shape, or a fixed link, ends.
    """
    if bends:
        first = bends[0].nearest(middle)
        near = NEAR * float(np.linalg.norm(first - middle))
        joined = [axis for axis in bends if axis.away(first) <= near]
        if limb == "leg":
            return bends[0].meets(joined[1]) if len(joined) > 1 else first, bends[0].link
        last = joined[-1]
        twists = [axis for axis in lower[1:] if axis not in bends and axis.link < last.link]
        return last.meets(twists[0]) if twists else last.nearest(middle), last.link
    return _tip(shape, lower[-1].link, top, middle), lower[-1].link


def _tip(shape: Shape, link: int, top: FloatArray, middle: FloatArray) -> FloatArray:
    """Return the far end of a link: of its shape, its frames and fixed links; else straight on by the upper bone."""
    linkage = shape.linkage
    group = rigid_group(linkage, link)
    local = [outline(linkage, linkage.links[link]), np.stack([place[:3, 3] for place in group.values()])]
    local += [
        (group[index] @ frame.placement)[None, :3, 3]
        for frame in linkage.extra_frames
        if (index := linkage.link_index(frame.link)) in group
    ]
    ways = np.concatenate(local) @ shape.turns[link].T + shape.places[link] - middle
    far = np.linalg.norm(ways, axis=1)
    longest, upper = float(far.max()), float(np.linalg.norm(middle - top))
    if longest <= SHORT * upper:
        return 2.0 * middle - top
    way = ways[far > ALONG * longest].mean(axis=0)
    return np.asarray(middle + way * min(1.0, LONGEST_FOREARM * upper / float(np.linalg.norm(way))))


def _folding(shape: Shape, hinge: Axis, upper: FloatArray, lower: FloatArray) -> float:
    """Return the sign of the rotation that folds a limb: from straight, the one with the larger range within limits.

    It is 0 if both ranges are about equal.
    """
    linkage = shape.linkage
    column = linkage.drives[hinge.link].q
    here, there = (bone - hinge.way * (hinge.way @ bone) for bone in (lower, upper))
    straight = float(np.arctan2(hinge.way @ np.cross(here, there), here @ there))  # from rest
    value = shape.rest[column] + straight
    room = min(linkage.upper[column] - value, np.pi), min(value - linkage.lower[column], np.pi)
    return float(np.sign(room[0] - room[1])) if abs(room[0] - room[1]) > SURE else 0.0
