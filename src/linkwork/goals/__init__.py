"""Goals: what a solve should bring about, one table of them.

Imports the modules of this folder. A new goal is one class with `error` and `jacobian`, and one row in `GOALS`; `Close`
is none of those one asks for: it comes with the loops of a linkage.
"""

from __future__ import annotations

from .aiming import Align, Bend, LookAt
from .balance import Balance
from .base import Block, Goal, turn_between
from .closing import Close, closings
from .joints import Couple, Rest
from .places import Distance, OnLine, OnPlane, Relate
from .reach import Hold, Reach

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
