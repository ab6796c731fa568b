"""Drive a mechanism by one joint: the other joints follow, with loops closed and couplings held."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LoopError, OptionError, TransformError
from ..linkage.couplings import followed
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike
from ..solvers.closing import assemble, close
from ..solvers.closure_side import ACROSS, Side
from ..solvers.loop_measures import LONGEST_STEP
from ..solvers.loop_program import ROUGH, STEADY
from ..solvers.loop_rates import LoopRates, loop_rates
from ..solvers.loops import Closure, coordinate, least_squares, led, link_places, one_pose
from ..solvers.options import positive
from ..transforms import FloatArray, as_angle, as_array
from .clips import Clip

_LOG = logging.getLogger("linkwork")
LEFT = 0.5  # a step must keep this share of every singular value, so that it cannot cross a zero
NEAR = 1e-6  # distance from a limit at which that limit is reported as the cause
FINEST = 1e-13  # step of the driven joint below which it counts as stuck
DEAD = 1e-4  # distance of joints from a dead centre within which it cannot be located by their values
BACK = 1e-6  # poses that differ by less are equal


def drive(linkage: Linkage, joint: str, values: ArrayLike, *, start: PoseLike | None = None, fps: float = 24.0) -> Clip:
    """Return the motion of a mechanism while one joint is driven through given values.

    Each pose is found from the pose before, by small steps that stay on one branch; the other joints follow.

    Args:
        linkage: A linkage with loops, couplings or gears.
        joint: Name of the driven joint or coordinate. A gear that follows another can be driven too.
        values: Its values in order [rad, m], shape (n,).
        start: Pose from which the loops are closed at the first value, or the name of a stored one. Without one, the
            mechanism is driven to the first value from the closed stored pose whose joint value is nearest. If there is
            none, it is assembled near its neutral pose, or else from random starts.
        fps: Frames per second.

    Returns:
        A clip with a frame for each value, whose `residuals` are the gaps of loops, then of couplings, shape (n, both).

    Raises:
        LoopError: If the loops cannot be closed at a value; `LoopError.value` is where the joint had to stop.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 2 * np.pi, 49), start="start")
        >>> len(clip), bool(clip.residuals.max() < 1e-9)
        (49, True)
    """
    check_linkage(linkage)
    if isinstance(joint, str) and joint in linkage.joints and linkage.joint(joint).mimic is not None:
        joint, values = _of_leader(linkage, joint, values)
    q_index, v_index = coordinate(linkage, joint)
    positive("fps", fps, finite=True)
    path = _values(linkage, q_index, values, joint)
    closure, pose = Closure(linkage), one_pose(linkage, start)
    pose[q_index] = path[0]
    poses = _driven_directly(linkage, pose, q_index, path)
    if poses is None:
        poses = np.empty((len(path), linkage.nq))
        follower = _Follower(closure, joint, q_index, v_index)
        poses[0] = _first(follower, pose, given=start is not None)
        follower.along(path, poses)
        _warn_if_elsewhere(closure, path, poses, joint, wraps=linkage.table[q_index].wraps)
    return Clip(linkage, np.arange(len(path)) / fps, poses, closure.widths(poses))


def drive_rates(
    clip: Clip, joint: str, *, speed: ArrayLike | None = None, acceleration: ArrayLike | None = None
) -> LoopRates:
    """Return the velocities and accelerations of all joints and frames in a clip of a driven mechanism.

    They follow exactly from the closed loops, without finite differences.

    Args:
        clip: Closed poses, as `drive` returns them.
        joint: Name of the driving joint or coordinate.
        speed: Its velocity [rad/s, m/s], a number or one for each frame; by default the speed of the clip.
        acceleration: Its acceleration, likewise; with a speed given, zero by default.

    Returns:
        The rates. They are NaN in frames in which the joint does not determine the others: at dead centres and where
        branches meet. `LoopRates.remarks` and the log list these frames.

    Raises:
        LoopError: If the joint determines the others in no frame.

    Example:
        >>> import linkwork as lw
        >>> clip = lw.drive(lw.models.four_bar(), "crank", np.linspace(0, 2 * np.pi, 49), start="start")
        >>> rates = lw.drive_rates(clip, "crank", speed=10.0)
        >>> rates.velocity("point").shape, abs(rates.of("rocker")[0]).max().round(4).item()
        ((49, 6), 6.8546)
    """
    place, times = led(clip.linkage, joint)
    own = speed is None
    speeds = times * clip.velocities[:, place] if speed is None else speed
    further = (times * clip.accelerations[:, place] if own else 0.0) if acceleration is None else acceleration
    rates = loop_rates(clip.linkage, clip.poses, {joint: speeds}, accelerations={joint: further})
    for remark in rates.remarks:
        _LOG.warning(remark)
    return rates


def _warn_if_elsewhere(closure: Closure, path: FloatArray, poses: FloatArray, joint: str, *, wraps: bool) -> None:
    """Log a warning if whole turns of a joint do not return the mechanism to its start.

    A rod between two balls may have spun: the mechanism is back if all links are at their initial positions.
    """
    turns = (path[-1] - path[0]) / (2.0 * math.pi)
    whole = wraps and len(path) > 1 and round(turns) != 0 and abs(turns - round(turns)) < BACK
    away = float(np.abs(closure.way(poses[0], poses[-1])).max()) if whole else 0.0
    if away > BACK and np.ptp(link_places(closure.linkage, poses[[0, -1]]), axis=0).max() > BACK * closure.size:
        _LOG.warning(
            "%r is not where it began after %d turns of %r: a joint is %.3g off, of radians or of its size.",
            closure.linkage.name, abs(round(turns)), joint, away,
        )  # fmt: skip


def _driven_directly(linkage: Linkage, pose: FloatArray, place: int, path: FloatArray) -> FloatArray | None:
    """Return the poses (n, nq) of a mechanism whose joints follow directly; None if loops have to be closed."""
    if linkage.loops or any(row.q == place for row in linkage.coupling_rows):
        return None
    poses = np.tile(pose, (len(path), 1))
    poses[:, place] = path
    poses = followed(linkage, poses)
    within = (poses >= linkage.lower) & (poses <= linkage.upper)
    return poses if within[:, [row.q for row in linkage.coupling_rows]].all() else None


def _of_leader(linkage: Linkage, joint: str, values: ArrayLike) -> tuple[str, Any]:
    """Return the joint that a gear follows, and its values for given values of the gear."""
    drive = linkage.drive(joint)
    if not drive.multiplier:
        raise OptionError(f"joint {joint!r} does not move, whatever {linkage.coordinates[drive.q]!r} does.")
    return linkage.coordinates[drive.q], (_numbers(values, joint) - drive.offset) / drive.multiplier


class _Follower:
    """Moves the other joints along with the driven one: a step along the tangent, then Newton's method.

    The part of the closure that belongs to the other joints is tracked too: a step that loses more than half of a
    singular value is halved, so that no step crosses a singular pose, however narrow. Where branches really meet, the
    mechanism continues straight on.
    """

    def __init__(self, closure: Closure, joint: str, q: int, v: int) -> None:
        self.closure, self.joint, self.q, self.v = closure, joint, q, v
        self.free = np.ones(closure.linkage.nv, np.bool_)
        self.free[v] = False
        self.rank = 0  # largest rank so far of the closure for the other joints
        self.rates = np.zeros(closure.linkage.nv)  # at the last pose that was not singular

    def along(self, path: FloatArray, poses: FloatArray) -> None:
        """Fill in poses (n, nq) after the first, with the joint at values (n,).

        Compiled steps go as far as possible; `to` continues from there, and raises an error if it cannot.
        """
        program, k = self.closure.program, 1
        while k < len(path):
            begin = poses[k - 1]
            if program is not None and self.v in program.place:
                self.rank = max(self.rank, self._side(begin).rank())
                k, rates = program.drive(self.v, self.free, self.rank, path, poses, k - 1)
                if k == len(path):
                    break
                begin, self.rates = poses[k], rates if rates.any() else self.rates
            poses[k] = self.to(begin.copy(), float(path[k]))
            k += 1

    def to(self, pose: FloatArray, value: float) -> FloatArray:
        """Return the pose with the joint at a value, reached in as many steps as necessary."""
        step = value - pose[self.q]
        finest = FINEST * max(self.closure.units[self.v], abs(value))
        while pose[self.q] != value:
            step = math.copysign(min(abs(step), abs(value - pose[self.q])), step)
            target = value if abs(step) >= abs(value - pose[self.q]) else float(pose[self.q]) + step
            after = self._ahead(pose, target, value)
            if after is None:
                step /= 2.0
                if abs(step) < finest:
                    return self._at_the_end(pose, value)
                continue
            pose, step = after, 2.0 * step
        return pose

    def _ahead(self, pose: FloatArray, target: float, last: float) -> FloatArray | None:
        """Return the closed pose with the joint at a target value, or None if the step is too long.

        Where branches meet, the joint moves on beyond the meeting, but not beyond its last value.
        """
        jacobian = self.closure.jacobian(pose)
        side = Side(jacobian[:, self.free])
        step = (target - float(pose[self.q])) / self.closure.units[self.v]
        self.rank = max(self.rank, side.rank())
        if side.rank() < self.rank:
            beyond = self._straight_on(pose, side, step, last)
            if beyond is not None:
                return beyond
        rates = np.zeros(self.closure.linkage.nv)
        rates[self.free] = least_squares(jacobian[:, self.free], -jacobian[:, self.v], rank=self.closure.rank)
        rates[self.v] = 1.0
        found = self._corrected(pose, step * rates, target)
        if found is None or side.left_at(self._side(found), self.rank) < LEFT:
            return None
        if side.rank() == self.rank:
            self.rates = rates
        return found

    def _straight_on(self, pose: FloatArray, side: Side, step: float, last: float) -> FloatArray | None:
        """Return a closed pose beyond a meeting of branches, predicted from the rates before it; or None."""
        for longer in ACROSS:
            target = float(pose[self.q]) + longer * step * self.closure.units[self.v]
            ended = abs(target - pose[self.q]) >= abs(last - pose[self.q])
            target = last if ended else target
            way = (target - float(pose[self.q])) / self.closure.units[self.v]
            found = self._corrected(pose, way * self.rates, target)
            if found is not None and side.crossed(self._side(found), self.rank):
                return found
            if ended:
                break
        return None

    def _side(self, pose: FloatArray) -> Side:
        return Side(self.closure.jacobian(pose)[:, self.free])

    def _corrected(self, pose: FloatArray, change: FloatArray, target: float) -> FloatArray | None:
        """Return the closed pose near a predicted change; None if it is not near."""
        size = float(np.abs(change).max())
        if size > LONGEST_STEP:
            return None
        guess = self.closure.moved(pose, change)
        guess[self.q] = target
        found = self.closure.newton(guess, self.free)
        if found is None or np.abs(self.closure.way(guess, found)).max() > STEADY * size + ROUGH:
            return None
        return found

    def _at_the_end(self, pose: FloatArray, value: float) -> FloatArray:
        """Return the pose at a value where the mechanism reverses: at a dead centre itself, not beyond it."""
        guess = pose.copy()
        guess[self.q] = value
        found = self.closure.newton(guess, self.free)
        if found is None or np.abs(self.closure.way(guess, found)).max() > DEAD:
            raise self._stuck(pose, value)
        return found

    def _stuck(self, pose: FloatArray, value: float) -> LoopError:
        from ..explain.mobility import mobility

        linkage, at = self.closure.linkage, float(pose[self.q])
        if not mobility(linkage, at=pose).degrees:
            text = f"linkage {linkage.name!r} is a structure, with no degree of freedom where it closes"
            return LoopError(f"{text}: {self.joint} stays at {at:.6g}; asked for {value:.6g}.", value=at)
        places = linkage.table.plain[0]
        at_end = np.minimum(pose - linkage.lower, linkage.upper - pose)[places] < NEAR
        held = [linkage.coordinates[k] for k in places[at_end] if k != self.q]
        why = f"{', '.join(held)} at a limit" if held else "stretched or folded as far as it goes"
        degrees = f" ({math.degrees(at):.4f} deg)" if linkage.table.units[self.q] == "rad" else ""
        text = f"the loops of linkage {linkage.name!r} cannot be closed beyond {self.joint} = {at:.6g}{degrees}: "
        return LoopError(f"{text}the mechanism is {why} there; asked for {value:.6g}.", value=at)


def _first(follower: _Follower, pose: FloatArray, *, given: bool) -> FloatArray:
    """Return the first pose, with the driven joint at its value in a pose: nearest to that pose if it was given.

    Otherwise the mechanism is driven there from a stored pose, to keep its assembly mode. If no stored pose is closed,
    or the joint cannot be driven there, it is assembled in any mode.
    """
    linkage, place = follower.closure.linkage, follower.q
    driven = linkage.coordinates[place]
    if given:
        return close(linkage, pose, keep=driven)
    closed = [stored for stored in linkage.poses.values() if follower.closure.closed(stored)]
    for stored in sorted(closed, key=lambda one: abs(float(one[place] - pose[place]))):
        try:
            return follower.to(stored.copy(), float(pose[place]))
        except LoopError as error:
            _LOG.debug("not driven from a stored pose: %s", error)  # its branch ends before; another may not
    return assemble(linkage, start=pose, keep=driven, most=1)[0]


def _numbers(values: Any, joint: str) -> FloatArray:
    try:
        if isinstance(values, str) or not np.iterable(values):
            raise TypeError(f"got {values!r}")
        return as_array([as_angle(x) if isinstance(x, str) else x for x in values], f"values of {joint!r}")
    except (TransformError, TypeError) as error:
        raise OptionError(f"values of {joint!r} are a list of numbers: {error}.") from error


def _values(linkage: Linkage, place: int, values: Any, joint: str) -> FloatArray:
    path = _numbers(values, joint)
    if path.ndim != 1 or not len(path) or not np.isfinite(path).all():
        raise OptionError(f"values of {joint!r} are finite numbers of shape (n,), got shape {path.shape}.")
    low, high = linkage.lower[place], linkage.upper[place]
    outside = path[(path < low) | (path > high)]
    if len(outside):
        name = linkage.coordinates[place]
        raise OptionError(f"{name!r} cannot be driven to {outside[0]:.6g}: its limits are {low:.6g} and {high:.6g}.")
    return path
