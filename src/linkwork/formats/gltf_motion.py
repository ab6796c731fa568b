"""Animations of a glTF file: tracks of keys, and their values at any time.

Interpolation follows the standard: steps, linear (the shorter rotation), and cubic splines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ..motion.clips import BLOCK
from ..motion.splines import great_arc
from ..transforms import FloatArray, quaternion_matrix
from .content import Remarks
from .gltf_data import GltfSource, Rows
from .gltf_document import Animation, Sampler

SHAPES = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
INTERPOLATIONS = ("STEP", "LINEAR", "CUBICSPLINE")
CURVE_STEP = 0.01  # time between frames along a cubic spline [s]
SAME_TIME = 1e-6
MAX_REMARKS = 10  # for one animation

Tracks = dict[tuple[int, str], "KeyTrack"]


@dataclass(frozen=True)
class KeyTrack:
    """The keys of one property of one node.

    Args:
        path: ``"translation"``, ``"rotation"`` (x, y, z, w) or ``"scale"``.
        interpolation: Interpolation between keys, one of `INTERPOLATIONS`.
        times: Increasing key times [s], shape (n,).
        values: Values at the keys, shape (n, components); for a long motion, read from the file in slices.
        tangents: For cubic splines, the slopes into and out of every key [1/s], shape (n, 2, components).
    """

    path: str
    interpolation: str
    times: FloatArray
    values: FloatArray | Rows
    tangents: FloatArray | None = None

    def at(self, times: FloatArray) -> FloatArray:
        """Return the values at times (m,), shape (m, components); constant before the first key and after the last."""
        last = len(self.times) - 1
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, max(last - 1, 0))
        after = np.minimum(k + 1, last)
        span = np.where(after > k, self.times[after] - self.times[k], 1.0)
        t = np.clip((times - self.times[k]) / span, 0.0, 1.0)[:, None]
        low = int(k.min(initial=last))
        near = self.values[low : int(after.max(initial=0)) + 1]
        near = _unit(near) if self.path == "rotation" and self.tangents is None else near
        start, end = near[k - low], near[after - low]
        if self.interpolation == "STEP":
            return np.where(t < 1.0, start, end)
        if self.tangents is not None:
            width = span[:, None]
            result = _hermite(start, width * self.tangents[k, 1], end, width * self.tangents[after, 0], t)
        elif self.path == "rotation":
            there = np.where((start * end).sum(axis=1, keepdims=True) < 0.0, -end, end)  # the shorter rotation
            return great_arc(start, there, t)
        else:
            result = start + t * (end - start)
        return _unit(result) if self.path == "rotation" else result

    def varies(self, tolerance: float) -> bool:
        """Return whether the value changes over time."""
        first, blocks = self.values[:1], range(0, len(self.times), BLOCK)
        moved = any(np.abs(self.values[k : k + BLOCK] - first).max(initial=0.0) > tolerance for k in blocks)
        return bool(moved or (self.tangents is not None and np.abs(self.tangents).max(initial=0.0) > tolerance))


def _hermite(start: FloatArray, leave: FloatArray, end: FloatArray, arrive: FloatArray, t: FloatArray) -> FloatArray:
    t2, t3 = t * t, t * t * t
    return (
        (2.0 * t3 - 3.0 * t2 + 1.0) * start
        + (t3 - 2.0 * t2 + t) * leave
        + (3.0 * t2 - 2.0 * t3) * end
        + (t3 - t2) * arrive
    )


def _unit(quaternions: FloatArray) -> FloatArray:
    length = np.linalg.norm(quaternions, axis=1, keepdims=True)
    return np.where(length > 1e-12, quaternions / np.where(length > 1e-12, length, 1.0), [0.0, 0.0, 0.0, 1.0])


def read_tracks(
    source: GltfSource, animation: Animation, what: str, used: Collection[int], left_out: Counter[str]
) -> tuple[Tracks, Remarks]:
    """Return the tracks of an animation for the nodes in use, and remarks.

    Args:
        source: The file.
        animation: The animation.
        what: Its name in messages.
        used: Indices of the nodes in use.
        left_out: Counts channels of other properties than translation, rotation and scale.
    """
    tracks: Tracks = {}
    remarks = Remarks()
    for channel in animation.channels:
        path, node = channel.target.path, channel.target.node
        if path not in SHAPES or node is None:
            left_out[path[:40]] += 1
            continue
        source.item(source.document.nodes, node, f"node of {what}")
        sampler = source.item(animation.samplers, channel.sampler, f"sampler of {what}")
        if node not in used:
            continue
        if (node, path) in tracks:
            source.refuse(f"{what} moves the {path} of node {node} twice.")
        track, falling = _track(source, sampler, path, what)
        if falling and len(remarks) < MAX_REMARKS:
            text = f"{falling} of {falling + len(track.times)} key times of the {path} of node {node} do not increase"
            remarks.add("keys", f"{what}: {text}; those keys are left out.", what)
        tracks[node, path] = track
    return tracks, remarks


def _track(source: GltfSource, sampler: Sampler, path: str, what: str) -> tuple[KeyTrack, int]:
    """Return one track, and the number of keys left out because their times do not increase."""
    kind = sampler.interpolation
    if kind not in INTERPOLATIONS:
        source.refuse(f"{what}: unknown interpolation {kind[:40]!r}; glTF has {', '.join(INTERPOLATIONS)}.")
    times = source.times(sampler.input, f"times of {what}")
    rows = source.rows(sampler.output, f"{path} of {what}", SHAPES[path])
    each = 3 if kind == "CUBICSPLINE" else 1
    if len(times) == 0 or len(rows) != each * len(times):
        source.refuse(f"{what} has {len(rows)} values of {path} for {len(times)} key times ({kind}).")
    rising = np.concatenate([[True], times[1:] > np.maximum.accumulate(times)[:-1]])
    falling = int((~rising).sum())
    tangents: FloatArray | None = None
    values: FloatArray | Rows = rows
    if falling or each == 3 or not rows.is_in_file:
        held = rows[:]
        if each == 3:
            blocks = held.reshape(-1, 3, held.shape[1])
            tangents, held = blocks[rising][:, [0, 2]], blocks[:, 1]
        times, values = (times[rising], held[rising]) if falling else (times, held)
    for begin in range(0, len(values), BLOCK):  # all are checked, in memory or not
        short = np.abs(values[begin : begin + BLOCK]).max(axis=1) < 1e-6
        if path == "rotation" and each == 1 and short.any():
            source.refuse(f"{what} rotates a node by a quaternion of length zero.")
    return KeyTrack(path, kind, times, values, tangents), falling


def moved(
    tracks: Tracks, node: int, times: FloatArray, rotation: FloatArray, translation: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the rotations and translations of a node at times, or the given ones if no track changes them."""
    if (node, "rotation") in tracks:
        rotation = quaternion_matrix(tracks[node, "rotation"].at(times)[:, [3, 0, 1, 2]])
    if (node, "translation") in tracks:
        translation = tracks[node, "translation"].at(times)
    return rotation, translation


def frame_times(tracks: Mapping[tuple[int, str], KeyTrack], curved: bool, most: int) -> tuple[FloatArray, int]:
    """Return frame times from which linear interpolation reproduces the tracks, and the number needed.

    These are all keys; before every step, the last time that float32 can represent; and along curves one every
    `CURVE_STEP`.

    Args:
        tracks: The tracks.
        curved: Whether nodes move along curves even if all tracks are linear.
        most: Largest number of frames; if more are needed, they are thinned evenly.
    """
    parts: list[FloatArray] = []
    shared = {(id(track.times), track.interpolation == "STEP"): track for track in tracks.values()}
    distinct = {(track.times.tobytes(), track.interpolation == "STEP"): track for track in shared.values()}
    for track in distinct.values():
        parts.append(track.times)
        if track.interpolation == "STEP":
            parts.append(np.nextafter(track.times[1:].astype(np.float32), np.float32(-np.inf)).astype(np.float64))
    keys = np.unique(np.concatenate(parts))
    wanted = len(keys)
    if curved or any(track.tangents is not None for track in tracks.values()):
        count = (keys[-1] - keys[0]) / CURVE_STEP
        wanted += int(min(count, 1e15))
        if wanted <= most:
            grid = np.arange(np.ceil(keys[0] / CURVE_STEP), np.floor(keys[-1] / CURVE_STEP) + 1.0) * CURVE_STEP
            right = np.clip(np.searchsorted(keys, grid), 1, max(len(keys) - 1, 1))
            gap = np.minimum(np.abs(grid - keys[right - 1]), np.abs(grid - keys[np.minimum(right, len(keys) - 1)]))
            grid = grid[gap > SAME_TIME]
            keys = np.unique(np.concatenate([keys, grid]))
    if len(keys) > most:
        keys = keys[np.unique(np.linspace(0, len(keys) - 1, most).astype(np.int64))]
    return keys, wanted
