"""Bases that travel: a start is brought to its goal by the slides that the whole chain rides on.

A goal may be a thousand times further away than the chain is long, and damped steps are measured by its length. So the
base goes first, one joint after another, each to where the tip is nearest to the goal.
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

CYCLES = 8  # through the joints of the base
LEVER = 1e-12  # squared: a turn that moves the tip by less is no way to the goal
LENGTH = 4.0  # of the chain, in arms


@inner
def aim_room(rows, values):
    """Return how many numbers `aim` works in."""
    return values + 6 * rows


@inner
def travels(settings):
    """Return whether the chain rides on slides that are aimed."""
    return load(settings, SETTINGS.carriers) > 0.0


@part
def turned(p, origin, axis, angle):
    """Return a point turned about an axis (Rodrigues)."""
    arm, sine, cosine = minus(p, origin), math.sin(angle), math.cos(angle)
    along_axis = times(dot(axis, arm) * (1.0 - cosine), axis)
    return plus(origin, plus(plus(times(cosine, arm), times(sine, cross(axis, arm))), along_axis))


@part
def slide_there(chain, row, value, axis, there, tip, pose):
    """Move a slide to where the tip is nearest to the goal, and return where the tip is then."""
    at = ENDS.size + ROW_NUMBERS.size * row
    rate = np.float64(load(chain.numbers, at + ROW_NUMBERS.multiplier) * load(chain.numbers, at + ROW_NUMBERS.advance))
    x = load(pose, value)
    new = within(chain.limits, value, x + dot(axis, minus(there, tip)) / rate)
    store(pose, value, new)
    return along(tip, axis, (new - x) * rate)


@part
def turn_there(chain, row, value, axis, origin, there, tip, pose):
    """Turn a joint to where the tip is nearest to the goal, and return where the tip is then."""
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
    """Bring the base of a start, a lane of `q`, to its goal.

    A start that was given stays as it is unless the goal is further from its tip than the chain is long. Joints turn
    only then. `room` has `aim_room` numbers.
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
