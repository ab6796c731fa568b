"""Pack the loops of a linkage for kernels that close, drive and move mechanisms."""

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

STEADY = 0.2  # allowed error of a predicted step, as a share of it
ROUGH = 1e-9  # error that a closed pose has in any case
CHANGED = 0.5  # largest relative change of the closure in a step, so that no singular value passes zero
CLEAR = 10.0  # times MEETING: with singular values nearer to zero, compiled steps stop
REFUSED = 1e-6  # share of the drivers' rates: if loops contradict more than this, they cannot follow
FINEST = 1e-9  # step of the driven joint below which compiled steps give up


class LoopProgram:
    """The loops of a linkage, packed for kernels.

    Args:
        linkage: The linkage.
        goals: Its loops.
        units: Unit of every velocity: 1 rad, or the mechanism's size [m]; shape (nv,).
        tolerances: Tolerance of every gap.
        keep_limits: Whether joints keep within their limits.

    Attributes:
        columns: The velocities that loops depend on, in order.
        place: Index of each velocity in `columns`.
        rows: Number of gaps that joints can change.
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
        for goal in problem.goals:  # metres are divided by the mechanism's size, radians are not scaled
            at = write_goal(linkage, goal, 1.0 / size, size, self.aims, at)
        changeable = np.concatenate([goal.changeable(linkage) for goal in goals])
        self.rows = int(changeable.sum())
        self.used = np.where(changeable, np.cumsum(changeable) - 1, -1)
        self.units, self.tolerances = units[self.columns], tolerances
        self.memory = sweep_size(self.body.codes)
        self.all_rows = self.loops(np.zeros(linkage.nv, np.bool_))._replace(used=np.arange(len(tolerances)))

    def loops(self, free: NDArray[np.bool_]) -> Loops:
        """Return the arguments of kernels, with the free velocities (nv,) as followers."""
        columns = np.flatnonzero(free[self.columns])
        return Loops(self.body.codes, self.body.numbers, self.aims, self.used, self.units, self.tolerances, columns)

    def drive(
        self, v: int, free: NDArray[np.bool_], rank: int, values: FloatArray, poses: FloatArray, first: int
    ) -> tuple[int, FloatArray]:
        """Write closed poses (n, nq) with a velocity's joint at values (n,), beginning after frame `first`.

        Returns:
            The number of frames written; if these are not all, the next frame holds the pose at which the compiled
            steps stopped. And the rates (nv,) of the last pose.
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
        """Return the rates at which velocities close gaps, relative to the mechanism's size, shape (..., gaps, nv)."""
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
        """Return poses (n, nq) after damped steps of the free velocities (nv,), and which of them are closed."""
        loops, found, closed = self.loops(free), np.array(poses), np.zeros(len(poses), np.uint8)
        settings = CLOSING.pack(rounding=ROUNDING, longest=LONGEST_STEP, damping=DAMPING, steps=TRIES)
        memory = np.empty(closing_size(self.body.codes, self.rows, len(loops.free)))
        close_loops(loops, settings, self.rows, memory, found, closed)
        return found, closed.view(np.bool_)

    def move(
        self, free: NDArray[np.bool_], poses: FloatArray, velocities: FloatArray, accelerations: FloatArray
    ) -> NDArray[np.bool_]:
        """Write rates (n, nv) of the free velocities at closed poses (n, nq); the rates of the others are given.

        Return at which poses that was done: where all free velocities are clearly determined. Elsewhere nothing is
        written.
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
    """Return a text on why kernels cannot close the loops of a linkage; empty if they can."""
    if not goals:
        return "there are none"
    if not all(type(goal) is Close for goal in goals):
        return "couplings are not compiled"
    return "balls with cones are not compiled" if linkage.cones else ""


def loop_program(
    linkage: Linkage, goals: Sequence[Closing], units: FloatArray, tolerances: FloatArray, *, keep_limits: bool
) -> LoopProgram | None:
    """Return the loops of a linkage packed for kernels, cached on the linkage; None if that is not supported.

    See `LoopProgram` for arguments.
    """
    if why_not_compiled(linkage, goals):
        return None
    key = keep_limits, tuple((goal.part.name, goal.tolerance) for goal in goals)
    make = partial(LoopProgram, linkage, goals, units, tolerances, keep_limits=keep_limits)
    return linkage.cache.get("loop program", key, make)
