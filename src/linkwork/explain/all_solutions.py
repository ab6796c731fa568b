"""All solutions of a goal, and how many there are.

A six-joint arm has up to sixteen isolated poses for one goal. If one degree of freedom remains, as with seven joints,
the solutions form curves; if more remain, they are sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError, OptionError, listed
from ..goals import Avoid, Goal, Reach, as_avoid
from ..goals.avoid import AvoidLike
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import APART, PoseLike, distinct, start_pose, wrapped
from ..linkage.showing import Shown
from ..linkage.whole_turns import turned_copies
from ..solvers import Group, Prepared, Problem, Settings, configure, group_of, run
from ..solvers.chain_solver import prepared_for
from ..solvers.closed_form import NoForm
from ..solvers.closed_form.curves import Curve
from ..solvers.closed_form.self_motion import SelfMotion, form_with_one_held, searched_motion, self_motion
from ..solvers.groups import Joints
from ..solvers.options import TOLERANCE, Limits, LoopOptions, positive, usual_tolerance, whole
from ..solvers.platform_form import form_of
from ..solvers.platform_ways import serves, ways_of
from ..transforms import FloatArray
from .free_solutions import Clear
from .searched_solutions import searched

FINE = 1e-8  # tolerance of damped steps in a search
NEAR = 1e-5  # tolerance of the search, before its poses are refined
STARTS = 256  # default number of starts for a count that no closed form proves
SAMPLES = 64  # default number of samples of a continuum


@dataclass(frozen=True, eq=False)
class Branches(Shown):
    """The poses that reach a goal.

    Attributes:
        linkage: The linkage.
        goal: The goal.
        q: One pose for each branch, shape (k, nq). From a closed form, nearest to the start first; from a search, most
            often found first; samples if the solutions form a continuum.
        hits: Number of starts that led to each pose; zeros from a closed form.
        starts: Number of starts; zero from a closed form.
        dimension: Dimension of the continuum around the poses; 0 if they are isolated, -1 if there is none.
        angles: Indices in the pose of the values that are angles of revolute joints.
        complete: Whether it is proven that there are no other solutions, or no solution at all if none is listed. A
            search proves nothing.
        family: The family of arms whose closed form gave the poses; empty if they were searched for.
        evidence: If it is proven that there is no solution: which condition fails, and by how much.
        doubles: Which poses are double solutions, or nearly so, shape (k,): the goal is singular there.
        curves: If one degree of freedom remains, the curves that the solutions form, longest first; see `curve`.
        proof: What is proven about the curves and how, or why nothing is.
        dropped: With `avoid`, number of poses left out because they collide; for curves, number of those that collide
            along their whole length.
    """

    linkage: Linkage
    goal: Reach
    q: FloatArray
    hits: tuple[int, ...]
    starts: int
    dimension: int
    angles: NDArray[np.int64]
    complete: bool
    family: str
    evidence: str | None
    doubles: NDArray[np.bool_]
    curves: tuple[Curve, ...] = ()
    proof: str = ""
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.q)

    def curve(self, k: int) -> Curve:
        """Return one of the curves that the solutions form. Call it with s from 0 to 1 to get a pose.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.planar([1.0, 1.0, 1.0])
            >>> ways = lw.solve_all(arm, lw.Reach("tip", position=(1.0, 0.5)))
            >>> ways.dimension, len(ways.curves), ways.curve(0).ends
            (1, 1, ('closed', 'closed'))
            >>> arm.forward(ways.curve(0)(0.3), frame="tip")[:2, 3].round(9).tolist()
            [1.0, 0.5]
        """
        if not -len(self.curves) <= k < len(self.curves):
            raise OptionError(
                f"there are {len(self.curves)} curves of solutions, got curve({k!r}); solutions form curves where one "
                f"dimension is left, here it is {self.dimension}."
            )
        return self.curves[k]

    def extents(self, coordinate: str) -> list[tuple[float, float]]:
        """Return the intervals of one coordinate, such as ``"joint7"``, that solutions on curves cover, in order."""
        names = {name: k for curve in self.curves[:1] for k, name in enumerate(curve.names)}
        if coordinate not in names:
            raise OptionError(
                f"curves of solutions move {listed(list(names)) or 'nothing'}; there is no {coordinate!r}."
            )
        found: list[tuple[float, float]] = []
        for low, high in sorted(curve.extent(names[coordinate]) for curve in self.curves):
            if found and low <= found[-1][1]:
                found[-1] = found[-1][0], max(high, found[-1][1])
            else:
                found.append((low, high))
        return found

    def nearest(self, pose: PoseLike) -> FloatArray:
        """Return the solution nearest to a pose, with whole turns added to its angles where limits allow."""
        if not len(self.q):
            raise GoalError("there is no solution, so none is nearest.")
        start, turned, angles = start_pose(self.linkage, pose), self.q.copy(), self.angles
        near = start[angles] + wrapped(self.q[:, angles] - start[angles])
        inside = (near >= self.linkage.lower[angles]) & (near <= self.linkage.upper[angles])
        turned[:, angles] = np.where(inside, near, self.q[:, angles])
        away = self.linkage.difference(start, turned)
        closest: FloatArray = turned[int(np.argmin((away * away).sum(axis=-1)))]
        return closest

    def windings(self, *, start: PoseLike | None = None, most: int | None = None, limits: Limits = "clamp") -> Branches:
        """Return the solutions with every copy by whole turns that limits allow, nearest to a start first.

        For a joint without limits, which has infinitely many copies, the nearest one is taken.

        Args:
            start: The pose from which distances are measured; the neutral pose by default.
            most: Largest number of poses; all by default.
            limits: ``"ignore"`` treats all joints as joints without limits.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.ur5()
            >>> ways = lw.solve_all(arm, lw.Reach("tip", pose=arm.forward("reach", frame="tip")))
            >>> len(ways), len(ways.windings())
            (4, 128)
        """
        linkage, turning = self.linkage, np.zeros(self.linkage.nq, np.bool_)
        turning[self.angles] = True
        beyond = np.inf if limits == "ignore" else 0.0
        lower, upper = linkage.lower - beyond, linkage.upper + beyond
        q, which = turned_copies(self.q, lower, upper, turning, start_pose(linkage, start), most)
        hits = tuple(self.hits[k] for k in which.tolist())
        return replace(self, q=q, hits=hits, doubles=self.doubles[which])

    def __repr__(self) -> str:
        kind = "isolated" if self.dimension == 0 else f"samples of a {self.dimension}-dimensional set"
        kind = f"samples of {len(self.curves)} curve{'s' * (len(self.curves) != 1)}" if self.curves else kind
        proven = ", proven" * self.complete
        return f"<Branches of {self.linkage.name!r}: {f'{len(self)} {kind}' if len(self) else 'none'}{proven}>"


def solve_all(
    linkage: Linkage,
    goal: Goal,
    *,
    apart: float | None = None,
    starts: int | None = None,
    most: int | None = None,
    limits: Limits = "clamp",
    seed: int = 0,
    joints: Joints | None = None,
    start: PoseLike | None = None,
    windings: bool = False,
    avoid: AvoidLike = None,
) -> Branches:
    """Return every distinct pose that reaches a goal.

    If the arm has a closed form for the goal (see `closed_form`), these are proven to be all, and `Branches.complete`
    is true. Otherwise random starts are tried until the rarest branch has been found several times. It is then
    unlikely, but not impossible, that a branch was missed. Angles that differ by whole turns are one solution, unless
    `windings` is true.

    Args:
        linkage: The linkage.
        goal: A `Reach`.
        apart: Least difference of two distinct poses in some value [rad, m]; 0.01 by default in a search. A closed form
            does not need it.
        starts: Number of random starts, instead of a closed form; by default as many as necessary.
        most: Largest number of poses, if they form a continuum (64 by default) or with `windings` (all by default).
        limits: ``"ignore"`` lets joints go beyond their limits; see `Settings`.
        seed: Seed of the random starts.
        joints: Names of the joints that may move, or of a group of them.
        start: Pose of the other joints, from which distances are measured; the neutral pose by default.
        windings: Also return every copy by whole turns within limits, nearest to the start first; see
            `Branches.windings`.
        avoid: What to keep clear of, an `Avoid` or a `World`: poses that collide are left out, and curves are cut into
            their free parts.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> lw.solve_all(arm, lw.Reach("tip", position=(1, 2)))
        <Branches of 'planar': 2 isolated, proven>
    """
    check_linkage(linkage)
    clear_of = as_avoid(avoid)
    aim, rest = _exact(goal), start_pose(linkage, start)
    if apart is not None:
        positive("apart", apart, finite=True)
    starts = None if starts is None else whole("starts", starts, least=1)
    most = None if most is None else whole("most", most, least=1)
    if rest.ndim != 1:
        raise OptionError(f"start is one pose of shape ({linkage.nq},), got shape {rest.shape}.")
    if linkage.loops and starts is None and joints is None:
        found = _on_legs(linkage, aim, rest, apart or APART, limits)
    else:
        prepared = _prepared(linkage, aim, limits, seed, group_of(linkage, joints), rest)
        found = _on_chain(prepared, aim, rest, apart, most or SAMPLES, starts)
    found = found if clear_of is None else only_free(found, clear_of, most or SAMPLES)
    return found.windings(start=rest, most=most, limits=limits) if windings else found


def only_free(found: Branches, avoid: Avoid, most: int = SAMPLES) -> Branches:
    """Return the collision-free part of solutions; see `solve_all`. `complete` is not changed."""
    clear = Clear(found.linkage, avoid)
    if not found.curves:
        free = clear.free(found.q)
        hits = tuple(hit for hit, kept in zip(found.hits, free.tolist(), strict=True) if kept)
        none = clear.evidence(found.q) if len(free) and not free.any() else found.evidence
        left: dict[str, Any] = {
            "dimension": found.dimension if free.any() else -1,
            "evidence": none,
            "dropped": int((~free).sum()),
        }
        return replace(found, q=found.q[free], hits=hits, doubles=found.doubles[free], **left)
    curves, share = clear.parts(found.curves)
    q = along(curves, most, found.linkage.nq)
    evidence = None if curves else clear.evidence(found.q)
    gone = sum(not clear.free(curve.sample(most)).any() for curve in found.curves)
    proof = f"{found.proof}; {100.0 * share:.3g} % of their length is free of collisions"
    kept: dict[str, Any] = {"dimension": 1 if curves else -1, "evidence": evidence, "dropped": gone, "proof": proof}
    none_double = np.zeros(len(q), np.bool_)
    hits = ((1 if found.starts else 0),) * len(q)
    return replace(found, q=q, hits=hits, doubles=none_double, curves=tuple(curves), **kept)


def _on_chain(
    prepared: Prepared, goal: Reach, rest: FloatArray, apart: float | None, most: int, starts: int | None
) -> Branches:
    """Return all poses of a chain: by closed forms, else by a search that continues along curves."""
    prepared.chain.check()
    found = None if starts else _proven(prepared, goal, rest, apart, most)
    if found is None:
        found = search_all(prepared, goal, apart or APART, most, starts)
        if found.dimension == 1 and not starts:
            found = as_curves(prepared, goal, most, searched_motion(prepared, goal.target), found)
    return found


def _on_legs(linkage: Linkage, goal: Reach, start: FloatArray, apart: float, limits: Limits) -> Branches:
    """Return all poses of a parallel robot for a goal of its platform: combinations of the solutions of its legs."""
    form = form_of(linkage, goal.frame)
    if isinstance(form, str) or not serves(form, goal):
        why = (
            form if isinstance(form, str) else f"the goal asks for {'less' if form.oriented else 'more'} than its path"
        )
        raise GoalError(
            f"of linkages with loops, solve_all supports platforms on legs with closed forms; {goal.frame!r} of "
            f"{linkage.name!r} is not one: {why}. lw.assemble finds the assembly modes of a mechanism."
        )
    found = ways_of(form, goal, start, apart, limited=limits != "ignore")
    angles = np.flatnonzero(linkage.table.periodic)
    dimension = 0 if len(found.q) else -1
    rest = (angles, True, "platform on legs", found.evidence, found.doubles)
    return Branches(linkage, goal, found.q, (0,) * len(found.q), 0, dimension, *rest)


def _proven(prepared: Prepared, goal: Reach, start: FloatArray, apart: float | None, most: int) -> Branches | None:
    """Return the solutions of closed forms, isolated or curves; None if no closed form supports the goal."""
    found = all_by_form(prepared, goal, start, apart)
    if found is not None and found.dimension == 1 and not prepared.whole_pose:
        return None  # a joint rotates about the free axis, so solutions form curves, which a search finds
    return curves_of(prepared, goal, most) if found is None else found


def all_by_form(prepared: Prepared, goal: Reach, start: FloatArray, apart: float | None) -> Branches | None:
    """Return the solutions of a closed form, nearest to a start first; None if no closed form supports the goal.

    They are proven to be complete, unless the goal is singular and a pose represents a continuum.
    """
    form = prepared.form
    if isinstance(form, NoForm):
        return None
    found, linkage = prepared.all(goal.target, start=start), prepared.linkage
    poses, continua = found.q, found.answers.continua
    kept = np.arange(len(poses)) if apart is None else distinct(linkage, poses, apart)
    dimension = -1 if not len(kept) else int(continua[kept].all())
    proven = found.answers.complete and not continua.any()
    told = (_angles(prepared), proven, form.family, found.evidence if proven else None, found.doubles[kept])
    return Branches(linkage, goal, poses[kept], (0,) * len(kept), 0, dimension, *told)


def search_all(prepared: Prepared, goal: Reach, apart: float, most: int, starts: int | None = None) -> Branches:
    """Return the solutions found from many starts; nothing is proven. The solver must have `fine` tolerances."""
    found, angles = searched(prepared, goal, apart, most, starts), _angles(prepared)
    none = np.zeros(len(found.q), np.bool_)
    rest = (angles, False, "", None, none)
    return Branches(prepared.linkage, goal, found.q, found.hits, found.starts, found.dimension, *rest)


def curves_of(prepared: Prepared, goal: Reach, most: int) -> Branches | None:
    """Return the curves of solutions if a closed form with one joint held finds or excludes them; else None."""
    form = form_with_one_held(prepared)
    if isinstance(form, str):
        return None
    motion = self_motion(prepared, goal.target, form)
    return as_curves(prepared, goal, most, motion) if motion.curves or motion.complete else None


def as_curves(
    prepared: Prepared, goal: Reach, most: int, motion: SelfMotion, found: Branches | None = None
) -> Branches:
    """Return curves as `Branches`, with samples as poses, more of them on longer curves."""
    q = along(motion.curves, most, prepared.linkage.nq)
    if found is not None and not len(q):
        return found
    starts, hits = (0, (0,) * len(q)) if found is None else (found.starts, (1,) * len(q))
    kept = (_angles(prepared), motion.complete, motion.family, motion.evidence, np.zeros(len(q), np.bool_))
    dimension = 1 if len(q) else -1
    return Branches(prepared.linkage, goal, q, hits, starts, dimension, *kept, motion.curves, motion.remark)


def along(curves: Sequence[Curve], most: int, nq: int) -> FloatArray:
    """Return at most `most` poses (k, nq) on curves, more of them on longer curves."""
    ends = np.cumsum([curve.length for curve in curves[:most]])
    count = len(ends)
    shares = np.rint((most - count) * ends / ends[-1]).astype(int) + np.arange(1, count + 1) if count else ends
    counts = np.diff(shares, prepend=0)
    poses = [curve.sample(int(count)) for curve, count in zip(curves, counts, strict=False)]
    return np.concatenate(poses) if poses else np.zeros((0, nq))


def _angles(prepared: Prepared) -> NDArray[np.int64]:
    """Return the pose indices of the chain's angles that whole turns do not change."""
    inside, outside = prepared.chain.plain
    places: NDArray[np.int64] = outside[prepared.chain.turning[inside]]
    return places


def _exact(goal: Goal) -> Reach:
    """Return a goal if its solutions can be told apart; raise GoalError otherwise."""
    if not isinstance(goal, Reach):
        raise GoalError(f"solve_all takes one Reach goal, got {goal!r}.")
    if goal.ranges is not None:
        raise GoalError("solve_all takes goals without ranges: within ranges, solutions form a continuum.")
    return goal


@dataclass(frozen=True, eq=False)
class Count:
    """Number of solutions of goals.

    Attributes:
        number: Number of isolated poses, 0 if there is none, or infinity if they form a continuum.
        dimension: Dimension of that continuum; 0 for isolated poses, -1 if there is none.
        poses: The distinct poses found, shape (k, nq).
        proven: Whether a closed form proves that there are no others. Zero can be proven too.
    """

    number: float
    dimension: int
    poses: FloatArray
    proven: bool = False


def count_solutions(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    *,
    starts: int | None = None,
    seed: int = 0,
    **options: Unpack[LoopOptions],
) -> Count:
    """Return the number of poses that reach the goals: none, some, or a continuum with its dimension.

    If the arm has a closed form for the goal, the number is proven. Otherwise poses are found from random starts, 256
    by default, so the number is a lower bound. If the compiled search can solve the goal, `solve_all` does the search.
    Other goals, and calls with solver options, are solved by damped steps.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        starts: Number of random starts, instead of a closed form.
        seed: Seed of the random starts.
        **options: Options of every method, such as ``limits="ignore"``; see `Settings`.

    Example:
        >>> import linkwork as lw
        >>> lw.count_solutions(lw.models.planar([2, 1]), lw.Reach("tip", position=(1, 2))).number
        2
    """
    check_linkage(linkage)
    problem, limits = Problem(linkage, goals), options.get("limits", "project")
    goal = problem.goals[0] if len(problem.goals) == 1 and options.keys() <= {"limits"} else None
    plain = goal if isinstance(goal, Reach) and goal.ranges is None else None
    proven, isolated = False, False
    prepared = None if plain is None else _prepared(linkage, plain, limits, seed)
    if plain is not None and prepared is not None and prepared.chain.values:
        every = None if starts else all_by_form(prepared, plain, linkage.neutral(), None)
        every = search_all(prepared, plain, APART, SAMPLES, starts or STARTS) if every is None else every
        found, proven = every.q, every.complete
        isolated = proven and every.dimension == 0  # a stretched arm may have more instantaneous freedom
    else:
        near = FINE * usual_tolerance(linkage) / TOLERANCE
        exact: LoopOptions = {"tolerance": near, "rotation_tolerance": FINE, "max_iterations": 200, "limits": limits}
        method, settings = configure("damped", {**exact, **options}, linkage)
        tried = run(method, problem, linkage.random_pose(seed, starts or STARTS), settings)
        found = tried.q[tried.success]
        found = found[distinct(linkage, found)]
    if not len(found):
        return Count(0, -1, found, proven)
    dimension = 0 if isolated else min(problem.freedom(q) for q in found[:8])
    return Count(float("inf") if dimension else len(found), dimension, found, proven)


def _prepared(
    linkage: Linkage,
    goal: Reach,
    limits: Limits,
    seed: int,
    group: Group | None = None,
    rest: FloatArray | None = None,
) -> Prepared:
    prepared = prepared_for(linkage, goal, fine(linkage, limits), 1, whole("seed", seed), group, rest)
    return prepared if rest is None else prepared.resting_at(rest)


def fine(linkage: Linkage, limits: Limits) -> Settings:
    """Return settings with tolerances small enough to tell distinct poses of a search apart."""
    return Settings(NEAR / TOLERANCE * usual_tolerance(linkage), NEAR, limits=limits)
