"""`solve`: goals to a pose, by any method.

One goal of one frame, which is what most ask for, is solved without the table of methods and what they need; these are
imported for all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ..goals import Goal, Reach
from ..linkage.linkage import Linkage, check_linkage
from ..linkage.poses import PoseLike, start_pose
from .chain_solver import RESTARTS, prepared_for
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
    **options: Unpack[SolveOptions],
) -> Solution:
    """Return a pose that brings a linkage to its goals, or the closest one found and why.

    Args:
        linkage: The linkage.
        goals: One goal or several.
        start: Pose to begin with, shape (nq,) or (..., nq) for many problems at once; or the name of a stored pose, or
            values by joint. By default the neutral pose; ``"robust"`` then takes whatever start serves best.
        method: One of `METHODS` by name.
        joints: Names of the joints that may move, or of a group of them; the rest stays where the start has it, or in
            the neutral pose, within its limits or not.
        weights: What moving each joint costs, so that a heavy joint moves less: a mapping from joints to positive
            numbers (one for those not named), or a number for each velocity. Steps are those shortest by the weights,
            ``W^-1 J^T (J W^-1 J^T)^-1 V``.
        loop_tolerance: Largest gap of a closed loop that counts as none [m, rad]; each loop's own by default. It makes
            no gap larger: loops are closed as far as they can be.
        **options: What every method takes (`Settings`: tolerance, rotation_tolerance, max_iterations, time_budget,
            max_step, limits, halvings, stray, trace) and what this one takes.

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
    goal: Any = goals[0] if goals.__class__ in (list, tuple) and len(goals) == 1 else goals
    group = None if joints is None and weights is None else group_of(linkage, joints, weights)
    # One Reach by a method and its defaults, without the objects on the way: microseconds count.
    quick = not options and group is None and goal.__class__ is Reach and goal.ranges is None
    if quick and method == "robust" and goal.tolerance is None:
        found = prepared_for(linkage, goal, _defaults(linkage), RESTARTS, 0)
        begin: Any = start
        if found.chain.values and (start is None or np.ndim(begin) < 2):
            return found.solve(goal.target, start=begin)
    elif quick and start.__class__ is np.ndarray and method.__class__ is str:
        walked = _walked(linkage, goal, start, method)
        if walked is not None:
            return walked
    from .methods import configure

    chosen, settings = configure(method, options, linkage)
    if start is None:
        return chosen.solve_without_start(Problem(linkage, goals, group=group), settings)
    pose = start_pose(linkage, start)
    return chosen.solve(Problem(linkage, goals, pose, group), pose, settings)


def _defaults(linkage: Linkage) -> Settings:
    """Return the settings of a solve without options."""
    return DEFAULTS if linkage.length >= DEFAULTS.tolerance / SHARE else Settings(usual_tolerance(linkage))


def _walked(linkage: Linkage, goal: Reach, start: Any, method: Any) -> Solution | None:
    """Return what the compiled loop finds from one pose, as an array of the right kind; None for all else."""
    key = (method, goal.signature)
    walk = linkage.cache.find("quick walks", key)
    if walk is None:
        walk = linkage.cache.get("quick walks", key, lambda: _walk(linkage, goal, method) or False)
    if not walk or not walk.is_pose(start):
        return None
    found: Solution | None = walk.one(goal.target, start)
    return found


def _walk(linkage: Linkage, goal: Reach, method: str) -> Walk | None:
    """Return the compiled loop of a method with its defaults, unless the method does more around it."""
    from .iterate import settled
    from .method import Method
    from .methods import configure
    from .walking import walk_for

    chosen, settings = configure(method, {}, linkage)
    if type(chosen).solve is not Method.solve:
        return None
    return walk_for(chosen, Problem(linkage, goal), settled(settings, chosen))
