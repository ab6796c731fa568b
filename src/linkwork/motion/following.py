"""Frames of a path of one `Reach` each, without a jump from one to the next as long as there is a way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..solvers import Damped, Method, Problem, Robust, Settings
from ..transforms import FloatArray
from .detours import Mark, way_around

TRIES, FAR = 8, 8  # searches for another way that find none, or one that ends so few frames later


def can_follow(method: Method, problem: Problem, settings: Settings) -> bool:
    """Return whether a method leaves it to the compiled search how frames are reached, and that knows the chain."""
    plain = isinstance(method, Robust) or method == Damped()
    return plain and settings.time_budget is None and _robust(method).prepared(problem, settings) is not None


def follow_path(
    method: Method,
    problem: Problem,
    series: Sequence[Any],
    q: FloatArray,
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the pose of every frame and the errors of its goals.

    A frame is reached by a continuous motion from the one before. The first may be anywhere. Where nothing leads on,
    another way is looked for that parts some frames before. If there is none, ``robust`` goes to another solution, a
    jump, if there is one; other methods come as near as they can.
    """
    aimed = [problem.aimed(wanted) for wanted in series]
    marks = [_mark(one, method, settings, q) for one in aimed]
    robust, poses, last, tries, free = _robust(method), [], None, TRIES, False
    jumps = method is robust and not robust.stay
    while len(poses) < len(aimed):
        k, lost, mark = len(poses), last is not None and not last.success, marks[len(poses)]
        if mark is None:  # goals of another kind
            q, last = method.solve(aimed[k], q, settings).q, None
        else:
            last = mark.prepared.follower.stay(mark.target, q, last)
            if k and tries and not last.success and not lost and None not in marks:
                other = way_around(marks, np.stack(poses), free=free)
                if other is not None:
                    poses[other[0] :] = other[1]
                    tries -= len(poses) < k + FAR
                    q, last = poses[-1], None
                    continue
                tries -= 1
            q, before = last.q, q
            if not last.success and (k == 0 or (last.stuck and jumps)):
                found, free = method.solve(aimed[k], before, settings), free or k == 0
                if found.success or k == 0:
                    q, last = found.q, None
        poses.append(q)
        if progress is not None:
            progress(len(poses), len(aimed))
    return np.stack(poses), [one.residuals(one.error(pose)) for one, pose in zip(aimed, poses, strict=True)]


def _mark(problem: Problem, method: Method, settings: Settings, q: FloatArray) -> Mark | None:
    prepared = _robust(method).prepared(problem, settings)
    goal: Any = problem.goals[0]
    return None if prepared is None else Mark(prepared.held_at(q), np.array(goal.target))


def _robust(method: Method) -> Robust:
    return method if isinstance(method, Robust) else Robust()
