"""The joints that a solve may move, and the weights of their motion: `joints=` and `weights=` of every solve."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import JointNotFoundError, OptionError
from ..goals.joint_goal import velocities_of
from ..linkage.linkage import Linkage
from ..linkage.poses import clamped, keeps_limits, random_pose
from ..transforms import FloatArray, as_array, as_number, read_only, reraised_as

Joints: TypeAlias = str | Iterable[str]
"""Names of joints, or the name of a group of them."""

Weights: TypeAlias = ArrayLike | Mapping[str, float]
"""Weights of joint motion: a number for each velocity, or numbers by joint (1 for joints not named)."""


@dataclass(frozen=True, eq=False)
class Group:
    """The joints that a solve may move; the others keep their start values.

    Attributes:
        linkage: The linkage.
        joints: Their names, as given; None if all may move.
        free: Which velocities may change, shape (nv,).
        values: Which values of a pose may change, shape (nq,).
        scale: One over the root of each velocity's weight, relative to the smallest weight, shape (nv,); None if all
            are equal. The shortest step in velocities divided by these is the shortest by the weights.
        key: The arguments it was made from.
    """

    linkage: Linkage
    joints: tuple[str, ...] | None
    free: NDArray[np.bool_]
    values: NDArray[np.bool_]
    scale: FloatArray | None
    key: Hashable

    @property
    def partial(self) -> bool:
        """Whether some joints are held."""
        return not bool(self.free.all())

    @property
    def words(self) -> str:
        """The joints that may move, in words: ``"elbow and wrist"``, ``"7 joints from a to g"``."""
        names = list(self.joints or self.linkage.joints)
        if len(names) > 4:
            return f"{len(names)} joints from {names[0]} to {names[-1]}"
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def held(self, q: FloatArray, start: FloatArray) -> FloatArray:
        """Return poses (..., nq) with values outside the group taken from starts (..., nq)."""
        return np.where(self.values, q, start)

    def distance(self, way: FloatArray) -> FloatArray:
        """Return the weighted lengths (...) of displacements (..., nv)."""
        cost = way if self.scale is None else way / self.scale
        return np.asarray(np.sqrt((cost * cost).sum(axis=-1)))


def group_of(linkage: Linkage, joints: Joints | None = None, weights: Weights | None = None) -> Group | None:
    """Return the joints that may move and their weights, cached on the linkage; None if all may move, equally weighted.

    Raises:
        JointNotFoundError: If a name is neither that of a joint or coordinate nor of a group.
        OptionError: If joints are not names, or weights not positive numbers.
    """
    if joints is None and weights is None:
        return None
    names = None if joints is None else _names(joints)
    if weights is not None and not isinstance(weights, Mapping):
        with reraised_as(OptionError):
            weights = as_array(weights, "weights")
    cost = tuple(weights.items()) if isinstance(weights, Mapping) else None if weights is None else weights.tobytes()
    key = (names, cost)
    try:
        hash(key)
    except TypeError:
        raise OptionError(f"weights are numbers by joint name, got {weights!r}.") from None
    return linkage.cache.get("groups", key, lambda: _made(linkage, names, weights, key))


def _names(joints: Joints) -> tuple[str, ...]:
    try:
        names = (joints,) if isinstance(joints, str) else tuple(joints)
    except TypeError:
        names = (joints,)  # type: ignore[assignment]
    if not names or not all(isinstance(name, str) for name in names):
        raise OptionError(f"joints are the names of joints that may move, at least one, got {joints!r}.")
    return names


def _made(linkage: Linkage, names: tuple[str, ...] | None, weights: Any, key: Hashable) -> Group:
    free = np.ones(linkage.nv, np.bool_) if names is None else _free(linkage, names)
    values = np.zeros(linkage.nq, np.bool_)
    q, v, _ = linkage.table.plain
    values[q] = free[v]
    for k, j in linkage.table.quaternions:
        if free[j : j + 3].any() != free[j : j + 3].all():
            raise OptionError(f"{linkage.table.velocity_joints[j]!r} rotates as a whole; single axes cannot be held.")
        values[k : k + 4] = free[j]
    scale = None if weights is None else _scale(linkage, weights, free)
    return Group(linkage, names, read_only(free), read_only(values), scale, key)


def _free(linkage: Linkage, names: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which velocities the names refer to."""
    joints = {arc.name: arc for arc in linkage.arcs}
    free = np.zeros(linkage.nv, np.bool_)
    for name in names:
        if name not in joints and name in linkage.groups:
            free[np.isin(linkage.table.velocity_joints, linkage.groups[name])] = True
            continue
        if name in joints and joints[name].mimic is None and not joints[name].articulation.nv:
            raise OptionError(f"joint {name!r} of linkage {linkage.name!r} is fixed: it cannot move.")
        try:
            free[velocities_of(linkage, name, plain=False)] = True
        except JointNotFoundError as error:
            raise JointNotFoundError(name, f"linkage {linkage.name!r}", [*linkage.groups, *error.known]) from None
    if not free.any():
        raise OptionError(f"nothing moves in {', '.join(map(repr, names))} of linkage {linkage.name!r}.")
    return free


def _scale(linkage: Linkage, weights: Any, free: NDArray[np.bool_]) -> FloatArray:
    """Return one over the roots of weights, relative to the smallest weight of a joint that may move."""
    cost = np.ones(linkage.nv)
    if isinstance(weights, Mapping):
        for name, value in weights.items():
            with reraised_as(OptionError):
                cost[velocities_of(linkage, name, plain=False)] = as_number(value, f"weight of {name!r}")
    elif weights.shape == (linkage.nv,):
        cost[:] = weights
    else:
        raise OptionError(
            f"weights are {linkage.nv} numbers, one for each velocity of linkage {linkage.name!r}, or a mapping from "
            f"joints to numbers; got shape {weights.shape}."
        )
    if not np.isfinite(cost).all() or not (cost > 0.0).all():
        raise OptionError(
            "weights are positive and finite; the larger, the less a joint moves. To hold joints, use joints=."
        )
    return read_only(np.sqrt(cost[free].min() / cost))


# Limits and random poses, with and without a group


def within_limits(linkage: Linkage, q: FloatArray, group: Group | None) -> FloatArray:
    """Return poses clamped to limits; values outside a group are unchanged."""
    inside = clamped(linkage, q)
    return inside if group is None else group.held(inside, q)


def limits_kept(linkage: Linkage, q: FloatArray, group: Group | None) -> NDArray[np.bool_]:
    """Return which poses (..., nq) keep all limits of the joints that may move."""
    return keeps_limits(linkage, q if group is None else group.held(q, linkage.neutral()))


def random_poses(linkage: Linkage, seed: int, count: int, group: Group | None, start: FloatArray) -> FloatArray:
    """Return random poses (count, nq); values outside a group are those of the start (nq,)."""
    poses = random_pose(linkage, seed, count)
    return poses if group is None else group.held(poses, start)
