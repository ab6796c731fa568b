"""`prepare`: the public function for packed solvers, of one frame or of a list of goals, for control loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError, OptionError
from ..goals import Goal, Reach, as_avoid, with_avoid
from ..goals.avoid import AvoidLike
from ..linkage.linkage import Linkage, check_linkage
from .chain_solver import RESTARTS, Prepared, prepared_for
from .free_pairs import free_chain_for
from .groups import Group, Joints, Weights, group_of
from .options import Limits, MethodOptions, PrepareOptions, SearchOptions, Settings, given_tolerance, whole
from .problem import Problem

if TYPE_CHECKING:
    from .body_solver import BodySolver
    from .method import Method
    from .prepared_method import PreparedMethod

AXES = "xyz"


@overload
def prepare(linkage: Linkage, frame: str, **options: Unpack[PrepareOptions]) -> Prepared: ...


@overload
def prepare(
    linkage: Linkage, frame: str, *, method: str | Method, **options: Unpack[MethodOptions]
) -> PreparedMethod: ...


@overload
def prepare(linkage: Linkage, frame: Goal | Sequence[Goal], **options: Unpack[SearchOptions]) -> BodySolver: ...


def prepare(
    linkage: Linkage,
    frame: str | Goal | Sequence[Goal],
    *,
    position: bool | str = True,
    orientation: bool = True,
    free: ArrayLike | str | None = None,
    tolerance: float | None = None,
    rotation_tolerance: float = 1e-3,
    limits: Limits = "clamp",
    restarts: int = RESTARTS,
    seed: int = 0,
    joints: Joints | None = None,
    weights: Weights | None = None,
    avoid: AvoidLike = None,
    method: str | Method = "robust",
    **options: Any,
) -> Prepared | PreparedMethod | BodySolver:
    """Return a reusable, compiled inverse kinematics solver, for control loops: ``ik(target, start=q)``.

    Args:
        linkage: The linkage.
        frame: Name of the frame that targets are for. Or goals, for a whole body: the solver then takes goals of the
            same kinds, ``ik(goals, start=q)``, and follows whole motions, ``ik.follow(...)``.
        position: Whether its position matters; ``"xy"`` for these axes of the world only.
        orientation: Whether its orientation matters.
        free: An axis of the frame, such as ``"z"``, that it may spin about: only the direction of the axis matters.
        tolerance: Largest position error of a reached goal [m]; 1e-4 by default, less for linkages below 10 cm.
        rotation_tolerance: Largest rotation error of a reached goal [rad].
        limits: ``"ignore"`` lets joints go beyond their limits; see `Settings`.
        restarts: Largest number of starts for one target.
        seed: Seed of the random starts: the same seed gives the same answer.
        joints: Names of the joints that may move, or of a group of them; the others keep the values of each start.
        weights: Cost of moving each joint, as in `solve`; for goals, or with a method that weighs joints.
        avoid: An `Avoid` or `World` to keep clear of; every success is checked again to be at least its margin away.
        method: Name of another method of `METHODS`, for a frame: ``ik(target, start=q)`` then solves as `solve` does.
        **options: Options of that method and of every method; see `solve`.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([15, 10, 5])
        >>> lw.prepare(arm, "tip", position="xy", orientation=False)([-20, 5]).success
        True
    """
    check_linkage(linkage)
    restarts, seed = whole("restarts", restarts), whole("seed", seed)
    if method != "robust":
        options |= {"tolerance": tolerance, "rotation_tolerance": rotation_tolerance, "limits": limits}
        options |= {} if (restarts, seed) == (RESTARTS, 0) else {"restarts": restarts, "seed": seed}
        goal = _goal(_frame(frame, method, avoid), position, orientation, free)
        return _by_method(linkage, goal, method, options, group_of(linkage, joints, weights))
    if options:
        raise OptionError(f"{', '.join(options)}: options of methods; name the method: prepare(..., method='damped').")
    settings = Settings(given_tolerance(linkage, tolerance), rotation_tolerance, limits=limits)
    if isinstance(frame, str):
        aim = _goal(frame, position, orientation, free)
        return _free(_search(linkage, aim, settings, restarts, seed, joints, weights), avoid)
    if (position, orientation, free) != (True, True, None):
        raise OptionError("position, orientation and free are for one frame; goals have their own.")
    return _body(linkage, with_avoid(frame, avoid), settings, restarts, seed, group_of(linkage, joints, weights))


def _search(
    linkage: Linkage, goal: Reach, settings: Settings, restarts: int, seed: int, joints: Any, weights: Any
) -> Prepared:
    if weights is not None:
        raise OptionError(
            "the search for one frame does not support weights; prepare goals instead: "
            f"prepare(arm, [Reach({goal.frame!r}, ...)], weights=...), or a method that supports them: method='damped'."
        )
    prepared = prepared_for(linkage, goal, settings, restarts, seed, group_of(linkage, joints))
    prepared.chain.check()
    return prepared


def _free(prepared: Prepared, avoid: AvoidLike) -> Prepared:
    """Return a collision-free version of a prepared chain, if there is anything to avoid."""
    found = free_chain_for(prepared, as_avoid(avoid))
    if found is None:
        frame = prepared.goal.frame
        raise GoalError(
            f"frame {frame!r} of linkage {prepared.linkage.name!r} depends on a ball joint, which the search for "
            f"collision-free poses does not support; prepare goals: prepare(arm, [Reach({frame!r}, ...), Avoid(...)])."
        )
    return found


def _frame(frame: Any, method: Any, avoid: AvoidLike) -> str:
    if avoid is not None:
        raise OptionError(f"method {method!r} is prepared without avoid; solve(arm, [goal, Avoid(...)]) takes both.")
    if not isinstance(frame, str):
        raise OptionError(
            f"method {method!r} is prepared for a frame by its name, got {frame!r}; solve(...) takes goals."
        )
    return frame


def _by_method(
    linkage: Linkage, goal: Reach, method: str | Method, options: dict[str, Any], group: Group | None
) -> PreparedMethod:
    from .methods import configure  # the compiled search does not need them
    from .prepared_method import PreparedMethod

    return PreparedMethod(linkage, goal, *configure(method, options, linkage), group)


def _goal(frame: str, position: bool | str, orientation: bool, free: Any) -> Reach:
    if not isinstance(orientation, bool):
        raise OptionError(f"orientation is True or False, got {orientation!r}.")
    axes = AXES if position is True else position or ""
    if axes not in (AXES, "xy", ""):
        raise OptionError(f"position is True, False or 'xy', got {position!r}.")
    point = np.zeros(len(axes)) if axes else None
    return Reach(frame, position=point, orientation=np.eye(3) if orientation else None, free=free)


def _body(
    linkage: Linkage,
    goals: Goal | Sequence[Goal],
    settings: Settings,
    restarts: int,
    seed: int,
    group: Group | None,
) -> BodySolver:
    from .body_solver import body_solver_for, can_compile  # the search of one chain does not need it

    problem = Problem(linkage, goals, group=group)
    if not can_compile(problem):
        raise GoalError(
            "only goals of linkwork's own kinds, on at most three priority levels and without couplings along curves, "
            "can be prepared; solve(...) takes all of them."
        )
    found = body_solver_for(problem, settings, restarts, seed)
    if not found.program.moving:
        who = "no joint moves" if group is None else f"{group.words} do not move"
        raise GoalError(f"{who} what the goals depend on in linkage {linkage.name!r}.")
    return found
