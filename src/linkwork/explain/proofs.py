"""Proofs that a goal has no solution: by the lengths of its chain, or by its closed form, which also shows limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..goals import Reach
from ..solvers import Prepared, Solution
from ..solvers.chain_solver import prepared_for
from ..solvers.closed_form import ClosedForm
from ..solvers.closed_form.self_motion import form_with_one_held, self_motion
from ..transforms import FloatArray


@dataclass(frozen=True, eq=False)
class Proof:
    """Why no pose reaches a goal.

    Attributes:
        evidence: Which condition has no solution, and by how much.
        family: The family of arms whose closed form proves it.
        free: The poses that reach it without limits, shape (k, nq).
    """

    evidence: str
    family: str
    free: FloatArray

    @property
    def sentence(self) -> str:
        """The proof in words."""
        return f"No pose reaches the goal: {self.evidence}."


def proof_of(solution: Solution) -> Proof | None:
    """Return the proof that the single goal of a failed solve has no solution, if a closed form gives one."""
    goal: Any = solution.goals[0]
    if len(solution.goals) != 1 or not isinstance(goal, Reach) or goal.ranges is not None:
        return None
    prepared = _prepared(solution, goal)
    form = prepared.form if prepared.chain.values else None
    if not isinstance(form, ClosedForm):
        return _by_self_motion(prepared, goal, solution.q) if solution.settings.keeps_limits else None
    found = prepared.all(goal.target, start=solution.q)
    if len(found) or not found.answers.complete:
        return None
    free = form.all(goal.target, limits="ignore").values if solution.settings.keeps_limits else np.zeros((0, 0))
    poses = (
        prepared.chain.put(free, np.tile(solution.q, (len(free), 1))) if len(free) else np.zeros((0, len(solution.q)))
    )
    return Proof(str(found.evidence), form.family, poses)


def _by_self_motion(prepared: Prepared, goal: Reach, q: FloatArray) -> Proof | None:
    """Return the proof for goals whose solutions are curves: no angle of a held joint has a pose within limits."""
    form = form_with_one_held(prepared) if prepared.chain.values else ""
    if isinstance(form, str):
        return None
    motion = self_motion(prepared, goal.target, form)
    if motion.curves or not motion.complete or motion.evidence is None:
        return None
    free = form.at(goal.target, form.slices(goal.target))
    return Proof(motion.evidence, motion.family, prepared.chain.put(free, np.tile(q, (len(free), 1))))


def _prepared(solution: Solution, goal: Reach) -> Prepared:
    """Return the chain of a goal, with held joints at their values in the solution."""
    group = solution.group
    return prepared_for(solution.linkage, goal, solution.settings, 1, 0, group, None if group is None else solution.q)
