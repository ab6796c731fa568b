"""A method: damped least squares with damping from the error (Sugihara 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwork.solvers import Method


@dataclass(frozen=True)
class Sugihara(Method):
    """``(J^T J + (e^T e / 2 + bias) 1) x = J^T e``: far away it is careful, near the goal it is Gauss-Newton.

    Args:
        bias: Constant part of the damping, for singular poses.
    """

    bias: float = 1e-6
    name: ClassVar[str] = "sugihara"

    def step(self, state: Any) -> Any:
        """Return the change of the pose, shape (..., nv)."""
        J, e = state.jacobian, state.weighted_error
        damping = 0.5 * (e * e).sum(axis=-1) + self.bias
        square = J.swapaxes(-1, -2) @ J + damping[..., None, None] * np.eye(J.shape[-1])
        state.notes["damping"] = damping  # shown in a trace
        return np.linalg.solve(square, (J.swapaxes(-1, -2) @ e[..., None]))[..., 0]
