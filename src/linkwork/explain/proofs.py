"""That a goal has no solution: by the lengths of its chain, or by its closed form, which also tells what limits do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..goals import Reach
from ..linkage.linkage import Linkage
from ..linkage.program import chain_motions
from ..solvers import Prepared, Solution
from ..solvers.chain_solver import prepared_for
from ..solvers.closed_form import ClosedForm
from ..transforms import FloatArray


def reach(linkage: Linkage, frame: str) -> tuple[FloatArray, float, float, str]:
    """Return where a chain begins to move, the least and largest distance its end can have from there, and the joint.

    These are the lengths of its segments laid straight, limits of revolute joints aside: nothing outside is reached.
    """
    chain = chain_motions(linkage, frame)
    joint = linkage.table.velocity_joints[chain.motions[0].v] if chain.motions else linkage.root.name
    origin = chain.offsets[0]  # the first constant lies before anything moves
    segments = np.linalg.norm(chain.offsets[1:], axis=1)
    slack = sum(motion.stroke(linkage) for motion in chain.motions)
    total = float(segments.sum()) + slack
    return origin, max(0.0, 2.0 * float(segments.max(initial=0.0)) - total), total, joint


@dataclass(frozen=True, eq=False)
class Proof:
    """Why no pose reaches a goal.

    Attributes:
        evidence: What has no solution, and by how much.
        family: The family of arms whose closed form says so.
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
    """Return the proof that the one goal of a failed solve has no solution, if a closed form gives one."""
    goal: Any = solution.goals[0]
    if len(solution.goals) != 1 or not isinstance(goal, Reach) or goal.ranges is not None:
        return None
    prepared = _prepared(solution, goal)
    form = prepared.form if prepared.chain.values else None
    if not isinstance(form, ClosedForm):
        return None
    found = prepared.all(goal.target, start=solution.q)
    if len(found) or not found.answers.complete:
        return None
    free = form.all(goal.target, limits="ignore").values if solution.settings.keeps_limits else np.zeros((0, 0))
    poses = (
        prepared.chain.put(free, np.tile(solution.q, (len(free), 1))) if len(free) else np.zeros((0, len(solution.q)))
    )
    return Proof(str(found.evidence), form.family, poses)


def _prepared(solution: Solution, goal: Reach) -> Prepared:
    """Return the chain of a goal, joints that stay where the solution has them."""
    group = solution.group
    return prepared_for(solution.linkage, goal, solution.settings, 1, 0, group, None if group is None else solution.q)
