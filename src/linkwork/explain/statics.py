"""Forces in mechanisms at rest: efforts of the drivers, and forces in every joint and loop.

Each link is in equilibrium: loads, weight and the forces of its joints and loops add up to zero. Loop forces are those
that leave the passive joints without effort; joint forces balance everything further out in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import OptionError
from ..goals import Close
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.mass import weighed
from ..linkage.poses import PoseLike, joint_shape, start_pose
from ..solvers.loop_rates import SINGULAR, check_closed, singular_poses
from ..solvers.loops import Closure, leading, led
from ..transforms import FloatArray, as_array, as_vector

NOT_HELD = 1e-6  # share of the loads: if more remains unbalanced, the drivers cannot hold them
NOT_HELD_WHY = "it is at a dead centre, or the mechanism has more degrees of freedom than drivers"
OPEN = 1e-6  # self-stress of a unit row above which its force is not unique


@dataclass(frozen=True, eq=False)
class Statics:
    """The forces in a mechanism at rest.

    Attributes:
        linkage: The linkage.
        q: Closed poses, shape (..., nq).
        drivers: Effort of each driver that holds the loads, by name, shape (...) [N m, N].
        loops: Force and torque of each loop on its first frame, by name, along the world's axes and at the frame's
            origin, shape (..., 6) [N, N m]. The opposite acts on the second frame.
        joints: Force and torque of each joint on its child link, likewise, at the origin of that link.
        couplings: The effort of each coupling on its follower, by name, shape (...) [N m, N]; the efforts on its
            drivers follow from the ratios.
        undetermined: Loops whose forces are not unique because the mechanism is overconstrained; the smallest forces
            are returned for them. The same holds for the joints between them.
        remarks: Notes, such as the poses in which the loads cannot be held; their forces are NaN.

    Example:
        >>> import linkwork as lw
        >>> bars = lw.models.four_bar()
        >>> held = lw.statics(bars, "start", "crank", loads={"point": (0, -10, 0)})
        >>> held
        <Forces in 'four_bar': crank 0.109369 N m>
        >>> held.loops["four_bar"].round(3).tolist()
        [-0.574, 3.104, 0.0, 0.0, 0.0, 0.0]
    """

    linkage: Linkage
    q: FloatArray
    drivers: Mapping[str, FloatArray]
    loops: Mapping[str, FloatArray]
    joints: Mapping[str, FloatArray]
    couplings: Mapping[str, FloatArray]
    undetermined: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.q.ndim > 1:
            return f"<Forces in {self.linkage.name!r} in {self.q[..., 0].size} poses>"
        slides = {row.name for row in self.linkage.table if row.unit == "m"}
        slides |= {name for name in self.linkage.joints if self.linkage.joint(name).articulation.kind == "prismatic"}
        units = {name: "N" if name in slides else "N m" for name in self.drivers}
        each = ", ".join(f"{name} {value:.6g} {units[name]}" for name, value in self.drivers.items())
        return f"<Forces in {self.linkage.name!r}: {each}>"


def statics(
    linkage: Linkage,
    q: PoseLike,
    drivers: str | Iterable[str],
    *,
    loads: Mapping[str, ArrayLike] | None = None,
    efforts: Mapping[str, ArrayLike] | None = None,
    gravity: ArrayLike | None = None,
) -> Statics:
    """Return the forces in a mechanism that drivers hold still in closed poses.

    Args:
        linkage: A linkage with loops.
        q: Closed poses of shape (..., nq), or the name of a stored one.
        drivers: Names of the driven joints or coordinates; as many as the mechanism has degrees of freedom.
        loads: Forces on frames by name, along the world's axes at their origins, shape (..., 3) [N]; or forces followed
            by torques, shape (..., 6) [N, N m].
        efforts: Efforts of other joints by name, such as springs and brakes, shape (...) [N m, N].
        gravity: Acceleration of free fall in the world [m/s²]; without it, weights are ignored.

    Raises:
        LoopError: If the loops are open, or the drivers cannot hold the loads: at a dead centre, or with too few
            drivers. If this holds for some of many poses only, their forces are NaN, and `Statics.remarks` lists them.
        LinkageError: If gravity is given and no link has a mass.

    Example:
        >>> import linkwork as lw
        >>> motor = lw.models.engine()
        >>> q = lw.models.engine_pose(motor, 1.0)
        >>> held = lw.statics(motor, q, "crank", loads={"pin": (0, 0, -1000.0)})      # gas on the piston
        >>> round(float(held.drivers["crank"]), 3)
        -44.209
    """
    check_linkage(linkage)
    names = (drivers,) if isinstance(drivers, str) else tuple(drivers)
    closure, poses = Closure(linkage), start_pose(linkage, q)
    check_closed(closure, poses)
    given = {name: as_array(value, f"effort of {name!r}") for name, value in (efforts or {}).items()}
    wrenches = {name: _wrench(value, name) for name, value in (loads or {}).items()}
    sizes = [*(value.shape for value in given.values()), *(value.shape[:-1] for value in wrenches.values())]
    on_links = _OnLinks(linkage, np.broadcast_to(poses, (*joint_shape(poses.shape[:-1], *sizes), linkage.nq)))
    for frame, wrench in wrenches.items():
        on_links.add(frame, wrench)
    if gravity is not None:
        on_links.add_weight(as_vector(gravity, "gravity"))
    asked = on_links.generalized.copy()
    for name, value in given.items():
        place, times = led(linkage, name)
        asked[..., place] += times * value
    return _balanced(closure, on_links, asked, names)


def _balanced(closure: Closure, on_links: _OnLinks, asked: FloatArray, names: tuple[str, ...]) -> Statics:
    """Return the forces that balance the loads on links and the resulting efforts required of joints."""
    linkage, poses = closure.linkage, on_links.q
    driven = [leading(linkage, name) for name in names]
    jacobian, free = closure.jacobian(poses), np.ones(linkage.nv, np.bool_)
    free[[place for place, _ in driven]] = False
    multipliers, remarks = _multipliers(closure, jacobian, asked, free, names)
    borne, couplings = closure.borne(multipliers)
    for loop in linkage.loops:
        on_links.add(loop.first, borne[loop.name])
        on_links.add(loop.second, -borne[loop.name])
    left = asked + (np.swapaxes(jacobian, -1, -2) @ multipliers[..., None])[..., 0] / closure.units
    held = {name: -left[..., place] / times for name, (place, times) in zip(names, driven, strict=True)}
    undetermined = _undetermined(closure, poses, jacobian[..., free])
    return Statics(linkage, poses, held, borne, on_links.joints(), couplings, undetermined, remarks)


class _OnLinks:
    """Loads on every link (forces and torques about the world's origin), and on the motion of every joint."""

    def __init__(self, linkage: Linkage, q: FloatArray) -> None:
        self.linkage, self.q = linkage, q
        self.wrenches = np.zeros((*q.shape[:-1], len(linkage.nodes), 6))
        self.generalized = np.zeros((*q.shape[:-1], linkage.nv))

    def add(self, frame: str, wrench: FloatArray, arm: FloatArray | None = None) -> None:
        """Add a wrench (..., 6) on a frame: at its origin, or displaced from it by an arm (..., 3)."""
        jacobian = self.linkage.jacobian(self.q, frame)
        place = self.linkage.forward(self.q, frame=frame)[..., :3, 3]
        force = np.broadcast_to(wrench[..., :3], place.shape)
        torque = wrench[..., 3:] + (0.0 if arm is None else np.cross(arm, force))
        on_frame = np.concatenate([force, np.broadcast_to(torque, place.shape)], axis=-1)
        self.generalized += (np.swapaxes(jacobian, -1, -2) @ on_frame[..., None])[..., 0]
        node = self.linkage.path_to(frame)[0][-1]
        self.wrenches[..., node, :3] += force
        self.wrenches[..., node, 3:] += on_frame[..., 3:] + np.cross(place, force)

    def add_weight(self, gravity: FloatArray) -> None:
        """Add the weight of every link."""
        heavy = weighed(self.linkage)
        for link, mass, center in zip(heavy.links, heavy.masses, heavy.centers, strict=True):
            turned = self.linkage.forward(self.q, frame=link)[..., :3, :3] @ center
            self.add(link, np.concatenate([mass * gravity, np.zeros(3)]), turned)

    def joints(self) -> dict[str, FloatArray]:
        """Return the wrench of each joint on its child link: the opposite of all loads further out in the tree."""
        linkage, total = self.linkage, self.wrenches.copy()
        for node in range(len(linkage.nodes) - 1, 0, -1):
            total[..., linkage.parents[node], :] += total[..., node, :]
        result = {}
        for name in linkage.joints:
            node = linkage.arc_index(name)
            force = -total[..., node, :3]
            place = linkage.forward(self.q, frame=linkage.links[node])[..., :3, 3]
            result[name] = np.concatenate([force, -total[..., node, 3:] - np.cross(place, force)], axis=-1)
        return result


def _multipliers(
    closure: Closure, jacobian: FloatArray, asked: FloatArray, free: NDArray[np.bool_], drivers: tuple[str, ...]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the forces in the rows of the loops that leave free joints without effort, and remarks."""
    across = np.swapaxes(jacobian[..., free], -1, -2)
    wanted = -(asked * closure.units)[..., free]
    found: FloatArray = (np.linalg.pinv(across, rcond=max(closure.rank, SINGULAR)) @ wanted[..., None])[..., 0]
    left = np.abs((across @ found[..., None])[..., 0] - wanted).max(axis=-1, initial=0.0)
    most = np.abs(asked * closure.units).max(axis=-1, initial=0.0)
    loose = np.asarray(left > max(NOT_HELD, closure.rank) * most)
    who = ", ".join(drivers) or "no driver"
    remarks = singular_poses(loose, f"{who} cannot hold the loads on linkage {closure.linkage.name!r}", NOT_HELD_WHY)
    found[loose] = np.nan
    return found, remarks


def _undetermined(closure: Closure, q: FloatArray, followers: FloatArray) -> tuple[str, ...]:
    """Return the loops whose rows can bear a self-stress, apart from rows that can never bear any force."""
    idle = np.eye(followers.shape[-2]) - followers @ np.linalg.pinv(followers, rcond=max(closure.rank, SINGULAR))
    start, found = 0, []
    for goal in closure.goals:
        rows = slice(start, start + goal.blocks[-1].rows.stop)
        own = idle[..., rows, rows].copy()
        if isinstance(goal, Close) and goal.loop.kind == "axis":  # no torque about the axis itself
            axis = closure.linkage.forward(q, frame=goal.loop.first)[..., :3, 2]
            own[..., 3:, 3:] -= axis[..., :, None] * axis[..., None, :]
        sizes = np.diagonal(own, axis1=-2, axis2=-1)[..., goal.changeable(closure.linkage)]
        if (sizes > OPEN).any():
            found.append(goal.part.name)
        start = rows.stop
    return tuple(found)


def _wrench(value: ArrayLike, frame: str) -> FloatArray:
    """Return a load as forces and torques, shape (..., 6)."""
    load = as_array(value, f"load on {frame!r}")
    if load.ndim == 0 or load.shape[-1] not in (3, 6):
        raise OptionError(
            f"the load on {frame!r} is a force (..., 3) or a force and a torque (..., 6), got {load.shape}."
        )
    return load if load.shape[-1] == 6 else np.concatenate([load, np.zeros_like(load)], axis=-1)
