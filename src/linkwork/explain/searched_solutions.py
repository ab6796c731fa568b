"""All solutions of a goal by search from many starts: refined, separated into branches and counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..goals import Reach
from ..linkage.poses import advance, same_pose
from ..solvers import Prepared, Problem
from ..solvers.groups import within_limits
from ..transforms import FloatArray

EXACT = 1e-9  # error of poses after Newton's method, small enough to separate branches
NEWTON, LONGEST_STEP = 8, 0.3
FIRST, MOST, SEEN = 512, 16384, 8
CONTINUUM = 1e-6  # share of the largest singular value: above it, the smallest one shows full rank


@dataclass(frozen=True, eq=False)
class Searched:
    """The result of a search: poses (k, nq), the most often found first; see `Branches`."""

    q: FloatArray
    hits: tuple[int, ...]
    starts: int
    dimension: int


def searched(prepared: Prepared, goal: Reach, apart: float, most: int, starts: int | None) -> Searched:
    """Return the distinct poses that reach a goal, from a number of starts or from as many as necessary.

    Starts are added until the rarest branch has been found several times, so that a missed branch is unlikely.
    """
    found = _Found(prepared, apart, most)
    made, count = 0, starts or FIRST
    while count:
        poses = sharpened(prepared, goal, prepared.candidates(goal.target, count, first=made))
        made += count
        if len(poses) and found.dimension is None:
            found.dimension = _dimension(prepared, goal, poses)
        found.add(poses)
        enough = starts is not None or made >= MOST or (found.hits and min(found.hits) >= SEEN) or found.full
        count = 0 if enough else made  # doubles the number of starts
    order = np.argsort([-hits for hits in found.hits], kind="stable")
    q = np.array([found.poses[k] for k in order]).reshape(-1, prepared.linkage.nq)
    dimension = -1 if found.dimension is None else found.dimension
    return Searched(q, tuple(found.hits[k] for k in order), made, dimension)


def _jacobian(prepared: Prepared, goal: Reach, poses: FloatArray) -> FloatArray:
    """Return the goal's Jacobian, with zero columns for held joints."""
    return Problem(prepared.linkage, goal, group=prepared.group).all_rows_jacobian(poses)


def sharpened(prepared: Prepared, goal: Reach, poses: FloatArray) -> FloatArray:
    """Return poses refined by Newton's method, without those for which it fails.

    Without damping, it also converges to singular poses, which the search approaches only slowly.
    """
    linkage, keeps_limits = prepared.linkage, prepared.settings.keeps_limits
    for _ in range(NEWTON if len(poses) else 0):
        step = np.linalg.pinv(_jacobian(prepared, goal, poses), rcond=1e-10) @ goal.error(linkage, poses)[..., None]
        size = np.abs(step).max(axis=(-2, -1), keepdims=True)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP))
        poses = advance(linkage, poses, step[..., 0])
        if keeps_limits:
            poses = within_limits(linkage, poses, prepared.group)
    left = goal.error(linkage, poses) if len(poses) else np.zeros((0, 1))
    exact: FloatArray = poses[np.abs(left).max(axis=-1, initial=0.0) < EXACT * (1.0 + linkage.length)]
    return exact


class _Found:
    """Poses apart from each other, and how often each was found."""

    def __init__(self, prepared: Prepared, apart: float, most: int) -> None:
        self.prepared, self.apart, self.most = prepared, apart, most
        self.poses: list[FloatArray] = []
        self.hits: list[int] = []
        self.dimension: int | None = None

    @property
    def full(self) -> bool:
        """Whether a continuum has given the requested number of samples."""
        return bool(self.dimension) and len(self.poses) >= self.most

    def add(self, poses: FloatArray) -> None:
        values = self.prepared.chain.values_of(poses)
        left = self.prepared.pose(values, self.prepared.rest) if len(poses) else poses
        k = 0
        while len(left) and not (self.full and k == len(self.poses)):
            if k == len(self.poses):
                self.poses.append(left[0])
                self.hits.append(0)
            same = same_pose(self.prepared.linkage, self.poses[k], left, self.apart)
            self.hits[k] += int(same.sum())
            left, k = left[~same], k + 1


def _dimension(prepared: Prepared, goal: Reach, poses: FloatArray) -> int:
    """Return the dimension of the solutions around poses: velocities minus the rank of the goal's Jacobian."""
    jacobian = _jacobian(prepared, goal, poses[:16])
    moving = np.abs(jacobian).max(axis=(0, 1)) > 0.0
    values = np.linalg.svd(jacobian[..., moving], compute_uv=False)
    ranks = (values > CONTINUUM * values[:, :1]).sum(axis=-1)
    return int(moving.sum() - ranks.max())
