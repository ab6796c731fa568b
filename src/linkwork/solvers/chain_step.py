"""Control cycles of a prepared chain: what `Prepared.step` and `stay=True` call, on the compiled `kernels.follow`."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError
from ..kernels import follow
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from ..transforms import FloatArray
from .chain_solution import Found
from .solution import Status
from .step import LimitKind, Step, StepStatus, joint_speeds

if TYPE_CHECKING:
    from .chain_solver import Prepared

# lengths are shares of the chain's own
SLOW = 0.02  # singular value below which the chain slows down
FINE = 1e-3  # share of the tolerances at which a cycle has nothing left to do
MOST = 0.25  # what a joint without a speed may turn in a cycle [rad]
STRIDE = 0.15  # of a cycle without time [rad]
LEAP, LEVER = 0.45, 1.5  # what all of them may turn a joint by: so much, or so much for each radian asked of the frame
CYCLES = 200
EMPTY, NEW = np.empty, object.__new__
STATUS: dict[int, StepStatus] = {
    follow.REACHED: "reached",
    follow.FOLLOWING: "following",
    follow.LIMITED: "limited",
    follow.HELD: "held",
}
LIMIT: tuple[LimitKind, ...] = ("", "position", "velocity")


class ChainStep(Step):
    """A cycle of a prepared chain: what is seldom looked at is worked out when it is."""

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
        """Where the frame should be, 4x4."""
        return self.out[self.prepared.follower.target].reshape(4, 4)

    @cached_property
    def residuals(self) -> FloatArray:
        return self.prepared.unsquared(self._report.position_error, self._report.rotation_error)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """What each residual is in: ``"m"`` or ``"rad"``."""
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
    """A solution found on the way from its start, without a jump."""

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
        return self.prepared.unsquared(found.position_error, found.rotation_error)

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
        return "reached" if self.outcome == follow.REACHED else "held"

    @cached_property
    def jump(self) -> float:
        """How far the nearest other solution is from the pose; see `Step.jump`."""
        return self.prepared.follower.jump(self.target, self.q)


class Follower:
    """A prepared chain in a control loop: its speeds, packed, and calls of the kernel.

    Attributes:
        names: The joint of every value.
    """

    def __init__(self, prepared: Prepared) -> None:
        chain, values = prepared.chain, prepared.chain.values
        self.prepared = prepared
        table, joints = prepared.linkage.table, [""] * values
        inside, outside = chain.plain
        self._rates = np.full(values, -1)  # the velocity of every value; those of balls are left alone
        for k, q in zip(inside.tolist(), outside.tolist(), strict=True):
            joints[k], self._rates[k] = table[q].joint, table[q].v
        for k, q in chain.balls:
            joints[k : k + 3] = [table[q].joint] * 3
        self.names = tuple(joints)
        self._units = np.where(chain.sliding, chain.length / 4.0, 1.0)
        report = follow.CYCLE.size
        self.report, self.start = slice(values, values + report), slice(values + report, 2 * values + report)
        self.target = slice(2 * values + report, 2 * values + report + 16)
        self.size = self.target.stop
        self.room = sum(follow.scratch_sizes.py_func(prepared.rows, values))
        self.rooms: list[FloatArray] = []
        self.own = self.pace(None, 1.0)
        lever = LEVER / (STRIDE * chain.length / 4.0)
        self.staying = self._packed(np.full(values, np.inf), STRIDE, LEAP / STRIDE, lever)

    def _packed(self, speeds: FloatArray, most: float, leap: float, lever: float) -> FloatArray:
        head = follow.PACE.pack(smallest=SLOW * self.prepared.chain.length, fine=FINE**2, leap=leap, lever=lever)
        rates = follow.RATE.pack(shape=(len(speeds),), speed=speeds, most=most * self._units)
        return np.concatenate([head, rates.ravel()])

    def pace(self, velocity: ArrayLike | None, scale: float) -> FloatArray:
        """Return what the kernel reads of speeds: those of the linkage, or others, times a scale."""
        speeds = joint_speeds(self.prepared.linkage, velocity, scale)
        of_values = np.where(self._rates >= 0, np.append(speeds, np.inf)[self._rates], np.inf)
        return self._packed(of_values, MOST, 0.0, 0.0)

    def call(self, target: FloatArray, pose: Any, pace: FloatArray, dt: float, cycles: int) -> tuple[int, FloatArray]:
        """Return how the kernel ended, and what it wrote."""
        prepared = self.prepared
        out = EMPTY(self.size)
        try:
            room = self.rooms.pop()  # this call's alone until it is given back
        except IndexError:
            room = EMPTY(self.room)
        out[self.start] = pose if prepared.whole else prepared.chain.values_of(pose)
        aim = prepared.spun(target)
        ended = follow.follow_one(prepared.codes, prepared.known, room, aim, pace, dt, cycles, out)
        self.rooms.append(room)
        if ended <= follow.UNFIT:
            if ended == follow.INVALID:
                raise GoalError(f"the target of {prepared.goal.frame!r} is no rigid transform of finite numbers.")
            prepared.checked_start(pose)  # says what is wrong with it
        return ended, out

    def step(self, target: FloatArray, pose: FloatArray, pace: FloatArray, dt: float) -> ChainStep:
        """Return one cycle from a pose."""
        ended, out = self.call(target, pose, pace, dt, 1)
        result: ChainStep = NEW(ChainStep)
        known = result.__dict__
        known["prepared"], known["out"], known["outcome"], known["dt"] = self.prepared, out, ended, dt
        self._put(known, target, pose, out)
        return result

    def stay(self, target: FloatArray, pose: FloatArray) -> Stayed:
        """Return the answer that cycles without time lead to."""
        ended, out = self.call(target, pose, self.staying, 1.0, CYCLES)
        result: Stayed = NEW(Stayed)
        known = result.__dict__
        known["prepared"], known["out"], known["outcome"] = self.prepared, out, ended
        known["success"] = ended == follow.REACHED
        self._put(known, target, pose, out)
        return result

    def _put(self, known: dict[str, Any], target: FloatArray, pose: FloatArray, out: FloatArray) -> None:
        prepared = self.prepared
        values = out[: len(self.names)]
        known["q"] = values if prepared.whole else prepared.put(values, pose)
        if prepared.goal.free is not None:
            known["target"] = target.copy()
        if not prepared.whole:
            known["start"] = np.array(pose)

    def jump(self, target: FloatArray, pose: FloatArray) -> float:
        """Return how far the nearest solution is from a pose, in the value that changes most; inf if none is found."""
        found = self.prepared.nearest(target, pose)
        if not found.success:
            return math.inf
        return float(np.abs(self.prepared.linkage.difference(pose, found.q, wrap=False)).max(initial=0.0))

    def singular_values(self, q: PoseLike) -> FloatArray:
        """Return the singular values of the rows that the goal asks for."""
        prepared = self.prepared
        rows = prepared.goal.moved(np.eye(4)).jacobian(prepared.linkage, q).copy()
        rows[prepared.goal.coordinates :] *= prepared.chain.length / 4.0
        return np.asarray(np.linalg.svd(rows, compute_uv=False))
