"""What the goals of a whole figure ask for: their errors, and the wrenches that would make up for them.

Imports `cones`, `error`, `figure`, `lanes` and `rotations`. One function for each kind of goal; they are the compiled
form of the classes in `linkwork.goals`, whose docstrings say what they mean. A goal of one frame hangs its rows on that
frame; one of several frames, or of joints, writes explicit rows. `codes` holds, for each goal, the items named below;
`aims` holds the numbers: weights in metres and radians, then what the kind needs.
"""

from __future__ import annotations

import math

from . import inner, part
from .body_state import (
    COLUMNS,
    CONE_NUMBERS,
    FRAMES,
    MASSES,
    OWNED,
    PARENTS,
    RATES,
    direction,
    hang,
    origin,
    spread,
    table,
)
from .lanes import beyond
from .pose_error import turn_between
from .rotations import cross, dot, length, minus, place, plus, times, vector
from .swing_twist import CONE, cone_ways

PLACE, AIM, BEND, ACROSS, DISTANCE, BALANCE, REST, COUPLE = range(8)
KIND, FRAME, OTHER, THIRD, FOURTH, MASK, ERROR, ROW, NUMBER, ITEMS, COUNT, LEVEL, GOAL_CODES = range(13)
METRES, RADIANS, TARGET, FREE, GOAL_NUMBERS = 0, 1, 2, 14, 17
POINT, AXIS, NEAR, LEAST, LARGEST, FIRST_WAY, SECOND_WAY, SIZE = 2, 14, 5, 5, 6, 5, 8, 2
STRAIGHT = 1.0e-6  # of a limb's length: bent less than that, it bends nowhere
INSIDE, ROUNDING = 1.0e-12, 1.0e-15
SMALL = 1.0e-300
TURNED = 64  # bit of a mask: only where an axis points matters
LOOKING = 1
PLAIN_REST, WRAPPED_REST, BALL_REST, FIRST_CONE_REST = range(4)  # the last, and more: balls with that cone
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
def place_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted, room):
    """Reach, Hold, Relate and loops: a frame at a place in the world, or in another frame."""
    frame, other, mask, row = goal[FRAME], goal[OTHER], goal[MASK], goal[ERROR]
    here, wanted, explicit = beyond(world, 16 * frame), beyond(aim, TARGET), beyond(rows, codes[COLUMNS] * goal[ROW])
    if other >= 0:
        place_in(beyond(world, 16 * other), wanted, room)
        wanted = room
    p, there = origin(world, frame), (wanted[3], wanted[7], wanted[11])
    way, turn, axis = minus(there, p), NOTHING, NOTHING
    if mask & TURNED:
        axis = direction(world, frame, (aim[FREE], aim[FREE + 1], aim[FREE + 2]))
        turn = turn_onto(axis, direction(wanted, 0, (aim[FREE], aim[FREE + 1], aim[FREE + 2])))
    elif mask & 56:
        turn = turn_between(here, wanted, 4)
    count = 0
    for k in range(6):
        if not (mask >> k) & 1:
            continue
        weight = aim[METRES] if k < 3 else aim[RADIANS]
        error = item(way, k) if k < 3 else item(turn, k - 3)
        force = along_axis(k, weight) if k < 3 else NOTHING
        torque = NOTHING if k < 3 else across_axis(axis, k - 3, weight)
        errors[row] = error
        if other < 0:
            hang(sums, frame, torque, force, p, weight * error)
        else:
            own = beyond(explicit, codes[COLUMNS] * count)
            spread(codes, twists, own, frame, torque, force, p)
            spread(codes, twists, own, other, times(-1.0, torque), times(-1.0, force), there)
            weighted[goal[ROW] + count] = weight * error
        row += 1
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
def aim_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted):
    """Align and LookAt: an axis of a frame along a direction, or at a point or another frame."""
    frame, other, row, weight = goal[FRAME], goal[OTHER], goal[ERROR], aim[RADIANS]
    p, axis = origin(world, frame), direction(world, frame, (aim[AXIS], aim[AXIS + 1], aim[AXIS + 2]))
    point, wanted, distance = (aim[POINT], aim[POINT + 1], aim[POINT + 2]), NOTHING, math.inf
    if goal[MASK] == LOOKING:
        if other >= 0:
            point = origin(world, other)
        way = minus(point, p)
        size = length(way)
        wanted = axis if size < aim[NEAR] else times(1.0 / size, way)
        distance = math.inf if size < aim[NEAR] else size
    else:
        wanted = point
    turn = turn_onto(axis, wanted)
    for k in range(3):
        errors[row + k] = item(turn, k)
        force = times(
            weight / distance, cross(along_axis(k, 1.0), wanted)
        )  # the line of sight turns as the frame moves
        torque = across_axis(axis, k, weight)
        if other < 0:
            hang(sums, frame, torque, force, p, weight * errors[row + k])
        else:
            own = beyond(rows, codes[COLUMNS] * (goal[ROW] + k))
            spread(codes, twists, own, frame, torque, force, p)
            spread(codes, twists, own, other, NOTHING, times(-1.0, force), point)
            weighted[goal[ROW] + k] = weight * errors[row + k]


@part
def bend_goal(codes, goal, aim, world, twists, rows, errors, weighted):
    """Bend: the middle of a limb towards a pole, about the line from its root to its end."""
    root, middle, end = goal[FRAME], goal[OTHER], goal[THIRD]
    row, base, tip = beyond(rows, codes[COLUMNS] * goal[ROW]), origin(world, root), origin(world, end)
    pole = origin(world, goal[FOURTH]) if goal[FOURTH] >= 0 else (aim[POINT], aim[POINT + 1], aim[POINT + 2])
    knee, out = minus(origin(world, middle), base), minus(pole, base)
    limb = minus(tip, base)
    size = length(limb)
    line = times(1.0 / max(size, SMALL), limb)
    across, aside = minus(knee, times(dot(line, knee), line)), minus(out, times(dot(line, out), line))
    errors[goal[ERROR]] = 0.0
    weighted[goal[ROW]] = 0.0
    bent = length(across) > STRAIGHT * length(knee) and length(aside) > STRAIGHT * length(out)
    if not bent or size < max(STRAIGHT * length(knee), SMALL):
        return
    angle = math.atan2(dot(line, cross(across, aside)), dot(across, aside))
    errors[goal[ERROR]] = angle
    weighted[goal[ROW]] = aim[RADIANS] * angle
    for k in range(2):  # how the middle swings about the line, less how the pole does; the line tilts with the end
        point, outward = (knee, across) if k == 0 else (out, aside)
        sign = aim[RADIANS] if k == 0 else -aim[RADIANS]
        way = times(sign / dot(outward, outward), cross(line, outward))
        share = dot(point, line) / size
        if k == 0:
            spread(codes, twists, row, middle, NOTHING, way, plus(base, knee))
        elif goal[FOURTH] >= 0:
            spread(codes, twists, row, goal[FOURTH], NOTHING, way, pole)
        spread(codes, twists, row, end, NOTHING, times(-share, way), tip)
        spread(codes, twists, row, root, NOTHING, times(share - 1.0, way), base)


@part
def across_goal(goal, aim, world, sums, errors):
    """OnPlane and OnLine: a frame's origin not away from a point along one or two directions."""
    p = origin(world, goal[FRAME])
    way = minus((aim[POINT], aim[POINT + 1], aim[POINT + 2]), p)
    for k in range(goal[COUNT]):
        at = FIRST_WAY + 3 * k
        normal = (aim[at], aim[at + 1], aim[at + 2])
        errors[goal[ERROR] + k] = dot(way, normal)
        hang(sums, goal[FRAME], NOTHING, times(aim[METRES], normal), p, aim[METRES] * errors[goal[ERROR] + k])


@part
def distance_goal(codes, goal, aim, world, twists, sums, rows, errors, weighted):
    """Distance: a frame's origin within a range of distances from a point or another frame."""
    frame, other, weight = goal[FRAME], goal[OTHER], aim[METRES]
    p = origin(world, frame)
    there = origin(world, other) if other >= 0 else (aim[POINT], aim[POINT + 1], aim[POINT + 2])
    way = minus(p, there)
    size = length(way)
    error = min(max(size, aim[LEAST]), aim[LARGEST]) - size
    outward = times(1.0 / size, way) if size > SMALL else (1.0, 0.0, 0.0)
    force = NOTHING if aim[LEAST] < size < aim[LARGEST] else times(weight, outward)
    errors[goal[ERROR]] = error
    if other < 0:
        hang(sums, frame, NOTHING, force, p, weight * error)
    else:
        row = beyond(rows, codes[COLUMNS] * goal[ROW])
        spread(codes, twists, row, frame, NOTHING, force, p)
        spread(codes, twists, row, other, NOTHING, times(-1.0, force), there)
        weighted[goal[ROW]] = weight * error


@inner
def stand(codes, goal, aims, world, k):
    """Return a place that a figure stands on: a frame's origin or a point."""
    frame = codes[goal[ITEMS] + k]
    at = goal[NUMBER] + GOAL_NUMBERS + 3 * k
    return origin(world, frame) if frame >= 0 else (aims[at], aims[at + 1], aims[at + 2])


@part
def middle_of(codes, goal, aims, world):
    """Return the middle of the places that a figure stands on."""
    total = NOTHING
    for k in range(goal[COUNT]):
        total = plus(total, stand(codes, goal, aims, world, k))
    return times(1.0 / goal[COUNT], total)


@inner
def corner(codes, goal, aims, world, middle, k):
    """Return a corner of the support: one of the places, drawn in towards their middle where there is a margin."""
    size = aims[goal[NUMBER] + SIZE]
    return plus(times(size, stand(codes, goal, aims, world, k)), times(1.0 - size, middle))


@inner
def flat_way(aim, v):
    """Return the two coordinates of a vector along the ground."""
    return dot(vector(beyond(aim, FIRST_WAY), 0), v), dot(vector(beyond(aim, SECOND_WAY), 0), v)


@part
def balance_goal(codes, numbers, goal, aims, world, twists, rows, errors, weighted, room):
    """Balance: the centre of mass over a point, or over the polygon around several."""
    aim, n = beyond(aims, goal[NUMBER]), codes[COLUMNS]
    center = weigh(codes, numbers, world, room)
    c, count, middle = flat_way(aim, center), goal[COUNT], middle_of(codes, goal, aims, world)
    first, second, share, least, away = 0, 0, 0.0, math.inf, (0.0, 0.0)
    for i in range(count):
        a = flat_way(aim, corner(codes, goal, aims, world, middle, i))
        for j in range(i if count == 1 else i + 1, count):
            b = flat_way(aim, corner(codes, goal, aims, world, middle, j))
            edge, way = (b[0] - a[0], b[1] - a[1]), (c[0] - a[0], c[1] - a[1])
            square = edge[0] * edge[0] + edge[1] * edge[1]
            part_of = (way[0] * edge[0] + way[1] * edge[1]) / (square if square > 0.0 else 1.0)
            part_of = min(max(part_of, 0.0), 1.0)
            left = (way[0] - part_of * edge[0], way[1] - part_of * edge[1])
            if left[0] * left[0] + left[1] * left[1] < least:
                least, first, second, share, away = left[0] * left[0] + left[1] * left[1], i, j, part_of, left
    beyond_edge, size = -math.inf, 0.0
    for i in range(count):
        a = flat_way(aim, corner(codes, goal, aims, world, middle, i))
        beyond_edge = max(beyond_edge, (a[0] - c[0] + away[0]) * away[0] + (a[1] - c[1] + away[1]) * away[1])
        size = max(size, abs(a[0] - c[0]), abs(a[1] - c[1]))
    inside = beyond_edge > size * (INSIDE * math.sqrt(least) + ROUNDING * size)
    one, two = corner(codes, goal, aims, world, middle, first), corner(codes, goal, aims, world, middle, second)
    a, b = flat_way(aim, one), flat_way(aim, two)
    square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
    on_edge = 0.0 < share < 1.0
    normal = (0.0, 0.0)
    if on_edge:
        normal = ((a[1] - b[1]) / math.sqrt(square), (b[0] - a[0]) / math.sqrt(square))
    for k in range(2):
        error = 0.0 if inside else (-away[0] if k == 0 else -away[1])
        errors[goal[ERROR] + k] = error
        weighted[goal[ROW] + k] = aim[METRES] * error
        if inside:
            continue
        u, v = (1.0 - k, 1.0 * k)
        if on_edge:  # only across the edge
            across = normal[0] if k == 0 else normal[1]
            u, v = across * normal[0], across * normal[1]
        ways = (vector(beyond(aim, FIRST_WAY), 0), vector(beyond(aim, SECOND_WAY), 0))
        force = times(aim[METRES], plus(times(u, ways[0]), times(v, ways[1])))
        row = beyond(rows, n * (goal[ROW] + k))
        pull_masses(codes, twists, row, force, room)
        for i in range(count):
            frame = codes[goal[ITEMS] + i]
            part_of = (1.0 - share if i == first else 0.0) + (share if i == second else 0.0)
            part_of = aim[SIZE] * part_of + (1.0 - aim[SIZE]) / count
            if frame >= 0 and part_of != 0.0:
                spread(codes, twists, row, frame, NOTHING, times(-part_of, force), origin(world, frame))


@part
def weigh(codes, numbers, world, room):
    """Return the centre of mass; leave in `room`, four numbers a frame, the shares of mass and their moments."""
    masses, total = table(codes, MASSES, numbers), NOTHING
    for frame in range(codes[FRAMES]):
        share = masses[4 * frame]
        at = vector(beyond(masses, 4 * frame + 1), 0)
        moment = times(share, plus(origin(world, frame), direction(world, frame, at)))
        room[4 * frame] = share
        place(moment, beyond(room, 4 * frame + 1), 0)
        total = plus(total, moment)
    return total


@part
def pull_masses(codes, twists, row, force, room):
    """Add to an explicit row how every joint moves the centre of mass along a direction."""
    parents, owned, rates = table(codes, PARENTS, codes), table(codes, OWNED, codes), table(codes, RATES, codes)
    sums = beyond(room, 4 * codes[FRAMES])
    for k in range(4 * codes[FRAMES]):
        sums[k] = room[k]
    for frame in range(codes[FRAMES] - 1, -1, -1):
        share, moment = sums[4 * frame], vector(beyond(sums, 4 * frame + 1), 0)
        for motion in range(owned[frame], owned[frame + 1]):
            turn, slide = vector(twists, 2 * motion), vector(twists, 2 * motion + 1)
            row[rates[motion]] += dot(force, plus(times(share, slide), cross(turn, moment)))
        if parents[frame] >= 0:
            for k in range(4):
                sums[4 * parents[frame] + k] += sums[4 * frame + k]


@part
def rest_goal(codes, goal, aims, q, errors):
    """Rest: each joint's way to a pose, times its gain. Items, four each: kind, value, column, error row."""
    for k in range(goal[COUNT]):
        entry = beyond(codes, goal[ITEMS] + 4 * k)
        at = beyond(aims, goal[NUMBER] + GOAL_NUMBERS + 7 * k)  # three gains, four numbers of the pose
        value, row = beyond(q, entry[1]), entry[3]
        if entry[0] >= BALL_REST:
            turn = turn_to(value, beyond(at, 3))
            for i in range(3):
                if at[i] != 0.0:
                    errors[row] = at[i] * item(turn, i)
                    row += 1
        else:
            way = at[3] - value[0]
            if entry[0] == WRAPPED_REST and abs(way) >= math.pi:
                way -= 2.0 * math.pi * math.floor((way + math.pi) / (2.0 * math.pi))
            errors[row] = at[0] * way


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
def add_rest(codes, numbers, goal, aims, q, errors, matrix, gradient, room):
    """Add a Rest goal to the normal matrix: each joint to its own column, a ball with a cone to its three together."""
    n, weights = codes[COLUMNS], beyond(aims, goal[NUMBER])
    for k in range(goal[COUNT]):
        entry = beyond(codes, goal[ITEMS] + 4 * k)
        at, row = beyond(aims, goal[NUMBER] + GOAL_NUMBERS + 7 * k), entry[3]
        weight = weights[RADIANS] if entry[3] < goal[MASK] else weights[METRES]
        if entry[0] >= FIRST_CONE_REST:
            cone = beyond(table(codes, CONE_NUMBERS, numbers), CONE * (entry[0] - FIRST_CONE_REST))
            cone_ways(cone, beyond(q, entry[1]), room)
        for i in range(1 if entry[0] < BALL_REST else 3):
            gain = weight * at[i]
            if gain != 0.0:
                rest_row(n, entry, i, gain, weight * errors[row], matrix, gradient, room)
                row += 1


@part
def rest_row(n, entry, i, gain, error, matrix, gradient, ways):
    """Add one row of a Rest goal: of axis i of its joint, or of what the three directions of a cone have along it."""
    first = entry[2]
    if entry[0] < FIRST_CONE_REST:
        matrix[(n + 1) * (first + i)] += gain * gain
        gradient[first + i] += gain * error
        return
    for a in range(3):
        along = gain * ways[3 * a + i]
        gradient[first + a] += along * error
        for b in range(a + 1):
            matrix[n * (first + a) + first + b] += along * gain * ways[3 * b + i]


@part
def couple_goal(codes, goal, aims, q, rows, errors, weighted):
    """Couple: a sum of values times coefficients. Items, two each: value and column."""
    aim, row = beyond(aims, goal[NUMBER]), beyond(rows, codes[COLUMNS] * goal[ROW])
    weight, total = aim[RADIANS] if goal[MASK] else aim[METRES], aim[POINT]
    for k in range(goal[COUNT]):
        coefficient = aim[GOAL_NUMBERS + k]
        total -= coefficient * q[codes[goal[ITEMS] + 2 * k]]
        row[codes[goal[ITEMS] + 2 * k + 1]] += weight * coefficient
    errors[goal[ERROR]] = total
    weighted[goal[ROW]] = weight * total
