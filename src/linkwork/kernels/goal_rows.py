"""What goals of frames ask for: their errors, and the wrenches that would make up for them.

One function for each kind of goal, here, in `balance_rows` and in `joint_rows`; they are the compiled form of the
classes in `linkwork.goals`, whose docstrings say what they mean. A goal of one frame hangs its rows on that frame; one
of several frames, or of joints, writes explicit rows.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import AT_COLUMNS
from .body_state import add_to_row, add_wrench, direction, origin
from .goal_layout import (
    ANY_SPIN,
    AT_AXIS,
    AT_COUNT,
    AT_ERROR,
    AT_FOURTH,
    AT_FRAME,
    AT_FREE,
    AT_LARGEST,
    AT_LEAST,
    AT_MASK,
    AT_METRES,
    AT_NEAREST,
    AT_NORMALS,
    AT_OTHER,
    AT_POINT,
    AT_RADIANS,
    AT_ROW,
    AT_TARGET,
    AT_THIRD,
    LOOKING,
    ROTATION_ROWS,
)
from .lanes import beyond
from .pose_error import turn_between
from .rotations import cross, dot, length, minus, plus, times, vector

STRAIGHT = 1.0e-6  # of a limb's length: bent less than that, it bends nowhere
SMALL = 1.0e-300
NOTHING = (0.0, 0.0, 0.0)


@inner
def along_axis(k, size):
    """Return a vector along an axis of the world."""
    return (size if k == 0 else 0.0), (size if k == 1 else 0.0), (size if k == 2 else 0.0)


@inner
def item(v, k):
    """Return a number of a vector."""
    return v[0] if k == 0 else v[1] if k == 1 else v[2]


@inner
def across_axis(axis, k, size):
    """Return row k of ``size (1 - axis axis^T)``: rotations about the axis left out."""
    return minus(along_axis(k, size), times(size * item(axis, k), axis))


@inner
def explicit_row(codes, goal, k, error, scratch):
    """Write the weighted error of one of a goal's explicit rows; return the row."""
    scratch.weighted[goal[AT_ROW] + k] = error
    return beyond(scratch.rows, codes[AT_COLUMNS] * (goal[AT_ROW] + k))


@part
def turn_onto(a, b):
    """Return the shortest rotation vector that turns one unit vector onto another."""
    normal, cosine = cross(a, b), dot(a, b)
    sine = length(normal)
    if sine < 1e-12 and cosine < 0.0:  # half a turn, about any normal
        least = 0 if abs(a[0]) <= min(abs(a[1]), abs(a[2])) else 1 if abs(a[1]) <= abs(a[2]) else 2
        aside = cross(a, along_axis(least, 1.0))
        return times(math.pi / length(aside), aside)
    return times(math.atan2(sine, cosine) / (sine if sine > 0.0 else 1.0), normal)


@part
def place_goal(codes, goal, aim, scratch):
    """Reach, Hold, Relate and loops: a frame at a place in the world, or in another frame."""
    frame, other, mask, world = goal[AT_FRAME], goal[AT_OTHER], goal[AT_MASK], scratch.world
    here, wanted = beyond(world, 16 * frame), beyond(aim, AT_TARGET)
    if other >= 0:
        place_in(beyond(world, 16 * other), wanted, scratch.work)
        wanted = scratch.work
    p, there = origin(world, frame), (wanted[3], wanted[7], wanted[11])
    way, turn, axis = minus(there, p), NOTHING, NOTHING
    if mask & ANY_SPIN:
        axis = direction(world, frame, vector(beyond(aim, AT_FREE), 0))
        turn = turn_onto(axis, direction(wanted, 0, vector(beyond(aim, AT_FREE), 0)))
    elif mask & ROTATION_ROWS:
        turn = turn_between(here, wanted, 4)
    count = 0
    for k in range(6):
        if not (mask >> k) & 1:
            continue
        weight = aim[AT_METRES] if k < 3 else aim[AT_RADIANS]
        error = item(way, k) if k < 3 else item(turn, k - 3)
        force = along_axis(k, weight) if k < 3 else NOTHING
        torque = NOTHING if k < 3 else across_axis(axis, k - 3, weight)
        scratch.errors[goal[AT_ERROR] + count] = error
        if other < 0:
            add_wrench(scratch.sums, frame, torque, force, p, weight * error)
        else:
            row = explicit_row(codes, goal, count, weight * error, scratch)
            add_to_row(codes, scratch.twists, row, frame, torque, force, p)
            add_to_row(codes, scratch.twists, row, other, times(-1.0, torque), times(-1.0, force), there)
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
    """Align and LookAt: an axis of a frame along a direction, or at a point or another frame."""
    frame, other, weight, world = goal[AT_FRAME], goal[AT_OTHER], aim[AT_RADIANS], scratch.world
    p, axis = origin(world, frame), direction(world, frame, vector(beyond(aim, AT_AXIS), 0))
    point, wanted, distance = vector(beyond(aim, AT_POINT), 0), NOTHING, math.inf
    if goal[AT_MASK] == LOOKING:
        if other >= 0:
            point = origin(world, other)
        way = minus(point, p)
        size = length(way)
        wanted = axis if size < aim[AT_NEAREST] else times(1.0 / size, way)
        distance = math.inf if size < aim[AT_NEAREST] else size
    else:
        wanted = point
    turn = turn_onto(axis, wanted)
    for k in range(3):
        error = item(turn, k)
        scratch.errors[goal[AT_ERROR] + k] = error
        torque = across_axis(axis, k, weight)
        force = times(weight / distance, cross(along_axis(k, 1.0), wanted))  # as the frame moves, the sight line turns
        if other < 0:
            add_wrench(scratch.sums, frame, torque, force, p, weight * error)
        else:
            row = explicit_row(codes, goal, k, weight * error, scratch)
            add_to_row(codes, scratch.twists, row, frame, torque, force, p)
            add_to_row(codes, scratch.twists, row, other, NOTHING, times(-1.0, force), point)


@part
def bend_goal(codes, goal, aim, scratch):
    """Bend: the middle of a limb towards a pole, about the line from its root to its end."""
    root, middle, end, world, twists = goal[AT_FRAME], goal[AT_OTHER], goal[AT_THIRD], scratch.world, scratch.twists
    base, tip = origin(world, root), origin(world, end)
    pole = origin(world, goal[AT_FOURTH]) if goal[AT_FOURTH] >= 0 else vector(beyond(aim, AT_POINT), 0)
    knee, out = minus(origin(world, middle), base), minus(pole, base)
    limb = minus(tip, base)
    size = length(limb)
    line = times(1.0 / max(size, SMALL), limb)
    across, aside = minus(knee, times(dot(line, knee), line)), minus(out, times(dot(line, out), line))
    scratch.errors[goal[AT_ERROR]] = 0.0
    row = explicit_row(codes, goal, 0, 0.0, scratch)
    bent = length(across) > STRAIGHT * length(knee) and length(aside) > STRAIGHT * length(out)
    if not bent or size < max(STRAIGHT * length(knee), SMALL):
        return
    angle = math.atan2(dot(line, cross(across, aside)), dot(across, aside))
    scratch.errors[goal[AT_ERROR]] = angle
    scratch.weighted[goal[AT_ROW]] = aim[AT_RADIANS] * angle
    for k in range(2):  # how the middle swings about the line, less how the pole does; the line tilts with the end
        point, outward = (knee, across) if k == 0 else (out, aside)
        sign = aim[AT_RADIANS] if k == 0 else -aim[AT_RADIANS]
        way = times(sign / dot(outward, outward), cross(line, outward))
        share = dot(point, line) / size
        if k == 0:
            add_to_row(codes, twists, row, middle, NOTHING, way, plus(base, knee))
        elif goal[AT_FOURTH] >= 0:
            add_to_row(codes, twists, row, goal[AT_FOURTH], NOTHING, way, pole)
        add_to_row(codes, twists, row, end, NOTHING, times(-share, way), tip)
        add_to_row(codes, twists, row, root, NOTHING, times(share - 1.0, way), base)


@part
def across_goal(goal, aim, scratch):
    """OnPlane and OnLine: a frame's origin not away from a point along one or two directions."""
    p, weight = origin(scratch.world, goal[AT_FRAME]), aim[AT_METRES]
    way = minus(vector(beyond(aim, AT_POINT), 0), p)
    for k in range(goal[AT_COUNT]):
        normal = vector(beyond(aim, AT_NORMALS), k)
        error = dot(way, normal)
        scratch.errors[goal[AT_ERROR] + k] = error
        add_wrench(scratch.sums, goal[AT_FRAME], NOTHING, times(weight, normal), p, weight * error)


@part
def distance_goal(codes, goal, aim, scratch):
    """Distance: a frame's origin within a range of distances from a point or another frame."""
    frame, other, weight, world = goal[AT_FRAME], goal[AT_OTHER], aim[AT_METRES], scratch.world
    p = origin(world, frame)
    there = origin(world, other) if other >= 0 else vector(beyond(aim, AT_POINT), 0)
    way = minus(p, there)
    size = length(way)
    error = min(max(size, aim[AT_LEAST]), aim[AT_LARGEST]) - size
    outward = times(1.0 / size, way) if size > SMALL else (1.0, 0.0, 0.0)
    force = NOTHING if aim[AT_LEAST] < size < aim[AT_LARGEST] else times(weight, outward)
    scratch.errors[goal[AT_ERROR]] = error
    if other < 0:
        add_wrench(scratch.sums, frame, NOTHING, force, p, weight * error)
    else:
        row = explicit_row(codes, goal, 0, weight * error, scratch)
        add_to_row(codes, scratch.twists, row, frame, NOTHING, force, p)
        add_to_row(codes, scratch.twists, row, other, NOTHING, times(-1.0, force), there)
