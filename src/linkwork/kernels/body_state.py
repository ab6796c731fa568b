"""A whole body: its frames, the twists of its joints, and the normal matrix of the goals on its frames.

The error row of a goal is a wrench on its frame: six numbers, torque about the world's origin and force. Its product
with a joint's twist is the rate at which the joint reduces the error. A joint moves its subtree and nothing else, so
products of wrenches are summed from the leaves to the root, like composite inertias, and a column of the normal matrix
is one of these sums times one twist.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import FIRST_CONE, HEADER, WRENCHES, cone_at, quaternion_at, table
from .chain import keep
from .joint_step import BALL, PRISMATIC, REVOLUTE, ROW_CODES, ROW_NUMBERS, STAY, blend, pick, start, step
from .lanes import beyond
from .rotations import cross, dot, length, place, plus, quaternion_product, times, vector
from .swing_twist import back_to_cone, cone_axes
from .tree import column


@inner
def origin(world, frame):
    """Return the position of a frame in the world."""
    return world[16 * frame + 3], world[16 * frame + 7], world[16 * frame + 11]


@inner
def direction(world, frame, axis):
    """Return an axis given in the coordinates of a frame in world coordinates."""
    at = 16 * frame
    return (
        dot((world[at], world[at + 1], world[at + 2]), axis),
        dot((world[at + 4], world[at + 5], world[at + 6]), axis),
        dot((world[at + 8], world[at + 9], world[at + 10]), axis),
    )


@inner
def put_twist(twists, motion, turn, slide):
    """Write the twist of a motion: angular velocity, then the velocity at the world's origin."""
    place(turn, twists, 2 * motion)
    place(slide, twists, 2 * motion + 1)


@part
def sweep_body(codes, numbers, q, world, twists, work):
    """Write the matrix of every frame to `world`, and the twist of every motion to `twists`.

    The twists of a ball with a cone are about the axes of `cone_axes`: increasing swing, increasing twist, the third.
    """
    starts, parents = table(codes, HEADER.starts, codes), table(codes, HEADER.parents, codes)
    rows, constants, motion = table(codes, HEADER.row_codes, codes), table(codes, HEADER.row_numbers, numbers), 0
    for frame in range(codes[HEADER.frames]):
        x, y, z, p = start(q)
        if parents[frame] >= 0:
            a = 16 * parents[frame]
            x, y, z, p = column(world, a), column(world, a + 1), column(world, a + 2), column(world, a + 3)
        for row in range(starts[frame], starts[frame + 1]):
            x, y, z, p = step(rows, constants, row, q, x, y, z, p)
            code, number = beyond(rows, ROW_CODES.size * row), beyond(constants, ROW_NUMBERS.size * row)
            kind = code[ROW_CODES.motion]
            if kind == BALL:
                cone = code[ROW_CODES.axis] - FIRST_CONE
                axes = (x, y, z)
                if cone >= 0:
                    cone_axes(cone_at(codes, numbers, cone), beyond(q, code[ROW_CODES.value]), work)
                    axes = in_world(x, y, z, work, 0), in_world(x, y, z, work, 1), in_world(x, y, z, work, 2)
                put_twist(twists, motion, axes[0], cross(p, axes[0]))
                put_twist(twists, motion + 1, axes[1], cross(p, axes[1]))
                put_twist(twists, motion + 2, axes[2], cross(p, axes[2]))
                motion += 3
            elif kind != STAY:
                axis = times(number[ROW_NUMBERS.multiplier], pick(code[ROW_CODES.axis], x, y, z))
                slide = times(number[ROW_NUMBERS.advance], axis)
                if kind == PRISMATIC:
                    put_twist(twists, motion, (0.0, 0.0, 0.0), slide)
                elif kind == REVOLUTE:
                    put_twist(twists, motion, axis, cross(p, axis))
                else:
                    put_twist(twists, motion, axis, plus(cross(p, axis), slide))
                motion += 1
        keep(world, frame, x, y, z, p)


@inner
def in_world(x, y, z, axes, k):
    """Return axis k of a ball, given in its own frame, in the world."""
    return blend(x, y, z, axes[3 * k], axes[3 * k + 1], axes[3 * k + 2])


@inner
def product(twists, motion, torque, force):
    """Return the product of a motion's twist and a wrench."""
    return dot(vector(twists, 2 * motion), torque) + dot(vector(twists, 2 * motion + 1), force)


@part
def add_wrench(sums, frame, torque, force, at, error):
    """Add a goal's row to a frame: a torque, a force at a point, and the weighted error."""
    torque = plus(torque, cross(at, force))
    wrench = (torque[0], torque[1], torque[2], force[0], force[1], force[2])
    first = WRENCHES.size * frame
    for i in range(6):
        for j in range(6):
            sums[first + WRENCHES.products + 6 * i + j] += wrench[i] * wrench[j]
        sums[first + WRENCHES.wrench + i] += wrench[i] * error


@part
def add_to_row(codes, twists, row, frame, torque, force, at):
    """Add to an explicit row the effect of a torque and a force at a point of a frame on the joints above it."""
    torque = plus(torque, cross(at, force))
    rates, before = table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    motion = table(codes, HEADER.last, codes)[frame]
    while motion >= 0:
        row[rates[motion]] += product(twists, motion, torque, force)
        motion = before[motion]


@part
def clear(memory, count):
    """Set the first `count` numbers to zero."""
    for k in range(count):
        memory[k] = 0.0


@part
def add_composites(codes, twists, sums, matrix, gradient):
    """Add the goals on frames to the lower half of the normal matrix and to the gradient; overwrites `sums`."""
    n, rates, before = codes[HEADER.columns], table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    owned, parents = table(codes, HEADER.owned, codes), table(codes, HEADER.parents, codes)
    for frame in range(codes[HEADER.frames] - 1, -1, -1):
        own = beyond(sums, WRENCHES.size * frame)
        for motion in range(owned[frame + 1] - 1, owned[frame] - 1, -1):
            twist, products = beyond(twists, 6 * motion), beyond(own, WRENCHES.products)
            torque, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            total = 0.0
            for k in range(6):
                torque = plus(torque, times(twist[k], vector(products, 2 * k)))
                force = plus(force, times(twist[k], vector(products, 2 * k + 1)))
                total += own[WRENCHES.wrench + k] * twist[k]
            here, other = rates[motion], motion
            gradient[here] += total
            while other >= 0:
                there = rates[other]
                value = product(twists, other, torque, force)
                if there == here and other != motion:  # a follower and its leader on one path
                    value = 2.0 * value
                matrix[max(here, there) * n + min(here, there)] += value
                other = before[other]
        if parents[frame] >= 0:
            above = beyond(sums, WRENCHES.size * parents[frame])
            for k in range(WRENCHES.size):
                above[k] += own[k]


@part
def add_rows(codes, rows, errors, matrix, gradient):
    """Add explicit rows and their weighted errors to the lower half of the normal matrix and to the gradient."""
    n = codes[HEADER.columns]
    for r in range(codes[HEADER.explicit]):
        row = beyond(rows, n * r)
        for i in range(n):
            if row[i] != 0.0:
                gradient[i] += row[i] * errors[r]
                for j in range(i + 1):
                    matrix[n * i + j] += row[i] * row[j]


@part
def move(codes, numbers, q, change, out, work):
    """Write the pose after a change of the columns, within limits."""
    for k in range(codes[HEADER.values]):
        out[k] = q[k]
    places = table(codes, HEADER.pose_index, codes)
    lower, upper = table(codes, HEADER.lower, numbers), table(codes, HEADER.upper, numbers)
    for v in range(codes[HEADER.columns]):
        if places[v] >= 0:
            out[places[v]] = min(max(q[places[v]] + change[v], lower[v]), upper[v])
    for k in range(codes[HEADER.balls]):
        at, v = quaternion_at(codes, HEADER.ball_codes, k)
        turn_ball(beyond(q, at), beyond(change, v), beyond(out, at))
    for k in range(codes[HEADER.cones]):
        at, v = quaternion_at(codes, HEADER.cone_codes, k)
        cone, turn = cone_at(codes, numbers, k), (0.0, 0.0, 0.0)
        cone_axes(cone, beyond(q, at), work)
        for i in range(3):
            turn = plus(turn, times(change[v + i], vector(work, i)))
        place(turn, work, 3)
        turn_ball(beyond(q, at), beyond(work, 9), beyond(out, at))
        back_to_cone(cone, beyond(out, at))


@part
def turn_ball(q, turn, out):
    """Write a quaternion rotated by a rotation vector in its own axes, normalized."""
    angle = length(turn)
    w = math.cos(0.5 * angle)
    s = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    a, b, c, d = quaternion_product(q, (w, s * turn[0], s * turn[1], s * turn[2]))
    size = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    out[0], out[1], out[2], out[3] = a * size, b * size, c * size, d * size
