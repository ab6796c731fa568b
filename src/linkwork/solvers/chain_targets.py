"""Targets of many problems; for a chain as contiguous 4x4 arrays in double precision, as the kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DeviceError, GoalError
from ..goals import Reach
from ..kernels.devices import on_card
from ..kernels.rigid import rigid_targets
from ..transforms import FloatArray


def as_targets(targets: ArrayLike, frame: str) -> NDArray[Any]:
    """Return targets as an array of numbers; raise GoalError if they are not numbers."""
    if on_card(targets):
        raise DeviceError(
            f"targets of {frame!r} are on a graphics card; solve them there with solve_batch(..., device='cuda'), "
            "or copy them to NumPy first."
        )
    try:
        array = np.asarray(targets)
    except ValueError as error:
        raise GoalError(f"targets of {frame!r} are an array of numbers, one row each: {error}.") from error
    if array.dtype.kind not in "fiu" or array.ndim < 2:
        raise GoalError(f"targets of {frame!r} are an array of numbers, one row each; got {array.dtype} {array.shape}.")
    return array


def read_targets(goal: Reach, targets: FloatArray) -> FloatArray:
    """Return targets (m, 4, 4) from matrices, or from positions or rotations if the goal needs no more."""
    position, turned = goal.coordinates, len(goal.rows) > goal.coordinates
    shape = targets.shape[1:]
    if shape == (4, 4):  # writable, copied only if necessary
        return np.require(targets, np.float64, ["C", "W"])
    result = np.tile(np.eye(4), (len(targets), 1, 1))
    if not turned and shape in ((3,), (position,)):
        result[:, : shape[0], 3] = targets
    elif not position and shape == (3, 3):
        result[:, :3, :3] = targets
    else:
        kinds = "4x4 matrices" + ("" if turned else f" or positions of {position} numbers")
        kinds += "" if position else " or 3x3 rotations"
        advice = ""
        if shape == (4,):
            advice = " A single 4x4 matrix goes in as targets[None]."
        elif turned and position and shape[-1:] == (3,):
            advice = " Positions alone need orientation=False, rotations alone position=False."
        raise GoalError(f"targets of {goal.frame!r} are {kinds}; got shape {shape} each.{advice}")
    return result


def rigid(targets: FloatArray) -> NDArray[np.bool_]:
    """Return which targets (m, 4, 4) are finite rigid transforms that are not too far away for the searches."""
    good = np.empty(len(targets), np.int64)
    rigid_targets(np.ascontiguousarray(targets, np.float64), good)
    return good.astype(np.bool_)


def unsquared(goal: Reach, position: Any, rotation: Any) -> FloatArray:
    """Return the position and rotation errors [m, rad] of a goal from the squares that kernels compute."""
    parts = []
    if goal.coordinates:
        parts.append(np.sqrt(position))
    if len(goal.rows) > goal.coordinates:
        parts.append(2.0 * np.arcsin(np.minimum(np.sqrt(rotation) / 2.0, 1.0)))
    return np.stack(parts, axis=-1)
