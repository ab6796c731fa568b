"""Rows of `Balance` goals: bring the centre of mass over a point, or over the polygon of several support points."""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import HEADER, MASS, MOMENT, table
from .body_state import add_to_row, direction, origin
from .goal_layout import AIM, BALANCE_AIM, CORNER_SIZE, GOAL
from .goal_rows import NOTHING, explicit_row
from .lanes import beyond
from .rotations import cross, dot, place, plus, times, vector

INSIDE, ROUNDING = 1.0e-12, 1.0e-15


@inner
def support_frame(codes, goal, k):
    """Return the frame of support point `k`, or -1 if that is a fixed point in the world."""
    return table(codes, HEADER.goal_items, codes)[goal[GOAL.item] + k]


@inner
def support_point(codes, goal, aim, world, k):
    """Return support point `k` in the world [m]: the origin of a frame, or a fixed point."""
    frame = support_frame(codes, goal, k)
    return origin(world, frame) if frame >= 0 else vector(beyond(aim, BALANCE_AIM.size + CORNER_SIZE * k), 0)


@part
def middle_of(codes, goal, aim, world):
    """Return the mean of the support points in the world [m]."""
    total = NOTHING
    for k in range(goal[GOAL.count]):
        total = plus(total, support_point(codes, goal, aim, world, k))
    return times(1.0 / goal[GOAL.count], total)


@inner
def on_ground(aim, v):
    """Return the two coordinates of a vector in the ground plane."""
    axes = beyond(aim, BALANCE_AIM.ground)
    return dot(vector(axes, 0), v), dot(vector(axes, 1), v)


@inner
def corner(codes, goal, aim, world, middle, k):
    """Return a corner of the support polygon in ground coordinates: a support point shrunk towards the middle."""
    place_k, size = support_point(codes, goal, aim, world, k), aim[BALANCE_AIM.scale]
    return on_ground(aim, plus(times(size, place_k), times(1.0 - size, middle)))


@part
def nearest_edge(codes, goal, aim, world, middle, c):
    """Return the edge nearest to a point `c`: its two corners, the share of the second, and the vector from it to `c`.

    All pairs of corners are checked as edges: a diagonal inside the polygon is never the nearest to a point outside.
    """
    count, least = goal[GOAL.count], math.inf
    first, second, share, away = 0, 0, 0.0, (0.0, 0.0)
    for i in range(count):
        a = corner(codes, goal, aim, world, middle, i)
        for j in range(i if count == 1 else i + 1, count):
            b = corner(codes, goal, aim, world, middle, j)
            edge, way = (b[0] - a[0], b[1] - a[1]), (c[0] - a[0], c[1] - a[1])
            square = edge[0] * edge[0] + edge[1] * edge[1]
            along = (way[0] * edge[0] + way[1] * edge[1]) / (square if square > 0.0 else 1.0)
            along = min(max(along, 0.0), 1.0)
            left = (way[0] - along * edge[0], way[1] - along * edge[1])
            if left[0] * left[0] + left[1] * left[1] < least:
                least, first, second, share, away = left[0] * left[0] + left[1] * left[1], i, j, along, left
    return first, second, share, away


@part
def is_inside(codes, goal, aim, world, middle, c, away):
    """Return whether a point is inside the polygon: whether a corner lies beyond it, as seen from its nearest edge."""
    furthest, size = -math.inf, 0.0
    for i in range(goal[GOAL.count]):
        a = corner(codes, goal, aim, world, middle, i)
        furthest = max(furthest, (a[0] - c[0] + away[0]) * away[0] + (a[1] - c[1] + away[1]) * away[1])
        size = max(size, abs(a[0] - c[0]), abs(a[1] - c[1]))
    return furthest > size * (INSIDE * math.sqrt(away[0] * away[0] + away[1] * away[1]) + ROUNDING * size)


@inner
def corner_share(goal, aim, first, second, share, i):
    """Return the weight of support point `i` in the nearest point of the shrunk polygon."""
    part_of = (1.0 - share if i == first else 0.0) + (share if i == second else 0.0)
    return aim[BALANCE_AIM.scale] * part_of + (1.0 - aim[BALANCE_AIM.scale]) / goal[GOAL.count]


@part
def balance_goal(codes, numbers, goal, aim, scratch):
    """Write the two errors and the two explicit rows of a Balance goal; both are zero inside the polygon."""
    world = scratch.world
    middle = middle_of(codes, goal, aim, world)
    c = on_ground(aim, weigh(codes, numbers, world, scratch.moments))
    first, second, share, away = nearest_edge(codes, goal, aim, world, middle, c)
    inside = is_inside(codes, goal, aim, world, middle, c, away)
    a, b = corner(codes, goal, aim, world, middle, first), corner(codes, goal, aim, world, middle, second)
    square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
    on_edge = 0.0 < share < 1.0
    normal = ((a[1] - b[1]) / math.sqrt(square), (b[0] - a[0]) / math.sqrt(square)) if on_edge else (0.0, 0.0)
    for k in range(2):
        error = 0.0 if inside else (-away[0] if k == 0 else -away[1])
        scratch.errors[goal[GOAL.error] + k] = error
        row = explicit_row(codes, goal, k, aim[AIM.metres] * error, scratch)
        if inside:
            continue
        u, v = (1.0 - k, 1.0 * k)
        if on_edge:  # only the component across the edge counts
            across = normal[0] if k == 0 else normal[1]
            u, v = across * normal[0], across * normal[1]
        axes = beyond(aim, BALANCE_AIM.ground)
        force = times(aim[AIM.metres], plus(times(u, vector(axes, 0)), times(v, vector(axes, 1))))
        add_mass_row(codes, scratch.twists, row, force, scratch.moments)
        for i in range(goal[GOAL.count]):
            frame, part_of = support_frame(codes, goal, i), corner_share(goal, aim, first, second, share, i)
            if frame >= 0 and part_of != 0.0:
                at = origin(world, frame)
                add_to_row(codes, scratch.twists, row, frame, NOTHING, times(-part_of, force), at)


@part
def weigh(codes, numbers, world, moments):
    """Return the centre of mass in the world [m]; store the mass share and the moment of every frame in `moments`."""
    masses, total = table(codes, HEADER.masses, numbers), NOTHING
    for frame in range(codes[HEADER.frames]):
        mass, own = beyond(masses, MASS.size * frame), beyond(moments, MOMENT.size * frame)
        centre = plus(origin(world, frame), direction(world, frame, vector(beyond(mass, MASS.centre), 0)))
        moment = times(mass[MASS.share], centre)
        own[MOMENT.share] = mass[MASS.share]
        place(moment, beyond(own, MOMENT.moment), 0)
        total = plus(total, moment)
    return total


@part
def nearest_edge_of(codes, goal, aim, scratch):
    """Return the edge nearest to the centre of mass computed last: its two corners and the share of the second."""
    total = NOTHING
    for frame in range(codes[HEADER.frames]):
        total = plus(total, vector(beyond(scratch.moments, MOMENT.size * frame + MOMENT.moment), 0))
    middle = middle_of(codes, goal, aim, scratch.world)
    first, second, share, _ = nearest_edge(codes, goal, aim, scratch.world, middle, on_ground(aim, total))
    return first, second, share


@part
def add_mass_row(codes, twists, row, force, moments):
    """Add the motion of the centre of mass along `force` to an explicit row, for every joint."""
    parents, owned = table(codes, HEADER.parents, codes), table(codes, HEADER.owned, codes)
    rates = table(codes, HEADER.rates, codes)
    sums = beyond(moments, MOMENT.size * codes[HEADER.frames])
    for k in range(MOMENT.size * codes[HEADER.frames]):
        sums[k] = moments[k]
    for frame in range(codes[HEADER.frames] - 1, -1, -1):
        own = beyond(sums, MOMENT.size * frame)
        share, moment = own[MOMENT.share], vector(beyond(own, MOMENT.moment), 0)
        for motion in range(owned[frame], owned[frame + 1]):
            turn, slide = vector(twists, 2 * motion), vector(twists, 2 * motion + 1)
            row[rates[motion]] += dot(force, plus(times(share, slide), cross(turn, moment)))
        if parents[frame] >= 0:
            above = beyond(sums, MOMENT.size * parents[frame])
            for k in range(MOMENT.size):
                above[k] += own[k]
