"""Strict priority levels with limits as bounds: every level is a bounded least-squares problem.

The quadratic programs are solved by DAQP, from the extra `qp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import MissingExtraError
from ..transforms import FloatArray
from .jacobian import Damped
from .options import Settings
from .problem import Problem, State

OPEN = 1e30  # value that DAQP treats as no bound
EXACT = 1e-12  # tolerance of its bounds
OPTIMAL = 1


@dataclass(frozen=True)
class Prioritized(Damped):
    """Solve one level after another, with the limits as bounds, without changing the results of the levels above.

    At level k the step x minimises ``|J_k x - V_k|² + lambda² |x|²`` among all steps within the limits that keep
    ``J_i x`` of every level above (Kanoun, Lamiraux and Wieber 2011). Other methods clamp a joint that runs into its
    limit, which undoes a part of the step; here the other joints compensate in the same step.

    Args:
        damping: lambda, as for `damped`.
    """

    name: ClassVar[str] = "prioritized"
    max_step: ClassVar[float | None] = 0.5

    def check(self, problem: Problem) -> None:  # noqa: ARG002
        _daqp()

    def propose(self, state: State, settings: Settings) -> FloatArray:
        """Return the step of every problem, within the limits and the largest allowed change."""
        low, high = _room(state, settings)
        J, V = state.jacobian, state.weighted_error
        steps = np.empty(low.shape)
        for one in np.ndindex(low.shape[:-1]):
            edges = () if state.edges is None else (state.edges[0].rows[one], state.edges[0].room[one], state.edges[1])
            steps[one] = self._one(state, J[one], V[one], low[one], high[one], edges)
        return steps

    def _one(
        self, state: State, J: FloatArray, V: FloatArray, low: FloatArray, high: FloatArray, edges: Any
    ) -> FloatArray:
        """Return the step (n,) of one problem within bounds (n,) and the edges of goals' ranges.

        Edges bound the steps of their own level and of those below.
        """
        change, open_to_it = np.zeros(len(low)), np.eye(len(low))
        if not np.isfinite(V).all():
            return np.full(len(low), np.nan)  # the loop reports it as diverged
        for k, rows in enumerate(state.problem.levels):
            level = J[rows]
            within, left = level @ open_to_it, V[rows] - level @ change
            damping = float(self._squared(state, left))
            bounded, least, most = open_to_it, low - change, high - change
            if edges:
                known = (edges[2] <= k) & np.isfinite(edges[1])
                A, room = edges[0][known], edges[1][known]
                bounded = np.concatenate([bounded, A @ open_to_it])
                least = np.append(least, np.full(len(A), -OPEN))
                most = np.append(most, np.maximum(room - A @ change, 0.0))
            part = bounded_least_squares(within, left, damping, bounded, least, most)
            change = np.clip(change + open_to_it @ part, low, high)
            _, sigma, Vt = np.linalg.svd(within)
            rank = int((sigma > state.problem.rank * max(sigma[0], 1.0)).sum())
            open_to_it = open_to_it @ Vt[rank:].T
            if not open_to_it.shape[1]:
                break
        return change


def bounded_least_squares(
    A: FloatArray, b: FloatArray, damping: float, basis: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the z that minimises ``|A z - b|² + damping |z|²`` with ``low <= basis z <= high``.

    Args:
        A: Matrix, shape (m, k).
        b: Vector, shape (m,).
        damping: A positive number, so that z is unique.
        basis: Rows to bound, shape (n, k).
        low: Lower bounds, shape (n,), zero or less, so that z = 0 is allowed.
        high: Upper bounds, shape (n,), zero or more.
    """
    H = A.T @ A + damping * np.eye(A.shape[1])
    f = -A.T @ b
    plain = np.linalg.solve(H, -f)
    reached = basis @ plain
    if ((reached >= low) & (reached <= high)).all():
        return np.asarray(plain)
    scale = float(np.abs(H).max())  # the solver's tolerances assume numbers of about one
    bounds = np.clip(high, 0.0, OPEN), np.clip(low, -OPEN, 0.0)
    found, _, flag, _ = _daqp().solve(
        np.ascontiguousarray(H / scale), f / scale, np.ascontiguousarray(basis), *bounds, primal_tol=EXACT
    )
    good = flag == OPTIMAL and bool(np.isfinite(found).all())
    return np.asarray(found, np.float64) if good else np.zeros(A.shape[1])


def _room(state: State, settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper bounds of every velocity's change, each (..., nv)."""
    linkage, most = state.linkage, np.inf if settings.max_step is None else settings.max_step
    shape = (*state.q.shape[:-1], linkage.nv)
    low, high = np.full(shape, -most), np.full(shape, most)
    if settings.keeps_limits:
        q, v, _ = linkage.table.plain
        low[..., v] = np.maximum(low[..., v], np.minimum(linkage.lower[q] - state.q[..., q], 0.0))
        high[..., v] = np.minimum(high[..., v], np.maximum(linkage.upper[q] - state.q[..., q], 0.0))
    if state.excluded is not None:
        low, high = np.where(state.excluded, 0.0, low), np.where(state.excluded, 0.0, high)
    if group := state.problem.group:
        scale = 1.0 if group.scale is None else group.scale
        low, high = (np.where(group.free, bound / scale, 0.0) for bound in (low, high))
    return low, high


def _daqp() -> Any:
    try:
        import daqp
    except ImportError as error:
        raise MissingExtraError("daqp", "qp", "method 'prioritized'") from error
    return daqp
