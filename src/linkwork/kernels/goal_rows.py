"""Rows of goals of frames: their errors, and the wrenches that reduce them.

There is one function for each kind of goal, here, in `balance_rows` and in `joint_rows`; they are the compiled form of
the classes in `linkwork.goals`, whose docstrings define them. A goal of one frame adds its rows to that frame; a goal
of several frames, or of joints, writes explicit rows.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import HEADER
from .body_state import add_to_row, add_wrench, direction, origin
from .goal_layout import (
    ACROSS_AIM,
    AIM,
    ANY_SPIN,
    BEND_AIM,
    DISTANCE_AIM,
    GOAL,
    LOOKING,
    PLACE_AIM,
    POINTING_AIM,
    ROTATION_ROWS,
)
from .lanes import beyond
from .pose_error import turn_between
from .rotations import cross, dot, length, minus, plus, times, vector

STRAIGHT = 1.0e-6  # relative to a limb's length: with a smaller bend it has no bending direction
SMALL = 1.0e-300
NOTHING = (0.0, 0.0, 0.0)


@inner
def along_axis(k, size):
    """Return a vector of a given size along an axis of the world."""
    return (size if k == 0 else 0.0), (size if k == 1 else 0.0), (size if k == 2 else 0.0)


@inner
def item(v, k):
    """Return component k of a vector."""
    return v[0] if k == 0 else v[1] if k == 1 else v[2]


@inner
def across_axis(axis, k, size):
    """Return row k of ``size (1 - axis axis^T)``: rotations about the axis are projected out."""
    return minus(along_axis(k, size), times(size * item(axis, k), axis))


@inner
def read(aim, at):
    """Return a vector from the numbers of a goal."""
    return vector(beyond(aim, at), 0)


@inner
def explicit_row(codes, goal, k, error, scratch):
    """Write the weighted error of one of a goal's explicit rows; return the row."""
    scratch.weighted[goal[GOAL.row] + k] = error
    return beyond(scratch.rows, codes[HEADER.columns] * (goal[GOAL.row] + k))


@part
def ask(codes, goal, k, error, weight, torque, force, at, counter, there, scratch):
    """Write error k of a goal of one or two frames, and the row that reduces it.

    The row is a torque and a force at a point of the frame and, on the other frame, a torque and the opposite force.
    """
    frame, other = goal[GOAL.frame], goal[GOAL.other]
    scratch.errors[goal[GOAL.error] + k] = error
    if other < 0:
        add_wrench(scratch.sums, frame, torque, force, at, weight * error)
    else:
        row = explicit_row(codes, goal, k, weight * error, scratch)
        add_to_row(codes, scratch.twists, row, frame, torque, force, at)
        add_to_row(codes, scratch.twists, row, other, counter, times(-1.0, force), there)


@part
def turn_onto(a, b):
    """Return the shortest rotation vector that rotates one unit vector onto another [rad]."""
    normal, cosine = cross(a, b), dot(a, b)
    sine = length(normal)
    if sine < 1e-12 and cosine < 0.0:  # half a turn, about any normal
        least = 0 if abs(a[0]) <= min(abs(a[1]), abs(a[2])) else 1 if abs(a[1]) <= abs(a[2]) else 2
        aside = cross(a, along_axis(least, 1.0))
        return times(math.pi / length(aside), aside)
    return times(math.atan2(sine, cosine) / (sine if sine > 0.0 else 1.0), normal)


@part
def place_goal(codes, goal, aim, scratch):
    """Write the rows of Reach, Hold, Relate and loops: a frame at a target in the world, or in another frame."""
    frame, other, mask, world = goal[GOAL.frame], goal[GOAL.other], goal[GOAL.mask], scratch.world
    here, wanted = beyond(world, 16 * frame), beyond(aim, PLACE_AIM.target)
    if other >= 0:
        place_in(beyond(world, 16 * other), wanted, scratch.work)
        wanted = scratch.work
    p, there = origin(world, frame), (wanted[3], wanted[7], wanted[11])
    way, turn, axis = minus(there, p), NOTHING, NOTHING
    if mask & ANY_SPIN:
        free = read(aim, PLACE_AIM.free)
        axis = direction(world, frame, free)
        turn = turn_onto(axis, direction(wanted, 0, free))
    elif mask & ROTATION_ROWS:
        turn = turn_between(here, wanted, 4)
    count = 0
    for k in range(6):
        if not (mask >> k) & 1:
            continue
        weight = aim[AIM.metres] if k < 3 else aim[AIM.radians]
        error = item(way, k) if k < 3 else item(turn, k - 3)
        force = along_axis(k, weight) if k < 3 else NOTHING
        torque = NOTHING if k < 3 else across_axis(axis, k - 3, weight)
        ask(codes, goal, count, error, weight, torque, force, p, times(-1.0, torque), there, scratch)
        count += 1


@part
def place_in(frame, target, out):
    """Write the product of a frame and a target, three rows of four numbers each."""
    for i in range(3):
        for j in range(4):
            total = frame[4 * i + 3] if j == 3 else 0.0
            for k in range(3):
                total += frame[4 * i + k] * target[4 * k + j]
            out[4 * i + j] = total


@part
def pointing_goal(codes, goal, aim, scratch):
    """Write the rows of Align and LookAt: an axis of a frame along a direction, or at a point or another frame."""
    frame, other, weight, world = goal[GOAL.frame], goal[GOAL.other], aim[AIM.radians], scratch.world
    p, axis = origin(world, frame), direction(world, frame, read(aim, POINTING_AIM.axis))
    point, distance = read(aim, POINTING_AIM.point), math.inf
    wanted = point
    if goal[GOAL.mask] == LOOKING:
        if other >= 0:
            point = origin(world, other)
        way = minus(point, p)
        size = length(way)
        wanted = axis if size < aim[POINTING_AIM.nearest] else times(1.0 / size, way)
        distance = math.inf if size < aim[POINTING_AIM.nearest] else size
    turn = turn_onto(axis, wanted)
    for k in range(3):
        torque = across_axis(axis, k, weight)
        force = times(weight / distance, cross(along_axis(k, 1.0), wanted))  # the line of sight turns with the frame
        ask(codes, goal, k, item(turn, k), weight, torque, force, p, NOTHING, point, scratch)


@part
def bend_goal(codes, goal, aim, scratch):
    """Write the row of Bend: the middle of a limb towards a pole, about the line from its root to its end."""
    root, middle, end = goal[GOAL.frame], goal[GOAL.other], goal[GOAL.third]
    world, twists = scratch.world, scratch.twists
    base, tip = origin(world, root), origin(world, end)
    pole = origin(world, goal[GOAL.fourth]) if goal[GOAL.fourth] >= 0 else read(aim, BEND_AIM.point)
    knee, out = minus(origin(world, middle), base), minus(pole, base)
    limb = minus(tip, base)
    size = length(limb)
    line = times(1.0 / max(size, SMALL), limb)
    across, aside = minus(knee, times(dot(line, knee), line)), minus(out, times(dot(line, out), line))
    scratch.errors[goal[GOAL.error]] = 0.0
    row = explicit_row(codes, goal, 0, 0.0, scratch)
    bent = length(across) > STRAIGHT * length(knee) and length(aside) > STRAIGHT * length(out)
    if not bent or size < max(STRAIGHT * length(knee), SMALL):
        return
    angle = math.atan2(dot(line, cross(across, aside)), dot(across, aside))
    scratch.errors[goal[GOAL.error]] = angle
    scratch.weighted[goal[GOAL.row]] = aim[AIM.radians] * angle
    for k in range(2):  # the rotation of the middle about the line, minus that of the pole; the line tilts with the end
        point, outward = (knee, across) if k == 0 else (out, aside)
        sign = aim[AIM.radians] if k == 0 else -aim[AIM.radians]
        way = times(sign / dot(outward, outward), cross(line, outward))
        share = dot(point, line) / size
        if k == 0:
            add_to_row(codes, twists, row, middle, NOTHING, way, plus(base, knee))
        elif goal[GOAL.fourth] >= 0:
            add_to_row(codes, twists, row, goal[GOAL.fourth], NOTHING, way, pole)
        add_to_row(codes, twists, row, end, NOTHING, times(-share, way), tip)
        add_to_row(codes, twists, row, root, NOTHING, times(share - 1.0, way), base)


@part
def across_goal(codes, goal, aim, scratch):
    """Write the rows of OnPlane and OnLine: no offset of a frame's origin from a point along one or two normals."""
    p, weight = origin(scratch.world, goal[GOAL.frame]), aim[AIM.metres]
    way = minus(read(aim, ACROSS_AIM.point), p)
    for k in range(goal[GOAL.count]):
        normal = vector(beyond(aim, ACROSS_AIM.normals), k)
        ask(codes, goal, k, dot(way, normal), weight, NOTHING, times(weight, normal), p, NOTHING, p, scratch)


@part
def distance_goal(codes, goal, aim, scratch):
    """Write the row of Distance: a frame's origin within a range of distances from a point or another frame."""
    other, weight, p = goal[GOAL.other], aim[AIM.metres], origin(scratch.world, goal[GOAL.frame])
    there = origin(scratch.world, other) if other >= 0 else read(aim, DISTANCE_AIM.point)
    way = minus(p, there)
    size = length(way)
    error = min(max(size, aim[DISTANCE_AIM.least]), aim[DISTANCE_AIM.largest]) - size
    outward = times(1.0 / size, way) if size > SMALL else (1.0, 0.0, 0.0)
    force = NOTHING if aim[DISTANCE_AIM.least] < size < aim[DISTANCE_AIM.largest] else times(weight, outward)
    ask(codes, goal, 0, error, weight, NOTHING, force, p, NOTHING, there, scratch)
