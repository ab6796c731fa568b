"""How a solution moves with its target: the implicit function theorem, in arrays of NumPy or PyTorch.

A solution keeps ``f(q) = T``. Where the target moves by a twist t, joints move by ``J v = t``: of all such v the
shortest, ``v = J^+ t``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..goals.base import metres_per_radian
from ..transforms import FloatArray
from .chain_solver import Prepared

AT_LIMIT = 1e-6  # a value so near to its limit is at it, in single precision too [rad, m]
PROBES = 7  # poses at which a chain is asked how many directions of a target it can follow


class Implicit:
    """The derivative of a chain's solutions: velocities by the twist of the target.

    Joints at a limit stay there. Singular values s below e, which is `damping` of the largest, are inverted as
    ``s / e²`` instead of ``1 / s``: no gain is above ``1 / e``, and what the chain cannot follow at all has no part.

    Args:
        prepared: The solver of the chain.
        damping: Of the largest singular value, where damping begins.

    Attributes:
        columns: The velocities that move the frame and may change, shape (k,).
        lower: Lower limits of values (nq,) that are kept; minus infinity for all others.
        upper: Upper limits.
        rank: How many directions of a target the chain can follow where it is not singular.
    """

    def __init__(self, prepared: Prepared, damping: float) -> None:
        linkage, self.goal, self.damping = prepared.linkage, prepared.goal, damping
        self.columns = _moving(prepared)
        self.weights = np.array([1.0] * 3 + [metres_per_radian(linkage)] * 3) * np.isin(np.arange(6), self.goal.rows)
        places = linkage.table.pose_index
        self.places = np.maximum(places[self.columns], 0)  # of a quaternion any: it has no limits
        limited = np.isin(np.arange(linkage.nq), places[self.columns]) & prepared.settings.keeps_limits
        self.lower, self.upper = np.where(limited, linkage.lower, -np.inf), np.where(limited, linkage.upper, np.inf)
        self.scatter = np.eye(linkage.nv)[:, self.columns]
        probes = linkage.random_pose(0, PROBES)
        there, jacobian = linkage.forward(probes, frame=self.goal.frame), linkage.jacobian(probes, self.goal.frame)
        s = np.linalg.svd(self._asked(np, there) @ jacobian[..., self.columns], compute_uv=False)
        self.rank = int((s > damping * s[:, :1]).sum(axis=-1).max())

    def __call__(self, xp: Any, q: Any, there: Any, jacobian: Any) -> tuple[Any, Any]:
        """Return velocities by twists, shape (..., nv, 6), and where a direction is damped or lost, shape (...).

        Args:
            xp: The library of the arrays, `numpy` or `torch`.
            q: Poses (..., nq) that are at their targets.
            there: Where the frame is (..., 4, 4).
            jacobian: Its Jacobian (..., 6, nv), along the world's axes.
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
        """Return what takes the weighted part of a twist that the goal asks for, shape (6, 6) or (..., 6, 6)."""
        weights = _like(there, np.diag(self.weights))
        if self.goal.free is None:
            return weights
        axis = there[..., :3, :3] @ _like(there, self.goal.free)  # a spin about it changes nothing
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
