"""Goals turned into the numbers that the kernels of whole figures read: one function for each kind, one table.

Imports `goals` and the codes of `kernels.aims`. A goal that has no row in `PACKERS` is solved for in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..goals import Align, Balance, Bend, Close, Couple, Distance, Goal, LookAt, OnLine, OnPlane, Reach, Relate, Rest
from ..goals.balance import Inset
from ..goals.look_at import NEAREST
from ..kernels import goal_rows as aims
from ..linkage.linkage import Linkage
from ..linkage.mass import masses
from ..transforms import FloatArray

Place = Any  # the name of a frame, or a point


@dataclass
class Packed:
    """A goal as the kernels read it.

    Args:
        kind: Which of the kernels' kinds it is.
        frames: Names of the frames it is about, None where a point stands instead; four at most.
        numbers: What its kind needs, after the two weights.
        mask: A number more, as the kind needs it.
        explicit: How many explicit rows it takes.
        items: Further whole numbers; `frames_in_items`: names of frames among them.
        more: Further numbers.
        count: How many items or directions there are.
    """

    kind: int
    frames: tuple[str | None, ...]
    numbers: list[float]
    mask: int = 0
    explicit: int = 0
    items: list[Any] = field(default_factory=list)
    more: list[float] = field(default_factory=list)
    count: int = 0

    def aim(self) -> list[float]:
        """Return all numbers but the weights."""
        return self.numbers + [0.0] * (aims.GOAL_NUMBERS - 2 - len(self.numbers)) + self.more


def _named(place: Place) -> str | None:
    return place if isinstance(place, str) else None


def _point(place: Place) -> list[float]:
    point: list[float] = [0.0, 0.0, 0.0] if isinstance(place, str) else place.tolist()
    return point


def _mask(rows: Any, free: Any) -> int:
    return sum(1 << int(k) for k in rows) + (aims.TURNED if free is not None else 0)


def _reach(_linkage: Linkage, goal: Reach) -> Packed:
    numbers = goal.target[:3].ravel().tolist() + ([] if goal.free is None else goal.free.tolist())
    return Packed(aims.PLACE, (goal.frame,), numbers, mask=_mask(goal.rows, goal.free))


def _relate(_linkage: Linkage, goal: Relate) -> Packed:
    numbers = goal._target()[:3].ravel().tolist()
    return Packed(aims.PLACE, (goal.frame, goal.to), numbers, mask=_mask(goal.rows, None), explicit=len(goal.rows))


def _close(_linkage: Linkage, goal: Close) -> Packed:
    axis = goal.loop.kind == "axis"
    numbers = np.eye(4)[:3].ravel().tolist() + ([0.0, 0.0, 1.0] if axis else [])
    rows = range(3 if goal.loop.kind == "point" else 6)
    mask = _mask(rows, axis or None)
    return Packed(aims.PLACE, (goal.loop.first, goal.loop.second), numbers, mask=mask, explicit=len(rows))


def _align(_linkage: Linkage, goal: Align) -> Packed:
    return Packed(aims.AIM, (goal.frame,), [*goal.direction.tolist(), *[0.0] * 9, *goal.axis.tolist()])


def _look(linkage: Linkage, goal: LookAt) -> Packed:
    other = _named(goal.at)
    near = NEAREST * (linkage.length or 1.0)
    numbers = [*_point(goal.at), near, *[0.0] * 8, *goal.axis.tolist()]
    return Packed(aims.AIM, (goal.frame, other), numbers, mask=aims.LOOKING, explicit=0 if other is None else 3)


def _bend(_linkage: Linkage, goal: Bend) -> Packed:
    frames = (goal.root, goal.middle, goal.end, _named(goal.towards))
    return Packed(aims.BEND, frames, _point(goal.towards), explicit=1)


def _across(_linkage: Linkage, goal: Any) -> Packed:
    ways = goal.directions
    return Packed(aims.ACROSS, (goal.frame,), [*goal.point.tolist(), *ways.ravel().tolist()], count=len(ways))


def _distance(_linkage: Linkage, goal: Distance) -> Packed:
    other = _named(goal.to)
    numbers = [*_point(goal.to), *goal.value]
    return Packed(aims.DISTANCE, (goal.frame, other), numbers, explicit=0 if other is None else 1)


def _balance(linkage: Linkage, goal: Balance) -> Packed:
    places = goal._places()
    size = 1.0 if goal.shares is None or len(places) == 1 else float(goal.shares[0, 0] - goal.shares[0, 1])
    numbers = [size, 0.0, 0.0, *goal.across.ravel().tolist()]
    corners = [_named(place) for place in places]
    points = [number for place in places for number in _point(place)]
    return Packed(
        aims.BALANCE, masses(linkage).links, numbers, explicit=2, items=corners, more=points, count=len(places)
    )


def _rest(linkage: Linkage, goal: Rest) -> Packed:
    columns, factors, target = (goal._known(name) for name in ("columns", "factors", "target"))
    q, v, wraps = linkage.table.plain
    plain = {int(b): (int(a), bool(w)) for a, b, w in zip(q, v, wraps, strict=True)}
    balls = {v + k: (q, v) for q, v in linkage.table.quaternions for k in range(3)}
    items: list[int] = []
    more: list[float] = []
    seen: dict[int, int] = {}
    for row, (column, factor) in enumerate(zip(columns.tolist(), factors.tolist(), strict=True)):
        if column in plain:
            place, wrap = plain[column]
            items += [aims.WRAPPED_REST if wrap else aims.PLAIN_REST, place, column, row]
            more += [factor, 0.0, 0.0, float(target[place]), 0.0, 0.0, 0.0]
        else:
            place, first = balls[column]
            if first not in seen:
                seen[first] = len(more)
                items += [aims.BALL_REST, place, first, row]
                more += [0.0, 0.0, 0.0, *target[place : place + 4].tolist()]
            more[seen[first] + column - first] = factor
    return Packed(aims.REST, (), [], mask=int(goal._known("turning")), items=items, more=more, count=len(items) // 4)


def _couple(_linkage: Linkage, goal: Couple) -> Packed:
    places, columns = goal._known("places").tolist(), goal._known("columns").tolist()
    items = [number for pair in zip(places, columns, strict=True) for number in pair]
    turning = int(goal._known("unit") == "rad")
    more = [float(c) for c in goal.joints.values()]
    return Packed(aims.COUPLE, (), [goal.value], mask=turning, explicit=1, items=items, more=more, count=len(more))


PACKERS: dict[type[Goal], Callable[[Linkage, Any], Packed]] = {
    Reach: _reach,
    Relate: _relate,
    Close: _close,
    Align: _align,
    LookAt: _look,
    Bend: _bend,
    OnPlane: _across,
    OnLine: _across,
    Distance: _distance,
    Balance: _balance,
    Inset: _balance,
    Rest: _rest,
    Couple: _couple,
}


def packed(linkage: Linkage, goal: Goal) -> Packed:
    """Return a goal, bound to a linkage, as the kernels read it."""
    return PACKERS[type(goal)](linkage, goal)


def write(linkage: Linkage, goal: Goal, weight: float, out: FloatArray, at: int) -> int:
    """Write the numbers of a goal that counts `weight` from a place on; return where the next one's begin."""
    out[at], out[at + 1] = weight, weight * (linkage.length / 4.0 or 1.0)
    if type(goal) is Reach:  # nearly all of them are: without the detour
        out[at + 2 : at + 14] = goal.target.ravel()[:12]
        if goal.free is not None:
            out[at + aims.FREE : at + aims.GOAL_NUMBERS] = goal.free
        return at + aims.GOAL_NUMBERS
    values = packed(linkage, goal).aim()
    end = at + 2 + len(values)
    out[at + 2 : end] = values
    return end
