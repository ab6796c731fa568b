"""Copies of poses that differ by whole turns: all within limits, nearest to a start first."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..transforms import FloatArray

TURN = 2.0 * math.pi
TOO_MANY = 1_000_000
SLACK = 1e-9  # tolerance at limits, as a share of a turn, for rounding


def turned_copies(
    values: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    turning: NDArray[np.bool_],
    start: FloatArray,
    most: int | None = None,
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return all copies of poses within limits, nearest to a start first, and which pose each is a copy of.

    An angle without an upper or a lower limit has copies without end: of these, only the nearest to the start is taken.

    Args:
        values: Poses, shape (k, n).
        lower: Lower limits (n,).
        upper: Upper limits (n,).
        turning: Which values are angles that whole turns do not change, shape (n,).
        start: The pose (n,) that distances are measured from.
        most: Copies at most, the nearest ones; all by default.

    Raises:
        OptionError: If there are more than a million copies and `most` is not given.

    Example:
        >>> copies, which = turned_copies(
        ...     np.array([[1.0]]), np.array([-7.0]), np.array([7.0]), np.array([True]), np.array([0.0])
        ... )
        >>> copies.round(4).tolist(), which.tolist()
        ([[1.0], [-5.2832]], [0, 0])
    """
    found = [_copies_of(pose, lower, upper, turning, start, most) for pose in values]
    count = sum(len(part) for part in found)
    if count > TOO_MANY and most is None:
        raise OptionError(f"there are {count} copies by whole turns; say with most= how many are enough.")
    copies = np.concatenate([np.zeros((0, values.shape[1])), *found])
    which = np.repeat(np.arange(len(values)), [len(part) for part in found])
    away = ((copies - start) ** 2).sum(axis=1)
    order = np.argsort(away, kind="stable")[:most]
    return copies[order], which[order]


def _copies_of(
    pose: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    turning: NDArray[np.bool_],
    start: FloatArray,
    most: int | None,
) -> FloatArray:
    """Return the copies (m, n) of one pose.

    Squared distances add up joint by joint, so the nearest copies overall are among the nearest copies of the first
    joints: no more than `most` have to be kept.
    """
    rows = np.stack([pose, lower, upper, start], axis=1).tolist()
    choices = [_angles(*row) if turns else np.array(row[:1]) for turns, row in zip(turning.tolist(), rows, strict=True)]
    if most is None and math.prod(len(angles) for angles in choices) > TOO_MANY:
        raise OptionError(f"a pose has over {TOO_MANY} copies by whole turns; say with most= how many are enough.")
    kept, away = np.zeros((1, 0)), np.zeros(1)
    for angles, begin in zip(choices, start.tolist(), strict=True):
        far = (away[:, None] + (angles - begin) ** 2).ravel()
        order = np.argsort(far, kind="stable")[:most]
        kept = np.concatenate([np.repeat(kept, len(angles), axis=0), np.tile(angles, len(kept))[:, None]], axis=1)
        kept, away = kept[order], far[order]
    return kept


def _angles(angle: float, low: float, high: float, start: float) -> FloatArray:
    """Return the copies of one angle within its limits; empty if there are none."""
    nearest = angle + TURN * round((start - angle) / TURN)
    if math.isinf(low) or math.isinf(high):
        up = max(math.ceil((low - nearest) / TURN - SLACK), 0) if math.isfinite(low) else 0
        down = max(math.ceil((nearest - high) / TURN - SLACK), 0) if math.isfinite(high) else 0
        return np.array([min(max(nearest + TURN * (up - down), low), high)])
    first, last = math.ceil((low - angle) / TURN - SLACK), math.floor((high - angle) / TURN + SLACK)
    return np.asarray(np.clip(angle + TURN * np.arange(first, last + 1), low, high))
