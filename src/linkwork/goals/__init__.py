"""Goals: what a solve should bring about, one class a file and one table of them.

A new goal is one class with `error` and `jacobian`, and one row in `GOALS`. `Close` is not in the table: nobody asks
for it, it comes with the loops of a linkage.
"""

from __future__ import annotations

from .align import Align
from .balance import Balance
from .base import Block, Edges, Goal, turn_between
from .bend import Bend
from .close import Close, closings
from .couple import Couple
from .dexterity import Dexterity
from .distance import Distance
from .hold import Hold
from .look_at import LookAt
from .on_line import OnLine
from .on_plane import OnPlane
from .ranges import Ranges
from .reach import Reach
from .relate import Relate
from .rest import Rest

GOALS: dict[str, type[Goal]] = {
    cls.__name__: cls
    for cls in (Reach, Hold, LookAt, Align, Bend, Rest, Balance, Relate, Distance, OnPlane, OnLine, Couple, Dexterity)
}

__all__ = [
    "GOALS",
    "Align",
    "Balance",
    "Bend",
    "Block",
    "Close",
    "Couple",
    "Dexterity",
    "Distance",
    "Edges",
    "Goal",
    "Hold",
    "LookAt",
    "OnLine",
    "OnPlane",
    "Ranges",
    "Reach",
    "Relate",
    "Rest",
    "closings",
    "turn_between",
]
