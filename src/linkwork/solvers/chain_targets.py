"""Targets of a chain as kernels read them, 4x4 arrays in double precision, row by row; errors from their squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import GoalError
from ..goals import Reach
from ..kernels.starts import RIGID
from ..transforms import FloatArray


def read_targets(goal: Reach, targets: FloatArray) -> FloatArray:
    """Return targets (m, 4, 4) from matrices, or from positions or rotations where a goal asks for no more."""
    position, turned = goal.coordinates, len(goal.rows) > goal.coordinates
    shape = targets.shape[1:]
    if shape == (4, 4):  # one that may be written, copied only where it must be
        return np.require(targets, np.float64, ["C", "W"])
    result = np.tile(np.eye(4), (len(targets), 1, 1))
    if not turned and shape in ((3,), (position,)):
        result[:, : shape[0], 3] = targets
    elif not position and shape == (3, 3):
        result[:, :3, :3] = targets
    else:
        kinds = "4x4 matrices" + ("" if turned else f" or positions of {position} numbers")
        kinds += "" if position else " or 3x3 rotations"
        raise GoalError(f"targets of {goal.frame!r} are {kinds}; got shape {shape} each.")
    return result


def rigid(targets: FloatArray) -> NDArray[np.bool_]:
    """Return which targets (m, 4, 4) are finite rigid transforms, by the measure of `kernels.starts.read_goal`."""
    turns = targets[:, :3, :3]
    with np.errstate(invalid="ignore", over="ignore"):
        flaws = ((turns @ turns.swapaxes(1, 2) - np.eye(3)) ** 2).sum(axis=(1, 2))
        flaws += ((targets[:, 3] - [0.0, 0.0, 0.0, 1.0]) ** 2).sum(axis=1)
        return np.asarray((flaws < RIGID) & (np.linalg.det(turns) > 0.0) & np.isfinite(targets).all(axis=(1, 2)))


def unsquared(goal: Reach, position: Any, rotation: Any) -> FloatArray:
    """Return position and rotation errors [m, rad], those that a goal asks for, from the squares that kernels know."""
    parts = []
    if goal.coordinates:
        parts.append(np.sqrt(position))
    if len(goal.rows) > goal.coordinates:
        parts.append(2.0 * np.arcsin(np.minimum(np.sqrt(rotation) / 2.0, 1.0)))
    return np.stack(parts, axis=-1)
