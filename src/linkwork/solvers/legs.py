"""Parallel robots: where the pose of a platform is given, each leg is a chain of its own.

A platform hangs on one path of the tree; other legs are joined to it by loops. Given where the platform is, the ends of
these legs are known, and no leg knows of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import closings
from ..kernels.search_many import REACHED
from ..kernels.threads import cores
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, start_pose
from ..linkage.tree import CLOSED
from ..transforms import FloatArray
from .leg_paths import Leg, legs_of
from .platform_form import PlatformForm, form_of

SHARE = 0.5  # of the gap that counts as none is left to the search of a leg
NOT_ASKED = {  # options that a closed form serves, or that mean nothing to it
    "device", "threads", "dtype", "time_budget", "progress", "first", "closest", "nearest", "orientation", "tolerance",
    "rotation_tolerance", "limits", "restarts", "seed",
}  # fmt: skip
SHARED = ("device", "threads", "dtype", "time_budget", "first", "limits", "restarts", "seed")  # options for legs too
ASKED: dict[str, dict[str, Any]] = {"point": {"orientation": False}, "axis": {"free": "z"}, "full": {}}


def solved_on_legs(
    solve: Callable[..., Any],
    linkage: Linkage,
    frame: str,
    targets: NDArray[Any],
    start: PoseLike | None,
    options: dict[str, Any],
) -> Any:
    """Return a batch of a platform on legs: in closed form where there is one, and by the search of chains otherwise.

    What the closed form misses, or finds beyond limits, goes to the search: it says how near one can come.

    Args:
        solve: `solve_batch`, for chains.
        linkage: The robot, with loops.
        frame: A frame of the platform.
        targets: As `solve_batch` takes them.
        start: As well.
        options: All others.
    """
    legs = linkage.cache.get("legs", frame, lambda: legs_of(linkage, frame))
    if isinstance(legs, str):
        raise GoalError(
            f"a batch cannot close the loops of linkage {linkage.name!r}, since {frame!r} is no platform on legs of"
            f" their own: {legs}; `solve` and `prepare` of goals can, one target at a time."
        )
    form = form_of(linkage, frame)
    near = {"tolerance": SHARE * CLOSED * linkage.loop_size, "rotation_tolerance": SHARE * CLOSED}
    places = None if isinstance(form, str) else _served(form, targets, options)
    if isinstance(form, str) or places is None or not len(places):
        return _searched(solve, linkage, frame, targets, start, legs, options, near)
    starts = np.atleast_2d(start_pose(linkage, start))
    if len(starts) not in (1, len(places)):
        raise OptionError(f"starts are one pose, or one for each of the {len(places)} targets; got {len(starts)}.")
    wanted = near | options
    threads = options.get("threads") or cores()
    q, errors, reached = form.solve(places, starts, (wanted["tolerance"], wanted["rotation_tolerance"]), threads)
    missed = np.flatnonzero(~reached)
    begin = None if start is None else starts[missed] if len(starts) > 1 else starts[0]
    rest = _searched(solve, linkage, frame, targets[missed], begin, legs, options, near)
    residuals = errors[:, : rest.residuals.shape[1]].copy()
    codes, restarts = np.full(len(q), REACHED, np.int8), np.zeros(len(q), np.int32)
    q[missed], residuals[missed], codes[missed], restarts[missed] = rest.q, rest.residuals, rest.codes, rest.restarts
    reached[missed] = rest.success
    return replace(rest, q=q, success=reached, residuals=residuals, codes=codes, restarts=restarts)


def _served(form: PlatformForm, targets: NDArray[Any], options: dict[str, Any]) -> FloatArray | None:
    """Return targets as a closed form takes them, points (n, 3) or frames (n, 16); None if it does not serve them."""
    plain = all(options.get(name) is None for name in options.keys() - NOT_ASKED) and options.get("limits") != "ignore"
    oriented = options.get("orientation", True) is True
    if not plain or options.get("device") != "cpu" or oriented != form.oriented:
        return None
    if targets.shape[1:] == (4, 4):
        return np.ascontiguousarray(targets.reshape(-1, 16) if oriented else targets[:, :3, 3], np.float64)
    return np.ascontiguousarray(targets, np.float64) if targets.shape[1:] == (3,) and not oriented else None


def _searched(
    solve: Callable[..., Any],
    linkage: Linkage,
    frame: str,
    targets: NDArray[Any],
    start: PoseLike | None,
    legs: tuple[Leg, ...],
    options: dict[str, Any],
    near: dict[str, float],
) -> Any:
    """Return a batch by the search of chains: the platform's path first, then each leg to where it is joined."""
    tree = linkage.cache.get("without loops", (), lambda: linkage.replace(loops=()))
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
