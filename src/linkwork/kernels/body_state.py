"""A whole body: where its frames are, how every joint moves them, and the normal matrix of goals that hang on them.

A goal's error row is a wrench on its frame: six numbers, torque about the world's origin and force, whose product with
a joint's twist says how fast the joint makes up for the error. A joint moves all that hangs below it and nothing else,
so the products of wrenches are summed from the leaves to the root, as composite inertias are, and a column of the
normal matrix is one of these sums times one twist.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import (
    AT_BALL_CODES,
    AT_BALLS,
    AT_BEFORE,
    AT_COLUMNS,
    AT_CONE_CODES,
    AT_CONES,
    AT_EXPLICIT,
    AT_FRAMES,
    AT_LAST,
    AT_LOWER,
    AT_OWNED,
    AT_PARENTS,
    AT_PLACES,
    AT_PRODUCTS,
    AT_RATES,
    AT_ROW_NUMBERS,
    AT_ROWS,
    AT_STARTS,
    AT_UPPER,
    AT_VALUES,
    AT_WRENCH,
    FIRST_CONE,
    WRENCHES_SIZE,
    cone_at,
    quaternion_at,
    table,
)
from .chain import keep
from .joint_step import (
    AT_ADVANCE,
    AT_AXIS,
    AT_MOTION,
    AT_MULTIPLIER,
    AT_VALUE,
    BALL,
    CODES,
    NUMBERS,
    PRISMATIC,
    REVOLUTE,
    STAY,
    blend,
    pick,
    start,
    step,
)
from .lanes import beyond, load
from .rotations import cross, dot, place, plus, times, vector
from .swing_twist import back_to_cone, cone_axes
from .tree import column


@inner
def origin(world, frame):
    """Return where a frame is."""
    return world[16 * frame + 3], world[16 * frame + 7], world[16 * frame + 11]


@inner
def direction(world, frame, axis):
    """Return an axis of a frame, three numbers in its own axes, in those of the world."""
    at = 16 * frame
    return (
        dot((world[at], world[at + 1], world[at + 2]), axis),
        dot((world[at + 4], world[at + 5], world[at + 6]), axis),
        dot((world[at + 8], world[at + 9], world[at + 10]), axis),
    )


@inner
def put_twist(twists, motion, turn, slide):
    """Write a motion's twist: its angular velocity, and the velocity at the world's origin."""
    place(turn, twists, 2 * motion)
    place(slide, twists, 2 * motion + 1)


@part
def sweep_body(codes, numbers, q, world, twists, work):
    """Leave every frame's matrix in `world`, and the twist of every motion.

    A ball with a cone has its twists about the directions that lead out of it.
    """
    starts, parents = table(codes, AT_STARTS, codes), table(codes, AT_PARENTS, codes)
    rows, constants, motion = table(codes, AT_ROWS, codes), table(codes, AT_ROW_NUMBERS, numbers), 0
    for frame in range(codes[AT_FRAMES]):
        x, y, z, p = start(q)
        if parents[frame] >= 0:
            a = 16 * parents[frame]
            x, y, z, p = column(world, a), column(world, a + 1), column(world, a + 2), column(world, a + 3)
        for row in range(starts[frame], starts[frame + 1]):
            x, y, z, p = step(rows, constants, row, q, x, y, z, p)
            kind = load(rows, CODES * row + AT_MOTION)
            if kind == BALL:
                cone = load(rows, CODES * row + AT_AXIS) - FIRST_CONE
                axes = (x, y, z)
                if cone >= 0:
                    cone_axes(cone_at(codes, numbers, cone), beyond(q, load(rows, CODES * row + AT_VALUE)), work)
                    axes = in_world(x, y, z, work, 0), in_world(x, y, z, work, 1), in_world(x, y, z, work, 2)
                put_twist(twists, motion, axes[0], cross(p, axes[0]))
                put_twist(twists, motion + 1, axes[1], cross(p, axes[1]))
                put_twist(twists, motion + 2, axes[2], cross(p, axes[2]))
                motion += 3
            elif kind != STAY:
                scale = load(constants, NUMBERS * row + AT_MULTIPLIER)
                axis = times(scale, pick(load(rows, CODES * row + AT_AXIS), x, y, z))
                slide = times(load(constants, NUMBERS * row + AT_ADVANCE), axis)
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
    """Hang a goal's row on a frame: a torque, a force at a point, and the weighted error."""
    torque = plus(torque, cross(at, force))
    wrench = (torque[0], torque[1], torque[2], force[0], force[1], force[2])
    first = WRENCHES_SIZE * frame
    for i in range(6):
        for j in range(6):
            sums[first + AT_PRODUCTS + 6 * i + j] += wrench[i] * wrench[j]
        sums[first + AT_WRENCH + i] += wrench[i] * error


@part
def add_to_row(codes, twists, row, frame, torque, force, at):
    """Add to an explicit row what a torque and a force at a point of a frame mean for the joints above it."""
    torque = plus(torque, cross(at, force))
    rates, before = table(codes, AT_RATES, codes), table(codes, AT_BEFORE, codes)
    motion = table(codes, AT_LAST, codes)[frame]
    while motion >= 0:
        row[rates[motion]] += product(twists, motion, torque, force)
        motion = before[motion]


@part
def clear(memory, count):
    """Set numbers to zero."""
    for k in range(count):
        memory[k] = 0.0


@part
def add_composites(codes, twists, sums, matrix, gradient):
    """Add the goals that hang on frames to the lower half of the normal matrix, and to the gradient; uses up `sums`."""
    n, rates, before = codes[AT_COLUMNS], table(codes, AT_RATES, codes), table(codes, AT_BEFORE, codes)
    owned, parents = table(codes, AT_OWNED, codes), table(codes, AT_PARENTS, codes)
    for frame in range(codes[AT_FRAMES] - 1, -1, -1):
        own = beyond(sums, WRENCHES_SIZE * frame)
        for motion in range(owned[frame + 1] - 1, owned[frame] - 1, -1):
            twist, products = beyond(twists, 6 * motion), beyond(own, AT_PRODUCTS)
            torque, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            total = 0.0
            for k in range(6):
                torque = plus(torque, times(twist[k], vector(products, 2 * k)))
                force = plus(force, times(twist[k], vector(products, 2 * k + 1)))
                total += own[AT_WRENCH + k] * twist[k]
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
            above = beyond(sums, WRENCHES_SIZE * parents[frame])
            for k in range(WRENCHES_SIZE):
                above[k] += own[k]


@part
def add_rows(codes, rows, errors, matrix, gradient):
    """Add explicit rows, and their weighted errors, to the lower half of the normal matrix and to the gradient."""
    n = codes[AT_COLUMNS]
    for r in range(codes[AT_EXPLICIT]):
        row = beyond(rows, n * r)
        for i in range(n):
            if row[i] != 0.0:
                gradient[i] += row[i] * errors[r]
                for j in range(i + 1):
                    matrix[n * i + j] += row[i] * row[j]


@part
def move(codes, numbers, q, change, out, work):
    """Write the pose that a change of the columns leads to, within limits."""
    for k in range(codes[AT_VALUES]):
        out[k] = q[k]
    places = table(codes, AT_PLACES, codes)
    lower, upper = table(codes, AT_LOWER, numbers), table(codes, AT_UPPER, numbers)
    for v in range(codes[AT_COLUMNS]):
        if places[v] >= 0:
            out[places[v]] = min(max(q[places[v]] + change[v], lower[v]), upper[v])
    for k in range(codes[AT_BALLS]):
        at, v = quaternion_at(codes, AT_BALL_CODES, k)
        turn_ball(beyond(q, at), beyond(change, v), beyond(out, at))
    for k in range(codes[AT_CONES]):
        at, v = quaternion_at(codes, AT_CONE_CODES, k)
        cone, turn = cone_at(codes, numbers, k), (0.0, 0.0, 0.0)
        cone_axes(cone, beyond(q, at), work)
        for i in range(3):
            turn = plus(turn, times(change[v + i], vector(work, i)))
        place(turn, work, 3)
        turn_ball(beyond(q, at), beyond(work, 9), beyond(out, at))
        back_to_cone(cone, beyond(out, at))


@part
def turn_ball(q, turn, out):
    """Write a quaternion turned by a rotation vector about its own axes, of length one."""
    angle = math.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2])
    w = math.cos(0.5 * angle)
    s = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    x, y, z = s * turn[0], s * turn[1], s * turn[2]
    a = q[0] * w - q[1] * x - q[2] * y - q[3] * z
    b = q[0] * x + q[1] * w + q[2] * z - q[3] * y
    c = q[0] * y - q[1] * z + q[2] * w + q[3] * x
    d = q[0] * z + q[1] * y - q[2] * x + q[3] * w
    size = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    out[0], out[1], out[2], out[3] = a * size, b * size, c * size, d * size
