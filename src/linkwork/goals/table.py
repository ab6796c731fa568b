"""The table of goals. `Close` is not listed: every solve adds it for the loops of the linkage."""

from __future__ import annotations

from ..linkage.plugins import Table
from .align import Align
from .avoid import Avoid
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

_OWN: dict[str, type[Goal]] = {
    cls.__name__: cls
    for cls in (
        Reach,
        Hold,
        LookAt,
        Align,
        Bend,
        Rest,
        Balance,
        Relate,
        Distance,
        OnPlane,
        OnLine,
        Couple,
        Dexterity,
        Avoid,
    )
}


def _wrong(name: str, row: object) -> str:
    if not (isinstance(row, type) and issubclass(row, Goal)):
        return f"it is {row!r}, not a class of goals"
    return "" if row.__name__ == name else f"the class is called {row.__name__!r}"


GOALS: Table[type[Goal]] = Table("linkwork.goals", _OWN, _wrong)
