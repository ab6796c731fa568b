"""Contacts with the ground: when a point of a foot stands still there, and corrections that keep it so.

Imports `findings` and `transforms`. A point is planted while it is low and slow; two thresholds each, one to begin and
a looser one to end, so that a noisy signal does not chatter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..findings import runs
from ..transforms import FloatArray, as_array

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Thresholds:
    """What counts as planted, for a leg one metre long; lengths and speeds grow with the leg.

    Args:
        height: A contact begins below this height above the ground [m].
        leave_height: It ends above this one.
        speed: It begins below this speed [m/s].
        leave_speed: It ends above this one.
        shortest: Shorter contacts, and shorter gaps between contacts, are overlooked [s].
    """

    height: float = 0.05
    leave_height: float = 0.08
    speed: float = 0.25
    leave_speed: float = 0.5
    shortest: float = 0.08

    def __post_init__(self) -> None:
        for low, high in (("height", "leave_height"), ("speed", "leave_speed")):
            if not 0.0 < getattr(self, low) <= getattr(self, high) < np.inf:
                raise OptionError(f"thresholds of contacts need 0 < {low} <= {high}, got {self!r}.")
        if not 0.0 <= self.shortest < np.inf:
            raise OptionError(f"the shortest contact is zero or more seconds, got {self.shortest!r}.")


def ground_level(heights: FloatArray) -> float:
    """Return the height of the ground under a point that stands on it now and then: low, but not one stray frame.

    Example:
        >>> ground_level(np.array([0.1, 0.0, 0.0, 0.0, 0.2]))
        0.0
    """
    return float(np.percentile(heights, 10.0))


def find_contacts(
    points: FloatArray,
    times: FloatArray,
    *,
    leg: float = 1.0,
    ground: float | None = None,
    rules: Thresholds | None = None,
) -> Mask:
    """Return when a moving point is planted on the ground, shape (frames,).

    Args:
        points: Where it is, z up [m], shape (frames, 3).
        times: Rising times [s], shape (frames,).
        leg: Length of the leg [m], which thresholds are multiplied by.
        ground: Height of the ground below the point [m]; by default it is found in the heights.
        rules: Thresholds.

    Example:
        >>> t = np.linspace(0, 1, 101)
        >>> x = np.where(t < 0.5, 0.0, 2.0 * (t - 0.5))
        >>> planted = find_contacts(np.stack([x, 0 * x, 0.1 * x], axis=1), t)
        >>> planted[:48].all().item(), planted[60:].any().item()
        (True, False)
    """
    points, times = as_array(points, "points"), as_array(times, "times")
    rules = rules or Thresholds()
    if len(points) < 2:
        return np.ones(len(points), np.bool_)
    heights = (points[:, 2] - (ground_level(points[:, 2]) if ground is None else ground)) / leg
    speeds = np.linalg.norm(velocities(points, times), axis=1) / leg
    begins = (heights < rules.height) & (speeds < rules.speed)
    goes_on = (heights < rules.leave_height) & (speeds < rules.leave_speed)
    planted = np.zeros(len(points), np.bool_)
    for start, end in spans(goes_on):
        inside = np.flatnonzero(begins[start:end])
        if len(inside):
            planted[start + inside[0] : end] = True
    step = float(np.median(np.diff(times)))
    least = max(2, round(rules.shortest / step))
    for mask, value in ((~planted, True), (planted, False)):  # first gaps are closed, then moments forgotten
        for start, end in spans(mask.copy()):
            inner = start > 0 and end < len(planted)
            if end - start < least and (inner or not value):
                planted[start:end] = value
    return planted


def velocities(points: FloatArray, times: FloatArray) -> FloatArray:
    """Return velocities (frames, n) of points over time, by differences over two frames."""
    result: FloatArray = np.gradient(points, times, axis=0)
    return result


def smoothed(values: FloatArray, times: FloatArray, width: float) -> FloatArray:
    """Return values (frames, ...) smoothed by a bell curve whose standard deviation is a time [s]."""
    from scipy.ndimage import gaussian_filter1d

    if len(times) < 2 or width <= 0.0:
        return values
    result: FloatArray = gaussian_filter1d(values, width / float(np.median(np.diff(times))), axis=0, mode="nearest")
    return result


def turns_smoothed(rotations: FloatArray, times: FloatArray, width: float) -> FloatArray:
    """Return rotations (frames, 3, 3) smoothed in the same way."""
    if len(times) < 2 or width <= 0.0:
        return rotations
    mixed = smoothed(rotations, times, width)
    ahead = mixed[..., 0] / np.linalg.norm(mixed[..., 0], axis=-1, keepdims=True)
    up = np.cross(ahead, mixed[..., 1])  # square to each other again
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    return np.stack([ahead, np.cross(up, ahead), up], axis=-1)


def jerk(points: FloatArray, times: FloatArray) -> float:
    """Return the root mean square of the third derivative of places (frames, 3), of even times."""
    if len(points) < 4:
        return 0.0
    third = np.diff(points, 3, axis=0) / float(np.median(np.diff(times))) ** 3
    return float(np.sqrt((third**2).sum(axis=1).mean()))


def spans(mask: Mask) -> list[tuple[int, int]]:
    """Return the stretches where a mask holds, as (first, one after the last).

    Example:
        >>> spans(np.array([True, True, False, True]))
        [(0, 2), (3, 4)]
    """
    return [(first, last + 1) for first, last in runs(mask)]


def faded(values: FloatArray, mask: Mask, blend: int) -> FloatArray:
    """Return corrections that hold where a mask does and fade away smoothly elsewhere, shape (frames, n).

    Where the mask ends, the correction goes on with the speed it had, and comes to nothing within `blend` frames; a gap
    shorter than two of these is bridged from one end to the other. So the corrected motion starts and stops without a
    jerk.
    """
    result = np.where(mask[:, None], values, 0.0)
    frames = len(mask)
    for start, end in spans(~mask):
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
    """Return value and velocity per frame of a correction where its mask begins or ends."""
    within = frame + inward
    if not 0 <= within < len(mask) or not mask[within]:
        return values[frame], np.zeros(values.shape[1])
    return values[frame], inward * (values[within] - values[frame])


def _bridge(
    t: FloatArray, start: tuple[FloatArray, FloatArray], end: tuple[FloatArray, FloatArray], length: float
) -> FloatArray:
    """Return a cubic from one value and velocity to another, at fractions of its length."""
    t = t[:, None]
    (a, u), (b, v) = start, end
    return np.asarray(
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * a
        + t * (1.0 - t) ** 2 * length * u
        + t * t * (3.0 - 2.0 * t) * b
        - t * t * (1.0 - t) * length * v
    )


def over_spans(values: FloatArray, mask: Mask, choose: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return values with those of each stretch of a mask replaced by one that is chosen from them."""
    result = values.copy()
    for start, end in spans(mask):
        result[start:end] = choose(values[start:end])
    return result
