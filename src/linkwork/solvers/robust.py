"""The method to use when one wants an answer: damped steps within limits, and other starts when one leads nowhere.

Imports `base` and `jacobian`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..errors import OptionError
from ..transforms import FloatArray
from .base import Settings, Solution, run
from .jacobian import Damped
from .problem import Problem


@dataclass(frozen=True)
class Robust(Damped):
    """Adaptive damped least squares with joints at their limits taken out, from the start and then from random poses.

    Of the random starts that reach the goal, the answer nearest to the given start is returned; if none does, the pose
    with the smallest error.

    Args:
        restarts: How many random starts to try, together, if the given one fails.
        seed: Where the random poses come from: the same seed gives the same answer.
    """

    restarts: int = 64
    seed: int = 0
    name: ClassVar[str] = "robust"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("restarts", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise OptionError(f"{name} must be a whole number, zero or more, got {value!r}.")

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Run from the start; where that fails, from random poses."""
        if settings.limits == "clamp":
            settings = replace(settings, limits="project")
        first = run(self, problem, start, settings)
        if not self.restarts or np.all(first.success):
            return first
        q, success = first.q.reshape(-1, problem.linkage.nq).copy(), np.array(first.success).reshape(-1)
        residuals = first.residuals.reshape(len(q), -1).copy()
        iterations, status = np.array(first.iterations).reshape(-1), np.array(first.status, dtype=object).reshape(-1)
        starts = start.reshape(len(q), -1)
        tries = problem.linkage.random_pose(self.seed, self.restarts)
        again = run(self, problem, tries, replace(settings, trace=False))
        for i in np.flatnonzero(~success):
            k = self._pick(problem, again, starts[i])
            iterations[i] += int(np.sum(again.iterations))
            if again.success[k] or self._cost(problem, again.q[k]) < self._cost(problem, q[i]):
                q[i], success[i], residuals[i], status[i] = (
                    again.q[k],
                    again.success[k],
                    again.residuals[k],
                    again.status[k],
                )
        shape = start.shape[:-1]
        single = not shape
        return replace(
            first,
            q=q.reshape(*shape, -1),
            success=bool(success[0]) if single else success.reshape(shape),
            residuals=residuals.reshape(*shape, -1),
            iterations=int(iterations[0]) if single else iterations.reshape(shape),
            status=str(status[0]) if single else status.astype(str).reshape(shape),
        )

    def _cost(self, problem: Problem, q: FloatArray) -> Any:
        return np.linalg.norm(problem.error(q) * problem.scale, axis=-1)

    def _pick(self, problem: Problem, tried: Solution, start: FloatArray) -> int:
        """Return the answer nearest the start, or the best failure."""
        if tried.success.any():
            away = np.linalg.norm(problem.linkage.difference(start, tried.q), axis=-1)
            return int(np.argmin(np.where(tried.success, away, np.inf)))
        return int(np.argmin(self._cost(problem, tried.q)))
