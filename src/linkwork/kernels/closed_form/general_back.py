"""Back substitution from a root of the elimination to all six joints, one root in each lane.

The null vector of the matrix gives the half tangents u and v. The line as moved by joints 1, 2 and 3 is where joints 5
and 0 must bring it, and joint 4 makes the remaining rotation.
"""

from __future__ import annotations

from .. import inner, part
from ..joint_step import blend, vector
from ..lanes import beyond, load, select, sqrt, store
from ..rotations import cross, dot, minus, plus
from .general_elimination import numbers_of, turned
from .general_memory import FIGURES, REFLECTIONS, REST, STILL


@inner
def unit_pair(c, s):
    """Return a pair normalized to length one; (1, 0) for a zero pair."""
    square = c * c + s * s
    scale = 1.0 / sqrt(select(square > 0.0, square, 1.0))
    return select(square > 0.0, c * scale, 1.0), s * scale


@part
def put_half_tangents(figures, found, pairs):
    """Write the pairs of the joints u and v from the products (u² v², u² v, u², u v², u v, u).

    With ``a = u b`` for two rows a and b, the pair of the angle is ``(b·b - a·a, 2 a·b)``.
    """
    c, s = 0.0 * load(found, 0), 0.0 * load(found, 0)
    for j in range(3):
        a, b = load(found, j), load(found, 3 + j)
        c, s = c + (b * b - a * a), s + 2.0 * a * b
    put_joint(pairs, int(figures[FIGURES.order + 1]), unit_pair(c, s), figures, FIGURES.ahead)
    c, s = 0.0 * c, 0.0 * s
    for j in (0, 1, 3, 4):
        a, b = load(found, j), load(found, j + 1)
        c, s = c + (b * b - a * a), s + 2.0 * a * b
    put_joint(pairs, int(figures[FIGURES.order + 2]), unit_pair(c, s), figures, FIGURES.ahead + 2)


@inner
def put_joint(pairs, joint, angle, figures, ahead):
    """Write a joint's pair, adding back the angle that the elimination subtracted."""
    c, s = figures[ahead], figures[ahead + 1]
    store(pairs, 2 * joint, angle[0] * c - angle[1] * s)
    store(pairs, 2 * joint + 1, angle[1] * c + angle[0] * s)


@part
def put_other_joints(figures, sides, mirrors, goal, pairs):
    """Write the pairs of joints 5, 0 and 4, given joints 1, 2 and 3: the position of their line determines 5 and 0."""
    lines = beyond(figures, FIGURES.lines)
    zero = 0.0 * load(pairs, 2)
    l, p = vector(lines, 24), vector(lines, 27)  # noqa: E741
    l, p = (l[0] + zero, l[1] + zero, l[2] + zero), (p[0] + zero, p[1] + zero, p[2] + zero)  # noqa: E741
    for back in range(3):
        joint = 3 - back
        h, at, c, s = (
            vector(lines, 6 * joint),
            vector(lines, 6 * joint + 3),
            load(pairs, 2 * joint),
            load(pairs, 2 * joint + 1),
        )
        l, p = turned(h, c, s, l), plus(at, turned(h, c, s, minus(p, at)))  # noqa: E741
    left = numbers_of(p, l)
    c5, s5 = sixth_joint(sides, mirrors, beyond(goal, 12), left)
    store(pairs, 10, c5)
    store(pairs, 11, s5)
    real, imaginary = zero, zero
    for k in range(4):
        ax = sides[3 * (6 + k)] + sides[3 * (6 + k) + 1] * c5 + sides[3 * (6 + k) + 2] * s5
        ay = sides[3 * (10 + k)] + sides[3 * (10 + k) + 1] * c5 + sides[3 * (10 + k) + 2] * s5
        bx, by = left[6 + k], left[10 + k]
        real, imaginary = real + (bx * ax + by * ay), imaginary + (by * ax - bx * ay)
    c0, s0 = unit_pair(real, -imaginary)
    store(pairs, 0, c0)
    store(pairs, 1, s0)
    v = vector(figures, FIGURES.across)
    w = turned(vector(lines, 30), c5, -s5, (v[0] + zero, v[1] + zero, v[2] + zero))
    w = blend(vector(goal, 0), vector(goal, 3), vector(goal, 6), *w)
    for joint in range(4):
        w = turned(vector(lines, 6 * joint), load(pairs, 2 * joint), -load(pairs, 2 * joint + 1), w)
    c4, s4 = unit_pair(dot(w, v), dot(w, cross(vector(lines, 24), v)))
    store(pairs, 8, c4)
    store(pairs, 9, s4)


@inner
def sixth_joint(sides, mirrors, rest, left):
    """Return the pair of joint 5 that fits the first six equations best."""
    a, b = left[0] - sides[0], left[1] - sides[3]
    one, two = mirrors[REFLECTIONS.first + 0] * a, mirrors[REFLECTIONS.first + 1] * b
    share = one + two
    for k in range(2, STILL):
        share = share + mirrors[REFLECTIONS.first + k] * (left[k] - sides[3 * k])
    share = share * mirrors[REFLECTIONS.first_factor]
    total = 0.0 * share
    for k in range(1, STILL):
        total = total + mirrors[REFLECTIONS.second + k] * (
            left[k] - sides[3 * k] - share * mirrors[REFLECTIONS.first + k]
        )
    total = total * mirrors[REFLECTIONS.second_factor]
    first = a - share * mirrors[REFLECTIONS.first]
    second = b - share * mirrors[REFLECTIONS.first + 1] - total * mirrors[REFLECTIONS.second + 1]
    corner, side, end = rest[REST.triangle], rest[REST.triangle + 1], rest[REST.triangle + 2]
    y = second / (end if end != 0.0 else 1.0)
    x = (first - side * y) / (corner if corner != 0.0 else 1.0)
    if rest[REST.swapped] != 0.0:
        return unit_pair(y, x)
    return unit_pair(x, y)
