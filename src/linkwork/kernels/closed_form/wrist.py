"""Arms whose last three axes meet in a point: Puma, KUKA, ABB, Fanuc, Stanford; or the first three, from the end.

Only the first three joints move that point. One of them is found first, from a quantity that the other two cannot
change: the height along their common direction, if they are parallel, or the distance from their intersection. Of these
two, the second follows likewise, and the last carries the point to its place. The remaining rotation is the wrist's:
its middle joint from the angle between the outer axes, then the outer ones.
"""

from __future__ import annotations

from .. import inner
from ..joint_step import blend, vector
from ..lanes import beyond, bits, load, select
from ..rotations import cross, dot, minus, plus, times
from .check import carried_along, carried_back, ends, put_errors
from .form_layout import (
    BRANCH,
    CODES,
    FREE,
    GOAL,
    NUMBERS,
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
    brought,
    carried,
    kept_home,
    measures,
    moved,
    moved_back,
    root,
    spun_to,
    turned,
    turned_back,
)


@inner
def unturned(codes, numbers, first, second, third, v):
    """Return a direction with the rotations of the first three joints undone."""
    h1, _ = line(numbers, NUMBERS.solved, 0)
    h2, _ = line(numbers, NUMBERS.solved, 1)
    h3, _ = line(numbers, NUMBERS.solved, 2)
    if not load(codes, CODES.slides):
        v = turned_back(h1, first, v)
    if not load(codes, CODES.slides + 1):
        v = turned_back(h2, second, v)
    if not load(codes, CODES.slides + 2):
        v = turned_back(h3, third, v)
    return v


@inner
def solve_wrist(codes, numbers, goal, toward, spun, sign, found):
    """Solve the last three joints, which rotate the last axis to `toward` and a vector across it to `spun`.

    Return their pairs. The angle between the outer axes requires ``h4 · R5 h6 = h4 · toward``. If the outer axes
    coincide, any angle of the sixth joint is a solution; it stays at home, and the fourth makes the rotation.
    """
    h4, _ = line(numbers, NUMBERS.solved, 3)
    h5, _ = line(numbers, NUMBERS.solved, 4)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    leaning = dot(h4, h5) * dot(h5, h6)
    a, b, level = dot(h4, h6) - leaning, dot(h4, cross(h5, h6)), dot(h4, toward) - leaning
    rest = a * a + b * b - level * level
    if load(codes, CODES.square):  # the same with full precision if the wrist is straight
        across = minus(toward, times(dot(h4, toward), h4))
        rest = dot(across, across)
    fifth, miss, same = root(a, b, level, rest, sign, 0.0, load(numbers, NUMBERS.floor))
    fourth, free = aligned(h4, turned(h5, fifth, h6), toward, NOTHING)
    u = vector(numbers, NUMBERS.across)
    if bits(free) != 0:  # the outer axes coincide: the sixth stays at home, the fourth makes the rotation
        at_home = turned(h6, pair_at_home(goal, 5), u)
        other, _ = aligned(h4, turned(h5, fifth, at_home), spun, NOTHING)
        fourth = select(free, other[0], fourth[0]), select(free, other[1], fourth[1])
    left = turned_back(h5, fifth, turned_back(h4, fourth, spun))
    sixth = spun_to(h6, u, left)
    note(found, 2, miss, select(free, FREE, same))
    return fourth, fifth, sixth


@inner
def solve(codes, numbers, signs, n, goal, found):
    """Find and check all branches of a goal: n * n * n of them, by the signs of three roots."""
    x, y, z, o = columns(goal, GOAL.motion)
    c = vector(numbers, NUMBERS.centre)
    place, home = plus(o, blend(x, y, z, *c)), filled(found, c)
    h6, _ = line(numbers, NUMBERS.solved, 5)
    u = vector(numbers, NUMBERS.across)
    toward, spun = blend(x, y, z, *h6), blend(x, y, z, *u)
    size, last = measures(numbers), load(codes, CODES.last)
    alone, one, two = (2, 0, 1) if last else (0, 1, 2)
    h, p = line(numbers, NUMBERS.solved, alone)
    ha, pa = line(numbers, NUMBERS.solved, one)
    hb, pb = line(numbers, NUMBERS.solved, two)
    slides = load(codes, CODES.slides + alone)
    slides_a, slides_b = load(codes, CODES.slides + one), load(codes, CODES.slides + two)
    first, second = vector(numbers, NUMBERS.first), vector(numbers, NUMBERS.second)
    sphere, second_sphere = load(codes, CODES.first_sphere), load(codes, CODES.second_sphere)
    tip, target = ends(codes, numbers, goal)
    for i in range(n):
        sign = load(signs, i)
        if last:
            pair, miss, same = brought(slides, sphere, h, p, first, home, place, sign, size)
            pair = kept_home(same, pair, goal, alone)
            begin, end = moved(slides, h, p, pair, home), place
        else:  # undone, the first joint brings the place to where the others can reach
            back = times(-1.0, h)
            pair, miss, same = brought(slides, sphere, back, p, first, place, home, sign, size)
            pair = kept_home(same, pair, goal, alone)
            begin, end = home, moved_back(slides, h, p, pair, place)
        much = amount(slides, pair)
        for j in range(n):
            sign = load(signs, n + j)
            then, far, again = brought(slides_b, second_sphere, hb, pb, second, begin, end, sign, size)
            then = kept_home(again, then, goal, two)
            rest, free = carried(slides_a, ha, pa, moved(slides_b, hb, pb, then, begin), end, size)
            rest, again = kept_home(free, rest, goal, one), select(free > again, free, again)
            g1, g2, g3 = (rest, then, pair) if last else (pair, rest, then)
            more = amount(slides_a, rest), amount(slides_b, then)
            a1, a2, a3 = (*more, much) if last else (much, *more)
            outer, across = unturned(codes, numbers, g1, g2, g3, toward), unturned(codes, numbers, g1, g2, g3, spun)
            wanted = carried_back(load(codes, CODES.slides), numbers, 0, g1, target)
            wanted = carried_back(load(codes, CODES.slides + 1), numbers, 1, g2, wanted)
            wanted = carried_back(load(codes, CODES.slides + 2), numbers, 2, g3, wanted)
            for k in range(n):
                branch = beyond(found, BRANCH.size * ((i * n + j) * n + k))
                note(branch, 0, miss, same)
                note(branch, 1, far, again)
                sign = load(signs, 2 * n + k)
                fourth, fifth, sixth = solve_wrist(codes, numbers, goal, outer, across, sign, branch)
                a4, a5, a6 = amount(False, fourth), amount(False, fifth), amount(False, sixth)
                put_amounts(branch, (a1, a2, a3, a4, a5, a6))
                frame = carried_along(False, numbers, 4, fifth, carried_along(False, numbers, 5, sixth, tip))
                put_errors(goal, branch, carried_along(False, numbers, 3, fourth, frame), wanted)
