"""What `Balance` asks for: the centre of mass over a point, or over the polygon around several places."""

from __future__ import annotations

import math

from . import inner, part
from .body_layout import (
    AT_CENTRE,
    AT_FRAMES,
    AT_ITEMS,
    AT_MASSES,
    AT_MOMENT,
    AT_MOMENT_SHARE,
    AT_OWNED,
    AT_PARENTS,
    AT_RATES,
    AT_SHARE,
    MASS_SIZE,
    MOMENT_SIZE,
    table,
)
from .body_state import add_to_row, direction, origin
from .goal_layout import (
    AT_COUNT,
    AT_ERROR,
    AT_GROUND,
    AT_ITEM,
    AT_METRES,
    AT_SIZE,
    BALANCE_SIZE,
    CORNER_SIZE,
)
from .goal_rows import NOTHING, explicit_row
from .lanes import beyond
from .rotations import cross, dot, place, plus, times, vector

INSIDE, ROUNDING = 1.0e-12, 1.0e-15


@inner
def support_frame(codes, goal, k):
    """Return the frame that a body stands on with one of its places, or -1 where that is a point."""
    return table(codes, AT_ITEMS, codes)[goal[AT_ITEM] + k]


@inner
def support_point(codes, goal, aim, world, k):
    """Return a place that a body stands on: a frame's origin or a point."""
    frame = support_frame(codes, goal, k)
    return origin(world, frame) if frame >= 0 else vector(beyond(aim, BALANCE_SIZE + CORNER_SIZE * k), 0)


@part
def middle_of(codes, goal, aim, world):
    """Return the middle of the places that a body stands on."""
    total = NOTHING
    for k in range(goal[AT_COUNT]):
        total = plus(total, support_point(codes, goal, aim, world, k))
    return times(1.0 / goal[AT_COUNT], total)


@inner
def on_ground(aim, v):
    """Return the two coordinates of a vector along the ground."""
    axes = beyond(aim, AT_GROUND)
    return dot(vector(axes, 0), v), dot(vector(axes, 1), v)


@inner
def corner(codes, goal, aim, world, middle, k):
    """Return a corner of the support on the ground: one of the places, drawn in towards their middle by a margin."""
    place_k, size = support_point(codes, goal, aim, world, k), aim[AT_SIZE]
    return on_ground(aim, plus(times(size, place_k), times(1.0 - size, middle)))


@part
def nearest_edge(codes, goal, aim, world, middle, c):
    """Return the corners of the edge nearest to a point, the share of the second, and the way from there to the point.

    Every pair of corners counts as an edge: one inside the polygon is never the nearest to a point outside.
    """
    count, least = goal[AT_COUNT], math.inf
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
    """Return whether a point is inside the polygon: some corner lies beyond it, seen from its nearest edge."""
    furthest, size = -math.inf, 0.0
    for i in range(goal[AT_COUNT]):
        a = corner(codes, goal, aim, world, middle, i)
        furthest = max(furthest, (a[0] - c[0] + away[0]) * away[0] + (a[1] - c[1] + away[1]) * away[1])
        size = max(size, abs(a[0] - c[0]), abs(a[1] - c[1]))
    return furthest > size * (INSIDE * math.sqrt(away[0] * away[0] + away[1] * away[1]) + ROUNDING * size)


@part
def balance_goal(codes, numbers, goal, aim, scratch):
    """Write the errors and the two explicit rows of a Balance goal."""
    world, count = scratch.world, goal[AT_COUNT]
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
        scratch.errors[goal[AT_ERROR] + k] = error
        row = explicit_row(codes, goal, k, aim[AT_METRES] * error, scratch)
        if inside:
            continue
        u, v = (1.0 - k, 1.0 * k)
        if on_edge:  # only across the edge
            across = normal[0] if k == 0 else normal[1]
            u, v = across * normal[0], across * normal[1]
        axes = beyond(aim, AT_GROUND)
        force = times(aim[AT_METRES], plus(times(u, vector(axes, 0)), times(v, vector(axes, 1))))
        add_mass_row(codes, scratch.twists, row, force, scratch.moments)
        for i in range(count):
            frame = support_frame(codes, goal, i)
            part_of = (1.0 - share if i == first else 0.0) + (share if i == second else 0.0)
            part_of = aim[AT_SIZE] * part_of + (1.0 - aim[AT_SIZE]) / count
            if frame >= 0 and part_of != 0.0:
                at = origin(world, frame)
                add_to_row(codes, scratch.twists, row, frame, NOTHING, times(-part_of, force), at)


@part
def weigh(codes, numbers, world, moments):
    """Return the centre of mass; leave every frame's own moment."""
    masses, total = table(codes, AT_MASSES, numbers), NOTHING
    for frame in range(codes[AT_FRAMES]):
        mass, own = beyond(masses, MASS_SIZE * frame), beyond(moments, MOMENT_SIZE * frame)
        centre = plus(origin(world, frame), direction(world, frame, vector(beyond(mass, AT_CENTRE), 0)))
        moment = times(mass[AT_SHARE], centre)
        own[AT_MOMENT_SHARE] = mass[AT_SHARE]
        place(moment, beyond(own, AT_MOMENT), 0)
        total = plus(total, moment)
    return total


@part
def add_mass_row(codes, twists, row, force, moments):
    """Add to an explicit row how every joint moves the centre of mass along a direction."""
    parents, owned, rates = (
        table(codes, AT_PARENTS, codes),
        table(codes, AT_OWNED, codes),
        table(codes, AT_RATES, codes),
    )
    sums = beyond(moments, MOMENT_SIZE * codes[AT_FRAMES])
    for k in range(MOMENT_SIZE * codes[AT_FRAMES]):
        sums[k] = moments[k]
    for frame in range(codes[AT_FRAMES] - 1, -1, -1):
        own = beyond(sums, MOMENT_SIZE * frame)
        share, moment = own[AT_MOMENT_SHARE], vector(beyond(own, AT_MOMENT), 0)
        for motion in range(owned[frame], owned[frame + 1]):
            turn, slide = vector(twists, 2 * motion), vector(twists, 2 * motion + 1)
            row[rates[motion]] += dot(force, plus(times(share, slide), cross(turn, moment)))
        if parents[frame] >= 0:
            above = beyond(sums, MOMENT_SIZE * parents[frame])
            for k in range(MOMENT_SIZE):
                above[k] += own[k]
