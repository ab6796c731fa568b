"""Small motions of targets and poses, for derivatives, in arrays of NumPy, PyTorch or JAX.

A rigid target moves by a twist: the velocity of its origin and its angular velocity, both along the world's axes. A
pose moves by the velocities of its joints. `xp` is the library: `numpy`, `torch` or `jax.numpy`. `own` is the shape of
one target: (4, 4) for a pose, (3, 3) for a rotation, (3,) or (2,) for a position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..linkage.coordinates import CoordinateTable

Own: TypeAlias = tuple[int, ...]
NEARLY = 1e-3  # matrices that deviate less from a rotation are replaced by the nearest one
ROUNDS = 2  # rounds of Newton's method for that; errors: 1e-3, 1e-6, 1e-12


def nearest_rotations(xp: Any, targets: Any, own: Own) -> Any:
    """Return targets with nearly exact rotations, as of single precision, replaced by exact ones.

    Positions, and matrices that are not nearly rotations, are not changed.

    Example:
        >>> import numpy as np
        >>> nearest_rotations(np, 1.0001 * np.eye(3), (3, 3)).round(9).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if len(own) < 2:
        return targets
    R = given = targets[..., :3, :3]
    flaw = R.mT @ R - xp.eye(3, dtype=R.dtype, device=R.device)
    good = abs(flaw).sum(-1).sum(-1)[..., None, None] < NEARLY
    for _ in range(ROUNDS):
        R = 1.5 * R - 0.5 * R @ (R.mT @ R)
    R = xp.where(good, R, given)
    if own == (3, 3):
        return R
    return xp.concat([xp.concat([R, targets[..., :3, 3:]], axis=-1), targets[..., 3:, :]], axis=-2)


def same_part(poses: Any, own: Own) -> Any:
    """Return the part of poses (..., 4, 4) that targets of a shape have: all, the rotation or the position."""
    return poses[..., : own[0], : own[1]] if len(own) == 2 else poses[..., : own[0], 3]


def twist_of(xp: Any, targets: Any, changes: Any, own: Own) -> Any:
    """Return the twists (..., 6) for given changes of targets: v of ``dp = v``, and w of ``dR = [w] R``.

    Changes have the shape of targets; components that are not rigid motions are ignored.
    """
    if len(own) < 2:
        still = xp.zeros_like(changes[..., :1])
        return xp.concat([changes, *[still] * (6 - own[0])], axis=-1)
    turned = 0.5 * _axial(xp, changes[..., :3, :3] @ targets[..., :3, :3].mT)
    linear = changes[..., :3, 3] if own == (4, 4) else xp.zeros_like(turned)
    return xp.concat([linear, turned], axis=-1)


def change_of(xp: Any, targets: Any, twists: Any, own: Own) -> Any:
    """Return the changes of targets by twists (..., 6), in the shape of the targets: the inverse of `twist_of`."""
    if len(own) < 2:
        return twists[..., : own[0]]
    turned = _crossed(xp, twists[..., 3:]) @ targets[..., :3, :3]
    if own == (3, 3):
        return turned
    top = xp.concat([turned, twists[..., :3, None]], axis=-1)
    return xp.concat([top, xp.zeros_like(top[..., :1, :])], axis=-2)


def target_gradient(xp: Any, targets: Any, gradients: Any, own: Own) -> Any:
    """Return the gradient by the numbers of targets from that by their twists (..., 6): the transpose of `twist_of`.

    It is tangential to the rigid transforms.
    """
    halved = xp.concat([gradients[..., :3], 0.5 * gradients[..., 3:]], axis=-1)
    return change_of(xp, targets, halved, own)


def twist_gradient(xp: Any, targets: Any, gradients: Any) -> Any:
    """Return the gradient by twists (..., 6) from that by poses (..., 4, 4): the transpose of `change_of`."""
    spin = gradients[..., :3, :3] @ targets[..., :3, :3].mT
    return xp.concat([gradients[..., :3, 3], _axial(xp, spin)], axis=-1)


def pose_change(xp: Any, table: CoordinateTable, q: Any, velocities: Any) -> Any:
    """Return how the values of poses (..., nq) change with velocities (..., nv): ``dq = G v``.

    The two are equal except for quaternions, which turn about their own axes: ``dq = q (0, w) / 2``.
    """
    if not table.quaternions:
        return velocities
    parts, done = [], 0
    for k, j in table.quaternions:
        (w, x, y, z), (a, b, c) = (q[..., k + i] for i in range(4)), (velocities[..., j + i] for i in range(3))
        turned = (-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a)
        parts += [velocities[..., done:j], 0.5 * xp.stack(turned, axis=-1)]
        done = j + 3
    return xp.concat([*parts, velocities[..., done:]], axis=-1)


def stepped(xp: Any, table: CoordinateTable, q: Any, velocities: Any) -> Any:
    """Return poses (..., nq) after a small step by velocities (..., nv), with quaternions normalised."""
    after = q + pose_change(xp, table, q, velocities)
    return _each_turn(xp, table, after, lambda _, turn: turn / (turn * turn).sum(-1)[..., None] ** 0.5)


def same_signs(xp: Any, table: CoordinateTable, q: Any, start: Any) -> Any:
    """Return poses (..., nq) with the signs of quaternions chosen to be nearer to a start."""
    return _each_turn(
        xp, table, q, lambda at, turn: xp.where((turn * start[..., at]).sum(-1)[..., None] < 0.0, -turn, turn)
    )


def velocity_gradient(xp: Any, table: CoordinateTable, q: Any, gradients: Any) -> Any:
    """Return the gradient by velocities (..., nv) from that by the values of poses (..., nq): ``G^T g``."""
    if not table.quaternions:
        return gradients
    parts, done = [], 0
    for k, _ in table.quaternions:
        (w, x, y, z), (d, a, b, c) = (q[..., k + i] for i in range(4)), (gradients[..., k + i] for i in range(4))
        turned = (-x * d + w * a + z * b - y * c, -y * d - z * a + w * b + x * c, -z * d + y * a - x * b + w * c)
        parts += [gradients[..., done:k], 0.5 * xp.stack(turned, axis=-1)]
        done = k + 4
    return xp.concat([*parts, gradients[..., done:]], axis=-1)


def velocity_of(xp: Any, table: CoordinateTable, q: Any, changes: Any) -> Any:
    """Return the velocities (..., nv) for given changes of poses (..., nq); quaternions keep their length."""
    return velocity_gradient(xp, table, q, _raised(xp, table, q, changes))


def pose_gradient(xp: Any, table: CoordinateTable, q: Any, gradients: Any) -> Any:
    """Return the gradient by the values of poses (..., nq) from that by velocities: the transpose of `velocity_of`."""
    return _raised(xp, table, q, pose_change(xp, table, q, gradients))


def _raised(xp: Any, table: CoordinateTable, q: Any, values: Any) -> Any:
    """Return values (..., nq), with those of quaternions times 4 over their squared length: ``(G^T G)^-1``."""
    return _each_turn(xp, table, values, lambda at, turn: turn * 4.0 / (q[..., at] * q[..., at]).sum(-1)[..., None])


def _each_turn(xp: Any, table: CoordinateTable, values: Any, change: Callable[[slice, Any], Any]) -> Any:
    """Return values (..., nq) with each quaternion replaced by a function of its slice and its values."""
    if not table.quaternions:
        return values
    parts, done = [], 0
    for k, _ in table.quaternions:
        parts += [values[..., done:k], change(slice(k, k + 4), values[..., k : k + 4])]
        done = k + 4
    return xp.concat([*parts, values[..., done:]], axis=-1)


def _axial(xp: Any, matrices: Any) -> Any:
    """Return a with ``tr(M^T [w]) = a w`` for all w, shape (..., 3), of matrices (..., 3, 3)."""
    pairs = ((2, 1), (0, 2), (1, 0))
    return xp.stack([matrices[..., i, j] - matrices[..., j, i] for i, j in pairs], axis=-1)


def _crossed(xp: Any, vectors: Any) -> Any:
    """Return the matrices (..., 3, 3) whose product with another vector is the cross product."""
    x, y, z = (vectors[..., i] for i in range(3))
    zero = xp.zeros_like(x)
    rows = ((zero, -z, y), (z, zero, -x), (-y, x, zero))
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)
