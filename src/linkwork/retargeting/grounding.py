"""When the soles of a body are flat on the ground, told from where its knees and ankles are.

An ankle at rest near its lowest height belongs to a flat sole only if it is as low as the other one, or else the foot
is on its toes, and if its shank stands over it, or else the body kneels.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..motion.contacts import Mask, Thresholds, Trace, contacts_in, ground_level
from ..transforms import FloatArray

LEVEL = 0.05  # of a leg: an ankle whose lowest height is higher than the other's by more never has its sole flat
SLANT = 0.5  # of a shank's length: how high a knee is above an ankle whose sole may be flat, at least


def upright_shank(places: Mapping[str, FloatArray], side: str) -> Mask:
    """Return when a shank stands over its ankle, (frames,), from where the joints are, by role; always without knee."""
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
    """Return when each sole is flat on the ground, by side, (frames,).

    Args:
        ankles: How high the ankles are, and how fast, by side.
        upright: When shanks stand over them, by side.
        times: Times of the frames.
        legs: Lengths of the legs, by side, of those that have an ankle.
        rules: What counts as being at rest.
    """
    levels = {side: ground_level(ankles[side].heights) for side in legs}
    lowest = min(levels.values(), default=0.0)
    result = {}
    for side, leg in legs.items():
        ground = levels[side] if levels[side] < lowest + LEVEL * leg else lowest
        result[side] = contacts_in(ankles[side], times, leg=leg, ground=ground, rules=rules) & upright[side]
    return result
