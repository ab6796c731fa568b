"""Parallel robots: for a given pose of the platform, each leg is an independent chain.

One path of the tree leads to the platform; loops join the other legs to it. The platform's pose determines the ends of
these legs, so each leg is solved independently.
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

SHARE = 0.5  # share of the gap that counts as closed, used as the tolerance of a leg's search
NOT_ASKED = {  # options that closed forms support, or that do not affect them
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
    """Return a batch of a platform on legs, by a closed form if there is one, else by the search of chains.

    Targets that the closed form misses, or reaches only beyond limits, are searched, to find the closest poses.

    Args:
        solve: `solve_batch`, for chains.
        linkage: The robot, with loops.
        frame: A frame of the platform.
        targets: As for `solve_batch`.
        start: As for `solve_batch`.
        options: All other options of `solve_batch`.
    """
    legs = linkage.cache.get("legs", frame, lambda: legs_of(linkage, frame))
    if isinstance(legs, str):
        raise GoalError(
            f"a batch cannot close the loops of linkage {linkage.name!r}, since {frame!r} is not a platform on"
            f" independent legs: {legs}; `solve` and `prepare` of goals can, one target at a time."
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
    """Return targets for a closed form, points (n, 3) or frames (n, 16); None if it does not support them."""
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
    """Return a batch by the search of chains: the platform's path first, then each leg to its joint at the platform."""
    tree = linkage.cache.get("without loops", (), lambda: linkage.replace(loops=()))
    found = solve(tree, frame, targets, start=start, **{**near, **options})  # solved to the end: it is easy
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
    """Return targets of a leg's end at poses (n, nq) of the platform: positions (n, 3) or matrices (n, 4, 4)."""
    world: FloatArray = linkage.forward(q, frame=leg.platform)
    return np.ascontiguousarray(world[:, :3, 3]) if leg.kind == "point" else world


def _closed(linkage: Linkage, q: FloatArray) -> NDArray[np.bool_]:
    """Return in which poses (n, nq) all loops are closed."""
    result = np.ones(len(q), np.bool_)
    for goal in closings(linkage):
        error = np.abs(goal.error(linkage, q))
        for block in goal.blocks:
            result &= (error[:, block.rows] <= goal.tolerance_of(block.unit)).all(axis=-1)
    return result
