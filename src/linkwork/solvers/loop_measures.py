"""Constants for closed loops: rounding errors, step lengths and ranks."""

from __future__ import annotations

from collections.abc import Iterable

from ..goals import Closing
from ..linkage.linkage import Linkage

ROUNDING = 2e-15  # share of the mechanism's size: a gap that no step makes smaller
LONGEST_STEP = 0.3  # largest change of a value in a step: radians, or shares of the mechanism's size
DAMPING, TRIES = 0.05, 300  # steps from far away: damping, times the squared gap; and their largest number
RANK = 1e-9  # share of the largest singular value below which a direction is lost
BLUR = 10.0  # times tolerance over length: rows of loops that differ by less are the same


def loop_rank(linkage: Linkage, goals: Iterable[Closing]) -> float:
    """Return the share of the largest singular value below which rows of a linkage's loops are redundant."""
    each = [max(goal.tolerance[0] / linkage.loop_size, goal.tolerance[1]) for goal in goals]
    return max(RANK, BLUR * float(max(each, default=0.0)))
