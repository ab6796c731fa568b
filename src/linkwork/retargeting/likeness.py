"""Compare a retargeted motion with its source: directions of limbs, and hands in the body.

A limb's direction is that between the centres of its joints; rest poses and axes of links do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..motion.clips import Clip
from ..transforms import FloatArray, cross
from .names import SIDES
from .skeletons import Skeleton

SEGMENTS = {"trunk": ("hips", "neck")} | {
    f"{side}_{name}": (f"{side}_{start}", f"{side}_{end}")
    for side in SIDES
    for name, start, end in (
        ("upper_arm", "shoulder", "elbow"),
        ("forearm", "elbow", "hand"),
        ("thigh", "hip", "knee"),
        ("shank", "knee", "ankle"),
    )
}
PAIRS = {"hips": "hip", "neck": "shoulder"}  # roles taken as the middle of two joints
NEAR_TRUNK = 0.24  # over the trunk's length: a hand closer to its axis is in the body


@dataclass(frozen=True)
class LimbError:
    """Angle between the direction of a limb and the source's [rad].

    Args:
        mean: Mean over the frames.
        worst: Value in the worst frame.
        frame: Number of the worst frame.
    """

    mean: float
    worst: float
    frame: int


def apart(one: FloatArray, other: FloatArray) -> LimbError:
    """Return the angles between directions (frames, 3) and others."""
    angles = np.arctan2(np.linalg.norm(cross(one, other), axis=1), (one * other).sum(axis=1))
    worst = int(angles.argmax())
    return LimbError(float(angles.mean()), float(angles[worst]), worst)


def places(skeleton: Skeleton, clip: Clip, role: str) -> FloatArray | None:
    """Return the positions of a role over a clip, (frames, 3), or None.

    The hips are taken between the hip joints, and the neck of a body without one between the shoulders.
    """
    if (
        (role == "hips" or role not in skeleton)
        and role in PAIRS
        and skeleton.has(*(pair := [f"{side}_{PAIRS[role]}" for side in SIDES]))
    ):
        return np.asarray(np.mean([skeleton.point(one).over(clip.linkage, clip.poses) for one in pair], axis=0))
    return skeleton.point(role).over(clip.linkage, clip.poses) if role in skeleton else None


def limb_errors(
    source: Skeleton, motion: Clip, target: Skeleton, result: Clip
) -> tuple[dict[str, LimbError], tuple[str, ...]]:
    """Return the error of each limb's direction, and the limbs that one of the two bodies lacks."""
    errors: dict[str, LimbError] = {}
    for limb in SEGMENTS:
        ways = [_direction(*body, limb) for body in ((source, motion), (target, result))]
        if ways[0] is not None and ways[1] is not None:
            errors[limb] = apart(ways[0], ways[1])
    return errors, tuple(limb for limb in SEGMENTS if limb not in errors)


def _direction(skeleton: Skeleton, clip: Clip, limb: str) -> FloatArray | None:
    start, end = (places(skeleton, clip, role) for role in SEGMENTS[limb])
    if start is None or end is None:
        return None
    way = end - start
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return None if length.min() <= 0.0 else way / length


def hands_in_body(skeleton: Skeleton, clip: Clip) -> int:
    """Return the number of frames in which a hand is closer to the trunk's axis than the radius of a trunk."""
    start, end = places(skeleton, clip, "hips"), places(skeleton, clip, "neck")
    if start is None or end is None:
        return 0
    way = end - start
    length = np.linalg.norm(way, axis=1)
    inside = np.zeros(len(clip), bool)
    for hand in (places(skeleton, clip, f"{side}_hand") for side in SIDES):
        if hand is not None and length.min() > 0.0:
            along = np.clip(((hand - start) * way).sum(axis=1) / length**2, 0.0, 1.0)
            inside |= np.linalg.norm(hand - start - along[:, None] * way, axis=1) < NEAR_TRUNK * length
    return int(inside.sum())
