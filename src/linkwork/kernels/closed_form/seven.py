"""Seven-joint arms with the first joint held: the next two axes meet, one more bends, the last three meet in a point.

Panda, iiwa, Gen3, xArm7 and human arms are such arms, from one end or from the other. With lines as in `axes.Axes`,
``H = E0 Ea Eb Ec Ex Ey Ez`` is given, and E0 is held at some angle:

- ``S``, the intersection of the last three axes, must come to ``H S``; seen before E0, to ``p = E0^-1 H S``.
- a and b leave their intersection W in place, so c alone sets the distance, ``|Ec S - W| = |p - W|``: two solutions, or
  none if it is out of the reach of c.
- Then a and b rotate ``Ec S`` to p: two cones about their axes meet in two lines, or in none.
- The remaining rotation is made by x, y and z: y from the angle between axes x and z, the others follow.

That gives eight poses for each angle of the held joint. Rotations are pairs of cosine and sine throughout; limits are
checked by pairs too, ``cos(v - middle) >= cos(half the range)``. Functions work on numbers and on lanes: lanes hold
angles of the held joint for one goal, or goals.
"""

from __future__ import annotations

import math

from .. import inner, kernel, part
from ..joint_step import TRANSFORM, blend, sine_cosine, vector
from ..lanes import bits, cells, gather, load, scatter, select, sqrt, store
from ..layout import Layout
from ..rotations import cross, dot, minus, plus, times
from .angles import added, atan2, subtracted

JOINTS = 7
HELD, A, B, C, X, Y, Z = range(JOINTS)
LINE = Layout(("direction", 3), ("point", 3))
LIMIT = Layout("lower", "upper", "middle", "middle_cosine", "middle_sine", "half_cosine")  # half_cosine: -2 if none
# a vector or point rotated by a joint: constant + cosine * across + sine * aside
ORBIT = Layout(("constant", 3), ("across", 3), ("aside", 3))
# a number that a rotation changes: middle + swing * cos(angle - phase); the reciprocal of the swing is stored
SWING = Layout("middle", "per_swing", "phase_cosine", "phase_sine")
ARM = Layout(
    "backwards",  # not 0 if the arm is seen from its end: H is the inverse then
    ("tip", TRANSFORM.size),  # maps a target T to H: T tip, or tip T^-1
    ("origin", 3),  # position of the frame's origin with all values zero
    ("lines", JOINTS * LINE.size),
    (
        "own_lines",
        JOINTS * LINE.size,
    ),  # of the arm itself, which may deviate slightly from the family: answers are judged by them
    ("limits", JOINTS * LIMIT.size),
    ("centre", 3),  # S
    ("meeting", 3),  # W
    "slant",  # cosine between axes a and b
    "spread",  # reciprocal of its squared sine
    ("reach", ORBIT.size),  # Ec S - W
    ("distance", SWING.size),  # its squared length
    "nearest",  # the smallest of it within the limits of c
    "farthest",  # and the largest
    ("last", ORBIT.size),  # Ey z, the axis z
    ("between", SWING.size),  # its component along the axis x
    "per_extent",  # reciprocal of the squared length of the longest reach
    "slanted",  # 0 if x is perpendicular to y, and y to z
    ("beside", 3),  # a direction perpendicular to the axis z
)
GOAL = Layout(("transform", TRANSFORM.size), ("point", 3))  # H, and a point; its image under H gives the position error
MADE = Layout(("x", 3), ("y", 3), ("origin", 3))  # a frame
SLACK = -1.0e-10  # squared sines down to this count as zero: answers are checked
FLAT = 1.0e-24  # squared length of a vector without direction
NONE = -1.0e30  # the score of no pose
BROKEN, KEPT = -100.0, -50.0  # the score of a pose beyond its limits is BROKEN plus its margin; above KEPT: in limits
BENT = -0.05  # margin of c below which its side of the elbow is skipped
ARC = Layout("middle", "begin", "end")  # where c can reach: held angles from begin to end on both sides of a middle


@inner
def turned(h, pair, v):
    """Return a vector rotated about a unit vector by the angle of a pair."""
    return plus(plus(times(pair[0], v), times(pair[1], cross(h, v))), times((1.0 - pair[0]) * dot(h, v), h))


@inner
def back(pair):
    """Return the pair of the opposite angle."""
    return pair[0], -pair[1]


@inner
def on_orbit(arm, at, pair):
    """Return the vector or point of an orbit rotated by a pair."""
    constant, across = vector(arm, at + ORBIT.constant), vector(arm, at + ORBIT.across)
    return plus(plus(constant, times(pair[0], across)), times(pair[1], vector(arm, at + ORBIT.aside)))


@inner
def swung(arm, at, wanted, sign):
    """Return the pair of one of two angles at which a swinging number has a wanted value, and the squared sine between.

    If the squared sine is negative there is none, and the pair is that of the nearest value.
    """
    x = (wanted - load(arm, at + SWING.middle)) * load(arm, at + SWING.per_swing)
    square = 1.0 - x * x
    s = sign * sqrt(select(square > 0.0, square, 0.0))
    x = select(x > 1.0, 1.0, select(x < -1.0, -1.0, x))
    return added((x, s), (load(arm, at + SWING.phase_cosine), load(arm, at + SWING.phase_sine))), square


@inner
def turn_between(h, u, v, along):
    """Return the pair that rotates a vector about an axis to another; both have the component `along` in the axis.

    If they lie in the axis, any rotation is a solution, and the identity is returned.
    """
    square = dot(v, v) - along * along
    sure = square > FLAT
    scale = 1.0 / select(sure, square, 1.0)
    cosine, sine = (dot(u, v) - along * along) * scale, dot(h, cross(u, v)) * scale
    scale = 1.5 - 0.5 * (cosine * cosine + sine * sine)  # its length is 1 except for rounding
    return select(sure, cosine * scale, 1.0), select(sure, sine * scale, 0.0)


@inner
def line(arm, joint):
    """Return the direction of a joint's axis."""
    return vector(arm, ARM.lines + LINE.size * joint)


@inner
def put_goal(arm, rows, p, goal):
    """Write the goal of a target, given by the rows of its rotation and its origin."""
    x, y, z = vector(arm, ARM.tip), vector(arm, ARM.tip + 3), vector(arm, ARM.tip + 6)
    origin, point = vector(arm, ARM.tip + 9), vector(arm, ARM.origin)
    if load(arm, ARM.backwards) != 0.0:  # tip T^-1: the tip rotates the rows of T, and T's origin becomes the tip's
        for k in range(3):
            column = blend(x, y, z, rows[k][0], rows[k][1], rows[k][2])
            origin = minus(origin, times(p[k], column))
            put_vector(goal, 3 * k, column)
        put_vector(goal, GOAL.point, p)
    else:
        put_vector(goal, 0, (dot(rows[0], x), dot(rows[1], x), dot(rows[2], x)))
        put_vector(goal, 3, (dot(rows[0], y), dot(rows[1], y), dot(rows[2], y)))
        put_vector(goal, 6, (dot(rows[0], z), dot(rows[1], z), dot(rows[2], z)))
        origin = (dot(rows[0], origin) + p[0], dot(rows[1], origin) + p[1], dot(rows[2], origin) + p[2])
        put_vector(goal, GOAL.point, point)
    put_vector(goal, 9, origin)


@inner
def put_vector(memory, at, v):
    """Write a vector to three items of memory."""
    store(memory, at, v[0])
    store(memory, at + 1, v[1])
    store(memory, at + 2, v[2])


@inner
def applied(goal, v):
    """Return a direction rotated by H."""
    return blend(vector(goal, 0), vector(goal, 3), vector(goal, 6), v[0], v[1], v[2])


@inner
def before_held(arm, goal, held):
    """Return the images under H of S, from W, of the axis z and of the direction beside it, before the held joint."""
    h, place, away = line(arm, HELD), vector(arm, ARM.lines + LINE.size * HELD + LINE.point), back(held)
    reached = plus(applied(goal, vector(arm, ARM.centre)), vector(goal, 9))
    p = minus(plus(place, turned(h, away, minus(reached, place))), vector(arm, ARM.meeting))
    return p, turned(h, away, applied(goal, line(arm, Z))), turned(h, away, applied(goal, vector(arm, ARM.beside)))


@inner
def angle_of_cosine(x):
    """Return the angle in [0, pi] with a given cosine, clamped to [-1, 1]."""
    x = select(x > 1.0, 1.0, select(x < -1.0, -1.0, x))
    return atan2(sqrt(1.0 - x * x), x)


@part
def put_arc(arm, goal, arc):
    """Write ARC: the angles of the held joint at which c can reach, or comes nearest to that.

    The squared distance from W is ``k + b cos(angle - middle)``, so it is within bounds on two symmetric arcs.
    """
    h, place = line(arm, HELD), vector(arm, ARM.lines + LINE.size * HELD + LINE.point)
    w = minus(plus(applied(goal, vector(arm, ARM.centre)), vector(goal, 9)), place)
    m = minus(place, vector(arm, ARM.meeting))
    along = dot(h, m) * dot(h, w)
    cosine, sine = 2.0 * (dot(m, w) - along), -2.0 * dot(m, cross(h, w))
    size, k = sqrt(cosine * cosine + sine * sine), dot(w, w) + dot(m, m) + 2.0 * along
    over = 1.0 / select(size > FLAT, size, FLAT)
    store(arc, ARC.middle, atan2(sine, cosine))
    store(arc, ARC.begin, angle_of_cosine((load(arm, ARM.farthest) - k) * over))
    store(arc, ARC.end, angle_of_cosine((load(arm, ARM.nearest) - k) * over))


@inner
def meet(arm, p, reach, side):
    """Return the pairs of a and b that rotate `reach` to p, and a squared length, negative if there are none.

    The vector between the two rotations has the component of p along axis a, that of `reach` along axis b, and their
    length.
    """
    h, k, slant, spread = line(arm, A), line(arm, B), load(arm, ARM.slant), load(arm, ARM.spread)
    normal = cross(h, k)
    along, aside = dot(p, h), dot(reach, k)
    u, v = (along - slant * aside) * spread, (aside - slant * along) * spread
    square = dot(p, p) - (along * u + aside * v)
    rise = side * sqrt(select(square > 0.0, square, 0.0) * spread)
    middle = plus(plus(times(u, h), times(v, k)), times(rise, normal))
    return turn_between(h, middle, p, along), turn_between(k, reach, middle, aside), square


@inner
def wrist(arm, axis, beside, y):
    """Return the pairs of x and z for a given y; the remaining rotation takes z to `axis`, and `beside` with it."""
    h = line(arm, X)
    x = turn_between(h, on_orbit(arm, ARM.last, y), axis, dot(h, axis))
    left = turned(line(arm, Y), back(y), turned(h, back(x), beside))
    first = vector(arm, ARM.beside)
    return x, (dot(first, left), dot(cross(line(arm, Z), first), left))


@inner
def undo(arm, a, b, c, v):
    """Return a direction as it was before a, b and c rotated it."""
    return turned(line(arm, C), back(c), turned(line(arm, B), back(b), turned(line(arm, A), back(a), v)))


@inner
def rated(arm, prefer, joint, pair, rate):
    """Return a pose's score and margin updated by one joint: nearness to a preferred angle, distance to its limits.

    The score adds the cosine of the difference from the preferred angle. The margin is the smallest cosine by which
    limits are kept; below zero a limit is violated.
    """
    score, margin = rate
    at = ARM.limits + LIMIT.size * joint
    inside = pair[0] * load(arm, at + LIMIT.middle_cosine) + pair[1] * load(arm, at + LIMIT.middle_sine)
    room = inside - load(arm, at + LIMIT.half_cosine)
    near = pair[0] * load(prefer, 2 * joint) + pair[1] * load(prefer, 2 * joint + 1)
    return score + near, select(room < margin, room, margin)


@inner
def chosen(first, one, two):
    """Return the first pair in lanes where `first` is set, else the second."""
    return select(first, one[0], two[0]), select(first, one[1], two[1])


@inner
def keep(out, joint, better, pair):
    """Store a joint's pair in lanes where its pose is better."""
    store(out, 2 * joint, select(better, pair[0], load(out, 2 * joint)))
    store(out, 2 * joint + 1, select(better, pair[1], load(out, 2 * joint + 1)))


@inner
def real(square, margin):
    """Return a margin that is negative if a root is not real."""
    off = select(square >= SLACK, 1.0, square)
    return select(off < margin, off, margin)


@inner
def both_poses(arm, prefer, p, axis, beside, c, side, rate):
    """Return the two poses for one c and one side of a and b: the pairs of a and b, then each pose's own data.

    That is its pairs of x, y and z and its score, NONE if limits are violated. The margins of both come last.
    """
    a, b, square = meet(arm, p, on_orbit(arm, ARM.reach, c), side)
    rate = rated(arm, prefer, B, b, rated(arm, prefer, A, a, rate))
    axis, beside = undo(arm, a, b, c, axis), undo(arm, a, b, c, beside)
    between = dot(line(arm, X), axis)
    up, turning = swung(arm, ARM.between, between, 1.0)
    down, _ = swung(arm, ARM.between, between, -1.0)
    rate = rate[0], real(turning, real(square * load(arm, ARM.per_extent), rate[1]))
    x, z = wrist(arm, axis, beside, up)
    u, w = (-x[0], -x[1]), (-z[0], -z[1])  # half a turn away, if the axes are perpendicular
    if load(arm, ARM.slanted) != 0.0:
        u, w = wrist(arm, axis, beside, down)
    one, room = rated(arm, prefer, Z, z, rated(arm, prefer, Y, up, rated(arm, prefer, X, x, rate)))
    two, margin = rated(arm, prefer, Z, w, rated(arm, prefer, Y, down, rated(arm, prefer, X, u, rate)))
    one, two = select(room >= 0.0, one, NONE), select(margin >= 0.0, two, NONE)
    return (a, b), (x, up, z, one), (u, down, w, two), (room, margin)


@part
def put_better(arm, prefer, held, p, axis, beside, c, side, rate, alive, best, out):
    """Write the pairs of the two poses for one c and one side of a and b if they are better, in the lanes `alive`.

    Return the best score and the largest margin.
    """
    (a, b), (x, up, z, one), (u, down, w, two), rooms = both_poses(arm, prefer, p, axis, beside, c, side, rate)
    one, two = select(rooms[0] >= 0.0, one, BROKEN + rooms[0]), select(rooms[1] >= 0.0, two, BROKEN + rooms[1])
    first = one >= two
    total, margin = select(first, one, two), select(rooms[0] > rooms[1], rooms[0], rooms[1])
    better = (total > best[0]) & alive
    keep(out, HELD, better, held)
    keep(out, A, better, a)
    keep(out, B, better, b)
    keep(out, C, better, c)
    keep(out, X, better, chosen(first, x, u))
    keep(out, Y, better, chosen(first, up, down))
    keep(out, Z, better, chosen(first, z, w))
    return select(better, total, best[0]), select((margin > best[1]) & alive, margin, best[1])


@part
def put_best(arm, goal, held, prefer, score, out):
    """Write the pairs of the pose, of all eight, that is within limits and nearest to preferred angles.

    If none is within limits, it is the one that violates them least, with a score below KEPT. It is written only if it
    is better than `score`, NONE for any. Return the better of the two scores, and the largest margin: if negative, how
    far the nearest is from being a pose.
    """
    p, axis, beside = before_held(arm, goal, held)
    zero = held[0] * 0.0
    _, reached = swung(arm, ARM.distance, dot(p, p), 1.0)
    rate = rated(arm, prefer, HELD, held, (zero, real(reached, zero + 1.0)))
    best = score, zero + NONE
    for elbow in (1.0, -1.0):
        c, _ = swung(arm, ARM.distance, dot(p, p), elbow)
        near, room = rated(arm, prefer, C, c, (rate[0], zero + 1.0))
        here, alive = (near, select(room < rate[1], room, rate[1])), room > BENT
        if bits(alive) != 0:  # a limit of c often leaves only one side
            best = put_better(arm, prefer, held, p, axis, beside, c, 1.0, here, alive, best, out)
            best = put_better(arm, prefer, held, p, axis, beside, c, -1.0, here, alive, best, out)
        best = best[0], select((room <= BENT) & (here[1] > best[1]), here[1], best[1])
    return best


@inner
def middle_pair(arm, joint):
    """Return the cosine and sine of the middle of a joint's range."""
    at = ARM.limits + LIMIT.size * joint
    return load(arm, at + LIMIT.middle_cosine), load(arm, at + LIMIT.middle_sine)


@inner
def angle_near_middle(arm, joint, pair):
    """Return the angle of a pair, within half a turn of the middle of the joint's range."""
    away = subtracted(pair, middle_pair(arm, joint))
    return load(arm, ARM.limits + LIMIT.size * joint + LIMIT.middle) + atan2(away[1], away[0])


@inner
def within(arm, joint, value):
    """Return a value clamped to its limits, against rounding."""
    at = ARM.limits + LIMIT.size * joint
    lower, upper = load(arm, at + LIMIT.lower), load(arm, at + LIMIT.upper)
    value = select(value < lower, lower, value)
    return select(value > upper, upper, value)


@inner
def carried(arm, joint, pair, frame):
    """Return two axes and a point moved by a joint of the actual arm."""
    at = ARM.own_lines + LINE.size * joint
    h, place = vector(arm, at + LINE.direction), vector(arm, at + LINE.point)
    x, y, p = frame
    return turned(h, pair, x), turned(h, pair, y), plus(place, turned(h, pair, minus(p, place)))


@inner
def begin_of(goal):
    """Return the axes and the point that the joints move, to be compared with the goal's."""
    p = vector(goal, GOAL.point)
    zero = p[0] * 0.0
    return (zero + 1.0, zero, zero), (zero, zero + 1.0, zero), p


@inner
def missed(goal, frame):
    """Return the squared distance and the squared chord, 2 sin(angle / 2), by which a frame misses a goal."""
    x, y, p = frame
    wanted = plus(applied(goal, vector(goal, GOAL.point)), vector(goal, 9))
    away, dx, dy = minus(p, wanted), minus(x, vector(goal, 0)), minus(y, vector(goal, 3))
    dz = minus(cross(x, y), vector(goal, 6))
    return dot(away, away), 0.5 * (dot(dx, dx) + dot(dy, dy) + dot(dz, dz))


@part
def misses(arm, goal, values):
    """Return the squared errors of values against a goal, see `missed`."""
    frame = begin_of(goal)
    for before in range(JOINTS):
        joint = JOINTS - 1 - before
        s, c = sine_cosine(load(values, joint))
        frame = carried(arm, joint, (c, s), frame)
    return missed(goal, frame)


@part
def put_frame(arm, pairs, frame):
    """Write MADE: the frame, as two axes and origin, that pairs of cosine and sine produce."""
    zero = load(pairs, 0) * 0.0
    x, y, p = (zero + 1.0, zero, zero), (zero, zero + 1.0, zero), (zero, zero, zero)
    for before in range(JOINTS):
        joint = JOINTS - 1 - before
        x, y, p = carried(arm, joint, (load(pairs, 2 * joint), load(pairs, 2 * joint + 1)), (x, y, p))
    put_vector(frame, MADE.x, x)
    put_vector(frame, MADE.y, y)
    put_vector(frame, MADE.origin, p)


@inner
def missed_by(goal, frame):
    """Return the squared errors of a frame, MADE, against a goal, see `missed`."""
    x, y = vector(frame, MADE.x), vector(frame, MADE.y)
    point = blend(x, y, cross(x, y), *vector(goal, GOAL.point))
    return missed(goal, (x, y, plus(point, vector(frame, MADE.origin))))


@part
def put_values(arm, pairs, values):
    """Write the angles of pairs, clamped to limits if the range is less than a turn."""
    for joint in range(JOINTS):
        pair = load(pairs, 2 * joint), load(pairs, 2 * joint + 1)
        store(values, joint, within(arm, joint, angle_near_middle(arm, joint, pair)))


@inner
def branch(arm, goal, held, elbow, side, flip):
    """Return the pairs of one of eight poses, chosen by three signs, and how real its roots are: squares, in order."""
    p, axis, beside = before_held(arm, goal, held)
    c, reached = swung(arm, ARM.distance, dot(p, p), elbow)
    a, b, met = meet(arm, p, on_orbit(arm, ARM.reach, c), side)
    axis, beside = undo(arm, a, b, c, axis), undo(arm, a, b, c, beside)
    y, turning = swung(arm, ARM.between, dot(line(arm, X), axis), flip)
    x, z = wrist(arm, axis, beside, y)
    return (held, a, b, c, x, y, z), (reached, met, turning)


@part
def put_every(arm, goal, held, width, at, out):
    """Write the values of all eight poses, NaN if there is none; limits are ignored. Lanes are `width` apart."""
    place = 0
    for elbow in (1.0, -1.0):
        for side in (1.0, -1.0):
            for flip in (1.0, -1.0):
                pairs, roots = branch(arm, goal, held, elbow, side, flip)
                good = (roots[0] >= 0.0) & (roots[1] >= 0.0) & (roots[2] >= 0.0)
                for joint in range(JOINTS):
                    angle = select(good, angle_near_middle(arm, joint, pairs[joint]), math.nan)
                    scatter(out, at + JOINTS * place + joint, width, angle)
                place += 1


@kernel("f8[] f8[] f8[] f8[,] f8[]")
def seven_slices(arm, target, angles, memory, out):
    """Write all poses (m, 8, 7) of a target (16,) for angles (m,) of the held joint, m a multiple of eight.

    Values are in the order of the family; limits are ignored; NaN marks missing poses.
    """
    numbers, t = cells(arm), cells(target)
    rows = vector(t, 0), vector(t, 4), vector(t, 8)
    put_goal(numbers, rows, (load(t, 3), load(t, 7), load(t, 11)), cells(memory))
    for first in range(0, angles.size, 8):
        s, c = sine_cosine(gather(cells(angles), first, 1))
        put_every(numbers, cells(memory), (c, s), 8 * JOINTS, 8 * JOINTS * first, cells(out))
