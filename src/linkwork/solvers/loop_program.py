"""The loops of a linkage in the arrays that kernels read, and a mechanism driven by them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..goals import Close, Closing
from ..kernels.loop_closing import CLOSING, close_loops, closing_size
from ..kernels.loop_drive import SETTINGS, desk_size, drive_loops
from ..kernels.loop_motion import MOTION, motion_size, move_loops
from ..kernels.loop_rows import Loops, measure_loops, sweep_size
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .body_program import BodyProgram
from .closure_side import MEETING
from .goal_arrays import write_goal
from .loop_measures import DAMPING, LONGEST_STEP, ROUNDING, TRIES
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
        linkage: The linkage.
        goals: Its loops.
        units: What one is of every velocity, in radians and in metres: shape (nv,).
        tolerances: What counts as closed, of every gap.
        keep_limits: Whether joints keep within their limits.

    Attributes:
        columns: The velocities that loops depend on, in order.
        place: Where each is among them.
        rows: How many gaps joints change.
    """

    def __init__(
        self,
        linkage: Linkage,
        goals: Sequence[Closing],
        units: FloatArray,
        tolerances: FloatArray,
        *,
        keep_limits: bool,
    ) -> None:
        self.linkage, size = linkage, linkage.loop_size
        problem = Problem(linkage, goals)
        self.body = BodyProgram(problem, Settings(limits="clamp" if keep_limits else "ignore"))
        self.columns = self.body.columns
        self.place = {int(v): k for k, v in enumerate(self.columns)}
        self.aims, at = np.zeros(self.body.size), 0
        for goal in problem.goals:  # a metre counts as a share of the mechanism's size, a radian as itself
            at = write_goal(linkage, goal, 1.0 / size, size, self.aims, at)
        changeable = np.concatenate([goal.changeable(linkage) for goal in goals])
        self.rows = int(changeable.sum())
        self.used = np.where(changeable, np.cumsum(changeable) - 1, -1)
        self.units, self.tolerances = units[self.columns], tolerances
        self.memory = sweep_size(self.body.codes)
        self.all_rows = self.loops(np.zeros(linkage.nv, np.bool_))._replace(used=np.arange(len(tolerances)))

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

    def error(self, q: FloatArray) -> FloatArray:
        """Return the gaps at poses (..., nq): metres and radians, shape (..., gaps)."""
        return self._measured(q, np.empty((0, 0, 0)))

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return how velocities close the gaps, both measured by the mechanism's size, shape (..., gaps, nv)."""
        count, nv = len(self.tolerances), self.linkage.nv
        rows = np.empty((q[..., 0].size, count, len(self.columns)))
        self._measured(q, rows)
        result = np.zeros((len(rows), count, nv))
        result[:, :, self.columns] = rows
        return result.reshape(*q.shape[:-1], count, nv)

    def _measured(self, q: FloatArray, rows: FloatArray) -> FloatArray:
        poses, memory = np.ascontiguousarray(q, np.float64).reshape(-1, q.shape[-1]), np.empty(self.memory)
        gaps = np.empty((len(poses), len(self.tolerances)))
        measure_loops(self.all_rows, memory, poses, gaps, rows)
        return gaps.reshape(*q.shape[:-1], gaps.shape[1])

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


def why_not_compiled(linkage: Linkage, goals: Sequence[Closing]) -> str:
    """Return why kernels cannot close the loops of a linkage, in words; nothing where they can."""
    if not goals:
        return "there are none"
    if not all(type(goal) is Close for goal in goals):
        return "couplings are not compiled"
    return "balls with cones are not compiled" if linkage.cones else ""


def loop_program(
    linkage: Linkage, goals: Sequence[Closing], units: FloatArray, tolerances: FloatArray, *, keep_limits: bool
) -> LoopProgram | None:
    """Return the loops of a linkage as kernels read them, None where they cannot; kept on the linkage.

    See `LoopProgram` for arguments.
    """
    if why_not_compiled(linkage, goals):
        return None
    key = keep_limits, tuple((goal.part.name, goal.tolerance) for goal in goals)
    make = partial(LoopProgram, linkage, goals, units, tolerances, keep_limits=keep_limits)
    return linkage.cache.get("loop program", key, make)
