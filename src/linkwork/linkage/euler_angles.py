"""Convert rotations to joint values that do not jump from frame to frame.

A rotation has many sets of Euler angles; the set nearest to the previous frame is taken.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..transforms import FloatArray, steady
from .joints import Articulation, Ball, Floating


def turn_values(articulation: Articulation, rotations: FloatArray, near: FloatArray | None = None) -> FloatArray:
    """Return the values (n, 4 or 3) of a ball or floating joint for rotations (n, 3, 3).

    Args:
        articulation: A `Ball` or `Floating` joint.
        rotations: Its rotations in every frame.
        near: Values before the first frame; the nearest set of angles to them is taken.
    """
    from scipy.spatial.transform import Rotation

    turns: Any = Rotation.from_matrix(rotations)
    order = euler_order(articulation)
    if order is None:
        return steady(turns.as_quat(scalar_first=True, canonical=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of gimbal lock: any of the equivalent sets will do
        angles = turns.as_euler(order)
    return nearest(angles, order, near)


def euler_order(articulation: Articulation) -> str | None:
    """Return the order of a joint's Euler angles as SciPy writes it, or None if it stores a quaternion."""
    return articulation.euler if isinstance(articulation, Ball | Floating) else None


def nearest(angles: FloatArray, order: str, near: FloatArray | None = None) -> FloatArray:
    """Return Euler angles (n, 3) of the same rotations, each set the nearest to the previous one.

    ``(a, b, c)`` and ``(a + pi, pi - b, c + pi)`` are one rotation (with ``-b`` where the first axis comes again), as
    are whole turns of any of them.
    """
    middle = 0.0 if order[0] == order[2] else np.pi
    other = np.stack([angles[:, 0] + np.pi, middle - angles[:, 1], angles[:, 2] + np.pi], axis=1)
    start, both = angles[0] if near is None else near, np.stack([angles, other])
    before = np.concatenate([np.broadcast_to(start, (2, 1, 3)), both[:, :-1]], axis=1)
    steps = (both - before[:, None] + np.pi) % (2.0 * np.pi) - np.pi  # [i, j]: from set i of a frame to j of the next
    ways = np.abs(steps).sum(axis=-1)
    chosen = [0]
    for shorter in (ways[:, 1] < ways[:, 0]).T.tolist():  # is the second set nearer, from either set before
        chosen.append(int(shorter[chosen[-1]]))
    taken: FloatArray = steps[chosen[:-1], chosen[1:], np.arange(len(angles))]
    return start + np.cumsum(taken, axis=0)
