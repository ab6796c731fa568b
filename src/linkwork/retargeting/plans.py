"""Plan the hips and hands of the target, frame by frame, from those of the source.

The path of the hips is scaled by the length of the legs and adapted to them, that of the hands by the arms, about the
shoulders.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ..linkage.linkage import Frame, Linkage
from ..motion.smoothing import smooth_cover, smoothed
from ..motion.splines import smooth as smooth_step
from ..transforms import FloatArray, translation
from .feet import FootPlan
from .names import SIDES
from .skeletons import ARMS, LEGS, Point, Skeleton
from .transfer import place_root, points_both

LONGEST_LEG = 0.999  # largest extension of a leg over its length: never quite straight
SETTLING = 0.25  # [s]: time in which the hips give way to legs that are too short
LOW, SOFT = 0.2, 0.06  # [m]: height below which hands are kept above the ground, and softness of that limit
GIVING_WAY = 0.1  # [s]: smoothing time of hands and hips that give way to limits
IN_THE_AIR = 0.01  # weight of a swinging leg against a planted one, when hips give way to legs
STEEPEST = 3.0  # largest lowering of the hips, over the length that a leg lacks
SHORTEST = 1e-6  # [m]: shorter limbs are ignored
HANDS_MEET = 0.8  # over arm length: hands closer together than this keep their distance


def plan_hips(
    target: Skeleton, poses: FloatArray, places: FloatArray, feet: dict[str, FootPlan], times: FloatArray
) -> None:
    """Move the root of poses so that the middle of the hips is at `places`, or near them if the legs require it.

    Legs that point like the source's do not end at the scaled positions of its feet, because thighs, shanks and feet
    have other proportions. So the hips are moved by the error of the planted legs, and lowered where legs would be too
    short.
    """
    hips = [f"{side}_hip" for side in SIDES]
    place_root(target, poses, hips, places)
    off = []
    for side, foot in feet.items():
        knee, ankle = (target.path(f"{side}_{part}", poses) for part in ("knee", "ankle"))
        off.append(foot.ankle - knee - (foot.strain @ (ankle - knee)[..., None])[..., 0])
    weights = [IN_THE_AIR + foot.toe_grip[:, None] for foot in feet.values()]
    total = smoothed(np.sum(weights, axis=0), times, GIVING_WAY)
    moved = smoothed(np.sum([w * one for w, one in zip(weights, off, strict=True)], axis=0), times, GIVING_WAY)
    places = places + moved / total
    drop = np.zeros(len(places))
    for side, foot in feet.items():
        hip = target.path(f"{side}_hip", poses) + moved / total
        leg = LONGEST_LEG * target.length(*LEGS[side])
        way = hip - foot.ankle
        room = np.sqrt(np.maximum(leg**2 - way[:, 0] ** 2 - way[:, 1] ** 2, 0.0))
        lack = np.maximum(np.linalg.norm(way, axis=1) - leg, 0.0)
        lower = np.minimum(way[:, 2] - room, STEEPEST * lack)  # a leg that is spread gains little by lower hips
        drop = np.maximum(drop, foot.near_ground(leg) * np.minimum(lower, 0.2 * leg))
    place_root(target, poses, hips, places - smooth_cover(drop, times, SETTLING)[:, None] * (0.0, 0.0, 1.0))


def plan_hands(
    source: Skeleton, target: Skeleton, places: Mapping[str, FloatArray], poses: FloatArray, times: FloatArray
) -> dict[str, FloatArray]:
    """Return goal positions of the target's hands by side: the ends of its arms if they point like the source's.

    Where the source's hands are close together, those of the target keep the same distance, scaled, so that they can
    hold an object together.

    Args:
        source: The source.
        target: The target.
        places: Positions of the source's roles over time, (frames, 3).
        poses: The target's poses so far, which define the positions of its shoulders.
        times: Times of the frames.
    """
    result: dict[str, FloatArray] = {}
    arms = [roles for roles in ARMS.values() if source.has(*roles) and target.has(*roles)]
    arms = [roles for roles in arms if min(source.length(*roles), target.length(*roles)) >= SHORTEST]
    scales = [target.length(*roles) / source.length(*roles) for roles in arms]
    for roles, scale in zip(arms, scales, strict=True):
        shoulder, side = roles[0], roles[0].partition("_")[0]
        apart = target.path(shoulder, poses) - scale * places[shoulder]
        result[side] = scale * places[shoulder] + smoothed(apart, times, GIVING_WAY)  # limits cause kinks
        for start, end in pairwise(roles):  # proportions of upper arm and forearm may differ
            bone = places[end] - places[start]
            length = np.maximum(np.linalg.norm(bone, axis=1, keepdims=True), SHORTEST)
            result[side] = result[side] + target.length(start, end) / length * bone
        if not points_both(target, *roles[:2]):  # with too few axes, take the hand as the arm reaches it
            result[side] = target.path(roles[-1], poses)
    if len(result) == len(SIDES):
        apart = places["left_hand"] - places["right_hand"]
        arm = np.mean([source.length(*roles) for roles in arms])
        near = np.clip(2.0 * (1.0 - np.linalg.norm(apart, axis=1) / (HANDS_MEET * arm)), 0.0, 1.0)
        share = smooth_step(near)[:, None] / 2.0
        lack = np.mean(scales) * apart - (result["left"] - result["right"])
        result["left"], result["right"] = result["left"] + share * lack, result["right"] - share * lack
    return result


def above_ground(heights: FloatArray, source: FloatArray) -> FloatArray:
    """Return heights (frames,) of hands that stay at least as far above the ground as the source's, scaled."""
    least = (source + LOW - np.hypot(source - LOW, SOFT)) / 2.0
    return np.asarray((heights + least + np.hypot(heights - least, SOFT)) / 2.0)


def with_points(
    target: Skeleton, feet: Mapping[str, FootPlan], hands: Mapping[str, FloatArray]
) -> tuple[Linkage, dict[str, dict[str, str]]]:
    """Return a target's linkage with frames at ankles, toes and hands, and their names by side."""
    linkage = target.linkage
    points = {
        (side, part): Point(foot.sole.body, getattr(foot.sole, part))
        for side, foot in feet.items()
        for part in ("ankle", "toe")
    }
    points |= {(side, "hand"): target.point(f"{side}_hand") for side in hands}
    added: list[Frame] = []
    names: dict[str, dict[str, str]] = {side: {} for side in SIDES}
    for (side, part), point in points.items():
        name = f"{side} {part} of the plan"
        while name in linkage.frames:
            name += "'"
        added.append(Frame(name, point.link, translation(point.place)))
        names[side][part] = name
    key = tuple((*where, point.link, point.place.tobytes()) for where, point in points.items())
    frames: Any = [*linkage.extra_frames, *added]
    return linkage.cache.get("with points", key, lambda: linkage.replace(frames=frames)), names
