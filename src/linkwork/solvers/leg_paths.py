"""Legs of a parallel robot: paths of the tree that loops join to its platform, each with its own joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..goals import Close
from ..linkage.linkage import Linkage


@dataclass(frozen=True)
class Leg:
    """A leg of a parallel robot.

    Args:
        end: The frame of the leg that a loop joins to the platform.
        platform: The frame of the platform that it is joined to.
        kind: Kind of the joint between them, as in `Loop`.
        columns: The entries of a pose that move the leg.
    """

    end: str
    platform: str
    kind: str
    columns: NDArray[np.int64]


def legs_of(linkage: Linkage, frame: str) -> tuple[Leg, ...] | str:
    """Return the legs that loops join to the link of a frame, or a text on why it is not a platform on legs."""
    own = _moving(linkage, frame)
    taken, legs = set(own), []
    if linkage.couplings:
        return f"joint {linkage.couplings[0].follower!r} is coupled to others"
    for goal in map(Close, linkage.loops):
        loop = goal.loop
        ends = [name for name in (loop.second, loop.first) if _moving(linkage, name) == own]
        if not ends:
            return f"loop {loop.name!r} does not end at the link of {frame!r}"
        end = loop.first if ends[0] == loop.second else loop.second
        arcs = _moving(linkage, end)
        if arcs & taken or any(linkage.arcs[arc].mimic is not None for arc in arcs | own):
            return f"the leg that ends at {end!r} shares joints with others"
        freedom, rows = sum(linkage.arcs[arc].articulation.nv for arc in arcs), int(goal.changeable(linkage).sum())
        if freedom < rows:
            return f"the leg that ends at {end!r} cannot follow it, with {freedom} degrees of freedom for {rows} rows"
        taken |= arcs
        columns = [k for arc in sorted(arcs) for k in range(linkage.nq)[linkage.drives[arc].columns]]
        legs.append(Leg(end, ends[0], loop.kind, np.array(columns, np.int64)))
    return tuple(legs)


def _moving(linkage: Linkage, frame: str) -> set[int]:
    """Return the joints that move a frame."""
    return {arc for arc in linkage.path_to(frame)[0] if linkage.arcs[arc].articulation.nv}
