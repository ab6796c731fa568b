"""Solve the frames of a path without jumps, as long as there is a continuous motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..solvers import Damped, Method, Problem, Robust, Settings
from ..solvers.body_solver import BodySolver
from ..solvers.body_step import Stay
from ..transforms import FloatArray
from .detours import Mark, way_around

TRIES, FAR = 8, 8  # the search for detours ends after TRIES that fail or that gain no more than FAR frames


class BodyMark(NamedTuple):
    """The goals of a frame for a body, and their compiled solver."""

    solver: BodySolver
    problem: Problem

    def keep_up(self, q: FloatArray, last: Any) -> Stay:
        """Return the solution that continues from a pose without a jump; `last` is the one before."""
        problem = self.problem
        asked = problem.residuals(problem.error(q))
        return self.solver.follower.keep_up(problem.goals, q, asked, last)


def can_follow(method: Method, problem: Problem, settings: Settings) -> bool:
    """Return whether a method uses compiled solvers for frames, and one of them supports the goals."""
    plain = isinstance(method, Robust) or method == Damped()
    return (
        plain and settings.time_budget is None and _mark(problem, _robust(method), settings, problem.start) is not None
    )


def follow_path(
    method: Method,
    problem: Problem,
    series: Sequence[Any],
    q: FloatArray,
    settings: Settings,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the poses (n, nq) of frames and the errors of their goals.

    Each frame is reached by a continuous motion from the one before; the first may be anywhere. At a dead end, another
    motion that begins some frames earlier is searched, if every frame has a single `Reach`. If there is none,
    ``robust`` jumps to another solution, if there is one; other methods come as near as they can.
    """
    robust = _robust(method)
    aimed = [problem.aimed(wanted) for wanted in series]
    marks = [_mark(one, robust, settings, q) for one in aimed]
    chain = [mark for mark in marks if isinstance(mark, Mark)]
    poses: list[FloatArray] = []
    last, free = None, False
    tries, jumps = TRIES if len(chain) == len(marks) else 0, method is robust and not robust.stay
    while len(poses) < len(aimed):
        k, lost, mark = len(poses), last is not None and not last.success, marks[len(poses)]
        if mark is None:  # goals that only NumPy supports
            q, last = method.solve(aimed[k], q, settings).q, None
        else:
            last = mark.keep_up(q, last)
            if k and tries and not last.success and not lost:
                other = way_around(chain, np.stack(poses), free=free)
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


def _mark(problem: Problem, robust: Robust, settings: Settings, q: FloatArray) -> Mark | BodyMark | None:
    """Return the solver of a frame's goals: a chain for one `Reach`, a body for others, None if not compiled."""
    goal: Any = problem.goals[0]
    prepared = robust.prepared(problem, settings)
    if prepared is not None:
        return Mark(prepared.held_at(q), np.array(goal.target))
    body = robust.body(problem, settings)
    return None if body is None else BodyMark(body, problem)


def _robust(method: Method) -> Robust:
    return method if isinstance(method, Robust) else Robust()
