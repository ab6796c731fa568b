"""Base class of methods: a step, and parameters of the loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import GoalError
from ..transforms import FloatArray
from .iterate import run
from .options import Settings
from .plans import Plan
from .problem import Problem, State
from .solution import Solution


@dataclass(frozen=True)
class Method:
    """A solution method: its `step` is called by the loop. Its fields are its options.

    Class attributes are parameters of the loop: `iterations`, the default number of iterations; `max_step`, the default
    largest change of one value in a step [rad, m]; `patience`, the number of iterations without progress (a thousandth)
    after which it is stuck; `strict`, whether its step solves priority levels one after another; `can_project_loops`,
    if it is not strict, whether its steps can be projected so that loops stay closed; `weighs_joints`, whether it
    supports weights of joints.
    """

    name: ClassVar[str]
    iterations: ClassVar[int] = 100
    max_step: ClassVar[float | None] = None
    patience: ClassVar[int] = 12
    strict: ClassVar[bool] = False
    can_project_loops: ClassVar[bool] = False
    weighs_joints: ClassVar[bool] = False

    @property
    def careful(self) -> bool:
        """Whether the loop should halve a step that increases the error."""
        return True

    @property
    def may_overshoot(self) -> bool:
        """Whether the caller sets the length of its steps, so that they may be too long or too short to converge."""
        return False

    def check(self, problem: Problem) -> None:
        """Raise GoalError if this method does not support these goals on this linkage."""

    def accept(self, problem: Problem) -> None:
        """Raise GoalError if this method does not support these goals, their loops, priority levels or weights."""
        if problem.closings and not self.strict and not self.can_project_loops:
            raise GoalError(
                f"method {self.name!r} cannot close loops, and linkage {problem.linkage.name!r} has "
                f"{len(problem.closings)}; use 'damped' or 'robust'."
            )
        if len(problem.levels) - bool(problem.closings) > 1 and not self.strict:
            raise GoalError(
                f"method {self.name!r} weighs goals against each other and has no priority levels; use 'damped', "
                "'pseudoinverse' or 'robust', or give all goals one priority (that of a Rest is 1 by default)."
            )
        if problem.group is not None and problem.group.scale is not None and not self.weighs_joints:
            raise GoalError(
                f"method {self.name!r} does not support weights=; use 'pseudoinverse', 'damped', 'prioritized' or "
                "'robust'."
            )
        self.check(problem)

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        """Return this method's plan for the compiled loop; None if it runs only in NumPy.

        A subclass does not use its parent's plan unless it defines one, since its step may differ.
        """
        return None

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Return a solution from a start, by the loop unless a method overrides this."""
        return run(self, problem, start, settings)

    def solve_without_start(self, problem: Problem, settings: Settings) -> Solution:
        """Return a solution without a given start: from the neutral pose, unless a method has better starts."""
        return self.solve(problem, problem.linkage.neutral(), settings)

    def step(self, state: State) -> FloatArray:
        """Return the change of the pose, a velocity over unit time, shape (..., nv)."""
        raise NotImplementedError

    def propose(self, state: State, settings: Settings) -> FloatArray:
        """Return the step, shortened to the largest allowed change; methods that move joint by joint override this."""
        return shortened(self.step(state), settings.max_step)


def shortened(change: FloatArray, largest: float | None) -> FloatArray:
    """Return a step scaled down so that no value changes by more than the largest allowed change."""
    if largest is None:
        return change
    most = np.abs(change).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(change * np.minimum(1.0, largest / np.maximum(most, 1e-300)))
