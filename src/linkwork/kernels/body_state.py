"""A whole figure in memory: its frames, how every joint moves them, and the normal matrix of goals that hang on them.

Imports `chain`, `cones`, `lanes`, `rows`, `rotations` and `tree`. A goal's error row is a wrench on its frame: six
numbers, torque about the world's origin and force, whose product with a joint's twist says how fast the joint makes up
for the error. A joint moves all that hangs below it and nothing else, so the products of wrenches are summed from the
leaves to the root, as composite inertias are, and a column of the normal matrix is one of these sums times one twist.
`solvers.figure_program` writes what is read here; the header of `codes` says where.
"""

from __future__ import annotations

import math

from . import inner, part
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
from .swing_twist import CONE, back_to_cone, cone_ways
from .tree import column

# header of `codes`: counts, then where tables begin in `codes` and in `numbers`
FRAMES, MOTIONS, COLUMNS, BALLS, GOALS, ERRORS, EXPLICIT, VALUES, BLOCKS, LEVELS, CONES = range(11)
STARTS, PARENTS, ROWS, RATES, OWNED, BEFORE, LAST = range(11, 18)
COUPLED, COUPLED_AT, PLACES, BALL_AT, CONE_AT, GOAL_AT, BLOCK_AT, SUPPORT = range(18, 26)
ROW_NUMBERS, LOWER, UPPER, FROM, TO, METRIC, MASSES, TOLERANCES, CONE_NUMBERS = range(26, 35)
HEADER = 35
FIRST_CONE = 3  # in a ball's row, where others have their axis: which cone it has, counted from here
COMPOSITE, WRENCH = 42, 36  # numbers of a frame's sums: a matrix 6 x 6, then the wrench of the errors


@inner
def table(codes, which, memory):
    """Return the memory of one of the tables."""
    return beyond(memory, codes[which])


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
def put_twist(twists, motion, turn, along):
    """Write a motion's twist: its angular velocity, and the velocity at the world's origin."""
    at = 6 * motion
    twists[at], twists[at + 1], twists[at + 2] = turn
    twists[at + 3], twists[at + 4], twists[at + 5] = along


@part
def sweep_figure(codes, numbers, q, world, twists, room):
    """Leave every frame's matrix in `world`, and the twist of every motion.

    A ball with a cone has its twists about the directions that lead out of it.
    """
    starts, parents, rows = table(codes, STARTS, codes), table(codes, PARENTS, codes), table(codes, ROWS, codes)
    constants, motion = table(codes, ROW_NUMBERS, numbers), 0
    for frame in range(codes[FRAMES]):
        x, y, z, p = start(q)
        if parents[frame] >= 0:
            a = 16 * parents[frame]
            x, y, z, p = column(world, a), column(world, a + 1), column(world, a + 2), column(world, a + 3)
        for row in range(starts[frame], starts[frame + 1]):
            x, y, z, p = step(rows, constants, row, q, x, y, z, p)
            kind = load(rows, CODES * row + AT_MOTION)
            if kind == BALL:
                cone = load(rows, CODES * row + AT_AXIS) - FIRST_CONE
                ways = (x, y, z)
                if cone >= 0:
                    cone_ways(
                        beyond(table(codes, CONE_NUMBERS, numbers), CONE * cone),
                        beyond(q, load(rows, CODES * row + AT_VALUE)),
                        room,
                    )
                    ways = along_ways(x, y, z, room, 0), along_ways(x, y, z, room, 1), along_ways(x, y, z, room, 2)
                put_twist(twists, motion, ways[0], cross(p, ways[0]))
                put_twist(twists, motion + 1, ways[1], cross(p, ways[1]))
                put_twist(twists, motion + 2, ways[2], cross(p, ways[2]))
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
def along_ways(x, y, z, ways, k):
    """Return direction k of a ball, given in its own axes, in those of the world."""
    return blend(x, y, z, ways[3 * k], ways[3 * k + 1], ways[3 * k + 2])


@inner
def product(twists, motion, torque, force):
    """Return the product of a motion's twist and a wrench."""
    at = 6 * motion
    return dot((twists[at], twists[at + 1], twists[at + 2]), torque) + dot(
        (twists[at + 3], twists[at + 4], twists[at + 5]), force
    )


@part
def hang(sums, frame, torque, force, at, error):
    """Hang a goal's row on a frame: a torque, a force at a point, and the weighted error."""
    torque = plus(torque, cross(at, force))
    wrench = (torque[0], torque[1], torque[2], force[0], force[1], force[2])
    first = COMPOSITE * frame
    for i in range(6):
        for j in range(6):
            sums[first + 6 * i + j] += wrench[i] * wrench[j]
        sums[first + WRENCH + i] += wrench[i] * error


@part
def spread(codes, twists, row, frame, torque, force, at):
    """Add to an explicit row what a torque and a force at a point of a frame mean for the joints above it."""
    torque = plus(torque, cross(at, force))
    rates, before = table(codes, RATES, codes), table(codes, BEFORE, codes)
    motion = table(codes, LAST, codes)[frame]
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
    n, rates, before = codes[COLUMNS], table(codes, RATES, codes), table(codes, BEFORE, codes)
    owned, parents = table(codes, OWNED, codes), table(codes, PARENTS, codes)
    for frame in range(codes[FRAMES] - 1, -1, -1):
        own = beyond(sums, COMPOSITE * frame)
        for motion in range(owned[frame + 1] - 1, owned[frame] - 1, -1):
            t = beyond(twists, 6 * motion)
            torque, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            total = 0.0
            for k in range(6):
                part_of = t[k]
                torque = plus(torque, (own[6 * k] * part_of, own[6 * k + 1] * part_of, own[6 * k + 2] * part_of))
                force = plus(force, (own[6 * k + 3] * part_of, own[6 * k + 4] * part_of, own[6 * k + 5] * part_of))
                total += own[WRENCH + k] * part_of
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
            above = beyond(sums, COMPOSITE * parents[frame])
            for k in range(COMPOSITE):
                above[k] += own[k]


@part
def add_rows(codes, rows, errors, matrix, gradient):
    """Add explicit rows, and their weighted errors, to the lower half of the normal matrix and to the gradient."""
    n = codes[COLUMNS]
    for r in range(codes[EXPLICIT]):
        row = beyond(rows, n * r)
        for i in range(n):
            if row[i] != 0.0:
                gradient[i] += row[i] * errors[r]
                for j in range(i + 1):
                    matrix[n * i + j] += row[i] * row[j]


@part
def move(codes, numbers, q, change, out, room):
    """Write the pose that a change of the columns leads to, within limits."""
    for k in range(codes[VALUES]):
        out[k] = q[k]
    places, lower, upper = table(codes, PLACES, codes), table(codes, LOWER, numbers), table(codes, UPPER, numbers)
    for v in range(codes[COLUMNS]):
        if places[v] >= 0:
            out[places[v]] = min(max(q[places[v]] + change[v], lower[v]), upper[v])
    balls = table(codes, BALL_AT, codes)
    for ball in range(codes[BALLS]):
        turn_ball(beyond(q, balls[2 * ball]), beyond(change, balls[2 * ball + 1]), beyond(out, balls[2 * ball]))
    cones = table(codes, CONE_AT, codes)
    for k in range(codes[CONES]):
        cone = beyond(table(codes, CONE_NUMBERS, numbers), CONE * k)
        ball, step = beyond(q, cones[2 * k]), beyond(change, cones[2 * k + 1])
        cone_ways(cone, ball, room)
        turn = plus(
            times(step[0], vector(room, 0)), plus(times(step[1], vector(room, 1)), times(step[2], vector(room, 2)))
        )
        place(turn, room, 3)
        turn_ball(ball, beyond(room, 9), beyond(out, cones[2 * k]))
        back_to_cone(cone, beyond(out, cones[2 * k]))


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
