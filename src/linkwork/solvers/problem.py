"""A linkage and its goals, stacked into rows, and the state of one iteration as methods see it.

Everything broadcasts: a pose of shape (nq,) is one problem, poses of shape (..., nq) are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..goals import Block, Closing, Edges, Goal, closings
from ..goals.base import metres_per_radian
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .groups import Group, random_poses
from .loop_measures import loop_rank

RANK = 1e-10  # share of the largest singular value below which a direction is lost
ROUNDING = 1e-13  # share of a Jacobian's largest entry below which entries are set to zero
STILL = 1e-12  # a row whose Jacobian stays below this does not change
PROBES = 7  # poses at which the rows that a group can change are determined
FALLOFF = 100.0  # ratio of the weights of one level and the next, when whole poses are compared


class Problem:
    """A linkage and its goals, stacked: error rows, their Jacobian, and the rows that can change.

    The loops of a linkage are closed together with the goals, at a priority level before theirs.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        start: Start poses of a solve; the neutral pose by default.
        group: The joints that may move and their weights; None if all may move, equally weighted.

    Attributes:
        blocks: Ranges of error rows that have a common tolerance, over all goals.
        rows: The rows that some joint can change; a planar arm, for example, never leaves its plane.
        block_starts: Where each block begins among `rows`.
        scale: Weight of every row in a step: the goal's weight, and metres per radian for rotations.
        tolerances: The goals' own tolerances, one for each block; NaN if a goal has none.
        priorities: Priority level of every row, 0 first.
        emphasis: Weight of every row by its level, when whole poses are compared.
        levels: For each level, in order, the indices of its rows in `rows`.
        closings: The goals that close loops and hold couplings.
        rank: Share of a level's largest singular value below which a direction is redundant.
    """

    def __init__(
        self,
        linkage: Linkage,
        goals: Goal | Sequence[Goal],
        start: FloatArray | None = None,
        group: Group | None = None,
    ) -> None:
        if not linkage.nq:
            raise GoalError(f"nothing moves in linkage {linkage.name!r}, so there is nothing to solve for.")
        self.linkage, self.start = linkage, linkage.neutral() if start is None else start
        self.group = group
        self.goals = resolve_goals(linkage, goals, self.start)
        self.blocks: list[Block] = []
        end = 0
        for goal in self.goals:
            own = goal.blocks
            self.blocks += [Block(slice(end + b.rows.start, end + b.rows.stop), b.unit) for b in own]
            end += own[-1].rows.stop

    # The following is computed on first use: compiled searches need little of it.

    @cached_property
    def _goals_of_blocks(self) -> list[Goal]:
        return [goal for goal in self.goals for _ in goal.blocks]

    def _for_each_row(self, values: Iterable[float]) -> Any:
        """Return an array with the value of its block for every row."""
        return np.repeat(np.array(list(values)), [block.rows.stop - block.rows.start for block in self.blocks])

    @cached_property
    def scale(self) -> FloatArray:
        arm = metres_per_radian(self.linkage)
        pairs = zip(self._goals_of_blocks, self.blocks, strict=True)
        scale: FloatArray = self._for_each_row(goal.weight * (arm if b.unit == "rad" else 1.0) for goal, b in pairs)
        return scale

    @cached_property
    def tolerances(self) -> FloatArray:
        pairs = zip(self._goals_of_blocks, self.blocks, strict=True)
        return np.array([goal.tolerance_of(block.unit) for goal, block in pairs], np.float64)

    @cached_property
    def priorities(self) -> NDArray[np.int64]:
        priorities: NDArray[np.int64] = self._for_each_row(goal.priority for goal in self._goals_of_blocks)
        return priorities

    @cached_property
    def emphasis(self) -> FloatArray:
        return np.asarray(FALLOFF ** -np.unique(self.priorities, return_inverse=True)[1], np.float64)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        changeable = np.concatenate([goal.changeable(self.linkage) for goal in self.goals])
        if self.group is not None and self.group.partial:
            changeable &= self._changed_by(self.group)
        return np.flatnonzero(changeable)

    @cached_property
    def _every_row(self) -> bool:
        return bool(len(self.rows) == self.blocks[-1].rows.stop)

    @cached_property
    def levels(self) -> list[NDArray[np.int64]]:
        ranks = self.priorities[self.rows]
        return [np.flatnonzero(ranks == rank) for rank in np.unique(ranks)]

    @cached_property
    def block_starts(self) -> list[int]:
        starts = [int(np.searchsorted(self.rows, block.rows.start)) for block in self.blocks]
        return sorted({start for start in starts if start < len(self.rows)})

    @cached_property
    def closings(self) -> tuple[Closing, ...]:
        return tuple(goal for goal in self.goals if isinstance(goal, Closing))

    @cached_property
    def rank(self) -> float:
        return loop_rank(self.linkage, self.closings) if self.closings else RANK

    def _changed_by(self, group: Group) -> NDArray[np.bool_]:
        """Return which rows the joints of a group can change, tested at a few poses."""
        begin = self.start.reshape(-1, self.linkage.nq)[:1]
        poses = np.concatenate([begin, random_poses(self.linkage, 0, PROBES, group, begin[0])])
        return np.asarray(np.abs(self.all_rows_jacobian(poses)).max(axis=(0, 2), initial=0.0) > STILL)

    @property
    def velocities(self) -> int:
        """Number of velocities that may change."""
        return self.linkage.nv if self.group is None else int(self.group.free.sum())

    def error(self, q: FloatArray) -> FloatArray:
        """Return all error rows in metres and radians, shape (..., m)."""
        if len(self.goals) == 1:
            return self.goals[0].error(self.linkage, q)
        return np.concatenate([goal.error(self.linkage, q) for goal in self.goals], axis=-1)

    def all_rows_jacobian(self, q: FloatArray) -> FloatArray:
        """Return the Jacobian of all rows, shape (..., m, nv); the columns of held joints are zero."""
        if len(self.goals) == 1:
            whole = self.goals[0].jacobian(self.linkage, q)
        else:
            whole = np.concatenate([goal.jacobian(self.linkage, q) for goal in self.goals], axis=-2)
        return whole if self.group is None else np.where(self.group.free, whole, 0.0)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return the weighted Jacobian of the rows that can change, shape (..., rows, nv)."""
        weighted = self.all_rows_jacobian(q) * self.scale[:, None]
        return weighted if self._every_row else weighted[..., self.rows, :]

    def edges(self, q: FloatArray) -> tuple[Edges, NDArray[np.int64]] | None:
        """Return the weighted edges of all ranges of goals, and the level of each; None if there are none."""
        ranks = np.unique(self.priorities[self.rows]).tolist()
        goals = [goal for goal in self.goals if goal.priority in ranks]
        found = [(goal, edges) for goal in goals if (edges := goal.edges(self.linkage, q)) is not None]
        if not found:
            return None
        room = np.concatenate([goal.weight * edges.room for goal, edges in found], axis=-1)
        rows = np.concatenate([goal.weight * edges.rows for goal, edges in found], axis=-2)
        if self.group is not None:
            rows = np.where(self.group.free, rows, 0.0)
        levels = [ranks.index(goal.priority) for goal, edges in found for _ in range(edges.room.shape[-1])]
        return Edges(room, rows), np.array(levels)

    def weighted_error(self, error: FloatArray) -> FloatArray:
        """Return the weighted error of the rows that can change: the V of the chapter's equations."""
        weighted = error * self.scale
        return weighted if self._every_row else weighted[..., self.rows]

    def residuals(self, error: FloatArray) -> FloatArray:
        """Return the norm of every block, shape (..., number of blocks)."""
        if error.ndim == 1:
            return np.array([math.sqrt(float(error[b.rows] @ error[b.rows])) for b in self.blocks])
        return np.stack([np.sqrt((error[..., b.rows] ** 2).sum(axis=-1)) for b in self.blocks], axis=-1)

    def freedom(self, q: FloatArray) -> int:
        """Return the dimension of the set of solutions around a pose (nq,): velocities minus the Jacobian's rank."""
        rank = int(np.linalg.matrix_rank(self.jacobian(q), rtol=1e-9)) if len(self.rows) else 0
        return self.velocities - rank

    def above(self) -> Problem:
        """Return the problem of all levels except the last."""
        last = self.priorities.max()
        return Problem(self.linkage, [goal for goal in self.goals if goal.priority < last], self.start, self.group)

    def aimed(self, goals: Goal | Sequence[Goal]) -> Problem:
        """Return the same problem with other targets; it is rebuilt only if the signatures of goals differ."""
        new = resolve_goals(self.linkage, goals, self.start)
        if [goal.signature for goal in new] != [goal.signature for goal in self.goals]:
            return Problem(self.linkage, new, self.start, self.group)
        result = copy(self)
        result.goals = new
        return result


def resolve_goals(linkage: Linkage, goals: Goal | Sequence[Goal], start: FloatArray) -> tuple[Goal, ...]:
    """Return goals as a tuple, resolved for a linkage and a start, with those that close its loops."""
    several = with_closings(linkage, goals)
    return tuple([goal.resolve(linkage, start) for goal in several])


def with_closings(linkage: Linkage, goals: Goal | Sequence[Goal], tolerance: float | None = None) -> tuple[Goal, ...]:
    """Return goals as a tuple, with goals added for loops and couplings that none of them closes."""
    try:
        several = (goals,) if isinstance(goals, Goal) else tuple(goals)
    except TypeError:
        several = ()
    if not several or not all(isinstance(goal, Goal) for goal in several):
        raise GoalError(f"a solve needs a goal such as Reach(...), or a list of them, got {goals!r}.")
    if linkage.constrained:
        named = {goal.part for goal in several if isinstance(goal, Closing)}
        several += tuple(goal for goal in closings(linkage, tolerance) if goal.part not in named)
    return several


def goal_names(goals: Iterable[Goal]) -> tuple[str, ...]:
    """Return a name for each of several goals: its frame, or its kind if it has none; equal names are numbered.

    Example:
        >>> import linkwork as lw
        >>> goal_names([lw.Reach("hand", position=(0, 0, 1)), lw.LookAt("hand", at=(1, 0, 0)), lw.Balance()])
        ('hand', 'hand 2', 'balance')
    """
    names: list[str] = []
    result: list[str] = []
    for goal in goals:
        name = getattr(goal, "frame", None) or type(goal).__name__.lower()
        names.append(name)
        result.append(name if names.count(name) == 1 else f"{name} {names.count(name)}")
    return tuple(result)


@dataclass
class State:
    """The state of one iteration, as methods see it.

    `notes` goes into the trace (damping, scale, ...); `memory` is for the method and lasts through the solve;
    `excluded` are the joints held at a limit (..., nv), `barred` the velocities that lead out of cones (..., k, nv).

    If joints have weights, velocities are divided by `scale`, so that the shortest step is the shortest by the weights:
    ``x = W^-1/2 (J W^-1/2)^+ V = W^-1 J^T (J W^-1 J^T)^-1 V``. The loop scales steps back.
    """

    problem: Problem
    q: FloatArray
    error: FloatArray
    iteration: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    excluded: NDArray[np.bool_] | None = None
    barred: FloatArray | None = None

    @property
    def linkage(self) -> Linkage:
        """The linkage being solved."""
        return self.problem.linkage

    @cached_property
    def jacobian(self) -> FloatArray:
        """Weighted Jacobian J, shape (..., m, n), with the columns of joints held at a limit set to zero."""
        return self.narrowed(self.problem.jacobian(self.q))

    @cached_property
    def edges(self) -> tuple[Edges, NDArray[np.int64]] | None:
        """Edges of the ranges of goals, and their levels; None if no goal has a range."""
        found = self.problem.edges(self.q)
        if found is None:
            return None
        (room, rows), levels = found
        return Edges(room, self.narrowed(rows)), levels

    def narrowed(self, rows: FloatArray) -> FloatArray:
        """Return rows (..., m, nv) scaled, without components that are held at a limit or barred."""
        if self.scale is not None:
            rows = rows * self.scale
        if self.excluded is not None:
            rows = np.where(self.excluded[..., None, :], 0.0, rows)
        return self.along_limits(rows)

    def narrowed_velocity(self, velocity: FloatArray) -> FloatArray:
        """Return velocities (..., nv) scaled, without components that are held, at a limit or barred."""
        group = self.problem.group
        if group is not None:
            velocity = np.where(group.free, velocity, 0.0)
            velocity = velocity if group.scale is None else velocity / group.scale
        return self.along_limits(velocity if self.excluded is None else np.where(self.excluded, 0.0, velocity))

    @property
    def scale(self) -> FloatArray | None:
        """Scale of velocities, shape (nv,), or None: steps are computed in velocities divided by it."""
        group = self.problem.group
        return None if group is None else group.scale

    @property
    def free(self) -> NDArray[np.bool_] | slice:
        """The velocities that may change."""
        group = self.problem.group
        return slice(None) if group is None else group.free

    def spread(self, step: FloatArray) -> FloatArray:
        """Return a step of the free velocities (..., k) as one of all velocities (..., nv)."""
        if self.problem.group is None:
            return step
        result = np.zeros((*step.shape[:-1], self.linkage.nv))
        result[..., self.free] = step
        return result

    def along_limits(self, rows: FloatArray) -> FloatArray:
        """Return velocities (..., nv), or rows (..., m, nv) that act on them, without the barred part."""
        if self.barred is None or not self.barred.any():
            return rows
        ways = self.barred  # orthonormal
        if rows.ndim < ways.ndim:
            out: FloatArray = (ways @ rows[..., None] * ways).sum(axis=-2)
            return rows - out
        free: FloatArray = rows - rows @ np.swapaxes(ways, -1, -2) @ ways
        return np.where(np.abs(free) > ROUNDING * np.abs(rows).max(initial=0.0), free, 0.0)

    @cached_property
    def weighted_error(self) -> FloatArray:
        """Weighted error V, shape (..., m): the velocity that would reach the goal in one step."""
        return self.problem.weighted_error(self.error)
