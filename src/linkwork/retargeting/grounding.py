"""Detect when the soles of a body are flat on the ground, from the positions of its knees and ankles.

An ankle at rest near its lowest height belongs to a flat sole only if it is as low as the other one (otherwise the foot
is on its toes) and its shank is upright (otherwise the body kneels).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..motion.contacts import Mask, Thresholds, Trace, contacts_in, ground_level
from ..transforms import FloatArray

LEVEL = 0.05  # over leg length: an ankle whose lowest height exceeds the other's by more never has a flat sole
SLANT = 0.5  # over shank length: least height of the knee above the ankle for a flat sole


def upright_shank(places: Mapping[str, FloatArray], side: str) -> Mask:
    """Return whether a shank is upright, (frames,), from the positions of joints by role; always if without a knee."""
    ankle, knee = places[f"{side}_ankle"], places.get(f"{side}_knee")
    if knee is None:
        return np.ones(len(ankle), np.bool_)
    shank = knee - ankle
    return np.asarray(shank[:, 2] > SLANT * np.linalg.norm(shank, axis=1))


def flat_soles(
    ankles: Mapping[str, Trace],
    upright: Mapping[str, Mask],
    times: FloatArray,
    legs: Mapping[str, float],
    rules: Thresholds | None = None,
) -> dict[str, Mask]:
    """Return whether each sole is flat on the ground, by side, (frames,).

    Args:
        ankles: Heights and speeds of the ankles, by side.
        upright: Whether the shanks are upright, by side, (frames,).
        times: Times of the frames.
        legs: Lengths of the legs that have an ankle, by side.
        rules: Criteria for being at rest.
    """
    levels = {side: ground_level(ankles[side].heights) for side in legs}
    lowest = min(levels.values(), default=0.0)
    result = {}
    for side, leg in legs.items():
        ground = levels[side] if levels[side] < lowest + LEVEL * leg else lowest
        result[side] = contacts_in(ankles[side], times, leg=leg, ground=ground, rules=rules) & upright[side]
    return result
