"""What a solve gives back: the pose, how good it is, and why it ended; it explains itself through `explain`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import OptionError
from ..goals import Goal
from ..linkage.linkage import Linkage
from ..transforms import FloatArray
from .problem import Problem

if TYPE_CHECKING:
    from .options import Settings

NULL = 1e-9  # of the largest singular value: below, a direction changes no goal


@dataclass(frozen=True, eq=False)
class Record:
    """One iteration of a trace: the pose it began with, its error, the step taken and the method's notes."""

    q: FloatArray
    residuals: FloatArray
    singular_values: FloatArray
    step: FloatArray
    notes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solve gives back. Fields have the batch shape of the starts; one start gives plain values.

    Attributes:
        q: The best pose found, shape (..., nq).
        success: Whether every error, recomputed from `q`, is within tolerance and every limit holds.
        residuals: The norm of each goal's position [m] and rotation [rad] error, shape (..., blocks).
        iterations: Steps taken.
        status: Why it ended: ``reached``, ``stalled``, ``diverged``, ``iterations``, ``time``; the compiled search has
            also ``closest`` (no start came nearer) and ``beyond`` (out of reach).
        trace: One record an iteration, if asked for.
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    method: str
    start: FloatArray
    q: FloatArray
    success: Any
    residuals: FloatArray
    iterations: Any
    status: Any
    trace: tuple[Record, ...]
    settings: Settings

    @property
    def residual(self) -> Any:
        """The largest of the residuals."""
        return self.residuals.max(axis=-1)

    @cached_property
    def reason(self) -> Any:
        """One sentence, with numbers, on how it ended; a list of them for many problems."""
        from ..explain import diagnosis

        return diagnosis.reason(self)

    def explain(self) -> str:
        """Return a paragraph a person can act on: what happened, why, and what to try."""
        from ..explain import diagnosis

        return diagnosis.explain(self)

    @cached_property
    def freedom(self) -> int:
        """Dimension of the set of solutions around the answer: joints' velocities less what the goals use up."""
        from ..explain import diagnosis

        return diagnosis.freedom(self)

    def null_space(self) -> FloatArray:
        """Return an orthonormal basis (nv, k) of the velocities that leave all goals as they are, to first order.

        Loops are among the goals, wishes (goals of infinite tolerance) are not.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> lw.solve(arm, lw.Reach("tip", position=(0.4, 0.1, 0.5))).null_space().shape
            (7, 4)
        """
        if np.ndim(self.success):
            raise OptionError("a null space is that of one solution; solve one problem alone.")
        judged = [goal for goal in self.goals if goal.tolerance is None or np.isfinite(goal.tolerance).any()]
        if not judged:
            return np.eye(self.linkage.nv)
        jacobian = Problem(self.linkage, judged, self.start).jacobian(self.q)
        _, sigma, Vt = np.linalg.svd(jacobian)
        rank = int((sigma > NULL * sigma.max(initial=1e-300)).sum())
        basis: FloatArray = Vt[rank:].T.copy()
        return basis

    def __repr__(self) -> str:
        if np.ndim(self.success):
            return f"<Solution by {self.method}: {int(np.sum(self.success))} of {np.size(self.success)} reached>"
        return (
            f"<Solution by {self.method}: {'reached' if self.success else self.status}, {self.iterations} iterations>"
        )
