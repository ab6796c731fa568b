"""Driving a linkage with closed loops by one joint: the other joints follow, and the loops stay closed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LoopError, OptionError, TransformError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, between
from ..solvers.loops import LONGEST_STEP, Closure, close, coordinate, least_squares, one_pose
from ..solvers.options import positive
from ..transforms import FloatArray, as_angle, as_array
from .clips import Clip

STEADY = 0.2  # of a predicted step: how much of it may turn out wrong
MEETING = 1e-5  # of the largest singular value: nearer to zero, two branches meet
NEAR = 1e-6  # of a limit, when that is named as what is in the way
FINEST = 1e-9  # the step of the driven joint at which it counts as stuck


def drive(linkage: Linkage, joint: str, values: ArrayLike, *, start: PoseLike | None = None, fps: float = 24.0) -> Clip:
    """Return the motion of a linkage with loops as one joint takes values one after another.

    Each pose is closed from the one before, by small steps that stay on one branch; the other joints follow.

    Args:
        linkage: A linkage with loops.
        joint: Name of the joint that is driven, or of a coordinate.
        values: Its values in turn [rad, m], shape (n,).
        start: Pose from which the loops are closed at the first value, or the name of a stored one; neutral by default.
        fps: Frames a second.

    Returns:
        A clip with a frame for each value, whose `residuals` are the gaps of the loops, shape (n, loops).

    Raises:
        LoopError: Where the loops cannot be closed any further; `value` is where the joint had to stop.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 2 * np.pi, 49), start="start")
        >>> len(clip), bool(clip.residuals.max() < 1e-9)
        (49, True)
    """
    check_linkage(linkage)
    q_index, v_index = coordinate(linkage, joint)
    positive("fps", fps, finite=True)
    path = _values(linkage, q_index, values, joint)
    closure, pose = Closure(linkage), one_pose(linkage, start)
    pose[q_index] = path[0]
    poses = np.empty((len(path), linkage.nq))
    poses[0] = close(linkage, pose, keep=(linkage.coordinates[q_index],))
    follower = _Follower(closure, joint, q_index, v_index)
    for k in range(1, len(path)):
        poses[k] = follower.to(poses[k - 1], float(path[k]))
    gaps = [np.linalg.norm(goal.error(linkage, poses), axis=-1) for goal in closure.goals]
    return Clip(linkage, np.arange(len(path)) / fps, poses, np.stack(gaps, axis=-1))


class _Follower:
    """What carries the other joints along as one moves: a step along the tangent, then Newton's method."""

    def __init__(self, closure: Closure, joint: str, q: int, v: int) -> None:
        self.closure, self.joint, self.q, self.v = closure, joint, q, v
        self.free = np.ones(closure.linkage.nv, np.bool_)
        self.free[v] = False
        self.rates: FloatArray | None = None
        self.rank = 0  # the largest that the others' part of the closure has had

    def to(self, pose: FloatArray, value: float) -> FloatArray:
        """Return the pose with the joint at a value, in as many steps as it takes."""
        step = value - pose[self.q]
        while pose[self.q] != value:
            step = math.copysign(min(abs(step), abs(value - pose[self.q])), step)
            target = value if abs(step) >= abs(value - pose[self.q]) else float(pose[self.q]) + step
            after = self._ahead(pose, target)
            if after is None:
                step /= 2.0
                if abs(step) < FINEST * max(1.0, abs(value)):
                    raise self._stuck(pose, value)
                continue
            self.rates = between(self.closure.linkage, pose, after, wrap=False) / (target - pose[self.q])
            pose, step = after, 2.0 * step
        return pose

    def _ahead(self, pose: FloatArray, target: float) -> FloatArray | None:
        """Return the closed pose with the joint at a target near its value, or None if the step is too long for it."""
        linkage, step = self.closure.linkage, target - float(pose[self.q])
        jacobian = self.closure.jacobian(pose)
        sigma: Any = np.linalg.svd(jacobian[:, self.free], compute_uv=False)
        change = np.zeros(linkage.nv)
        rank = int((sigma > MEETING * sigma.max(initial=1e-300)).sum())
        self.rank = max(self.rank, rank)
        if rank < self.rank and self.rates is not None:  # two branches meet here: go straight on
            change = self.rates * step
        else:
            change[self.free] = least_squares(
                jacobian[:, self.free], -step * jacobian[:, self.v], rank=self.closure.rank
            )
            change[self.v] = step
        size = float(np.abs(change).max())
        if size > LONGEST_STEP:
            return None
        guess = self.closure.moved(pose, change)
        guess[self.q] = target
        found = self.closure.newton(guess, self.free)
        if found is None or np.abs(between(linkage, guess, found)).max() > STEADY * size + 1e-9:
            return None
        return found

    def _stuck(self, pose: FloatArray, value: float) -> LoopError:
        linkage, at = self.closure.linkage, float(pose[self.q])
        places = linkage.table.plain[0]
        at_end = np.minimum(pose - linkage.lower, linkage.upper - pose)[places] < NEAR
        held = [linkage.coordinates[k] for k in places[at_end] if k != self.q]
        why = f"{', '.join(held)} at a limit" if held else "stretched or folded as far as it goes"
        degrees = f" ({math.degrees(at):.4f} deg)" if linkage.table.units[self.q] == "rad" else ""
        text = f"the loops of linkage {linkage.name!r} cannot be closed beyond {self.joint} = {at:.6g}{degrees}: "
        return LoopError(f"{text}the mechanism is {why} there; asked for {value:.6g}.", value=at)


def _values(linkage: Linkage, place: int, values: Any, joint: str) -> FloatArray:
    try:
        if isinstance(values, str) or not np.iterable(values):
            raise TypeError(f"got {values!r}")
        path = as_array([as_angle(x) if isinstance(x, str) else x for x in values], f"values of {joint!r}")
    except (TransformError, TypeError) as error:
        raise OptionError(f"values of {joint!r} are numbers one after another: {error}.") from error
    if path.ndim != 1 or not len(path) or not np.isfinite(path).all():
        raise OptionError(f"values of {joint!r} are finite numbers of shape (n,), got shape {path.shape}.")
    low, high = linkage.lower[place], linkage.upper[place]
    outside = path[(path < low) | (path > high)]
    if len(outside):
        name = linkage.coordinates[place]
        raise OptionError(f"{name!r} cannot be driven to {outside[0]:.6g}: its limits are {low:.6g} and {high:.6g}.")
    return path
