"""Control cycles of a prepared chain, for `Prepared.step` and `stay=True`, by `kernels.follow`."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError
from ..kernels import follow
from ..kernels.bounded_chain import scratch_sizes
from ..kernels.chain_memory import LIMITS
from ..linkage.linkage import Linkage
from ..linkage.poses import between
from ..transforms import FloatArray
from .chain_solution import Found
from .chain_targets import unsquared
from .solution import Status
from .step import CYCLES, FAR, FINE, LEAP, LEVER, MOST, SLOW, STRIDE, LimitKind, Step, StepStatus, joint_speeds

if TYPE_CHECKING:
    from .chain_solver import Prepared
    from .clear_step import ClearFollower

ZONE, NARROW = 0.8, 0.3  # zone near a limit where joints slow down: angle [rad], and share of a narrow range
EMPTY, NEW, FLOAT64, SQUARE = np.empty, object.__new__, np.dtype(np.float64), (4, 4)
STATUS: dict[int, StepStatus] = {
    follow.REACHED: "reached",
    follow.FOLLOWING: "following",
    follow.LIMITED: "limited",
    follow.HELD: "held",
}
LIMIT: tuple[LimitKind, ...] = ("", "position", "velocity")


def is_ready(target: Any) -> bool:
    """Return whether kernels can read a target directly: a 4x4 array in double precision, C-contiguous."""
    return target.__class__ is np.ndarray and target.shape == SQUARE and target.dtype is FLOAT64 and target.flags.carray


class ChainStep(Step):
    """Result of a cycle of a prepared chain; rarely used values are computed on access."""

    prepared: Prepared
    outcome: int
    out: FloatArray

    @cached_property
    def linkage(self) -> Linkage:
        return self.prepared.linkage

    @cached_property
    def status(self) -> StepStatus:
        return STATUS[self.outcome]

    @property
    def success(self) -> bool:
        return self.outcome == follow.REACHED

    @cached_property
    def _report(self) -> Any:
        return follow.CYCLE.view(self.out[self.prepared.follower.report])

    @cached_property
    def target(self) -> FloatArray:
        """Target transform of the frame, 4x4."""
        return self.out[self.prepared.follower.target].reshape(4, 4)

    @cached_property
    def residuals(self) -> FloatArray:
        return unsquared(self.prepared.goal, self._report.position_error, self._report.rotation_error)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Unit of each residual: ``"m"`` or ``"rad"``."""
        return tuple(block.unit for block in self.prepared.goal.blocks)

    @cached_property
    def joint(self) -> str:
        place = int(self._report.value)
        return self.prepared.follower.names[place] if place >= 0 else ""

    @cached_property
    def limit(self) -> LimitKind:
        return LIMIT[int(self._report.limit)]

    @cached_property
    def share(self) -> float:
        asked = float(self._report.asked)
        return max(1.0 - float(self._report.left) / asked, 0.0) if asked > 0.0 else 1.0

    @cached_property
    def start(self) -> FloatArray:
        return self.out[self.prepared.follower.start]

    @cached_property
    def jump(self) -> float:
        return self.prepared.follower.jump(self.target, self.q)

    @cached_property
    def singular_values(self) -> FloatArray:
        """Singular values of the Jacobian, largest first; a radian counts as a quarter of the chain's length."""
        return self.prepared.follower.singular_values(self.q)


class Stayed(Found):
    """A solution reached from its start without a jump."""

    @cached_property
    def target(self) -> FloatArray:
        return self.out[self.prepared.follower.target].reshape(4, 4)

    @cached_property
    def start(self) -> FloatArray:
        return self.out[self.prepared.follower.start]

    @cached_property
    def report(self) -> FloatArray:
        return self.out[self.prepared.follower.report]

    @cached_property
    def residuals(self) -> FloatArray:
        found = follow.CYCLE.view(self.report)
        return unsquared(self.prepared.goal, found.position_error, found.rotation_error)

    @cached_property
    def iterations(self) -> int:
        return int(follow.CYCLE.view(self.report).steps)

    @property
    def starts(self) -> int:
        return 0

    @property
    def cost(self) -> float:
        return float(follow.CYCLE.view(self.report).left) ** 2

    @cached_property
    def status(self) -> Status:
        if self.outcome == follow.REACHED:
            return "reached"
        return "held" if self.stuck else "following"

    @property
    def stuck(self) -> bool:
        """Whether no continuous motion leads closer: neither reached, nor on a path too long for one call."""
        limit = follow.CYCLE.view(self.report).limit
        return self.outcome == follow.HELD or (self.outcome == follow.LIMITED and limit == follow.POSITION)

    @cached_property
    def jump(self) -> float:
        """Distance of the nearest other solution from the pose; see `Step.jump`."""
        return self.prepared.follower.jump(self.target, self.q)


class Follower:
    """A prepared chain in a control loop: its packed speeds, and calls of the kernel.

    Attributes:
        names: The joint of every value.
    """

    def __init__(self, prepared: Prepared) -> None:
        chain, values = prepared.chain, prepared.chain.values
        self.prepared = prepared
        table, joints = prepared.linkage.table, [""] * values
        inside, outside = chain.plain
        self.rates = np.full(values, -1)  # the velocity index of every value; -1 for those of balls
        for k, q in zip(inside.tolist(), outside.tolist(), strict=True):
            joints[k], self.rates[k] = table[q].joint, table[q].v
        for k, q in chain.balls:
            joints[k : k + 3] = [table[q].joint] * 3
        self.names = tuple(joints)
        self._units = np.where(chain.sliding, chain.length / 4.0, 1.0)
        report, start, target, self.size = follow.places.py_func(values)
        self.values, self.report = slice(0, values), slice(report, start)
        self.start, self.target = slice(start, target), slice(target, self.size)
        self.room = sum(scratch_sizes.py_func(prepared.rows, values))
        self.rooms: list[FloatArray] = []
        self.clear: ClearFollower | None = None  # collision avoidance, if the chain avoids anything
        self.own = self.pace(None, 1.0)
        self.staying = self._packed(np.full(values, np.inf), STRIDE, LEAP, far=np.inf)
        self.keeping_up = self._packed(np.full(values, np.inf), STRIDE, LEAP)

    def _packed(self, speeds: FloatArray, most: float, leap: float, far: float = FAR) -> FloatArray:
        chain = self.prepared.chain
        arm, limits = chain.length / 4.0, LIMITS.view(chain.limits)
        zones = np.minimum(ZONE * self._units, NARROW * (limits.upper - limits.lower))
        head = follow.PACE.pack(
            smallest=SLOW * chain.length,
            fine=FINE**2,
            leap=leap / most,
            far=far * arm,
            lever=LEVER / (most * arm),
        )
        rates = follow.RATE.pack(shape=(len(speeds),), speed=speeds, most=most * self._units, zone=zones)
        return np.concatenate([head, rates.ravel()])

    def pace(self, velocity: ArrayLike | None, scale: float) -> FloatArray:
        """Return the speeds for the kernel: those of the linkage, or given ones, times a scale."""
        speeds = joint_speeds(self.prepared.linkage, velocity, scale)
        of_values = np.where(self.rates >= 0, np.append(speeds, np.inf)[self.rates], np.inf)
        return self._packed(of_values, MOST, 0.0)

    def step(self, target: FloatArray, pose: FloatArray, pace: FloatArray, dt: float, last: Any) -> ChainStep:
        """Return one cycle from a pose; `last` is the step that led there, or None."""
        result: ChainStep = NEW(ChainStep)
        self._fill(result.__dict__, target, pose, pace, dt, 1, last)
        result.__dict__["dt"] = dt
        return result if self.clear is None else self.clear.step(result, target, pose, pace, dt, last)

    def stay(self, target: FloatArray, pose: FloatArray, last: Stayed | None = None) -> Stayed:
        """Return the result of cycles without a time limit, within one leap; `last` led to the pose."""
        return self._stay(target, pose, self.staying, last)

    def keep_up(self, target: FloatArray, pose: FloatArray, last: Stayed | None) -> Stayed:
        """Return the next solution on a path. If the path moves far in one frame, joints may too, if that reaches it.

        If the last solution was held, the path has run ahead, and that distance does not count.
        """
        if last is not None and not last.success:
            return self.stay(target, pose, last)
        result = self._stay(target, pose, self.keeping_up, last)
        if last is None or result.success:
            return result
        away = np.abs(result.out[self.values] - result.out[self.start]) / self._units
        return result if away.max() <= LEAP else self.stay(target, pose, last)  # no longer leap for a miss

    def _stay(self, target: FloatArray, pose: FloatArray, pace: FloatArray, last: Stayed | None) -> Stayed:
        result: Stayed = NEW(Stayed)
        self._fill(result.__dict__, target, pose, pace, 1.0, CYCLES, last)
        result.__dict__["success"] = result.outcome == follow.REACHED
        return result

    def _fill(
        self, known: dict[str, Any], target: FloatArray, pose: Any, pace: FloatArray, dt: float, cycles: int, last: Any
    ) -> None:
        """Run the kernel and fill in a step or a solution. Control loops call this, so it is optimised for speed."""
        prepared, out = self.prepared, EMPTY(self.size)
        try:
            room = self.rooms.pop()  # exclusive to this call until it is returned
        except IndexError:
            room = EMPTY(self.room)
        moving = last is not None and last.prepared is prepared
        out[self.start] = pose if prepared.whole else prepared.chain.values_of(pose)
        before = last.out if moving else out
        aim = target if prepared.goal.free is None else prepared.spun(target)
        ended = follow.follow_one(prepared.codes, prepared.known, room, aim, pace, dt, cycles, moving, before, out)
        self.rooms.append(room)
        if ended <= follow.UNFIT:
            if ended == follow.INVALID:
                raise GoalError(f"the target of {prepared.goal.frame!r} is not a finite rigid transform.")
            prepared.checked_start(pose)  # raises a clear error for an invalid pose
        known["prepared"], known["out"], known["outcome"] = prepared, out, ended
        values = out[self.values]
        if aim is not target:
            known["target"] = target.copy()
        if prepared.whole:
            known["q"] = values
        else:
            known["q"], known["start"] = prepared.put(values, pose), np.array(pose)

    def jump(self, target: FloatArray, pose: FloatArray) -> float:
        """Return the distance of the nearest solution, in the value that changes most; inf if none is found."""
        found = self.prepared.nearest(target, pose)
        if not found.success:
            return math.inf
        return float(np.abs(between(self.prepared.linkage, pose, found.q, wrap=False)).max(initial=0.0))

    def singular_values(self, q: FloatArray) -> FloatArray:
        """Return the singular values of the rows that the goal constrains."""
        prepared = self.prepared
        rows = prepared.goal.moved(np.eye(4)).jacobian(prepared.linkage, q).copy()
        rows[prepared.goal.coordinates :] *= prepared.chain.length / 4.0
        return np.asarray(np.linalg.svd(rows, compute_uv=False))
