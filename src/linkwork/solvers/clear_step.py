"""Control cycles of a prepared chain with collision avoidance: a guard corrects the pose that its cycle proposes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..goals import Avoid
from ..kernels import follow
from ..transforms import FloatArray
from .chain_step import ChainStep
from .guard import Guard, Guarded
from .step import LimitKind, StepStatus

if TYPE_CHECKING:
    from .chain_step import Follower

NEW = object.__new__


class ClearStep(ChainStep):
    """Result of a cycle with collision avoidance; rarely used values are computed on access."""

    guarded: Guarded

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        return self.guarded.pair

    @cached_property
    def clearance(self) -> float:
        return self.guarded.clearance

    @cached_property
    def status(self) -> StepStatus:
        if self.guarded.as_wanted:
            return super().status
        settings = self.prepared.settings
        tolerances = {"m": settings.tolerance, "rad": settings.rotation_tolerance}
        if all(off <= tolerances[unit] for off, unit in zip(self.residuals.tolist(), self.units, strict=True)):
            return "reached"
        return "held" if self.guarded.held else "limited"

    @property
    def success(self) -> bool:
        return self.status == "reached"

    @cached_property
    def residuals(self) -> FloatArray:
        if self.guarded.as_wanted:
            return super().residuals
        goal = self.prepared.goal.moved(self.target)
        error = goal.error(self.linkage, self.q)
        return np.array([np.linalg.norm(error[block.rows]) for block in goal.blocks])

    @cached_property
    def joint(self) -> str:
        return super().joint if self.guarded.as_wanted else ""

    @cached_property
    def limit(self) -> LimitKind:
        if self.guarded.as_wanted:
            return super().limit
        return "" if self.status == "reached" else "clearance"

    @cached_property
    def share(self) -> float:
        if self.guarded.as_wanted:
            return super().share
        weight = float(self.prepared.search_settings.rotation_weight)
        weights = [1.0 if unit == "m" else weight for unit in self.units]
        left, asked = float(np.linalg.norm(self.residuals * weights)), float(self._report.asked)
        return max(1.0 - left / asked, 0.0) if asked > 0.0 else 1.0


class ClearFollower:
    """Adds collision avoidance to the cycles of a follower.

    Args:
        follower: The follower, which proposes poses.
        avoid: What to keep clear of.
    """

    def __init__(self, follower: Follower, avoid: Avoid) -> None:
        prepared = follower.prepared
        linkage, chain = prepared.linkage, prepared.chain
        velocities, first = follower.rates.tolist(), dict(linkage.table.quaternions)
        for k, q in chain.balls:
            velocities[k : k + 3] = range(first[q], first[q] + 3)
        limits = prepared.settings.keeps_limits
        self.guard = Guard(linkage, avoid, [prepared.goal], velocities, keeps_limits=limits)
        self.follower = follower
        self._pace, self._dt, self._reach = np.empty(0), 0.0, np.empty(0)

    def _reaches(self, pace: FloatArray, dt: float) -> FloatArray:
        """Return the largest motion of every value in a cycle."""
        if pace is not self._pace or dt != self._dt:
            rates = follow.RATE.rows(pace[follow.PACE.size :])
            self._reach = np.where(np.isfinite(rates.speed), rates.speed * dt, rates.most)
            self._pace, self._dt = pace, dt
        return self._reach

    def step(
        self, wanted: ChainStep, target: FloatArray, pose: FloatArray, pace: FloatArray, dt: float, last: Any
    ) -> ClearStep:
        """Return a collision-free cycle; the proposed one is consumed. `last` led to the pose, or is None."""
        result: ClearStep = NEW(ClearStep)
        known, chain = wanted.__dict__, self.follower.prepared
        going_on = last is not None and last.prepared is chain
        before, around = (last.start, not last.guarded.as_wanted) if going_on else (pose, False)
        reach = self._reaches(pace, dt)
        known["guarded"] = guarded = self.guard.step(target, before, pose, known["q"], reach, dt, around)
        known["q"] = q = guarded.q
        if not guarded.as_wanted:
            known["out"][self.follower.values] = q if chain.whole else chain.chain.values_of(q)
        result.__dict__.update(known)
        return result
