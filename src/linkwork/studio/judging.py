"""Judge how well a pose meets its goals, and explain failures in words and with data for the stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..goals import Goal
from ..linkage.linkage import Linkage
from ..linkage.program import reach
from ..solvers import Problem, Settings, Solution
from ..solvers.options import usual_tolerance
from ..solvers.solution import Status
from ..transforms import FloatArray
from .targets import Target


@dataclass(frozen=True, eq=False)
class Why:
    """Why the goals were reached or not.

    Attributes:
        cause: As in `linkwork.explain.diagnosis.Diagnosis`.
        text: The explanation, and what to try.
        joints: Joints at their limits, or that would have to exceed them.
        center: Start of the limb, if its goal is out of reach, shape (3,), or None.
        radii: Least and largest reach from there [m].
    """

    cause: str
    text: str
    joints: tuple[str, ...] = ()
    center: FloatArray | None = None
    radii: tuple[float, float] = (0.0, 0.0)


def judged(linkage: Linkage, goals: Sequence[Goal], start: FloatArray, q: FloatArray, method: str) -> Solution:
    """Return a pose that was found elsewhere as a solution; the pose is evaluated, not changed.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> judged(arm, [lw.Reach("tip", position=(3, 0))], np.zeros(2), np.zeros(2), "robust").success
        True
    """
    problem = Problem(linkage, tuple(goals), start)
    settings = Settings(usual_tolerance(linkage))
    residuals = problem.residuals(problem.error(q))
    inside = np.array_equal(linkage.clamp(q), q) or bool(np.allclose(linkage.clamp(q), q, atol=1e-9))
    success = bool((residuals <= settings.tolerances(problem)).all()) and inside
    status: Status = "reached" if success else "closest"
    return Solution(linkage, problem.goals, method, start, q, success, residuals, 0, status, (), settings)


def explain(solution: Solution, targets: Sequence[Target] = ()) -> Why:
    """Return why a solve ended as it did; goals are called by the names of their targets."""
    from ..explain.diagnosis import diagnose

    found = diagnose(solution)
    beyond = [name for name, amount in found.evidence.get("violations", {}).items() if amount > 0.0]
    return _why(solution, found.cause, by_name(found.paragraph, solution, targets), beyond)


def sentence(solution: Solution) -> Why:
    """Return the result of a solve in one sentence, without further solves."""
    return _why(solution, "reached" if solution.success else str(solution.status), solution.reason, [])


def by_name(text: str, solution: Solution, targets: Sequence[Target]) -> str:
    """Return a sentence on a solve with goals called by the names of their targets.

    Example:
        >>> import linkwork as lw
        >>> arm = lw.models.planar([2, 1])
        >>> solution = lw.solve(arm, lw.Reach("tip", position=(4, 0)))
        >>> by_name("conflict: Reach 'tip' is too far.", solution, [Target("apple", "reach", "tip", np.eye(4))])
        "Conflict: 'apple' is too far."
    """
    from ..explain.conflicts import called

    left = [target for target in targets if target.active]
    for goal in solution.goals:
        kind = called(goal)
        target = next((one for one in left if called(one.goal(solution.linkage)) == kind), None)
        if target is not None:
            left.remove(target)
            text = text.replace(called(goal, solution.goals), repr(target.name))
    return text[:1].upper() + text[1:]


def _why(solution: Solution, cause: str, text: str, beyond: list[str]) -> Why:
    """Return a cause with the joints at their limits, and the reach of a limb whose goal is out of reach."""
    if solution.success:
        return Why(cause, text)
    from ..explain.diagnosis import at_limits

    linkage = solution.linkage
    names = [limit.rsplit(" (", 1)[0] for limit in at_limits(linkage, solution.q)] + beyond
    joints = tuple(dict.fromkeys(name if name in linkage.joints else name.rsplit(".", 1)[0] for name in names))
    for goal in solution.goals:
        position = getattr(goal, "position", None)
        if position is None:
            continue
        center, least, most, _ = reach(linkage, goal.frame)  # type: ignore[attr-defined]
        distance = float(np.linalg.norm(position - center[: len(position)]))
        if np.isfinite(most) and not least <= distance <= most:
            return Why(cause, text, joints, center, (least, most))
    return Why(cause, text, joints)
