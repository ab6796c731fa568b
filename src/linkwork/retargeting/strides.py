"""Motion and ground contacts of a source's feet."""

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
    """Ground contacts of a foot of a source.

    Args:
        flat: Whether the whole sole is at rest on the ground, (frames,).
        still: Whether the ankle is at rest, also while standing on the toes or kneeling, (frames,).
        planted: Whether the toes are at rest, (frames,).
        level: Height of the ankle while a sole is on the ground.
        tiptoe: Extra height of the toes' joint while standing on tiptoe, (frames,).
    """

    flat: Mask
    still: Mask
    planted: Mask
    level: float
    tiptoe: FloatArray

    def between(self, rows: slice) -> Footing:
        """Return the contacts of some of the frames."""
        return Footing(self.flat[rows], self.still[rows], self.planted[rows], self.level, self.tiptoe[rows])


@dataclass(frozen=True)
class Stride:
    """Motion and contacts of a foot of a source.

    Args:
        ankle: Positions of the ankle (frames, 3).
        footing: Its contacts.
    """

    ankle: FloatArray
    footing: Footing


def strides(clip: Clip, skeleton: Skeleton, footing: Mapping[str, Footing], smooth: float) -> dict[str, Stride]:
    """Return the strides of a source's feet, by side.

    Args:
        clip: Its motion.
        skeleton: The source, with both legs.
        footing: Contacts of its feet.
        smooth: Smoothing time of positions [s].
    """
    ankles = {side: skeleton.path(f"{side}_ankle", clip.poses) for side in footing}
    return {side: Stride(smoothed(ankles[side], clip.times, smooth), one) for side, one in footing.items()}


def footing_of(clip: Clip, skeleton: Skeleton, rules: Contacts) -> dict[str, Footing]:
    """Return the contacts of a source's feet, by side, over a motion of any length.

    Args:
        clip: Its motion.
        skeleton: The source, with both legs.
        rules: Criteria for a planted foot.
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
    """Return traces of ankles and of known toes, and whether shanks are upright (frames,), all by side."""
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
    """Return strides for wider hips: each foot moves outwards with its hip, so that the directions of legs are kept.

    Args:
        steps: Strides of the source, by side.
        hips: Anatomical axes of its hips over time, (frames, 3, 3).
        wider: Extra width of the hips, in the scale of the source [m].
    """
    left = levelled(hips)[..., 1] * (wider / 2.0)
    out = {"left": left, "right": -left}
    return {side: replace(stride, ankle=stride.ankle + out[side]) for side, stride in steps.items()}


def _toes(skeleton: Skeleton, side: str) -> Point | None:
    """Return the point of the toes of a side; None if it is unknown."""
    foot = sole(skeleton, side)
    return Point(foot.body, foot.toe) if foot.found else None


def _also(mask: Mask, more: Mask) -> Mask:
    """Return a mask with those stretches of another that do not overlap it."""
    result = mask.copy()
    for first, last in runs(more):
        result[first : last + 1] |= not mask[first : last + 1].any()
    return result


def _tiptoe(heights: FloatArray, planted: Mask, least: float) -> FloatArray:
    """Return the mean height of toes over each contact, if it exceeds `least`; else 0, (frames,)."""
    mean = over_spans(heights, planted, lambda part: part.mean(keepdims=True))
    return np.where(planted & (mean > least), mean, 0.0)


def _on(skeleton: Skeleton, role: str, frame: str) -> bool:
    """Return whether a frame is on a role's link or a descendant of it."""
    linkage = skeleton.linkage
    return role in skeleton and linkage.link_index(skeleton.roles[role]) in linkage.path_to(frame)[0]
