"""Where feet, hips and hands of the target should be, frame by frame, from those of the source.

Feet and hips are scaled by the legs, hands by the arms about their shoulders; planted feet are put flat on the ground,
which is z = 0, and kept there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..linkage.linkage import Frame, Linkage
from ..motion.contacts import Mask
from ..motion.smoothing import faded, over_spans, smoothed
from ..motion.splines import smooth as smooth_step
from ..transforms import FloatArray, translation
from .anatomy import levelled
from .names import SIDES
from .skeletons import ARMS, LEGS, Point, Skeleton
from .soles import Sole, sole
from .strides import Stride
from .transfer import place_root

BLEND = 0.15  # [s]: time in which the correction of a planted foot fades away
LONGEST_LEG = 0.999  # of its length: a leg is never quite straight
LIFTING = 0.05  # [s]: within which a swinging foot is lifted off a ground it would enter
SETTLING = 0.25  # [s]: time over which the hips give way to legs that are too short
LOW, SOFT = 0.2, 0.06  # [m]: hands lower than the first keep above the ground; how softly they do
GIVING_WAY = 0.1  # [s]: over which time hands and hips give way where limits make them
IN_THE_AIR = 0.01  # how much a leg that swings counts beside one that stands, where hips give way to legs
SHORTEST = 1e-6  # [m]: shorter limbs are ignored
TOE_TIPS = 0.5  # of the toes' length: points farther ahead are raised out of the ground by the toes, others by the foot
MOST_RAISED = 1.5  # [rad] that toes are bent up
HANDS_MEET = 0.8  # of an arm: hands nearer than that are kept as far apart as they were


@dataclass(frozen=True)
class FootPlan:
    """A foot of the target over time.

    Args:
        sole: The foot.
        ankle: Where the ankle should be, (frames, 3).
        toe: Where the toes should be.
        rotation: How its link should be turned, (frames, 3, 3).
        planted: When its toes stand on the ground.
        flat: When the whole sole does.
        still: When the heel is at rest, on the ground or above it.
        toe_grip: How firmly the toes stand, from 0 to 1, which they reach smoothly.
        heel_grip: The same of the heel.
        toes_down: How much the toes lie on the ground, from 0 to 1; not while it stands on their tips.
    """

    sole: Sole
    ankle: FloatArray
    toe: FloatArray
    rotation: FloatArray
    planted: Mask
    flat: Mask
    still: Mask
    toe_grip: FloatArray
    heel_grip: FloatArray
    toes_down: FloatArray

    def lifted(self, higher: FloatArray) -> FootPlan:
        """Return a foot that goes higher by so much, (frames,)."""
        up = higher[:, None] * (0.0, 0.0, 1.0)
        return replace(self, ankle=self.ankle + up, toe=self.toe + up)


def plan_foot(
    target: Skeleton, side: str, steps: Stride, axes: FloatArray, scale: float, times: FloatArray
) -> FootPlan:
    """Return where a foot of the target should be: scaled, put flat and kept still where it is planted.

    Args:
        target: The skeleton it belongs to.
        side: Which foot.
        steps: What the source's foot does.
        axes: Anatomical axes of the source's foot over time, (frames, 3, 3).
        scale: Length of the target's legs over that of the source's.
        times: Times of the frames.
    """
    from scipy.spatial.transform import Rotation

    foot, local = sole(target, side), target.anatomy[f"{side}_ankle"]
    blend = max(2, round(BLEND / float(np.median(np.diff(times))))) if len(times) > 1 else 2
    if steps.flat.any():  # what the source shows while its sole is on the ground is level
        tilt = Rotation.from_matrix(np.swapaxes(axes, -1, -2)[steps.flat] @ levelled(axes[steps.flat])).mean()
        axes = axes @ tilt.as_matrix()
    kept = over_spans(axes, steps.still, lambda part: Rotation.from_matrix(part).mean().as_matrix()[None])
    kept = np.where(steps.flat[:, None, None], levelled(kept), kept)
    turns = Rotation.from_matrix(kept @ np.swapaxes(axes, -1, -2)).as_rotvec()
    axes = Rotation.from_rotvec(faded(turns, steps.still, blend)).as_matrix() @ axes
    rotation = axes @ local.T
    ankle = scale * steps.ankle
    ankle[:, 2] = scale * (steps.ankle[:, 2] - steps.level) + foot.height
    way = rotation @ (foot.toe - foot.ankle)
    drop = float((foot.toe - foot.ankle) @ local[:, 2])
    toe = over_spans(ankle + way, steps.planted, lambda part: part.mean(axis=0)[None])
    tiptoe = scale * steps.tiptoe if f"{side}_toe" in target else np.zeros(len(times))
    toe[steps.planted, 2] = foot.height + drop + tiptoe[steps.planted]
    ankle = ankle + faded(toe - way - ankle, steps.planted, blend)
    masks = (steps.planted, steps.still, steps.planted & (tiptoe == 0.0))
    grips = [_grip(mask, blend) for mask in masks]
    ankle[:, 2] += lift(-foot.planned(ankle, rotation), grips[0], times)
    return FootPlan(foot, ankle, ankle + way, rotation, steps.planted, steps.flat, steps.still, *grips)


def _grip(mask: Mask, blend: int) -> FloatArray:
    """Return 1 where a mask holds, falling smoothly to 0 within some frames of it, (frames,)."""
    from scipy.ndimage import distance_transform_edt

    if not mask.any():
        return np.zeros(len(mask))
    away = distance_transform_edt(~mask) / blend
    return 1.0 - smooth_step(away.clip(0.0, 1.0))


def lift(depth: FloatArray, grip: FloatArray, times: FloatArray) -> FloatArray:
    """Return how much higher a foot goes that would be so deep in the ground, (frames,): smoothly while it swings."""
    depth = np.maximum(depth, 0.0)
    return np.maximum(depth, (1.0 - grip) * smooth_cover(depth, times, LIFTING))


def widened(mask: Mask, times: FloatArray) -> Mask:
    """Return a mask that begins earlier and ends later, by the time in which corrections fade."""
    from scipy.ndimage import binary_dilation

    width = max(1, round(BLEND / float(np.median(np.diff(times))))) if len(times) > 1 else 1
    return np.asarray(binary_dilation(mask, iterations=width)) if mask.any() else mask


def plan_toes(target: Skeleton, side: str, foot: FootPlan, bend: FloatArray, times: FloatArray) -> FloatArray:
    """Return how the toes of a foot should be turned, (frames, 3, 3).

    They are bent as the source's are, flat where they stand, and raised where they would be in the ground.

    Args:
        target: The skeleton they belong to.
        side: Which foot.
        foot: What the foot does.
        bend: How the source's toes are turned, seen from the foot, (frames, 3, 3).
        times: Times of the frames.
    """
    from scipy.spatial.transform import Rotation

    local = target.anatomy
    ankle = foot.rotation @ local[f"{side}_ankle"]
    axes = ankle @ bend
    flat = Rotation.from_matrix(levelled(axes) @ np.swapaxes(axes, -1, -2)).as_rotvec()
    axes = Rotation.from_rotvec(foot.toes_down[:, None] * flat).as_matrix() @ axes
    points = foot.sole.shapes.get(target.body(f"{side}_toe"), np.zeros((0, 3))) @ local[f"{side}_toe"]
    raised = smooth_cover(_raised(axes, points, foot.toe[:, 2]), times, LIFTING)
    axes = Rotation.from_rotvec(-raised[:, None] * axes[:, :, 1]).as_matrix() @ axes
    turned: FloatArray = axes @ local[f"{side}_toe"].T
    return turned


def _raised(axes: FloatArray, points: FloatArray, height: FloatArray) -> FloatArray:
    """Return by how much toes bend up until their tips are out of the ground, (frames,) [rad].

    A point at a distance r from the joint, which is at a height h, and at an angle a above the level, is out of it
    after a turn t if ``h + r sin(a + t) >= 0``.

    Args:
        axes: Anatomical axes of the toes, (frames, 3, 3).
        points: Points of their surface in these axes, (points, 3).
        height: Of their joint above the ground, (frames,).
    """
    tips = points[points[:, 0] > TOE_TIPS * points[:, 0].max(initial=0.0)]
    if not len(tips):
        return np.zeros(len(axes))
    ahead, left, up = axes[:, 2].T[..., None]  # how high these axes point
    x, y, z = tips.T
    cosine, sine = x * ahead + z * up, x * up - z * ahead
    need = -(height[:, None] + y * left) / np.maximum(np.hypot(cosine, sine), SHORTEST)
    turns = np.arcsin(np.clip(need, -1.0, 1.0)) - np.arctan2(cosine, sine)
    return np.asarray(turns.max(axis=1).clip(0.0, MOST_RAISED))


def plan_hips(
    target: Skeleton, poses: FloatArray, places: FloatArray, feet: dict[str, FootPlan], times: FloatArray
) -> None:
    """Move the root of poses so that the middle of the hips is in its places, or near them where legs want that.

    Legs that point as the source's do end elsewhere than the scaled places of its feet, since thighs, shanks and feet
    have other proportions. The hips give way by as much as the legs that stand are off, and are lower where legs would
    be too short.
    """
    hips = [f"{side}_hip" for side in SIDES]
    place_root(target, poses, hips, places)
    off = [foot.ankle - target.path(f"{side}_ankle", poses) for side, foot in feet.items()]
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
        drop = np.maximum(drop, np.minimum(way[:, 2] - room, 0.2 * leg))
    place_root(target, poses, hips, places - smooth_cover(drop, times)[:, None] * (0.0, 0.0, 1.0))


def smooth_cover(values: FloatArray, times: FloatArray, within: float = SETTLING) -> FloatArray:
    """Return a smooth curve that is nowhere below values (frames,), which are zero or more; it rises within a time."""
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    width = max(1, round(within / float(np.median(np.diff(times))))) if len(times) > 1 else 1
    above = maximum_filter1d(np.maximum(values, 0.0), 2 * width + 1, mode="nearest")
    result: FloatArray = gaussian_filter1d(above, width / 3.0, mode="nearest", truncate=3.0)
    return result


def plan_hands(
    source: Skeleton, target: Skeleton, places: Mapping[str, FloatArray], poses: FloatArray, times: FloatArray
) -> dict[str, FloatArray]:
    """Return where the hands of the target should be, by side: where its arms end if they point as the source's do.

    Where the source's hands are near each other, those of the target are as far apart, scaled: what they hold stays in
    them.

    Args:
        source: The source.
        target: The target.
        places: Where the roles of the source are over time, (frames, 3).
        poses: The target's poses so far, which say where its shoulders are.
        times: Times of the frames.
    """
    result: dict[str, FloatArray] = {}
    arms = [roles for roles in ARMS.values() if source.has(*roles) and target.has(*roles)]
    arms = [roles for roles in arms if min(source.length(*roles), target.length(*roles)) >= SHORTEST]
    scales = [target.length(*roles) / source.length(*roles) for roles in arms]
    for roles, scale in zip(arms, scales, strict=True):
        shoulder, side = roles[0], roles[0].partition("_")[0]
        apart = target.path(shoulder, poses) - scale * places[shoulder]
        result[side] = scale * places[shoulder] + smoothed(apart, times, GIVING_WAY)  # limits put kinks into it
        for start, end in pairwise(roles):  # upper arm and forearm may have other proportions than the source's
            bone = places[end] - places[start]
            length = np.maximum(np.linalg.norm(bone, axis=1, keepdims=True), SHORTEST)
            result[side] = result[side] + target.length(start, end) / length * bone
    if len(result) == len(SIDES):
        apart = places["left_hand"] - places["right_hand"]
        arm = np.mean([source.length(*roles) for roles in arms])
        near = np.clip(2.0 * (1.0 - np.linalg.norm(apart, axis=1) / (HANDS_MEET * arm)), 0.0, 1.0)
        share = smooth_step(near)[:, None] / 2.0
        lack = np.mean(scales) * apart - (result["left"] - result["right"])
        result["left"], result["right"] = result["left"] + share * lack, result["right"] - share * lack
    return result


def above_ground(heights: FloatArray, source: FloatArray) -> FloatArray:
    """Return heights (frames,) of hands that do not come nearer to the ground than the source's, scaled, do."""
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
