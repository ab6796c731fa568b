"""Rows of `Reach` with ranges: into the ranges, along and about the axes of the target or of the world."""

from __future__ import annotations

import math

from . import inner, part
from .body_state import origin
from .goal_layout import AIM, GOAL, RANGE_AIM, WORLD_AXES
from .goal_rows import NOTHING, along_axis, ask
from .lanes import beyond
from .pose_error import turn_between
from .rotations import cross, dot, length, minus, plus, times

SERIES = 1.0e-4  # [rad]: below this angle the factor of the square is taken from its series


@inner
def axis_of(matrix, k, world):
    """Return an axis of the ranges: of the world, or of a target with rows of four numbers."""
    if world:
        return along_axis(k, 1.0)
    return matrix[k], matrix[4 + k], matrix[8 + k]


@part
def turned_axis(w, axis):
    """Return the derivative of the component of a rotation vector w along an axis: ``(I + [w]/2 + c [w]²) axis``."""
    angle = length(w)
    half = 0.5 * max(angle, SERIES)
    factor = (1.0 - half / math.tan(half)) / (4.0 * half * half) if angle > SERIES else 1.0 / 12.0
    once = cross(w, axis)
    return plus(axis, plus(times(0.5, once), times(factor, cross(w, once))))


@part
def range_goal(codes, goal, aim, scratch):
    """Write the rows of Reach with ranges: deviations of a frame from its target beyond the range of each axis."""
    frame, mask, world = goal[GOAL.frame], goal[GOAL.mask], scratch.world
    here, wanted = beyond(world, 16 * frame), beyond(aim, RANGE_AIM.target)
    p = origin(world, frame)
    off, turn = minus(p, (wanted[3], wanted[7], wanted[11])), times(-1.0, turn_between(here, wanted, 4))
    count = 0
    for k in range(6):
        if not (mask >> k) & 1:
            continue
        weight = aim[AIM.metres] if k < 3 else aim[AIM.radians]
        axis = axis_of(wanted, k % 3, mask & WORLD_AXES)
        value = dot(off if k < 3 else turn, axis)
        low, high = aim[RANGE_AIM.low + k], aim[RANGE_AIM.high + k]
        force, torque = NOTHING, NOTHING
        if not low < value < high:
            force = times(weight, axis) if k < 3 else NOTHING
            torque = NOTHING if k < 3 else times(weight, turned_axis(turn, axis))
        error = min(max(value, low), high) - value
        ask(codes, goal, count, error, weight, torque, force, p, NOTHING, p, scratch)
        count += 1
