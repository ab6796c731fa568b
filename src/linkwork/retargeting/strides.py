"""What the feet of a source do: where they are over time, and when they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Contacts, Mask, Thresholds, find_contacts, ground_level, mask_of
from ..motion.smoothing import over_spans, smoothed
from ..transforms import FloatArray
from .anatomy import levelled
from .grounding import LEVEL, flat_soles
from .names import SIDES
from .skeletons import LEGS, Point, Skeleton
from .soles import sole


@dataclass(frozen=True)
class Stride:
    """What a foot of a source does.

    Args:
        ankle: Places of the ankle (frames, 3).
        flat: When the whole sole is at rest on the ground.
        still: When the ankle is at rest, also above toes or beside a knee that stands.
        planted: When the toes are.
        level: Height of the ankle while a sole is on the ground.
        tiptoe: How much higher than usual the joint of the toes is while it stands on their tips, (frames,).
    """

    ankle: FloatArray
    flat: Mask
    still: Mask
    planted: Mask
    level: float
    tiptoe: FloatArray


def strides(clip: Clip, skeleton: Skeleton, rules: Contacts, smooth: float) -> dict[str, Stride]:
    """Return what the feet of a source do, by side.

    Args:
        clip: Its motion.
        skeleton: The source, with both legs.
        rules: What counts as a planted foot.
        smooth: Over which time places are smoothed [s].
    """
    legs = {side: skeleton.length(*LEGS[side]) for side in SIDES}
    places = {role: skeleton.path(role, clip.poses) for side in SIDES for role in LEGS[side][1:]}
    toes = {side: path for side in SIDES if (path := _toes(clip, skeleton, side)) is not None}
    ankles = {side: places[f"{side}_ankle"] for side in SIDES}
    flat, still, planted = {}, {}, {}
    if isinstance(rules, Thresholds):
        known = rules == Thresholds() and clip is skeleton.seen and skeleton.posed is None
        flat = dict(skeleton.sight.flat) if known else flat_soles(places, clip.times, legs, rules)
        for side, leg in legs.items():
            still[side] = _also(flat[side], find_contacts(ankles[side], clip.times, leg=leg, rules=rules))
            planted[side] = still[side]
            if side in toes:
                planted[side] = still[side] | find_contacts(toes[side], clip.times, leg=leg, rules=rules)
    else:
        for side in SIDES:
            below = [one for one in rules if _on(skeleton, f"{side}_ankle", one.frame)]
            upon = [one for one in below if _on(skeleton, f"{side}_toe", one.frame)]
            planted[side] = mask_of(below, None, clip.times)
            flat[side] = still[side] = mask_of([one for one in below if one not in upon], None, clip.times)
    levels = {side: float(np.median(ankles[side][flat[side], 2])) for side in SIDES if flat[side].any()}
    levels = levels or {side: ground_level(ankles[side][:, 2]) for side in SIDES}
    low = min((ground_level(toe[:, 2]) for toe in toes.values()), default=0.0)
    return {
        side: Stride(
            smoothed(ankles[side], clip.times, smooth),
            flat[side],
            still[side],
            planted[side],
            levels.get(side, min(levels.values())),
            _tiptoe(toes[side][:, 2] - low, planted[side], LEVEL * legs[side]) if side in toes else np.zeros(len(clip)),
        )
        for side in SIDES
    }


def astride(steps: Mapping[str, Stride], hips: FloatArray, wider: float) -> dict[str, Stride]:
    """Return strides for hips that are wider: each foot as far outwards as its hip is, so that legs point as they did.

    Args:
        steps: What the feet of the source do, by side.
        hips: Anatomical axes of its hips over time, (frames, 3, 3).
        wider: By how much the hips are wider, in the lengths of the source [m].
    """
    left = levelled(hips)[..., 1] * (wider / 2.0)
    out = {"left": left, "right": -left}
    return {side: replace(stride, ankle=stride.ankle + out[side]) for side, stride in steps.items()}


def _toes(clip: Clip, skeleton: Skeleton, side: str) -> FloatArray | None:
    """Return where the toes of a side are, (frames, 3); None where nothing tells."""
    foot = sole(skeleton, side)
    return Point(foot.body, foot.toe).over(skeleton.linkage, clip.poses) if foot.found else None


def _also(mask: Mask, more: Mask) -> Mask:
    """Return a mask with those stretches of another that have nothing in common with it."""
    result = mask.copy()
    for first, last in runs(more):
        result[first : last + 1] |= not mask[first : last + 1].any()
    return result


def _tiptoe(heights: FloatArray, planted: Mask, least: float) -> FloatArray:
    """Return how high toes are in each stretch in which they stand, if that is more than a least height; else 0."""
    mean = over_spans(heights, planted, lambda part: part.mean(keepdims=True))
    return np.where(planted & (mean > least), mean, 0.0)


def _on(skeleton: Skeleton, role: str, frame: str) -> bool:
    """Return whether a frame is part of what hangs on a role's link."""
    linkage = skeleton.linkage
    return role in skeleton and linkage.link_index(skeleton.roles[role]) in linkage.path_to(frame)[0]
