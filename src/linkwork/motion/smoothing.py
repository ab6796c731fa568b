"""Smooth noise in a motion, and fade corrections of planted feet in and out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..transforms import FloatArray, cross
from .checks import runs
from .contacts import Mask


def frame_time(times: FloatArray) -> float:
    """Return the median time between frames [s]; 1 for a single frame."""
    steps = np.diff(times)
    return float(np.partition(steps, len(steps) // 2)[len(steps) // 2]) if len(steps) else 1.0


def smoothed(values: FloatArray, times: FloatArray, width: float) -> FloatArray:
    """Return values (frames, ...) smoothed by a bell curve whose standard deviation is a time [s]."""
    from scipy.ndimage import gaussian_filter1d

    if len(times) < 2 or width <= 0.0:
        return values
    result: FloatArray = gaussian_filter1d(values, width / frame_time(times), axis=0, mode="nearest")
    return result


def turns_smoothed(rotations: FloatArray, times: FloatArray, width: float) -> FloatArray:
    """Return rotations (frames, 3, 3), smoothed as in `smoothed`."""
    if len(times) < 2 or width <= 0.0:
        return rotations
    mixed = smoothed(rotations, times, width)
    ahead = mixed[..., 0] / np.linalg.norm(mixed[..., 0], axis=-1, keepdims=True)
    up = cross(ahead, mixed[..., 1])  # orthogonal again
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    return np.stack([ahead, cross(up, ahead), up], axis=-1)


def smooth_cover(values: FloatArray, times: FloatArray, within: float) -> FloatArray:
    """Return a smooth upper envelope of values (frames,), zero or more, that rises within a given time."""
    from scipy.ndimage import gaussian_filter1d, maximum_filter1d

    width = max(1, round(within / frame_time(times)))
    above = maximum_filter1d(np.maximum(values, 0.0), 2 * width + 1, mode="nearest")
    result: FloatArray = gaussian_filter1d(above, width / 3.0, mode="nearest", truncate=3.0)
    return result


def faded(values: FloatArray, mask: Mask, blend: int) -> FloatArray:
    """Return corrections that hold where a mask does and fade away smoothly elsewhere, shape (frames, n).

    At the end of the mask, the correction continues with its speed and vanishes within `blend` frames. A gap shorter
    than twice that is bridged from one end to the other. So the corrected motion starts and stops without a jerk.
    """
    result = np.where(mask[:, None], values, 0.0)
    frames = len(mask)
    for start, last in runs(~mask):
        end = last + 1
        length = end - start + 1
        left = _edge(values, start - 1, -1, mask) if start > 0 else None
        right = _edge(values, end, 1, mask) if end < frames else None
        t = np.arange(1, length)
        if left is not None and right is not None and length <= 2 * blend:
            result[start:end] = _bridge(t / length, left, right, length)
            continue
        nothing = (np.zeros(values.shape[1]), np.zeros(values.shape[1]))
        if left is not None:
            near = t[t < blend]
            result[start : start + len(near)] += _bridge(near / blend, left, nothing, blend)
        if right is not None:
            back = (length - t)[length - t < blend]
            result[end - len(back) : end] += _bridge(1.0 - back / blend, nothing, right, blend)
    return result


def _edge(values: FloatArray, frame: int, inward: int, mask: Mask) -> tuple[FloatArray, FloatArray]:
    """Return the value, and the velocity per frame, of a correction at the first or last frame of its mask."""
    within = frame + inward
    if not 0 <= within < len(mask) or not mask[within]:
        return values[frame], np.zeros(values.shape[1])
    return values[frame], inward * (values[within] - values[frame])


def _bridge(
    t: FloatArray, start: tuple[FloatArray, FloatArray], end: tuple[FloatArray, FloatArray], length: float
) -> FloatArray:
    """Return a cubic between two values with their velocities, at fractions of its length."""
    (a, u), (b, v) = start, end
    t = t[:, None]
    part = t * t * (3.0 - 2.0 * t)
    leaves, arrives = t * (1.0 - t) ** 2, t * t * (t - 1.0)
    return np.asarray((1.0 - part) * a + part * b + length * (leaves * u + arrives * v))


@dataclass
class SpanMemory:
    """Values chosen for spans of masks, when a long motion is processed in overlapping parts.

    Args:
        begin: First frame of the current part, in the whole motion.
        settled: Spans that begin before this frame keep the values chosen by an earlier part.
    """

    begin: int = 0
    settled: int = 0
    _kept: dict[str, list[tuple[int, int, FloatArray]]] = field(default_factory=dict)

    def choose(self, name: str, first: int, last: int, make: Callable[[], FloatArray]) -> FloatArray:
        """Return the value for a span of the part, from its first to its last frame; make it if it is not known.

        Args:
            name: Name of the value.
            first: The first frame.
            last: The last one.
            make: Makes the value from the frames of this part.
        """
        own = self._kept.setdefault(name, [])
        for start, end, value in own:
            if start <= first + self.begin <= end and start < self.settled:
                return value
        own.append((first + self.begin, last + self.begin, value := make()))
        return value

    def move_to(self, begin: int, settled: int) -> None:
        """Move on to the next part; drop spans that ended before it, or of which it contains more."""
        self.begin, self.settled = begin, settled
        for name, own in self._kept.items():
            self._kept[name] = [span for span in own if span[1] >= begin and span[0] < settled]


def over_spans(
    values: FloatArray,
    mask: Mask,
    choose: Callable[[FloatArray], FloatArray],
    name: str = "",
    memory: SpanMemory | None = None,
) -> FloatArray:
    """Return values with those of each stretch of a mask replaced by one value.

    Args:
        values: The values, (frames, ...).
        mask: The mask.
        choose: Returns this value, (1, ...), from the values of a stretch.
        name: Name of the value in `memory`.
        memory: Values chosen before, in a part of the motion that overlaps this one.
    """
    result = values.copy()
    for first, last in runs(mask):
        part = values[first : last + 1]
        chosen = choose(part) if memory is None else memory.choose(name, first, last, partial(choose, part))
        result[first : last + 1] = chosen
    return result
