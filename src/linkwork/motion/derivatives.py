"""Derivatives of a clip: velocities, accelerations and jerk, including rotations; and the jerk of a point."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import KeyFrameError
from ..linkage.poses import between
from ..transforms import FloatArray
from .splines import unwound

if TYPE_CHECKING:
    from .clips import Clip

WIDTH = 5  # number of frames used for a derivative


def derivative(clip: Clip, order: int) -> FloatArray:
    """Return the first, second or third derivative of a clip (n, nv) at every frame.

    Around each frame, the displacement to its neighbours, ``phi(s) = log(q(t)^-1 q(t + s))``, is a curve in a vector
    space. A polynomial through five of its values is differentiated at zero. Then ``v = phi'``, ``v' = phi''`` and,
    since rotations do not commute, ``v'' = phi''' - w x w' / 2`` for the angular velocity w of a quaternion.
    """
    count = len(clip)
    width = min(WIDTH, count)
    if width <= order:
        what = ("", "velocities", "accelerations", "jerk")[order]
        raise KeyFrameError(f"{what} need at least {order + 1} frames, and the clip has {count}.")
    first = np.clip(np.arange(count) - width // 2, 0, count - width)
    near = first[:, None] + np.arange(width)
    linkage, values = clip.linkage, unwound(clip.linkage, clip.poses)
    ways = np.stack([between(linkage, values, values[near[:, k]], wrap=False) for k in range(width)], axis=1)
    results = [_at_zero(clip.times[near] - clip.times[:, None], ways, k) for k in range(1, order + 1)]
    if order == 3:
        for _, j in linkage.table.quaternions:
            turn = slice(j, j + 3)
            results[2][:, turn] -= np.cross(results[0][:, turn], results[1][:, turn]) / 2.0
    return results[-1]


def _at_zero(times: FloatArray, values: FloatArray, order: int) -> FloatArray:
    """Return a derivative at zero of the polynomials through values (n, width, nv) at times (n, width)."""
    width = times.shape[1]
    unit = np.abs(times).max(axis=1)
    powers = (times / unit[:, None])[:, None, :] ** np.arange(width)[:, None]
    wanted = np.zeros((len(times), width, 1))
    wanted[:, order] = math.factorial(order)
    weights = np.linalg.solve(powers, wanted) / unit[:, None, None] ** order
    result: FloatArray = (weights * values).sum(axis=1)
    return result


def jerk(points: FloatArray, times: FloatArray) -> float:
    """Return the root mean square of the third derivative of a point's places (frames, 3) at even times [m/s³].

    It uses differences of the frames themselves, because a polynomial through five frames would smooth the jerk away.

    Example:
        >>> t = np.linspace(0, 1, 50)
        >>> round(jerk(np.stack([t**3, 0 * t, 0 * t], axis=1), t), 6)
        6.0
    """
    if len(points) < 4:
        return 0.0
    third = np.diff(points, 3, axis=0) / float(np.median(np.diff(times))) ** 3
    return float(np.sqrt((third**2).sum(axis=1).mean()))
