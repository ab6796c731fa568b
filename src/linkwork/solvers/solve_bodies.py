"""Solve many problems of one body from arrays of targets by frame, for `solve_batch` with a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from ..errors import GoalError
from ..goals import Goal, with_avoid
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from .body_answers import BodyBatch
from .goal_targets import goal_by_shape
from .options import BodyTargetOptions, RunningOptions, SearchOptions, refuse_unknown
from .preparing import prepare

WHO = "a batch of several frames at once, which is solved on the CPU in float64,"


def solve_bodies(
    linkage: Linkage, targets: Mapping[Any, ArrayLike], start: PoseLike | None, options: Mapping[str, Any]
) -> BodyBatch:
    """Return poses that meet several goals at once, for each row of arrays; see `solve_batch`.

    Args:
        linkage: The linkage.
        targets: Arrays by frame, whose shape determines the kind of goal, or by goal.
        start: Start pose, or one for each row.
        options: Options of `BodyTargetOptions`.
    """
    refuse_unknown(options, BodyTargetOptions.__annotations__, WHO)
    keys = {key: goal_by_shape(key, values) if isinstance(key, str) else key for key, values in targets.items()}
    for key in keys.values():
        if not isinstance(key, Goal):
            raise GoalError(f"targets are given by frame, or by goal, got {key!r}.")
    if not keys:
        raise GoalError("there are no targets; give an array for each frame: {'left_hand': poses, ...}.")
    also = options.get("also", ())
    if isinstance(also, Goal) or not all(isinstance(goal, Goal) for goal in also):
        raise GoalError(f"also is a list of goals such as [Balance()], got {also!r}.")
    goals: list[Goal] = with_avoid([*keys.values(), *also], options.get("avoid"))
    plain: Any = {name: options[name] for name in options if name in SearchOptions.__annotations__ and name != "avoid"}
    running: Any = {name: options[name] for name in options if name in RunningOptions.__annotations__}
    arrays = {goal: targets[key] for key, goal in keys.items()}
    return prepare(linkage, goals, **plain).batch(goals, targets=arrays, start=start, **{"progress": None} | running)
