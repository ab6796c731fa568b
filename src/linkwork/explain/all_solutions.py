"""All solutions of a goal, and how many there are: found from many starts and told apart.

A six-joint arm has up to sixteen isolated poses for one goal; a redundant one has a continuum, which is sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError
from ..goals import Goal, Reach
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import APART, PoseLike, advance, distinct, same_pose, start_pose, wrapped
from ..linkage.showing import Shown
from ..solvers import Group, Prepared, Problem, Settings, configure, group_of, run
from ..solvers.chain_solver import prepared_for
from ..solvers.groups import Joints, within_limits
from ..solvers.options import TOLERANCE, Limits, LoopOptions, positive, usual_tolerance, whole
from ..transforms import FloatArray

FINE = 1e-8  # tolerance of damped steps, where they search
NEAR, EXACT = 1e-5, 1e-9  # tolerance of the search, and of the poses after Newton's method: branches must not blur
NEWTON, LONGEST_STEP = 8, 0.3
FIRST, MOST, SEEN = 512, 16384, 8
CONTINUUM = 1e-6  # smallest singular value, against the largest, of a Jacobian of full rank


@dataclass(frozen=True, eq=False)
class Branches(Shown):
    """The poses that reach a goal.

    Attributes:
        linkage: The linkage.
        goal: The goal.
        q: One pose for each branch, shape (k, nq), the most often found first; samples where there is a continuum.
        hits: How many starts led to each.
        starts: How many starts were made.
        dimension: Of the continuum around the poses; 0 where they are isolated, -1 where there are none.
        angles: Places in the pose of the values that are angles of revolute joints.
    """

    linkage: Linkage
    goal: Reach
    q: FloatArray
    hits: tuple[int, ...]
    starts: int
    dimension: int
    angles: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.q)

    def nearest(self, pose: PoseLike) -> FloatArray:
        """Return the solution nearest to a pose, its angles turned by whole turns towards it where limits allow."""
        if not len(self.q):
            raise GoalError("there is no solution to be near to.")
        start, turned, angles = start_pose(self.linkage, pose), self.q.copy(), self.angles
        near = start[angles] + wrapped(self.q[:, angles] - start[angles])
        inside = (near >= self.linkage.lower[angles]) & (near <= self.linkage.upper[angles])
        turned[:, angles] = np.where(inside, near, self.q[:, angles])
        away = self.linkage.difference(start, turned)
        closest: FloatArray = turned[int(np.argmin((away * away).sum(axis=-1)))]
        return closest

    def __repr__(self) -> str:
        kind = "isolated" if self.dimension == 0 else f"samples of a {self.dimension}-dimensional set"
        return f"<Branches of {self.linkage.name!r}: {f'{len(self)} {kind}' if len(self) else 'none'}>"


def solve_all(
    linkage: Linkage,
    goal: Goal,
    *,
    apart: float = APART,
    starts: int | None = None,
    most: int = 64,
    limits: Limits = "clamp",
    seed: int = 0,
    joints: Joints | None = None,
    start: PoseLike | None = None,
) -> Branches:
    """Return every distinct pose that reaches a goal.

    Starts are made until the rarest branch has been found several times, so that one not found at all is unlikely; it
    cannot be excluded. Angles that differ by whole turns are one solution.

    Args:
        linkage: The linkage.
        goal: A `Reach`.
        apart: By how much, in some value, two poses must differ to be two [rad, m].
        starts: How many starts to make; by default as many as it takes.
        most: Poses at most, where they form a continuum.
        limits: ``"ignore"`` lets joints go beyond their limits; see `Settings`.
        seed: Where starts come from.
        joints: Names of the joints that may move, or of a group of them.
        start: Pose that the other joints have; the neutral one by default.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.solve_all(arm, lw.Reach("tip", position=(1, 2)))
        <Branches of 'planar': 2 isolated>
    """
    check_linkage(linkage)
    goal = _exact(goal)
    positive("apart", apart, finite=True)
    starts, most = None if starts is None else whole("starts", starts, least=1), whole("most", most, least=1)
    rest = start_pose(linkage, start)
    if rest.ndim != 1:
        raise OptionError(f"start is one pose of shape ({linkage.nq},), got shape {rest.shape}.")
    prepared = _prepared(linkage, goal, limits, seed, group_of(linkage, joints), rest)
    prepared.chain.check()
    found = _Found(prepared, apart, most)
    made, count = 0, starts or FIRST
    while count:
        poses = _sharpened(prepared, goal, prepared.candidates(goal.target, count, first=made))
        made += count
        if len(poses) and found.dimension is None:
            found.dimension = _dimension(prepared, goal, poses)
        found.add(poses)
        enough = starts is not None or made >= MOST or (found.hits and min(found.hits) >= SEEN) or found.full
        count = 0 if enough else made  # twice as many in all
    order = np.argsort([-hits for hits in found.hits], kind="stable")
    q = np.array([found.poses[k] for k in order]).reshape(-1, linkage.nq)
    dimension = -1 if found.dimension is None else found.dimension
    inside, outside = prepared.chain.plain
    hits, angles = tuple(found.hits[k] for k in order), outside[prepared.chain.turning[inside]]
    return Branches(linkage, goal, q, hits, made, dimension, angles)


def _exact(goal: Goal) -> Reach:
    """Return a goal if it is one whose solutions can be told apart, or say why not."""
    if not isinstance(goal, Reach):
        raise GoalError(f"all solutions are found of one Reach goal, got {goal!r}.")
    if goal.ranges is not None:
        raise GoalError("all solutions are found of a goal without ranges: within them, solutions form a continuum.")
    return goal


@dataclass(frozen=True, eq=False)
class Count:
    """How many solutions goals have.

    Attributes:
        number: 0, a number of isolated poses, or infinity where they form a continuum.
        dimension: Dimension of that continuum; zero for isolated poses, -1 where there is none.
        poses: Those found, apart from each other, shape (k, nq).
    """

    number: float
    dimension: int
    poses: FloatArray


def count_solutions(
    linkage: Linkage, goals: Goal | Sequence[Goal], *, starts: int = 256, seed: int = 0, **options: Unpack[LoopOptions]
) -> Count:
    """Return how many poses reach the goals: none found, some, or a continuum and its dimension.

    They are found from random starts, so a number is a lower bound. `solve_all` counts where the compiled search serves
    the goal; other goals, and goals with options of the loop, are solved for by damped steps.

    Example:
        >>> import linkwork as lw
        >>> lw.count_solutions(lw.models.planar([2, 1]), lw.Reach("tip", position=(1, 2))).number
        2
    """
    check_linkage(linkage)
    problem, limits = Problem(linkage, goals), options.get("limits", "project")
    goal = problem.goals[0] if len(problem.goals) == 1 and options.keys() <= {"limits"} else None
    plain = goal if isinstance(goal, Reach) and goal.ranges is None else None
    if plain is not None and _prepared(linkage, plain, limits, seed).chain.values:
        found = solve_all(linkage, plain, starts=starts, limits=limits, seed=seed).q
    else:
        near = FINE * usual_tolerance(linkage) / TOLERANCE
        exact: LoopOptions = {"tolerance": near, "rotation_tolerance": FINE, "max_iterations": 200, "limits": limits}
        method, settings = configure("damped", {**exact, **options}, linkage)
        tried = run(method, problem, linkage.random_pose(seed, starts), settings)
        found = tried.q[tried.success]
        found = found[distinct(linkage, found)]
    if not len(found):
        return Count(0, -1, found)
    dimension = min(problem.freedom(q) for q in found[:8])
    return Count(float("inf") if dimension else len(found), dimension, found)


def _prepared(
    linkage: Linkage,
    goal: Reach,
    limits: Limits,
    seed: int,
    group: Group | None = None,
    rest: FloatArray | None = None,
) -> Prepared:
    settings = Settings(NEAR / TOLERANCE * usual_tolerance(linkage), NEAR, limits=limits)
    return prepared_for(linkage, goal, settings, 1, whole("seed", seed), group, rest)


def _jacobian(prepared: Prepared, goal: Reach, poses: FloatArray) -> FloatArray:
    """Return the goal's Jacobian, the columns of joints that stay zero."""
    return Problem(prepared.linkage, goal, group=prepared.group).all_rows_jacobian(poses)


def _sharpened(prepared: Prepared, goal: Reach, poses: FloatArray) -> FloatArray:
    """Return poses brought onto their solutions by Newton's method, those that get there.

    Undamped, it also arrives at singular poses, which the search only creeps up to.
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
        """Whether a continuum has given as many samples as are wanted."""
        return bool(self.dimension) and len(self.poses) >= self.most

    def add(self, poses: FloatArray) -> None:
        left = self.prepared.pose(poses, self.prepared.rest) if len(poses) else poses
        k = 0
        while len(left) and not (self.full and k == len(self.poses)):
            if k == len(self.poses):
                self.poses.append(left[0])
                self.hits.append(0)
            same = same_pose(self.prepared.linkage, self.poses[k], left, self.apart)
            self.hits[k] += int(same.sum())
            left, k = left[~same], k + 1


def _dimension(prepared: Prepared, goal: Reach, poses: FloatArray) -> int:
    """Return the dimension of the solutions around poses: the velocities that leave the goal as it is."""
    jacobian = _jacobian(prepared, goal, poses[:16])
    moving = np.abs(jacobian).max(axis=(0, 1)) > 0.0
    values = np.linalg.svd(jacobian[..., moving], compute_uv=False)
    ranks = (values > CONTINUUM * values[:, :1]).sum(axis=-1)
    return int(moving.sum() - ranks.max())
