"""What the feet of a source do: where they are over time, and when they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..motion.checks import runs
from ..motion.clips import Clip
from ..motion.contacts import Contacts, Mask, Thresholds, Trace, contacts_in, ground_level, mask_of
from ..motion.frame_files import block_of
from ..motion.smoothing import over_spans, smoothed
from ..transforms import FloatArray
from .anatomy import levelled
from .frame_blocks import frame_blocks
from .grounding import LEVEL, flat_soles, upright_shank
from .names import SIDES
from .skeletons import LEGS, Point, Skeleton
from .soles import sole

PARTS = ("ankle", "toe")


@dataclass(frozen=True)
class Footing:
    """When a foot of a source stands.

    Args:
        flat: When the whole sole is at rest on the ground.
        still: When the ankle is at rest, also above toes or beside a knee that stands.
        planted: When the toes are.
        level: Height of the ankle while a sole is on the ground.
        tiptoe: How much higher than usual the joint of the toes is while it stands on their tips, (frames,).
    """

    flat: Mask
    still: Mask
    planted: Mask
    level: float
    tiptoe: FloatArray

    def between(self, rows: slice) -> Footing:
        """Return it over some of the frames."""
        return Footing(self.flat[rows], self.still[rows], self.planted[rows], self.level, self.tiptoe[rows])


@dataclass(frozen=True)
class Stride:
    """What a foot of a source does.

    Args:
        ankle: Places of the ankle (frames, 3).
        footing: When it stands.
    """

    ankle: FloatArray
    footing: Footing


def strides(clip: Clip, skeleton: Skeleton, footing: Mapping[str, Footing], smooth: float) -> dict[str, Stride]:
    """Return what the feet of a source do, by side.

    Args:
        clip: Its motion.
        skeleton: The source, with both legs.
        footing: When its feet stand.
        smooth: Over which time places are smoothed [s].
    """
    ankles = {side: skeleton.path(f"{side}_ankle", clip.poses) for side in footing}
    return {side: Stride(smoothed(ankles[side], clip.times, smooth), one) for side, one in footing.items()}


def footing_of(clip: Clip, skeleton: Skeleton, rules: Contacts) -> dict[str, Footing]:
    """Return when the feet of a source stand, by side, over all of a motion, however long it is.

    Args:
        clip: Its motion.
        skeleton: The source, with both legs.
        rules: What counts as a planted foot.
    """
    legs = {side: skeleton.length(*LEGS[side]) for side in SIDES}
    ankles, toes, upright = _traces(clip, skeleton)
    flat, still, planted = {}, {}, {}
    if isinstance(rules, Thresholds):
        flat = flat_soles(ankles, upright, clip.times, legs, rules)
        for side, leg in legs.items():
            still[side] = _also(flat[side], contacts_in(ankles[side], clip.times, leg=leg, rules=rules))
            planted[side] = still[side]
            if side in toes:
                planted[side] = still[side] | contacts_in(toes[side], clip.times, leg=leg, rules=rules)
    else:
        for side in SIDES:
            below = [one for one in rules if _on(skeleton, f"{side}_ankle", one.frame)]
            upon = [one for one in below if _on(skeleton, f"{side}_toe", one.frame)]
            planted[side] = mask_of(below, None, clip.times)
            flat[side] = still[side] = mask_of([one for one in below if one not in upon], None, clip.times)
    levels = {side: float(np.median(ankles[side].heights[flat[side]])) for side in SIDES if flat[side].any()}
    levels = levels or {side: ground_level(ankles[side].heights) for side in SIDES}
    low = min((ground_level(toe.heights) for toe in toes.values()), default=0.0)
    tips = {side: _tiptoe(toe.heights - low, planted[side], LEVEL * legs[side]) for side, toe in toes.items()}
    nothing = np.broadcast_to(0.0, len(clip))
    return {
        side: Footing(
            flat[side], still[side], planted[side], levels.get(side, min(levels.values())), tips.get(side, nothing)
        )
        for side in SIDES
    }


def _traces(clip: Clip, skeleton: Skeleton) -> tuple[dict[str, Trace], dict[str, Trace], dict[str, Mask]]:
    """Return how ankles and toes move and when shanks stand over ankles, by side; toes where something tells them."""
    points = {side: _toes(skeleton, side) for side in SIDES}
    found: dict[str, list[Trace]] = {}
    upright: dict[str, list[Mask]] = {}
    for rows in frame_blocks(len(clip)):
        first, last = max(rows.start - 1, 0), min(rows.stop + 1, len(clip))  # speeds need a frame before and after
        poses, times = block_of(clip.poses, slice(first, last)), clip.times[first:last]
        inner = slice(rows.start - first, rows.stop - first)
        places = {role: skeleton.path(role, poses) for side in SIDES for role in LEGS[side][1:]}
        paths = {f"{side}_ankle": places[f"{side}_ankle"] for side in SIDES}
        paths |= {f"{side}_toe": point.over(skeleton.linkage, poses) for side, point in points.items() if point}
        for name, path in paths.items():
            trace = Trace.of(path, times)
            found.setdefault(name, []).append(Trace(trace.heights[inner].copy(), trace.speeds[inner]))
        for side in SIDES:
            upright.setdefault(side, []).append(upright_shank(places, side)[inner])
    whole = {
        name: Trace(*(np.concatenate([getattr(one, what) for one in parts]) for what in ("heights", "speeds")))
        for name, parts in found.items()
    }
    ankles, toes = ({side: whole[name] for side in SIDES if (name := f"{side}_{part}") in whole} for part in PARTS)
    return ankles, toes, {side: np.concatenate(parts) for side, parts in upright.items()}


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


def _toes(skeleton: Skeleton, side: str) -> Point | None:
    """Return the point where the toes of a side are; None where nothing tells."""
    foot = sole(skeleton, side)
    return Point(foot.body, foot.toe) if foot.found else None


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
