"""A scene in motion: poses along a path, twists of joints, gradients of distances, bounds on speeds.

A straight path leads from a pose along a change, one number for each *column*: a velocity that may be nonzero. `ways`
tells for every value of the pose what drives it.
"""

from __future__ import annotations

import math

from .. import inner, part
from ..body_state import put_twist, turn_ball
from ..chain import keep
from ..joint_step import BALL, PRISMATIC, REVOLUTE, ROW_CODES, ROW_NUMBERS, STAY, TRANSFORM, pick, start, step
from ..lanes import beyond
from ..layout import Layout
from ..rotations import cross, dot, length, plus, times, vector
from ..tree import column as axis_of
from .piece_layout import BODY, BOUND, HEADER, NEAR, body_code, table

WAY = Layout("kind", "column")  # of a value; the column of a ball is the first of three; -1 if nothing drives it
PLAIN, QUATERNION = 0, 1  # kinds of values: a plain number, or the first of a quaternion
TWISTS = 18  # numbers per row: up to three twists, each an angular velocity and the velocity at the world's origin


@part
def put_pose(ways, values, q, change, share, out):
    """Write the pose at a share of the path along a change."""
    for k in range(values):
        out[k] = q[k]
    for k in range(values):
        kind, column = ways[WAY.size * k + WAY.kind], ways[WAY.size * k + WAY.column]
        if column >= 0 and kind == PLAIN:
            out[k] = q[k] + share * change[column]
        elif column >= 0:
            turn = times(share, (change[column], change[column + 1], change[column + 2]))
            turn_ball(beyond(q, k), turn, beyond(out, k))


@part
def put_change(ways, values, q, wanted, change):
    """Write the change that leads from a pose to another, by the shorter rotation of every ball."""
    for k in range(values):
        kind, column = ways[WAY.size * k + WAY.kind], ways[WAY.size * k + WAY.column]
        if column < 0:
            continue
        if kind == PLAIN:
            change[column] = wanted[k] - q[k]
            continue
        w, v = q[k], (-q[k + 1], -q[k + 2], -q[k + 3])
        other, u = wanted[k], (wanted[k + 1], wanted[k + 2], wanted[k + 3])
        real = w * other - dot(v, u)
        turn = plus(plus(times(w, u), times(other, v)), cross(v, u))
        side = -1.0 if real < 0.0 else 1.0
        sine = length(turn)
        factor = side * 2.0 * math.atan2(sine, side * real) / sine if sine > 1e-12 else 2.0 * side
        for i in range(3):
            change[column + i] = factor * turn[i]


@part
def put_frames(codes, numbers, q, world, twists):
    """Write every frame's matrix to `world`, and the twists of every row."""
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers)
    for frame in range(codes[HEADER.frames]):
        x, y, z, p = start(q)
        if parents[frame] >= 0:
            a = 16 * parents[frame]
            x, y, z, p = axis_of(world, a), axis_of(world, a + 1), axis_of(world, a + 2), axis_of(world, a + 3)
        for row in range(starts[frame], starts[frame + 1]):
            x, y, z, p = step(rows, constants, row, q, x, y, z, p)
            put_twists(rows, constants, row, x, y, z, p, beyond(twists, TWISTS * row))
        keep(world, frame, x, y, z, p)


@part
def put_twists(rows, constants, row, x, y, z, p, twists):
    """Write the twists of a row, given the frame after it."""
    code, number = beyond(rows, ROW_CODES.size * row), beyond(constants, ROW_NUMBERS.size * row)
    kind = code[ROW_CODES.motion]
    if kind == BALL:
        put_twist(twists, 0, x, cross(p, x))
        put_twist(twists, 1, y, cross(p, y))
        put_twist(twists, 2, z, cross(p, z))
    elif kind != STAY:
        axis = times(number[ROW_NUMBERS.multiplier], pick(code[ROW_CODES.axis], x, y, z))
        slide = times(number[ROW_NUMBERS.advance], axis)
        if kind == PRISMATIC:
            put_twist(twists, 0, (0.0, 0.0, 0.0), slide)
        elif kind == REVOLUTE:
            put_twist(twists, 0, axis, cross(p, axis))
        else:
            put_twist(twists, 0, axis, plus(cross(p, axis), slide))


@part
def add_row_force(rows, row, ways, twists, torque, force, gradient):
    """Add to a gradient the effect of a wrench about the world's origin on the columns of a row."""
    code = beyond(rows, ROW_CODES.size * row)
    if code[ROW_CODES.motion] == STAY:
        return
    first = ways[WAY.size * code[ROW_CODES.value] + WAY.column]
    if first < 0:
        return
    for i in range(3 if code[ROW_CODES.motion] == BALL else 1):
        twist = beyond(twists, TWISTS * row + 6 * i)
        gradient[first + i] += dot(vector(twist, 0), torque) + dot(vector(twist, 1), force)


@part
def add_force(codes, ways, twists, frame, at, force, gradient):
    """Add to a gradient the effect of a force at a point of a frame on the columns above it."""
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, torque = table(codes, HEADER.row_codes, codes), cross(at, force)
    while frame >= 0:
        for row in range(starts[frame], starts[frame + 1]):
            add_row_force(rows, row, ways, twists, torque, force, gradient)
        frame = parents[frame]


@part
def put_gradient(codes, ways, columns, twists, record, gradient):
    """Write the gradient of the distance of a near pair, a NEAR, by every column."""
    for k in range(columns):
        gradient[k] = 0.0
    normal = vector(beyond(record, NEAR.normal), 0)
    a, b = vector(beyond(record, NEAR.a), 0), vector(beyond(record, NEAR.b), 0)
    add_force(codes, ways, twists, int(record[NEAR.frame_b]), b, normal, gradient)
    add_force(codes, ways, twists, int(record[NEAR.frame_a]), a, times(-1.0, normal), gradient)


# Bounds


@inner
def row_rate(code, number, ways, change):
    """Return how fast a row rotates, and how fast it translates, along a change."""
    column, kind = ways[WAY.size * code[ROW_CODES.value] + WAY.column], code[ROW_CODES.motion]
    turn, slide = 0.0, 0.0
    if kind != STAY and column >= 0:
        if kind == BALL:
            turn = length((change[column], change[column + 1], change[column + 2]))
        else:
            rate = abs(number[ROW_NUMBERS.multiplier] * change[column])
            turn = 0.0 if kind == PRISMATIC else rate
            slide = 0.0 if kind == REVOLUTE else rate * abs(number[ROW_NUMBERS.advance])
    return turn, slide


@inner
def row_length(code, number, q, slide):
    """Return the largest distance of a row's end from its beginning, including translations along the whole path."""
    stroke = 0.0
    if code[ROW_CODES.motion] != STAY and code[ROW_CODES.motion] != BALL and code[ROW_CODES.motion] != REVOLUTE:
        amount = number[ROW_NUMBERS.multiplier] * q[code[ROW_CODES.value]] + number[ROW_NUMBERS.offset]
        stroke = abs(amount * number[ROW_NUMBERS.advance]) + slide
    return length(vector(beyond(number, ROW_NUMBERS.transform + TRANSFORM.origin), 0)) + stroke


@part
def motion_bounds(codes, numbers, ways, q, change, frame, top, reach):
    """Return bounds on the speed of any point of a frame along a change, and on the rate at which its velocity turns.

    The point is within `reach` of the frame's origin. Both bounds are relative to the frame `top` above it, -1 for the
    world. Every joint moves the point at its own rate times the distance between them, which is at most the total
    length of everything in between: this holds along the whole path. A joint rotates the velocities that it and all
    joints below it give the point.
    """
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers)
    speed, bend = 0.0, 0.0
    while frame != top:
        for row in range(starts[frame + 1] - 1, starts[frame] - 1, -1):
            code, number = beyond(rows, ROW_CODES.size * row), beyond(constants, ROW_NUMBERS.size * row)
            turn, slide = row_rate(code, number, ways, change)
            bend += turn * (turn * reach + 2.0 * (slide + speed))
            speed += turn * reach + slide
            reach += row_length(code, number, q, slide)
        frame = parents[frame]
    return speed, bend


@inner
def meeting(parents, a, b):
    """Return the nearest common ancestor of two frames, or one of them: parents come before children."""
    while a != b:
        if a > b:
            a = parents[a]
        else:
            b = parents[b]
    return a


@inner
def body_reach(codes, numbers, body):
    """Return how far a body extends from its frame's origin."""
    bound = beyond(table(codes, HEADER.bounds, numbers), BOUND.size * body)
    return length(vector(beyond(bound, BOUND.centre), 0)) + bound[BOUND.radius]


@part
def put_reaches(codes, numbers, reaches):
    """Write for every frame how far its bodies extend from its origin."""
    for frame in range(codes[HEADER.frames]):
        reaches[frame] = 0.0
    for body in range(codes[HEADER.bodies]):
        frame = body_code(codes, body)[BODY.frame]
        if frame >= 0:
            reaches[frame] = max(reaches[frame], body_reach(codes, numbers, body))


@part
def approach_bounds(codes, numbers, ways, q, change, reaches, a, b):
    """Return bounds on the approach speed of two frames, -1 for the world, along a change, and on their curvature."""
    top = meeting(table(codes, HEADER.parents, codes), a, b)
    speed, bend = 0.0, 0.0
    if a != top:
        speed, bend = motion_bounds(codes, numbers, ways, q, change, a, top, reaches[a])
    if b != top:
        other, more = motion_bounds(codes, numbers, ways, q, change, b, top, reaches[b])
        speed, bend = speed + other, bend + more
    return speed, bend


@part
def fastest_approach(codes, numbers, ways, q, change, reaches):
    """Return a bound on the approach speed of any two frames: twice the fastest in the world."""
    most = 0.0
    for frame in range(codes[HEADER.frames]):
        most = max(most, motion_bounds(codes, numbers, ways, q, change, frame, -1, reaches[frame])[0])
    return 2.0 * most
