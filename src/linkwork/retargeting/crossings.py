"""Combine two fits of one motion, each good where the other is poor: when to cross from one to the other."""

from __future__ import annotations

import math

import numpy as np

from ..transforms import FloatArray


def crossings(first: FloatArray, second: FloatArray, apart: FloatArray, stride: float) -> FloatArray:
    """Return the share of a second fit in every frame, between 0 and 1, shape (frames,).

    Minimise the sum of squared errors and squared distances of crossings, by dynamic programming over frames. A
    crossing then takes as many frames as its distance has strides.

    Args:
        first: Error of the first fit in each frame [rad].
        second: Error of the second fit.
        apart: Distance between the joints of the two fits.
        stride: Largest change of a joint per frame.

    Example:
        >>> off = np.array([0.0, 0.0, 0.5, 0.5, 0.5])
        >>> crossings(off, off[::-1] * 0.1, np.full(5, 0.01), 0.15).tolist()
        [0.0, 0.0, 1.0, 1.0, 1.0]
    """
    errors, frames = np.stack([first, second]) ** 2, len(first)
    total, came = errors[:, 0].copy(), np.zeros((frames, 2), dtype=int)
    for f in range(1, frames):
        crossed = total[::-1] + apart[f] ** 2
        came[f] = np.where(crossed < total, [1, 0], [0, 1])
        total = np.minimum(total, crossed) + errors[:, f]
    chosen = np.zeros(frames)
    now = int(np.argmin(total))
    for f in range(frames - 1, -1, -1):
        chosen[f] = now
        now = int(came[f, now])
    result = chosen.copy()
    for f in map(int, np.flatnonzero(np.diff(chosen)) + 1):  # the first frame of the other fit
        half = math.ceil(apart[f] / stride) // 2
        if half:  # else the fits meet here, and rounding decides in which frame: an earlier crossing may be under way
            low, high = max(f - 1 - half, 0), min(f + half, frames - 1)
            result[low : high + 1] = np.linspace(chosen[f - 1], chosen[f], high - low + 1)
    return result
