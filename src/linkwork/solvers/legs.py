"""Parallel robots: where the pose of a platform is given, each leg is a chain of its own for the chain search.

A platform hangs on one path of the tree; other legs are joined to it by loops. Given where the platform is, the ends of
these legs are known, and no leg knows of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..goals import closings
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..linkage.tree import CLOSED
from ..transforms import FloatArray

SHARE = 0.5  # of the gap that counts as none is left to the search of a leg
SHARED = ("device", "threads", "dtype", "time_budget", "first", "limits", "restarts", "seed")  # options for legs too
ASKED: dict[str, dict[str, Any]] = {"point": {"orientation": False}, "axis": {"free": "z"}, "full": {}}


@dataclass(frozen=True)
class Leg:
    """A leg of a parallel robot.

    Args:
        end: The frame of its own that a loop joins to the platform.
        platform: The frame of the platform that it is joined to.
        kind: What of them coincides, as in `Loop`.
        columns: The entries of a pose that move it.
    """

    end: str
    platform: str
    kind: str
    columns: NDArray[np.int64]


def legs_of(linkage: Linkage, frame: str) -> tuple[Leg, ...] | str:
    """Return the legs that loops join to the link of a frame, or why it is no platform on legs, in words."""
    own = _moving(linkage, frame)
    taken, legs = set(own), []
    for goal in closings(linkage):
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


def solved_on_legs(
    solve: Callable[..., Any],
    linkage: Linkage,
    frame: str,
    targets: Any,
    start: PoseLike | None,
    options: dict[str, Any],
) -> Any:
    """Return a batch of a platform on legs: the platform's path first, then each leg to where it is joined.

    Args:
        solve: `solve_batch`, for chains.
        linkage: The robot, with loops.
        frame: A frame of the platform.
        targets: As `solve_batch` takes them.
        start: As well.
        options: All others.
    """
    legs = legs_of(linkage, frame)
    if isinstance(legs, str):
        raise GoalError(
            f"a batch cannot close the loops of linkage {linkage.name!r}, since {frame!r} is no platform on legs of"
            f" their own: {legs}; `solve` and `prepare` of goals can, one target at a time."
        )
    tree = linkage.cache.get("without loops", (), lambda: linkage.replace(loops=()))
    near = {"tolerance": SHARE * CLOSED * linkage.loop_size, "rotation_tolerance": SHARE * CLOSED}
    found = solve(tree, frame, targets, start=start, **{**near, **options})  # a platform's own path is easy: to the end
    q, success, codes = np.array(found.q), np.array(found.success), np.array(found.codes)
    shared = {name: value for name, value in options.items() if name in SHARED} | near
    for leg in legs:
        begin = q if start is None else np.broadcast_to(start_pose(linkage, start), q.shape)
        part = solve(tree, leg.end, _targets(linkage, leg, q), start=begin, **shared, **ASKED[leg.kind])
        q[:, leg.columns] = part.q[:, leg.columns]
        codes = np.where(success & ~part.success, part.codes, codes)
        success &= part.success
    success &= _closed(linkage, q)
    return replace(found, linkage=linkage, q=q, success=success, codes=codes)


def _targets(linkage: Linkage, leg: Leg, q: FloatArray) -> FloatArray:
    """Return where the end of a leg should be at poses (n, nq) of the platform: places (n, 3) or matrices (n, 4, 4)."""
    world: FloatArray = linkage.forward(q, frame=leg.platform)
    return np.ascontiguousarray(world[:, :3, 3]) if leg.kind == "point" else world


def _closed(linkage: Linkage, q: FloatArray) -> NDArray[np.bool_]:
    """Return which poses (n, nq) have all loops closed."""
    result = np.ones(len(q), np.bool_)
    for goal in closings(linkage):
        error = np.abs(goal.error(linkage, q))
        for block in goal.blocks:
            result &= (error[:, block.rows] <= goal.tolerance_of(block.unit)).all(axis=-1)
    return result
