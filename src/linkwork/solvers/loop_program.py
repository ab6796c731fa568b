"""The loops of a linkage in the arrays that kernels read, and a mechanism driven by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..goals import Close
from ..kernels.loop_closing import CLOSING, close_loops, closing_size
from ..kernels.loop_drive import SETTINGS, desk_size, drive_loops
from ..kernels.loop_motion import MOTION, motion_size, move_loops
from ..kernels.loop_rows import Loops, measure_loops, sweep_size
from ..transforms import FloatArray
from .body_program import BodyProgram
from .closure_side import MEETING
from .goal_arrays import write_goal
from .loops import DAMPING, LONGEST_STEP, ROUNDING, TRIES, Closure
from .options import Settings
from .problem import Problem

STEADY = 0.2  # of a predicted step: how much of it may turn out wrong
ROUGH = 1e-9  # how far off a closed pose is in any case
CHANGED = 0.5  # of the closure at most changes in a step, so that no singular value passes zero
CLEAR = 10.0  # times what counts as a meeting of branches: nearer to zero, compiled steps go no further
REFUSED = 1e-6  # of what drivers ask for: if loops refuse more than this, they cannot follow
FINEST = 1e-9  # the step of the driven joint at which compiled steps give up


class LoopProgram:
    """The loops of a linkage, packed for kernels.

    Args:
        closure: The loops.

    Attributes:
        columns: The velocities that loops depend on, in order.
    """

    def __init__(self, closure: Closure) -> None:
        linkage = self.linkage = closure.linkage
        self.count = len(closure.goals)
        problem = Problem(linkage, closure.goals)
        self.body = BodyProgram(problem, Settings(limits="clamp" if closure.keep_limits else "ignore"))
        self.columns = self.body.columns
        self.place = {int(v): k for k, v in enumerate(self.columns)}
        self.aims, at = np.zeros(self.body.size), 0
        for goal in problem.goals:  # a metre counts as a share of the mechanism's size, a radian as itself
            at = write_goal(linkage, goal, 1.0 / closure.size, closure.size, self.aims, at)
        changeable = np.concatenate([goal.changeable(linkage) for goal in closure.goals])
        self.rows = int(changeable.sum())
        self.used = np.where(changeable, np.cumsum(changeable) - 1, -1)
        self.units = closure.units[self.columns]
        self.tolerances = closure.tolerances

    def loops(self, free: NDArray[np.bool_]) -> Loops:
        """Return what kernels read, where velocities (nv,) that are free follow."""
        columns = np.flatnonzero(free[self.columns])
        return Loops(self.body.codes, self.body.numbers, self.aims, self.used, self.units, self.tolerances, columns)

    def drive(
        self, v: int, free: NDArray[np.bool_], rank: int, values: FloatArray, poses: FloatArray, first: int
    ) -> tuple[int, FloatArray]:
        """Write closed poses (n, nq) with a velocity's joint at values (n,), from the frame after the first on.

        Returns:
            How many frames there are; where that is not all, the next one has the pose from which nothing led on in
            the ordinary way. And the rates (nv,) of the last pose.
        """
        loops = self.loops(free)
        settings = SETTINGS.pack(
            rank=rank, rounding=ROUNDING, longest=LONGEST_STEP, steady=STEADY, rough=ROUGH, changed=CHANGED,
            weakest=CLEAR * MEETING, lost=MEETING, finest=FINEST,
        )  # fmt: skip
        memory = np.empty(desk_size(self.body.codes, self.rows, len(loops.free)))
        rates = np.zeros(len(self.columns))
        count = drive_loops(loops, settings, self.place[v], self.rows, values, first, memory, poses, rates)
        result = np.zeros(len(free))
        result[self.columns] = rates
        return count, result

    def widths(self, poses: FloatArray) -> FloatArray:
        """Return how wide loops are open at poses (n, nq): lengths of their gaps, turns included, (n, loops)."""
        result, memory = np.empty((len(poses), self.count)), np.empty(sweep_size(self.body.codes))
        measure_loops(self.loops(np.zeros(self.linkage.nv, np.bool_)), memory, poses, result)
        return result

    def closed(self, free: NDArray[np.bool_], poses: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return poses (n, nq) that damped steps of free velocities (nv,) lead to, and which of them are closed."""
        loops, found, closed = self.loops(free), np.array(poses), np.zeros(len(poses), np.uint8)
        settings = CLOSING.pack(rounding=ROUNDING, longest=LONGEST_STEP, damping=DAMPING, steps=TRIES)
        memory = np.empty(closing_size(self.body.codes, self.rows, len(loops.free)))
        close_loops(loops, settings, self.rows, memory, found, closed)
        return found, closed.view(np.bool_)

    def move(
        self, free: NDArray[np.bool_], poses: FloatArray, velocities: FloatArray, accelerations: FloatArray
    ) -> NDArray[np.bool_]:
        """Write rates (n, nv) of free velocities at closed poses (n, nq) beside those of the others, which are given.

        Return at which poses that was done: where all that is free follows, clearly. Nothing is written elsewhere.
        """
        good, loops = np.zeros(len(poses), np.uint8), self.loops(free)
        count = len(loops.free)
        if self.body.balls or count != int(free.sum()) or count > self.rows:
            return good.view(np.bool_)
        settings = MOTION.pack(rank=count, weakest=CLEAR * MEETING, refused=REFUSED)
        memory = np.empty(motion_size(self.body.codes, self.rows, count))
        own = [np.ascontiguousarray(rates[:, self.columns]) for rates in (velocities, accelerations)]
        move_loops(loops, settings, self.rows, memory, np.ascontiguousarray(poses), *own, good)
        done = good.view(np.bool_)
        for rates, found in zip((velocities, accelerations), own, strict=True):
            rates[np.ix_(done, self.columns)] = found[done]
        return done


def why_not_compiled(closure: Closure) -> str:
    """Return why kernels cannot close the loops of a linkage, in words; nothing where they can."""
    if not closure.goals:
        return "there are none"
    if not all(type(goal) is Close for goal in closure.goals):
        return "couplings are not compiled"
    return "balls with cones are not compiled" if closure.linkage.cones else ""


def loop_program(closure: Closure) -> LoopProgram | None:
    """Return the loops of a linkage as kernels read them, None where they cannot; kept on the linkage."""
    if why_not_compiled(closure):
        return None
    key = closure.keep_limits, tuple(goal.tolerance for goal in closure.goals)
    return closure.linkage.cache.get("loop program", key, lambda: LoopProgram(closure))


def loop_gaps(closure: Closure, poses: FloatArray) -> FloatArray:
    """Return how wide each loop and coupling is open at poses (n, nq), shape (n, loops)."""
    program = loop_program(closure)
    if program is not None:
        return program.widths(poses)
    gaps = [np.linalg.norm(goal.error(closure.linkage, poses), axis=-1) for goal in closure.goals]
    return np.reshape(gaps, (len(gaps), len(poses))).T
