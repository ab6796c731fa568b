"""Distances of a linkage to itself and to the world, for each pose."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.collision.piece_layout import NEAR
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike, as_poses
from ..transforms import FloatArray, as_number
from .exact import ExactScene
from .near import near_records
from .obstacles import World
from .packing import LinkPairs, Scene
from .scenes import scene_of

ENOUGH = 16  # records per pose in the first search for all near pairs; it is repeated with more if needed


@dataclass(frozen=True, eq=False)
class NearPair:
    """Two links, or a link and an obstacle, that are near each other at one pose.

    Attributes:
        index: Index of the pose in the batch, () for a single pose.
        names: The link, and the other link or the obstacle.
        distance: Signed distance [m]; if negative, the penetration depth.
        points: The nearest point of each in the world, shape (2, 3).
        normal: Unit vector from the first to the second: the distance grows by ``normal . (velocity of the second's
            point - velocity of the first's)``.
    """

    index: tuple[int, ...]
    names: tuple[str, str]
    distance: float
    points: FloatArray = field(repr=False)
    normal: FloatArray = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Clearance:
    """Distances to the nearest collision, for each pose.

    Attributes:
        scene: The linkage, the world and the pairs that were checked.
        poses: The poses, shape (..., nq).
        within: Largest distance of the listed pairs [m]; None means that only the nearest pair was found.
        records: The nearest pair of each pose as a record of NEAR, shape (..., NEAR.size).
        exact: Checker for exact meshes; None if meshes are replaced by their convex hulls.
    """

    scene: Scene
    poses: FloatArray
    within: float | None
    records: FloatArray
    exact: ExactScene | None = None

    @property
    def distance(self) -> Any:
        """The smallest signed distance at each pose [m], shape (...); infinity where nothing is near."""
        found = NEAR.view(self.records).distance
        return found if found.ndim else float(found)

    @property
    def pair(self) -> Any:
        """The names of the nearest pair: a tuple for one pose, an array (..., 2) for many; None if nothing is near."""
        owners = np.array([*self.scene.owners, None], object)
        found = owners[self.records[..., [NEAR.owner_a, NEAR.owner_b]].astype(np.int64)]
        return found if found.ndim > 1 else tuple(found) if found[0] is not None else None

    @property
    def points(self) -> FloatArray:
        """The nearest points of that pair in the world [m], shape (..., 2, 3); NaN where nothing is near."""
        near = NEAR.view(self.records)
        return np.stack([near.a, near.b], axis=-2)

    @property
    def normal(self) -> FloatArray:
        """Unit vectors from the first of the pair to the second, shape (..., 3); NaN where nothing is near."""
        found: FloatArray = NEAR.view(self.records).normal
        return found

    @cached_property
    def gradient(self) -> FloatArray:
        """Derivative of the smallest distance by each velocity, shape (..., nv); NaN where nothing is near.

        It is ``normal . (J_b - J_a)`` with the Jacobians of the two nearest points; an obstacle in the world has none.
        It is discontinuous where another pair becomes the nearest, or a nearest point passes a corner.
        """
        linkage, near = self.scene.linkage, NEAR.view(self.records.reshape(-1, NEAR.size))
        poses = self.poses.reshape(-1, linkage.nq)
        found = np.zeros((len(poses), linkage.nv))
        found[near.owner_a < 0] = np.nan
        for frames, points, sign in ((near.frame_a, near.a, -1.0), (near.frame_b, near.b, 1.0)):
            for frame in np.unique(frames[near.owner_a >= 0]):
                if frame < 0:
                    continue
                rows, name = np.flatnonzero(frames == frame), self.scene.frames[int(frame)]
                jacobian = linkage.jacobian(poses[rows], name)
                arm = points[rows] - linkage.forward(poses[rows], frame=name)[:, :3, 3]
                turning = np.cross(arm, near.normal[rows])  # n . (w x r) = w . (r x n)
                wrench = np.concatenate([near.normal[rows], turning], axis=1)
                found[rows] += sign * np.einsum("ni,nij->nj", wrench, jacobian)
        return found.reshape(*self.poses.shape[:-1], linkage.nv)

    @cached_property
    def all(self) -> tuple[NearPair, ...]:
        """All pairs nearer than `within`, nearest first at each pose; if `within` is None, all checked pairs."""
        limit = math.inf if self.within is None else self.within
        batch, flat = self.poses.shape[:-1], self.poses.reshape(-1, self.poses.shape[-1])
        found: dict[int, list[NearPair]] = {}
        waiting, most = np.arange(len(flat)), min(self.scene.most, ENOUGH)
        while len(waiting):  # repeat with more room for the poses that had too little
            records, counts = _near(self.scene, self.exact, np.ascontiguousarray(flat[waiting]), limit, most)
            for k, rows, count in zip(waiting.tolist(), records, counts.tolist(), strict=True):
                index = tuple(int(i) for i in np.unravel_index(k, batch)) if batch else ()
                found[k] = [self._near_pair(index, row) for row in rows[:count]]
            waiting = waiting[counts == most] if most < self.scene.most else waiting[:0]
            most = min(4 * most, self.scene.most)
        return tuple(pair for k in sorted(found) for pair in found[k])

    def _near_pair(self, index: tuple[int, ...], record: FloatArray) -> NearPair:
        one = NEAR.view(record)
        points = np.stack([one.a, one.b])
        return NearPair(index, self.scene.names(one), float(one.distance), points, one.normal.copy())

    def __repr__(self) -> str:
        if self.poses.ndim == 1:
            return f"<Clearance {_said(self.distance)}{': ' + ' - '.join(self.pair) if self.pair else ''}>"
        least = np.asarray(self.distance)
        touching = int((least < 0.0).sum())
        nearest = f", the least {_said(float(least.min()))}" if least.size else ""
        return f"<Clearance of {least.size:,} poses{nearest}, {touching:,} below zero>"


def _said(distance: float) -> str:
    return "of nothing near" if math.isinf(distance) else f"{1e3 * distance:.3g} mm"


def clearance(
    linkage: Linkage,
    q: PoseLike,
    world: World | None = None,
    *,
    self: bool = True,
    within: float | None = None,
    pairs: LinkPairs | None = None,
    exact: bool = False,
) -> Clearance:
    """Return the smallest distance between the links of a linkage, and between its links and a world.

    Args:
        linkage: The linkage; its collision shapes are used, or its visual shapes if it has none.
        q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
        world: Obstacles, if any.
        self: Whether to check it against itself.
        within: List all pairs nearer than this [m]; by default only the nearest pair is found.
        pairs: The pairs of links to check, instead of those that `collision.pairs` lists.
        exact: Whether to use the exact meshes, with the library coal (extra ``collision``), pose by pose. By default
            each mesh is replaced by its convex hull, whose distance is never larger. If surfaces cross, the depth is
            that of the hulls.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.Builder("arm").revolute("elbow", "rod", axis="y", shape=lw.Sphere(0.1)).build()
        >>> ball = lw.Obstacle(lw.Sphere(0.2), (1.0, 0.0, 0.0), name="ball")
        >>> lw.clearance(arm, [0.0], lw.World([ball]))
        <Clearance 700 mm: rod - ball>
    """
    scene = scene_of(linkage, world, self=self, pairs=pairs)
    return clearance_in(scene, q, within=within, exact=exact)


def clearance_in(scene: Scene, q: PoseLike, *, within: float | None = None, exact: bool = False) -> Clearance:
    """Return the clearance of poses in a scene; see `clearance`."""
    meshes = scene.linkage.cache.get("exact scenes", id(scene), lambda: ExactScene(scene)) if exact else None
    limit = None if within is None else as_number(within, "within")
    poses = as_poses(scene.linkage, q)
    flat = np.ascontiguousarray(poses.reshape(-1, scene.linkage.nq))
    records, counts = _near(scene, meshes, flat, math.inf if limit is None else limit, 1)
    nothing = counts == 0
    empty = NEAR.pack(
        frame_a=-1, frame_b=-1, owner_a=-1, owner_b=-1, distance=math.inf, a=math.nan, b=math.nan, normal=math.nan
    )
    records[nothing] = empty
    return Clearance(scene, poses, limit, records.reshape(*poses.shape[:-1], NEAR.size), meshes)


def _near(
    scene: Scene, exact: ExactScene | None, poses: FloatArray, within: float, most: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    if exact is None:
        return near_records(scene, poses, within, most)
    return exact.near_records(poses, within, most)


def collides(
    linkage: Linkage, q: PoseLike, world: World | None = None, *, self: bool = True, margin: float = 0.0
) -> Any:
    """Return whether two links, or a link and an obstacle, are nearer than a margin: a bool, or an array (...).

    Args:
        linkage: The linkage.
        q: Poses of shape (..., nq), the name of a stored pose, or values by joint.
        world: Obstacles, if any.
        self: Whether to check it against itself.
        margin: Pairs nearer than this collide [m].
    """
    found = clearance(linkage, q, world, self=self, within=as_number(margin, "margin")).distance
    touched = np.asarray(found) < margin
    return touched if touched.ndim else bool(touched)
