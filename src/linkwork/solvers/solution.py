"""Result of a solve: the pose, its errors, and why it ended; `explain` explains it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import OptionError
from ..goals import Goal
from ..linkage.linkage import Linkage
from ..linkage.showing import Shown
from ..transforms import FloatArray
from .problem import Problem

if TYPE_CHECKING:
    from .groups import Group
    from .options import Settings

Status = Literal[
    "reached", "stalled", "diverged", "iterations", "time", "closest", "beyond", "collides", "following", "held",
    "invalid",
]  # fmt: skip

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
NULL = 1e-9  # share of the largest singular value below which a direction changes no goal
ENDINGS: dict[Status, str] = {
    "reached": "reached",
    "stalled": "no longer came nearer",
    "diverged": "diverged",
    "iterations": "used up its iterations",
    "time": "used up its time",
    "closest": "no start came nearer",
    "beyond": "the chain does not extend that far",
    "collides": "every pose found collides",
    "following": "on its way",
    "held": "no continuous way from the start leads nearer",
    "invalid": "the target is not a rigid transform of finite numbers",
}


def ending(status: Status, errors: str, effort: str) -> str:
    """Return a sentence on how a solve ended: ``"reached: position error 2e-05 m after 3 iterations."``."""
    if status == "reached":
        return f"reached: {errors} after {effort}."
    if status == "collides":
        return f"not free: {ENDINGS[status]}, with {errors}, after {effort}."
    if status == "invalid":
        return f"not reached: {ENDINGS[status]}."
    if status == "following":
        return f"not reached: {ENDINGS[status]} after {effort}, with {errors}; one call with stay=True goes no further."
    how = "out of reach" if status == "beyond" else "not reached"
    return f"{how}: {ENDINGS[status]} after {effort}, with {errors}."


def errors_in_words(values: Iterable[float], units: Sequence[str]) -> str:
    """Return errors with their units: ``"position error 2e-05 m, rotation error 0.3 rad"``."""
    words = {"m": "position", "rad": "rotation"}
    return ", ".join(f"{words[unit]} error {value:.3g} {unit}" for value, unit in zip(values, units, strict=True))


@dataclass(frozen=True, eq=False)
class Record:
    """One iteration of a trace: its start pose and error, the step taken and the method's notes."""

    q: FloatArray
    residuals: FloatArray
    singular_values: FloatArray
    step: FloatArray
    notes: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Solution(Shown):
    """Result of a solve; true if it succeeded.

    Fields have the batch shape of the starts; one start gives plain values. With several, ``solution[k]`` is one of
    them.

    Attributes:
        q: The best pose found, shape (..., nq).
        success: Whether every error, recomputed from `q`, is within tolerance and every limit holds.
        residuals: The norm of each goal's position [m] and rotation [rad] error, shape (..., blocks).
        iterations: Number of steps taken.
        status: Why it ended: ``reached``, ``stalled``, ``diverged``, ``iterations``, ``time``; the compiled search has
            also ``closest`` (no start came nearer), ``beyond`` (out of reach), ``collides`` (the goal is reached, but
            every pose found collides) and, with ``stay=True``, ``following`` (on its way, but a joint would turn too
            far at once) and ``held`` (no continuous motion leads nearer). An array of these for several starts.
        trace: One record per iteration, with the option ``trace``.
        group: The joints that could move, and their weights; None if all could, with equal weights.
        options: The method's own options, such as ``{"damping": 5.0}``.
    """

    linkage: Linkage
    goals: tuple[Goal, ...]
    method: str
    start: FloatArray
    q: FloatArray
    success: Any
    residuals: FloatArray
    iterations: Any
    status: Status
    trace: tuple[Record, ...]
    settings: Settings
    group: Group | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def problem(self) -> Problem:
        """The problem that was solved."""
        return Problem(self.linkage, self.goals, self.start, self.group)

    @property
    def residual(self) -> Any:
        """The largest residual."""
        return self.residuals.max(axis=-1)

    def __bool__(self) -> bool:
        if np.ndim(self.success):
            raise OptionError(
                f"{np.size(self.success)} solutions have no common truth value; use success.all() or success.any()."
            )
        return bool(self.success)

    def __getitem__(self, index: Any) -> Solution:
        """Return one of several solutions, or some of them; traces are not divided."""
        if not np.ndim(self.success):
            raise OptionError("this is one solution; only solutions from several starts have an index.")
        names = ("start", "q", "success", "residuals", "iterations", "status")
        rows = {name: np.asarray(getattr(self, name))[index] for name in names}
        for name in ("success", "iterations", "status"):
            rows[name] = rows[name].item() if np.ndim(rows[name]) == 0 else rows[name]
        return replace(self, trace=(), **rows)

    @cached_property
    def reason(self) -> str:
        """One sentence, with numbers, on how it ended."""
        from ..explain import diagnosis

        return diagnosis.reason(self)

    def explain(self) -> str:
        """Return a paragraph on what happened, why, and what to try."""
        from ..explain import diagnosis

        return diagnosis.explain(self)

    @cached_property
    def freedom(self) -> int:
        """Dimension of the set of solutions around this one: number of velocities minus the rank of the goals."""
        from ..explain import diagnosis

        return diagnosis.freedom(self)

    def null_space(self) -> FloatArray:
        """Return an orthonormal basis (nv, k) of the velocities that change no goal, to first order.

        Loops count as goals, wishes (goals with infinite tolerance) do not.

        Example:
            >>> import linkwork as lw
            >>> arm = lw.models.panda()
            >>> lw.solve(arm, lw.Reach("tip", position=(0.4, 0.1, 0.5))).null_space().shape
            (7, 4)
        """
        if np.ndim(self.success):
            raise OptionError("null_space needs one solution; take it by its index, as in solution[0].")
        judged = [goal for goal in self.goals if goal.tolerance is None or np.isfinite(goal.tolerance).any()]
        free = np.arange(self.linkage.nv) if self.group is None else np.flatnonzero(self.group.free)
        basis = np.eye(self.linkage.nv)[:, free]
        if not judged:
            return basis
        jacobian = Problem(self.linkage, judged, self.start, self.group).jacobian(self.q)
        _, sigma, Vt = np.linalg.svd(jacobian[:, free])
        rank = int((sigma > NULL * sigma.max(initial=1e-300)).sum())
        left: FloatArray = basis @ Vt[rank:].T
        return left

    def __repr__(self) -> str:
        if np.ndim(self.success):
            return f"<Solution by {self.method}: {int(np.sum(self.success))} of {np.size(self.success)} reached>"
        return (
            f"<Solution by {self.method}: {'reached' if self.success else self.status}, {self.iterations} iterations>"
        )


def from_rows(
    linkage: Linkage,
    goals: tuple[Goal, ...],
    method: str,
    start: FloatArray,
    rows: tuple[FloatArray, Any, FloatArray, Any, Any],
    settings: Settings,
    trace: Sequence[Record] = (),
    group: Group | None = None,
    options: Mapping[str, Any] = NO_OPTIONS,
) -> Solution:
    """Return a solution from one row per start, in the shape of the starts; plain values for a single start.

    The rows are those of `q`, `success`, `residuals`, `iterations` and `status`.
    """
    shape = start.shape[:-1]
    poses, success, residuals, iterations, status = rows
    words: Any = np.asarray(status, np.str_).reshape(shape) if shape else str(status[0])
    judged, counts = (row.reshape(shape) if shape else row.item() for row in (success, iterations))
    q, errors = (row.reshape(*shape, row.shape[-1]) for row in (poses, residuals))
    found = q, judged, errors, counts, words, tuple(trace)
    return Solution(linkage, goals, method, start, *found, settings, group, options)
