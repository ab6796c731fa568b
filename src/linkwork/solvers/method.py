"""What a method is: a step, and how the loop should treat it."""

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
    """A way of solving: `step` is all that a method adds to the loop. Its fields are its options.

    Class attributes say how the loop should treat it: `iterations` it may take by default; `max_step`, the largest
    change of one value in a step [rad, m] by default; `patience`, how many iterations without progress (a thousandth)
    mean that it is stuck; `strict`, whether its step serves levels of priority one after another;
    `can_project_loops`, if it is not strict, whether its steps can be projected so that loops stay closed;
    `weighs_joints`, whether it knows a step that is shorter by the weights of joints.
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
        """Whether the loop should halve a step that makes the error grow."""
        return True

    @property
    def may_overshoot(self) -> bool:
        """Whether the length of its steps is the caller's, so that they may be too long, or too short, for any hope."""
        return False

    def check(self, problem: Problem) -> None:
        """Say plainly, by raising GoalError, if this method cannot serve these goals on this linkage."""

    def accept(self, problem: Problem) -> None:
        """Raise GoalError if this method cannot serve these goals: their levels, or what `check` looks at."""
        if problem.closings and not self.strict and not self.can_project_loops:
            raise GoalError(
                f"method {self.name!r} cannot close loops, and linkage {problem.linkage.name!r} has "
                f"{len(problem.closings)}; use 'damped' or 'robust'."
            )
        if len(problem.levels) - bool(problem.closings) > 1 and not self.strict:
            raise GoalError(
                f"method {self.name!r} weighs goals against each other and has no levels of priority; use 'damped', "
                "'pseudoinverse' or 'robust', or give all goals one priority (that of a Rest is 1 by default)."
            )
        if problem.group is not None and problem.group.scale is not None and not self.weighs_joints:
            raise GoalError(
                f"method {self.name!r} has no choice of steps that weights= could make; use 'pseudoinverse', 'damped', "
                "'prioritized' or 'robust'."
            )
        self.check(problem)

    def plan(self, problem: Problem, settings: Settings) -> Plan | None:  # noqa: ARG002
        """Return this method as the compiled loop takes it; None where only the loop in NumPy serves.

        A class that is made from another has none of its own unless it says so: its step may differ.
        """
        return None

    def solve(self, problem: Problem, start: FloatArray, settings: Settings) -> Solution:
        """Return a solution from a start: the loop, unless a method does more around it."""
        return run(self, problem, start, settings)

    def solve_without_start(self, problem: Problem, settings: Settings) -> Solution:
        """Return a solution where no start is given: from the neutral pose, unless a method knows better ones."""
        return self.solve(problem, problem.linkage.neutral(), settings)

    def step(self, state: State) -> FloatArray:
        """Return the change of the pose, a velocity over unit time, shape (..., nv)."""
        raise NotImplementedError

    def propose(self, state: State, settings: Settings) -> FloatArray:
        """Return the step, held to the largest change allowed; methods that move joint by joint override this."""
        return shortened(self.step(state), settings.max_step)


def shortened(change: FloatArray, largest: float | None) -> FloatArray:
    """Return a step made shorter, where needed, so that no value changes by more than the largest change allowed."""
    if largest is None:
        return change
    most = np.abs(change).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(change * np.minimum(1.0, largest / np.maximum(most, 1e-300)))
