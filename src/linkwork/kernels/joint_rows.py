"""Rows of goals of joints: `Rest`, which is added to the normal matrix directly, and `Couple`, an explicit row."""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import HEADER, cone_at, table
from .goal_layout import (
    AIM,
    BALL_REST,
    COUPLE_AIM,
    COUPLE_ITEM,
    FIRST_CONE_REST,
    GOAL,
    REST_ITEM,
    REST_NUMBERS,
    WRAPPED_REST,
)
from .goal_rows import explicit_row, item
from .lanes import beyond
from .rotations import quaternion_product, rotation_vector
from .swing_twist import cone_axes


@inner
def rest_item(codes, goal, aim, k):
    """Return the codes, the gains and the pose of one of a Rest goal's items."""
    entry = beyond(table(codes, HEADER.goal_items, codes), goal[GOAL.item] + REST_ITEM.size * k)
    numbers = beyond(aim, AIM.size + REST_NUMBERS.size * k)
    return entry, beyond(numbers, REST_NUMBERS.gains), beyond(numbers, REST_NUMBERS.pose)


@part
def rest_goal(codes, goal, aim, q, scratch):
    """Write the errors of Rest: the difference of each joint from a pose, times its gain."""
    for k in range(goal[GOAL.count]):
        entry, gains, pose = rest_item(codes, goal, aim, k)
        value, row = beyond(q, entry[REST_ITEM.value]), entry[REST_ITEM.error]
        if entry[REST_ITEM.kind] >= BALL_REST:
            w, x, y, z = quaternion_product((value[0], -value[1], -value[2], -value[3]), pose)
            turn = rotation_vector(w, x, y, z)  # in the ball's own axes
            for i in range(3):
                if gains[i] != 0.0:
                    scratch.errors[row] = gains[i] * item(turn, i)
                    row += 1
        else:
            way = pose[0] - value[0]
            if entry[REST_ITEM.kind] == WRAPPED_REST and abs(way) >= math.pi:
                way -= 2.0 * math.pi * math.floor((way + math.pi) / (2.0 * math.pi))
            scratch.errors[row] = gains[0] * way


@part
def add_rest(codes, numbers, goal, aim, q, scratch):
    """Add a Rest goal to the normal matrix: each joint to its own column, a ball with a cone to its three columns."""
    for k in range(goal[GOAL.count]):
        entry, gains, _ = rest_item(codes, goal, aim, k)
        row = entry[REST_ITEM.error]
        weight = aim[AIM.radians] if row < goal[GOAL.mask] else aim[AIM.metres]
        if entry[REST_ITEM.kind] >= FIRST_CONE_REST:
            cone = cone_at(codes, numbers, entry[REST_ITEM.kind] - FIRST_CONE_REST)
            cone_axes(cone, beyond(q, entry[REST_ITEM.value]), scratch.work)
        for i in range(1 if entry[REST_ITEM.kind] < BALL_REST else 3):
            gain = weight * gains[i]
            if gain != 0.0:
                add_rest_row(codes[HEADER.columns], entry, i, gain, weight * scratch.errors[row], scratch)
                row += 1


@part
def add_rest_row(n, entry, i, gain, error, scratch):
    """Add one row of a Rest goal: of axis i of its joint, or of the components of a cone's three axes along it."""
    first, matrix, gradient, axes = entry[REST_ITEM.column], scratch.matrix, scratch.gradient, scratch.work
    if entry[REST_ITEM.kind] < FIRST_CONE_REST:
        matrix[(n + 1) * (first + i)] += gain * gain
        gradient[first + i] += gain * error
        return
    for a in range(3):
        along = gain * axes[3 * a + i]
        gradient[first + a] += along * error
        for b in range(a + 1):
            matrix[n * (first + a) + first + b] += along * gain * axes[3 * b + i]


@part
def couple_goal(codes, goal, aim, q, scratch):
    """Write the row of Couple: a linear combination of joint values."""
    row, items = explicit_row(codes, goal, 0, 0.0, scratch), table(codes, HEADER.goal_items, codes)
    weight, total = aim[AIM.radians] if goal[GOAL.mask] else aim[AIM.metres], aim[COUPLE_AIM.value]
    for k in range(goal[GOAL.count]):
        entry, coefficient = beyond(items, goal[GOAL.item] + COUPLE_ITEM.size * k), aim[COUPLE_AIM.size + k]
        total -= coefficient * q[entry[COUPLE_ITEM.value]]
        row[entry[COUPLE_ITEM.column]] += weight * coefficient
    scratch.errors[goal[GOAL.error]] = total
    scratch.weighted[goal[GOAL.row]] = weight * total
