"""Linkages with closed loops: close them near a pose, and drive them by one joint.

Imports `goals`, `clips` and what stands before them. Everything here is Newton's method on the gaps of the loops; where
it cannot close them, it says so and where.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import GoalError, JointNotFoundError, LoopError, OptionError, TransformError
from ..goals import closings
from ..linkage.linkage import Linkage
from ..linkage.poses import advance, between, limited, start_pose
from ..motion.clips import Clip
from ..transforms import FloatArray, as_angle, as_array

TIGHT = 1e-10  # a gap that counts as closed [m, rad]
ROUNDING = 2e-15  # of the linkage's length: a gap that no step makes smaller
RANK = 1e-9  # of the largest singular value: below, a direction is lost
NEWTON, TRIES, PULLS = 30, 300, 60
BOLDEST = 0.3  # the largest change of a value in a step [rad, m]
STEADY = 0.2  # of a predicted step: how much of it may turn out wrong
MEETING = 1e-5  # of the largest singular value: nearer to zero, two branches meet
NEAR = 1e-6  # of a limit, when that is named as what is in the way
FINEST = 1e-9  # the step of the driven joint at which it counts as stuck


class Closure:
    """The gaps of all loops of a linkage, and how joints change them.

    Attributes:
        linkage: The linkage.
        goals: A `Close` for each loop.
        limits: Whether joints keep within their limits.
    """

    def __init__(self, linkage: Linkage, *, limits: bool = True) -> None:
        if not linkage.loops:
            raise GoalError(f"linkage {linkage.name!r} has no loops to close; Builder.loop or loops= adds them.")
        self.linkage, self.goals, self.limits = linkage, closings(linkage), limits
        self._least = ROUNDING * max(linkage.length, 1.0)

    def error(self, q: FloatArray) -> FloatArray:
        """Return the gaps at poses (..., nq): metres and radians, shape (..., rows)."""
        return np.concatenate([goal.error(self.linkage, q) for goal in self.goals], axis=-1)

    def gap(self, q: FloatArray) -> Any:
        """Return the largest gap at poses (..., nq), shape (...)."""
        return np.abs(self.error(q)).max(axis=-1)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """Return how velocities close the gaps, shape (..., rows, nv)."""
        return np.concatenate([goal.jacobian(self.linkage, q) for goal in self.goals], axis=-2)

    def moved(self, q: FloatArray, change: FloatArray) -> FloatArray:
        """Return the pose that a change leads to, within limits."""
        after = advance(self.linkage, q, change)
        return limited(self.linkage, after) if self.limits else after

    def step(self, q: FloatArray, free: NDArray[np.bool_], *, damping: float = 0.0) -> FloatArray:
        """Return the smallest change of the free joints that closes the gaps, to first order and within limits.

        Joints at a limit that would push against it are left out.
        """
        jacobian, error = self.jacobian(q), self.error(q)
        at, rates, _ = self.linkage.plain_values
        low, high = q[at] <= self.linkage.lower[at], q[at] >= self.linkage.upper[at]
        moving = free.copy()
        while True:
            change = np.zeros(self.linkage.nv)
            change[moving] = least_squares(jacobian[:, moving], error, damping)
            pushing = (low & (change[rates] < 0.0)) | (high & (change[rates] > 0.0))
            if not self.limits or not pushing.any():
                return change
            moving[rates[pushing]] = False

    def newton(self, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray | None:
        """Return the pose that Newton's method leads to from a nearby one, or None if it closes nothing there."""
        gap = float(self.gap(q))
        for _ in range(NEWTON):
            if gap <= self._least:
                break
            change = self.step(q, free)
            if np.abs(change).max() > BOLDEST:
                return None
            closer = self.moved(q, change)
            less = float(self.gap(closer))
            if less >= gap and gap <= TIGHT:
                break
            q, gap = closer, less
        return q if gap <= TIGHT else None

    def approach(self, q: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
        """Return the pose that damped steps lead to from anywhere, closed or as near as they come."""
        gap = float(np.linalg.norm(self.error(q)))
        for _ in range(TRIES):
            change = self.step(q, free, damping=0.05 * gap * gap)
            change *= min(1.0, BOLDEST / max(float(np.abs(change).max()), 1e-300))
            for halving in range(8):
                closer = self.moved(q, change / 2**halving)
                less = float(np.linalg.norm(self.error(closer)))
                if less < gap:
                    break
            if less >= gap * (1.0 - 1e-6):
                break
            q, gap = closer, less
        return q


def least_squares(matrix: FloatArray, wanted: FloatArray, damping: float = 0.0) -> FloatArray:
    """Return the smallest x with the least ``|matrix x - wanted|² + damping |x|²``, lost directions left out."""
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    kept = sigma > RANK * max(float(sigma.max(initial=0.0)), 1e-300)
    weights = np.where(kept, sigma / (np.where(kept, sigma, 1.0) ** 2 + damping), 0.0)
    found: FloatArray = Vt.T @ (weights * (U.T @ wanted))
    return found


def close(linkage: Linkage, q: ArrayLike | str, *, keep: Iterable[str] = ()) -> FloatArray:
    """Return the pose nearest to another in which all loops close, while the joints of some names stay as they are.

    Nearest means that no small change brings it nearer; from far away there may be another assembly that is.

    Args:
        linkage: A linkage with loops.
        q: The pose, or the name of a stored one.
        keep: Names of joints that keep their values to the bit.

    Raises:
        LoopError: If the loops cannot be closed from there; it says how far apart they stay.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> q = lw.close(bars, bars.pose(crank=0.7, base="start"), keep=("crank",))
        >>> bool(abs(lw.Close(bars.loops[0]).error(bars, q)).max() < 1e-9)
        True
    """
    closure, pose = Closure(linkage), _one(linkage, q)
    free, names = _free(linkage, keep)
    start, kept = limited(linkage, pose), _places(linkage, ~free)
    if np.abs(start - pose)[kept].max(initial=0.0) > 0.0:
        raise OptionError(
            f"of the joints to keep, {', '.join(map(repr, names))}, one is beyond its limits in this pose."
        )
    found = closure.newton(closure.approach(start, free), free)
    if found is None:
        nearest = closure.approach(start, free)
        held = f" with {', '.join(map(repr, names))} kept" if names else ""
        raise LoopError(
            f"the loops of linkage {linkage.name!r} cannot be closed from this pose{held}: {_widest(closure, nearest)}",
            gap=float(closure.gap(nearest)),
        )
    return np.where(kept, pose, _nearest(closure, found, pose, free))


def _nearest(closure: Closure, q: FloatArray, wanted: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """Return a closed pose drawn towards another along the closed ones, as long as that brings it nearer."""
    linkage = closure.linkage
    away = float(np.linalg.norm(between(linkage, q, wanted)))
    for _ in range(PULLS):
        jacobian, way = closure.jacobian(q)[:, free], between(linkage, q, wanted)[free]
        pull = np.zeros(linkage.nv)
        pull[free] = way - least_squares(jacobian, jacobian @ way)
        if np.abs(pull).max() < 1e-9:
            break
        for halving in range(6):
            closer = closure.newton(closure.moved(q, pull / 2**halving), free)
            left = math.inf if closer is None else float(np.linalg.norm(between(linkage, closer, wanted)))
            if left < away:
                break
        if closer is None or left > away * (1.0 - 1e-7):
            break
        q, away = closer, left
    return q


def drive(
    linkage: Linkage, joint: str, values: ArrayLike, *, start: ArrayLike | str | None = None, fps: float = 24.0
) -> Clip:
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
    q_index, v_index = coordinate(linkage, joint)
    path = _values(values, joint)
    if isinstance(fps, bool) or not isinstance(fps, int | float | np.number) or not 0.0 < fps < math.inf:
        raise OptionError(f"fps must be a positive number, got {fps!r}.")
    closure, pose = Closure(linkage), _one(linkage, start)
    pose[q_index] = path[0]
    _check_range(linkage, q_index, path)
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
        if self._lost(sigma) and self.rates is not None:  # two branches meet here: go straight on
            change = self.rates * step
        else:
            change[self.free] = least_squares(jacobian[:, self.free], -step * jacobian[:, self.v])
            change[self.v] = step
        size = float(np.abs(change).max())
        if size > BOLDEST:
            return None
        guess = self.closure.moved(pose, change)
        guess[self.q] = target
        found = self.closure.newton(guess, self.free)
        if found is None or np.abs(between(linkage, guess, found)).max() > STEADY * size + 1e-9:
            return None
        return found

    def _lost(self, sigma: FloatArray) -> bool:
        """Return whether the singular values have lost a rank that they had before."""
        large = int((sigma > MEETING * sigma.max(initial=1e-300)).sum())
        self.rank = max(self.rank, large)
        return large < self.rank

    def _stuck(self, pose: FloatArray, value: float) -> LoopError:
        linkage, at = self.closure.linkage, float(pose[self.q])
        places = linkage.plain_values[0]
        at_end = np.minimum(pose - linkage.lower, linkage.upper - pose)[places] < NEAR
        held = [linkage.coordinates[k] for k in places[at_end] if k != self.q]
        why = f"{', '.join(held)} at a limit" if held else "stretched or folded as far as it goes"
        degrees = f" ({math.degrees(at):.4f} deg)" if self._turns() else ""
        text = f"the loops of linkage {linkage.name!r} cannot be closed beyond {self.joint} = {at:.6g}{degrees}: "
        return LoopError(f"{text}the mechanism is {why} there; asked for {value:.6g}.", value=at)

    def _turns(self) -> bool:
        units = [u for arc in self.closure.linkage.arcs if arc.mimic is None for u in arc.articulation.units]
        return units[self.q] == "rad"


def coordinate(linkage: Linkage, joint: str) -> tuple[int, int]:
    """Return the places in the pose and the velocity of a joint with one value, or of a coordinate."""
    q, v, _ = linkage.plain_values
    place = linkage.coordinate_index.get(joint) if isinstance(joint, str) else None
    if place is None or place not in q:
        known = [linkage.coordinates[k] for k in q]
        if isinstance(joint, str) and joint in {arc.name for arc in linkage.arcs}:
            raise OptionError(f"joint {joint!r} has no one value of its own to drive; take one of {', '.join(known)}.")
        raise JointNotFoundError(joint, f"linkage {linkage.name!r}", known)
    return int(place), int(v[np.flatnonzero(q == place)[0]])


def _values(values: Any, joint: str) -> FloatArray:
    try:
        if isinstance(values, str) or not np.iterable(values):
            raise TypeError(f"got {values!r}")
        path = as_array([as_angle(x) if isinstance(x, str) else x for x in values], f"values of {joint!r}")
    except (TransformError, TypeError) as error:
        raise OptionError(f"values of {joint!r} are numbers one after another: {error}.") from error
    if path.ndim != 1 or not len(path) or not np.isfinite(path).all():
        raise OptionError(f"values of {joint!r} are finite numbers of shape (n,), got shape {path.shape}.")
    return path


def _check_range(linkage: Linkage, place: int, path: FloatArray) -> None:
    outside = (path < linkage.lower[place]) | (path > linkage.upper[place])
    if outside.any():
        name, first = linkage.coordinates[place], float(path[outside][0])
        low, high = linkage.lower[place], linkage.upper[place]
        raise OptionError(f"{name!r} cannot be driven to {first:.6g}: its limits are {low:.6g} and {high:.6g}.")


def _one(linkage: Linkage, q: ArrayLike | str | None) -> FloatArray:
    pose = start_pose(linkage, q)
    if pose.ndim != 1:
        raise OptionError(f"loops are closed from one pose of shape ({linkage.nq},), got shape {pose.shape}.")
    return pose


def _free(linkage: Linkage, keep: Iterable[str]) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which velocities are free when some joints, or coordinates, are kept, and the names of these."""
    names = [keep] if isinstance(keep, str) else list(keep)
    free = np.ones(linkage.nv, np.bool_)
    q, v, _ = linkage.plain_values
    for name in names:
        place = linkage.coordinate_index.get(name) if isinstance(name, str) else None
        if place is not None and place in q:
            free[v[q == place]] = False
        else:
            i = linkage.arc_index(name)
            first = linkage.drives[i].v
            free[first : first + linkage.arcs[i].articulation.nv] = False
    return free, names


def _places(linkage: Linkage, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which entries of a pose belong to velocities."""
    result = np.zeros(linkage.nq, np.bool_)
    q, v, _ = linkage.plain_values
    result[q] = held[v]
    for k, j in linkage.quaternion_values:
        result[k : k + 4] = held[j]
    return result


def _widest(closure: Closure, q: FloatArray) -> str:
    """Return the loop with the largest gap, in words."""
    gaps = [float(np.linalg.norm(goal.error(closure.linkage, q)[:3])) for goal in closure.goals]
    goal = closure.goals[int(np.argmax(gaps))]
    return f"{goal.loop.first!r} and {goal.loop.second!r} of {goal.loop.name!r} stay {max(gaps):.4g} m apart."
