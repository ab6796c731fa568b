"""Helpers of synthesis by time ratio: the crank angle of the slow stroke, and a line search."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...errors import GoalError
from ...transforms import FloatArray, is_number

LONGEST = 5.0  # longest bar over the shortest; more would improve transmission only slightly
EVEN = 1e-9  # [rad]: a smaller imbalance counts as zero
SAMPLES, ROUNDS = 400, 8  # samples of a line search, and number of times that it zooms in on the best


def imbalance(ratio: float) -> float:
    """Return the crank angle of the slow stroke beyond half a turn, at constant speed, for a time ratio [rad].

    Example:
        >>> round(math.degrees(imbalance(1.25)), 9)
        20.0
    """
    if not is_number(ratio) or not 1.0 <= ratio < 3.0:
        raise GoalError(f"a time ratio (slow stroke over quick one) must be from 1 to less than 3, got {ratio!r}.")
    return math.pi * (ratio - 1.0) / (ratio + 1.0)


def checked_length(value: float, what: str) -> float:
    """Return a length; raise GoalError if it is not positive and finite."""
    if not is_number(value) or not math.isfinite(value) or value <= 0.0:
        raise GoalError(f"{what} is a positive, finite length, got {value!r}.")
    return float(value)


def least(cost: Callable[[FloatArray], FloatArray], low: float, high: float) -> float:
    """Return the argument between two ends at which a cost is smallest; the cost may be infinite in parts.

    Example:
        >>> round(least(lambda x: (x - 0.3) ** 2, 0.0, 1.0), 9)
        0.3
    """
    for _ in range(ROUNDS):
        places = np.linspace(low, high, SAMPLES)
        best = int(np.argmin(cost(places)))
        low, high = float(places[max(best - 1, 0)]), float(places[min(best + 1, SAMPLES - 1)])
    return (low + high) / 2.0
