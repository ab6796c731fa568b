"""Arms whose second, third and fourth axes are parallel, and the last two meet: Universal Robots and many like them.

The three in the middle move nothing along their common direction h. So the first joint follows from the height, along
h, of the point where the last two axes meet, and the fifth from the angle between h and the last axis. The last joint
and the sum of the three then make the rest of the orientation, and in the plane across h two links are left to reach a
point: a distance, then a direction.
"""

from __future__ import annotations

from .. import inner, part
from ..joint_step import blend, vector
from ..lanes import beyond, bits, fabs, load, select, sqrt
from ..rotations import cross, dot, minus, plus, times
from .angles import added, subtracted
from .form_layout import BRANCH, CODES, FREE, GOAL, NUMBERS, amount, columns, filled, line, note, pair_at_home, put
from .subproblems import NOTHING, aligned, kept_home, measures, root, spun_to, turned, turned_back, turned_onto

EASE = 0.05  # share of its range that a reach keeps from both ends where it can be chosen
ROUNDING = 1.0e-12  # share of a squared length


@inner
def solve_plane(numbers, sum_pair, total, end, sign, found, size):
    """Find the three parallel joints, whose angles have a sum, so that they carry the centre to its end.

    Without the turn of the sum, which the centre has about the fourth axis, that axis must stand where the first two
    links reach: the third joint by its distance from the second axis, the second by its direction.
    """
    h, p2 = line(numbers, NUMBERS.solved, 1)
    _, p3 = line(numbers, NUMBERS.solved, 2)
    _, p4 = line(numbers, NUMBERS.solved, 3)
    to_centre = minus(vector(numbers, NUMBERS.centre), p4)
    place = minus(end, turned(h, sum_pair, to_centre))
    third, miss, same = turned_onto(1, h, p3, p2, p4, place, sign, size)
    elbow = plus(turned(h, third, minus(p4, p3)), p3)
    second, _ = aligned(h, minus(elbow, p2), minus(place, p2), NOTHING * size.extent)
    a, b = amount(False, second), amount(False, third)
    put(found, 1, second, a)
    put(found, 2, third, b)
    put(found, 3, subtracted(sum_pair, added(second, third)), total - a - b)
    note(found, 2, miss, same)


@part
def reachable_sum(numbers, total, end, size):
    """Return a sum of the three parallel angles with which the two links reach: the given one, or another one.

    The fourth axis stands on a circle about the centre's end. Of the distances from the second axis that are on it, one
    is taken that the links span, not quite stretched nor folded: the one in the middle, or as near to that as can be.
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
def solve_turns(codes, numbers, goal, first, fifth, end, size):
    """Return the last joint, the sum of the three in the middle, and where the last axis is parallel to them.

    There, any turn of the last joint serves that lets the arm reach: the one that it has at home, or another.
    """
    x, y, z, _ = columns(goal, GOAL.motion)
    h1, _ = line(numbers, NUMBERS.solved, 0)
    h, _ = line(numbers, NUMBERS.solved, 1)
    h5, _ = line(numbers, NUMBERS.solved, 4)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    aside, across = vector(numbers, NUMBERS.aside), vector(numbers, NUMBERS.across)
    upright = turned(h1, first, h)
    seen = dot(x, upright), dot(y, upright), dot(z, upright)  # h, from the last link
    sixth, free = aligned(h6, seen, turned_back(h5, fifth, h), NOTHING)
    if bits(free) != 0:
        at_home = pair_at_home(goal, 5)
        sixth = select(free, at_home[0], sixth[0]), select(free, at_home[1], sixth[1])
    left = turned_back(h6, sixth, turned_back(h5, fifth, aside))
    total = spun_to(h, aside, turned_back(h1, first, blend(x, y, z, *left)))
    if bits(free) != 0 and load(codes, CODES.held) == 0:
        chosen = reachable_sum(numbers, total, end, size)
        total = select(free, chosen[0], total[0]), select(free, chosen[1], total[1])
        left = turned_back(h, total, turned_back(h1, first, blend(x, y, z, *across)))
        chosen = spun_to(h6, across, turned_back(h5, fifth, left))
        sixth = select(free, chosen[0], sixth[0]), select(free, chosen[1], sixth[1])
    return sixth, total, free


@inner
def solve(codes, numbers, signs, n, goal, found):
    """Find all branches of a goal: n times n times n of them, by the signs of three roots."""
    x, y, z, o = columns(goal, GOAL.motion)
    c = vector(numbers, NUMBERS.centre)
    place, home = plus(o, blend(x, y, z, *c)), filled(found, c)
    h1, p1 = line(numbers, NUMBERS.solved, 0)
    h, _ = line(numbers, NUMBERS.solved, 1)
    h5, _ = line(numbers, NUMBERS.solved, 4)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    axis, size = blend(x, y, z, *h6), measures(numbers)
    leaning = dot(h, h5) * dot(h5, h6)
    a, b = dot(h, h6) - leaning, dot(h, cross(h5, h6))
    for i in range(n):
        first, miss, same = turned_onto(0, times(-1.0, h1), p1, h, place, home, load(signs, i), size)
        first = kept_home(same, first, goal, 0)
        end = plus(turned_back(h1, first, minus(place, p1)), p1)
        toward = turned_back(h1, first, axis)
        level = dot(h, toward) - leaning
        rest = a * a + b * b - level * level
        if load(codes, CODES.square):  # the same, with all its digits where the last axis is parallel too
            aslant = minus(toward, times(dot(h, toward), h))
            rest = dot(aslant, aslant)
        a1 = amount(False, first)
        for j in range(n):
            fifth, turn, again = root(a, b, level, rest, load(signs, n + j), 0.0, size.floor)
            sixth, total, free = solve_turns(codes, numbers, goal, first, fifth, end, size)
            a5, a6, sum_angle = amount(False, fifth), amount(False, sixth), amount(False, total)
            for k in range(n):
                branch = beyond(found, BRANCH.size * ((i * n + j) * n + k))
                put(branch, 0, first, a1)
                put(branch, 4, fifth, a5)
                put(branch, 5, sixth, a6)
                note(branch, 0, miss, same)
                note(branch, 1, turn, select(free, FREE, again))
                solve_plane(numbers, total, sum_angle, end, load(signs, 2 * n + k), branch, size)
