"""When the soles of a body are flat on the ground, told from where its knees and ankles are.

An ankle at rest near its lowest height belongs to a flat sole only if it is as low as the other one, or else the foot
is on its toes, and if its shank stands over it, or else the body kneels.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..motion.contacts import Mask, Thresholds, find_contacts, ground_level
from ..transforms import FloatArray

LEVEL = 0.05  # of a leg: an ankle whose lowest height is higher than the other's by more never has its sole flat
SLANT = 0.5  # of a shank's length: how high a knee is above an ankle whose sole may be flat, at least


def flat_soles(
    places: Mapping[str, FloatArray], times: FloatArray, legs: Mapping[str, float], rules: Thresholds | None = None
) -> dict[str, Mask]:
    """Return when each sole is flat on the ground, by side, (frames,).

    Args:
        places: Where the joints are, by role, (frames, 3); z is up.
        times: Times of the frames.
        legs: Lengths of the legs, by side, of those that have an ankle.
        rules: What counts as being at rest.
    """
    levels = {side: ground_level(places[f"{side}_ankle"][:, 2]) for side in legs}
    lowest = min(levels.values(), default=0.0)
    result = {}
    for side, leg in legs.items():
        ankle, knee = places[f"{side}_ankle"], places.get(f"{side}_knee")
        ground = levels[side] if levels[side] < lowest + LEVEL * leg else lowest
        flat = find_contacts(ankle, times, leg=leg, ground=ground, rules=rules)
        if knee is not None:
            shank = knee - ankle
            flat &= shank[:, 2] > SLANT * np.linalg.norm(shank, axis=1)
        result[side] = flat
    return result
