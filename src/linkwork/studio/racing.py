"""The race: every method follows the same moving targets, one step at a time; errors and speeds are recorded.

This module does not depend on a page.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import GoalError
from ..goals import Goal
from ..linkage.linkage import Linkage
from ..linkage.poses import difference
from ..linkage.program import reach
from ..solvers import METHODS, Method, Problem, Settings, configure
from ..solvers.iterate import follow, settled
from ..transforms import FloatArray
from .targets import Target

KEPT = 240  # steps shown by the curves
CURVES = ("error", "smallest singular value", "joint speed")
DAMPING = 1.0 / 6.0  # over the linkage's length: the chapter's 5 for its arm of 30
BEYOND = 1.15  # end of the path through a singularity, over the reach of the limb
ASIDE = 0.3  # [rad]: angle between the path out and the path back
STILL = 1e-5  # [rad, m]: steps smaller than this count as standing still
STEP = Settings(max_iterations=20, time_budget=0.02)


class Racer:
    """One method in the race. Its damping is fixed, as in the chapter; adaptive damping would vanish near the goal.

    Args:
        name: The method.
        problem: The goals that it follows.
        q: Start pose.

    Attributes:
        q: Its pose.
        curves: The last values of each of `CURVES`, oldest first.
    """

    def __init__(self, name: str, problem: Problem, q: FloatArray) -> None:
        self.name, self.q = name, q
        fixed = {"damping": DAMPING * max(problem.linkage.length, 1e-3)} if name == "damped" else {}
        self.method, settings = configure(name, fixed, problem.linkage)
        self.method.accept(problem)
        self.settings, self._memory = settled(settings, self.method), dict[str, Any]()
        self._stepping = type(self.method).step is not Method.step and type(self.method).solve is Method.solve
        self.curves: dict[str, deque[float]] = {name: deque(maxlen=KEPT) for name in CURVES}

    def step(self, problem: Problem) -> None:
        """Take one step towards the goals, as in the chapter, without a retry; closed forms go all the way."""
        before = self.q
        if self._stepping:
            self.q = follow(self.method, problem, before, self.settings, 1, self._memory)
        else:
            self.q = self.method.solve(problem, before, replace(STEP, tolerance=self.settings.tolerance)).q
        error = float(problem.residuals(problem.error(self.q)).max())
        jacobian = problem.jacobian(self.q)
        values = np.linalg.svd(jacobian, compute_uv=False) if jacobian.size else np.zeros(1)
        step = difference(problem.linkage, before, self.q, wrap=not self._stepping)  # steps may go around several times
        moved = float(np.abs(step).max(initial=0.0))
        for name, value in zip(CURVES, (error, float(values.min()), moved), strict=True):
            self.curves[name].append(value)


class Chase:
    """A race of all methods that support the goals, on the same targets.

    Args:
        linkage: The linkage.
        goals: The first goals.
        q: Start pose of all methods.
        methods: Names of methods; all by default.

    Attributes:
        runners: Methods in the race, by name.
        refusals: Reasons why other methods are not in it, by name.
    """

    def __init__(
        self, linkage: Linkage, goals: Sequence[Goal], q: FloatArray, *, methods: Sequence[str] = tuple(METHODS)
    ) -> None:
        self._problem = Problem(linkage, goals, q)
        self.runners: dict[str, Racer] = {}
        self.refusals: dict[str, str] = {}
        self.steps = 0
        for name in methods:
            try:
                self.runners[name] = Racer(name, self._problem, q)
            except GoalError as error:
                self.refusals[name] = str(error)

    def step(self, goals: Sequence[Goal]) -> None:
        """Let all methods take a step towards goals, which may have moved."""
        self._problem = self._problem.aimed(list(goals))
        self.steps += 1
        for name, runner in list(self.runners.items()):
            try:
                runner.step(self._problem)
            except GoalError as error:  # such as a closed form without a solution there
                self.refusals[name] = str(error)

    @property
    def settled(self) -> bool:
        """Whether all methods have stopped moving."""
        return self.steps > 0 and all(runner.curves[CURVES[2]][-1] < STILL for runner in self.runners.values())

    def curve(self, what: str) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Return the steps, and one of `CURVES` for each runner, all of the same length."""
        count = min(self.steps, KEPT)
        steps = np.arange(self.steps - count, self.steps, dtype=np.float64)
        rows = {}
        for name, runner in self.runners.items():
            values = np.array(runner.curves[what])
            rows[name] = np.concatenate([np.full(count - len(values), np.nan), values])
        return steps, rows


def way_through_singularity(linkage: Linkage, target: Target, share: float) -> FloatArray:
    """Return the place of a target on a path out of its limb's reach and back, at a fraction of the path.

    Where the limb is stretched out, its Jacobian loses a direction: the pseudoinverse explodes, damping does not. The
    path back passes beside the path out, so that a stretched limb can bend again.
    """
    center, _, most, _ = reach(linkage, target.frame)
    if not math.isfinite(most):
        raise GoalError(f"the limb of {target.frame!r} has unlimited reach; fix the root, or choose another frame.")
    out = target.place[:3, 3] - center
    length = float(np.linalg.norm(out))
    direction = out / length if length > 1e-9 else np.eye(3)[0]
    aside = np.cross(np.eye(3)[2 if abs(direction[2]) < 0.9 else 0], direction)
    angle = ASIDE * math.sin(2.0 * math.pi * share)
    turned = math.cos(angle) * direction + math.sin(angle) * aside / np.linalg.norm(aside)
    place = np.array(target.place)
    place[:3, 3] = center + turned * (length + (BEYOND * most - length) * math.sin(math.pi * share) ** 2)
    return place
