"""How closed loops are measured: what counts as rounding, as a long step, and as nothing new."""

from __future__ import annotations

from collections.abc import Iterable

from ..goals import Closing
from ..linkage.linkage import Linkage

ROUNDING = 2e-15  # of the mechanism's size: a gap that no step makes smaller
LONGEST_STEP = 0.3  # the largest change of a value in a step: radians, or shares of the mechanism's size
DAMPING, TRIES = 0.05, 300  # of steps from far away: for each squared gap; and how many there are at most
RANK = 1e-9  # of the largest singular value: below, a direction is lost
BLUR = 10.0  # of the tolerance over the length: rows of loops that differ by so little say the same


def loop_rank(linkage: Linkage, goals: Iterable[Closing]) -> float:
    """Return below which share of the largest singular value the loops of a linkage ask for nothing new."""
    each = [max(goal.tolerance[0] / linkage.loop_size, goal.tolerance[1]) for goal in goals]
    return max(RANK, BLUR * float(max(each, default=0.0)))
