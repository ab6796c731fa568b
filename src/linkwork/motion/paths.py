"""Paths of goals: the targets of an effector, frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import GoalError
from ..goals import Reach
from ..linkage.linkage import Linkage
from ..linkage.poses import PoseLike
from ..transforms import FloatArray, as_array, is_whole


def line(linkage: Linkage, goal: Reach, *, start: PoseLike, frames: int = 21) -> list[Reach]:
    """Return goals on the straight line from the effector's current position to a goal, both ends included.

    Positions are evenly spaced; orientations are interpolated by the shorter rotation, as in the chapter (5.3).

    Args:
        linkage: The linkage.
        goal: The last goal.
        start: The pose at the first frame.
        frames: Number of goals.
    """
    return [goal.moved(target) for target in line_targets(linkage, goal, start, frames)]


def line_targets(linkage: Linkage, goal: Reach, start: PoseLike, frames: int) -> FloatArray:
    """Return the targets (frames, 4, 4) of the goals on a line; see `line`."""
    _check_frames(frames)
    world = linkage.forward(start, frame=goal.frame)
    shares = np.linspace(0.0, 1.0, frames)
    targets = np.tile(goal.target, (frames, 1, 1))
    if goal.position is not None:
        count = len(goal.position)
        begin = world[:count, 3]
        targets[:, :count, 3] = begin + shares[:, None] * (goal.position - begin)
    if goal.orientation is not None:
        from scipy.spatial.transform import Rotation, Slerp

        ends = Rotation.from_matrix(np.stack([world[:3, :3], goal.orientation]))
        targets[:, :3, :3] = Slerp([0.0, 1.0], ends)(shares).as_matrix()
    return targets


def spline(frame: str, points: ArrayLike, *, frames: int = 48, closed: bool = False) -> list[Reach]:
    """Return position goals along a smooth curve through points (n, 2) or (n, 3), evenly spaced along it.

    Args:
        frame: Name of the frame that should follow it.
        points: The points to pass, in order.
        frames: Number of goals.
        closed: Return smoothly to the first point.
    """
    from scipy.interpolate import CubicSpline

    _check_frames(frames)
    corners = as_array(points, "points of a path")
    if corners.ndim != 2 or corners.shape[1] not in (2, 3) or len(corners) < 2 or not np.isfinite(corners).all():
        raise GoalError(f"points of a path must be finite, of shape (n >= 2, 2 or 3), got shape {corners.shape}.")
    if closed and not np.array_equal(corners[0], corners[-1]):
        corners = np.vstack([corners, corners[:1]])
    gaps = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    if (gaps == 0.0).any():
        raise GoalError("two neighbouring points of a path are the same.")
    curve = CubicSpline(np.concatenate([[0.0], gaps.cumsum()]), corners, bc_type="periodic" if closed else "natural")
    fine = np.linspace(0.0, gaps.sum(), 64 * len(corners))
    lengths = np.concatenate([[0.0], np.linalg.norm(np.diff(curve(fine), axis=0), axis=1).cumsum()])
    even = np.interp(np.linspace(0.0, lengths[-1], frames), lengths, fine)
    return [Reach(frame, position=position) for position in curve(even)]


def curve(function: Callable[[float], Reach | Sequence[Any]], *, frames: int = 48) -> list[Any]:
    """Return the goals that a function returns for parameters from 0 to 1."""
    _check_frames(frames)
    return [function(float(share)) for share in np.linspace(0.0, 1.0, frames)]


def _check_frames(frames: int) -> None:
    if not is_whole(frames) or frames < 1:
        raise GoalError(f"a path needs a whole number of frames, at least one, got {frames!r}.")
