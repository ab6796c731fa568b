"""Goals: what a solve should bring about, one table of them.

Imports the modules of this folder. A new goal is one class with `error` and `jacobian`, and one row in `GOALS`; `Close`
is none of those one asks for: it comes with the loops of a linkage.
"""

from __future__ import annotations

from .balance import Balance
from .base import Block, Goal, turn_between
from .bend import Align, Bend, LookAt
from .close import Close, closings
from .reach import Hold, Reach
from .relate import Distance, OnLine, OnPlane, Relate
from .rest import Couple, Rest

GOALS: dict[str, type[Goal]] = {
    cls.__name__: cls
    for cls in (Reach, Hold, LookAt, Align, Bend, Rest, Balance, Relate, Distance, OnPlane, OnLine, Couple)
}

__all__ = [
    "GOALS",
    "Align",
    "Balance",
    "Bend",
    "Block",
    "Close",
    "Couple",
    "Distance",
    "Goal",
    "Hold",
    "LookAt",
    "OnLine",
    "OnPlane",
    "Reach",
    "Relate",
    "Rest",
    "closings",
    "turn_between",
]
