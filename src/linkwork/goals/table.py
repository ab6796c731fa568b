"""The table of goals. `Close` is not in it: nobody asks for it, it comes with the loops of a linkage."""

from __future__ import annotations

from .align import Align
from .balance import Balance
from .base import Goal
from .bend import Bend
from .couple import Couple
from .dexterity import Dexterity
from .distance import Distance
from .hold import Hold
from .look_at import LookAt
from .on_line import OnLine
from .on_plane import OnPlane
from .reach import Reach
from .relate import Relate
from .rest import Rest

GOALS: dict[str, type[Goal]] = {
    cls.__name__: cls
    for cls in (Reach, Hold, LookAt, Align, Bend, Rest, Balance, Relate, Distance, OnPlane, OnLine, Couple, Dexterity)
}
