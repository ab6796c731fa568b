"""Keep feet planted while they are in contact, and synchronise steps when two motions are combined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..errors import KeyFrameError
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .checks import runs
from .contacts import Contact, Mask, branch, contacts_of, mask_of
from .frame_goals import GoalTrack, follow
from .keys import check_number
from .smoothing import faded, smoothed
from .splines import steady_signs

if TYPE_CHECKING:
    from .clips import Clip

EASE = 0.15  # time in which a corrected foot returns to its path [s]
# Weights of the goals: factors on metres and radians.
PLANTED, LANDING, SWINGING, TRUNK, STYLE = 30.0, 3.0, 0.3, 2.0, 0.1
SETTLING = 0.03  # time over which corrections of a standing leg are smoothed [s]
SWEEPS = 8  # rounds that restore the distances between parts of a foot
RIGID = 1e-3  # parts whose distance changes by less while both stand belong to one foot [m]
LEAST = 2  # smallest number of matching footsteps for synchronising two motions
FASTEST = 3.0  # largest factor on the speed of a motion for synchronising it


def plant(clip: Clip, contacts: Sequence[Contact] | None = None, ease: float = EASE) -> Clip:
    """Return a motion with planted feet kept in place; see `Clip.plant`."""
    if check_number(ease, "ease") < 0.0:
        raise KeyFrameError(
            f"ease (the time in which a foot returns to its path) must be zero or more seconds, got {ease!r}."
        )
    listed = contacts_of(clip) if contacts is None else list(contacts)
    names = list(dict.fromkeys(contact.frame for contact in listed))
    masks = {name: mask_of(listed, name, clip.times) for name in names}
    return planted(clip, {name: mask for name, mask in masks.items() if mask.any()}, ease)


def planted(
    clip: Clip, masks: Mapping[str, Mask], ease: float = EASE, *, since: float = -np.inf, until: float = np.inf
) -> Clip:
    """Return a motion in which parts stay at their mean position while their masks are true.

    Args:
        clip: The motion.
        masks: In which frames each part is planted, by the name of its frame.
        ease: Time in which a part returns to its path [s].
        since: Contacts that end before this time are not changed [s].
        until: Contacts that begin after this time are not changed [s].
    """
    times = clip.times
    chosen = {name: _between(mask, times, since, until) for name, mask in masks.items()}
    chosen = {name: mask for name, mask in chosen.items() if mask.any()}
    if not chosen or len(clip) < 2:
        return clip
    blend = max(2, round(ease / float(np.median(np.diff(times)))))
    near = faded(np.ones((len(clip), 1)), np.any(list(chosen.values()), axis=0), blend)[:, 0] > 0.0
    poses = clip.poses.copy()
    for first, last in runs(near):  # outside these runs, the motion is unchanged
        part = slice(first, last + 1)
        inside = replace(clip, times=times[part], poses=clip.poses[part], residuals=None)
        poses[part] = _held(inside, {name: mask[part] for name, mask in chosen.items() if mask[part].any()}, blend)
    return replace(clip, poses=steady_signs(clip.linkage, poses), residuals=None)


def _between(mask: Mask, times: FloatArray, since: float, until: float) -> Mask:
    result = np.zeros_like(mask)
    for first, last in runs(mask):
        if times[last] >= since and times[first] <= until:
            result[first : last + 1] = True
    return result


def _held(clip: Clip, masks: Mapping[str, Mask], blend: int) -> FloatArray:
    """Return the poses of a motion with parts held at their contact positions."""
    linkage, ones = clip.linkage, np.ones(len(clip))
    paths = {name: clip.forward(frame=name)[:, :3, 3] for name in masks}
    tracks = []
    for name, right in _corrected_paths(clip, paths, masks, blend).items():
        grip = faded(ones[:, None], masks[name], blend)[:, 0].clip(0.0, 1.0)
        weights = np.where(masks[name], PLANTED, SWINGING + (LANDING - SWINGING) * grip)
        tracks.append(GoalTrack("place", name, right, weights))
    root = linkage.links[0]
    tracks.append(GoalTrack("place", root, clip.forward(frame=root)[:, :3, 3], TRUNK * ones))
    tracks.append(GoalTrack("pose", "", clip.poses, STYLE * ones))
    return follow(linkage, tracks, clip.poses[0])


def _corrected_paths(
    clip: Clip, paths: Mapping[str, FloatArray], masks: Mapping[str, Mask], blend: int
) -> dict[str, FloatArray]:
    """Return the corrected path of each part, constant while it stands. Standing parts move the rest of their leg."""
    spots = _spots(clip.linkage, paths, masks)
    legs: dict[int, list[str]] = {}
    for name in paths:
        legs.setdefault(branch(clip.linkage, name), []).append(name)
    result = {}
    for names in legs.values():
        stands = np.stack([masks[name] for name in names])
        moves = np.stack([spots[name] - paths[name] for name in names])
        whole = (stands[..., None] * moves).sum(axis=0) / np.maximum(stands.sum(axis=0), 1)[:, None]
        whole = smoothed(faded(whole, np.asarray(stands.any(axis=0)), blend), clip.times, SETTLING)
        for name, mask, move in zip(names, stands, moves, strict=True):
            result[name] = paths[name] + whole + faded(move - whole, mask, blend)
    return result


def _spots(linkage: Linkage, paths: Mapping[str, FloatArray], masks: Mapping[str, Mask]) -> dict[str, FloatArray]:
    """Return the contact position of each part over time, (frames, 3); its path while it does not stand.

    Distances between parts of one foot are preserved; parts that stand longer determine the positions of the others.
    """
    spots = {name: path.copy() for name, path in paths.items()}
    standing = [(last - first, name, first, last) for name, mask in masks.items() for first, last in runs(mask)]
    settled: list[tuple[str, int, int]] = []
    for _, name, first, last in sorted(standing, key=lambda one: -one[0]):
        spot = np.median(paths[name][first : last + 1], axis=0)
        for other, begin, end in settled * SWEEPS:
            low, high = max(first, begin), min(last, end)
            if low > high or branch(linkage, other) != branch(linkage, name):
                continue
            apart = np.linalg.norm(paths[name][low : high + 1] - paths[other][low : high + 1], axis=1)
            way = spot - spots[other][low]
            length = float(np.linalg.norm(way))
            if np.ptp(apart) < RIGID and length > 0.0:
                spot = spots[other][low] + way * (float(apart.mean()) / length)
        spots[name][first : last + 1] = spot
        settled.append((name, first, last))
    return spots


def footsteps(clip: Clip) -> dict[int, Mask]:
    """Return in which frames each leg stands, by the first joint of the leg."""
    legs: dict[int, Mask] = {}
    for contact in contacts_of(clip):
        leg = branch(clip.linkage, contact.frame)
        legs[leg] = legs.get(leg, np.zeros(len(clip), np.bool_)) | mask_of([contact], contact.frame, clip.times)
    return legs


def in_step(clip: Clip, other: Clip) -> FloatArray | None:
    """Return the times of another motion, one for each frame of this one, that synchronise their footsteps.

    Footsteps of both motions are paired in order, with the shift that matches most of them. Between paired footsteps,
    the other motion is played at constant speed. Return None if too few footsteps match.
    """
    ours, theirs = (_strikes(one) for one in (clip, other))
    pairs = max((_paired(ours, theirs[k:]) for k in range(len(theirs))), key=len, default=[])
    if len(pairs) < LEAST:
        return None
    here, there = np.array(pairs).T
    pace = float(np.median(np.diff(there) / np.diff(here)))
    times = np.interp(clip.times, here, there)
    times = np.where(clip.times < here[0], there[0] - (here[0] - clip.times) * pace, times)
    times = np.where(clip.times > here[-1], there[-1] + (clip.times - here[-1]) * pace, times)
    within: FloatArray = np.clip(times, other.times[0], other.times[-1])
    return within


def _strikes(clip: Clip) -> list[tuple[float, int]]:
    """Return the times when legs touch down, with the leg, in order; legs that stand at the beginning do not count."""
    found = [
        (float(clip.times[first]), leg) for leg, mask in footsteps(clip).items() for first, _ in runs(mask) if first
    ]
    return sorted(found)


def _paired(ours: Sequence[tuple[float, int]], theirs: Sequence[tuple[float, int]]) -> list[tuple[float, float]]:
    """Return the times of matching footsteps of the same leg, beginning with the first of the other motion."""
    pairs: list[tuple[float, float]] = []
    k = 0
    for time, leg in ours:
        if k < len(theirs) and theirs[k][1] == leg:
            pairs.append((time, theirs[k][0]))
            k += 1
        elif pairs:
            break
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(pairs)]
    return pairs if all(0.0 < here / FASTEST <= there <= here * FASTEST for here, there in steps) else []


def masks_beside(clip: Clip, other: Clip, times: FloatArray, share: FloatArray) -> dict[str, Mask]:
    """Return which parts are planted in a blend of two motions: those of the motion with the larger weight.

    Args:
        clip: The motion that defines the frames of the blend.
        other: The other motion.
        times: The time in the other motion for each frame [s].
        share: Share of the other motion in each frame.
    """
    ours, theirs = contacts_of(clip), contacts_of(other)
    names = dict.fromkeys(contact.frame for contact in (*ours, *theirs))
    return {
        name: np.where(share < 0.5, mask_of(ours, name, clip.times), mask_of(theirs, name, times)) for name in names
    }


def masks_after(clip: Clip, other: Clip, times: FloatArray, change: float) -> dict[str, Mask]:
    """Return which parts are planted in a motion that changes to another one at a given time."""
    first, second = contacts_of(clip), contacts_of(other)
    names = dict.fromkeys(contact.frame for contact in (*first, *second))
    return {name: np.where(times < change, mask_of(first, name, times), mask_of(second, name, times)) for name in names}
