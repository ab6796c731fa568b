"""`solve`: find a pose for goals, by any method.

One goal of one frame, the most common case, is solved without importing the table of methods; other cases import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..goals import Avoid, Goal, Reach, with_avoid
from ..goals.avoid import AvoidLike
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from .chain_solver import RESTARTS, prepared_for
from .free_pairs import free_chain_for, reach_and_avoid
from .groups import Joints, Weights, group_of
from .options import SHARE, Settings, SolveOptions, usual_tolerance
from .problem import Problem, with_closings
from .solution import Solution

if TYPE_CHECKING:
    from .method import Method
    from .walking import Walk

DEFAULTS = Settings()


def solve(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    *,
    start: PoseLike | None = None,
    method: str | Method = "robust",
    joints: Joints | None = None,
    weights: Weights | None = None,
    loop_tolerance: float | None = None,
    avoid: AvoidLike = None,
    **options: Unpack[SolveOptions],
) -> Solution:
    """Return a pose that reaches the goals, or the closest one found and the reason.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        start: Start pose of shape (nq,), or (..., nq) for many problems at once; or the name of a stored pose, or
            values by joint. By default the neutral pose; ``"robust"`` then chooses its own starts.
        method: Name of a method of `METHODS`.
        joints: Names of the joints that may move, or of a group of them. The others keep their values of the start or
            the neutral pose, even outside their limits.
        weights: Cost of moving each joint, so that a heavy joint moves less: a mapping from joints to positive numbers
            (1 for the others), or a number for each velocity. Each step is the shortest by these weights,
            ``W^-1 J^T (J W^-1 J^T)^-1 V``.
        loop_tolerance: Largest gap at which a loop counts as closed [m, rad]; by default each loop's own.
        avoid: What to keep clear of, an `Avoid` or a `World`: an additional goal.
        **options: Options of every method (`Settings`: tolerance, rotation_tolerance, max_iterations, time_budget,
            max_step, limits, halvings, stray, trace) and of the chosen one.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> solution = lw.solve(arm, lw.Reach("tip", position=(-20, 5)), start=[0.39, 0.79, 0.79], method="damped")
        >>> solution.success, arm.forward(solution.q, frame="tip")[:2, 3].round(3).tolist()
        (True, [-20.0, 5.0])
    """
    if linkage.__class__ is not Linkage:
        check_linkage(linkage)
    if loop_tolerance is not None and linkage.constrained:
        goals = with_closings(linkage, goals, loop_tolerance)
    goals = goals if avoid is None else with_avoid(goals, avoid)
    goal, apart = _alone(goals)
    group = None if joints is None and weights is None else group_of(linkage, joints, weights)
    # A fast path for one Reach, with or without an Avoid, and a method's defaults: it creates no intermediate objects.
    quick = not options and group is None and goal.__class__ is Reach and goal.ranges is None
    found: Solution | None = None
    if quick and method == "robust" and goal.tolerance is None:
        found = _searched(linkage, goal, apart, start)
    elif quick and apart is None and start.__class__ is np.ndarray and method.__class__ is str:
        found = _walked(linkage, goal, start, method)
    if found is not None:
        return found
    from .methods import configure

    chosen, settings = configure(method, options, linkage)
    if start is None:
        return chosen.solve_without_start(Problem(linkage, goals, group=group), settings)
    pose = start_pose(linkage, start)
    return chosen.solve(Problem(linkage, goals, pose, group), pose, settings)


def _alone(goals: Any) -> tuple[Any, Avoid | None]:
    """Return the only goal and what to avoid; if there are more goals, return them unchanged."""
    if goals.__class__ not in (list, tuple) or not 1 <= len(goals) <= 2:
        return goals, None
    if len(goals) == 1:
        return goals[0], None
    reach, avoid = reach_and_avoid(goals)
    return (goals, None) if reach is None else (reach, avoid)


def _searched(linkage: Linkage, goal: Reach, avoid: Avoid | None, start: Any) -> Solution | None:
    """Return the result of the compiled search of one chain; None if it does not support the problem."""
    prepared: Any = prepared_for(linkage, goal, _defaults(linkage), RESTARTS, 0)
    if not prepared.chain.values or not (start is None or np.ndim(start) < 2):
        return None
    if avoid is not None:
        prepared = free_chain_for(prepared, avoid)
    return None if prepared is None else prepared.solve(goal.target, start=start)


def _defaults(linkage: Linkage) -> Settings:
    """Return the settings of a solve without options."""
    return DEFAULTS if linkage.length >= DEFAULTS.tolerance / SHARE else Settings(usual_tolerance(linkage))


def _walked(linkage: Linkage, goal: Reach, start: Any, method: Any) -> Solution | None:
    """Return the result of the compiled loop from one pose, an array of the right type; None in other cases."""
    key = (method, goal.signature)
    walk = linkage.cache.find("quick walks", key)
    if walk is None:
        walk = linkage.cache.get("quick walks", key, lambda: _walk(linkage, goal, method) or False)
    if not walk or not walk.is_pose(start):
        return None
    found: Solution | None = walk.one(goal.target, start)
    return found


def _walk(linkage: Linkage, goal: Reach, method: str) -> Walk | None:
    """Return the compiled loop of a method with its defaults; None if the method overrides `solve`."""
    from .iterate import settled
    from .method import Method
    from .methods import configure
    from .walking import walk_for

    chosen, settings = configure(method, {}, linkage)
    if type(chosen).solve is not Method.solve:
        return None
    return walk_for(chosen, Problem(linkage, goal), settled(settings, chosen))
