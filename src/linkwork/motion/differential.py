"""The textbook's differential step: goals turned into joint velocities by any method, for one control cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..goals import Goal
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, advance, between, clamped, keeps_limits, start_pose
from ..solvers import Method, Problem, configure, group_of, solve
from ..solvers.groups import Joints, Weights
from ..solvers.iterate import limited_step, settled
from ..solvers.options import Settings, SolveOptions, positive
from ..solvers.problem import State
from ..solvers.step import LimitKind, Step, StepStatus, joint_speeds
from ..transforms import FloatArray
from .tracking import Goals

AT_LIMIT = 1e-9  # tolerance at limits [rad, m]
PRESSING = 1e-3  # a joint pushes against its limit if it would reduce the squared error by this share [1/rad, 1/m]
NEARER = 1e-9  # share of the error: a cycle that reduces it by less makes no progress


@dataclass(frozen=True, eq=False, repr=False)
class DifferentialStep(Step):
    """Result of one step of a method; the nearest other solution is searched on access."""

    goals: tuple[Goal, ...]

    @cached_property
    def jump(self) -> float:
        found = solve(self.linkage, self.goals, start=self.q)
        if not found.success:
            return np.inf
        return float(np.abs(between(self.linkage, self.q, found.q, wrap=False)).max(initial=0.0))


def step(
    linkage: Linkage,
    goals: Goals,
    q: PoseLike,
    dt: float,
    *,
    method: str | Method = "damped",
    gain: float = 1.0,
    velocity: ArrayLike | None = None,
    joints: Joints | None = None,
    weights: Weights | None = None,
    **options: Unpack[SolveOptions],
) -> Step:
    """Return the pose after one control cycle of differential inverse kinematics, ``q' = q + dt J^+ v``.

    The goals are linearised at the pose: v is the velocity that corrects their errors in one cycle, ``gain * error /
    dt``, and the method defines J^+. A step that would exceed the speed limit of a joint is scaled down as a whole, so
    that its direction is kept; joints that push against a limit are excluded. It supports every goal. For a compiled
    cycle that takes as many steps as it needs, use `prepare` and ``ik.step(goals, q, dt)``.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        q: The current pose.
        dt: Duration of the cycle [s].
        method: A method's name.
        gain: Fraction of the error to correct in one cycle.
        velocity: Speed limits [rad/s, m/s], one for all or one for each velocity; those of the linkage by default.
        joints: Names of the joints that may move, as in `solve`.
        weights: Cost of moving each joint, as in `solve`.
        **options: As in `solve`.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> q = np.array([0.39, 0.79, 0.79])
        >>> for _ in range(250):
        ...     cycle = lw.step(arm, lw.Reach("tip", position=(-20, 5)), q, dt=0.01, velocity=1.0)
        ...     q = cycle.q
        >>> cycle.status
        'reached'
    """
    check_linkage(linkage)
    for name, value in (("dt", dt), ("gain", gain)):
        positive(name, value, finite=True)
    chosen, settings = configure(method, options, linkage)
    pose, speeds = start_pose(linkage, q), joint_speeds(linkage, velocity, 1.0)
    if pose.ndim != 1:
        raise OptionError(f"a cycle takes one pose of shape ({linkage.nq},), got shape {pose.shape}.")
    if settings.keeps_limits:
        settings, pose = replace(settings, limits="project"), clamped(linkage, pose)
    problem = Problem(linkage, goals, pose, group_of(linkage, joints, weights))
    chosen.accept(problem)
    change = limited_step(chosen, State(problem, pose, gain * problem.error(pose)), settled(settings, chosen))
    change = change if np.isfinite(change).all() else np.zeros(linkage.nv)
    return _taken(problem, settings, pose, change, speeds, dt)


def _taken(
    problem: Problem, settings: Settings, pose: FloatArray, change: FloatArray, speeds: FloatArray, dt: float
) -> Step:
    """Return the cycle for a change of the pose, scaled down to the speed limits."""
    needed = np.abs(change) / np.maximum(speeds * dt, 1e-300)
    fastest = int(np.argmax(needed)) if needed.max(initial=0.0) > 1.0 else -1
    new = advance(problem.linkage, pose, change if fastest < 0 else change / needed[fastest])
    new = clamped(problem.linkage, new) if settings.keeps_limits else new
    return _judged(problem, settings, pose, new, dt, fastest)


def _judged(problem: Problem, settings: Settings, start: FloatArray, q: FloatArray, dt: float, fastest: int) -> Step:
    """Return the result of a cycle; `fastest` is the velocity that limited it, or -1."""
    linkage, scale = problem.linkage, problem.scale
    error, joints = problem.error(q), linkage.table.velocity_joints
    before, after = (float(np.linalg.norm(e * scale)) for e in (problem.error(start), error))
    residuals = problem.residuals(error)
    reached = bool((residuals <= settings.tolerances(problem)).all())
    if settings.keeps_limits:
        reached = reached and bool(keeps_limits(linkage, q))
    at_limit = _pressing(problem, q, error) if settings.keeps_limits else -1
    status: StepStatus = "following" if after < (1.0 - NEARER) * before else "held"
    limit: LimitKind = "velocity" if fastest >= 0 else "position" if at_limit >= 0 else ""
    if limit == "velocity" or (limit and status == "held"):
        status = "limited"
    if reached:
        status, limit = "reached", ""
    joint = joints[fastest if limit == "velocity" else at_limit] if status == "limited" else ""
    known: dict[str, Any] = {"residuals": residuals, "units": tuple(block.unit for block in problem.blocks)}
    return DifferentialStep(
        linkage=linkage,
        goals=problem.goals,
        q=q,
        status=status,
        joint=joint,
        limit=limit if joint else "",
        share=max(1.0 - after / before, 0.0) if before > 0.0 else 1.0,
        start=start,
        dt=dt,
        **known,
    )


def _pressing(problem: Problem, q: FloatArray, error: FloatArray) -> int:
    """Return the velocity at a limit that would reduce the error most beyond it, or -1."""
    linkage, weighted = problem.linkage, problem.weighted_error(error)
    places, v, _ = linkage.table.plain
    gradient = (problem.jacobian(q).T @ weighted)[v]
    low, high = q[places] <= linkage.lower[places] + AT_LIMIT, q[places] >= linkage.upper[places] - AT_LIMIT
    gains = np.where((low & (gradient < 0.0)) | (high & (gradient > 0.0)), np.abs(gradient), 0.0)
    if gains.max(initial=0.0) <= PRESSING * float(weighted @ weighted):
        return -1
    return int(v[np.argmax(gains)])
