"""A `Reach` with an `Avoid`: the two goals that the search of a chain supports together."""

from __future__ import annotations

from collections.abc import Sequence

from ..goals import Avoid, Goal, Reach
from .chain_solver import Prepared


def reach_and_avoid(goals: Sequence[Goal]) -> tuple[Reach | None, Avoid | None]:
    """Return the only `Reach` among goals and the only `Avoid`, if there is one; None twice if there are other goals.

    An `Avoid` that is a wish, or on another priority level, needs the whole-body solver.
    """
    reaches = [goal for goal in goals if isinstance(goal, Reach)]
    avoids = [goal for goal in goals if isinstance(goal, Avoid)]
    if len(reaches) != 1 or len(avoids) > 1 or len(goals) > 2 or len(goals) != len(reaches) + len(avoids):
        return None, None
    if not avoids:
        return reaches[0], None
    if avoids[0].tolerance is not None or avoids[0].priority != reaches[0].priority:
        return None, None
    return reaches[0], avoids[0]


def free_chain_for(prepared: Prepared, avoid: Avoid | None) -> Prepared | None:
    """Return a collision-free version of a prepared chain; None if the search does not support that."""
    if avoid is None:
        return prepared
    if prepared.chain.balls:
        return None
    from .free_chain import free_chain  # not needed without obstacles

    return free_chain(prepared, avoid)
