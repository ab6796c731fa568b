"""Derivatives of solutions by their targets, from the implicit function theorem, for NumPy and PyTorch arrays.

A solution satisfies ``f(q) = T``. If the target moves by a twist t, the joint velocities satisfy ``J v = t``; the
shortest such v is ``v = J^+ t``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..goals.base import metres_per_radian
from ..transforms import FloatArray
from .chain_solver import Prepared

AT_LIMIT = 1e-6  # a value nearer to its limit counts as at the limit, also in single precision [rad, m]
PROBES = 7  # random poses at which the number of directions that a chain can follow is determined


class Implicit:
    """The derivative of a chain's solutions: velocities by the twist of the target.

    Joints at a limit stay there. Singular values s below e, which is `damping` times the largest, are inverted as
    ``s / e²`` instead of ``1 / s``: no gain exceeds ``1 / e``, and directions that the chain cannot follow get zero.

    Args:
        prepared: The solver of the chain.
        damping: Share of the largest singular value below which values are damped.

    Attributes:
        columns: The velocities that move the frame and may change, shape (k,).
        lower: Lower limits of values (nq,) that are kept; minus infinity for all others.
        upper: Upper limits likewise; plus infinity for all others.
        rank: Number of directions of a target that the chain can follow away from singular poses.
    """

    def __init__(self, prepared: Prepared, damping: float) -> None:
        linkage, self.goal, self.damping = prepared.linkage, prepared.goal, damping
        self.columns = _moving(prepared)
        self.weights = np.array([1.0] * 3 + [metres_per_radian(linkage)] * 3) * np.isin(np.arange(6), self.goal.rows)
        places = linkage.table.pose_index
        self.places = np.maximum(places[self.columns], 0)  # any index for a quaternion, which has no limits
        limited = np.isin(np.arange(linkage.nq), places[self.columns]) & prepared.settings.keeps_limits
        self.lower, self.upper = np.where(limited, linkage.lower, -np.inf), np.where(limited, linkage.upper, np.inf)
        self.scatter = np.eye(linkage.nv)[:, self.columns]
        probes = linkage.random_pose(0, PROBES)
        there, jacobian = linkage.forward(probes, frame=self.goal.frame), linkage.jacobian(probes, self.goal.frame)
        s = np.linalg.svd(self._asked(np, there) @ jacobian[..., self.columns], compute_uv=False)
        self.rank = int((s > damping * s[:, :1]).sum(axis=-1).max())

    def __call__(self, xp: Any, q: Any, there: Any, jacobian: Any) -> tuple[Any, Any]:
        """Return velocities by twists, shape (..., nv, 6), and whether a direction is damped or lost, shape (...).

        Args:
            xp: The library of the arrays, `numpy` or `torch`.
            q: Poses (..., nq) that reach their targets.
            there: Transforms of the frame (..., 4, 4).
            jacobian: Jacobians of the frame (..., 6, nv), along the world's axes.
        """
        asked = self._asked(xp, there)
        held = (q <= _like(q, self.lower + AT_LIMIT)) | (q >= _like(q, self.upper - AT_LIMIT))
        held = held[..., self.places]
        U, s, Vt = xp.linalg.svd(
            xp.where(held[..., None, :], 0.0, asked @ jacobian[..., self.columns]), full_matrices=False
        )
        largest = s[..., :1]
        edge = self.damping * xp.where(largest > 0.0, largest, 1.0)
        clear = s >= edge
        gains = xp.where(clear, 1.0 / xp.where(clear, s, 1.0), s / edge**2)
        moved = xp.where(held[..., :, None], 0.0, (Vt.mT * gains[..., None, :]) @ (U.mT @ asked))
        return _like(q, self.scatter) @ moved, clear.sum(-1) < self.rank

    def clamped(self, xp: Any, q: Any) -> Any:
        """Return poses within the limits of the joints that move."""
        return xp.maximum(xp.minimum(q, _like(q, self.upper)), _like(q, self.lower))

    def _asked(self, xp: Any, there: Any) -> Any:
        """Return the weighted projection onto the directions that the goal constrains, shape (6, 6) or (..., 6, 6)."""
        weights = _like(there, np.diag(self.weights))
        if self.goal.free is None:
            return weights
        axis = there[..., :3, :3] @ _like(there, self.goal.free)  # rotation about it is unconstrained
        spin = xp.concat([xp.zeros_like(axis), axis], axis=-1)
        return weights @ (_like(there, np.eye(6)) - spin[..., :, None] * spin[..., None, :])


def _like(array: Any, numbers: FloatArray) -> Any:
    """Return constants in the library, type and device of an array."""
    return numbers if isinstance(array, np.ndarray) else array.new_tensor(numbers)


def _moving(prepared: Prepared) -> NDArray[np.int64]:
    """Return the velocities of the joints that move a prepared frame."""
    table, chain = prepared.linkage.table, prepared.chain
    values = np.zeros(prepared.linkage.nq, np.bool_)
    values[chain.plain[1]] = True
    free = (table.pose_index >= 0) & values[table.pose_index]
    begins = dict(table.quaternions)
    for _, place in chain.balls:
        free[begins[place] : begins[place] + 3] = True
    return np.flatnonzero(free)
