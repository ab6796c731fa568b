"""Draw random goals: uniform over the workspace of a frame, on a surface, or uniform over the joints' ranges.

Poses drawn from the joints' ranges crowd where the arm is folded, so a dataset of them covers the rest of the workspace
poorly. Goals drawn from the workspace itself are spread evenly; which of them can be reached is found by solving them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..collision.clearance import clearance_in
from ..collision.obstacles import Obstacle
from ..collision.scenes import scene_of
from ..collision.surface_points import points_on
from ..errors import OptionError
from ..goals import Avoid, as_avoid
from ..goals.avoid import AvoidLike
from ..linkage.geometry import Shape, Visual
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.program import reach
from ..solvers.batch import solve_batch
from ..solvers.options import one_of, whole
from ..transforms import FloatArray, as_array, as_axis, as_number, inverse, plane_basis, quaternion_matrix

Uniform = Literal["workspace", "joints", "box"]


class SearchOptions(TypedDict, total=False):
    """Options of the solves that test reachability, as in `prepare`."""

    tolerance: float | None
    rotation_tolerance: float
    limits: str
    restarts: int
    joints: Any


BLOCK = 65_536  # number of goals drawn and solved together
RAREST = 1e-4  # share of reachable goals below which drawing is given up


@dataclass(frozen=True, eq=False)
class SampledGoals:
    """Goals drawn at random, with their reachability.

    Attributes:
        targets: Target poses of the frame, shape (n, 4, 4); positions (n, 3) if the orientation does not matter.
        q: A pose that reaches each target, shape (n, nq); NaN where none was found.
        reachable: Whether such a pose was found, shape (n,).
        free: Whether a collision-free pose was found, shape (n,); None without `avoid`.
        touching: The colliding pair of a goal that is reachable but not free, such as ``"hand - table"``, shape (n,);
            an empty text otherwise.
        share: The share of all drawn goals that can be reached.
    """

    targets: FloatArray
    q: FloatArray
    reachable: NDArray[np.bool_]
    free: NDArray[np.bool_] | None
    share: float
    touching: NDArray[np.str_] | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def __repr__(self) -> str:
        free = "" if self.free is None else f", {int(self.free.sum())} free"
        return f"<SampledGoals: {len(self)}, {int(self.reachable.sum())} reachable{free}>"


def sample_goals(
    linkage: Linkage,
    frame: str,
    count: int,
    *,
    uniform: Uniform = "workspace",
    on: Shape | Visual | Obstacle | str | None = None,
    standoff: float = 0.0,
    approach: str | ArrayLike = "z",
    orientation: bool = True,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    avoid: AvoidLike = None,
    only_reachable: bool | None = None,
    seed: int = 0,
    **options: Unpack[SearchOptions],
) -> SampledGoals:
    """Draw goals for a frame at random.

    Args:
        linkage: The linkage.
        frame: The frame.
        count: Number of goals.
        uniform: ``"workspace"``: uniform in position and orientation over the reachable workspace; ``"box"``: uniform
            over a box, labelled as reachable or not; ``"joints"``: uniform over the joints' ranges.
        on: A surface to draw from instead, uniformly by area: of a shape, of an obstacle, or of the obstacle of that
            name in `avoid`. The frame points at the surface, with a random rotation about that axis.
        standoff: Distance of the frame from the surface [m].
        approach: The axis of the frame that points at the surface: ``"z"``, ``"-x"``, or three numbers.
        orientation: Whether orientations matter; if not, goals are positions.
        low: Smallest x, y, z of the positions [m]; by default the reach of the chain.
        high: Largest x, y, z of the positions [m].
        avoid: A world of obstacles, or an `Avoid`: ``free`` then shows which goals can be reached without collision,
            and ``touching`` which pair collides for the others.
        only_reachable: Whether to leave out goals that cannot be reached; True by default, except for ``"box"``.
        seed: The same seed gives the same goals.
        **options: As in `prepare`, for the solves that test reachability.

    Raises:
        OptionError: If hardly any drawn goal can be reached, for example with full orientations and too few joints.

    Example:
        >>> import linkwork as lw
        >>> lw.sample_goals(lw.models.planar([2, 1]), "tip", 100, orientation=False)
        <SampledGoals: 100, 100 reachable>
        >>> ball = lw.Obstacle(lw.Sphere(0.1), (0.5, 0.0, 0.4))
        >>> lw.sample_goals(lw.models.panda(), "tip", 50, on=ball, standoff=0.05)
        <SampledGoals: 50, 50 reachable>
    """
    check_linkage(linkage)
    one_of("uniform", uniform, ("workspace", "box", "joints"))
    drawn = _Drawn(linkage, frame, orientation, low, high, seed, dict(options))
    kept, clear_of = uniform != "box" if only_reachable is None else only_reachable, as_avoid(avoid)
    if on is not None:
        if uniform != "workspace" or low is not None or high is not None:
            raise OptionError("goals on a surface are drawn from all of it: leave out uniform, low and high.")
        drawn = _OnSurface(drawn, _obstacle(on, clear_of), standoff, approach)
    goals = drawn.by_joints(whole("count", count)) if uniform == "joints" else drawn.kept(count, kept)
    return goals if clear_of is None else _labelled(drawn, goals, clear_of)


def _obstacle(on: Shape | Visual | Obstacle | str, avoid: Avoid | None) -> Obstacle:
    """Return the surface for goals as an obstacle that is fixed in the world."""
    if isinstance(on, str):
        world = None if avoid is None else avoid.world
        if world is None:
            raise OptionError(f"on={on!r} is the name of an obstacle; give its world as avoid=.")
        on = world[on]
    found = on if isinstance(on, Obstacle) else Obstacle(on)
    if found.link is not None:
        raise OptionError(
            f"goals are drawn on obstacles that are fixed in the world; {found.name!r} is held by link {found.link!r}."
        )
    return found


class _Drawn:
    """Goals of one frame that are drawn and solved."""

    def __init__(
        self, linkage: Linkage, frame: str, orientation: bool, low: Any, high: Any, seed: int, options: dict[str, Any]
    ) -> None:
        self.linkage, self.frame, self.rng = linkage, frame, np.random.default_rng(whole("seed", seed))
        self.moving = linkage.evaluator.moving_rows(frame)
        self.home = linkage.forward(linkage.neutral(), frame=frame)
        self.options = {**options, "orientation": orientation}
        center, _, self.most, _ = reach(linkage, frame)
        self.center, self.flat = center, not self.moving[2]
        self.low, self.high = self._corner(low, center - self.most), self._corner(high, center + self.most)
        if not np.isfinite([self.low, self.high]).all() or not (self.low <= self.high).all():
            raise OptionError(f"goals of {frame!r} are drawn between low and high, got {self.low} and {self.high}.")

    def _corner(self, given: Any, usual: FloatArray) -> FloatArray:
        corner = usual if given is None else as_array(given, "corner of the goals")
        if corner.shape != (3,):
            raise OptionError(f"low and high are x, y, z, got shape {corner.shape}.")
        return np.where(self.moving[:3], corner, self.home[:3, 3])

    def draw(self, count: int) -> FloatArray:
        """Return goals uniform over the box, except those certainly out of reach; orientations vary as joints allow."""
        places = self.rng.uniform(self.low, self.high, (count, 3))
        turns = self._turns(count)
        targets = np.tile(np.eye(4), (count, 1, 1))
        targets[:, :3, :3], targets[:, :3, 3] = turns, places
        return targets

    def _turns(self, count: int) -> FloatArray:
        turning = self.moving[3:]
        if turning.all():
            numbers = self.rng.normal(size=(count, 4))
            return quaternion_matrix(numbers / np.linalg.norm(numbers, axis=1, keepdims=True))
        home = np.broadcast_to(self.home[:3, :3], (count, 3, 3))
        if turning.tolist() == [False, False, True]:
            angle = self.rng.uniform(-np.pi, np.pi, count)
            turns = np.tile(np.eye(3), (count, 1, 1))
            turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
            turns[:, 1, 0] = np.sin(angle)
            turns[:, 0, 1] = -turns[:, 1, 0]
            return turns @ home
        return home

    def solve(self, targets: FloatArray, **more: Any) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return poses for goals, and which of them are solutions."""
        asked = targets if self.options["orientation"] else targets[:, :3, 3]
        given = {"progress": False, "closest": False} | self.options | more
        batch = solve_batch(self.linkage, self.frame, asked, **given)
        return np.where(batch.success[:, None], batch.q, np.nan), batch.success

    def kept(self, count: int, only_reachable: bool) -> SampledGoals:
        """Return goals drawn from the box: all, or those that can be reached."""
        targets: list[FloatArray] = []
        poses: list[FloatArray] = []
        found: list[NDArray[np.bool_]] = []
        left, tried, reached = count, 0, 0
        if only_reachable and count:
            self._check_dimension()
        while left > 0:
            share = max(reached / tried if tried else 0.5, 0.01) if only_reachable else 1.0
            drawn = self.draw(min(BLOCK, max(256, int(1.2 * left / share))) if only_reachable else min(BLOCK, left))
            q, good = self.solve(drawn)
            tried, reached = tried + len(drawn), reached + int(good.sum())
            if only_reachable and tried >= 2.0 / RAREST and reached < RAREST * tried:
                raise OptionError(self._hopeless(tried, reached))
            taken = np.flatnonzero(good)[:left] if only_reachable else np.arange(len(drawn))
            targets.append(drawn[taken])
            poses.append(q[taken])
            found.append(good[taken])
            left -= len(taken)
        return self._goals(targets, poses, found, reached / max(tried, 1))

    def by_joints(self, count: int) -> SampledGoals:
        """Return the goals reached by poses drawn from the joints' ranges."""
        q = self.linkage.random_pose(self.rng, count)
        targets = self.linkage.forward(q, frame=self.frame)
        return self._goals([targets], [q], [np.ones(count, np.bool_)], 1.0)

    def _goals(self, targets: Any, poses: Any, found: Any, share: float) -> SampledGoals:
        stacked = np.concatenate([np.empty((0, 4, 4)), *targets])
        q = np.concatenate([np.empty((0, self.linkage.nq)), *poses])
        good = np.concatenate([np.empty(0, np.bool_), *found])
        return SampledGoals(stacked if self.options["orientation"] else stacked[:, :3, 3], q, good, None, share)

    def _check_dimension(self) -> None:
        """Raise OptionError if hardly any drawn goal can be reached."""
        rows = np.flatnonzero(self.moving[: 6 if self.options["orientation"] else 3])
        q = self.linkage.random_pose(0, 8)
        rank = int(np.linalg.matrix_rank(self.linkage.jacobian(q, self.frame)[:, rows], tol=1e-6).max())
        if rank < len(rows):
            raise OptionError(
                f"goals of {self.frame!r} are drawn in {len(rows)} dimensions, of which its joints have {rank} at a "
                "time: none drawn could be reached. Use orientation=False for positions, or uniform='joints'."
            )

    def _hopeless(self, tried: int, reached: int) -> str:
        return (
            f"of {tried:,} goals drawn for {self.frame!r} {reached} can be reached. "
            "Draw them from a smaller box (low, high), or with uniform='joints'."
        )


class _OnSurface(_Drawn):
    """Goals on a surface: the frame points at it, with a random rotation about that axis."""

    def __init__(self, drawn: _Drawn, obstacle: Obstacle, standoff: float, approach: str | ArrayLike) -> None:
        vars(self).update(vars(drawn))
        self.obstacle, self.standoff = obstacle, as_number(standoff, "standoff")
        self.own = plane_basis(as_axis(approach, "approach"))[:, [2, 0, 1]]  # the approach axis comes first

    def draw(self, count: int) -> FloatArray:
        pose, shape = self.obstacle.pose, self.obstacle.shape
        middle = inverse(pose) @ [*self.center, 1.0]
        points, outward = points_on(shape, count, self.rng, center=middle[:3], reach=self.most + abs(self.standoff))
        normals = outward @ pose[:3, :3].T
        across = np.cross(normals, self.rng.normal(size=(count, 3)))
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        aims = np.stack([-normals, across, np.cross(-normals, across)], axis=2)
        targets = np.tile(np.eye(4), (count, 1, 1))
        targets[:, :3, :3] = aims @ self.own.T
        targets[:, :3, 3] = points @ pose[:3, :3].T + pose[:3, 3] + self.standoff * normals
        return targets

    def _hopeless(self, tried: int, reached: int) -> str:
        return (
            f"of {tried:,} goals drawn for {self.frame!r} on {self.obstacle!r} {reached} can be reached. Use "
            "orientation=False for positions alone, another approach or standoff, or only_reachable=False."
        )


def _labelled(drawn: _Drawn, goals: SampledGoals, wanted: Avoid) -> SampledGoals:
    """Return goals labelled with whether they can be reached without collision."""
    targets = goals.targets
    if not drawn.options["orientation"]:
        targets = np.tile(np.eye(4), (len(goals), 1, 1))
        targets[:, :3, 3] = goals.targets
    q, free = drawn.solve(targets, avoid=wanted)
    poses = np.where(free[:, None], q, goals.q)
    touching = np.full(len(goals), "", object)
    left = np.flatnonzero(goals.reachable & ~free)
    if len(left):
        scene = scene_of(drawn.linkage, wanted.world, self=wanted.self, links=wanted.links)
        near = clearance_in(scene, poses[left])
        free[left] = near.distance >= wanted.margin  # the known pose is collision-free
        pairs = near.pair[~free[left]]
        touching[left[~free[left]]] = [f"{one} - {other}" for one, other in pairs]
    return SampledGoals(goals.targets, poses, goals.reachable | free, free, goals.share, touching.astype(np.str_))
