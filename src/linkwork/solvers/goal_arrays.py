"""Pack goals into numbers for the whole-body kernels: one function for each kind, and a table of them.

A goal without a row in `PACKERS`, or one that follows a curve, is solved in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collision.packing import Scene
from ..goals import (
    Align,
    Avoid,
    Balance,
    Bend,
    Close,
    Couple,
    Dexterity,
    Distance,
    Follow,
    Goal,
    LookAt,
    OnLine,
    OnPlane,
    Reach,
    Relate,
    Rest,
    Tangent,
)
from ..goals.base import metres_per_radian
from ..goals.look_at import NEAREST
from ..kernels import goal_layout as layout
from ..kernels.avoid_rows import MOST
from ..kernels.goal_layout import AIM, AIMS, AVOID_ITEM, COUPLE_ITEM, PLACE_AIM, REST_ITEM, REST_NUMBERS
from ..kernels.layout import Record
from ..linkage.linkage import Linkage
from ..linkage.mass import masses
from ..transforms import FloatArray

Place = Any  # the name of a frame, or a point
TARGET, FREE = PLACE_AIM.items["target"], PLACE_AIM.items["free"]


@dataclass
class PackedGoal:
    """A goal packed for the kernels.

    Args:
        kind: Its kind in the kernels.
        frames: Names of its frames, None for a point instead; at most four.
        values: The numbers of its kind except the weights, by their names in the kernels' layout.
        mask: An additional number that depends on the kind.
        explicit: Number of explicit rows.
        corners: Frames that a body stands on, None for a point instead.
        items: Records of joints, flat.
        item_numbers: Numbers of corners or joints, flat.
        count: Number of corners, joints, directions or frames of a scene.
        scene: What to avoid.
    """

    kind: int
    frames: tuple[str | None, ...]
    values: dict[str, Any]
    mask: int = 0
    explicit: int = 0
    corners: tuple[str | None, ...] = ()
    items: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    item_numbers: Any = ()
    count: int = 0
    scene: Scene | None = None

    @property
    def size(self) -> int:
        """Number of numbers, weights included."""
        return AIMS[self.kind].size + len(self.item_numbers)

    @property
    def names(self) -> list[str]:
        """Names of its frames."""
        return [name for name in (*self.frames, *self.corners) if name is not None]

    @property
    def velocities(self) -> list[int]:
        """The velocities of a goal on joints."""
        if self.kind == layout.REST:
            items = REST_ITEM.rows(self.items)
            counts = np.where(items.kind == layout.BALL_REST, 3, 1).tolist()
            return [v + k for v, count in zip(items.column.tolist(), counts, strict=True) for k in range(count)]
        return COUPLE_ITEM.rows(self.items).column.tolist() if self.kind == layout.COUPLE else []

    def write(self, out: FloatArray) -> None:
        """Write all numbers except the weights."""
        fixed = AIMS[self.kind]
        for name, value in self.values.items():
            out[fixed.items[name]] = value
        out[fixed.size :] = self.item_numbers


def _named(place: Place) -> str | None:
    return place if isinstance(place, str) else None


def _point(place: Place) -> FloatArray:
    point: FloatArray = np.zeros(3) if isinstance(place, str) else place
    return point


def _mask(rows: Any, free: Any) -> int:
    return sum(1 << int(k) for k in rows) + (layout.ANY_SPIN if free is not None else 0)


def _reach(_linkage: Linkage, goal: Reach) -> PackedGoal:
    if goal.ranges is not None:
        low, high, world = goal.ranges
        limits = {"target": goal.target[:3].ravel(), "low": low, "high": high}
        mask = _mask(goal.rows, None) + (layout.WORLD_AXES if world else 0)
        return PackedGoal(layout.RANGE, (goal.frame,), limits, mask=mask)
    values = {"target": goal.target[:3].ravel()} | ({} if goal.free is None else {"free": goal.free})
    return PackedGoal(layout.PLACE, (goal.frame,), values, mask=_mask(goal.rows, goal.free))


def _relate(_linkage: Linkage, goal: Relate) -> PackedGoal:
    values, mask = {"target": goal._target()[:3].ravel()}, _mask(goal.rows, None)
    return PackedGoal(layout.PLACE, (goal.frame, goal.to), values, mask=mask, explicit=len(goal.rows))


def _close(_linkage: Linkage, goal: Close) -> PackedGoal:
    loop = goal.loop
    values = {"target": np.eye(4)[:3].ravel(), "free": (0.0, 0.0, 1.0)}
    rows = range(3 if loop.kind == "point" else 6)
    mask = _mask(rows, True if loop.kind == "axis" else None)
    return PackedGoal(layout.PLACE, (loop.first, loop.second), values, mask=mask, explicit=len(rows))


def _align(_linkage: Linkage, goal: Align) -> PackedGoal:
    return PackedGoal(layout.POINTING, (goal.frame,), {"point": goal.direction, "axis": goal.axis})


def _look(linkage: Linkage, goal: LookAt) -> PackedGoal:
    other = _named(goal.at)
    values = {"point": _point(goal.at), "nearest": NEAREST * (linkage.length or 1.0), "axis": goal.axis}
    explicit = 0 if other is None else 3
    return PackedGoal(layout.POINTING, (goal.frame, other), values, mask=layout.LOOKING, explicit=explicit)


def _bend(_linkage: Linkage, goal: Bend) -> PackedGoal:
    return PackedGoal(layout.BEND, tuple(map(_named, goal.places)), {"point": _point(goal.towards)}, explicit=1)


def _across(_linkage: Linkage, goal: Any) -> PackedGoal:
    count, normals = len(goal.directions), np.zeros((2, 3))
    normals[:count] = goal.directions
    return PackedGoal(layout.ACROSS, (goal.frame,), {"point": goal.point, "normals": normals.ravel()}, count=count)


def _distance(_linkage: Linkage, goal: Distance) -> PackedGoal:
    other, (least, largest) = _named(goal.to), goal.value
    values = {"point": _point(goal.to), "least": least, "largest": largest}
    return PackedGoal(layout.DISTANCE, (goal.frame, other), values, explicit=0 if other is None else 1)


def _balance(linkage: Linkage, goal: Balance) -> PackedGoal:
    places = goal.places
    scale = 1.0 if goal.shares is None or len(places) == 1 else float(goal.shares[0, 0] - goal.shares[0, 1])
    return PackedGoal(
        layout.BALANCE,
        masses(linkage).links,
        {"scale": scale, "ground": goal.across.ravel()},
        explicit=2,
        corners=tuple(_named(place) for place in places),
        item_numbers=np.concatenate([_point(place) for place in places]),
        count=len(places),
    )


def _rest(linkage: Linkage, goal: Rest) -> PackedGoal:
    columns, factors, target = (goal._known(name) for name in ("columns", "factors", "target"))
    plain = zip(*(a.tolist() for a in linkage.table.plain), strict=True)
    joints = {v: (layout.WRAPPED_REST if wraps else layout.PLAIN_REST, q, v, 1) for q, v, wraps in plain}
    joints |= {v + k: (layout.BALL_REST, q, v, 4) for q, v in linkage.table.quaternions for k in range(3)}
    items: dict[int, tuple[int, int, int, int, list[float], list[float]]] = {}  # by the first velocity
    for row, (column, factor) in enumerate(zip(columns.tolist(), factors.tolist(), strict=True)):
        kind, place, first, width = joints[column]
        if first not in items:
            pose = [*target[place : place + width].tolist(), *[0.0] * (4 - width)]
            items[first] = (kind, place, first, row, [0.0, 0.0, 0.0], pose)
        items[first][4][column - first] = factor
    count = len(items)
    kinds, values, velocities, rows, gains, poses = zip(*items.values(), strict=True)
    records = REST_ITEM.pack(dtype=np.int64, shape=(count,), kind=kinds, value=values, column=velocities, error=rows)
    numbers = REST_NUMBERS.pack(shape=(count,), gains=gains, pose=poses)
    turning = int(goal._known("turning"))
    return PackedGoal(
        layout.REST, (), {}, mask=turning, items=records.ravel(), item_numbers=numbers.ravel(), count=count
    )


def _couple(_linkage: Linkage, goal: Couple) -> PackedGoal:
    places, columns, count = goal._known("places"), goal._known("columns"), len(goal.joints)
    items = COUPLE_ITEM.pack(dtype=np.int64, shape=(count,), value=places, column=columns)
    turning, numbers = int(goal._known("unit") == "rad"), [float(c) for c in goal.joints.values()]
    values = {"value": goal.value}
    return PackedGoal(
        layout.COUPLE, (), values, mask=turning, explicit=1, items=items.ravel(), item_numbers=numbers, count=count
    )


def _follow(linkage: Linkage, goal: Follow) -> PackedGoal:
    row = goal._known("row")
    places, columns = np.append(row.q, row.values), np.append(row.v, row.rates)
    items = COUPLE_ITEM.pack(dtype=np.int64, shape=(len(places),), value=places, column=columns)
    values = {"value": float(row.value(np.zeros(linkage.nq)))}
    turning, numbers = int(row.unit == "rad"), [1.0, *(-row.ratios).tolist()]
    more: dict[str, Any] = {"items": items.ravel(), "item_numbers": numbers, "count": len(places)}
    return PackedGoal(layout.COUPLE, (), values, mask=turning, explicit=1, **more)


def _dexterity(linkage: Linkage, goal: Dexterity) -> PackedGoal:
    known = goal._counted(linkage)
    values = {"enough": goal.enough, "best": known.best, "arm": metres_per_radian(linkage)}
    mask = _mask(known.rows, None) + (layout.BY_CONDITION if goal.measure == "condition" else 0)
    count = len(known.columns)
    values["rank"] = min(len(known.rows), count)
    items = known.columns.copy()
    return PackedGoal(layout.DEXTERITY, (goal.frame,), values, mask=mask, explicit=1, items=items, count=count)


def _avoid(linkage: Linkage, goal: Avoid) -> PackedGoal:
    scene = goal.scene(linkage)
    frames, values = tuple(scene.frames), {"wanted": goal.wanted}
    items = AVOID_ITEM.pack(dtype=np.int64, code=0, number=0)
    more: dict[str, Any] = {"items": items, "corners": frames, "count": len(frames), "scene": scene}
    return PackedGoal(layout.AVOID, (), values, explicit=MOST, **more)


PACKERS: dict[type[Goal], Callable[[Linkage, Any], PackedGoal]] = {
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
    Rest: _rest,
    Couple: _couple,
    Follow: _follow,
    Tangent: _follow,
    Dexterity: _dexterity,
    Avoid: _avoid,
}


def packable(goal: Goal) -> bool:
    """Return whether the kernels support a goal; couplings along curves are not supported."""
    return type(goal) in PACKERS and not (isinstance(goal, Follow) and not goal.linear)


def pack_goal(linkage: Linkage, goal: Goal) -> PackedGoal:
    """Return a resolved goal packed for the kernels."""
    return PACKERS[type(goal)](linkage, goal)


def write_goal(linkage: Linkage, goal: Goal, weight: float, arm: float, out: FloatArray, at: int) -> int:
    """Write the numbers of a goal at an index; return the index of the next goal.

    Errors are weighted with `weight` per metre; a radian counts as `arm` metres.
    """
    if type(goal) is Reach and goal.ranges is None:  # a shortcut for the most common goal
        end = at + PLACE_AIM.size
        own = out[at:end]
        own[TARGET] = goal.target.ravel()[:12]
        if goal.free is not None:
            own[FREE] = goal.free
    else:
        packed = pack_goal(linkage, goal)
        end = at + packed.size
        own = out[at:end]
        packed.write(own)
    own[AIM.metres], own[AIM.radians] = weight, weight * arm
    return end


def goal_records(goals: Sequence[PackedGoal], numbers: FloatArray) -> Iterator[tuple[Record, FloatArray]]:
    """Yield, for each goal, its numbers by name and those of its items, as views of all numbers (..., size)."""
    at = 0
    for goal in goals:
        fixed = AIMS[goal.kind]
        first, end = at + fixed.size, at + goal.size
        yield fixed.view(numbers[..., at:first]), numbers[..., first:end]
        at = end


def write_poses(goal: PackedGoal, poses: FloatArray, item_numbers: FloatArray) -> None:
    """Write the poses (m, nq) of a Rest goal into the numbers of its items (m, ...)."""
    record = REST_NUMBERS.view(item_numbers.reshape(len(poses), goal.count, REST_NUMBERS.size))
    items = REST_ITEM.rows(goal.items)
    for k, (kind, place) in enumerate(zip(items.kind.tolist(), items.value.tolist(), strict=True)):
        width = 4 if kind == layout.BALL_REST else 1
        record.pose[:, k, :width] = poses[:, place : place + width]
