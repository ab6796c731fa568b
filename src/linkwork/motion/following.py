"""Frames of a path of one `Reach` each, without a jump from one to the next as long as there is a way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..solvers import Damped, Method, Problem, Robust, Settings
from ..transforms import FloatArray


def can_follow(method: Method, problem: Problem, settings: Settings) -> bool:
    """Return whether a method leaves it to the compiled search how frames are reached, and that knows the chain."""
    plain = isinstance(method, Robust) or method == Damped()
    return plain and settings.time_budget is None and _robust(method).prepared(problem, settings) is not None


def follow_path(
    method: Method, problem: Problem, series: Sequence[Any], q: FloatArray, settings: Settings
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the pose of every frame and the errors of its goals.

    A frame is reached by a continuous motion from the one before. The first may be anywhere. Where nothing leads on,
    ``robust`` goes to another solution, a jump, if there is one; other methods come as near as they can.
    """
    robust, last = _robust(method), None
    for k, wanted in enumerate(series):
        problem = problem.aimed(wanted)
        prepared: Any = robust.prepared(problem, settings)
        if prepared is None:  # goals of another kind
            q, last = method.solve(problem, q, settings).q, None
        else:
            goal: Any = problem.goals[0]
            last = prepared.held_at(q).follower.stay(np.array(goal.target), q, last)
            q, before = last.q, q
            if (k == 0 and not last.success) or (last.stuck and method is robust and not robust.stay):
                other = method.solve(problem, before, settings)
                if other.success or k == 0:
                    q, last = other.q, None
        yield q, problem.residuals(problem.error(q))


def _robust(method: Method) -> Robust:
    return method if isinstance(method, Robust) else Robust()
