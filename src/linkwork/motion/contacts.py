"""Contacts with the ground: when a moving point stands still there, and where the ground is.

Imports `findings` and `transforms`. A point is planted while it is low and slow; two thresholds each, one to begin and
a looser one to end, so that a noisy signal does not chatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..transforms import FloatArray, as_array
from .checks import runs

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Thresholds:
    """What counts as planted, for a leg one metre long; lengths and speeds grow with the leg.

    Args:
        height: A contact begins below this height above the ground [m].
        leave_height: It ends above this one.
        speed: It begins below this speed [m/s].
        leave_speed: It ends above this one.
        shortest: Shorter contacts are overlooked [s].
        gap: Shorter gaps between contacts are overlooked too [s]; 0 leaves them all.
    """

    height: float = 0.05
    leave_height: float = 0.08
    speed: float = 0.25
    leave_speed: float = 0.5
    shortest: float = 0.08
    gap: float = 0.08

    def __post_init__(self) -> None:
        for low, high in (("height", "leave_height"), ("speed", "leave_speed")):
            if not 0.0 < getattr(self, low) <= getattr(self, high) < np.inf:
                raise OptionError(f"thresholds of contacts need 0 < {low} <= {high}, got {self!r}.")
        for name in ("shortest", "gap"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise OptionError(f"the {name} of contacts is zero or more seconds, got {getattr(self, name)!r}.")


def ground_level(heights: FloatArray, share: float = 10.0) -> float:
    """Return the height of the ground under a point that stands on it now and then: low, but not one stray frame.

    Args:
        heights: Of the point over time [m], shape (frames,).
        share: Of the frames, how many may be lower [%].

    Example:
        >>> ground_level(np.array([0.1, 0.0, 0.0, 0.0, 0.2]))
        0.0
    """
    return float(np.percentile(heights, share))


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
    speeds = np.linalg.norm(np.gradient(points, times, axis=0), axis=1) / leg
    begins = (heights < rules.height) & (speeds < rules.speed)
    goes_on = (heights < rules.leave_height) & (speeds < rules.leave_speed)
    planted = np.zeros(len(points), np.bool_)
    for first, last in runs(goes_on):
        inside = np.flatnonzero(begins[first : last + 1])
        if len(inside):
            planted[first + inside[0] : last + 1] = True
    step = float(np.median(np.diff(times)))
    for first, last in runs(~planted) if rules.gap > 0.0 else ():  # first gaps are closed, then moments forgotten
        if first > 0 and last + 1 < len(planted) and last + 1 - first < max(2, round(rules.gap / step)):
            planted[first : last + 1] = True
    for first, last in runs(planted):
        if last + 1 - first < max(2, round(rules.shortest / step)):
            planted[first : last + 1] = False
    return planted
