"""Arms whose second, third and fourth axes are parallel, and the last two meet: Universal Robots and many others.

The three middle joints move nothing along their common direction h. So the first joint follows from the height, along
h, of the intersection of the last two axes, and the fifth from the angle between h and the last axis. The last joint
and the sum of the middle three then give the rest of the orientation. In the plane perpendicular to h, two links remain
to reach a point: a distance, then a direction.
"""

from __future__ import annotations

from collections import namedtuple

from .. import inner, part
from ..joint_step import blend, vector
from ..lanes import beyond, bits, fabs, load, select, sqrt, store
from ..rotations import cross, dot, minus, plus, times
from .angles import added, atan2, scaled, subtracted, unit
from .check import carried_along, carried_back, ends, put_errors, rotation_error
from .form_layout import (
    BRANCH,
    CODES,
    FREE,
    GOAL,
    NUMBERS,
    PLANE,
    amount,
    columns,
    filled,
    line,
    note,
    pair_at_home,
    put_amounts,
)
from .subproblems import (
    NOTHING,
    aligned,
    kept_home,
    measures,
    opened,
    root,
    sameness,
    spun_to,
    turned,
    turned_back,
    turned_onto,
)

EASE = 0.05  # share of its range that a freely chosen reach keeps from both ends
ROUNDING = 1.0e-12  # relative to a squared length
Plane = namedtuple("Plane", "hand straight bend upper_length fore_length ahead toward free")
Seen = namedtuple("Seen", "along aside beside")  # the parallel axis, and two directions perpendicular to it
# How the links reach a point: the bend between them and the lift of the first, as pairs and angles; its direction
Reach = namedtuple("Reach", "opening open lift lifted way direction free miss same")


@inner
def across(numbers, v):
    """Return a vector projected along the parallel axes: its components along `aside` and along the third direction."""
    h, _ = line(numbers, NUMBERS.solved, 1)
    aside = vector(numbers, NUMBERS.aside)
    return dot(aside, v), dot(cross(h, aside), v)


@inner
def plane_in(numbers):
    """Return the constants of the plane perpendicular to the parallel axes, which no goal changes."""
    at = NUMBERS.plane
    return Plane(
        (load(numbers, at + PLANE.hand), load(numbers, at + PLANE.hand + 1)),
        (load(numbers, at + PLANE.straight), load(numbers, at + PLANE.straight + 1)),
        load(numbers, at + PLANE.bend),
        load(numbers, at + PLANE.upper_length),
        load(numbers, at + PLANE.fore_length),
        (load(numbers, at + PLANE.ahead), load(numbers, at + PLANE.ahead + 1)),
        load(numbers, at + PLANE.toward),
        load(numbers, at + PLANE.free) > 0.5,
    )


@inner
def reach_of(plane, place, size):
    """Return how the second and third joints bring the fourth axis to its place, as seen from the second axis.

    With links of lengths u and f, the third joint is bent from the straight line by an angle d to either side,
    ``|p|² = u² + f² + 2 u f cos d``, and the first link is off the direction to p by e to the other side, the angle at
    the base of the same triangle.
    """
    u, f = plane.upper_length, plane.fore_length
    square = place[0] * place[0] + place[1] * place[1]
    level, span = 0.5 * (square - (u * u + f * f)), u * f
    rest = (span - fabs(level)) * (span + fabs(level))
    nearest, aside = opened(span * span, level, rest, size.floor)
    over = 1.0 / select(plane.free, 1.0, span)
    opening = nearest * over, aside * over
    lift = u + f * opening[0], f * opening[1]
    long = lift[0] * lift[0] + lift[1] * lift[1]
    free = (square <= NOTHING * size.extent) | (long <= NOTHING * size.extent)
    lift, way = scaled(1.0 / sqrt(select(free, 1.0, long)), lift), scaled(1.0 / sqrt(select(free, 1.0, square)), place)
    miss, same = (fabs(level) - span) * size.unreach, select(plane.free, FREE, sameness(rest, span * span))
    angles = atan2(opening[1], opening[0]), atan2(lift[1], lift[0]), atan2(way[1], way[0])
    way, direction = subtracted(way, plane.ahead), angles[2] - plane.toward
    return Reach(opening, angles[0], lift, angles[1], way, direction, free, miss, same)


@inner
def bent(plane, reach, sign):
    """Return the second and third joints, bent to one side: pairs, and angles."""
    third = added(plane.straight, (reach.opening[0], sign * reach.opening[1]))
    second = subtracted(reach.way, (reach.lift[0], sign * reach.lift[1]))
    second = select(reach.free, 1.0, second[0]), select(reach.free, 0.0, second[1])
    angle = select(reach.free, 0.0, reach.direction - sign * reach.lifted)
    return second, third, angle, plane.bend + sign * reach.open


@inner
def turned_about(numbers, number, pair, place):
    """Return a point of the plane perpendicular to the parallel axes, rotated about one of them."""
    at = NUMBERS.plane + PLANE.axes + 2 * number
    x, y = load(numbers, at), load(numbers, at + 1)
    u, v = place[0] - x, place[1] - y
    return x + (pair[0] * u - pair[1] * v), y + (pair[1] * u + pair[0] * v)


@inner
def swept(numbers, second, third, fourth, place):
    """Return where the three middle joints take a point of the plane, if their axes are exactly parallel.

    They then rotate a frame by the sum of their angles, whichever these are, and move nothing along their direction.
    """
    place = turned_about(numbers, 1, third, turned_about(numbers, 2, fourth, place))
    return turned_about(numbers, 0, second, place)


@part
def reachable_sum(numbers, total, end, size):
    """Return a sum of the three parallel angles with which the two links reach: the given one, or another one.

    The fourth axis lies on a circle about the centre's end. Of the distances from the second axis on that circle, one
    is chosen that the links span without being quite stretched or folded: the middle one, or the nearest to it.
    """
    h, p2 = line(numbers, NUMBERS.solved, 1)
    _, p3 = line(numbers, NUMBERS.solved, 2)
    _, p4 = line(numbers, NUMBERS.solved, 3)
    arm, upper, fore = minus(vector(numbers, NUMBERS.centre), p4), minus(p3, p2), minus(p4, p3)
    upper_length, fore_length = sqrt(dot(upper, upper)), sqrt(dot(fore, fore))
    shortest, longest = fabs(upper_length - fore_length), upper_length + fore_length
    least, most = shortest + EASE * (longest - shortest), longest - EASE * (longest - shortest)
    way = minus(end, p2)
    here = minus(way, turned(h, total, arm))
    given = dot(here, here)
    square = dot(way, way) + dot(arm, arm)
    span = sqrt(square)
    span = select(span > most, most, select(span < least, least, span))
    a, b, c = 2.0 * dot(way, arm), 2.0 * dot(way, cross(h, arm)), square - span * span
    other, _, _ = root(a, b, c, a * a + b * b - c * c, 1.0, NOTHING * size.extent * size.extent, 0.0)
    there = (given >= shortest * shortest * (1.0 - ROUNDING)) & (given <= longest * longest * (1.0 + ROUNDING))
    return select(there, total[0], other[0]), select(there, total[1], other[1])


@inner
def solve_turns(codes, numbers, goal, first, seen, fifth, end, size):
    """Return the last joint, the sum of the middle three, and where the last axis is parallel to them.

    If it is parallel, any angle of the last joint with which the arm can reach is a solution: its home value, or
    another.
    """
    h, _ = line(numbers, NUMBERS.solved, 1)
    h5, _ = line(numbers, NUMBERS.solved, 4)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    aside = vector(numbers, NUMBERS.aside)
    sixth, free = aligned(h6, seen.along, turned_back(h5, fifth, h), NOTHING)
    if bits(free) != 0:
        at_home = pair_at_home(goal, 5)
        sixth = select(free, at_home[0], sixth[0]), select(free, at_home[1], sixth[1])
    left = turned_back(h6, sixth, turned_back(h5, fifth, aside))
    total = unit((dot(seen.aside, left), dot(seen.beside, left)))
    if bits(free) != 0 and load(codes, CODES.held) == 0:
        chosen = reachable_sum(numbers, total, end, size)
        total = select(free, chosen[0], total[0]), select(free, chosen[1], total[1])
        chosen = last_turn(numbers, goal, first, fifth, total)
        sixth = select(free, chosen[0], sixth[0]), select(free, chosen[1], sixth[1])
    return sixth, total, free


@part
def last_turn(numbers, goal, first, fifth, total):
    """Return the last joint, given the others, the middle three by their sum."""
    x, y, z, _ = columns(goal, GOAL.motion)
    h1, _ = line(numbers, NUMBERS.solved, 0)
    h, _ = line(numbers, NUMBERS.solved, 1)
    h5, _ = line(numbers, NUMBERS.solved, 4)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    u = vector(numbers, NUMBERS.across)
    left = turned_back(h, total, turned_back(h1, first, blend(x, y, z, *u)))
    return spun_to(h6, u, turned_back(h5, fifth, left))


@inner
def seen_from_last(numbers, goal, first):
    """Return the parallel axis and two directions perpendicular to it, after the first joint, in last-link axes."""
    x, y, z, _ = columns(goal, GOAL.motion)
    h1, _ = line(numbers, NUMBERS.solved, 0)
    h, _ = line(numbers, NUMBERS.solved, 1)
    along, aside = turned(h1, first, h), turned(h1, first, vector(numbers, NUMBERS.aside))
    beside = cross(along, aside)
    return Seen(
        (dot(x, along), dot(y, along), dot(z, along)),
        (dot(x, aside), dot(y, aside), dot(z, aside)),
        (dot(x, beside), dot(y, beside), dot(z, beside)),
    )


@inner
def solve(codes, numbers, signs, n, goal, found):
    """Find and check all branches of a goal: n * n * n of them, by the signs of three roots."""
    x, y, z, o = columns(goal, GOAL.motion)
    c = vector(numbers, NUMBERS.centre)
    place, home = plus(o, blend(x, y, z, *c)), filled(found, c)
    h1, p1 = line(numbers, NUMBERS.solved, 0)
    h, p2 = line(numbers, NUMBERS.solved, 1)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    size = measures(numbers)
    plane = plane_in(numbers)
    tip, target = ends(codes, numbers, goal)
    in_plane = load(codes, CODES.level)
    leaning, square = load(numbers, NUMBERS.plane + PLANE.leaning), load(numbers, NUMBERS.plane + PLANE.square)
    middle = load(numbers, NUMBERS.plane + PLANE.middle), load(numbers, NUMBERS.plane + PLANE.middle + 1)
    between, over = load(numbers, NUMBERS.plane + PLANE.between), 1.0 / square
    for i in range(n):
        first, miss, same = turned_onto(0, times(-1.0, h1), p1, h, place, home, load(signs, i), size)
        first = kept_home(same, first, goal, 0)
        end = plus(turned_back(h1, first, minus(place, p1)), p1)
        flat_end, seen = across(numbers, minus(end, p2)), seen_from_last(numbers, goal, first)
        wanted = carried_back(False, numbers, 0, first, target)
        goes_to, high = across(numbers, wanted[2]), dot(h, wanted[2])
        level = dot(seen.along, h6) - leaning
        rest = square - level * level
        if load(codes, CODES.square):  # the same with full precision if the last axis is parallel too
            aslant, beside = dot(seen.aside, h6), dot(seen.beside, h6)
            rest = aslant * aslant + beside * beside
        a1, turn, again = amount(False, first), fabs(level) - sqrt(square), sameness(rest, square)
        nearest, aside = opened(square, level, rest, size.floor)
        opening = atan2(aside, nearest)
        for j in range(n):
            sign = load(signs, n + j)
            fifth = scaled(over, added(middle, (nearest, sign * aside)))
            sixth, total, free = solve_turns(codes, numbers, goal, first, seen, fifth, end, size)
            a5, a6, sum_angle = between + sign * opening, amount(False, sixth), amount(False, total)
            frame = carried_along(False, numbers, 4, fifth, carried_along(False, numbers, 5, sixth, tip))
            spun = rotation_error(goal, carried_along(False, numbers, 1, total, frame), wanted)
            begins, off = across(numbers, frame[2]), dot(h, frame[2]) - high
            hand = added(plane.hand, total)
            reach = reach_of(plane, (flat_end[0] - hand[0], flat_end[1] - hand[1]), size)
            for k in range(n):
                branch = beyond(found, BRANCH.size * ((i * n + j) * n + k))
                second, third, a2, a3 = bent(plane, reach, load(signs, 2 * n + k))
                fourth = subtracted(total, added(second, third))
                put_amounts(branch, (a1, a2, a3, sum_angle - a2 - a3, a5, a6))
                note(branch, 0, miss, same)
                note(branch, 1, turn, select(free, FREE, again))
                note(branch, 2, reach.miss, reach.same)
                if in_plane:
                    ends_at = swept(numbers, second, third, fourth, begins)
                    u, v = ends_at[0] - goes_to[0], ends_at[1] - goes_to[1]
                    store(branch, BRANCH.position, u * u + v * v + off * off)
                    store(branch, BRANCH.rotation, spun)
                else:
                    moved = carried_along(False, numbers, 2, third, carried_along(False, numbers, 3, fourth, frame))
                    put_errors(goal, branch, carried_along(False, numbers, 1, second, moved), wanted)
