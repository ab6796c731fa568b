"""Separate links that pass through each other in a motion, as little as needed and smoothly over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..collision.near import near_records
from ..goals import Avoid
from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between
from ..solvers.guard import Guard
from ..transforms import FloatArray
from .overlaps import depth_of, scene_of_body
from .splines import steady_signs

if TYPE_CHECKING:
    from .clips import Clip

EASE = 0.2  # time in which a correction fades in and out [s]
LEFT = 0.5  # share of the allowed depth aimed at; smoothing may use up the rest
ROUNDS = 12  # rounds for separating the links of one pose
PASSES = 4  # passes of separating and smoothing
STRIDE = 0.1  # largest change of a joint in a round [rad], or of a slide in limb lengths
KEPT = 0.95  # share of the previous frame's change to start from, so that limbs stay on their side
NO_TARGETS = np.empty((0, 4))


def led_apart(clip: Clip, overlap: float | None = None) -> Clip:
    """Return a motion in which links overlap no deeper than allowed, as far as possible.

    The first joint is not changed, so that a body keeps its path through the world.
    """
    scene, allowed = scene_of_body(clip), depth_of(clip, overlap)
    if scene is None:
        return clip
    linkage = clip.linkage
    avoid = Avoid(margin=-LEFT * allowed)
    guard = Guard(scene.linkage, avoid, [], _moving(linkage), keeps_limits=True, scene=scene)
    change, poses = np.zeros((len(clip), linkage.nv)), clip.poses
    for _ in range(PASSES):
        deep = too_deep(guard, advance(linkage, poses, change), allowed)
        if not deep.any():
            break
        change = _separated(guard, poses, change, deep)
        change = _smoothed(change, max(2, round(EASE * clip.fps)))
    values = steady_signs(linkage, advance(linkage, poses, change))
    return replace(clip, poses=values, residuals=None)


def _moving(linkage: Linkage) -> list[int]:
    """Return the velocities that may change: not the first joint, and no slide of a joint that also rotates.

    Motion files store such joints for every bone; changing their slides would stretch bones.
    """
    names, slides = linkage.table.velocity_joints, linkage.table.slides
    turning = {name for name, slide in zip(names, slides.tolist(), strict=True) if not slide}
    return [v for v, name in enumerate(names) if name != linkage.root.name and not (slides[v] and name in turning)]


def too_deep(guard: Guard, poses: FloatArray, allowed: float) -> NDArray[np.bool_]:
    """Return at which poses two links overlap deeper than allowed."""
    records, counts = near_records(guard.scene, np.ascontiguousarray(poses), -allowed, 1)
    return (counts > 0) & (np.nan_to_num(records[:, 0, NEAR.distance]) < -allowed)


def _separated(guard: Guard, poses: FloatArray, change: FloatArray, deep: NDArray[np.bool_]) -> FloatArray:
    """Return changes (n, nv) that separate links in the frames where they overlap too deeply."""
    linkage, result = guard.linkage, change.copy()
    slides = linkage.table.slides[guard.velocities]
    reach = np.where(slides, STRIDE * linkage.length / 4.0, STRIDE)
    for k in np.flatnonzero(deep).tolist():
        begun = KEPT * result[k - 1] if k and deep[k - 1] else change[k]
        q = advance(linkage, poses[k], np.where(np.abs(begun) > np.abs(change[k]), begun, change[k]))
        for _ in range(ROUNDS):
            step = guard.step(NO_TARGETS, q, q, q, reach, 1.0)
            if step.as_wanted or step.held:
                break
            q = step.q.copy()
        result[k] = between(linkage, poses[k], q, wrap=False)
    return result


def _smoothed(change: FloatArray, width: int) -> FloatArray:
    """Return changes (n, nv) that fade in and out within `width` frames and keep their largest values.

    Each value is first replaced by the largest one around it, so that smoothing does not reduce the peaks.
    """
    padded = np.pad(change, ((width, width), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1, axis=0)  # (n, nv, 2 width + 1)
    places = np.abs(windows).argmax(axis=-1)
    spread = np.take_along_axis(windows, places[..., None], axis=-1)[..., 0]
    kernel = np.hanning(2 * width + 3)[1:-1]
    kernel /= kernel.sum()
    wide = np.pad(spread, ((width, width), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel, mode="valid") for column in wide.T], axis=1)
