"""Goals of a solve: one class per file, imported on first use, and one table of them.

To add a goal, write one class with `error` and `jacobian`, and add one row to `GOALS` in `table`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import found_later

if TYPE_CHECKING:
    from .align import Align as Align
    from .avoid import Avoid as Avoid, AvoidLike as AvoidLike, as_avoid as as_avoid, with_avoid as with_avoid
    from .balance import Balance as Balance
    from .base import Block as Block, Edges as Edges, Goal as Goal, turn_between as turn_between
    from .bend import Bend as Bend
    from .close import Close as Close, closings as closings
    from .closing import Closing as Closing
    from .couple import Couple as Couple
    from .dexterity import Dexterity as Dexterity
    from .distance import Distance as Distance
    from .follow import Follow as Follow, Tangent as Tangent
    from .hold import Hold as Hold
    from .look_at import LookAt as LookAt
    from .on_line import OnLine as OnLine
    from .on_plane import OnPlane as OnPlane
    from .ranges import Ranges as Ranges
    from .reach import Reach as Reach
    from .relate import Relate as Relate
    from .rest import Rest as Rest
    from .table import GOALS as GOALS

_NAMES = {
    "align": "Align",
    "avoid": "Avoid AvoidLike as_avoid with_avoid",
    "balance": "Balance",
    "base": "Block Edges Goal turn_between",
    "bend": "Bend",
    "close": "Close closings",
    "closing": "Closing",
    "couple": "Couple",
    "dexterity": "Dexterity",
    "distance": "Distance",
    "follow": "Follow Tangent",
    "hold": "Hold",
    "look_at": "LookAt",
    "on_line": "OnLine",
    "on_plane": "OnPlane",
    "ranges": "Ranges",
    "reach": "Reach",
    "relate": "Relate",
    "rest": "Rest",
    "table": "GOALS",
}
__all__ = sorted(" ".join(_NAMES.values()).split())
if not TYPE_CHECKING:
    __getattr__ = found_later(__name__, _NAMES)
