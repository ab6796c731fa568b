"""Closed loops: their gaps, relative to the size of the mechanism, and Newton's method to close them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, JointNotFoundError, OptionError
from ..goals import Close, Closing, closings
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, advance, between, clamped, start_pose
from ..transforms import FloatArray
from .loop_measures import DAMPING, LONGEST_STEP, RANK, ROUNDING, TRIES, loop_rank
from .loop_program import LoopProgram, loop_program

NEWTON = 30
NUDGE, FOLLOWED = 1e-3, 0.5  # size of a push to test whether a mechanism moves, and the share that it must follow
APART = 1e-6  # share of the size: positions of links and pins that differ by less are equal


class Closure:
    """The gaps of all loops and couplings of a linkage, and how joints change them.

    Steps and gaps are relative to the size of the mechanism: metres are divided by it, radians are not scaled.

    Attributes:
        linkage: The linkage.
        goals: A `Close` for each loop and a `Follow` for each coupling; those of the linkage by default. Empty if
            joints only mimic others, as gears do.
        keep_limits: Whether joints keep within their limits.
        size: Size of the mechanism [m].
        units: Unit of every velocity: 1 rad, or `size` [m]; shape (nv,).
        rank: Singular values below this share of the largest count as zero. An overconstrained mechanism has redundant
            rows; if they differ by its inaccuracy, they would cause huge steps.
    """

    def __init__(self, linkage: Linkage, goals: Sequence[Closing] = (), *, keep_limits: bool = True) -> None:
        if not linkage.constrained and all(arc.mimic is None for arc in linkage.arcs):
            raise GoalError(f"linkage {linkage.name!r} has no loops to close; Builder.loop or loops= adds them.")
        self.linkage, self.goals, self.keep_limits = linkage, tuple(goals) or closings(linkage), keep_limits
        self.size = linkage.loop_size
        blocks = [(goal, b.unit, b.rows.stop - b.rows.start) for goal in self.goals for b in goal.blocks]
        counts = [count for *_, count in blocks]
        self.tolerances = np.repeat([float(goal.tolerance_of(unit) or 0.0) for goal, unit, _ in blocks], counts)
        self._rows = np.repeat([1.0 / self.size if unit == "m" else 1.0 for _, unit, _ in blocks], counts)
        self.units = np.where([unit == "m" for unit in linkage.table.velocity_units], self.size, 1.0)
        self.rank = loop_rank(linkage, self.goals)

    @cached_property
    def program(self) -> LoopProgram | None:
        """The loops packed for kernels; None if that is not supported."""
        return loop_program(self.linkage, self.goals, self.units, self.tolerances, keep_limits=self.keep_limits)

    def error(self, q: FloatArray) -> FloatArray:
        """Return the gaps at poses (..., nq): metres and radians, shape (..., rows)."""
        if self.program is not None:
            return self.program.error(q)
        none = np.zeros((*q.shape[:-1], 0))
        return np.concatenate([none, *(goal.error(self.linkage, q) for goal in self.goals)], axis=-1)

    def widths(self, q: FloatArray) -> FloatArray:
        """Return the gap of each loop and coupling at poses (..., nq), rotations included, shape (..., goals)."""
        ends = np.cumsum([0, *(goal.blocks[-1].rows.stop for goal in self.goals)])
        return np.sqrt(np.add.reduceat(self.error(q) ** 2, ends[:-1], axis=-1)) if len(ends) > 1 else self.error(q)

    def gap(self, q: FloatArray) -> Any:
        """Return the largest gap at poses (..., nq), shape (...) [m, rad]."""
        return np.abs(self.error(q)).max(axis=-1, initial=0.0)

    def closed(self, q: FloatArray) -> bool:
        """Return whether the gaps at a pose (nq,) are within their tolerances."""
        return bool((np.abs(self.error(q)) <= self.tolerances).all())

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return the rates at which velocities close gaps, relative to the mechanism's size, shape (..., rows, nv)."""
        if self.program is not None:
            return self.program.jacobian(q)
        none = np.zeros((*q.shape[:-1], 0, self.linkage.nv))
        rows = np.concatenate([none, *(goal.jacobian(self.linkage, q) for goal in self.goals)], axis=-2)
        scaled: FloatArray = rows * self._rows[:, None] * self.units
        return scaled

    def drift(self, q: FloatArray, velocity: FloatArray) -> FloatArray:
        """Return ``jacobian_dot @ velocity`` at poses (..., nq), relative to the mechanism's size, shape (..., rows).

        The velocity is in rad/s and m/s, shape (..., nv).
        """
        none = np.zeros((*q.shape[:-1], 0))
        found = np.concatenate([none, *(goal.drift(self.linkage, q, velocity) for goal in self.goals)], axis=-1)
        scaled: FloatArray = found * self._rows
        return scaled

    def borne(self, multipliers: FloatArray) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
        """Return the forces in loops and couplings, by name.

        Multipliers belong to the rows of `jacobian`, shape (..., rows): ``jacobian.T @ multipliers`` are forces of the
        joints, in `units`.

        Returns:
            For each loop, forces, then torques, shape (..., 6), along the world's axes: they act on the first frame,
            and their opposite on the second. For each coupling, its effort on the follower, shape (...).
        """
        real, start = multipliers * self._rows, 0
        loops: dict[str, FloatArray] = {}
        couplings: dict[str, FloatArray] = {}
        for goal in self.goals:
            count = goal.blocks[-1].rows.stop
            own = real[..., start : start + count]
            start += count
            if isinstance(goal, Close):
                loops[goal.part.name] = np.concatenate([own, np.zeros((*own.shape[:-1], 6 - count))], axis=-1)
            else:
                couplings[goal.part.name] = own[..., 0]
        return loops, couplings

    def moved(self, q: FloatArray, change: FloatArray) -> FloatArray:
        """Return the pose after a change, within limits."""
        after = advance(self.linkage, q, change * self.units)
        return clamped(self.linkage, after) if self.keep_limits else after

    def way(self, q: FloatArray, to: FloatArray, *, wrap: bool = True) -> FloatArray:
        """Return the change from one pose to another, relative to the mechanism's size."""
        change: FloatArray = between(self.linkage, q, to, wrap=wrap) / self.units
        return change

    def step(self, q: FloatArray, free: NDArray[np.bool_], *, damping: float = 0.0) -> FloatArray:
        """Return the smallest change of the free joints that closes the gaps, to first order and within limits.

        Joints at a limit that would push against it are left out.
        """
        jacobian, error = self.jacobian(q), self.error(q) * self._rows
        at, rates, _ = self.linkage.table.plain
        low, high = q[at] <= self.linkage.lower[at], q[at] >= self.linkage.upper[at]
        moving = free.copy()
        while True:
            change = np.zeros(self.linkage.nv)
            change[moving] = least_squares(jacobian[:, moving], error, damping, rank=self.rank)
            pushing = (low & (change[rates] < 0.0)) | (high & (change[rates] > 0.0))
            if not self.keep_limits or not pushing.any():
                return change
            moving[rates[pushing]] = False

    def newton(self, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray | None:
        """Return the closed pose that Newton's method finds from a nearby one, or None.

        It iterates as long as gaps shrink; if they cannot all be closed, to their least squares.
        """
        gap = self._off(q)
        for _ in range(NEWTON):
            if gap <= ROUNDING:
                break
            change = self.step(q, free)
            if np.abs(change).max() > LONGEST_STEP:
                return None
            closer = self.moved(q, change)
            less = self._off(closer)
            if less >= gap and self.closed(q):
                break
            q, gap = closer, less
        return q if self.closed(q) else None

    def approach(self, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """Return the pose that damped steps reach from any pose, closed or with the smallest gap they can reach."""
        gap = float(np.linalg.norm(self.error(q) * self._rows))
        for _ in range(TRIES):
            change = self.step(q, free, damping=DAMPING * gap * gap)
            change *= min(1.0, LONGEST_STEP / max(float(np.abs(change).max()), 1e-300))
            for halving in range(8):
                closer = self.moved(q, change / 2**halving)
                less = float(np.linalg.norm(self.error(closer) * self._rows))
                if less < gap:
                    break
            if less >= gap * (1.0 - 1e-6):
                break
            q, gap = closer, less
        return q

    def closed_poses(self, poses: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return poses (n, nq) closed by Newton's method, together, and which of them are; others are unchanged."""
        if self.program is not None:
            found, closed = self.program.closed(np.ones(self.linkage.nv, np.bool_), poses)
            return np.where(closed[:, None], found, poses), closed
        result = np.array(poses)
        left = np.arange(len(result))
        for _ in range(NEWTON):
            off = self.error(result[left]) * self._rows
            left, off = left[np.abs(off).max(axis=-1) > ROUNDING], off[np.abs(off).max(axis=-1) > ROUNDING]
            if not len(left):
                break
            inverse = np.linalg.pinv(self.jacobian(result[left]), rcond=self.rank)
            change = (inverse @ off[..., None])[..., 0]
            change *= np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(change).max(axis=-1), 1e-300))[:, None]
            result[left] = self.moved(result[left], change)
        closed = np.asarray((np.abs(self.error(result)) <= self.tolerances).all(axis=-1))
        result[~closed] = poses[~closed]
        return result, closed

    def ways(self, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """Return an orthonormal basis (n, nv) of the changes of free joints that open no gap, to first order."""
        _, sigma, Vt = np.linalg.svd(self.jacobian(q)[:, free])
        rank = int((sigma > self.rank * sigma.max(initial=1e-300)).sum())
        result = np.zeros((len(Vt) - rank, self.linkage.nv))
        result[:, free] = Vt[rank:]
        return result

    def freedom(self, q: FloatArray, free: NDArray[np.bool_]) -> int:
        """Return the number of finite motions of free joints at a closed pose, tested by pushes; limits are ignored."""
        ways = self.ways(q, free)
        if not len(ways):
            return 0
        loose = Closure(self.linkage, self.goals, keep_limits=False)
        ends = [loose.newton(loose.moved(q, NUDGE * way), free) for way in ways]
        gone = np.array([np.zeros(self.linkage.nv) if end is None else loose.way(q, end) for end in ends]) @ ways.T
        return int((np.linalg.svd(gone, compute_uv=False) > FOLLOWED * NUDGE).sum())

    def count(self) -> int:
        """Return the degrees of freedom by the rule of Gruebler and Kutzbach, from joints and loops alone."""
        changeable = [(goal, goal.changeable(self.linkage)) for goal in self.goals]
        rows = sum(int(some.sum()) for _, some in changeable)
        # Two aligned axes may still rotate about themselves: one of the three rows is redundant.
        axes = [some for goal, some in changeable if isinstance(goal, Close) and goal.loop.kind == "axis"]
        rows -= sum(bool(some[3:].all()) for some in axes)
        return self.linkage.nv - rows

    def _off(self, q: FloatArray) -> float:
        """Return the largest gap at a pose, relative to the mechanism's size."""
        return float(np.abs(self.error(q) * self._rows).max(initial=0.0))


def least_squares(matrix: FloatArray, wanted: FloatArray, damping: float = 0.0, *, rank: float = RANK) -> FloatArray:
    """Return the smallest x that minimises ``|matrix x - wanted|² + damping |x|²``, without lost directions."""
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    kept = sigma > rank * max(float(sigma.max(initial=0.0)), 1e-300)
    weights = np.where(kept, sigma / (np.where(kept, sigma, 1.0) ** 2 + damping), 0.0)
    found: FloatArray = Vt.T @ (weights * (U.T @ wanted))
    return found


def coordinate(linkage: Linkage, joint: str) -> tuple[int, int]:
    """Return the indices in the pose and the velocity of a joint with one value, or of a coordinate."""
    known = {row.name: (row.q, row.v) for row in linkage.table if row.v is not None}
    if not isinstance(joint, str) or joint not in known:
        if isinstance(joint, str) and joint in linkage.joints:
            if linkage.joint(joint).mimic is not None:
                leader = linkage.coordinates[linkage.drive(joint).q]
                raise OptionError(f"joint {joint!r} follows {leader!r} and has no value of its own; take that one.")
            raise OptionError(f"joint {joint!r} does not have exactly one value; use one of {', '.join(known)}.")
        raise JointNotFoundError(joint, f"linkage {linkage.name!r}", known)
    return known[joint]


def led(linkage: Linkage, joint: str) -> tuple[int, float]:
    """Return the velocity index of a joint and a factor on that velocity; for a gear, the index of its leader.

    Example:
        >>> import linkwork as lw
        >>> led(lw.models.gear_train(), "gear2")
        (0, -0.5)
    """
    if isinstance(joint, str) and joint in linkage.joints and linkage.joint(joint).mimic is not None:
        drive = linkage.drive(joint)
        return drive.v, drive.multiplier
    return coordinate(linkage, joint)[1], 1.0


def leading(linkage: Linkage, joint: str) -> tuple[int, float]:
    """Return the result of `led` for a driving joint.

    Raises:
        OptionError: If it follows another joint with a factor of zero, so it never moves.
    """
    place, times = led(linkage, joint)
    if not times:
        leader = linkage.coordinates[linkage.drive(joint).q]
        raise OptionError(f"joint {joint!r} follows {leader!r} with a factor of 0 and never moves.")
    return place, times


def one_pose(linkage: Linkage, q: PoseLike | None) -> FloatArray:
    """Return the pose to close loops from: an array of shape (nq,), or the name of a stored one."""
    pose = start_pose(linkage, q)
    if pose.ndim != 1:
        raise OptionError(f"loops are closed from one pose of shape ({linkage.nq},), got shape {pose.shape}.")
    return pose


def free_velocities(linkage: Linkage, keep: Iterable[str]) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which velocities are free if some joints, or coordinates, are kept, and the names of those kept."""
    names = [keep] if isinstance(keep, str) else list(keep)
    free = np.ones(linkage.nv, np.bool_)
    by_name = {row.name: row.v for row in linkage.table if row.v is not None}
    for name in names:
        own = by_name.get(name) if isinstance(name, str) else None
        free[linkage.drive(name).rates if own is None else own] = False
    return free, names


def pose_places(linkage: Linkage, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which entries of a pose belong to held velocities."""
    result = np.zeros(linkage.nq, np.bool_)
    q, v, _ = linkage.table.plain
    result[q] = held[v]
    for k, j in linkage.table.quaternions:
        result[k : k + 4] = held[j]
    return result


def link_places(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Return positions of links and pins of loops at poses (..., nq), shape (..., n, 3)."""
    frames = linkage.forward(q)
    names = [*linkage.links, *(name for loop in linkage.loops for name in (loop.first, loop.second))]
    return np.stack([frames[name][..., :3, 3] for name in names], axis=-2)


def widest(closure: Closure, q: FloatArray) -> str:
    """Return a text on the loop, or the coupling, with the largest gap."""
    gaps = [float(np.linalg.norm(goal.error(closure.linkage, q)[:3])) for goal in closure.goals]
    return closure.goals[int(np.argmax(gaps))].gap_text(closure.linkage, q)
