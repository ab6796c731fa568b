"""Curvature of missed goals: the part of a body's second derivatives that Gauss-Newton omits.

It is zero if all goals are met. If a goal is out of reach it is essential: it alone holds a stretched arm straight. An
error pulls at its frame with a force or a torque. When a joint rotates the joints below it, the products of their
twists with that pull change. The sums of all pulls below a joint, twelve numbers per frame, determine by how much.
"""

from __future__ import annotations

import math

from . import inner, part
from .balance_rows import corner_share, nearest_edge_of, support_frame
from .body_layout import CURVES, HEADER, MOMENT, table
from .body_state import clear, origin
from .goal_layout import AIM, ANY_SPIN, BALANCE, BALANCE_AIM, GOAL, PLACE, ROTATION_ROWS
from .lanes import beyond
from .rotations import applied, cross, dot, minus, place, plus, times, vector

SMALL_TURN = 1.0e-4  # [rad]: below this angle a series is more accurate
HALF = 0.5


@part
def hang_force(curve, share, moment, force):
    """Add a force on a frame: a share of it, and its moment, the share times the point of attack."""
    place(plus(vector(beyond(curve, CURVES.force), 0), times(share, force)), beyond(curve, CURVES.force), 0)
    turning, along = beyond(curve, CURVES.turning), dot(moment, force)
    for i in range(3):
        row = minus(vector(turning, i), times(moment[i], force))
        place(row, turning, i)
        turning[4 * i] += along


@part
def hang_torque(curve, turn, weight):
    """Add the rotation vector `turn` of an error to a frame; `weight` is the weight of a squared radian."""
    turning, square = beyond(curve, CURVES.turning), dot(turn, turn)
    angle = math.sqrt(square)
    bend = 1.0 / 12.0 if angle < SMALL_TURN else (1.0 - HALF * angle / math.tan(HALF * angle)) / square
    for i in range(3):
        row = plus(vector(turning, i), times(weight * bend * turn[i], turn))
        place(row, turning, i)
        turning[4 * i] -= weight * bend * square
        turning[3 * i + (i + 1) % 3] -= HALF * weight * turn[(i + 2) % 3]
        turning[3 * i + (i + 2) % 3] += HALF * weight * turn[(i + 1) % 3]


@part
def curve_of_place(goal, aim, scratch):
    """Add the pull of a goal for a frame at a fixed target."""
    curve, mask, count = beyond(scratch.curves, CURVES.size * goal[GOAL.frame]), goal[GOAL.mask], goal[GOAL.error]
    way = scratch.work
    clear(way, 6)
    for k in range(6):
        if (mask >> k) & 1:
            way[k] = scratch.errors[count]
            count += 1
    metres, radians = aim[AIM.metres], aim[AIM.radians]
    hang_force(curve, 1.0, origin(scratch.world, goal[GOAL.frame]), times(metres * metres, vector(way, 0)))
    if mask & ROTATION_ROWS == ROTATION_ROWS and not mask & ANY_SPIN:
        hang_torque(curve, vector(way, 1), radians * radians)


@part
def curve_of_balance(codes, goal, aim, scratch):
    """Add the pull of a Balance goal on the centre of mass, and the opposite pull at the support."""
    axes, errors = beyond(aim, BALANCE_AIM.ground), beyond(scratch.errors, goal[GOAL.error])
    if errors[0] == 0.0 and errors[1] == 0.0:
        return
    way = plus(times(errors[0], vector(axes, 0)), times(errors[1], vector(axes, 1)))
    force = times(aim[AIM.metres] * aim[AIM.metres], way)
    for frame in range(codes[HEADER.frames]):
        own = beyond(scratch.moments, MOMENT.size * frame)
        if own[MOMENT.share] != 0.0:
            curve = beyond(scratch.curves, CURVES.size * frame)
            hang_force(curve, own[MOMENT.share], vector(beyond(own, MOMENT.moment), 0), force)
    first, second, share = nearest_edge_of(codes, goal, aim, scratch)
    for i in range(goal[GOAL.count]):
        frame, part_of = support_frame(codes, goal, i), corner_share(goal, aim, first, second, share, i)
        if frame >= 0 and part_of != 0.0:
            moment = times(-part_of, origin(scratch.world, frame))
            hang_force(beyond(scratch.curves, CURVES.size * frame), -part_of, moment, force)


@inner
def pull_change(twists, motion, curve):
    """Return the vector whose dot product with the rotation of a joint above is the change of a motion's pull."""
    turn, slide = vector(twists, 2 * motion), vector(twists, 2 * motion + 1)
    force = vector(beyond(curve, CURVES.force), 0)
    return minus(applied(beyond(curve, CURVES.turning), turn), cross(slide, force))


@part
def add_curvature(codes, aims, level, scratch):
    """Add the curvature of place and balance goals, down to a level, to the lower half of the normal matrix."""
    n, rates, before = codes[HEADER.columns], table(codes, HEADER.rates, codes), table(codes, HEADER.before, codes)
    owned, parents = table(codes, HEADER.owned, codes), table(codes, HEADER.parents, codes)
    twists, matrix, goals = scratch.twists, scratch.matrix, table(codes, HEADER.goal_codes, codes)
    clear(scratch.curves, CURVES.size * codes[HEADER.frames])
    for g in range(codes[HEADER.goals]):
        goal = beyond(goals, GOAL.size * g)
        if goal[GOAL.level] > level:
            continue
        if goal[GOAL.kind] == PLACE and goal[GOAL.other] < 0:
            curve_of_place(goal, beyond(aims, goal[GOAL.number]), scratch)
        elif goal[GOAL.kind] == BALANCE:
            curve_of_balance(codes, goal, beyond(aims, goal[GOAL.number]), scratch)
    for frame in range(codes[HEADER.frames] - 1, -1, -1):
        own = beyond(scratch.curves, CURVES.size * frame)
        for motion in range(owned[frame + 1] - 1, owned[frame] - 1, -1):
            change, here, other = pull_change(twists, motion, own), rates[motion], motion
            while other >= 0:
                there = rates[other]
                value = dot(vector(twists, 2 * other), change)
                if there == here and other != motion:  # a follower and its leader on one path
                    value = 2.0 * value
                matrix[max(here, there) * n + min(here, there)] += value
                other = before[other]
        if parents[frame] >= 0:
            above = beyond(scratch.curves, CURVES.size * parents[frame])
            for k in range(CURVES.size):
                above[k] += own[k]
