"""Keep steps within limits and loops closed: velocities to exclude, and poses to correct.

Methods with priority levels close loops as their first level. For the others, components that would open a loop are
removed from their steps here, and Newton's method closes the remaining gap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..linkage.linkage import Linkage
from ..linkage.swing_twist import outward
from ..transforms import FloatArray
from .loops import Closure
from .problem import State


def leaving_cones(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Return the velocities (..., k, nv) that move ball joints out of the cones they are at; zero rows for others."""
    result = np.zeros((*q.shape[:-1], 2 * len(linkage.cones), linkage.nv))
    for k, cone in enumerate(linkage.cones):
        for side, way in enumerate(outward(cone, q)):
            result[..., 2 * k + side, cone.v : cone.v + 3] = way
    return result


def loop_normals(state: State, excluded: NDArray[np.bool_] | None = None, held: FloatArray | None = None) -> FloatArray:
    """Return an orthonormal basis (..., k, nv) of the velocities that open loops, or move joints held at limits."""
    problem, velocities = state.problem, state.linkage.nv
    rows = [problem.all_rows_jacobian(state.q)[..., problem.priorities < 0, :]]
    if state.scale is not None:
        rows[0] = rows[0] * state.scale
    if excluded is not None:
        rows.append(np.eye(velocities) * excluded[..., None, :])
    if held is not None:
        rows.append(held)
    _, sigma, Vt = np.linalg.svd(np.concatenate(rows, axis=-2), full_matrices=False)
    kept = sigma > problem.rank * np.maximum(sigma[..., :1], 1e-300)
    basis: FloatArray = np.where(kept[..., None], Vt, 0.0)
    return basis


def closed(closure: Closure | None, q: FloatArray, free: NDArray[np.bool_], *, far: bool = False) -> FloatArray:
    """Return poses (n, nq) with loops closed by the free velocities, where Newton's method converges.

    With `far`, damped steps come first.
    """
    if closure is None:
        return q
    result = q.copy()
    for k, pose in enumerate(q):
        found = closure.newton(closure.approach(pose, free) if far else pose, free)
        if found is not None:
            result[k] = found
    return result
