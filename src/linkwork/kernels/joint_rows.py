"""What goals of joints ask for: `Rest`, which goes straight into the normal matrix, and `Couple`, an explicit row."""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import AT_COLUMNS, AT_ITEMS, cone_at, table
from .goal_layout import (
    AT_COUNT,
    AT_COUPLE_ITEM_COLUMN,
    AT_COUPLE_ITEM_VALUE,
    AT_ERROR,
    AT_GAINS,
    AT_ITEM,
    AT_MASK,
    AT_METRES,
    AT_POSE,
    AT_RADIANS,
    AT_REST_ITEM_COLUMN,
    AT_REST_ITEM_ERROR,
    AT_REST_ITEM_KIND,
    AT_REST_ITEM_VALUE,
    AT_ROW,
    AT_VALUE,
    BALL_REST,
    COUPLE_ITEM_SIZE,
    COUPLE_SIZE,
    FIRST_CONE_REST,
    REST_ITEM_SIZE,
    REST_NUMBERS_SIZE,
    REST_SIZE,
    WRAPPED_REST,
)
from .goal_rows import explicit_row, item
from .lanes import beyond
from .swing_twist import cone_axes


@inner
def rest_item(codes, goal, aim, k):
    """Return the codes, the gains and the pose of one of a Rest goal's items."""
    entry = beyond(table(codes, AT_ITEMS, codes), goal[AT_ITEM] + REST_ITEM_SIZE * k)
    numbers = beyond(aim, REST_SIZE + REST_NUMBERS_SIZE * k)
    return entry, beyond(numbers, AT_GAINS), beyond(numbers, AT_POSE)


@part
def rest_goal(codes, goal, aim, q, scratch):
    """Rest: each joint's way to a pose, times its gain."""
    for k in range(goal[AT_COUNT]):
        entry, gains, pose = rest_item(codes, goal, aim, k)
        value, row = beyond(q, entry[AT_REST_ITEM_VALUE]), entry[AT_REST_ITEM_ERROR]
        if entry[AT_REST_ITEM_KIND] >= BALL_REST:
            turn = turn_to(value, pose)
            for i in range(3):
                if gains[i] != 0.0:
                    scratch.errors[row] = gains[i] * item(turn, i)
                    row += 1
        else:
            way = pose[0] - value[0]
            if entry[AT_REST_ITEM_KIND] == WRAPPED_REST and abs(way) >= math.pi:
                way -= 2.0 * math.pi * math.floor((way + math.pi) / (2.0 * math.pi))
            scratch.errors[row] = gains[0] * way


@part
def turn_to(a, b):
    """Return the rotation vector, about its own axes, that turns one quaternion onto another."""
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2]
    y = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1]
    z = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0]
    sine = math.sqrt(x * x + y * y + z * z)
    if w < 0.0:
        w, sine = -w, -sine
    scale = 2.0 * math.atan2(abs(sine), w) / sine if sine != 0.0 else 0.0
    return scale * x, scale * y, scale * z


@part
def add_rest(codes, numbers, goal, aim, q, scratch):
    """Add a Rest goal to the normal matrix: each joint to its own column, a ball with a cone to its three together."""
    for k in range(goal[AT_COUNT]):
        entry, gains, _ = rest_item(codes, goal, aim, k)
        row = entry[AT_REST_ITEM_ERROR]
        weight = aim[AT_RADIANS] if row < goal[AT_MASK] else aim[AT_METRES]
        if entry[AT_REST_ITEM_KIND] >= FIRST_CONE_REST:
            cone = cone_at(codes, numbers, entry[AT_REST_ITEM_KIND] - FIRST_CONE_REST)
            cone_axes(cone, beyond(q, entry[AT_REST_ITEM_VALUE]), scratch.work)
        for i in range(1 if entry[AT_REST_ITEM_KIND] < BALL_REST else 3):
            gain = weight * gains[i]
            if gain != 0.0:
                add_rest_row(codes[AT_COLUMNS], entry, i, gain, weight * scratch.errors[row], scratch)
                row += 1


@part
def add_rest_row(n, entry, i, gain, error, scratch):
    """Add one row of a Rest goal: of axis i of its joint, or of what the three axes of a cone have along it."""
    first, matrix, gradient, axes = entry[AT_REST_ITEM_COLUMN], scratch.matrix, scratch.gradient, scratch.work
    if entry[AT_REST_ITEM_KIND] < FIRST_CONE_REST:
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
    """Couple: a sum of values times coefficients."""
    row, items = explicit_row(codes, goal, 0, 0.0, scratch), beyond(table(codes, AT_ITEMS, codes), goal[AT_ITEM])
    weight, total = aim[AT_RADIANS] if goal[AT_MASK] else aim[AT_METRES], aim[AT_VALUE]
    for k in range(goal[AT_COUNT]):
        entry, coefficient = beyond(items, COUPLE_ITEM_SIZE * k), aim[COUPLE_SIZE + k]
        total -= coefficient * q[entry[AT_COUPLE_ITEM_VALUE]]
        row[entry[AT_COUPLE_ITEM_COLUMN]] += weight * coefficient
    scratch.errors[goal[AT_ERROR]] = total
    scratch.weighted[goal[AT_ROW]] = weight * total
