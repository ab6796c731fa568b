"""Travelling bases: move the base joints of a start so that the tip is near its goal.

A goal may be a thousand times further away than the chain is long, while damped steps scale with that length. So the
joints of the base ("carriers") move first, one after another, each to where the tip is nearest to the goal.
"""

from __future__ import annotations

import math

import numpy as np

from . import inner, part
from .chain_memory import CODE, ENDS, SETTINGS
from .damped import sweep_tip, within
from .joint_step import PRISMATIC, ROW_NUMBERS, TRANSFORM, along, vector
from .lanes import beyond, load, store
from .rotations import cross, dot, minus, plus, times

CYCLES = 8  # passes over the joints of the base
LEVER = 1e-12  # squared lever arm [m²]; with a shorter one, turning a joint cannot bring the tip nearer
LENGTH = 4.0  # length of the chain, in units of SETTINGS.arm


@inner
def aim_room(rows, values):
    """Return the number of values of workspace that `aim` needs."""
    return values + 6 * rows


@inner
def travels(settings):
    """Return whether the chain has base joints to aim (carriers)."""
    return load(settings, SETTINGS.carriers) > 0.0


@part
def turned(p, origin, axis, angle):
    """Return a point rotated by an angle about an axis through `origin` (Rodrigues' formula)."""
    arm, sine, cosine = minus(p, origin), math.sin(angle), math.cos(angle)
    along_axis = times(dot(axis, arm) * (1.0 - cosine), axis)
    return plus(origin, plus(plus(times(cosine, arm), times(sine, cross(axis, arm))), along_axis))


@part
def slide_there(chain, row, value, axis, there, tip, pose):
    """Slide a prismatic joint, within limits, to where the tip is nearest to `there`; return the new tip position."""
    at = ENDS.size + ROW_NUMBERS.size * row
    rate = np.float64(load(chain.numbers, at + ROW_NUMBERS.multiplier) * load(chain.numbers, at + ROW_NUMBERS.advance))
    x = load(pose, value)
    new = within(chain.limits, value, x + dot(axis, minus(there, tip)) / rate)
    store(pose, value, new)
    return along(tip, axis, (new - x) * rate)


@part
def turn_there(chain, row, value, axis, origin, there, tip, pose):
    """Rotate a joint, within limits, to where the tip is nearest to `there`; return the new tip position."""
    rate = np.float64(load(chain.numbers, ENDS.size + ROW_NUMBERS.size * row + ROW_NUMBERS.multiplier))
    u, v = minus(tip, origin), minus(there, origin)
    u, v = minus(u, times(dot(axis, u), axis)), minus(v, times(dot(axis, v), axis))
    if dot(u, u) < LEVER or dot(v, v) < LEVER:
        return tip
    x = load(pose, value)
    new = within(chain.limits, value, x + math.atan2(dot(axis, cross(u, v)), dot(u, v)) / rate)
    store(pose, value, new)
    return turned(tip, origin, axis, (new - x) * rate)


@part
def aim(chain, rows, values, goal, given, room, q, lane, width):
    """Move the base joints of one start, a lane of `q`, towards its goal.

    A start given by the user is changed only if the goal is further from its tip than the chain is long. Revolute base
    joints turn only if the goal is that far away. `room` is workspace of `aim_room` numbers.
    """
    codes, numbers, settings, _ = chain
    carriers, arm = np.int64(load(settings, SETTINGS.carriers)), load(settings, SETTINGS.arm)
    weights, pose, work = vector(settings, SETTINGS.position_weights), room, beyond(room, values)
    for value in range(values):
        store(pose, value, np.float64(load(q, width * value + lane)))
    for cycle in range(CYCLES):
        _, _, _, tip = sweep_tip(codes, numbers, rows, load(settings, SETTINGS.spin), pose, work)
        goal_at = vector(goal, TRANSFORM.origin)
        there = (
            tip[0] + weights[0] * (goal_at[0] - tip[0]),
            tip[1] + weights[1] * (goal_at[1] - tip[1]),
            tip[2] + weights[2] * (goal_at[2] - tip[2]),
        )
        square = dot(minus(there, tip), minus(there, tip))
        far = square > (LENGTH * arm) ** 2 and square > load(settings, SETTINGS.near)
        if (given and cycle == 0 and not far) or (cycle > 0 and square < arm * arm):
            break
        for row in range(rows - 1, -1, -1):
            value = load(codes, CODE.size * row + CODE.value)
            if value >= carriers:
                continue
            axis, origin = vector(work, 6 * row), vector(work, 6 * row + 3)
            if load(codes, CODE.size * row + CODE.motion) == PRISMATIC:
                tip = slide_there(chain, row, value, axis, there, tip, pose)
            elif far:
                tip = turn_there(chain, row, value, axis, origin, there, tip, pose)
    for value in range(carriers):
        store(q, width * value + lane, load(pose, value))
