"""Check straight joint-space paths between poses for collisions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..kernels.collision.piece_layout import NEAR
from ..kernels.collision.sweep import room_size, sweep_many
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, advance, as_poses, between, joint_shape
from ..transforms import FloatArray, as_number
from .obstacles import World
from .packing import LinkPairs, Scene
from .scenes import scene_of
from .ways import ways_of

LOOKS = 100_000  # largest number of checked poses on one path


@dataclass(frozen=True, eq=False)
class Sweep:
    """Result of `sweep`: collisions on straight paths between poses. It is true if all paths are free.

    Attributes:
        scene: The linkage, the world and the pairs that were checked.
        start: First pose of each path, shape (..., nq).
        change: Velocity that leads to the last pose in unit time, shape (..., nv).
        clear: Fraction of each path that is known to be free, from 0 to 1, shape (...).
        share: Fraction of each path at which the first pair comes nearer than the margin, from 0 to 1; infinity where
            none does; NaN where the check was given up after too many steps, which does not count as free.
        records: The first colliding pair of each path, as a record of NEAR, shape (..., NEAR.size).
    """

    scene: Scene = field(repr=False)
    start: FloatArray = field(repr=False)
    change: FloatArray = field(repr=False)
    clear: Any
    share: Any
    records: FloatArray = field(repr=False)

    @property
    def free(self) -> Any:
        """Whether the path is free: a bool for one path, an array (...) for many."""
        found = np.isposinf(self.share)
        return found if np.ndim(self.share) else bool(found)

    def __bool__(self) -> bool:
        return bool(np.all(self.free))

    @cached_property
    def q(self) -> FloatArray:
        """The last pose of each path up to which it is free, shape (..., nq)."""
        return advance(self.scene.linkage, self.start, np.asarray(self.clear)[..., None] * self.change)

    @cached_property
    def pair(self) -> Any:
        """The names of the first colliding pair: a tuple for one path, an array (..., 2) for many; None if free."""
        met, owners = np.isfinite(self.share), np.array([*self.scene.owners, None], object)
        places = np.where(met[..., None], np.nan_to_num(self.records[..., [NEAR.owner_a, NEAR.owner_b]]), -1.0)
        found = owners[places.astype(np.int64)]
        return found if found.ndim > 1 else tuple(found) if found[0] is not None else None

    @property
    def points(self) -> FloatArray:
        """The nearest points of that pair at the collision [m], shape (..., 2, 3); NaN on a free path."""
        near, met = NEAR.view(self.records), np.isfinite(self.share)[..., None, None]
        return np.where(met, np.stack([near.a, near.b], axis=-2), np.nan)

    @property
    def normal(self) -> FloatArray:
        """The unit vector from the first to the second there, shape (..., 3); NaN on a free path."""
        return np.where(np.isfinite(self.share)[..., None], NEAR.view(self.records).normal, np.nan)


def sweep(
    linkage: Linkage,
    start: PoseLike,
    end: PoseLike,
    world: World | None = None,
    *,
    self: bool = True,
    margin: float = 0.0,
    tolerance: float = 1e-4,
    links: tuple[str, ...] | None = None,
    pairs: LinkPairs | None = None,
) -> Sweep:
    """Return whether the straight path between two poses is free of collisions, and where the first one is if not.

    Every joint moves at constant speed from one pose to the other; ball joints and joints without limits take the
    shorter path. No obstacle is skipped, however thin: the highest speed of any point bounds the distance to the next
    check.

    Args:
        linkage: The linkage.
        start: First pose of the path, shape (..., nq).
        end: Last pose of the path.
        world: Obstacles, if any.
        self: Whether to check the linkage against itself.
        margin: Least distance to keep [m].
        tolerance: How much nearer than the margin a pair may come unnoticed between checks [m]. A smaller tolerance
            takes longer where two shapes slide along each other at the margin.
        links: Only check pairs with one of these links; by default all.
        pairs: The pairs of links to check, instead of those that `collision.pairs` lists.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> wall = lw.Obstacle(lw.Box((0.001, 2, 2)), (0, 2, 0), name="wall")
        >>> met = lw.collision.sweep(arm, [0, 0], [3.1, 0], lw.World([wall]), self=False)
        >>> met.free, met.pair[1]
        (False, 'wall')
    """
    nearest, fine = as_number(margin, "margin"), as_number(tolerance, "tolerance")
    if not fine > 0.0:
        raise OptionError(f"tolerance is a distance above zero [m], got {tolerance!r}.")
    a, b = as_poses(linkage, start), as_poses(linkage, end)
    batch = joint_shape(a.shape[:-1], b.shape[:-1])
    change = between(linkage, *np.broadcast_arrays(a, b))
    poses = np.ascontiguousarray(np.broadcast_to(a, (*batch, linkage.nq)))
    scene = scene_of(linkage, world, self=self, links=links, pairs=pairs)
    shares, records = swept(scene, poses, change, nearest, fine)
    clear, share = (x if batch else float(x) for x in (shares[..., 0], shares[..., 1]))
    return Sweep(scene, poses, change, clear, share, records)


def swept(
    scene: Scene, poses: FloatArray, changes: FloatArray, margin: float, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Return the free fraction of each path and that of its first collision, (..., 2), and the colliding pairs."""
    linkage, batch = scene.linkage, poses.shape[:-1]
    count = math.prod(batch)
    shares, records = np.empty((count, 2)), np.empty((count, NEAR.size))
    ways: NDArray[np.int64] = linkage.cache.get("ways", None, lambda: ways_of(linkage))
    rows = np.ascontiguousarray(poses).reshape(count, linkage.nq)
    steps = np.ascontiguousarray(changes).reshape(count, linkage.nv)
    room = np.empty(room_size(scene.codes))
    sweep_many(scene.codes, scene.numbers, ways, rows, steps, margin, tolerance, LOOKS, room, shares, records)
    return shares.reshape(*batch, 2), records.reshape(*batch, NEAR.size)
