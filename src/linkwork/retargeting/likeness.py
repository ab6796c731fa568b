"""How much a retargeted motion looks like its source: directions of limbs, hands in the body, facing.

A limb's direction is the way between its joints' centres; how a body rests and how its links are turned do not matter.
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
PAIRS = {"hips": "hip", "neck": "shoulder"}  # the middle of which joints stands for these
NEAR_TRUNK = 0.24  # of the trunk: a hand nearer to its axis is in the body


@dataclass(frozen=True)
class LimbError:
    """How far the direction of a limb is from the source's [rad].

    Args:
        mean: On average over the frames.
        worst: In the worst frame.
        frame: Which frame that is.
    """

    mean: float
    worst: float
    frame: int


def apart(one: FloatArray, other: FloatArray) -> LimbError:
    """Return how far directions (frames, 3) are from others."""
    angles = np.arctan2(np.linalg.norm(cross(one, other), axis=1), (one * other).sum(axis=1))
    worst = int(angles.argmax())
    return LimbError(float(angles.mean()), float(angles[worst]), worst)


def places(skeleton: Skeleton, clip: Clip, role: str) -> FloatArray | None:
    """Return where a role is over a clip, (frames, 3), or None.

    Hips are between the hip joints. A body without a neck has it between its shoulders.
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
    """Return how far each limb's direction is from the source's, and the limbs that one of the two does not have."""
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
    """Return the number of frames in which a hand is nearer to the trunk's axis than a trunk is thick."""
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
