"""The solution nearest to a pose, and all solutions, of a prepared chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..linkage.poses import turned_back
from ..transforms import FloatArray
from .chain_solution import Found

if TYPE_CHECKING:
    from .chain_solver import Prepared
    from .closed_form import Answers


def nearest_solution(prepared: Prepared, target: FloatArray, pose: FloatArray, starts: int) -> Found:
    """Return the solution of a target (4, 4) nearest to a pose (nq,), of all or of those found from many starts."""
    best = prepared.solve(target, start=pose)
    if not best.success or best.proven:
        return best
    poses = np.concatenate([best.q[None], prepared.candidates(target, starts, base=pose)])
    poses = turned_back(prepared.linkage, poses, pose, keep_limits=prepared.settings.keeps_limits)
    away = prepared.linkage.difference(pose, poses)
    best.__dict__["q"] = poses[int(np.argmin((away * away).sum(axis=-1)))]
    given = prepared.chain.values_of(best.q)[None]
    _, report = prepared.search(target[None], np.zeros(1, np.int64), given=given, restarts=0)
    best.__dict__["report"] = report[0]
    return best


class AllPoses:
    """All poses that bring a frame to a target, by a closed form; poses are computed when accessed.

    Attributes:
        prepared: The chain.
        answers: The values of its solutions.
        base: The pose (nq,) of the joints outside the chain.
    """

    __slots__ = ("answers", "base", "prepared")

    def __init__(self, prepared: Prepared, answers: Answers, base: FloatArray) -> None:
        self.prepared, self.answers, self.base = prepared, answers, base

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def q(self) -> FloatArray:
        """The poses, shape (k, nq), nearest to the start first, if a start was given."""
        return self.prepared.pose(self.answers.values, self.base)

    @property
    def residuals(self) -> FloatArray:
        """Errors of position and rotation [m, rad], from forward kinematics, shape (k, 2)."""
        return self.answers.residuals

    @property
    def doubles(self) -> NDArray[np.bool_]:
        """Which are double solutions, or represent a continuum, shape (k,): the target is singular there."""
        return self.answers.doubles | self.answers.continua

    @property
    def evidence(self) -> str | None:
        """A text on why there is no solution; None if there is one."""
        return self.answers.evidence

    def __repr__(self) -> str:
        return f"<AllPoses of {self.prepared.goal.frame!r}: {len(self) or 'none'}>"
