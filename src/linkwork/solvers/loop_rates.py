"""Rates of mechanisms: velocities and accelerations of all joints and frames, from those of the driving joints.

They follow exactly from linear equations, without finite differences: loops that stay closed satisfy ``J v = 0`` and
``J a = -J' v``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LoopError, OptionError
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, joint_shape, start_pose
from ..transforms import FloatArray, as_array
from .loop_program import REFUSED as CONTRADICTED
from .loops import Closure, leading, led

SINGULAR = 1e-6  # share of the largest singular value; poses are not closed precisely enough to tell less from zero
WHY = "it is at a dead centre, where branches meet, or more joints are driven than it has degrees of freedom"


@dataclass(frozen=True, eq=False)
class LoopRates:
    """Rates of a mechanism in one or many poses.

    Attributes:
        linkage: The linkage.
        q: Closed poses, shape (..., nq).
        velocities: Velocities of all coordinates, shape (..., nv) [rad/s, m/s].
        accelerations: Accelerations of all coordinates, shape (..., nv) [rad/s², m/s²].
        determined: Which coordinates the drivers determine, shape (..., nv). A rod between two balls may spin freely;
            such coordinates get the smallest rates.
        remarks: Remarks on poses in which the loops cannot follow. Their rates are NaN.

    Example:
        >>> import linkwork as lw
        >>> rates = lw.loop_rates(lw.models.four_bar(), "start", {"crank": 2.0})
        >>> rates
        <Rates of 'four_bar': crank 2, coupler -2.32133, rocker 0.838079>
    """

    linkage: Linkage
    q: FloatArray
    velocities: FloatArray
    accelerations: FloatArray
    determined: NDArray[np.bool_]
    remarks: tuple[str, ...] = ()

    def velocity(self, frame: str) -> FloatArray:
        """Return the velocity of a frame along the world's axes, shape (..., 6): of its origin [m/s], then angular."""
        result: FloatArray = (self.linkage.jacobian(self.q, frame) @ self.velocities[..., None])[..., 0]
        return result

    def acceleration(self, frame: str) -> FloatArray:
        """Return the acceleration of a frame along the world's axes, shape (..., 6): of its origin, then angular."""
        known = np.nan_to_num(self.velocities)  # poses without rates stay NaN by their accelerations
        change = self.linkage.jacobian_dot(self.q, known, frame) @ known[..., None]
        result: FloatArray = (self.linkage.jacobian(self.q, frame) @ self.accelerations[..., None] + change)[..., 0]
        return result

    def of(self, joint: str) -> tuple[FloatArray, FloatArray]:
        """Return the velocity and the acceleration of a joint with one value, or of a coordinate, each (...).

        This includes joints that follow others, such as gears.
        """
        place, times = led(self.linkage, joint)
        return times * self.velocities[..., place], times * self.accelerations[..., place]

    def __repr__(self) -> str:
        if self.velocities.ndim > 1:
            missing = int(np.isnan(self.velocities).any(axis=-1).sum())
            less = f", {missing} of them without" if missing else ""
            return f"<Rates of {self.linkage.name!r} in {self.velocities[..., 0].size} poses{less}>"
        names = [row.name for row in self.linkage.table if row.v is not None]
        each = [f"{name} {self.of(name)[0]:.6g}" for name in names]
        return f"<Rates of {self.linkage.name!r}: {', '.join(each)}>"


def loop_rates(
    linkage: Linkage,
    q: PoseLike,
    speeds: str | Mapping[str, ArrayLike],
    *,
    accelerations: Mapping[str, ArrayLike] | None = None,
) -> LoopRates:
    """Return velocities and accelerations of a mechanism in closed poses while some joints are driven.

    Args:
        linkage: A linkage with loops.
        q: Closed poses of shape (..., nq), or the name of a stored one.
        speeds: Velocities of the driving joints, or coordinates, by name [rad/s, m/s]: numbers, or arrays of shape
            (...). One for each degree of freedom of the mechanism. A name alone is driven at 1 rad/s or 1 m/s; then
            rates are ratios.
        accelerations: Accelerations likewise [rad/s², m/s²]; zero for joints that are not named.

    Raises:
        LoopError: If the loops are open, or cannot follow: at a dead centre of the driver, or where branches meet. If
            they cannot follow in only some of many poses, the rates there are NaN, and `LoopRates.remarks` lists them.

    Example:
        >>> import linkwork as lw
        >>> motor = lw.models.engine()
        >>> rates = lw.loop_rates(motor, lw.models.engine_pose(motor, 0.0), {"crank": 100.0})
        >>> rates.of("piston")[1].round(1).item()      # -r w² (1 + r / l) at top dead centre [m/s²]
        -585.0
    """
    check_linkage(linkage)
    driven = {speeds: 1.0} if isinstance(speeds, str) else dict(speeds)
    poses, closure = start_pose(linkage, q), Closure(linkage)
    check_closed(closure, poses)
    shape, given = _driver_rates(linkage, poses, driven, accelerations or {})
    poses = np.broadcast_to(poses, (*shape, linkage.nq))
    free = np.ones(linkage.nv, np.bool_)
    free[[leading(linkage, name)[0] for name in driven]] = False
    velocities, further, determined, refused = _followed(closure, free, poses, *given)
    remarks = singular_poses(refused, f"the loops of linkage {linkage.name!r} cannot follow {', '.join(driven)}", WHY)
    velocities[refused], further[refused], determined[refused] = np.nan, np.nan, False
    return LoopRates(linkage, poses, velocities, further, determined, remarks)


def _followed(
    closure: Closure, free: NDArray[np.bool_], q: FloatArray, velocities: FloatArray, accelerations: FloatArray
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return all velocities and accelerations from those that are not free, which are determined, and failed poses.

    A kernel computes poses in which everything is clearly determined; the others are computed in NumPy.
    """
    shape, (nq, nv) = q.shape[:-1], (q.shape[-1], len(free))
    poses, rates = q.reshape(-1, nq), [np.array(given).reshape(-1, nv) for given in (velocities, accelerations)]
    determined, refused = np.ones((len(poses), nv), np.bool_), np.zeros(len(poses), np.bool_)
    program = closure.program
    left = np.ones(len(poses), np.bool_) if program is None else ~program.move(free, poses, *rates)
    if left.any():
        jacobian = closure.jacobian(poses[left])
        followers = _Followers(closure, jacobian, free)
        rates[0][left], first = followers.rates(rates[0][left], np.zeros(jacobian.shape[:-1]))
        rates[1][left], then = followers.rates(rates[1][left], closure.drift(poses[left], rates[0][left]))
        refused[left], determined[left] = first | then, followers.determined()
    whole = (*shape, nv)
    return rates[0].reshape(whole), rates[1].reshape(whole), determined.reshape(whole), refused.reshape(shape)


def singular_poses(refused: NDArray[np.bool_], what: str, why: str) -> tuple[str, ...]:
    """Return a remark on the poses in which something cannot be computed; if these are all poses, raise it."""
    count = int(refused.sum())
    if not count:
        return ()
    if count == refused.size:
        raise LoopError(f"{what} {f'in all of {count} poses' if refused.ndim else 'here'}: {why}.")
    first = int(np.flatnonzero(refused)[0])
    return (f"{what} in {count} of {refused.size} poses, the first is {first}: {why}.",)


def check_closed(closure: Closure, q: FloatArray) -> None:
    """Raise LoopError if loops are open at poses (..., nq)."""
    if not closure.closed(q):
        gap = float(np.max(closure.gap(q)))
        name = closure.linkage.name
        raise LoopError(f"the loops of linkage {name!r} are open by {gap:.3g} here; lw.close closes them.", gap=gap)


class _Followers:
    """The coordinates that follow others through the loops, at many poses at once."""

    def __init__(self, closure: Closure, jacobian: FloatArray, free: NDArray[np.bool_]) -> None:
        self.closure, self.free, self.jacobian = closure, free, jacobian
        self.inverse = np.linalg.pinv(jacobian[..., free], rcond=max(closure.rank, SINGULAR))

    def rates(self, given: FloatArray, drift: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return all rates (..., nv) for given rates of the drivers, and where loops contradict them, shape (...).

        They solve ``jacobian @ rates = -drift``.
        """
        wanted = -drift - (self.jacobian @ (given / self.closure.units)[..., None])[..., 0]
        found = (self.inverse @ wanted[..., None])[..., 0]
        left = (self.jacobian[..., self.free] @ found[..., None])[..., 0] - wanted
        off = np.abs(left).max(axis=-1, initial=0.0)
        allowed = max(CONTRADICTED, self.closure.rank) * np.abs(wanted).max(axis=-1, initial=0.0)
        result = np.array(given)
        result[..., self.free] = found * self.closure.units[self.free]
        return result, np.asarray(off > allowed)

    def determined(self) -> NDArray[np.bool_]:
        """Return which coordinates the drivers determine, shape (..., nv)."""
        result = np.ones((*self.jacobian.shape[:-2], self.jacobian.shape[-1]), np.bool_)
        known = self.inverse @ self.jacobian[..., self.free]  # its diagonal is 1 where a coordinate is determined
        result[..., self.free] = np.diagonal(known, axis1=-2, axis2=-1) > 1.0 - CONTRADICTED
        return result


def _driver_rates(
    linkage: Linkage, q: FloatArray, speeds: Mapping[str, ArrayLike], accelerations: Mapping[str, ArrayLike]
) -> tuple[tuple[int, ...], list[FloatArray]]:
    """Return the common shape, and velocities and accelerations (..., nv) of the drivers; zero for other joints."""
    if not speeds:
        raise OptionError("rates need the speed of at least one driving joint, as in {'crank': 10.0}.")
    if unknown := sorted(set(accelerations) - set(speeds)):
        raise OptionError(f"{', '.join(unknown)} has an acceleration and no speed; give it a speed, which may be 0.0.")
    places = {name: leading(linkage, name) for name in speeds}
    both = [
        {name: as_array(value, f"rate of {name!r}") for name, value in each.items()} for each in (speeds, accelerations)
    ]
    shape = joint_shape(q.shape[:-1], *(value.shape for each in both for value in each.values()))
    result = [np.zeros((*shape, linkage.nv)) for _ in both]
    for each, rates in zip(both, result, strict=True):
        for name, value in each.items():
            place, times = places[name]
            rates[..., place] = value / times
    return shape, result
